//! The halo of each part of a flow: what it reads of blocks that other parts have.
//!
//! A part reads a neighbour's block in the slot that the block has everywhere. Before a phase that reads a level, populations of its
//! current set cross (`Phase::Halo`), contiguous for each pair of parts:
//!
//! - between blocks of one level away from walls, solids and refinement interfaces: those that stream across,
//! - into blocks at walls, or with solids in them: all of the cells that touch the block, because boundary conditions read more,
//! - into blocks at refinement interfaces, and across these: all of the block.
//!
//! Fields cross as whole blocks.

use std::collections::BTreeMap;
use std::ops::Range;

use lbm_bundle::mesh::Group;
use lbm_bundle::{Direction, Manifest};

use super::StepError;
use crate::device::Packing;
use crate::kernels::layout::{Layout, SlotId};
use crate::mesh::{Grid, Partition};

/// What one part gives another of the blocks of a level.
pub(super) struct Lane {
    pub(super) from: usize,
    pub(super) to: usize,
    pub(super) populations: Packing,
    pub(super) fields: Packing,
}

/// What parts give each other.
pub(super) struct Halo {
    levels: Vec<Vec<Lane>>,
    /// Slots of coarse blocks at refinement interfaces that others have and that send something into blocks of a part `[part][level]`.
    senders: Vec<Vec<Vec<SlotId>>>,
    /// Of each slot, whether its block reads blocks of other parts or is read by them.
    edge: Vec<bool>,
}

/// What is needed of a block: neighbours are numbered as in the tables, a bit each.
#[derive(Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord)]
struct Need {
    /// Neighbours into which populations stream.
    streaming: u32,
    /// Neighbours that read all populations of the cells that touch them.
    rim: u32,
    /// Whether all of the block is needed.
    whole: bool,
}

impl Halo {
    /// Of a grid in parts. `has_links`: whether a block of a slot has links that are cut one by one.
    pub(super) fn new(
        manifest: &Manifest,
        grid: &Grid,
        partition: &Partition,
        has_links: impl Fn(SlotId) -> bool,
    ) -> Result<Halo, StepError> {
        let (parts, levels) = (partition.parts().len(), grid.levels().len());
        let around = Around::read(grid, manifest)?;
        // By level, pair of parts and slot.
        let mut needs: Vec<BTreeMap<(usize, usize), BTreeMap<SlotId, Need>>> = vec![BTreeMap::new(); levels];
        let mut senders = vec![vec![vec![]; levels]; parts];
        let mut edge = vec![false; grid.slots()];
        for (node, leaf) in grid.forest().read_leaf_nodes()? {
            let (slot, level) = (leaf.slot, leaf.block.level);
            let Some(from) = partition.owner(slot) else { continue };
            let mut add = |other: SlotId, to: usize, change: &dyn Fn(&mut Need)| {
                if to != from {
                    (edge[slot.index()], edge[other.index()]) = (true, true);
                    change(needs[level].entry((from, to)).or_default().entry(slot).or_default());
                }
            };
            let mut sends_to = vec![];
            for (place, near) in around.near(node).iter().enumerate().filter(|(_, near)| **near >= 0) {
                for (other, _) in around.leaves_of(*near as usize) {
                    let Some(to) = partition.owner(other).filter(|to| *to != from) else { continue };
                    let group = around.group(other);
                    let is_same_level = around.is_leaf(*near as usize);
                    if !is_same_level || matches!(group, Group::Jump | Group::Both) {
                        add(other, to, &|need| need.whole = true);
                        sends_to.push(to);
                    } else if group == Group::Walls || has_links(other) {
                        add(other, to, &|need| need.rim |= 1 << place);
                    } else {
                        add(other, to, &|need| need.streaming |= 1 << place);
                    }
                }
                // Rules of nodes in blocks of one cell, and slopes beside walls, read the second block.
                if around.thin {
                    for second in around.near(*near as usize).iter().filter(|second| **second >= 0) {
                        for (other, _) in around.leaves_of(*second as usize) {
                            partition.owner(other).into_iter().for_each(|to| add(other, to, &|need| need.whole = true));
                        }
                    }
                }
            }
            let at_interface = matches!(around.group(slot), Group::Jump | Group::Both);
            if let Some(parent) = around.parent(node).filter(|_| at_interface) {
                for near in around.near(parent).iter().filter(|near| **near >= 0) {
                    for (other, is_self) in around.leaves_of(*near as usize) {
                        let is_near = is_self || matches!(around.group(other), Group::Jump | Group::Both);
                        if let Some(to) = partition.owner(other).filter(|_| is_near) {
                            add(other, to, &|need| need.whole = true);
                        }
                    }
                }
            }
            if at_interface {
                sends_to.sort_unstable();
                sends_to.dedup();
                sends_to.into_iter().for_each(|to| senders[to][level].push(slot));
            }
        }
        let layouts = [Layout::populations(manifest), Layout::fields(manifest)];
        let lanes = |needs: BTreeMap<(usize, usize), BTreeMap<SlotId, Need>>| {
            let lane = |((from, to), needs)| Lane::new(manifest, layouts, (from, to), &needs);
            needs.into_iter().map(lane).collect()
        };
        Ok(Halo { levels: needs.into_iter().map(lanes).collect(), senders, edge })
    }

    /// What crosses of a level.
    pub(super) fn of_level(&self, level: usize) -> &[Lane] {
        self.levels.get(level).map_or(&[], |lanes| &lanes[..])
    }

    /// What crosses of all levels.
    pub(super) fn lanes(&self) -> impl Iterator<Item = &Lane> {
        self.levels.iter().flatten()
    }

    /// Whether a block reads blocks of other parts, or is read by them.
    pub(super) fn is_at_edge(&self, slot: SlotId) -> bool {
        self.edge[slot.index()]
    }

    /// Slots of coarse blocks of each level that others have and that send something into blocks of a part.
    pub(super) fn senders(&self, part: usize) -> &[Vec<SlotId>] {
        &self.senders[part]
    }
}

impl Lane {
    fn new(
        manifest: &Manifest,
        [populations, fields]: [Layout; 2],
        (from, to): (usize, usize),
        needs: &BTreeMap<SlotId, Need>,
    ) -> Lane {
        let mut patterns: Vec<Need> = needs.values().copied().collect();
        patterns.sort_unstable();
        patterns.dedup();
        let runs = patterns.iter().map(|need| values_of(manifest, populations, *need)).collect();
        let mut lane = Lane {
            from,
            to,
            populations: Packing::new(runs),
            fields: Packing::new(vec![std::iter::once(0..fields.slot_len() as u32).collect()]),
        };
        for (slot, need) in needs {
            let pattern = patterns.binary_search(need).expect("all are listed");
            lane.populations.push(slot.index() * populations.slot_len(), pattern);
            lane.fields.push(slot.index() * fields.slot_len(), 0);
        }
        lane
    }
}

/// The values of a block that are needed, in runs.
fn values_of(manifest: &Manifest, layout: Layout, need: Need) -> Vec<Range<u32>> {
    let (dim, side) = (manifest.dim as usize, layout.block().map(|side| side as i32));
    // The number of the block that a cell lies in, as seen from this one.
    let block_of = |at: [i32; 3]| {
        let along = |axis: usize| i32::from(at[axis] >= side[axis]) - i32::from(at[axis] < 0);
        (0..dim).map(|axis| (along(axis) + 1) * 3i32.pow(axis as u32)).sum::<i32>()
    };
    let offsets = |axis: usize| if axis < dim { -1..=1 } else { 0..=0 };
    let mut runs: Vec<Range<u32>> = vec![];
    // Of moments all are needed where anything streams.
    let streams = |number: usize, to: &dyn Fn([i32; 3]) -> u32| {
        let streams = |direction: &Direction| need.streaming & to(direction.c) != 0;
        match manifest.moments.is_empty() {
            true => streams(&manifest.directions[number]),
            false => manifest.directions.iter().any(streams),
        }
    };
    for number in 0..layout.components() {
        for cell in layout.all_cells() {
            let here = layout.position(cell).map(|along| along as i32);
            let to = |c: [i32; 3]| 1 << block_of(std::array::from_fn(|axis| here[axis] + c[axis]));
            let touches = || {
                let mut offsets =
                    offsets(2).flat_map(|z| offsets(1).flat_map(move |y| offsets(0).map(move |x| [x, y, z])));
                offsets.any(|offset| need.rim & to(offset) != 0)
            };
            if need.whole || streams(number, &to) || (need.rim != 0 && touches()) {
                let at = layout.offset(SlotId(0), number, cell) as u32;
                match runs.last_mut().filter(|run| run.end == at) {
                    Some(run) => run.end += 1,
                    None => runs.push(at..at + 1),
                }
            }
        }
    }
    runs
}

/// What is around the nodes of a grid, on the host.
pub(super) struct Around {
    places: usize,
    parts: usize,
    near: Vec<i32>,
    child: Vec<i32>,
    parent: Vec<i32>,
    slot: Vec<i32>,
    /// The group of each slot.
    groups: Vec<Group>,
    /// Whether a block has one cell along an axis.
    thin: bool,
}

impl Around {
    pub(super) fn read(grid: &Grid, manifest: &Manifest) -> Result<Around, StepError> {
        let (tables, dim) = (grid.tables(), grid.dim());
        let all = |table: &crate::device::Buffer<crate::device::Int>| table.read_ints(0..table.len());
        let listed = tables.leaves.read_ints(0..grid.leaf_count())?;
        let mut groups = vec![Group::Interior; grid.slots()];
        for level in grid.levels() {
            for group in Group::ALL {
                listed[level.group(group)].iter().for_each(|slot| groups[*slot as usize] = group);
            }
        }
        Ok(Around {
            places: 3usize.pow(dim as u32),
            parts: 1 << dim,
            near: all(&tables.near)?,
            child: all(&tables.child)?,
            parent: all(&tables.parent)?,
            slot: all(&tables.slot)?,
            groups,
            thin: manifest.block[..dim].contains(&1),
        })
    }

    /// Nodes of its level around a node; something negative where there is none.
    pub(super) fn near(&self, node: usize) -> &[i32] {
        &self.near[node * self.places..][..self.places]
    }

    pub(super) fn is_leaf(&self, node: usize) -> bool {
        self.child[node] < 0
    }

    pub(super) fn parent(&self, node: usize) -> Option<usize> {
        usize::try_from(self.parent[node]).ok()
    }

    fn group(&self, slot: SlotId) -> Group {
        self.groups[slot.index()]
    }

    /// The slot of a leaf, or those of the children of a refined node that are leaves, and whether it is the node's own.
    pub(super) fn leaves_of(&self, node: usize) -> impl Iterator<Item = (SlotId, bool)> {
        let (nodes, own) = match usize::try_from(self.child[node]) {
            Ok(first) => (first..first + self.parts, false),
            Err(_) => (node..node + 1, true),
        };
        nodes.filter_map(move |node| Some((SlotId(u32::try_from(self.slot[node]).ok()?), own)))
    }
}
