//! Standing sound waves decay as the viscosities that the compiler tells say, at the speed of sound, in second order.
//!
//! In an isothermal fluid a wave `exp(ikx + st)` has `s^2 + nu_L k^2 s + cs^2 k^2 = 0` with the longitudinal viscosity
//! `nu_L = 2 (D-1)/D nu + zeta/rho` (Landau & Lifshitz, Fluid Mechanics, section 79).

use std::f64::consts::TAU;

use lbm_bundle::Real;
use lbm_runtime::device::Device;
use lbm_runtime::solver::GridSpec;
use lbm_runtime::solver::snapshot::Snapshot;
use lbm_tests::flows::{bulk_viscosity, devices, dim, flows, simulation, size, viscosity};

const OMEGA: f64 = 1.25;
/// So small that terms of second order do not show.
const AMPLITUDE: f64 = 1e-5;
/// Steps after which what is left of the start, a wave without stress, has died out: the slowest shrinks by 0.93 a step.
const START: u64 = 400;

/// Amplitude of `cos(kx)` in the density.
fn amplitude(snapshot: &Snapshot) -> f64 {
    let n = snapshot.size()[0];
    let rho = snapshot.get("rho").expect("a flow has it");
    let sum: f64 = (0..rho.len()).map(|at| (rho[at] - 1.0) * (TAU * ((at % n) as f64 + 0.5) / n as f64).cos()).sum();
    2.0 * sum / rho.len() as f64
}

/// Bulk viscosity over the density in a plane wave.
fn bulk(spec: &'static str) -> f64 {
    match spec {
        // What is told is that of compression alone. In a wave the non-equilibrium is proportional to w (3 c_x^2 - 1), of which
        // the shear part s and the rest h have <s|h> = -1/2 <h|h>, so that the rest relaxes at the rate 2 / (1 + 1/omega).
        "d3q27_kbc" => 1.0 / (9.0 * OMEGA),
        _ => bulk_viscosity(spec, OMEGA),
    }
}

/// Damping rate and angular frequency of a standing wave of `n` cells, over what theory says.
fn wave(spec: &'static str, device: &Device, n: usize) -> [f64; 2] {
    let k = TAU / n as f64;
    let mut flow = simulation(spec, device, Real::F64, &GridSpec::periodic(size(spec, [n, 8, 4])), OMEGA);
    flow.init(|[x, _, _], out| {
        out.fill(0.0);
        out[0] = 1.0 + AMPLITUDE * (k * (x as f64 + 0.5)).cos();
    })
    .unwrap();
    flow.run(START).unwrap();
    // Four amplitudes, a quarter of a period apart: a[j+2] = 2 e^(-Gamma m) cos(Omega m) a[j+1] - e^(-2 Gamma m) a[j].
    let m = (3f64.sqrt() * n as f64 / 4.0).round();
    let a = [0; 4].map(|_| {
        let now = amplitude(&flow.snapshot().unwrap());
        flow.run(m as u64).unwrap();
        now
    });
    let determinant = a[1] * a[1] - a[0] * a[2];
    let middle = (a[1] * a[2] - a[0] * a[3]) / determinant;
    let last = (a[2] * a[2] - a[1] * a[3]) / determinant;
    let damping = -last.ln() / (2.0 * m);
    let frequency = (middle / (2.0 * last.sqrt())).acos() / m;

    let d = dim(spec) as f64;
    let longitudinal = 2.0 * (d - 1.0) / d * viscosity(spec, OMEGA) + bulk(spec);
    let expected = longitudinal * k * k / 2.0;
    [damping / expected, frequency / (k * k / 3.0 - expected * expected).sqrt()]
}

#[test]
fn sound_decays_with_the_viscosities_told_in_second_order() {
    lbm_tests::in_turn!();
    for device in devices() {
        for spec in flows() {
            let [coarse, fine] = [16, 32].map(|n| wave(spec, &device, n).map(|over| over - 1.0));
            let orders = [0, 1].map(|at| (coarse[at] / fine[at]).abs().log2());
            println!("{spec}: damping {:.2e} {:.2e}, order {:.2}", coarse[0], fine[0], orders[0]);
            println!("{spec}: frequency {:.2e} {:.2e}, order {:.2}", coarse[1], fine[1], orders[1]);
            for (what, at, allowed) in [("damping", 0, 7e-3), ("frequency", 1, 1.2e-3)] {
                let (error, order) = (fine[at], orders[at]);
                assert!(error.abs() < allowed, "{spec}: {what} is off by {error:e} at 32 cells a wave");
                // Errors of fourth order show where those of second order nearly cancel.
                assert!(order > 1.7, "{spec}: {what} converges at order {order:.2}");
            }
        }
    }
}
