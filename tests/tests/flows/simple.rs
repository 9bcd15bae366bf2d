//! Flows with known answers, through the whole chain: spec, kernels, device, time steps.
//!
//! Formulas are textbook ones for incompressible flow: Taylor-Green vortex, plane Couette flow (for example
//! Pope, Turbulent Flows, 2000; White, Viscous Fluid Flow, 2006). With the feature `cuda` everything runs on the GPU too.

use std::f64::consts::{PI, TAU};

use lbm_bundle::Real;
use lbm_runtime::device::Device;
use lbm_runtime::geometry::Face;
use lbm_runtime::solver::GridSpec;
use lbm_tests::flows::{at_rest, cavity, devices, dim, flows, simulation, size, velocity_change, viscosity};
use lbm_tests::sample::sample;

/// Waves along every axis: density 1 +- 0.01, velocity components up to 0.04.
fn waves(size: [usize; 3]) -> impl Fn([usize; 3], &mut [f64]) + Sync {
    move |cell, out| {
        let phase = |axis: usize| TAU * (cell[axis] as f64 + 0.5) / size[axis] as f64;
        out[0] = 1.0 + 0.01 * phase(0).cos();
        let dim = out.len() - 1;
        for axis in 0..dim {
            out[1 + axis] = 0.04 * (phase((axis + 1) % dim) + axis as f64).sin();
        }
    }
}

#[test]
fn a_periodic_box_keeps_mass_and_momentum() {
    for device in devices() {
        for spec in sample(flows()) {
            let size = size(spec, [16, 16, 8]);
            let cells = size.iter().product::<usize>() as f64;
            let mut flow = simulation(spec, &device, Real::F64, &GridSpec::periodic(size), 1.7);
            flow.init(waves(size)).unwrap();
            let before = flow.conserved().unwrap();
            flow.run(100).unwrap();
            let after = flow.conserved().unwrap();
            assert!((after.mass - before.mass).abs() < 1e-13 * cells, "{spec}: {before:?} {after:?}");
            for (before, after) in before.momentum.iter().zip(after.momentum) {
                assert!((before - after).abs() < 1e-14 * cells, "{spec}: {before} {after}");
            }
        }
    }
}

#[test]
fn a_closed_box_with_a_moving_lid_keeps_mass() {
    for device in devices() {
        for spec in sample(flows()) {
            let mut flow = simulation(spec, &device, Real::F64, &cavity(spec, [16; 3], 0.08), 1.7);
            flow.init(at_rest).unwrap();
            let before = flow.mass().unwrap();
            flow.run(200).unwrap();
            let after = flow.mass().unwrap();
            assert!((after / before - 1.0).abs() < 1e-13, "{spec}: {before} {after}");
            let snapshot = flow.snapshot().unwrap();
            let largest = snapshot.get("ux").unwrap().iter().fold(0.0f64, |most, ux| most.max(*ux));
            assert!(largest > 0.02, "{spec}: the lid moves nothing, ux <= {largest}");
        }
    }
}

/// Relative L2 error of the velocity of a decaying Taylor-Green vortex on n x n cells after n^2 / 8 steps, that is, at
/// the same physical time on every grid; the velocity halves as the cells do (diffusive scaling).
fn taylor_green_error(device: &Device, n: usize) -> f64 {
    let omega = 1.25;
    let viscosity = (1.0 / omega - 0.5) / 3.0;
    let (k, amplitude) = (TAU / n as f64, 0.04 * 32.0 / n as f64);
    // u = U cos kx sin ky, v = -U sin kx cos ky, p = -(rho U^2 / 4) (cos 2kx + cos 2ky), times decay, its square for p
    let velocity = move |x: usize, y: usize, decay: f64| {
        let (x, y) = (k * (x as f64 + 0.5), k * (y as f64 + 0.5));
        [amplitude * decay * x.cos() * y.sin(), -amplitude * decay * x.sin() * y.cos()]
    };
    let mut flow = simulation("d2q9_bgk", device, Real::F64, &GridSpec::periodic([n, n, 1]), omega);
    flow.init(|[x, y, _], out| {
        let doubled = |x: usize| (2.0 * k * (x as f64 + 0.5)).cos();
        out[0] = 1.0 - 3.0 * amplitude.powi(2) / 4.0 * (doubled(x) + doubled(y));
        out[1..].copy_from_slice(&velocity(x, y, 1.0));
    })
    .unwrap();
    let steps = n * n / 8;
    flow.run(steps as u64).unwrap();
    let decay = (-2.0 * viscosity * k * k * steps as f64).exp();
    let snapshot = flow.snapshot().unwrap();
    let (ux, uy) = (snapshot.get("ux").unwrap(), snapshot.get("uy").unwrap());
    let (mut error, mut norm) = (0.0, 0.0);
    for (x, y) in (0..n).flat_map(|x| (0..n).map(move |y| (x, y))) {
        let at = snapshot.index(x, y, 0);
        let [u, v] = velocity(x, y, decay);
        error += (ux[at] - u).powi(2) + (uy[at] - v).powi(2);
        norm += u * u + v * v;
    }
    (error / norm).sqrt()
}

#[test]
fn the_taylor_green_vortex_converges_at_second_order() {
    for device in devices() {
        let errors: Vec<f64> = [16, 32, 64].into_iter().map(|n| taylor_green_error(&device, n)).collect();
        for pair in errors.windows(2) {
            let order = (pair[0] / pair[1]).log2();
            assert!((1.9..2.1).contains(&order), "order {order:.3}, errors {errors:?}");
        }
        assert!(errors[2] < 1.3e-3, "{errors:?}");
    }
}

/// Largest difference of Couette flow to the straight line, with a lid of that velocity.
fn couette_error(spec: &'static str, device: &Device, speed: f64) -> f64 {
    let height = 16;
    let grid = GridSpec::periodic(size(spec, [8, height, 4])).with_wall(Face::YMin, "bounce_back", &[]).with_wall(
        Face::YMax,
        "moving_wall",
        &[("velocity", &[speed, 0.0, 0.0][..dim(spec)])],
    );
    let mut flow = simulation(spec, device, Real::F64, &grid, 1.0);
    flow.init(at_rest).unwrap();
    // The slowest mode decays as exp(-nu pi^2 t / H^2): by e^-36.
    let slowest = viscosity(spec, 1.0) * (PI / height as f64).powi(2);
    flow.run((36.0 / slowest) as u64).unwrap();
    let snapshot = flow.snapshot().unwrap();
    let (ux, uy) = (snapshot.get("ux").unwrap(), snapshot.get("uy").unwrap());
    let [width, _, depth] = snapshot.size();
    let cells = (0..width).flat_map(|x| (0..height).flat_map(move |y| (0..depth).map(move |z| [x, y, z])));
    cells.fold(0.0, |most: f64, [x, y, z]| {
        let at = snapshot.index(x, y, z);
        let error = (ux[at] - speed * (y as f64 + 0.5) / height as f64).abs() + uy[at].abs();
        if error.is_nan() { f64::NAN } else { most.max(error) }
    })
}

#[test]
fn couette_flow_is_exact() {
    lbm_tests::in_turn!();
    for device in devices() {
        for spec in flows() {
            let error = couette_error(spec, &device, 0.05);
            // Walls disturb the stresses along them that go with u^2. An eddy viscosity and the third cumulants of K17 feel
            // that, in the third order of the velocity.
            let feels = spec.contains("smagorinsky") || spec == "d3q27_k17";
            println!("{spec}: {error:.2e}");
            assert!(error < if feels { 2e-7 } else { 1e-13 }, "{spec}: {error:e}");
            if feels {
                let order = (error / couette_error(spec, &device, 0.025)).log2();
                println!("{spec}: order {order:.2} in the velocity");
                assert!(order > 2.9, "{spec}: order {order}");
            }
        }
    }
}

#[test]
fn single_precision_follows_double() {
    for device in devices() {
        for spec in ["d2q9_bgk", "d3q27_cumulant"] {
            let run = |real| {
                let mut flow = simulation(spec, &device, real, &cavity(spec, [16; 3], 0.08), 1.7);
                flow.init(at_rest).unwrap();
                flow.run(100).unwrap();
                flow.snapshot().unwrap()
            };
            let change = velocity_change(&run(Real::F32), &run(Real::F64));
            assert!(change > 0.0 && change < 1e-5, "{spec}: {change}");
        }
    }
}

#[cfg(feature = "cuda")]
#[test]
fn the_gpu_does_what_the_host_does() {
    let devices = devices();
    for spec in flows() {
        for (real, allowed) in [(Real::F64, 1e-13), (Real::F32, 1e-5)] {
            let run = |device: &Device| {
                let mut flow = simulation(spec, device, real, &cavity(spec, [24; 3], 0.08), 1.7);
                flow.init(at_rest).unwrap();
                // Odd, and long enough for recorded launches.
                flow.run(77).unwrap();
                flow.snapshot().unwrap()
            };
            let change = velocity_change(&run(&devices[0]), &run(&devices[1]));
            assert!(change < allowed, "{spec} {real:?}: {change}");
        }
    }
}
