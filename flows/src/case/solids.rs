//! Solids of a case.

use lbm_runtime::geometry::solid::Solid;

use super::{Formula, Quantity};

/// A solid, and what its coefficients refer to.
#[derive(Clone, Debug, PartialEq)]
pub struct SolidBody {
    /// Shape, rule of the surface and level, in cells of the coarsest level.
    pub solid: Solid,
    /// Parameters of the rule that vary over the surface or in time, which `solid` does not have: formulas of place, in cells, and time,
    /// in steps.
    pub formulas: Vec<(String, Vec<Formula>)>,
    /// Reference area of its coefficients, in two dimensions a length, in cells of the coarsest level.
    pub area: f64,
}

/// What is written of the surfaces of solids: pressure and friction, by these fields.
#[derive(Clone, Debug, PartialEq)]
pub struct Surfaces {
    /// Steps between files; there is one at the end, too.
    pub every: u64,
    /// That of the fluid.
    pub density: Quantity,
    /// That above a fluid at rest.
    pub pressure: Quantity,
    /// That of the fluid.
    pub velocity: Quantity,
}
