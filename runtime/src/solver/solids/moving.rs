//! Solids with prescribed motion. After each step of their level, their links are cut at the new position and the cells that they have
//! uncovered are filled.
//!
//! During a step a solid stays where it is at the beginning of the step, and its surface has the mean velocity of the step. So the
//! populations of uncovered cells are post-collision populations, as in all other cells, and the cut links depend on the step alone: a
//! resumed flow has the same bits.
//!
//! The host cuts the links of blocks that a surface touches or has touched before, and sends the changes to the device. A kernel that
//! cuts links on the device would replace [`Cutters::cut`] and the `Cell`s that `step/moving.rs` derives from it.

use std::collections::BTreeMap;

use lbm_bundle::{Direction, Manifest};

use crate::geometry::Block;
use crate::geometry::solid::{Cut, Cutters, SolidError};
use crate::mesh::Grid;
use crate::solver::error::StepError;
use crate::solver::solids::surfaces::velocity_at;
use crate::solver::solids::turning::Turning;
use crate::solver::spec::GridSpec;

/// Host data of blocks with cut links, for moving solids.
pub(crate) struct Moving {
    pub(crate) leaves: BTreeMap<Block, Leaf>,
    /// The row of each block that has one.
    pub(crate) rows: BTreeMap<Block, usize>,
    /// Unused rows.
    pub(crate) free: Vec<usize>,
    /// The cut links of blocks that moving solids touch.
    pub(crate) cuts: BTreeMap<Block, Cut>,
    /// For each moving solid, the offset of its velocity among the values of its wall.
    pub(crate) velocities: BTreeMap<usize, usize>,
    /// The rotating solids among them.
    pub(crate) turning: Option<Turning>,
}

/// Position of a leaf among all leaves along the space-filling curve, its node and its slot.
pub(crate) struct Leaf {
    rank: usize,
    node: usize,
    pub(crate) slot: usize,
}

impl Moving {
    /// From the tables of all leaves; `None` if no solid moves.
    pub(crate) fn new(
        manifest: &Manifest,
        grid: &Grid,
        spec: &GridSpec,
        rows: BTreeMap<Block, usize>,
        turning: Option<Turning>,
    ) -> Result<Option<Moving>, StepError> {
        let mut velocities = BTreeMap::new();
        for (number, (solid, motion)) in spec.solids.iter().zip(&spec.motions).enumerate() {
            if motion.is_some() {
                velocities.insert(number, velocity_at(manifest, solid)?);
            }
        }
        if velocities.is_empty() {
            return Ok(None);
        }
        let leaves = leaves(grid)?;
        Ok(Some(Moving { leaves, rows, free: vec![], cuts: BTreeMap::new(), velocities, turning }))
    }

    /// The slot of a block, if it is a leaf.
    pub(crate) fn slot(&self, block: Block) -> Option<usize> {
        Some(self.leaves.get(&block)?.slot)
    }

    /// All blocks with rows, level by level, each level along the curve, with their nodes and rows.
    pub(crate) fn listed(&self) -> Vec<(Block, i32, i32)> {
        let listed = self.rows.iter().filter_map(|(block, row)| Some((self.leaves.get(block)?, *block, *row)));
        let mut listed: Vec<_> = listed.collect();
        listed.sort_unstable_by_key(|(leaf, ..)| leaf.rank);
        listed.into_iter().map(|(leaf, block, row)| (block, leaf.node as i32, row as i32)).collect()
    }

    /// The cut links of blocks that moving solids of a level touch or have touched before.
    pub(crate) fn cut(
        &self,
        cutters: &Cutters,
        level: usize,
        directions: &[Direction],
    ) -> Result<BTreeMap<Block, Cut>, SolidError> {
        let before = self.cuts.keys().filter(|block| block.level == level).copied();
        let mut blocks = cutters.solids.touched(level);
        blocks.extend(before);
        blocks.sort_unstable();
        blocks.dedup();
        blocks.retain(|block| self.leaves.contains_key(block));
        cutters.cut_moved(blocks, |block| self.leaves.contains_key(&block), directions)
    }

    /// The neighbours from which a cell that a solid has uncovered is filled: the directions to cells that are fluid and were fluid
    /// before, as a bit mask, and the index of the direction closest to the sum of these; -1 if there is none. `open` says whether no
    /// surface lies between the cell and its neighbour along a direction.
    pub(crate) fn around(
        &self,
        cutters: [&Cutters; 2],
        (block, cell): (Block, usize),
        directions: &[Direction],
        open: impl Fn(&Direction) -> bool,
    ) -> (i32, i32) {
        let next = |direction: &Direction| {
            let (block, cell) = cutters[0].next(block, cell, direction).filter(|_| open(direction))?;
            let fluid = cutters.iter().all(|cutters| cutters.solid_at(block, cell).is_none());
            (fluid && self.leaves.contains_key(&block)).then_some(direction.c)
        };
        let moving = directions.iter().enumerate().filter(|(_, direction)| direction.c != [0; 3]);
        let fluid: Vec<(usize, [i32; 3])> = moving.filter_map(|(at, direction)| Some((at, next(direction)?))).collect();
        let normal = [0, 1, 2].map(|axis| fluid.iter().map(|(_, c)| c[axis]).sum::<i32>());
        // The projection on the normal, over the length of the direction.
        let along = |c: [i32; 3]| {
            let square: i32 = c.iter().map(|c| c * c).sum();
            f64::from((0..3).map(|axis| c[axis] * normal[axis]).sum::<i32>()) / f64::from(square).sqrt()
        };
        let best = |best: Option<(usize, f64)>, (at, c): &(usize, [i32; 3])| match best {
            Some((_, most)) if most >= along(*c) => best,
            _ => Some((*at, along(*c))),
        };
        let towards = fluid.iter().fold(None, best).map_or(-1, |(at, _)| at as i32);
        (fluid.iter().fold(0, |all, (at, _)| all | 1 << at), towards)
    }
}

pub(crate) fn leaves(grid: &Grid) -> Result<BTreeMap<Block, Leaf>, StepError> {
    let leaves = grid.forest().read_leaf_nodes()?.into_iter().enumerate();
    Ok(leaves.map(|(rank, (node, leaf))| (leaf.block, Leaf { rank, node, slot: leaf.slot.index() })).collect())
}
