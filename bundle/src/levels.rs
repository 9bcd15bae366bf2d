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
    /// What packets are made of, if the bundle has an adjoint.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub packets: Option<Packets>,
}

/// What the packets of a coupling are made of.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Packets {
    /// What the packet of each child position of a cell carries, `[population][child]`: a sum of shares.
    pub shares: Vec<Vec<Vec<Share>>>,
    /// Stencils of derivatives along an axis: sets of points, in cells, and their weights. The first set counts whose points are all in cells of
    /// the level; the derivative is 0 if there is none.
    pub stencils: Vec<Vec<Vec<(i64, f64)>>>,
}

/// A factor of a population, or of its derivative along an axis.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Share {
    /// The population.
    pub population: u32,
    /// Stencil and axis of its derivative.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub slope: Option<(u32, u32)>,
    /// The factor where all packets of the cell are of kind 0.
    pub factor: f64,
    /// What is added to it for each packet of kind 1 or 2: its child position, its kind, and how much.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub more: Vec<(u32, u32, f64)>,
}

impl Share {
    /// The factor where the packets of all child positions are of these kinds.
    pub fn of(&self, kinds: &[u32]) -> f64 {
        let more = self.more.iter().filter(|(child, kind, _)| kinds[*child as usize] == *kind);
        self.factor + more.map(|(.., more)| more).sum::<f64>()
    }
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
