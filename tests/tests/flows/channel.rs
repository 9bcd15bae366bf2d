//! Plane channels driven by a force, between walls that are half-way between cells, in every flow that takes one.
//!
//! Between half-way walls the velocity is the parabola `u = G y (H - y) / (2 nu)`, with G the force over the density, and a slip
//! that is the same at all heights (He, Zou, Luo & Dembo, J. Stat. Phys. 87 (1997) 115; Ginzburg & d'Humieres, Phys. Rev. E
//! 68 (2003) 066614).

use lbm_bundle::Real;
use lbm_runtime::device::Device;
use lbm_runtime::geometry::Face;
use lbm_runtime::solver::GridSpec;
use lbm_tests::flows::{at_rest, devices, flows, method, params, simulation_with, size, viscosity};

/// Largest velocity, in cells per step.
const FASTEST: f64 = 0.01;

/// Shipped flows that take a force.
fn forced() -> impl Iterator<Item = &'static str> {
    let takes_force = |spec: &&'static str| method(spec).model.params().iter().any(|param| param.name == "force");
    flows().into_iter().filter(takes_force)
}

/// Differences from the parabola over the largest velocity across a channel of `height` cells, with the magic parameter
/// `magic` where there is one.
fn slips(spec: &'static str, device: &Device, height: usize, omega: f64, magic: f64) -> Vec<f64> {
    let nu = viscosity(spec, omega);
    let h = height as f64;
    let force = 8.0 * nu * FASTEST / (h * h);
    let mut params = params(spec, omega);
    for (name, values) in &mut params {
        match &name[..] {
            "force" => values[0] = force,
            "magic" => values[0] = magic,
            _ => {}
        }
    }
    let grid = [Face::YMin, Face::YMax]
        .into_iter()
        .fold(GridSpec::periodic(size(spec, [8, height, 4])), |grid, face| grid.with_wall(face, "bounce_back", &[]));
    let mut flow = simulation_with(spec, device, Real::F64, &grid, &params);
    flow.init(at_rest).unwrap();
    // The slowest mode decays as exp(-nu pi^2 t / H^2): by e^-32.
    flow.run((32.0 * h * h / (nu * 9.87)) as u64).unwrap();
    let snapshot = flow.snapshot().unwrap();
    let ux = snapshot.get("ux").unwrap();
    let at = |y: usize| {
        let position = y as f64 + 0.5;
        (ux[snapshot.index(3, y, 0)] - force * position * (h - position) / (2.0 * nu)) / FASTEST
    };
    (0..height).map(at).collect()
}

/// Slip over the largest velocity for the magic parameter and cells across: of second order, none at 3/16.
fn slip_expected(magic: f64, height: usize) -> f64 {
    (16.0 * magic - 3.0) / 3.0 / (height * height) as f64
}

#[test]
fn a_channel_slips_by_what_theory_says() {
    lbm_tests::in_turn!();
    assert_eq!(
        forced().collect::<Vec<_>>(),
        ["d2q9_guo", "d2q9_porous", "d3q19_guo", "d3q19_trt_guo", "d3q19_trt_guo_bounded"]
    );
    for device in devices() {
        for spec in forced() {
            let has_magic = method(spec).model.params().iter().any(|param| param.name == "magic");
            let omega: f64 = 1.25;
            // A single rate has the magic parameter (1/omega - 1/2)^2.
            let magics = if has_magic { vec![0.25, 3.0 / 16.0] } else { vec![(1.0 / omega - 0.5).powi(2)] };
            for magic in magics {
                for height in [8, 16] {
                    let expected = slip_expected(magic, height);
                    for (y, found) in slips(spec, &device, height, omega, magic).into_iter().enumerate() {
                        let place = format!("{spec}, magic {magic}, {height} cells, at {y}");
                        assert!((found - expected).abs() < 1e-12, "{place}: {found:e} for {expected:e}");
                    }
                }
            }
        }
    }
}
