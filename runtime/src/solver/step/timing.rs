//! Where the time goes: total seconds of all runs, and the share of each phase from a sample of steps.

use crate::device::{DeviceError, Devices, Marks};
use crate::solver::plan::phase::Phase;

/// Time spent by a simulation.
#[derive(Default)]
pub struct Timings {
    steps: u64,
    updates: u64,
    seconds: f64,
    adapting: f64,
    sampled: u64,
    phases: [f64; Phase::ALL.len()],
    /// Marks before and after phases whose times have not been asked for yet.
    pending: Vec<(Phase, Marks, Marks)>,
}

impl Timings {
    /// Steps at the start of each run whose phases are timed.
    pub(crate) const SAMPLED_STEPS: u64 = 2;

    /// A phase of a sampled step.
    pub(crate) fn sample(&mut self, phase: Phase, start: Marks, end: Marks) {
        self.pending.push((phase, start, end));
    }

    /// All phases of a step have been sampled.
    pub(crate) fn sampled(&mut self) {
        self.sampled += 1;
    }

    /// So many steps and cell updates took so many seconds, those spent on changes of the grid among them.
    pub(crate) fn ran(&mut self, steps: u64, updates: u64, seconds: f64, adapting: f64) {
        self.steps += steps;
        self.updates += updates;
        self.seconds += seconds;
        self.adapting += adapting;
    }

    /// Turns marks into times; called when the steps are done.
    pub(crate) fn settle(&mut self, devices: &Devices) -> Result<(), DeviceError> {
        for (phase, start, end) in std::mem::take(&mut self.pending) {
            self.phases[phase as usize] += devices.seconds(&start, &end)?;
        }
        Ok(())
    }

    /// Steps run so far.
    pub fn steps(&self) -> u64 {
        self.steps
    }

    /// Seconds spent in all of them.
    pub fn seconds(&self) -> f64 {
        self.seconds
    }

    /// Cell updates so far.
    pub fn updates(&self) -> u64 {
        self.updates
    }

    /// Seconds spent in changes of the grid.
    pub fn adapting(&self) -> f64 {
        self.adapting
    }

    /// Cell updates per second over all runs, 0 before the first.
    pub fn updates_per_second(&self) -> f64 {
        if self.seconds > 0.0 { self.updates as f64 / self.seconds } else { 0.0 }
    }

    /// Steps per second over all runs, 0 before the first.
    pub fn steps_per_second(&self) -> f64 {
        if self.seconds > 0.0 { self.steps as f64 / self.seconds } else { 0.0 }
    }

    /// Mean seconds of a phase per step, from a sample of steps; 0 before the first.
    pub fn phase(&self, phase: Phase) -> f64 {
        if self.sampled > 0 { self.phases[phase as usize] / self.sampled as f64 } else { 0.0 }
    }
}
