//! `lbmc gen`: a method's kernels as files.

use std::collections::BTreeMap;
use std::time::Instant;

use lbm_bundle::{Bundle, Layout, Target};
use lbm_codegen::options::Options;
use lbm_codegen::pipeline::{self, CompileError, KernelReport, Plans, Stage};
use lbm_codegen::rounding::{FIELDS, OUT_OF_EQUILIBRIUM, Rounding};
use lbm_dsl::model::Model;
use lbm_setup::rates::Rates;
use lbm_setup::spec::{self, Spec};
use lbm_setup::{files, params};
use miette::{Result, miette};
use serde::Serialize;

use crate::cli::{Gen, GenTarget, StorageArg};
use crate::notes;
use crate::nvcc::{self, Resources};

/// Architecture that registers are reported for.
const ARCH: &str = "sm_90";

/// What `--report` writes.
#[derive(Serialize)]
struct Report {
    spec: String,
    real: lbm_bundle::Real,
    layout: Layout,
    block: [u32; 3],
    /// Names of the parameters' components.
    params: Vec<String>,
    /// Counts per cell, the same for every target.
    kernels: Vec<KernelReport>,
    /// Errors of the collision in 32 bits for chosen values of the parameters; nothing where none can be chosen.
    rounding: Option<RoundingReport>,
    /// Seconds of each stage.
    seconds: BTreeMap<&'static str, f64>,
    /// What nvcc says of each CUDA kernel; nothing where there is no nvcc or no CUDA target.
    cuda: Option<CudaReport>,
}

#[derive(Serialize)]
struct RoundingReport {
    /// For which values of the parameters.
    params: Vec<Vec<f64>>,
    /// Scalars lie so far around 1, components of the velocity around 0.
    fields: f64,
    /// Difference of populations from the equilibrium, over their weights.
    out_of_equilibrium: f64,
    #[serde(flatten)]
    rounding: Rounding,
}

#[derive(Serialize)]
struct CudaReport {
    arch: &'static str,
    kernels: BTreeMap<String, Resources>,
}

/// Runs the command.
pub fn generate(args: &Gen) -> Result<()> {
    let mut clock = Clock::start();
    let layout = args.layout.into();
    spec::fits_layout(layout, &args.boundary, args.coupling.is_some(), args.solids)?;
    let spec = Spec::find(&args.spec)?;
    let model = spec.model_with_all(&args.boundary, args.coupling.as_deref())?;
    clock.lap("front_end");
    let dim = model.lattice().dim();
    let default = match layout {
        Layout::Blocks => Options::default_block(dim),
        Layout::Soa => Options::TILE,
    };
    let block = spec::block(args.block.as_ref().map(|block| &block.0[..]), dim, default)?;
    let coupling = args.coupling.as_ref().map(|name| spec::coupling(&model, name)).transpose()?;
    let targets: &[Target] = match args.target {
        GenTarget::Cuda => &[Target::Cuda],
        GenTarget::C => &[Target::C],
        GenTarget::Hip => &[Target::Hip],
        GenTarget::All => &[Target::Cuda, Target::C],
    };

    let failed = |error: CompileError| miette!(code = "L0108", "{error}");
    let plans = pipeline::plan(&model, layout, &mut |stage| clock.lap(stage_name(stage))).map_err(failed)?;
    let plans = match args.storage {
        StorageArg::Populations => plans,
        StorageArg::Moments => plans.in_moments().map_err(failed)?,
    };
    let plans = if args.adjoint { plans.with_adjoint().map_err(failed)? } else { plans };
    let mut bundles: Vec<Bundle> = vec![];
    let mut kernels = vec![];
    for &target in targets {
        let compiled = plans
            .emit(&Options { target, real: args.real.into(), layout, block, coupling, solids: args.solids })
            .map_err(failed)?;
        bundles.push(compiled.bundle);
        kernels = compiled.report.kernels;
    }
    clock.lap("emit");

    let name = &bundles[0].manifest.spec;
    if name != model.name() {
        notes::note(&format!("the kernels of `{}`, and their files, are called `{name}`", model.name()));
    }
    files::create_folder(&args.out)?;
    for file in pipeline::files(&bundles) {
        let path = args.out.join(&file.name);
        files::write(&path, &file.text)?;
        println!("{}", path.display());
    }
    if let Some(path) = &args.report {
        let report = Report {
            spec: model.name().to_string(),
            real: args.real.into(),
            layout,
            block,
            params: params::all_names(&model),
            kernels,
            rounding: rounding(&model, &plans),
            seconds: clock.laps,
            cuda: cuda(&bundles)?,
        };
        let text = serde_json::to_string_pretty(&report).expect("plain data has a text");
        files::write(path, &(text + "\n"))?;
        println!("{}", path.display());
    }
    Ok(())
}

/// At a rate of little viscosity.
fn rounding(model: &Model, plans: &Plans) -> Option<RoundingReport> {
    let rates = Rates::new(model, None, &[]).ok()?;
    let params = rates.params(rates.few().last()?);
    let rounding = plans.rounding(&params);
    Some(RoundingReport { params, fields: FIELDS, out_of_equilibrium: OUT_OF_EQUILIBRIUM, rounding })
}

fn cuda(bundles: &[Bundle]) -> Result<Option<CudaReport>> {
    let Some(bundle) = bundles.iter().find(|bundle| bundle.manifest.target == Target::Cuda) else { return Ok(None) };
    let Some(nvcc) = nvcc::find() else {
        notes::note("no nvcc on the path, in $CUDA_HOME or /usr/local/cuda: the report has no registers");
        return Ok(None);
    };
    Ok(Some(CudaReport { arch: ARCH, kernels: nvcc::resources(&nvcc, &bundle.source.text, ARCH)? }))
}

/// Seconds by stage.
struct Clock {
    last: Instant,
    laps: BTreeMap<&'static str, f64>,
}

impl Clock {
    fn start() -> Clock {
        Clock { last: Instant::now(), laps: BTreeMap::new() }
    }

    fn lap(&mut self, stage: &'static str) {
        self.laps.insert(stage, self.last.elapsed().as_secs_f64());
        self.last = Instant::now();
    }
}

/// Name of a stage as the report calls it.
fn stage_name(stage: Stage) -> &'static str {
    match stage {
        Stage::Prove => "prove",
        Stage::Lower => "lower",
        Stage::Simplify => "simplify",
        Stage::Schedule => "schedule",
    }
}
