//! What a method says of levels of refinement.

use serde::{Deserialize, Serialize};

use crate::signature::is_zero;
use crate::{Formula, Unit};

/// What crosses the jump between two levels of refinement.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Coupling {
    /// Name as in the spec: `volumetric_shifted`.
    pub name: String,
    /// What it is.
    pub doc: String,
    /// The parameters that differ between levels.
    pub rates: Vec<Rate>,
    /// Layers of fine cells that are ghosts, beside every coarser block; 0 for a coupling of packets.
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

/// What a grid may follow while it changes.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Criterion {
    /// Name as in the spec: `vorticity`.
    pub name: String,
    /// What it is.
    pub doc: String,
    /// Its value in cells and steps of level 0, from components of the fields, `ux`, and their derivatives, `dx_uy`.
    pub formula: Formula,
    /// What it is measured in.
    pub unit: Unit,
}
