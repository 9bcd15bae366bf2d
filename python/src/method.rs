//! What is found out about methods; their kernels.

use std::path::Path;

use lbm_bundle::{Layout, Real, Target};
use lbm_codegen::options::Options;
use lbm_codegen::pipeline;
use lbm_dsl::latex::PARTS;
use lbm_dsl::shipped;
use lbm_setup::findings::{self, Question};
use lbm_setup::spec::{self, Spec};
use lbm_setup::stability;
use miette::{Report, Result, miette};
use pyo3::prelude::*;

use crate::error::detached;

/// A method: a text, or a file or a shipped method by its name.
fn find(spec: &str, is_text: bool) -> Result<Spec> {
    if is_text { Ok(Spec::written(Path::new("method.lbm"), spec)) } else { Spec::find(spec) }
}

/// What `lbmc check --json` prints.
#[pyfunction]
pub fn check(
    py: Python<'_>,
    spec: String,
    is_text: bool,
    settings: Vec<String>,
    boundaries: Vec<String>,
    stability: bool,
    velocity: Option<Vec<f64>>,
) -> PyResult<String> {
    detached(py, || {
        let model = find(&spec, is_text)?.model_with_all(&boundaries, None)?;
        let asked =
            Question { settings: &settings, stability, faces: None, rounding: false, velocity: velocity.as_deref() };
        let (found, _) = findings::find(&model, asked)?;
        Ok(serde_json::to_string(&found).expect("plain data has a text"))
    })
}

/// A part of the equations of a method as LaTeX, or a document of all of them.
#[pyfunction]
pub fn latex(py: Python<'_>, spec: String, is_text: bool, part: Option<String>) -> PyResult<String> {
    detached(py, || {
        let equations = find(&spec, is_text)?.equations()?;
        let Some(part) = part else { return Ok(equations.document()) };
        let parts = PARTS.map(|(name, _)| (name, name));
        let name = choose("part", &part, &parts)?;
        let nothing = || miette!(code = "L0708", "{spec} has no {part}");
        equations.part(name).ok_or_else(nothing)
    })
}

/// A picture (PNG) of the largest stable velocity over the rate.
#[pyfunction]
pub fn stability_picture(
    py: Python<'_>,
    spec: String,
    is_text: bool,
    settings: Vec<String>,
    velocity: Option<Vec<f64>>,
) -> PyResult<Vec<u8>> {
    detached(py, || {
        let model = find(&spec, is_text)?.model()?;
        let asked = Question {
            settings: &settings,
            stability: true,
            faces: None,
            rounding: false,
            velocity: velocity.as_deref(),
        };
        let (found, rates) = findings::find(&model, asked)?;
        let found = found.stability.ok_or_else(|| miette!(code = "L0120", "it was asked for"))?;
        stability::draw(&model.frozen(), &rates, &found)
    })
}

/// Kernels: names and texts of their files, and as JSON what they cost.
#[pyfunction]
#[allow(clippy::too_many_arguments)]
pub fn compile(
    py: Python<'_>,
    spec: String,
    is_text: bool,
    target: &str,
    precision: &str,
    layout: &str,
    block: Option<Vec<u32>>,
    coupling: Option<String>,
    solids: bool,
    moments: bool,
    boundaries: Vec<String>,
) -> PyResult<(Vec<(String, String)>, String)> {
    let (target, precision, layout) = (target.to_string(), precision.to_string(), layout.to_string());
    detached(py, || {
        let real = choose("precision", &precision, &Real::ALL.map(|real| (real.name(), real)))?;
        let layout = choose("layout", &layout, &[("blocks", Layout::Blocks), ("soa", Layout::Soa)])?;
        let targets: &[Target] = choose(
            "target",
            &target,
            &[
                ("c", &[Target::C][..]),
                ("cuda", &[Target::Cuda][..]),
                ("hip", &[Target::Hip][..]),
                ("all", &[Target::Cuda, Target::C][..]),
            ],
        )?;
        spec::fits_layout(layout, &boundaries, coupling.is_some(), solids)?;
        let model = find(&spec, is_text)?.model_with_all(&boundaries, coupling.as_deref())?;
        let dim = model.lattice().dim();
        let default = if layout == Layout::Soa { Options::TILE } else { Options::default_block(dim) };
        let block = spec::block(block.as_deref(), dim, default)?;
        let coupling = coupling.map(|name| spec::coupling(&model, &name)).transpose()?;
        let failed = |error: pipeline::CompileError| miette!(code = "L0108", "{error}");
        let plans = pipeline::plan(&model, layout, &mut |_| ()).map_err(failed)?;
        let plans = if moments { plans.in_moments().map_err(failed)? } else { plans };
        let (mut bundles, mut report) = (vec![], String::new());
        for &target in targets {
            let compiled = plans.emit(&Options { target, real, layout, block, coupling, solids }).map_err(failed)?;
            bundles.push(compiled.bundle);
            report = serde_json::to_string(&compiled.report).expect("plain data has a text");
        }
        let files = pipeline::files(&bundles).into_iter().map(|file| (file.name, file.text)).collect();
        Ok((files, report))
    })
}

/// One of some words.
pub fn choose<T: Copy>(what: &str, word: &str, choices: &[(&str, T)]) -> Result<T, Report> {
    let names: Vec<&str> = choices.iter().map(|(name, _)| *name).collect();
    let found = choices.iter().find(|(name, _)| *name == word).map(|(_, choice)| *choice);
    found.ok_or_else(|| {
        miette!(code = "L0708", help = format!("it is one of {}", names.join(", ")), "`{word}` is no {what}")
    })
}

/// Names of the shipped methods, each with a sentence that says what it is.
#[pyfunction]
pub fn specs() -> Vec<(String, String)> {
    shipped::specs().map(|(name, text)| (name.to_string(), spec::summary(text))).collect()
}
