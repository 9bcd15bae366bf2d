//! Numbers that cells keep for parameters of the method that vary: states that a field gives at the start, and that nothing changes.
//!
//! They follow from the place of a cell alone. So cells that come into being later, where the grid changes or a solid has left them, do not
//! get them from others, but as at the start, from the host: all cells always have what a formula says of their centres, to the last bit.

use std::sync::Arc;

use lbm_bundle::Manifest;

use crate::device::{Buffer, DeviceError, Stored};
use crate::geometry::Cell;
use crate::kernels::layout::{CellId, Layout, SlotId};

/// What the places of the method are at a position, in cells of the coarsest level: a number for each field of the manifest that is one, in its order.
pub type PlaceValues = Arc<dyn Fn([f64; 3], &mut [f64]) + Send + Sync>;

/// The places of a method.
#[derive(Clone)]
pub(crate) struct Places {
    /// Where they are among the values of a cell.
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

    /// Those of some cells of a block, place by place.
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

    /// Writes those of a cell of the block at `origin`.
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
