//! Arrays as they are on the device, for restart files.

use std::io;

use super::fields::{range, runs};
use super::monitor::room_to_keep;
use super::subdomain::Subdomain;
use super::{Simulation, StepError};
use crate::device::{Buffer, Element};
use crate::kernels::layout::Layout;
use crate::mesh::Grid;

/// The bytes of leaves, in the order of [`crate::mesh::Grid::leaves`], each `[component][cell]`; `of_level` gives the array of a
/// level.
fn read<'a, E: Element + 'a>(
    flow: &Simulation,
    layout: Layout,
    of_level: impl Fn(usize) -> &'a Buffer<E>,
    mut each: impl FnMut(&[u8]) -> io::Result<()>,
) -> io::Result<()> {
    let mut bytes = vec![];
    for leaves in
        flow.grid().leaves().map_err(io::Error::other)?.chunk_by(|one, next| one.block.level == next.block.level)
    {
        for run in runs(leaves) {
            let range = range(run, layout);
            let array = of_level(leaves[0].block.level);
            bytes.resize(range.len() * array.value_bytes(), 0);
            array.read_raw(range.start, &mut bytes).map_err(io::Error::other)?;
            each(&bytes)?;
        }
    }
    Ok(())
}

/// Writes into an array what [`read`] reads.
fn write<E: From<StepError>>(
    grid: &Grid,
    layout: Layout,
    to: &mut Buffer<impl Element>,
    mut next: impl FnMut(&mut [u8]) -> Result<(), E>,
) -> Result<(), E> {
    let mut bytes = vec![];
    for run in runs(grid.leaves().map_err(StepError::from)?) {
        let range = range(run, layout);
        bytes.resize(range.len() * to.value_bytes(), 0);
        next(&mut bytes)?;
        to.write_raw(range.start, &bytes).map_err(StepError::from)?;
    }
    Ok(())
}

impl Simulation {
    /// How many blocks [`Self::read_populations`] gives.
    pub fn stored_blocks(&self) -> usize {
        let grid = self.grid();
        let held = |level: &crate::mesh::forest::Level| if grid.forest().holds() { level.held.len() } else { 0 };
        grid.leaf_count() + grid.levels().iter().map(held).sum::<usize>()
    }

    /// The bytes of the current populations, leaf by leaf in the order of [`crate::mesh::Grid::leaves`], each
    /// `[direction][cell]`; then of what refined blocks hold, if they do, level by level along the curve.
    pub fn read_populations(&self, mut each: impl FnMut(&[u8]) -> io::Result<()>) -> io::Result<()> {
        let layout = Layout::populations(self.manifest());
        let current = |level: usize| &self.subdomain.fields.populations[self.stepper.levels[level].current];
        read(self, layout, current, &mut each)?;
        let mut bytes = vec![0; layout.slot_len() * self.manifest().real.stored_bytes()];
        for (level, slot) in self.grid().forest().read_held().map_err(io::Error::other)? {
            current(level).read_raw(slot.index() * layout.slot_len(), &mut bytes).map_err(io::Error::other)?;
            each(&bytes)?;
        }
        Ok(())
    }

    /// Sets all populations, in the order and form of [`Self::read_populations`], and the step.
    pub fn write_populations<E: From<StepError>>(
        &mut self,
        step: u64,
        mut next: impl FnMut(&mut [u8]) -> Result<(), E>,
    ) -> Result<(), E> {
        let layout = Layout::populations(self.manifest());
        let mut bytes = vec![0; layout.slot_len() * self.manifest().real.stored_bytes()];
        let Subdomain { grid, fields, .. } = &mut self.subdomain;
        let to = &mut fields.populations[0];
        write(grid, layout, to, &mut next)?;
        for (_, slot) in grid.forest().read_held().map_err(StepError::from)? {
            next(&mut bytes)?;
            to.write_raw(slot.index() * layout.slot_len(), &bytes).map_err(StepError::from)?;
        }
        self.stepper.levels.iter_mut().for_each(|level| level.current = 0);
        self.stepper.step = step;
        Ok(())
    }

    /// The bytes of the fields that are kept, leaf by leaf in the order of [`crate::mesh::Grid::leaves`], each
    /// `[component][cell]`; nothing where none are.
    pub fn read_kept(&self, each: impl FnMut(&[u8]) -> io::Result<()>) -> io::Result<()> {
        let Some(kept) = &self.subdomain.reference else { return Ok(()) };
        read(self, Layout::fields(self.manifest()), |_| kept, each)
    }

    /// Keeps fields of an earlier step, in the order and form of [`Self::read_kept`].
    pub fn write_kept<E: From<StepError>>(
        &mut self,
        step: u64,
        next: impl FnMut(&mut [u8]) -> Result<(), E>,
    ) -> Result<(), E> {
        let mut fields = room_to_keep(self.device(), &self.subdomain.fields.macroscopic)?;
        write(self.grid(), Layout::fields(self.manifest()), &mut fields, next)?;
        self.subdomain.reference = Some(fields);
        self.monitor.reference = Some(step);
        Ok(())
    }
}
