//! Fields by name on all cells of a snapshot.

use lbm_runtime::solver::snapshot::Snapshot;
use lbm_runtime::solver::velocity::Velocity;
use rayon::prelude::*;

use crate::case::Quantity;

/// Each component of a field on all cells of a snapshot, in its order, in lattice units; `None` where it needs slopes and there is no velocity.
pub fn columns(snapshot: &Snapshot, field: &Quantity) -> Option<Vec<Vec<f64>>> {
    Derived::new(snapshot, field).map(|derived| derived.columns())
}

/// A field on the cells of a snapshot, whose components are those of the method's fields.
pub(super) struct Derived<'a> {
    snapshot: &'a Snapshot,
    field: &'a Quantity,
    is_vector: bool,
    /// Where slopes are needed.
    velocity: Option<Velocity<'a>>,
}

impl<'a> Derived<'a> {
    /// `None` where the snapshot has no velocity, and slopes of it are needed.
    pub(super) fn new(snapshot: &'a Snapshot, field: &'a Quantity) -> Option<Derived<'a>> {
        let velocity = match field.needs_slopes() {
            true => Some(Velocity::new(snapshot)?),
            false => None,
        };
        Some(Derived { snapshot, field, is_vector: field.columns().len() > 1, velocity })
    }

    /// Its components in the cell at a position in the snapshot's values, in lattice units.
    pub(super) fn at(&self, position: usize) -> [f64; 3] {
        let gradient = self.velocity.as_ref().map_or([[0.0; 3]; 3], |velocity| velocity.gradient(position));
        let level = self.snapshot.blocks()[position / self.snapshot.block_cells()].level;
        self.field.at(|component| self.snapshot.components[component].data[position], &gradient, level)
    }

    /// What pictures show of it in a cell: of a vector the magnitude.
    pub(super) fn shown(&self, position: usize) -> f64 {
        let values = self.at(position);
        if self.is_vector { values.iter().map(|value| value * value).sum::<f64>().sqrt() } else { values[0] }
    }

    /// Each of its components on all cells.
    pub(super) fn columns(&self) -> Vec<Vec<f64>> {
        let cells = self.snapshot.blocks().len() * self.snapshot.block_cells();
        let all: Vec<[f64; 3]> = (0..cells).into_par_iter().map(|position| self.at(position)).collect();
        (0..self.field.columns().len()).map(|column| all.iter().map(|values| values[column]).collect()).collect()
    }
}
