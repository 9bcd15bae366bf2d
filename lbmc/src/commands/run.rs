//! `lbmc run`: a case file, from its text to its results.

use std::path::PathBuf;
use std::process::ExitCode;
use std::sync::atomic::AtomicBool;

use lbm_bundle::Layout;
use lbm_codegen::options::Options;
use lbm_codegen::pipeline::sides_on_levels;
use lbm_dsl::model::{Model, Param};
use lbm_dsl::prove::edge;
use lbm_dsl::shipped;
use lbm_flows::case::{Case, Diagnostic, RawCase, TargetChoice};
use lbm_flows::flow::{self, Control, Kernels, Plan};
use lbm_flows::output::progress::{Show, Status};
use lbm_flows::output::sink::RESTART;
use lbm_flows::output::summary::{self, StopReason};
use lbm_runtime::device::{Available, Device, copy_bandwidth};
use lbm_runtime::mesh::{Filled, preferred_block};
use miette::{IntoDiagnostic, Report, Result, miette};
use serde::Serialize;

use crate::cases::CaseFile;
use crate::cli::Run;
use crate::spec::{self, Spec};
use crate::{files, interrupt, notes};

/// A line of `lbmc run --json`.
#[derive(Serialize)]
#[serde(tag = "event", rename_all = "snake_case")]
enum Event<'a> {
    /// How the run goes, about once a second and at every check for steady flow.
    Progress(&'a Status),
    /// How it ended: the last line.
    End {
        status: summary::Status,
        /// Why it ended, unless it failed.
        #[serde(skip_serializing_if = "Option::is_none")]
        stop: Option<StopReason>,
        /// Steps done, unless it failed.
        #[serde(skip_serializing_if = "Option::is_none")]
        step: Option<u64>,
        /// Path of the summary, unless it failed.
        #[serde(skip_serializing_if = "Option::is_none")]
        summary: Option<PathBuf>,
        /// Why it failed; standard error says more.
        #[serde(skip_serializing_if = "Option::is_none")]
        error: Option<String>,
        /// Code of that error, if it has one.
        #[serde(skip_serializing_if = "Option::is_none")]
        code: Option<String>,
    },
}

impl Event<'_> {
    fn print(&self) {
        println!("{}", serde_json::to_string(self).expect("plain data has a text"));
    }
}

/// Runs the command.
pub fn run(args: &Run) -> Result<ExitCode> {
    let result = perform(args);
    if let (true, Err(report)) = (args.json, &result) {
        let (error, code) = (Some(report.to_string()), report.code().map(|code| code.to_string()));
        Event::End { status: summary::Status::Failed, stop: None, step: None, summary: None, error, code }.print();
    }
    result
}

fn perform(args: &Run) -> Result<ExitCode> {
    let file = CaseFile::find(&args.case, notes::note)?;
    let overrides: Vec<(String, String)> = args.set.iter().map(|text| setting(text)).collect::<Result<_>>()?;
    let parameters = |spec: &str| Spec::parameters(&file.beside(spec));
    let mut raw = RawCase::parse_with(&file.name, &file.text, &overrides, &parameters)?;
    raw.load(|name| files::read_surface(&file.beside(name)))?;
    if args.out.is_none() {
        raw.writes_below()?;
    }

    let device = match raw.target() {
        TargetChoice::Cpu => Device::host(0)?,
        TargetChoice::Cuda => Device::cuda(0)?,
        TargetChoice::Auto => {
            let (device, why) = Device::find()?;
            notes::note(&why);
            device
        }
    };
    let spec = Spec::find(&file.beside(raw.spec()))
        .map_err(|error| Report::new(raw.reject_spec(&error.to_string(), error.help().map(|help| help.to_string()))))?;
    let model = spec.model_with(&raw.rules(), raw.coupling(), raw.criterion())?;
    let coupling = match raw.coupling() {
        None => None,
        Some(name) => Some(spec::coupling(&model, name).map_err(|error| {
            Report::new(raw.reject_coupling(&error.to_string(), error.help().map(|help| help.to_string())))
        })?),
    };
    let block = raw.block().unwrap_or_else(|| {
        let levels = coupling.map(|at| sides_on_levels(&model, &model.couplings()[at]));
        let (target, real, dim) = (device.target(), raw.real(), model.lattice().dim());
        block(&Filled { target, real, dim, size: raw.cells(), periodic: raw.periodic(), levels })
    });
    let bundle = spec::compile(
        &model,
        &Options {
            target: device.target(),
            real: raw.real(),
            layout: Layout::Blocks,
            block,
            coupling,
            solids: raw.cuts_links(),
        },
    )?;
    let (case, mut warnings) = raw.resolve(&bundle.manifest, &spec.prelude_rules()?, Available::on(&device))?;
    warnings.extend(unstable_levels(&model, &raw, &case));
    for warning in warnings {
        notes::warning(Report::new(warning));
    }

    let criteria = case.refinement.as_ref().map(|refinement| {
        lbm_codegen::criteria::bundle(&bundle.manifest, &refinement.criteria(case.dim)).into_diagnostic()
    });
    let criteria = criteria.transpose()?;
    let kernels = Kernels { method: &bundle, criteria: criteria.as_ref() };
    notes::note(&flow::header(&case, &bundle.manifest, &device));

    let folder = args.out.clone().unwrap_or_else(|| PathBuf::from(&case.output.directory));
    let resume = args.resume.as_ref().map(|file| file.clone().unwrap_or_else(|| folder.join(RESTART)));
    let interrupted = interrupt::watch()?;
    let inputs = spec.files();
    let inputs = raw.inputs(&inputs[0].name.clone(), inputs);
    let report = |status: &Status| Event::Progress(status).print();
    let show = match (args.json, notes::quiet()) {
        (true, _) => Show::Each(&report),
        (false, true) => Show::Nothing,
        (false, false) => Show::Line,
    };
    let (resume, resume_anyway) = (resume.as_deref(), args.resume_anyway);
    let (interrupted, bandwidth): (Option<&AtomicBool>, bool) = (Some(&interrupted), args.bandwidth);
    let control = Control { resume, resume_anyway, inputs: &inputs, interrupted, show, bandwidth };
    if args.dry_run {
        let plan = Plan::new(&case, kernels, &device, &control)?;
        print!("{}", plan.describe(&case, &bundle.manifest, copy_bandwidth(&device)?));
        return Ok(ExitCode::SUCCESS);
    }
    let done = flow::run(&case, kernels, &device, &folder, control, notes::note)?;
    let code = match done.stop {
        StopReason::Steady | StopReason::Steps => ExitCode::SUCCESS,
        StopReason::Interrupted => ExitCode::from(interrupt::STATUS),
    };
    if args.json {
        let (stop, step, path) = (Some(done.stop), Some(done.steps), Some(folder.join("summary.json")));
        Event::End { status: done.status, stop, step, summary: path, error: None, code: None }.print();
        return Ok(code);
    }
    print!("{}", flow::describe(&done, &folder));
    if done.stop == StopReason::Interrupted {
        println!("these are the results at step {}; go on with the same command and `--resume`", done.steps);
    }
    Ok(code)
}

/// The block that fills a domain; says so where it is not the usual one. Where there is none, resolving the case says that.
fn block(filled: &Filled) -> [u32; 3] {
    let show = |sides: &[String]| sides.join("x");
    let sides = |block: [u32; 3]| show(&block[..filled.dim].iter().map(u32::to_string).collect::<Vec<_>>());
    let size = show(&filled.size[..filled.dim].iter().map(usize::to_string).collect::<Vec<_>>());
    let Some(chosen) = filled.block() else {
        return preferred_block(filled.target, filled.dim, filled.real, None);
    };
    if chosen.sides != chosen.usual {
        let usual = (0..filled.dim).map(|axis| filled.size[axis].next_multiple_of(chosen.usual[axis] as usize));
        let usual = show(&usual.map(|cells| cells.to_string()).collect::<Vec<_>>());
        notes::note(&format!(
            "blocks of {}, because those of {} do not divide {size} cells: an estimated {:.0} % of the speed of {usual} \
             cells",
            sides(chosen.sides),
            sides(chosen.usual),
            100.0 * chosen.speed
        ));
        if filled.levels.is_some() && (0..3).any(|axis| chosen.sides[axis] > 2 * chosen.usual[axis]) {
            notes::note(
                "whole blocks are refined: with blocks this large, more cells may be refined than the case asks \
                         for",
            );
        }
    }
    chosen.sides
}

/// A warning if the collision amplifies what the refinement interfaces of the case disturb. Nothing is known of a collision that
/// has no derivative; of those that have one, the coarsest level is the least viscous.
fn unstable_levels(model: &Model, raw: &RawCase, case: &Case) -> Option<Diagnostic> {
    case.refinement.as_ref()?;
    let value = |param: &Param| Some(case.params.iter().find(|(name, _)| *name == param.name)?.1.clone());
    let params: Vec<Vec<f64>> = model.params().iter().map(value).collect::<Option<_>>()?;
    let speed = case.scales.velocity;
    let velocity: Vec<f64> = (0..case.dim).map(|axis| if axis == 0 { speed } else { 0.0 }).collect();
    let growth = edge::growth(model, &params, &velocity).ok()?;
    let bounded = format!("{}_bounded", model.name());
    let bounded = shipped::spec(&bounded).map(|_| &bounded[..]);
    (growth > edge::GROWS).then(|| raw.unstable_levels(growth, speed, bounded))
}

fn setting(text: &str) -> Result<(String, String)> {
    let (key, value) = text
        .split_once('=')
        .ok_or_else(|| miette!(help = "write --set KEY=VALUE, for example --set re=100", "`{text}` sets nothing"))?;
    Ok((key.trim().to_string(), value.trim().to_string()))
}
