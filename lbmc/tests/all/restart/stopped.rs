//! Runs that signals stop, or that meet another run.

use std::process::Child;
use std::time::{Duration, Instant};

use super::*;

/// For a run that does not end by itself.
fn without_end() -> [&'static str; 12] {
    let (steps, every, steady) = ("stop.steps=100000000", "output.every=100000000", "steady=1e-300");
    let (around, across) = ("probes.0.every=1000", "probes.1.every=1000");
    [
        "--set",
        steps,
        "--set",
        every,
        "--set",
        steady,
        "--set",
        around,
        "--set",
        across,
        "--set",
        "pictures.0.every=100000000",
    ]
}

/// Waits until a file is there.
fn wait_for(path: &Path, running: &mut Child) {
    let start = Instant::now();
    while !path.exists() {
        assert!(running.try_wait().expect("a status").is_none(), "the run ended too early");
        assert!(start.elapsed() < Duration::from_secs(120), "{} does not appear", path.display());
        std::thread::sleep(Duration::from_millis(20));
    }
}

/// Starts a run without an end in sight, and waits for its first restart file.
fn endless(folder: &Path) -> Child {
    let arguments = without_end();
    // Who runs the tests may ignore SIGHUP (`nohup`), and what they start would too.
    let mut running = Command::new("env")
        .args(["--default-signal=HUP", env!("CARGO_BIN_EXE_lbmc"), "run", "flow.toml"])
        .args(arguments)
        .args(["--set", "output.restart=1000"])
        .current_dir(folder)
        .stderr(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .expect("starts");
    wait_for(&folder.join("out").join(RESTART), &mut running);
    running
}

/// Sends signals, one right after the other.
fn signal(running: &Child, signals: &[&str]) {
    let commands: Vec<String> = signals.iter().map(|signal| format!("kill {signal} {}", running.id())).collect();
    assert!(Command::new("sh").args(["-c", &commands.join("; ")]).status().expect("sh runs").success());
}

#[test]
fn a_signal_ends_a_run_with_its_results_and_a_file_from_which_it_goes_on() {
    // A terminal that is closed sends its signal more than once, and `timeout` to the program and to its group.
    for signals in [&["-INT", "-INT"][..], &["-TERM"], &["-HUP", "-HUP"]] {
        let here = folder(false);
        let (out, whole) = (here.path().join("out"), here.path().join("whole"));
        let running = endless(here.path());
        signal(&running, signals);
        let output = running.wait_with_output().expect("ends");
        assert_eq!(output.status.code(), Some(130), "{}", words(&output));
        assert!(words(&output).contains("note: interrupted at step"), "{}", words(&output));
        assert!(String::from_utf8_lossy(&output.stdout).contains("--resume"));
        let mut reached = summary(&out);
        assert_eq!(reached["stop"], "interrupted");
        let step = reached["steps"].as_u64().expect("a number");
        // The results are those of a run that was to end there.
        let until = |step: u64| format!("stop.steps={step}");
        let run = |more: &[&str]| works(here.path(), &[&without_end()[..], &["--set"], more].concat());
        run(&[&until(step), "--out", "whole"]);
        same_files(&whole, &out);
        (reached["stop"], reached["status"]) = ("steps".into(), "completed".into());
        assert_eq!(reached, summary(&whole));
        run(&[&until(step + 10), "--resume"]);
        assert_eq!(summary(&out)["steps"], step + 10);
    }
}

#[test]
fn a_run_under_nohup_outlives_its_terminal() {
    let here = folder(false);
    let arguments = without_end();
    let mut running = Command::new("sh")
        .args(["-c", "trap '' HUP; exec \"$@\"", "sh", env!("CARGO_BIN_EXE_lbmc"), "run", "flow.toml"])
        .args(arguments)
        .args(["--set", "output.restart=1000"])
        .current_dir(here.path())
        .stderr(Stdio::null())
        .spawn()
        .expect("starts");
    let file = here.path().join("out").join(RESTART);
    wait_for(&file, &mut running);
    signal(&running, &["-HUP"]);
    let before = step_of(&file);
    while step_of(&file) == before {
        assert!(running.try_wait().expect("a status").is_none(), "it has ended");
        std::thread::sleep(Duration::from_millis(5));
    }
    running.kill().expect("killed");
    running.wait().expect("ended");
}

#[test]
fn two_runs_do_not_write_into_one_folder() {
    let here = folder(false);
    let mut first = endless(here.path());
    let process = format!("process {}", first.id());
    refused(here.path(), &[], &["C0601", "`out`: another run writes to it", &process, "--out DIR"]);
    refused(here.path(), &["--resume"], &["C0601", &process]);
    assert!(first.try_wait().expect("a status").is_none(), "the first goes on");
    works(here.path(), &["--out", "elsewhere"]);
    // What is left of it hinders nobody.
    first.kill().expect("killed");
    first.wait().expect("ended");
    works(here.path(), &[]);
    assert!(!here.path().join("out/.lbmc.lock").exists());
}

#[test]
fn a_second_signal_ends_a_run_at_once() {
    let here = folder(false);
    let running = endless(here.path());
    signal(&running, &["-INT", "-TERM"]);
    let output = running.wait_with_output().expect("ends");
    assert_eq!(output.status.code(), Some(130), "{}", words(&output));
    assert!(!here.path().join("out/summary.json").exists(), "no results");
}

#[test]
fn a_run_out_of_wall_clock_time_leaves_a_file_from_which_it_goes_on_with_the_same_bits() {
    let here = folder(false);
    let parts = here.path().join("parts");
    works(here.path(), &["--out", "whole"]);
    let output = run(here.path(), &["--out", "parts", "--set", "stop.wall_minutes=1e-9"]);
    assert_eq!(output.status.code(), Some(130), "{}", words(&output));
    assert!(words(&output).contains("out of wall-clock time at step"), "{}", words(&output));
    let reached = summary(&parts);
    assert_eq!((&reached["stop"], &reached["status"]), (&"wall_time".into(), &"interrupted".into()));
    assert!(reached["steps"].as_u64().is_some_and(|steps| (1..60).contains(&steps)), "{reached}");
    works(here.path(), &["--out", "parts", "--resume", "--set", "stop.wall_minutes=1000"]);
    same(&here.path().join("whole"), &parts);
}
