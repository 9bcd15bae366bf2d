//! The examples build, and those that need no GPU run and meet their own checks (`examples/rust_macro` has its own test).
//! Tools that are missing are an error in continuous integration (`CI=true`); elsewhere the test says what it skips.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::process::Command;

use lbm_bundle::{Layout, Real, Target};
use lbm_codegen::options::Options;
use lbm_codegen::pipeline;
use lbm_tests::toolchain::have;
use lbm_tests::{compiled, root, toolchain, update};

/// Kernels that the examples call, with their real types.
const KERNELS: [(&str, Real); 2] = [("d2q9_bgk", Real::F64), ("d3q19_bgk", Real::F32)];

fn example(path: &str) -> PathBuf {
    root().join("examples").join(path)
}

/// Runs a command and shows what it printed.
fn show(command: Command) {
    let output = toolchain::run(command);
    print!("{}", String::from_utf8_lossy(&output.stdout));
}

#[test]
fn kernels_of_the_examples_are_what_the_compiler_emits() {
    let folder = example("kernels");
    let mut fresh = BTreeMap::new();
    for (spec, real) in KERNELS {
        let model = compiled::model(spec);
        let bundles = [Target::Cuda, Target::C].map(|target| {
            let options =
                Options { target, real, layout: Layout::Soa, block: Options::TILE, coupling: None, solids: false };
            pipeline::compile(&model, &options).unwrap_or_else(|error| panic!("{error}")).bundle
        });
        fresh.extend(pipeline::files(&bundles).into_iter().map(|file| (file.name, file.text)));
    }
    let mut drifted = Vec::new();
    for (name, text) in &fresh {
        let path = folder.join(name);
        if update() {
            std::fs::write(&path, text).expect("examples/kernels can be written");
        }
        if std::fs::read_to_string(&path).ok().as_ref() != Some(text) {
            drifted.push(name.clone());
        }
    }
    assert!(
        drifted.is_empty(),
        "examples/kernels differs from what the compiler emits now; write it again with\n    \
         LBMC_UPDATE=1 cargo test -p lbm-tests examples::\nDifferent: {}",
        drifted.join(", ")
    );
}

#[test]
fn c_host_runs() {
    let temporary = tempfile::tempdir().expect("a temporary folder");
    let mut probe = Command::new("make");
    probe.arg("--version");
    if have(probe, "examples/c_host needs make") {
        let mut make = Command::new("make");
        make.arg("--silent").arg("-C").arg(example("c_host")).arg(format!("BUILD={}", temporary.path().display()));
        show(make);
    }
}

#[test]
fn python_adjoint_runs() {
    let temporary = tempfile::tempdir().expect("a temporary folder");
    let mut probe = Command::new("python3");
    probe.args(["-c", "import numpy"]);
    if have(probe, "examples/python_adjoint needs python3 with numpy") {
        let model = compiled::model("d2q9_bgk");
        let options = Options {
            target: Target::C,
            real: Real::F64,
            layout: Layout::Soa,
            block: Options::TILE,
            coupling: None,
            solids: false,
        };
        let plans = pipeline::plan(&model, Layout::Soa, &mut |_| ()).and_then(|plans| plans.with_adjoint());
        let bundle = plans.and_then(|plans| plans.emit(&options)).unwrap_or_else(|error| panic!("{error}")).bundle;
        std::fs::write(temporary.path().join(&bundle.source.name), &bundle.source.text).expect("a temporary file");
        let mut python = Command::new("python3");
        python.arg("-B").arg(example("python_adjoint/viscosity.py")).arg(temporary.path());
        show(python);
    }
}

#[test]
fn python_numpy_runs() {
    let temporary = tempfile::tempdir().expect("a temporary folder");
    let mut probe = Command::new("python3");
    probe.args(["-c", "import numpy"]);
    if have(probe, "examples/python_numpy needs python3 with numpy") {
        let mut python = Command::new("python3");
        python.arg(example("python_numpy/taylor_green.py")).arg(temporary.path());
        show(python);
    }
}

#[test]
fn python_cupy_is_python() {
    let mut probe = Command::new("python3");
    probe.arg("--version");
    if have(probe, "examples/python_cupy needs python3") {
        let mut python = Command::new("python3");
        python.arg("-c").arg("import ast, sys; ast.parse(open(sys.argv[1]).read())");
        show({
            python.arg(example("python_cupy/taylor_green.py"));
            python
        });
    }
}

#[test]
fn cpp_cuda_compiles() {
    let Some(toolkit) = toolchain::cuda() else { return };
    let temporary = tempfile::tempdir().expect("a temporary folder");
    toolchain::run(nvcc(&toolkit, &example("cpp_cuda/taylor_green.cu"), &temporary.path().join("taylor_green.o")));
}

/// Compiles a whole CUDA program, host part included.
fn nvcc(toolkit: &Path, source: &Path, object: &Path) -> Command {
    let mut command = Command::new(toolkit.join("bin/nvcc"));
    command.args(["-std=c++17", "-arch=sm_90", "-Werror", "all-warnings", "-Xcompiler", "-Wall,-Wextra", "-c", "-o"]);
    command.arg(object).arg(source);
    command
}
