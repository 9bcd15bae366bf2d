//! Edge blocks and interior blocks of a subdomain, as phases stream them. Edge blocks read blocks of other subdomains or are read by them;
//! interior blocks wait for no other subdomain.

use std::ops::Range;

use lbm_bundle::mesh::Group;

use crate::device::{Buffer, Device, Int, Slice};
use crate::kernels::layout::SlotId;
use crate::mesh::{Grid, Owned};
use crate::solver::error::StepError;
use crate::solver::halo::Halo;
use crate::solver::plan::task::Side;

/// The blocks of a subdomain, listed on its device.
pub(crate) struct Edges {
    /// Their slots: level by level, group by group; edge blocks come first in each group.
    list: Buffer<Int>,
    /// For each level and group, its range in the list and the number of its edge blocks.
    levels: Vec<[(Range<usize>, usize); 4]>,
}

impl Edges {
    /// Lists the blocks of a subdomain whose halo is known.
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
    pub(crate) fn group(&self, level: usize, group: Group, side: Side) -> Slice<'_, Int> {
        let (all, edge) = &self.levels[level][group.index()];
        self.list.slice(match side {
            Side::All => all.clone(),
            Side::Edge => all.start..all.start + edge,
            Side::Inside => all.start + edge..all.end,
        })
    }

    /// All blocks of a level.
    pub(crate) fn level(&self, level: usize) -> Slice<'_, Int> {
        let [first, .., last] = &self.levels[level];
        self.list.slice(first.0.start..last.0.end)
    }
}
