//! Couplings of ghosts: what crosses between levels beside streaming, and what refined blocks hold.
//!
//! Blocks that have a coarser one beside them end in layers of ghosts, which stand for coarse cells; a refined block beside a
//! leaf holds data on its own level: cells that stream and collide where the ghosts are, and one more layer of means. A step of
//! level `l`, in the order of [`Simulation::advance_level`]:
//!
//! 1. stream and collide its blocks, and what refined blocks hold of it; those at level jumps keep what has streamed in
//! 2. in the second of two steps: *restrict*, the means of level `l - 1`, which has streamed by then
//! 3. the second step of level `l + 1`, whose means are those of level `l` now
//! 4. *send*: what is to be interpolated, in place
//! 5. *prolong*: ghosts of level `l + 1`, which collide like all others

use lbm_bundle::Role;
use lbm_bundle::mesh::Group;

use super::timing::Phase;
use super::{Level, Simulation, StepError, launch};
use crate::device::{Buffer, Device};
use crate::fields::Fields;
use crate::kernels::{Given, KernelError, Program};
use crate::mesh::forest::{Level as Listed, Tables};

impl Simulation {
    /// The phases of a step of a level between the two steps of the next finer one and after them; `between`: before the second.
    pub(super) fn exchange_ghosts(
        &mut self,
        level: usize,
        between: bool,
        start: bool,
        timed: Option<&Device>,
    ) -> Result<(), StepError> {
        if !self.grid.forest().holds() {
            return Ok(());
        }
        let finer = level + 1 < self.grid.levels().len();
        let phases: &[Phase] = match between {
            true if level > 0 && !start => &[Phase::Restrict],
            false if finer => &[Phase::Send, Phase::Prolong],
            _ => &[],
        };
        for phase in phases {
            let from = timed.map(Device::mark).transpose()?;
            match phase {
                Phase::Restrict => self.restrict(level - 1)?,
                Phase::Send => self.send(level)?,
                _ => self.prolong(level + 1)?,
            }
            if let (Some(from), Some(device)) = (from, timed) {
                self.timings.sample(*phase, from, device.mark()?);
            }
        }
        Ok(())
    }

    /// Means of a level that has streamed, over cells of the next finer one.
    fn restrict(&mut self, level: usize) -> Result<(), StepError> {
        let Level { params, current } = &self.levels[level];
        let (tables, listed) = (self.grid.tables(), &self.grid.levels()[level]);
        let Fields { populations, saved, .. } = &mut self.fields;
        let count = listed.held.len();
        let given = vec![
            ("ids", Given::ReadFrom(&tables.held, listed.held.start)),
            ("count", Given::Int(count as i32)),
            ("sides", Given::Read(&tables.sides)),
            ("parts", Given::Read(&tables.parts)),
            ("rows", Given::Read(&tables.rows)),
            ("held", Given::Int(self.grid.forest().pool().slots as i32)),
            ("saved", Given::Write(saved)),
            ("dst", Given::Write(&mut populations[1 - current])),
        ];
        launch(&self.program, Role::Restrict, count, given, params)
    }

    /// From what has streamed in on a level to what is interpolated.
    fn send(&mut self, level: usize) -> Result<(), StepError> {
        let params = &self.levels[level].params;
        let (tables, listed) = (self.grid.tables(), &self.grid.levels()[level]);
        let lists = [
            (&tables.leaves, listed.group(Group::Jump)),
            (&tables.leaves, listed.group(Group::Both)),
            (&tables.held, listed.held.clone()),
        ];
        for (ids, range) in lists {
            let count = range.len();
            let given = vec![
                ("ids", Given::ReadFrom(ids, range.start)),
                ("count", Given::Int(count as i32)),
                ("neighbours", Given::Read(&tables.neighbours)),
                ("sides", Given::Read(&tables.sides)),
                ("rows", Given::Read(&tables.rows)),
                ("held", Given::Int(self.grid.forest().pool().slots as i32)),
                ("saved", Given::Write(&mut self.fields.saved)),
            ];
            launch(&self.program, Role::Send, count, given, params)?;
        }
        Ok(())
    }

    /// Ghosts of a level.
    fn prolong(&mut self, level: usize) -> Result<(), StepError> {
        let Level { params, current } = &self.levels[level];
        let (tables, listed) = (self.grid.tables(), &self.grid.levels()[level]);
        let Fields { populations, saved, .. } = &mut self.fields;
        for group in [Group::Jump, Group::Both] {
            let range = listed.group(group);
            let count = range.len();
            let given = vec![
                ("ids", Given::ReadFrom(&tables.leaves, range.start)),
                ("count", Given::Int(count as i32)),
                ("neighbours", Given::Read(&tables.neighbours)),
                ("sides", Given::Read(&tables.sides)),
                ("uppers", Given::Read(&tables.uppers)),
                ("rows", Given::Read(&tables.rows)),
                ("held", Given::Int(self.grid.forest().pool().slots as i32)),
                ("saved", Given::Read(saved)),
                ("dst", Given::Write(&mut populations[*current])),
            ];
            launch(&self.program, Role::Prolong, count, given, params)?;
        }
        Ok(())
    }

    /// All that refined blocks hold, from the leaves, after these have been set.
    pub(super) fn hold_all(&mut self) -> Result<(), StepError> {
        if !self.grid.forest().holds() {
            return Ok(());
        }
        let current: Vec<usize> = self.levels.iter().map(|level| level.current).collect();
        let first = self.grid.forest().pool().slots;
        let (tables, listed) = (self.grid.tables(), self.grid.levels());
        Ok(hold(&self.program, &mut self.fields.populations, &current, tables, listed, first, true)?)
    }
}

/// What refined blocks hold from the blocks that refine them, finest first; all of it, or what no step gives. Their slots begin
/// at `first`.
pub(super) fn hold(
    program: &Program,
    sets: &mut [Buffer; 2],
    current: &[usize],
    tables: &Tables,
    levels: &[Listed],
    first: usize,
    whole: bool,
) -> Result<(), KernelError> {
    for (level, listed) in levels.iter().enumerate().rev() {
        let count = listed.held.len();
        if count == 0 {
            continue;
        }
        let [zero, one] = &mut *sets;
        let given = vec![
            ("ids", Given::ReadFrom(&tables.held, listed.held.start)),
            ("count", Given::Int(count as i32)),
            ("sides", Given::Read(&tables.sides)),
            ("parts", Given::Read(&tables.parts)),
            ("held", Given::Int(first as i32)),
            ("whole", Given::Int(i32::from(whole))),
            ("sets", Given::Int((current[level] | current[level + 1] << 1) as i32)),
            ("populations_0", Given::Write(zero)),
            ("populations_1", Given::Write(one)),
        ];
        program.launch(Role::Hold, count, given)?;
    }
    Ok(())
}
