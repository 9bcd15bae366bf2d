//! Fields by name, evaluated on all cells of a snapshot.

use lbm_runtime::solver::snapshot::Snapshot;
use lbm_runtime::solver::velocity::Velocity;
use rayon::prelude::*;

use crate::case::Quantity;

/// Each component of a field on all cells of a snapshot, in its order, in lattice units; `None` if it needs velocity
/// gradients and the snapshot has no velocity.
pub fn columns(snapshot: &Snapshot, field: &Quantity) -> Option<Vec<Vec<f64>>> {
    Derived::new(snapshot, field).map(|derived| derived.columns())
}

/// A field evaluated from the components of a snapshot.
pub(super) struct Derived<'a> {
    snapshot: &'a Snapshot,
    field: &'a Quantity,
    is_vector: bool,
    /// The velocity, if gradients are needed.
    velocity: Option<Velocity<'a>>,
}

impl<'a> Derived<'a> {
    /// `None` if velocity gradients are needed and the snapshot has no velocity.
    pub(super) fn new(snapshot: &'a Snapshot, field: &'a Quantity) -> Option<Derived<'a>> {
        let velocity = match field.needs_slopes() {
            true => Some(Velocity::new(snapshot)?),
            false => None,
        };
        Some(Derived { snapshot, field, is_vector: field.columns().len() > 1, velocity })
    }

    /// Components in the cell at an index of the snapshot's values, in lattice units.
    pub(super) fn at(&self, position: usize) -> [f64; 3] {
        let gradient = self.velocity.as_ref().map_or([[0.0; 3]; 3], |velocity| velocity.gradient(position));
        let level = self.snapshot.blocks()[position / self.snapshot.block_cells()].level;
        self.field.at(|component| self.snapshot.components[component].data[position], &gradient, level)
    }

    /// The value that pictures show: for a vector, its magnitude.
    pub(super) fn shown(&self, position: usize) -> f64 {
        let values = self.at(position);
        if self.is_vector { values.iter().map(|value| value * value).sum::<f64>().sqrt() } else { values[0] }
    }

    /// Each component on all cells.
    pub(super) fn columns(&self) -> Vec<Vec<f64>> {
        let cells = self.snapshot.blocks().len() * self.snapshot.block_cells();
        let all: Vec<[f64; 3]> = (0..cells).into_par_iter().map(|position| self.at(position)).collect();
        (0..self.field.columns().len()).map(|column| all.iter().map(|values| values[column]).collect()).collect()
    }
}
