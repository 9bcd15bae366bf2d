//! Packet couplings: the exchange between levels through the inbox.

use crate::solver::arrays::params::Level as Time;
use crate::solver::error::StepError;
use crate::solver::plan::phase::Phase;
use crate::solver::step::stream::{Lists, blocks};
use crate::solver::subdomain::Subdomain;

impl Subdomain {
    /// Writes to the inbox what a level sends to the next finer level for both of its steps, or what it receives from that level after the
    /// first step; `start`: whether the step of the level is itself the first of two.
    pub(crate) fn exchange_inbox(
        &mut self,
        phase: Phase,
        levels: &[Time],
        level: usize,
        start: bool,
    ) -> Result<(), StepError> {
        // The inbox itself lists the cells for phases that work on cells.
        let lists = Lists { grid: &self.grid, owned: self.owned.as_ref(), edges: None, bodies: None, inbox: None };
        let ids = blocks(lists, phase, level);
        let Some(inbox) = &mut self.inbox else { unreachable!("packets cross through the inbox") };
        let around = (&self.program, &self.grid, &self.walls);
        Ok(inbox.exchange(around, &self.fields.populations, levels, (phase, level, start), ids)?)
    }
}
