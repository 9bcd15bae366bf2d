//! From the plan of a step to its kernels: the share of each subdomain and each device in a task.

use crate::device::{Accesses, Device};
use crate::solver::arrays::params::LevelState;
use crate::solver::error::StepError;
use crate::solver::parts::Parts;
use crate::solver::plan::accesses::{self, OfPart};
use crate::solver::plan::phase::Phase;
use crate::solver::plan::task::{Share, Side, Task};

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
        self.here[part].program().device()
    }

    /// Runs a share of a task.
    pub(crate) fn run(&mut self, task: Task, share: Share, levels: &[LevelState], end: f64) -> Result<(), StepError> {
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
