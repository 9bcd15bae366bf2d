//! Bodies that turn, and their torques.

use std::f64::consts::{PI, TAU};
use std::sync::Arc;

use lbm_runtime::device::Device;
use lbm_runtime::geometry::Block;
use lbm_runtime::geometry::solid::{Motion, Shape, Shell, Solid};
use lbm_runtime::solver::{GridSpec, Profile, Simulation, Varying};
use lbm_tests::flows::devices;

use super::{RULE, bundle, circle, following, omega, plate, solid};

#[test]
fn a_round_body_that_turns_has_the_flow_of_one_whose_surface_does() {
    for device in devices() {
        let ball = Shape::Sphere { centre: [8.2, 7.1, 8.7], radius: 4.3 };
        let cases = [
            ("d2q9_bgk", [48, 32, 1], circle(20.3, 14.9, 5.2), [20.3, 14.9, 0.0], [0.0, 0.0, 1.0]),
            ("d3q19_bgk", [16, 16, 16], ball, [8.2, 7.1, 8.7], [0.6, 0.0, 0.8]),
        ];
        for (spec, size, shape, pivot, axis) in cases {
            let (bundle, dim) = (bundle(spec, &device, None), if size[2] == 1 { 2 } else { 3 });
            let run = |turns: bool| {
                let grid = GridSpec::periodic(size).with_solid(solid(shape.clone(), RULE, 0));
                let grid = match turns {
                    true => grid.moving(Motion::new(|_| [0.0; 3], 300).turning(|time| 0.012 * time, axis, pivot)),
                    false => {
                        let across = move |at: [f64; 3], component: usize| {
                            let arm = [0, 1, 2].map(|axis| at[axis] - pivot[axis]);
                            let (next, last) = ((component + 1) % 3, (component + 2) % 3);
                            0.012 * (axis[next] * arm[last] - axis[last] * arm[next])
                        };
                        let profile = |component: usize| -> Profile { Arc::new(move |at| across(at, component)) };
                        let profiles = vec![("velocity".to_string(), (0..dim).map(profile).collect())];
                        GridSpec { surfaces: vec![Varying { profiles, timed: vec![] }], ..grid }
                    }
                };
                let mut flow = Simulation::new(&device, &bundle, &grid, &omega(1.6)).unwrap();
                flow.init(|_, out| {
                    out.fill(0.0);
                    out[..2].copy_from_slice(&[1.0, 0.03]);
                })
                .unwrap();
                flow.run(300).unwrap();
                flow.snapshot().unwrap()
            };
            let (turns, rests) = (run(true), run(false));
            let mut largest = [0.0f64; 2];
            for name in &["rho", "ux", "uy", "uz"][..dim + 1] {
                for (one, other) in turns.get(name).unwrap().iter().zip(rests.get(name).unwrap()) {
                    largest =
                        [largest[0].max((one - other).abs()), largest[1].max((other - 1.0).abs().min(other.abs()))];
                }
            }
            assert!(largest[0] < 1e-13 && largest[1] > 0.01, "{spec}: {largest:?}");
        }
    }
}

/// Couette flow between cylinders: the torque is `4 pi rho nu omega a^2 b^2 / (b^2 - a^2)`. With 16 cells across the inner one.
#[test]
fn a_cylinder_that_turns_in_another_has_its_known_torque() {
    for device in devices() {
        let bundle = bundle("d2q9_bgk", &device, None);
        let (a, b, omega_of_turn, viscosity) = (8.0, 20.0, 0.005, 1.0 / 6.0);
        let around = Shape::Outside(Box::new(circle(24.2, 23.9, b)));
        let motion = Motion::new(|_| [0.0; 3], 3000);
        let motion = motion.turning(move |time| omega_of_turn * time, [0.0, 0.0, 1.0], [24.2, 23.9, 0.0]);
        let grid = GridSpec::periodic([48, 48, 1])
            .with_solid(solid(around, "interpolated_bounce_back", 0))
            .with_solid(solid(circle(24.2, 23.9, a), RULE, 0))
            .moving(motion);
        let mut flow = Simulation::new(&device, &bundle, &grid, &omega(1.0)).unwrap();
        flow.init(|_, out| out.copy_from_slice(&[1.0, 0.0, 0.0])).unwrap();
        flow.run(3000).unwrap();
        let [_, inner] = &flow.exchanges().unwrap()[..] else { panic!("two solids") };
        let known = -4.0 * PI * viscosity * omega_of_turn * a * a * b * b / (b * b - a * a);
        let unit = known / a;
        assert!((inner.torque[2] / known - 1.0).abs() < 0.01 && inner.torque[..2] == [0.0; 2], "{inner:?} {known}");
        assert!(inner.force.iter().all(|force| force.abs() < 0.01 * unit.abs()), "{inner:?}");
    }
}

/// Once all is periodic, the wall around gets what a plate gives, over a whole turn. The plate sweeps over cells all the time: what is in front of it goes,
/// and behind it, where the pressure is lower, comes again, so that the mass falls slowly.
#[test]
fn a_plate_that_turns_has_the_torque_of_the_wall_around_it_and_keeps_the_mass_nearly() {
    lbm_tests::in_turn!();
    for device in devices() {
        let bundle = bundle("d2q9_bgk", &device, None);
        let (pivot, axis, period) = ([24.2, 23.9, 0.0], [0.0, 0.0, 1.0], 1200);
        let around = Shape::Outside(Box::new(circle(pivot[0], pivot[1], 20.3)));
        let turning = |angle: f64| Motion::new(|_| [0.0; 3], 4 * period).turning(move |time| angle * time, axis, pivot);
        let grid = GridSpec::periodic([48, 48, 1])
            // It rests, and has a torque.
            .with_solid(solid(around, RULE, 0))
            .moving(turning(0.0))
            .with_solid(solid(plate([24.2, 23.9], [10.17, 2.33]), RULE, 0))
            .moving(turning(TAU / period as f64));
        let mut flow = Simulation::new(&device, &bundle, &grid, &omega(1.0)).unwrap();
        flow.init(|_, out| out.copy_from_slice(&[1.0, 0.0, 0.0])).unwrap();
        let fluid = |flow: &mut Simulation| {
            let snapshot = flow.snapshot().unwrap();
            let rho = snapshot.get("rho").unwrap();
            let fluid = rho.iter().enumerate().filter(|(at, _)| snapshot.solid.get(*at) != Some(&true));
            fluid.fold((0.0, 0), |(mass, cells), (_, rho)| (mass + rho, cells + 1))
        };
        let (mass, cells) = fluid(&mut flow);
        flow.run(2 * period).unwrap();
        let mut torques = [0.0; 2];
        for _ in 0..period / 5 {
            let exchanges = flow.exchanges().unwrap();
            (0..2).for_each(|of| torques[of] += exchanges[of].torque[2] * 5.0 / period as f64);
            flow.run(5).unwrap();
        }
        let (after, cells_after) = fluid(&mut flow);
        // After whole turns the plate is where it was.
        assert_eq!(cells, cells_after);
        assert!((after / mass - 1.0).abs() < 0.03, "{mass} {after}");
        assert!(torques[1] < -0.5 && (torques[0] / torques[1] + 1.0).abs() < 0.01, "{torques:?}");
    }
}

/// Its mean torque is that on a uniform fine grid.
#[test]
fn a_grid_follows_a_plate_that_turns() {
    let device = Device::host(1).unwrap();
    let bundle = bundle("d2q9_bgk", &device, Some("volumetric_shifted"));
    let motion = Motion::new(|time| [0.03 * time, 0.0, 0.0], 320);
    let motion = motion.turning(|time| 0.01 * time, [0.0, 0.0, 1.0], [24.3, 32.4, 0.0]);
    let body = |level: usize| {
        let shells = vec![Shell { level, within: 3.0 }];
        Solid { shells, ..solid(plate([24.3, 32.4], [6.2, 1.1]), RULE, level) }
    };
    let run = |mut flow: Simulation| {
        flow.init(|_, out| out.copy_from_slice(&[1.0, 0.0, 0.0])).unwrap();
        flow.run(240).unwrap();
        let mut torque = 0.0;
        for _ in 0..80 {
            torque += flow.exchanges().unwrap()[0].torque[2] / 80.0;
            flow.run(1).unwrap();
        }
        (torque, flow.grid().cells(), flow.adaptations().changes)
    };
    let grid = GridSpec::periodic([64, 64, 1]).with_solid(body(1)).moving(motion);
    let (follows, cells, changes) = run(following(&device, &bundle, &grid, &omega(1.2), (1, 16), None));
    let whole = Simulation::refined(&device, &bundle, &grid, &omega(1.2), 2, |block: Block| block.level == 0).unwrap();
    let (fine, all, _) = run(whole);
    assert!(changes > 5 && 2 * cells < all, "{cells} of {all}, {changes} changes");
    assert!(fine < 0.0 && (follows / fine - 1.0).abs() < 0.005, "{follows} {fine}");
}
