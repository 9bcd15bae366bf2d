//! Why a run fails. Each error says what happened, where and when, and what the user can do.

use lbm_runtime::device::{Bytes, DeviceError};
use lbm_runtime::processes::ProcessError;
use lbm_runtime::solver::StepError;
use lbm_runtime::solver::memory::Lack;
use lbm_runtime::solver::observe::NotFinite;
use miette::Diagnostic;
use thiserror::Error;

use crate::output::sink::OutputError;
use crate::restart::RestartError;

/// Why a run failed.
#[derive(Debug, Error, Diagnostic)]
pub enum FlowError {
    /// The method, the grid or the device.
    #[error(transparent)]
    #[diagnostic(transparent)]
    Step(#[from] StepError),
    /// The device.
    #[error(transparent)]
    #[diagnostic(transparent)]
    Device(#[from] DeviceError),
    /// A file.
    #[error(transparent)]
    #[diagnostic(transparent)]
    Output(#[from] OutputError),
    /// The file to go on from.
    #[error(transparent)]
    #[diagnostic(transparent)]
    Restart(#[from] RestartError),
    /// The processes.
    #[error(transparent)]
    #[diagnostic(transparent)]
    Process(#[from] ProcessError),
    /// The grid does not fit into memory.
    #[error("the grid needs {lack}")]
    #[diagnostic(code(C0312), help("needed are {}; take fewer cells, or fewer levels", listed(parts)))]
    Memory {
        /// What there is not enough of.
        lack: Lack,
        /// What takes how many bytes.
        parts: Vec<(&'static str, usize)>,
    },
    /// A grid that stays as it is set up does not fit into the memory that it may take.
    #[error("{refused} refinements of the grid do not fit: there is memory for {room} blocks")]
    #[diagnostic(code(C0312), help("take fewer levels, refine less, or raise `refinement.memory` if it is given"))]
    Refused {
        /// Refinements that there is no room for.
        refused: usize,
        /// Blocks that there is room for.
        room: usize,
    },
    /// A wall or a solid is faster than sound.
    #[error("{what} has Mach {mach:.2} at step {step}: faster than sound on this lattice")]
    #[diagnostic(
        code(C0503),
        help("its formula of the time has this speed between steps at which it was looked at before: make it slower")
    )]
    Supersonic {
        /// Which.
        what: String,
        /// When.
        step: u64,
        /// Its speed over that of sound.
        mach: f64,
    },
    /// The flow blew up.
    #[error(
        "the flow is not finite: `{}` at cell ({}, {}, {}){}, {position}; found at step {step}, last seen finite at \
         step {well}{began}",
        place.component, place.cell.at[0], place.cell.at[1], place.cell.at[2], of_level(place.cell.level)
    )]
    #[diagnostic(code(C0701), help("{advice}"))]
    NotFinite {
        /// Where.
        place: Box<NotFinite>,
        /// The same in the units of the case.
        position: String,
        /// When.
        step: u64,
        /// The last step at which every value was finite.
        well: u64,
        /// Where and when that began, if it is known.
        began: String,
        /// What can be done, and what there is to look at.
        advice: String,
    },
}

/// In a message: what takes how many bytes.
fn listed(parts: &[(&'static str, usize)]) -> String {
    parts.iter().map(|(name, bytes)| format!("{} {name}", Bytes(*bytes))).collect::<Vec<_>>().join(", ")
}

/// In a message about a cell.
pub(super) fn of_level(level: usize) -> String {
    if level == 0 { String::new() } else { format!(" of level {level}") }
}
