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
    pub(super) fn new(manifest: &Manifest, spec: &GridSpec, levels: usize) -> Result<Self, StepError> {
        let Faces { behind: faces, mut instances, mut items } = setup::faces(manifest, spec, levels)?;
        let cutters = bodies::cutters(manifest, spec, levels, instances.len())?;
        let surfaces = bodies::surfaces(manifest, spec, instances.len())?;
        instances.extend(surfaces.0);
        items.extend(surfaces.1);
        Ok(Around { faces, instances, items, cutters })
    }

    /// Whether a block must stay as it is.
    fn holds(&self, block: Block) -> bool {
        self.cutters.as_ref().is_some_and(|cutters| cutters.holds(block))
    }

    /// What a block may not do. Where a shell wants a level, what is finer may still become that coarse.
    pub(super) fn bound(&self, block: Block) -> Option<Bound> {
        let shells = || self.cutters.as_ref()?.solids.level_of_shells(block);
        if self.holds(block) {
            Some(Bound::Level)
        } else {
            shells().filter(|level| *level >= block.level).map(|_| Bound::LeastLevel)
        }
    }

    /// The target level of a block that has one: that of a surface which cuts it, else at least that of shells.
    pub(super) fn level(&self, block: Block, target: usize) -> usize {
        let Some(cutters) = &self.cutters else { return target };
        let shells = || cutters.solids.level_of_shells(block).map_or(target, |level| target.max(level));
        cutters.solids.level(block).unwrap_or_else(shells)
    }
}
