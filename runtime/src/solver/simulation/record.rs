//! Recordings: launches are made once, and replayed. What recorded tasks leave on the devices is copied to the host after each replay.

use crate::device::Devices;
use crate::solver::decomposition::Subdomains;
use crate::solver::decomposition::recordings::{Recorded, Recording};
use crate::solver::error::StepError;
use crate::solver::step::Stepper;
use crate::solver::subdomain::Subdomain;

impl Stepper {
    /// Records an even number of steps; the current set of populations of the coarsest level must be the first. Finer levels take an even
    /// number of steps in each. `arrays_of_moves`: what the moves of solids work on. `None` where launches cannot be recorded.
    pub(super) fn record(
        &mut self,
        devices: &Devices,
        subdomains: &mut Subdomains,
        steps: u64,
        arrays_of_moves: Vec<u64>,
    ) -> Result<Option<Recording>, StepError> {
        let (step, current) = (self.step, self.current());
        let recorded = capture(devices, subdomains, step, |subdomains| {
            (0..steps).try_for_each(|_| self.advance(subdomains, None))
        });
        self.step = step;
        self.levels.iter_mut().zip(current).for_each(|(level, current)| level.current = current);
        Ok(recorded?.map(|recorded| Recording { recorded, steps, arrays_of_moves }))
    }
}

/// Records the launches of tasks that begin in the step of this number. `None` where launches cannot be recorded; `work` is not called then. A
/// collective call where solids move.
pub(super) fn capture(
    devices: &Devices,
    subdomains: &mut Subdomains,
    step: u64,
    work: impl FnOnce(&mut Subdomains) -> Result<(), StepError>,
) -> Result<Option<Recorded>, StepError> {
    subdomains.sum_exchanges(1)?;
    let mut worked = None;
    let graph = devices.record(|| {
        worked = Some(work(subdomains));
        Ok(())
    });
    let Some(worked) = worked else { return Ok(None) };
    worked?;
    let exchanges = std::mem::take(&mut subdomains.left).into_iter().map(|left| left.later(-(step as f64))).collect();
    let left = subdomains.here.iter_mut().map(Subdomain::record_exchanges).collect();
    Ok(Some(Recorded { graph: graph?, exchanges, left }))
}

impl Subdomains {
    /// Replays recorded steps from a step on, if there are any; returns whether there are.
    pub(super) fn replay(&mut self, step: u64) -> Result<bool, StepError> {
        let Some(recording) = self.recordings.steps.take() else { return Ok(false) };
        let replayed = self.launch(&recording.recorded, step);
        self.recordings.steps = Some(recording);
        replayed?;
        self.follow_moves();
        Ok(true)
    }

    /// Replays recorded tasks that begin in the step of this number. While devices are at work on them, the host reads what those before have left.
    pub(super) fn launch(&mut self, recorded: &Recorded, step: u64) -> Result<(), StepError> {
        if self.left.len() > self.replayed {
            self.sum_exchanges(1)?;
        }
        if let Some(graph) = &recorded.graph {
            graph.launch()?;
        }
        if recorded.exchanges.is_empty() {
            return Ok(());
        }
        let before = self.left.len();
        self.left.extend(recorded.exchanges.iter().map(|left| left.later(step as f64)));
        self.replayed = self.left.len();
        for (subdomain, left) in self.here.iter_mut().zip(&recorded.left) {
            subdomain.copy_exchanges(left)?;
        }
        self.sum_first_exchanges(before)
    }
}
