//! Lid-driven cavities with every flow that is shipped.

use lbm_bundle::Real;
use lbm_flows::case::{self, Reference};
use lbm_runtime::device::Device;
use lbm_runtime::geometry::Face;
use lbm_runtime::solver::snapshot::Snapshot;
use lbm_runtime::solver::{GridSpec, Simulation};
use lbm_tests::flows::{FLAT, at_rest, bundle_in, cavity, dim, flows, params, simulation, viscosity};
use lbm_tests::sample::sample;

/// Slow enough for the rates that every method takes.
const LID: f64 = 0.07;

/// The rate of the viscosity `nu`, for methods where that is `(1/omega - 1/2) / 3`.
fn omega(spec: &'static str, nu: f64) -> f64 {
    let omega = 1.0 / (3.0 * nu + 0.5);
    assert!((viscosity(spec, omega) / nu - 1.0).abs() < 1e-12, "{spec}");
    omega
}

/// A component along an axis through the middle of the plane normal to z, over the velocity of the lid, at a position over
/// the extent: linear between cells, the lid's or zero at the walls.
fn on_centre_line(snapshot: &Snapshot, component: &str, axis: usize, position: f64) -> f64 {
    let n = snapshot.size()[axis];
    let values = snapshot.get(component).expect("a flow has it");
    let half = n / 2;
    let cell = |along: usize| {
        let beside = [half - 1, half].map(|across| match axis {
            0 => values[snapshot.index(along, across, 0)],
            _ => values[snapshot.index(across, along, 0)],
        });
        0.5 * (beside[0] + beside[1]) / LID
    };
    let wall = if axis == 1 && component == "ux" { 1.0 } else { 0.0 };
    let at = position * n as f64 - 0.5;
    if at < 0.0 {
        return cell(0) * (at + 0.5) * 2.0;
    }
    let below = at as usize;
    if below + 1 >= n {
        let part = (at - below as f64) * 2.0;
        return cell(n - 1) * (1.0 - part) + wall * part;
    }
    let part = at - below as f64;
    (1.0 - part) * cell(below) + part * cell(below + 1)
}

/// A square cavity at Re 100 on 32 x 32 cells, in three dimensions one layer of them, against Ghia, Ghia & Shin (1982), whose own error is up to 0.01.
#[test]
fn every_flow_fills_a_square_cavity_as_published() {
    let device = Device::host(1).expect("the host is a device");
    let Some(Reference::Profiles { curves, .. }) = case::reference("ghia1982", 2, 100.0) else { panic!("no tables") };
    let n = 32;
    for spec in sample(flows()) {
        let mut grid = GridSpec::periodic([n, n, 1]);
        for face in [Face::XMin, Face::XMax, Face::YMin] {
            grid = grid.with_wall(face, "bounce_back", &[]);
        }
        let grid = grid.with_wall(Face::YMax, "moving_wall", &[("velocity", &[LID, 0.0, 0.0][..dim(spec)])]);
        let (bundle, params) =
            (bundle_in(spec, device.target(), Real::F64, FLAT), params(spec, omega(spec, LID * n as f64 / 100.0)));
        let mut flow = Simulation::new(&device, &bundle, &grid, &params).unwrap();
        flow.init(at_rest).unwrap();
        // Some 25 turns of the lid; longer changes the fourth digit.
        flow.run(11_500).unwrap();
        let snapshot = flow.snapshot().unwrap();
        let mut worst = 0.0f64;
        for curve in &curves {
            for (position, published) in &curve.points {
                let component = ["ux", "uy"][curve.component];
                worst = worst.max((on_centre_line(&snapshot, component, curve.axis, *position) - published).abs());
            }
        }
        println!("{spec}: {worst:.4}");
        assert!(worst < 0.02, "{spec}: {worst}");
    }
}

/// A cubic cavity is its own mirror image about the middle plane along z, and stays finite, also far from resolved.
#[test]
fn a_cubic_cavity_is_symmetric() {
    lbm_tests::in_turn!();
    let device = Device::host(1).expect("the host is a device");
    let n = 16;
    for spec in flows().into_iter().filter(|spec| dim(spec) == 3) {
        // The lid moves along x at the end of z; y is across.
        let mut flow =
            simulation(spec, &device, Real::F64, &cavity(spec, [n; 3], LID), omega(spec, LID * n as f64 / 100.0));
        flow.init(at_rest).unwrap();
        flow.run(500).unwrap();
        let snapshot = flow.snapshot().unwrap();
        for (component, sign) in [("rho", 1.0), ("ux", 1.0), ("uy", -1.0), ("uz", 1.0)] {
            let values = snapshot.get(component).expect("a flow has it");
            for (x, y, z) in (0..n).flat_map(|x| (0..n / 2).flat_map(move |y| (0..n).map(move |z| (x, y, z)))) {
                let (here, there) = (values[snapshot.index(x, y, z)], values[snapshot.index(x, n - 1 - y, z)]);
                let difference = (here - sign * there).abs();
                assert!(difference < 1e-12, "{spec}: {component} at ({x}, {y}, {z}) differs by {difference:e}");
            }
        }
        let moved = snapshot.get("ux").expect("a flow has it").iter().fold(0.0f64, |most, ux| most.max(*ux));
        assert!(moved > 0.05, "{spec}: the lid moves nothing, ux <= {moved}");
    }
}
