//! Moments stored in 16 bits: rounded up or down by chance, so that slow flows decay as they do in 32 bits, by the same chance wherever a cell lies.

use lbm_bundle::{Bundle, Layout, Real, Target, digits_of};
use lbm_codegen::options::Options;
use lbm_dsl::prove::moments::stored;
use lbm_dsl::prove::noise;
use lbm_runtime::device::Device;
use lbm_runtime::geometry::solid::{Shape, Solid};
use lbm_runtime::geometry::{Block, Face};
use lbm_runtime::solver::{GridSpec, Simulation};
use lbm_tests::flows::{at_rest, devices, params, size, velocity_change, viscosity};
use lbm_tests::sample::sample;
use lbm_tests::{compiled, flows};

/// Methods of 6, 5, 10 and 9 moments.
const METHODS: [&str; 4] = ["d2q9_recursive", "d2q9_central", "d3q19_recursive", "d3q27_cumulant"];

/// Kernels of a shipped method that store its moments.
fn moments(spec: &str, target: Target, real: Real) -> Bundle {
    let model = compiled::model(spec);
    let block = Options::default_block(model.lattice().dim());
    let options = Options { target, real, layout: Layout::Blocks, block, coupling: None, solids: false };
    compiled::moments_with(&model, &options)
}

/// A shear wave along y, or a vortex in x and y, of which `size` cells are one period.
fn wave(size: [usize; 3], vortex: bool, cell: [usize; 3]) -> [f64; 2] {
    let [x, y] = [0, 1].map(|axis| 2.0 * std::f64::consts::PI * (cell[axis] as f64 + 0.5) / size[axis] as f64);
    if vortex { [x.sin() * y.cos(), -x.cos() * y.sin()] } else { [y.sin(), 0.0] }
}

/// What is left of such a wave after some steps.
fn amplitude(
    device: &Device,
    bundle: &Bundle,
    spec: &'static str,
    omega: f64,
    speed: f64,
    vortex: bool,
    steps: u64,
) -> f64 {
    let size = size(spec, [32, 32, 8]);
    let mut flow = Simulation::new(device, bundle, &GridSpec::periodic(size), &params(spec, omega)).expect("a flow");
    let start = |cell: [usize; 3], out: &mut [f64]| {
        out.fill(0.0);
        let u = wave(size, vortex, cell);
        // No two cells have the same, so none is rounded as another.
        let density = 1.0 + 1e-6 * ((3 * cell[0] + 5 * cell[1] + 7 * cell[2]) as f64).sin();
        out[..3].copy_from_slice(&[density, speed * u[0], speed * u[1]]);
    };
    flow.init(start).expect("a start");
    flow.run(steps).expect("it runs");
    let snapshot = flow.snapshot().expect("fields");
    let velocity = snapshot.vector("u").expect("a velocity");
    let (mut with, mut of) = (0.0, 0.0);
    for (at, (along_x, along_y)) in velocity[0].iter().zip(velocity[1]).enumerate() {
        let u = wave(size, vortex, [at % size[0], at / size[0] % size[1], 0]);
        with += along_x * u[0] + along_y * u[1];
        of += u[0] * u[0] + u[1] * u[1];
    }
    with / of / speed
}

/// In a step a wave loses .0003 or .0007 of its velocity, and half of the last of 11 bits is .0002 to .0005 of it: to the nearest, moments
/// would stay as they are in many cells.
#[test]
fn slow_vortices_and_shear_waves_decay_as_they_do_in_32_bits() {
    for device in devices() {
        for spec in sample(METHODS) {
            let omega = 1.9;
            let steps = if flows::dim(spec) == 2 { 1000 } else { 300 };
            let [single, half] = [Real::F32, Real::F16F32].map(|real| moments(spec, device.target(), real));
            for speed in [0.05, 0.01, 0.001] {
                for vortex in [true, false] {
                    let [right, left] =
                        [&single, &half].map(|bundle| amplitude(&device, bundle, spec, omega, speed, vortex, steps));
                    let theory = f64::exp(
                        -viscosity(spec, omega)
                            * (2.0 * std::f64::consts::PI / 32.0).powi(2)
                            * (if vortex { 2.0 } else { 1.0 })
                            * steps as f64,
                    );
                    assert!((right / theory - 1.0).abs() < 0.02, "{spec} {speed} {vortex}: {right} for {theory}");
                    let decay = left.ln() / right.ln();
                    assert!((decay - 1.0).abs() < 0.005, "{spec} {speed} {vortex}: decays {decay} times as fast");
                }
            }
        }
    }
}

/// An error of each momentum in each step, of a sixth of the square of the last digit on average, and of each wave what viscosity leaves of it.
#[test]
fn what_rounding_adds_to_a_wave_is_what_is_derived() {
    let (device, spec, omega, steps) = (Device::host(1).expect("the host"), "d2q9_recursive", 1.9, 1000);
    let [single, half] = [Real::F32, Real::F16F32].map(|real| moments(spec, Target::C, real));
    let rate = viscosity(spec, omega) * 2.0 * (2.0 * std::f64::consts::PI / 32.0_f64).powi(2);
    let mut squares = vec![];
    for at in 0..12 {
        let speed = 0.01 * 1.07_f64.powi(at);
        let [right, left] = [&single, &half].map(|bundle| amplitude(&device, bundle, spec, omega, speed, true, steps));
        // The last digit of each momentum at mid-time, and the share of its error in the wave.
        let (mut error, mut of) = (0.0, 0.0);
        for cell in 0..32 * 32 {
            for u in wave([32, 32, 1], true, [cell % 32, cell / 32, 0]) {
                let last = 2f64.powi((speed * (1.0 + right) / 2.0 * u).abs().log2().floor() as i32 - 13);
                error += u * u * last * last / 6.0;
                of += u * u;
            }
        }
        let expected = error / (of * of) * (1.0 - (-2.0 * rate * steps as f64).exp()) / (2.0 * rate);
        squares.push(((left - right) * speed).powi(2) / expected);
    }
    let found = (squares.iter().sum::<f64>() / squares.len() as f64).sqrt();
    assert!((0.5..2.0).contains(&found), "{found} times what is derived: {squares:?}");
}

/// Of a uniform flow in one block, over many steps: the errors of all moments, and what the collision near the flow and streaming make of them.
#[test]
fn noise_of_a_uniform_flow_is_what_the_analysis_of_stability_gives() {
    let (side, omega, speed) = (32, 1.6, 0.05);
    let model = compiled::model("d2q9_recursive");
    let stored = stored(&model).expect("few moments");
    let lent = lbm_bundle::lent(stored.moments.iter().map(|moment| moment.name.as_str()));
    let variance = |at: usize, value: f64| {
        let behind = digits_of(&lent, at) as i32 - 1;
        // What is at rest has errors of its own noise, which are as much smaller.
        if value.abs() < 1e-9 { 0.0 } else { 4f64.powi(value.abs().log2().floor() as i32 - behind) / 6.0 }
    };
    let derived =
        noise::of_velocity(&model, &stored, &[vec![omega]], &[speed, 0.0], variance).expect("it is linear there");

    let bundle = compiled::compile_moments(&model, Target::C, Real::F16F32, [side as u32, side as u32, 1]);
    let device = Device::host(1).expect("the host");
    let grid = GridSpec::periodic([side, side, 1]);
    let mut flow = Simulation::new(&device, &bundle, &grid, &[("omega".into(), vec![omega])]).expect("a flow");
    flow.init(|_, out| out.copy_from_slice(&[1.0, speed, 0.0])).expect("a start");
    let (mut square, samples) = (0.0, 40);
    for sample in 0..samples {
        flow.run(if sample == 0 { 2000 } else { 100 }).expect("it runs");
        let snapshot = flow.snapshot().expect("fields");
        for along in snapshot.vector("u").expect("a velocity") {
            // Without the waves that nothing damps: the mean, and what changes its sign from column to column or row to row.
            let signs =
                [|_: usize, _: usize| 1.0, |x, _| 1.0 - 2.0 * (x % 2) as f64, |_, y| 1.0 - 2.0 * (y % 2) as f64];
            let cells = (side * side) as f64;
            let undamped = signs.map(|sign| {
                let of = |(at, u): (usize, &f64)| sign(at % side, at / side) * u;
                along.iter().enumerate().map(of).sum::<f64>() / cells
            });
            let left =
                along.iter().map(|u| u * u).sum::<f64>() / cells - undamped.map(|of| of * of).iter().sum::<f64>();
            square += left / f64::from(samples);
        }
    }
    let found = square.sqrt();
    assert!((0.9..1.1).contains(&(found / derived)), "{found} for {derived}");
}

/// Over many cells that store the same numbers, each with a chance of its own, the mean of what is stored is the number.
#[test]
fn moments_are_right_on_average_where_to_the_nearest_they_would_not_be() {
    for device in devices() {
        let spec = "d2q9_recursive";
        let mut flow = Simulation::new(
            &device,
            &moments(spec, device.target(), Real::F16F32),
            &GridSpec::periodic([256, 256, 1]),
            &params(spec, 1.7),
        )
        .expect("a flow");
        // A quarter of the way from a number of 14 bits to the next; the density tells cells apart.
        let (number, last) = (0.02_f64.to_bits() >> 39 << 39, 2f64.powi(-19));
        let speed = f64::from_bits(number) + 0.25 * last;
        flow.init(|[x, y, _], out| {
            out.fill(0.0);
            out[0] = 1.0 + 1e-3 * ((3 * x + 5 * y) as f64).sin();
            out[1] = speed / out[0];
        })
        .expect("a start");
        let (mut sum, mut up, mut cells) = (0.0, 0, 0);
        flow.visit_populations(|_, moments| {
            assert!((moments[1] - speed).abs() < last, "{} for {speed}", moments[1]);
            sum += moments[1];
            up += usize::from(moments[1] > speed);
            cells += 1;
        })
        .expect("moments can be read");
        let share = up as f64 / cells as f64;
        assert!((share - 0.25).abs() < 0.01, "{share} of the cells are rounded up");
        assert!((sum / cells as f64 - speed).abs() < 0.01 * last, "{} for {speed}", sum / cells as f64);
    }
}

/// The rounding of populations in 16 bits is what that of moments is to be compared with.
#[test]
fn flows_are_as_near_to_those_in_32_bits_as_populations_in_16_bits() {
    for device in devices() {
        for spec in sample(METHODS.into_iter().chain(["d2q9_hybrid"])) {
            let model = compiled::model_with_rules(spec, &["free_slip"]);
            let block = Options::default_block(model.lattice().dim());
            let of = |real, in_moments: bool| {
                let target = device.target();
                let options = Options { target, real, layout: Layout::Blocks, block, coupling: None, solids: true };
                match in_moments {
                    true => compiled::moments_with(&model, &options),
                    false => compiled::emit(&model, &options).bundle,
                }
            };
            let (dim, size) = (model.lattice().dim(), size(spec, [32, 32, 16]));
            let lid = [0.05, 0.0, 0.0];
            let shape = Shape::Cylinder { centre: [12.3, 14.1, 0.0], axis: [0.0, 0.0, 1.0], radius: 4.2, length: None };
            let solid = Solid { shape, rule: "bounce_back".into(), values: vec![], level: 0, shells: vec![] };
            let grid = GridSpec::periodic(size)
                .with_wall(Face::ALL[0], "bounce_back", &[])
                .with_wall(Face::ALL[1], "free_slip", &[])
                .with_wall(Face::ALL[2], "bounce_back", &[])
                .with_wall(Face::ALL[3], "moving_wall", &[("velocity", &lid[..dim])])
                .with_solid(solid);
            let end = |bundle: Bundle| {
                let mut flow = Simulation::new(&device, &bundle, &grid, &params(spec, 1.6)).expect("a flow");
                flow.init(at_rest).expect("a start");
                let before = flow.mass().expect("sums");
                flow.run(500).expect("it runs");
                (flow.snapshot().expect("fields"), flow.mass().expect("sums") / before - 1.0)
            };
            let (right, expected) = end(of(Real::F32, true));
            let [(populations, _), (half, drift)] = [false, true].map(|stored| end(of(Real::F16F32, stored)));
            let [known, found] = [populations, half].map(|snapshot| velocity_change(&right, &snapshot));
            assert!(found > 0.0 && found < 5e-4, "{spec}: velocities differ by {found}, of populations by {known}");
            assert!((drift - expected).abs() < 1e-5, "{spec}: mass changes by {drift}, in 32 bits by {expected}");
        }
    }
}

#[test]
fn refined_flows_are_near_to_those_in_32_bits() {
    for device in devices() {
        for (spec, size) in sample([("d2q9_recursive", [64, 64, 1]), ("d3q19_regularized", [16, 16, 16])]) {
            let model = compiled::model_with_coupling(spec, "volumetric_shifted");
            let block = Options::default_block(model.lattice().dim());
            let middle = |block: Block| block.place[..2].iter().all(|at| (1..3).contains(at));
            let [right, half] = [Real::F32, Real::F16F32].map(|real| {
                let bundle = compiled::compile_moments(&model, device.target(), real, block);
                let grid = GridSpec::periodic(size);
                let mut flow =
                    Simulation::refined(&device, &bundle, &grid, &params(spec, 1.6), 2, middle).expect("a flow");
                flow.init(|cell, out| {
                    out.fill(0.0);
                    let u = wave(size.map(|along| 2 * along), true, cell);
                    out[..3].copy_from_slice(&[1.0, 0.03 * u[0], 0.03 * u[1]]);
                })
                .expect("a start");
                flow.run(60).expect("it runs");
                flow.snapshot().expect("fields")
            });
            let change = velocity_change(&right, &half);
            assert!(change > 0.0 && change < 3e-4, "{spec}: {change:e}");
        }
    }
}

/// In blocks whose cells are no multiple of eight moments lie apart on GPUs too.
#[test]
fn a_flow_goes_on_from_its_bytes_with_the_same_bits() {
    lbm_tests::in_turn!();
    for device in devices() {
        for (spec, block, size) in [
            ("d2q9_recursive", [16, 16, 1], [32, 16, 1]),
            ("d3q27_cumulant", [8, 8, 8], [16, 8, 8]),
            ("d2q9_central", [6, 6, 1], [12, 6, 1]),
            ("d2q9_hybrid", [16, 16, 1], [32, 16, 1]),
        ] {
            let bundle = compiled::compile_moments(&compiled::model(spec), device.target(), Real::F16F32, block);
            let start = || {
                let mut flow =
                    Simulation::new(&device, &bundle, &GridSpec::periodic(size), &params(spec, 1.6)).expect("a flow");
                flow.init(|cell, out| {
                    out.fill(0.0);
                    let u = wave(size, true, cell);
                    out[..3].copy_from_slice(&[1.0 + 0.001 * u[0], 0.03 * u[0], 0.03 * u[1]]);
                })
                .expect("a start");
                flow
            };
            let [mut whole, mut later] = [start(), start()];
            whole.run(6).expect("it runs");
            let bytes = flows::bytes(&mut whole);
            assert_eq!(bytes.len(), 2 * size.iter().product::<usize>() * bundle.manifest.rows());
            flows::restore(&mut later, 6, &bytes);
            let all = |flow: &Simulation| {
                let mut all = vec![];
                flow.visit_populations(|_, moments| all.push(moments.to_vec())).expect("moments can be read");
                all
            };
            assert_eq!(all(&whole), all(&later), "{spec}");
            for flow in [&mut whole, &mut later] {
                flow.run(5).expect("it runs");
            }
            assert_eq!(all(&whole), all(&later), "{spec}");
        }
    }
}

/// What is no number may not become one by being rounded.
#[test]
fn a_flow_that_fails_stays_known_as_such() {
    for device in devices() {
        let spec = "d3q27_cumulant";
        let bundle = moments(spec, device.target(), Real::F16F32);
        let grid = GridSpec::periodic([8, 8, 8]);
        let mut flow = Simulation::new(&device, &bundle, &grid, &params(spec, 1.6)).expect("a flow");
        flow.init(|cell, out| {
            out.fill(0.0);
            out[0] = if cell == [3, 3, 3] { f64::NAN } else { 1.0 };
        })
        .expect("a start");
        flow.run(20).expect("it runs");
        let snapshot = flow.snapshot().expect("fields");
        assert!(snapshot.get("rho").expect("a density").iter().all(|rho| rho.is_nan()));
    }
}
