//! What a method says about the jump between two levels of refinement.
//!
//! The refinement ratio is 2 in space and time: a coarse cell has `2^d` children; bit `a` of a child's number says on which
//! side of its parent it lies along axis `a` (0: lower, 1: upper).
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

use num_traits::{Signed, Zero};

use crate::expr::Rational;

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

/// Sample points with the weights that were solved for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PointSet {
    pub(crate) points: Vec<Rational>,
    pub(crate) weights: Vec<Rational>,
    pub(crate) degree: usize,
}

impl PointSet {
    /// Where the samples are, in cells.
    pub fn points(&self) -> &[Rational] {
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
    /// The comment that documents it, one line; may be empty.
    pub fn doc(&self) -> &str {
        &self.doc
    }
}
