//! Ghost couplings: the exchange between levels besides streaming, and the data of covered blocks.
//!
//! Blocks next to a coarser block end in layers of ghosts, which stand for coarse cells. A refined block next to a leaf is covered and has
//! data on its own level: cells that stream and collide where the ghosts are, and one more layer of averages. A step of level `l`, in the
//! order of [`step`](crate::solver::step):
//!
//! 1. its blocks and the covered blocks of level `l` stream and collide; those at refinement interfaces save the populations that have
//!    streamed in
//! 2. in the second of two steps: *restrict* averages into level `l - 1`, which has streamed by then
//! 3. the second step of level `l + 1`, which averages into level `l` in the same way
//! 4. *send*: the saved populations become those from which ghosts are interpolated, in place
//! 5. *prolong*: ghosts of level `l + 1`, which collide like all other cells
//!
//! In several subdomains, the owner of the first descendant leaf owns a covered block. Saved populations are exchanged before 2 and 5
//! ([`halo`](crate::solver::halo)).

use lbm_bundle::mesh::Group;

use crate::kernels;
use crate::solver::arrays::fields::Fields;
use crate::solver::arrays::params::LevelState;
use crate::solver::error::StepError;
use crate::solver::plan::task::PopulationSet;
use crate::solver::subdomain::{Subdomain, own_level};

impl Subdomain {
    /// Averages over cells of the next finer level, into the covered blocks of a level that has streamed.
    pub(super) fn restrict(&mut self, levels: &[LevelState], level: usize) -> Result<(), StepError> {
        let LevelState { params, current } = &levels[level];
        let (tables, listed) = (self.grid.tables(), self.own_level(level));
        let Fields { populations, saved, .. } = &mut self.fields;
        self.program.launch(kernels::Restrict {
            ids: tables.covered.slice(listed.covered),
            sides: &tables.sides,
            child_slots: &tables.child_slots,
            rows: &tables.rows,
            first_covered: self.grid.forest().pool().slots as i32,
            saved,
            dst: &mut populations[current.other().index()],
            params: params.packed(),
        })?;
        Ok(())
    }

    /// Computes the populations from which ghosts are interpolated, from those that have streamed in on a level.
    pub(super) fn send(&mut self, levels: &[LevelState], level: usize) -> Result<(), StepError> {
        let params = &levels[level].params;
        let (tables, listed) = (self.grid.tables(), self.own_level(level));
        let lists = [
            tables.leaves.slice(listed.group(Group::Jump)),
            tables.leaves.slice(listed.group(Group::Both)),
            tables.covered.slice(listed.covered),
        ];
        for ids in lists {
            self.program.launch(kernels::Send {
                ids,
                neighbours: &tables.neighbours,
                ghosts: self.grid.ghosts(),
                saved: &mut self.fields.saved,
                params: params.packed(),
            })?;
        }
        Ok(())
    }

    /// Interpolates the ghosts of a level.
    pub(super) fn prolong(&mut self, levels: &[LevelState], level: usize) -> Result<(), StepError> {
        let LevelState { params, current } = &levels[level];
        let (tables, listed) = (self.grid.tables(), self.own_level(level));
        let Fields { populations, saved, .. } = &mut self.fields;
        for group in [Group::Jump, Group::Both] {
            self.program.launch(kernels::Prolong {
                ids: tables.leaves.slice(listed.group(group)),
                neighbours: &tables.neighbours,
                sides: &tables.sides,
                uppers: &tables.uppers,
                rows: &tables.rows,
                first_covered: self.grid.forest().pool().slots as i32,
                saved,
                dst: &mut populations[current.index()],
                params: params.packed(),
            })?;
        }
        Ok(())
    }

    /// Fills the covered blocks of a level from their children: all cells if `whole`, otherwise those that no step computes. `current`: the
    /// current set of each level.
    pub(crate) fn fill_covered(
        &mut self,
        current: &[PopulationSet],
        level: usize,
        whole: bool,
    ) -> Result<(), StepError> {
        let tables = self.grid.tables();
        let [populations_0, populations_1] = &mut self.fields.populations;
        self.program.launch(kernels::Hold {
            ids: tables.covered.slice(own_level(&self.grid, self.owned.as_ref(), level).covered),
            sides: &tables.sides,
            child_slots: &tables.child_slots,
            first_covered: self.grid.forest().pool().slots as i32,
            whole: i32::from(whole),
            sets: (current[level].index() | current[level + 1].index() << 1) as i32,
            populations_0,
            populations_1,
        })?;
        Ok(())
    }
}
