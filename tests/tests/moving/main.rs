//! Solids that move as prescribed: what does not depend on the frame does not, and known forces.

mod forces;
mod refused;
mod resumed;
mod turning;
mod uniform;

use lbm_bundle::{Bundle, Real};
use lbm_codegen::options::Options;
use lbm_runtime::device::Device;
use lbm_runtime::geometry::Block;
use lbm_runtime::geometry::solid::{Shape, Solid};
use lbm_runtime::solver::snapshot::Snapshot;
use lbm_runtime::solver::{Adaptivity, GridSpec, Simulation};
use lbm_tests::compiled;
use lbm_tests::criteria::criterion;

const RULE: &str = "interpolated_moving_wall";

/// The kernels of a shipped method with walls that move, for solids.
fn bundle(spec: &str, device: &Device, coupling: Option<&str>) -> Bundle {
    let model =
        compiled::model_with_all(spec, &["moving_wall", RULE, "interpolated_bounce_back", "equilibrium"], coupling);
    let block = Options::default_block(model.lattice().dim()).map(|side| side.min(8));
    compiled::compile_solids(&model, device.target(), Real::F64, block)
}

fn solid(shape: Shape, rule: &str, level: usize) -> Solid {
    Solid { shape, rule: rule.into(), values: vec![], level, shells: vec![] }
}

fn circle(x: f64, y: f64, radius: f64) -> Shape {
    Shape::Cylinder { centre: [x, y, 0.0], axis: [0.0, 0.0, 1.0], radius, length: None }
}

/// Largest difference of the velocity in the fluid from one value.
fn largest_difference(snapshot: &Snapshot, velocity: [f64; 3]) -> f64 {
    let names = ["ux", "uy", "uz"];
    let of_axis = |axis: usize| {
        let values = snapshot.get(names[axis]).unwrap_or_default();
        let fluid = values.iter().enumerate().filter(|(at, _)| snapshot.solid.get(*at) != Some(&true));
        fluid
            .map(|(_, value)| (value - velocity[axis]).abs())
            .fold(0.0, |a: f64, b| if b > a || b.is_nan() { b } else { a })
    };
    (0..3).map(of_axis).fold(0.0, f64::max)
}

fn omega(omega: f64) -> Vec<(String, Vec<f64>)> {
    vec![("omega".to_string(), vec![omega])]
}

/// A flow on so many levels besides the coarsest whose grid follows the solids alone, every so many steps; as it was at a step, if given.
fn following(
    device: &Device,
    bundle: &Bundle,
    grid: &GridSpec,
    params: &[(String, Vec<f64>)],
    (finest, every): (usize, u64),
    refined: Option<(&(dyn Fn(Block) -> bool + Sync), u64)>,
) -> Simulation {
    let nothing = criterion(device, bundle, vec![]);
    let adaptivity = Adaptivity {
        levels: 0..=finest,
        start: nothing.clone(),
        during: Some((every, nothing)),
        pinned: vec![],
        memory: None,
        sharing: 1,
        keeps: false,
    };
    Simulation::adaptive(device, bundle, grid, params, &adaptivity, refined).unwrap()
}

/// A box in two dimensions, which has no end along z.
fn plate(centre: [f64; 2], half: [f64; 2]) -> Shape {
    let corner = |sign: f64| [0, 1].map(|axis| centre[axis] + sign * half[axis]);
    let ([x, y], [to_x, to_y]) = (corner(-1.0), corner(1.0));
    Shape::Box { from: [x, y, f64::NEG_INFINITY], to: [to_x, to_y, f64::INFINITY] }
}
