//! Every emitted file compiles with warnings as errors, and CUDA kernels use the registers they are known to use.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::Arc;

use lbm_bundle::formula::{Frames, Function, Plane, Recorded, Shape};
use lbm_bundle::statistics::Statistic;
use lbm_bundle::{Formula, Layout, Real, Target};
use lbm_codegen::options::Options;
use lbm_codegen::{criteria, cutting, mesh, pipeline, prescribed, statistics};
use lbm_runtime::device::Device;
use lbm_tests::compiled::EVERYWHERE;
use lbm_tests::criteria::of_every_kind;
use lbm_tests::sample::sample;
use lbm_tests::toolchain::{self, ARCHITECTURES, Care, Compilers, Resources};
use lbm_tests::{compiled, root, update};

/// Writes every file of a spec into a folder.
fn write(folder: &Path, spec: &str, real: Real) {
    std::fs::create_dir_all(folder).expect("a temporary folder");
    for file in compiled::files(spec, real) {
        std::fs::write(folder.join(file.name), file.text).expect("a temporary file");
    }
}

/// Architectures for which kernels are compiled here; `LBMC_ARCHITECTURES=all` takes the others, too.
const SOME: [&str; 1] = ["90"];

/// Both real types with their names.
const REALS: [(Real, &str); 2] = [(Real::F32, "f32"), (Real::F64, "f64")];

/// The text of GPUs of AMD, too: what is checked of it alone is all that a target without a machine has.
#[test]
fn c_and_hip_compile_without_warnings_and_as_their_header_says() {
    let compilers = Compilers::find();
    let temporary = tempfile::tempdir().expect("a temporary folder");
    for spec in sample(compiled::specs()) {
        let model = compiled::model(spec);
        let block = Options::default_block(model.lattice().dim());
        for (target, real) in [(Target::C, Real::F32), (Target::C, Real::F64), (Target::Hip, Real::F32)] {
            let bundle = compiled::compile(&model, target, real, block).bundle;
            compilers.take(temporary.path(), &bundle, Care::of(spec));
        }
    }
}

#[test]
fn kernels_compile_for_blocks_of_any_shape() {
    let compilers = Compilers::find();
    let temporary = tempfile::tempdir().expect("a temporary folder");
    // Wet-node conditions that read the next cell, which is in another block where blocks are thin, and mirrors beside them.
    let rules = ["zou_he_velocity", "extrapolation_outflow", "free_slip"];
    for (spec, block, care) in sample([
        ("d2q9_bgk", [5, 3, 1], Care::Compiled),
        ("d2q9_bgk", [1, 1, 1], Care::Compiled),
        ("d2q9_bgk", [41, 1, 1], Care::Read),
        ("d3q19_bgk", [2, 7, 3], Care::Read),
        ("d3q19_bgk", [16, 16, 16], Care::Read),
        ("d3q19_bgk", [1, 41, 1], Care::Read),
    ]) {
        for target in Target::ALL {
            let bundle = compiled::compile(&compiled::model_with_rules(spec, &rules), target, Real::F32, block).bundle;
            compilers.take(temporary.path(), &bundle, care);
        }
    }
}

#[test]
fn what_moves_values_between_gpus_compiles_for_every_architecture() {
    let Some(toolkit) = toolchain::cuda() else { return };
    let temporary = tempfile::tempdir().expect("a temporary folder");
    for (name, text) in Device::gpu_sources() {
        let source = temporary.path().join(name);
        std::fs::write(&source, text).expect("a temporary file");
        for architecture in ARCHITECTURES {
            let kernels = toolchain::nvcc(&toolkit, &source, architecture);
            let mut names: Vec<&str> = kernels.iter().map(|kernel| &kernel.kernel[..]).collect();
            names.sort_unstable();
            let expected: &[&str] = match name {
                "moving.cu" => &["move_16", "move_2", "move_4", "move_8"],
                _ => &["await_signal", "signal"],
            };
            assert_eq!(names, expected, "sm_{architecture}");
            assert!(kernels.iter().all(|kernel| kernel.spill_bytes == 0), "sm_{architecture}");
        }
    }
}

#[test]
fn plain_arrays_compile_for_all_targets_as_their_header_says() {
    let compilers = Compilers::find();
    let temporary = tempfile::tempdir().expect("a temporary folder");
    for spec in sample(compiled::specs()) {
        let model = compiled::model(spec);
        let plans = pipeline::plan(&model, Layout::Soa, &mut |_| ());
        let plans = if model.shown().is_empty() { plans.and_then(|plans| plans.with_adjoint()) } else { plans };
        let plans = plans.unwrap_or_else(|error| panic!("{error}"));
        let all: &[Target] = if EVERYWHERE.contains(&spec) { &Target::ALL } else { &[Target::C] };
        for &target in all {
            let options = Options {
                target,
                real: Real::F32,
                layout: Layout::Soa,
                block: Options::TILE,
                coupling: None,
                solids: false,
            };
            if !model.shown().is_empty() {
                let refused = plans.emit(&options).expect_err("plain arrays have no pass for what cells show");
                assert!(refused.to_string().contains("neighbours"), "{refused}");
                continue;
            }
            let bundle = plans.emit(&options).unwrap_or_else(|error| panic!("{error}")).bundle;
            compilers.take(temporary.path(), &bundle, Care::of(spec));
        }
    }
}

#[test]
fn cuda_compiles_without_warnings_and_uses_the_registers_in_the_table() {
    let Some(toolkit) = toolchain::cuda() else { return };
    let temporary = tempfile::tempdir().expect("a temporary folder");
    let all = update() || std::env::var("LBMC_ARCHITECTURES").is_ok_and(|which| which == "all");
    let architectures = if all { &ARCHITECTURES[..] } else { &SOME[..] };
    // Without an architecture the text is read alone.
    let mut jobs: Vec<(PathBuf, &str, Option<&str>)> = Vec::new();
    for spec in compiled::specs() {
        for (real, name) in REALS {
            let wanted: Vec<Option<&str>> = match (EVERYWHERE.contains(&spec), real) {
                (true, Real::F32) => architectures.iter().copied().map(Some).collect(),
                (true, _) => vec![Some("90")],
                (false, Real::F32) if all => vec![None],
                (false, _) => continue,
            };
            let folder = temporary.path().join(name);
            write(&folder, spec, real);
            let source = folder.join(format!("{spec}.cu"));
            jobs.extend(wanted.into_iter().map(|arch| (source.clone(), name, arch)));
        }
    }
    // Those that take long are the ones with architectures.
    jobs.sort_by_key(|job| job.2.is_none());
    let (left, right): (Vec<_>, Vec<_>) = jobs.into_iter().enumerate().partition(|(at, _)| at % 2 == 0);
    let [left, right] = [left, right].map(|half| half.into_iter().map(|(_, job)| job).collect::<Vec<_>>());
    let compile = |jobs: &[(PathBuf, &str, Option<&str>)]| {
        let mut lines = Vec::new();
        for (source, real, arch) in jobs {
            let Some(arch) = arch else {
                toolchain::nvcc_reads(&toolkit, source, "90");
                continue;
            };
            for kernel in toolchain::nvcc(&toolkit, source, arch) {
                let (name, registers, spills) = (kernel.kernel, kernel.registers, kernel.spill_bytes);
                lines.push(format!("{name},{real},sm_{arch},{registers},{spills}"));
            }
        }
        lines
    };
    let lines = std::thread::scope(|scope| {
        let other = scope.spawn(|| compile(&left));
        let mut lines = compile(&right);
        lines.extend(other.join().expect("nvcc accepts every kernel"));
        lines
    });
    registers_agree("registers.csv", lines, |line| {
        architectures.iter().any(|arch| line.contains(&format!(",sm_{arch},")))
    });
}

/// Registers of vectors, and bytes of a thread in memory of its own in the place of spills.
#[test]
fn hip_uses_the_registers_in_the_table() {
    lbm_tests::in_turn!();
    let compilers = Compilers::find();
    let temporary = tempfile::tempdir().expect("a temporary folder");
    let of_spec = |spec: &&str| {
        let model = compiled::model(spec);
        let block = Options::default_block(model.lattice().dim());
        let source = compiled::compile(&model, Target::Hip, Real::F32, block).bundle.source;
        let path = temporary.path().join(source.name);
        std::fs::write(&path, source.text).expect("a temporary file");
        compilers.hip(&path)
    };
    let Some(kernels) = EVERYWHERE.iter().map(of_spec).collect::<Option<Vec<_>>>() else { return };
    let line = |of: &Resources| format!("{},f32,gfx90a,{},{}", of.kernel, of.registers, of.spill_bytes);
    registers_agree("registers-hip.csv", kernels.iter().flatten().map(line).collect(), |_| true);
}

/// Compares lines with those of a table in `benchmarks/` that are of interest, or writes the table.
fn registers_agree(table: &str, mut lines: Vec<String>, is_of: impl Fn(&str) -> bool) {
    lines.sort();
    let heading = "kernel,real,arch,registers,spill_bytes";
    let found = format!("{heading}\n{}\n", lines.join("\n"));
    let table = root().join("benchmarks").join(table);
    if update() {
        std::fs::write(&table, &found).expect("benchmarks/ can be written");
    }
    let expected = std::fs::read_to_string(&table).unwrap_or_default();
    let expected = expected.lines().filter(|line| *line == heading || is_of(line));
    let expected: String = expected.map(|line| format!("{line}\n")).collect();
    assert!(
        found == expected,
        "registers have changed; look at the change with\n    LBMC_UPDATE=1 cargo test -p lbm-tests compile:: && git \
         diff benchmarks\nand check it in if it is for the better:\n{}",
        changes(&expected, &found)
    );
}

#[test]
fn populations_of_16_bits_compile_at_interfaces_and_solids() {
    lbm_tests::in_turn!();
    let compilers = Compilers::find();
    let temporary = tempfile::tempdir().expect("a temporary folder");
    for (spec, block) in sample([("d2q9_bgk", [8, 8, 1]), ("d3q19_bgk", [4, 4, 4])]) {
        let model = compiled::model_with_coupling(spec, "volumetric_shifted");
        for target in Target::ALL {
            let (real, layout) = (Real::F16F32, Layout::Blocks);
            let options = Options { target, real, layout, block, coupling: Some(0), solids: true };
            let bundle = pipeline::compile(&model, &options).unwrap_or_else(|error| panic!("{error}")).bundle;
            compilers.take(temporary.path(), &bundle, if spec == "d2q9_bgk" { Care::Compiled } else { Care::Read });
        }
    }
}

#[test]
fn kernels_in_the_only_set_of_populations_compile_for_all_targets() {
    lbm_tests::in_turn!();
    let compilers = Compilers::find();
    let temporary = tempfile::tempdir().expect("a temporary folder");
    let rules = ["bounce_back", "free_slip", "regularized_velocity"];
    for (spec, rules, real, block, care) in sample([
        ("d2q9_bgk", &rules[..], Real::F32, [8, 8, 1], Care::Compiled),
        ("d2q9_bgk", &[], Real::F16F32, [32, 16, 1], Care::Read),
        ("d3q19_bgk", &rules[..1], Real::F16F32, [4, 4, 4], Care::Read),
    ]) {
        for target in Target::ALL {
            let model = compiled::model_with_all(spec, rules, Some("volumetric_shifted"));
            compilers.take(temporary.path(), &compiled::compile_in_place_levels(&model, target, real, block), care);
        }
    }
}

#[test]
fn addresses_across_blocks_are_made_again_and_not_kept_in_registers() {
    lbm_tests::in_turn!();
    let Some(toolkit) = toolchain::cuda() else { return };
    let temporary = tempfile::tempdir().expect("a temporary folder");
    let model = compiled::model_with_all("d3q19_bgk", &["bounce_back"], Some("volumetric_shifted"));
    // A thread block for each block of cells: there the assembler saw that addresses were the same, and kept them in 92 to 117 registers.
    let bundle = compiled::compile_in_place_levels(&model, Target::Cuda, Real::F32, [16, 4, 4]);
    let source = temporary.path().join(&bundle.source.name);
    std::fs::write(&source, &bundle.source.text).expect("a temporary file");
    let kernels = toolchain::nvcc(&toolkit, &source, "90");
    let across: Vec<_> = kernels.iter().filter(|kernel| kernel.kernel.contains("_collide_out")).collect();
    assert_eq!(across.len(), 6, "{kernels:?}");
    assert!(across.iter().all(|kernel| kernel.registers <= 64 && kernel.spill_bytes == 0), "{across:?}");
}

/// Writes the kernels that belong to no method into a folder: those of the mesh and those that cut links, of both dimensions, for a target.
fn write_mesh(folder: &Path, target: Target) -> [PathBuf; 4] {
    let [two, three] = [2, 3].map(|dim| [mesh::bundle(dim, target).source, cutting::bundle(dim, target).source]);
    let ([mesh_2d, cutting_2d], [mesh_3d, cutting_3d]) = (two, three);
    [mesh_2d, cutting_2d, mesh_3d, cutting_3d].map(|source| {
        let path = folder.join(source.name);
        std::fs::write(&path, source.text).expect("a temporary file");
        path
    })
}

#[test]
fn kernels_of_no_method_compile_in_c_and_cuda() {
    lbm_tests::in_turn!();
    let temporary = tempfile::tempdir().expect("a temporary folder");
    write_mesh(temporary.path(), Target::C).iter().for_each(|source| toolchain::gcc(source));
    let Some(toolkit) = toolchain::cuda() else { return };
    for source in write_mesh(temporary.path(), Target::Cuda) {
        for architecture in ["75", "90", "120"] {
            toolchain::nvcc_reads(&toolkit, &source, architecture);
        }
    }
}

/// Writes criteria of every kind for a target into a folder.
fn write_criteria(folder: &Path, target: Target) -> [PathBuf; 2] {
    [("d2q9_bgk", Real::F32, [8, 8, 1]), ("d3q19_bgk", Real::F64, [4, 4, 4])].map(|(spec, real, block)| {
        let manifest = compiled::compile(&compiled::model(spec), target, real, block).bundle.manifest;
        let bundle = criteria::bundle(&manifest, &of_every_kind(&manifest)).unwrap_or_else(|error| panic!("{error}"));
        let path = folder.join(bundle.source.name);
        std::fs::write(&path, bundle.source.text).expect("a temporary file");
        path
    })
}

#[test]
fn criteria_compile_in_c_and_cuda() {
    let temporary = tempfile::tempdir().expect("a temporary folder");
    write_criteria(temporary.path(), Target::C).iter().for_each(|source| toolchain::gcc(source));
    let Some(toolkit) = toolchain::cuda() else { return };
    for source in write_criteria(temporary.path(), Target::Cuda) {
        toolchain::nvcc_reads(&toolkit, &source, "90");
    }
}

/// A recording of which nothing is read.
#[derive(Debug)]
struct Unread;

impl Frames for Unread {
    fn read(&self, number: u64) -> Result<Vec<f32>, String> {
        Err(format!("frame {number} is not there"))
    }
}

/// Writes kernels of prescribed values for a target into a folder: a formula with every function that there is, and recordings.
fn write_prescribed(folder: &Path, target: Target) -> [PathBuf; 2] {
    [("d2q9_bgk", Real::F32, [8, 8, 1]), ("d3q19_bgk", Real::F64, [4, 4, 4])].map(|(spec, real, block)| {
        let manifest = compiled::compile(&compiled::model(spec), target, real, block).bundle.manifest;
        let of_all = |function: &Function| {
            let operands = ["x", "y * t", "z"].map(|text| text.parse::<Formula>().expect("a formula"));
            Formula::apply(*function, operands[..function.operands().len()].to_vec())
        };
        let recorded = |repeats: bool| {
            let name = "unread".to_string();
            let (points, periodic) = ([90, 7], [true, false]);
            let shape =
                Shape { name, points, components: 3, frames: 50, repeats, periodic, interval: 2.0, window: 1 << 20 };
            let plane = Plane::new(shape, Arc::new(Unread));
            let point = ["x", "y - 0.5", "t / 2"].map(|text| text.parse().expect("a formula"));
            Formula::Recorded(Recorded { plane, component: 2 }, Box::new(point))
        };
        let formulas: Vec<Formula> = Function::ALL.iter().map(of_all).chain([false, true].map(recorded)).collect();
        let bundle = prescribed::bundle(&manifest, &formulas).unwrap_or_else(|error| panic!("{error}"));
        let path = folder.join(bundle.source.name);
        std::fs::write(&path, bundle.source.text).expect("a temporary file");
        path
    })
}

#[test]
fn prescribed_values_compile_in_c_and_cuda() {
    let temporary = tempfile::tempdir().expect("a temporary folder");
    write_prescribed(temporary.path(), Target::C).iter().for_each(|source| toolchain::gcc(source));
    let Some(toolkit) = toolchain::cuda() else { return };
    for source in write_prescribed(temporary.path(), Target::Cuda) {
        toolchain::nvcc_reads(&toolkit, &source, "90");
    }
}

/// Writes kernels of statistics for a target into a folder: with all that may be accumulated, and with a mean alone.
fn write_statistics(folder: &Path, target: Target) -> [PathBuf; 2] {
    [("d2q9_bgk", Real::F32, [8, 8, 1]), ("d3q19_bgk", Real::F64, [4, 4, 4])].map(|(spec, real, block)| {
        let manifest = compiled::compile(&compiled::model(spec), target, real, block).bundle.manifest;
        let formula = |text: &str| text.parse::<Formula>().expect("a formula");
        let all = Statistic {
            quantities: vec![formula("ux"), formula("sqrt(ux * ux + uy * uy)"), formula("(rho - 1) / 3")],
            pairs: vec![[0, 0], [0, 1]],
            least: vec![2],
            greatest: vec![0, 1],
        };
        let mean = Statistic { quantities: vec![formula("uy")], ..Statistic::default() };
        let bundle = statistics::bundle(&manifest, &[all, mean]).unwrap_or_else(|error| panic!("{error}"));
        let path = folder.join(bundle.source.name);
        std::fs::write(&path, bundle.source.text).expect("a temporary file");
        path
    })
}

#[test]
fn statistics_compile_in_c_and_cuda() {
    let temporary = tempfile::tempdir().expect("a temporary folder");
    write_statistics(temporary.path(), Target::C).iter().for_each(|source| toolchain::gcc(source));
    let Some(toolkit) = toolchain::cuda() else { return };
    for source in write_statistics(temporary.path(), Target::Cuda) {
        toolchain::nvcc_reads(&toolkit, &source, "90");
    }
}

/// With and without the rules of nodes that read the next cell, in both dimensions and real types.
#[test]
fn kernels_at_level_jumps_compile_for_all_targets() {
    let compilers = Compilers::find();
    let temporary = tempfile::tempdir().expect("a temporary folder");
    let methods = [
        ("d2q9_bgk", "volumetric", Real::F64, [8, 8, 1], Care::Read),
        ("d2q9_trt", "volumetric_shifted", Real::F32, [16, 16, 1], Care::Compiled),
        ("d3q19_bgk", "volumetric_shifted", Real::F64, [4, 4, 4], Care::Read),
        ("d3q27_bgk", "volumetric_shifted", Real::F32, [32, 4, 4], Care::Read),
        ("d2q9_bgk", "volumetric_timed", Real::F64, [16, 16, 1], Care::Read),
        ("d3q27_bgk", "volumetric_timed", Real::F32, [8, 8, 8], Care::Read),
        ("d2q9_bgk", "interpolated_means", Real::F64, [16, 16, 1], Care::Read),
        ("d3q19_bgk", "interpolated", Real::F32, [4, 4, 4], Care::Compiled),
    ];
    for (spec, coupling, real, block, care) in sample(methods) {
        let model = compiled::model_with_coupling(spec, coupling);
        for target in Target::ALL {
            let bundle = compiled::compile_levels(&model, target, real, block);
            compilers.take(temporary.path(), &bundle, care);
        }
    }
}

/// With and without rules of nodes at faces, mirrors, further populations and level jumps, in both dimensions and real types.
#[test]
fn kernels_of_solids_compile_for_all_targets() {
    let compilers = Compilers::find();
    let temporary = tempfile::tempdir().expect("a temporary folder");
    let all = ["interpolated_bounce_back", "free_slip", "zou_he_pressure"];
    let methods = [
        ("d2q9_bgk", &all[..0], None, Real::F64, [8, 8, 1], Care::Read),
        ("d2q9_trt", &all, Some("volumetric_shifted"), Real::F32, [32, 32, 1], Care::Read),
        ("d2q9_scalar", &all[..0], None, Real::F32, [8, 8, 1], Care::Read),
        ("d3q19_bgk", &all[..1], None, Real::F32, [4, 4, 4], Care::Compiled),
    ];
    for (spec, rules, coupling, real, block, care) in sample(methods) {
        let model = compiled::model_with_all(spec, rules, coupling);
        for target in Target::ALL {
            let bundle = compiled::compile_solids(&model, target, real, block);
            compilers.take(temporary.path(), &bundle, care);
        }
    }
}

/// With rules of nodes at faces, solids and level jumps, where moments depend on the populations linearly and otherwise.
#[test]
fn kernels_of_moments_compile_for_all_targets() {
    let compilers = Compilers::find();
    let temporary = tempfile::tempdir().expect("a temporary folder");
    let all = ["interpolated_bounce_back", "free_slip", "zou_he_pressure"];
    let methods = [
        ("d2q9_central", &all[..], Some("volumetric_shifted"), Real::F32, [16, 16, 1], Care::Compiled),
        ("d3q19_regularized", &all[..1], Some("volumetric_shifted"), Real::F64, [8, 8, 4], Care::Read),
        ("d3q27_cumulant", &all[..0], None, Real::F32, [4, 8, 4], Care::Read),
        ("d2q9_central", &all[..], Some("volumetric_shifted"), Real::F16F32, [16, 16, 1], Care::Read),
        ("d3q19_regularized", &all[..1], Some("interpolated"), Real::F16F32, [8, 8, 8], Care::Read),
        ("d3q27_cumulant", &all[..0], None, Real::F16F32, [3, 4, 5], Care::Read),
        ("d2q9_hybrid", &all[..], Some("volumetric_shifted"), Real::F16F32, [16, 16, 1], Care::Compiled),
    ];
    for (spec, rules, coupling, real, block, care) in sample(methods) {
        let model = compiled::model_with_all(spec, rules, coupling);
        for target in Target::ALL {
            let bundle = compiled::compile_moments(&model, target, real, block);
            compilers.take(temporary.path(), &bundle, care);
        }
    }
}

#[test]
fn nvrtc_accepts_every_way_of_writing_kernels() {
    lbm_tests::in_turn!();
    let Some(toolkit) = toolchain::cuda() else { return };
    let temporary = tempfile::tempdir().expect("a temporary folder");
    let mut command = Command::new("python3");
    command.arg(root().join("scripts/nvrtc-check.py")).arg(toolkit).arg("75,120");
    for spec in compiled::specs() {
        for (real, name) in REALS.into_iter().filter(|_| EVERYWHERE.contains(&spec)) {
            let folder = temporary.path().join(name);
            write(&folder, spec, real);
            command.arg(folder.join(format!("{spec}.cu")));
        }
    }
    command.args(write_mesh(temporary.path(), Target::Cuda));
    command.args(write_criteria(temporary.path(), Target::Cuda));
    command.args(write_prescribed(temporary.path(), Target::Cuda));
    toolchain::run(command);
}

/// Lines of a table that differ, old and new.
fn changes(old: &str, new: &str) -> String {
    let by_key = |text: &str| -> BTreeMap<String, String> {
        let key = |line: &str| line.splitn(4, ',').take(3).collect::<Vec<_>>().join(",");
        text.lines().map(|line| (key(line), line.to_string())).collect()
    };
    let (old, new) = (by_key(old), by_key(new));
    let mut lines = Vec::new();
    for key in old.keys().chain(new.keys().filter(|key| !old.contains_key(*key))) {
        if old.get(key) != new.get(key) {
            let show =
                |line: Option<&String>| line.map_or("none".to_string(), |line| line[key.len() + 1..].to_string());
            lines.push(format!("{key}: {} -> {}", show(old.get(key)), show(new.get(key))));
        }
    }
    lines.join("\n")
}
