//! Flows that start from the restart files and the refined VTK files of others.

use std::path::Path;
use std::process::{Command, Output};

fn run(folder: &Path, name: &str, case: &str) -> Output {
    std::fs::write(folder.join(format!("{name}.toml")), case).expect("written");
    let mut command = Command::new(env!("CARGO_BIN_EXE_lbmc"));
    command.args(["run", &format!("{name}.toml"), "--out", name, "--set", "target=cpu"]).current_dir(folder);
    command.output().expect("lbmc starts")
}

/// What a case's probe `along` has at a step, all components of each point.
fn probed(folder: &Path, name: &str, case: &str, step: u64) -> Vec<f64> {
    let output = run(folder, name, case);
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let path = folder.join(name).join("probe_along.csv");
    let text = std::fs::read_to_string(&path).unwrap_or_else(|error| panic!("{}: {error}", path.display()));
    let rows = text.lines().filter(|line| line.starts_with(&format!("{step},")));
    let values: Vec<f64> =
        rows.flat_map(|row| row.split(',').rev().take(3)).map(|word| word.trim().parse().expect(word)).collect();
    assert!(!values.is_empty(), "{text}");
    values
}

/// A cavity with so many cells of level 0 along each side, and a refined corner.
fn cavity(cells: usize, steps: u64, refined: bool, more: &str) -> String {
    let at = |part: f64| part * cells as f64;
    let refinement = format!(
        "[refinement]\nfinest = 1\nboxes = [{{ level = 1, from = [{0}, {0}], to = [{1}, {1}] }}]\n",
        at(0.5),
        at(1.0)
    );
    let refinement = if refined { &refinement } else { "" };
    format!(
        "spec = \"d2q9_bgk\"\nprecision = \"f64\"\n[domain]\nsize = [{cells}, {cells}]\n[fluid]\nre = 40\nvelocity = 0.05\n\
         [faces]\ntop = {{ rule = \"moving_wall\", velocity = [0.05, 0] }}\nothers = \"bounce_back\"\n{refinement}\
         [[probes]]\nname = \"along\"\nfrom = [{}, {}]\nto = [{}, {}]\npoints = 9\nevery = 400\n[stop]\nsteps = {steps}\n{more}",
        at(0.1),
        at(0.2),
        at(0.9),
        at(0.7)
    )
}

/// The largest difference of velocities, over that of the lid.
fn apart(one: &[f64], other: &[f64]) -> f64 {
    let velocity = |at: &usize| at % 3 != 2;
    let differences = (0..one.len()).filter(velocity).map(|at| (one[at] - other[at]).abs() / 0.05);
    differences.fold(0.0, f64::max)
}

#[test]
fn a_flow_starts_from_the_end_of_another_on_the_same_grid_and_on_others() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let output = "[output]\nrestart = 5000\nvtk = \"unstructured\"\nevery = 400\n";
    let end = probed(folder.path(), "first", &cavity(32, 400, true, output), 400);
    let from = |file: &str| {
        format!("[start]\nvelocity = {{ file = \"first/{file}\" }}\ndensity = {{ file = \"first/{file}\" }}\n")
    };
    for (name, file) in [("saved", "restart.lbmc"), ("drawn", "fields_00000400.vtu")] {
        let again = probed(folder.path(), name, &cavity(32, 1, true, &from(file)), 0);
        let most = end.iter().zip(&again).map(|(end, again)| (end - again).abs()).fold(0.0, f64::max);
        assert!(most < 1e-14, "{file}: {most}");
    }
    // On a grid without refinement, and on ones with cells of two thirds and twice the width.
    for (name, cells, refined, bound) in
        [("plain", 32, false, 0.01), ("finer", 48, false, 0.01), ("coarser", 16, true, 0.05)]
    {
        let other = probed(folder.path(), name, &cavity(cells, 1, refined, &from("restart.lbmc")), 0);
        assert!(apart(&end, &other) < bound, "{name}: {}", apart(&end, &other));
    }
}

#[test]
fn what_is_no_start_is_told() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let output = run(folder.path(), "first", &cavity(16, 4, true, "[output]\nrestart = 5000\n"));
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let saved = std::fs::read(folder.path().join("first/restart.lbmc")).expect("a restart file");
    std::fs::write(folder.path().join("cut.lbmc"), &saved[..saved.len() - 1]).expect("written");
    let mut changed = saved.clone();
    changed[saved.len() / 2] ^= 1;
    std::fs::write(folder.path().join("changed.lbmc"), changed).expect("written");
    for (file, size, expected) in [
        ("cut.lbmc", 16, "C0121"),
        ("changed.lbmc", 16, "checksums do not fit"),
        ("first/restart.lbmc", 20, "another shape"),
    ] {
        let case = cavity(16, 1, false, &format!("[start]\nvelocity = {{ file = \"{file}\" }}\n"));
        let case = case.replace("size = [16, 16]", &format!("size = [{size}, 16]"));
        let output = run(folder.path(), "second", &case);
        let message = String::from_utf8_lossy(&output.stderr).into_owned();
        let words = message.split_whitespace().filter(|word| *word != "│").collect::<Vec<_>>().join(" ");
        assert!(!output.status.success() && words.contains(expected), "{file}: {message}");
    }
}
