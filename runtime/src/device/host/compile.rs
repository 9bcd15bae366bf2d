//! The system's C compiler: from a kernel source to a loaded shared object.
//!
//! The object is cached under the hash of source, flags, compiler and processor, because it is compiled for the
//! processor on which it runs.

use std::collections::BTreeMap;
use std::io;
use std::os::unix::process::ExitStatusExt;
use std::path::Path;
use std::process::Command;
use std::sync::{Arc, Mutex, PoisonError};

use super::super::Toolchain;
use super::super::cache::{Cache, Key};
use super::super::compiles;
use super::super::error::DeviceError;
use super::{Library, Source, checked};
use crate::program;

/// Compiler flags. Sums keep their order and divisions remain divisions; the relaxed semantics (errno, traps, sign of
/// zero) do not change any digit. A multiplication and an addition may be fused into an FMA, unless the source forbids
/// it.
const FLAGS: &[&str] = &[
    "-std=c11",
    "-O3",
    "-march=native",
    // By default compilers use vectors of at most 256 bits, for programs that use vectors only occasionally.
    #[cfg(target_arch = "x86_64")]
    "-mprefer-vector-width=512",
    "-fno-math-errno",
    "-fno-trapping-math",
    "-fno-signed-zeros",
    "-ffp-contract=fast",
    "-shared",
    "-fPIC",
    // A kernel has the name of its spec, which may collide with a symbol of a system library, such as `sem_init`.
    "-fno-semantic-interposition",
];

/// Additional flag, after the others, for sources that forbid FMA.
const UNFUSED: &[&str] = &["-ffp-contract=off"];

/// The compiler and its version.
struct Compiler {
    command: Vec<String>,
    version: String,
    /// Whether it stands in for `cc`, which is missing.
    is_substitute: bool,
}

impl Compiler {
    /// `$CC`, else `cc`, else the compiler of the Python package `ziglang`, if it is installed beside this one or its command is.
    fn find() -> Result<Self, DeviceError> {
        let named = std::env::var("CC").unwrap_or_default();
        let words: Vec<String> = named.split_whitespace().map(str::to_string).collect();
        if !words.is_empty() {
            return Self::of(words);
        }
        let zig = beside().into_iter().chain([ZIG.to_string()]).map(|program| vec![program, "cc".to_string()]);
        Self::first(vec!["cc".to_string()], zig)
    }

    /// A compiler, or the first that can be run of those that may stand in for it.
    fn first(usual: Vec<String>, substitutes: impl IntoIterator<Item = Vec<String>>) -> Result<Self, DeviceError> {
        Self::of(usual).or_else(|missing| {
            let found = substitutes.into_iter().find_map(|command| Self::of(command).ok());
            found.map(|found| Compiler { is_substitute: true, ..found }).ok_or(missing)
        })
    }

    /// A command and its arguments.
    fn of(command: Vec<String>) -> Result<Self, DeviceError> {
        // A flow loads several sources with the same compiler: its version is queried once.
        static VERSIONS: Mutex<BTreeMap<Vec<String>, String>> = Mutex::new(BTreeMap::new());
        let mut versions = VERSIONS.lock().unwrap_or_else(PoisonError::into_inner);
        let version = match versions.get(&command) {
            Some(version) => version.clone(),
            None => versions.entry(command.clone()).or_insert(version_of(&command)?).clone(),
        };
        Ok(Compiler { command, version, is_substitute: false })
    }

    /// Everything that determines the machine code of a source, compiled with or without checks.
    fn toolchain(&self, checks: bool) -> Toolchain {
        let named = |name: &str, value: String| (name.to_string(), value);
        let (words, options) = self.arguments();
        let arguments = words.iter().map(String::as_str).chain(flags(checks).iter().copied());
        let arguments = arguments.chain(options.iter().map(String::as_str));
        let (processor, features) = processor();
        Toolchain::from([
            named("the compiler", self.title()),
            named("its flags", arguments.collect::<Vec<_>>().join(" ")),
            named("the processor", processor),
            named("the processor's features", blake3::hash(features.as_bytes()).to_hex()[..16].to_string()),
        ])
    }

    /// First line of the version text.
    fn title(&self) -> String {
        self.version.lines().next().unwrap_or(&self.command[0]).trim().to_string()
    }

    /// The arguments in the command: further words of its name, as in `ccache gcc`, and options. The options follow our
    /// own flags, so they take precedence.
    fn arguments(&self) -> (&[String], &[String]) {
        let words = &self.command[1..];
        words.split_at(words.iter().position(|word| word.starts_with('-')).unwrap_or(words.len()))
    }

    fn compile(&self, source: Source<'_>, checks: bool, text: &Path, object: &Path) -> Result<(), DeviceError> {
        let (words, options) = self.arguments();
        let output = Command::new(&self.command[0])
            .args(words)
            .args(flags(checks))
            .args(UNFUSED.iter().filter(|_| !source.fuses))
            .args(options)
            .arg("-o")
            .arg(object)
            .arg(text)
            .arg("-lm")
            .output()
            .map_err(|error| DeviceError::NoCompiler { tried: self.command.join(" "), reason: error.to_string() })?;
        if output.status.success() {
            return Ok(());
        }
        let (compiler, file) = (self.title(), source.name.to_string());
        if let Some(signal) = output.status.signal() {
            return Err(DeviceError::Ended { compiler, file, signal });
        }
        let words = String::from_utf8_lossy(&output.stderr);
        Err(DeviceError::Compile { compiler, file, words: words.lines().take(40).collect::<Vec<_>>().join("\n") })
    }
}

/// The command of the Python package `ziglang`.
const ZIG: &str = "python-zig";

/// The program of the Python package `ziglang` where it is installed beside the package that has this code.
fn beside() -> Option<String> {
    let zig = program::library()?.parent()?.parent()?.join("ziglang").join("zig");
    zig.is_file().then(|| zig.display().to_string())
}

/// Output of `--version`.
fn version_of(command: &[String]) -> Result<String, DeviceError> {
    let missing = |reason: String| DeviceError::NoCompiler { tried: command.join(" "), reason };
    let output = Command::new(&command[0])
        .args(&command[1..])
        .arg("--version")
        .output()
        .map_err(|error| missing(error.to_string()))?;
    match output.status.success() {
        true => Ok(String::from_utf8_lossy(&output.stdout).into_owned()),
        false => Err(missing(format!("`--version` ended with {}", output.status))),
    }
}

fn flags(checks: bool) -> &'static [&'static str] {
    if checks { checked::FLAGS } else { FLAGS }
}

/// Compiles and loads a source, or loads its object from the cache; with notices for the user.
pub(super) fn load(source: Source<'_>, checks: bool) -> Result<(Library, Vec<String>), DeviceError> {
    load_with(source, checks, Cache::find())
}

fn load_with(source: Source<'_>, checks: bool, mut cache: Cache) -> Result<(Library, Vec<String>), DeviceError> {
    let compiler = Compiler::find()?;
    let hooks = if checks { checked::HOOKS } else { "" };
    let mut key = Key::new("c");
    for part in [source.text, hooks, &compiler.command.join(" "), &compiler.version] {
        key.add(part);
    }
    compiler.toolchain(checks).values().for_each(|part| key.add(part));
    UNFUSED.iter().filter(|_| !source.fuses).for_each(|flag| key.add(flag));
    let name = key.file_name("so");
    if cache.fetch(&name).is_some()
        && let Some(library) = cache.path(&name).and_then(|path| open(&path).ok())
    {
        return Ok((library, cache.notices));
    }
    let nowhere = |error: io::Error| DeviceError::Storage {
        place: std::env::temp_dir().display().to_string(),
        reason: error.to_string(),
    };
    let scratch = tempfile::tempdir().map_err(nowhere)?;
    let (text, object) = (scratch.path().join("kernel.c"), scratch.path().join("kernel.so"));
    std::fs::write(&text, [source.text, hooks].concat()).map_err(nowhere)?;
    if checks {
        checked::refuse_others(&compiler.version, compiler.title())?;
    }
    compiles(source);
    if compiler.is_substitute {
        cache.notices.push(format!("there is no `cc`: kernels are compiled by {}", compiler.command.join(" ")));
    }
    compiler.compile(source, checks, &text, &object)?;
    cache.store(&name, &std::fs::read(&object).map_err(nowhere)?);
    // The library stays loaded after its file is deleted. The temporary folder may be mounted without execute
    // permission; the cached file is used then.
    let library = open(&object).or_else(|error| cache.path(&name).map_or(Err(error), |path| open(&path)))?;
    Ok((library, cache.notices))
}

#[allow(unsafe_code)]
fn open(path: &Path) -> Result<Library, DeviceError> {
    // SAFETY: loading runs the object's initialisers. The object was compiled from the source of a bundle: templates,
    // which have no initialisers, and text from a spec. That text is formulas, whose names are identifiers and whose
    // constants are printed numbers, and comment lines, which `emit::text::Comment` of the compiler keeps from ending
    // early; `tests/injection.rs` tests hostile input. An object from the cache was verified to be what the compiler
    // wrote, and no other user can change it.
    unsafe { libloading::Library::new(path) }
        .map(|library| Library(Arc::new(library)))
        .map_err(|error| DeviceError::Storage { place: path.display().to_string(), reason: error.to_string() })
}

/// The toolchain of the host.
pub(super) fn toolchain(checks: bool) -> Result<Toolchain, DeviceError> {
    Ok(Compiler::find()?.toolchain(checks))
}

/// What `-march=native` depends on: name and features of the processor.
fn processor() -> (String, String) {
    let info = std::fs::read_to_string("/proc/cpuinfo").unwrap_or_default();
    let line = |start: &str| {
        let line = info.lines().find(|line| line.starts_with(start))?;
        Some(line.split_once(':')?.1.trim().to_string())
    };
    let name = line("model name").unwrap_or_else(|| std::env::consts::ARCH.to_string());
    // The key on Arm is `Features`.
    (name, line("flags").or_else(|| line("Features")).unwrap_or_default())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn another_compiler_stands_in_for_one_that_is_missing_and_only_then() {
        let missing = || vec!["no-such-compiler-here".to_string()];
        let there = || vec!["sh".to_string(), "-c".to_string(), "echo version 1".to_string()];
        let of = |usual, substitutes: Vec<Vec<String>>| Compiler::first(usual, substitutes);
        let found = of(missing(), vec![missing(), there()]).expect("the second can be run");
        assert!(found.is_substitute && found.command == there() && found.title() == "version 1");
        assert!(!of(there(), vec![there()]).expect("it can be run").is_substitute);
        assert!(
            matches!(of(missing(), vec![missing()]), Err(DeviceError::NoCompiler { tried, .. }) if tried == missing()[0])
        );
    }

    #[test]
    fn a_missing_compiler_is_named_with_advice() {
        let error = Compiler::of(vec!["no-such-compiler-here".to_string()]).err().expect("there is none");
        assert!(error.to_string().contains("no-such-compiler-here"), "{error}");
        let help = miette::Diagnostic::help(&error).expect("has advice").to_string();
        assert!(help.contains("apt install gcc"), "{help}");
    }

    #[test]
    fn a_compiler_that_a_signal_ends_has_refused_nothing() {
        let folder = tempfile::tempdir().unwrap();
        let script = folder.path().join("compiler.sh");
        std::fs::write(&script, "kill -INT $$").unwrap();
        let command = vec!["sh".to_string(), script.display().to_string()];
        let compiler = Compiler { command, version: "version 1".into(), is_substitute: false };
        let source = Source { name: "half.c", text: "", fuses: true };
        let found = compiler.compile(source, false, Path::new("half.c"), Path::new("half.so"));
        assert!(matches!(found, Err(DeviceError::Ended { signal: 2, .. })), "{found:?}");
    }

    #[test]
    fn options_in_cc_come_behind_those_here_and_other_words_before() {
        let compiler = Compiler {
            command: ["ccache", "gcc", "-O1", "-g"].map(String::from).into(),
            version: "".into(),
            is_substitute: false,
        };
        let (words, options) = compiler.arguments();
        assert_eq!((words, options), (&["gcc".to_string()][..], &["-O1".to_string(), "-g".to_string()][..]));
        assert!(
            compiler
                .toolchain(false)
                .values()
                .any(|value| value.starts_with("gcc -std=c11 -O3") && value.ends_with("-O1 -g"))
        );
    }

    #[test]
    fn a_damaged_object_is_compiled_again_and_never_loaded() {
        let folder = tempfile::tempdir().unwrap();
        let text = "double half(double x) { return 0.5 * x; }";
        let run = || {
            let (library, notices) =
                load_with(Source { name: "half.c", text, fuses: true }, false, Cache::open(folder.path())).unwrap();
            #[allow(unsafe_code)]
            // SAFETY: the function has this type.
            let half = unsafe { library.0.get::<extern "C" fn(f64) -> f64>(b"half") }.unwrap();
            assert_eq!(half(3.0), 1.5);
            notices
        };
        assert_eq!(run(), [""; 0]);
        let mut entries = std::fs::read_dir(folder.path()).unwrap();
        let (entry, None) = (entries.next().unwrap().unwrap().path(), entries.next()) else { panic!("one entry") };
        let whole = std::fs::read(&entry).unwrap();
        assert_eq!(run(), [""; 0], "the object of the first run is used");
        let damage = |bytes: &[u8]| {
            std::fs::write(&entry, bytes).unwrap();
            let notices = run();
            assert!(matches!(&notices[..], [one] if one.contains("is damaged")), "{notices:?}");
            assert_eq!(run(), [""; 0], "it has been replaced");
        };
        for part in 0..8 {
            let mut bytes = whole.clone();
            damage(&bytes[..whole.len() * part / 8]);
            bytes[(whole.len() - 1) * part / 7] ^= 1 << part;
            damage(&bytes);
        }
    }

    #[test]
    fn a_refused_source_gives_the_compilers_words() {
        let error = load(Source { name: "broken.c", text: "int broken( { return 1; }", fuses: true }, false)
            .err()
            .expect("not C");
        let words = error.to_string();
        assert!(words.contains("broken.c") && words.contains("error"), "{words}");
    }
}
