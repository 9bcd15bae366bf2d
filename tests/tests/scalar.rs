//! Scalars carried by a flow or by a given velocity: against the analytic solution of advection and diffusion, and what
//! must not change.
//!
//! A wave `1 + A sin(k.x)` in a uniform velocity v becomes `1 + A exp(-D k^2 t) sin(k.(x - v t))`.

use std::f64::consts::TAU;

use lbm_bundle::{Real, Target};
use lbm_codegen::options::Options;
use lbm_dsl::model::Model;
use lbm_dsl::shipped::{self, Prelude};
use lbm_dsl::source::Source;
use lbm_runtime::device::Device;
use lbm_runtime::geometry::{Block, Face};
use lbm_runtime::solver::snapshot::Snapshot;
use lbm_runtime::solver::{Adaptivity, GridSpec, Simulation};
use lbm_tests::compiled;
use lbm_tests::criteria::{criterion, level};

type Params<'a> = &'a [(&'a str, &'a [f64])];

fn simulation(spec: &str, grid: &GridSpec, params: Params) -> Simulation {
    simulation_of(&compiled::model(spec), grid, params)
}

fn simulation_of(model: &Model, grid: &GridSpec, params: Params) -> Simulation {
    let block = Options::default_block(model.lattice().dim());
    let bundle = compiled::compile(model, Target::C, Real::F64, block).bundle;
    let params: Vec<(String, Vec<f64>)> =
        params.iter().map(|(name, values)| (name.to_string(), values.to_vec())).collect();
    let device = Device::host(1).expect("a host");
    Simulation::new(&device, &bundle, grid, &params).unwrap_or_else(|error| panic!("{error}"))
}

/// Relative L2 error of a wave of one length along every axis, after the time in which it decays to about a half and
/// travels a fifth of its length along x; the velocity halves as the cells do (diffusive scaling).
fn wave_error(
    spec: &str,
    dim: usize,
    n: usize,
    start: impl Fn(&mut [f64], f64, [f64; 3]) + Sync,
    omegas: Params,
) -> f64 {
    let size: [usize; 3] = std::array::from_fn(|axis| if axis < dim { n } else { 1 });
    let velocity: [f64; 3] =
        std::array::from_fn(|axis| if axis < dim { [0.8, 0.4, -0.4][axis] / n as f64 } else { 0.0 });
    let mut params: Vec<(&str, &[f64])> = omegas.to_vec();
    if spec == "d3q7_advection" {
        params.push(("velocity", &velocity[..dim]));
    }
    let mut flow = simulation(spec, &GridSpec::periodic(size), &params);
    let set = flow.manifest().populations.last().unwrap();
    let told = set.diffusivity.as_ref().unwrap().rate.clone().unwrap();
    let rate = omegas.iter().find(|(name, _)| *name == told).unwrap().1[0];
    let diffusivity = set.cs2 * (1.0 / rate - 0.5);
    let k = TAU / n as f64;
    let wave = move |cell: [usize; 3], time: f64| {
        let phase: f64 = (0..dim).map(|axis| k * (cell[axis] as f64 + 0.5 - velocity[axis] * time)).sum();
        (-diffusivity * k * k * dim as f64 * time).exp() * phase.sin()
    };
    flow.init(|cell, out| start(out, 1.0 + 0.1 * wave(cell, 0.0), velocity)).unwrap();
    let steps = n * n / 4;
    flow.run(steps as u64).unwrap();
    let snapshot = flow.snapshot().unwrap();
    let phi = snapshot.get("phi").unwrap();
    let (mut error, mut norm) = (0.0, 0.0);
    for (at, phi) in phi.iter().enumerate() {
        let expected = 0.1 * wave([at % n, at / n % n, at / n / n], steps as f64);
        error += (phi - 1.0 - expected).powi(2);
        norm += expected.powi(2);
    }
    (error / norm).sqrt()
}

fn second_order(errors: &[f64], bound: f64) {
    for pair in errors.windows(2) {
        let order = (pair[0] / pair[1]).log2();
        assert!((1.9..2.1).contains(&order), "order {order:.3}, errors {errors:?}");
    }
    assert!(errors.last().unwrap() < &bound, "{errors:?}");
}

#[test]
fn a_scalar_in_a_uniform_flow_converges_at_second_order() {
    let start =
        |out: &mut [f64], phi: f64, velocity: [f64; 3]| out.copy_from_slice(&[1.0, velocity[0], velocity[1], phi]);
    let omegas: Params = &[("omega", &[1.2]), ("omega_g", &[1.4])];
    let errors = [16, 32, 64].map(|n| wave_error("d2q9_scalar", 2, n, start, omegas));
    second_order(&errors, 1.1e-3);
}

#[test]
fn a_scalar_alone_converges_at_second_order() {
    let start = |out: &mut [f64], phi: f64, _: [f64; 3]| out.copy_from_slice(&[phi]);
    let errors = [16, 32].map(|n| wave_error("d3q7_advection", 3, n, start, &[("omega", &[1.4])]));
    second_order(&errors, 5.5e-3);
}

/// A Taylor-Green vortex after some time, and the sum of the scalar that it carries (if any) before and after.
fn vortex(spec: &str, params: Params, phi: impl Fn(f64) -> f64 + Sync) -> (Snapshot, Option<[f64; 2]>) {
    let n = 32;
    let mut flow = simulation(spec, &GridSpec::periodic([n, n, 1]), params);
    flow.init(|[x, y, _], out| {
        let (x, y) = (TAU * (x as f64 + 0.5) / n as f64, TAU * (y as f64 + 0.5) / n as f64);
        out[..3].copy_from_slice(&[1.0, 0.05 * x.cos() * y.sin(), -0.05 * x.sin() * y.cos()]);
        out.iter_mut().skip(3).for_each(|out| *out = phi(x));
    })
    .unwrap();
    let carried = |flow: &Simulation| flow.sums().unwrap().into_iter().find(|sums| sums.name == "g");
    let before = carried(&flow);
    flow.run(400).unwrap();
    let sums = before.zip(carried(&flow)).map(|(before, after)| [before.mass, after.mass]);
    (flow.snapshot().unwrap(), sums)
}

/// Largest difference of a component.
fn difference(a: &Snapshot, b: &Snapshot, name: &str) -> f64 {
    let pairs = a.get(name).unwrap().iter().zip(b.get(name).unwrap());
    pairs.map(|(a, b)| (a - b).abs()).fold(0.0, f64::max)
}

#[test]
fn a_passive_scalar_keeps_its_sum_and_leaves_the_flow_alone() {
    let params: Params = &[("omega", &[1.7]), ("omega_g", &[1.5])];
    let (stirred, sums) = vortex("d2q9_scalar", params, |x| if x < TAU / 2.0 { 1.0 } else { 0.0 });
    let [before, after] = sums.expect("there is a scalar");
    assert!((before - 512.0).abs() < 1e-10 && (after / before - 1.0).abs() < 1e-13, "{before} {after}");
    let phi = stirred.get("phi").unwrap();
    let spread = phi.iter().fold(0.0f64, |most, phi| most.max((phi - 0.5).abs()));
    assert!((0.05..0.45).contains(&spread), "phi is up to {spread} away from its mean");

    // Bit by bit with another scalar in the same kernel; the kernel of the flow alone rounds otherwise.
    let (uniform, _) = vortex("d2q9_scalar", params, |_| 0.3);
    let (alone, none) = vortex("d2q9_bgk", &params[..1], |_| 0.0);
    assert_eq!(none, None);
    for name in ["rho", "ux", "uy"] {
        assert_eq!(difference(&stirred, &uniform, name), 0.0, "{name}");
        assert!(difference(&stirred, &alone, name) < 1e-14, "{name}: {}", difference(&stirred, &alone, name));
    }
    let flat = uniform.get("phi").unwrap().iter().fold(0.0f64, |most, phi| most.max((phi - 0.3).abs()));
    // The velocity has a divergence of the order of the square of the Mach number.
    assert!(flat < 1e-3, "a uniform scalar does not stay so: {flat}");
}

#[test]
fn diffusion_between_walls_of_fixed_value_is_linear() {
    let height = 16;
    let grid = GridSpec::periodic([8, height, 1]).with_wall(Face::YMin, "fixed_value", &[("value", &[0.2])]).with_wall(
        Face::YMax,
        "fixed_value",
        &[("value", &[1.0])],
    );
    let mut flow = simulation("d2q9_scalar", &grid, &[("omega", &[1.0]), ("omega_g", &[1.0])]);
    flow.init(|_, out| out.copy_from_slice(&[1.0, 0.0, 0.0, 0.5])).unwrap();
    // The slowest mode decays as exp(-D pi^2 t / H^2): by e^-32 in 5000 steps.
    flow.run(6000).unwrap();
    let snapshot = flow.snapshot().unwrap();
    for (at, phi) in snapshot.get("phi").unwrap().iter().enumerate() {
        let expected = 0.2 + 0.8 * ((at / 8) as f64 + 0.5) / height as f64;
        assert!((phi - expected).abs() < 1e-12, "{phi} for {expected} at row {}", at / 8);
    }
}

#[test]
fn a_stirred_box_loses_no_scalar() {
    let mut grid = GridSpec::periodic([16, 16, 1]);
    for face in [Face::XMin, Face::XMax, Face::YMin] {
        grid = grid.with_wall(face, "bounce_back", &[]);
    }
    let grid = grid.with_wall(Face::YMax, "moving_wall", &[("velocity", &[0.08, 0.0])]);
    let mut flow = simulation("d2q9_scalar", &grid, &[("omega", &[1.7]), ("omega_g", &[1.7])]);
    flow.init(|[x, ..], out| out.copy_from_slice(&[1.0, 0.0, 0.0, if x < 8 { 1.0 } else { 0.0 }])).unwrap();
    let before = flow.sums().unwrap()[1].mass;
    flow.run(500).unwrap();
    let after = flow.sums().unwrap()[1].mass;
    assert!((after / before - 1.0).abs() < 1e-13, "{before} {after}");
}

#[test]
fn a_scalar_may_push_the_flow_that_carries_it() {
    // Buoyancy in the Boussinesq approximation: the force is a moment of the other populations.
    let text = shipped::spec("d2q9_scalar").unwrap();
    let text = text.replace("param omega_g", "param gravity[a];\nparam omega_g");
    let text = text.replace(
        "f[i] <- f[i] + omega * (feq[i] - f[i]);",
        "let force[a] = -rho * gravity[a] * (phi - 1) / 2;\n\
         f[i] <- f[i] + omega * (feq[i] - f[i]) + w[i] * dot(c[i], force) / f.cs2;",
    );
    let model = lbm_dsl::compile(&Source::new("buoyant.lbm", &text), &Prelude)
        .unwrap_or_else(|report| panic!("{}", report.render(120)));
    let params: Params = &[("omega", &[1.3]), ("gravity", &[0.0, -1e-4]), ("omega_g", &[1.1])];
    let mut flow = simulation_of(&model, &GridSpec::periodic([8, 8, 1]), params);
    flow.init(|_, out| out.copy_from_slice(&[1.0, 0.0, 0.0, 1.5])).unwrap();
    flow.run(100).unwrap();
    let snapshot = flow.snapshot().unwrap();
    for (name, expected) in [("rho", 1.0), ("ux", 0.0), ("uy", 100.0 * 1e-4 * 0.5 / 2.0), ("phi", 1.5)] {
        for value in snapshot.get(name).unwrap() {
            assert!((value - expected).abs() < 1e-13, "{name} is {value}, not {expected}");
        }
    }
}

/// Relative L2 error of a wave in a uniform flow through a refined patch with a concave corner, and the relative change of the sum of the
/// scalar.
fn error_through_levels(n: usize) -> (f64, f64) {
    let model = compiled::model("d2q9_scalar");
    let bundle = compiled::compile_levels(&model, Target::C, Real::F64, [4, 4, 1]);
    let (omega_g, velocity) = (1.4, [0.8 / n as f64, 0.4 / n as f64]);
    let params = [("omega", 1.2), ("omega_g", omega_g)].map(|(name, value)| (name.to_string(), vec![value]));
    let quarter = n / 4;
    let refined = |block: Block| {
        let [x, y] = [0, 1].map(|axis| 4 * block.place[axis] / quarter);
        block.level == 0 && (1..3).contains(&x) && (1..3).contains(&y) && (x, y) != (2, 2)
    };
    let device = Device::host(1).expect("a host");
    let grid = GridSpec::periodic([n, n, 1]);
    let mut flow = Simulation::refined(&device, &bundle, &grid, &params, 2, refined).expect("a grid");
    let (k, diffusivity) = (TAU / n as f64, (1.0 / omega_g - 0.5) / 3.0);
    let wave = move |[x, y, _]: [f64; 3], time: f64| {
        let phase = k * (x - velocity[0] * time) + k * (y - velocity[1] * time);
        (-diffusivity * 2.0 * k * k * time).exp() * phase.sin()
    };
    flow.init_cells(|cell, out| {
        out.copy_from_slice(&[1.0, velocity[0], velocity[1], 1.0 + 0.1 * wave(cell.centre(), 0.0)])
    })
    .expect("a start");
    let before = flow.sums().expect("sums")[1].mass;
    let steps = n * n / 4;
    flow.run(steps as u64).expect("it runs");
    let after = flow.sums().expect("sums")[1].mass;
    let snapshot = flow.snapshot().expect("a snapshot");
    let (mut error, mut norm) = (0.0, 0.0);
    for (position, phi) in snapshot.get("phi").expect("the scalar").iter().enumerate() {
        let (cell, volume) = (snapshot.cell(position), snapshot.volume(position / snapshot.block_cells()));
        let expected = 0.1 * wave(cell.centre(), steps as f64);
        error += volume * (phi - 1.0 - expected).powi(2);
        norm += volume * expected.powi(2);
    }
    ((error / norm).sqrt(), after / before - 1.0)
}

#[test]
fn a_scalar_crosses_refinement_interfaces_at_second_order_and_keeps_its_sum() {
    let found = [16, 32, 64].map(error_through_levels);
    println!("{found:?}");
    assert!(found.iter().all(|(_, change)| change.abs() < 1e-13), "{found:?}");
    for pair in found.windows(2) {
        let order = (pair[0].0 / pair[1].0).log2();
        assert!((1.8..2.4).contains(&order), "order {order:.3}: {found:?}");
    }
}

#[test]
fn a_scalar_keeps_its_sum_where_cells_change_their_level() {
    let device = Device::host(1).expect("a host");
    let model = compiled::model("d2q9_scalar");
    let bundle = compiled::compile_levels(&model, Target::C, Real::F64, [4, 4, 1]);
    let criterion = |formula: &str| criterion(&device, &bundle, vec![level(formula)]);
    // A fine strip that goes through the box.
    let adaptivity = Adaptivity {
        levels: 0..=1,
        start: criterion("if(abs(x - 8) < 5, 1, 0)"),
        during: Some((4, criterion("if(abs(x - 8 - t / 8) < 5, 1, 0)"))),
        pinned: vec![],
        memory: None,
        sharing: 1,
        keeps: false,
    };
    let params = [("omega", 1.7), ("omega_g", 1.5)].map(|(name, value)| (name.to_string(), vec![value]));
    let grid = GridSpec::periodic([32, 16, 1]);
    let mut flow = Simulation::adaptive(&device, &bundle, &grid, &params, &adaptivity, None).expect("a grid");
    flow.init_cells(|cell, out| {
        let [x, y, _] = cell.centre();
        out.copy_from_slice(&[1.0, 0.05 * (TAU * y / 16.0).sin(), 0.0, 1.0 + 0.5 * (TAU * x / 32.0).sin()]);
    })
    .expect("a start");
    let before = flow.sums().expect("sums")[1].mass;
    flow.run(128).expect("it runs");
    let after = flow.sums().expect("sums")[1].mass;
    assert!(flow.adaptations().changes > 5, "{:?}", flow.adaptations());
    assert!((after / before - 1.0).abs() < 1e-13, "{before} {after}");
}
