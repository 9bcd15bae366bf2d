//! When a run checks for finite values, and when it copies a finite state to the host.

use std::time::{Duration, Instant};

use lbm_runtime::device::{self, DeviceError};
use lbm_runtime::geometry::Block;
use lbm_runtime::processes::Processes;
use lbm_runtime::solver::restore::Content;
use lbm_runtime::solver::snapshot::Snapshot;
use lbm_runtime::solver::{Simulation, StepError};

use super::sound::sound;

/// Least number of steps between two checks for finite values. A check reads all populations once, and writes and reads
/// the fields: 15 values per cell for D2Q9, 27 for D3Q19, 35 for D3Q27. A step reads and writes 18, 38 and 54. A check
/// thus takes at most the time of 0.85 steps, which is 0.4 % of 200 steps. If launch latency dominates, [`CHECK_SHARE`]
/// limits the cost.
const CHECK_EVERY: u64 = 200;
/// Steps until the first check, because many flows blow up early; the interval then doubles up to [`CHECK_EVERY`].
const FIRST_CHECK: u64 = 25;
/// Largest fraction of the run time for checks, and also for copies of the state to the host.
const CHECK_SHARE: f64 = 0.005;
/// Seconds that these copies may take in addition, since copies of small grids are cheap.
const COPIES_FREE: f64 = 0.2;
/// Assumed copy rate in bytes per second, until the first copy has been timed.
const COPIED: f64 = 1e9;

/// Schedule of the checks for finite values.
pub(super) struct Watch {
    /// Step of the next check.
    pub(super) next: u64,
    /// Steps between the last check and the next.
    every: u64,
    cost: Duration,
}

impl Watch {
    pub(super) fn new(step: u64) -> Self {
        Watch { next: step + FIRST_CHECK, every: FIRST_CHECK, cost: Duration::ZERO }
    }

    /// Schedules the check after the one at `step`, given the rate in steps per second.
    pub(super) fn plan(&mut self, step: u64, rate: f64) {
        let least = (self.cost.as_secs_f64() * rate / CHECK_SHARE) as u64;
        self.every = (2 * self.every).min(CHECK_EVERY.max(least));
        self.next = step + self.every;
    }

    pub(super) fn time<T>(&mut self, look: impl FnOnce() -> T) -> T {
        let before = Instant::now();
        let result = look();
        self.cost = before.elapsed();
        result
    }
}

/// Bytes of the fields of all cells on the host.
pub(super) fn fields_on_host(flow: &Simulation) -> usize {
    flow.grid().cells() * flow.manifest().field_components() * size_of::<f64>()
}

/// A state of the flow on the host, from a step at which it was finite.
pub(super) struct Kept {
    pub(super) fields: Snapshot,
    /// The leaves of the grid and their stored populations, in the order and format of
    /// [`State`](lbm_runtime::solver::restore::State); empty in several processes.
    pub(super) blocks: Vec<Block>,
    pub(super) populations: Vec<u8>,
    /// States of surfaces under boundary layers.
    pub(super) slips: Vec<f64>,
}

impl Kept {
    /// Copies the state of this step. `None` if a cell is faster than sound, unless `anyway` is set.
    pub(super) fn of(flow: &mut Simulation, processes: &Processes, anyway: bool) -> Result<Option<Kept>, StepError> {
        if !anyway && flow.means()?.is_some_and(|means| means.fastest > sound(flow)) {
            return Ok(None);
        }
        let mut kept = Kept { fields: flow.snapshot()?, blocks: vec![], populations: vec![], slips: flow.slips()? };
        if !processes.are_several() {
            kept.populations.reserve(Self::stored(flow));
            let state = flow.state()?;
            kept.blocks.extend(state.leaves().iter().map(|leaf| leaf.block));
            let read = state.read_populations(|bytes| {
                kept.populations.extend_from_slice(bytes);
                Ok(())
            });
            read.map_err(|error| DeviceError::Driver {
                device: "the device".into(),
                action: "read populations".into(),
                reason: error.to_string(),
            })?;
        }
        Ok(Some(kept))
    }

    /// Bytes of a copy.
    pub(super) fn bytes(flow: &Simulation) -> usize {
        fields_on_host(flow) + Self::stored(flow)
    }

    fn stored(flow: &Simulation) -> usize {
        Content::Populations.bytes(flow.manifest(), flow.grid().blocks_with_populations())
    }
}

/// The last finite state that was copied. It may be older than the last check, because copies take time.
pub(super) struct Good {
    pub(super) kept: Option<Kept>,
    /// Bytes of a copy.
    bytes: usize,
    began: Instant,
    /// Total time of all copies, and time of the last one.
    spent: Duration,
    cost: Duration,
}

impl Good {
    /// For a flow whose copy takes `bytes` bytes.
    pub(super) fn new(bytes: usize) -> Self {
        let cost = Duration::from_secs_f64(bytes as f64 / COPIED);
        Good { kept: None, bytes, began: Instant::now(), spent: Duration::ZERO, cost }
    }

    /// Whether a copy may be made: the time limit permits another, and the host has enough memory.
    pub(super) fn is_due(&self) -> bool {
        (self.spent + self.cost).as_secs_f64() <= COPIES_FREE + CHECK_SHARE * self.began.elapsed().as_secs_f64()
            && device::host_memory().is_none_or(|available| self.bytes < available / 4)
    }

    pub(super) fn take<E>(&mut self, keep: impl FnOnce() -> Result<Option<Kept>, E>) -> Result<(), E> {
        let before = Instant::now();
        if let Some(kept) = keep()? {
            self.kept = Some(kept);
            self.cost = before.elapsed();
        }
        self.spent += before.elapsed();
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn checks_take_a_share_of_the_time_and_are_not_more_often_than_their_bytes_allow() {
        let checks = |cost: Duration, rate: f64| -> Vec<u64> {
            let mut watch = Watch { cost, ..Watch::new(1000) };
            let mut next = || {
                let step = watch.next;
                watch.plan(step, rate);
                step - 1000
            };
            (0..12).map(|_| next()).collect()
        };
        // Memory bandwidth dominates: a check takes 0.8 steps.
        assert_eq!(checks(Duration::from_millis(8), 100.0)[..6], [25, 75, 175, 375, 575, 775]);
        // Launch latency dominates: 100 us per check, 200 000 steps per second.
        let steps = checks(Duration::from_micros(100), 2e5);
        assert_eq!(steps[11] - steps[10], 4000);
    }

    #[test]
    fn fields_that_take_long_to_copy_are_not_copied_at_once() {
        assert!(Good::new(1 << 20).is_due());
        assert!(!Good::new(20 << 30).is_due());
    }
}
