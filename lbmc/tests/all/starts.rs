//! Flows that start from the restart files and the refined VTK files of others; flows that go on from their own.

use std::fs;
use std::path::Path;
use std::process::{Command, Output};
use std::sync::atomic::{AtomicUsize, Ordering};

use lbm_flows::case::Steady;
use lbm_flows::flow::{self, Control, Kernels};
use lbm_flows::output::progress::Show;
use lbm_runtime::processes::Processes;
use lbm_setup::cases::{CaseFile, SHIPPED, Shipped};
use lbm_setup::ready::Ready;

use crate::sample::sample;

fn run(folder: &Path, name: &str, case: &str) -> Output {
    fs::write(folder.join(format!("{name}.toml")), case).expect("written");
    let mut command = Command::new(env!("CARGO_BIN_EXE_lbmc"));
    command.args(["run", &format!("{name}.toml"), "--out", name, "--set", "target=cpu"]).current_dir(folder);
    command.output().expect("lbmc starts")
}

/// What a case's probe `along` has at a step, all components of each point.
fn probed(folder: &Path, name: &str, case: &str, step: u64) -> Vec<f64> {
    let output = run(folder, name, case);
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let path = folder.join(name).join("probe_along.csv");
    let text = fs::read_to_string(&path).unwrap_or_else(|error| panic!("{}: {error}", path.display()));
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
    // Of one level, in blocks of its own.
    let end_of_plain = probed(folder.path(), "uniform", &cavity(32, 400, false, "[output]\nrestart = 5000\n"), 400);
    let same = cavity(32, 1, false, &from("restart.lbmc").replace("first/", "uniform/"));
    let again = probed(folder.path(), "same", &same, 0);
    let most = end_of_plain.iter().zip(&again).map(|(end, again)| (end - again).abs()).fold(0.0, f64::max);
    assert!(most < 1e-14, "{most}");
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
    let saved = fs::read(folder.path().join("first/restart.lbmc")).expect("a restart file");
    fs::write(folder.path().join("cut.lbmc"), &saved[..saved.len() - 1]).expect("written");
    let mut changed = saved.clone();
    changed[saved.len() / 2] ^= 1;
    fs::write(folder.path().join("changed.lbmc"), changed).expect("written");
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

/// What is set of shipped cases beside their own settings: sizes on which they take no time, and grids that change soon.
const SET: &[(&str, &[&str])] = &[
    (
        "ahmed_body",
        &[
            "solids.0.centre=[\"2.522 m\", \"0.96 m\", \"0.4 m\"]",
            "solids.1.to=[\"8 m\", \"3 m\", \"0.06 m\"]",
            "refinement.finest=1",
            "refinement.boxes=[]",
        ],
    ),
    ("cavity2d", &["size=[32, 32]"]),
    ("cavity2d_adaptive", &["refinement.every=2"]),
    ("cavity3d", &["size=[32, 16, 16]"]),
    ("coarse_channel", &["size=[32, 16, 16]"]),
    ("double_shear_layer", &["size=[32, 32]"]),
    ("oscillating_cylinder", &["refinement.every=2"]),
    (
        "power_foil",
        &[
            "size=[80, 80]",
            "solids.0.centre=[33.3, 40]",
            "solids.0.motion.pivot=[32, 40]",
            "refinement.boxes=[]",
            "refinement.every=2",
            "pictures=[]",
        ],
    ),
    (
        "propeller",
        &[
            "domain.size=[24, 24, 24]",
            "solids.0.scale=4",
            "solids.0.centre=[12, 12, 12]",
            "solids.0.motion.pivot=[12, 12, 12]",
            "refinement.every=2",
            "pictures=[]",
        ],
    ),
    ("rising_bubble", &["size=[32, 64]"]),
    ("scalar_cavity", &["size=[32, 32]"]),
    ("sedimenting_sphere", &["resolution=20", "units.step=4 ms"]),
    ("stirrer", &["refinement.every=2"]),
    ("taylor_green3d", &["resolution=32"]),
    ("turbulent_channel", &["size=[32, 16, 16]"]),
    (
        "turbulent_channel_refined",
        &["size=[16, 48, 16]", "refinement.boxes=[{level = 1, from = [0, 0, 0], to = [16, 8, 16]}]"],
    ),
    ("turbulent_inlet", &["size=[32, 16, 16]", "pictures=[]"]),
    (
        "wall_cube",
        &[
            "size=[\"200 mm\", \"100 mm\", \"66.6666666667 mm\"]",
            "resolution=48",
            "solids.0.from=[\"100 mm\", \"37.5 mm\", \"0 mm\"]",
            "solids.0.to=[\"125 mm\", \"62.5 mm\", \"29.1666666667 mm\"]",
            "refinement.boxes=[]",
            "probes=[]",
        ],
    ),
];

/// Flows that no shipped case is: methods that read their neighbours, each with its parameters and its start.
const OTHERS: &[(&str, &str, &str, &str)] = &[
    ("d2q9_shan_chen", "omega = 1\nstrength = -5", "periodic", "density = \"0.7 + 0.1 * cos(2*pi*x/lx)\""),
    (
        "d2q9_two_fluids",
        "omega = 1\nomega_g = 1.2\nstrength = 3\ndrive = [0, 0]",
        "bounce_back",
        "density = \"0.6 + 0.1 * cos(2*pi*x/lx)\"\nsigma = 0.5",
    ),
    ("d2q9_hybrid", "omega = 1.5\nsigma = 0.95", "bounce_back", "velocity = [\"0.02 * sin(2*pi*y/ly)\", 0]"),
];

/// Where a run is stopped, and where it ends.
const STOPPED: u64 = 5;
const END: u64 = 8;

/// What the restart file of a case has behind its head, at a step, from its start or from an earlier file in the same folder.
fn sections(ready: &Ready, folder: &Path, steps: u64, goes_on: bool) -> Vec<u8> {
    let mut case = ready.case.clone();
    case.stop.steps = steps;
    if let Some(steady) = &mut case.stop.steady {
        *steady = Steady { check_every: 3, tolerance: 1e-30 };
    }
    let output = &mut case.output;
    (output.picture, output.profiles, output.vtk, output.compare) = (false, false, None, None);
    output.pictures.clear();
    output.views.clear();
    output.restart = Some(1000);
    output.statistics.iter_mut().for_each(|statistics| (statistics.from, statistics.every) = (1, 2));
    let file = folder.join("restart.lbmc");
    let resume = goes_on.then_some(file.as_path());
    let Ready { placement, method, criteria, prescribed, statistics, .. } = ready;
    let (criteria, prescribed, statistics) = (criteria.as_ref(), prescribed.as_ref(), statistics.as_ref());
    let kernels = Kernels { method, criteria, prescribed, statistics };
    let control = Control { resume, show: Show::Nothing, ..Control::default() };
    flow::run(&case, kernels, placement, folder, control, |_| ())
        .unwrap_or_else(|error| panic!("{} {steps} {goes_on}: {error}", case.name));
    let saved = fs::read(file).expect("a restart file");
    let head = u64::from_le_bytes(std::array::from_fn(|at| saved[12 + at]));
    saved[20 + head as usize + 32..].to_vec()
}

/// A flow that goes on from its restart file has the bits of one that was never stopped.
fn goes_on(file: &CaseFile, settings: &[&str]) {
    let setting = |text: &&str| text.split_once('=').map(|(key, value)| (key.to_string(), value.to_string()));
    let settings: Vec<(String, String)> = settings.iter().filter_map(setting).collect();
    let (ready, _) = Ready::of(&Processes::default(), file, &settings, false)
        .unwrap_or_else(|error| panic!("{}: {error:?}", file.name));
    let [whole, parts] = std::array::from_fn(|_| tempfile::tempdir().expect("a temporary folder"));
    let unbroken = sections(&ready, whole.path(), END, false);
    sections(&ready, parts.path(), STOPPED, false);
    assert!(sections(&ready, parts.path(), END, true) == unbroken, "{} with {settings:?}", file.name);
}

/// The targets to test on: the host, and with the feature `cuda` a GPU.
fn targets() -> Vec<&'static str> {
    if cfg!(feature = "cuda") { vec!["target=cpu", "target=cuda"] } else { vec!["target=cpu"] }
}

#[test]
fn every_shipped_case_goes_on_with_the_bits_of_an_unbroken_run() {
    let all: Vec<(&Shipped, &str)> =
        sample(targets().into_iter().flat_map(|target| SHIPPED.iter().map(move |case| (case, target))));
    let next = AtomicUsize::new(0);
    // Kernels are compiled side by side.
    std::thread::scope(|scope| {
        for _ in 0..2 {
            scope.spawn(|| {
                while let Some((case, target)) = all.get(next.fetch_add(1, Ordering::Relaxed)) {
                    let set = SET.iter().find(|(name, _)| *name == case.name).map_or(&[][..], |(_, set)| set);
                    goes_on(&CaseFile::of(case), &[set, &[target]].concat());
                }
            });
        }
    });
}

#[test]
fn flows_in_two_parts_and_of_methods_that_read_their_neighbours_go_on_with_the_same_bits() {
    crate::in_turn!();
    let shipped = |name: &str| CaseFile::of(Shipped::find(name).expect("a shipped case"));
    for name in ["cavity2d", "cavity2d_refined"] {
        goes_on(&shipped(name), &["size=[32, 32]", "target=cpu", "devices=2"]);
    }
    for (spec, params, rule, start) in OTHERS {
        for target in targets() {
            let text = format!(
                "spec = \"{spec}\"\n[domain]\nsize = [32, 32]\n[fluid]\nvelocity = 0.05\n[params]\n{params}\n[faces]\n\
                 top = \"{rule}\"\nbottom = \"{rule}\"\nothers = \"periodic\"\n[start]\n{start}\n[stop]\nsteps = 9\n"
            );
            goes_on(&CaseFile::written(Path::new(&format!("{spec}.toml")), &text), &[target]);
        }
    }
}
