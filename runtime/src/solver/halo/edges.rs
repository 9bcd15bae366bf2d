//! Blocks of a part of a flow as phases stream them: those at its edge, which read blocks of others or are read by them, and those inside,
//! which wait for no other part.

use std::ops::Range;

use lbm_bundle::mesh::Group;

use crate::device::{Buffer, Device, Int, Part};
use crate::kernels::layout::SlotId;
use crate::mesh::{Grid, Owned};
use crate::solver::error::StepError;
use crate::solver::halo::Halo;
use crate::solver::plan::task::Side;

/// The blocks of a part, listed on its device.
pub(crate) struct Edges {
    /// Their slots: level by level, group by group, of each group first those at the edge.
    list: Buffer<Int>,
    /// Where those of each group of a level are listed, and how many of them are at the edge.
    levels: Vec<[(Range<usize>, usize); 4]>,
}

impl Edges {
    /// Of a part of a grid, whose halo is known.
    pub(crate) fn new(device: &Device, grid: &Grid, owned: &Owned, halo: &Halo) -> Result<Edges, StepError> {
        let tree = grid.tree()?;
        let (mut list, mut levels) = (vec![], vec![]);
        for level in &owned.levels {
            levels.push(Group::ALL.map(|group| {
                let slots = &tree.listed()[level.group(group)];
                let (edge, inside): (Vec<i32>, Vec<i32>) =
                    slots.iter().partition(|slot| halo.is_at_edge(SlotId(**slot as u32)));
                let first = list.len();
                list.extend(edge.iter().chain(&inside));
                (first..list.len(), edge.len())
            }));
        }
        Ok(Edges { list: device.ints(&list)?, levels })
    }

    /// The blocks of a group of a level.
    pub(crate) fn group(&self, level: usize, group: Group, side: Side) -> Part<'_, Int> {
        let (all, edge) = &self.levels[level][group.index()];
        self.list.part(match side {
            Side::All => all.clone(),
            Side::Edge => all.start..all.start + edge,
            Side::Inside => all.start + edge..all.end,
        })
    }

    /// All blocks of a level.
    pub(crate) fn level(&self, level: usize) -> Part<'_, Int> {
        let [first, .., last] = &self.levels[level];
        self.list.part(first.0.start..last.0.end)
    }
}
