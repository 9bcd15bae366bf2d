//! Tasks: phases of level steps within a step of the grid, and their subtasks.

use crate::solver::plan::phase::Phase;

/// One of the two sets of populations that a flow has. A step of a level reads its current set and writes the other.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum PopulationSet {
    #[default]
    First,
    Second,
}

impl PopulationSet {
    pub(crate) const BOTH: [PopulationSet; 2] = [PopulationSet::First, PopulationSet::Second];

    /// Its index: 0 or 1.
    pub(crate) fn index(self) -> usize {
        self as usize
    }

    /// The other one.
    pub(crate) fn other(self) -> PopulationSet {
        PopulationSet::BOTH[1 - self.index()]
    }
}

/// One lane of the communication on a level: from one subdomain to another.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct LaneId {
    pub(crate) level: usize,
    /// Its number among the lanes of the level.
    pub(crate) number: usize,
}

/// A step of a level, as the time at its end, in steps of the grid.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct LevelStep {
    pub(crate) level: usize,
    pub(crate) end: f64,
}

impl LevelStep {
    /// As many steps of the grid later.
    pub(crate) fn later(self, steps: f64) -> LevelStep {
        LevelStep { end: self.end + steps, ..self }
    }

    /// The number of steps of the grid that are done after it, if it is the last of them: that of the finest of all levels is.
    pub(crate) fn completes(self, levels: usize) -> Option<u64> {
        (self.level + 1 == levels && self.end.fract() == 0.0).then_some(self.end as u64)
    }
}

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
    /// The number of the grid's step.
    pub(crate) step: u64,
    /// The time from the beginning of the grid's step to the middle of this step, in half steps of the level.
    pub(crate) half: i32,
    /// The current set of populations of each level at that time: bit `l` for level `l`.
    pub(crate) sets: u64,
    /// The current set of cut links of each level, in the same way.
    pub(crate) link_sets: u64,
}

/// What one device does in a task.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Subtask {
    /// A subdomain of this process, by its index, on some of its blocks.
    Subdomain(usize, Side),
    /// One lane of the communication on the task's level; done by the device of the sender, or by that of the receiver if the sender is in another
    /// process.
    Lane(LaneId),
    /// All communication on the task's level, if it goes through the host between several processes.
    Processes,
}

impl Task {
    /// The current set of populations of a level at that time.
    pub(crate) fn current(&self, level: usize) -> PopulationSet {
        PopulationSet::BOTH[(self.sets >> level & 1) as usize]
    }

    /// The index of the current set of cut links of a level at that time.
    pub(crate) fn link_set(&self, level: usize) -> usize {
        (self.link_sets >> level & 1) as usize
    }

    /// Whether it brings the populations of the coarsest level back to where the step began.
    pub(crate) fn brings_coarsest_back(&self) -> bool {
        self.phase == Phase::BringBack && self.level == 0
    }

    /// The step of its level.
    pub(crate) fn level_step(&self) -> LevelStep {
        LevelStep { level: self.level, end: self.end() }
    }

    /// The end of the step of its level, in steps of the grid.
    pub(crate) fn end(&self) -> f64 {
        self.step as f64 + f64::from(self.half + 1) * 0.5f64.powi(self.level as i32 + 1)
    }
}
