//! Runs that end early and go on: the same bits as if nothing had happened, and clear words where that cannot be.

mod stopped;

use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};
use std::time::Duration;

use serde_json::Value;

use crate::sample::sample;

const RESTART: &str = "restart.lbmc";

const CASE: &str = r#"
spec = "d2q9_bgk"
target = "cpu"
block = [8, 8]
[domain]
size = [48, 32]
[fluid]
re = 100
[faces]
top = { rule = "moving_wall", velocity = [0.1, 0] }
others = "bounce_back"
[start]
density = "1 + 0.01 * cos(2*pi*x/lx)"
[stop]
steps = 60
steady = 1e-12
check_every = 15
[output]
directory = "out"
profiles = true
picture = true
vtk = true
every = 20
series = 10
forces = 7
surfaces = 25
[[probes]]
name = "around"
at = [[12.25, 12.5], [25, 14], [34.1, 14]]
fields = ["density", "velocity", "vorticity", "level"]
every = 4
[[pictures]]
field = "pressure"
every = 25
size = 300
film = true
[[pictures]]
field = "strain_rate"
size = 300
[[probes]]
name = "across"
from = [0, 16]
to = [48, 12]
points = 13
every = 9
[[solids]]
shape = "cylinder"
centre = [30, 14]
radius = 4
rule = "interpolated_bounce_back"
"#;

const REFINED: &str = r#"
[refinement]
finest = 2
boxes = [{ level = 1, from = [8, 8], to = [24, 24] }, { level = 2, from = [12, 12], to = [20, 16] }]
"#;

/// A body that moves through a fluid of varying viscosity, which cells keep, with the grid behind it.
const MOVING: &str = r#"
spec = "d2q9_power_law_state"
target = "cpu"
block = [8, 8]
[domain]
size = [64, 48]
[fluid]
velocity = 0.08
length = 8
[params]
viscosity = 0.02
reference = 0.01
index = 0.7
slowest = 1e-5
force = [0, 0]
[faces]
others = "bounce_back"
[start]
velocity = ["0.01 * sin(2*pi*y/ly)", 0]
[stop]
steps = 60
[output]
directory = "out"
profiles = true
picture = true
vtk = true
fields = ["density", "velocity", "nu"]
every = 20
series = 10
forces = 7
[[probes]]
name = "before"
at = [[36.5, 24]]
fields = ["density", "nu", "level"]
every = 4
[[pictures]]
field = "nu"
every = 25
size = 300
[[solids]]
shape = "cylinder"
centre = [20, 23]
radius = 4
rule = "moving_wall"
motion = { displacement = ["0.08 * t", "2 * sin(t / 40)"], angle = "0.004 * t", pivot = [23, 23] }
[refinement]
finest = 1
every = 8
"#;

/// A folder with a case in it.
fn folder_with(text: &str) -> tempfile::TempDir {
    let folder = tempfile::tempdir().expect("a temporary folder");
    std::fs::write(folder.path().join("flow.toml"), text).expect("written");
    folder
}

/// A folder with the case in it.
fn folder(refined: bool) -> tempfile::TempDir {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let text = CASE.to_string() + if refined { REFINED } else { "" };
    std::fs::write(folder.path().join("flow.toml"), text).expect("written");
    folder
}

fn command(folder: &Path, arguments: &[&str]) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_lbmc"));
    command.args(["run", "flow.toml"]).args(arguments).current_dir(folder);
    command
}

fn run(folder: &Path, arguments: &[&str]) -> Output {
    command(folder, arguments).output().expect("lbmc starts")
}

fn words(output: &Output) -> String {
    let text = String::from_utf8_lossy(&output.stderr).into_owned();
    text.split_whitespace().filter(|word| *word != "│").collect::<Vec<_>>().join(" ")
}

fn works(folder: &Path, arguments: &[&str]) {
    let output = run(folder, arguments);
    assert!(output.status.success(), "{arguments:?}: {}", words(&output));
}

fn refused(folder: &Path, arguments: &[&str], expected: &[&str]) {
    let output = run(folder, arguments);
    assert_eq!(output.status.code(), Some(1), "{arguments:?}");
    for words_expected in expected {
        assert!(words(&output).contains(words_expected), "{words_expected}: {}", words(&output));
    }
}

/// The summary without what tells of time, and of the memory that a run takes where it begins.
fn summary(folder: &Path) -> Value {
    let text = std::fs::read_to_string(folder.join("summary.json")).expect("a summary");
    let mut summary: Value = serde_json::from_str(&text).expect("JSON");
    for key in [
        "seconds",
        "seconds_waiting_for_output",
        "first_step_seconds",
        "memory",
        "device_bytes",
        "mlups",
        "fraction_of_bandwidth",
        "memory_bandwidth_gb_per_s",
        "phases",
    ] {
        summary.as_object_mut().expect("an object").remove(key);
    }
    summary
}

/// All files of one run are those of another, to the last bit, and so are the summaries.
fn same(one: &Path, other: &Path) {
    same_files(one, other);
    assert_eq!(summary(one), summary(other));
}

/// All files of one run but the summary and the case are those of another, to the last bit.
fn same_files(one: &Path, other: &Path) {
    let mut compared = 0;
    for entry in std::fs::read_dir(one).expect("a folder") {
        let name = entry.expect("an entry").file_name();
        // The page has the summary.
        if name != "summary.json"
            && name != "report.html"
            && name != RESTART
            && name != "case.toml"
            && name != ".lbmc.files"
        {
            let read = |folder: &Path| std::fs::read(folder.join(&name)).unwrap_or_default();
            assert!(read(one) == read(other), "{} differs", name.display());
            compared += 1;
        }
    }
    assert!(compared >= 11, "only {compared} files");
}

#[test]
fn a_run_that_goes_on_leaves_the_same_bits_as_an_unbroken_one() {
    // On a grid that changes, and is put into order, between the part that ends and the next check.
    let ghosts = [
        "refinement.coupling=interpolated",
        "refinement.criterion=vorticity",
        "refinement.threshold=2",
        "refinement.every=4",
        "check_every=30",
    ];
    for (refined, precision, settings) in
        sample([(false, "f32", &[][..]), (false, "f64", &[]), (true, "f32", &[]), (true, "f64", &ghosts)])
    {
        let here = folder(refined);
        let precision = format!("precision={precision}");
        let arguments = |more: &[&'static str]| -> Vec<String> {
            let settings = settings.iter().flat_map(|setting| ["--set", *setting]);
            ["--set", &precision].into_iter().chain(settings).chain(more.iter().copied()).map(String::from).collect()
        };
        let run = |more: &[&'static str]| {
            let arguments = arguments(more);
            works(here.path(), &arguments.iter().map(String::as_str).collect::<Vec<_>>());
        };
        run(&["--out", "whole"]);
        // After an odd number of steps, between checks, outputs and rows.
        run(&["--out", "parts", "--set", "stop.steps=37", "--set", "output.restart=100"]);
        run(&["--out", "parts", "--resume"]);
        same(&here.path().join("whole"), &here.path().join("parts"));
    }
}

#[test]
fn a_run_with_a_body_that_moves_and_cells_with_a_state_goes_on_with_the_same_bits() {
    crate::in_turn!();
    // On a grid that follows the body, between two changes of it; that follows the flow too; of one level.
    let uniform = MOVING.split("[refinement]").next().unwrap_or_default();
    let flow = ["refinement.criterion=vorticity", "refinement.threshold=0.5"];
    // The same where the fluid moves the body.
    let given = MOVING.lines().find(|line| line.starts_with("motion")).unwrap_or_default();
    let free = "motion = { free = true, density = 1.3, velocity = [0.08, 0], angular_velocity = 0.004, gravity = [1e-3, 1e-3] }";
    let [floats, floats_alone] = [MOVING, uniform].map(|text| text.replace(given, free));
    let runs = [
        (MOVING, &[][..], true),
        (MOVING, &flow, true),
        (uniform, &[], false),
        (&floats, &[], true),
        (&floats_alone, &[], false),
    ];
    for (text, settings, follows) in sample(runs) {
        let here = folder_with(text);
        let settings: Vec<&str> = settings.iter().flat_map(|of| ["--set", *of]).collect();
        let run = |more: &[&str]| works(here.path(), &[&settings[..], more].concat());
        run(&["--out", "whole"]);
        run(&["--out", "parts", "--set", "stop.steps=37", "--set", "output.restart=100"]);
        run(&["--out", "parts", "--resume"]);
        same(&here.path().join("whole"), &here.path().join("parts"));
        let changes = summary(&here.path().join("whole"))["adaptations"]["changes"].as_u64();
        assert_eq!(changes.is_some_and(|changes| changes > 1), follows, "{changes:?}");
    }
}

/// The step of a restart file, if it is there: it stands in the head.
fn step_of(path: &Path) -> Option<String> {
    let text = String::from_utf8_lossy(&std::fs::read(path).ok()?).into_owned();
    Some(text.split("\"step\":").nth(1)?.split(',').next()?.to_string())
}

#[test]
fn a_run_killed_at_any_moment_goes_on_from_its_last_file() {
    killed_and_continued(&folder(true), &["--set", "stop.steps=1000", "--set", "output.every=500"]);
}

#[test]
fn a_run_with_a_body_that_moves_goes_on_after_it_was_killed() {
    crate::in_turn!();
    // To and fro.
    let text = MOVING.replace("0.08 * t", "16 * sin(t / 200)");
    killed_and_continued(&folder_with(&text), &["--set", "stop.steps=1500", "--set", "output.every=500"]);
}

fn killed_and_continued(here: &tempfile::TempDir, long: &[&'static str]) {
    let long = [long, &["--set", "output.restart=20"]].concat();
    let arguments = |more: &[&'static str]| long.iter().chain(more).copied().collect::<Vec<_>>();
    works(here.path(), &arguments(&["--out", "whole"]));
    let file = here.path().join("out").join(RESTART);
    let mut killed = 0;
    for milliseconds in [0, 150, 37, 211] {
        let before = step_of(&file);
        let more: &[&str] = if before.is_some() { &["--resume"] } else { &[] };
        let mut running =
            command(here.path(), &arguments(more)).stderr(Stdio::null()).stdout(Stdio::null()).spawn().expect("starts");
        while step_of(&file) == before && running.try_wait().expect("a status").is_none() {
            std::thread::sleep(Duration::from_millis(3));
        }
        std::thread::sleep(Duration::from_millis(milliseconds));
        running.kill().expect("killed");
        killed += usize::from(running.wait().expect("ended").code().is_none());
    }
    assert!(killed >= 2, "runs ended before they were killed: {killed}");
    works(here.path(), &arguments(&["--resume"]));
    same(&here.path().join("whole"), &here.path().join("out"));
}

#[test]
fn a_run_that_has_no_step_left_says_so() {
    let here = folder(false);
    works(here.path(), &["--set", "output.restart=1000"]);
    let output = run(here.path(), &["--resume"]);
    assert!(output.status.success() && words(&output).contains("no step is left to do"), "{}", words(&output));
}

/// Whole rows of a table, without comments.
fn rows(path: &Path) -> Vec<String> {
    let text = std::fs::read_to_string(path).unwrap_or_default();
    let whole = text.rfind('\n').map_or("", |end| &text[..end]);
    whole.lines().filter(|line| line.starts_with(|first: char| first.is_ascii_digit())).map(String::from).collect()
}

/// What a run has recorded when it is killed is in its tables, later than its last restart file, and is what it would have been at the end; a run
/// that goes on has each row once.
#[test]
fn a_run_that_is_killed_leaves_the_rows_of_its_tables() {
    crate::in_turn!();
    let here = folder(true);
    let fluxes = "[[fluxes]]\nname = \"middle\"\nplane = { normal = \"x\", at = 24 }\nevery = 3\n\
                  [[fluxes]]\nname = \"right\"\nface = \"right\"\nevery = 4\n";
    let text = std::fs::read_to_string(here.path().join("flow.toml")).expect("the case");
    std::fs::write(
        here.path().join("flow.toml"),
        text.replace("[[probes]]\nname = \"around\"", &format!("{fluxes}[[probes]]\nname = \"around\"")),
    )
    .expect("written");
    let tables = ["probe_around.csv", "probe_across.csv", "forces.csv", "fluxes.csv", "series.csv"];
    let long = ["--set", "stop.steps=40000", "--set", "vtk=false", "--set", "output.restart=100", "--out", "out"];
    let out = here.path().join("out");
    let mut running = command(here.path(), &long).stderr(Stdio::null()).stdout(Stdio::null()).spawn().expect("starts");
    let last = |name: &str| {
        let row = rows(&out.join(name)).pop()?;
        row.split(',').next()?.parse::<u64>().ok()
    };
    while tables.iter().any(|name| last(name).is_none_or(|step| step < 250)) {
        assert!(running.try_wait().expect("a status").is_none(), "it has ended");
        std::thread::sleep(Duration::from_millis(3));
    }
    running.kill().expect("killed");
    running.wait().expect("ended");
    let left = tables.map(|name| rows(&out.join(name)));
    let until: u64 = left[0][left[0].len() - 1].split(',').next().and_then(|step| step.parse().ok()).expect("a step");
    assert!(!out.join("summary.json").exists() && until >= 250);
    // To the end, and in one go.
    let last = (until / 100 + 1) * 100;
    let end = format!("stop.steps={last}");
    let short = ["--set", &end, "--set", "vtk=false", "--set", "output.restart=100"];
    works(here.path(), &[&short[..], &["--out", "out", "--resume"]].concat());
    works(here.path(), &[&short[..], &["--out", "whole"]].concat());
    for (name, left) in tables.iter().zip(left) {
        let (once, whole) = (rows(&out.join(name)), rows(&here.path().join("whole").join(name)));
        assert!(once == whole, "{name}");
        // But for the last step, which comes early for some.
        let early = |row: &&String| {
            row.split(',').next().and_then(|step| step.parse().ok()).is_some_and(|step: u64| step < last)
        };
        let (left, once): (Vec<_>, Vec<_>) = (left.iter().filter(early).collect(), once.iter().filter(early).collect());
        let common = left.len().min(once.len());
        assert!(common > 20 && left[..common] == once[..common], "{name}: {common}");
    }
}

#[test]
fn other_machine_code_goes_on_only_where_that_is_asked_for() {
    let here = folder(false);
    works(here.path(), &["--set", "stop.steps=40", "--set", "output.restart=1000"]);
    let other = |arguments: &[&str]| {
        command(here.path(), arguments).env("CC", "cc -DOTHER_FLAGS").output().expect("lbmc starts")
    };
    let output = other(&["--resume"]);
    assert_eq!(output.status.code(), Some(1));
    for expected in ["C0607", "its flags was", "-DOTHER_FLAGS", "--resume-anyway"] {
        assert!(words(&output).contains(expected), "{expected}: {}", words(&output));
    }
    let output = other(&["--resume", "--resume-anyway"]);
    assert!(output.status.success(), "{}", words(&output));
    assert!(
        words(&output).contains("note: bits will not be those of an unbroken run: its flags"),
        "{}",
        words(&output)
    );
}

#[test]
fn a_file_that_does_not_fit_is_refused_with_a_reason() {
    let here = folder(false);
    let path: PathBuf = here.path().join("out").join(RESTART);
    refused(here.path(), &["--resume"], &["C0602", "out/restart.lbmc", "without `--resume`"]);
    works(here.path(), &["--set", "output.restart=1000"]);
    refused(here.path(), &["--resume", "--set", "spec=d2q9_kbc"], &["C0606", "was `d2q9_bgk` and is `d2q9_kbc`"]);
    refused(here.path(), &["--resume", "--set", "re=200"], &["C0606", "`fluid.re` was 100 and is 200"]);
    refused(here.path(), &["--resume", "--set", "precision=f64"], &["C0606", "`precision` was f32 and is f64"]);
    refused(here.path(), &["--resume", "flow.toml"], &["C0603", "flow.toml"]);
    works(here.path(), &["--resume", "out/restart.lbmc", "--set", "stop.steps=65", "--set", "output.picture=false"]);

    let whole = std::fs::read(&path).expect("a file");
    let changed = |change: &dyn Fn(&mut Vec<u8>)| {
        let mut bytes = whole.clone();
        change(&mut bytes);
        std::fs::write(&path, bytes).expect("written");
    };
    changed(&|bytes| bytes.truncate(bytes.len() - 1));
    refused(here.path(), &["--resume"], &["C0605", "bytes instead of"]);
    changed(&|bytes| bytes.truncate(100));
    refused(here.path(), &["--resume"], &["C0605", "ends too early"]);
    changed(&|bytes| {
        let middle = bytes.len() / 2;
        bytes[middle] ^= 1;
    });
    refused(here.path(), &["--resume"], &["C0605", "checksum does not fit"]);
    changed(&|bytes| bytes[30] ^= 1);
    refused(here.path(), &["--resume"], &["C0605", "checksum of its head"]);
    changed(&|bytes| bytes[8] += 1);
    refused(here.path(), &["--resume"], &["C0604", "version 4", "version 3"]);
}

#[test]
fn where_there_is_no_more_room_the_last_file_stays() {
    let here = folder(false);
    works(here.path(), &["--set", "output.restart=1000"]);
    let path = here.path().join("out").join(RESTART);
    let before = std::fs::read(&path).expect("a file");
    // Files may not get longer than so many blocks of 512 bytes, less than the restart file has.
    let limited = "ulimit -f 40; exec \"$@\"";
    let output = Command::new("sh")
        .args(["-c", limited, "sh", env!("CARGO_BIN_EXE_lbmc"), "run", "flow.toml", "--resume"])
        .args(["--set", "stop.steps=80", "--set", "output.restart=5", "--set", "output.every=1000"])
        .current_dir(here.path())
        .output()
        .expect("sh starts");
    assert_eq!(output.status.code(), Some(1));
    for expected in ["C0601", RESTART, "make room"] {
        assert!(words(&output).contains(expected), "{expected}: {}", words(&output));
    }
    assert!(before.len() > 40 * 512 && std::fs::read(&path).expect("a file") == before, "the last one stays");
    let names = std::fs::read_dir(here.path().join("out")).expect("a folder");
    assert!(
        names
            .map(|entry| entry.expect("an entry").file_name())
            .all(|name| !name.display().to_string().contains("partial"))
    );
    works(here.path(), &["--resume", "--set", "stop.steps=80"]);
}

#[test]
fn a_film_has_the_pictures_of_all_parts_and_says_how_many_are_missing() {
    crate::in_turn!();
    let here = folder(false);
    works(here.path(), &["--set", "stop.steps=30", "--set", "output.restart=30"]);
    let (film, first) = (here.path().join("out/pressure.gif"), here.path().join("out/pressure_00000025.png"));
    let short = std::fs::metadata(&film).expect("a film").len();
    works(here.path(), &["--resume"]);
    assert!(std::fs::metadata(&film).expect("a film").len() > short);
    works(here.path(), &["--set", "stop.steps=30", "--set", "output.restart=30"]);
    std::fs::remove_file(first).expect("removed");
    let output = run(here.path(), &["--resume"]);
    assert!(output.status.success() && words(&output).contains("1 pictures of `pressure` are not in the folder"));
}
