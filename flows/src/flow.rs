//! A case run to its end: from a valid [`Case`] and the kernels of its method to the files it asks for.
//!
//! The run is cut into stretches that end where something is due: a check, an output, the last step, or a second gone.
//! Between them nothing leaves the device, and checks leave it a few numbers. What is written goes into copies, of which `outbox` makes
//! files while the flow goes on; it waits only where files take longer than the steps between them.
//!
//! Whether the flow is finite, and steady, is known at the step of the check, before the next step begins: which step that is does not
//! depend on how fast anything is. A check reads all cells and waits for a few numbers, which is little beside that.
//!
//! In several processes all do the same, and the first writes the files. What depends on time (how long a stretch is, when the next check
//! is, whether the run was interrupted) is agreed on.
//!
//! | module | job |
//! | --- | --- |
//! | `error`, `control` | why a run fails; what it is started with |
//! | `processes` | what several processes agree on, and what memory they have together |
//! | `sound`, `grid` | what is faster than sound; the grid of a case, and what lies behind its faces |
//! | `outbox` | the thread that makes files of copies |
//! | `watch`, `mass` | when to check, and what is kept of a flow that is well; change of mass |
//! | `setup` | the flow of a case in memory |
//! | `run` | a flow with what its run remembers |
//! | `steady`, `exchanges`, `probes`, `statistics`, `blowup` | parts of a run, a subject each |
//! | `begin` | what a run begins with, and what a restart file keeps of it |
//! | `record`, `advance`, `end` | what is due on the way; the steps; what is written last |
//! | `complete` | all of that together, for [`run()`] |
//! | `describe` | the results for people |
//! | `plan`, [`devices`] | what a run would take, without running it; how many GPUs are worth it |
//!
//! Invariant: no module imports one below it in the table.

mod advance;
mod begin;
mod blowup;
mod complete;
mod control;
mod describe;
pub mod devices;
mod end;
mod error;
mod exchanges;
mod grid;
mod mass;
mod outbox;
mod plan;
mod probes;
mod processes;
mod record;
mod run;
mod setup;
mod sound;
mod statistics;
mod steady;
mod watch;

use lbm_runtime::device::Device;

pub use control::{Control, Kernels};
pub use describe::describe;
pub use error::FlowError;
pub use plan::{Plan, PlannedLevel, header};
pub use processes::available;
pub use setup::{devices_of, start};

use crate::case::Case;
use crate::output::Recorder;
use crate::output::sink::Place;
use crate::output::summary::{About, Summary};
use crate::restart::{Identity, Restart};
use complete::complete;
use run::Run;

/// Runs a case and writes what it asks for into a folder, in the place of the results of earlier runs; where it fails, the summary
/// says so. `device` is the first of the case's devices. `notice` is told what the user should know. Of several processes all return the
/// summary, that of the first with what is in the files; they are to be ended
/// ([`abort`](lbm_runtime::processes::Processes::abort)) where one returns an error.
pub fn run<'p>(
    case: &Case,
    kernels: Kernels<'_>,
    device: &Device,
    folder: impl Into<Place<'p>>,
    control: Control<'_>,
    mut notice: impl FnMut(&str),
) -> Result<Summary, FlowError> {
    let (manifest, processes) = (&kernels.method.manifest, control.processes());
    let identity = Identity::new(case, kernels.method, kernels.criteria, device.toolchain()?);
    let about = About::new(case, manifest, device, &processes);
    let folder = folder.into();
    let create = || Recorder::create(case, about.clone(), folder);
    let mut recorder = processes.is_first().then(create).transpose()?;
    let open = |path| Restart::open(path, &identity, case, manifest, control.resume_anyway);
    let restart = control.resume.map(open).transpose()?;
    processes::agree(&processes, &identity, control.inputs, restart.as_ref())?;
    let other = restart.as_ref().map_or(String::new(), |restart| restart.other_toolchain().join("; "));
    if !other.is_empty() {
        notice(&format!("bits will not be those of an unbroken run: {other}"));
    }
    match (&mut recorder, &restart, control.resume) {
        (Some(recorder), Some(restart), Some(file)) => {
            recorder.resume(control.inputs, file, &restart.course().recorded)?;
        }
        (Some(recorder), ..) => recorder.begin(control.inputs)?,
        (None, ..) => {}
    }
    let result = devices_of(case, device).map_err(FlowError::from).and_then(|devices| {
        let run = Run::begin(case, kernels, &devices, (&identity, processes), restart)?;
        complete(run, &mut recorder, &about, manifest, &devices, control, &mut notice)
    });
    if let (Err(error), Some(recorder)) = (&result, &mut recorder) {
        // Where not even this can be written, the error that is returned is the one to tell.
        recorder.fail(error).ok();
    }
    result
}
