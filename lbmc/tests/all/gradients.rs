//! Gradients of cases, as `gradient.json` and `gradient.vti` have them, beside differences of whole runs.

use std::io::{BufRead, BufReader};
use std::path::Path;
use std::process::{Command, Output, Stdio};

use serde_json::Value;

/// A run on the host in a folder, with these settings.
fn lbmc(folder: &Path, case: &str, out: &str, set: &[&str]) -> Output {
    let mut command = Command::new(env!("CARGO_BIN_EXE_lbmc"));
    command.args(["run", case, "--quiet", "--out", out, "--set", "target=cpu"]).current_dir(folder);
    command.args(set.iter().flat_map(|set| ["--set", set])).output().expect("lbmc starts")
}

/// What `gradient.json` of a run has.
fn gradient(folder: &Path, case: &str, out: &str, set: &[&str]) -> Value {
    let output = lbmc(folder, case, out, set);
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let text = std::fs::read(folder.join(out).join("gradient.json")).expect("a gradient");
    serde_json::from_slice(&text).expect("JSON")
}

/// The derivative at 0 of the objective: central differences of order four of runs with a setting.
fn slope(folder: &Path, case: &str, set: &[&str], width: f64, setting: impl Fn(f64) -> String) -> f64 {
    let at = |change: f64| {
        let found = gradient(folder, case, "changed", &[set, &[&setting(change)]].concat());
        found["objective"]["value"].as_f64().expect("a number")
    };
    (8.0 * (at(width) - at(-width)) - (at(2.0 * width) - at(-2.0 * width))) / (12.0 * width)
}

/// An array of 64 bits in a file of fields.
fn array(path: &Path, name: &str) -> Vec<f64> {
    let (bytes, marker) = (std::fs::read(path).expect("fields"), b"<AppendedData encoding=\"raw\">_");
    let begin = bytes.windows(marker.len()).position(|window| window == marker).expect("arrays");
    let head = String::from_utf8_lossy(&bytes[..begin]).into_owned();
    let own = head.split_once(&format!("Name=\"{name}\"")).unwrap_or_else(|| panic!("no {name}: {head}")).1;
    let offset = own.split_once("offset=\"").and_then(|(_, rest)| rest.split('"').next()).expect("an offset");
    let at = begin + marker.len() + offset.parse::<usize>().expect("a number");
    let word = |at: usize| <[u8; 8]>::try_from(&bytes[at..at + 8]).expect("eight bytes");
    let count = u64::from_le_bytes(word(at)) as usize / 8;
    (1..=count).map(|number| f64::from_le_bytes(word(at + 8 * number))).collect()
}

fn check(what: &str, found: f64, expected: f64) {
    let apart = (found - expected).abs() / expected.abs();
    println!("{what}: {found:e} {expected:e} {apart:.1e}");
    assert!(apart < 1e-6, "{what}: {found:e} {expected:e} {apart:.1e}");
}

#[test]
fn the_gradient_of_the_pressure_loss_of_a_bend_is_that_of_differences() {
    crate::in_turn!();
    let folder = tempfile::tempdir().expect("a temporary folder");
    let set = ["stop.steps=300"];
    let found = gradient(folder.path(), "pipe_bend", "out", &set);
    let by_drag = array(&folder.path().join("out/gradient.vti"), "by_drag");
    let bump = |at: usize| {
        let [x, y] = [at % 48, at / 48].map(|at| at as f64 + 0.5);
        (-((x - 20.0).powi(2) + (y - 26.0).powi(2)) / 40.0).exp()
    };
    let along: f64 = by_drag.iter().enumerate().map(|(at, by)| by * bump(at)).sum();
    let with = |change: f64| {
        let bump = "exp(-((x - 20)^2 + (y - 26)^2) / 40)";
        format!("params.drag=\"if(abs(sqrt(x^2 + y^2) - 36) < 6, 0, 0.1) + {change} * {bump}\"")
    };
    check("drag", along, slope(folder.path(), "pipe_bend", &set, 2e-4, with));
    let with = |change: f64| format!("fluid.viscosity={:?}", (1.0 / (1.25 + change) - 0.5) / 3.0);
    let by_omega = found["by"]["params"]["omega"].as_f64().expect("a number");
    check("omega", by_omega, slope(folder.path(), "pipe_bend", &set, 1e-3, with));
}

/// A flow that a force and a lid drive past a body, in several fields of an objective over several steps.
const DRIVEN: &str = r#"
spec = "d2q9_guo"
precision = "f64"
[domain]
size = [32, 24]
[fluid]
viscosity = 0.05
velocity = 0.05
[params]
force = [1e-5, 2e-6]
[faces]
left = "periodic"
right = "periodic"
bottom = "bounce_back"
top = { rule = "moving_wall", velocity = [0.05, 0] }
[start]
velocity = ["0.02 * sin(2*pi*x/lx)", 0]
[[solids]]
shape = "cylinder"
centre = [12.3, 11]
radius = 4.2
rule = "moving_wall"
velocity = [0, 0.01]
[stop]
steps = 200
[gradient]
objective = "rho * (ux^2 + uy^2) / 2 + 0.01 * rho^2 + (uy - 0.01 * sin(2*pi*x/lx) * y / ly)^2"
weight = "x > 16"
steps = 3
states = 9
[output]
directory = "unused"
"#;

#[test]
fn derivatives_by_a_force_a_lid_and_the_surface_of_a_body_are_those_of_differences() {
    crate::in_turn!();
    let folder = tempfile::tempdir().expect("a temporary folder");
    std::fs::write(folder.path().join("driven.toml"), DRIVEN).expect("written");
    let found = gradient(folder.path(), "driven.toml", "out", &[]);
    let number = |path: &str| found["by"].pointer(path).and_then(Value::as_f64).unwrap_or_else(|| panic!("{found:#}"));
    let slope = |width: f64, with: &dyn Fn(f64) -> String| slope(folder.path(), "driven.toml", &[], width, with);
    let with = |change: f64| format!("params.force=[{:?}, 2e-6]", 1e-5 + change);
    check("force", number("/params/force/0"), slope(1e-5, &with));
    let with = |change: f64| format!("faces.top.velocity=[{:?}, 0]", 0.05 + change);
    check("lid", number("/faces/top/velocity/0"), slope(1e-3, &with));
    let with = |change: f64| format!("solids.0.velocity=[0, {:?}]", 0.01 + change);
    check("surface", number("/solids/1/velocity/1"), slope(1e-3, &with));
    // Those of cells are parts of the sum; in the body there are none.
    let cells = array(&folder.path().join("out/gradient.vti"), "by_forcex");
    assert_eq!(cells[11 * 32 + 12], 0.0);
    let sum: f64 = cells.iter().sum();
    check("cells", sum, number("/params/force/0"));
}

#[test]
fn derivatives_of_the_force_on_a_body_with_interpolated_links_are_those_of_differences() {
    crate::in_turn!();
    let folder = tempfile::tempdir().expect("a temporary folder");
    let text = DRIVEN.replace(
        "rule = \"moving_wall\"\nvelocity = [0, 0.01]",
        "rule = \"interpolated_moving_wall\"\nvelocity = [0, 0.01]",
    );
    let text = text.replace("weight = ", "forces = \"fx_1 + 3 * fy_1^2\"\nweight = ");
    assert!(text.contains("interpolated") && text.contains("forces"));
    std::fs::write(folder.path().join("driven.toml"), text).expect("written");
    let found = gradient(folder.path(), "driven.toml", "out", &[]);
    let number = |path: &str| found["by"].pointer(path).and_then(Value::as_f64).unwrap_or_else(|| panic!("{found:#}"));
    let slope = |width: f64, with: &dyn Fn(f64) -> String| slope(folder.path(), "driven.toml", &[], width, with);
    let with = |change: f64| format!("params.force=[{:?}, 2e-6]", 1e-5 + change);
    check("force", number("/params/force/0"), slope(1e-5, &with));
    let with = |change: f64| format!("faces.top.velocity=[{:?}, 0]", 0.05 + change);
    check("lid", number("/faces/top/velocity/0"), slope(1e-3, &with));
    let with = |change: f64| format!("solids.0.velocity=[0, {:?}]", 0.01 + change);
    check("surface", number("/solids/1/velocity/1"), slope(1e-3, &with));
    assert_eq!(found["by"]["solids"]["1"].as_object().map(serde_json::Map::len), Some(1), "no distance");
    // What is left out leaves the force alone.
    let alone = ["gradient.objective=\"0\""];
    let both = found["objective"]["value"].as_f64().expect("a number");
    let of_force =
        gradient(folder.path(), "driven.toml", "force", &alone)["objective"]["value"].as_f64().expect("a number");
    assert!(of_force != 0.0 && of_force < both, "{of_force} {both}");
}

/// A flow that becomes steady, with steps backwards from there.
fn steady_flow() -> String {
    let text =
        DRIVEN.replace("\nvelocity = [0, 0.01]", "").replace("rule = \"moving_wall\"\n", "rule = \"bounce_back\"\n");
    // At rest, without waves of two cells, which walls at half of the way keep for ever.
    let text = text.replace("[start]\nvelocity = [\"0.02 * sin(2*pi*x/lx)\", 0]\n", "");
    let text = text.replace("viscosity = 0.05", "viscosity = 0.15");
    let text = text.replace("steps = 200", "steps = 20000\nsteady = 1e-12\ncheck_every = 500");
    text.replace("steps = 3\nstates = 9", "forces = \"fx_1 + 3 * fy_1^2\"\nsteady = 1e-9")
}

#[test]
fn derivatives_of_a_steady_flow_are_those_of_differences_of_steady_flows() {
    crate::in_turn!();
    let folder = tempfile::tempdir().expect("a temporary folder");
    std::fs::write(folder.path().join("driven.toml"), steady_flow()).expect("written");
    let found = gradient(folder.path(), "driven.toml", "out", &[]);
    let number = |path: &str| found.pointer(path).and_then(Value::as_f64).unwrap_or_else(|| panic!("{found:#}"));
    assert_eq!(found["steady"]["flow"], true, "{found:#}");
    assert!(number("/steady/change") < 1e-9 && number("/steps/backwards") < 20000.0, "{found:#}");
    // The values alone are wanted: derivatives count as steady at once.
    let slope = |width: f64, with: &dyn Fn(f64) -> String| {
        slope(folder.path(), "driven.toml", &["gradient.steady=1"], width, with)
    };
    let with = |change: f64| format!("params.force=[{:?}, 2e-6]", 1e-5 + change);
    check("force", number("/by/params/force/0"), slope(2e-6, &with));
    let with = |change: f64| format!("faces.top.velocity=[{:?}, 0]", 0.05 + change);
    check("lid", number("/by/faces/top/velocity/0"), slope(1e-3, &with));
    let with = |change: f64| format!("fluid.viscosity={:?}", (1.0 / (1.0 / 0.95 + change) - 0.5) / 3.0);
    check("omega", number("/by/params/omega"), slope(1e-3, &with));
}

#[test]
fn a_flow_that_has_not_become_steady_has_no_derivatives_of_a_steady_one_unsaid() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    std::fs::write(folder.path().join("driven.toml"), steady_flow()).expect("written");
    let told = |set: &str| {
        let mut command = Command::new(env!("CARGO_BIN_EXE_lbmc"));
        command.args(["run", "driven.toml", "--out", "out", "--set", "target=cpu", "--set", set]);
        let output = command.current_dir(folder.path()).output().expect("lbmc starts");
        String::from_utf8_lossy(&output.stderr).into_owned()
    };
    let of_flow = told("stop.steps=400");
    assert!(of_flow.contains("has not become steady"), "{of_flow}");
    let of_derivatives = told("gradient.steady=1e-300");
    assert!(of_derivatives.contains("20000 steps backwards"), "{of_derivatives}");
}

/// Interrupts a run with these settings once it is on its way backwards; how it has ended, and what it has told.
fn interrupted(folder: &Path, case: &str, out: &str, set: &[&str]) -> (Option<i32>, String) {
    let mut command = Command::new(env!("CARGO_BIN_EXE_lbmc"));
    command.args(["run", case, "--json", "--out", out, "--set", "target=cpu"]).current_dir(folder);
    command.args(set.iter().flat_map(|set| ["--set", set])).stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut run = command.spawn().expect("lbmc starts");
    let mut lines = BufReader::new(run.stdout.take().expect("its output")).lines();
    assert!(lines.by_ref().map_while(Result::ok).any(|line| line.contains("\"back\":")), "no steps backwards");
    let kill = format!("kill -INT {}", run.id());
    assert!(Command::new("sh").args(["-c", &kill]).status().expect("a shell").success());
    drop(lines.last());
    let output = run.wait_with_output().expect("it ends");
    (output.status.code(), String::from_utf8_lossy(&output.stderr).into_owned())
}

#[test]
fn a_run_that_is_interrupted_on_the_way_backwards_goes_on_to_the_same_derivatives() {
    crate::in_turn!();
    let folder = tempfile::tempdir().expect("a temporary folder");
    let here = |file: &str| folder.path().join("out").join(file);
    let of_steady = ["gradient.steady=1e-300"];
    for (text, set) in [(DRIVEN.to_string(), &["stop.steps=4000"][..]), (steady_flow(), &of_steady)] {
        std::fs::write(folder.path().join("driven.toml"), text).expect("written");
        let whole = gradient(folder.path(), "driven.toml", "whole", set);
        let (code, told) = interrupted(folder.path(), "driven.toml", "out", set);
        assert!(code == Some(130) && told.contains("on the way backwards"), "{code:?} {told}");
        assert!(!here("gradient.json").exists(), "derivatives of a part");
        let summary = std::fs::read(here("summary.json")).expect("a summary");
        let summary: Value = serde_json::from_slice(&summary).expect("JSON");
        assert_eq!((&summary["status"], &summary["stop"]), (&"interrupted".into(), &"interrupted".into()));
        let mut command = Command::new(env!("CARGO_BIN_EXE_lbmc"));
        command.args(["run", "driven.toml", "--quiet", "--out", "out", "--resume", "--set", "target=cpu"]);
        command.args(set.iter().flat_map(|set| ["--set", set])).current_dir(folder.path());
        let output = command.output().expect("lbmc starts");
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
        let text = std::fs::read(here("gradient.json")).expect("derivatives");
        let resumed: Value = serde_json::from_slice(&text).expect("JSON");
        assert_eq!((&resumed["objective"], &resumed["by"]), (&whole["objective"], &whole["by"]), "{set:?}");
        std::fs::remove_dir_all(here("")).expect("removed");
    }
}

#[test]
fn derivatives_of_a_flow_on_a_refined_grid_are_those_of_differences() {
    crate::in_turn!();
    let folder = tempfile::tempdir().expect("a temporary folder");
    let text = DRIVEN.replace(
        "rule = \"moving_wall\"\nvelocity = [0, 0.01]",
        "rule = \"interpolated_moving_wall\"\nvelocity = [0, 0.01]",
    );
    let text =
        text.replace("weight = ", "forces = \"fx_1 + 3 * fy_1^2\"\nweight = ").replace("steps = 200", "steps = 60");
    let text = text + "[refinement]\nfinest = 1\nboxes = [{ level = 1, from = [4, 3], to = [22, 20] }]\n";
    std::fs::write(folder.path().join("driven.toml"), text).expect("written");
    let found = gradient(folder.path(), "driven.toml", "out", &[]);
    let number = |path: &str| found["by"].pointer(path).and_then(Value::as_f64).unwrap_or_else(|| panic!("{found:#}"));
    let slope = |width: f64, with: &dyn Fn(f64) -> String| slope(folder.path(), "driven.toml", &[], width, with);
    // That of a finer level is half as large, and populations at the start depend on it.
    let with = |change: f64| format!("params.force=[{:?}, 2e-6]", 1e-5 + change);
    check("force", number("/params/force/0"), slope(1e-5, &with));
    let with = |change: f64| format!("faces.top.velocity=[{:?}, 0]", 0.05 + change);
    check("lid", number("/faces/top/velocity/0"), slope(1e-3, &with));
    let with = |change: f64| format!("solids.0.velocity=[0, {:?}]", 0.01 + change);
    check("surface", number("/solids/1/velocity/1"), slope(1e-3, &with));
    let cells = array(&folder.path().join("out/gradient.vtu"), "by_forcex");
    let sum: f64 = cells.iter().filter(|by| by.is_finite()).sum();
    check("cells", sum, number("/params/force/0"));
}

#[test]
fn derivatives_by_fields_at_the_start_are_those_of_differences() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    std::fs::write(folder.path().join("driven.toml"), DRIVEN).expect("written");
    let set = ["stop.steps=40", "start.density=1"];
    gradient(folder.path(), "driven.toml", "out", &set);
    let bump = |at: usize| {
        let [x, y] = [at % 32, at / 32].map(|at| at as f64 + 0.5);
        (-((x - 9.0).powi(2) + (y - 4.0).powi(2)) / 20.0).exp()
    };
    let along = |name: &str| -> f64 {
        let by = array(&folder.path().join("out/gradient.vti"), name);
        by.iter().enumerate().map(|(at, by)| by * bump(at)).sum()
    };
    let bump = "exp(-((x - 9)^2 + (y - 4)^2) / 20)";
    let with = |change: f64| format!("start.velocity=[\"0.02 * sin(2*pi*x/lx) + {change} * {bump}\", 0]");
    check("ux", along("by_start_ux"), slope(folder.path(), "driven.toml", &set, 1e-3, with));
    let with = |change: f64| format!("start.velocity=[\"0.02 * sin(2*pi*x/lx)\", \"{change} * {bump}\"]");
    check("uy", along("by_start_uy"), slope(folder.path(), "driven.toml", &set, 1e-3, with));
    let with = |change: f64| format!("start.density=\"1 + {change} * {bump}\"");
    check("rho", along("by_start_rho"), slope(folder.path(), "driven.toml", &set, 1e-3, with));
}

/// A flow between an inlet and an outlet whose values vary along them, around a body.
const ALONG_FACES: &str = r#"
spec = "d2q9_trt"
precision = "f64"
[domain]
size = [48, 16]
[fluid]
viscosity = 0.05
velocity = 0.05
[params]
magic = 0.1875
[faces]
left = { rule = "moving_wall", velocity = ["0.2 * y * (ly - y) / ly^2", 0] }
right = { rule = "anti_bounce_back", density = "1 + 0.002 * y / ly" }
others = "bounce_back"
[[solids]]
shape = "cylinder"
centre = [14.3, 8.2]
radius = 2.6
rule = "interpolated_bounce_back"
[stop]
steps = 150
[gradient]
objective = "ux^2 + uy^2"
forces = "fx_1"
weight = "x > 20"
states = 12
[output]
directory = "unused"
"#;

/// The columns of a table by their names.
fn table(path: &Path) -> std::collections::HashMap<String, Vec<f64>> {
    let text = std::fs::read_to_string(path).expect("a table");
    let mut lines = text.lines().map(|line| line.split(',').collect::<Vec<_>>());
    let (names, rows) = (lines.next().expect("names"), lines.collect::<Vec<_>>());
    let column = |at: usize| rows.iter().map(|row| row[at].parse().expect("a number")).collect();
    names.iter().enumerate().map(|(at, name)| ((*name).to_string(), column(at))).collect()
}

#[test]
fn derivatives_by_values_along_faces_are_those_of_differences() {
    crate::in_turn!();
    let folder = tempfile::tempdir().expect("a temporary folder");
    std::fs::write(folder.path().join("faces.toml"), ALONG_FACES).expect("written");
    let found = gradient(folder.path(), "faces.toml", "out", &[]);
    let [left, right] = ["left", "right"].map(|face| table(&folder.path().join(format!("out/gradient_{face}.csv"))));
    let slope = |width: f64, with: &dyn Fn(f64) -> String| slope(folder.path(), "faces.toml", &[], width, with);
    // Links along the normal cross a face at the centres of cells, others between them and at its ends.
    assert_eq!(left["y"][..4], [0.0, 0.5, 1.0, 1.5], "{:?}", left["y"]);
    assert!(left["x"].iter().all(|x| *x == 0.0) && right["x"].iter().all(|x| *x == 48.0));
    let profile = |y: &f64| 0.2 * y * (16.0 - y) / 256.0;
    assert!(left["y"].iter().zip(&left["velocity_x"]).all(|(y, value)| (profile(y) - value).abs() < 1e-15));
    for place in [6.5, 11.0] {
        let at = left["y"].iter().position(|y| *y == place).expect("a place");
        let with = |change: f64| {
            let given = format!("0.2 * y * (ly - y) / ly^2 + if(abs(y - {place:?}) < 0.1, {change}, 0)");
            format!("faces.left.velocity=[\"{given}\", 0]")
        };
        check("a place", left["by_velocity_x"][at], slope(1e-3, &with));
    }
    let bump = |y: &f64| (-(y - 5.0).powi(2) / 10.0).exp();
    let along = |table: &std::collections::HashMap<String, Vec<f64>>, name: &str| -> f64 {
        table["y"].iter().zip(&table[name]).map(|(y, by)| bump(y) * by).sum()
    };
    let with = |change: f64| {
        format!("faces.left.velocity=[\"0.2 * y * (ly - y) / ly^2\", \"{change} * exp(-(y - 5)^2 / 10)\"]")
    };
    check("across", along(&left, "by_velocity_y"), slope(1e-3, &with));
    let with = |change: f64| format!("faces.right.density=\"1 + 0.002 * y / ly + {change} * exp(-(y - 5)^2 / 10)\"");
    check("density", along(&right, "by_density"), slope(1e-4, &with));
    let sum: f64 = left["by_velocity_x"].iter().sum();
    let everywhere = found["by"].pointer("/faces/left/velocity/0").and_then(Value::as_f64).expect("a number");
    check("everywhere", everywhere, sum);
}

#[test]
fn gradients_have_the_same_bits_in_several_parts() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    std::fs::write(folder.path().join("faces.toml"), ALONG_FACES).expect("written");
    let with = |out: &str, parts: &str| {
        let found = gradient(folder.path(), "faces.toml", out, &["block=[8, 8]", "stop.steps=40", parts]);
        let read = |name: &str| std::fs::read(folder.path().join(out).join(name)).expect("a file");
        let files = ["gradient.vti", "gradient_left.csv", "gradient_right.csv"].map(read);
        (found["objective"].clone(), found["by"].clone(), files)
    };
    assert!(with("one", "devices=1") == with("three", "devices=3"));
}

#[test]
fn states_beyond_memory_are_on_disk_and_change_neither_steps_nor_bits() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let text = DRIVEN.replace("[32, 24]", "[16, 16]").replace("steps = 200", "steps = 5000").replace("x > 16", "x > 8");
    let (begin, rest) = text.split_once("[[solids]]").expect("a body");
    let text = begin.to_string() + &rest[rest.find("[stop]").expect("an end")..];
    std::fs::write(folder.path().join("tiny.toml"), text).expect("written");
    // A state has 9 populations of 8 bytes in 16 x 16 cells, and room for 8 cells more between two of them.
    let with = |out: &str, set: &[&str]| gradient(folder.path(), "tiny.toml", out, set);
    let memory = with("memory", &["gradient.states=100"]);
    let disk = with("disk", &["gradient.states=40", "gradient.disk=1141 kB"]);
    assert_eq!((&memory["states_on_disk"], &disk["states_on_disk"]), (&0.into(), &60.into()));
    // Each step is taken twice, but for binomial(102, 101) of them.
    assert_eq!((&memory["steps"]["taken_again"], &disk["steps"]["taken_again"]), (&9899.into(), &9899.into()));
    assert!(memory["by"] == disk["by"] && memory["objective"] == disk["objective"]);
    let mut command = Command::new(env!("CARGO_BIN_EXE_lbmc"));
    let set = ["target=cpu", "gradient.states=40", "gradient.disk=1141 kB"];
    command.args(["run", "tiny.toml", "--dry-run"]).args(set.iter().flat_map(|set| ["--set", set]));
    let output = command.current_dir(folder.path()).output().expect("lbmc starts");
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    assert!(text.contains("60 states on disk") && text.contains("9899 more steps"), "{text}");
}

#[test]
fn a_plan_tells_the_states_and_steps_of_a_gradient() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let mut command = Command::new(env!("CARGO_BIN_EXE_lbmc"));
    command.args(["run", "pipe_bend", "--dry-run", "--set", "target=cpu", "--set", "stop.steps=200"]);
    let output = command.args(["--set", "gradient.states=8"]).current_dir(folder.path()).output().expect("lbmc starts");
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    assert!(text.contains("gradient: 8 states of") && text.contains("581 more steps and 200 backwards"), "{text}");
}

#[test]
fn what_a_gradient_does_not_go_with_is_refused_with_a_code() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    std::fs::write(folder.path().join("driven.toml"), DRIVEN).expect("written");
    let refined = ["refinement.finest=1", "refinement.boxes=[{ level = 1, from = [0, 16], to = [32, 24] }]"];
    let rows: [(&[&str], &str, &str); 8] = [
        (&["precision=f16/f32"], "C0146", "16 bits"),
        (&["faces.bottom={ rule = \"interpolated_bounce_back\", distance = 0.3 }"], "L0523", "wet-node"),
        (&["faces.bottom={ rule = \"zou_he_velocity\", velocity = [0, 0] }"], "C0146", "zou_he_velocity"),
        (&["faces.top.velocity=[\"0.05 * sin(t / 10)\", 0]"], "L0523", "time"),
        (&["params.force=[\"1e-5 * sin(t / 10)\", 0]"], "C0146", "time"),
        (&["gradient.objective=noise(1, ux, uy, 0)"], "C0110", "not derived"),
        (&["gradient.forces=fx_2"], "C0110", "no force `fx_2`"),
        (&["faces.bottom=\"free_slip\"", refined[0], refined[1]], "L0523", "grid is refined"),
    ];
    for (set, code, what) in rows {
        let output = lbmc(folder.path(), "driven.toml", "refused", set);
        let said = String::from_utf8_lossy(&output.stderr).into_owned();
        assert!(!output.status.success() && said.contains(code) && said.contains(what), "{set:?}: {said}");
    }
}
