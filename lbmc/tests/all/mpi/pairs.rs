//! Pairs of features: each feature is a small change of one case, and a case with any two of them has the same bits in one process and
//! in several, and when it goes on halfway. A pair that cannot run is refused for the reason that `docs/combinations.md` gives.
//!
//! All pairs take minutes: `LBMC_PAIRS=all` runs them; without it every [`SLICE`]th runs. With `LBMC_UPDATE=1` as well no pair runs, but the page
//! is written.

use std::collections::BTreeMap;
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
const FEATURES: [Feature; 26] = [
    feature("bgk", "spec", r#"spec = "d2q9_bgk""#),
    feature("hybrid", "spec", "spec = \"d2q9_hybrid\"\nparams = { sigma = 0.98 }"),
    feature("Shan-Chen", "spec", "spec = \"d2q9_shan_chen\"\nparams = { strength = -0.5 }"),
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
        "body that the fluid moves",
        "solid",
        r#"
            solids = [{ shape = "ellipsoid", centre = [24.2, 24.1], radii = [5, 3], rule = "interpolated_moving_wall", motion = { free = true, density = 1.2, gravity = [0, -1e-4] } }]
            output = { forces = 4 }"#,
    ),
    feature(
        "rotating surface",
        "solid",
        r#"
            solids = [{ shape = "cylinder", centre = [24.2, 24.1], radius = 4, rule = "interpolated_moving_wall", velocity = ["-0.002*(y-24.1)", "0.002*(x-24.2)"] }]
            output = { forces = 4 }"#,
    ),
    feature(
        "inlet of time",
        "left",
        r#"faces = { left = { rule = "moving_wall", velocity = ["0.04*min(t/10,1)", 0] } }"#,
    ),
    feature(
        "inlet of place",
        "left",
        r#"faces = { left = { rule = "moving_wall", velocity = ["0.16*y*(ly-y)/ly^2", 0] } }"#,
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
    feature(
        "patch of place",
        "top",
        r#"faces = { top = { rule = "bounce_back", patches = [{ rule = "moving_wall", velocity = ["0.02*x/lx", 0], box = { from = [20, 48], to = [30, 48] } }] } }"#,
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
const SLICE: usize = 48;

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

/// The page that says what goes with what: its text, and where the part begins and ends that is written by this test.
fn page() -> (std::path::PathBuf, String, std::ops::Range<usize>) {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../docs/combinations.md");
    let text = std::fs::read_to_string(&path).expect("the page is there");
    let [start, end] = ["<!-- written by the program: -->\n", "<!-- end -->\n"];
    let from = text.find(start).expect("a mark") + start.len();
    let to = from + text[from..].find(end).expect("a second mark");
    (path, text, from..to)
}

/// The table of the features, each as its lines in a case.
fn features() -> String {
    let mut table = String::from("| feature | in a case |\n| --- | --- |\n");
    for Feature { name, adds, .. } in &FEATURES {
        let words: Vec<&str> = adds.split_whitespace().collect();
        table += &format!("| {name} | `{}` |\n", words.join(" "));
    }
    table
}

fn name(pair: [&Feature; 2]) -> String {
    pair.map(|feature| feature.name).join(" and ")
}

/// The pairs that the page says are refused, with the reason.
fn documented() -> BTreeMap<String, String> {
    let (_, text, part) = page();
    let row = |line: &str| {
        let (pair, reason) = line.strip_prefix("| ")?.strip_suffix(" |")?.split_once(" | ")?;
        pair.contains(" and ").then(|| (pair.to_string(), reason.to_string()))
    };
    text[part].lines().filter_map(row).collect()
}

/// The first error of a message, in one line.
fn reason(error: &str) -> String {
    let lines = error.lines().skip_while(|line| !line.contains('×') || line.contains("cannot run"));
    let lines = lines.take_while(|line| !line.contains('╭') && !line.trim_start().starts_with("help"));
    let words: Vec<&str> = lines.flat_map(str::split_whitespace).filter(|word| !["×", "│"].contains(word)).collect();
    words.join(" ").replace('|', "/")
}

/// The case of a pair.
fn case(pair: [&Feature; 2]) -> String {
    let mut case = table(BASE);
    pair.iter().for_each(|feature| add(&mut case, table(feature.adds)));
    case.to_string()
}

/// Why a pair is refused, if it is.
fn refusal(folder: &Path, pair: [&Feature; 2]) -> Option<String> {
    std::fs::write(folder.join("flow.toml"), case(pair)).expect("written");
    let output = run(folder, 1, &["flow.toml", "--dry-run"]);
    (!output.status.success()).then(|| reason(&String::from_utf8_lossy(&output.stderr)))
}

/// What is wrong with a pair that runs, if something is.
fn fault(folder: &Path, number: usize, pair: [&Feature; 2]) -> Option<String> {
    std::fs::write(folder.join("flow.toml"), case(pair)).expect("written");
    let name = name(pair);
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
            return Some(format!("{name}, {processes} processes, `{out}`: {error}"));
        }
    }
    let compared =
        std::panic::catch_unwind(|| ["several", "resumed"].map(|out| same(&folder.join("one"), &folder.join(out))));
    compared.is_err().then(|| format!("{name}, {processes} processes: the files differ"))
}

#[test]
fn pairs_of_features_have_the_files_of_one_process_or_are_refused_as_the_docs_say() {
    if !is_there() {
        return;
    }
    let (mut faults, mut refused) = (vec![], BTreeMap::new());
    let known = documented();
    let writes = std::env::var_os("LBMC_UPDATE").is_some() && chosen().len() == pairs().len();
    for (number, pair) in chosen() {
        let (folder, name) = (folder(&[]), name(pair));
        match (refusal(folder.path(), pair), known.get(&name)) {
            (Some(reason), known) if writes || known == Some(&reason) => {
                refused.insert(name, reason);
            }
            (None, _) if writes => {}
            (None, Some(reason)) => faults.push(format!("{name} is not refused: {reason}")),
            (None, _) => faults.extend(fault(folder.path(), number, pair)),
            (Some(reason), _) => faults.push(format!("{name} is refused, and the docs do not say so: {reason}")),
        }
    }
    if writes {
        let (path, text, part) = page();
        let row = |(pair, reason): (&String, &String)| format!("| {pair} | {reason} |\n");
        let rows: String = refused.iter().map(row).collect();
        let fresh = format!("{}\n| refused | reason |\n| --- | --- |\n{rows}", features());
        std::fs::write(path, format!("{}{fresh}{}", &text[..part.start], &text[part.end..]))
            .expect("the page is written");
    }
    assert!(faults.is_empty(), "{}", faults.join("\n"));
}

#[test]
fn the_page_of_combinations_has_the_features_that_are_tested() {
    let (_, text, part) = page();
    assert!(text[part].starts_with(&features()), "run all pairs with LBMC_PAIRS=all LBMC_UPDATE=1");
    let all: Vec<String> = pairs().into_iter().map(name).collect();
    let unknown: Vec<String> = documented().into_keys().filter(|pair| !all.contains(pair)).collect();
    assert!(unknown.is_empty(), "{unknown:?}");
}
