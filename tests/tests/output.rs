//! Output beside the flow: what is written of a step while the flow goes on is what a run writes that ends there.

use std::path::{Path, PathBuf};

use lbm_bundle::criteria::CriteriaBundle;
use lbm_bundle::{Bundle, Real, Target};
use lbm_flows::case::{Case, Output, RawCase};
use lbm_flows::flow::{self, Control, Kernels};
use lbm_flows::output::sink::RESTART;
use lbm_flows::output::summary::Summary;
use lbm_runtime::device::{Available, Device};
use lbm_tests::compiled;

/// Steps of the run with output on the way; at an odd one levels have different sets of populations, and fields of another step are
/// kept for the check for steady flow.
const STEPS: u64 = 9;

fn text(coupling: &str, refinement: &str) -> String {
    format!(
        r#"
spec = "d2q9_bgk"
target = "cpu"
precision = "f32"
block = [4, 4]
[domain]
size = [24, 16]
[fluid]
re = 10
[faces]
left = "periodic"
right = "periodic"
top = {{ rule = "moving_wall", velocity = [0.1, 0] }}
bottom = "bounce_back"
[[solids]]
shape = "cylinder"
centre = [8, 8]
radius = 2
rule = "bounce_back"
[refinement]
coupling = "{coupling}"
finest = 1
{refinement}
[stop]
steps = 9
steady = 1e-12
check_every = 4
[output]
directory = "unused"
profiles = false
picture = false
vtk = true
[[probes]]
name = "p"
at = [11.3, 9.1]
fields = ["density", "velocity", "vorticity", "q_criterion", "level"]
every = 1
"#
    )
}

struct Flow {
    case: Case,
    bundle: Bundle,
    criteria: CriteriaBundle,
    folder: tempfile::TempDir,
}

impl Flow {
    fn new(coupling: &str, refinement: &str) -> Flow {
        let model = compiled::model_with_all("d2q9_bgk", &["bounce_back", "moving_wall"], Some(coupling));
        let bundle = compiled::compile_solids(&model, Target::C, Real::F32, [4, 4, 1]);
        let raw = RawCase::parse("flow.toml", &text(coupling, refinement), &[]).expect("a case");
        let (case, _) = raw.resolve(&bundle.manifest, &[], Available::default()).expect("valid");
        let levels = case.refinement.as_ref().expect("a refined case").criteria(case.dim);
        let criteria = lbm_codegen::criteria::bundle(&bundle.manifest, &levels).expect("known variables");
        Flow { case, bundle, criteria, folder: tempfile::tempdir().expect("a folder") }
    }

    /// The results of a run of so many steps with this output besides.
    fn run(&self, steps: u64, name: &str, set: impl Fn(&mut Output)) -> (PathBuf, Summary) {
        let mut case = self.case.clone();
        case.stop.steps = steps;
        set(&mut case.output);
        let (device, folder) = (Device::host(2).expect("the host"), self.folder.path().join(name));
        let kernels = Kernels { method: &self.bundle, criteria: Some(&self.criteria), prescribed: None };
        let summary = flow::run(&case, kernels, &device, &folder, Control::default(), |_| ()).expect("it runs");
        (folder, summary)
    }
}

/// The sections of a restart file: leaves, populations, and fields at the last check.
fn state(folder: &Path) -> Vec<u8> {
    let whole = std::fs::read(folder.join(RESTART)).expect("a restart file");
    let head = 20 + u64::from_le_bytes(std::array::from_fn(|at| whole[12 + at])) as usize;
    whole[head + 32..].to_vec()
}

/// Rows of a table in a folder, without the columns that depend on rows besides.
fn rows(folder: &Path, table: &str) -> Vec<String> {
    let text = std::fs::read_to_string(folder.join(table)).expect("a table");
    let lines: Vec<&str> = text.lines().filter(|line| !line.starts_with('#')).collect();
    let names: Vec<&str> = lines[0].split(',').collect();
    let kept = |line: &&str| {
        let values = line.split(',').zip(&names).filter(|(_, name)| **name != "dissipation");
        values.map(|(value, _)| value).collect::<Vec<_>>().join(",")
    };
    lines[1..].iter().map(kept).collect()
}

fn same_beside_and_at_the_end(flow: &Flow) -> Summary {
    let often = Some(1);
    let (beside, summary) = flow.run(STEPS, "beside", |output| {
        (output.every, output.series, output.forces, output.restart) = (often, often, often, often);
    });
    let seldom = Some(1000);
    for step in 1..=STEPS {
        let (alone, _) = flow.run(step, "alone", |output| {
            (output.series, output.forces, output.restart) = (seldom, seldom, seldom);
            output.probes[0].every = 1000;
        });
        let frame = summary.files.iter().find(|name| name.starts_with(&format!("fields_{step:08}."))).expect("a frame");
        let read = |folder: &Path| std::fs::read(folder.join(frame)).expect("fields");
        assert!(read(&beside) == read(&alone), "the fields of step {step}");
        for table in ["series.csv", "forces.csv", "probe_p.csv"] {
            assert_eq!(rows(&beside, table)[step as usize], rows(&alone, table)[1], "{table} at step {step}");
        }
        if step == STEPS {
            assert!(state(&beside) == state(&alone), "the state of step {step}");
        }
    }
    // Of an even step, of which no fields of another are kept.
    let (beside, _) = flow.run(STEPS - 1, "beside", |output| output.restart = often);
    let (alone, _) = flow.run(STEPS - 1, "alone", |output| output.restart = seldom);
    assert!(state(&beside) == state(&alone), "the state of step {}", STEPS - 1);
    summary
}

#[test]
fn fields_series_forces_and_restart_files_of_a_grid_that_follows_the_flow_are_those_of_their_step() {
    let refinement = "criterion = \"abs(dx_uy - dy_ux)\"\nthreshold = 0.012\nevery = 2";
    let flow = Flow::new("volumetric_shifted", refinement);
    let changes = same_beside_and_at_the_end(&flow).adaptations.expect("a grid with levels").changes;
    assert!(changes > 0, "the grid must change while files are written");
}

#[test]
fn restart_files_have_what_refined_blocks_hold_at_their_step() {
    same_beside_and_at_the_end(&Flow::new(
        "interpolated_means",
        "boxes = [{ level = 1, from = [12, 4], to = [20, 12] }]",
    ));
}
