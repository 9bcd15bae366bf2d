//! Macroscopic fields: computed from populations, for all slots or window by window, and kept as reference of later steps.

use std::ops::Range;

use crate::device::{Buffer, Device, Int, Real, Slice};
use crate::kernels;
use crate::kernels::layout::Layout;
use crate::mesh::Grid;
use crate::solver::arrays::params::LevelState;
use crate::solver::error::StepError;
use crate::solver::subdomain::Subdomain;

impl Subdomain {
    /// The populations have changed, or what follows from them: the macroscopic fields are out of date.
    pub(crate) fn forget_fields(&mut self) {
        self.sampled = false;
    }

    /// Computes the macroscopic fields of the current populations, unless they are up to date. Makes room for the fields of all slots.
    pub(crate) fn sample(&mut self, levels: &[LevelState]) -> Result<(), StepError> {
        if self.sampled {
            return Ok(());
        }
        self.make_whole()?;
        let tables = self.grid.tables();
        for (number, level) in levels.iter().take(self.grid.levels().len()).enumerate() {
            let own = self.own_level(number);
            let covered = if self.grid.forest().stores_covered() { own.covered.clone() } else { 0..0 };
            let runs = own.runs();
            for ids in runs.into_iter().map(|run| tables.leaves.slice(run)).chain([tables.covered.slice(covered)]) {
                self.program.launch(kernels::Macroscopic {
                    ids,
                    src: &self.fields.populations[level.current.index()],
                    first: 0,
                    level: number as i32,
                    fields: &mut self.fields.macroscopic,
                    params: level.params.packed(),
                })?;
            }
        }
        self.sampled = true;
        Ok(())
    }

    /// Computes the fields in one of the [windows](Self::windows).
    pub(crate) fn sample_window(&mut self, levels: &[LevelState], window: &Range<usize>) -> Result<(), StepError> {
        if self.is_whole() {
            return self.sample(levels);
        }
        for (number, (level, listed)) in levels.iter().zip(self.grid.levels()).enumerate() {
            self.program.launch(kernels::Macroscopic {
                ids: ids_in(&self.grid, &listed.leaves, window),
                src: &self.fields.populations[level.current.index()],
                first: window.start as i32,
                level: number as i32,
                fields: &mut self.fields.macroscopic,
                params: level.params.packed(),
            })?;
        }
        Ok(())
    }

    /// Ranges of slots whose macroscopic fields fit in memory at the same time, in the order of memory. One window covers all leaves if the
    /// fields of all slots fit.
    pub(crate) fn windows(&self) -> Vec<Range<usize>> {
        let room = self.room_for_fields();
        let slots = if self.is_whole() { room } else { self.grid.leaf_count() };
        (0..slots).step_by(room.max(1)).map(|first| first..slots.min(first + room)).collect()
    }

    /// Whether there is memory for the macroscopic fields of all slots. Otherwise the grid is fixed, and the slot of each leaf is its
    /// position in the list of leaves: level by level, along the space-filling curve.
    pub(crate) fn is_whole(&self) -> bool {
        self.room_for_fields() >= self.grid.slots()
    }

    /// Number of slots whose macroscopic fields fit in their array.
    fn room_for_fields(&self) -> usize {
        let of_slot = Layout::fields(self.program.manifest()).slot_len();
        self.fields.macroscopic.len().checked_div(of_slot).unwrap_or(self.grid.slots())
    }

    /// Makes room for the macroscopic fields of all slots; an error if they do not fit.
    fn make_whole(&mut self) -> Result<(), StepError> {
        // Subdomains of a divided flow have room for them from the start, with memory for their own blocks.
        if !self.is_whole() {
            let (device, manifest) = (self.program.device(), self.program.manifest());
            let length = self.grid.slots() * Layout::fields(manifest).slot_len();
            let bytes = length * manifest.real.bytes();
            if device.memory_available().is_some_and(|available| bytes > available) {
                return Err(device.out_of_memory(bytes).into());
            }
            self.fields.macroscopic = device.alloc_reals(manifest.real, length)?;
        }
        Ok(())
    }

    /// Makes the sampled fields the reference.
    pub(crate) fn set_reference(&mut self) -> Result<(), StepError> {
        let room = match self.reference.take() {
            Some(fields) => fields,
            None => room_for_reference(self.program.device(), &self.fields.macroscopic)?,
        };
        self.reference = Some(std::mem::replace(&mut self.fields.macroscopic, room));
        self.sampled = false;
        Ok(())
    }

    /// Allocates the reference fields, which the caller writes.
    pub(crate) fn make_reference(&mut self) -> Result<(), StepError> {
        self.make_whole()?;
        self.reference = Some(room_for_reference(self.program.device(), &self.fields.macroscopic)?);
        Ok(())
    }
}

/// The slots of those leaves of a level that lie in a window.
pub(super) fn ids_in<'a>(grid: &'a Grid, leaves: &Range<usize>, window: &Range<usize>) -> Slice<'a, Int> {
    let start = leaves.start.max(window.start);
    grid.forest().every().slice(start..leaves.end.min(window.end).max(start))
}

/// Allocates another array of fields.
fn room_for_reference(device: &Device, fields: &Buffer<Real>) -> Result<Buffer<Real>, StepError> {
    if device.memory_available().is_some_and(|available| fields.own_bytes() > available) {
        return Err(device.out_of_memory(fields.own_bytes()).into());
    }
    Ok(device.alloc_like(fields)?)
}
