//! Tangents and adjoints: <A x, y> = <x, A^T y>, the tangent beside central differences of the step, and gradients after many steps.
//!
//! `soa/adjoint.c` calls the compiled C kernels as another program would.

use std::path::{Path, PathBuf};
use std::process::Command;

use lbm_bundle::{Layout, Real, Target};
use lbm_codegen::options::Options;
use lbm_codegen::pipeline::{self, CompileError};
use lbm_dsl::model::Model;
use lbm_tests::compiled;
use lbm_tests::sample::sample;
use lbm_tests::{root, toolchain};

/// The compiled driver of a method, and what its parameters are.
struct Subject {
    driver: PathBuf,
    dim: u32,
    params: Vec<f64>,
}

impl Subject {
    fn new(folder: &Path, spec: &str, model: &Model) -> Subject {
        let options = Options {
            target: Target::C,
            real: Real::F64,
            layout: Layout::Soa,
            block: Options::TILE,
            coupling: None,
            solids: false,
        };
        let plans = pipeline::plan(model, Layout::Soa, &mut |_| ()).and_then(|plans| plans.with_adjoint());
        let bundle =
            plans.and_then(|plans| plans.emit(&options)).unwrap_or_else(|error| panic!("{spec}: {error}")).bundle;
        let manifest = &bundle.manifest;
        for file in bundle.extras.iter().chain([&bundle.source]) {
            std::fs::write(folder.join(&file.name), &file.text).expect("a temporary file");
        }
        let rest = manifest.fields.iter().flat_map(|field| match field.components {
            1 => vec!["1"],
            count => vec!["0"; count as usize],
        });
        let driver = folder.join(format!("{spec}_adjoint"));
        let mut command = Command::new("gcc");
        command.args(["-std=c11", "-O1", "-Wall", "-Wextra", "-Werror", "-o"]).arg(&driver);
        command.arg(format!("-DSPEC={spec}")).arg(format!("-DDIM={}", manifest.dim));
        command.arg(format!("-DQ={}", manifest.q())).arg(format!("-DFIELDS={}", manifest.field_components()));
        command.arg(format!("-DMEMBERS={}", manifest.members.len()));
        command.arg(format!("-DREST={{{}}}", rest.collect::<Vec<_>>().join(",")));
        command.arg("-include").arg(folder.join(format!("{spec}.h")));
        command.arg(root().join("tests/soa/adjoint.c")).arg(folder.join(&bundle.source.name)).arg("-lm");
        toolchain::run(command);
        let params = compiled::params(model, 1.25).into_iter().flat_map(|(_, values)| values);
        Subject { driver, dim: manifest.dim, params: params.collect() }
    }

    /// What the driver prints, line by line.
    fn run(&self, what: &str, size: [usize; 3]) -> Vec<Vec<f64>> {
        let mut command = Command::new(&self.driver);
        command.arg(what).args(size.map(|extent| extent.to_string()));
        command.args(self.params.iter().map(f64::to_string));
        let output = toolchain::run(command);
        let text = String::from_utf8(output.stdout).expect("numbers");
        text.lines().map(|line| line.split(' ').map(|word| word.parse().expect("a number")).collect()).collect()
    }

    /// A small box.
    fn size(&self) -> [usize; 3] {
        if self.dim == 2 { [5, 4, 1] } else { [3, 4, 2] }
    }
}

/// The larger of the relative differences of two numbers.
fn apart(one: f64, other: f64) -> f64 {
    let apart = (one - other).abs() / one.abs().min(other.abs());
    if apart.is_nan() { f64::INFINITY } else { apart }
}

/// Shipped methods whose collision reads populations of its own cell alone.
fn local() -> impl Iterator<Item = (&'static str, Model)> {
    let all = compiled::specs().into_iter().map(|spec| (spec, compiled::model(spec)));
    all.filter(|(_, model)| model.shown().is_empty())
}

#[test]
fn adjoints_of_all_methods_are_transposes_of_tangents_which_are_limits_of_differences() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let mut wrong = Vec::new();
    for (spec, model) in sample(local()) {
        let subject = Subject::new(folder.path(), spec, &model);
        for what in ["step", "walls"] {
            let found = subject.run(what, subject.size());
            let transposed = apart(found[0][0], found[0][1]);
            let [alone, difference, at_rest] = [1, 2, 3].map(|line: usize| found[line][0]);
            let said = format!("{spec} {what}: {transposed:.1e} {alone:.1e} {difference:.1e} {at_rest:.1e}");
            println!("{said}");
            if !(transposed < 1e-12 && alone < 1e-13 && difference < 1e-6 && at_rest < 100.0) {
                wrong.push(said);
            }
        }
    }
    assert!(wrong.is_empty(), "{wrong:#?}");
}

#[test]
fn gradients_after_two_hundred_steps_between_walls_are_limits_of_differences() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let subject = Subject::new(folder.path(), "d2q9_bgk", &compiled::model("d2q9_bgk"));
    for (line, what) in subject.run("run", [8, 6, 1]).iter().zip(["omega", "a population"]) {
        let [adjoint, difference] = line[..] else { panic!("two numbers") };
        println!("{what}: {adjoint:e} {difference:e} {:.1e}", apart(adjoint, difference));
        assert!(apart(adjoint, difference) < 1e-6, "{what}: {adjoint:e} {difference:e}");
    }
}

#[test]
fn a_method_that_reads_neighbours_has_no_adjoint() {
    let model = compiled::model("d2q9_shan_chen");
    for layout in [Layout::Soa, Layout::Blocks] {
        let refused = pipeline::plan(&model, layout, &mut |_| ()).and_then(|plans| plans.with_adjoint()).err();
        assert_eq!(refused, Some(CompileError::NoAdjoint("psi".into())));
    }
}
