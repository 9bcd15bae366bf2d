//! Recorded steps of all subdomains, as plain data: whoever takes steps records and replays them.

use crate::device::Graph;
use crate::solver::plan::task::{LevelStep, PopulationSet, Task};
use crate::solver::solids::exchanges::Exchanges;

/// What is recorded. All of it is of the grid, the parameters and the partition as they are.
#[derive(Default)]
pub(crate) struct Recordings {
    /// Several steps.
    pub(crate) steps: Option<Recording>,
    /// Single steps between whose parts the host moves bodies: one from each set of populations.
    in_parts: [Option<StepInParts>; 2],
}

/// Recorded steps.
pub(crate) struct Recording {
    pub(crate) recorded: Recorded,
    /// Number of steps, which is even.
    pub(crate) steps: u64,
    /// Which arrays the moves of solids work on, in each subdomain.
    pub(crate) arrays_of_moves: Vec<u64>,
}

/// A step whose parts are recorded one by one.
pub(crate) struct StepInParts {
    /// Which arrays the moves of solids work on, in each subdomain.
    pub(crate) arrays_of_moves: Vec<u64>,
    pub(crate) parts: Vec<Part>,
}

/// A part of a step.
pub(crate) struct Part {
    /// Its tasks, in the last step that it was a part of.
    pub(crate) tasks: Vec<Task>,
    /// Whether it waits for no task since the exchange before it.
    pub(crate) is_beside: bool,
    /// Its launches, once they are recorded.
    pub(crate) recorded: Option<Recorded>,
}

/// Recorded tasks.
pub(crate) struct Recorded {
    /// `None` if they launch nothing.
    pub(crate) graph: Option<Graph>,
    /// The steps of levels that leave the exchange between solids and the fluid on the devices, in their order, as if step 0 were the first.
    pub(crate) exchanges: Vec<LevelStep>,
    /// What these leave, in each subdomain.
    pub(crate) left: Vec<Exchanges>,
}

impl Part {
    /// The same in the step of this number.
    pub(crate) fn at(self, step: u64) -> Part {
        Part { tasks: self.tasks.into_iter().map(|task| Task { step, ..task }).collect(), ..self }
    }
}

impl Recordings {
    /// The step from a set of populations of the coarsest level.
    pub(crate) fn in_parts(&mut self, from: PopulationSet) -> &mut Option<StepInParts> {
        &mut self.in_parts[from.index()]
    }
}
