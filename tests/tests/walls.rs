//! Flows with known answers between walls of every rule of the prelude, on the host in 64 bits.
//!
//! Formulas are the textbook ones of plane Couette and Poiseuille flow (White, Viscous Fluid Flow, 2006). Velocities are
//! small (1e-6 cells per step and less), so that errors of compressibility, which grow with their square, do not show.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, OnceLock};

use lbm_bundle::{Bundle, Real, Target};
use lbm_codegen::options::Options;
use lbm_dsl::shipped;
use lbm_runtime::device::Device;
use lbm_runtime::geometry::Face;
use lbm_runtime::solver::snapshot::Snapshot;
use lbm_runtime::solver::{FaceSpec, GridSpec, Profile, Simulation, Varying, WallSpec};
use lbm_tests::compiled;

const SPECS: [&str; 2] = ["d2q9_bgk", "d3q19_bgk"];

/// The kernels of a shipped spec with all rules of the prelude; each is compiled once for all tests.
fn bundle(spec: &'static str) -> Arc<Bundle> {
    static COMPILED: Mutex<BTreeMap<&'static str, Arc<OnceLock<Arc<Bundle>>>>> = Mutex::new(BTreeMap::new());
    let place = COMPILED.lock().expect("nothing panics inside").entry(spec).or_default().clone();
    let compile = || {
        let rules = shipped::rules(&shipped::Prelude).unwrap();
        let rules: Vec<&str> = rules.iter().map(|(_, rule)| rule.as_str()).collect();
        let model = compiled::model_with_rules(spec, &rules);
        let block = Options::default_block(model.lattice().dim());
        Arc::new(compiled::compile(&model, Target::C, Real::F64, block).bundle)
    };
    place.get_or_init(compile).clone()
}

fn dim(spec: &str) -> usize {
    if spec.starts_with("d2") { 2 } else { 3 }
}

/// A box, periodic along z.
fn grid(spec: &str, [x, y, z]: [usize; 3]) -> GridSpec {
    GridSpec::periodic(if dim(spec) == 2 { [x, y, 1] } else { [x, y, z] })
}

/// A wall with a velocity, as long as the dimension asks for.
fn moving(grid: GridSpec, spec: &str, face: Face, rule: &str, velocity: [f64; 3]) -> GridSpec {
    grid.with_wall(face, rule, &[("velocity", &velocity[..dim(spec)])])
}

fn simulation(spec: &'static str, grid: &GridSpec, omega: f64) -> Simulation {
    simulation_with(spec, grid, &[("omega".to_string(), vec![omega])])
}

fn simulation_with(spec: &'static str, grid: &GridSpec, params: &[(String, Vec<f64>)]) -> Simulation {
    let device = Device::host(1).expect("the host is a device");
    Simulation::new(&device, &bundle(spec), grid, params).expect("it can be set up")
}

/// The flow from rest at density 1 after so many steps.
fn from_rest(spec: &'static str, grid: &GridSpec, omega: f64, steps: usize) -> Snapshot {
    let mut flow = simulation(spec, grid, omega);
    flow.init(|_, out| {
        out.fill(0.0);
        out[0] = 1.0;
    })
    .unwrap();
    flow.run(steps as u64).unwrap();
    flow.snapshot().unwrap()
}

/// Steps in which the slowest mode between walls that far apart, exp(-nu pi^2 t / H^2), shrinks by e^-32.
fn steps(height: f64, omega: f64) -> usize {
    (32.0 * height.powi(2) / (std::f64::consts::PI.powi(2) * viscosity(omega))) as usize
}

fn viscosity(omega: f64) -> f64 {
    (1.0 / omega - 0.5) / 3.0
}

/// Largest difference of a component to what it should be at each cell.
fn error(snapshot: &Snapshot, component: &str, expected: impl Fn([usize; 3]) -> f64) -> f64 {
    let [nx, ny, _] = snapshot.size();
    let at = |at: usize| [at % nx, at / nx % ny, at / nx / ny];
    let values = snapshot.get(component).unwrap().iter().enumerate();
    values.fold(
        0.0,
        |most: f64, (i, value)| if value.is_nan() { f64::NAN } else { most.max((value - expected(at(i))).abs()) },
    )
}

#[test]
fn couette_flow_between_given_velocities_is_exact() {
    let (ny, speed) = (16, 1e-2);
    for spec in SPECS {
        for rule in ["zou_he_velocity", "regularized_velocity"] {
            let grid = moving(grid(spec, [8, ny, 4]), spec, Face::YMin, rule, [-speed, 0.0, 0.0]);
            let grid = moving(grid, spec, Face::YMax, rule, [speed, 0.0, 0.0]);
            let snapshot = from_rest(spec, &grid, 1.2, steps(ny as f64, 1.2));
            // On the nodes: the outermost cells have the velocity of their wall.
            let worst = error(&snapshot, "ux", |[_, y, _]| speed * (2.0 * y as f64 / (ny - 1) as f64 - 1.0));
            assert!(worst < 1e-14, "{spec}, {rule}: {worst:e}");
            assert!(error(&snapshot, "uy", |_| 0.0) < 1e-14, "{spec}, {rule}");
        }
    }
}

/// Given velocities all around: where two faces meet, two populations are unknown both ways, and no stress is lost in them.
#[test]
fn couette_flow_in_a_box_of_given_velocities_is_exact_and_keeps_its_mass() {
    let (cells, speed) = (16, 0.05);
    let model = compiled::model_with_rules("d2q9_bgk", &["zou_he_velocity"]);
    let bundle = compiled::compile_solids(&model, Target::C, Real::F64, Options::default_block(2));
    let velocity = move |y: f64| speed * (y - 0.5) / (cells - 1) as f64;
    let mut grid = GridSpec::periodic([cells, cells, 1]);
    for face in &Face::ALL[..4] {
        let profiles: Vec<Profile> = vec![Arc::new(move |[_, y, _]: [f64; 3]| velocity(y)), Arc::new(|_| 0.0)];
        let varying = Varying { profiles: vec![("velocity".into(), profiles)], timed: vec![] };
        let wall = WallSpec { rule: "zou_he_velocity".into(), values: vec![], varying };
        grid.faces[face.index()] = FaceSpec::Wall(wall);
    }
    let device = Device::host(1).expect("the host is a device");
    let mut flow = Simulation::new(&device, &bundle, &grid, &[("omega".to_string(), vec![1.2])]).unwrap();
    flow.init(|[_, y, _], out| out.copy_from_slice(&[1.0, velocity(y as f64 + 0.5), 0.0])).unwrap();
    let mass = flow.mass().unwrap();
    flow.run(5000).unwrap();
    let snapshot = flow.snapshot().unwrap();
    let worst = error(&snapshot, "ux", |[_, y, _]| velocity(y as f64 + 0.5));
    assert!(worst < 1e-13, "{worst:e}");
    assert!(error(&snapshot, "uy", |_| 0.0) < 1e-13);
    let drift = flow.mass().unwrap() / mass - 1.0;
    assert!(drift.abs() < 1e-12, "{drift:e}");
}

#[test]
fn couette_flow_over_a_wall_at_any_distance_is_exact() {
    let (ny, speed) = (16, 1e-2);
    for spec in SPECS {
        for distance in [0.1, 0.3, 0.5, 0.8, 1.0] {
            let grid =
                grid(spec, [8, ny, 4]).with_wall(Face::YMin, "interpolated_bounce_back", &[("distance", &[distance])]);
            let grid = moving(grid, spec, Face::YMax, "moving_wall", [speed, 0.0, 0.0]);
            let height = ny as f64 - 0.5 + distance;
            let snapshot = from_rest(spec, &grid, 1.2, steps(height, 1.2));
            let worst = error(&snapshot, "ux", |[_, y, _]| speed * (y as f64 + distance) / height);
            assert!(worst < 1e-14, "{spec} at {distance}: {worst:e}");
        }
    }
}

/// Errors of pressure-driven flow along x between walls at rest, over its largest velocity: the largest of all cells, and of
/// those half-way along the channel. Ends and walls are rules, with the distance from the outermost cells' centres.
fn poiseuille(
    spec: &'static str,
    [nx, n]: [usize; 2],
    ends: (&str, f64),
    walls: (&str, &[(&str, &[f64])], f64),
    omega: f64,
) -> [f64; 2] {
    let drop = 1e-7;
    let mut grid = grid(spec, [nx, n, 4]);
    grid = grid.with_wall(Face::XMin, ends.0, &[("density", &[1.0 + drop / 2.0])]);
    grid = grid.with_wall(Face::XMax, ends.0, &[("density", &[1.0 - drop / 2.0])]);
    for face in [Face::YMin, Face::YMax] {
        grid = grid.with_wall(face, walls.0, walls.1);
    }
    let length = nx as f64 - 1.0 + 2.0 * ends.1;
    let height = n as f64 - 1.0 + 2.0 * walls.2;
    let gradient = drop / 3.0 / length;
    let profile = |y: f64| gradient / (2.0 * viscosity(omega)) * y * (height - y);
    // Pressure waves between the ends fade more slowly than shear where the channel is long; twice as long is enough.
    let snapshot = from_rest(spec, &grid, omega, 2 * nx.div_ceil(n) * steps(height, omega));
    let everywhere = error(&snapshot, "ux", |[_, y, _]| profile(y as f64 + walls.2)) / profile(height / 2.0);
    let ux = snapshot.get("ux").unwrap();
    let middle = (0..n).map(|y| (ux[snapshot.index(nx / 2, y, 0)] - profile(y as f64 + walls.2)).abs());
    [everywhere, middle.fold(0.0, f64::max) / profile(height / 2.0)]
}

/// The relaxation rate at which half-way bounce-back is exact for parabolas: (1/omega - 1/2)^2 = 3/16.
fn magic() -> f64 {
    1.0 / (0.5 + 3f64.sqrt() / 4.0)
}

#[test]
fn at_the_magic_rate_half_way_walls_leave_the_error_of_the_ends() {
    for spec in SPECS {
        for rule in ["zou_he_pressure", "regularized_pressure"] {
            let [everywhere, _] = poiseuille(spec, [8, 8], (rule, 0.0), ("bounce_back", &[], 0.5), magic());
            assert!(everywhere < 1.2e-3, "{spec}, {rule}: {everywhere:e}");
        }
    }
}

#[test]
fn pressure_driven_flow_converges_at_second_order() {
    lbm_tests::in_turn!();
    let rest: &[(&str, &[f64])] = &[("velocity", &[0.0, 0.0])];
    let near: &[(&str, &[f64])] = &[("distance", &[0.2])];
    let far: &[(&str, &[f64])] = &[("distance", &[0.9])];
    for (ends, walls) in [
        ("zou_he_pressure", ("bounce_back", &[][..], 0.5)),
        ("regularized_pressure", ("bounce_back", &[][..], 0.5)),
        ("zou_he_pressure", ("interpolated_bounce_back", near, 0.2)),
        ("zou_he_pressure", ("interpolated_bounce_back", far, 0.9)),
        ("zou_he_pressure", ("zou_he_velocity", rest, 0.0)),
        ("regularized_pressure", ("regularized_velocity", rest, 0.0)),
    ] {
        let errors = [8, 16, 32].map(|n| poiseuille("d2q9_bgk", [n, n], (ends, 0.0), walls, 0.8));
        let order = |part: usize| (errors[1][part] / errors[2][part]).log2();
        // Where two walls of nodes meet, the edge takes its velocity from the next cell: first order, in that cell.
        let everywhere = if walls.0 == "bounce_back" { 1.9 } else { 0.9 };
        assert!(order(0) > everywhere, "{ends}, {walls:?}: {errors:?}, order {}", order(0));
        assert!(order(1) > 1.8 && errors[2][1] < 0.02, "{ends}, {walls:?}: {errors:?}, order {}", order(1));
    }
}

/// A column of fluid at rest whose pressure balances a force: the density is linear, and the one given is half-way.
#[test]
fn anti_bounce_back_holds_the_pressure_half_way() {
    let (spec, nx, drop) = ("d2q9_guo", 16, 1e-3);
    let grid = grid(spec, [nx, 8, 4])
        .with_wall(Face::XMin, "anti_bounce_back", &[("density", &[1.0 + drop / 2.0])])
        .with_wall(Face::XMax, "anti_bounce_back", &[("density", &[1.0 - drop / 2.0])]);
    let density = |x: usize| 1.0 + drop * (0.5 - (x as f64 + 0.5) / nx as f64);
    let force = vec![-drop / nx as f64 / 3.0, 0.0];
    let mut flow = simulation_with(spec, &grid, &[("omega".to_string(), vec![1.2]), ("force".to_string(), force)]);
    flow.init(|[x, _, _], out| out.copy_from_slice(&[density(x), 0.0, 0.0])).unwrap();
    flow.run(1000).unwrap();
    let snapshot = flow.snapshot().unwrap();
    // The velocity of the rule is off by half the force, which enters squared.
    assert!(error(&snapshot, "rho", |[x, _, _]| density(x)) < 1e-9);
    assert!(error(&snapshot, "ux", |_| 0.0) < 1e-9);
}

/// Without viscous stress a channel's ends are no cuts through an endless one (Heywood, Rannacher & Turek, Int. J. Numer.
/// Meth. Fluids 22 (1996) 325): each adds a length to it that depends on its height alone.
#[test]
fn ends_of_anti_bounce_back_change_the_length_of_a_channel() {
    let added = [16, 32, 64].map(|nx| {
        let [_, middle] =
            poiseuille("d2q9_bgk", [nx, 8], ("anti_bounce_back", 0.5), ("bounce_back", &[], 0.5), magic());
        println!("{nx}: {middle:.4}");
        middle * nx as f64 / 8.0
    });
    for pair in added.windows(2) {
        assert!(((pair[0] / pair[1]) - 1.0).abs() < 0.15, "{added:?}");
    }
}

#[test]
fn a_velocity_inlet_and_a_pressure_outlet_make_a_parabola() {
    lbm_tests::in_turn!();
    let speed = 1e-6;
    for spec in SPECS {
        for (inlet, outlet) in [
            ("zou_he_velocity", "zou_he_pressure"),
            ("regularized_velocity", "regularized_pressure"),
            ("zou_he_velocity", "anti_bounce_back"),
        ] {
            let error_at = |n: usize| {
                let mut grid = grid(spec, [3 * n, n, 4]);
                grid = moving(grid, spec, Face::XMin, inlet, [speed, 0.0, 0.0]);
                grid = grid.with_wall(Face::XMax, outlet, &[("density", &[1.0])]);
                grid = grid.with_wall(Face::YMin, "bounce_back", &[]).with_wall(Face::YMax, "bounce_back", &[]);
                let snapshot = from_rest(spec, &grid, 1.0, 6 * steps(n as f64, 1.0));
                let height = n as f64;
                let profile = |y: f64| 6.0 * speed * (y / height) * (1.0 - y / height);
                let ux = snapshot.get("ux").unwrap();
                let at = |y: usize| (ux[snapshot.index(2 * n, y, 0)] - profile(y as f64 + 0.5)).abs();
                (0..n).map(at).fold(0.0, f64::max) / (1.5 * speed)
            };
            let errors = [8, 16].map(error_at);
            let order = (errors[0] / errors[1]).log2();
            assert!((1.9..2.1).contains(&order), "{spec}, {inlet}, {outlet}: {errors:?}, order {order}");
        }
    }
}

#[test]
fn a_free_slip_box_keeps_mass_and_a_flow_along_it() {
    for spec in SPECS {
        let mut grid = grid(spec, [16, 16, 8]);
        for face in &Face::ALL[2..2 * dim(spec)] {
            grid = grid.with_wall(*face, "free_slip", &[]);
        }
        let mut flow = simulation(spec, &grid, 1.7);
        flow.init(|_, out| {
            out.fill(0.0);
            (out[0], out[1]) = (1.0, 0.05);
        })
        .unwrap();
        let before = flow.mass().unwrap();
        flow.run(300).unwrap();
        assert!((flow.mass().unwrap() / before - 1.0).abs() < 1e-13, "{spec}");
        let snapshot = flow.snapshot().unwrap();
        assert!(error(&snapshot, "ux", |_| 0.05) < 1e-13 && error(&snapshot, "uy", |_| 0.0) < 1e-14, "{spec}");
    }
}

#[test]
fn free_slip_walls_are_planes_of_symmetry_half_way() {
    for spec in SPECS {
        let dim = dim(spec);
        // Even in density and the velocity along a wall, odd in that across it, about every face of the half box.
        let state = move |cell: [usize; 3], out: &mut [f64]| {
            let phase = |axis: usize| std::f64::consts::PI * (cell[axis] as f64 + 0.5) / 8.0;
            let even = |axis: usize| phase(axis).cos();
            let odd = |axis: usize| phase(axis).sin();
            let all = (0..dim).map(even).product::<f64>();
            out[0] = 1.0 + 0.02 * all;
            for axis in 0..dim {
                let others: f64 = (0..dim)
                    .filter(|other| *other != axis)
                    .map(|other| 1.0 + even(other) * (axis + 1) as f64)
                    .product();
                out[1 + axis] = 0.02 * odd(axis) * others;
            }
        };
        let mut half_grid = grid(spec, [8, 8, 8]);
        for face in &Face::ALL[..2 * dim] {
            half_grid = half_grid.with_wall(*face, "free_slip", &[]);
        }
        let run = |grid: &GridSpec| {
            let mut flow = simulation(spec, grid, 1.5);
            flow.init(state).unwrap();
            flow.run(60).unwrap();
            flow.snapshot().unwrap()
        };
        let (half, whole) = (run(&half_grid), run(&grid(spec, [16, 16, 16])));
        for name in ["rho", "ux", "uy"] {
            let of_whole = whole.get(name).unwrap();
            let worst = error(&half, name, |[x, y, z]| of_whole[whole.index(x, y, z)]);
            assert!(worst < 1e-14, "{spec}, {name}: {worst:e}");
        }
    }
}

/// The vortices of Taylor and Green (Proc. R. Soc. A 158 (1937) 499) never cross the lines between them, where there is no
/// stress either: a box of slipping walls holds one of them, which fades as exp(-2 nu (pi/n)^2 t).
#[test]
fn a_vortex_in_a_free_slip_box_fades_as_that_of_taylor_and_green() {
    let (speed, omega) = (1e-6, 1.2);
    for spec in SPECS {
        let errors = [8, 16, 32].map(|n| {
            let mut grid = grid(spec, [n, n, 4]);
            for face in &Face::ALL[..2 * dim(spec)] {
                grid = grid.with_wall(*face, "free_slip", &[]);
            }
            let angle = |at: usize| std::f64::consts::PI * (at as f64 + 0.5) / n as f64;
            let velocity = |[x, y, _]: [usize; 3]| {
                [angle(x).sin() * angle(y).cos(), -angle(x).cos() * angle(y).sin()].map(|part| speed * part)
            };
            let mut flow = simulation(spec, &grid, omega);
            flow.init(|cell, out| {
                out.fill(0.0);
                out[0] = 1.0;
                out[1..3].copy_from_slice(&velocity(cell));
            })
            .unwrap();
            let steps = n * n / 2;
            flow.run(steps as u64).unwrap();
            let snapshot = flow.snapshot().unwrap();
            let left = (-2.0 * viscosity(omega) * (std::f64::consts::PI / n as f64).powi(2) * steps as f64).exp();
            let parts = ["ux", "uy"].iter().enumerate();
            let worst = parts.map(|(part, name)| error(&snapshot, name, |cell| left * velocity(cell)[part]));
            worst.fold(0.0, f64::max) / (left * speed)
        });
        let orders = [0, 1].map(|at| (errors[at] / errors[at + 1]).log2());
        assert!(orders.iter().all(|order| (1.9..2.1).contains(order)), "{spec}: {errors:?}, orders {orders:?}");
    }
}

#[test]
fn a_box_of_open_faces_rests_and_holds_a_uniform_flow() {
    lbm_tests::in_turn!();
    let open = |spec: &'static str, rule: &str, values: &[(&str, &[f64])], velocity: [f64; 3]| {
        let mut grid = grid(spec, [8, 8, 8]);
        for face in &Face::ALL[..2 * dim(spec)] {
            grid = grid.with_wall(*face, rule, values);
        }
        let mut flow = simulation(spec, &grid, 1.6);
        flow.init(|_, out| {
            out[0] = 1.0;
            out[1..].copy_from_slice(&velocity[..dim(spec)]);
        })
        .unwrap();
        flow.run(200).unwrap();
        let snapshot = flow.snapshot().unwrap();
        let components = ["ux", "uy", "uz"][..dim(spec)].iter().zip(velocity);
        let worst = components.map(|(name, expected)| error(&snapshot, name, |_| expected)).fold(0.0, f64::max);
        assert!(worst < 1e-12, "{spec}, {rule}, {velocity:?}: {worst:e}");
        assert!(error(&snapshot, "rho", |_| 1.0) < 1e-12, "{spec}, {rule}, {velocity:?}");
    };
    for spec in SPECS {
        for velocity in [[0.0; 3], [0.03, -0.02, 0.01]] {
            let given = &velocity[..dim(spec)];
            open(spec, "zou_he_velocity", &[("velocity", given)], velocity);
            open(spec, "regularized_velocity", &[("velocity", given)], velocity);
            open(spec, "equilibrium", &[("density", &[1.0]), ("velocity", given)], velocity);
            open(spec, "extrapolation_outflow", &[], velocity);
            open(spec, "convective_outflow", &[("speed", &[0.5])], velocity);
            open(spec, "characteristic_velocity", &[("velocity", given), ("length", &[100.0])], velocity);
            let led = [("density", &[1.0][..]), ("length", &[100.0]), ("viscosity", &[0.03])];
            open(spec, "characteristic_pressure", &led[..2], velocity);
            open(spec, "characteristic_pressure_transverse", &led, velocity);
        }
        for rule in ["zou_he_pressure", "regularized_pressure", "anti_bounce_back"] {
            open(spec, rule, &[("density", &[1.0])], [0.0; 3]);
        }
    }
}

/// What is left of a pulse of pressure after it has reached the right end: the largest deviation of the density over the
/// height of the pulse.
fn left_of_pulse(rule: &str, values: &[(&str, &[f64])]) -> f64 {
    let (nx, height) = (96, 1e-4);
    let cs = (1f64 / 3.0).sqrt();
    let grid =
        GridSpec::periodic([nx, 8, 1]).with_wall(Face::XMin, "bounce_back", &[]).with_wall(Face::XMax, rule, values);
    let mut flow = simulation("d2q9_bgk", &grid, 1.8);
    // A simple wave to the right: u = cs (rho - 1).
    flow.init(|[x, _, _], out| {
        let pulse = height * (-((x as f64 - 48.0) / 6.0).powi(2)).exp();
        out.copy_from_slice(&[1.0 + pulse, cs * pulse, 0.0]);
    })
    .unwrap();
    // It needs 48 / cs = 83 steps to the end; then what is reflected is 33 cells away from it.
    flow.run(140).unwrap();
    error(&flow.snapshot().unwrap(), "rho", |_| 1.0) / height
}

#[test]
fn a_convective_outflow_lets_sound_leave() {
    let cs = (1f64 / 3.0).sqrt();
    let convective = left_of_pulse("convective_outflow", &[("speed", &[cs])]);
    let extrapolation = left_of_pulse("extrapolation_outflow", &[]);
    let pressure = left_of_pulse("zou_he_pressure", &[("density", &[1.0])]);
    let wall = left_of_pulse("bounce_back", &[]);
    let found = [convective, extrapolation, pressure, wall];
    for (found, expected) in found.iter().zip([0.0253, 0.2357, 0.8743, 0.8745]) {
        assert!((found - expected).abs() < 1e-3, "left of the pulse: {found}, not {expected}");
    }
}

#[test]
fn characteristic_faces_let_sound_leave() {
    let length = ("length", &[1000.0][..]);
    let pressure = left_of_pulse("characteristic_pressure", &[("density", &[1.0]), length]);
    let velocity = left_of_pulse("characteristic_velocity", &[("velocity", &[0.0, 0.0]), length]);
    assert!(pressure < 0.03 && velocity < 0.03, "left of the pulse: {pressure}, {velocity}");
}

/// A channel that begins with another density and another velocity than its faces are led to.
#[test]
fn characteristic_faces_lead_the_mean_to_what_is_given() {
    let length = ("length", &[64.0][..]);
    let grid = GridSpec::periodic([32, 8, 1])
        .with_wall(Face::XMin, "characteristic_velocity", &[("velocity", &[0.05, 0.01]), length])
        .with_wall(Face::XMax, "characteristic_pressure", &[("density", &[1.02]), length]);
    let mut flow = simulation("d2q9_bgk", &grid, 1.5);
    flow.init(|_, out| out.copy_from_slice(&[1.0, 0.02, 0.01])).unwrap();
    let mut apart = |steps: u64| {
        flow.run(steps).unwrap();
        let found = flow.snapshot().unwrap();
        error(&found, "rho", |_| 1.02).max(error(&found, "ux", |_| 0.05))
    };
    let (early, late) = (apart(20), apart(2500));
    assert!(early > 1e-2 && late < 1e-4, "{early} {late}");
}

/// A wall function sees the fourth cell, 7/2 cells from the wall, and takes what a force brings. In the steady state the velocity there is that of the law
/// at the friction of the force, whatever the viscosity of the fluid is; the viscosity of the law decides whether it is turbulent.
#[test]
fn a_wall_function_takes_the_momentum_of_its_law() {
    lbm_tests::in_turn!();
    let (n, force) = (16, 2e-6);
    for (spec, axes) in [("d2q9_guo", 2), ("d3q19_guo", 3)] {
        let bundle = {
            let model = compiled::model_with_rules(spec, &["wall_function"]);
            compiled::compile(&model, Target::C, Real::F64, Options::default_block(model.lattice().dim())).bundle
        };
        for viscosity in [1e-4, 0.2] {
            let grid = grid(spec, [8, n, 4]);
            let grid = grid.with_wall(Face::YMin, "wall_function", &[("viscosity", &[viscosity])]);
            let grid = grid.with_wall(Face::YMax, "wall_function", &[("viscosity", &[viscosity])]);
            let mut force_on = vec![0.0; axes];
            force_on[0] = force;
            let params = [("omega".to_string(), vec![1.0]), ("force".to_string(), force_on)];
            let device = Device::host(1).expect("the host is a device");
            let mut flow = Simulation::new(&device, &bundle, &grid, &params).unwrap();
            let friction = (force * n as f64 / 2.0).sqrt();
            let far = 3.5 * friction / viscosity;
            let law = if far < 11.81 { far } else { 8.3 * far.powf(1.0 / 7.0) };
            flow.init(|_, out| {
                out.fill(0.0);
                (out[0], out[1]) = (1.0, law * friction);
            })
            .unwrap();
            let mass = flow.mass().unwrap();
            flow.run(30_000).unwrap();
            assert!((flow.mass().unwrap() / mass - 1.0).abs() < 1e-11);
            let seen = flow.snapshot().unwrap();
            // Half of the force has acted on what the rule does not see.
            let found = (seen.get("ux").unwrap()[3 * 8] - force / 2.0) / friction;
            assert!((found / law - 1.0).abs() < 1e-3, "{spec}, viscosity {viscosity}: {found}, {law} by the law");
        }
    }
}
