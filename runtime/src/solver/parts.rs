//! The parts of a flow: a subdomain each, and what they have to do with each other.
//!
//! A flow in one part is its subdomain. In several, each has the tables of the whole grid and the data of its own blocks; all do the same
//! phases of a step, and between them get what they read of others' blocks ([`halo`](super::halo)). Nodes and slots have the same numbers in
//! all of them, so what is read of a flow, set or summed up does not depend on the number of parts: it goes by slots, and by blocks in
//! the order of the lists.

use std::ops::Range;

use super::StepError;
use super::halo::Halo;
use super::inbox::{Inbox, Own};
use super::step::{Level, Task};
use super::subdomain::Subdomain;
use super::timing::Phase;
use super::transfer::{self, Reach, Transfer};
use crate::device::{Accesses, Buffer, Element, Floating};
use crate::kernels::layout::{Layout, SlotId};
use crate::mesh::{NOBODY, Owned, Partition};

/// All parts of a flow.
pub(super) struct Parts {
    all: Vec<Subdomain>,
    /// Of a flow in several parts: which has what, and what each gets of the others.
    division: Option<Division>,
}

/// What parts read of each other's blocks.
fn halo_of(all: &[Subdomain], partition: &Partition) -> Result<Halo, StepError> {
    let rows =
        |part: &Subdomain| part.bodies.as_ref().map(|bodies| bodies.rows.read_ints(0..bodies.rows.len())).transpose();
    let rows = all.iter().map(rows).collect::<Result<Vec<_>, _>>()?;
    // Solids that move come to other blocks.
    let moves = all.iter().any(Subdomain::moves);
    let has_links = |slot: SlotId| moves || rows.iter().flatten().any(|rows| rows[slot.index()] >= 0);
    Halo::new(all[0].program.manifest(), &all[0].grid, partition, has_links)
}

/// How a flow is divided.
struct Division {
    partition: Partition,
    halo: Halo,
}

impl Parts {
    /// A flow in one part.
    pub(super) fn one(subdomain: Subdomain) -> Parts {
        Parts { all: vec![subdomain], division: None }
    }

    /// A flow in several; their inboxes are still to come.
    pub(super) fn several(all: Vec<Subdomain>, partition: Partition) -> Result<Parts, StepError> {
        let halo = halo_of(&all, &partition)?;
        let mut parts = Parts { all, division: None };
        parts.division = Some(Division { partition: Partition::default(), halo });
        parts.set_partition(partition)?;
        parts.each_with_senders(|subdomain, own| {
            let Subdomain { program, grid, walls, .. } = subdomain;
            subdomain.inbox = Inbox::new(program, grid, walls, own)?;
            Ok(())
        })?;
        Ok(parts)
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

    /// Which part has what, where there are several.
    pub(super) fn partition(&self) -> Option<&Partition> {
        self.division.as_ref().map(|division| &division.partition)
    }

    /// Gives all parts the target levels of each other's leaves.
    pub(super) fn gather_targets(&mut self) -> Result<(), StepError> {
        if self.division.is_none() {
            return Ok(());
        }
        let leaves = self.first().grid.forest().read_leaf_nodes()?;
        let mut found = vec![];
        for subdomain in &mut self.all {
            let (_, targets) = subdomain.grid.forest_mut().targets();
            found.push(targets.level.read_ints(0..targets.level.len())?);
        }
        let mut gathered = found[0].clone();
        for (node, leaf) in leaves {
            gathered[node] = found[self.owner(leaf.slot)][node];
        }
        for subdomain in &mut self.all {
            let (_, targets) = subdomain.grid.forest_mut().targets();
            targets.level.write_ints(0, &gathered)?;
        }
        Ok(())
    }

    /// Gives all parts what they need to compute what their blocks become, and says what they have then.
    pub(super) fn get_before_change(&mut self, current: &[usize]) -> Result<Vec<Reach>, StepError> {
        let Some(Division { partition, .. }) = &self.division else { return Ok(vec![]) };
        let first = self.first();
        let transfers = transfer::before_change(first.program.manifest(), &first.grid, partition)?;
        self.transfer(&transfers, current)?;
        Ok(self.reaches(&transfers))
    }

    /// What each of several parts has, with what it has got.
    pub(super) fn reaches(&self, got: &[Transfer]) -> Vec<Reach> {
        let Some(Division { partition, .. }) = &self.division else { return vec![] };
        let slots = self.first().grid.slots();
        (0..self.all.len()).map(|part| Reach::new(slots, part, partition, got)).collect()
    }

    /// After the grid has changed: which part has what.
    pub(super) fn take_over(&mut self, reaches: Vec<Reach>) -> Result<(), StepError> {
        if reaches.is_empty() {
            return Ok(());
        }
        let grid = &self.first().grid;
        let mut owner = vec![NOBODY; grid.slots()];
        for leaf in grid.leaves()? {
            let slot = leaf.slot.index();
            let part = reaches.iter().position(|reach| reach.own[slot]).expect("each leaf comes from one of some part");
            owner[slot] = part as u16;
        }
        let partition = Partition::of_owners(grid, reaches.len(), owner)?;
        self.set_partition(partition)
    }

    /// Divides the grid again, in parts of about the same work; blocks go where they belong then.
    pub(super) fn divide_again(&mut self, current: &[usize]) -> Result<(), StepError> {
        let Some(Division { partition, .. }) = &self.division else { return Ok(()) };
        let grid = &self.first().grid;
        let after = Partition::new(grid, self.all.len())?;
        let transfers = transfer::moved(grid, partition, &after)?;
        self.transfer(&transfers, current)?;
        self.set_partition(after)
    }

    fn set_partition(&mut self, partition: Partition) -> Result<(), StepError> {
        for (subdomain, owned) in self.all.iter_mut().zip(partition.parts()) {
            if let Some(bodies) = &mut subdomain.bodies {
                bodies.keep_own(owned)?;
            }
            subdomain.owned = Some(owned.clone());
            subdomain.sampled = false;
        }
        if let Some(division) = &mut self.division {
            division.partition = partition;
        }
        Ok(())
    }

    /// After blocks have changed or gone to other parts: what parts read of each other's.
    pub(super) fn renew_halo(&mut self) -> Result<(), StepError> {
        let Some(Division { partition, .. }) = &self.division else { return Ok(()) };
        let halo = halo_of(&self.all, partition)?;
        if let Some(division) = &mut self.division {
            division.halo = halo;
        }
        Ok(())
    }

    /// Calls something for each part with what it has of the grid and which blocks of others send something into its own.
    pub(super) fn each_with_senders(
        &mut self,
        mut each: impl FnMut(&mut Subdomain, Option<Own<'_>>) -> Result<(), StepError>,
    ) -> Result<(), StepError> {
        for (number, subdomain) in self.all.iter_mut().enumerate() {
            let owned: Option<Owned> = subdomain.owned.clone();
            let senders = self.division.as_ref().map(|division| division.halo.senders(number));
            each(subdomain, owned.as_ref().zip(senders))?;
        }
        Ok(())
    }

    /// Gives parts all data of blocks of others, populations of the sets that are current.
    fn transfer(&mut self, transfers: &[Transfer], current: &[usize]) -> Result<(), StepError> {
        let manifest = self.first().program.manifest().clone();
        for transfer in transfers {
            let Transfer { from, to, level, .. } = *transfer;
            let [from, to] = self.all.get_disjoint_mut([from, to]).expect("two parts");
            let (set, packing) = (current[level], transfer.packing(Layout::populations(&manifest)));
            let bytes = from.fields.populations[set].pack(&packing)?;
            to.fields.populations[set].unpack(&packing, &bytes)?;
            if let (Some(from), Some(to)) = (&from.reference, &mut to.reference) {
                let packing = transfer.packing(Layout::fields(&manifest));
                to.unpack(&packing, &from.pack(&packing)?)?;
            }
            if let (Some(from), Some(to)) = (&from.statistics, &mut to.statistics) {
                for number in 0..from.values.len() {
                    let packing = transfer.packing(from.layout(&manifest, number));
                    to.values[number].unpack(&packing, &from.values[number].pack(&packing)?)?;
                }
            }
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
