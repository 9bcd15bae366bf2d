//! Timing: total seconds of all runs, and the time of each phase in a sample of steps.

use crate::device::{DeviceError, Devices, Events};
use crate::solver::plan::phase::Phase;

/// Steps at the start of a run whose phases are timed.
const SAMPLED_STEPS: u64 = 2;

/// Least number of steps in all for each of these.
const STEPS_OF_A_SAMPLE: u64 = 64;

/// Time spent by a simulation.
#[derive(Default)]
pub struct Timings {
    steps: u64,
    updates: u64,
    seconds: f64,
    adapting: f64,
    sampled: u64,
    phases: [f64; Phase::ALL.len()],
    /// Timing events before and after phases, not evaluated yet.
    pending: Vec<(Phase, Events, Events)>,
}

impl Timings {
    /// Number of steps at the start of a run whose phases are timed, now that other steps have been taken: few of all, as each of their phases is
    /// launched by itself, and its events are evaluated one by one.
    pub(crate) fn steps_to_sample(&self) -> u64 {
        if self.sampled * STEPS_OF_A_SAMPLE <= self.steps { SAMPLED_STEPS } else { 0 }
    }

    /// Records the events of a phase of a sampled step.
    pub(crate) fn sample(&mut self, phase: Phase, start: Events, end: Events) {
        self.pending.push((phase, start, end));
    }

    /// Counts a sampled step, after all its phases.
    pub(crate) fn sampled(&mut self) {
        self.sampled += 1;
    }

    /// Adds a number of steps and cell updates and the seconds that they took, including those for adaptations, which are also given
    /// separately.
    pub(crate) fn ran(&mut self, steps: u64, updates: u64, seconds: f64, adapting: f64) {
        self.steps += steps;
        self.updates += updates;
        self.seconds += seconds;
        self.adapting += adapting;
    }

    /// Evaluates the events; called when the steps are complete.
    pub(crate) fn settle(&mut self, devices: &Devices) -> Result<(), DeviceError> {
        for (phase, start, end) in std::mem::take(&mut self.pending) {
            self.phases[phase as usize] += devices.seconds(&start, &end)?;
        }
        Ok(())
    }

    /// Number of steps so far.
    pub fn steps(&self) -> u64 {
        self.steps
    }

    /// Seconds spent in all steps, including adaptations.
    pub fn seconds(&self) -> f64 {
        self.seconds
    }

    /// Number of cell updates so far.
    pub fn updates(&self) -> u64 {
        self.updates
    }

    /// Seconds spent in adaptations.
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

    /// Mean seconds of a phase per step, from sampled steps; 0 before the first.
    pub fn phase(&self, phase: Phase) -> f64 {
        if self.sampled > 0 { self.phases[phase as usize] / self.sampled as f64 } else { 0.0 }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn few_of_the_steps_of_many_short_runs_are_timed_phase_by_phase() {
        let (mut timings, mut all) = (Timings::default(), 0);
        for _ in 0..1000 {
            let sampled = timings.steps_to_sample();
            (0..sampled).for_each(|_| timings.sampled());
            timings.ran(5, 5, 1.0, 0.0);
            all += sampled;
        }
        assert!((70..90).contains(&all), "{all} of 5000");
        timings.ran(10_000, 10_000, 1.0, 0.0);
        assert_eq!(timings.steps_to_sample(), SAMPLED_STEPS);
    }
}
