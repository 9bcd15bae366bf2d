//! Mass on the way, where nothing lets it in or out.

use lbm_runtime::solver::Simulation;

use super::error::FlowError;
use crate::output::mass;

/// When to compare mass with that at the start. A comparison reads all populations once: twice as late each time, all of them take no time that
/// anyone would miss.
pub(super) struct Drift {
    /// Whether nothing lets mass in or out.
    pub(super) is_closed: bool,
    /// The step from which on the next comes; none where something is open, or the user has been told.
    next: Option<u64>,
}

/// The step of the first.
const FIRST: u64 = 1000;

impl Drift {
    pub(super) fn new(is_closed: bool, step: u64) -> Drift {
        Drift { is_closed, next: is_closed.then_some(FIRST.max(step)) }
    }

    /// Compares mass with that at the start at a check, if it is time. Returns what the user should know.
    pub(super) fn look(&mut self, start: f64, flow: &Simulation) -> Result<Option<String>, FlowError> {
        let step = flow.step();
        if self.next.is_none_or(|next| step < next) {
            return Ok(None);
        }
        let warning = mass::warning(start, flow.mass()?, step);
        self.next = if warning.is_some() { None } else { Some(2 * step) };
        Ok(warning)
    }
}
