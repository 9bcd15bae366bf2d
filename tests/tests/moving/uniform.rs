//! A uniform flow stays uniform around bodies that move with it.

use lbm_bundle::Real;
use lbm_codegen::options::Options;
use lbm_runtime::device::Device;
use lbm_runtime::geometry::solid::{Motion, Shape, Solid};
use lbm_runtime::geometry::{Block, Face};
use lbm_runtime::solver::{GridSpec, Simulation};
use lbm_tests::compiled;
use lbm_tests::flows::devices;

use super::{RULE, bundle, circle, following, largest_difference, omega, solid};

#[test]
fn a_uniform_flow_stays_uniform_around_a_body_that_moves_with_it() {
    for device in devices() {
        let ball = Shape::Sphere { centre: [5.2, 9.1, 7.7], radius: 3.3 };
        let cases = [
            ("d2q9_bgk", [48, 32, 1], circle(20.3, 14.9, 5.2), [0.07, 0.03, 0.0]),
            ("d3q19_bgk", [16, 16, 16], ball, [0.06, -0.03, 0.04]),
        ];
        for (spec, size, shape, velocity) in cases {
            for rule in ["moving_wall", RULE] {
                let bundle = bundle(spec, &device, None);
                let motion = Motion::new(move |time| velocity.map(|along| along * time), 400);
                let grid = GridSpec::periodic(size).with_solid(solid(shape.clone(), rule, 0)).moving(motion);
                let mut flow = Simulation::new(&device, &bundle, &grid, &omega(1.6)).unwrap();
                let dim = if size[2] == 1 { 2 } else { 3 };
                flow.init(|_, out| {
                    out[0] = 1.0;
                    out[1..].copy_from_slice(&velocity[..dim]);
                })
                .unwrap();
                flow.run(400).unwrap();
                let difference = largest_difference(&flow.snapshot().unwrap(), velocity);
                let force = flow.forces().unwrap()[0];
                assert!(difference < 1e-13, "{spec} {rule}: {difference:e}");
                assert!(force.iter().all(|force| force.abs() < 1e-12), "{spec} {rule}: {force:?}");
            }
        }
    }
}

/// Outlets read what is in cells before them; no solid may be there for a fluid.
#[test]
fn a_uniform_flow_stays_uniform_where_a_body_stands_in_an_outlet_or_leaves_through_it() {
    lbm_tests::in_turn!();
    let block = |from: [f64; 3], to: [f64; 3]| Shape::Box { from, to };
    let pipe = Shape::Cylinder { centre: [0.0, 8.2, 7.9], axis: [1.0, 0.0, 0.0], radius: 5.3, length: None };
    let pipe = Shape::Outside(Box::new(pipe));
    let cases = [
        ("d2q9_bgk", [32, 16, 1], block([28.0, 6.0, -1.0], [33.0, 10.0, 1.0]), false),
        ("d2q9_bgk", [32, 16, 1], block([29.0, 6.0, -1.0], [31.0, 10.0, 1.0]), false),
        ("d2q9_bgk", [32, 16, 1], circle(27.0, 8.2, 3.6), true),
        ("d3q19_regularized", [16, 16, 16], block([13.0, 5.0, 6.0], [15.2, 12.0, 11.0]), false),
        ("d3q19_regularized", [16, 16, 16], pipe, false),
        ("d3q19_regularized", [16, 16, 16], Shape::Sphere { centre: [11.5, 8.1, 7.7], radius: 3.3 }, true),
    ];
    let rules = [RULE, "free_slip", "extrapolation_outflow", "convective_outflow"];
    for device in devices() {
        for spec in ["d2q9_bgk", "d3q19_regularized"] {
            let model = compiled::model_with_all(spec, &rules, None);
            let dim = model.lattice().dim();
            let velocity = [0.08, 0.0, 0.0];
            let block = Options::default_block(dim);
            let mut bundles = vec![compiled::compile_solids(&model, device.target(), Real::F64, block)];
            if dim == 3 {
                bundles.push(compiled::compile_moments(&model, device.target(), Real::F64, block));
            }
            let both = bundles.iter().flat_map(|bundle| [(bundle, rules[2]), (bundle, rules[3])]);
            let of_spec = cases.iter().filter(|case| case.0 == spec);
            let runs = of_spec.flat_map(|case| both.clone().map(move |run| (case, run)));
            for ((_, size, shape, leaves), (bundle, outlet)) in runs {
                let values = vec![("velocity".to_string(), velocity[..dim].to_vec())];
                let solid = Solid { values, ..solid(shape.clone(), if *leaves { RULE } else { "moving_wall" }, 0) };
                let mut grid = GridSpec::periodic(*size)
                    .with_wall(Face::XMin, "moving_wall", &[("velocity", &velocity[..dim])])
                    .with_wall(Face::YMin, "free_slip", &[])
                    .with_wall(Face::YMax, "free_slip", &[])
                    .with_solid(solid);
                let speed: &[(&str, &[f64])] = if outlet == rules[3] { &[("speed", &[0.5])] } else { &[] };
                grid = grid.with_wall(Face::XMax, outlet, speed);
                if *leaves {
                    grid = grid.moving(Motion::new(move |time| velocity.map(|along| along * time), 200));
                }
                let mut flow = Simulation::new(&device, bundle, &grid, &omega(1.6)).unwrap();
                flow.init(|_, out| {
                    out.fill(0.0);
                    (out[0], out[1]) = (1.0, velocity[0]);
                })
                .unwrap();
                flow.run(200).unwrap();
                let snapshot = flow.snapshot().unwrap();
                let apart = largest_difference(&snapshot, velocity);
                let what =
                    format!("{spec} {size:?} {shape:?} {outlet}, moments: {}", !bundle.manifest.moments.is_empty());
                assert!(apart < 1e-13, "{what}: {apart:e}");
                let density = snapshot.get("rho").unwrap();
                let fluid = (0..density.len()).filter(|at| snapshot.solid.get(*at) != Some(&true));
                assert!(fluid.into_iter().all(|at| (density[at] - 1.0).abs() < 1e-12), "{what}");
            }
        }
    }
}

#[test]
fn a_uniform_flow_stays_uniform_on_a_refined_grid() {
    lbm_tests::in_turn!();
    let device = Device::host(1).unwrap();
    for coupling in ["volumetric_shifted", "interpolated"] {
        let bundle = bundle("d2q9_bgk", &device, Some(coupling));
        // Up and down, and from the end of the domain to its beginning.
        let velocity = [0.07, 0.03, 0.0];
        let motion = Motion::new(move |time| velocity.map(|along| along * time), 200);
        let grid = GridSpec::periodic([64, 64, 1]).with_solid(solid(circle(50.3, 14.9, 4.2), RULE, 2)).moving(motion);
        let mut flow = Simulation::refined(&device, &bundle, &grid, &omega(1.6), 3, |_: Block| false).unwrap();
        let cells = flow.grid().cells_of_levels();
        assert!(cells.iter().all(|cells| *cells > 0), "{cells:?}");
        flow.init(|_, out| out.copy_from_slice(&[1.0, velocity[0], velocity[1]])).unwrap();
        flow.run(200).unwrap();
        let difference = largest_difference(&flow.snapshot().unwrap(), velocity);
        assert!(difference < 1e-12, "{coupling}: {difference:e}");
    }
}

#[test]
fn a_uniform_flow_stays_uniform_on_a_grid_that_follows_the_body() {
    lbm_tests::in_turn!();
    for device in devices() {
        for (spec, coupling) in
            [("d2q9_bgk", "volumetric_shifted"), ("d2q9_bgk", "interpolated"), ("d3q19_bgk", "volumetric_shifted")]
        {
            let bundle = bundle(spec, &device, Some(coupling));
            let flat = spec.starts_with("d2");
            // From the end of the domain to its beginning, and over several blocks.
            let (velocity, size, shape) = match flat {
                true => ([0.07, 0.03, 0.0], [64, 64, 1], circle(50.3, 14.9, 4.2)),
                false => ([0.06, -0.03, 0.04], [32, 32, 32], Shape::Sphere { centre: [26.2, 9.1, 17.7], radius: 2.3 }),
            };
            let steps = if flat { 400 } else { 80 };
            let motion = Motion::new(move |time| velocity.map(|along| along * time), steps);
            let grid = GridSpec::periodic(size).with_solid(solid(shape, RULE, 2)).moving(motion);
            let mut flow = following(&device, &bundle, &grid, &omega(1.6), (2, 24), None);
            let dim = if flat { 2 } else { 3 };
            flow.init(|_, out| {
                out[0] = 1.0;
                out[1..].copy_from_slice(&velocity[..dim]);
            })
            .unwrap();
            let at_start = flow.grid().cells();
            let whole = Simulation::refined(&device, &bundle, &grid, &omega(1.6), 3, |_: Block| false).unwrap();
            flow.run(steps).unwrap();
            let difference = largest_difference(&flow.snapshot().unwrap(), velocity);
            assert!(difference < 1e-12, "{spec} {coupling}: {difference:e}");
            let force = flow.forces().unwrap()[0];
            assert!(force.iter().all(|force| force.abs() < 1e-11), "{spec} {coupling}: {force:?}");
            let (cells, all) = (flow.grid().cells(), whole.grid().cells());
            assert!(flow.adaptations().changes > 2, "{:?}", flow.adaptations());
            assert!(
                cells < 3 * at_start / 2 && 4 * cells < 3 * all,
                "{spec}: {at_start}, {cells}, {all} on all of its way"
            );
        }
    }
}
