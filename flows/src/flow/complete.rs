//! Completes a run that was set up: its steps, concurrently with the thread that writes files, and then its final
//! output. After [`complete`] the folder has all results, or the fields of a flow that blew up, and the user has been
//! notified.

use std::time::Instant;

use lbm_bundle::Manifest;
use lbm_runtime::device::{DeviceError, Devices, copy_bandwidth};
use lbm_runtime::solver::memory::Copies;

use super::advance::Ended;
use super::control::Control;
use super::error::FlowError;
use super::outbox;
use super::placement::Placement;
use super::run::Run;
use crate::case::Stop;
use crate::case::density::misfit;
use crate::output::Recorder;
use crate::output::progress::{Facts, Progress, duration};
use crate::output::summary::{About, Summary, bytes_per_update};

/// Waiting time for output, in seconds, above which the user is notified.
const LONG_WAIT: f64 = 1.0;

/// Advances a flow to its end, and writes its final output.
pub(super) fn complete<'a>(
    mut run: Run<'a>,
    recorder: &mut Option<Recorder<'a>>,
    about: &About,
    manifest: &Manifest,
    placement: &Placement,
    control: Control<'_>,
    notice: &mut dyn FnMut(&str),
) -> Result<Summary, FlowError> {
    let case = run.case;
    run.flow.notices().iter().for_each(|text| notice(text));
    if control.resume.is_some() {
        run.begin_late().iter().for_each(|text| notice(text));
        nothing_left(run.flow.step(), case.stop.steps, run.is_steady()).iter().for_each(|text| notice(text));
    }
    never_checked(&case.stop).iter().for_each(|text| notice(text));
    let copying = Instant::now();
    let bandwidth = control.bandwidth.then(|| bandwidth_of(placement)).transpose()?;
    // The measurement does not count as time to the first step.
    run.began += copying.elapsed();
    let facts = Facts {
        updates: run.flow.grid().updates(),
        bytes_per_update: bytes_per_update(manifest),
        memory_bandwidth: bandwidth,
        from: run.flow.step(),
        stop: case.stop,
        time_step: case.units.step,
    };
    let mut progress = Progress::new(facts, control.show);
    let before = run.waited;
    let copies = run.schedule.copies();
    // A page may order a restart file.
    let copies = if control.desk.is_some() { Copies { states: copies.states.max(1), ..copies } } else { copies };
    let ended = outbox::beside(recorder.as_mut(), placement.first(), copies, |records| {
        let ended = run.advance(records, control, &mut progress, notice);
        progress.finish();
        ended
    });
    if let Some(recorder) = recorder {
        recorder.reach(run.flow.step());
    }
    if run.waited - before >= LONG_WAIT {
        notice(&slow_output(run.waited - before));
    }
    match ended? {
        Ended::Stopped(stop) => {
            let summary = run.end(stop, recorder, about, (manifest, bandwidth), (control, &mut progress), notice)?;
            recorder.iter_mut().flat_map(Recorder::notices).for_each(|text| notice(&text));
            // A case that starts at another density has already been warned about.
            let drifted = misfit(manifest, &case.walls, &case.solids, summary.mass_end / summary.mass_start);
            drifted.iter().for_each(|text| notice(text));
            Ok(summary)
        }
        Ended::Broken(place) => {
            Err(run.broken(place, recorder, control.known.map_or_else(Vec::new, |known| known()))?)
        }
    }
}

/// Memory bandwidth in bytes per second (read and written), summed over all devices of all processes.
fn bandwidth_of(placement: &Placement) -> Result<f64, DeviceError> {
    let own: f64 = Devices::new(placement.devices()).iter().map(copy_bandwidth).sum::<Result<f64, DeviceError>>()?;
    Ok(placement.processes().sum(own))
}

/// Message for a run resumed at or beyond its last step, or where it was steady.
fn nothing_left(done: u64, last: u64, is_steady: bool) -> Option<String> {
    let why = match is_steady {
        true => "where the flow is steady".to_string(),
        false => format!("and the case ends with step {last} (`stop`)"),
    };
    (done >= last || is_steady)
        .then(|| format!("no step is left to do: the restart file is that of step {done}, {why}"))
}

/// Message for a run that ends before its first check for steady flow.
fn never_checked(stop: &Stop) -> Option<String> {
    let every = stop.steady.filter(|steady| steady.check_every > stop.steps)?.check_every;
    Some(format!(
        "the run ends with step {}, before its first check for steady flow, which is after {every} steps (`stop.check_every`)",
        stop.steps
    ))
}

/// Message for a flow that has waited for output.
fn slow_output(seconds: f64) -> String {
    format!(
        "the flow waited {} for earlier output to be written: where that is too long, write less often (`output.every`, \
         `output.restart`) or to a faster disk (`--out DIR`)",
        duration(seconds)
    )
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::case::Steady;

    #[test]
    fn a_run_that_ends_before_its_first_check_says_so() {
        let stop = |steps: u64, check_every: u64| {
            let steady = Some(Steady { tolerance: 1e-6, check_every });
            Stop { steps, steady, wall_seconds: None }
        };
        let text = never_checked(&stop(200, 500)).unwrap();
        assert!(text.contains("500 steps") && text.contains("step 200"), "{text}");
        assert_eq!(never_checked(&stop(500, 500)), None);
        assert_eq!(never_checked(&Stop { steady: None, ..stop(200, 500) }), None);
    }
}
