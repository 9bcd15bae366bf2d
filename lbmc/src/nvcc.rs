//! Registers and spills of CUDA kernels, by the toolkit's own compiler where there is one. No GPU is needed.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::process::Command;

use miette::{IntoDiagnostic, Result, miette};
use serde::Serialize;

/// What ptxas says of one kernel.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Resources {
    /// Registers of a thread.
    pub registers: u32,
    /// Bytes of stores and loads that spilled registers cause, together.
    pub spill_bytes: u32,
}

/// The compiler of the toolkit `$LBMC_CUDA`; else on the path, or below `$CUDA_HOME` or /usr/local/cuda.
pub fn find() -> Option<PathBuf> {
    if let Some(toolkit) = std::env::var_os("LBMC_CUDA") {
        return Some(Path::new(&toolkit).join("bin/nvcc"));
    }
    let on_path =
        std::env::var_os("PATH").into_iter().flat_map(|path| std::env::split_paths(&path).collect::<Vec<_>>());
    let homes = [std::env::var_os("CUDA_HOME").map(PathBuf::from), Some("/usr/local/cuda".into())];
    let in_homes = homes.into_iter().flatten().map(|home| home.join("bin"));
    on_path.chain(in_homes).map(|folder| folder.join("nvcc")).find(|nvcc| nvcc.is_file())
}

/// Compiles `source` for the architecture (for example `sm_90`), with the division that the runtime uses, and returns each kernel's resources by symbol.
pub fn resources(nvcc: &Path, source: &str, arch: &str) -> Result<BTreeMap<String, Resources>> {
    let folder = tempfile::tempdir().into_diagnostic()?;
    let file = folder.path().join("kernels.cu");
    std::fs::write(&file, source).into_diagnostic()?;
    let output = Command::new(nvcc)
        .args(["-cubin", "-prec-div=false", "-prec-sqrt=false", "-Xptxas", "-v", "-arch", arch, "-o"])
        .arg(folder.path().join("kernels.cubin"))
        .arg(&file)
        .output()
        .map_err(|error| {
            miette!(
                code = "L0119",
                help = "set LBMC_CUDA to the folder of a CUDA toolkit, or unset it",
                "can't run `{}`: {error}",
                nvcc.display()
            )
        })?;
    let log = String::from_utf8_lossy(&output.stderr);
    if !output.status.success() {
        return Err(miette!(code = "L0119", "{} failed:\n{log}", nvcc.display()));
    }
    Ok(parse(&log))
}

/// Reads the log of `ptxas -v`: a line that names the function, one with its spills, one with its registers.
fn parse(log: &str) -> BTreeMap<String, Resources> {
    let mut all = BTreeMap::new();
    let mut current = None;
    let mut spill_bytes = 0;
    for line in log.lines() {
        let words: Vec<&str> = line.split([' ', ',', '\'']).filter(|word| !word.is_empty()).collect();
        let before = |unit: &[&str]| {
            words.windows(unit.len() + 1).find(|window| window[1..] == *unit).and_then(|window| window[0].parse().ok())
        };
        if line.contains("Compiling entry function") {
            current = words.iter().position(|word| *word == "function").map(|at| words[at + 1].to_string());
        } else if let Some(stores) = before(&["bytes", "spill", "stores"]) {
            let stores: u32 = stores;
            spill_bytes = stores + before(&["bytes", "spill", "loads"]).unwrap_or(0);
        } else if let Some(registers) = before(&["registers"])
            && let Some(symbol) = current.take()
        {
            all.insert(symbol, Resources { registers, spill_bytes });
        }
    }
    all
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn registers_and_spills_are_read_from_the_log() {
        let log = "ptxas info    : 0 bytes gmem\n\
                   ptxas info    : Compiling entry function 'a_collide' for 'sm_90'\n\
                   ptxas info    : Function properties for a_collide\n\
                   \x20   0 bytes stack frame, 8 bytes spill stores, 12 bytes spill loads\n\
                   ptxas info    : Used 64 registers, used 0 barriers\n\
                   ptxas info    : Compiling entry function 'a_init' for 'sm_90'\n\
                   ptxas info    : Function properties for a_init\n\
                   \x20   0 bytes stack frame, 0 bytes spill stores, 0 bytes spill loads\n\
                   ptxas info    : Used 32 registers\n";
        let all = parse(log);
        assert_eq!(all["a_collide"], Resources { registers: 64, spill_bytes: 20 });
        assert_eq!(all["a_init"], Resources { registers: 32, spill_bytes: 0 });
    }
}
