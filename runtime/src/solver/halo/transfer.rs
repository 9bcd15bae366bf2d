//! Migration: block data that go from subdomain to subdomain while the grid is adapted.
//!
//! All subdomains change their forests in the same way. A subdomain computes the new data of its own blocks. Children that are coarsened
//! become a block of the owner of the first child; children of a refined block have the owner of that block. Beforehand each subdomain
//! receives, as whole blocks, the neighbours of its own blocks and of the families that these belong to. Afterwards, if the work of
//! subdomains has become uneven, the space-filling curve is cut again, and blocks migrate to their new owners.

use crate::device::Packing;
use crate::kernels::KernelError;
use crate::kernels::layout::{Layout, SlotId};
use crate::mesh::forest::{Change, Moves};
use crate::mesh::{Grid, Meeting, Partition, SubdomainId};
use crate::solver::error::StepError;

/// Whole blocks of a level that one subdomain sends to another.
pub(crate) struct Transfer {
    pub(crate) from: SubdomainId,
    pub(crate) to: SubdomainId,
    pub(crate) level: usize,
    /// In ascending order.
    pub(crate) slots: Vec<SlotId>,
}

impl Transfer {
    /// The values of these blocks in an array.
    pub(crate) fn packing(&self, layout: Layout) -> Packing {
        let length = layout.slot_len();
        let mut packing = Packing::new(vec![std::iter::once(0..length as u32).collect()]);
        self.slots.iter().for_each(|slot| packing.push(slot.index() * length, 0));
        packing
    }
}

/// A block that migrates: the subdomains that it leaves and enters, its level and its slot.
type Going = (SubdomainId, SubdomainId, usize, SlotId);

/// Groups blocks into transfers by pair of subdomains and level.
fn transfers(mut going: Vec<Going>) -> Vec<Transfer> {
    going.sort_unstable();
    going.dedup();
    let together = going.chunk_by(|a, b| (a.0, a.1, a.2) == (b.0, b.1, b.2));
    let transfer = |blocks: &[Going]| {
        let (from, to, level, _) = blocks[0];
        let slots = blocks.iter().map(|(.., slot)| *slot).collect();
        Transfer { from, to, level, slots }
    };
    together.map(transfer).collect()
}

/// The blocks that subdomains need in order to compute the new data of their own blocks.
pub(crate) fn before_change(grid: &Grid, partition: &Partition) -> Result<Vec<Transfer>, StepError> {
    let (tree, owner) = (grid.tree()?, partition.owners());
    let visit = |at: Meeting<'_>, going: &mut Vec<Going>| {
        let Some(slot) = tree.leaves_of(at.node).next() else { return };
        let (from, first) = (owner[slot.index()], going.len());
        // Its owner receives the data of covered blocks next to it.
        for covered in
            at.near_others().filter(|(_, near)| !tree.is_leaf(*near)).filter_map(|(_, near)| tree.data_slot(near))
        {
            if owner[covered.index()] != from {
                going.push((owner[covered.index()], from, at.level, covered));
            }
        }
        // Owners of these leaves receive it: of leaves of its level next to it, and of coarser leaves next to its parent.
        let near = at.near_others().map(|(_, near)| near).chain(at.near_others_of_parent());
        for near in near.filter(|near| tree.is_leaf(*near)) {
            for other in tree.leaves_of(near) {
                let going_there = (from, owner[other.index()], at.level, slot);
                if going_there.1 != from && !going[first..].contains(&going_there) {
                    going.push(going_there);
                }
            }
        }
    };
    let found = tree.meetings(grid.forest(), partition, false, visit)?;
    Ok(transfers(found.concat()))
}

/// The children of covered blocks, where another subdomain owns the covered block; level by level.
pub(crate) fn families(grid: &Grid, partition: &Partition) -> Result<Vec<Transfer>, StepError> {
    let (tree, owner) = (grid.tree()?, partition.owners());
    let going = tree.children().map(|(level, slot, parent)| (owner[slot.index()], owner[parent.index()], level, slot));
    let mut families = transfers(going.filter(|(from, to, ..)| from != to).collect());
    families.sort_by_key(|family| family.level);
    Ok(families)
}

/// The blocks whose owner changes.
pub(crate) fn moved(grid: &Grid, before: &Partition, after: &Partition) -> Result<Vec<Transfer>, StepError> {
    let (tree, before, after) = (grid.tree()?, before.owners(), after.owners());
    let covered = (0..grid.levels().len()).flat_map(|level| tree.covered(level).map(move |slot| (level, slot)));
    let all = tree.leaves().map(|(level, _, slot)| (level, slot)).chain(covered);
    let going = all.map(|(level, slot)| (before[slot.index()], after[slot.index()], level, slot));
    Ok(transfers(going.filter(|(from, to, ..)| from != to).collect()))
}

/// The owners of slots, and the slots whose data a subdomain has, while the forest changes. All subdomains change theirs in the same way.
pub(crate) struct Reach {
    id: SubdomainId,
    /// The owner of each slot, up to the last slot that a leaf has had.
    owner: Vec<SubdomainId>,
    /// Whether the subdomain has the data of each of these slots, its own or received ones.
    known: Vec<bool>,
}

impl Reach {
    /// The reach of a subdomain that has received the transfers `got`.
    pub(crate) fn new(id: SubdomainId, partition: &Partition, got: &[Transfer]) -> Reach {
        let owner = partition.owners().to_vec();
        let slots = got.iter().filter(|transfer| transfer.to == id).flat_map(|transfer| &transfer.slots);
        let mut known: Vec<bool> = owner.iter().map(|owner| *owner == id).collect();
        slots.for_each(|slot| known[slot.index()] = true);
        Reach { id, owner, known }
    }

    /// Whether the subdomain owns a slot.
    pub(crate) fn has(&self, slot: SlotId) -> bool {
        self.owner[slot.index()] == self.id
    }

    /// The owner of each slot.
    pub(crate) fn owners(self) -> Vec<SubdomainId> {
        self.owner
    }

    /// Coarsening: returns those coarse blocks of a change whose children are all known. They are known from now on, and the slots of all
    /// children become free. The owner of the first child owns the coarse block.
    pub(crate) fn average(&mut self, change: &Change<'_>, children: usize) -> Result<Vec<i32>, KernelError> {
        let (slots, parts) = read(change, children)?;
        let mut found = vec![];
        for (slot, of) in slots.iter().zip(parts.chunks(children)) {
            let (owner, known) = (self.owner[of[0] as usize], of.iter().all(|child| self.known[*child as usize]));
            of.iter().for_each(|child| self.set(*child as usize, SubdomainId::NONE, false));
            self.set(*slot as usize, owner, known);
            found.extend(known.then_some(*slot));
        }
        Ok(found)
    }

    /// Refinement: returns the coarse blocks of a change that the subdomain owns, and their children, which it owns from now on. The slots
    /// of all coarse blocks become free.
    pub(crate) fn fill(&mut self, change: &Change<'_>, children: usize) -> Result<(Vec<i32>, Vec<i32>), KernelError> {
        let (slots, parts) = read(change, children)?;
        let (mut found, mut fine) = (vec![], vec![]);
        for (slot, of) in slots.iter().zip(parts.chunks(children)) {
            let owner = self.owner[*slot as usize];
            let own = owner == self.id;
            of.iter().for_each(|child| self.set(*child as usize, owner, own));
            self.set(*slot as usize, SubdomainId::NONE, false);
            if own {
                found.push(*slot);
                fine.extend_from_slice(of);
            }
        }
        Ok((found, fine))
    }

    /// Sorting: returns the slots that the subdomain's blocks move to, and the slots of its covered blocks, which stay in place.
    pub(crate) fn reorder(&mut self, moves: &Moves<'_>) -> Result<[Vec<i32>; 2], KernelError> {
        let from = moves.from.read_ints(0..moves.count)?;
        let mut covered = moves.covered.read_ints(0..moves.covered_count)?;
        covered.retain(|slot| self.has(SlotId(*slot as u32)));
        self.owner = from.iter().map(|from| self.owner[*from as usize]).collect();
        self.known = self.owner.iter().map(|owner| *owner == self.id).collect();
        Ok([(0..moves.count as i32).filter(|slot| self.known[*slot as usize]).collect(), covered])
    }

    fn set(&mut self, slot: usize, owner: SubdomainId, known: bool) {
        if slot >= self.owner.len() {
            self.owner.resize(slot + 1, SubdomainId::NONE);
            self.known.resize(slot + 1, false);
        }
        (self.owner[slot], self.known[slot]) = (owner, known);
    }
}

/// The slots of the coarse blocks of a change, in ascending order, and those of their children, `[block][octant]`.
fn read(change: &Change<'_>, children: usize) -> Result<(Vec<i32>, Vec<i32>), KernelError> {
    let mut slots = change.slots.read_ints(0..change.count)?;
    slots.sort_unstable();
    let mut packing = Packing::new(vec![std::iter::once(0..children as u32).collect()]);
    slots.iter().for_each(|slot| packing.push(*slot as usize * children, 0));
    let parts = change.child_slots.pack_ints(&packing)?;
    Ok((slots, parts))
}
