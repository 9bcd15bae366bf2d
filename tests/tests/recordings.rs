//! Recordings of a plane at faces: kernels read what formulas say of them, on every device, with however few frames in memory and in any number of parts.

use std::sync::Arc;

use lbm_bundle::formula::{Frames, Function, Plane, Recorded, Shape};
use lbm_bundle::{Formula, Real};
use lbm_runtime::device::Device;
use lbm_runtime::geometry::Face;
use lbm_runtime::kernels::Prescribed;
use lbm_runtime::solver::{FaceSpec, GridSpec, Prepared, Profile, Simulation, StepError, Varying, WallSpec};
use lbm_tests::compiled;
use lbm_tests::flows::{at_rest, devices};

/// Frames of 9 points with two components that look random; from a number on they are not finite.
#[derive(Debug)]
struct Made(u64);

impl Frames for Made {
    fn read(&self, number: u64) -> Result<Vec<f32>, String> {
        let value = |at: u64| ((number * 18 + at) * 2_654_435_761 % 1009) as f32 / 10_090.0;
        Ok((0..18).map(|at| if number < self.0 { value(at) } else { f32::NAN }).collect())
    }
}

fn plane(interval: f64, repeats: bool, window: usize, finite: u64) -> Plane {
    let shape = Shape {
        name: "made".into(),
        points: [9, 1],
        components: 2,
        frames: 41,
        repeats,
        periodic: [true, false],
        interval,
        window,
    };
    Plane::new(shape, Arc::new(Made(finite)))
}

/// Both components at a face normal to x that has 12 cells.
fn velocity(plane: &Plane) -> Vec<Formula> {
    let number = Formula::number;
    let of = |function: Function, name: &str, by: f64| Formula::apply(function, [Formula::name(name), number(by)]);
    let place = Formula::apply(Function::Subtract, [of(Function::Multiply, "y", 0.75), number(0.5)]);
    let point = [place, number(0.0), of(Function::Divide, "t", plane.shape().interval)];
    let component =
        |component| Formula::Recorded(Recorded { plane: plane.clone(), component }, Box::new(point.clone()));
    vec![component(0), component(1)]
}

fn at(formula: &Formula, [x, y, _]: [f64; 3], t: f64) -> f64 {
    let named = |name: &str| [("x", x), ("y", y), ("t", t)].into_iter().find(|(known, _)| *known == name);
    formula.value(&|name| named(name).map(|(_, value)| value)).expect("known names")
}

/// A channel in so many parts whose inlet is the recording.
fn channel(device: &Device, parts: usize, plane: &Plane) -> Simulation {
    let model = compiled::model_with_all("d2q9_trt", &["zou_he_velocity", "zou_he_pressure"], None);
    let bundle = compiled::compile_solids(&model, device.target(), Real::F64, [4, 4, 1]);
    let formulas = velocity(plane);
    let profile = |formula: &Formula| -> Profile {
        let formula = formula.clone();
        Arc::new(move |place| at(&formula, place, 0.0))
    };
    let mut grid = GridSpec::periodic([8, 12, 1]).with_wall(Face::XMax, "zou_he_pressure", &[("density", &[1.0])]);
    grid.faces[Face::XMin.index()] = FaceSpec::Wall(WallSpec {
        rule: "zou_he_velocity".into(),
        values: vec![],
        varying: Varying {
            profiles: vec![("velocity".into(), formulas.iter().map(profile).collect())],
            timed: vec![("velocity".into(), vec![0, 1])],
        },
    });
    let kernels = lbm_codegen::prescribed::bundle(&bundle.manifest, &formulas).expect("known names");
    grid.prescribed = Some(Prescribed::load(device, &kernels).expect("it compiles"));
    let params = [("omega".to_string(), vec![1.2]), ("magic".into(), vec![0.25])];
    let prepared = Prepared::refined(device, &bundle, &grid, 1, |_| false).expect("a grid");
    let prepared = prepared.in_subdomains(&vec![device.clone(); parts], &bundle).expect("parts");
    let mut flow = prepared.simulation(&params).expect("a flow");
    flow.init(at_rest).expect("a start");
    flow
}

/// The velocity of the first cells is that of the formula at the end of a step, to the last bit of a sum of populations.
#[test]
fn kernels_read_recordings_as_formulas_do_on_every_device() {
    for device in devices() {
        for (interval, repeats) in [(2.0, true), (0.3, true), (3.0, false)] {
            let plane = plane(interval, repeats, 0, 41);
            let (mut flow, formulas) = (channel(&device, 1, &plane), velocity(&plane));
            let mut seen = 0;
            for steps in [1, 1, 7, 2, 30, 3, 70] {
                flow.run(steps).expect("it runs");
                let (snapshot, step) = (flow.snapshot().expect("fields"), flow.step() as f64);
                let of = ["ux", "uy"].map(|name| snapshot.get(name).expect("a velocity"));
                for number in 0..of[0].len() {
                    let place = snapshot.cell(number).centre();
                    for (of, formula) in of.iter().zip(&formulas).filter(|_| place[0] < 1.0) {
                        let expected = at(formula, place, step);
                        assert!(
                            (of[number] - expected).abs() < 1e-15,
                            "{place:?} at {step}: {} {expected}",
                            of[number]
                        );
                        seen += usize::from(expected > 1e-3);
                    }
                }
            }
            assert!(seen > 100, "{seen}");
        }
    }
}

/// Four frames in memory at a time, or all of them; one part or three.
#[test]
fn how_many_frames_are_in_memory_and_the_number_of_parts_change_no_bit() {
    for device in devices() {
        let fields = |parts: usize, window: usize, runs: &[u64]| {
            let mut flow = channel(&device, parts, &plane(2.0, true, window, 41));
            runs.iter().for_each(|steps| flow.run(*steps).expect("it runs"));
            let snapshot = flow.snapshot().expect("fields");
            ["rho", "ux", "uy"].map(|name| snapshot.get(name).expect("a field").iter().map(|of| of.to_bits()).collect())
        };
        let whole: [Vec<u64>; 3] = fields(1, 1 << 20, &[150]);
        for (parts, window, runs) in [(1, 0, &[150][..]), (1, 700, &[77, 73]), (3, 0, &[20, 130])] {
            assert!(fields(parts, window, runs) == whole, "{parts} parts, {window} bytes");
        }
    }
}

#[test]
fn a_frame_that_is_not_finite_ends_the_run_where_it_is_read() {
    let mut flow = channel(&Device::host(1).expect("the host"), 1, &plane(2.0, false, 0, 30));
    flow.run(50).expect("its frames are finite");
    let error = flow.run(30).expect_err("frame 30 is not");
    assert!(
        matches!(&error, StepError::Recording { name, why } if name == "made" && why.contains("frame 30")),
        "{error}"
    );
}
