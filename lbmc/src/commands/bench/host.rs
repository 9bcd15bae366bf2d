//! The suite `host`: what takes time on the CPU. Kernels, two flows, and generating each shipped method.

use std::time::Instant;

use lbm_bundle::{Layout, Real, Target};
use lbm_codegen::options::Options;
use lbm_codegen::pipeline;
use lbm_dsl::shipped;
use lbm_setup::spec::Spec;
use miette::{Result, miette};
use rustix::time::{ClockId, clock_gettime};

use super::flows::small;
use super::record::{Generation, Outcome};
use super::row::Row;
use super::uniform;

/// Memory for the populations of a kernel, in GiB: far more than any cache.
const GIB: f64 = 1.0;

/// Its rows.
pub fn rows() -> Result<Vec<Row>> {
    let mut rows = vec![];
    for method in ["d3q19_bgk", "d3q27_bgk"] {
        rows.extend(uniform::of(method, GIB, Target::C)?);
    }
    rows.push(small("cavity2d_refined", "d2q9_bgk", "f64", "1000").row(Target::C));
    rows.push(small("cavity2d_adaptive", "d2q9_bgk", "f64", "1000").row(Target::C));
    rows.extend(shipped::specs().map(|(name, _)| generation(name)));
    Ok(rows)
}

/// The row of generating a method.
fn generation(name: &'static str) -> Row {
    Row {
        name: format!("gen-{name}"),
        command: format!("lbmc gen {name}"),
        target: Target::C,
        inputs: String::new(),
        lacks: None,
        measure: Box::new(move |_| generate(name)),
    }
}

/// Generates a method for both targets, but for writing the files.
fn generate(name: &str) -> Result<Outcome> {
    let (began, before) = (Instant::now(), processor_seconds());
    let model = Spec::find(name)?.model()?;
    let failed = |error| miette!(code = "L0108", "{error}");
    let plans = pipeline::plan(&model, Layout::Blocks, &mut |_| ()).map_err(failed)?;
    let mut bundles = vec![];
    for target in [Target::Cuda, Target::C] {
        let block = Options::default_block(model.lattice().dim());
        let options = Options { target, real: Real::F32, layout: Layout::Blocks, block, coupling: None, solids: false };
        bundles.push(plans.emit(&options).map_err(failed)?.bundle);
    }
    let files = pipeline::files(&bundles);
    std::hint::black_box(files);
    Ok(Outcome::Generation(Generation {
        spec: name.to_string(),
        seconds: began.elapsed().as_secs_f64(),
        processor_seconds: processor_seconds() - before,
    }))
}

/// Seconds that all threads of this process have computed for.
fn processor_seconds() -> f64 {
    let time = clock_gettime(ClockId::ProcessCPUTime);
    time.tv_sec as f64 + 1e-9 * time.tv_nsec as f64
}
