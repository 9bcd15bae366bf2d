//! Nobody reads what is printed any more: no command panics, and no run loses its results.

use std::io::pipe;
use std::path::Path;
use std::process::{Command, Output, Stdio};

fn folder() -> tempfile::TempDir {
    tempfile::tempdir().expect("a temporary folder")
}

fn lbmc(folder: &Path, arguments: &[&str]) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_lbmc"));
    command.args(arguments).current_dir(folder);
    command
}

/// The writing end of a pipe that nobody reads.
fn unread() -> Stdio {
    let (reader, writer) = pipe().expect("a pipe");
    drop(reader);
    writer.into()
}

fn works(output: &Output, arguments: &[&str]) {
    let words = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success() && !words.contains("panicked"), "{arguments:?}: {:?} {words}", output.status);
}

const CASE: &str = r#"
spec = "d2q9_bgk"
target = "cpu"
[domain]
size = [32, 32]
[fluid]
re = 100
[faces]
top = { rule = "moving_wall", velocity = [0.1, 0] }
others = "bounce_back"
[stop]
steps = 20
[output]
directory = "out"
profiles = true
"#;

#[test]
fn every_command_works_when_nobody_reads_its_output() {
    let here = folder();
    std::fs::write(here.path().join("flow.toml"), CASE).expect("written");
    let commands: &[&[&str]] = &[
        &["--help"],
        &["help", "run"],
        &["--version"],
        &["explain"],
        &["explain", "E0204"],
        &["specs"],
        &["check", "d2q9_bgk"],
        &["check", "d2q9_bgk", "--json"],
        &["cases"],
        &["completions", "bash"],
        &["new", "mine"],
        &["gen", "mine.lbm"],
        &["fmt", "mine.lbm"],
        &["run", "flow.toml"],
    ];
    for arguments in commands {
        works(&lbmc(here.path(), arguments).stdout(unread()).output().expect("lbmc starts"), arguments);
    }
    for file in ["mine.lbm", "mine.toml", "mine.c", "mine.json", "out/summary.json"] {
        assert!(here.path().join(file).is_file(), "{file}");
    }
}

#[test]
fn a_run_whose_standard_error_is_closed_leaves_its_results() {
    let here = folder();
    std::fs::write(here.path().join("flow.toml"), CASE).expect("written");
    let run = |out: &str| lbmc(here.path(), &["run", "flow.toml", "--out", out]);
    let output = run("closed").stdout(unread()).stderr(unread()).output().expect("lbmc starts");
    assert!(output.status.success(), "{:?}", output.status);
    works(&run("open").output().expect("lbmc starts"), &["run"]);
    let profile = |out: &str| std::fs::read(here.path().join(out).join("profile_x.csv")).expect("a profile");
    assert!(here.path().join("closed/summary.json").is_file() && profile("closed") == profile("open"));
}

#[cfg(target_os = "linux")]
#[test]
fn output_that_does_not_fit_on_a_disk_is_an_error() {
    let here = folder();
    for arguments in [&["specs"][..], &["explain"]] {
        let full = std::fs::OpenOptions::new().write(true).open("/dev/full").expect("there is one");
        let output = lbmc(here.path(), arguments).stdout(full).output().expect("lbmc starts");
        let words = String::from_utf8_lossy(&output.stderr);
        assert_eq!(output.status.code(), Some(1), "{words}");
        assert!(words.contains("standard output is incomplete: No space left"), "{words}");
    }
}

/// A terminal is opened, a run draws its progress in it, and it is closed.
#[cfg(target_os = "linux")]
#[test]
fn a_run_whose_terminal_is_closed_ends_with_its_results() {
    const CLOSE: &str = r#"
import os, pty, signal, sys
pid, terminal = pty.fork()
if pid == 0:
    signal.signal(signal.SIGHUP, signal.SIG_DFL)
    os.execv(sys.argv[1], sys.argv[1:])
seen = b""
while b"step" not in seen:
    seen += os.read(terminal, 4096)
os.close(terminal)
sys.exit(os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]))
"#;
    let here = folder();
    std::fs::write(here.path().join("flow.toml"), CASE).expect("written");
    let output = Command::new("python3")
        .args(["-c", CLOSE, env!("CARGO_BIN_EXE_lbmc"), "run", "flow.toml", "--set", "stop.steps=100000000"])
        .current_dir(here.path())
        .output()
        .expect("python3 starts");
    assert_eq!(output.status.code(), Some(130), "{}", String::from_utf8_lossy(&output.stderr));
    assert!(here.path().join("out/summary.json").is_file() && here.path().join("out/restart.lbmc").is_file());
}
