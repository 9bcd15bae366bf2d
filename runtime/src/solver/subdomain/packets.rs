//! Packet couplings: the exchange between levels through the inbox.

use std::ops::Range;

use lbm_bundle::mesh::Group;

use crate::kernels;
use crate::solver::arrays::params::LevelState;
use crate::solver::error::StepError;
use crate::solver::inbox::{Around, HalfStep};
use crate::solver::plan::phase::Phase;
use crate::solver::subdomain::Subdomain;
use crate::solver::subdomain::reduce::mask;
use crate::solver::subdomain::stream::{Lists, blocks};

impl Subdomain {
    /// Writes to the inbox what a level sends to the next finer level for both of its steps, or what it receives from that level after the
    /// first step; `start`: whether the step of the level is itself the first of two.
    pub(super) fn exchange_inbox(
        &mut self,
        phase: Phase,
        levels: &[LevelState],
        level: usize,
        start: bool,
    ) -> Result<(), StepError> {
        // The inbox itself lists the cells for phases that work on cells.
        let lists = Lists {
            grid: &self.grid,
            owned: self.owned.as_ref(),
            streamed: None,
            bodies: None,
            link_set: 0,
            inbox: None,
        };
        let ids = blocks(lists, phase, level);
        let mask = mask(self.bodies.as_ref(), &self.grid);
        let Some(inbox) = &mut self.inbox else { unreachable!("packets cross through the inbox") };
        let populations = &self.fields.populations;
        let around =
            Around { program: &self.program, grid: &self.grid, walls: &self.walls, populations, sets: self.sets };
        Ok(inbox.exchange(around, levels, phase, HalfStep { level, start }, ids, mask)?)
    }

    /// Stores the values that cells of a level in blocks at interfaces expose, computed from their populations as they are stored.
    pub(super) fn expose_stored(
        &mut self,
        LevelState { params, current }: &LevelState,
        level: usize,
    ) -> Result<(), StepError> {
        for run in self.at_interfaces(level) {
            let ids = self.grid.tables().leaves.slice(run);
            let populations = &mut self.fields.populations[current.index()];
            let (sources, action) = (kernels::Sources::default(), kernels::Action::Expose { populations });
            self.program.launch(kernels::Gather { ids, sources, action, params: params.packed() })?;
        }
        Ok(())
    }

    /// Writes to the inbox the values that cells of a level read in cells of other levels; `start`: whether the step of the level is the
    /// first of two.
    pub(super) fn expose_across(&mut self, levels: &[LevelState], level: usize, start: bool) -> Result<(), StepError> {
        let runs = self.at_interfaces(level);
        let Some(inbox) = &mut self.inbox else { unreachable!("packets cross through the inbox") };
        let populations = &self.fields.populations;
        let around =
            Around { program: &self.program, grid: &self.grid, walls: &self.walls, populations, sets: self.sets };
        for run in runs {
            let ids = self.grid.tables().leaves.slice(run);
            inbox.expose_across(around, levels, HalfStep { level, start }, ids)?;
        }
        Ok(())
    }

    /// The ranges of its leaves at interfaces in the list of a level.
    pub(super) fn at_interfaces(&self, level: usize) -> Vec<Range<usize>> {
        let own = self.own_level(level);
        [Group::Jump, Group::Both].map(|group| own.group(group)).into_iter().filter(|run| !run.is_empty()).collect()
    }
}
