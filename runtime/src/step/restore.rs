//! Populations as they are on the device, for restart files.

use std::io;

use super::{Simulation, StepError};
use crate::fields::{range, runs};
use crate::layout::Layout;

impl Simulation {
    /// The bytes of the current populations, leaf by leaf in the order of [`crate::mesh::Grid::leaves`], each
    /// `[direction][cell]`.
    pub fn read_populations(&self, mut each: impl FnMut(&[u8]) -> io::Result<()>) -> io::Result<()> {
        let (layout, real) = (Layout::populations(self.manifest()), self.manifest().real.bytes());
        let leaves = self.grid.leaves().map_err(io::Error::other)?;
        let mut bytes = vec![];
        for leaves in leaves.chunk_by(|one, next| one.block.level == next.block.level) {
            let from = &self.fields.populations[self.levels[leaves[0].block.level].current];
            for run in runs(leaves) {
                let range = range(run, layout);
                bytes.resize(range.len() * real, 0);
                from.read_raw(range.start, &mut bytes).map_err(io::Error::other)?;
                each(&bytes)?;
            }
        }
        Ok(())
    }

    /// Sets the populations of all leaves, in the order and form of [`Self::read_populations`], and the step.
    pub fn write_populations<E: From<StepError>>(
        &mut self,
        step: u64,
        mut next: impl FnMut(&mut [u8]) -> Result<(), E>,
    ) -> Result<(), E> {
        let (layout, real) = (Layout::populations(self.manifest()), self.manifest().real.bytes());
        let mut bytes = vec![];
        for run in runs(self.grid.leaves().map_err(StepError::from)?) {
            let range = range(run, layout);
            bytes.resize(range.len() * real, 0);
            next(&mut bytes)?;
            self.fields.populations[0].write_raw(range.start, &bytes).map_err(StepError::from)?;
        }
        self.levels.iter_mut().for_each(|level| level.current = 0);
        self.step = step;
        Ok(())
    }
}
