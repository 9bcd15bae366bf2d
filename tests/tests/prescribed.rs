//! Parameters of walls that depend on time: flows against their solutions, on one level and on several.

use std::f64::consts::PI;
use std::sync::Arc;

use lbm_bundle::{Bundle, Formula, Real};
use lbm_codegen::prescribed;
use lbm_flows::case::RawCase;
use lbm_flows::flow::{self, Control, Kernels, Placement};
use lbm_runtime::device::{Available, Device};
use lbm_runtime::geometry::{Block, Face};
use lbm_runtime::kernels::Prescribed;
use lbm_runtime::solver::snapshot::Snapshot;
use lbm_runtime::solver::{FaceSpec, GridSpec, Profile, Simulation, Varying, WallSpec};
use lbm_tests::compiled;
use lbm_tests::flows::{at_rest, devices};

/// Velocity of the plate, in cells per step.
const SPEED: f64 = 0.02;
/// Viscosity, in cells and steps.
const VISCOSITY: f64 = 0.072_168_784;

/// Steps of a period between plates so many cells apart: the same flow with any number of them.
fn period(cells: usize) -> f64 {
    5.0 * (cells * cells) as f64
}

/// What tables of files hold here.
const RAMP: [[f64; 2]; 3] = [[0.0, 0.0], [100.0, SPEED], [200.0, 0.5 * SPEED]];

/// Kernels of a method with all that walls need here, on blocks of 4 x 4.
fn bundle(device: &Device, rules: &[&str]) -> Bundle {
    let model = compiled::model_with_all("d2q9_trt", rules, Some("volumetric_shifted"));
    compiled::compile_solids(&model, device.target(), Real::F64, [4, 4, 1])
}

/// A wall whose velocity along x is a formula, at the face in the place of the one that the grid has.
fn prescribe(device: &Device, bundle: &Bundle, grid: &mut GridSpec, face: Face, rule: &str, [x, y]: [&str; 2]) {
    let read = |text: &str| text.parse::<Formula>().expect(text);
    let formulas = [x, y].map(|text| read(text).with_tables(&|_| Some(Arc::from(RAMP))));
    let at_start = |formula: &Formula| {
        let formula = formula.clone();
        let at = move |place: [f64; 3]| {
            formula.value(&|name| {
                [("x", place[0]), ("y", place[1]), ("t", 0.0)]
                    .into_iter()
                    .find(|(known, _)| *known == name)
                    .map(|(_, value)| value)
            })
        };
        Arc::new(move |place| at(place).expect("known names")) as Profile
    };
    let varies = formulas.iter().any(|formula| formula.names().contains("x") || formula.names().contains("y"));
    let first: Vec<Profile> = formulas.iter().map(at_start).collect();
    let values = first.iter().map(|profile| profile([0.0; 3])).collect();
    let name = || "velocity".to_string();
    grid.faces[face.index()] = FaceSpec::Wall(WallSpec {
        rule: rule.into(),
        values: if varies { vec![] } else { vec![(name(), values)] },
        varying: Varying {
            profiles: if varies { vec![(name(), first)] } else { vec![] },
            timed: vec![(name(), vec![0, 1])],
        },
    });
    let bundle = prescribed::bundle(&bundle.manifest, &formulas).expect("known names");
    grid.prescribed = Some(Prescribed::load(device, &bundle).expect("it compiles"));
}

/// The velocity between a plate at y = 0 that swings as `SPEED cos(angle)` and one at rest at y = `width`, over `SPEED`: the real part
/// of `sinh(k (width - y)) / sinh(k width) exp(i angle)` with `k^2 = i frequency / viscosity` (Landau & Lifshitz, Fluid Mechanics,
/// section 24, problem 1).
fn swings(y: f64, width: f64, frequency: f64, angle: f64) -> f64 {
    let k = (frequency / (2.0 * VISCOSITY)).sqrt();
    // sinh((1 + i) a), as real and imaginary part.
    let sinh = |a: f64| [a.sinh() * a.cos(), a.cosh() * a.sin()];
    let ([a, b], [c, d]) = (sinh(k * (width - y)), sinh(k * width));
    let (re, im) = ((a * c + b * d) / (c * c + d * d), (b * c - a * d) / (c * c + d * d));
    re * angle.cos() - im * angle.sin()
}

/// Root mean squares of the differences from the solution at three times of the fourth period, over the velocity of the plate: half a
/// step before, at and half a step after these times. `exact`: the solution at a height and an angle.
fn errors(flow: &mut Simulation, cells: usize, exact: impl Fn(f64, f64) -> f64) -> [f64; 3] {
    let period = period(cells);
    let (mut sums, mut count) = ([0.0; 3], 0.0);
    for step in [3.0, 3.3, 3.65].map(|periods| (periods * period).round() as u64) {
        flow.run(step - flow.step()).expect("it runs");
        let snapshot: Snapshot = flow.snapshot().expect("fields");
        let u = snapshot.get("ux").expect("a velocity");
        for (at, u) in u.iter().enumerate() {
            let cell = snapshot.cell(at);
            let weight = 0.25f64.powi(cell.level as i32);
            for (sum, late) in sums.iter_mut().zip([-0.5, 0.0, 0.5]) {
                let angle = 2.0 * PI * (step as f64 + late) / period;
                *sum += weight * (u / SPEED - exact(cell.centre()[1], angle)).powi(2);
            }
            count += weight;
        }
    }
    sums.map(|sum: f64| (sum / count).sqrt())
}

fn params() -> Vec<(String, Vec<f64>)> {
    vec![("omega".into(), vec![1.0 / (3.0 * VISCOSITY + 0.5)]), ("magic".into(), vec![3.0 / 16.0])]
}

fn formula(cells: usize) -> String {
    format!("{SPEED} * cos(2 * {PI} * t / {})", period(cells))
}

/// Walls that were half a step early or late would be told apart.
#[test]
fn between_plates_one_of_which_swings_errors_are_of_second_order_and_walls_in_time() {
    for device in devices() {
        for (rule, other, offset) in [("moving_wall", "bounce_back", 0.0), ("zou_he_velocity", "zou_he_velocity", -0.5)]
        {
            let bundle = bundle(&device, &["bounce_back", "moving_wall", "zou_he_velocity"]);
            let found = [8, 16, 32].map(|cells: usize| {
                let still: &[(&str, &[f64])] = if other == "bounce_back" { &[] } else { &[("velocity", &[0.0, 0.0])] };
                let mut grid = GridSpec::periodic([4, cells, 1]).with_wall(Face::YMax, other, still);
                prescribe(&device, &bundle, &mut grid, Face::YMin, rule, [&formula(cells), "0"]);
                let mut flow = Simulation::new(&device, &bundle, &grid, &params()).expect("a flow");
                flow.init(at_rest).expect("a start");
                errors(&mut flow, cells, |y, angle| {
                    swings(y + offset, cells as f64 + 2.0 * offset, 2.0 * PI / period(cells), angle)
                })
            });
            println!("{rule}: {found:?}");
            let orders = [found[0][1] / found[1][1], found[1][1] / found[2][1]].map(f64::log2);
            assert!(orders.iter().all(|order| *order > 1.85), "{rule}: {found:?} {orders:?}");
            let told = |[early, right, late]: &[f64; 3]| early.min(*late) > 1.5 * right;
            assert!(found.iter().all(told), "{rule}: {found:?}");
        }
    }
}

/// Cells of a face of nodes take a formula where their centres are: one that does not depend on the place gives the same bits as the same for
/// the whole face.
#[test]
fn a_formula_of_place_at_nodes_is_that_of_the_face_where_it_does_not_vary() {
    for device in devices() {
        let bundle = bundle(&device, &["zou_he_velocity"]);
        let found = |text: &str, levels: usize| {
            let still: &[(&str, &[f64])] = &[("velocity", &[0.0, 0.0])];
            let mut grid = GridSpec::periodic([16, 16, 1]).with_wall(Face::YMax, "zou_he_velocity", still);
            prescribe(&device, &bundle, &mut grid, Face::YMin, "zou_he_velocity", [text, "0"]);
            let refine = |block: Block| block.level == 0 && block.place[1] == 2;
            let mut flow = Simulation::refined(&device, &bundle, &grid, &params(), levels, refine).expect("a flow");
            flow.init(at_rest).expect("a start");
            flow.run(50).expect("it runs");
            let snapshot: Snapshot = flow.snapshot().expect("fields");
            snapshot.get("ux").expect("a velocity").to_vec()
        };
        for levels in [1, 2] {
            let (whole, cells) = (found(&formula(16), levels), found(&format!("{} + 0 * x", formula(16)), levels));
            assert!(whole == cells && whole.iter().any(|u| *u > 0.1 * SPEED), "{levels} levels");
        }
    }
}

/// Where the grid is refined along a part of a face, packets come off the walls of single links, or pass those of single cells: where these do not
/// vary, the flow has the bits of one whose face has one wall.
#[test]
fn walls_link_by_link_are_that_of_the_face_at_interfaces_where_they_do_not_vary() {
    let rules = ["moving_wall", "zou_he_velocity"];
    for (device, rule) in devices().iter().flat_map(|device| rules.map(|rule| (device.clone(), rule))) {
        let bundle = bundle(&device, &["bounce_back", rule]);
        let found = |text: &str, levels: usize| {
            let mut grid = GridSpec::periodic([32, 16, 1])
                .with_wall(Face::XMin, "bounce_back", &[])
                .with_wall(Face::XMax, "bounce_back", &[])
                .with_wall(Face::YMax, "bounce_back", &[]);
            prescribe(&device, &bundle, &mut grid, Face::YMin, rule, [text, "0"]);
            // Along a part of the face, and at one of its ends.
            let refine = |Block { level, place: [x, y, _] }: Block| match level {
                0 => y < 2 && (x == 0 || (3..6).contains(&x)),
                _ => y < 2 && (x == 0 || (8..10).contains(&x)),
            };
            let mut flow = Simulation::refined(&device, &bundle, &grid, &params(), levels, refine).expect("a flow");
            flow.init(at_rest).expect("a start");
            flow.run(50).expect("it runs");
            let snapshot: Snapshot = flow.snapshot().expect("fields");
            snapshot.get("ux").expect("a velocity").to_vec()
        };
        for levels in [2, 3] {
            let (whole, cells) = (found(&formula(16), levels), found(&format!("{} + 0 * x", formula(16)), levels));
            assert!(whole == cells && whole.iter().any(|u| *u > 0.1 * SPEED), "{rule}, {levels} levels");
        }
    }
}

/// A channel between nodes at rest, with a parabola of velocity at the nodes of its inlet: the largest difference from it half-way, over its
/// largest velocity. Half a cell off it would be of first order. What is left is of second order, as the fluid is compressible: the velocity grows
/// as the density falls along the channel, by `24 VISCOSITY speed / cells` of itself.
#[test]
fn a_parabola_at_the_nodes_of_an_inlet_is_that_of_the_channel_with_second_order() {
    lbm_tests::in_turn!();
    for device in devices() {
        for inlet in ["zou_he_velocity", "regularized_velocity"] {
            let bundle = bundle(&device, &[inlet, "zou_he_velocity", "zou_he_pressure"]);
            let found = [12, 24, 48].map(|cells: usize| {
                let (width, speed) = ((cells - 1) as f64, 0.32 / cells as f64);
                let mut grid = GridSpec::periodic([2 * cells, cells, 1])
                    .with_wall(Face::YMin, "zou_he_velocity", &[("velocity", &[0.0, 0.0])])
                    .with_wall(Face::YMax, "zou_he_velocity", &[("velocity", &[0.0, 0.0])])
                    .with_wall(Face::XMax, "zou_he_pressure", &[("density", &[1.0])]);
                let text = format!("4 * {speed} * (y - 0.5) * ({width} - (y - 0.5)) / {width}^2");
                prescribe(&device, &bundle, &mut grid, Face::XMin, inlet, [&text, "0"]);
                let mut flow = Simulation::new(&device, &bundle, &grid, &params()).expect("a flow");
                let exact = move |y: f64| 4.0 * speed * (y - 0.5) * (width - (y - 0.5)) / width.powi(2);
                let fall = 24.0 * VISCOSITY * speed / width.powi(2);
                let density = move |x: f64| 1.0 + fall * (2.0 * cells as f64 - 0.5 - x);
                flow.init(|[x, y, _], out| {
                    out.copy_from_slice(&[density(x as f64 + 0.5), exact(y as f64 + 0.5), 0.0]);
                })
                .expect("a start");
                flow.run((12 * cells * cells) as u64).expect("it runs");
                let snapshot: Snapshot = flow.snapshot().expect("fields");
                let u = snapshot.get("ux").expect("a velocity");
                let differences = u.iter().enumerate().filter_map(|(at, u)| {
                    let [x, y, _] = snapshot.cell(at).centre();
                    ((x - cells as f64).abs() < 1.0).then(|| (u - exact(y)).abs() / speed)
                });
                differences.fold(0.0, f64::max)
            });
            println!("{inlet}: {found:?}");
            let orders = [found[0] / found[1], found[1] / found[2]].map(f64::log2);
            assert!(orders.iter().all(|order| *order > 1.8), "{inlet}: {found:?} {orders:?}");
        }
    }
}

/// The same formula for each link of the face; a grid whose cells are all of level 1, whose steps see the plate at their own times; and
/// one that is refined at the plate alone.
#[test]
fn links_and_levels_have_the_wall_of_their_time() {
    lbm_tests::in_turn!();
    for device in devices() {
        let bundle = bundle(&device, &["bounce_back", "moving_wall"]);
        let found = |cells: usize, text: &str, refined: usize| {
            let mut grid = GridSpec::periodic([16, cells, 1]).with_wall(Face::YMax, "bounce_back", &[]);
            prescribe(&device, &bundle, &mut grid, Face::YMin, "moving_wall", [text, "0"]);
            let refine = |block: Block| block.level == 0 && 4 * block.place[1] < refined;
            let levels = 1 + usize::from(refined > 0);
            let mut flow = Simulation::refined(&device, &bundle, &grid, &params(), levels, refine).expect("a flow");
            flow.init(at_rest).expect("a start");
            errors(&mut flow, cells, |y, angle| swings(y, cells as f64, 2.0 * PI / period(cells), angle))
        };
        let in_time = |[early, right, late]: [f64; 3]| early.min(late) > 1.5 * right;
        for refined in [0, 8, 16] {
            let whole = found(16, &formula(16), refined);
            let cut = found(16, &format!("{} + 0 * x", formula(16)), refined);
            println!("{refined} of 16 cells refined: {whole:?}, link by link {cut:?}");
            assert!((whole[1] - cut[1]).abs() < 1e-12, "{refined}: {whole:?} {cut:?}");
            assert!(in_time(whole), "{refined}: {whole:?}");
        }
        let [coarse, fine] = [16, 32].map(|cells| found(cells, &formula(cells), cells / 2)[1]);
        println!("refined at the plate: {coarse:e}, {fine:e}");
        assert!((coarse / fine).log2() > 1.9, "{coarse:e} {fine:e}");
    }
}

/// A table moves a wall as the formula does that it is the points of, on the way, between its points and beyond them.
#[test]
fn a_table_of_a_file_is_the_lines_between_its_points() {
    for device in devices() {
        let bundle = bundle(&device, &["bounce_back", "moving_wall"]);
        let flow = |text: &str| {
            let mut grid = GridSpec::periodic([4, 16, 1]).with_wall(Face::YMax, "bounce_back", &[]);
            prescribe(&device, &bundle, &mut grid, Face::YMin, "moving_wall", [text, "0"]);
            let mut flow = Simulation::new(&device, &bundle, &grid, &params()).expect("a flow");
            flow.init(at_rest).expect("a start");
            let after = |steps: u64| {
                flow.run(steps).expect("it runs");
                flow.snapshot().expect("fields").get("ux").expect("a velocity").to_vec()
            };
            [50, 100, 200].map(after)
        };
        let formula = format!("{SPEED} * (min(t / 100, 1) - 0.5 * min(max(t / 100 - 1, 0), 1))");
        let (table, formula) = (flow("table(\"ramp.csv\", t)"), flow(&formula));
        for (one, other) in table.iter().flatten().zip(formula.iter().flatten()) {
            assert!((one - other).abs() < 1e-15, "{one:e} {other:e}");
        }
        assert!(table[0][0] > 0.1 * SPEED && table[2][0] > 0.3 * SPEED, "{:?}", table[2]);
    }
}

/// The velocity that a force `frequency * SPEED * cos(angle)` drives between plates at rest, `width` apart, over `SPEED`: the real part of
/// `(1 - cosh(k (y - h)) / cosh(k h)) exp(i angle) / i`, with `h` half the width and `k` as in [`swings`].
fn is_driven(y: f64, width: f64, frequency: f64, viscosity: f64, angle: f64) -> f64 {
    let k = (frequency / (2.0 * viscosity)).sqrt();
    // cosh((1 + i) a), as real and imaginary part.
    let cosh = |a: f64| [a.cosh() * a.cos(), a.sinh() * a.sin()];
    let ([a, b], [c, d]) = (cosh(k * (y - 0.5 * width)), cosh(0.5 * k * width));
    let (re, im) = (1.0 - (a * c + b * d) / (c * c + d * d), -(b * c - a * d) / (c * c + d * d));
    re * angle.sin() + im * angle.cos()
}

/// Between plates at rest, with cells of level 0 and with cells of level 1 alone.
#[test]
fn a_force_that_swings_drives_the_flow_of_womersley_in_time() {
    for device in devices() {
        let model = compiled::model_with_all("d2q9_guo", &["bounce_back"], Some("volumetric_shifted"));
        let bundle = compiled::compile_levels(&model, device.target(), Real::F64, [4, 4, 1]);
        let found = |cells: usize, levels: usize| {
            let plates = GridSpec::periodic([4, cells, 1]);
            let grid = [Face::YMin, Face::YMax]
                .into_iter()
                .fold(plates, |grid, face| grid.with_wall(face, "bounce_back", &[]));
            // The wall that half-way bounce-back makes for a single rate is then where it should be, on the level that there is.
            let viscosity = 3f64.sqrt() / 12.0 / levels as f64;
            let params = [("omega".to_string(), vec![1.0 / (3.0 * viscosity + 0.5)]), ("force".into(), vec![0.0; 2])];
            let refine = |block: Block| block.level + 1 < levels;
            let mut flow = Simulation::refined(&device, &bundle, &grid, &params, levels, refine).expect("a flow");
            let frequency = 2.0 * PI / period(cells);
            let push = move |t: f64| frequency * SPEED * (frequency * t).cos();
            flow.follow_courses(vec![("force".into(), vec![Arc::new(push), Arc::new(|_| 0.0)])]).expect("a parameter");
            flow.init(at_rest).expect("a start");
            errors(&mut flow, cells, |y, angle| is_driven(y, cells as f64, frequency, viscosity, angle))
        };
        for levels in [1, 2] {
            let all = [8, 16].map(|cells| found(cells, levels));
            println!("{levels} levels: {all:?}");
            assert!(all.iter().all(|[early, right, late]| early.min(*late) > 1.5 * right), "{levels}: {all:?}");
            assert!((all[0][1] / all[1][1]).log2() > 1.85, "{levels}: {all:?}");
        }
    }
}

/// The shipped case at four phases of its third period, in the middle of the channel, against the solution that its inlet has: the largest
/// difference over the reference velocity.
#[test]
fn a_channel_whose_inlet_swings_has_the_profile_of_womersley() {
    lbm_tests::in_turn!();
    let text = std::fs::read_to_string(lbm_tests::root().join("cases/womersley.toml")).expect("a shipped case");
    let device = Device::host(1).expect("the host");
    let worst = [16_000, 17_000, 18_000, 19_000].map(|steps: u64| {
        let set = [("target", "cpu".to_string()), ("stop.steps", steps.to_string()), ("picture", "false".into())];
        let set: Vec<(String, String)> = set.into_iter().map(|(key, value)| (key.into(), value)).collect();
        let raw = RawCase::parse("womersley.toml", &text, &set).expect("a case");
        let rules = ["bounce_back", "moving_wall", "anti_bounce_back"];
        let model = compiled::model_with_all("d2q9_trt", &rules, None);
        let method = compiled::compile_solids(&model, device.target(), Real::F64, [8, 8, 1]);
        let (case, warnings) = raw.resolve(&method.manifest, &[], Available::default()).expect("valid");
        assert!(warnings.is_empty(), "{warnings:?}");
        let prescribed = prescribed::bundle(&method.manifest, &case.prescribed()).expect("known names");
        let kernels = Kernels { method: &method, criteria: None, prescribed: Some(&prescribed), statistics: None };
        let folder = tempfile::tempdir().expect("a folder");
        let placement = Placement::of(&case, &device).expect("its devices");
        flow::run(&case, kernels, &placement, folder.path(), Control::default(), |_| {}).expect("it runs");
        let profile = std::fs::read_to_string(folder.path().join("profile_y.csv")).expect("a profile");
        let rows = profile.lines().filter(|line| line.starts_with(|first: char| first.is_ascii_digit()));
        let differences = rows.map(|row| {
            let row: Vec<f64> = row.split(',').map(|value| value.trim().parse().expect("a number")).collect();
            // cosh((1 + i) a), as real and imaginary part.
            let cosh = |a: f64| [a.cosh() * a.cos(), a.sinh() * a.sin()];
            let h = 8f64.sqrt();
            let ([a, b], [c, d]) = (cosh(h * (2.0 * row[0] - 1.0)), cosh(h));
            let (re, im) = (1.0 - (a * c + b * d) / (c * c + d * d), -(b * c - a * d) / (c * c + d * d));
            let angle = 2.0 * PI * steps as f64 / 8000.0;
            (row[1] - (re * angle.sin() + im * angle.cos())).abs()
        });
        differences.fold(0.0, f64::max)
    });
    println!("{worst:?}");
    assert!(worst.iter().all(|worst| *worst < 0.01), "{worst:?}");
}
