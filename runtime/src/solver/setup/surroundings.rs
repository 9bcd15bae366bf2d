//! The surroundings of the cells of a grid, on the host.

use lbm_bundle::Manifest;

use crate::geometry::Block;
use crate::geometry::solid::Cutters;
use crate::mesh::Behind;
use crate::mesh::forest::{Bound, Leaf};
use crate::solver::arrays::prescribed::Item;
use crate::solver::arrays::walls::Instance;
use crate::solver::error::StepError;
use crate::solver::setup::faces::{self, Faces};
use crate::solver::solids::levels::{bound, level};
use crate::solver::solids::surfaces;
use crate::solver::spec::GridSpec;

/// The surroundings of the cells: walls behind the faces, and solids.
#[derive(Clone)]
pub(crate) struct Surroundings {
    pub(crate) faces: [Behind; 6],
    pub(crate) instances: Vec<Instance>,
    pub(crate) items: Vec<Item>,
    pub(crate) cutters: Option<Cutters>,
}

impl Surroundings {
    /// For a grid of `levels` levels that begins at `step`; `every`: steps between two adaptations, if the grid changes.
    pub(crate) fn new(
        manifest: &Manifest,
        spec: &GridSpec,
        levels: usize,
        step: u64,
        every: Option<u64>,
    ) -> Result<Self, StepError> {
        let Faces { behind: faces, mut instances, mut items } = faces::faces(manifest, spec, levels)?;
        let mut cutters = surfaces::cutters(manifest, spec, faces, instances.len())?;
        let surfaces = surfaces::surfaces(manifest, spec, instances.len())?;
        instances.extend(surfaces.0);
        items.extend(surfaces.1);
        if let Some(cutters) = cutters.as_mut().filter(|_| levels > 1) {
            let last_change = every.map(|every| (step - step % every) as f64..(step - step % every + every) as f64);
            cutters.solids.reserve(last_change).ok_or(StepError::LongWay)?;
        }
        (0..levels).for_each(|level| {
            cutters.iter_mut().for_each(|cutters| cutters.solids.set_time(level, step as f64));
        });
        Ok(Surroundings { faces, instances, items, cutters })
    }

    /// Raises the level of the blocks at faces inside of blocks by one if one of these leaves, there or next to it, is finer; returns whether
    /// that is so.
    pub(crate) fn raise_padding(&mut self, leaves: &[Leaf]) -> bool {
        let Some(cutters) = &mut self.cutters else { return false };
        let is_near = |block: Block| !cutters.is_padding(block) && cutters.level_of_padding(block).is_some();
        let is_raised = leaves.iter().any(|leaf| leaf.block.level > cutters.padding.level && is_near(leaf.block));
        cutters.padding.level += usize::from(is_raised);
        is_raised
    }

    /// The bound on level changes of a block.
    pub(crate) fn bound(&self, block: Block) -> Option<Bound> {
        bound(self.cutters.as_ref()?, block)
    }

    /// The target level of a block, given that of the criterion.
    pub(crate) fn level(&self, block: Block, target: usize) -> usize {
        self.cutters.as_ref().map_or(target, |cutters| level(cutters, block, target))
    }
}
