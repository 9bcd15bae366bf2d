//! From a task of the step to the function that launches its kernels on the blocks of a subdomain.

use crate::kernels::KernelError;
use crate::solver::arrays::fields::Sets;
use crate::solver::arrays::params::LevelState;
use crate::solver::error::StepError;
use crate::solver::plan::accesses::Streams;
use crate::solver::plan::phase::Phase;
use crate::solver::plan::task::{Side, Task};
use crate::solver::subdomain::Subdomain;
use crate::solver::subdomain::stream::{Lists, blocks};

impl Subdomain {
    /// Whether a phase has work to do on a level.
    pub(crate) fn has(&self, phase: Phase, level: usize) -> bool {
        match phase {
            Phase::Prescribe => self.prescribed.as_ref().is_some_and(|prescribed| prescribed.has(level)),
            Phase::Move | Phase::Refill => self.has_motions(level),
            Phase::Slide => self.slides_on(level),
            Phase::BringBack => !self.own_level(level).runs().is_empty(),
            // The tasks of a step are listed before its solids move. During its second half, a finer level may have solids in other blocks.
            Phase::StreamCollideSolid if self.has_motions(level) => true,
            Phase::Tick => self.prescribed.is_some(),
            Phase::Restrict | Phase::Send | Phase::Prolong => self.grid.forest().stores_covered(),
            Phase::Exchange | Phase::Halo | Phase::HaloSaved => false,
            Phase::Expose => !self.program.manifest().shown.is_empty() && !self.own_level(level).runs().is_empty(),
            Phase::ExposeStored | Phase::ExposeAcross => {
                !self.program.manifest().shown.is_empty()
                    && self.inbox.is_some()
                    && !self.at_interfaces(level).is_empty()
            }
            _ => {
                let (grid, owned) = (&self.grid, self.owned.as_ref());
                let (bodies, inbox) = (self.bodies.as_ref(), self.inbox.as_ref());
                // The lists of solids that move may change before.
                let streamed = self.streamed.as_ref().filter(|_| !self.has_motions(level));
                let streamed = streamed.map(|streamed| (streamed, Side::All));
                !blocks(Lists { grid, owned, streamed, bodies, link_set: 0, inbox }, phase, level).is_empty()
            }
        }
    }

    /// Whether solids of a level move.
    pub(crate) fn has_motions(&self, level: usize) -> bool {
        self.bodies.as_ref().is_some_and(|bodies| bodies.moves_on(level))
    }

    /// Runs a task on some of the blocks.
    pub(crate) fn run(&mut self, task: Task, side: Side, levels: &[LevelState]) -> Result<(), StepError> {
        let Task { phase, level, start, half, .. } = task;
        match phase {
            Phase::Prescribe => Ok(self.prescribe(level, half)?),
            Phase::Tick => {
                let manifest = self.program.manifest();
                self.prescribed.as_mut().map_or(Ok(()), |prescribed| Ok(prescribed.tick(manifest)?))
            }
            Phase::Move | Phase::Refill | Phase::Exchange | Phase::Halo | Phase::HaloSaved => {
                unreachable!("whoever has all subdomains does that")
            }
            Phase::ToFine
            | Phase::ToFineWalls
            | Phase::ToCoarseBefore
            | Phase::ToCoarseWallsBefore
            | Phase::ToCoarse
            | Phase::ToCoarseWalls => self.exchange_inbox(phase, levels, level, start),
            Phase::BringBack => self.bring_back(&levels[level], level),
            Phase::Slide => self.slide(level, &levels[level]),
            Phase::Expose => self.expose(task, &levels[level]),
            Phase::ExposeStored => self.expose_stored(&levels[level], level),
            Phase::ExposeAcross => self.expose_across(levels, level, start),
            Phase::Restrict => self.restrict(levels, level - 1),
            Phase::Send => self.send(levels, level),
            Phase::Prolong => self.prolong(levels, level + 1),
            _ => self.stream_collide((task, side), &levels[level]),
        }
    }

    /// The phase in which all blocks of a level stream in one launch, if there is one.
    pub(crate) fn together(&self, level: usize) -> Option<Phase> {
        self.inbox.as_ref().and_then(|inbox| inbox.together(level))
    }

    /// How the blocks of a level stream.
    pub(crate) fn streams(&self, level: usize) -> Streams {
        Streams {
            together: self.together(level),
            apart: self.streamed.is_some(),
            in_place: self.sets() == Sets::One && self.inbox.is_some(),
            alternates: self.alternates(level),
        }
    }

    /// Sets the clock of the time-dependent formulas to the number of completed steps of level 0.
    pub(crate) fn set_clock(&mut self, step: u64) -> Result<(), StepError> {
        self.prescribed.as_mut().map_or(Ok(()), |prescribed| Ok(prescribed.set_clock(step)?))
    }

    /// The last step, of those up to `until`, that may be taken with what has room of the recordings that walls read: the same in all subdomains.
    pub(crate) fn reach_of_recordings(&self, step: u64, until: u64) -> u64 {
        self.recordings.iter().map(|plane| plane.reach(step, until)).fold(until, u64::min)
    }

    /// Reads what walls take of recordings in the steps from one to another.
    pub(crate) fn load_recordings(&mut self, steps: [u64; 2]) -> Result<(), StepError> {
        self.prescribed.as_mut().map_or(Ok(()), |prescribed| prescribed.load(steps))
    }

    /// Evaluates the time-dependent parameters of walls for a step of a level; `half`: the time from the last tick to the middle of the
    /// step, in half steps of the level.
    pub(crate) fn prescribe(&mut self, level: usize, half: i32) -> Result<(), KernelError> {
        let Subdomain { program, prescribed: Some(prescribed), walls, .. } = self else { return Ok(()) };
        prescribed.compute(program.manifest(), (level, half), &mut walls.values)
    }
}
