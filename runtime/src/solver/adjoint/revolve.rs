//! Visits the states of a flow from the last step to the first, with room for a few of them: the binomial schedule of Griewank and
//! Walther, ACM Trans. Math. Softw. 26 (2000) 19. With room for as many states no schedule takes fewer steps again.
//!
//! States for which there is no room in memory are on disk: those that are kept first, which are visited last and the least often.

use std::time::{Duration, Instant};

use crate::solver::adjoint::{Shelf, State};
use crate::solver::error::StepError;
use crate::solver::simulation::Simulation;

/// Time after which a flow on its way is shown, about.
const MOMENT: Duration = Duration::from_millis(100);

/// Why a flow is shown.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Visit {
    /// It is at a step for the first time.
    Forward,
    /// It is on its way, so that whoever waits learns of it, or ends it.
    Passing,
    /// It is at the state before a step that is to be derived; the steps after it have been.
    Back,
}

/// How often a step is taken at most.
fn repetitions(steps: u64, states: u64) -> u64 {
    (0..).find(|times| binomial(states + times, states) >= u128::from(steps)).unwrap_or(0)
}

/// How many steps [`backward`] takes to reach the states before all steps; over `steps`, the factor of recomputation.
pub fn forward_steps(steps: u64, states: u64) -> u64 {
    let states = useful(steps, states);
    let times = repetitions(steps, states);
    (u128::from(times) * u128::from(steps)).saturating_sub(binomial(states + times, states + 1)) as u64
}

/// How many of so many states can be kept: that before each step, and one at least.
fn useful(steps: u64, states: u64) -> u64 {
    states.clamp(1, steps.max(1))
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

/// What is done next.
#[derive(Clone, Copy)]
enum Next {
    /// So many steps are taken.
    Advance(u64),
    /// The state of the flow is kept.
    Keep,
    /// The step that begins at the state of the flow is derived.
    Derive,
    /// The flow returns to the state that was kept last.
    Return,
    /// That state is forgotten, and the flow returns to the one before it.
    Forget,
}

/// Goes back through so many steps from a state on that is kept, with room for `states` states, one at least, that one among them.
fn schedule<E>(steps: u64, states: u64, next: &mut impl FnMut(Next) -> Result<(), E>) -> Result<(), E> {
    // The steps that are left after each state that is kept, up to what has been derived.
    let mut parts = vec![steps];
    let mut room = states;
    while let Some(left) = parts.last_mut() {
        if *left > 1 {
            let ahead = ahead(*left, room);
            let later = *left - ahead;
            *left = ahead;
            next(Next::Advance(ahead))?;
            // The last state of a part need not be kept.
            if later == 1 {
                next(Next::Derive)?;
                next(Next::Return)?;
            } else {
                next(Next::Keep)?;
                parts.push(later);
                room -= 1;
            }
        } else {
            if *left == 1 {
                next(Next::Derive)?;
            }
            parts.pop();
            room += 1;
            if !parts.is_empty() {
                next(Next::Forget)?;
            }
        }
    }
    Ok(())
}

/// Room for states of a flow.
pub struct Room {
    /// How many states are in memory at a time, one at least.
    pub memory: u64,
    /// Further ones on disk.
    pub disk: Option<Shelf>,
}

impl From<u64> for Room {
    fn from(memory: u64) -> Room {
        Room { memory, disk: None }
    }
}

/// How many states are on disk, of those that a schedule of so many steps keeps, with room for `memory` in memory and `disk` there.
pub fn states_on_disk(steps: u64, memory: u64, disk: u64) -> u64 {
    useful(steps, memory.saturating_add(disk)) - useful(steps, memory)
}

/// A state that is kept.
enum Kept {
    Memory(State),
    /// At a step, in that place of the shelf.
    Disk(u64, u64),
}

/// States that are kept.
struct Stack {
    kept: Vec<Kept>,
    shelf: Option<Shelf>,
    on_disk: u64,
}

impl Stack {
    fn keep(&mut self, flow: &Simulation) -> Result<(), StepError> {
        let place = self.kept.len() as u64;
        match self.shelf.as_mut().filter(|_| place < self.on_disk) {
            Some(shelf) => {
                shelf.put(flow, place)?;
                self.kept.push(Kept::Disk(flow.step(), place));
            }
            None => self.kept.push(Kept::Memory(State::of(flow)?)),
        }
        Ok(())
    }

    /// Gives the last one to the flow.
    fn restore(&mut self, flow: &mut Simulation) -> Result<(), StepError> {
        match (self.kept.last(), &mut self.shelf) {
            (Some(Kept::Memory(state)), _) => state.restore(flow),
            (Some(Kept::Disk(step, place)), Some(shelf)) => {
                shelf.get(flow, *place)?;
                flow.stepper.step = *step;
                Ok(())
            }
            _ => Ok(()),
        }
    }
}

/// Takes `steps` steps and shows the flow at each step from `from` on, then at the states before each step, the last first. It keeps no
/// more states than there is `room` for, one at least; at the end it is where it began, also if `visit` has failed.
pub fn backward<E: From<StepError>>(
    flow: &mut Simulation,
    (steps, from): (u64, u64),
    room: impl Into<Room>,
    visit: &mut impl FnMut(&mut Simulation, Visit) -> Result<(), E>,
) -> Result<(), E> {
    let Room { memory, disk: shelf } = room.into();
    let on_disk = states_on_disk(steps, memory, shelf.as_ref().map_or(0, Shelf::states));
    let mut stack = Stack { kept: vec![], shelf, on_disk };
    stack.keep(flow)?;
    let mut walk = Walk { next: from.max(flow.step()), end: flow.step() + steps, stretch: 1, visit };
    if walk.next == flow.step() {
        walk.next += 1;
        (walk.visit)(flow, Visit::Forward)?;
    }
    let done = schedule(steps, useful(steps, memory) + on_disk, &mut |next| match next {
        Next::Advance(steps) => walk.advance(flow, steps),
        Next::Derive => walk.last(flow),
        Next::Keep => Ok(stack.keep(flow)?),
        Next::Return => Ok(stack.restore(flow)?),
        Next::Forget => {
            stack.kept.pop();
            Ok(stack.restore(flow)?)
        }
    });
    if done.is_err() {
        stack.kept.truncate(1);
        stack.restore(flow)?;
    }
    done
}

struct Walk<'a, V> {
    /// The next step that has not been visited forwards.
    next: u64,
    end: u64,
    /// Steps after which the flow is shown on its way.
    stretch: u64,
    visit: &'a mut V,
}

impl<E: From<StepError>, V: FnMut(&mut Simulation, Visit) -> Result<(), E>> Walk<'_, V> {
    fn advance(&mut self, flow: &mut Simulation, steps: u64) -> Result<(), E> {
        let end = flow.step() + steps;
        while flow.step() < end {
            let until = if self.next > flow.step() { end.min(self.next) } else { end };
            let (began, steps) = (Instant::now(), self.stretch.min(until - flow.step()));
            flow.run(steps)?;
            self.stretch = if began.elapsed() > MOMENT { steps.div_ceil(2) } else { self.stretch.max(2 * steps) };
            let is_new = flow.step() == self.next;
            self.next += u64::from(is_new);
            (self.visit)(flow, if is_new { Visit::Forward } else { Visit::Passing })?;
        }
        Ok(())
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

    /// What a schedule does: steps taken, states kept at a time, and steps in the order in which they are derived.
    fn walked(steps: u64, states: u64) -> (u64, usize, Vec<u64>) {
        let (mut at, mut kept, mut taken, mut most, mut order) = (0, vec![0], 0, 1, vec![]);
        let done = schedule(steps, states, &mut |next| {
            match next {
                Next::Advance(steps) => (at, taken) = (at + steps, taken + steps),
                Next::Keep => kept.push(at),
                Next::Derive => order.push(at),
                Next::Return => at = kept[kept.len() - 1],
                Next::Forget => {
                    kept.pop();
                    at = kept[kept.len() - 1];
                }
            }
            most = most.max(kept.len());
            Ok::<(), std::convert::Infallible>(())
        });
        done.expect("it does not fail");
        assert_eq!((at, kept), (0, vec![0]), "it ends where it began");
        (taken, most, order)
    }

    #[test]
    fn every_step_is_derived_once_with_the_states_that_there_is_memory_for_and_the_fewest_steps() {
        for (steps, states) in
            [(1, 1), (2, 1), (7, 1), (10, 3), (200, 8), (200, 200), (1000, 30), (997, 2), (100_000, 100_000)]
        {
            let (taken, kept, order) = walked(steps, states);
            assert!(order.iter().copied().eq((0..steps).rev()), "{steps} {states}");
            assert!(kept as u64 <= states && taken == forward_steps(steps, states), "{steps} {states}: {taken} {kept}");
        }
        assert_eq!((forward_steps(200, 8), forward_steps(10_000, 30)), (580, 34_016));
        assert_eq!((forward_steps(200, u64::MAX), forward_steps(200, 200)), (199, 199));
    }
}
