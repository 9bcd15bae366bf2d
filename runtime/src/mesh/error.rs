//! Why a grid cannot be made.

use miette::Diagnostic;
use thiserror::Error;

/// Why a grid cannot be made.
#[derive(Debug, Error, Diagnostic)]
pub enum GridError {
    /// The size is not a multiple of the block.
    #[error("{size} cells along {axis} are no multiple of the block of {block}")]
    #[diagnostic(code(L0401), help("use {}", suggestion(*.size, *.block)))]
    Size {
        /// Name of the axis.
        axis: &'static str,
        /// Cells asked for.
        size: usize,
        /// Cells of a block.
        block: usize,
    },

    /// One face of an axis is periodic and the other is not.
    #[error("{periodic} is periodic and {wall} is not")]
    #[diagnostic(code(L0402), help("make both ends of the axis periodic, or none"))]
    HalfPeriodic {
        /// The periodic face.
        periodic: &'static str,
        /// Its opposite.
        wall: &'static str,
    },

    /// More blocks than a 32-bit index can number.
    #[error("the grid has {blocks} blocks, at most {} can be numbered", i32::MAX)]
    #[diagnostic(code(L0403), help("use larger blocks"))]
    Blocks {
        /// Number of blocks.
        blocks: usize,
    },
}

fn suggestion(size: usize, block: usize) -> String {
    match size / block * block {
        0 => format!("{block}"),
        low => format!("{low} or {}", low + block),
    }
}
