//! Steps in which the fluid moves bodies. The host integrates their motion, so such a step is recorded in parts, each of which ends where the
//! exchange of a level with its bodies is known:
//!
//! ```text
//! devices   … exchange ─┬─ stream, collide … ────────┬─ refill …
//!                       │                     ┌─ move ─┘
//! host                  └─ moves the bodies ──┘
//! ```
//!
//! A body may come further than blocks are reserved for it in any step. From there on the launches of the step are made one by one, as those of a
//! step whose arrays are new, and later steps are recorded again.

use crate::device::Devices;
use crate::solver::decomposition::Subdomains;
use crate::solver::decomposition::recordings::{Part, StepInParts};
use crate::solver::error::StepError;
use crate::solver::plan::phase::Phase;
use crate::solver::plan::task::Task;
use crate::solver::simulation::record::capture;
use crate::solver::step::Stepper;
use crate::solver::subdomain::Subdomain;

impl Stepper {
    /// Advances the grid by one step, whose parts are recorded if the last such step worked on the same arrays, and from then on replayed. Returns
    /// whether launches can be recorded.
    pub(super) fn advance_in_parts(
        &mut self,
        devices: &Devices,
        subdomains: &mut Subdomains,
    ) -> Result<bool, StepError> {
        let (step, current, arrays) = (self.step, self.current(), subdomains.arrays_of_moves());
        let from = current[0];
        let known = subdomains.recordings.in_parts(from).take();
        // Processes record the same parts: together they read what these leave.
        let is_known = subdomains.agree(known.as_ref().is_some_and(|known| known.arrays_of_moves == arrays));
        let mut parts: Vec<Part> = match known.filter(|_| is_known) {
            Some(known) => known.parts.into_iter().map(|part| part.at(step)).collect(),
            None => subdomains.parts_of(&self.tasks(subdomains)),
        };
        let (mut records, mut can_record) = (is_known, true);
        for Part { tasks, is_beside, recorded } in &mut parts {
            let moves = tasks.iter().filter(|task| task.phase == Phase::Move);
            let moves: Vec<(usize, f64)> = moves.map(|task| (task.level, task.end())).collect();
            moves.iter().try_for_each(|(level, time)| subdomains.push_bodies(*level, *time))?;
            if records && !moves.is_empty() {
                let is_near = |(_, time): &(usize, f64)| !subdomains.is_beyond(*time);
                let fits = moves.iter().all(is_near) && subdomains.prepare_moves(&moves)? == arrays;
                records = subdomains.agree(fits);
            }
            let mut run = |subdomains: &mut Subdomains| tasks.iter().try_for_each(|task| self.run(*task, subdomains));
            if records && recorded.is_none() {
                *recorded = capture(devices, subdomains, step, &mut run)?;
                can_record = recorded.is_some();
                records = can_record;
            }
            match recorded.as_ref().filter(|_| records) {
                Some(recorded) => {
                    let mut launch = || {
                        subdomains.enqueue_moves()?;
                        subdomains.launch(recorded, step)
                    };
                    if *is_beside {
                        devices.beside(launch)?
                    } else {
                        launch()?
                    }
                    if !moves.is_empty() {
                        subdomains.follow_moves();
                    }
                    if !recorded.exchanges.is_empty() {
                        devices.mark()?;
                    }
                }
                None => {
                    subdomains.enqueue_moves()?;
                    run(subdomains)?;
                }
            }
        }
        self.complete(current, parts.iter().flat_map(|part| &part.tasks).any(Task::brings_coarsest_back));
        if records || !is_known {
            let step = StepInParts { arrays_of_moves: arrays, parts };
            *subdomains.recordings.in_parts(from) = Some(step);
        }
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

    /// Whether a move to a time leads beyond what is reserved.
    fn is_beyond(&self, time: f64) -> bool {
        self.here.iter().any(|subdomain| subdomain.is_beyond(time))
    }

    /// Prepares moves of levels to times, and returns which arrays they work on.
    fn prepare_moves(&mut self, moves: &[(usize, f64)]) -> Result<Vec<u64>, StepError> {
        self.here.iter_mut().map(|subdomain| subdomain.prepare_moves(moves)).collect()
    }

    /// Tells the devices what the moves do that have been prepared.
    fn enqueue_moves(&mut self) -> Result<(), StepError> {
        self.here.iter_mut().try_for_each(Subdomain::enqueue_moves)
    }

    /// Follows on the host the moves that the devices have been told to make.
    pub(super) fn follow_moves(&mut self) {
        self.here.iter_mut().for_each(Subdomain::follow_moves);
    }

    /// The parts of a step, which are not recorded. A move that writes other links than its step reads is one of its own where nothing but streaming
    /// lies between it and the exchange.
    pub(super) fn parts_of(&self, tasks: &[Task]) -> Vec<Part> {
        let gives = |task: &Task| task.phase == Phase::Exchange && self.first().has_free(task.level);
        let streams = |task: &Task, level: usize| {
            task.level == level && (Phase::STREAMING.contains(&task.phase) || task.phase.crosses())
        };
        let mut parts: Vec<Part> = vec![];
        for task in tasks {
            let level = task.level;
            let is_beside = task.phase == Phase::Move
                && self.first().alternates(level)
                && parts.last().is_some_and(|part| part.tasks.iter().all(|task| streams(task, level)))
                && parts
                    .iter()
                    .rev()
                    .nth(1)
                    .and_then(|part| part.tasks.last())
                    .is_some_and(|task| gives(task) && task.level == level);
            match parts.last_mut().filter(|part| !is_beside && !part.is_beside && !part.tasks.last().is_some_and(gives))
            {
                Some(part) => part.tasks.push(*task),
                None => parts.push(Part { tasks: vec![*task], is_beside, recorded: None }),
            }
        }
        parts
    }
}
