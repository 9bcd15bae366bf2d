//! Data of blocks that go from part to part while the grid follows the flow.
//!
//! All parts change their forests alike. A part computes what its own blocks become: a family that goes becomes a block of the part that
//! has its first child, and children are where their parent was. For that it gets beforehand, as whole blocks, what is next to its own
//! blocks and the families that these belong to. Afterwards the curve is cut anew where parts have come to differ too much in work, and
//! blocks go to the parts that have them then.

use std::collections::{BTreeMap, BTreeSet};

use lbm_bundle::Manifest;

use super::StepError;
use super::halo::Around;
use crate::device::{Buffer, Packing};
use crate::kernels::KernelError;
use crate::kernels::layout::{Layout, SlotId};
use crate::mesh::forest::{Change, Moves};
use crate::mesh::{Grid, Partition};

/// Whole blocks of a level that a part gives another.
pub(super) struct Transfer {
    pub(super) from: usize,
    pub(super) to: usize,
    pub(super) level: usize,
    /// Rising.
    slots: BTreeSet<SlotId>,
}

impl Transfer {
    /// The values of these blocks in an array.
    pub(super) fn packing(&self, layout: Layout) -> Packing {
        let length = layout.slot_len();
        let mut packing = Packing::new(vec![std::iter::once(0..length as u32).collect()]);
        self.slots.iter().for_each(|slot| packing.push(slot.index() * length, 0));
        packing
    }
}

/// Transfers by the parts and the level.
#[derive(Default)]
struct Transfers(BTreeMap<(usize, usize, usize), BTreeSet<SlotId>>);

impl Transfers {
    fn add(&mut self, from: usize, to: usize, level: usize, slot: SlotId) {
        if from != to {
            self.0.entry((from, to, level)).or_default().insert(slot);
        }
    }

    fn all(self) -> Vec<Transfer> {
        self.0.into_iter().map(|((from, to, level), slots)| Transfer { from, to, level, slots }).collect()
    }
}

/// What parts need to compute what their blocks become.
pub(super) fn before_change(
    manifest: &Manifest,
    grid: &Grid,
    partition: &Partition,
) -> Result<Vec<Transfer>, StepError> {
    let around = Around::read(grid, manifest)?;
    let mut transfers = Transfers::default();
    for (node, leaf) in grid.forest().read_leaf_nodes()? {
        let Some(to) = partition.owner(leaf.slot) else { continue };
        let near = around.near(node).iter().filter_map(|near| usize::try_from(*near).ok());
        for other in near.chain(around.parent(node)) {
            let level = leaf.block.level + usize::from(!around.is_leaf(other))
                - usize::from(Some(other) == around.parent(node));
            for (slot, _) in around.leaves_of(other) {
                partition.owner(slot).into_iter().for_each(|from| transfers.add(from, to, level, slot));
            }
        }
    }
    Ok(transfers.all())
}

/// Blocks that another part has from now on.
pub(super) fn moved(grid: &Grid, before: &Partition, after: &Partition) -> Result<Vec<Transfer>, StepError> {
    let mut transfers = Transfers::default();
    for leaf in grid.leaves()? {
        if let (Some(from), Some(to)) = (before.owner(leaf.slot), after.owner(leaf.slot)) {
            transfers.add(from, to, leaf.block.level, leaf.slot);
        }
    }
    Ok(transfers.all())
}

/// Which slots have something in a part, while its forest changes.
pub(super) struct Reach {
    /// Blocks of the part.
    pub(super) own: Vec<bool>,
    /// These and others whose data it has.
    known: Vec<bool>,
}

impl Reach {
    /// Of a part, which has got these transfers.
    pub(super) fn new(slots: usize, part: usize, partition: &Partition, got: &[Transfer]) -> Reach {
        let own: Vec<bool> = (0..slots).map(|slot| partition.owner(SlotId(slot as u32)) == Some(part)).collect();
        let mut known = own.clone();
        let slots = got.iter().filter(|transfer| transfer.to == part).flat_map(|transfer| &transfer.slots);
        slots.for_each(|slot| known[slot.index()] = true);
        Reach { own, known }
    }

    /// The coarse blocks of a change whose children are all known: they are from now on, and the children go.
    pub(super) fn average(&mut self, change: &Change<'_>, children: usize) -> Result<Vec<i32>, KernelError> {
        let (slots, parts) = read(change)?;
        let mut found = vec![];
        for slot in slots {
            let of = &parts[slot * children..][..children];
            let (own, known) = (self.own[of[0] as usize], of.iter().all(|child| self.known[*child as usize]));
            of.iter().for_each(|child| self.set(*child as usize, false, false));
            self.set(slot, own, known);
            found.extend(known.then_some(slot as i32));
        }
        Ok(found)
    }

    /// The coarse blocks of a change that the part has: it has their children from now on.
    pub(super) fn fill(&mut self, change: &Change<'_>, children: usize) -> Result<Vec<i32>, KernelError> {
        let (slots, parts) = read(change)?;
        let mut found = vec![];
        for slot in slots {
            let own = self.own[slot];
            parts[slot * children..][..children].iter().for_each(|child| self.set(*child as usize, own, own));
            self.set(slot, false, false);
            found.extend(own.then_some(slot as i32));
        }
        Ok(found)
    }

    /// The slots that the part's blocks move to.
    pub(super) fn reorder(&mut self, moves: &Moves<'_>) -> Result<Vec<i32>, KernelError> {
        let from = moves.from.read_ints(0..moves.count)?;
        let mut own = vec![false; self.own.len()];
        from.iter().enumerate().for_each(|(slot, from)| own[slot] = self.own[*from as usize]);
        self.own = own.clone();
        self.known = own;
        Ok((0..moves.count).filter(|slot| self.own[*slot]).map(|slot| slot as i32).collect())
    }

    fn set(&mut self, slot: usize, own: bool, known: bool) {
        (self.own[slot], self.known[slot]) = (own, known);
    }
}

/// The slots of the coarse blocks of a change, and those of their children `[slot][octant]`.
fn read(change: &Change<'_>) -> Result<(Vec<usize>, Vec<i32>), KernelError> {
    let slots = change.slots.read_ints(0..change.count)?.into_iter().map(|slot| slot as usize).collect();
    Ok((slots, all(change.parts)?))
}

fn all(buffer: &Buffer<crate::device::Int>) -> Result<Vec<i32>, KernelError> {
    Ok(buffer.read_ints(0..buffer.len())?)
}
