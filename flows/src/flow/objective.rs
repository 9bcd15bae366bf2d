//! What the fields of a step add to the objective of a case, and its derivatives by them.

use lbm_runtime::geometry::Cell;
use lbm_runtime::solver::snapshot::Snapshot;
use rayon::prelude::*;

use crate::case::Gradient;

/// Cells whose parts of an objective are summed up first.
const PART: usize = 4096;

/// The fields of a step of which the objective is made.
pub(super) struct Seen<'a> {
    pub(super) snapshot: Snapshot,
    pub(super) gradient: &'a Gradient,
    /// Names of its components.
    pub(super) names: &'a [String],
    /// What part of the objective the step is.
    pub(super) share: f64,
}

impl Seen<'_> {
    /// The centre of a cell and its factor, if it is fluid and has one: with the volume of the cell, in cells of the coarsest level.
    fn weighted(&self, at: usize) -> Option<([f64; 3], f64)> {
        let (snapshot, cell) = (&self.snapshot, self.snapshot.cell(at));
        let is_fluid = snapshot.domain.contains(cell) && snapshot.components.iter().all(|own| !own.data[at].is_nan());
        let centre = cell.centre();
        let weight = self.share * snapshot.volume(at / snapshot.block_cells()) * self.gradient.weight_at(centre);
        (is_fluid && weight != 0.0).then_some((centre, weight))
    }

    fn slope(&self, at: usize, centre: [f64; 3], by: usize) -> [f64; 2] {
        self.gradient.slope(self.names, (centre, &|component| self.snapshot.components[component].data[at]), by)
    }

    /// What this step adds: the same bits on any number of threads.
    pub(super) fn objective(&self) -> f64 {
        let of_cell = |at: usize| self.weighted(at).map(|(centre, weight)| weight * self.slope(at, centre, 0)[0]);
        let cells = self.snapshot.components[0].data.len();
        let part = |part: usize| (part * PART..cells.min((part + 1) * PART)).filter_map(of_cell).sum();
        let parts: Vec<f64> = (0..cells.div_ceil(PART)).into_par_iter().map(part).collect();
        parts.iter().sum()
    }

    /// Derivatives of that by the components in a cell.
    pub(super) fn slopes(&self, cell: Cell, out: &mut [f64]) {
        let Some((at, _)) = self.snapshot.cover(cell) else { return };
        let Some((centre, weight)) = self.weighted(at) else { return };
        for by in self.gradient.depends.iter().copied() {
            out[by] = weight * self.slope(at, centre, by)[1];
        }
    }
}
