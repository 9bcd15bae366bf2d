//! Planes that one run records and another takes as its inlet.

use std::path::Path;
use std::process::{Command, Output};

/// Vortices that decay while a stream carries them through a periodic box. The plane is one of cell centres.
const BOX: &str = r#"
spec = "d2q9_trt"
target = "cpu"
precision = "f64"
block = [8, 8]
[domain]
size = [64, 32]
[fluid]
viscosity = 0.01
velocity = 0.1
length = 32
[params]
magic = 0.25
[faces]
others = "periodic"
[start]
velocity = ["0.1 + 0.01 * sin(2*pi*x/32) * cos(2*pi*y/32)", "-0.01 * cos(2*pi*x/32) * sin(2*pi*y/32)"]
density = "1 - 3 * 0.01^2 / 4 * (cos(4*pi*x/32) - cos(4*pi*y/32))"
[stop]
steps = 400
[output]
directory = "box"
picture = false
restart = 150
[[recordings]]
name = "plane"
plane = { normal = "x", at = 0.5 }
every = 2
[[probes]]
name = "behind"
from = [24.5, 0.5]
to = [24.5, 31.5]
points = 32
fields = ["velocity"]
every = 400
"#;

/// The same stream in a channel with the plane as its inlet: what the box has at a distance behind the plane it has behind the inlet.
const CHANNEL: &str = r#"
spec = "d2q9_trt"
target = "cpu"
precision = "f64"
block = [8, 8]
[domain]
size = [96, 32]
[fluid]
viscosity = 0.01
velocity = 0.1
length = 32
[params]
magic = 0.25
[faces]
left = { rule = "regularized_velocity", velocity = { recording = "box/plane.lbmplane" } }
right = { rule = "equilibrium", density = 1, velocity = [0.1, 0] }
others = "periodic"
[start]
velocity = ["0.1 + 0.01 * sin(2*pi*x/32) * cos(2*pi*y/32)", "-0.01 * cos(2*pi*x/32) * sin(2*pi*y/32)"]
density = "1 - 3 * 0.01^2 / 4 * (cos(4*pi*x/32) - cos(4*pi*y/32))"
[stop]
steps = 400
[output]
directory = "channel"
picture = false
vtk = true
restart = 200
[[probes]]
name = "behind"
from = [24.5, 0.5]
to = [24.5, 31.5]
points = 32
fields = ["velocity"]
every = 400
"#;

fn folder() -> tempfile::TempDir {
    let folder = tempfile::tempdir().expect("a temporary folder");
    std::fs::write(folder.path().join("box.toml"), BOX).expect("written");
    std::fs::write(folder.path().join("channel.toml"), CHANNEL).expect("written");
    folder
}

fn run(folder: &Path, arguments: &[&str]) -> Output {
    let mut command = Command::new(env!("CARGO_BIN_EXE_lbmc"));
    command.arg("run").args(arguments).current_dir(folder).output().expect("lbmc starts")
}

fn words(output: &Output) -> String {
    let text = String::from_utf8_lossy(&output.stderr).into_owned();
    text.split_whitespace().filter(|word| *word != "│").collect::<Vec<_>>().join(" ")
}

fn works(folder: &Path, arguments: &[&str]) {
    let output = run(folder, arguments);
    assert!(output.status.success(), "{arguments:?}: {}", words(&output));
}

fn bytes(folder: &Path, name: &str) -> Vec<u8> {
    std::fs::read(folder.join(name)).unwrap_or_else(|error| panic!("{name}: {error}"))
}

/// The last row of the probe: both components at each point.
fn behind(folder: &Path, run: &str) -> Vec<[f64; 2]> {
    let table = String::from_utf8(bytes(folder, &format!("{run}/probe_behind.csv"))).expect("text");
    let rows = table.lines().filter_map(|line| {
        let row: Vec<f64> = line.split(',').map_while(|value| value.trim().parse().ok()).collect();
        (row.first() == Some(&400.0)).then(|| [row[row.len() - 2], row[row.len() - 1]])
    });
    rows.collect()
}

/// The vortices have decayed to 73 % then, and the stream has carried them along for more than one of their lengths.
#[test]
fn the_flow_behind_an_inlet_is_that_behind_the_plane_that_it_plays() {
    let folder = folder();
    let folder = folder.path();
    works(folder, &["box.toml"]);
    works(folder, &["channel.toml"]);
    let (there, here) = (behind(folder, "box"), behind(folder, "channel"));
    assert_eq!((there.len(), here.len()), (32, 32));
    let size = |of: &mut dyn Iterator<Item = f64>| (of.map(|value| value * value).sum::<f64>() / 64.0).sqrt();
    let vortices = size(&mut there.iter().flat_map(|[u, v]| [u - 0.1, *v]));
    let off = size(&mut there.iter().zip(&here).flat_map(|(there, here)| [0, 1].map(|at| there[at] - here[at])));
    println!("vortices {vortices:e}, off by {:.4} of that", off / vortices);
    assert!(vortices > 2e-3 && off < 0.02 * vortices, "{}", off / vortices);
}

#[test]
fn recordings_are_the_same_bytes_in_any_parts_and_after_a_restart_and_so_are_the_flows_that_play_them() {
    let folder = folder();
    let folder = folder.path();
    let to = |out: &'static str, more: &[&'static str]| [&["--out", out][..], more].concat();
    works(folder, &[&["box.toml"][..], &to("box", &[])].concat());
    let whole = bytes(folder, "box/plane.lbmplane");
    assert_eq!(whole.len(), 64 + 201 * 32 * 2 * 4);
    works(folder, &[&["box.toml"][..], &to("parts", &["--set", "devices=3"])].concat());
    assert!(bytes(folder, "parts/plane.lbmplane") == whole, "three parts");
    // It ends behind its last restart file, whose frames are then written again.
    works(folder, &[&["box.toml"][..], &to("halves", &["--set", "stop.steps=151"])].concat());
    assert_eq!(bytes(folder, "halves/plane.lbmplane").len(), 64 + 76 * 32 * 2 * 4);
    let resumed = to("halves", &["--resume", "halves/restart.lbmc"]);
    works(folder, &[&["box.toml"][..], &resumed].concat());
    assert!(bytes(folder, "halves/plane.lbmplane") == whole, "after a restart");

    works(folder, &[&["channel.toml"][..], &to("one", &[])].concat());
    works(folder, &[&["channel.toml"][..], &to("three", &["--set", "devices=3", "--set", "stop.steps=201"])].concat());
    works(folder, &[&["channel.toml"][..], &to("three", &["--resume", "three/restart.lbmc"])].concat());
    assert!(bytes(folder, "one/fields_00000400.vti") == bytes(folder, "three/fields_00000400.vti"));
    // Another recording is another flow.
    works(folder, &["box.toml", "--set", "fluid.viscosity=0.02", "--out", "box"]);
    let output = run(folder, &["channel.toml", "--out", "three", "--resume", "three/restart.lbmc"]);
    assert!(!output.status.success() && words(&output).contains("recording"), "{}", words(&output));
}

#[test]
fn what_does_not_fit_a_face_is_refused_before_the_run() {
    let folder = folder();
    let folder = folder.path();
    works(folder, &["box.toml", "--set", "stop.steps=20"]);
    std::fs::write(folder.join("other.lbmplane"), vec![b'x'; 1000]).expect("written");
    for (set, expected) in [
        ("stop.steps=400", "has 11 frames and is 20 steps long; the run has up to 400"),
        ("domain.size=[96, 40]", "has 32 cells along y, and the face 40"),
        ("faces.left.velocity.recording=other.lbmplane", "is no recording: it does not begin as one"),
        ("faces.left.velocity.recording=none.lbmplane", "is no recording"),
        ("faces.left.rule=bounce_back", "prescribes no velocity that a recording could give"),
    ] {
        let steps = if set.starts_with("stop") { set } else { "stop.steps=20" };
        let output = run(folder, &["channel.toml", "--set", steps, "--set", set]);
        assert_eq!(output.status.code(), Some(1), "{set}");
        assert!(words(&output).contains(expected), "{set}: {}", words(&output));
    }
    // What has been recorded comes again.
    let text = CHANNEL.replace("plane.lbmplane\" }", "plane.lbmplane\", repeat = true }");
    std::fs::write(folder.join("again.toml"), text).expect("written");
    works(folder, &["again.toml", "--set", "stop.steps=50"]);
}
