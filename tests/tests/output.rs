//! Output beside the flow: what is written of a step while the flow goes on is what a run writes that ends there.

use std::path::{Path, PathBuf};

use lbm_bundle::criteria::CriteriaBundle;
use lbm_bundle::{Bundle, Real, Target};
use lbm_flows::case::{Case, Output, RawCase};
use lbm_flows::flow::{self, Control, Kernels, Placement};
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
        let (device, folder) = (Device::host(1).expect("the host"), self.folder.path().join(name));
        let kernels =
            Kernels { method: &self.bundle, criteria: Some(&self.criteria), prescribed: None, statistics: None };
        let placement = Placement::of(&case, &device).expect("its devices");
        let summary = flow::run(&case, kernels, &placement, &folder, Control::default(), |_| ()).expect("it runs");
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

/// What a run writes for ParaView is what another one starts from: the same values where the cells are the same, and those between on a finer
/// grid; a numpy array of the same values, too.
#[test]
fn a_run_starts_from_the_fields_that_another_has_written() {
    let text = |side: usize, start: &str| {
        format!(
            "spec = \"d2q9_bgk\"\ntarget = \"cpu\"\nprecision = \"f64\"\n[domain]\nsize = [{side}, {side}]\n[fluid]\nomega = 1.2\n\
             velocity = 0.1\nlength = 16\n[faces]\nothers = \"periodic\"\n[start]\n{start}\n[stop]\nsteps = 3\n[output]\nvtk = true\n"
        )
    };
    let resolved = |text: &str, files: &dyn Fn(&str) -> Result<Vec<u8>, String>| -> (Case, Bundle) {
        let mut raw = RawCase::parse("case.toml", text, &[]).expect("a case");
        raw.load(files).expect("files");
        let model = compiled::model("d2q9_bgk");
        let bundle = compiled::compile(&model, Target::C, Real::F64, [16, 16, 1]).bundle;
        let (case, _) = raw.resolve(&bundle.manifest, &[], Available::default()).expect("valid");
        (case, bundle)
    };
    let vortex = "velocity = [\"0.05 * sin(2*pi*x/lx) * cos(2*pi*y/ly)\", \"-0.05 * cos(2*pi*x/lx) * sin(2*pi*y/ly)\"]\n\
                  density = \"1 + 0.01 * cos(2*pi*x/lx)\"";
    let (case, bundle) = resolved(&text(16, vortex), &|_| Err("none".into()));
    let device = Device::host(1).expect("the host");
    let folder = tempfile::tempdir().expect("a folder");
    let kernels = Kernels { method: &bundle, criteria: None, prescribed: None, statistics: None };
    let placement = Placement::of(&case, &device).expect("its devices");
    flow::run(&case, kernels, &placement, folder.path(), Control::default(), |_| {}).expect("it runs");
    let image = std::fs::read(folder.path().join("fields_00000003.vti")).expect("fields");

    // The velocity again, as numpy writes it.
    let from_image = "velocity = { file = \"end.vti\" }\ndensity = { file = \"end.vti\" }";
    let (same, _) = resolved(&text(16, from_image), &|_| Ok(image.clone()));
    let at = |case: &Case, place: [f64; 3]| {
        let mut out = [0.0; 3];
        case.start.at(place, &mut out);
        out
    };
    let mut array = b"\x93NUMPY\x01\x00".to_vec();
    let header = "{'descr': '<f8', 'fortran_order': False, 'shape': (16, 16, 2), }\n";
    array.extend((header.len() as u16).to_le_bytes());
    array.extend(header.as_bytes());
    let centre = |cell: usize| [(cell % 16) as f64 + 0.5, (cell / 16) as f64 + 0.5, 0.5];
    for cell in 0..256 {
        array.extend(at(&same, centre(cell))[1..].iter().flat_map(|u| u.to_le_bytes()));
    }
    let of_numpy = "velocity = { file = \"u.npy\" }\ndensity = { file = \"end.vti\" }";
    let files = |name: &str| Ok(if name == "u.npy" { array.clone() } else { image.clone() });
    let (numpy, _) = resolved(&text(16, of_numpy), &files);
    let (finer, _) = resolved(&text(32, from_image), &|_| Ok(image.clone()));
    let written = |cell: usize| {
        // The image ends with the arrays, each after its length: density, then velocity with three components.
        let arrays = &image[image.windows(2).position(|window| window == b">_").expect("data") + 2..];
        let number = |at: usize| f64::from_le_bytes(arrays[at..at + 8].try_into().expect("eight bytes"));
        let (rho, u) = (8 + 8 * cell, 8 + 8 * 256 + 8 + 24 * cell);
        [number(rho), number(u), number(u + 8)]
    };
    for cell in 0..256 {
        assert_eq!(at(&same, centre(cell)), written(cell), "{cell}");
        assert_eq!(at(&numpy, centre(cell)), written(cell), "{cell}");
        // Of a grid twice as fine, the middle of four cells is the centre of this one.
        let middle = centre(cell).map(|at| 2.0 * at);
        let finer = at(&finer, [middle[0], middle[1], 0.5]);
        assert!(std::iter::zip(finer, written(cell)).all(|(found, wanted)| (found - wanted).abs() < 1e-14), "{cell}");
    }
}

#[test]
fn restart_files_have_what_refined_blocks_hold_at_their_step() {
    same_beside_and_at_the_end(&Flow::new(
        "interpolated_means",
        "boxes = [{ level = 1, from = [12, 4], to = [20, 12] }]",
    ));
}
