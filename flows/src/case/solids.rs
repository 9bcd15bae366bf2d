//! Solids of a case.

use lbm_runtime::geometry::solid::Solid;

/// A solid, and what its coefficients refer to.
#[derive(Clone, Debug, PartialEq)]
pub struct SolidBody {
    /// Shape, rule of the surface and level, in cells of the coarsest level.
    pub solid: Solid,
    /// Reference area of its coefficients, in two dimensions a length, in cells of the coarsest level.
    pub area: f64,
}
