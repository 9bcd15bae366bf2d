//! A forest of blocks: quadtrees or octrees over a box of roots, stored and changed on the device.
//!
//! In: mesh kernels, a box of roots, the six faces, and the number of families and data slots. After [`Forest::new`] and every
//! [`Forest::adapt`]: each place of the box is covered by exactly one leaf; leaves that touch, at corners and across periodic faces too,
//! differ by at most one level (2:1 balance); leaves have data slots, refined nodes have none; links, neighbours, kinds and lists are
//! those of [`lbm_bundle::mesh`]. The forest depends on its history of target levels alone, not on the device or the number of its
//! threads.
//!
//! Nodes of all levels are numbered together, and so are slots: a [`Pool`] has a fixed number of both.
//!
//! # Lists
//!
//! [`Tables::leaves`] has the slots of all leaves: first those of level 0, and of these first the group `Interior`, along the
//! space-filling curve. [`Forest::levels`] gives the range of each level and each group, so that kernels can be launched on a part of the
//! list. Other tables are copied to the host on request only.
//!
//! # The stages of a change
//!
//! The caller has written the target level of each leaf ([`Targets`]). [`Forest::adapt`] then
//!
//! 1. decides. A leaf is refined by one level if its target level is higher, or if 2:1 balance with a finer neighbour requires it,
//!    unless balance would then require the refinement of a leaf whose [`Bound`] is its level. A family is removed if all its members
//!    are leaves with a lower target level and no neighbour of a member has or gets children; children of a neighbour that are
//!    removed in the same change do not count. Refinement has priority over coarsening.
//! 2. assigns slots to the parents of families that are removed, and calls [`Remap::average`]: `child_slots` gives the slots of the
//!    children of each slot in `slots`. Of the tables, only `slot` and `node` have the new slots; nothing else has changed. Then
//!    the families and their slots are freed. If there are too few free slots to do so at once, it is done in several rounds.
//! 3. updates links, neighbours and kinds: those of the forest after coarsening and before refinement. Lists are still the old
//!    ones.
//! 4. assigns nodes and slots to the children of leaves that are refined, and calls [`Remap::fill`]: `slots` lists the slots of
//!    these leaves, `child_slots` those of their children. `neighbours` and `near` do not refer to the new nodes yet, so the nodes that
//!    a leaf finds there have data. Only `child` already shows that the leaf has children.
//! 5. frees the slots of the refined leaves, and updates links, neighbours, kinds and lists.
//!
//! If nodes or slots are too few for all refinements, coarse levels get them first, and on a level the leaves along the curve: a
//! refinement that requires another one, for balance, comes after it. One slot always stays free, so that coarsening is always possible.

mod adapt;
mod error;
mod pool;
mod tables;
mod transfer;

use std::ops::Range;
use std::sync::{Arc, OnceLock};

use lbm_bundle::mesh::{Group, MeshBundle};
use rayon::prelude::*;

pub use adapt::Outcome;
pub use error::ForestError;
pub use pool::Pool;
pub use tables::{Tables, Targets};
pub use transfer::{Change, Moves, Remap};

use crate::device::{Buffer, Device, DeviceError, Int};
use crate::geometry::Block;
use crate::kernels::layout::SlotId;
use crate::kernels::mesh as kernels;
use crate::kernels::{KernelError, MeshProgram};
use crate::mesh::roots::Roots;
use crate::mesh::{Behind, GridError};

use tables::Work;

/// Most levels of a forest.
pub const LEVELS: usize = 16;

/// Most roots along an axis: positions on the finest level fit into 32 bits.
pub const MOST_ROOTS: usize = (i32::MAX as usize >> (LEVELS - 1)) + 1;

/// The ranges of a level in the lists of nodes and leaves.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Level {
    /// Its nodes, in [`Tables::order`].
    pub nodes: Range<usize>,
    /// Its leaves, in [`Tables::leaves`].
    pub leaves: Range<usize>,
    /// Its refined nodes, in [`Tables::covered`].
    pub covered: Range<usize>,
    /// The leaves of each group, in [`Tables::leaves`], in the order of [`Group::ALL`].
    pub groups: [Range<usize>; 4],
}

impl Level {
    /// The leaves of a group, in [`Tables::leaves`].
    pub fn group(&self, group: Group) -> Range<usize> {
        self.groups[group.index()].clone()
    }
}

/// A leaf, for the host.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Leaf {
    /// The slot of its data.
    pub slot: SlotId,
    /// The block that it covers.
    pub block: Block,
}

/// A bound on level changes of a block, whatever its target level.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Bound {
    /// The block is pinned. Other blocks whose refinement would require its refinement are not refined either.
    Level = 1,
    /// The block may not become coarser.
    LeastLevel = 2,
}

/// A forest of blocks.
pub struct Forest {
    program: MeshProgram,
    /// Number of roots.
    roots: usize,
    pool: Pool,
    free: Pool,
    tables: Tables,
    targets: Targets,
    work: Work,
    /// Whether it can no longer change.
    stays: bool,
    levels: Vec<Level>,
    /// The leaves with their nodes, once the host has read them.
    known: OnceLock<Arc<[(usize, Leaf)]>>,
    /// Whether covered blocks have data, for ghosts.
    stores_covered: bool,
    /// Number of slots at refinement interfaces.
    interfaces: usize,
    /// The smallest number of free slots so far.
    least_free: usize,
}

impl Forest {
    /// A forest of `roots` along each axis (1 beyond the dimension), all leaves. If `holds`, covered blocks have data too, for ghosts, in
    /// slots behind those of the pool, one for each family.
    pub fn new(
        device: &Device,
        bundle: &MeshBundle,
        roots: [usize; 3],
        faces: [Behind; 6],
        pool: Pool,
        stores_covered: bool,
    ) -> Result<Self, ForestError> {
        let program = MeshProgram::load(device, bundle)?;
        let dim = bundle.manifest.dim as usize;
        for (at, (axis, roots)) in ["x", "y", "z"].into_iter().zip(roots).enumerate() {
            if roots == 0 || (at >= dim && roots > 1) {
                return Err(ForestError::Box { axis, roots, dim });
            }
            if roots > MOST_ROOTS {
                return Err(ForestError::Long { axis, roots, most: MOST_ROOTS });
            }
        }
        let roots = Roots::new(dim, roots, faces)?;
        let count = roots.positions.len();
        if pool.slots <= count {
            return Err(ForestError::Pool { slots: pool.slots, roots: count });
        }
        let blocks = pool.nodes(dim, count).max(pool.slots);
        if blocks > i32::MAX as usize {
            return Err(GridError::Blocks { blocks }.into());
        }
        let (tables, targets, work) = tables::new(device, dim, &roots, pool, stores_covered)?;
        let free = Pool { families: pool.families, slots: pool.slots - count };
        let least_free = free.slots;
        let levels = vec![];
        let mut forest = Forest {
            program,
            roots: count,
            pool,
            free,
            tables,
            targets,
            work,
            stays: false,
            levels,
            known: OnceLock::new(),
            stores_covered,
            interfaces: 0,
            least_free,
        };
        forest.renew(&[count])?;
        Ok(forest)
    }

    /// The same forest on another device.
    pub fn on(&self, device: &Device, bundle: &MeshBundle) -> Result<Self, ForestError> {
        let program = MeshProgram::load(device, bundle)?;
        let (tables, targets, work) = tables::on(device, (&self.tables, &self.targets, &self.work))?;
        let (levels, known) = (self.levels.clone(), self.known.clone());
        Ok(Forest { program, tables, targets, work, levels, known, ..*self })
    }

    /// Releases what only changes need, and the memory for blocks that do not exist: no change is possible any more. The data must be in
    /// order, as after [`Forest::reorder`].
    pub fn stay(&mut self) -> Result<(), ForestError> {
        let listed = self.levels.last().map_or(0, |level| level.nodes.end);
        let last = self.tables.order.read_ints(0..listed)?.into_iter().max().unwrap_or(0) as usize;
        let families = (last + 1).saturating_sub(self.roots) / self.children_per_node();
        // Covered blocks with data have slots behind those of all leaves.
        self.pool = Pool { families, slots: if self.stores_covered { self.pool.slots } else { self.leaves() } };
        (self.free, self.least_free) = (Pool { families: 0, slots: 0 }, 0);
        self.stays = true;
        let device = self.program.device();
        tables::stay(device, self.dim(), self.roots, self.pool, &mut self.tables, &mut self.targets, &mut self.work)?;
        Ok(())
    }

    /// Whether it can no longer change.
    pub fn stays(&self) -> bool {
        self.stays
    }

    /// Number of axes.
    pub fn dim(&self) -> usize {
        self.program.manifest().dim as usize
    }

    /// The range of each level in the lists, level 0 first; the last one is the finest that has nodes.
    pub fn levels(&self) -> &[Level] {
        &self.levels
    }

    /// Number of leaves.
    pub fn leaves(&self) -> usize {
        self.levels.last().map_or(0, |level| level.leaves.end)
    }

    /// All leaves, level by level, each level along the curve. Copies tables to the host: for output.
    pub fn read_leaves(&self) -> Result<Vec<Leaf>, DeviceError> {
        Ok(self.read_leaf_nodes()?.iter().map(|(_, leaf)| *leaf).collect())
    }

    /// The same with their nodes. Tables are copied once, until the forest changes.
    pub(crate) fn read_leaf_nodes(&self) -> Result<Arc<[(usize, Leaf)]>, DeviceError> {
        match self.known.get() {
            Some(known) => Ok(known.clone()),
            None => {
                let known = self.read_nodes(&self.tables.slot)?.into();
                Ok(self.known.get_or_init(|| known).clone())
            }
        }
    }

    /// All blocks that have data, leaves and covered ones, in the same order with their nodes.
    pub(crate) fn read_nodes_with_data(&self) -> Result<Vec<(usize, Leaf)>, DeviceError> {
        self.read_nodes(self.data())
    }

    /// The data slot of each node; -1 for a covered block without data.
    fn data(&self) -> &Buffer<Int> {
        if self.stores_covered { &self.tables.data } else { &self.tables.slot }
    }

    /// The nodes that have a slot in a table, along the curve on each level.
    fn read_nodes(&self, slot: &Buffer<Int>) -> Result<Vec<(usize, Leaf)>, DeviceError> {
        let order = self.tables.order.read_ints(0..self.levels.last().map_or(0, |level| level.nodes.end))?;
        let slot = slot.read_ints(0..slot.len())?;
        let place = self.tables.place.read_ints(0..self.tables.place.len())?;
        let leaf = |level: usize, node: i32| {
            let node = node as usize;
            let place = std::array::from_fn(|axis| place[3 * node + axis] as usize);
            let slot = u32::try_from(slot[node]).ok()?;
            Some((node, Leaf { slot: SlotId(slot), block: Block { level, place } }))
        };
        let of_level = |(at, level): (usize, &Level)| {
            order[level.nodes.clone()].iter().filter_map(move |node| leaf(at, *node)).collect::<Vec<_>>()
        };
        Ok(self.levels.iter().enumerate().flat_map(of_level).collect())
    }

    /// The block whose data are in a slot; a leaf must have the slot.
    pub fn block(&self, slot: SlotId) -> Result<Block, DeviceError> {
        let Tables { node, level, place, .. } = &self.tables;
        let node = node.read_ints(slot.index()..slot.index() + 1)?[0] as usize;
        let (level, place) = (level.read_ints(node..node + 1)?[0], place.read_ints(3 * node..3 * node + 3)?);
        Ok(Block { level: level as usize, place: std::array::from_fn(|axis| place[axis] as usize) })
    }

    /// Lists the slots of blocks that are given by their nodes, and writes the row of each: `rows[slot]`. The node of a block does not
    /// change, even if its data move.
    pub fn follow(
        &self,
        nodes: &Buffer<Int>,
        row: &Buffer<Int>,
        list: &mut Buffer<Int>,
        rows: &mut Buffer<Int>,
    ) -> Result<(), KernelError> {
        self.program.launch(kernels::Follow {
            positions: self.work.every.slice(0..nodes.len()),
            found: nodes,
            row,
            slot: self.data(),
            list,
            rows,
        })
    }

    /// Replaces the target levels of leaves on the host by `level(block, target)`. Copies tables, so it is meant for setup and for moving
    /// solids.
    pub fn overrule(&mut self, level: impl Fn(Block, usize) -> usize + Sync) -> Result<(), DeviceError> {
        let leaves = self.read_leaf_nodes()?;
        let mut all = self.targets.level.read_ints(0..self.targets.level.len())?;
        let target = |(node, leaf): &(usize, Leaf)| level(leaf.block, all[*node].max(0) as usize) as i32;
        let targets: Vec<i32> = leaves.par_iter().map(target).collect();
        leaves.iter().zip(targets).for_each(|((node, _), level)| all[*node] = level);
        self.targets.level.write_ints(0, &all)
    }

    /// Sets the bounds on level changes of blocks, whatever their target levels. Bounds of refined blocks take effect when they become
    /// leaves.
    pub fn bind(&mut self, bound: impl Fn(Block) -> Option<Bound> + Sync) -> Result<(), DeviceError> {
        let leaves = self.read_leaf_nodes()?;
        let parent = self.tables.parent.read_ints(0..self.tables.parent.len())?;
        // Which bits of its flag each node takes.
        let of_leaves = leaves.iter().map(|(node, leaf)| (*node, leaf.block, !0));
        let mut nodes: Vec<(usize, Block, i32)> = of_leaves.collect();
        let mut known = vec![false; parent.len()];
        for (node, leaf) in leaves.iter() {
            let mut node = *node;
            for block in std::iter::successors(leaf.block.parent(), |block| block.parent()) {
                node = parent[node] as usize;
                if std::mem::replace(&mut known[node], true) {
                    break;
                }
                nodes.push((node, block, Bound::LeastLevel as i32));
            }
        }
        let flag =
            |(node, block, bits): (usize, Block, i32)| (node, bound(block).map_or(0, |bound| bound as i32) & bits);
        let flags: Vec<(usize, i32)> = nodes.into_par_iter().map(flag).collect();
        let mut all = vec![0; parent.len()];
        flags.into_iter().for_each(|(node, flag)| all[node] = flag);
        self.targets.bound.write_ints(0, &all)
    }

    /// The slots of covered blocks with data, level by level, each level along the curve. Copies a table to the host: for output.
    pub fn read_covered(&self) -> Result<Vec<(usize, SlotId)>, DeviceError> {
        if !self.stores_covered {
            return Ok(vec![]);
        }
        let all = self.tables.covered.read_ints(0..self.levels.last().map_or(0, |level| level.covered.end))?;
        let of_level = |(at, level): (usize, &Level)| {
            all[level.covered.clone()].iter().map(|slot| (at, SlotId(*slot as u32))).collect::<Vec<_>>()
        };
        Ok(self.levels.iter().enumerate().flat_map(of_level).collect())
    }

    /// Whether covered blocks have data, for ghosts.
    pub fn stores_covered(&self) -> bool {
        self.stores_covered
    }

    /// The largest number of slots of leaves in use so far.
    pub fn most_used(&self) -> usize {
        self.pool.slots - self.least_free
    }

    /// Number of slots with a place in [`Tables::rows`]: those of leaves at refinement interfaces, and of covered blocks there that have
    /// data.
    pub fn interfaces(&self) -> usize {
        self.interfaces
    }

    /// The number of families and slots in all.
    pub fn pool(&self) -> Pool {
        self.pool
    }

    /// The number of families and slots that are free.
    pub fn free(&self) -> Pool {
        self.free
    }

    /// Bytes of all tables.
    pub fn bytes(&self) -> usize {
        tables::bytes(&self.tables, &self.targets, &self.work)
    }

    /// The tables that kernels read.
    pub fn tables(&self) -> &Tables {
        &self.tables
    }

    /// The tables that kernels read, and the target levels that they write before the next [`Forest::adapt`].
    pub fn targets(&mut self) -> (&Tables, &mut Targets) {
        (&self.tables, &mut self.targets)
    }

    /// Every number from 0 on: a table that lists all slots, or maps each slot to itself.
    pub fn every(&self) -> &Buffer<Int> {
        &self.work.every
    }

    /// What the user should know about loading the kernels, a sentence each.
    pub fn notices(&self) -> &[String] {
        self.program.notices()
    }

    /// Number of children of a refined node.
    fn children_per_node(&self) -> usize {
        1 << self.dim()
    }
}
