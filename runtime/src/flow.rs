//! A case run to its end: from a valid [`Case`] and the kernels of its method to the files it asks for.
//!
//! The run is cut into stretches that end where something is due: a check, an output, the last step, or a second gone.
//! Between them nothing leaves the device.

use std::collections::BTreeMap;
use std::path::Path;
use std::time::{Duration, Instant};

use lbm_bundle::Bundle;
use miette::Diagnostic;
use thiserror::Error;

use crate::bandwidth::copy_bandwidth;
use crate::case::Case;
use crate::device::{Device, DeviceError};
use crate::mesh;
use crate::observe::{self, NotFinite};
use crate::output::Recorder;
use crate::output::progress::{Facts, Progress};
use crate::output::series::Decay;
use crate::output::sink::OutputError;
use crate::output::summary::{Carried, Measured, StopReason, Summary, bytes_per_update};
use crate::step::{FaceSpec, GridSpec, Phase, Simulation, StepError, Timings, WallSpec};

/// Longest stretch between two looks at the progress line, in seconds.
const STRETCH: f64 = 0.25;
/// Looking for values that are no numbers takes at most this share of the time.
const WATCH_SHARE: f64 = 0.02;

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
    /// The flow blew up.
    #[error(
        "the flow is not finite: `{}` at cell ({}, {}, {}){}, found at step {}; all was well at step {well}",
        place.component, place.cell.at[0], place.cell.at[1], place.cell.at[2], of_level(place.cell.level), place.step
    )]
    #[diagnostic(
        code(C0701),
        help(
            "the grid is too coarse for this Reynolds number, or the velocity too high: lower `re` or the velocity, refine \
             the grid, or take a more stable collision; the fields of that step are in `{folder}`"
        )
    )]
    NotFinite {
        /// Where.
        place: NotFinite,
        /// The last step at which every value was finite.
        well: u64,
        /// Where the output is.
        folder: String,
    },
}

/// Runs a case and writes what it asks for into `folder`. `notice` is told what the user should know.
pub fn run(
    case: &Case,
    bundle: &Bundle,
    device: &Device,
    folder: &Path,
    mut notice: impl FnMut(&str),
) -> Result<Summary, FlowError> {
    let mut recorder = Recorder::create(case, folder)?;
    let mut flow = start(case, bundle, device)?;
    flow.notices().iter().for_each(|text| notice(text));
    let bandwidth = copy_bandwidth(device)?;
    let sums_start = flow.sums()?;
    let facts = Facts {
        updates: flow.grid().updates(),
        bytes_per_update: bytes_per_update(&bundle.manifest),
        copy_bandwidth: Some(bandwidth),
        stop: case.stop,
    };
    let mut progress = Progress::new(facts, false);

    let mut last = flow.snapshot()?;
    if recorder.wants(last.step) {
        recorder.during(&last)?;
    }
    let mut watch = Watch::new();
    let mut residual = None;
    let mut stop = StopReason::Steps;
    while flow.step() < case.stop.steps {
        let steps = stretch(case, &flow);
        flow.run(steps)?;
        let step = flow.step();
        let check = case.stop.steady.filter(|steady| step.is_multiple_of(steady.check_every));
        let ends = step == case.stop.steps;
        if check.is_some() || ends || recorder.wants(step) || watch.due() {
            let snapshot = watch.time(|| flow.snapshot())?;
            if let Some(place) = observe::first_not_finite(&snapshot) {
                progress.finish();
                recorder.broken(&snapshot)?;
                return Err(FlowError::NotFinite { place, well: last.step, folder: folder.display().to_string() });
            }
            if recorder.wants(step) {
                recorder.during(&snapshot)?;
            }
            if check.is_some() {
                residual = observe::velocity_change(&last, &snapshot).map(|change| case.residual(change));
            }
            // Between checks the state of the last check stays, to be compared with that of the next.
            if check.is_some() || case.stop.steady.is_none() {
                last = snapshot;
            }
        }
        progress.update(step, check.and(residual));
        if let (Some(steady), Some(change)) = (check, residual)
            && change < steady.tolerance
        {
            stop = StopReason::Steady;
            break;
        }
    }
    progress.finish();

    let sums: Vec<Carried> = sums_start
        .into_iter()
        .zip(flow.sums()?)
        .map(|(start, end)| Carried { name: start.name, start: start.mass, end: end.mass })
        .collect();
    let measured = Measured {
        levels: flow.grid().cells_of_levels(),
        updates: flow.grid().updates(),
        phases: phases(flow.timings()),
        device: device.describe(),
        steps: flow.step(),
        seconds: flow.timings().seconds(),
        copy_bandwidth: Some(bandwidth),
        mass_start: sums[0].start,
        mass_end: sums[0].end,
        carried: sums[1..].to_vec(),
        residual,
        stop,
    };
    let end = flow.snapshot()?;
    Ok(recorder.finish(&end, &bundle.manifest, &measured)?)
}

/// In a message about a cell.
fn of_level(level: usize) -> String {
    if level == 0 { String::new() } else { format!(" of level {level}") }
}

/// Mean seconds of each phase that takes any.
fn phases(timings: &Timings) -> BTreeMap<String, f64> {
    let of = |phase: Phase| (phase.name().to_string(), timings.phase(phase));
    Phase::ALL.into_iter().map(of).filter(|(_, seconds)| *seconds > 0.0).collect()
}

/// What a run did, in a few lines for people.
pub fn describe(summary: &Summary, folder: &Path) -> String {
    let why = match summary.stop {
        StopReason::Steady => "the flow is steady",
        StopReason::Steps => "all steps are done",
    };
    let mut text = format!("{} steps, {why}; {:.1} MLUPS", summary.steps, summary.mlups);
    if let Some(share) = summary.fraction_of_copy {
        text += &format!(", {share:.2} of the copy bandwidth of {}", summary.device);
    }
    text += &format!("\nmass {:.9} at the start, {:.9} at the end\n", summary.mass_start, summary.mass_end);
    for Carried { name, start, end } in &summary.carried {
        text += &format!("sum of {name} {start:.9} at the start, {end:.9} at the end\n");
    }
    for with in &summary.compared {
        text += &format!("{} against {}: rms {:.4}, at most {:.4}\n", with.profile, with.with, with.rms, with.max);
    }
    if let Some(Decay { with, until, energy_rms, dissipation_rms, peak, published_peak }) = &summary.decay {
        text += &format!(
            "against {with} until t U/L = {until}: energy rms {energy_rms:.2e} of that at the start; dissipation rms \
             {dissipation_rms:.3} of its peak, peak {:.5} at {:.2}, published {:.5} at {:.2}\n",
            peak.dissipation, peak.time, published_peak.dissipation, published_peak.time,
        );
    }
    text + &format!("{}: {}, summary.json\n", folder.display(), summary.files.join(", "))
}

/// The simulation of a case, at its start.
fn start(case: &Case, bundle: &Bundle, device: &Device) -> Result<Simulation, StepError> {
    let mut grid = GridSpec::periodic(case.size);
    for wall in &case.walls {
        let face = mesh::Face::of_axis(wall.face.axis)[usize::from(wall.face.high)];
        let rule = WallSpec { rule: wall.rule.clone(), values: wall.values.clone() };
        grid.faces[face.index()] = FaceSpec::Wall(rule);
    }
    let cells = case.block.map(|side| side as usize);
    let levels = case.refinement.as_ref().map_or(1, |refinement| refinement.finest + 1);
    let refines = |block| case.refinement.as_ref().is_some_and(|refinement| refinement.refines(block, cells));
    let mut flow = Simulation::refined(device, bundle, &grid, &case.params, levels, refines)?;
    flow.init_cells(|cell, out| case.start.at(cell.centre(), out))?;
    if let (false, Some(viscosity)) = (case.start.is_uniform(), case.scales.viscosity) {
        flow.start_with_stress(viscosity)?;
    }
    Ok(flow)
}

/// Steps until something is due.
fn stretch(case: &Case, flow: &Simulation) -> u64 {
    let step = flow.step();
    let until = |every: u64| every - step % every;
    let rate = flow.timings().steps_per_second();
    let glance = if rate > 0.0 { (rate * STRETCH) as u64 } else { 1 };
    let mut steps = glance.max(1).min(case.stop.steps - step);
    if let Some(steady) = case.stop.steady {
        steps = steps.min(until(steady.check_every));
    }
    for every in [case.output.every, case.output.series].into_iter().flatten() {
        steps = steps.min(until(every));
    }
    steps
}

/// When to look again for values that are no numbers.
struct Watch {
    looked: Instant,
    cost: Duration,
}

impl Watch {
    fn new() -> Self {
        Watch { looked: Instant::now(), cost: Duration::ZERO }
    }

    fn due(&self) -> bool {
        self.looked.elapsed().as_secs_f64() > (self.cost.as_secs_f64() / WATCH_SHARE).max(1.0)
    }

    fn time<T>(&mut self, look: impl FnOnce() -> T) -> T {
        let before = Instant::now();
        let result = look();
        self.looked = Instant::now();
        self.cost = before.elapsed();
        result
    }
}
