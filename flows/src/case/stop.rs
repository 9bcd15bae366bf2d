//! When a run ends, and why it has ended.

use serde::{Deserialize, Serialize};

use super::keys::stop::RawStop;
use super::units::{Dimension, Units};

/// Steps between checks for steady flow, if the case does not say.
const CHECK_EVERY: f64 = 1000.0;

/// When a flow counts as steady.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Steady {
    /// Stop when, since the last check, no velocity has changed by more than this fraction of the reference velocity (of 1
    /// cell per step, where that is zero).
    pub tolerance: f64,
    /// Steps between checks.
    pub check_every: u64,
}

/// When a run ends.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Stop {
    /// After so many steps.
    pub steps: u64,
    /// Or earlier, when the flow is steady.
    pub steady: Option<Steady>,
    /// Or earlier, after so many seconds of wall-clock time.
    pub wall_seconds: Option<f64>,
}

impl Stop {
    /// As a case has it.
    pub(super) fn new(raw: &RawStop, units: &Units) -> Stop {
        let steps = match (&raw.steps, &raw.time) {
            (Some(steps), _) => steps.value,
            (None, Some(time)) => (time.value / units.scale(Dimension::TIME)).ceil(),
            (None, None) => 0.0,
        };
        let check_every = raw.check_every.as_ref().map_or(CHECK_EVERY, |every| every.value) as u64;
        Stop {
            steps: steps as u64,
            steady: raw.steady.as_ref().map(|tolerance| Steady { tolerance: tolerance.value, check_every }),
            wall_seconds: raw.wall_minutes.as_ref().map(|minutes| 60.0 * minutes.value),
        }
    }
}

/// Why a run ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum StopReason {
    /// The flow became steady.
    Steady,
    /// All steps were done.
    Steps,
    /// The run was interrupted.
    Interrupted,
    /// The wall-clock time that it may take was over.
    WallTime,
}

impl StopReason {
    /// In a few words.
    pub fn words(self) -> &'static str {
        match self {
            StopReason::Steady => "the flow is steady",
            StopReason::Steps => "all steps are done",
            StopReason::Interrupted => "interrupted",
            StopReason::WallTime => "out of wall-clock time",
        }
    }

    /// Whether the run has ended before its time: it leaves a restart file from which it goes on.
    pub fn is_early(self) -> bool {
        match self {
            StopReason::Steady | StopReason::Steps => false,
            StopReason::Interrupted | StopReason::WallTime => true,
        }
    }
}
