//! Bodies that the fluid moves: streams, orbits in a shear flow, and walls.

use std::f64::consts::PI;

use lbm_bundle::{Bundle, Real};
use lbm_codegen::options::Options;
use lbm_runtime::device::Device;
use lbm_runtime::geometry::solid::{BodyState, FreeBody, Motion, Shape, Solid, Turning};
use lbm_runtime::geometry::{Block, Face};
use lbm_runtime::solver::{GridSpec, Simulation};
use lbm_tests::compiled;
use lbm_tests::flows::devices;

const RULE: &str = "interpolated_moving_wall";

const ABOUT_Z: Turning = Turning::About { axis: [0.0, 0.0, 1.0], stiffness: 0.0, damping: 0.0 };

fn bundle(spec: &str, device: &Device) -> Bundle {
    let model = compiled::model_with_all(spec, &["moving_wall", RULE, "bounce_back"], None);
    let block = Options::default_block(model.lattice().dim()).map(|side| side.min(8));
    compiled::compile_solids(&model, device.target(), Real::F64, block)
}

fn solid(shape: Shape) -> Solid {
    Solid { shape, rule: RULE.into(), values: vec![], level: 0, shells: vec![] }
}

fn circle(x: f64, y: f64, radius: f64) -> Shape {
    Shape::Cylinder { centre: [x, y, 0.0], axis: [0.0, 0.0, 1.0], radius, length: None }
}

fn params(viscosity: f64) -> Vec<(String, Vec<f64>)> {
    vec![("omega".to_string(), vec![1.0 / (3.0 * viscosity + 0.5)]), ("magic".to_string(), vec![0.1875])]
}

fn state(flow: &Simulation) -> BodyState {
    flow.bodies()[0].1
}

/// The frame does not matter: a body that moves with a uniform stream goes on. Torques of links do not cancel as their forces do, so that
/// one which turns is not as still.
#[test]
fn a_body_that_moves_with_a_uniform_stream_feels_no_force() {
    lbm_tests::in_turn!();
    for device in devices() {
        let ball = Shape::Sphere { centre: [5.2, 9.1, 7.7], radius: 3.3 };
        let cases = [
            ("d2q9_trt", [48, 32, 1], circle(20.3, 14.9, 5.2), [0.07, 0.03, 0.0], [Turning::Held, ABOUT_Z]),
            ("d3q19_trt", [16, 16, 16], ball, [0.06, -0.03, 0.04], [Turning::Held, Turning::Free]),
        ];
        let runs = cases.into_iter().flat_map(|(spec, size, shape, velocity, turnings)| {
            turnings.map(|turning| (spec, size, shape.clone(), velocity, turning))
        });
        for (spec, size, shape, velocity, turning) in runs {
            let (bundle, dim) = (bundle(spec, &device), if size[2] == 1 { 2 } else { 3 });
            let body = FreeBody { velocity, ..FreeBody::new(shape.mass(dim).unwrap(), 0.7, turning) };
            let grid = GridSpec::periodic(size).with_solid(solid(shape)).moving(Motion::free(body, 200));
            let mut flow = Simulation::new(&device, &bundle, &grid, &params(0.03)).unwrap();
            flow.init(|_, out| {
                out[0] = 1.0;
                out[1..].copy_from_slice(&velocity[..dim]);
            })
            .unwrap();
            flow.run(200).unwrap();
            let BodyState { velocity: [_, now], rotation: [_, rotation], by, .. } = state(&flow);
            let (noise, turns) = if turning == Turning::Held { (1e-12, 0.0) } else { (5e-5, 1e-4) };
            for axis in 0..3 {
                assert!((now[axis] - velocity[axis]).abs() < noise, "{spec}: {now:?}");
                assert!((by[axis] - 200.0 * velocity[axis]).abs() < 200.0 * noise, "{spec}: {by:?}");
                assert!(rotation[axis].abs() <= turns, "{spec}: {rotation:?}");
            }
        }
    }
}

/// The period of Jeffery, Proc. R. Soc. A 102 (1922) 161, for a particle of axis ratio r in a flow of shear rate G without inertia:
/// 2 pi (r + 1 / r) / G. Of the half turn that begins and ends across the flow, the part within 45 degrees of the flow takes
/// 1 - 2 atan(1 / r) / pi. Here Re is 0.1 with the longer half axis, which makes turns longer.
#[test]
fn an_ellipse_in_a_shear_flow_turns_as_jeffery_found() {
    let device = Device::host(1).unwrap();
    let bundle = bundle("d2q9_trt", &device);
    let (height, rate, ratio) = (48.0, 2e-3, 2.0);
    let shape = Shape::Ellipsoid { centre: [24.0, 24.0, 0.0], radii: [2.5, 5.0, f64::INFINITY] };
    let fastest = rate * ratio * ratio / (ratio * ratio + 1.0);
    let body = FreeBody { rotation: [0.0, 0.0, -fastest], ..FreeBody::new(shape.mass(2).unwrap(), 1.0, ABOUT_Z) };
    let wall = |sign: f64| [sign * 0.5 * rate * height, 0.0];
    let grid = GridSpec::periodic([48, 48, 1])
        .with_wall(Face::YMin, "moving_wall", &[("velocity", &wall(-1.0))])
        .with_wall(Face::YMax, "moving_wall", &[("velocity", &wall(1.0))])
        .with_solid(solid(shape))
        .moving(Motion::free(body, 10_000));
    let mut flow = Simulation::new(&device, &bundle, &grid, &params(0.5)).unwrap();
    flow.init(|[_, y, _], out| out.copy_from_slice(&[1.0, rate * (y as f64 + 0.5 - 0.5 * height), 0.0])).unwrap();
    // Times at an eighth of a turn, at three, and at four.
    let mut times = vec![];
    while times.len() < 3 && flow.step() < 6000 {
        let (before, angle) = (state(&flow), -0.25 * PI * [1.0, 3.0, 4.0][times.len()]);
        flow.run(20).unwrap();
        let after = state(&flow);
        if after.angle < angle {
            times.push(before.time + 20.0 * (before.angle - angle) / (before.angle - after.angle));
        }
    }
    let [first, third, half] = times[..] else { panic!("no half turn: {times:?}") };
    let exact = PI * (ratio + 1.0 / ratio) / rate;
    assert!((half / exact - 1.0).abs() < 0.03, "{half} {exact}");
    let along = 1.0 - 2.0 * (1.0 / ratio).atan() / PI;
    assert!(((third - first) / half / along - 1.0).abs() < 0.02, "{times:?} {along}");
}

/// It comes to rest on a thin film, and stays there.
#[test]
fn a_circle_that_falls_comes_to_rest_above_the_floor() {
    let device = Device::host(1).unwrap();
    let bundle = bundle("d2q9_trt", &device);
    let shape = circle(16.0, 12.0, 4.0);
    let body = FreeBody::new(shape.mass(2).unwrap(), 2.0, ABOUT_Z);
    let body = FreeBody { gravity: [0.0, -1e-4, 0.0], viscosity: Some(0.1), ..body };
    let mut grid = GridSpec::periodic([32, 24, 1]).with_solid(solid(shape)).moving(Motion::free(body, 10_000));
    for face in [Face::XMin, Face::XMax, Face::YMin, Face::YMax] {
        grid = grid.with_wall(face, "bounce_back", &[]);
    }
    let mut flow = Simulation::new(&device, &bundle, &grid, &params(0.1)).unwrap();
    flow.init(|_, out| out.copy_from_slice(&[1.0, 0.0, 0.0])).unwrap();
    flow.run(800).unwrap();
    let falls = state(&flow).velocity[1][1];
    // Until it rests, and long after that.
    flow.run(7000).unwrap();
    let rests = state(&flow);
    flow.run(3000).unwrap();
    let BodyState { by, velocity: [_, velocity], .. } = state(&flow);
    let gap = 8.0 + by[1];
    assert!(falls < -1e-3 && gap > 0.5 && gap < 1.0, "{falls} {gap}");
    assert!(velocity[1].abs() < 1e-2 * falls.abs() && by[0].abs() < 1e-3, "{velocity:?} {by:?}");
    assert!((by[1] - rests.by[1]).abs() < 1e-2, "{by:?} {:?}", rests.by);
}

#[test]
fn a_body_that_leaves_the_domain_ends_the_run() {
    let device = Device::host(1).unwrap();
    let bundle = bundle("d2q9_trt", &device);
    let shape = Shape::Box { from: [12.0, 3.0, f64::NEG_INFINITY], to: [20.0, 7.0, f64::INFINITY] };
    let body = FreeBody::new(shape.mass(2).unwrap(), 50.0, Turning::Held);
    let body = FreeBody { velocity: [0.0, -0.1, 0.0], ..body };
    let grid = GridSpec::periodic([32, 16, 1])
        .with_wall(Face::YMin, "bounce_back", &[])
        .with_wall(Face::YMax, "bounce_back", &[])
        .with_solid(solid(shape))
        .moving(Motion::free(body, 1000));
    let mut flow = Simulation::new(&device, &bundle, &grid, &params(0.1)).unwrap();
    flow.init(|_, out| out.copy_from_slice(&[1.0, 0.0, 0.0])).unwrap();
    let error = flow.run(100).expect_err("it leaves");
    assert!(error.to_string().contains("solid 1, which the fluid moves, has left the domain"), "{error}");
}

/// In a step links give the fluid momentum in the frame of the grid, and bodies in their own, which moves with what mass the fluid gains: in all,
/// the velocity of a body times that mass. What a body gets is smoothed, so that (mv / m) G of it is still to come (see `free`). Contacts
/// give as much as they take, and the rest is rounding: of 260 000 populations near 1e-3, added up over 5 steps, 1e-12. No centre of a cell comes
/// under a surface or out of it: those nearest are 0.2 cells away.
#[test]
fn spheres_and_fluid_have_the_momentum_that_gravity_gives() {
    let device = Device::host(1).unwrap();
    let bundle = bundle("d3q19_trt", &device);
    let (steps, gravity) = (5, [0.0, 0.0, -1e-4]);
    let mut grid = GridSpec::periodic([24, 24, 24]);
    for number in 0..27 {
        let [i, j, k] = [number % 3, number / 3 % 3, number / 9].map(f64::from);
        // The first and the second touch.
        let shift = if number == 0 { 3.0 } else { 0.0 };
        let shape = Shape::Sphere { centre: [8.0 * i + 4.0 + shift, 8.0 * j + 4.0, 8.0 * k + 4.0], radius: 2.4 };
        let velocity = [0.01 * (i - 1.0), 0.01 * (j - k), 0.005 * (i + k - 2.0)];
        let body = FreeBody::new(shape.mass(3).unwrap(), 1.5, Turning::Held);
        let body = FreeBody { gravity, velocity, viscosity: Some(0.1), ..body };
        grid = grid.with_solid(solid(shape)).moving(Motion::free(body, 100));
    }
    let body = FreeBody::new(Shape::Sphere { centre: [0.0; 3], radius: 2.4 }.mass(3).unwrap(), 1.5, Turning::Held);
    let mut flow = Simulation::new(&device, &bundle, &grid, &params(0.1)).unwrap();
    flow.init(|_, out| out.copy_from_slice(&[1.0, 0.0, 0.0, 0.0])).unwrap();
    let momentum = |flow: &mut Simulation| {
        let fluid = flow.conserved().unwrap().momentum;
        let of_bodies = |axis: usize| {
            let of = |(_, state): (usize, BodyState)| {
                body.mass * state.velocity[1][axis] + body.displaced.volume / body.mass * state.force[axis]
            };
            flow.bodies().into_iter().map(of).sum::<f64>()
        };
        [0, 1, 2].map(|axis| fluid[axis] + of_bodies(axis))
    };
    let start = momentum(&mut flow);
    let mut carried = [0.0; 3];
    for _ in 0..steps {
        let exchanges = flow.exchanges().unwrap();
        for (number, state) in flow.bodies() {
            (0..3).for_each(|axis| carried[axis] += state.velocity[1][axis] * exchanges[number].gains[0]);
        }
        flow.run(1).unwrap();
    }
    let (end, weight) = (momentum(&mut flow), 27.0 * f64::from(steps) * (body.mass - body.displaced.volume));
    for axis in 0..3 {
        let found = end[axis] - start[axis];
        assert!((found - weight * gravity[axis] - carried[axis]).abs() < 1e-11, "{axis}: {found} {carried:?}");
    }
    assert!(carried.iter().all(|along| along.abs() > 1e-6), "{carried:?}");
    // They have pushed each other apart.
    let bodies = flow.bodies();
    assert!(bodies[0].1.by[0] < -0.06 && bodies.iter().all(|(_, state)| state.by.iter().all(|by| by.abs() < 0.19)));
}

/// As GPUs replay steps: a move may come before what streams beside it, and the force of the step has been summed before both.
#[test]
fn bodies_on_two_levels_move_alike_in_parts_of_a_step() {
    let device = Device::host(1).unwrap();
    let model = compiled::model_with_all("d2q9_trt", &[RULE], Some("volumetric_shifted"));
    let bundle = compiled::compile_solids(&model, device.target(), Real::F64, [8, 8, 1]);
    let body = |shape: &Shape, velocity: [f64; 3]| {
        Motion::free(FreeBody { velocity, ..FreeBody::new(shape.mass(2).unwrap(), 1.3, ABOUT_Z) }, 200)
    };
    let (coarse, fine) = (circle(20.3, 24.9, 4.2), circle(72.2, 23.7, 2.1));
    let grid = GridSpec::periodic([96, 48, 1])
        .with_solid(solid(coarse.clone()))
        .moving(body(&coarse, [0.05, 0.02, 0.0]))
        .with_solid(Solid { level: 1, ..solid(fine.clone()) })
        .moving(body(&fine, [-0.04, 0.03, 0.0]));
    let flow = || {
        let mut flow = Simulation::refined(&device, &bundle, &grid, &params(0.03), 2, |_: Block| false).unwrap();
        flow.sum_exchanges(&[Some(4)]);
        flow.init(|place, out| out.copy_from_slice(&[1.0, 0.01 * (0.2 * place[1] as f64).sin(), 0.0])).unwrap();
        flow
    };
    let (mut whole, mut in_parts) = (flow(), flow());
    whole.run(12).unwrap();
    // Two moves of the body on the finer level in each step: the links of the other are in one set.
    assert_eq!((0..2).map(|_| in_parts.run_in_parts(6).unwrap()).collect::<Vec<_>>(), [12; 2]);
    assert_eq!(in_parts.bodies(), whole.bodies());
    assert_eq!(in_parts.take_rows(0), whole.take_rows(0));
    assert_eq!(in_parts.forces().unwrap(), whole.forces().unwrap());
    assert!(whole.bodies().iter().all(|(_, state)| state.by[0].abs() > 0.1));
}
