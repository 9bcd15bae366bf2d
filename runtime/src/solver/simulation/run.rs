//! Runs of many steps: how they are divided at adaptations, which steps are timed phase by phase, and which are recorded.
//!
//! On GPUs pairs of steps are recorded once and replayed. This saves small grids the launch overhead, and subdomains on several GPUs wait
//! for each other only where data depend on each other.

use crate::device::{Devices, Graph};
use crate::solver::decomposition::{Recording, Subdomains};
use crate::solver::error::StepError;
use crate::solver::plan::task::PopulationSet;
use crate::solver::simulation::Simulation;
use crate::solver::step::Stepper;
use crate::solver::step::timing::Timings;

/// Approximate number of phases in a recording: large enough that launching it costs little per step, and small, since recording takes
/// some microseconds per phase.
const PHASES_RECORDED: usize = 64;

/// Most pairs of steps in a recording.
const PAIRS_RECORDED: usize = 8;

/// How often a recording must be replayed on a grid that changes to repay its cost.
const LEAST_REPEATED: u64 = 4;

impl Simulation {
    /// Advances by `steps` steps and waits for them.
    pub fn run(&mut self, steps: u64) -> Result<(), StepError> {
        let devices = self.subdomains.devices().clone();
        devices.first().scope(|| self.run_inside(&devices, steps))
    }

    fn run_inside(&mut self, devices: &Devices, steps: u64) -> Result<(), StepError> {
        let step = self.stepper.step;
        self.subdomains.forget_posted();
        self.subdomains.iter_mut().try_for_each(|subdomain| {
            subdomain.forget_fields();
            subdomain.set_clock(step)
        })?;
        let mut left = steps;
        let mut sampled = Timings::SAMPLED_STEPS;
        while left > 0 {
            let until_change = self.adapter.steps_until_change(self.stepper.step);
            let interval = until_change.map_or(left, |until| left.min(until));
            let start = devices.event()?;
            self.run_interval(devices, interval, &mut sampled)?;
            let updates = interval * self.grid().updates() as u64;
            let end = devices.event()?;
            if until_change == Some(interval) {
                self.adapt()?;
            }
            let done = devices.event()?;
            let (seconds, adapting) = (devices.seconds(&start, &done)?, devices.seconds(&end, &done)?);
            self.monitor.timings.ran(interval, updates, seconds, adapting);
            left -= interval;
        }
        self.monitor.timings.settle(devices)?;
        Ok(())
    }

    /// Advances by steps between which the grid does not change.
    fn run_interval(&mut self, devices: &Devices, steps: u64, sampled: &mut u64) -> Result<(), StepError> {
        let Simulation { subdomains, stepper, adapter, monitor, .. } = self;
        let mut left = steps;
        // These steps are timed phase by phase.
        while left > 0 && (stepper.levels[0].current == PopulationSet::Second || *sampled > 0) {
            stepper.advance(subdomains, Some(&mut monitor.timings))?;
            subdomains.sum_many_exchanges()?;
            *sampled = sampled.saturating_sub(1);
            left -= 1;
        }
        let pairs = (PHASES_RECORDED / stepper.tasks(subdomains).len().max(1) / 2).clamp(1, PAIRS_RECORDED) as u64;
        let least = if adapter.settled { 1 } else { LEAST_REPEATED };
        // A recording has fixed parameters and solids, and sends nothing to the host.
        let waits = stepper.courses.is_some() || subdomains.first().moves() || !subdomains.exchanged.is_empty();
        let recorded = subdomains.recording.is_some();
        if !waits && left >= 2 * pairs * least && !recorded && subdomains.records() {
            let graph = record(devices, subdomains, stepper, pairs)?;
            subdomains.recording = graph.map(|graph| Recording { graph, steps: 2 * pairs });
        }
        if let Some(recording) = &subdomains.recording {
            while left >= recording.steps {
                recording.graph.launch()?;
                stepper.step += recording.steps;
                left -= recording.steps;
            }
        }
        for _ in 0..left {
            stepper.advance(subdomains, None)?;
            subdomains.sum_many_exchanges()?;
        }
        subdomains.sum_exchanges(1)
    }
}

/// Records pairs of steps; the current set of populations of the coarsest level must be the first. Finer levels take an even number of
/// steps in each.
fn record(
    devices: &Devices,
    subdomains: &mut Subdomains,
    stepper: &mut Stepper,
    pairs: u64,
) -> Result<Option<Graph>, StepError> {
    let (step, current) = (stepper.step, stepper.current());
    let mut failed = None;
    let recorded = devices.record(|| {
        for _ in 0..2 * pairs {
            if let Err(error) = stepper.advance(subdomains, None) {
                failed = Some(error);
                break;
            }
        }
        Ok(())
    });
    stepper.step = step;
    stepper.levels.iter_mut().zip(current).for_each(|(level, current)| level.current = current);
    match failed {
        Some(error) => Err(error),
        None => Ok(recorded?),
    }
}
