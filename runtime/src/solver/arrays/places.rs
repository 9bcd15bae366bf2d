//! Place values: constants of cells, for parameters of the method that vary in space. They are states of the cell that a field sets at the
//! start and nothing changes later.
//!
//! They depend on the position of a cell alone. Cells that are created by an adaptation, or that a moving solid leaves, therefore do not
//! get them from other cells but from the host, as at the start. Every cell always has the value of the formula at its centre, to the last
//! bit.

use std::ops::Range;
use std::sync::Arc;

use lbm_bundle::Manifest;

use crate::device::halves::split;
use crate::device::{Buffer, DeviceError, Stored};
use crate::geometry::{Cell, Domain};
use crate::kernels::layout::{CellId, Layout, SlotId};

/// Evaluates the place values of the method at a position, in cells of the coarsest level: a number for each field of the manifest that is
/// a place value, in the order of the manifest.
pub type PlaceValues = Arc<dyn Fn([f64; 3], &mut [f64]) + Send + Sync>;

/// The place values of a method.
#[derive(Clone)]
pub(crate) struct Places {
    /// The rows that store each.
    pub(crate) rows: Vec<Range<usize>>,
    values: PlaceValues,
    domain: Domain,
}

impl Places {
    pub(crate) fn new(manifest: &Manifest, domain: Domain, values: PlaceValues) -> Places {
        let first = manifest.first_state();
        let places = manifest.fields.iter().filter(|field| field.place);
        let state = |name: &str| manifest.states.iter().position(|state| state.name == name);
        let rows = places.filter_map(|field| Some(manifest.rows_of(first + state(&field.name)?))).collect();
        Places { rows, values, domain }
    }

    /// The place values of some cells of a block, `[place][cell]`; beyond the domain those of the nearest cell.
    pub(crate) fn of(&self, layout: Layout, origin: Cell, cells: &[CellId]) -> Vec<Vec<f64>> {
        let mut values = vec![vec![0.0; cells.len()]; self.rows.len()];
        let mut of_cell = vec![0.0; self.rows.len()];
        for (number, cell) in cells.iter().enumerate() {
            let inside = layout.position(*cell);
            let at = std::array::from_fn(|axis| origin.at[axis] + inside[axis]);
            (self.values)(self.domain.nearest(Cell { at, ..origin }).centre(), &mut of_cell);
            values.iter_mut().zip(&of_cell).for_each(|(values, value)| values[number] = *value);
        }
        values
    }

    /// Writes the place values of one cell of the block at `origin`.
    pub(crate) fn write_cell(
        &self,
        layout: Layout,
        to: &mut Buffer<Stored>,
        origin: Cell,
        (slot, cell): (usize, usize),
    ) -> Result<(), DeviceError> {
        let cell = CellId(cell as u32);
        self.write(layout, to, (SlotId(slot as u32), cell), &self.of(layout, origin, &[cell]))
    }

    /// Writes place values, `[place][cell]`, of the cells of a block from one on.
    pub(crate) fn write(
        &self,
        layout: Layout,
        to: &mut Buffer<Stored>,
        (slot, first): (SlotId, CellId),
        values: &[Vec<f64>],
    ) -> Result<(), DeviceError> {
        for (rows, values) in self.rows.iter().zip(values) {
            if rows.len() == 1 {
                to.write_reals(layout.offset(slot, rows.start, first), values)?;
                continue;
            }
            let halves: Vec<[f64; 2]> = values.iter().map(|value| split(*value)).collect();
            for (half, row) in rows.clone().enumerate() {
                let halves: Vec<f64> = halves.iter().map(|halves| halves[half]).collect();
                to.write_reals(layout.offset(slot, row, first), &halves)?;
            }
        }
        Ok(())
    }
}
