//! Surfaces under boundary layers, among the solids of a subdomain: their patches get the velocities of a step, and their states are read and set.

use crate::device::{Buffer, Device, Stored};
use crate::kernels::layout::SlotId;
use crate::kernels::{self, Program};
use crate::mesh::{Grid, Owned};
use crate::solver::arrays::walls::Walls;
use crate::solver::error::StepError;
use crate::solver::solids::bodies::{Bodies, LinkRows};
use crate::solver::solids::slides::Slides;

/// The slots of the blocks of a patch, and of these and all around them.
pub(crate) struct ReadByPatch {
    pub(crate) own: Vec<SlotId>,
    pub(crate) read: Vec<SlotId>,
}

impl Bodies {
    /// Gives the patches of a level their velocities for the step that begins. The halo must be up to date.
    pub(crate) fn slide(
        &mut self,
        program: &Program,
        grid: &Grid,
        walls: &mut Walls,
        src: &Buffer<Stored>,
        level: usize,
    ) -> Result<(), StepError> {
        let Bodies { slides: Some(slides), list, rows, links, .. } = self else { return Ok(()) };
        let LinkRows { links, distances } = &links[0];
        let Slides { ids, ranges, cells, normals, shapes, laws, weights, slips, first, at, .. } = slides;
        // A subdomain may have none of them.
        let Some(own) = slides.levels.get(level).cloned() else { return Ok(()) };
        program.launch(kernels::Slide {
            ids: ids.slice(own),
            ranges,
            cells,
            normals,
            shapes,
            laws,
            weights,
            cut: list,
            neighbours: &grid.tables().neighbours,
            links: kernels::Links { link_rows: rows, links, distances },
            src,
            wall_rules: &walls.rules,
            wall_values: &mut walls.values,
            slips,
            first: *first as i32,
            slip: at.0 as i32,
            source_at: at.1 as i32,
        })?;
        Ok(())
    }

    /// Restricts the patches to those that have own blocks.
    pub(crate) fn keep_own_patches(&mut self, device: &Device, owned: &Owned) -> Result<(), StepError> {
        let Bodies { slides: Some(slides), list, .. } = self else { return Ok(()) };
        let slots = list.read_ints(0..list.len())?;
        Ok(slides.keep(device, |place| owned.has(SlotId(slots[place] as u32)))?)
    }

    /// The blocks of each patch, and those that are read where any of these is owned.
    pub(crate) fn read_by_patches(&self, grid: &Grid) -> Result<Vec<ReadByPatch>, StepError> {
        let Some(slides) = &self.slides else { return Ok(vec![]) };
        let slots = self.list.read_ints(0..self.list.len())?;
        let near = 3usize.pow(slides.dim as u32);
        let neighbours = grid.tables().neighbours.read_ints(0..grid.slots() * near)?;
        let of_patch = |(_, blocks): &(usize, Vec<usize>)| {
            let own: Vec<SlotId> = blocks.iter().map(|block| SlotId(slots[*block] as u32)).collect();
            let around = own.iter().flat_map(|slot| &neighbours[slot.index() * near..][..near]);
            let mut read: Vec<SlotId> = around.filter_map(|slot| Some(SlotId(u32::try_from(*slot).ok()?))).collect();
            read.sort_unstable();
            read.dedup();
            ReadByPatch { own, read }
        };
        Ok(slides.patches.iter().map(of_patch).collect())
    }

    /// The states of all patches, those of patches that are not worked on here NaN.
    pub(crate) fn slips(&self) -> Result<Vec<f64>, StepError> {
        let Some(slides) = &self.slides else { return Ok(vec![]) };
        let all = slides.slips.read_reals(0..slides.slips.len())?;
        let mut states = vec![f64::NAN; all.len()];
        for patch in slides.ids.read_ints(0..slides.ids.len())? {
            let own = patch as usize * slides.state..(patch as usize + 1) * slides.state;
            states[own.clone()].copy_from_slice(&all[own]);
        }
        Ok(states)
    }

    /// Sets the states of all patches, from which the next step finds the velocities of their walls; false if they are not as many.
    pub(crate) fn set_slips(&mut self, states: &[f64]) -> Result<bool, StepError> {
        let Some(slides) = &mut self.slides else { return Ok(states.is_empty()) };
        if states.len() != slides.patches.len() * slides.state {
            return Ok(false);
        }
        slides.slips.write_reals(0, states)?;
        Ok(true)
    }
}
