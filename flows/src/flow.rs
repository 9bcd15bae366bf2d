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

use std::collections::{BTreeMap, HashSet};
use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Instant;

use lbm_bundle::criteria::{CriteriaBundle, CriterionRole};
use lbm_bundle::prescribed::PrescribedBundle;
use lbm_bundle::statistics::StatisticsBundle;
use lbm_bundle::{Bundle, Manifest};
use miette::Diagnostic;
use thiserror::Error;

mod blowup;
pub mod devices;
mod exchanges;
mod grid;
mod mass;
mod outbox;
mod plan;
mod probes;
mod processes;
mod sound;
mod statistics;
mod steady;
mod watch;

pub use plan::{Plan, PlannedLevel, header};
pub use processes::available;

use lbm_runtime::device::{Available, Bytes, Device, DeviceError, Devices, copy_bandwidth};
use lbm_runtime::geometry::Block;
use lbm_runtime::kernels::{Criterion, KernelError};
use lbm_runtime::processes::{ProcessError, Processes};
use lbm_runtime::solver::memory::{Lack, Memory};
use lbm_runtime::solver::observe::{Look, NotFinite};
use lbm_runtime::solver::probe::Probe;
use lbm_runtime::solver::snapshot::Snapshot;
use lbm_runtime::solver::{Adaptations, GridSpec, Phase, Prepared, Simulation, StepError, Timings};

use crate::case::density::misfit;
use crate::case::{Case, Dimension, InputFile, Refinement};
use crate::output::mass::{is_closed, warning as mass_warning};
use crate::output::progress::{Facts, Progress, Show, duration};
use crate::output::series::Decay;
use crate::output::sink::{self, OutputError, Place};
use crate::output::summary::{About, Carried, Measured, Observed, StopReason, Summary, bytes_per_update};
use crate::output::{Bits, Recorded, Recorder};
use crate::restart::{self, Course, Identity, Restart, RestartError, Sampled};
use grid::{courses_of, grid_of, places_of};
use mass::Drift;
use outbox::Outbox;
use sound::Sound;
use steady::Steadiness;
use watch::{Good, Kept, Watch};

/// Longest stretch between two looks at the progress line, in seconds.
const STRETCH: f64 = 0.25;
/// Seconds of waiting for output from which on the user is told.
const LONG_WAIT: f64 = 1.0;

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
    #[diagnostic(
        code(C0312),
        help("needed are {}; take fewer cells, or fewer levels", parts.iter().map(|(name, bytes)| format!("{} {name}", Bytes(*bytes))).collect::<Vec<_>>().join(", "))
    )]
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

/// What a case is run with.
#[derive(Clone, Copy)]
pub struct Kernels<'a> {
    /// Those of its method.
    pub method: &'a Bundle,
    /// Those of [`Refinement::criteria`], for a case that is refined.
    pub criteria: Option<&'a CriteriaBundle>,
    /// Those of [`Case::prescribed`], for a case with something that depends on time.
    pub prescribed: Option<&'a PrescribedBundle>,
    /// Those of [`Case::accumulated`], for a case with statistics.
    pub statistics: Option<&'a StatisticsBundle>,
}

/// How a run begins, and how it may be cut short.
#[derive(Clone, Copy, Default)]
pub struct Control<'a> {
    /// A restart file to go on from.
    pub resume: Option<&'a Path>,
    /// Whether kernels may be other machine code than they were, and the last bits of results other than those of an unbroken run.
    pub resume_anyway: bool,
    /// What the run is made from, for the folder of its results.
    pub inputs: &'a [InputFile],
    /// Set to true by whoever wants the run to end before its time: with all that belongs to its end, and a restart file.
    pub interrupted: Option<&'a AtomicBool>,
    /// Where progress is shown.
    pub show: Show<'a>,
    /// Whether to measure the memory bandwidth of the device, which takes a while, for the fraction that the run reaches.
    pub bandwidth: bool,
    /// The processes that run the flow together, each with the same arguments; without them this one alone. The first writes the files.
    pub processes: Option<&'a Processes>,
}

impl Control<'_> {
    fn is_interrupted(&self) -> bool {
        self.interrupted.is_some_and(|flag| flag.load(Ordering::Relaxed))
    }

    /// The processes.
    fn processes(&self) -> Processes {
        self.processes.cloned().unwrap_or_default()
    }
}

/// A flow with what its run remembers.
struct Run<'a> {
    case: &'a Case,
    identity: &'a Identity,
    processes: Processes,
    flow: Simulation,
    /// What the grid took when it was set up.
    memory: Memory,
    /// When the run began, and seconds from then until its first step was done.
    began: Instant,
    first_step: f64,
    /// Sums at the start, by name.
    start: Vec<(String, f64)>,
    /// Wall time and cell updates of steps before this run went on, in seconds.
    before: (f64, u64),
    /// Seconds for which the flow has waited for output, those before this run went on among them.
    waited: f64,
    /// Change of velocity at the last check for steady flow.
    residual: Option<f64>,
    /// What else is known of whether the flow is steady.
    steadiness: Steadiness,
    /// The last step at which every value was finite.
    well: u64,
    /// Fields of a step not long before, if all was well then.
    good: Good,
    /// Step of the last restart file of this run.
    saved: Option<u64>,
    /// The probes of the case, in their order.
    probes: Vec<Probe>,
    /// The planes of its fluxes.
    planes: Vec<Probe>,
    /// Which steps each of the statistics of the case has samples of.
    sampled: Vec<Option<Sampled>>,
    /// When to look at its mass.
    drift: Drift,
}

/// How the steps of a run ended.
enum Ended {
    Stopped(StopReason),
    /// A value is not finite.
    Broken(NotFinite),
}

/// Where a run leaves what is to be recorded.
type Records<'a, 's> = Outbox<'a, 's, Recorder<'a>>;

impl<'a> Run<'a> {
    /// Sets a flow up, at its start or as `restart` has it.
    fn begin(
        case: &'a Case,
        kernels: Kernels<'_>,
        devices: &[Device],
        (identity, processes): (&'a Identity, Processes),
        restart: Option<Restart>,
    ) -> Result<Run<'a>, FlowError> {
        let began = Instant::now();
        let (mut flow, memory) = set_up(case, kernels, devices, restart.as_ref(), &processes)?;
        let (mut start, mut before, mut waited, mut residual) = (vec![], (0.0, 0), 0.0, None);
        let mut sampled = vec![None; case.output.statistics.len()];
        exchanges::sum(case, &mut flow);
        match restart {
            Some(restart) => {
                let course = restart.course();
                start = course.start.iter().map(|(name, sum)| (name.clone(), sum.0)).collect();
                (before, waited) = ((course.seconds.0, course.updates), course.waited.0);
                residual = course.residual.map(|change| change.0);
                flow.restore_adaptations(course.adaptations, course.scattered);
                exchanges::restore(&mut flow, &course.exchanged);
                sampled = restart.restore(&mut flow, &case.output.statistics)?;
            }
            None => {
                fill(case, &mut flow)?;
                start.extend(flow.sums()?.into_iter().map(|sum| (sum.name, sum.mass)));
            }
        }
        let well = flow.step();
        if case.stop.steady.is_some() && flow.kept().is_none() {
            flow.keep()?;
        }
        let (good, saved, first_step) = (Good::new(Kept::bytes(&flow)), None, 0.0);
        let (probes, planes) = (probes::of(case), probes::planes_of(case));
        let drift = Drift::new(is_closed(case, &kernels.method.manifest), well);
        Ok(Run {
            case,
            identity,
            processes,
            flow,
            memory,
            began,
            first_step,
            start,
            before,
            waited,
            residual,
            steadiness: Steadiness::default(),
            well,
            good,
            saved,
            probes,
            planes,
            sampled,
            drift,
        })
    }

    /// Leaves the fields of this step to be recorded and drawn, if they are wanted.
    fn record_fields(&mut self, records: &Records<'a, '_>) -> Result<(), FlowError> {
        let (output, step) = (&self.case.output, self.flow.step());
        let (written, drawn) = (output.wants_fields(step), output.wants_pictures(step));
        if written || drawn {
            let fields = self.flow.capture(records.for_fields(&mut self.waited))?;
            records.post(move |recorder| {
                let snapshot = fields.snapshot()?;
                if written {
                    recorder.fields(&snapshot)?;
                }
                Ok(recorder.pictures_on_the_way(&snapshot)?)
            });
        }
        Ok(())
    }

    /// Leaves mass, energy and the like at this step to be recorded, if they are wanted.
    fn record_row(&mut self, records: &Records<'a, '_>) -> Result<(), FlowError> {
        let step = self.flow.step();
        let wanted = self.case.output.wants_row(step);
        if let Some(means) = wanted.then(|| self.flow.means()).transpose()?.flatten() {
            records.post(move |recorder| Ok(recorder.row(step, &means)?));
        }
        Ok(())
    }

    /// Leaves the state at this step to become a restart file, if one is wanted.
    fn record_state(&mut self, records: &Records<'a, '_>) -> Result<(), FlowError> {
        if self.case.output.wants_restart(self.flow.step()) {
            let fields = self.flow.snapshot()?;
            let state = self.flow.capture_state(records.for_state(&mut self.waited))?;
            let (identity, units, mut course) = (self.identity, &self.case.units, self.course());
            records.post(move |recorder| {
                course.recorded = recorder.recorded();
                Ok(recorder.restart(|out| restart::write(out, identity, &state, (Some(&fields), units), course))?)
            });
            self.saved = Some(self.flow.step());
        }
        Ok(())
    }

    /// What is due at this step, after a look at it that has found all values finite: output, a check for steady flow, a restart file. Returns
    /// what the user should know.
    fn follow(&mut self, look: &Look, records: &Records<'a, '_>) -> Result<Option<String>, FlowError> {
        self.well = self.flow.step();
        if self.processes.of_first(u64::from(self.good.is_due())) != 0 {
            let is_first = self.good.kept.is_none();
            self.good.take(|| Kept::of(&mut self.flow, &self.processes, is_first))?;
        }
        self.record_fields(records)?;
        self.record_row(records)?;
        let told = self.compare(look)?;
        self.record_state(records)?;
        Ok(told)
    }

    /// The fields of this step; nothing where they were not counted on, and the host has not room for them.
    fn fields_if_room(&mut self, counted_on: bool) -> Result<Option<Snapshot>, FlowError> {
        let fits = lbm_runtime::device::host_memory().is_none_or(|room| fields_on_host(&self.flow) < room);
        let takes = self.processes.of_first(u64::from(counted_on || fits)) != 0;
        Ok(takes.then(|| self.flow.snapshot()).transpose()?)
    }

    /// Whether something is due at a step besides the forces.
    fn is_due(&self, step: u64) -> bool {
        let output = &self.case.output;
        let fields = output.wants_fields(step) || output.wants_pictures(step);
        let wanted = fields || output.wants_row(step) || output.wants_restart(step);
        wanted || self.checks(step) || self.checks_after(step) || step == self.case.stop.steps
    }

    fn seconds(&self) -> f64 {
        self.before.0 + self.flow.timings().seconds()
    }

    fn updates(&self) -> u64 {
        self.before.1 + self.flow.timings().updates()
    }

    /// What is remembered of the run so far, but for what has been written.
    fn course(&self) -> Course {
        Course {
            step: self.flow.step(),
            seconds: Bits(self.seconds()),
            waited: Bits(self.waited),
            updates: self.updates(),
            adaptations: self.flow.adaptations(),
            scattered: self.flow.scattered(),
            start: self.start.iter().map(|(name, sum)| (name.clone(), Bits(*sum))).collect(),
            residual: self.residual.map(Bits),
            recorded: Recorded::default(),
            exchanged: exchanges::saved(&self.flow),
            statistics: restart::saved(&self.case.output.statistics, &self.sampled, self.flow.samples()),
        }
    }

    /// Writes what belongs to the end.
    fn end(
        mut self,
        stop: StopReason,
        recorder: &mut Option<Recorder<'a>>,
        about: &About,
        manifest: &Manifest,
        bandwidth: Option<f64>,
    ) -> Result<Summary, FlowError> {
        let output = &self.case.output;
        if stop == StopReason::Interrupted || output.restart.is_some() && !output.wants_restart(self.flow.step()) {
            // Of a run that was to write none nobody has made sure that there is room.
            let fields = self.fields_if_room(output.restart.is_some())?;
            let recorded = recorder.as_ref().map_or_else(Default::default, Recorder::recorded);
            let course = Course { recorded, ..self.course() };
            let (state, units) = (self.flow.state()?, &self.case.units);
            if let Some(recorder) = recorder {
                recorder.restart(|out| restart::write(out, self.identity, &state, (fields.as_ref(), units), course))?;
            }
        }
        let sums: Vec<Carried> = std::iter::zip(&self.start, self.flow.sums()?)
            .map(|((name, start), end)| Carried { name: name.clone(), start: *start, end: end.mass })
            .collect();
        let measured = Measured {
            levels: self.flow.grid().cells_of_levels(),
            updates: self.updates(),
            adaptations: self.case.refinement.is_some().then(|| self.flow.adaptations()),
            phases: phases(self.flow.timings()),
            steps: self.flow.step(),
            seconds: self.seconds(),
            seconds_waiting_for_output: self.waited,
            first_step: self.first_step,
            memory: self.memory,
            memory_bandwidth: bandwidth,
            mass_start: sums[0].start,
            mass_end: sums[0].end,
            is_closed: self.drift.is_closed,
            scalars: sums[1..].to_vec(),
            residual: self.residual,
            stop,
        };
        // After the restart file, which knows only of rows that a longer run has too.
        self.record_last_forces(recorder)?;
        if output.series.is_some()
            && let (Some(means), Some(recorder)) = (self.flow.means()?, recorder.as_mut())
        {
            recorder.row(self.flow.step(), &means)?;
        }
        self.record_last(recorder)?;
        self.write_statistics(recorder)?;
        let end = self.case.ends_with_fields(manifest).then(|| self.flow.snapshot()).transpose()?;
        match recorder {
            Some(recorder) => Ok(recorder.finish(end.as_ref(), manifest, &measured)?),
            None => Ok(Summary::new(about.clone(), manifest, &measured)),
        }
    }

    /// Advances the flow until it is to end; what is due on the way is left to be recorded.
    fn advance(
        &mut self,
        records: &Records<'a, '_>,
        control: Control<'_>,
        progress: &mut Progress<'_>,
        notice: &mut dyn FnMut(&str),
    ) -> Result<Ended, FlowError> {
        let case = self.case;
        let mut watch = Watch::new(self.flow.step());
        let sound = Sound::new(case, self.flow.manifest().main().cs2);
        let (mut told, mut told_all) = (false, false);
        self.record_fields(records)?;
        self.record_row(records)?;
        self.record_forces(records)?;
        self.record_probes(records)?;
        self.accumulate()?;
        self.catch_up()?;
        while self.flow.step() < case.stop.steps {
            if self.flow.adaptations().refusals > 0 && !told {
                told = true;
                progress.aside(|| notice(&refusal(&self.flow.adaptations())));
            }
            if !told_all && marks_all(case, &self.flow) {
                told_all = true;
                let text = "the target level is the finest everywhere; a higher `refinement.threshold` leaves some blocks \
                            coarse";
                progress.aside(|| notice(text));
            }
            let stretch = stretch(case, &self.flow).min(watch.next - self.flow.step());
            let stretch = self.processes.of_first(stretch);
            sound.exceeded(self.flow.step()..self.flow.step() + stretch)?;
            self.flow.run(stretch)?;
            if self.first_step == 0.0 {
                self.first_step = self.began.elapsed().as_secs_f64();
            }
            let step = self.flow.step();
            self.record_forces(records)?;
            self.record_probes(records)?;
            self.accumulate()?;
            let interrupted = self.processes.any(control.is_interrupted());
            if self.is_due(step) || interrupted || step == watch.next {
                let look = watch.time(|| self.flow.look())?;
                watch.plan(step, self.flow.timings().steps_per_second());
                watch.next = self.processes.of_first(watch.next);
                if let Some(place) = look.not_finite {
                    return Ok(Ended::Broken(place));
                }
                if let Some(text) = self.drifts()? {
                    progress.aside(|| notice(&text));
                }
                if let Some(text) = self.follow(&look, records)? {
                    progress.aside(|| notice(&text));
                }
            }
            records.check()?;
            let residual = self.residual.filter(|_| self.checks(step));
            progress.update(step, self.flow.grid().updates(), residual, self.waited);
            if self.is_steady() {
                return Ok(Ended::Stopped(StopReason::Steady));
            }
            if interrupted && step < case.stop.steps {
                let text = format!(
                    "interrupted at step {step}: writing its results and a restart file; a second signal ends at once"
                );
                progress.aside(|| notice(&text));
                return Ok(Ended::Stopped(StopReason::Interrupted));
            }
        }
        Ok(Ended::Stopped(StopReason::Steps))
    }
}

/// Bytes of the fields of all cells on the host.
fn fields_on_host(flow: &Simulation) -> usize {
    flow.grid().cells() * flow.manifest().field_components() * size_of::<f64>()
}

/// A flow without anything in its cells.
fn set_up(
    case: &Case,
    kernels: Kernels<'_>,
    devices: &[Device],
    restart: Option<&Restart>,
    processes: &Processes,
) -> Result<(Simulation, Memory), FlowError> {
    let grid = grid_of(case, kernels, &devices[0])?;
    let available = available(processes, devices);
    let (prepared, memory) = prepare(case, kernels, (devices, processes), &grid, restart, available)?;
    let mut flow = prepared.simulation(&case.params)?;
    if !case.courses.is_empty() {
        flow.follow_courses(courses_of(case))?;
    }
    if !case.places.is_empty() {
        flow.follow_places(places_of(case));
    }
    Ok((flow, memory))
}

/// Sets the start of a case.
fn fill(case: &Case, flow: &mut Simulation) -> Result<(), FlowError> {
    flow.init_cells(|cell, out| case.start.at(cell.centre(), out))?;
    if let (false, Some(viscosity)) = (case.start.is_uniform(), case.scales.viscosity) {
        flow.start_with_stress(viscosity)?;
    }
    Ok(())
}

/// A case at its start, for whoever does its steps and looks at it; nothing is written.
pub fn start(case: &Case, kernels: Kernels<'_>, device: &Device) -> Result<Simulation, FlowError> {
    let (mut flow, _) = set_up(case, kernels, &devices_of(case, device)?, None, &Processes::default())?;
    fill(case, &mut flow)?;
    Ok(flow)
}

/// The devices of the parts of a case, each part's own, of which the first is at hand.
pub fn devices_of(case: &Case, first: &Device) -> Result<Vec<Device>, DeviceError> {
    if first.ordinal().is_none() {
        return Ok(vec![first.clone(); case.devices.count()]);
    }
    let others = case.devices.gpus().into_iter().skip(1).map(Device::cuda);
    std::iter::once(Ok(first.clone())).chain(others).collect()
}

/// Bytes read and written per second by copies between large arrays, on all devices of a case together.
fn bandwidth_of(devices: &[Device]) -> Result<f64, DeviceError> {
    Devices::new(devices).iter().map(copy_bandwidth).sum()
}

/// Runs a case and writes what it asks for into a folder, in the place of the results of earlier runs; where it fails, the summary
/// says so. `device` is the first of the case's devices. `notice` is told what the user should know. Of several processes all return the
/// summary, that of the first with what is in the files; they are to be ended ([`Processes::abort`]) where one returns an error.
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

/// Advances a flow to its end, and writes what is left to be written then.
fn complete<'a>(
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

/// In a message about a cell.
fn of_level(level: usize) -> String {
    if level == 0 { String::new() } else { format!(" of level {level}") }
}

/// Whether a criterion has made the grid as fine as it can be, everywhere.
fn marks_all(case: &Case, flow: &Simulation) -> bool {
    let follows = |refinement: &&Refinement| refinement.follow.is_some() && refinement.coarsest < refinement.finest;
    let Some(refinement) = case.refinement.as_ref().filter(follows) else { return false };
    flow.grid().levels().iter().position(|level| !level.leaves.is_empty()) == Some(refinement.finest)
}

/// What a user is told when the grid cannot be refined as it should.
fn refusal(adaptations: &Adaptations) -> String {
    format!(
        "{} refinements did not fit: there is memory for {} blocks; coarser levels come first, and on a level the \
         blocks first on the space-filling curve; raise `refinement.memory` or its threshold",
        adaptations.most_refused, adaptations.room
    )
}

/// Mean seconds of each phase that takes any.
fn phases(timings: &Timings) -> BTreeMap<String, f64> {
    let of = |phase: Phase| (phase.name().to_string(), timings.phase(phase));
    let adapting = ("adapt".to_string(), timings.adapting() / timings.steps().max(1) as f64);
    Phase::ALL.into_iter().map(of).chain([adapting]).filter(|(_, seconds)| *seconds > 0.0).collect()
}

/// What a run did, in a few lines for people.
pub fn describe(summary: &Summary, folder: &Path) -> String {
    let why = match summary.stop {
        StopReason::Steady => "the flow is steady",
        StopReason::Steps => "all steps are done",
        StopReason::Interrupted => "interrupted",
    };
    let mut text = format!("{} steps, {why}; {:.1} MLUPS", summary.steps, summary.mlups);
    if let (Some(fraction), Some(bandwidth)) = (summary.fraction_of_bandwidth, summary.memory_bandwidth_gb_per_s) {
        text += &format!(", {fraction:.2} of the memory bandwidth of {bandwidth:.1} GB/s of {}", summary.about.device);
    }
    text += &format!("\nmass {:.9} at the start, {:.9} at the end\n", summary.mass_start, summary.mass_end);
    let warning = summary.mass_rate.and_then(|_| mass_warning(summary.mass_start, summary.mass_end, summary.steps));
    warning.iter().for_each(|warning| text += &format!("warning: {warning}\n"));
    for Carried { name, start, end } in &summary.scalars {
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
    for Observed { name, mean } in &summary.observed {
        text += &format!("mean of {name}: {mean:.6e} in cells and steps of the coarsest level\n");
    }
    if let Some(fluxes) = &summary.fluxes {
        text += &fluxes.describe();
    }
    for plane in &summary.planes {
        text += &plane.describe(&summary.units);
    }
    for force in &summary.forces {
        text += &force.describe();
    }
    for heat in &summary.heat {
        text += &heat.describe();
    }
    for report in &summary.report {
        text += &report.describe();
    }
    let restart = (summary.stop == StopReason::Interrupted).then_some(sink::RESTART);
    let files: Vec<&str> = summary.files.iter().map(String::as_str).chain(restart).chain(["summary.json"]).collect();
    text + &format!("{}: {}\n", folder.display(), files.join(", "))
}

/// The grid of a case, refined as it says, or as it was; refused where it does not fit into what was available before.
fn prepare<'a>(
    case: &Case,
    kernels: Kernels<'_>,
    (devices, processes): (&[Device], &Processes),
    grid: &'a GridSpec,
    restart: Option<&Restart>,
    available: Available,
) -> Result<(Prepared<'a>, Memory), FlowError> {
    let device = &devices[0];
    let steady = case.stop.steady.is_some();
    let prepared = match &case.refinement {
        None => Prepared::refined(device, kernels.method, grid, 1, |_| false)?,
        Some(refinement) => {
            let criteria =
                kernels.criteria.map(|bundle| Criterion::load(device, bundle)).transpose().map_err(StepError::from)?;
            let adaptivity = refinement.adaptivity(criteria.as_deref().unwrap_or_default(), steady);
            let adaptivity = adaptivity.ok_or_else(|| lacks_criteria(kernels.method))?;
            let adaptivity = processes::on(processes, devices, available, adaptivity).map_err(StepError::from)?;
            let refined = restart.map(|restart| refined(restart.leaves()));
            let refines = refined.as_ref().map(|refined| |block: Block| refined.contains(&block));
            let refines = refines.as_ref().map(|refines| refines as &(dyn Fn(Block) -> bool + Sync));
            let refines = refines.zip(restart.map(|restart| restart.course().step));
            let prepared = Prepared::adaptive(device, kernels.method, grid, &adaptivity, refines)?;
            let Adaptations { most_refused: refused, room, .. } = prepared.adaptations();
            // A grid that follows the flow does without some, and says so.
            if refused > 0 && adaptivity.during.is_none() {
                return Err(FlowError::Refused { refused, room });
            }
            prepared
        }
    };
    let prepared = prepared.in_processes(processes, devices, kernels.method)?;
    prepared.check(&case.params)?;
    let copies = case.copies(&kernels.method.manifest);
    let memory = prepared.memory(case.output.series.is_some(), steady, copies)?;
    match memory.lack(available) {
        None => Ok((prepared, memory)),
        Some(lack) => Err(FlowError::Memory { lack, parts: memory.parts() }),
    }
}

/// The error where a refined case is run without the kernels of its criteria.
fn lacks_criteria(method: &Bundle) -> StepError {
    let (spec, role) = (method.manifest.spec.clone(), CriterionRole::TargetLevels.name().into());
    KernelError::MissingRole { spec, role }.into()
}

/// All blocks that leaves are parts of.
fn refined(leaves: &[Block]) -> HashSet<Block> {
    let mut refined = HashSet::new();
    for leaf in leaves {
        for block in std::iter::successors(leaf.parent(), |block| block.parent()) {
            if !refined.insert(block) {
                break;
            }
        }
    }
    refined
}

/// Steps until something is due.
fn stretch(case: &Case, flow: &Simulation) -> u64 {
    let step = flow.step();
    let until = |every: u64| every - step % every;
    let rate = flow.timings().steps_per_second();
    let glance = if rate > 0.0 { (rate * STRETCH) as u64 } else { 1 };
    let mut steps = glance.max(1).min(case.stop.steps - step);
    if let Some(steady) = case.stop.steady {
        // To the check, or to the step before it.
        let left = until(steady.check_every);
        steps = steps.min(if left > 1 { left - 1 } else { left });
    }
    for every in case.output.intervals() {
        steps = steps.min(until(every));
    }
    for statistics in &case.output.statistics {
        steps = steps.min(statistics.until(step));
    }
    steps
}

/// A point in cells of the coarsest level, in the units of the case.
fn position(case: &Case, point: [f64; 3]) -> String {
    let unit = if case.units.si { "m" } else { "cells" };
    let along = |axis: usize| format!("{:.6}", point[axis] * case.units.scale(Dimension::LENGTH));
    let point = (0..case.dim).map(along).collect::<Vec<_>>().join(", ");
    format!("{} = ({point}) {unit}", &["x, y", "x, y, z"][case.dim - 2])
}
