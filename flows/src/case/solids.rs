//! Solids of a case.

use lbm_runtime::geometry::solid::Solid;

use super::Formula;

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
