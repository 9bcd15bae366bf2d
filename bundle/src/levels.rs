//! Couplings of levels and refinement criteria of a method.

use serde::{Deserialize, Serialize};

use crate::signature::is_zero;
use crate::{Formula, Unit};

/// The coupling of two levels at a refinement interface.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Coupling {
    /// Name as in the spec: `volumetric_shifted`.
    pub name: String,
    /// What it is.
    pub doc: String,
    /// The parameters that differ between levels.
    pub rates: Vec<Rate>,
    /// Number of ghost layers of fine cells beside every coarser block; 0 for a coupling of packets.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub ghosts: u32,
}

/// A parameter of the method on the next finer level.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Rate {
    /// Name of the parameter.
    pub param: String,
    /// Its value there, from the scalar parameters on the level at hand.
    pub finer: Formula,
}

/// A refinement criterion.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Criterion {
    /// Name as in the spec: `vorticity`.
    pub name: String,
    /// What it is.
    pub doc: String,
    /// Its value in cells and steps of level 0, from components of the fields, `ux`, and their derivatives, `dx_uy`.
    pub formula: Formula,
    /// Its unit.
    pub unit: Unit,
}
