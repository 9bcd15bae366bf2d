//! The system's C compiler: from a kernel source to a loaded shared object.
//!
//! The object is cached under the hash of source, flags, compiler and processor, because it is compiled for the very
//! processor it runs on.

use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::Arc;

use super::super::cache;
use super::super::error::DeviceError;
use super::{Library, Source};

/// How kernels are compiled. Sums keep their order and divisions stay divisions; what is given up (errno, traps, the
/// sign of zero) does not change a digit. A multiplication and an addition may become one operation.
const FLAGS: &[&str] = &[
    "-std=c11",
    "-O3",
    "-march=native",
    // By themselves compilers stop at 256 bits, for programs that use vectors now and then.
    #[cfg(target_arch = "x86_64")]
    "-mprefer-vector-width=512",
    "-fno-math-errno",
    "-fno-trapping-math",
    "-fno-signed-zeros",
    "-ffp-contract=fast",
    "-shared",
    "-fPIC",
];

/// The compiler and its version.
struct Compiler {
    command: Vec<String>,
    version: String,
}

impl Compiler {
    /// `$CC`, else `cc`.
    fn find() -> Result<Self, DeviceError> {
        let named = std::env::var("CC").unwrap_or_default();
        Self::named(if named.trim().is_empty() { "cc" } else { &named })
    }

    /// A command with its arguments, divided at blanks.
    fn named(command: &str) -> Result<Self, DeviceError> {
        let command: Vec<String> = command.split_whitespace().map(str::to_string).collect();
        let missing = |reason: String| DeviceError::NoCompiler { tried: command.join(" "), reason };
        let output = Command::new(&command[0])
            .args(&command[1..])
            .arg("--version")
            .output()
            .map_err(|error| missing(error.to_string()))?;
        if !output.status.success() {
            return Err(missing(format!("`--version` ended with {}", output.status)));
        }
        let version = String::from_utf8_lossy(&output.stdout).into_owned();
        Ok(Compiler { command, version })
    }

    /// First line of the version.
    fn title(&self) -> String {
        self.version.lines().next().unwrap_or(&self.command[0]).trim().to_string()
    }

    fn compile(&self, file: &str, source: &Path, object: &Path) -> Result<(), DeviceError> {
        let output = Command::new(&self.command[0])
            .args(&self.command[1..])
            .args(FLAGS)
            .arg("-o")
            .arg(object)
            .arg(source)
            .arg("-lm")
            .output()
            .map_err(|error| DeviceError::NoCompiler { tried: self.command.join(" "), reason: error.to_string() })?;
        if output.status.success() {
            return Ok(());
        }
        let words = String::from_utf8_lossy(&output.stderr);
        Err(DeviceError::Compile {
            compiler: self.title(),
            file: file.to_string(),
            words: words.lines().take(40).collect::<Vec<_>>().join("\n"),
        })
    }
}

/// The compiler, its version, the flags that kernels are compiled with, and the processor that they are for.
pub(in crate::device) fn compiler() -> Result<String, DeviceError> {
    let compiler = Compiler::find()?;
    let (command, flags, processor) = (compiler.command.join(" "), FLAGS.join(" "), processor());
    let model =
        processor.lines().next().and_then(|line| line.split_once(": ")).map_or(&processor[..], |(_, name)| name);
    Ok(format!("{}: {command} {flags}, on {model}", compiler.title()))
}

/// Compiles and loads a source, or loads what an earlier run has compiled; with notices for the user.
pub(in crate::device) fn load(source: Source<'_>) -> Result<(Library, Vec<String>), DeviceError> {
    let compiler = Compiler::find()?;
    let mut key = cache::Key::new("c");
    for part in [source.text, &FLAGS.join(" "), &compiler.command.join(" "), &compiler.version, &processor()] {
        key.add(part);
    }
    let cached = cache::folder().map(|folder| folder.join(key.file_name("so")));
    if let Some(library) = cached.as_deref().and_then(|path| open(path).ok()) {
        return Ok((library, vec![]));
    }

    let nowhere = |error: std::io::Error| DeviceError::Storage {
        place: std::env::temp_dir().display().to_string(),
        reason: error.to_string(),
    };
    let scratch = tempfile::tempdir().map_err(nowhere)?;
    let text = scratch.path().join("kernel.c");
    let object = scratch.path().join("kernel.so");
    std::fs::write(&text, source.text).map_err(nowhere)?;
    compiler.compile(source.name, &text, &object)?;

    let mut notices = vec![];
    let stored = cached.and_then(|path| match std::fs::read(&object).and_then(|bytes| cache::store(&path, &bytes)) {
        Ok(()) => Some(path),
        Err(error) => {
            notices.push(format!("compiled kernels are not kept: {} cannot be written ({error})", path.display()));
            None
        }
    });
    // What was stored and what was compiled are the same; the latter stays loaded although its file goes.
    let path: PathBuf = stored.unwrap_or(object);
    Ok((open(&path)?, notices))
}

#[allow(unsafe_code)]
fn open(path: &Path) -> Result<Library, DeviceError> {
    // SAFETY: loading runs the object's initialisers; it was compiled from a bundle's source, which has none.
    unsafe { libloading::Library::new(path) }
        .map(|library| Library(Arc::new(library)))
        .map_err(|error| DeviceError::Storage { place: path.display().to_string(), reason: error.to_string() })
}

/// What `-march=native` depends on.
fn processor() -> String {
    let info = std::fs::read_to_string("/proc/cpuinfo").unwrap_or_default();
    let lines = info.lines().filter(|line| line.starts_with("model name") || line.starts_with("flags"));
    let said: Vec<&str> = lines.take(2).collect();
    if said.is_empty() { std::env::consts::ARCH.to_string() } else { said.join("\n") }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_missing_compiler_is_named_with_advice() {
        let error = Compiler::named("no-such-compiler-here").err().expect("there is none");
        assert!(error.to_string().contains("no-such-compiler-here"), "{error}");
        let help = miette::Diagnostic::help(&error).expect("has advice").to_string();
        assert!(help.contains("apt install gcc"), "{help}");
    }

    #[test]
    fn a_refused_source_gives_the_compilers_words() {
        let error = load(Source { name: "broken.c", text: "int broken( { return 1; }" }).err().expect("not C");
        let words = error.to_string();
        assert!(words.contains("broken.c") && words.contains("error"), "{words}");
    }
}
