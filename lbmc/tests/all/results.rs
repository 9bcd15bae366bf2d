//! The folder of a run: what it holds, what becomes of what was there, and that a result can be made again from it.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

use serde_json::Value;

fn run(folder: &Path, arguments: &[&str]) -> Output {
    let mut command = Command::new(env!("CARGO_BIN_EXE_lbmc"));
    command.arg("run").args(arguments).current_dir(folder).output().expect("lbmc starts")
}

fn works(folder: &Path, arguments: &[&str]) {
    let output = run(folder, arguments);
    assert!(output.status.success(), "{arguments:?}: {}", String::from_utf8_lossy(&output.stderr));
}

fn summary(folder: &Path) -> Value {
    let text = std::fs::read_to_string(folder.join("summary.json")).expect("a summary");
    serde_json::from_str(&text).expect("JSON")
}

/// The files of a folder by their names, but for the list of what runs have written there, and their page; the summary without what tells of time.
fn files(folder: &Path) -> BTreeMap<String, Vec<u8>> {
    let read = |path: PathBuf| {
        let name = path.strip_prefix(folder).expect("inside").display().to_string();
        let mut bytes = std::fs::read(&path).expect("readable");
        if name == "summary.json" {
            let mut summary = summary(folder);
            for key in [
                "seconds",
                "seconds_waiting_for_output",
                "first_step_seconds",
                "mlups",
                "fraction_of_bandwidth",
                "memory_bandwidth_gb_per_s",
                "phases",
            ] {
                summary.as_object_mut().expect("an object").remove(key);
            }
            bytes = summary.to_string().into_bytes();
        }
        if name == "case.toml" {
            // What copies were called where they were made is said once.
            let text = String::from_utf8(bytes).expect("text");
            let lines = text.lines().filter(|line| !line.starts_with("# inputs/"));
            bytes = lines.map(|line| format!("{line}\n")).collect::<String>().into_bytes();
        }
        (name, bytes)
    };
    let inside =
        |folder: &Path| std::fs::read_dir(folder).into_iter().flatten().map(|entry| entry.expect("an entry").path());
    let paths = inside(folder).chain(inside(&folder.join("inputs")));
    let is_compared =
        |path: &PathBuf| path.is_file() && !path.ends_with(".lbmc.files") && !path.ends_with("report.html");
    paths.filter(is_compared).map(read).collect()
}

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).parent().expect("lbmc lies in the workspace").to_path_buf()
}

const CASE: &str = r#"
spec = "methods/mine.lbm"
target = "cpu"
block = [4, 4, 4]
[domain]
size = [24, 16, 12]
[fluid]
re = 10
velocity = 0.05
length = 8
[faces]
left = { rule = "moving_wall", velocity = ["0.05 * 4 * y * (ly - y) / ly^2", 0, 0] }
right = { rule = "anti_bounce_back", density = 1 }
others = "free_slip"
[[solids]]
shape = "stl"
file = "shapes/body.stl"
centre = [10, 8, 6]
scale = 5
rule = "bounce_back"
[stop]
steps = 30
[output]
directory = "out"
profiles = true
picture = true
vtk = true
every = 10
series = 5
forces = 5
surfaces = 20
[[views]]
isosurface = "speed"
value = 0.8
colour = "pressure"
size = 200
every = 10
film = 10
"#;

/// A folder with the case, its own method with a module, and a surface.
fn folder() -> tempfile::TempDir {
    let here = tempfile::tempdir().expect("a temporary folder");
    let put = |name: &str, text: String| std::fs::write(here.path().join(name), text).expect("written");
    for name in ["methods", "shapes"] {
        std::fs::create_dir(here.path().join(name)).expect("a folder");
    }
    let shipped = |name: &str| std::fs::read_to_string(root().join("specs").join(name)).expect("shipped");
    let spec = shipped("d3q19_bgk.lbm");
    assert!(spec.contains("use equilibria::quadratic;"));
    put("methods/mine.lbm", spec.replace("use equilibria::quadratic;", "use own::quadratic;"));
    put("methods/own.lbm", shipped("prelude/equilibria.lbm"));
    let [a, b, c, d] = ["0 0 0", "1 0 0", "0 1 0", "0 0 1"];
    let facets = [[a, c, b], [a, b, d], [b, c, d], [a, d, c]].map(|[a, b, c]| {
        format!("facet normal 0 0 0\nouter loop\nvertex {a}\nvertex {b}\nvertex {c}\nendloop\nendfacet\n")
    });
    put("shapes/body.stl", format!("solid body\n{}endsolid body\n", facets.concat()));
    put("flow.toml", CASE.to_string());
    here
}

#[test]
fn a_result_can_be_made_again_from_its_folder_alone() {
    let here = folder();
    works(here.path(), &["flow.toml", "--set", "re=20", "--set", "stop.steps=20", "--set", "precision=f64"]);
    let out = here.path().join("out");
    let made = files(&out);
    let inputs = ["case.toml", "inputs/mine.lbm", "inputs/own.lbm", "inputs/surface_1.stl"];
    for name in inputs.into_iter().chain(["summary.json", "forces.csv", "velocity.png"]) {
        assert!(made.contains_key(name), "{name}");
    }
    let summary = summary(&out);
    assert_eq!(summary["inputs"], serde_json::json!(inputs));
    assert_eq!((&summary["status"], &summary["steps"]), (&"completed".into(), &20.into()));
    assert!(summary["compiler"].as_str().is_some_and(|text| text.contains("-O3")), "{}", summary["compiler"]);

    // Elsewhere, where nothing else is.
    let elsewhere = tempfile::tempdir().expect("a temporary folder");
    std::fs::rename(&out, elsewhere.path().join("archive")).expect("moved");
    works(elsewhere.path(), &["archive/case.toml", "--out", "again"]);
    let again = files(&elsewhere.path().join("again"));
    assert_eq!(again.keys().collect::<Vec<_>>(), made.keys().collect::<Vec<_>>());
    let differ: Vec<&String> = made.keys().filter(|name| made[*name] != again[*name]).collect();
    assert!(differ.is_empty(), "{differ:?}");
    // In its own place too.
    works(elsewhere.path(), &["again/case.toml", "--out", "again"]);
    assert!(files(&elsewhere.path().join("again")) == made);
}

#[test]
fn a_run_that_fails_leaves_no_results_of_the_one_before_and_says_so() {
    let here = folder();
    let out = here.path().join("out");
    works(here.path(), &["flow.toml"]);
    std::fs::write(out.join("notes.txt"), "mine").expect("written");
    let before = files(&out);
    let blown_up = ["flow.toml", "--set", "omega=1.9999", "--set", "start.velocity=[\"0.4*sin(9*y)\", 0, 0]"];
    let output = run(here.path(), &[&blown_up[..], &["--set", "stop.steps=2000", "--set", "output.every=7"]].concat());
    assert_eq!(output.status.code(), Some(1), "{}", String::from_utf8_lossy(&output.stdout));
    let failed = summary(&out);
    assert_eq!((&failed["status"], &failed["error"]["code"]), (&"failed".into(), &"C0701".into()), "{failed}");
    assert!(failed["error"]["message"].as_str().is_some_and(|text| text.contains("not finite")), "{failed}");
    assert_eq!(failed["omega"], 1.9999);
    let left = files(&out);
    // The picture is of the flow that blew up.
    assert!(before.contains_key("velocity.png") && left.get("velocity.png") != before.get("velocity.png"));
    for name in ["profile_x.csv", "fields_00000010.vti"] {
        assert!(before.contains_key(name) && !left.contains_key(name), "{name}");
    }
    let listed = |summary: &Value, key: &str| -> Vec<String> {
        serde_json::from_value(summary[key].clone()).expect("a list of names")
    };
    let mut expected = [listed(&failed, "files"), listed(&failed, "inputs")].concat();
    expected.extend(["summary.json".into(), "notes.txt".into()]);
    expected.sort();
    assert_eq!(left.keys().cloned().collect::<Vec<_>>(), expected);
    // And the other way round.
    works(here.path(), &["flow.toml"]);
    assert!(files(&out) == before);
}

/// Standard error, its line breaks and frames taken out.
fn words(output: &Output) -> String {
    let text = String::from_utf8_lossy(&output.stderr).into_owned();
    text.split_whitespace().filter(|word| *word != "│").collect::<Vec<_>>().join(" ")
}

/// A small flow in two dimensions, with these lines at the top and at the end.
fn small(top: &str, rest: &str) -> String {
    format!(
        "{top}\nspec = \"d2q9_bgk\"\ntarget = \"cpu\"\n[domain]\nsize = [16, 16]\n[fluid]\nomega = 1\nvelocity = 0.05\n[stop]\nsteps = 2\n\
         [faces]\nothers = \"bounce_back\"\n{rest}"
    )
}

#[test]
fn a_strangers_case_plants_nothing_deletes_nothing_and_overwrites_nothing() {
    let here = tempfile::tempdir().expect("a temporary folder");
    let home = here.path();
    let put = |name: &str, text: &str| std::fs::write(home.join(name), text).expect("written");
    let fails = |case: &str, part: &str| {
        put("flow.toml", case);
        let output = run(home, &["flow.toml"]);
        let words = words(&output);
        assert!(!output.status.success() && words.contains(part), "{part}: {words}");
    };
    std::fs::create_dir(home.join(".ssh")).expect("a folder");
    std::fs::create_dir(home.join("pictures")).expect("a folder");
    std::os::unix::fs::symlink(".ssh", home.join("out")).expect("a link");
    put("thesis.tex", "years of work");
    put("notes.txt", "more of it");
    put("pictures/photo.png", "of the family");
    let mine = || {
        ["thesis.tex", "notes.txt", "pictures/photo.png"]
            .map(|name| std::fs::read(home.join(name)).expect("it is there"))
    };
    let before = mine();
    // A key in the first line of a table that has the name of a file of keys.
    put("authorized_keys", "ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIGz4kPqTk0cQ3mXo me\n0, 1\n1, 2\n");
    let lid = "top = { rule = \"moving_wall\", velocity = ['0.05 + 0 * table(\"authorized_keys\", t)', 0] }\n";
    fails(&small("", lid), "line 1 is not two numbers");
    put("authorized_keys", "# ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIGz4kPqTk0cQ3mXo me\n0, 1\n1, 2\n");
    fails(&small("", lid), "`out` is a symbolic link");
    fails(&small("", "[output]\ndirectory = \".ssh\"\n"), "or into a hidden one");
    fails(&small("", "[output]\ndirectory = \"out/../.ssh/x\"\n"), "or into a hidden one");
    assert_eq!(std::fs::read_dir(home.join(".ssh")).expect("a folder").count(), 0);
    // Files of the user in the folder that the case names, and a case that says that they are of a run.
    let listing = "# A case as it was run, every `--set` applied: `lbmc run` makes its results again.\n# It reads: thesis.tex, notes.txt";
    for text in [small(listing, "[output]\ndirectory = \".\"\n"), small("", "[output]\ndirectory = \"pictures\"\n")] {
        fails(&text, "which the case names and not the command");
    }
    put("case.toml", &small(listing, "[output]\ndirectory = \".\"\n"));
    assert!(!run(home, &["case.toml"]).status.success());
    // Where the user names the folder, results do not take the place of his files.
    let photo = "[[pictures]]\nfield = \"ux\"\nname = \"photo\"\n";
    put("flow.toml", &small("", photo));
    let output = run(home, &["flow.toml", "--out", "pictures"]);
    let words = words(&output);
    assert!(words.contains("C0601") && words.contains("`photo.png`"), "{words}");
    assert_eq!(mine(), before);
    assert_eq!(std::fs::read_dir(home.join("pictures")).expect("a folder").count(), 1);
    // And otherwise the case runs, with its table under another name.
    put("flow.toml", &small("", &format!("{lid}{photo}")));
    works(home, &["flow.toml", "--out", "mine"]);
    assert!(home.join("mine/inputs/table_1.csv").is_file() && home.join("mine/photo.png").is_file());
    works(home, &["mine/case.toml", "--out", "mine"]);
}

#[test]
fn two_results_with_one_name_are_refused() {
    let here = tempfile::tempdir().expect("a temporary folder");
    let picture = |name: &str, rest: &str| format!("[[pictures]]\nfield = \"ux\"\nname = \"{name}\"\n{rest}");
    let frames = picture("a", "every = 1\n");
    let probe = "[[probes]]\nat = [8, 8]\nevery = 1\nname = ";
    for (text, part) in [
        (frames.clone() + &picture("a_00000002", ""), "have one file"),
        (picture("a_00000002", "") + &frames, "have one file"),
        (
            format!("{probe}\"up 1\"\n{probe}\"up_1\"\n[report]\nx = \"up_1_ux\"\n"),
            "two results of this case are called `up_1_ux`",
        ),
        (format!("{probe}'a\"><evil x=\"'\n"), "no file can have this name"),
        (format!("{probe}\"=1+1\"\n"), "no file can have this name"),
    ] {
        std::fs::write(here.path().join("flow.toml"), small("", &text)).expect("written");
        let output = run(here.path(), &["flow.toml"]);
        let words = words(&output);
        assert!(!output.status.success() && words.contains(part), "{part}: {words}");
    }
    assert!(!here.path().join("out").exists());
}

#[test]
fn a_flow_that_blows_up_is_found_soon_and_leaves_the_fields_before() {
    let here = tempfile::tempdir().expect("a temporary folder");
    let case = "spec = \"d2q9_bgk\"\ntarget = \"cpu\"\n[domain]\nsize = [32, 32]\n[fluid]\nomega = 1.9995\n[faces]\n\
                top = { rule = \"moving_wall\", velocity = [0.3, 0] }\nothers = \"bounce_back\"\n[stop]\nsteps = 20000\n";
    std::fs::write(here.path().join("flow.toml"), case).expect("written");
    let output = run(here.path(), &["flow.toml"]);
    assert_eq!(output.status.code(), Some(1), "{}", String::from_utf8_lossy(&output.stderr));
    let summary = summary(&here.path().join("out/flow"));
    let message = summary["error"]["message"].as_str().expect("a message");
    let help = summary["error"]["help"].as_str().expect("advice");
    let number = |text: &str, before: &str| -> u64 {
        let rest = text.split(before).nth(1).unwrap_or_else(|| panic!("{text}"));
        rest.chars().take_while(char::is_ascii_digit).collect::<String>().parse().expect("a number")
    };
    let (found, well) = (number(message, "found at step "), number(message, "last seen finite at step "));
    assert!(well > 0 && found > well && found - well <= 200, "{message}");
    assert!(message.contains("at cell (") && message.contains("x, y = ("), "{message}");
    // A copy may be of an earlier check, where the machine is busy.
    let kept = number(help, "those of step ");
    assert!(kept > 0 && kept <= well, "{help}");
    let began = number(message, "it began by step ");
    assert!(began > kept && began <= found, "{message}");
    assert!(help.contains("the Mach number is 0.52") && help.contains("the rate 1.9995 is close"), "{help}");
    for step in [kept, found] {
        assert!(here.path().join(format!("out/flow/fields_{step:08}.vti")).is_file(), "{step}: {message}");
    }
}

/// A channel between two pressures, which swings from step to step once the start has gone.
const SWINGS: &str = r#"
spec = "d2q9_trt"
target = "cpu"
precision = "f64"
[domain]
size = [65, 16]
[fluid]
viscosity = 0.1
velocity = 0.05
[params]
magic = 0.1875
[faces]
left = { rule = "zou_he_pressure", density = 1.03 }
right = { rule = "zou_he_pressure", density = 1 }
others = "bounce_back"
[stop]
steps = 5000
steady = 1e-5
check_every = 500
"#;

#[test]
fn a_flow_that_swings_from_step_to_step_is_not_steady_and_its_faces_are_named() {
    let here = tempfile::tempdir().expect("a temporary folder");
    std::fs::write(here.path().join("flow.toml"), SWINGS).expect("written");
    let output = run(here.path(), &["flow.toml"]);
    let told = String::from_utf8_lossy(&output.stderr).into_owned();
    let summary = summary(&here.path().join("out/flow"));
    assert!(summary["stop"] == "steps" && summary["residual"].as_f64().is_some_and(|change| change > 0.1), "{summary}");
    for words in ["the flow swings from step to step", "`right` (zou_he_pressure) lets", "`left` (zou_he_pressure) and"]
    {
        assert!(told.contains(words), "{words}: {told}");
    }
}

/// A square of twelve cells at a Reynolds number that its grid cannot resolve: populations beside it are turned round in every step.
const SWAYS: &str = r#"
spec = "d2q9_hybrid"
target = "cpu"
precision = "f64"
[domain]
size = [96, 48]
[fluid]
re = 1e6
velocity = 0.0577
length = 12
[params]
sigma = 0.98
[faces]
left = { rule = "equilibrium", density = 1, velocity = [0.0577, 0] }
right = { rule = "equilibrium", density = 1, velocity = [0.0577, 0] }
others = "free_slip"
[start]
velocity = ["0.0577", "0.003 * sin(x/20)"]
[[solids]]
shape = "box"
from = [30, 18]
to = [42, 30]
rule = "interpolated_bounce_back"
area = 12
[stop]
steps = 1200
[output]
forces = 10
"#;

#[test]
fn a_force_that_swings_from_step_to_step_is_told_where_rows_see_one_of_both() {
    let here = tempfile::tempdir().expect("a temporary folder");
    std::fs::write(here.path().join("flow.toml"), SWAYS).expect("written");
    let told = |more: &[&str]| {
        let output = run(here.path(), &[&["flow.toml"], more].concat());
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
        String::from_utf8_lossy(&output.stderr).contains("the force on solid 1 swings")
    };
    assert!(told(&[]));
    // Rows at even and at odd steps.
    assert!(!told(&["--set", "output.forces=9"]));
    // A flow that its grid resolves.
    assert!(!told(&["--set", "fluid.re=20"]));
}

#[test]
fn no_memory_is_taken_for_output_that_nothing_asks_for_and_compiling_is_announced_once() {
    let here = tempfile::tempdir().expect("a temporary folder");
    let case = "spec = \"d2q9_bgk\"\ntarget = \"cpu\"\n[domain]\nsize = [16, 16]\n[fluid]\nre = 10\n[faces]\n\
                top = { rule = \"moving_wall\", velocity = [0.1, 0] }\nothers = \"bounce_back\"\n[stop]\nsteps = 3\n";
    std::fs::write(here.path().join("flow.toml"), case).expect("written");
    let run = |more: &[&str]| {
        let mut command = Command::new(env!("CARGO_BIN_EXE_lbmc"));
        let settings = ["--set", "output.picture=false", "--set", "output.vtk=false"];
        command.args(["run", "flow.toml"]).args(settings).args(more).current_dir(here.path());
        let output = command.env("LBMC_CACHE", here.path().join("cache")).output().expect("lbmc starts");
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
        let memory = summary(&here.path().join("out/flow"))["memory"].clone();
        (String::from_utf8_lossy(&output.stderr).matches("compiling kernels").count(), memory)
    };
    let (announced, memory) = run(&["--set", "output.profiles=false"]);
    assert!(announced == 1 && memory["populations"].is_number() && memory["fields for output"].is_null(), "{memory}");
    let (announced, memory) = run(&["--set", "output.profiles=true"]);
    assert!(announced == 0 && memory["fields for output"] == 16 * 16 * 3 * 8, "{memory}");
}

#[test]
fn a_page_of_a_run_goes_with_its_results_unless_somebody_has_changed_it() {
    let folder = tempfile::tempdir().unwrap();
    let case = ["cavity2d", "--set", "target=cpu", "--set", "steps=20", "--set", "output.series=5", "--out", "out"];
    let report = || {
        let mut command = Command::new(env!("CARGO_BIN_EXE_lbmc"));
        command.args(["report", "out"]).current_dir(folder.path()).output().expect("lbmc starts")
    };
    let page = folder.path().join("out/report.html");
    assert!(!report().status.success(), "there is no run yet");
    let plain = ["output.picture=false", "output.profiles=false", "-output.compare", "-output.series", "-stop.steady"];
    let plain = plain.map(|setting| ["--set", setting]).concat();
    let without = [&case[..], &plain].concat();
    works(folder.path(), &without);
    assert!(!page.exists(), "there are no pictures");
    works(folder.path(), &[&without[..], &["--report"]].concat());
    assert!(page.exists());
    works(folder.path(), &without);
    assert!(!page.exists(), "it goes with the results");
    let run = run(folder.path(), &case);
    assert!(String::from_utf8_lossy(&run.stdout).contains("report.html"), "{}", String::from_utf8_lossy(&run.stderr));
    // Made again, it replaces itself.
    let made = report();
    assert!(made.status.success(), "{}", String::from_utf8_lossy(&made.stderr));
    let text = std::fs::read_to_string(&page).unwrap();
    for part in ["<title>cavity2d</title>", "series.csv", "data:image/png;base64,", "cells²/step", "re = 1000"] {
        assert!(text.contains(part), "{part}");
    }
    std::fs::write(&page, "mine").unwrap();
    let run = self::run(folder.path(), &case);
    let said = String::from_utf8_lossy(&run.stderr);
    assert!(run.status.success() && said.contains("no page of the results"), "a run does not fail of it: {said}");
    let refused = report();
    let said = String::from_utf8_lossy(&refused.stderr);
    assert!(!refused.status.success() && said.contains("C0601") && said.contains("report.html"), "{said}");
    assert!(said.contains("--out FILE.html") && !said.contains("--out DIR"), "{said}");
    assert_eq!(std::fs::read_to_string(&page).unwrap(), "mine");
}

#[test]
fn parameters_that_a_case_leaves_out_have_their_defaults() {
    let folder = tempfile::tempdir().unwrap();
    let method = std::fs::read_to_string(root().join("specs/d2q9_trt.lbm")).expect("a method");
    let lid = "\nboundary lid {\n    param slide = 1/20 in (0, 1/2);\n    link f[i] <- f[opp(i)] + 6 * w[i] * c[i, 0] * slide;\n}\n";
    std::fs::write(folder.path().join("own.lbm"), method + lid).expect("written");
    let case = "spec = \"own.lbm\"\ntarget = \"cpu\"\nprecision = \"f64\"\n[domain]\nsize = [16, 16]\n[fluid]\nre = 10\nvelocity = 0.05\n\
                [faces]\ntop = \"lid\"\nothers = \"bounce_back\"\n[stop]\nsteps = 20\n[output]\npicture = false\nvtk = true\n";
    std::fs::write(folder.path().join("case.toml"), case).expect("written");
    let fields = |out: &str, more: &[&str]| {
        let output = run(folder.path(), &[&["case.toml", "--out", out][..], more].concat());
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
        let files = files(&folder.path().join(out));
        let fields = files.into_iter().find(|(name, _)| name.ends_with(".vti")).expect("fields").1;
        (fields, String::from_utf8_lossy(&output.stdout).into_owned())
    };
    let (left, said) = fields("left", &[]);
    assert!(said.contains("magic = 0.1875, the default of own"), "{said}");
    let parameters = summary(&folder.path().join("left"))["parameters"].clone();
    assert_eq!(
        parameters[1],
        serde_json::json!({"name": "magic", "values": [0.1875], "default": true}),
        "{parameters}"
    );
    assert_eq!(parameters[0]["default"], Value::Null, "`re` gives it: {parameters}");
    let (given, said) = fields("given", &["--set", "magic=0.1875", "--set", "faces.top={rule=\"lid\", slide=0.05}"]);
    assert!(left == given && !said.contains("default"), "{said}");
    for other in ["magic=0.25", "faces.top={rule=\"lid\", slide=0.04}"] {
        assert!(fields("other", &["--set", other]).0 != left, "{other} is of no effect");
    }
}
