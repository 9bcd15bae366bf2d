//! The levels that surfaces need of the grid.

use crate::geometry::Block;
use crate::geometry::solid::Cutters;
use crate::mesh::forest::Bound;

/// What a block may not do. Where a shell needs a level, what is finer may still become that coarse.
pub(crate) fn bound(cutters: &Cutters, block: Block) -> Option<Bound> {
    if cutters.holds(block) {
        return (!lacks(cutters, block)).then_some(Bound::Level);
    }
    cutters.solids.level_of_shells(block).filter(|level| *level >= block.level).map(|_| Bound::LeastLevel)
}

/// Whether a block is coarser than a surface in it needs.
pub(crate) fn lacks(cutters: &Cutters, block: Block) -> bool {
    cutters.solids.level(block).is_some_and(|level| level > block.level)
}

/// The target level of a block that has one: that of a surface which cuts it, else at least that of shells.
pub(crate) fn level(cutters: &Cutters, block: Block, target: usize) -> usize {
    let shells = || cutters.solids.level_of_shells(block).map_or(target, |level| target.max(level));
    cutters.solids.level(block).unwrap_or_else(shells)
}
