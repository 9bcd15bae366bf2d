//! `lbmc gen`: a method's kernels as files.

use std::collections::BTreeMap;
use std::time::Instant;

use lbm_bundle::{Bundle, Target};
use lbm_codegen::options::Options;
use lbm_codegen::pipeline::{self, KernelReport, Stage};
use miette::{Result, miette};
use serde::Serialize;

use crate::cli::{Gen, GenTarget};
use crate::nvcc::{self, Resources};
use crate::spec::{self, Spec};
use crate::{files, params};

/// Architecture that registers are reported for.
const ARCH: &str = "sm_90";

/// What `--report` writes.
#[derive(Serialize)]
struct Report {
    spec: String,
    real: lbm_bundle::Real,
    block: [u32; 3],
    /// Names of the parameters' components.
    params: Vec<String>,
    /// Counts per cell, the same for every target.
    kernels: Vec<KernelReport>,
    /// Seconds by target and stage.
    seconds: BTreeMap<Target, BTreeMap<String, f64>>,
    /// What nvcc says of each CUDA kernel; nothing where there is no nvcc or no CUDA target.
    cuda: Option<CudaReport>,
}

#[derive(Serialize)]
struct CudaReport {
    arch: &'static str,
    kernels: BTreeMap<String, Resources>,
}

/// Runs the command.
pub fn generate(args: &Gen) -> Result<()> {
    let begin = Instant::now();
    let model = Spec::find(&args.spec)?.model()?;
    let front_end = begin.elapsed().as_secs_f64();
    let dim = model.lattice().dim();
    let block = spec::block(args.block.as_ref(), dim, Options::default_block(dim))?;
    let targets: &[Target] = match args.target {
        GenTarget::Cuda => &[Target::Cuda],
        GenTarget::C => &[Target::C],
        GenTarget::All => &[Target::Cuda, Target::C],
    };

    let mut bundles: Vec<Bundle> = vec![];
    let mut kernels = vec![];
    let mut seconds = BTreeMap::new();
    for target in targets {
        let mut stages = BTreeMap::from([("front_end".to_string(), front_end)]);
        let mut last = Instant::now();
        let mut done = |stage: Stage| {
            stages.insert(stage_name(stage), last.elapsed().as_secs_f64());
            last = Instant::now();
        };
        let options = Options { target: *target, real: args.real.into(), block };
        let compiled = pipeline::compile_watched(&model, &options, &mut done).map_err(|error| miette!("{error}"))?;
        seconds.insert(*target, stages);
        bundles.push(compiled.bundle);
        kernels = compiled.report.kernels;
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
            block,
            params: params::all_names(&model),
            kernels,
            seconds,
            cuda: cuda(&bundles)?,
        };
        let text = serde_json::to_string_pretty(&report).expect("plain data has a text");
        files::write(path, &(text + "\n"))?;
        println!("{}", path.display());
    }
    Ok(())
}

fn cuda(bundles: &[Bundle]) -> Result<Option<CudaReport>> {
    let Some(bundle) = bundles.iter().find(|bundle| bundle.manifest.target == Target::Cuda) else { return Ok(None) };
    let Some(nvcc) = nvcc::find() else {
        eprintln!("note: no nvcc on the path, in $CUDA_HOME or /usr/local/cuda: the report has no registers");
        return Ok(None);
    };
    Ok(Some(CudaReport { arch: ARCH, kernels: nvcc::resources(&nvcc, &bundle.source.text, ARCH)? }))
}

/// Name of a stage as the report calls it.
fn stage_name(stage: Stage) -> String {
    let value = serde_json::to_value(stage).expect("a stage has a name");
    value.as_str().expect("a stage is a string").to_string()
}
