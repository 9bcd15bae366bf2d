//! From the plan of a step to its kernels: the share of each subdomain and each device in a task.

use crate::device::{Accesses, Device};
use crate::solver::arrays::params::Level;
use crate::solver::error::StepError;
use crate::solver::parts::Parts;
use crate::solver::plan::accesses::{self, OfPart};
use crate::solver::plan::phase::Phase;
use crate::solver::plan::task::{Share, Side, Task};
use crate::solver::step::stream::{Lists, blocks};
use crate::solver::subdomain::Subdomain;

impl Parts {
    /// Whether a phase has work to do on a level in this process.
    pub(crate) fn has(&self, phase: Phase, level: usize) -> bool {
        if phase == Phase::Exchange {
            // The same in all processes.
            return !self.exchanged.is_empty();
        }
        self.here.iter().any(|subdomain| subdomain.has(phase, level))
    }

    /// The shares of a task: the lanes of communication, or each subdomain. Edge blocks come first if other subdomains wait for them.
    pub(crate) fn shares(&self, task: Task) -> Vec<Share> {
        let all = |side: Side| (0..self.here.len()).map(move |part| Share::Part(part, side));
        let apart = self.division.is_some()
            && Phase::STREAMING[..4].contains(&task.phase)
            && self.first().together(task.level) != Some(task.phase);
        match &self.division {
            Some(division) if task.phase.crosses() && division.processes.are_several() => vec![Share::Processes],
            Some(division) if task.phase.crosses() => (0..division.lanes(task)).map(Share::Lane).collect(),
            _ if apart => all(Side::Edge).chain(all(Side::Inside)).collect(),
            _ => all(Side::All).collect(),
        }
    }

    /// The device that runs a share.
    pub(crate) fn device(&self, task: Task, share: Share) -> &Device {
        let part = match (share, &self.division) {
            (Share::Part(part, _), _) => part,
            (Share::Lane(lane), Some(division)) => division.ends(task, lane).0,
            (Share::Lane(_), None) | (Share::Processes, _) => 0,
        };
        self.here[part].program.device()
    }

    /// Runs a share of a task.
    pub(crate) fn run(&mut self, task: Task, share: Share, levels: &[Level], end: f64) -> Result<(), StepError> {
        match share {
            Share::Processes if task.phase == Phase::HaloSaved => self.exchange_saved(task.level),
            Share::Processes => self.exchange(task.level, levels[task.level].current),
            Share::Lane(lane) if task.phase == Phase::HaloSaved => self.cross_saved(task.level, lane),
            Share::Lane(lane) => self.cross(task.level, lane, levels[task.level].current),
            Share::Part(part, _) if task.phase == Phase::Move => {
                self.here[part].move_solids(task.level, end, &levels[task.level])
            }
            Share::Part(part, _) if task.phase == Phase::Exchange => {
                if part == 0 {
                    self.left.push(task.level);
                }
                self.here[part].leave_exchanges(task.level, &levels[task.level])
            }
            Share::Part(part, side) => self.here[part].run(task, side, levels),
        }
    }

    /// What a share of a task reads and writes.
    pub(crate) fn accesses(&self, task: Task, share: Share) -> Accesses {
        let parts = self.here.len();
        match (share, &self.division) {
            (Share::Lane(lane), Some(division)) => accesses::of_lane(task, division.ends(task, lane), parts),
            // Communication between processes is not recorded.
            (Share::Lane(_), None) | (Share::Processes, _) => Accesses::default(),
            (Share::Part(part, side), _) => {
                accesses::of_part(task, side, self.here[part].together(task.level), OfPart { part, parts })
            }
        }
    }
}

impl Subdomain {
    /// Whether a phase has work to do on a level.
    pub(crate) fn has(&self, phase: Phase, level: usize) -> bool {
        match phase {
            Phase::Prescribe => self.prescribed.as_ref().is_some_and(|prescribed| prescribed.has(level)),
            Phase::Move => self.has_motions(level),
            // The tasks of a step are listed before its solids move. During its second half, a finer level may have solids in other blocks.
            Phase::StreamCollideSolid if self.has_motions(level) => true,
            Phase::Tick => self.prescribed.is_some(),
            Phase::Restrict | Phase::Send | Phase::Prolong => self.grid.forest().holds(),
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
                let edges = self.edges.as_ref().map(|edges| (edges, Side::All));
                !blocks(Lists { grid, owned, edges, bodies, inbox }, phase, level).is_empty()
            }
        }
    }

    /// Whether solids of a level move.
    fn has_motions(&self, level: usize) -> bool {
        self.bodies.as_ref().is_some_and(|bodies| bodies.cutters.solids.motions(level).next().is_some())
    }

    /// Runs a task on some of the blocks.
    pub(crate) fn run(&mut self, task: Task, side: Side, levels: &[Level]) -> Result<(), StepError> {
        let Task { phase, level, start, half, .. } = task;
        match phase {
            Phase::Prescribe => Ok(self.prescribe(level, half)?),
            Phase::Tick => {
                let manifest = self.program.manifest();
                self.prescribed.as_mut().map_or(Ok(()), |prescribed| Ok(prescribed.tick(manifest)?))
            }
            Phase::Move | Phase::Exchange | Phase::Halo | Phase::HaloSaved => {
                unreachable!("whoever has all parts does that")
            }
            Phase::ToFine | Phase::ToFineWalls | Phase::ToCoarse | Phase::ToCoarseWalls => {
                self.exchange_inbox(phase, levels, level, start)
            }
            Phase::Expose => self.expose(&levels[level], level, start),
            Phase::ExposeStored => self.expose_stored(&levels[level], level),
            Phase::ExposeAcross => self.expose_across(levels, level, start),
            Phase::Restrict => self.restrict(levels, level - 1),
            Phase::Send => self.send(levels, level),
            Phase::Prolong => self.prolong(levels, level + 1),
            _ => self.stream_collide((phase, side), &levels[level], level, start),
        }
    }
}
