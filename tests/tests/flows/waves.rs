//! Shear waves decay as the viscosity that the compiler tells says, in every flow that is shipped.

use std::f64::consts::TAU;

use lbm_bundle::Real;
use lbm_runtime::device::Device;
use lbm_runtime::solver::GridSpec;
use lbm_runtime::solver::snapshot::Snapshot;
use lbm_tests::flows::{devices, flows, params, simulation, simulation_with, size, viscosity};

const OMEGA: f64 = 1.25;
/// So small that terms of second order do not show.
const AMPLITUDE: f64 = 1e-5;
/// Steps after which what is left of the start, a wave without stress, has died out: the slowest shrinks by 0.93 a step.
const START: u64 = 400;

/// Amplitude of `sin(kx)` in a component.
fn amplitude(snapshot: &Snapshot, component: &str) -> f64 {
    let n = snapshot.size()[0];
    let values = snapshot.get(component).expect("a flow has it");
    let sum: f64 = (0..values.len()).map(|at| values[at] * (TAU * ((at % n) as f64 + 0.5) / n as f64).sin()).sum();
    2.0 * sum / values.len() as f64
}

/// Viscosity from the decay `exp(-nu k^2 t)` of a shear wave `uy = A sin(kx)` of `n` cells, over what is told.
fn shear(spec: &'static str, device: &Device, n: usize) -> f64 {
    let k = TAU / n as f64;
    let mut flow = simulation(spec, device, Real::F64, &GridSpec::periodic(size(spec, [n, 8, 4])), OMEGA);
    flow.init(|[x, _, _], out| {
        out.fill(0.0);
        out[0] = 1.0;
        out[2] = AMPLITUDE * (k * (x as f64 + 0.5)).sin();
    })
    .unwrap();
    flow.run(START).unwrap();
    let early = amplitude(&flow.snapshot().unwrap(), "uy");
    let steps = (n * n / 5) as u64;
    flow.run(steps).unwrap();
    let late = amplitude(&flow.snapshot().unwrap(), "uy");
    (early / late).ln() / (k * k * steps as f64) / viscosity(spec, OMEGA)
}

#[test]
fn shear_waves_decay_with_the_viscosity_told() {
    lbm_tests::in_turn!();
    for device in devices() {
        for spec in flows() {
            let [coarse, fine] = [16, 32].map(|n| shear(spec, &device, n) - 1.0);
            let order = (coarse / fine).abs().log2();
            println!("{spec}: {coarse:.3e} {fine:.3e}, order {order:.3}");
            assert!(fine.abs() < 2.2e-3, "{spec}: the viscosity is off by {fine:e} at 32 cells a wave");
            let special = spec == "d3q27_k17";
            assert!(special || (1.9..2.1).contains(&order), "{spec}: order {order:.3}, errors {coarse:e} {fine:e}");
        }
    }
}

/// Diffusion of K17 has no error of second order but one that is no error of the lattice: stress lags behind strain by
/// `nu / cs2`, so that a wave decays `1 + nu^2 k^2 / cs2` times as fast.
#[test]
fn shear_waves_of_k17_decay_in_fourth_order() {
    let spec = "d3q27_k17";
    for device in devices() {
        let lag = |n: usize| 3.0 * (viscosity(spec, OMEGA) * TAU / n as f64).powi(2);
        let [coarse, fine] = [32, 64].map(|n| shear(spec, &device, n) - 1.0 - lag(n));
        let order = (coarse / fine).log2();
        println!("{spec}: {coarse:.3e} {fine:.3e}, order {order:.3}");
        assert!(fine.abs() < 1e-5 && (3.9..4.1).contains(&order), "order {order:.3}, errors {coarse:e} {fine:e}");
    }
}

/// Decay in the first step of a shear wave of `n` cells, over that of the viscosity told.
fn first_step(spec: &'static str, device: &Device, n: usize, with_stress: bool) -> f64 {
    let (k, omega) = (TAU / n as f64, 1.9);
    let mut flow = simulation(spec, device, Real::F64, &GridSpec::periodic(size(spec, [n, 8, 4])), omega);
    flow.init(|[x, _, _], out| {
        out[0] = 1.0;
        out[2] = AMPLITUDE * (k * (x as f64 + 0.5)).sin();
    })
    .unwrap();
    if with_stress {
        flow.start_with_stress(viscosity(spec, omega)).unwrap();
    }
    flow.run(1).unwrap();
    -(amplitude(&flow.snapshot().unwrap(), "uy") / AMPLITUDE).ln() / (k * k) / viscosity(spec, omega)
}

/// With the stress at the start the first step decays like all others, but for the error of central differences; without
/// it, like tau = 1: 19 times too fast here.
#[test]
fn a_shear_wave_that_starts_with_its_stress_decays_from_the_first_step() {
    lbm_tests::in_turn!();
    for device in devices() {
        for spec in flows() {
            let without = first_step(spec, &device, 32, false);
            let [coarse, fine] = [32, 64].map(|n| first_step(spec, &device, n, true) - 1.0);
            let order = (coarse / fine).log2();
            println!("{spec}: {without:.3} without the stress; off by {coarse:.4} {fine:.4} with it, order {order:.3}");
            assert!(without > 15.0, "{spec}: {without}");
            assert!(fine < 0.05 && (1.9..2.1).contains(&order), "{spec}: {coarse} {fine}");
        }
    }
}

/// Viscosity from the decay of a shear wave `uy = A sin(kx)` of 32 cells at the constant of a Smagorinsky model, and the
/// amplitude A half-way through.
fn with_eddies(spec: &'static str, device: &Device, constant: f64) -> [f64; 2] {
    let (n, omega, steps) = (32, 1.9, 100);
    let k = TAU / n as f64;
    let mut params = params(spec, omega);
    params.iter_mut().filter(|(name, _)| name == "smagorinsky").for_each(|(_, values)| values[0] = constant);
    let mut flow = simulation_with(spec, device, Real::F64, &GridSpec::periodic(size(spec, [n, 8, 4])), &params);
    flow.init(|[x, _, _], out| {
        out.fill(0.0);
        out[0] = 1.0;
        out[2] = 0.05 * (k * (x as f64 + 0.5)).sin();
    })
    .unwrap();
    flow.start_with_stress(viscosity(spec, omega)).unwrap();
    flow.run(100).unwrap();
    let early = amplitude(&flow.snapshot().unwrap(), "uy");
    flow.run(steps).unwrap();
    let late = amplitude(&flow.snapshot().unwrap(), "uy");
    [(early / late).ln() / (k * k * steps as f64), (early * late).sqrt()]
}

/// The eddy viscosity is `C^2 |uy'|`, whose mean over the wave, weighted with the dissipation, is `8/(3 pi) C^2 A k`.
#[test]
fn eddies_are_as_viscous_as_smagorinsky_says() {
    let specs: Vec<_> = flows().into_iter().filter(|spec| spec.contains("smagorinsky")).collect();
    assert_eq!(specs, ["d3q19_smagorinsky", "d3q27_central_smagorinsky"]);
    for device in devices() {
        for spec in &specs {
            let ([with, amplitude], [without, _]) = (with_eddies(spec, &device, 0.2), with_eddies(spec, &device, 1e-9));
            let expected = 8.0 / (1.5 * TAU) * 0.2f64.powi(2) * amplitude * TAU / 32.0;
            let ratio = (with - without) / expected;
            println!("{spec}: {ratio:.4} of the eddy viscosity, {:.3} of the viscosity", expected / without);
            assert!((ratio - 1.0).abs() < 0.02, "{spec}: {ratio}");
        }
    }
}
