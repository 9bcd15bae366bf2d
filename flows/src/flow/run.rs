//! A flow with what its run remembers. Modules that do a part of a run add their methods to [`Run`], each in its own file.

use std::time::Instant;

use lbm_runtime::processes::Processes;
use lbm_runtime::solver::Simulation;
use lbm_runtime::solver::memory::Memory;
use lbm_runtime::solver::probe::Probe;
use lbm_runtime::solver::snapshot::Snapshot;

use super::error::FlowError;
use super::mass::Drift;
use super::outbox::Outbox;
use super::watch::{Good, fields_on_host};
use crate::case::Case;
use crate::output::Recorder;
use crate::output::flux::Fluxes;
use crate::restart::{Identity, Sampled};

/// A flow with what its run remembers.
pub(super) struct Run<'a> {
    pub(super) case: &'a Case,
    pub(super) identity: &'a Identity,
    pub(super) processes: Processes,
    pub(super) flow: Simulation,
    /// What the grid took when it was set up.
    pub(super) memory: Memory,
    /// When the run began, and seconds from then until its first step was done.
    pub(super) began: Instant,
    pub(super) first_step: f64,
    /// Sums at the start, by name.
    pub(super) start: Vec<(String, f64)>,
    /// Wall time and cell updates of steps before this run went on, in seconds.
    pub(super) before: (f64, u64),
    /// Seconds for which the flow has waited for output, those before this run went on among them.
    pub(super) waited: f64,
    /// Change of velocity at the last check for steady flow.
    pub(super) residual: Option<f64>,
    /// What else is known of whether the flow is steady.
    pub(super) steadiness: Steadiness,
    /// The last step at which every value was finite.
    pub(super) well: u64,
    /// Fields of a step not long before, if all was well then.
    pub(super) good: Good,
    /// Step of the last restart file of this run.
    pub(super) saved: Option<u64>,
    /// The probes of the case, in their order.
    pub(super) probes: Vec<Probe>,
    /// The planes of its fluxes.
    pub(super) planes: Vec<Probe>,
    /// Which steps each of the statistics of the case has samples of.
    pub(super) sampled: Vec<Option<Sampled>>,
    /// When to look at its mass.
    pub(super) drift: Drift,
}

/// What is known of the flow since the last check.
#[derive(Default)]
pub(super) struct Steadiness {
    /// The change a step before the check that comes, over the reference velocity.
    pub(super) before: Option<f64>,
    /// What flows through open faces a step before the check that comes, where that is asked for.
    pub(super) fluxes: Option<Fluxes>,
    pub(super) swing: Swing,
}

/// Whether the flow swings.
#[derive(Clone, Copy, Default, PartialEq)]
pub(super) enum Swing {
    #[default]
    Unseen,
    Seen,
    Told,
}

/// Where a run leaves what is to be recorded.
pub(super) type Records<'a, 's> = Outbox<'a, 's, Recorder<'a>>;

impl Run<'_> {
    /// The fields of this step; nothing where they were not counted on, and the host has not room for them.
    pub(super) fn fields_if_room(&mut self, counted_on: bool) -> Result<Option<Snapshot>, FlowError> {
        let fits = lbm_runtime::device::host_memory().is_none_or(|room| fields_on_host(&self.flow) < room);
        let takes = self.processes.broadcast(u64::from(counted_on || fits)) != 0;
        Ok(takes.then(|| self.flow.snapshot()).transpose()?)
    }

    pub(super) fn seconds(&self) -> f64 {
        self.before.0 + self.flow.timings().seconds()
    }

    pub(super) fn updates(&self) -> u64 {
        self.before.1 + self.flow.timings().updates()
    }
}
