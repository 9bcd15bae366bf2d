//! Why a valid model cannot be compiled with some options.

use std::fmt;

use lbm_bundle::{Real, Target};
use lbm_dsl::prove::moments::NotStored;

use crate::options::MOST_CELLS;
use crate::simplify::TooLarge;

/// Why a valid model can't be compiled with these options.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum CompileError {
    /// A velocity reaches beyond the neighbouring cell.
    Speed(Vec<i32>),
    /// These cells are no block for a method of that dimension.
    Block([u32; 3], usize),
    /// These cells are no CUDA thread block for a method of that dimension.
    Tile([u32; 3], usize),
    /// A block with fewer cells along an axis than a boundary condition reads from the wall.
    Thin([u32; 3], String, u32),
    /// The stencil of this name samples cells so far away that this block is too small.
    Reach([u32; 3], String, u64),
    /// These cells are no block for the coupling of this name, whose sides have so many cells at least, and maybe an even number.
    InterfaceBlock([u32; 3], String, u32, bool),
    /// No boundary rule of the method of this name fits surfaces of solids.
    NoSolidRule(String),
    /// The kernel of this name has this constant, which the floating-point type does not hold.
    Constant(String, String, Real),
    /// Plain arrays hold whole populations, which are not stored in 16 bits.
    Whole,
    /// The method reads this value of neighbours, which plain arrays have not.
    Neighbours(String),
    /// Moments cannot be stored in the place of the populations of the method.
    NotStored(NotStored),
    /// Plain arrays hold populations.
    Plain,
    /// The method reads this value of neighbours, by which nothing is derived.
    NoAdjoint(String),
    /// There are no derivatives by moments that are stored in the place of populations.
    AdjointOfMoments,
    /// There are no derivatives by populations in 16 bits.
    AdjointOfHalves,
    /// There is no adjoint of the coupling of this name.
    AdjointOfCoupling(String),
    /// There is no adjoint of the boundary rule of this name.
    AdjointOfRule(String),
    /// There are no kernels of the method for steps in one set of populations, because of this.
    InPlace(String),
    /// Threads of a GPU have not the memory to exchange populations of moments in blocks of these cells.
    Exchange([u32; 3], Target),
    /// Simplification gave up.
    Simplify(TooLarge),
}

impl fmt::Display for CompileError {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Speed(velocity) => write!(
                out,
                "there are no kernels for multi-speed velocity sets: the velocity {velocity:?} reaches beyond the next cell"
            ),
            Self::Block(block, dim) => {
                write!(
                    out,
                    "{block:?} is no block in {dim} dimensions: every side is at least 1 (exactly 1 beyond the"
                )?;
                write!(out, " dimension), and all cells together are at most {MOST_CELLS}")
            }
            Self::Tile(block, dim) => {
                write!(
                    out,
                    "{block:?} is no thread block of a GPU in {dim} dimensions: every side is at least 1 (exactly"
                )?;
                write!(out, " 1 beyond the dimension), along z at most 64, and all cells together are at most 1024")
            }
            Self::InterfaceBlock(block, coupling, least, even) => {
                let even = if *even { " even, and" } else { "" };
                write!(
                    out,
                    "{block:?} is no block for a flow on several levels with `{coupling}`: every side must be{even} at least {least}"
                )
            }
            Self::Thin(block, rule, least) => write!(
                out,
                "{block:?} is too small a block for the boundary condition `{rule}`: it reads cells so far from the wall that every side must be at least {least}"
            ),
            Self::Reach(block, stencil, least) => {
                write!(
                    out,
                    "{block:?} is too small a block for the stencil `{stencil}`: it samples cells so far away that"
                )?;
                write!(out, " every side must be at least {least}")
            }
            Self::NoSolidRule(spec) => {
                write!(out, "{spec} has no boundary rule for solids: add one of links, such as `boundary bounce_back;`")
            }
            Self::Constant(kernel, value, real) => {
                let [name, least, most] = match real {
                    Real::F32 | Real::F16F32 => ["f32", "1.2e-38", "3.4e38"],
                    Real::F64 => ["f64", "2.2e-308", "1.8e308"],
                };
                write!(out, "`{kernel}` has the constant {value}; sizes of numbers in {name} go from {least} to {most}")
            }
            Self::Whole => write!(
                out,
                "plain arrays hold whole populations, and f16/f32 stores differences: take f32 or f64, or blocks"
            ),
            Self::Neighbours(name) => write!(
                out,
                "`{name}` is read of neighbours: kernels on plain arrays have no pass that stores it; take blocks"
            ),
            Self::NotStored(reason) => write!(out, "populations cannot be stored as moments: {reason}"),
            Self::Plain => write!(out, "plain arrays hold populations, not moments: take blocks"),
            Self::NoAdjoint(name) => write!(
                out,
                "there is no adjoint: `{name}` is read of neighbours, so that a collision depends on cells around it; take a method whose collision reads populations of its own cell alone"
            ),
            Self::AdjointOfMoments => {
                write!(out, "there is no adjoint of moments in the place of populations: store populations")
            }
            Self::AdjointOfHalves => write!(out, "there is no adjoint of populations in 16 bits: take f32 or f64"),
            Self::AdjointOfCoupling(name) => write!(
                out,
                "there is no adjoint of the coupling `{name}`: what crosses refinement interfaces must be a sum of populations and of their slopes, times numbers; take a coupling of packets such as `volumetric_shifted`, or a uniform grid"
            ),
            Self::AdjointOfRule(rule) => write!(
                out,
                "there is no adjoint of the boundary condition `{rule}`: what it sends to a cell depends on more than populations of that link and its cell; take one such as `bounce_back`, on solids also `interpolated_bounce_back`"
            ),
            Self::InPlace(why) => write!(out, "one set of populations does not suffice for the method: {why}"),
            Self::Exchange(block, target) => write!(
                out,
                "{block:?} is too large a block for moments on a GPU, which has 1024 threads and {} KiB for it: take {}",
                target.shared_bytes() >> 10,
                if target.shared_bytes() < Target::Cuda.shared_bytes() { "4x4x4" } else { "8x8x8" }
            ),
            Self::Simplify(error) => error.fmt(out),
        }
    }
}

impl std::error::Error for CompileError {}

impl From<TooLarge> for CompileError {
    fn from(error: TooLarge) -> Self {
        Self::Simplify(error)
    }
}
