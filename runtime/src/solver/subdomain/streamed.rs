//! The blocks of a subdomain as phases stream them: each in one phase. Blocks with cut links are in the list of a phase of their own. Of the
//! others, edge blocks read blocks of other subdomains or are read by them; interior blocks wait for no other subdomain.

use std::collections::HashSet;
use std::ops::Range;

use lbm_bundle::mesh::Group;

use crate::device::{Buffer, Device, Int, Slice};
use crate::kernels::layout::SlotId;
use crate::mesh::{Grid, Owned};
use crate::solver::error::StepError;
use crate::solver::halo::Halo;
use crate::solver::plan::task::Side;
use crate::solver::subdomain::own_level;

/// The blocks of a subdomain without those that stream apart, listed on its device.
pub(crate) struct Streamed {
    /// Their slots: level by level, group by group; edge blocks come first in each group.
    list: Buffer<Int>,
    /// For each level and group, its range in the list and the number of its edge blocks.
    levels: Vec<[(Range<usize>, usize); 4]>,
    /// The slots of edge blocks, of those with solids too.
    edge: HashSet<i32>,
}

impl Streamed {
    /// Lists the blocks of a subdomain, or all blocks of a flow that has one; `apart`: the slots of those with cut links that other lists have.
    pub(crate) fn new(
        device: &Device,
        grid: &Grid,
        owned: Option<&Owned>,
        apart: &HashSet<i32>,
        edge: HashSet<i32>,
    ) -> Result<Streamed, StepError> {
        let tree = grid.tree()?;
        let (mut list, mut levels) = (vec![], vec![]);
        for level in 0..grid.levels().len() {
            let mut groups = [const { (0..0, 0) }; 4];
            for (group, listed) in std::iter::zip(Group::ALL, &mut groups) {
                let slots = tree.listed()[own_level(grid, owned, level).group(group)].iter().copied();
                let others = slots.filter(|slot| !apart.contains(slot));
                let (at_edge, inside): (Vec<i32>, Vec<i32>) = others.partition(|slot| edge.contains(slot));
                let first = list.len();
                list.extend(at_edge.iter().chain(&inside));
                *listed = (first..list.len(), at_edge.len());
            }
            levels.push(groups);
        }
        Ok(Streamed { list: device.ints(&list)?, levels, edge })
    }

    /// The slots of edge blocks, for lists that take its place.
    pub(crate) fn into_edge(self) -> HashSet<i32> {
        self.edge
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

/// The slots of the edge blocks of a subdomain.
pub(crate) fn edge_blocks(grid: &Grid, owned: &Owned, halo: &Halo) -> Result<HashSet<i32>, StepError> {
    let tree = grid.tree()?;
    let own = owned.levels.iter().flat_map(|level| Group::ALL.map(|group| level.group(group)));
    let slots = own.flat_map(|range| &tree.listed()[range]).copied();
    Ok(slots.filter(|slot| halo.is_at_edge(SlotId(*slot as u32))).collect())
}
