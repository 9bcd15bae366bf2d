//! Errors of a run. Each reports what happened, where and when, and what the user can do.

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
    /// An error of the method, the grid or the device.
    #[error(transparent)]
    #[diagnostic(transparent)]
    Step(#[from] StepError),
    /// An error of the device.
    #[error(transparent)]
    #[diagnostic(transparent)]
    Device(#[from] DeviceError),
    /// An error while writing output.
    #[error(transparent)]
    #[diagnostic(transparent)]
    Output(#[from] OutputError),
    /// An error of the restart file.
    #[error(transparent)]
    #[diagnostic(transparent)]
    Restart(#[from] RestartError),
    /// An error of the processes.
    #[error(transparent)]
    #[diagnostic(transparent)]
    Process(#[from] ProcessError),
    /// The grid does not fit into memory.
    #[error("the grid needs {lack}")]
    #[diagnostic(code(C0312), help("needed are {}; take fewer cells, or fewer levels", listed(parts)))]
    Memory {
        /// The kind of memory that is insufficient, and by how much.
        lack: Lack,
        /// Bytes of each item.
        parts: Vec<(&'static str, usize)>,
    },
    /// A grid that is refined only at the start does not fit into the memory that it may take.
    #[error("{refused} refinements of the grid do not fit: there is memory for {room} blocks")]
    #[diagnostic(code(C0312), help("take fewer levels, refine less, or raise `refinement.memory` if it is given"))]
    Refused {
        /// Number of refinements that do not fit.
        refused: usize,
        /// Number of blocks that fit.
        room: usize,
    },
    /// A wall or a solid is faster than sound.
    #[error("{what} has Mach {mach:.2} at step {step}: faster than sound on this lattice")]
    #[diagnostic(
        code(C0503),
        help("its formula of the time has this speed between steps at which it was looked at before: make it slower")
    )]
    Supersonic {
        /// The wall or solid.
        what: String,
        /// The step.
        step: u64,
        /// Its speed over the speed of sound.
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
        /// The cell and the component.
        place: Box<NotFinite>,
        /// Position in the units of the case.
        position: String,
        /// The step at which it was found.
        step: u64,
        /// The last step at which every value was known to be finite.
        well: u64,
        /// Text: where and when it began, if known.
        began: String,
        /// Text: remedies, and files that help.
        advice: String,
    },
}

/// Text: bytes of each item.
fn listed(parts: &[(&'static str, usize)]) -> String {
    parts.iter().map(|(name, bytes)| format!("{} {name}", Bytes(*bytes))).collect::<Vec<_>>().join(", ")
}

/// Text: level of a cell, unless it is 0.
pub(super) fn of_level(level: usize) -> String {
    if level == 0 { String::new() } else { format!(" of level {level}") }
}
