//! Solids that move as prescribed: after each step of their level links are cut where they are then, and cells that they have left are filled.
//!
//! In a step a solid is where it is when the step begins, and its surface has the mean velocity of the step. So populations of cells that
//! a solid has left are those after a collision, as in all other cells, and what a solid cuts follows from the step alone: a flow that is
//! resumed has the same bits.
//!
//! The host cuts the links of blocks that a surface touches, or did before, and what is others goes to the device. A kernel that cuts them
//! there would take the place of [`Cutters::cut`] and of the [`Cell`]s that are found from it.

use std::collections::BTreeMap;

use lbm_bundle::{Direction, Manifest};

use crate::geometry::Block;
use crate::geometry::solid::{Cut, Cutters, SolidError};
use crate::mesh::Grid;
use crate::solver::error::StepError;
use crate::solver::solids::surfaces::velocity_at;
use crate::solver::solids::turning::Turning;
use crate::solver::spec::GridSpec;

/// What the host knows of blocks with cut links, where solids move.
pub(crate) struct Moving {
    pub(crate) leaves: BTreeMap<Block, Leaf>,
    /// The rows of blocks that have one.
    pub(crate) rows: BTreeMap<Block, usize>,
    /// Rows that no block has.
    pub(crate) free: Vec<usize>,
    /// What blocks have of cut links that moving solids touch.
    pub(crate) cuts: BTreeMap<Block, Cut>,
    /// For each solid that moves, where its velocity is among the values of its wall.
    pub(crate) velocities: BTreeMap<usize, usize>,
    /// Those of them that turn.
    pub(crate) turning: Option<Turning>,
}

/// Where a leaf is: among all along the curve, its node, and its slot.
pub(crate) struct Leaf {
    rank: usize,
    node: usize,
    pub(crate) slot: usize,
}

impl Moving {
    /// Of tables as they were made for all leaves; none where nothing moves.
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

    /// All blocks with rows, level by level, each level along the curve, with their nodes and these.
    pub(crate) fn listed(&self) -> Vec<(Block, i32, i32)> {
        let listed = self.rows.iter().filter_map(|(block, row)| Some((self.leaves.get(block)?, *block, *row)));
        let mut listed: Vec<_> = listed.collect();
        listed.sort_unstable_by_key(|(leaf, ..)| leaf.rank);
        listed.into_iter().map(|(leaf, block, row)| (block, leaf.node as i32, row as i32)).collect()
    }

    /// What blocks have of cut links that moving solids of a level touch, or did before.
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

    /// What a cell is filled from that a solid has left: directions to cells that are fluid and were so before, and that of them which
    /// is nearest to the direction in which these are. `open` says where nothing lies between.
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
        // Along the normal, over the length of the direction.
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
