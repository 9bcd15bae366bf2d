//! What a user chooses about the kernels.

use lbm_bundle::{Layout, Real, Target};

/// Cells of the largest block: their populations are indexed with 32 bits inside a slot.
pub const MOST_CELLS: u32 = 1 << 20;

/// Options of one compile.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Options {
    /// Target.
    pub target: Target,
    /// Floating-point type.
    pub real: Real,
    /// How cells lie in memory.
    pub layout: Layout,
    /// Cells of a block along each axis, 1 beyond the dimension; for [`Layout::Soa`], of a CUDA thread block.
    pub block: [u32; 3],
    /// Position among the model's couplings of the one that kernels for refinement interfaces are wanted of, if any. It must be one of
    /// packets, and the layout one of blocks.
    pub coupling: Option<usize>,
    /// Whether kernels for blocks with solids in them are wanted. The model must have a boundary rule, and the layout be one
    /// of blocks.
    pub solids: bool,
}

impl Options {
    /// The default block for a dimension: 8x8 in two, 4x4x4 in three.
    pub fn default_block(dim: usize) -> [u32; 3] {
        if dim == 2 { [8, 8, 1] } else { [4, 4, 4] }
    }

    /// The default thread block of [`Layout::Soa`]. Of 32x8, 64x4, 128x2 and 256x1 the longer are faster, by 3 % from
    /// first to last (D3Q19 BGK, f32, one H200); the shorter lose less behind the end of a row.
    pub const TILE: [u32; 3] = [128, 2, 1];
}
