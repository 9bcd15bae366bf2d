//! What a user chooses about the kernels.

use lbm_bundle::{Real, Target};

/// Options of one compile.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Options {
    /// Target.
    pub target: Target,
    /// Floating-point type.
    pub real: Real,
    /// Cells of a block along each axis; 1 beyond the dimension.
    pub block: [u32; 3],
}

impl Options {
    /// The default block for a dimension: 8x8 in two, 4x4x4 in three.
    pub fn default_block(dim: usize) -> [u32; 3] {
        if dim == 2 { [8, 8, 1] } else { [4, 4, 4] }
    }
}
