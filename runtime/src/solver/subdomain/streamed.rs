//! The blocks of a subdomain as phases stream them: each in one phase. Blocks with cut links are in the list of a phase of their own. Of the
//! others, edge blocks read blocks of other subdomains or are read by them; interior blocks wait for no other subdomain.

use std::ops::Range;
use std::sync::Arc;

use lbm_bundle::mesh::Group;

use crate::device::{Buffer, Device, Int, Slice};
use crate::mesh::{Grid, Owned};
use crate::solver::error::StepError;
use crate::solver::plan::task::Side;
use crate::solver::subdomain::own_level;

/// The blocks of a subdomain without those that stream apart, listed on its device.
pub(crate) struct Streamed {
    /// Their slots: level by level, group by group; edge blocks come first in each group.
    list: Buffer<Int>,
    /// For each level and group, its range in the list and the number of its edge blocks.
    levels: Vec<[(Range<usize>, usize); 4]>,
    /// For each slot, whether its block is at an edge; of blocks with solids too. Slots behind the last have none.
    edge: Arc<[bool]>,
}

impl Streamed {
    /// Lists the blocks of a subdomain, or all blocks of a flow that has one; `apart`: the slots of those with cut links that other lists have,
    /// in ascending order; `edge`: for each slot, whether its block is at an edge.
    pub(crate) fn new(
        device: &Device,
        grid: &Grid,
        owned: Option<&Owned>,
        apart: &[i32],
        edge: Arc<[bool]>,
    ) -> Result<Streamed, StepError> {
        let tree = grid.tree()?;
        let (mut list, mut levels) = (vec![], vec![]);
        for level in 0..grid.levels().len() {
            let mut groups = [const { (0..0, 0) }; 4];
            for (group, listed) in std::iter::zip(Group::ALL, &mut groups) {
                let slots = tree.listed()[own_level(grid, owned, level).group(group)].iter().copied();
                let others = slots.filter(|slot| apart.is_empty() || apart.binary_search(slot).is_err());
                let is_at_edge = |slot: &i32| edge.get(*slot as usize).is_some_and(|is| *is);
                let first = list.len();
                list.extend(others.clone().filter(is_at_edge));
                let at_edge = list.len() - first;
                list.extend(others.filter(|slot| !is_at_edge(slot)));
                *listed = (first..list.len(), at_edge);
            }
            levels.push(groups);
        }
        Ok(Streamed { list: device.ints(&list)?, levels, edge })
    }

    /// For each slot, whether its block is at an edge, for lists that take its place.
    pub(crate) fn into_edge(self) -> Arc<[bool]> {
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
