//! The parts of a flow: a subdomain each, and what they have to do with each other.
//!
//! A flow in one part is its subdomain. In several, each has the tables of the whole grid and the data of its own blocks; all do the same
//! phases of a step, and between them get what they read of others' blocks ([`halo`](super::halo)). Nodes and slots have the same numbers in
//! all of them, so what is read of a flow, set or summed up does not depend on the number of parts: it goes by slots, and by blocks in
//! the order of the lists.

use std::ops::Range;

use super::StepError;
use super::halo::Halo;
use super::step::{Level, Task};
use super::subdomain::Subdomain;
use super::timing::Phase;
use crate::device::{Accesses, Buffer, Element, Floating};
use crate::kernels::layout::{Layout, SlotId};
use crate::mesh::Partition;

/// All parts of a flow.
pub(super) struct Parts {
    all: Vec<Subdomain>,
    /// Of a flow in several parts: which has what, and what each gets of the others.
    division: Option<Division>,
}

/// How a flow is divided.
pub(super) struct Division {
    pub(super) partition: Partition,
    pub(super) halo: Halo,
}

impl Parts {
    /// A flow in one part.
    pub(super) fn one(subdomain: Subdomain) -> Parts {
        Parts { all: vec![subdomain], division: None }
    }

    /// A flow in several.
    pub(super) fn several(all: Vec<Subdomain>, division: Division) -> Parts {
        Parts { all, division: Some(division) }
    }

    /// What is the same in all parts is read from the first.
    pub(super) fn first(&self) -> &Subdomain {
        &self.all[0]
    }

    pub(super) fn part(&self, number: usize) -> &Subdomain {
        &self.all[number]
    }

    /// The only part, if there is one.
    pub(super) fn only(&mut self) -> Option<&mut Subdomain> {
        match &mut self.all[..] {
            [subdomain] => Some(subdomain),
            _ => None,
        }
    }

    /// How many there are.
    pub(super) fn count(&self) -> usize {
        self.all.len()
    }

    pub(super) fn iter(&self) -> impl Iterator<Item = &Subdomain> {
        self.all.iter()
    }

    pub(super) fn iter_mut(&mut self) -> impl Iterator<Item = &mut Subdomain> {
        self.all.iter_mut()
    }

    /// The part that has a slot.
    pub(super) fn owner(&self, slot: SlotId) -> usize {
        self.division.as_ref().and_then(|division| division.partition.owner(slot)).unwrap_or(0)
    }

    /// Slots in runs of those that one part has.
    pub(super) fn runs(&self, slots: Range<usize>) -> Vec<(usize, Range<usize>)> {
        match &self.division {
            None => vec![(0, slots)],
            Some(division) => division.partition.runs(slots),
        }
    }

    /// Whether a phase of a step of a level has anything to do.
    pub(super) fn has(&self, phase: Phase, level: usize) -> bool {
        self.all.iter().any(|subdomain| subdomain.has(phase, level))
    }

    /// A phase of a step of a level, in all parts.
    pub(super) fn run(&mut self, task: Task, levels: &[Level], end: f64) -> Result<(), StepError> {
        if task.phase == Phase::Halo {
            return self.exchange(task.level, levels[task.level].current);
        }
        self.all.iter_mut().try_for_each(|subdomain| match task.phase {
            Phase::Move => subdomain.move_solids(task.level, end, Some(&levels[task.level])),
            _ => subdomain.run(task, levels),
        })
    }

    /// What a task reads and writes.
    pub(super) fn accesses(&self, task: Task) -> Accesses {
        self.first().accesses(task)
    }

    /// Whether levels have anything to get from other parts.
    pub(super) fn exchanges(&self, level: usize) -> bool {
        self.division.as_ref().is_some_and(|division| !division.halo.of_level(level).is_empty())
    }

    /// Gives all parts the populations of one set that they read of others' blocks of a level.
    pub(super) fn exchange(&mut self, level: usize, set: usize) -> Result<(), StepError> {
        let Some(division) = &self.division else { return Ok(()) };
        for lane in division.halo.of_level(level) {
            let bytes = self.all[lane.from].fields.populations[set].pack(&lane.populations)?;
            self.all[lane.to].fields.populations[set].unpack(&lane.populations, &bytes)?;
        }
        Ok(())
    }

    /// Gives all parts the fields that they read of others' blocks.
    pub(super) fn exchange_fields(&mut self) -> Result<(), StepError> {
        let Some(division) = &self.division else { return Ok(()) };
        for lane in division.halo.lanes() {
            let bytes = self.all[lane.from].fields.macroscopic.pack(&lane.fields)?;
            self.all[lane.to].fields.macroscopic.unpack(&lane.fields, &bytes)?;
        }
        Ok(())
    }

    /// Values of an array of all slots in a range of them, each from the part that has it: whole slots of a layout.
    pub(super) fn read<E: Floating>(
        &self,
        layout: Layout,
        range: Range<usize>,
        of: impl Fn(&Subdomain) -> Option<&Buffer<E>>,
    ) -> Result<Vec<f64>, StepError> {
        let length = layout.slot_len().max(1);
        let mut values = Vec::with_capacity(range.len());
        for (part, slots) in self.runs(range.start / length..range.end / length) {
            if let Some(buffer) = of(&self.all[part]) {
                values.extend(buffer.read_reals(slots.start * length..slots.end * length)?);
            }
        }
        Ok(values)
    }

    /// Sets what some slots have in an array, in each of the part that has it, to bytes that lie as on the device.
    pub(super) fn write_raw<E: Element>(
        &mut self,
        layout: Layout,
        slots: Range<usize>,
        bytes: &[u8],
        of: impl Fn(&mut Subdomain) -> Option<&mut Buffer<E>>,
    ) -> Result<(), StepError> {
        let first = slots.start;
        for (part, run) in self.runs(slots) {
            if let Some(buffer) = of(&mut self.all[part]) {
                let length = layout.slot_len() * buffer.value_bytes();
                let piece = &bytes[(run.start - first) * length..(run.end - first) * length];
                buffer.write_raw(run.start * layout.slot_len(), piece)?;
            }
        }
        Ok(())
    }

    /// What kernels give for each block in a list of a level, so many numbers, in the order of the list: `of(part, run)` gives those of
    /// a part for a run of the list.
    pub(super) fn of_blocks(
        &self,
        level: usize,
        numbers: usize,
        of: impl Fn(&Subdomain, Range<usize>) -> Result<Vec<f64>, StepError>,
    ) -> Result<Vec<f64>, StepError> {
        let listed = self.first().grid.levels()[level].leaves.clone();
        let mut all = vec![0.0; numbers * listed.len()];
        for subdomain in &self.all {
            for run in subdomain.own_level(level).runs() {
                let place = numbers * (run.start - listed.start)..numbers * (run.end - listed.start);
                all[place].copy_from_slice(&of(subdomain, run)?);
            }
        }
        Ok(all)
    }

    /// Sets to NaN what parts have in the place of others' blocks, and what enters blocks: nothing of it may be read before it is got anew.
    #[cfg(any(test, feature = "fixture"))]
    pub(super) fn poison(&mut self) -> Result<(), StepError> {
        let Some(Division { partition, .. }) = &self.division else { return Ok(()) };
        for (number, subdomain) in self.all.iter_mut().enumerate() {
            let manifest = subdomain.program.manifest().clone();
            let (populations, fields) = (Layout::populations(&manifest), Layout::fields(&manifest));
            for slot in (0..subdomain.grid.slots()).filter(|slot| partition.owner(SlotId(*slot as u32)) != Some(number))
            {
                let range = |layout: Layout| slot * layout.slot_len()..(slot + 1) * layout.slot_len();
                for set in &mut subdomain.fields.populations {
                    set.poison_part(range(populations))?;
                }
                for array in
                    [Some(&mut subdomain.fields.macroscopic), subdomain.reference.as_mut()].into_iter().flatten()
                {
                    array.poison_part(range(fields))?;
                }
            }
            if let Some(inbox) = &mut subdomain.inbox {
                inbox.poison()?;
            }
        }
        Ok(())
    }
}
