//! The levels that surfaces and their shells require of the grid.

use crate::geometry::Block;
use crate::geometry::solid::Cutters;
use crate::mesh::forest::Bound;

/// The bound on level changes of a block. A block near cut links is pinned once its level suffices, and so is one beyond the domain. A block
/// in a shell of its own level or a finer one may not be coarsened; a finer block may be coarsened down to the level of the shell.
pub(crate) fn bound(cutters: &Cutters, block: Block) -> Option<Bound> {
    if cutters.pins(block) {
        return (!lacks(cutters, block)).then_some(Bound::Level);
    }
    cutters.solids.level_of_shells(block).filter(|level| *level >= block.level).map(|_| Bound::LeastLevel)
}

/// Whether a block is coarser than a surface in it requires.
pub(crate) fn lacks(cutters: &Cutters, block: Block) -> bool {
    cutters.solids.level(block).max(cutters.level_of_padding(block)).is_some_and(|level| level > block.level)
}

/// The target level of a block, given that of the criterion: the level of a surface that cuts it or a block next to it, else at least the
/// level of its shells; near a face inside of blocks at least the level of the blocks there. Beyond the domain nothing else counts.
pub(crate) fn level(cutters: &Cutters, block: Block, target: usize) -> usize {
    let least = cutters.level_of_padding(block).unwrap_or(0);
    if cutters.is_padding(block) {
        return least;
    }
    let shells = || cutters.solids.level_of_shells(block).map_or(target, |level| target.max(level));
    cutters.solids.level(block).unwrap_or_else(shells).max(least)
}
