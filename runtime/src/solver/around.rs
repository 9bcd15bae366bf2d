//! What is around the cells of a grid, on the host.

use lbm_bundle::Manifest;

use super::prescribed::Item;
use super::setup::{self, Faces, GridSpec, Instance};
use super::{StepError, bodies};
use crate::geometry::Block;
use crate::geometry::solid::Cutters;
use crate::mesh::Behind;
use crate::mesh::forest::Bound;

/// What is around the cells: walls behind the faces, and solids.
#[derive(Clone)]
pub(super) struct Around {
    pub(super) faces: [Behind; 6],
    pub(super) instances: Vec<Instance>,
    pub(super) items: Vec<Item>,
    pub(super) cutters: Option<Cutters>,
}

impl Around {
    /// Of a grid of so many levels that begins at a step, with the steps between two changes of it, if it changes.
    pub(super) fn new(
        manifest: &Manifest,
        spec: &GridSpec,
        levels: usize,
        (step, every): (u64, Option<u64>),
    ) -> Result<Self, StepError> {
        let Faces { behind: faces, mut instances, mut items } = setup::faces(manifest, spec, levels)?;
        let mut cutters = bodies::cutters(manifest, spec, instances.len())?;
        let surfaces = bodies::surfaces(manifest, spec, instances.len())?;
        instances.extend(surfaces.0);
        items.extend(surfaces.1);
        if let Some(cutters) = cutters.as_mut().filter(|_| levels > 1) {
            let last_change = every.map(|every| (step - step % every) as f64..(step - step % every + every) as f64);
            cutters.solids.reserve(last_change).ok_or(StepError::LongWay)?;
        }
        (0..levels).for_each(|level| {
            cutters.iter_mut().for_each(|cutters| cutters.solids.set_time(level, step as f64));
        });
        Ok(Around { faces, instances, items, cutters })
    }

    /// What a block may not do.
    pub(super) fn bound(&self, block: Block) -> Option<Bound> {
        bound(self.cutters.as_ref()?, block)
    }

    /// The target level of a block that has one.
    pub(super) fn level(&self, block: Block, target: usize) -> usize {
        self.cutters.as_ref().map_or(target, |cutters| level(cutters, block, target))
    }
}

/// What a block may not do. Where a shell needs a level, what is finer may still become that coarse.
pub(super) fn bound(cutters: &Cutters, block: Block) -> Option<Bound> {
    if cutters.holds(block) {
        return (!lacks(cutters, block)).then_some(Bound::Level);
    }
    cutters.solids.level_of_shells(block).filter(|level| *level >= block.level).map(|_| Bound::LeastLevel)
}

/// Whether a block is coarser than a surface in it needs.
pub(super) fn lacks(cutters: &Cutters, block: Block) -> bool {
    cutters.solids.level(block).is_some_and(|level| level > block.level)
}

/// The target level of a block that has one: that of a surface which cuts it, else at least that of shells.
pub(super) fn level(cutters: &Cutters, block: Block, target: usize) -> usize {
    let shells = || cutters.solids.level_of_shells(block).map_or(target, |level| target.max(level));
    cutters.solids.level(block).unwrap_or_else(shells)
}
