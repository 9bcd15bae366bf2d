//! Tasks: phases of a step of a level in the course of a step of the grid, and what each device does of them.

use crate::solver::plan::phase::Phase;

/// Which blocks of a part are meant.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Side {
    All,
    /// Blocks that read others' blocks, or that others read.
    Edge,
    /// All others.
    Inside,
}

/// A phase of a step of a level, in the course of a step of the grid.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Task {
    pub(crate) phase: Phase,
    pub(crate) level: usize,
    /// Whether the step is the first of two in one of the coarser level.
    pub(crate) start: bool,
    /// Halves of steps of the level from the beginning of the grid's step to the middle of this one.
    pub(crate) half: i32,
    /// Which set of populations is current on each level at that time, a bit for each.
    pub(crate) sets: u64,
}

/// What one device does of a task.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Share {
    /// A part, on some of its blocks.
    Part(usize, Side),
    /// The device that has what crosses, in the lane of that number of the task's level.
    Lane(usize),
    /// What crosses on the task's level, where parts are in several processes.
    Processes,
}

impl Task {
    /// Which set of populations is current on a level at that time.
    pub(crate) fn current(&self, level: usize) -> usize {
        (self.sets >> level & 1) as usize
    }
}
