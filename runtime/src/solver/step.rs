//! The time step.
//!
//! A step of the grid is one of its coarsest level. Level `l` takes `2^l` of them, in an order in which two sets of populations
//! are all that is needed (`lbm_dsl::model::levels` in the compiler has the rule):
//!
//! ```text
//! advance(l):  to fine            what level l sends to level l + 1 for both of its steps ──▶ inbox of l + 1
//!              advance(l + 1)     its first step in this one
//!              to coarse          what has come out of level l + 1 ──▶ inbox of l
//!              stream, collide    level l: reads one set and the inbox, writes the other set
//!              restrict           ghosts: means of level l - 1, which has streamed, in the second of two steps
//!              advance(l + 1)     its second step
//!              send, prolong      ghosts: of level l + 1, from level l
//!              exchange the two sets of level l
//! ```
//!
//! A coupling of packets has an inbox and no ghosts, a coupling of ghosts no inbox; phases that a grid has no blocks for do nothing.

use super::StepError;
use super::setup::Params;
use super::subdomain::Subdomain;
use super::timing::{Phase, Timings};

/// A level in the course of time.
pub(super) struct Level {
    /// The method's parameters on it.
    pub(super) params: Params,
    /// Which of the two sets of populations is current.
    pub(super) current: usize,
}

/// How far a flow has come: the same on all devices.
pub(super) struct Stepper {
    /// Levels that there may be, the coarsest first.
    pub(super) levels: Vec<Level>,
    /// Steps done.
    pub(super) step: u64,
}

impl Stepper {
    /// One step of the grid; where its phases are timed, with marks around them.
    pub(super) fn advance(&mut self, subdomain: &mut Subdomain, timed: Option<&mut Timings>) -> Result<(), StepError> {
        let mut step = Step { subdomain, levels: &mut self.levels, timed };
        step.advance(0, false)?;
        if let Some(timings) = step.timed {
            timings.sampled();
        }
        self.step += 1;
        Ok(())
    }

    /// Which set of populations is current on each level.
    pub(super) fn current(&self) -> Vec<usize> {
        self.levels.iter().map(|level| level.current).collect()
    }
}

/// A step that is being taken.
struct Step<'a> {
    subdomain: &'a mut Subdomain,
    levels: &'a mut [Level],
    timed: Option<&'a mut Timings>,
}

impl Step<'_> {
    /// One step of a level and all finer ones; `start`: the first of the two in a step of the coarser level.
    fn advance(&mut self, level: usize, start: bool) -> Result<(), StepError> {
        let finer = level + 1 < self.subdomain.grid.levels().len();
        let second = level > 0 && !start;
        if finer {
            self.side_by_side(&Phase::TO_FINE, level, start)?;
            self.advance(level + 1, true)?;
            self.side_by_side(&Phase::TO_COARSE, level, start)?;
        }
        self.side_by_side(&Phase::STREAMING, level, start)?;
        self.in_turn(&Phase::STREAMING_AGAIN, level, start)?;
        if second {
            self.in_turn(&[Phase::Restrict], level, start)?;
        }
        if finer {
            self.advance(level + 1, false)?;
            self.in_turn(&[Phase::Send, Phase::Prolong], level, start)?;
        }
        self.levels[level].current = 1 - self.levels[level].current;
        Ok(())
    }

    /// Phases that depend on those before them.
    fn in_turn(&mut self, phases: &[Phase], level: usize, start: bool) -> Result<(), StepError> {
        phases.iter().try_for_each(|phase| self.side_by_side(&[*phase], level, start))
    }

    /// Phases that do not depend on each other.
    fn side_by_side(&mut self, phases: &[Phase], level: usize, start: bool) -> Result<(), StepError> {
        let device = self.subdomain.program.device().clone();
        let phases: Vec<Phase> = phases.iter().copied().filter(|phase| self.subdomain.has(*phase, level)).collect();
        device.side_by_side(&phases, |phase| {
            let from = self.timed.is_some().then(|| device.mark()).transpose()?;
            self.subdomain.run(*phase, self.levels, level, start)?;
            if let (Some(from), Some(timings)) = (from, &mut self.timed) {
                timings.sample(*phase, from, device.mark()?);
            }
            Ok(())
        })
    }
}
