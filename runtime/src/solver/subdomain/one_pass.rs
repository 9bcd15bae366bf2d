//! Blocks that stream and collide in one pass: on a GPU, of a method that reads values of neighbours.
//!
//! The kernel of such a block computes the values that its cells and the cells around it expose from the populations of the neighbouring
//! blocks. So all its neighbours must be leaves of its level without cut links. The other blocks read exposed values from memory, so only
//! they and the blocks around them store these before.

use std::ops::Range;

use lbm_bundle::Role;
use lbm_bundle::mesh::Group;

use crate::device::{Buffer, DeviceError, Int, Slice};
use crate::kernels::Program;
use crate::mesh::Grid;
use crate::solver::solids::bodies::Bodies;
use crate::solver::subdomain::own_level;

/// Lists of the blocks of a whole grid that touch neither walls nor refinement interfaces.
pub(super) struct OnePass {
    list: Buffer<Int>,
    levels: Vec<Ranges>,
}

/// Where the blocks of a level are in the list.
struct Ranges {
    alone: Range<usize>,
    others: Range<usize>,
    exposed: Range<usize>,
}

impl OnePass {
    /// The lists of a grid, if the program has the kernel.
    pub(super) fn new(program: &Program, grid: &Grid, bodies: Option<&Bodies>) -> Result<Option<OnePass>, DeviceError> {
        let manifest = program.manifest();
        if manifest.kernel(Role::ExposeStreamCollide).is_none() {
            return Ok(None);
        }
        let (tables, near) = (grid.tables(), 3usize.pow(manifest.dim));
        let neighbours = tables.neighbours.read_ints(0..grid.slots() * near)?;
        let around = |slot: i32| neighbours[slot as usize * near..][..near].iter().map(|slot| *slot as usize);
        let rows = bodies.map(|bodies| bodies.rows.read_ints(0..grid.slots())).transpose()?;
        let has_links = |slot: usize| rows.as_ref().is_some_and(|rows| rows[slot] >= 0);
        let (mut list, mut levels) = (vec![], vec![]);
        for level in 0..grid.levels().len() {
            let mut inside = tables.leaves.read_ints(own_level(grid, None, level).group(Group::Interior))?;
            inside.retain(|slot| !has_links(*slot as usize));
            let (alone, others): (Vec<i32>, Vec<i32>) = inside.iter().partition(|slot| !around(**slot).any(has_links));
            let mut is_alone = vec![false; grid.slots()];
            alone.iter().for_each(|slot| is_alone[*slot as usize] = true);
            let exposed = inside.into_iter().filter(|slot| around(*slot).any(|other| !is_alone[other])).collect();
            let mut listed = |slots: Vec<i32>| {
                let first = list.len();
                list.extend(slots);
                first..list.len()
            };
            levels.push(Ranges { alone: listed(alone), others: listed(others), exposed: listed(exposed) });
        }
        Ok(Some(OnePass { list: program.device().ints(&list)?, levels }))
    }

    /// The blocks of a level that take one pass.
    pub(super) fn alone(&self, level: usize) -> Slice<'_, Int> {
        self.list.slice(self.levels[level].alone.clone())
    }

    /// The other blocks of a level that touch neither walls nor refinement interfaces.
    pub(super) fn others(&self, level: usize) -> Slice<'_, Int> {
        self.list.slice(self.levels[level].others.clone())
    }

    /// Those of both whose exposed values other blocks read from memory.
    pub(super) fn exposed(&self, level: usize) -> Slice<'_, Int> {
        self.list.slice(self.levels[level].exposed.clone())
    }
}
