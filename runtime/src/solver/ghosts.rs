//! Couplings of ghosts: what crosses between levels beside streaming, and what refined blocks hold.
//!
//! Blocks that have a coarser one beside them end in layers of ghosts, which stand for coarse cells; a refined block beside a
//! leaf holds data on its own level: cells that stream and collide where the ghosts are, and one more layer of means. A step of
//! level `l`, in the order of [`step`](super::step):
//!
//! 1. stream and collide its blocks, and what refined blocks hold of it; those at level jumps keep what has streamed in
//! 2. in the second of two steps: *restrict*, the means of level `l - 1`, which has streamed by then
//! 3. the second step of level `l + 1`, whose means are those of level `l` now
//! 4. *send*: what is to be interpolated, in place
//! 5. *prolong*: ghosts of level `l + 1`, which collide like all others

use lbm_bundle::mesh::Group;

use super::StepError;
use super::fields::Fields;
use super::step::Level;
use super::subdomain::Subdomain;
use crate::device::{Buffer, Stored};
use crate::kernels::{self, KernelError, Program};
use crate::mesh::forest::{Level as Listed, Tables};

impl Subdomain {
    /// Means of a level that has streamed, over cells of the next finer one.
    pub(super) fn restrict(&mut self, levels: &[Level], level: usize) -> Result<(), StepError> {
        let Level { params, current } = &levels[level];
        let (tables, listed) = (self.grid.tables(), &self.grid.levels()[level]);
        let Fields { populations, saved, .. } = &mut self.fields;
        self.program.launch(kernels::Restrict {
            ids: tables.held.part(listed.held.clone()),
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
    pub(super) fn send(&mut self, levels: &[Level], level: usize) -> Result<(), StepError> {
        let params = &levels[level].params;
        let (tables, listed) = (self.grid.tables(), &self.grid.levels()[level]);
        let lists = [
            tables.leaves.part(listed.group(Group::Jump)),
            tables.leaves.part(listed.group(Group::Both)),
            tables.held.part(listed.held.clone()),
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
    pub(super) fn prolong(&mut self, levels: &[Level], level: usize) -> Result<(), StepError> {
        let Level { params, current } = &levels[level];
        let (tables, listed) = (self.grid.tables(), &self.grid.levels()[level]);
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

    /// All that refined blocks hold, from the leaves, after these have been set.
    pub(super) fn hold_all(&mut self, levels: &[Level]) -> Result<(), StepError> {
        if !self.grid.forest().holds() {
            return Ok(());
        }
        let current: Vec<usize> = levels.iter().map(|level| level.current).collect();
        let first = self.grid.forest().pool().slots;
        let (tables, listed) = (self.grid.tables(), self.grid.levels());
        Ok(hold(&self.program, &mut self.fields.populations, &current, tables, listed, first, true)?)
    }
}

/// What refined blocks hold from the blocks that refine them, finest first; all of it, or what no step gives. Their slots begin
/// at `first`.
pub(super) fn hold(
    program: &Program,
    sets: &mut [Buffer<Stored>; 2],
    current: &[usize],
    tables: &Tables,
    levels: &[Listed],
    first: usize,
    whole: bool,
) -> Result<(), KernelError> {
    for (level, listed) in levels.iter().enumerate().rev() {
        // Nothing is finer than the finest level.
        if listed.held.is_empty() {
            continue;
        }
        let [zero, one] = &mut *sets;
        program.launch(kernels::Hold {
            ids: tables.held.part(listed.held.clone()),
            sides: &tables.sides,
            parts: &tables.parts,
            held: first as i32,
            whole: i32::from(whole),
            sets: (current[level] | current[level + 1] << 1) as i32,
            populations_0: zero,
            populations_1: one,
        })?;
    }
    Ok(())
}
