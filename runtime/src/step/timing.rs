//! Where the time goes: total seconds of all runs, and the share of each phase from a sample of steps.

use crate::device::{Device, DeviceError, Mark};

/// A part of a time step.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Phase {
    /// Blocks away from walls.
    StreamCollide,
    /// Blocks that touch walls.
    StreamCollideWalls,
}

impl Phase {
    /// All phases in the order of a step.
    pub const ALL: [Phase; 2] = [Phase::StreamCollide, Phase::StreamCollideWalls];

    /// Name as in reports.
    pub fn name(self) -> &'static str {
        ["stream_collide", "stream_collide_walls"][self as usize]
    }
}

/// Time spent by a simulation.
#[derive(Default)]
pub struct Timings {
    steps: u64,
    seconds: f64,
    sampled: u64,
    phases: [f64; 2],
    /// Marks before, between and after the phases of steps whose times have not been asked for yet.
    pending: Vec<[Mark; 3]>,
}

impl Timings {
    /// Steps at the start of each run whose phases are timed.
    pub(super) const SAMPLED_STEPS: u64 = 2;

    pub(super) fn sample(&mut self, start: Mark, middle: Mark, end: Mark) {
        self.pending.push([start, middle, end]);
    }

    pub(super) fn ran(&mut self, steps: u64, seconds: f64) {
        self.steps += steps;
        self.seconds += seconds;
    }

    /// Turns marks into times; called when the steps are done.
    pub(super) fn settle(&mut self, device: &Device) -> Result<(), DeviceError> {
        for marks in std::mem::take(&mut self.pending) {
            for (phase, seconds) in self.phases.iter_mut().enumerate() {
                *seconds += device.seconds(&marks[phase], &marks[phase + 1])?;
            }
            self.sampled += 1;
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

    /// Steps per second over all runs, 0 before the first.
    pub fn steps_per_second(&self) -> f64 {
        if self.seconds > 0.0 { self.steps as f64 / self.seconds } else { 0.0 }
    }

    /// Mean seconds of a phase per step, from a sample of steps; 0 before the first.
    pub fn phase(&self, phase: Phase) -> f64 {
        if self.sampled > 0 { self.phases[phase as usize] / self.sampled as f64 } else { 0.0 }
    }
}
