//! Visits the states of a flow from the last step to the first, with memory for a few of them: the binomial schedule of Griewank and
//! Walther, ACM Trans. Math. Softw. 26 (2000) 19. With as many states in memory no schedule takes fewer steps again.

use crate::solver::adjoint::State;
use crate::solver::error::StepError;
use crate::solver::simulation::Simulation;

/// Why a flow is shown.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Visit {
    /// It is at a step for the first time.
    Forward,
    /// It is at the state before a step that is to be derived; the steps after it have been.
    Back,
}

/// How often a step is taken at most.
fn repetitions(steps: u64, states: u64) -> u64 {
    (0..).find(|times| binomial(states + times, states) >= u128::from(steps)).unwrap_or(0)
}

/// How many steps [`backward`] takes to reach the states before all steps; over `steps`, the factor of recomputation.
pub fn forward_steps(steps: u64, states: u64) -> u64 {
    let times = repetitions(steps, states);
    (u128::from(times) * u128::from(steps)).saturating_sub(binomial(states + times, states + 1)) as u64
}

/// Steps from the state at the beginning of a part to that which is kept next.
fn ahead(steps: u64, states: u64) -> u64 {
    let times = repetitions(steps, states);
    let rest = binomial(states + times - 2, states - 1).min(u128::from(steps)) as u64;
    (binomial(states + times - 1, states).min(u128::from(steps)) as u64).min(steps - rest)
}

/// The binomial coefficient, or a number beyond all numbers of steps.
fn binomial(of: u64, chosen: u64) -> u128 {
    if chosen > of {
        return 0;
    }
    let chosen = chosen.min(of - chosen);
    let mut found = 1u128;
    for at in 0..chosen {
        found = found * u128::from(of - at) / u128::from(at + 1);
        if found > u128::from(u64::MAX) {
            return found;
        }
    }
    found
}

/// Takes `steps` steps and shows the flow at each step from `from` on, then at the states before each step, the last first. It keeps no
/// more than `states` states, one at least, that of now among them; at the end it is there again.
pub fn backward<E: From<StepError>>(
    flow: &mut Simulation,
    (steps, from): (u64, u64),
    states: u64,
    visit: &mut impl FnMut(&mut Simulation, Visit) -> Result<(), E>,
) -> Result<(), E> {
    let first = State::of(flow)?;
    let mut walk = Walk { next: from.max(flow.step()), end: flow.step() + steps, visit };
    if walk.next == flow.step() {
        walk.next += 1;
        (walk.visit)(flow, Visit::Forward)?;
    }
    walk.part(flow, &first, steps, states.max(1))
}

struct Walk<'a, V> {
    /// The next step that has not been visited forwards.
    next: u64,
    end: u64,
    visit: &'a mut V,
}

impl<E: From<StepError>, V: FnMut(&mut Simulation, Visit) -> Result<(), E>> Walk<'_, V> {
    fn advance(&mut self, flow: &mut Simulation, steps: u64) -> Result<(), E> {
        let end = flow.step() + steps;
        while flow.step() < end {
            flow.run(end.min(self.next.max(flow.step() + 1)) - flow.step())?;
            if flow.step() == self.next {
                self.next += 1;
                (self.visit)(flow, Visit::Forward)?;
            }
        }
        Ok(())
    }

    /// Goes back through a part of the steps, which begins at a state that is also that of the flow.
    fn part(&mut self, flow: &mut Simulation, first: &State, mut steps: u64, states: u64) -> Result<(), E> {
        while steps > 1 {
            let ahead = ahead(steps, states);
            self.advance(flow, ahead)?;
            match steps - ahead {
                // The last state of a part need not be kept.
                1 => self.last(flow)?,
                later => {
                    let state = State::of(flow)?;
                    self.part(flow, &state, later, states - 1)?;
                }
            }
            first.restore(flow)?;
            steps = ahead;
        }
        if steps == 1 { self.last(flow) } else { Ok(()) }
    }

    /// Shows the state before a step. Before the last of all, the state after it is shown.
    fn last(&mut self, flow: &mut Simulation) -> Result<(), E> {
        if self.next <= self.end && flow.step() + 1 == self.end {
            let state = State::of(flow)?;
            self.advance(flow, 1)?;
            self.next = self.end + 1;
            state.restore(flow)?;
        }
        (self.visit)(flow, Visit::Back)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// What a walk does: steps taken, states kept at a time, and steps in the order in which they are derived.
    fn walked(steps: u64, states: u64) -> (u64, u64, Vec<u64>) {
        fn part(first: u64, mut steps: u64, states: u64, kept: u64, found: &mut (u64, u64, Vec<u64>)) {
            found.1 = found.1.max(kept);
            while steps > 1 {
                let ahead = ahead(steps, states);
                found.0 += ahead;
                match steps - ahead {
                    1 => found.2.push(first + ahead),
                    later => part(first + ahead, later, states - 1, kept + 1, found),
                }
                steps = ahead;
            }
            found.2.push(first);
        }
        let mut found = (0, 0, vec![]);
        part(0, steps, states, 1, &mut found);
        found
    }

    #[test]
    fn every_step_is_derived_once_with_the_states_that_there_is_memory_for_and_the_fewest_steps() {
        for (steps, states) in [(1, 1), (2, 1), (7, 1), (10, 3), (200, 8), (200, 200), (1000, 30), (997, 2)] {
            let (taken, kept, order) = walked(steps, states);
            assert!(order.iter().copied().eq((0..steps).rev()), "{steps} {states}");
            assert!(kept <= states && taken == forward_steps(steps, states), "{steps} {states}: {taken} {kept}");
        }
        assert_eq!((forward_steps(200, 8), forward_steps(10_000, 30)), (580, 34_016));
    }
}
