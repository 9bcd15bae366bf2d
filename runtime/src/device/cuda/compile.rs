//! NVRTC: compiles a kernel source to a cubin for the architecture of the GPU.
//!
//! The cubin is cached under the hash of source, flags, architecture and NVRTC version.

use std::ffi::CString;
use std::path::{Path, PathBuf};
use std::sync::OnceLock;

use cudarc::nvrtc::{result, sys};

use super::super::Toolchain;
use super::super::cache::{Cache, Key};
use super::super::compiles;
use super::super::error::DeviceError;
use super::Source;
use crate::program;

/// Compiler flags, except architecture and contraction (`--fmad`). Subnormal numbers are kept. Division and square root
/// in f32 may have an error of two units in the last place (2.4e-7), which avoids a slow path and its registers in
/// every division; in f64 they are correctly rounded.
const FLAGS: [&str; 4] = ["--std=c++17", "--ftz=false", "--prec-div=false", "--prec-sqrt=false"];

/// Loads NVRTC, or returns the reason for the failure. NVRTC then stays loaded.
pub(super) fn nvrtc() -> Result<(), String> {
    static FOUND: OnceLock<bool> = OnceLock::new();
    let found = *FOUND.get_or_init(|| present() || folders().iter().any(|folder| preload(folder)));
    if found { Ok(()) } else { Err("no NVRTC library found (libnvrtc.so, libnvrtc.so.13)".to_string()) }
}

/// Whether cudarc finds NVRTC under one of the names that it tries.
#[allow(unsafe_code)]
fn present() -> bool {
    // SAFETY: loads and closes the NVRTC library, whose initialisers permit that.
    unsafe { sys::is_culib_present() }
}

/// Library folders of CUDA toolkits that the dynamic loader does not search, and that of NVIDIA's Python package of NVRTC where it is
/// installed beside the package that has this code.
fn folders() -> Vec<PathBuf> {
    let packages = program::library().and_then(|library| Some(library.parent()?.parent()?.join("nvidia/cu13")));
    let named = ["CUDA_HOME", "CUDA_PATH"].into_iter().filter_map(std::env::var_os).map(PathBuf::from);
    let usual = std::iter::once(PathBuf::from("/usr/local/cuda"));
    let mut versions: Vec<PathBuf> = std::fs::read_dir("/usr/local")
        .into_iter()
        .flatten()
        .flatten()
        .map(|entry| entry.path())
        .filter(|path| path.file_name().is_some_and(|name| name.to_string_lossy().starts_with("cuda-")))
        .collect();
    versions.sort();
    named
        .chain(usual)
        .chain(versions.into_iter().rev())
        .chain(packages)
        .flat_map(|root| [root.join("lib64"), root.join("targets/x86_64-linux/lib"), root.join("lib")])
        .collect()
}

/// Loads NVRTC and its dependencies from a folder and keeps them loaded, so that the dynamic loader finds them by name.
fn preload(folder: &Path) -> bool {
    // The builtins come first: NVRTC loads them by name.
    for start in ["libnvrtc-builtins.so", "libnvrtc.so"] {
        let entries = std::fs::read_dir(folder).into_iter().flatten().flatten();
        let names = entries
            .map(|entry| entry.path())
            .filter(|path| path.file_name().is_some_and(|name| name.to_string_lossy().starts_with(start)));
        names.filter_map(|name| open(&name)).for_each(std::mem::forget);
    }
    present()
}

#[allow(unsafe_code)]
fn open(path: &Path) -> Option<libloading::Library> {
    // SAFETY: a library of the CUDA toolkit, whose initialisers permit loading.
    unsafe { libloading::Library::new(path) }.ok()
}

/// The cubin of a source for an architecture (`90` for `sm_90`), and notices for the user.
pub(super) fn compile(source: Source<'_>, architecture: i32) -> Result<(Vec<u8>, Vec<String>), DeviceError> {
    nvrtc().map_err(|reason| DeviceError::NoGpu { reason })?;
    let (version, flags) = (named_version(), flags(architecture, source.fuses));

    let mut key = Key::new("cubin");
    for part in [source.text, &flags.join(" "), &version] {
        key.add(part);
    }
    let (name, mut cache) = (key.file_name("cubin"), Cache::find());
    if let Some(cubin) = cache.fetch(&name) {
        return Ok((cubin, cache.notices));
    }
    compiles(source);
    let cubin = run(source, &flags, &version)?;
    cache.store(&name, &cubin);
    Ok((cubin, cache.notices))
}

fn flags(architecture: i32, fuses: bool) -> Vec<String> {
    let own = FLAGS.iter().map(|flag| flag.to_string());
    // Functions are optimized in parallel, on all cores.
    let side_by_side = version().is_some_and(|(major, _)| major >= 13).then(|| "--split-compile=0".to_string());
    let fuses = format!("--fmad={fuses}");
    own.chain([fuses]).chain(side_by_side).chain([format!("--gpu-architecture=sm_{architecture}")]).collect()
}

/// Everything that determines the machine code of a source.
pub(super) fn toolchain(architecture: i32) -> Result<Toolchain, DeviceError> {
    nvrtc().map_err(|reason| DeviceError::NoGpu { reason })?;
    let named = |name: &str, value: String| (name.to_string(), value);
    Ok(Toolchain::from([
        named("the compiler", named_version()),
        named("its flags", flags(architecture, true).join(" ")),
    ]))
}

/// `NVRTC 13.0`.
fn named_version() -> String {
    match version() {
        Some((major, minor)) => format!("NVRTC {major}.{minor}"),
        None => "NVRTC of unknown version".to_string(),
    }
}

/// Major and minor version, if NVRTC reports them.
#[allow(unsafe_code)]
fn version() -> Option<(i32, i32)> {
    let (mut major, mut minor) = (0, 0);
    // SAFETY: both pointers are to live integers; NVRTC is loaded.
    let answer = unsafe { sys::nvrtcVersion(&mut major, &mut minor) };
    answer.result().ok().map(|()| (major, minor))
}

/// A program that is destroyed when dropped.
struct Program(sys::nvrtcProgram);

#[allow(unsafe_code)]
impl Drop for Program {
    fn drop(&mut self) {
        // SAFETY: created by `create_program` and destroyed only here. A failure only leaks memory.
        let _ = unsafe { result::destroy_program(self.0) };
    }
}

#[allow(unsafe_code)]
fn run(source: Source<'_>, flags: &[String], version: &str) -> Result<Vec<u8>, DeviceError> {
    let refused = |words: String| DeviceError::Compile {
        compiler: version.to_string(),
        file: source.name.to_string(),
        words: words.lines().take(40).collect::<Vec<_>>().join("\n"),
    };
    let plain = |error: result::NvrtcError| refused(error.to_string());
    let text = CString::new(source.text).map_err(|_| refused("the source contains a zero byte".into()))?;
    let name = CString::new(source.name).map_err(|_| refused("the file name contains a zero byte".into()))?;
    let program = Program(result::create_program(&text, Some(&name)).map_err(plain)?);
    // SAFETY: the program is live.
    if let Err(error) = unsafe { result::compile_program(program.0, flags) } {
        // SAFETY: the program is live; its log is available after a failed compilation.
        let log = unsafe { result::get_program_log(program.0) }.unwrap_or_default();
        let log: Vec<u8> = log.into_iter().map(|byte| byte as u8).filter(|byte| *byte != 0).collect();
        return Err(refused(format!("{error}\n{}", String::from_utf8_lossy(&log))));
    }
    let mut size = 0usize;
    // SAFETY: the program is live and compiled for a real architecture, so it has a cubin.
    unsafe { sys::nvrtcGetCUBINSize(program.0, &mut size) }.result().map_err(plain)?;
    let mut cubin = vec![0u8; size];
    // SAFETY: `cubin` has the size that NVRTC reported.
    unsafe { sys::nvrtcGetCUBIN(program.0, cubin.as_mut_ptr().cast()) }.result().map_err(plain)?;
    Ok(cubin)
}

#[cfg(all(test, feature = "cuda"))]
mod tests {
    use super::*;

    #[test]
    fn nvrtc_makes_a_cubin_for_every_architecture_from_turing_on() {
        let text = r#"extern "C" __global__ void half(float *a, int n) {
            int at = blockIdx.x * blockDim.x + threadIdx.x;
            if (at < n) a[at] = sqrtf(a[at]) / 3.0f;
        }"#;
        for architecture in [75, 80, 86, 89, 90, 100, 120] {
            let (cubin, _) = compile(Source { name: "half.cu", text, fuses: true }, architecture).unwrap();
            assert_eq!(&cubin[..4], b"\x7fELF", "sm_{architecture}");
        }
    }

    #[test]
    fn nvrtcs_words_reach_the_error() {
        let error =
            compile(Source { name: "broken.cu", text: "int broken( {", fuses: true }, 90).expect_err("not CUDA");
        assert!(error.to_string().contains("broken.cu(1): error"), "{error}");
    }
}
