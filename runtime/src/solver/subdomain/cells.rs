//! Values that the host gives to cells: initial fields, changed populations, place values.

use std::collections::HashSet;

use rayon::prelude::*;

use crate::device::DeviceError;
use crate::geometry::{Block, Cell};
use crate::kernels;
use crate::kernels::layout::{CellId, Layout};
use crate::mesh::forest::Leaf;
use crate::solver::arrays::cells;
use crate::solver::arrays::digits::Digits;
use crate::solver::arrays::fields::rest;
use crate::solver::arrays::params::LevelState;
use crate::solver::arrays::places::Places;
use crate::solver::error::StepError;
use crate::solver::plan::task::PopulationSet;
use crate::solver::subdomain::Subdomain;
use crate::solver::subdomain::fields::ids_in;

impl Subdomain {
    /// Sets the fields of every cell, and from them the first set of populations.
    pub(crate) fn fill(
        &mut self,
        levels: &[LevelState],
        value: &(impl Fn(Cell, &mut [f64]) + Sync),
    ) -> Result<(), StepError> {
        self.sampled = false;
        let layout = Layout::fields(self.program.manifest());
        let whole = self.is_whole();
        let own = self.own_leaves()?;
        for window in self.windows() {
            let leaves = if whole { &own[..] } else { &own[window.clone()] };
            cells::scatter(&mut self.fields.macroscopic, layout, &self.grid, (leaves, window.start), value)?;
            for (number, (level, listed)) in levels.iter().zip(self.grid.levels()).enumerate() {
                let of_window = || vec![ids_in(&self.grid, &listed.leaves, &window)];
                let runs = self.own_level(number).runs().into_iter();
                let lists =
                    if whole { runs.map(|run| self.grid.tables().leaves.slice(run)).collect() } else { of_window() };
                for ids in lists {
                    self.program.launch(kernels::Init {
                        ids,
                        first: window.start as i32,
                        fields: &self.fields.macroscopic,
                        dst: &mut self.fields.populations[0],
                        params: level.params.packed(),
                    })?;
                }
            }
        }
        Ok(())
    }

    /// Changes the current populations of its cells: `change(cell, populations)`, full values, or moments stored in their place.
    pub(crate) fn update(
        &mut self,
        levels: &[LevelState],
        change: &(impl Fn(Cell, &mut [f64]) + Sync),
    ) -> Result<(), StepError> {
        self.sampled = false;
        let leaves = self.own_leaves()?;
        let Subdomain { program, grid, fields, .. } = self;
        let layout = Layout::populations(program.manifest());
        let (rest, digits) = (rest(program.manifest()), Digits::of(program.manifest()));
        for (at, set) in fields.populations.iter_mut().enumerate() {
            let current: Vec<bool> = levels.iter().map(|level| level.current.index() == at).collect();
            if current.contains(&true) {
                cells::update(set, layout, grid, &leaves, |cell, stored| {
                    if current[cell.level] {
                        let mut populations = vec![0.0; rest.len()];
                        digits.read(stored, &mut populations);
                        populations.iter_mut().zip(&rest).for_each(|(population, rest)| *population += rest);
                        change(cell, &mut populations);
                        populations.iter_mut().zip(&rest).for_each(|(population, rest)| *population -= rest);
                        digits.write(&populations, stored);
                    }
                })?;
            }
        }
        Ok(())
    }

    /// Defines the place values of the method from now on.
    pub(crate) fn follow_places(&mut self, places: Places) {
        self.places = Some(places);
    }

    /// Writes the place values of all its cells.
    pub(crate) fn set_places(&mut self, current: &[PopulationSet]) -> Result<(), DeviceError> {
        self.sampled = false;
        self.give_places(current, |_| true)
    }

    /// The blocks whose cells already have their place values, so that [`Self::give_places`] can skip them; `None` if the method has no
    /// place values.
    pub(super) fn placed(&self) -> Result<Option<HashSet<Block>>, DeviceError> {
        let of_leaves = |leaves: &[Leaf]| leaves.iter().map(|leaf| leaf.block).collect();
        self.places.as_ref().map(|_| self.grid.leaves().map(of_leaves)).transpose()
    }

    /// Writes the place values of the cells of some leaves, into the set of populations that is current on their level.
    pub(super) fn give_places(
        &mut self,
        current: &[PopulationSet],
        to: impl Fn(&Leaf) -> bool,
    ) -> Result<(), DeviceError> {
        let Subdomain { program, grid, fields, places: Some(places), .. } = self else { return Ok(()) };
        let layout = Layout::populations(program.manifest());
        let cells: Vec<CellId> = layout.all_cells().collect();
        let new: Vec<&Leaf> = grid.leaves()?.iter().filter(|leaf| to(leaf)).collect();
        for some in new.chunks(crate::solver::arrays::cells::SLOTS_AT_ONCE) {
            let of = |leaf: &&Leaf| places.of(layout, grid.origin(leaf.block), &cells);
            let values: Vec<Vec<Vec<f64>>> = some.par_iter().map(of).collect();
            for (leaf, values) in some.iter().zip(values) {
                let to = &mut fields.populations[current[leaf.block.level].index()];
                places.write(layout, to, (leaf.slot, CellId(0)), &values)?;
            }
        }
        Ok(())
    }
}
