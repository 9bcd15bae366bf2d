//! Steps in which the fluid moves bodies. The host integrates their motion, so such a step is recorded in parts, each of which ends where the
//! exchange of a level with its bodies is known:
//!
//! ```text
//! devices   … exchange ─┐                     ┌─ stream, collide ─┬─ refill …
//!                       │                     └─ move ────────────┘
//! host                  └─ moves the bodies ──┘
//! ```
//!
//! A body may come further than blocks are reserved for it in any step. From there on the launches of the step are made one by one, and later steps
//! are recorded again.

use crate::device::Devices;
use crate::solver::decomposition::Subdomains;
use crate::solver::decomposition::recordings::{Part, Recorded, StepInParts};
use crate::solver::error::StepError;
use crate::solver::plan::phase::Phase;
use crate::solver::plan::task::Task;
use crate::solver::simulation::record::capture;
use crate::solver::step::Stepper;
use crate::solver::subdomain::Subdomain;

impl Stepper {
    /// Advances the grid by one step, whose parts are replayed; those that have not been recorded yet are. Returns whether launches can be recorded.
    pub(super) fn advance_in_parts(
        &mut self,
        devices: &Devices,
        subdomains: &mut Subdomains,
    ) -> Result<bool, StepError> {
        let (step, current, arrays) = (self.step, self.current(), subdomains.arrays_of_moves());
        let known = subdomains.recordings.in_parts(current[0]).take();
        // Processes record the same parts: together they read what these leave.
        let is_known = subdomains.agree(known.as_ref().is_some_and(|known| known.arrays_of_moves == arrays));
        let parts = match known.filter(|_| is_known) {
            Some(known) => known.parts.into_iter().map(|part| (part.at(step), Some(part.recorded))).collect(),
            None => subdomains.parts_of(&self.tasks(subdomains)),
        };
        let (mut done, mut records, mut can_record, mut brings_back) = (vec![], true, true, false);
        for (tasks, recorded) in parts {
            let moves = tasks.iter().filter(|task| task.phase == Phase::Move);
            let moves: Vec<(usize, f64)> = moves.map(|task| (task.level, task.end())).collect();
            moves.iter().try_for_each(|(level, time)| subdomains.push_bodies(*level, *time))?;
            let is_near =
                |(_, time): &(usize, f64)| !subdomains.here.iter().any(|subdomain| subdomain.is_beyond(*time));
            let fits = records && moves.iter().all(is_near) && subdomains.foresee(&moves)? == arrays;
            records = subdomains.agree(fits);
            brings_back |= tasks.iter().any(Task::brings_coarsest_back);
            let mut run = |subdomains: &mut Subdomains| tasks.iter().try_for_each(|task| self.run(*task, subdomains));
            let recorded = match recorded {
                _ if !records => None,
                Some(recorded) => Some(recorded),
                None => {
                    let captured = capture(devices, subdomains, step, &mut run)?;
                    can_record = captured.is_some();
                    captured
                }
            };
            records = recorded.is_some();
            match recorded {
                Some(recorded) => {
                    subdomains.launch(&recorded, step)?;
                    if !moves.is_empty() {
                        subdomains.here.iter_mut().for_each(Subdomain::follow_moves);
                    }
                    done.push(Part { tasks, recorded });
                }
                None => run(subdomains)?,
            }
        }
        if records {
            *subdomains.recordings.in_parts(current[0]) = Some(StepInParts { arrays_of_moves: arrays, parts: done });
        }
        self.complete(current, brings_back);
        Ok(can_record)
    }
}

impl Subdomains {
    /// Whether the host moves solids from step to step, and the rest of steps can be recorded.
    pub(super) fn moves_by_host(&self) -> bool {
        self.here.iter().all(Subdomain::moves_by_host)
    }

    /// Which arrays moves work on, in each subdomain.
    fn arrays_of_moves(&self) -> Vec<u64> {
        self.here.iter().map(Subdomain::arrays_of_moves).collect()
    }

    /// Tells the devices what moves of levels to times do, and returns which arrays these work on.
    fn foresee(&mut self, moves: &[(usize, f64)]) -> Result<Vec<u64>, StepError> {
        self.here.iter_mut().map(|subdomain| subdomain.foresee(moves)).collect()
    }

    /// The parts of a step, which are not recorded.
    fn parts_of(&self, tasks: &[Task]) -> Vec<(Vec<Task>, Option<Recorded>)> {
        let gives = |task: &Task| task.phase == Phase::Exchange && self.first().has_free(task.level);
        let parts = tasks.chunk_by(|before, _| !gives(before));
        parts.map(|tasks| (tasks.to_vec(), None)).collect()
    }
}
