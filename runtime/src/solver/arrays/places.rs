//! Place values: constants of cells, for parameters of the method that vary in space. They are states of the cell that a field sets at the
//! start and nothing changes later.
//!
//! They depend on the position of a cell alone. Cells that are created by an adaptation, or that a moving solid leaves, therefore do not
//! get them from other cells but from the host, as at the start. Every cell always has the value of the formula at its centre, to the last
//! bit.

use std::sync::Arc;

use lbm_bundle::Manifest;

use crate::device::{Buffer, DeviceError, Stored};
use crate::geometry::Cell;
use crate::kernels::layout::{CellId, Layout, SlotId};

/// Evaluates the place values of the method at a position, in cells of the coarsest level: a number for each field of the manifest that is
/// a place value, in the order of the manifest.
pub type PlaceValues = Arc<dyn Fn([f64; 3], &mut [f64]) + Send + Sync>;

/// The place values of a method.
#[derive(Clone)]
pub(crate) struct Places {
    /// The components of a cell that store them.
    pub(crate) components: Vec<usize>,
    values: PlaceValues,
}

impl Places {
    pub(crate) fn new(manifest: &Manifest, values: PlaceValues) -> Places {
        let first = manifest.q() - manifest.states.len();
        let places = manifest.fields.iter().filter(|field| field.place);
        let state = |name: &str| manifest.states.iter().position(|state| state.name == name);
        let components = places.filter_map(|field| Some(first + state(&field.name)?)).collect();
        Places { components, values }
    }

    /// The place values of some cells of a block, `[place][cell]`.
    pub(crate) fn of(&self, layout: Layout, origin: Cell, cells: &[CellId]) -> Vec<Vec<f64>> {
        let mut values = vec![vec![0.0; cells.len()]; self.components.len()];
        let mut of_cell = vec![0.0; self.components.len()];
        for (number, cell) in cells.iter().enumerate() {
            let inside = layout.position(*cell);
            let at = std::array::from_fn(|axis| origin.at[axis] + inside[axis]);
            (self.values)(Cell { at, ..origin }.centre(), &mut of_cell);
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
        for (component, values) in self.components.iter().zip(self.of(layout, origin, &[cell])) {
            to.write_reals(layout.offset(SlotId(slot as u32), *component, cell), &values)?;
        }
        Ok(())
    }
}
