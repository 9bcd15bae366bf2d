//! What a method says about the jump between two levels of refinement.
//!
//! The refinement ratio is 2 in space and time: level `L` takes `2^L` steps of `dt / 2^L` with cells of `dx / 2^L`, and a
//! coarse cell has `2^d` children. Bit `a` of a child's number says on which side of its parent it lies along axis `a` (0:
//! lower, 1: upper). Neighbouring cells (with diagonals) differ by at most one level.
//!
//! # Stencils
//!
//! A [`Stencil`] acts along one axis. Its `x` counts cells of the sampled level from the centre of the cell at hand. For a
//! child, `x` points towards the child, whose centre is then always at 1/4: the stencil of the child on the other side is
//! the mirror image. For a derivative, `x` points along the axis.
//!
//! In `d` dimensions a stencil is applied one axis at a time, x first: each pass reads the results of the one before it as
//! its samples. A pass takes the first of its [`PointSet`]s whose samples all exist (a cell may be missing behind a wall,
//! or where a level has no values); where there is none, the value of the cell itself stands, and zero for a derivative.
//!
//! # The words of a coupling
//!
//! | text | meaning |
//! | --- | --- |
//! | `rate omega <- x;` | the parameter `omega` of the method is `x` on the next finer level; `omega` may be used from here on |
//! | `let h[i] = x;` | a value; in a coupling of packets one for each of them |
//! | `packet f[i] <- x;` | what a packet of population `i` carries |
//! | `kind`, `position[a]` | in a packet: its kind; where it starts, from the centre of its cell, in coarse cells: -1/4 or 1/4 |
//! | `slope[a](f[i])` | in a packet and in `refine`: the derivative stencil `slope` along axis `a`, at the cell; in `coarsen`: from one side's children to the other's |
//! | `mean(x)` | in a packet: the mean of `x` over the packets of the same population of the cell; in `coarse`: over children |
//! | `ghosts n;` | ghosts stand in `n` layers of fine cells |
//! | `fine f[i] <- cubic(x);` | a ghost's populations: `x` of the coarse cells around it, by the stencil `cubic` |
//! | `coarse f[i] <- mean(x);` | a refined cell's populations: the mean of `x` of its children |
//! | `refine f[i] <- x;` | what a child has of a cell that is refined; `position[a]` is where the child lies, `mean` is over the children |
//! | `coarsen f[i] <- x;` | what the cell has that takes the place of its children; `f[i]` is the mean over these |
//! | `equilibrium[i]` | what the method's `init` gives for the fields of the populations at hand |
//!
//! # Rates
//!
//! A [`Coupling`] gives parameters of the method their value on the next finer level, from those on the level itself. The
//! coarsest level has the parameters as they are set; every other level follows. A parameter without a rule is the same on
//! all levels.
//!
//! # Packets: volumetric couplings
//!
//! Populations are post-collision values `f*`. In a coarse step, population `i` of a coarse cell is `2^d` packets, one for
//! each child position `s` of the cell, that travel twice `c_i` (in fine cells), one in each fine step. They do not
//! collide on the way, unless they enter a fine cell. A packet is of
//!
//! - kind 1 if the position `s + c_i` is in a fine cell: it is delivered there in the first fine step;
//! - kind 2 else, if `s + 2 c_i` is: it is delivered there in the second;
//! - kind 0 else: it is delivered to the coarse cell around `s + 2 c_i`, at the end of the coarse step.
//!
//! [`Exchange::Packets`] says what a packet carries, from the populations of its cell, their slopes (a derivative stencil
//! along one axis; samples are the coarse neighbours, and those that are refined or beyond a wall are missing), and the
//! kinds of all `2^d` packets of that population of that cell. Fine cells send their populations along `c_i` in each of
//! their steps; what leaves them into a coarse cell travels on like a packet. A coarse cell receives, in each direction,
//! the mean of what arrives at its `2^d` child positions. Two buffers a level, `A` (before the step) and `B` (after it),
//! and this order need no ghosts, no sums that persist and no atomics:
//!
//! ```text
//! advance(L):  if L has finer cells: advance(L + 1)       first fine step
//!              stream and collide level L: read A, write B
//!              if L has finer cells: advance(L + 1)       second fine step
//!              exchange A and B of level L
//! ```
//!
//! Read backwards, as a pull does (positions in fine cells, `f*` of the time named):
//!
//! - a fine cell `x` in the first fine step takes `f*_i(x - c_i)` of this step if that is a fine cell, else the packet that
//!   started at `x - c_i`;
//! - a fine cell `x` in the second fine step takes `f*_i(x - c_i)` of this step if that is a fine cell; else, if
//!   `x - 2 c_i` is a fine cell, `f*_i(x - 2 c_i)` from before the first fine step (its path cut the corner of a coarse
//!   cell); else the packet that started at `x - 2 c_i`;
//! - a coarse cell takes the mean, over its child positions `s`, of: `f*_i(s - c_i)` after the first fine step if that is a
//!   fine cell; else `f*_i(s - 2 c_i)` from before it, if that is a fine cell; else the packet that started at `s - 2 c_i`.
//!   Away from jumps this is plain streaming.
//!
//! When level `L` streams, the two buffers of level `L + 1` hold just these two times. The value that cut a corner is
//! overwritten while the second fine step runs; those few (at concave edges and corners) must be taken before it. All
//! packets of a coarse step are made from `A` of that step, those of the second fine step too: they can be delivered at once.
//!
//! Which path a packet takes follows from which of the coarse cells around its own are refined. Packets of a population that start
//! at positions which differ only along axes where `c_i` is zero are of one kind.
//!
//! # Ghosts: interpolated couplings
//!
//! Populations are those that have streamed in, before they collide. [`Exchange::Ghosts`] has fine cells in `layers`
//! layers (with diagonals) around the refined region that stand for coarse cells. For a coarse step:
//!
//! - each ghost takes `stencil(fine)`: the formulas `fine` of the coarse cells around it, interpolated to it. Samples are
//!   the values of all cells of the coarse level: those that are not refined, and refined ones beside a coarse cell (with
//!   diagonals), which hold what they were given last. Others are missing;
//! - the coarse cells that are not refined collide and stream, those that hold values taking part;
//! - fine cells and ghosts collide and stream twice; each step spoils one more layer of ghosts from the outside, so `layers`
//!   must be twice the largest component of a velocity;
//! - each refined coarse cell beside a coarse cell takes the mean of the formulas `coarse` of its children.
//!
//! On a grid of blocks the ghosts are the outermost layers of blocks that have a coarser one beside them: what is called
//! refined here is what these leave.
//!
//! # Cells that change their level
//!
//! [`Transfer`] says what the children of a cell have when it is refined, and what a cell has when its children are given up. Populations
//! are post-collision values. Without `refine` and `coarsen` children have what their cell has, and a cell has the mean of its children.
//! Samples of a slope are cells of the same level; others are missing.
//!
//! In `fine` the populations are those of one coarse cell, in `coarse` those of one child. Parameters have their value on
//! the coarse level in both.

use std::fmt;

use num_traits::{Signed, Zero};

use super::Formulas;
use crate::expr::{ExprId, Rational};

/// What a stencil gives.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Target {
    /// The value at a position, from values at the points.
    Value(Rational),
    /// The derivative at a position (per cell of the sampled level), from values at the points.
    Derivative(Rational),
    /// The mean over an interval, from means over the cells around the points.
    Mean(Rational, Rational),
}

impl Target {
    /// Whether it is what a child of a cell has: its value at the centre, or its mean.
    pub fn is_of_a_child(&self) -> bool {
        let ratio = |above: i64, below: i64| Rational::new(above.into(), below.into());
        match self {
            Target::Value(at) => *at == ratio(1, 4),
            Target::Mean(low, high) => *low == ratio(0, 1) && *high == ratio(1, 2),
            Target::Derivative(_) => false,
        }
    }
}

impl fmt::Display for Target {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Target::Value(at) => write!(out, "value at {at}"),
            Target::Derivative(at) => write!(out, "derivative at {at}"),
            Target::Mean(low, high) => write!(out, "mean over ({low}, {high})"),
        }
    }
}

/// Sample points with the weights that were solved for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PointSet {
    pub(crate) points: Vec<i64>,
    pub(crate) weights: Vec<Rational>,
    pub(crate) degree: usize,
}

impl PointSet {
    /// Where the samples are, in cells: samples are those of whole cells.
    pub fn points(&self) -> &[i64] {
        &self.points
    }
    /// The weight of each sample.
    pub fn weights(&self) -> &[Rational] {
        &self.weights
    }
    /// It is exact for `1, x, ..., x^degree` and not for `x^(degree + 1)`.
    pub fn degree(&self) -> usize {
        self.degree
    }
    /// The sum of the sizes of the weights: the largest factor by which it can amplify an error of the samples along one
    /// axis (Lebesgue constant).
    pub fn lebesgue(&self) -> Rational {
        self.weights.iter().fold(Rational::zero(), |sum, weight| sum + weight.abs())
    }
}

/// An interpolation stencil along one axis.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Stencil {
    pub(crate) name: String,
    pub(crate) target: Target,
    pub(crate) sets: Vec<PointSet>,
    pub(crate) doc: String,
}

impl Stencil {
    /// Name, for example `cubic`.
    pub fn name(&self) -> &str {
        &self.name
    }
    /// What it gives.
    pub fn target(&self) -> &Target {
        &self.target
    }
    /// Sample points in order of preference; at least one set.
    pub fn sets(&self) -> &[PointSet] {
        &self.sets
    }
    /// How far the farthest sample is from the cell at hand, in cells.
    pub fn reach(&self) -> u64 {
        self.sets.iter().flat_map(|set| &set.points).map(|point| point.unsigned_abs()).max().unwrap_or(0)
    }
    /// The comment that documents it, one line; may be empty.
    pub fn doc(&self) -> &str {
        &self.doc
    }
}

/// A parameter of the method on the next finer level.
#[derive(Clone, Debug)]
pub struct Rate {
    /// Position in `Model::params`.
    pub param: usize,
    /// Its value there, from the parameters on the level at hand.
    pub finer: ExprId,
}

/// What crosses a level jump, and how.
#[derive(Clone, Debug)]
pub enum Exchange {
    /// Packets of post-collision populations.
    Packets {
        /// `values[pop * 2^d + child]`: what the packet of that population from that child position carries. Symbols are
        /// `Population`, `Param` and `Level` with `Slope` and `Kind`.
        values: Vec<ExprId>,
    },
    /// Ghosts with interpolated populations, before collision.
    Ghosts {
        /// Fine layers around the refined region.
        layers: usize,
        /// Position in `Model::stencils`.
        stencil: usize,
        /// Populations to be interpolated, from those of one coarse cell.
        fine: Formulas,
        /// Populations to be averaged, from those of one child.
        coarse: Formulas,
    },
}

/// The populations of cells that change their level.
#[derive(Clone, Debug)]
pub struct Transfer {
    /// Each population of a child of a cell that is refined. Symbols are `Population` of the cell, and `Level` with `Slope`
    /// at the cell and `Position`.
    pub refine: Formulas,
    /// Each population of the cell that takes the place of its children. Symbols are `Population`, the mean over the
    /// children, and `Level` with `Slope`, from the mean over one side's children to that over the other's.
    pub coarsen: Formulas,
}

/// What crosses the jump between a level and the next finer one.
#[derive(Clone, Debug)]
pub struct Coupling {
    pub(crate) name: String,
    pub(crate) rates: Vec<Rate>,
    pub(crate) exchange: Exchange,
    pub(crate) transfer: Transfer,
    pub(crate) doc: String,
}

impl Coupling {
    /// Name, for example `volumetric_shifted`.
    pub fn name(&self) -> &str {
        &self.name
    }
    /// Parameters that differ between levels.
    pub fn rates(&self) -> &[Rate] {
        &self.rates
    }
    /// What crosses.
    pub fn exchange(&self) -> &Exchange {
        &self.exchange
    }
    /// What cells have whose level changes.
    pub fn transfer(&self) -> &Transfer {
        &self.transfer
    }
    /// The comment that documents it, one line; may be empty.
    pub fn doc(&self) -> &str {
        &self.doc
    }

    /// Leaves the first `count` values of cells, in a method whose cells have `children` each.
    pub(crate) fn truncate(&mut self, count: usize, children: usize) {
        match &mut self.exchange {
            Exchange::Packets { values } => values.truncate(count * children),
            Exchange::Ghosts { fine, coarse, .. } => {
                [fine, coarse].into_iter().for_each(|formulas| formulas.outputs.truncate(count));
            }
        }
        let Transfer { refine, coarsen } = &mut self.transfer;
        [refine, coarsen].into_iter().for_each(|formulas| formulas.outputs.truncate(count));
    }

    /// Adds a value of cells, of which there are `children` in each, that keeps to its cell, and is that of its cell where the level changes.
    pub(crate) fn keep(&mut self, own: ExprId, children: usize) {
        match &mut self.exchange {
            Exchange::Packets { values } => values.extend(std::iter::repeat_n(own, children)),
            Exchange::Ghosts { fine, coarse, .. } => {
                [fine, coarse].into_iter().for_each(|formulas| formulas.outputs.push(own));
            }
        }
        let Transfer { refine, coarsen } = &mut self.transfer;
        [refine, coarsen].into_iter().for_each(|formulas| formulas.outputs.push(own));
    }

    /// Every expression that it refers to.
    pub(crate) fn roots_mut(&mut self) -> Vec<&mut ExprId> {
        let rates = self.rates.iter_mut().map(|rate| &mut rate.finer);
        let (values, formulas) = match &mut self.exchange {
            Exchange::Packets { values } => (values.as_mut_slice(), None),
            Exchange::Ghosts { fine, coarse, .. } => (&mut [][..], Some([fine, coarse])),
        };
        let Transfer { refine, coarsen } = &mut self.transfer;
        let formulas = formulas.into_iter().flatten().chain([refine, coarsen]);
        let of_formulas = formulas.flat_map(|formulas| {
            formulas.outputs.iter_mut().chain(formulas.lets.iter_mut().map(|item| &mut item.value))
        });
        rates.chain(values).chain(of_formulas).collect()
    }
}
