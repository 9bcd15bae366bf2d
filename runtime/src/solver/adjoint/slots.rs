//! Slots of the blocks of a level, by what a step backwards needs to do there.

use std::ops::Range;

use lbm_bundle::mesh::NONE;

use crate::device::{Buffer, Int, Slice};
use crate::solver::error::StepError;
use crate::solver::subdomain::Subdomain;

/// Slots of the blocks of a level.
pub(super) struct Slots {
    /// Those that read cells alone, and that cells alone read.
    inside: Buffer<Int>,
    /// All others: those at walls; at refinement interfaces; there and beside blocks with cut links; beside such blocks alone; those with cut links.
    others: Buffer<Int>,
    /// Where these begin, but the first.
    begins: [usize; 4],
}

impl Slots {
    /// Those of a subdomain.
    pub(super) fn of(subdomain: &Subdomain, level: usize) -> Result<Slots, StepError> {
        let (device, grid) = (subdomain.program().device(), subdomain.grid());
        let (slots, near) = (grid.slots(), 3usize.pow(grid.dim() as u32));
        let neighbours = grid.tables().neighbours.read_ints(0..slots * near)?;
        let rows = subdomain.bodies().map(|bodies| bodies.rows.read_ints(0..slots)).transpose()?;
        let is_cut = |slot: usize| rows.as_ref().is_some_and(|rows| rows[slot] >= 0);
        let around = |slot: usize| &neighbours[slot * near..(slot + 1) * near];
        let is_beside = |slot: usize| around(slot).iter().any(|other| *other >= 0 && is_cut(*other as usize));
        let (mut inside, mut lists) = (vec![], vec![vec![]; 5]);
        for leaf in subdomain.own_leaves()?.iter().filter(|leaf| leaf.block.level == level) {
            let slot = leaf.slot.index();
            let list = match (around(slot).contains(&NONE), is_beside(slot)) {
                _ if is_cut(slot) => &mut lists[4],
                (false, true) => &mut lists[3],
                (true, true) => &mut lists[2],
                (true, false) => &mut lists[1],
                _ if around(slot).iter().any(|other| *other < 0) => &mut lists[0],
                _ => &mut inside,
            };
            list.push(slot as i32);
        }
        let mut ends = lists.iter().scan(0, |end, list| {
            *end += list.len();
            Some(*end)
        });
        let begins = std::array::from_fn(|_| ends.next().unwrap_or_default());
        Ok(Slots { inside: device.ints(&inside)?, others: device.ints(&lists.concat())?, begins })
    }

    /// All blocks, in two lists.
    pub(super) fn all(&self) -> [Slice<'_, Int>; 2] {
        [self.inside(), self.part(0..self.others.len())]
    }

    /// Blocks that read cells alone, and that cells alone read.
    pub(super) fn inside(&self) -> Slice<'_, Int> {
        self.inside.slice(0..self.inside.len())
    }

    fn part(&self, range: Range<usize>) -> Slice<'_, Int> {
        self.others.slice(range)
    }

    /// Blocks that may read walls, but no other level, and have no cut links.
    pub(super) fn at_walls(&self) -> [Slice<'_, Int>; 2] {
        let [walls, _, interfaces, cut] = self.begins;
        [self.part(0..walls), self.part(interfaces..cut)]
    }

    /// Blocks at refinement interfaces.
    pub(super) fn at_interfaces(&self) -> Slice<'_, Int> {
        let [walls, _, interfaces, _] = self.begins;
        self.part(walls..interfaces)
    }

    /// Blocks with cut links.
    pub(super) fn cut(&self) -> Slice<'_, Int> {
        self.part(self.begins[3]..self.others.len())
    }

    /// Blocks at walls and interfaces that are away from cut links.
    pub(super) fn away_from_solids(&self) -> Slice<'_, Int> {
        self.part(0..self.begins[1])
    }

    /// Blocks that have cut links or are beside such blocks.
    pub(super) fn beside_solids(&self) -> Slice<'_, Int> {
        self.part(self.begins[1]..self.others.len())
    }
}
