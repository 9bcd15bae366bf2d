//! Flows in several processes, started by mpirun: the files of one process, but for times and what is said of devices; and what becomes of
//! all where one fails.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Output, Stdio};
use std::time::{Duration, Instant};

use serde_json::Value;

mod cases;
mod pairs;

use cases::{CAVITY, COMING, FREE, MOVING, REFINED};

const RESTART: &str = "restart.lbmc";

/// Whether there is an mpirun; where everything is tested there must be.
pub(super) fn is_there() -> bool {
    let found = Command::new("mpirun").arg("--version").output().is_ok_and(|output| output.status.success());
    assert!(found || std::env::var_os("CI").is_none(), "mpirun is missing: `apt install openmpi-bin`");
    if !found {
        eprintln!("skipped: there is no mpirun");
    }
    found
}

/// The folder of an MPICH; where everything is tested there must be one.
fn mpich() -> Option<PathBuf> {
    let found = std::env::var_os("LBMC_MPICH").map(PathBuf::from).filter(|folder| folder.join("bin/mpirun").is_file());
    assert!(found.is_some() || std::env::var_os("CI").is_none(), "LBMC_MPICH names no folder with an MPICH in it");
    if found.is_none() {
        eprintln!(
            "skipped: LBMC_MPICH names no folder with an MPICH in it (`pip install mpich` in an environment of its own)"
        );
    }
    found
}

/// A folder with cases in it.
fn folder(cases: &[(&str, &str)]) -> tempfile::TempDir {
    let folder = tempfile::tempdir().expect("a temporary folder");
    cases.iter().for_each(|(name, text)| std::fs::write(folder.path().join(name), text).expect("written"));
    folder
}

/// mpirun with these arguments: on this host alone, where processes that are more than cores give way while they wait.
pub(super) fn mpirun(folder: &Path, arguments: &[&str]) -> Command {
    let mut command = Command::new("mpirun");
    command.args(["--oversubscribe", "--allow-run-as-root", "--bind-to", "none"]).args(arguments).current_dir(folder);
    for (name, value) in
        [("btl", "self,vader"), ("pml", "ob1"), ("mpi_yield_when_idle", "1"), ("rmaps_base_oversubscribe", "1")]
    {
        command.env(format!("OMPI_MCA_{name}"), value);
    }
    command.env("OMPI_ALLOW_RUN_AS_ROOT", "1").env("OMPI_ALLOW_RUN_AS_ROOT_CONFIRM", "1");
    command
}

pub(super) const LBMC: &str = env!("CARGO_BIN_EXE_lbmc");

/// A case in so many processes; 1 without mpirun.
fn run(folder: &Path, processes: usize, arguments: &[&str]) -> Output {
    let number = processes.to_string();
    let mut command = match processes {
        1 => Command::new(LBMC),
        _ => mpirun(folder, &["-n", &number, LBMC]),
    };
    command.args(["run"]).args(arguments).current_dir(folder).output().expect("it starts")
}

#[track_caller]
fn done(output: &Output) -> String {
    let error = String::from_utf8_lossy(&output.stderr).into_owned();
    assert!(output.status.success(), "{error}");
    error
}

/// The bytes of all files of a folder by their names. Of a restart file what follows its head, which has times; of the summary what a
/// user would compare.
fn files(folder: &Path) -> BTreeMap<String, Vec<u8>> {
    let mut all = BTreeMap::new();
    for entry in std::fs::read_dir(folder).expect("readable") {
        let path = entry.expect("readable").path();
        let name = path.file_name().expect("a name").to_string_lossy().into_owned();
        // What a run is made from, the list of what runs have written, and all of it on a page.
        if path.is_dir() || name == ".lbmc.files" || name == "report.html" {
            continue;
        }
        let bytes = std::fs::read(&path).expect("readable");
        let kept = match &name[..] {
            RESTART => sections(&bytes),
            "summary.json" => compared(&bytes),
            // It says how many steps were asked for.
            "case.toml" => vec![],
            _ => bytes,
        };
        all.insert(name, kept);
    }
    all
}

/// What follows the head of a restart file.
fn sections(bytes: &[u8]) -> Vec<u8> {
    let head = 20 + u64::from_le_bytes(std::array::from_fn(|at| bytes[12 + at])) as usize;
    bytes[head + 32..].to_vec()
}

/// A summary without times, rates and devices.
fn compared(bytes: &[u8]) -> Vec<u8> {
    let mut summary: Value = serde_json::from_slice(bytes).expect("JSON");
    let object = summary.as_object_mut().expect("an object");
    object.retain(|key, _| {
        let of_devices = ["device", "parts", "device_bytes", "memory", "phases", "mlups", "inputs"];
        !key.contains("seconds") && !of_devices.contains(&&key[..])
    });
    serde_json::to_vec(&summary).expect("JSON")
}

#[track_caller]
fn same(one: &Path, other: &Path) {
    let (one, other) = (files(one), files(other));
    assert_eq!(one.keys().collect::<Vec<_>>(), other.keys().collect::<Vec<_>>());
    let different: Vec<&String> =
        one.iter().filter(|(name, bytes)| other[*name] != **bytes).map(|(name, _)| name).collect();
    assert!(different.is_empty(), "{different:?}");
    assert!(one.contains_key(RESTART) && one.len() > 4, "{:?}", one.keys());
}

/// A case has the same files in one process and in several, and what some have saved halfway others bring to the end.
#[track_caller]
fn is_the_same(case: &str, steps: u64, counts: &[usize]) -> Value {
    let folder = folder(&[("flow.toml", case)]);
    let out = |name: &str| folder.path().join(name);
    done(&run(folder.path(), 1, &["flow.toml", "--out", "one"]));
    for processes in counts {
        let name = format!("in_{processes}");
        let said = done(&run(folder.path(), *processes, &["flow.toml", "--out", &name]));
        assert_eq!(said.matches(&format!("{processes} processes")).count(), 1, "one of them speaks: {said}");
        same(&out("one"), &out(&name));
    }
    let half = format!("stop.steps={}", steps / 2);
    for (name, [first, then]) in [("forth", [2, 3]), ("back", [2, 1])] {
        done(&run(folder.path(), first, &["flow.toml", "--out", name, "--set", &half]));
        done(&run(folder.path(), then, &["flow.toml", "--out", name, "--resume"]));
        same(&out("one"), &out(name));
    }
    let summary = std::fs::read(out("one").join("summary.json")).expect("a summary");
    serde_json::from_slice(&summary).expect("JSON")
}

#[test]
fn a_cavity_with_a_body_has_the_files_of_one_process() {
    crate::in_turn!();
    if is_there() {
        is_the_same(CAVITY, 40, &[2, 4]);
    }
}

#[test]
fn levels_and_a_symmetry_plane_have_the_files_of_one_process() {
    crate::in_turn!();
    if is_there() {
        is_the_same(REFINED, 16, &[4]);
    }
}

/// On several levels values of neighbours are computed again before the halo is exchanged, so what was sent beforehand must not be taken.
#[test]
fn levels_of_a_method_that_reads_neighbours_have_the_files_of_one_process() {
    crate::in_turn!();
    if is_there() {
        let case = REFINED.replace("d2q9_bgk", "d2q9_shan_chen") + "[params]\nstrength = -0.5\n";
        is_the_same(&case, 16, &[2]);
    }
}

#[test]
fn levels_with_ghosts_that_follow_the_flow_have_the_files_of_one_process() {
    crate::in_turn!();
    if is_there() {
        let case = REFINED.replace(
            "velocity = [\"0.05 * (1 + 0.2 * sin(2*pi*x/lx))\", 0]",
            "velocity = [\"0.05 * (1 + 0.2 * sin(2*pi*x/lx))\", \"0.01 * sin(2*pi*x/lx)\"]",
        );
        let case =
            case.replace("finest = 2", "finest = 1\ncoupling = \"interpolated\"\nevery = 4\nmemory = \"32 MiB\"");
        let (before, _) = case.split_once("boxes").expect("boxes");
        let case = format!("{before}criterion = \"abs(dx_uy - dy_ux)\"\nthreshold = 0.003\n");
        let summary = is_the_same(&case, 16, &[2, 3]);
        assert!(summary["adaptations"]["changes"].as_u64() > Some(0), "the grid follows: {summary}");
    }
}

#[test]
fn a_grid_that_follows_a_moving_body_has_the_files_of_one_process() {
    crate::in_turn!();
    if is_there() {
        let summary = is_the_same(MOVING, 48, &[2, 4]);
        assert!(summary["adaptations"]["changes"].as_u64() > Some(1), "the grid follows: {summary}");
    }
}

#[test]
fn bodies_that_the_fluid_moves_have_the_files_of_one_process() {
    crate::in_turn!();
    if is_there() {
        let summary = is_the_same(FREE, 48, &[2]);
        assert!(summary["adaptations"]["changes"].as_u64() > Some(0), "the grid follows: {summary}");
    }
}

#[test]
fn a_body_that_comes_to_another_process_between_two_halves_of_a_step_is_seen_there_at_once() {
    if is_there() {
        let folder = folder(&[("flow.toml", COMING)]);
        for (processes, out) in [(1, "one"), (3, "in_3")] {
            done(&run(folder.path(), processes, &["flow.toml", "--out", out]));
        }
        same(&folder.path().join("one"), &folder.path().join("in_3"));
    }
}

#[test]
fn processes_of_mpich_have_the_files_of_one_process() {
    if let Some(mpich) = mpich() {
        let folder = folder(&[("flow.toml", MOVING)]);
        let paths = std::env::var_os("PATH").unwrap_or_default();
        let paths = std::iter::once(mpich.join("bin")).chain(std::env::split_paths(&paths));
        let mut command = Command::new(mpich.join("bin/mpirun"));
        command.args(["-n", "2", LBMC, "run", "flow.toml", "--out", "in_2"]).current_dir(folder.path());
        let output = command.env("PATH", std::env::join_paths(paths).expect("folders")).output().expect("it starts");
        assert!(done(&output).contains("2 processes"));
        done(&run(folder.path(), 1, &["flow.toml", "--out", "one"]));
        same(&folder.path().join("one"), &folder.path().join("in_2"));
    }
}

#[test]
fn what_is_wrong_with_a_case_is_said_once() {
    if is_there() {
        let folder = folder(&[("flow.toml", &CAVITY.replace("re = 100", "re = -100"))]);
        let output = run(folder.path(), 3, &["flow.toml"]);
        let error = String::from_utf8_lossy(&output.stderr);
        assert!(!output.status.success() && error.matches("Error: C0107").count() == 1, "{error}");
        assert!(!folder.path().join("out").join("summary.json").exists());
    }
}

#[test]
fn processes_of_another_case_do_not_start() {
    if is_there() {
        let folder = folder(&[("a.toml", CAVITY), ("b.toml", &CAVITY.replace("re = 100", "re = 101"))]);
        let arguments = |case: &'static str| ["-n", "1", LBMC, "run", case, "--out", "out"];
        let all = [&arguments("a.toml")[..], &[":"], &arguments("b.toml")[..]].concat();
        let output = mpirun(folder.path(), &all).output().expect("it starts");
        let error = String::from_utf8_lossy(&output.stderr);
        assert!(!output.status.success() && error.matches("C0803").count() == 1, "{error}");
        assert!(error.contains("process 1 of 2 has another case"), "{error}");
    }
}

#[test]
fn a_library_that_does_not_know_the_processes_of_mpirun_is_refused() {
    if is_there() {
        let folder = folder(&[("flow.toml", CAVITY)]);
        let mut command = Command::new(LBMC);
        command.args(["run", "flow.toml"]).current_dir(folder.path());
        let command = command.env("OMPI_COMM_WORLD_SIZE", "2").env("OMPI_ALLOW_RUN_AS_ROOT", "1");
        let output = command.env("OMPI_ALLOW_RUN_AS_ROOT_CONFIRM", "1").output().expect("it starts");
        let error = String::from_utf8_lossy(&output.stderr);
        assert!(!output.status.success() && error.contains("C0802") && error.contains("another MPI"), "{error}");
        assert!(!folder.path().join("out").exists(), "nothing was run");
    }
}

#[test]
fn a_library_of_another_mpi_than_mpirun_is_not_taken() {
    if is_there() {
        let folder = folder(&[("flow.toml", CAVITY)]);
        let mut command = Command::new(LBMC);
        command.args(["run", "flow.toml"]).current_dir(folder.path()).env("PMI_SIZE", "2");
        let output = command.output().expect("it starts");
        let error = String::from_utf8_lossy(&output.stderr);
        assert!(!output.status.success() && error.contains("C0801") && error.contains("MPICH"), "{error}");
        assert!(!folder.path().join("out").exists(), "nothing was run");
    }
}

/// A cavity that goes on for long.
fn endless() -> String {
    let flow = CAVITY.split("[stop]").next().expect("the flow");
    format!("{flow}[stop]\nsteps = 1000000000\n[output]\ndirectory = \"out\"\nrestart = 50\n")
}

#[test]
fn without_a_library_processes_beside_each_other_are_refused() {
    let folder = folder(&[("flow.toml", CAVITY), ("libmpi.so.40", "no library"), ("libmpi.so", "no library")]);
    let mut command = Command::new(LBMC);
    command.args(["run", "flow.toml"]).current_dir(folder.path());
    let output = command.env("OMPI_COMM_WORLD_SIZE", "2").env("LD_LIBRARY_PATH", folder.path()).output();
    let output = output.expect("it starts");
    let error = String::from_utf8_lossy(&output.stderr);
    assert!(!output.status.success() && error.contains("C0801") && error.contains("libmpi"), "{error}");
    assert!(!folder.path().join("out").exists(), "nothing was run");
}

/// A run of two processes that would go on for long, when it has written a restart file; with the numbers of its processes.
fn under_way(folder: &Path) -> (Child, PathBuf, Vec<i32>) {
    let mut command = mpirun(folder, &["-n", "2", "sh", "-c", "echo $$ >> numbers; exec \"$0\" \"$@\"", LBMC]);
    command.args(["run", "flow.toml"]).stderr(Stdio::piped()).stdout(Stdio::null());
    let mut child = command.spawn().expect("it starts");
    let file = folder.join("out").join(RESTART);
    let began = Instant::now();
    while !file.exists() {
        let is_on = child.try_wait().expect("a process").is_none() && began.elapsed() < Duration::from_secs(120);
        assert!(is_on, "no restart file");
        std::thread::sleep(Duration::from_millis(50));
    }
    let numbers = std::fs::read_to_string(folder.join("numbers")).expect("readable");
    (child, file, numbers.lines().map(|line| line.parse().expect("a number")).collect())
}

fn signal(process: i32, name: &str) {
    assert!(Command::new("kill").args([name, &process.to_string()]).status().expect("kill").success());
}

#[test]
fn where_a_process_dies_all_end_and_the_last_restart_file_is_whole() {
    if is_there() {
        let folder = folder(&[("flow.toml", &endless())]);
        let (child, file, numbers) = under_way(folder.path());
        signal(numbers[1], "-KILL");
        let began = Instant::now();
        let output = child.wait_with_output().expect("it ends");
        assert!(began.elapsed() < Duration::from_secs(20) && !output.status.success(), "{:?}", began.elapsed());
        let error = String::from_utf8_lossy(&output.stderr);
        assert!(error.contains("signal 9"), "{error}");
        let saved = std::fs::read(&file).expect("readable");
        assert!(!saved.is_empty());
        let resumed = run(folder.path(), 1, &["flow.toml", "--resume", "--dry-run"]);
        done(&resumed);
    }
}

#[test]
fn a_signal_that_mpirun_passes_on_ends_a_run_with_a_restart_file() {
    if is_there() {
        let folder = folder(&[("flow.toml", &endless())]);
        let (child, ..) = under_way(folder.path());
        signal(child.id() as i32, "-USR1");
        let output = child.wait_with_output().expect("it ends");
        let error = String::from_utf8_lossy(&output.stderr);
        assert_eq!(error.matches("interrupted at step").count(), 1, "{error}");
        let summary = std::fs::read(folder.path().join("out/summary.json")).expect("a summary");
        let summary: Value = serde_json::from_slice(&summary).expect("JSON");
        assert_eq!(summary["stop"], "interrupted");
    }
}
