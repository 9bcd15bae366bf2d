//! Tasks: phases of level steps within a step of the grid, and their subtasks.

use crate::solver::plan::phase::Phase;

/// Which blocks of a subdomain a task works on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Side {
    All,
    /// Edge blocks: they read blocks of other subdomains, or are read by them.
    Edge,
    /// Interior blocks: all others.
    Inside,
}

/// A phase of a step of a level, within a step of the grid.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Task {
    pub(crate) phase: Phase,
    pub(crate) level: usize,
    /// Whether the step is the first of two within a step of the coarser level.
    pub(crate) start: bool,
    /// The time from the beginning of the grid's step to the middle of this step, in half steps of the level.
    pub(crate) half: i32,
    /// The current set of populations of each level at that time: bit `l` for level `l`.
    pub(crate) sets: u64,
}

/// What one device does in a task.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Subtask {
    /// A subdomain of this process, by its index, on some of its blocks.
    Subdomain(usize, Side),
    /// One lane of the communication on the task's level, by its number; done by the device of the sender.
    Lane(usize),
    /// All communication on the task's level, if subdomains lie in several processes.
    Processes,
}

impl Task {
    /// The current set of populations of a level at that time.
    pub(crate) fn current(&self, level: usize) -> usize {
        (self.sets >> level & 1) as usize
    }
}
