//! Pairs of features: each feature is a small change of one case, and a case with any two of them has the same bits in one process and
//! in several, and when it goes on halfway. A pair that cannot run is refused with a code that is known here.
//!
//! All pairs take minutes: `LBMC_PAIRS=all` runs them; without it every [`SLICE`]th runs.

use std::path::Path;

use toml::{Table, Value};

use super::{folder, is_there, run, same};

/// What the features change.
const BASE: &str = r#"
spec = "d2q9_recursive"
target = "cpu"
precision = "f64"
domain = { size = [64, 48] }
fluid = { viscosity = 0.02, velocity = 0.04, length = 8 }
faces = { left = { rule = "moving_wall", velocity = [0.04, 0] }, right = { rule = "anti_bounce_back", density = 1 }, others = "bounce_back" }
stop = { steps = 24 }
output = { vtk = true, series = 4, restart = 12, profiles = false, picture = false }
"#;

/// A feature and what it adds to the case. Of two features of one group a flow has one.
struct Feature {
    name: &'static str,
    group: &'static str,
    adds: &'static str,
}

const fn feature(name: &'static str, group: &'static str, adds: &'static str) -> Feature {
    Feature { name, group, adds }
}

/// The features, each with the group of those that it excludes.
const FEATURES: [Feature; 21] = [
    feature("bgk", "spec", r#"spec = "d2q9_bgk""#),
    feature("hybrid", "spec", "spec = \"d2q9_hybrid\"\nparams = { sigma = 0.98 }"),
    feature("porous", "spec", "spec = \"d2q9_porous\"\nparams = { drag = 0.001, force = [0, 0] }"),
    feature("16 bits", "real", r#"precision = "f16/f32""#),
    feature("f32", "real", r#"precision = "f32""#),
    feature("moments", "storage", r#"storage = "moments""#),
    feature(
        "static levels",
        "levels",
        r#"refinement = { finest = 1, boxes = [{ level = 1, from = [16, 8], to = [48, 40] }] }"#,
    ),
    feature(
        "ghosts",
        "levels",
        r#"refinement = { finest = 1, coupling = "interpolated", boxes = [{ level = 1, from = [16, 8], to = [48, 40] }] }"#,
    ),
    feature(
        "adaptive",
        "levels",
        r#"refinement = { finest = 1, criterion = "vorticity", threshold = 0.002, every = 8, memory = "32 MiB" }"#,
    ),
    feature(
        "solid",
        "solid",
        r#"
            solids = [{ shape = "cylinder", centre = [24.2, 24.1], radius = 4, rule = "interpolated_bounce_back" }]
            output = { forces = 4 }"#,
    ),
    feature(
        "moving solid",
        "solid",
        r#"
            solids = [{ shape = "cylinder", centre = [24.2, 24.1], radius = 4, rule = "interpolated_moving_wall", motion = { displacement = ["2*sin(2*pi*t/100)", 0] } }]
            output = { forces = 4 }"#,
    ),
    // Its way in half of the steps is that in all: a grid that stays is made for it.
    feature(
        "turning solid",
        "solid",
        r#"
            solids = [{ shape = "box", from = [20, 22], to = [30, 26], rule = "interpolated_moving_wall", motion = { angle = "0.05*sin(2*pi*t/20)" } }]
            output = { forces = 4 }"#,
    ),
    feature(
        "inlet of time",
        "left",
        r#"faces = { left = { rule = "moving_wall", velocity = ["0.04*min(t/10,1)", 0] } }"#,
    ),
    feature(
        "wet nodes",
        "left",
        r#"faces = { left = { rule = "regularized_velocity", velocity = [0.04, 0] }, right = { rule = "regularized_pressure", density = 1 } }"#,
    ),
    feature(
        "patch",
        "top",
        r#"faces = { top = { rule = "bounce_back", patches = [{ rule = "moving_wall", velocity = [0.02, 0], box = { from = [20, 48], to = [30, 48] } }] } }"#,
    ),
    feature("symmetry", "top", r#"faces = { top = "free_slip", bottom = "free_slip" }"#),
    feature("viscosity of place", "viscosity", r#"fluid = { viscosity = "0.02+0.02*x/lx" }"#),
    feature(
        "statistics",
        "statistics",
        r#"statistics = [{ name = "m", of = ["mean", "stresses"], from = 4, every = 2 }]"#,
    ),
    feature(
        "slopes of statistics",
        "statistics",
        r#"statistics = [{ name = "m", of = ["mean"], fields = ["vorticity"], from = 4, every = 2 }]"#,
    ),
    feature(
        "probe",
        "probe",
        r#"probes = [{ name = "p", at = [[40, 24]], fields = ["velocity", "vorticity"], every = 4 }]"#,
    ),
    feature("steady", "steady", "stop = { steady = 1e-12, check_every = 8 }"),
];

/// Without a wish for all of them, one of so many pairs is run.
const SLICE: usize = 24;

/// Adds a feature to a case: tables are merged, lists and numbers replaced.
fn add(to: &mut Table, of: Table) {
    for (key, value) in of {
        match (to.get_mut(&key), value) {
            (Some(Value::Table(own)), Value::Table(other)) if !other.contains_key("rule") => add(own, other),
            (_, value) => {
                to.insert(key, value);
            }
        }
    }
}

fn table(text: &str) -> Table {
    text.parse().unwrap_or_else(|error| panic!("{error}\n{text}"))
}

/// The pairs of features that a flow may have, by position.
fn pairs() -> Vec<[&'static Feature; 2]> {
    let one = |at: usize| FEATURES[at + 1..].iter().map(move |other| [&FEATURES[at], other]);
    (0..FEATURES.len()).flat_map(one).filter(|[one, other]| one.group != other.group).collect()
}

/// The pairs that are run: all, if that is asked for.
fn chosen() -> Vec<(usize, [&'static Feature; 2])> {
    let all = std::env::var("LBMC_PAIRS").is_ok_and(|value| value == "all");
    pairs().into_iter().enumerate().step_by(if all { 1 } else { SLICE }).collect()
}

/// Codes of combinations that lbmc does not have: moments, and couplings that follow a rate, where that varies; 16 bits of what cells keep beside
/// populations; values that vary along a face where levels meet.
const REFUSALS: [&str; 5] = ["C0122", "C0140", "C0409", "L0108", "L0407"];

/// Methods that read neighbours and ghosts, of which there are none behind the outermost.
const REFUSED_WITH_GHOSTS: &str = "E0413";

/// What is wrong with a pair, if something is.
fn fault(folder: &Path, number: usize, pair: [&Feature; 2]) -> Option<String> {
    let mut case = table(BASE);
    pair.iter().for_each(|feature| add(&mut case, table(feature.adds)));
    std::fs::write(folder.join("flow.toml"), case.to_string()).expect("written");
    let name = pair.map(|feature| feature.name).join(" and ");
    let case = |out: &str, processes: usize, more: &[&str]| {
        let arguments: Vec<&str> = ["flow.toml", "--out", out].into_iter().chain(more.iter().copied()).collect();
        let output = run(folder, processes, &arguments);
        let error = String::from_utf8_lossy(&output.stderr).into_owned();
        if output.status.success() { Ok(()) } else { Err(error) }
    };
    let processes = 2 + number % 4;
    let halves: [(&str, usize, &[&str]); 4] = [
        ("one", 1, &[]),
        ("several", processes, &[]),
        ("resumed", processes, &["--set", "stop.steps=12"]),
        ("resumed", 1, &["--resume"]),
    ];
    for (out, processes, more) in halves {
        if let Err(error) = case(out, processes, more) {
            let ghosts = pair.iter().any(|feature| feature.name == "ghosts") && error.contains(REFUSED_WITH_GHOSTS);
            let is_known = ghosts || REFUSALS.iter().any(|code| error.contains(code));
            return (!is_known).then(|| format!("{name}, {processes} processes, `{out}`: {error}"));
        }
    }
    let compared =
        std::panic::catch_unwind(|| ["several", "resumed"].map(|out| same(&folder.join("one"), &folder.join(out))));
    compared.is_err().then(|| format!("{name}, {processes} processes: the files differ"))
}

#[test]
fn pairs_of_features_have_the_files_of_one_process() {
    if !is_there() {
        return;
    }
    let mut faults = vec![];
    for (number, pair) in chosen() {
        let folder = folder(&[]);
        faults.extend(fault(folder.path(), number, pair));
    }
    assert!(faults.is_empty(), "{}", faults.join("\n"));
}
