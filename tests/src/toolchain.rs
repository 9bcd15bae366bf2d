//! The compilers that emitted text is given to.

use std::path::{Path, PathBuf};
use std::process::{Command, Output};

use lbm_bundle::{Bundle, Target};

use crate::compiled::EVERYWHERE;
use crate::root;

/// Architectures that CUDA text must compile for.
pub const ARCHITECTURES: [&str; 7] = ["75", "80", "86", "89", "90", "100", "120"];

/// A line of `benchmarks/registers.csv` or `registers-hip.csv`.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Resources {
    /// Symbol of the kernel.
    pub kernel: String,
    /// Registers of a thread.
    pub registers: u32,
    /// Bytes of stores and loads that spilled registers cause.
    pub spill_bytes: u32,
}

/// The CUDA toolkit's folder: `$LBMC_CUDA`, or the wheels that `scripts/fetch-cuda.sh` has fetched. In continuous
/// integration (`CI=true`) they are fetched; elsewhere `None` says that this test can't run, and how to make it run.
pub fn cuda() -> Option<PathBuf> {
    if let Some(folder) = std::env::var_os("LBMC_CUDA") {
        return Some(folder.into());
    }
    let wheels = std::env::var_os("LBMC_CUDA_WHEELS").map_or(root().join("target/cuda-wheels"), PathBuf::from);
    let folder = wheels.join("nvidia/cu13");
    if folder.join("bin/nvcc").is_file() {
        return Some(folder);
    }
    if std::env::var_os("CI").is_some_and(|value| value == "true") {
        let output = run(Command::new(root().join("scripts/fetch-cuda.sh")));
        return Some(String::from_utf8_lossy(&output.stdout).trim().into());
    }
    eprintln!(
        "skipped: no CUDA compiler here. Run scripts/fetch-cuda.sh once, or set LBMC_CUDA to a toolkit of version 13.0"
    );
    None
}

/// How closely a source is looked at.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Care {
    /// C and CUDA are compiled, HIP is read.
    Compiled,
    /// C and HIP are read, without code for them; CUDA is not, whose text is that of HIP but for the functions of `templates/*/words`.
    Read,
}

impl Care {
    /// That of a spec: those that have every way of writing kernels are compiled.
    pub fn of(spec: &str) -> Care {
        if EVERYWHERE.contains(&spec) { Care::Compiled } else { Care::Read }
    }
}

/// The compilers of all targets, as far as they are here; in continuous integration all are.
pub struct Compilers {
    cuda: Option<PathBuf>,
    hip: bool,
}

impl Compilers {
    /// Looks for them.
    pub fn find() -> Compilers {
        let mut probe = Command::new("hipcc");
        probe.env("HIP_PLATFORM", "amd").arg("--version");
        let hip = have(probe, "no hipcc here: apt-get install hipcc libamdhip64-dev rocm-device-libs");
        Compilers { cuda: cuda(), hip }
    }

    /// Writes the files of a bundle into a folder and has the compiler of its target take them, warnings as errors.
    pub fn take(&self, folder: &Path, bundle: &Bundle, care: Care) {
        for file in bundle.extras.iter().chain([&bundle.source]) {
            std::fs::write(folder.join(&file.name), &file.text).expect("a temporary file");
        }
        let source = folder.join(&bundle.source.name);
        match (bundle.manifest.target, care, &self.cuda) {
            (Target::C, Care::Compiled, _) => gcc(&source),
            (Target::C, Care::Read, _) => gcc_reads(&source),
            (Target::Cuda, Care::Compiled, Some(toolkit)) => nvcc_reads(toolkit, &source, "90"),
            (Target::Cuda, _, _) => {}
            (Target::Hip, _, _) if self.hip => drop(hipcc(&source, &["-fsyntax-only"])),
            (Target::Hip, _, _) => {}
        }
    }

    /// Compiles a HIP file, warnings as errors, and reads what the compiler says of its kernels; nothing where there is no hipcc.
    pub fn hip(&self, source: &Path) -> Option<Vec<Resources>> {
        let how = ["-O3", "-Rpass-analysis=kernel-resource-usage", "-c", "-o", "/dev/null"];
        self.hip.then(|| hip_resources(&String::from_utf8_lossy(&hipcc(source, &how).stderr)))
    }
}

/// Has hipcc take the GPU's part of a HIP file, the header beside it, if there is one, before it, warnings as errors.
fn hipcc(source: &Path, how: &[&str]) -> Output {
    let mut command = Command::new("hipcc");
    command.env("HIP_PLATFORM", "amd").args(["-x", "hip", "--offload-arch=gfx90a", "--cuda-device-only"]);
    // hipcc gives the libraries of a program to a compiler that makes none.
    command.args(["-std=c++17", "-Wall", "-Wextra", "-Werror", "-Wno-unused-command-line-argument"]).args(how);
    include_header(&mut command, source);
    command.arg(source);
    run(command)
}

/// Reads the remarks of clang on resources of kernels.
fn hip_resources(log: &str) -> Vec<Resources> {
    let mut all: Vec<Resources> = Vec::new();
    for line in log.lines() {
        let after = |words: &str| Some(line.split_once(words)?.1.split_whitespace().next()?.to_string());
        let number = |words: &str| after(words).and_then(|text| text.parse::<u32>().ok());
        if let Some(kernel) = after("Function Name: ") {
            all.push(Resources { kernel, registers: 0, spill_bytes: 0 });
        } else if let Some(last) = all.last_mut() {
            // Registers of vectors, ordinary ones and those for sums of products of matrices.
            if let Some(count) = number(" VGPRs: ").or_else(|| number("AGPRs: ")) {
                last.registers += count;
            } else if let Some(bytes) = number("ScratchSize [bytes/lane]: ") {
                last.spill_bytes = bytes;
            }
        }
    }
    all.sort();
    all
}

/// Runs a command that must succeed.
pub fn run(mut command: Command) -> Output {
    let output = command.output().unwrap_or_else(|error| panic!("can't run {command:?}: {error}"));
    if !output.status.success() {
        let (out, err) = (String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr));
        panic!("{command:?} failed:\n{out}{err}");
    }
    output
}

/// Compiles a C file with warnings as errors, the header beside it, if there is one, before it.
pub fn gcc(source: &Path) {
    let mut command = Command::new("gcc");
    command.args(["-std=c11", "-O1", "-Wall", "-Wextra", "-Werror", "-fno-math-errno", "-c", "-o", "/dev/null"]);
    include_header(&mut command, source);
    command.arg(source);
    run(command);
}

/// Whether a tool is there: it must be in continuous integration.
pub fn have(mut probe: Command, advice: &str) -> bool {
    let there = probe.output().is_ok_and(|output| output.status.success());
    assert!(there || !std::env::var("CI").is_ok_and(|value| value == "true"), "{advice}");
    if !there {
        eprintln!("skipped: {advice}");
    }
    there
}

/// Has gcc read a C file as [`gcc`] does, without code for it.
pub fn gcc_reads(source: &Path) {
    let mut command = Command::new("gcc");
    command.args(["-std=c11", "-fsyntax-only", "-Wall", "-Wextra", "-Werror"]);
    include_header(&mut command, source);
    command.arg(source);
    run(command);
}

/// Has the header that lies beside a source, if there is one, read before it.
fn include_header(command: &mut Command, source: &Path) {
    let header = source.with_extension("h");
    if header.is_file() {
        command.arg("-include").arg(header);
    }
}

/// Compiles a CUDA file with nvcc, the header beside it, if there is one, before it, warnings as errors, and reads what
/// ptxas says of its kernels.
pub fn nvcc(toolkit: &Path, source: &Path, architecture: &str) -> Vec<Resources> {
    let output = with_nvcc(toolkit, source, architecture, &["-cubin", "-Xptxas", "-v"]);
    resources(&String::from_utf8_lossy(&output.stderr))
}

/// The same as far as nvcc has something to say of the text: nothing is optimized, which takes a third of the time.
pub fn nvcc_reads(toolkit: &Path, source: &Path, architecture: &str) {
    with_nvcc(toolkit, source, architecture, &["-ptx", "-G"]);
}

fn with_nvcc(toolkit: &Path, source: &Path, architecture: &str, how: &[&str]) -> Output {
    let mut command = Command::new(toolkit.join("bin/nvcc"));
    command.args(["-std=c++17", "-prec-div=false", "-prec-sqrt=false"]).args(how);
    command.args(["-Werror", "all-warnings", "-Xcompiler", "-Wall,-Wextra", "-o", "/dev/null"]);
    include_header(&mut command, source);
    command.arg(format!("-arch=sm_{architecture}")).arg(source);
    run(command)
}

/// Reads the log of `ptxas -v`.
fn resources(log: &str) -> Vec<Resources> {
    let mut all = Vec::new();
    let (mut kernel, mut spill_bytes) = (String::new(), 0);
    for line in log.lines() {
        let number_before = |words: &str| -> Option<u32> {
            let head = &line[..line.find(words)?];
            head.trim_end().rsplit([' ', ',']).next()?.parse().ok()
        };
        if let Some((_, rest)) = line.split_once("Compiling entry function '") {
            kernel = rest.split('\'').next().unwrap_or_default().to_string();
        } else if let Some(stores) = number_before(" bytes spill stores") {
            spill_bytes = stores + number_before(" bytes spill loads").unwrap_or(0);
        } else if let Some(registers) = number_before(" registers") {
            all.push(Resources { kernel: std::mem::take(&mut kernel), registers, spill_bytes });
        }
    }
    all.sort();
    all
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn registers_and_spills_are_read_from_the_log() {
        let log = "ptxas info    : Compiling entry function 'a_collide' for 'sm_90'\n\
                   ptxas info    : Function properties for a_collide\n    \
                   8 bytes stack frame, 12 bytes spill stores, 16 bytes spill loads\n\
                   ptxas info    : Used 98 registers, used 0 barriers, 8 bytes cumulative stack size\n";
        let found = resources(log);
        assert_eq!(found, [Resources { kernel: "a_collide".into(), registers: 98, spill_bytes: 28 }]);
    }

    #[test]
    fn vector_registers_and_scratch_memory_are_read_from_remarks() {
        let log = "a.hip:1:1: remark: Function Name: a_collide [-Rpass-analysis=kernel-resource-usage]\n\
                   a.hip:1:1: remark:     SGPRs: 20 [-Rpass-analysis=kernel-resource-usage]\n\
                   a.hip:1:1: remark:     VGPRs: 37 [-Rpass-analysis=kernel-resource-usage]\n\
                   a.hip:1:1: remark:     AGPRs: 2 [-Rpass-analysis=kernel-resource-usage]\n\
                   a.hip:1:1: remark:     ScratchSize [bytes/lane]: 16 [-Rpass-analysis=kernel-resource-usage]\n";
        assert_eq!(hip_resources(log), [Resources { kernel: "a_collide".into(), registers: 39, spill_bytes: 16 }]);
    }
}
