//! For tests: steps whose phases run in any order that [`accesses`](crate::solver::plan::accesses) permits.

use crate::device::Order;
use crate::solver::error::StepError;
use crate::solver::plan::task::{Share, Task};
use crate::solver::simulation::Simulation;
use crate::solver::subdomain::Subdomain;

impl Simulation {
    /// Advances by `steps` steps. The phases, divided by subdomain, run one after the other in an order that `choose` makes: it gets the
    /// number of phases that may be next, and returns the index of one. Returns the number of phases on the critical path.
    #[doc(hidden)]
    pub fn run_reordered(&mut self, steps: u64, mut choose: impl FnMut(usize) -> usize) -> Result<usize, StepError> {
        let Simulation { parts, stepper, .. } = self;
        let begun = stepper.current();
        let mut tasks = vec![];
        for _ in 0..steps {
            tasks.extend(stepper.tasks(parts));
            stepper.levels[0].current = 1 - stepper.levels[0].current;
        }
        let ended = stepper.current();
        let shares = |task: Task| parts.shares(task).into_iter().map(move |share| (task, share));
        let tasks: Vec<(Task, Share)> = tasks.into_iter().flat_map(shares).collect();
        let (mut order, mut waits, mut depth) = (Order::default(), vec![], vec![]);
        for (node, (task, share)) in tasks.iter().enumerate() {
            let accesses = parts.accesses(*task, *share);
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
            let (task, share) = tasks[next];
            stepper.run_share(task, share, parts)?;
            left.retain(|node| *node != next);
        }
        stepper.levels.iter_mut().zip(ended).for_each(|(level, current)| level.current = current);
        stepper.step += steps;
        parts.iter_mut().for_each(Subdomain::forget_fields);
        Ok(depth.into_iter().max().unwrap_or(0))
    }
}
