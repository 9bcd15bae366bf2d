//! A case run to its end: from a valid [`Case`] and the kernels of its method to the files it asks for.
//!
//! The run is cut into stretches that end where something is due: a check, an output, the last step, or a second gone.
//! Between them nothing leaves the device, and checks leave it a few numbers: fields visit the host for output.

use std::collections::{BTreeMap, HashSet};
use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use lbm_bundle::{Bundle, Manifest};
use miette::Diagnostic;
use thiserror::Error;

use crate::bandwidth::copy_bandwidth;
use crate::case::{Case, InputFile, Refinement};
use crate::device::{Device, DeviceError};
use crate::fields::component_names;
use crate::mesh::{self, Block};
use crate::observe::{Look, NotFinite};
use crate::output::Recorder;
use crate::output::progress::{Facts, Progress};
use crate::output::series::Decay;
use crate::output::sink::OutputError;
use crate::output::summary::{About, Carried, Measured, StopReason, Summary, bytes_per_update};
use crate::restart::{self, Bits, Course, Identity, Restart, RestartError};
use crate::step::{Adaptations, FaceSpec, GridSpec, Phase, Simulation, StepError, Timings, WallSpec};

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
    /// The file to go on from.
    #[error(transparent)]
    #[diagnostic(transparent)]
    Restart(#[from] RestartError),
    /// The flow blew up.
    #[error(
        "the flow is not finite: `{}` at cell ({}, {}, {}){}, found at step {}; all was well at step {well}",
        place.component, place.cell.at[0], place.cell.at[1], place.cell.at[2], of_level(place.cell.level), step
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
        /// When.
        step: u64,
        /// The last step at which every value was finite.
        well: u64,
        /// Where the output is.
        folder: String,
    },
}

/// How a run begins, and how it may be cut short.
#[derive(Clone, Copy, Debug, Default)]
pub struct Control<'a> {
    /// A restart file to go on from.
    pub resume: Option<&'a Path>,
    /// What the run is made from, for the folder of its results.
    pub inputs: &'a [InputFile],
    /// Set to true by whoever wants the run to end before its time: with all that belongs to its end, and a restart file.
    pub interrupted: Option<&'a AtomicBool>,
}

impl Control<'_> {
    fn is_interrupted(&self) -> bool {
        self.interrupted.is_some_and(|flag| flag.load(Ordering::Relaxed))
    }
}

/// A flow with what its run remembers.
struct Run<'a, 'r> {
    case: &'a Case,
    identity: Identity,
    recorder: &'r mut Recorder<'a>,
    flow: Simulation,
    /// Sums at the start, by name.
    start: Vec<(String, f64)>,
    /// Wall time and cell updates of steps before this run went on, in seconds.
    before: (f64, u64),
    /// Change of velocity at the last check for steady flow.
    residual: Option<f64>,
    /// The last step at which every value was finite.
    well: u64,
}

impl<'a, 'r> Run<'a, 'r> {
    /// Sets a flow up, at its start or as `restart` has it.
    fn begin(
        case: &'a Case,
        bundle: &Bundle,
        device: &Device,
        identity: Identity,
        restart: Option<Restart>,
        recorder: &'r mut Recorder<'a>,
    ) -> Result<Run<'a, 'r>, FlowError> {
        let mut flow = simulation(case, bundle, device, restart.as_ref())?;
        let (mut start, mut before, mut residual) = (vec![], (0.0, 0), None);
        match restart {
            Some(restart) => {
                let course = restart.course();
                start = course.start.iter().map(|(name, sum)| (name.clone(), sum.0)).collect();
                (before, residual) = ((course.seconds.0, course.updates), course.residual.map(|change| change.0));
                flow.restore_adaptations(course.adaptations, course.scattered);
                restart.restore(&mut flow)?;
            }
            None => {
                flow.init_cells(|cell, out| case.start.at(cell.centre(), out))?;
                if let (false, Some(viscosity)) = (case.start.is_uniform(), case.scales.viscosity) {
                    flow.start_with_stress(viscosity)?;
                }
                start.extend(flow.sums()?.into_iter().map(|sum| (sum.name, sum.mass)));
            }
        }
        let well = flow.step();
        recorder.reach(well);
        if recorder.wants(well) {
            recorder.during(&flow.snapshot()?)?;
        }
        if case.stop.steady.is_some() && flow.kept().is_none() {
            flow.keep()?;
        }
        let mut run = Run { case, identity, recorder, flow, start, before, residual, well };
        if run.recorder.wants_forces(well) {
            run.forces()?;
        }
        Ok(run)
    }

    /// Records the forces on solids.
    fn forces(&mut self) -> Result<(), FlowError> {
        let (step, forces) = (self.flow.step(), self.flow.forces()?);
        if !forces.is_empty() {
            self.recorder.forces(step, forces);
        }
        Ok(())
    }

    /// What is due at this step, after a look at it: a check that all is well, output, a check for steady flow, a restart file.
    fn follow(&mut self, look: Look) -> Result<(), FlowError> {
        let step = self.flow.step();
        if let Some(place) = look.not_finite {
            self.recorder.broken(&self.flow.snapshot()?)?;
            let folder = self.recorder.folder().display().to_string();
            return Err(FlowError::NotFinite { place, step, well: self.well, folder });
        }
        self.well = step;
        if self.recorder.wants(step) {
            self.recorder.during(&self.flow.snapshot()?)?;
        }
        if self.checks(step) {
            self.residual = look.change.map(|change| self.case.residual(change));
            self.flow.keep()?;
        }
        if self.saves(step) { self.save() } else { Ok(()) }
    }

    fn checks(&self, step: u64) -> bool {
        self.case.stop.steady.is_some_and(|steady| step.is_multiple_of(steady.check_every))
    }

    fn saves(&self, step: u64) -> bool {
        self.case.output.restart.is_some_and(|every| step.is_multiple_of(every))
    }

    /// Whether the last check has found the flow steady.
    fn is_steady(&self) -> bool {
        let Some(steady) = self.case.stop.steady else { return false };
        self.checks(self.flow.step()) && self.residual.is_some_and(|change| change < steady.tolerance)
    }

    fn seconds(&self) -> f64 {
        self.before.0 + self.flow.timings().seconds()
    }

    fn updates(&self) -> u64 {
        self.before.1 + self.flow.timings().updates()
    }

    /// Writes a restart file.
    fn save(&self) -> Result<(), FlowError> {
        let step = self.flow.step();
        let course = Course {
            step,
            seconds: Bits(self.seconds()),
            updates: self.updates(),
            adaptations: self.flow.adaptations(),
            scattered: self.flow.scattered(),
            start: self.start.iter().map(|(name, sum)| (name.clone(), Bits(*sum))).collect(),
            residual: self.residual.map(Bits),
            recorded: self.recorder.recorded(),
        };
        Ok(self.recorder.restart(|out| restart::write(out, &self.identity, &self.flow, course))?)
    }

    /// Writes what belongs to the end.
    fn end(mut self, stop: StopReason, manifest: &Manifest, bandwidth: f64) -> Result<Summary, FlowError> {
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
            copy_bandwidth: Some(bandwidth),
            mass_start: sums[0].start,
            mass_end: sums[0].end,
            carried: sums[1..].to_vec(),
            residual: self.residual,
            stop,
        };
        // After the restart file, which knows only of rows that a longer run has too.
        if self.case.output.forces.is_some() {
            self.forces()?;
        }
        let end = self.flow.snapshot()?;
        Ok(self.recorder.finish(&end, manifest, &measured)?)
    }
}

/// Runs a case and writes what it asks for into `folder`, in the place of the results of earlier runs; where it fails, the summary
/// says so. `notice` is told what the user should know.
pub fn run(
    case: &Case,
    bundle: &Bundle,
    device: &Device,
    folder: &Path,
    control: Control<'_>,
    notice: impl FnMut(&str),
) -> Result<Summary, FlowError> {
    let identity = Identity::new(case, bundle);
    let mut recorder = Recorder::create(case, About::new(case, &bundle.manifest, device), folder)?;
    let restart = control.resume.map(|path| Restart::open(path, &identity)).transpose()?;
    match (&restart, control.resume) {
        (Some(restart), Some(file)) => recorder.resume(control.inputs, file, &restart.course().recorded)?,
        _ => recorder.begin(control.inputs)?,
    }
    let result = Run::begin(case, bundle, device, identity, restart, &mut recorder)
        .and_then(|run| advance(run, bundle, device, control, notice));
    if let Err(error) = &result {
        // Where not even this can be written, the error that is returned is the one to tell.
        recorder.fail(error).ok();
    }
    result
}

/// Advances a flow to its end.
fn advance(
    mut run: Run<'_, '_>,
    bundle: &Bundle,
    device: &Device,
    control: Control<'_>,
    mut notice: impl FnMut(&str),
) -> Result<Summary, FlowError> {
    let case = run.case;
    run.flow.notices().iter().for_each(|text| notice(text));
    let bandwidth = copy_bandwidth(device)?;
    let facts = Facts {
        updates: run.flow.grid().updates(),
        bytes_per_update: bytes_per_update(&bundle.manifest),
        copy_bandwidth: Some(bandwidth),
        from: run.flow.step(),
        stop: case.stop,
    };
    let mut progress = Progress::new(facts, false);
    let mut watch = Watch::new();
    let mut stop = StopReason::Steps;
    let (mut told, mut told_all) = (false, false);
    while run.flow.step() < case.stop.steps {
        if run.flow.adaptations().refusals > 0 && !told {
            told = true;
            progress.say(&refusal(&run.flow.adaptations()));
        }
        if !told_all && marks_all(case, &run.flow) {
            told_all = true;
            progress.say("note: the criterion asks for the finest level everywhere; a higher `refinement.threshold` leaves some coarse");
        }
        run.flow.run(stretch(case, &run.flow))?;
        let step = run.flow.step();
        run.recorder.reach(step);
        if run.recorder.wants_forces(step) {
            run.forces()?;
        }
        let interrupted = control.is_interrupted();
        let due = run.checks(step) || run.saves(step) || run.recorder.wants(step) || step == case.stop.steps;
        if due || interrupted || watch.due() {
            let look = watch.time(|| run.flow.look())?;
            if let Err(error) = run.follow(look) {
                progress.finish();
                return Err(error);
            }
        }
        progress.update(step, run.flow.grid().updates(), run.residual.filter(|_| run.checks(step)));
        if run.is_steady() {
            stop = StopReason::Steady;
            break;
        }
        if interrupted && step < case.stop.steps {
            stop = StopReason::Interrupted;
            progress.say(&format!(
                "note: interrupted at step {step}: writing its results and a restart file; a second signal ends at once"
            ));
            break;
        }
    }
    progress.finish();
    if stop == StopReason::Interrupted || case.output.restart.is_some() && !run.saves(run.flow.step()) {
        run.save()?;
    }
    run.end(stop, &bundle.manifest, bandwidth)
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
        "note: {} refinements did not fit: there is memory for {} blocks; coarse levels come first, and on a level the curve's \
         beginning; raise `refinement.memory` or its threshold",
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
    if let Some(share) = summary.fraction_of_copy {
        text += &format!(", {share:.2} of the copy bandwidth of {}", summary.about.device);
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
    for force in &summary.forces {
        text += &force.describe();
    }
    let restart = (summary.stop == StopReason::Interrupted).then_some(restart::NAME);
    let files: Vec<&str> = summary.files.iter().map(String::as_str).chain(restart).chain(["summary.json"]).collect();
    text + &format!("{}: {}\n", folder.display(), files.join(", "))
}

/// The simulation of a case, without a state: refined as the case says, or as it was.
fn simulation(
    case: &Case,
    bundle: &Bundle,
    device: &Device,
    restart: Option<&Restart>,
) -> Result<Simulation, StepError> {
    let mut grid = GridSpec::periodic(case.size);
    for wall in &case.walls {
        let face = mesh::Face::of_axis(wall.face.axis)[usize::from(wall.face.high)];
        let rule = WallSpec { rule: wall.rule.clone(), values: wall.values.clone(), formulas: wall.formulas.clone() };
        grid.faces[face.index()] = FaceSpec::Wall(rule);
    }
    grid.solids = case.solids.iter().map(|body| body.solid.clone()).collect();
    let Some(refinement) = &case.refinement else { return Simulation::new(device, bundle, &grid, &case.params) };
    let adaptivity = refinement.adaptivity(case.dim, &component_names(&bundle.manifest), case.stop.steady.is_some());
    let refined = restart.map(|restart| refined(restart.leaves()));
    let refines = refined.as_ref().map(|refined| |block: Block| refined.contains(&block));
    let refines = refines.as_ref().map(|refines| refines as &(dyn Fn(Block) -> bool + Sync));
    Simulation::adaptive(device, bundle, &grid, &case.params, &adaptivity, refines)
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
        steps = steps.min(until(steady.check_every));
    }
    let output = &case.output;
    for every in [output.every, output.series, output.forces, output.restart].into_iter().flatten() {
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
