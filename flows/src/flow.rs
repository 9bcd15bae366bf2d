//! Runs a case: from a valid [`Case`] and the kernels of its method to the output files that it requests.
//!
//! A run proceeds in intervals of steps that end when a check, an output or the last step is due, or after a fraction
//! of a second. Between them no data leave the device; checks transfer only a few numbers. Output is copied to staging
//! buffers, from which the thread of `outbox` writes files while the flow advances. The flow waits only if writing
//! takes longer than the steps between two outputs.
//!
//! Checks for finite values and for steady flow are evaluated at their step, before the next step begins. The step at
//! which a run ends therefore does not depend on the speed of any component. A check reads all cells, and waiting for
//! its few numbers is cheap by comparison.
//!
//! In several processes all execute the same calls, and the first one writes the files. The processes agree on every
//! decision that depends on the clock (length of an interval, step of the next check) and on interrupts.
//!
//! | module | job |
//! | --- | --- |
//! | `error`, `control` | errors of a run; its inputs |
//! | `processes` | agreement of several processes, and their total memory |
//! | `placement` | where a flow runs: processes, and the device of each subdomain |
//! | `sound`, `grid` | walls and solids faster than sound; the grid of a case and the conditions at its faces |
//! | `outbox` | the thread that writes files from copies |
//! | `watch`, `mass` | when to check, and the last finite state kept on the host; drift of mass |
//! | `setup` | allocates and initialises the flow of a case |
//! | `backwards`, `objective` | what steps backwards work on, for derivatives of an objective; what fields of a step add to it |
//! | `run` | a flow and the state of its run |
//! | `steady`, `exchanges`, `sway`, `probes`, `statistics`, `gradient`, `blowup` | parts of a run, one subject each |
//! | `begin` | start of a run, and its state in restart files |
//! | `record`, `visits`, `advance`, `end` | output during the run; questions of pages between steps; the steps; output at the end |
//! | `complete` | combines all of these for [`run()`] |
//! | `describe` | the results as readable text |
//! | `plan`, [`devices`] | cost of a run without running it; how many GPUs are worth using |
//!
//! Invariant: no module imports one below it in the table.

mod advance;
mod backwards;
mod begin;
mod blowup;
mod complete;
mod control;
mod describe;
pub mod devices;
mod end;
mod error;
mod exchanges;
mod gradient;
mod grid;
mod mass;
mod objective;
mod outbox;
mod placement;
mod plan;
mod probes;
mod processes;
mod record;
mod run;
mod setup;
mod sound;
mod statistics;
mod steady;
mod sway;
mod visits;
mod watch;

pub use control::{Control, Kernels};
pub use describe::describe;
pub use error::FlowError;
pub use gradient::{AtEnd, ByFields, Pace, WithPopulations, gradient};
pub use placement::Placement;
pub use plan::{Plan, PlannedLevel, header};
pub use processes::available;
pub use setup::start;

use crate::case::Case;
use crate::output::Recorder;
use crate::output::sink::Place;
use crate::output::summary::{About, Summary};
use crate::restart::{Identity, Restart};
use complete::complete;
use run::Run;

/// Runs a case and writes its output to a folder, in place of the results of earlier runs. If the run fails, the
/// summary reports it. `notice` receives messages for the user. In several processes each returns the summary; that of the
/// first has the contents of the files. If one returns an error, the caller must abort all
/// ([`abort`](lbm_runtime::processes::Processes::abort)).
pub fn run<'p>(
    case: &Case,
    kernels: Kernels<'_>,
    placement: &Placement,
    folder: impl Into<Place<'p>>,
    control: Control<'_>,
    mut notice: impl FnMut(&str),
) -> Result<Summary, FlowError> {
    let (manifest, processes) = (&kernels.method.manifest, placement.processes());
    let identity = Identity::new(case, kernels.method, kernels.criteria, placement.first().toolchain()?);
    let about = About::new(case, manifest, placement.first(), placement.subdomains());
    let folder = folder.into();
    let create = || Recorder::create(case, about.clone(), folder);
    let mut recorder = processes.is_first().then(create).transpose()?;
    let open = |path| Restart::open(path, &identity, case, manifest, control.resume_anyway);
    let restart = control.resume.map(open).transpose()?;
    processes::agree(processes, &identity, control.inputs, restart.as_ref())?;
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
    let run = Run::begin(case, kernels, placement, &identity, restart);
    let result = run.and_then(|run| complete(run, &mut recorder, &about, manifest, placement, control, &mut notice));
    if let (Err(error), Some(recorder)) = (&result, &mut recorder) {
        // If this cannot be written either, the original error is the one to report.
        recorder.fail(error).ok();
    }
    result
}
