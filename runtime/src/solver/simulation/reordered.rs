//! For tests: steps whose phases run in any order that [`accesses`](crate::solver::plan::accesses) permits, steps whose moves of solids are
//! known in advance, and steps in parts.

use crate::device::Order;
use crate::solver::error::StepError;
use crate::solver::plan::phase::Phase;
use crate::solver::plan::task::{Subtask, Task};
use crate::solver::simulation::Simulation;
use crate::solver::subdomain::Subdomain;

impl Simulation {
    /// Advances by `steps` steps. The phases, divided by subdomain, run one after the other in an order that `choose` makes: it gets the
    /// number of phases that may be next, and returns the index of one. Returns the number of phases on the critical path.
    #[doc(hidden)]
    pub fn run_reordered(&mut self, steps: u64, mut choose: impl FnMut(usize) -> usize) -> Result<usize, StepError> {
        let Simulation { subdomains, stepper, .. } = self;
        let begun = stepper.current();
        let mut tasks = vec![];
        for _ in 0..steps {
            tasks.extend(stepper.tasks(subdomains));
            stepper.levels[0].current = stepper.levels[0].current.other();
            stepper.step += 1;
        }
        let ended = stepper.current();
        let subtasks = |task: Task| subdomains.subtasks(task).into_iter().map(move |subtask| (task, subtask));
        let tasks: Vec<(Task, Subtask)> = tasks.into_iter().flat_map(subtasks).collect();
        let (mut order, mut waits, mut depth) = (Order::default(), vec![], vec![]);
        for (node, (task, subtask)) in tasks.iter().enumerate() {
            let accesses = subdomains.accesses(*task, *subtask);
            let before = order.before(&accesses);
            order.add(node, &accesses);
            depth.push(1 + before.iter().map(|other| depth[*other]).max().unwrap_or(0));
            waits.push(before);
        }
        stepper.levels.iter_mut().zip(begun).for_each(|(level, current)| level.current = current);
        let mut left: Vec<usize> = (0..tasks.len()).collect();
        while !left.is_empty() {
            let ready: Vec<usize> =
                left.iter().copied().filter(|node| waits[*node].iter().all(|before| !left.contains(before))).collect();
            let next = ready[choose(ready.len())];
            let (task, subtask) = tasks[next];
            stepper.run_subtask(task, subtask, subdomains)?;
            left.retain(|node| *node != next);
        }
        stepper.levels.iter_mut().zip(ended).for_each(|(level, current)| level.current = current);
        subdomains.iter_mut().for_each(Subdomain::forget_fields);
        Ok(depth.into_iter().max().unwrap_or(0))
    }

    /// Advances by `steps` steps whose moves of solids are written for the device in advance, as those of a recording are. Returns how many of
    /// these the steps have made, each in its turn.
    #[doc(hidden)]
    pub fn run_foreseen(&mut self, steps: u64) -> Result<usize, StepError> {
        let Simulation { subdomains, stepper, .. } = self;
        subdomains.foresee_moves(stepper.step, steps)?;
        (0..steps).try_for_each(|_| stepper.advance(subdomains, None))?;
        subdomains.iter_mut().for_each(Subdomain::forget_fields);
        Ok(subdomains.first().moves_made())
    }

    /// Advances by `steps` steps in the parts that are recorded where the fluid moves bodies: those that may run beside the part before them run
    /// before it. Returns how many do.
    #[doc(hidden)]
    pub fn run_in_parts(&mut self, steps: u64) -> Result<usize, StepError> {
        let Simulation { subdomains, stepper, .. } = self;
        let mut beside = 0;
        for _ in 0..steps {
            let (current, tasks) = (stepper.current(), stepper.tasks(subdomains));
            let mut parts = subdomains.parts_of(&tasks);
            for at in (0..parts.len()).filter(|at| parts[*at].is_beside).collect::<Vec<_>>() {
                parts.swap(at - 1, at);
                beside += 1;
            }
            for part in &parts {
                for task in part.tasks.iter().filter(|task| task.phase == Phase::Move) {
                    subdomains.push_bodies(task.level, task.end())?;
                }
                part.tasks.iter().try_for_each(|task| stepper.run(*task, subdomains))?;
            }
            stepper.complete(current, tasks.iter().any(Task::brings_coarsest_back));
        }
        subdomains.iter_mut().for_each(Subdomain::forget_fields);
        subdomains.sum_exchanges(1)?;
        Ok(beside)
    }
}
