//! hiprtc: compiles a kernel source to a code object for the architecture of the GPU.
//!
//! The code object is cached under the hash of source, flags, architecture and version of hiprtc.

use std::ffi::{CString, c_char, c_int};
use std::ptr::null_mut;

use super::api::{self, Api, Status};
use crate::device::cache::{Cache, Key};
use crate::device::error::DeviceError;
use crate::device::{Source, Toolchain, compiles};

/// Compiler flags, except architecture and contraction. Divisions and square roots are correctly rounded, and subnormal
/// numbers are kept, by default.
const FLAGS: [&str; 2] = ["-std=c++17", "-O3"];

/// The code object of a source for an architecture, and notices for the user.
pub(super) fn compile(
    api: &Api,
    source: Source<'_>,
    architecture: &str,
) -> Result<(Vec<u8>, Vec<String>), DeviceError> {
    let (version, flags) = (version(api), flags(architecture, source.fuses));
    let mut key = Key::new("hip");
    for part in [source.text, &flags.join(" "), &version] {
        key.add(part);
    }
    let (name, mut cache) = (key.file_name("hsaco"), Cache::find());
    if let Some(code) = cache.fetch(&name) {
        return Ok((code, cache.notices));
    }
    compiles(source);
    let code = run(api, source, &flags, &version)?;
    cache.store(&name, &code);
    Ok((code, cache.notices))
}

fn flags(architecture: &str, fuses: bool) -> Vec<String> {
    let contract = if fuses { "-ffp-contract=fast" } else { "-ffp-contract=off" };
    let own = FLAGS.into_iter().chain([contract]).map(str::to_string);
    own.chain([format!("--offload-arch={architecture}")]).collect()
}

/// Everything that determines the machine code of a source.
pub(super) fn toolchain(api: &Api, architecture: &str) -> Toolchain {
    let named = |name: &str, value: String| (name.to_string(), value);
    Toolchain::from([named("the compiler", version(api)), named("its flags", flags(architecture, true).join(" "))])
}

/// `hiprtc 9.0`.
#[allow(unsafe_code)]
fn version(api: &Api) -> String {
    let (mut major, mut minor) = (0, 0);
    // SAFETY: both pointers are to live integers.
    match unsafe { (api.compiler.hiprtcVersion)(&mut major, &mut minor) } {
        0 => format!("hiprtc {major}.{minor}"),
        _ => "hiprtc of unknown version".to_string(),
    }
}

/// A program that is destroyed when dropped.
struct Program<'a> {
    api: &'a Api,
    program: api::Program,
}

#[allow(unsafe_code)]
impl Drop for Program<'_> {
    fn drop(&mut self) {
        // SAFETY: created by `run` and destroyed only here. A failure only leaks memory.
        let _ = unsafe { (self.api.compiler.hiprtcDestroyProgram)(&mut self.program) };
    }
}

#[allow(unsafe_code)]
impl Program<'_> {
    /// The messages of the compiler.
    fn log(&self) -> String {
        let mut size = 0;
        // SAFETY: the program is live, and the size is written to an integer.
        if unsafe { (self.api.compiler.hiprtcGetProgramLogSize)(self.program, &mut size) } != 0 {
            return String::new();
        }
        let mut log = vec![0u8; size + 1];
        // SAFETY: `log` has the size that hiprtc reported, and a byte more.
        let status = unsafe { (self.api.compiler.hiprtcGetProgramLog)(self.program, log.as_mut_ptr().cast()) };
        log.retain(|byte| *byte != 0);
        if status == 0 { String::from_utf8_lossy(&log).into_owned() } else { String::new() }
    }
}

#[allow(unsafe_code)]
fn run(api: &Api, source: Source<'_>, flags: &[String], version: &str) -> Result<Vec<u8>, DeviceError> {
    let refused = |words: String| DeviceError::Compile {
        compiler: version.to_string(),
        file: source.name.to_string(),
        words: words.lines().take(40).collect::<Vec<_>>().join("\n"),
    };
    let check = |status: Status| match status {
        0 => Ok(()),
        error => Err(refused(api.compiler_words(error))),
    };
    let c_text = |text: &str| CString::new(text).map_err(|_| refused("the source contains a zero byte".into()));
    let (text, name) = (c_text(source.text)?, c_text(source.name)?);
    let flags = flags.iter().map(|flag| c_text(flag)).collect::<Result<Vec<CString>, _>>()?;
    let mut options: Vec<*const c_char> = flags.iter().map(|flag| flag.as_ptr()).collect();

    let mut program = Program { api, program: null_mut() };
    let hiprtc = &api.compiler;
    // SAFETY: texts end with zero and outlive the call; there are no headers.
    check(unsafe {
        (hiprtc.hiprtcCreateProgram)(&mut program.program, text.as_ptr(), name.as_ptr(), 0, null_mut(), null_mut())
    })?;
    // SAFETY: the program is live, and there are as many options as is said.
    let compiled =
        unsafe { (hiprtc.hiprtcCompileProgram)(program.program, options.len() as c_int, options.as_mut_ptr()) };
    if compiled != 0 {
        return Err(refused(format!("{}\n{}", api.compiler_words(compiled), program.log())));
    }
    let mut size = 0;
    // SAFETY: the program is live and compiled; the size is written to an integer.
    check(unsafe { (hiprtc.hiprtcGetCodeSize)(program.program, &mut size) })?;
    let mut code = vec![0u8; size];
    // SAFETY: `code` has the size that hiprtc reported.
    check(unsafe { (hiprtc.hiprtcGetCode)(program.program, code.as_mut_ptr().cast()) })?;
    Ok(code)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::device::moving::MOVING;

    /// This takes hiprtc, but no GPU.
    #[test]
    #[expect(clippy::print_stderr)]
    fn hiprtc_takes_our_flags_and_its_words_reach_the_error() {
        let found = api::api();
        assert!(found.is_ok() || !std::env::var("CI").is_ok_and(|value| value == "true"), "no hiprtc here");
        let Ok(api) = found else {
            eprintln!("skipped: no hiprtc here: apt-get install libamdhip64-dev rocm-device-libs");
            return;
        };
        let compile = |text: &str, fuses: bool| {
            let source = Source { name: "moving.cu", text, fuses };
            run(api, source, &flags("gfx90a:sramecc+:xnack-", fuses), &version(api))
        };
        for fuses in [true, false] {
            assert!(compile(MOVING.text, fuses).unwrap().len() > 1000, "{fuses}");
        }
        let refused = compile("int broken( {", true).expect_err("no HIP").to_string();
        assert!(refused.contains("moving.cu") && refused.contains("error"), "{refused}");
    }
}
