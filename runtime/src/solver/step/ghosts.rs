//! Couplings of ghosts: what crosses between levels beside streaming, and what refined blocks hold.
//!
//! Blocks that have a coarser one beside them end in layers of ghosts, which stand for coarse cells; a refined block beside a
//! leaf holds data on its own level: cells that stream and collide where the ghosts are, and one more layer of means. A step of
//! level `l`, in the order of [`step`](crate::solver::step):
//!
//! 1. stream and collide its blocks, and what refined blocks hold of it; those at level jumps keep what has streamed in
//! 2. in the second of two steps: *restrict*, the means of level `l - 1`, which has streamed by then
//! 3. the second step of level `l + 1`, whose means are those of level `l` now
//! 4. *send*: what is to be interpolated, in place
//! 5. *prolong*: ghosts of level `l + 1`, which collide like all others
//!
//! In several parts, each has what is held where the first of the leaves beneath is its own. What others' blocks have saved crosses before 2 and 5
//! ([`halo`](crate::solver::halo)).

use lbm_bundle::mesh::Group;

use crate::kernels;
use crate::solver::arrays::fields::Fields;
use crate::solver::arrays::params::Level;
use crate::solver::error::StepError;
use crate::solver::halo::transfer;
use crate::solver::parts::Parts;
use crate::solver::subdomain::{Subdomain, own_level};

impl Subdomain {
    /// Means of a level that has streamed, over cells of the next finer one.
    pub(crate) fn restrict(&mut self, levels: &[Level], level: usize) -> Result<(), StepError> {
        let Level { params, current } = &levels[level];
        let (tables, listed) = (self.grid.tables(), self.own_level(level));
        let Fields { populations, saved, .. } = &mut self.fields;
        self.program.launch(kernels::Restrict {
            ids: tables.held.part(listed.held),
            sides: &tables.sides,
            parts: &tables.parts,
            rows: &tables.rows,
            held: self.grid.forest().pool().slots as i32,
            saved,
            dst: &mut populations[1 - current],
            params: params.packed(),
        })?;
        Ok(())
    }

    /// From what has streamed in on a level to what is interpolated.
    pub(crate) fn send(&mut self, levels: &[Level], level: usize) -> Result<(), StepError> {
        let params = &levels[level].params;
        let (tables, listed) = (self.grid.tables(), self.own_level(level));
        let lists = [
            tables.leaves.part(listed.group(Group::Jump)),
            tables.leaves.part(listed.group(Group::Both)),
            tables.held.part(listed.held),
        ];
        for ids in lists {
            self.program.launch(kernels::Send {
                ids,
                neighbours: &tables.neighbours,
                sides: &tables.sides,
                rows: &tables.rows,
                held: self.grid.forest().pool().slots as i32,
                saved: &mut self.fields.saved,
                params: params.packed(),
            })?;
        }
        Ok(())
    }

    /// Ghosts of a level.
    pub(crate) fn prolong(&mut self, levels: &[Level], level: usize) -> Result<(), StepError> {
        let Level { params, current } = &levels[level];
        let (tables, listed) = (self.grid.tables(), self.own_level(level));
        let Fields { populations, saved, .. } = &mut self.fields;
        for group in [Group::Jump, Group::Both] {
            self.program.launch(kernels::Prolong {
                ids: tables.leaves.part(listed.group(group)),
                neighbours: &tables.neighbours,
                sides: &tables.sides,
                uppers: &tables.uppers,
                rows: &tables.rows,
                held: self.grid.forest().pool().slots as i32,
                saved,
                dst: &mut populations[*current],
                params: params.packed(),
            })?;
        }
        Ok(())
    }

    /// What refined blocks of a level hold from the blocks that refine them: all of it, or what no step gives. `current`: the current set of
    /// each level.
    pub(crate) fn hold(&mut self, current: &[usize], level: usize, whole: bool) -> Result<(), StepError> {
        let tables = self.grid.tables();
        let [populations_0, populations_1] = &mut self.fields.populations;
        self.program.launch(kernels::Hold {
            ids: tables.held.part(own_level(&self.grid, self.owned.as_ref(), level).held),
            sides: &tables.sides,
            parts: &tables.parts,
            held: self.grid.forest().pool().slots as i32,
            whole: i32::from(whole),
            sets: (current[level] | current[level + 1] << 1) as i32,
            populations_0,
            populations_1,
        })?;
        Ok(())
    }
}

impl Parts {
    /// What refined blocks hold, from the blocks that refine them, finest first: all of it, or what no step gives.
    pub(crate) fn hold(&mut self, current: &[usize], whole: bool) -> Result<(), StepError> {
        let grid = &self.first().grid;
        if !grid.forest().holds() {
            return Ok(());
        }
        let levels = grid.levels().len();
        let families = self.partition().map_or(Ok(vec![]), |partition| transfer::families(grid, partition))?;
        // Nothing is finer than the finest level.
        for level in (0..levels.saturating_sub(1)).rev() {
            let first = families.partition_point(|family| family.level <= level);
            let end = families.partition_point(|family| family.level <= level + 1);
            self.send_populations(&families[first..end], current)?;
            self.iter_mut().try_for_each(|subdomain| subdomain.hold(current, level, whole))?;
        }
        Ok(())
    }
}
