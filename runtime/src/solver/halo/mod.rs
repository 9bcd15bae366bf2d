//! The halo of each subdomain: what it reads of blocks that other subdomains own.
//!
//! A subdomain stores the data of a neighbouring block in the slot that the block has everywhere. Before a phase that reads a level, the
//! halo exchange copies populations of the current set (`Phase::Halo`). They are packed contiguously for each pair of subdomains:
//!
//! - between blocks of one level away from walls, solids and refinement interfaces: the populations that stream across, and the values that
//!   cells expose to their neighbours across
//! - into blocks at walls or with solids: all populations of the cells that touch the block, because boundary conditions read more
//! - into blocks at refinement interfaces, and across these: whole blocks
//!
//! If cells of the method read values of neighbours, the exchange is repeated after these values have been computed (`Phase::Expose`,
//! `Phase::ExposeStored`).
//!
//! Fields are exchanged as whole blocks. Data of covered blocks (ghost coupling) are exchanged like blocks of their level. Saved
//! populations are exchanged before they are averaged or ghosts are interpolated from them (`Phase::HaloSaved`): those of children go to
//! the owner of the covered block, and those of all blocks around the parent of a block that may have ghosts go to the owner of this block.

pub(crate) mod transfer;

use std::collections::HashMap;
use std::ops::Range;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use lbm_bundle::mesh::Group;
use lbm_bundle::{Direction, Manifest, Shown};
use rayon::prelude::*;

use crate::device::Packing;
use crate::kernels::layout::{Layout, SlotId};
use crate::mesh::{Grid, Meeting, Partition, SubdomainId};
use crate::solver::error::StepError;

/// Data of the blocks of a level that one subdomain sends to another.
pub(crate) struct Lane {
    pub(crate) from: SubdomainId,
    pub(crate) to: SubdomainId,
    pub(crate) populations: Packing,
    pub(crate) fields: Packing,
}

/// Saved populations of the blocks of a level that one subdomain sends to another.
pub(crate) struct SavedLane {
    pub(crate) from: SubdomainId,
    pub(crate) to: SubdomainId,
    pub(crate) saved: Packing,
}

/// All data that subdomains exchange.
pub(crate) struct Halo {
    levels: Vec<Vec<Lane>>,
    /// Exchange of saved populations for ghosts `[level][lane]`.
    saved: Vec<Vec<SavedLane>>,
    /// Slots of coarse blocks at refinement interfaces that other subdomains own and that send populations into blocks of a subdomain
    /// `[subdomain][level]`.
    senders: Vec<Vec<Vec<SlotId>>>,
    /// For each slot in use, whether its block reads blocks of other subdomains or is read by them.
    edge: Arc<[bool]>,
}

/// The values of a block that are needed. Neighbours have a bit each and are numbered as in the tables.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
struct Need {
    /// Neighbours into which populations stream.
    streaming: u32,
    /// Neighbours that read all populations of the cells that touch them.
    rim: u32,
    /// Whether the whole block is needed.
    whole: bool,
}

impl Need {
    /// What either needs.
    fn with(self, other: Need) -> Need {
        Need {
            streaming: self.streaming | other.streaming,
            rim: self.rim | other.rim,
            whole: self.whole || other.whole,
        }
    }
}

/// A block that another subdomain reads. Ordered by level, pair of subdomains and slot.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct Crossing {
    level: usize,
    from: SubdomainId,
    to: SubdomainId,
    slot: SlotId,
    need: Need,
}

/// Saved populations that another subdomain needs: the level, the subdomains that they come from and go to, and the row of the block among
/// blocks at refinement interfaces.
type Saved = (usize, SubdomainId, SubdomainId, usize);

/// What is found at subdomain boundaries.
#[derive(Default)]
struct Found {
    /// Leaves, once for each subdomain that reads them.
    crossings: Vec<Crossing>,
    /// Covered blocks, with duplicates.
    covered: Vec<Crossing>,
    /// Saved populations for ghosts, with duplicates.
    saved: Vec<Saved>,
    /// Coarse blocks at refinement interfaces that send populations into blocks of a subdomain: subdomain, level, slot.
    senders: Vec<(SubdomainId, usize, SlotId)>,
}

impl Halo {
    /// Finds the halo of a partitioned grid. `has_links`: whether the block of a slot has cut links; `whole`: blocks that some subdomains read
    /// as a whole besides.
    pub(crate) fn new(
        manifest: &Manifest,
        grid: &Grid,
        partition: &Partition,
        has_links: impl Fn(SlotId) -> bool + Sync,
        read_whole: &[(SlotId, SubdomainId)],
    ) -> Result<Halo, StepError> {
        let (tree, owner) = (grid.tree()?, partition.owners());
        let mut groups = vec![Group::Interior; tree.slots()];
        for level in grid.levels() {
            for group in Group::ALL {
                tree.listed()[level.group(group)].iter().for_each(|slot| groups[*slot as usize] = group);
            }
        }
        let is_at_interface = |slot: SlotId| matches!(groups[slot.index()], Group::Jump | Group::Both);
        let edge: Vec<AtomicBool> = owner.iter().map(|_| AtomicBool::new(false)).collect();
        let at_edge =
            |slots: [SlotId; 2]| slots.iter().for_each(|slot| edge[slot.index()].store(true, Ordering::Relaxed));
        let stores_covered = grid.forest().stores_covered();
        let rows = if stores_covered { grid.tables().rows.read_ints(0..owner.len())? } else { vec![] };
        let row = |slot: SlotId| usize::try_from(rows[slot.index()]).ok();
        let whole = Need { whole: true, ..Need::default() };
        // In blocks one cell wide, wet-node rules and slopes at walls read the second block.
        let is_thin = manifest.block[..grid.dim()].contains(&1);
        let visit = |at: Meeting<'_>, found: &mut Found| {
            let Some(slot) = tree.leaves_of(at.node).next() else { return };
            let sends = is_at_interface(slot);
            if at.others == 0 && !sends && at.wide.is_empty() {
                return;
            }
            let (level, from, first) = (at.level, owner[slot.index()], found.crossings.len());
            let first_sender = found.senders.len();
            let mut add = |other: SlotId, change: &dyn Fn(&mut Need)| {
                let to = owner[other.index()];
                if to == from {
                    return false;
                }
                at_edge([slot, other]);
                let known = found.crossings[first..].iter().position(|crossing| crossing.to == to);
                let known = known.map_or(found.crossings.len(), |known| first + known);
                if known == found.crossings.len() {
                    found.crossings.push(Crossing { level, from, to, slot, need: Need::default() });
                }
                change(&mut found.crossings[known].need);
                true
            };
            for (place, near) in at.near_others() {
                if let Some(covered) = tree.data_slot(near).filter(|_| !tree.is_leaf(near)) {
                    add(covered, &|need| need.whole = true);
                }
                for other in tree.leaves_of(near) {
                    let crosses = if !tree.is_leaf(near) || is_at_interface(other) {
                        add(other, &|need| need.whole = true) && sends
                    } else if groups[other.index()] == Group::Walls || has_links(other) {
                        add(other, &|need| need.rim |= 1 << place);
                        false
                    } else {
                        add(other, &|need| need.streaming |= 1 << place);
                        false
                    };
                    let sender = (owner[other.index()], level, slot);
                    if crosses && !found.senders[first_sender..].contains(&sender) {
                        found.senders.push(sender);
                    }
                }
            }
            let wide = at.wide.iter().filter_map(|near| usize::try_from(*near).ok());
            for other in wide.flat_map(|second| tree.leaves_of(second)) {
                add(other, &|need| need.whole = true);
            }
            for near in at.near_others_of_parent().filter(|_| sends) {
                if stores_covered {
                    let around = tree.data_slot(near).and_then(|slot| Some((owner[slot.index()], row(slot)?)));
                    let others = around.filter(|(other, _)| *other != from);
                    found.saved.extend(others.map(|(other, row)| (level - 1, other, from, row)));
                }
                for other in tree.leaves_of(near).filter(|other| tree.is_leaf(near) || is_at_interface(*other)) {
                    add(other, &|need| need.whole = true);
                }
            }
            // Covered blocks around the leaf stream into it, and into each other.
            let near =
                at.near.iter().filter_map(|near| usize::try_from(*near).ok()).filter(|_| stores_covered && sends);
            let around = near.filter(|near| !tree.is_leaf(*near)).filter_map(|near| tree.data_slot(near));
            let around: Vec<SlotId> = around.collect();
            for covered in &around {
                let of_covered = owner[covered.index()];
                for other in around.iter().chain([&slot]).filter(|other| owner[other.index()] != of_covered) {
                    at_edge([*covered, *other]);
                    let to = owner[other.index()];
                    found.covered.push(Crossing { level, from: of_covered, to, slot: *covered, need: whole });
                }
            }
        };
        let found = tree.meetings(grid.forest(), partition, is_thin, visit)?;
        let of_patches = read_whole.iter().filter(|(slot, to)| owner[slot.index()] != *to);
        let levels: HashMap<SlotId, usize> = match read_whole {
            [] => HashMap::new(),
            _ => tree.leaves().map(|(level, _, slot)| (slot, level)).collect(),
        };
        let of_patches = of_patches.map(|(slot, to)| {
            edge[slot.index()].store(true, Ordering::Relaxed);
            Crossing { level: levels[slot], from: owner[slot.index()], to: *to, slot: *slot, need: whole }
        });
        let crossings = found.iter().flat_map(|found| found.crossings.iter().chain(&found.covered));
        let mut crossings: Vec<Crossing> = crossings.copied().chain(of_patches).collect();
        crossings.par_sort_unstable();
        crossings.dedup_by(|next, known| {
            let same = (next.level, next.from, next.to, next.slot) == (known.level, known.from, known.to, known.slot);
            if same {
                known.need = known.need.with(next.need);
            }
            same
        });
        let shapes = Shapes::new(manifest);
        let of_lane = |a: &Crossing, b: &Crossing| (a.level, a.from, a.to) == (b.level, b.from, b.to);
        let lanes: Vec<&[Crossing]> = crossings.chunk_by(of_lane).collect();
        let lanes: Vec<(usize, Lane)> =
            lanes.into_par_iter().map(|of_lane| (of_lane[0].level, Lane::new(&shapes, of_lane))).collect();
        let mut levels: Vec<Vec<Lane>> = grid.levels().iter().map(|_| vec![]).collect();
        lanes.into_iter().for_each(|(level, lane)| levels[level].push(lane));
        // Restriction averages over children, at the owner of their parent.
        let of_means = tree.children().filter_map(|(level, slot, parent)| {
            row(parent)?;
            let (from, to) = (owner[slot.index()], owner[parent.index()]);
            Some((level, from, to, row(slot).filter(|_| from != to)?))
        });
        let of_ghosts = found.iter().flat_map(|found| &found.saved).copied();
        let saved = saved_lanes(manifest, levels.len(), of_ghosts.chain(of_means).collect());
        let mut sent: Vec<(SubdomainId, usize, SlotId)> = found.into_iter().flat_map(|found| found.senders).collect();
        sent.par_sort_unstable();
        let mut senders = vec![vec![vec![]; levels.len()]; partition.subdomains().len()];
        sent.into_iter().for_each(|(to, level, slot)| senders[to.index()][level].push(slot));
        let edge = edge.into_iter().map(AtomicBool::into_inner).collect();
        Ok(Halo { levels, saved, senders, edge })
    }

    /// The halo exchange of a level.
    pub(crate) fn of_level(&self, level: usize) -> &[Lane] {
        self.levels.get(level).map_or(&[], |lanes| &lanes[..])
    }

    /// The exchange of saved populations of a level.
    pub(crate) fn saved_of_level(&self, level: usize) -> &[SavedLane] {
        self.saved.get(level).map_or(&[], |lanes| &lanes[..])
    }

    /// The halo exchange of all levels.
    pub(crate) fn lanes(&self) -> impl Iterator<Item = &Lane> + Clone {
        self.levels.iter().flatten()
    }

    /// For each slot in use, whether its block reads blocks of other subdomains or is read by them.
    pub(crate) fn edge(&self) -> &Arc<[bool]> {
        &self.edge
    }

    /// For each level, the slots of coarse blocks that other subdomains own and that send populations into blocks of a subdomain.
    pub(crate) fn senders(&self, id: SubdomainId) -> &[Vec<SlotId>] {
        &self.senders[id.index()]
    }
}

/// The lanes of saved populations, for each level.
fn saved_lanes(manifest: &Manifest, levels: usize, mut saved: Vec<Saved>) -> Vec<Vec<SavedLane>> {
    saved.sort_unstable();
    saved.dedup();
    let of_block = Layout::beside_populations(manifest).slot_len();
    let mut lanes: Vec<Vec<SavedLane>> = (0..levels).map(|_| vec![]).collect();
    for lane in saved.chunk_by(|a, b| (a.0, a.1, a.2) == (b.0, b.1, b.2)) {
        let (level, from, to, _) = lane[0];
        let mut packing = Packing::new(vec![std::iter::once(0..of_block as u32).collect()]);
        lane.iter().for_each(|(.., row)| packing.push(row * of_block, 0));
        lanes[level].push(SavedLane { from, to, saved: packing });
    }
    lanes
}

impl Lane {
    /// The lane of blocks with the same level and the same pair of subdomains, in ascending order of their slots.
    fn new(shapes: &Shapes, crossings: &[Crossing]) -> Lane {
        let mut patterns: Vec<Need> = crossings.iter().map(|crossing| crossing.need).collect();
        patterns.sort_unstable();
        patterns.dedup();
        let runs = patterns.iter().map(|need| shapes.values_of(*need)).collect();
        let (of_populations, of_fields) = (shapes.reached.len(), shapes.fields);
        let mut lane = Lane {
            from: crossings[0].from,
            to: crossings[0].to,
            populations: Packing::new(runs),
            fields: Packing::new(vec![std::iter::once(0..of_fields as u32).collect()]),
        };
        for Crossing { slot, need, .. } in crossings {
            let pattern = patterns.binary_search(need).expect("all are listed");
            lane.populations.push(slot.index() * of_populations, pattern);
            lane.fields.push(slot.index() * of_fields, 0);
        }
        lane
    }
}

/// Which neighbouring blocks read the values of a block.
struct Shapes {
    /// For each value of a block, neighbouring blocks as a bit each: those that it streams into (or that read it, if it is exposed), and
    /// those that its cell touches. `None` for padding between components.
    reached: Vec<Option<Need>>,
    /// Number of values of the fields of a block.
    fields: usize,
}

impl Shapes {
    fn new(manifest: &Manifest) -> Shapes {
        let (layout, dim) = (Layout::populations(manifest), manifest.dim as usize);
        let side = layout.block().map(|side| side as i32);
        let mut reached = vec![None; layout.slot_len()];
        for cell in layout.all_cells() {
            let here = layout.position(cell).map(|along| along as i32);
            // The block at an offset from the cell, as seen from the block of the cell.
            let block_at = |offset: [i32; 3]| {
                let along = |axis: usize| {
                    let at = here[axis] + offset[axis];
                    i32::from(at >= side[axis]) - i32::from(at < 0)
                };
                1u32 << (0..dim).map(|axis| (along(axis) + 1) * 3i32.pow(axis as u32)).sum::<i32>()
            };
            let offsets = (0..3i32.pow(dim as u32)).map(|place| [place % 3 - 1, place / 3 % 3 - 1, place / 9 - 1]);
            let flat = |offset: [i32; 3]| std::array::from_fn(|axis| if axis < dim { offset[axis] } else { 0 });
            let rim = offsets.fold(0, |all, offset| all | block_at(flat(offset)));
            let streams = |direction: &Direction| block_at(direction.c);
            let all = manifest.directions.iter().map(streams).fold(0, |all, block| all | block);
            let value_of = |shown: &Shown| manifest.value_of_state(shown.value as usize);
            // An exposed value is read by those cells that have this cell as their neighbour along a direction.
            let read = |number: usize| {
                let seen = manifest.seen.iter().filter(|seen| value_of(&manifest.shown[seen.shown as usize]) == number);
                let from = seen.map(|seen| manifest.directions[seen.direction as usize].c.map(|c| -c));
                from.fold(0, |all, offset| all | block_at(offset))
            };
            for number in 0..manifest.values() {
                // If moments are stored, all of them are needed where any population streams. States stream nowhere.
                let streaming = match manifest.moments.is_empty() {
                    true => streams(&manifest.directions[number]),
                    false if number < manifest.first_state() => all,
                    false => block_at([0; 3]),
                } | read(number);
                for row in manifest.rows_of(number) {
                    reached[layout.offset(SlotId(0), row, cell)] = Some(Need { streaming, rim, whole: true });
                }
            }
        }
        Shapes { reached, fields: Layout::fields(manifest).slot_len() }
    }

    /// The values of a block that are needed, as runs.
    fn values_of(&self, need: Need) -> Vec<Range<u32>> {
        let mut runs: Vec<Range<u32>> = vec![];
        for (at, reached) in (0..).zip(&self.reached) {
            let Some(reached) = reached else { continue };
            if need.whole || need.streaming & reached.streaming != 0 || need.rim & reached.rim != 0 {
                match runs.last_mut().filter(|run| run.end == at) {
                    Some(run) => run.end += 1,
                    None => runs.push(at..at + 1),
                }
            }
        }
        runs
    }
}
