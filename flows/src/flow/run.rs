//! A flow and the state of its run. Modules for parts of a run add methods to [`Run`], each in its own file.

use std::time::Instant;

use lbm_runtime::processes::Processes;
use lbm_runtime::solver::Simulation;
use lbm_runtime::solver::memory::Memory;
use lbm_runtime::solver::probe::Probe;
use lbm_runtime::solver::snapshot::Snapshot;

use super::backwards::Backwards;
use super::error::FlowError;
use super::mass::Drift;
use super::outbox::Outbox;
use super::watch::{Good, fields_on_host};
use crate::case::Case;
use crate::output::flux::Fluxes;
use crate::output::{Recorder, Schedule};
use crate::restart::{Identity, Sampled};
use crate::watch::Ask;

/// A flow and the state of its run.
pub(super) struct Run<'a> {
    pub(super) case: &'a Case,
    pub(super) identity: &'a Identity,
    pub(super) processes: Processes,
    pub(super) flow: Simulation,
    /// Memory of the grid when it was set up.
    pub(super) memory: Memory,
    /// Start of the run, and seconds from then to the end of its first step.
    pub(super) began: Instant,
    pub(super) first_step: f64,
    /// Sums of mass and of scalars at the start, by name.
    pub(super) start: Vec<(String, f64)>,
    /// Wall time in seconds, and cell updates, of the steps before the run was resumed.
    pub(super) before: (f64, u64),
    /// Seconds for which the flow has waited for output, including those before the run was resumed.
    pub(super) waited: f64,
    /// Change of velocity at the last check for steady flow.
    pub(super) residual: Option<f64>,
    /// Further state of the check for steady flow.
    pub(super) steadiness: Steadiness,
    /// The last step at which every value was finite.
    pub(super) well: u64,
    /// A recent state at which the flow was finite.
    pub(super) good: Good,
    /// Step of the last restart file written by this run.
    pub(super) saved: Option<u64>,
    /// When output is due.
    pub(super) schedule: Schedule,
    /// The probes of the case, in order.
    pub(super) probes: Vec<Probe>,
    /// The flux planes of the case, in order.
    pub(super) planes: Vec<Probe>,
    /// The planes that the case records, in order.
    pub(super) recordings: Vec<Probe>,
    /// First and last sampled step of each statistic of the case.
    pub(super) sampled: Vec<Option<Sampled>>,
    /// When to check the mass.
    pub(super) drift: Drift,
    /// What steps backwards work on, if derivatives are wanted.
    pub(super) backwards: Option<Backwards>,
    /// The forces on solids at the last steps, as far as these have come: see [`sway`](super::sway).
    pub(super) last_forces: Vec<Vec<[f64; 3]>>,
    /// The last section that a page has asked for, whose probe knows its stencils.
    pub(super) asked: Option<(Ask, Probe)>,
}

/// State of the check for steady flow since the last check.
#[derive(Default)]
pub(super) struct Steadiness {
    /// Change at the step before the next check, relative to the reference velocity.
    pub(super) before: Option<f64>,
    /// Fluxes through open faces at the step before the next check, if requested.
    pub(super) fluxes: Option<Fluxes>,
    pub(super) swing: Swing,
}

/// Whether the flow oscillates between steps.
#[derive(Clone, Copy, Default, PartialEq)]
pub(super) enum Swing {
    #[default]
    Unseen,
    Seen,
    Told,
}

/// The outbox through which a run records its output.
pub(super) type Records<'a, 's> = Outbox<'a, 's, Recorder<'a>>;

impl Run<'_> {
    /// The fields of this step. `None` if memory for them was not planned (`counted_on`) and the host does not have
    /// enough.
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
