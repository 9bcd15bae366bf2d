//! A case in several parts leaves the files of the same case in one, but for times and what is said of devices; what one number of
//! parts has saved goes on in another.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use lbm_bundle::criteria::CriteriaBundle;
use lbm_bundle::statistics::StatisticsBundle;
use lbm_bundle::{Bundle, Real, Target};
use lbm_flows::case::{Case, RawCase};
use lbm_flows::flow::{self, Control, Kernels, Placement};
use lbm_flows::output::sink::RESTART;
use lbm_runtime::device::{Available, Device};
use lbm_tests::compiled;
use serde_json::Value;

/// A channel with a body whose wake is followed, and output of every kind.
const CASE: &str = r#"
spec = "d2q9_bgk"
target = "cpu"
precision = "f64"
block = [4, 4]
[domain]
size = [48, 24]
[fluid]
re = 60
[start]
velocity = ["0.08 * (1 + 0.3 * sin(2*pi*x/lx))", 0]
[faces]
left = "periodic"
right = "periodic"
top = { rule = "moving_wall", velocity = [0.1, 0] }
bottom = "bounce_back"
[[solids]]
shape = "cylinder"
centre = [12.3, 11.6]
radius = 2.4
rule = "bounce_back"
[refinement]
finest = 1
criterion = "abs(dx_uy - dy_ux)"
threshold = 0.015
every = 3
memory = "8 MiB"
[stop]
steps = 12
steady = 1e-12
check_every = 4
[output]
directory = "unused"
profiles = true
picture = true
vtk = true
every = 6
series = 2
forces = 2
restart = 6
[[probes]]
name = "wake"
at = [[20, 12], [31.3, 8.2]]
fields = ["density", "vorticity"]
every = 3
[[statistics]]
name = "mean"
of = ["mean", "stresses", "max"]
from = 2
every = 2
"#;

struct Flow {
    bundle: Bundle,
    criteria: CriteriaBundle,
    statistics: StatisticsBundle,
    folder: tempfile::TempDir,
}

impl Flow {
    fn new() -> Flow {
        let model = compiled::model_with_all("d2q9_bgk", &["bounce_back", "moving_wall"], Some("volumetric_shifted"));
        let bundle = compiled::compile_solids(&model, Target::C, Real::F64, [4, 4, 1]);
        let case = case(&bundle, 1, 12);
        let levels = case.refinement.as_ref().expect("a refined case").criteria(case.dim);
        let criteria = lbm_codegen::criteria::bundle(&bundle.manifest, &levels).expect("known variables");
        let statistics = lbm_codegen::statistics::bundle(&bundle.manifest, &case.accumulated()).expect("known names");
        Flow { bundle, criteria, statistics, folder: tempfile::tempdir().expect("a folder") }
    }

    /// The folder of a run in so many parts, to a step.
    fn run(&self, name: &str, parts: usize, steps: u64, resume: Option<&Path>) -> PathBuf {
        let folder = self.folder.path().join(name);
        let kernels = Kernels {
            method: &self.bundle,
            criteria: Some(&self.criteria),
            prescribed: None,
            statistics: Some(&self.statistics),
        };
        let control = Control { resume, ..Control::default() };
        let (case, device) = (case(&self.bundle, parts, steps), Device::host(1).expect("the host"));
        let placement = Placement::of(&case, &device).expect("its devices");
        let summary = flow::run(&case, kernels, &placement, &folder, control, |_| ()).expect("it runs");
        assert_eq!(summary.about.parts, parts);
        assert!(summary.adaptations.expect("levels").changes > 0, "the grid follows the flow");
        folder
    }
}

fn case(bundle: &Bundle, parts: usize, steps: u64) -> Case {
    let set = [("devices".to_string(), parts.to_string()), ("stop.steps".to_string(), steps.to_string())];
    let raw = RawCase::parse("flow.toml", CASE, &set).expect("a case");
    raw.resolve(&bundle.manifest, &[], Available::default()).expect("valid").0
}

/// The bytes of all files of a folder by their names. Of a restart file what follows its head, which has times; of the summary what a
/// user would compare.
fn files(folder: &Path) -> BTreeMap<String, Vec<u8>> {
    let mut all = BTreeMap::new();
    let mut folders = vec![folder.to_path_buf()];
    while let Some(next) = folders.pop() {
        for entry in std::fs::read_dir(&next).expect("readable") {
            let path = entry.expect("readable").path();
            if path.is_dir() {
                folders.push(path);
                continue;
            }
            let name = path.strip_prefix(folder).expect("inside").display().to_string();
            // The list of what runs have written has what differs, too.
            if name == ".lbmc.files" {
                continue;
            }
            let bytes = std::fs::read(&path).expect("readable");
            let kept = match &name[..] {
                RESTART => {
                    let head = 20 + u64::from_le_bytes(std::array::from_fn(|at| bytes[12 + at])) as usize;
                    bytes[head + 32..].to_vec()
                }
                "summary.json" => compared(&bytes),
                _ => bytes,
            };
            all.insert(name, kept);
        }
    }
    all
}

/// A summary without times, rates and devices.
fn compared(bytes: &[u8]) -> Vec<u8> {
    let mut summary: Value = serde_json::from_slice(bytes).expect("JSON");
    let object = summary.as_object_mut().expect("an object");
    object.retain(|key, _| {
        let of_devices = ["device", "parts", "device_bytes", "memory", "phases", "mlups"];
        !key.contains("seconds") && !of_devices.contains(&&key[..])
    });
    serde_json::to_vec(&summary).expect("JSON")
}

#[track_caller]
fn same(one: &Path, other: &Path) {
    let (one, other) = (files(one), files(other));
    assert_eq!(one.keys().collect::<Vec<_>>(), other.keys().collect::<Vec<_>>());
    let different: Vec<&String> =
        one.iter().filter(|(name, bytes)| other[*name] != **bytes).map(|(name, _)| name).collect();
    assert!(different.is_empty(), "{different:?}");
    assert!(one.contains_key(RESTART) && one.len() > 8, "{:?}", one.keys());
}

#[test]
fn a_case_in_parts_leaves_the_same_files_and_goes_on_in_another_number_of_parts() {
    lbm_tests::in_turn!();
    let flow = Flow::new();
    let one = flow.run("one", 1, 12, None);
    for parts in [2, 4] {
        same(&one, &flow.run(&format!("in_{parts}"), parts, 12, None));
    }
    // Saved by three parts, resumed by one and by two.
    for parts in [1, 2] {
        let name = format!("by_{parts}");
        let half = flow.run(&name, 3, 6, None);
        same(&one, &flow.run(&name, parts, 12, Some(&half.join(RESTART))));
    }
}
