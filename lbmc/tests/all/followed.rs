//! Grids that follow observables, what cells keep, and the time.

use std::path::Path;
use std::process::Command;

/// Runs a case up to a step.
fn run(folder: &Path, case: &str, steps: u64, arguments: &[&str]) {
    std::fs::write(folder.join("flow.toml"), format!("{case}\n[stop]\nsteps = {steps}\n")).expect("written");
    let mut command = Command::new(env!("CARGO_BIN_EXE_lbmc"));
    command.args(["run", "flow.toml", "--out", "out", "--set", "target=cpu"]).args(arguments).current_dir(folder);
    let output = command.output().expect("lbmc starts");
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
}

/// The levels of cells at the centres of so many cells of level 0 along x, at the end of a case.
fn levels(case: &str, steps: u64) -> Vec<f64> {
    let folder = tempfile::tempdir().expect("a temporary folder");
    run(folder.path(), case, steps, &[]);
    along(&folder.path().join("out/probe_along.csv"), steps)
}

/// The last number of each line of a step.
fn along(path: &Path, step: u64) -> Vec<f64> {
    let text = std::fs::read_to_string(path).unwrap_or_else(|error| panic!("{}: {error}", path.display()));
    let of_step = text.lines().filter(|line| line.starts_with(&format!("{step},")));
    of_step.filter_map(|line| line.rsplit(',').next()?.trim().parse().ok()).collect()
}

/// A flow with walls and 64 cells along x, in blocks of 4 x 4.
fn case(spec: &str, params: &str, refinement: &str, every: u64) -> String {
    format!(
        "spec = \"{spec}\"\nblock = [4, 4]\n[domain]\nsize = [64, 16]\n[fluid]\nviscosity = 0.05\nvelocity = 0.02\n[params]\n{params}\n\
         [faces]\nleft = \"periodic\"\nright = \"periodic\"\nothers = \"bounce_back\"\n[refinement]\nfinest = 1\nevery = {every}\n{refinement}\n\
         [[probes]]\nname = \"along\"\nfrom = [0.5, 8.25]\nto = [63.5, 8.25]\npoints = 64\nfields = [\"level\"]\nevery = {every}\n"
    )
}

#[test]
fn a_grid_follows_what_cells_keep_and_what_is_observed() {
    let drag = "drag = \"if(abs(x - 30) < 6, 0.01, 0)\"\nforce = [1e-6, 0]";
    let found = levels(&case("d2q9_porous", drag, "criterion = \"drag\"\nthreshold = 0.005", 4), 8);
    let expected =
        levels(&case("d2q9_porous", drag, "criterion = \"if(abs(x - 30) < 6, 1, 0)\"\nthreshold = 0.5", 4), 8);
    assert!(found.contains(&1.0) && found.contains(&0.0) && found == expected, "{found:?} {expected:?}");
    // The slope of the observable is that of the formula.
    let sharp = "drag = \"0.01 * exp(-((x - 30) / 4)^2)\"\nforce = [1e-6, 0]";
    let found = levels(&case("d2q9_porous", sharp, "criterion = \"abs(dx_drag)\"\nthreshold = 1e-3", 4), 8);
    let slope = "criterion = \"0.01 * abs(x - 30) / 8 * exp(-((x - 30) / 4)^2)\"\nthreshold = 1e-3";
    let expected = levels(&case("d2q9_porous", sharp, slope, 4), 8);
    assert!(found.contains(&1.0) && found.contains(&0.0) && found == expected, "{found:?} {expected:?}");
}

#[test]
fn a_criterion_moves_with_the_time() {
    let band = "criterion = \"if(abs(x - 10 - 0.5 * t) < 2, 1, 0)\"\nthreshold = 0.5";
    let fine = |steps: u64| {
        let levels = levels(&case("d2q9_guo", "force = [1e-6, 0]", band, 4), steps);
        let fine: Vec<usize> = (0..levels.len()).filter(|at| levels[*at] == 1.0).collect();
        assert!(!fine.is_empty());
        (fine[0] as f64, fine[fine.len() - 1] as f64 + 1.0)
    };
    // The grid changes before the step at which it is looked at.
    for steps in [8, 40, 80] {
        let (from, to) = fine(steps);
        let middle = 10.0 + 0.5 * steps as f64;
        assert!(from <= middle && middle <= to && to - from <= 24.0, "{steps}: {from} {to}");
    }
}

#[test]
fn a_threshold_changes_with_the_time() {
    let rising = "criterion = \"1 + 0 * x\"\nthreshold = \"0.5 + t / 40\"";
    let of = |steps| levels(&case("d2q9_guo", "force = [1e-6, 0]", rising, 4), steps);
    assert!(of(8).iter().all(|level| *level == 1.0));
    // Levels are given up below half of the threshold: from step 60 on.
    assert!(of(40).iter().all(|level| *level == 1.0));
    assert!(of(80).iter().all(|level| *level == 0.0));
}

#[test]
fn a_criterion_of_the_time_goes_on_with_a_run_and_is_the_same_in_parts() {
    let band =
        "criterion = \"if(abs(x - 10 - 0.5 * t) < 2 + 1e3 * abs(dx_drag), 1, 0)\"\nthreshold = \"0.5 + t / 400\"";
    let drag = "drag = \"0.01 * exp(-((x - 30) / 4)^2)\"\nforce = [1e-6, 0]";
    let case = case("d2q9_porous", drag, band, 4);
    let case = format!(
        "{case}\n[[probes]]\nname = \"flow\"\nat = [[12.5, 3.5], [40.5, 8.5]]\nevery = 4\n[output]\nrestart = 1000\n\
         [[statistics]]\nname = \"slopes\"\nfields = [\"q_criterion\", \"vorticity\", \"strain_rate\"]\n\
         of = [\"mean\", \"rms\", \"max\"]\nfrom = 0\nevery = 2\n"
    );
    let files = |folder: &Path| {
        ["probe_along.csv", "probe_flow.csv", "statistics_slopes.vtu"]
            .map(|name| std::fs::read(folder.join("out").join(name)).expect(name))
    };
    let runs = [0, 1, 2].map(|_| tempfile::tempdir().expect("a temporary folder"));
    run(runs[0].path(), &case, 80, &[]);
    run(runs[1].path(), &case, 38, &[]);
    run(runs[1].path(), &case, 80, &["--resume"]);
    run(runs[2].path(), &case, 80, &["--devices", "3"]);
    let [whole, resumed, divided] = runs.each_ref().map(|folder| files(folder.path()));
    let levels = along(&runs[0].path().join("out/probe_along.csv"), 80);
    assert!(levels.contains(&1.0) && levels.contains(&0.0));
    assert!(whole == resumed, "a run that goes on has the same bits");
    assert!(whole == divided, "and so has one in parts");
}

/// A channel whose flow decays. On level 0 y+ is half the root of the slope of the velocity over the viscosity, `0.5 sqrt(4 * 0.05 / 16 / 0.05) = 0.25`,
/// and half as much on each finer level.
#[test]
fn blocks_at_walls_become_as_fine_as_y_plus_asks_and_are_given_up() {
    let case = |bound: f64| {
        format!(
            "spec = \"d2q9_bgk\"\nblock = [4, 4]\n[domain]\nsize = [16, 16]\n[fluid]\nviscosity = 0.05\nvelocity = 0.05\n\
             [faces]\nbottom = \"bounce_back\"\ntop = \"bounce_back\"\nothers = \"periodic\"\n\
             [start]\nvelocity = [\"0.2 * y * (ly - y) / ly^2\", 0]\n\
             [refinement]\nfinest = 3\nevery = 4\ny_plus = {bound}\n\
             [[probes]]\nname = \"along\"\nfrom = [8, 0.5]\nto = [8, 15.5]\npoints = 16\nfields = [\"level\"]\nevery = 4\n"
        )
    };
    let fine = levels(&case(0.1), 12);
    assert_eq!([fine[0], fine[15]], [2.0; 2], "{fine:?}");
    assert!(fine[4..12].iter().all(|level| *level <= 1.0), "{fine:?}");
    let coarser = levels(&case(0.2), 12);
    assert_eq!([coarser[0], coarser[8]], [1.0, 0.0], "{coarser:?}");
    let folder = tempfile::tempdir().expect("a temporary folder");
    run(folder.path(), &case(0.1), 12, &["--set", "devices=2"]);
    assert_eq!(along(&folder.path().join("out/probe_along.csv"), 12), fine);
    assert_eq!(levels(&case(0.1), 3000), [0.0; 16], "it rests");
}
