//! `lbmc bench`: suites, what is kept of them, and what is said of what is not measured.

use std::path::Path;
use std::process::{Command, Stdio};
use std::time::Duration;

use serde_json::Value;

use super::{fails, folder, lbmc, read, works};

/// A small row of the suite `uniform`.
const SMALL: [&str; 8] = ["bench", "uniform", "d2q9_bgk", "--target", "cpu", "--real", "f32", "--gib"];

fn small(gib: &'static str) -> Vec<&'static str> {
    [&SMALL[..], &[gib]].concat()
}

fn rows(folder: &Path, suite: &str) -> Vec<Value> {
    read(&folder.join(format!("out/bench/{suite}.json")))["rows"].as_array().expect("rows").clone()
}

fn is_png(path: &Path) -> bool {
    std::fs::read(path).is_ok_and(|bytes| bytes.starts_with(b"\x89PNG"))
}

#[test]
fn a_kernel_is_measured_once_and_again_with_other_settings() {
    crate::in_turn!();
    let here = folder();
    let said = works(here.path(), &small("0.01"));
    assert!(said.contains("d2q9_bgk-f32-16x16") && !said.contains("kept"), "{said}");
    let first = rows(here.path(), "uniform");
    let [row] = &first[..] else { panic!("{first:?}") };
    for key in
        ["mlups", "mlups_min", "mlups_max", "memory_bandwidth_gb_per_s", "fraction_of_bandwidth", "flop_per_byte"]
    {
        assert!(row[key].as_f64().is_some_and(|value| value > 0.0), "{key}: {row}");
    }
    let (least, median, most) = (&row["mlups_min"], &row["mlups"], &row["mlups_max"]);
    assert!(least.as_f64() <= median.as_f64() && median.as_f64() <= most.as_f64(), "{row}");
    // Two sets of populations of nine values and a set of three fields, and some tables.
    assert!(row["bytes_per_leaf_cell"].as_f64().is_some_and(|bytes| bytes > (2 * 9 + 3) as f64 * 4.0), "{row}");
    assert!(is_png(&here.path().join("out/bench/uniform.png")) && is_png(&here.path().join("out/bench/roofline.png")));

    assert!(works(here.path(), &small("0.01")).contains("(kept)"));
    assert_eq!(rows(here.path(), "uniform"), first, "a row that is kept is as it was");

    assert!(!works(here.path(), &small("0.02")).contains("(kept)"));
    let again = rows(here.path(), "uniform");
    assert_eq!(again.len(), 1, "the same row has other settings");
    assert!(again[0]["levels"][0].as_u64() > first[0]["levels"][0].as_u64());
}

#[test]
fn the_command_of_a_row_repeats_it() {
    crate::in_turn!();
    let (here, there) = (folder(), folder());
    works(here.path(), &small("0.01"));
    let row = &rows(here.path(), "uniform")[0];
    let command: Vec<&str> = row["command"].as_str().expect("a command").split(' ').collect();
    assert_eq!(command[0], "lbmc");
    works(there.path(), &command[1..]);
    let repeated = &rows(there.path(), "uniform")[0];
    for key in ["name", "command", "block", "size", "program", "device"] {
        assert_eq!(row[key], repeated[key], "{key}");
    }
}

#[test]
fn a_method_of_ones_own_is_measured_again_when_its_text_changes() {
    crate::in_turn!();
    let here = folder();
    works(here.path(), &["new", "mine"]);
    let arguments = ["bench", "uniform", "mine.lbm", "--target", "cpu", "--real", "f32", "--gib", "0.01"];
    works(here.path(), &arguments);
    assert!(works(here.path(), &arguments).contains("(kept)"));
    let path = here.path().join("mine.lbm");
    let text = std::fs::read_to_string(&path).expect("the method");
    std::fs::write(&path, format!("// Changed.\n{text}")).expect("written");
    assert!(!works(here.path(), &arguments).contains("(kept)"));
}

#[test]
fn a_flow_is_measured_as_a_run_measures_it_and_leaves_no_output() {
    crate::in_turn!();
    let here = folder();
    works(here.path(), &["bench", "host", "cavity2d_adaptive", "gen-d2q9_bgk"]);
    let rows = rows(here.path(), "host");
    let [flow, generation] = &rows[..] else { panic!("{rows:?}") };
    assert_eq!((flow["kind"].as_str(), flow["levels"].as_array().map(Vec::len)), (Some("flow"), Some(4)));
    let share = flow["share_adapting"].as_f64().expect("a share");
    assert!(share > 0.0 && share < 1.0 && flow["phases"]["stream_collide"].as_f64() > Some(0.0), "{flow}");
    let (steps, seconds) = (flow["steps"].as_f64().expect("steps"), flow["seconds"].as_f64().expect("seconds"));
    let step = flow["microseconds_per_coarse_step"].as_f64().expect("a time");
    assert!((step * steps / seconds / 1e6 - 1.0).abs() < 1e-9, "{flow}");
    let (generated, first) = (flow["generate_seconds"].as_f64(), flow["first_step_seconds"].as_f64());
    assert!(generated > Some(0.0) && first > generated, "{flow}");
    assert!(flow["command"].as_str().is_some_and(|command| command.starts_with("lbmc run cavity2d_adaptive --set ")));
    assert!(generation["processor_seconds"].as_f64() > Some(0.0), "{generation}");
    let mut files: Vec<String> = std::fs::read_dir(here.path().join("out"))
        .expect("a folder")
        .map(|entry| entry.expect("an entry").file_name().to_string_lossy().into_owned())
        .collect();
    files.sort();
    assert_eq!(files, ["bench"]);
}

#[test]
fn errors_are_those_against_the_solution_in_both_precisions_beside_published_ones() {
    let here = folder();
    let row = "performance-figure6-tau";
    let said = works(here.path(), &["bench", "papers", row, "--target", "cpu"]);
    assert!(said.contains("order of velocity f64") && said.contains("de Oliveira"), "{said}");
    let rows = rows(here.path(), "papers");
    let [row] = &rows[..] else { panic!("{rows:?}") };
    assert_eq!((row["kind"].as_str(), row["points"].as_array().map(Vec::len)), (Some("accuracy"), Some(6)));
    let value = |name: &str| row["values"][name].as_f64().unwrap_or_else(|| panic!("{name}: {row}"));
    assert!((value("order of velocity f64") - 2.0).abs() < 0.1, "{row}");
    assert!((value("order of density f32") / value("order of density f64") - 1.0).abs() < 0.1, "{row}");
    assert!(value("most density f32/f64") < 2.0, "densities near 1 keep their digits: {row}");
    assert_eq!(row["peers"][0]["values"]["least density f32/f64"].as_f64(), Some(10.0));
    assert!(works(here.path(), &["bench", "papers", "performance-figure6-tau", "--target", "cpu"]).contains("(kept)"));
}

#[test]
fn the_list_has_a_command_for_each_row_and_measures_nothing() {
    let here = folder();
    for (suite, row) in [
        ("uniform", "d3q19_bgk-f32-best"),
        ("refined", "cavity512-d3q19_bgk-f32"),
        ("adaptive", "cavity3d_agal-d3q27_bgk-f64"),
        ("papers", "agal-table3-A1"),
        ("papers", "agal-table7-32-adaptive-cubic"),
        ("papers", "performance-figure6-cells"),
        ("papers", "performance-figure9-n128"),
        ("papers", "disaggregated-table5-512-4"),
    ] {
        let list = works(here.path(), &["bench", suite, "--target", "cpu", "--list"]);
        let line = list.lines().find(|line| line.starts_with(row)).unwrap_or_else(|| panic!("{suite}: {list}"));
        assert!(line.contains(" lbmc "), "{line}");
    }
    assert!(works(here.path(), &["bench", "host", "--list"]).contains("lbmc gen d3q27_kbc"));
    assert!(!here.path().join("out").exists());
}

#[test]
fn what_wants_a_gpu_is_left_out_on_a_cpu_and_said_to_be() {
    let here = folder();
    let said = works(here.path(), &["bench", "refined", "--target", "cpu"]);
    let lines: Vec<&str> = said.lines().filter(|line| line.contains("left out")).collect();
    assert!(lines.len() >= 6 && lines.iter().all(|line| line.contains("wants a GPU")), "{said}");
    // The cases are there all the same, from any folder.
    let plan = works(here.path(), &["run", "cavity2d_agal", "--set", "target=cpu", "--dry-run"]);
    assert!(plan.contains("cell updates in a step"), "{plan}");
}

#[test]
fn no_row_begins_after_the_given_time_and_the_next_call_goes_on() {
    let here = folder();
    let said = works(here.path(), &[&small("0.01")[..], &["--seconds", "0"]].concat());
    assert!(said.contains("left, for the same command to go on with: d2q9_bgk-f32-16x16"), "{said}");
    assert!(!works(here.path(), &small("0.01")).contains("left,"));
    let said = works(here.path(), &[&small("0.01")[..], &["--seconds", "0"]].concat());
    assert!(said.contains("(kept)") && !said.contains("left,"), "what is there needs no time: {said}");
}

#[test]
fn a_suite_that_is_interrupted_keeps_what_is_done() {
    crate::in_turn!();
    let here = folder();
    let arguments = ["bench", "uniform", "--target", "cpu", "--all", "--gib", "0.01"];
    let mut child = Command::new(env!("CARGO_BIN_EXE_lbmc"))
        .args(arguments)
        .current_dir(here.path())
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn()
        .expect("lbmc starts");
    let file = here.path().join("out/bench/uniform.json");
    while !file.exists() {
        assert!(child.try_wait().expect("a child").is_none(), "it ended without a row");
        std::thread::sleep(Duration::from_millis(20));
    }
    let sent = Command::new("kill").args(["-INT", &child.id().to_string()]).status().expect("kill starts");
    assert!(sent.success());
    assert_eq!(child.wait().expect("it ends").code(), Some(130));
    let rows = rows(here.path(), "uniform");
    assert!(!rows.is_empty() && rows.len() < 20, "{} rows", rows.len());
}

#[test]
fn unknown_names_are_refused_with_the_nearest_one() {
    let here = folder();
    let said = fails(here.path(), &["bench", "uniform", "d2q9_bgq", "--target", "cpu"]);
    assert!(said.contains("did you mean the shipped spec `d2q9_bgk`?"), "{said}");
    let said = fails(here.path(), &["bench", "refined", "cavity51", "--target", "cpu"]);
    assert!(said.contains("did you mean `cavity512`?"), "{said}");
    let said = fails(here.path(), &["bench", "uniform", "d2q9_bgk-f33", "--target", "cpu"]);
    assert!(said.contains("the suite has no row `d2q9_bgk-f33`"), "{said}");
    assert_eq!(lbmc(here.path(), &["bench", "refind"]).status.code(), Some(2));
    assert!(!here.path().join("out").exists());
}

#[test]
fn a_row_that_fails_is_told_and_tried_again() {
    let here = folder();
    let said = fails(here.path(), &small("0.0000001"));
    assert!(said.contains("raise --gib"), "{said}");
    assert_eq!(rows(here.path(), "uniform")[0]["kind"], "failed");
    assert!(fails(here.path(), &small("0.0000001")).contains("raise --gib"), "it is not kept");
}

#[test]
fn boxes_that_no_memory_holds_and_numbers_that_are_none_are_refused_before_anything_is_built() {
    let here = folder();
    for gib in ["1e5", "1e9", "1e300"] {
        let said = fails(here.path(), &small(gib));
        assert!(
            said.contains("the box needs") && said.contains("are available") && said.contains("lower --gib"),
            "{said}"
        );
    }
    for gib in ["nan", "inf", "0"] {
        let refused = lbmc(here.path(), &small(gib));
        let said = String::from_utf8_lossy(&refused.stderr);
        assert!(refused.status.code() == Some(2) && said.contains("is a positive number"), "{gib}: {said}");
    }
    for seconds in ["nan", "inf", "-1", "soon"] {
        let seconds = format!("--seconds={seconds}");
        let refused = lbmc(here.path(), &["bench", "refined", &seconds]);
        let said = String::from_utf8_lossy(&refused.stderr);
        assert!(refused.status.code() == Some(2) && said.contains("not negative"), "{seconds}: {said}");
    }
}
