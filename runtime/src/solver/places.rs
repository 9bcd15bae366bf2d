//! Numbers that cells keep for parameters of the method that vary: states that a field gives at the start, and that nothing changes.
//!
//! They follow from the place of a cell alone. So cells that come into being later, where the grid changes or a solid has left them, do not
//! get them from others, but as at the start, from the host: all cells always have what a formula says of their centres, to the last bit.

use std::collections::HashSet;
use std::sync::Arc;

use lbm_bundle::Manifest;
use rayon::prelude::*;

use super::subdomain::Subdomain;
use super::{Simulation, StepError};
use crate::device::{Buffer, DeviceError, Stored};
use crate::geometry::{Block, Cell};
use crate::kernels::layout::{CellId, Layout, SlotId};
use crate::mesh::forest::Leaf;

/// What the places of the method are at a position, in cells of the coarsest level: a number for each field of the manifest that is one, in its order.
pub type PlaceValues = Arc<dyn Fn([f64; 3], &mut [f64]) + Send + Sync>;

/// The places of a method.
#[derive(Clone)]
pub(super) struct Places {
    /// Where they are among the values of a cell.
    components: Vec<usize>,
    values: PlaceValues,
}

impl Places {
    fn new(manifest: &Manifest, values: PlaceValues) -> Places {
        let first = manifest.q() - manifest.states.len();
        let places = manifest.fields.iter().filter(|field| field.place);
        let state = |name: &str| manifest.states.iter().position(|state| state.name == name);
        let components = places.filter_map(|field| Some(first + state(&field.name)?)).collect();
        Places { components, values }
    }

    /// Those of some cells of a block, place by place.
    fn of(&self, layout: Layout, origin: Cell, cells: &[CellId]) -> Vec<Vec<f64>> {
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
    pub(super) fn write_cell(
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

impl Simulation {
    /// Says what the places of the method are, from now on: it is what fields of the start have to give them, too.
    pub fn follow_places(&mut self, values: PlaceValues) {
        let places = Places::new(self.manifest(), values);
        self.parts.iter_mut().for_each(|subdomain| subdomain.places = Some(places.clone()));
    }
}

impl Simulation {
    /// Gives all cells other places of the method, from now on.
    pub fn set_places(&mut self, values: PlaceValues) -> Result<(), StepError> {
        self.follow_places(values);
        let current: Vec<usize> = self.stepper.levels.iter().map(|level| level.current).collect();
        for subdomain in self.parts.iter_mut() {
            subdomain.sampled = false;
            subdomain.give_places(&current, |_| true)?;
        }
        Ok(())
    }
}

impl Subdomain {
    /// The blocks whose cells have their places, for [`Self::give_places`]; none where the method has none.
    pub(super) fn placed(&self) -> Result<Option<HashSet<Block>>, DeviceError> {
        let of_leaves = |leaves: &[Leaf]| leaves.iter().map(|leaf| leaf.block).collect();
        self.places.as_ref().map(|_| self.grid.leaves().map(of_leaves)).transpose()
    }

    /// Gives the cells of some leaves their places, in the sets that are current on each level.
    pub(super) fn give_places(&mut self, current: &[usize], to: impl Fn(&Leaf) -> bool) -> Result<(), DeviceError> {
        let Subdomain { program, grid, fields, places: Some(places), .. } = self else { return Ok(()) };
        let layout = Layout::populations(program.manifest());
        let cells: Vec<CellId> = layout.all_cells().collect();
        let new: Vec<&Leaf> = grid.leaves()?.iter().filter(|leaf| to(leaf)).collect();
        for some in new.chunks(super::fields::SLOTS_AT_ONCE) {
            let of = |leaf: &&Leaf| places.of(layout, grid.origin(leaf.block), &cells);
            let values: Vec<Vec<Vec<f64>>> = some.par_iter().map(of).collect();
            for (leaf, values) in some.iter().zip(values) {
                let to = &mut fields.populations[current[leaf.block.level]];
                for (component, values) in places.components.iter().zip(values) {
                    to.write_reals(layout.offset(leaf.slot, *component, CellId(0)), &values)?;
                }
            }
        }
        Ok(())
    }
}
