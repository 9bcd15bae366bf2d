//! A case run to its end: from a valid [`Case`] and the kernels of its method to the files it asks for.
//!
//! The run is cut into stretches that end where something is due: a check, an output, the last step, or a second gone.
//! Between them nothing leaves the device, and checks leave it a few numbers: fields visit the host for output.

use std::collections::{BTreeMap, HashSet};
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use lbm_bundle::criteria::{CriteriaBundle, CriterionRole};
use lbm_bundle::{Bundle, Manifest};
use miette::Diagnostic;
use thiserror::Error;

mod plan;

pub use plan::{Plan, PlannedLevel, header};

use lbm_runtime::device::{self, Available, Bytes, Device, DeviceError, copy_bandwidth};
use lbm_runtime::geometry::{self, Block};
use lbm_runtime::kernels::{Criterion, KernelError};
use lbm_runtime::solver::memory::{Lack, Memory};
use lbm_runtime::solver::observe::{Look, NotFinite};
use lbm_runtime::solver::snapshot::Snapshot;
use lbm_runtime::solver::{
    Adaptations, FaceSpec, GridSpec, Phase, Prepared, Profile, Simulation, StepError, Timings, WallSpec,
};

use crate::case::{Case, Dimension, Formula, InputFile, Refinement};
use crate::output::progress::{Facts, Progress, Show};
use crate::output::series::Decay;
use crate::output::sink::{self, OutputError};
use crate::output::summary::{About, Carried, Measured, StopReason, Summary, bytes_per_update};
use crate::output::{Bits, Recorder};
use crate::restart::{self, Course, Identity, Restart, RestartError};

/// Longest stretch between two looks at the progress line, in seconds.
const STRETCH: f64 = 0.25;
/// Steps between two checks for values that are not finite, at least. A check reads all populations once, and writes and reads the
/// fields: of D2Q9 15 values a cell, of D3Q19 27, of D3Q27 35. A step reads and writes 18, 38, 54. So a check takes at most the
/// time of 0.85 steps, which is 0.4 % of 200; and where launches take longer than the work, [`CHECK_SHARE`] holds.
const CHECK_EVERY: u64 = 200;
/// Steps until the first check; then twice as many, up to [`CHECK_EVERY`], as many flows blow up soon.
const FIRST_CHECK: u64 = 25;
/// Share of the time that these checks take, at most, and share that copies of the fields take which they leave on the host.
const CHECK_SHARE: f64 = 0.005;
/// Seconds that these copies may take besides: those of small grids take no time that anyone would miss.
const COPIES_FREE: f64 = 0.2;

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
    /// The flow blew up.
    #[error(
        "the flow is not finite: `{}` at cell ({}, {}, {}){}, {position}; found at step {step}, last seen finite at \
         step {well}",
        place.component, place.cell.at[0], place.cell.at[1], place.cell.at[2], of_level(place.cell.level)
    )]
    #[diagnostic(
        code(C0701),
        help(
            "the grid is too coarse for this Reynolds number, or the velocity too high: lower `re` or the velocity, refine \
             the grid, or take a more stable collision; in `{folder}` are the fields of that step{before}"
        )
    )]
    NotFinite {
        /// Where.
        place: Box<NotFinite>,
        /// The same in the units of the case.
        position: String,
        /// When.
        step: u64,
        /// The last step at which every value was finite.
        well: u64,
        /// What else there is to look at what led to it.
        before: String,
        /// Where the output is.
        folder: String,
    },
}

/// What a case is run with.
#[derive(Clone, Copy)]
pub struct Kernels<'a> {
    /// Those of its method.
    pub method: &'a Bundle,
    /// Those of [`Refinement::criteria`], for a case that is refined.
    pub criteria: Option<&'a CriteriaBundle>,
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
    /// Fields of a step not long before, if all was well then.
    good: Good,
    /// Step of the last restart file of this run.
    saved: Option<u64>,
}

impl<'a, 'r> Run<'a, 'r> {
    /// Sets a flow up, at its start or as `restart` has it.
    fn begin(
        case: &'a Case,
        kernels: Kernels<'_>,
        device: &Device,
        identity: Identity,
        restart: Option<Restart>,
        recorder: &'r mut Recorder<'a>,
    ) -> Result<Run<'a, 'r>, FlowError> {
        let grid = grid_of(case);
        let (prepared, _) = prepare(case, kernels, device, &grid, restart.as_ref(), Available::on(device))?;
        let mut flow = prepared.simulation(&case.params)?;
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
        let mut run =
            Run { case, identity, recorder, flow, start, before, residual, well, good: Good::new(), saved: None };
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
            let broken = self.flow.snapshot()?;
            self.recorder.broken(&broken, self.good.fields.as_ref())?;
            let folder = self.recorder.folder().display().to_string();
            let position = position(self.case, place.cell.centre());
            return Err(FlowError::NotFinite {
                place: Box::new(place),
                position,
                step,
                well: self.well,
                before: self.before(),
                folder,
            });
        }
        self.well = step;
        if self.good.is_due() {
            self.good.take(|| self.flow.snapshot())?;
        }
        if self.recorder.wants(step) {
            self.recorder.during(&self.flow.snapshot()?)?;
        }
        if self.checks(step) {
            self.residual = look.change.map(|change| self.case.residual(change));
            self.flow.keep()?;
        }
        if self.saves(step) { self.save() } else { Ok(()) }
    }

    /// In a message about a flow that is not finite: what there is of the time before.
    fn before(&self) -> String {
        let fields = self
            .good
            .fields
            .as_ref()
            .map(|good| format!(", and those of step {}, when the flow was finite", good.step));
        let restart = self.saved.map(|step| {
            format!("; `--resume` goes on from step {step}, where `--set output.every=10` and the like show more of what led to it")
        });
        fields.into_iter().chain(restart).collect()
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
    fn save(&mut self) -> Result<(), FlowError> {
        let step = self.flow.step();
        self.saved = Some(step);
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
    fn end(mut self, stop: StopReason, manifest: &Manifest, bandwidth: Option<f64>) -> Result<Summary, FlowError> {
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
            memory_bandwidth: bandwidth,
            mass_start: sums[0].start,
            mass_end: sums[0].end,
            scalars: sums[1..].to_vec(),
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
    kernels: Kernels<'_>,
    device: &Device,
    folder: &Path,
    control: Control<'_>,
    mut notice: impl FnMut(&str),
) -> Result<Summary, FlowError> {
    let manifest = &kernels.method.manifest;
    let identity = Identity::new(case, kernels.method, kernels.criteria, device.toolchain()?);
    let mut recorder = Recorder::create(case, About::new(case, manifest, device), folder)?;
    let open = |path| Restart::open(path, &identity, case, manifest, control.resume_anyway);
    let restart = control.resume.map(open).transpose()?;
    let other = restart.as_ref().map_or(String::new(), |restart| restart.other_toolchain().join("; "));
    if !other.is_empty() {
        notice(&format!("bits will not be those of an unbroken run: {other}"));
    }
    match (&restart, control.resume) {
        (Some(restart), Some(file)) => recorder.resume(control.inputs, file, &restart.course().recorded)?,
        _ => recorder.begin(control.inputs)?,
    }
    let result = Run::begin(case, kernels, device, identity, restart, &mut recorder)
        .and_then(|run| advance(run, manifest, device, control, notice));
    if let Err(error) = &result {
        // Where not even this can be written, the error that is returned is the one to tell.
        recorder.fail(error).ok();
    }
    result
}

/// Advances a flow to its end.
fn advance(
    mut run: Run<'_, '_>,
    manifest: &Manifest,
    device: &Device,
    control: Control<'_>,
    mut notice: impl FnMut(&str),
) -> Result<Summary, FlowError> {
    let case = run.case;
    run.flow.notices().iter().for_each(|text| notice(text));
    let bandwidth = control.bandwidth.then(|| copy_bandwidth(device)).transpose()?;
    let facts = Facts {
        updates: run.flow.grid().updates(),
        bytes_per_update: bytes_per_update(manifest),
        memory_bandwidth: bandwidth,
        from: run.flow.step(),
        stop: case.stop,
        time_step: case.units.step,
    };
    let mut progress = Progress::new(facts, control.show);
    let mut watch = Watch::new(run.flow.step());
    let mut stop = StopReason::Steps;
    let (mut told, mut told_all) = (false, false);
    while run.flow.step() < case.stop.steps {
        if run.flow.adaptations().refusals > 0 && !told {
            told = true;
            progress.aside(|| notice(&refusal(&run.flow.adaptations())));
        }
        if !told_all && marks_all(case, &run.flow) {
            told_all = true;
            let text = "the target level is the finest everywhere; a higher `refinement.threshold` leaves some blocks \
                        coarse";
            progress.aside(|| notice(text));
        }
        run.flow.run(stretch(case, &run.flow).min(watch.next - run.flow.step()))?;
        let step = run.flow.step();
        run.recorder.reach(step);
        if run.recorder.wants_forces(step) {
            run.forces()?;
        }
        let interrupted = control.is_interrupted();
        let due = run.checks(step) || run.saves(step) || run.recorder.wants(step) || step == case.stop.steps;
        if due || interrupted || step == watch.next {
            let look = watch.time(|| run.flow.look())?;
            watch.plan(step, run.flow.timings().steps_per_second());
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
            let text = format!(
                "interrupted at step {step}: writing its results and a restart file; a second signal ends at once"
            );
            progress.aside(|| notice(&text));
            break;
        }
    }
    progress.finish();
    if stop == StopReason::Interrupted || case.output.restart.is_some() && !run.saves(run.flow.step()) {
        run.save()?;
    }
    run.end(stop, manifest, bandwidth)
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
    if let Some(fluxes) = &summary.fluxes {
        text += &fluxes.describe();
    }
    for force in &summary.forces {
        text += &force.describe();
    }
    let restart = (summary.stop == StopReason::Interrupted).then_some(sink::RESTART);
    let files: Vec<&str> = summary.files.iter().map(String::as_str).chain(restart).chain(["summary.json"]).collect();
    text + &format!("{}: {}\n", folder.display(), files.join(", "))
}

/// The grid of a case and what lies behind its faces.
fn grid_of(case: &Case) -> GridSpec {
    let mut grid = GridSpec::periodic(case.size);
    for wall in &case.walls {
        let face = geometry::Face::of_axis(wall.face.axis)[usize::from(wall.face.high)];
        let profile = |formula: Formula| -> Profile { Arc::new(move |at| formula.at(at)) };
        let profiles =
            |(name, formulas): &(String, Vec<Formula>)| (name.clone(), formulas.iter().cloned().map(profile).collect());
        grid.faces[face.index()] = FaceSpec::Wall(WallSpec {
            rule: wall.rule.clone(),
            values: wall.values.clone(),
            profiles: wall.formulas.iter().map(profiles).collect(),
        });
    }
    grid.solids = case.solids.iter().map(|body| body.solid.clone()).collect();
    grid
}

/// The grid of a case, refined as it says, or as it was; refused where it does not fit into what was available before.
fn prepare<'a>(
    case: &Case,
    kernels: Kernels<'_>,
    device: &Device,
    grid: &'a GridSpec,
    restart: Option<&Restart>,
    available: Available,
) -> Result<(Prepared<'a>, Memory), FlowError> {
    let steady = case.stop.steady.is_some();
    let prepared = match &case.refinement {
        None => Prepared::refined(device, kernels.method, grid, 1, |_| false)?,
        Some(refinement) => {
            let criteria =
                kernels.criteria.map(|bundle| Criterion::load(device, bundle)).transpose().map_err(StepError::from)?;
            let adaptivity = refinement.adaptivity(criteria.as_deref().unwrap_or_default(), steady);
            let adaptivity = adaptivity.ok_or_else(|| lacks_criteria(kernels.method))?;
            let refined = restart.map(|restart| refined(restart.leaves()));
            let refines = refined.as_ref().map(|refined| |block: Block| refined.contains(&block));
            let refines = refines.as_ref().map(|refines| refines as &(dyn Fn(Block) -> bool + Sync));
            let prepared = Prepared::adaptive(device, kernels.method, grid, &adaptivity, refines)?;
            let Adaptations { most_refused: refused, room, .. } = prepared.adaptations();
            // A grid that follows the flow does without some, and says so.
            if refused > 0 && adaptivity.during.is_none() {
                return Err(FlowError::Refused { refused, room });
            }
            prepared
        }
    };
    let memory = prepared.memory(steady)?;
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
        steps = steps.min(until(steady.check_every));
    }
    let output = &case.output;
    for every in [output.every, output.series, output.forces, output.restart].into_iter().flatten() {
        steps = steps.min(until(every));
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

/// When to check again for values that are not finite.
struct Watch {
    /// The step of the next check.
    next: u64,
    /// Steps from the last to that.
    every: u64,
    cost: Duration,
}

impl Watch {
    fn new(step: u64) -> Self {
        Watch { next: step + FIRST_CHECK, every: FIRST_CHECK, cost: Duration::ZERO }
    }

    /// The next check after one at a step, at a rate of so many steps per second.
    fn plan(&mut self, step: u64, rate: f64) {
        let least = (self.cost.as_secs_f64() * rate / CHECK_SHARE) as u64;
        self.every = (2 * self.every).min(CHECK_EVERY.max(least));
        self.next = step + self.every;
    }

    fn time<T>(&mut self, look: impl FnOnce() -> T) -> T {
        let before = Instant::now();
        let result = look();
        self.cost = before.elapsed();
        result
    }
}

/// Fields of a step at which all was well, on the host: the last, or one not long before, as copies take time.
struct Good {
    fields: Option<Snapshot>,
    began: Instant,
    /// Time that all copies took, and the last one.
    spent: Duration,
    cost: Duration,
}

impl Good {
    fn new() -> Self {
        Good { fields: None, began: Instant::now(), spent: Duration::ZERO, cost: Duration::ZERO }
    }

    /// Whether a copy may be taken: there is time for another, and memory beside it.
    fn is_due(&self) -> bool {
        let bytes = self.fields.as_ref().map_or(0, Snapshot::bytes);
        (self.spent + self.cost).as_secs_f64() <= COPIES_FREE + CHECK_SHARE * self.began.elapsed().as_secs_f64()
            && device::host_memory().is_none_or(|available| bytes < available / 4)
    }

    fn take<E>(&mut self, snapshot: impl FnOnce() -> Result<Snapshot, E>) -> Result<(), E> {
        let before = Instant::now();
        self.fields = Some(snapshot()?);
        self.cost = before.elapsed();
        self.spent += self.cost;
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn checks_take_a_share_of_the_time_and_are_not_more_often_than_their_bytes_allow() {
        let checks = |cost: Duration, rate: f64| -> Vec<u64> {
            let mut watch = Watch { cost, ..Watch::new(1000) };
            let mut next = || {
                let step = watch.next;
                watch.plan(step, rate);
                step - 1000
            };
            (0..12).map(|_| next()).collect()
        };
        // Where bytes rule: a check takes 0.8 steps.
        assert_eq!(checks(Duration::from_millis(8), 100.0)[..6], [25, 75, 175, 375, 575, 775]);
        // Where launches rule: 100 us a check, 200 000 steps a second.
        let steps = checks(Duration::from_micros(100), 2e5);
        assert_eq!(steps[11] - steps[10], 4000);
    }
}
