//! From the plan of a step to its kernels: the subtasks of a task, one for each subdomain or lane of communication.

use crate::device::{Accesses, Device};
use crate::solver::arrays::params::LevelState;
use crate::solver::decomposition::{Division, Subdomains};
use crate::solver::error::StepError;
use crate::solver::plan::accesses::{self, OfSubdomain};
use crate::solver::plan::phase::Phase;
use crate::solver::plan::task::{Side, Subtask, Task};

impl Subdomains {
    /// Whether a phase has work to do on a level in this process.
    pub(crate) fn has(&self, phase: Phase, level: usize) -> bool {
        if phase == Phase::Exchange {
            // The same in all processes.
            return !self.exchanged.is_empty() || self.first().has_free(level);
        }
        self.here.iter().any(|subdomain| subdomain.has(phase, level))
    }

    /// The subtasks of a task: the lanes of communication, or each subdomain. Edge blocks come first if other subdomains wait for them.
    pub(crate) fn subtasks(&self, task: Task) -> Vec<Subtask> {
        let all = |side: Side| (0..self.here.len()).map(move |index| Subtask::Subdomain(index, side));
        let apart = self.division.is_some()
            && Phase::STREAMING[..4].contains(&task.phase)
            && self.first().together(task.level) != Some(task.phase);
        match &self.division {
            Some(division) if task.phase.crosses() && division.is_by_host() => vec![Subtask::Processes],
            Some(division) if task.phase.crosses() => division.lanes(task).into_iter().map(Subtask::Lane).collect(),
            _ if apart => all(Side::Edge).chain(all(Side::Inside)).collect(),
            _ => all(Side::All).collect(),
        }
    }

    /// The device that runs a subtask.
    pub(crate) fn device(&self, task: Task, subtask: Subtask) -> &Device {
        let index = match (subtask, &self.division) {
            (Subtask::Subdomain(index, _), _) => index,
            (Subtask::Lane(lane), Some(division)) => {
                let (from, to) = division.ends(task, lane);
                division.local_index(from).or(division.local_index(to)).unwrap_or(0)
            }
            (Subtask::Lane(_), None) | (Subtask::Processes, _) => 0,
        };
        self.here[index].program().device()
    }

    /// Runs a subtask.
    pub(crate) fn run(&mut self, task: Task, subtask: Subtask, levels: &[LevelState]) -> Result<(), StepError> {
        match subtask {
            Subtask::Processes if task.phase == Phase::HaloSaved => self.exchange_saved(task.level),
            Subtask::Processes => self.exchange(task.level, levels[task.level].current),
            Subtask::Lane(lane) if task.phase == Phase::HaloSaved => self.cross_saved(lane),
            Subtask::Lane(lane) => self.cross(lane, levels[task.level].current),
            Subtask::Subdomain(index, _) if task.phase == Phase::Move => {
                self.push_bodies(task.level, task.end())?;
                self.here[index].move_solids(task.level, task.end())
            }
            Subtask::Subdomain(index, _) if task.phase == Phase::Refill => {
                self.here[index].refill((task.level, task.link_set(task.level)), &levels[task.level])
            }
            Subtask::Subdomain(index, _) if task.phase == Phase::Exchange => {
                if index == 0 {
                    self.left.push(task.level_step());
                }
                let at = (task.level, task.link_set(task.level));
                self.here[index].leave_exchanges(at, &levels[task.level])
            }
            Subtask::Subdomain(index, side) => self.here[index].run(task, side, levels),
        }
    }

    /// What a subtask reads and writes.
    pub(crate) fn accesses(&self, task: Task, subtask: Subtask) -> Accesses {
        let count = self.count();
        match (subtask, &self.division) {
            (Subtask::Lane(lane), Some(division)) => {
                let (from, to) = division.ends(task, lane);
                let is_here = division.local_index(from).is_some() && division.local_index(to).is_some();
                accesses::of_lane(task, (from, to), count, is_here)
            }
            // What goes through the host between processes is not recorded.
            (Subtask::Lane(_), None) | (Subtask::Processes, _) => Accesses::default(),
            (Subtask::Subdomain(index, side), _) => {
                let streams = self.here[index].streams(task.level);
                let index = index + self.division.as_ref().map_or(0, Division::first);
                accesses::of_subdomain(task, side, streams, OfSubdomain { index, count })
            }
        }
    }
}
