//! Errors of forests.

use miette::Diagnostic;
use thiserror::Error;

use super::LEVELS;
use crate::device::DeviceError;
use crate::kernels::KernelError;
use crate::mesh::GridError;

/// Why a forest cannot be made, or a change of it is refused.
#[derive(Debug, Error, Diagnostic)]
pub enum ForestError {
    /// The roots fill no box.
    #[error(transparent)]
    #[diagnostic(transparent)]
    Roots(#[from] GridError),

    /// The box is empty, or extends along an axis beyond the dimension of the kernels.
    #[error("{roots} roots along {axis} in {dim} dimensions")]
    #[diagnostic(code(L0403), help("use at least 1 along each axis, and 1 beyond the dimension"))]
    Box {
        /// Name of the axis.
        axis: &'static str,
        /// Roots along it.
        roots: usize,
        /// Number of axes.
        dim: usize,
    },

    /// Positions on the finest level would not fit into 32 bits.
    #[error("{roots} roots along {axis} are too many for {LEVELS} levels: at most {most}")]
    #[diagnostic(code(L0403), help("use larger blocks"))]
    Long {
        /// Name of the axis.
        axis: &'static str,
        /// Roots along it.
        roots: usize,
        /// Most roots that are possible.
        most: usize,
    },

    /// There is no room for the roots.
    #[error("there is room for {slots} blocks, too little for {roots} on the coarsest level and one more")]
    #[diagnostic(code(L0404), help("allow more memory, or make the coarsest level coarser"))]
    Pool {
        /// Data slots.
        slots: usize,
        /// Roots.
        roots: usize,
    },

    /// There are no such levels.
    #[error("there are no levels {coarsest} to {finest}: they go from 0 to {}, the finest last", LEVELS - 1)]
    #[diagnostic(code(L0405))]
    Levels {
        /// The lower end of the range asked for.
        coarsest: usize,
        /// Its higher end.
        finest: usize,
    },

    /// The memory that changes need has been released.
    #[error("the forest stays as it is")]
    #[diagnostic(code(L0406))]
    Stays,

    /// A kernel failed.
    #[error(transparent)]
    #[diagnostic(transparent)]
    Kernel(#[from] KernelError),

    /// The device failed.
    #[error(transparent)]
    #[diagnostic(transparent)]
    Device(#[from] DeviceError),
}
