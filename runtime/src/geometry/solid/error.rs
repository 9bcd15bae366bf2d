//! Why links cannot be cut, and where.

use std::fmt;

use miette::Diagnostic;
use thiserror::Error;

use crate::geometry::Face;

/// Errors of cutting links.
#[derive(Debug, Error, Diagnostic)]
pub enum SolidError {
    /// A refinement interface beside a block with cut links.
    #[error("{by} cuts links of cells at a refinement interface: {cells}")]
    #[diagnostic(
        code(L0407),
        help(
            "solids near each other need the same `level`, and one that moves needs it all along its way; keep refinement interfaces a block away \
             from solids of another level, and with a coupling of ghosts from faces along which values vary, or refine along all of such a face"
        )
    )]
    Jump {
        /// The cutter of the links.
        by: By,
        /// The cells of the block.
        cells: Cells,
    },
    /// A moving solid in a block where links have walls of their own.
    #[error("a solid that moves comes to where values vary along a face or over the surface of a solid: {cells}")]
    #[diagnostic(code(L0408), help("a block must lie between them, or the value be the same everywhere"))]
    Crossing {
        /// The cells of the block.
        cells: Cells,
    },
}

/// What cuts links of a block.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum By {
    /// A solid, by its number from 0.
    Solid(usize),
    /// A face along which values vary, or with padding behind it.
    Face(Face),
}

impl fmt::Display for By {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            By::Solid(number) => write!(out, "the surface of solid {}", number + 1),
            By::Face(face) => {
                let (end, axis) = (["lower", "upper"][face.index() % 2], ["x", "y", "z"][face.index() / 2]);
                write!(out, "the {end} face of {axis}, along which values vary or which is padded,")
            }
        }
    }
}

/// The cells of a block.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Cells {
    pub(super) level: usize,
    /// Along each axis the first, and one beyond the last, in cells of the level.
    pub(super) range: Vec<[usize; 2]>,
}

impl fmt::Display for Cells {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        let each = |of: &dyn Fn(usize) -> String| {
            let ends = |[first, end]: &[usize; 2]| format!("{} to {}", of(*first), of(*end));
            self.range.iter().map(ends).collect::<Vec<_>>().join(", ")
        };
        write!(out, "cells {} of level {}", each(&|at| at.to_string()), self.level)?;
        let width = 0.5f64.powi(self.level as i32);
        if self.level > 0 {
            write!(out, ", in cells of level 0 {}", each(&|at| (at as f64 * width).to_string()))
        } else {
            Ok(())
        }
    }
}
