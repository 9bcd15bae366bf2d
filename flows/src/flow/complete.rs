//! A run that was set up, taken to its end: its steps beside the thread that writes files, then its last files. After [`complete`] the
//! folder has all results, or the fields of a flow that blew up; the user has been told what is worth knowing.

use std::time::Instant;

use lbm_bundle::Manifest;
use lbm_runtime::device::{Device, DeviceError, Devices, copy_bandwidth};

use super::advance::Ended;
use super::control::Control;
use super::error::FlowError;
use super::outbox;
use super::run::Run;
use crate::case::density::misfit;
use crate::output::Recorder;
use crate::output::progress::{Facts, Progress, duration};
use crate::output::summary::{About, Summary, bytes_per_update};

/// Seconds of waiting for output from which on the user is told.
const LONG_WAIT: f64 = 1.0;

/// Advances a flow to its end, and writes what is left to be written then.
pub(super) fn complete<'a>(
    mut run: Run<'a>,
    recorder: &mut Option<Recorder<'a>>,
    about: &About,
    manifest: &Manifest,
    devices: &[Device],
    control: Control<'_>,
    notice: &mut dyn FnMut(&str),
) -> Result<Summary, FlowError> {
    let case = run.case;
    run.flow.notices().iter().for_each(|text| notice(text));
    if control.resume.is_some() {
        run.begin_late().iter().for_each(|text| notice(text));
        nothing_left(run.flow.step(), case.stop.steps).iter().for_each(|text| notice(text));
    }
    let copying = Instant::now();
    let bandwidth = control.bandwidth.then(|| bandwidth_of(devices)).transpose()?;
    let bandwidth = bandwidth.map(|own| control.processes().sum(own));
    // That is no part of what it takes to get to the first step.
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
    let ended = outbox::beside(recorder.as_mut(), &devices[0], case.copies(manifest), |records| {
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
            let summary = run.end(stop, recorder, about, manifest, bandwidth)?;
            recorder.iter_mut().flat_map(Recorder::notices).for_each(|text| notice(&text));
            // What starts at another density has had its warning.
            let drifted = misfit(manifest, &case.walls, &case.solids, summary.mass_end / summary.mass_start);
            drifted.iter().for_each(|text| notice(text));
            Ok(summary)
        }
        Ended::Broken(place) => Err(run.broken(place, recorder)?),
    }
}

/// Bytes read and written per second by copies between large arrays, on all devices of a case together.
fn bandwidth_of(devices: &[Device]) -> Result<f64, DeviceError> {
    Devices::new(devices).iter().map(copy_bandwidth).sum()
}

/// What a user is told who goes on from where a run has ended, or from beyond.
fn nothing_left(done: u64, last: u64) -> Option<String> {
    (done >= last).then(|| {
        format!("no step is left to do: the restart file is that of step {done}, and the case ends with step {last} (`stop`)")
    })
}

/// What a user is told when the flow has waited for files.
fn slow_output(seconds: f64) -> String {
    format!(
        "the flow waited {} for earlier output to be written: where that is too long, write less often (`output.every`, \
         `output.restart`) or to a faster disk (`--out DIR`)",
        duration(seconds)
    )
}
