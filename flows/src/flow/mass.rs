//! Drift of mass in a flow through whose boundaries none can pass.

use lbm_runtime::solver::Simulation;

use super::error::FlowError;
use crate::output::mass;

/// Schedule of the comparisons of mass with its initial value. A comparison reads all populations once. The interval
/// doubles each time, so the total cost is negligible.
pub(super) struct Drift {
    /// Whether no boundary lets mass in or out.
    pub(super) is_closed: bool,
    /// The step from which on the next comparison is due; `None` if a boundary is open, or after the user has been
    /// warned.
    next: Option<u64>,
}

/// Step of the first comparison.
const FIRST: u64 = 1000;

impl Drift {
    pub(super) fn new(is_closed: bool, step: u64) -> Drift {
        Drift { is_closed, next: is_closed.then_some(FIRST.max(step)) }
    }

    /// Compares mass with its initial value if a comparison is due. Returns a warning for the user.
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
