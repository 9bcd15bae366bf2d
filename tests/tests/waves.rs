//! Waves decay as the viscosities that the compiler tells say, in every flow that is shipped, in second order.

use std::f64::consts::TAU;

use lbm_bundle::Real;
use lbm_runtime::device::Device;
use lbm_runtime::snapshot::Snapshot;
use lbm_runtime::step::GridSpec;
use lbm_tests::flows::{devices, flows, simulation, size, viscosity};

const OMEGA: f64 = 1.25;
/// So small that terms of second order do not show.
const AMPLITUDE: f64 = 1e-5;

/// Amplitude of `sin(kx)` in a component.
fn amplitude(snapshot: &Snapshot, component: &str) -> f64 {
    let n = snapshot.size[0];
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
    // The start lacks the non-equilibrium part; by then it is there.
    flow.run((n * n / 10) as u64).unwrap();
    let early = amplitude(&flow.snapshot().unwrap(), "uy");
    let steps = (n * n / 5) as u64;
    flow.run(steps).unwrap();
    let late = amplitude(&flow.snapshot().unwrap(), "uy");
    (early / late).ln() / (k * k * steps as f64) / viscosity(spec, OMEGA)
}

#[test]
fn shear_waves_decay_with_the_viscosity_told_in_second_order() {
    for device in devices() {
        for spec in flows() {
            let [coarse, fine] = [16, 32].map(|n| shear(spec, &device, n) - 1.0);
            let order = (coarse / fine).abs().log2();
            println!("{spec}: {coarse:.3e} {fine:.3e}, order {order:.3}");
            assert!(fine.abs() < 2.2e-3, "{spec}: the viscosity is off by {fine:e} at 32 cells a wave");
            assert!((1.9..2.1).contains(&order), "{spec}: order {order:.3}, errors {coarse:e} {fine:e}");
        }
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
