//! Surfaces that slide: what the kernel [`Role::Slide`](crate::Role::Slide) reads and writes of each patch of a surface.
//!
//! A rule of surfaces whose parameters are a vector `slip` and a number `source` slides. The runtime gives each cell beside such a surface a
//! wall of its own, and the kernel gives that wall its values in each step. What the rule sends must depend on both as that of [`RULE`] does, whose
//! response the runtime works out when it makes patches: linearly, with `2 w (c . slip) / cs2 + w source`, over twice the distance where that is above 1.

use crate::{Boundary, Manifest};

/// The rule of the prelude that slides.
pub const RULE: &str = "sliding_wall";

/// The parameters of a rule that slides: its velocity, a vector, and its source, a number.
pub const SLIP: &str = "slip";
/// See [`SLIP`].
pub const SOURCE: &str = "source";

/// Numbers of a law: logarithms of y+ at Reynolds numbers of the height, `u y / nu`, whose logarithms are [`LAW_FROM`] and [`LAW_STEP`] more each.
pub const LAW_NUMBERS: usize = 512;
/// The logarithm of the least Reynolds number of a law.
pub const LAW_FROM: f64 = -12.0;
/// The step between logarithms.
pub const LAW_STEP: f64 = 0.1;
/// The part of a change of the density that the mean of a patch follows in a step.
pub const FILTER: f64 = 0.05;
/// The part of the mass that links of a patch add in a step, which they take away in each of the following.
pub const GAIN: f64 = 0.002;

/// Whole numbers of a cell: the place of its block, and the cell; the block around it that its sample lies in, and the cell there; its directions.
pub const ENTRY: usize = 5;

/// Numbers of a cell: its normal, the matrix by which the velocity of its wall follows from what it loses, its area, how much of that velocity its
/// wall takes of its own, and what its links give to the fluid for a velocity of the wall: momentum, a matrix, and mass, a vector; the velocity of the
/// surface along itself.
pub fn beside(dim: u32) -> usize {
    (2 * dim * dim + 3 * dim) as usize + 2
}

/// Numbers of the shape of a patch: its normal, area, stiffness, weight, height, viscosity and law; what its links give to the fluid for a velocity
/// of the patch along the surface, and for one by which cells differ by their own parts: momentum, two matrices, and mass, two vectors; and for a
/// source: momentum, a vector, and mass.
pub fn shape(dim: u32) -> usize {
    (2 * dim * dim + 4 * dim) as usize + 7
}

/// Numbers of the state of a patch: its velocity, source, density, velocity of its samples along it, stress and y+.
pub fn state(dim: u32) -> usize {
    2 * dim as usize + 4
}

/// Where `slip` and `source` are among the values of a wall, for a rule that has them.
pub fn offsets_of(rule: &Boundary, dim: u32) -> Option<(usize, usize)> {
    let at = |name: &str, components: u32| {
        let found = rule.params.iter().position(|param| param.name == name && param.components == components)?;
        Some(rule.params[..found].iter().map(|param| param.components as usize).sum())
    };
    Some((at(SLIP, dim)?, at(SOURCE, 1)?))
}

/// The same for the first rule of surfaces that slides, if there is one.
pub fn offsets(manifest: &Manifest) -> Option<(usize, usize)> {
    let fits = |rule: &&Boundary| manifest.solid_rules.contains(&rule.code);
    manifest.boundaries.iter().filter(fits).find_map(|rule| offsets_of(rule, manifest.dim))
}
