//! Simple cubic arrays of spheres in slow flows, one sphere in a periodic box: their drag at rest, and how fast they settle, against the
//! solution of Stokes' equations.

use std::f64::consts::PI;

use lbm_bundle::{Bundle, Real};
use lbm_runtime::device::Device;
use lbm_runtime::geometry::solid::{FreeBody, Motion, Shape, Solid, Turning};
use lbm_runtime::solver::{GridSpec, Simulation};
use lbm_tests::compiled;

const VISCOSITY: f64 = 1.0 / 6.0;

/// Force on the fluid in each cell.
const FORCE: f64 = 1e-5;

/// Drag of a sphere of the array over that of one alone, in a flow with the same flux of volume, by the fraction of spheres in the volume:
/// Zick & Homsy, J. Fluid Mech. 115 (1982) 13, table 2.
const DRAG: [(f64, f64); 4] = [(0.064, 2.810), (0.125, 4.292), (0.216, 7.442), (0.343, 15.4)];

fn bundle(device: &Device) -> Bundle {
    let rules = ["interpolated_moving_wall", "interpolated_bounce_back"];
    let model = compiled::model_with_all("d3q19_trt_guo", &rules, None);
    compiled::compile_solids(&model, device.target(), Real::F64, [4, 4, 4])
}

/// A box of one sphere, away from where cells are symmetric to it, with a force on the fluid. `density`: over that of the fluid, of a sphere
/// that settles, whose weight balances the force.
struct Array {
    flow: Simulation,
    volume: f64,
    fraction: f64,
    radius: f64,
}

impl Array {
    fn new(side: usize, fraction: f64, density: Option<f64>) -> Array {
        let (device, volume) = (Device::host(1).unwrap(), (side * side * side) as f64);
        let radius = (0.75 * fraction * volume / PI).cbrt();
        let centre = [0.3, 0.1, 0.4].map(|off| 0.5 * side as f64 + off);
        let rule = if density.is_some() { "interpolated_moving_wall" } else { "interpolated_bounce_back" };
        let shape = Shape::Sphere { centre, radius };
        let mut grid = GridSpec::periodic([side; 3]);
        let solid = Solid { shape: shape.clone(), rule: rule.into(), values: vec![], level: 0, shells: vec![] };
        grid = grid.with_solid(solid);
        if let Some(density) = density {
            let body = FreeBody::new(shape.mass(3).unwrap(), density, Turning::Free);
            // In a vessel the mean gradient of pressure bears the part `fraction` of the weight.
            let gravity = [0.0, 0.0, -FORCE * (1.0 - fraction) / (fraction * (density - 1.0))];
            grid = grid.moving(Motion::free(FreeBody { gravity, ..body }, 100_000));
        }
        let omega = 1.0 / (3.0 * VISCOSITY + 0.5);
        let params = [("omega", vec![omega]), ("magic", vec![0.1875]), ("force", vec![0.0, 0.0, FORCE])];
        let params = params.map(|(name, values)| (name.to_string(), values));
        let mut flow = Simulation::new(&device, &bundle(&device), &grid, &params).unwrap();
        flow.init(|_, out| out.copy_from_slice(&[1.0, 0.0, 0.0, 0.0])).unwrap();
        Array { flow, volume, fraction, radius }
    }

    /// The drag over that of a sphere alone, from the velocity of the sphere relative to the flux of volume.
    fn drag(&self) -> f64 {
        let own = self.flow.bodies().first().map_or(0.0, |(_, state)| state.velocity[1][2]);
        // Populations after a collision have half of the force of a step more than the velocity says.
        let fluid = self.flow.conserved().unwrap().momentum[2] / self.volume - 0.5 * FORCE * (1.0 - self.fraction);
        let relative = fluid + self.fraction * own - own;
        FORCE * self.volume / (6.0 * PI * VISCOSITY * self.radius * relative)
    }
}

#[test]
fn the_drag_of_cubic_arrays_is_that_of_zick_and_homsy() {
    lbm_tests::in_turn!();
    for (fraction, expected) in DRAG {
        let mut array = Array::new(24, fraction, None);
        // Eight times in which the velocity comes near its end by a factor e, for the lowest drag.
        array.flow.run(2000).unwrap();
        let found = array.drag();
        assert!((found / expected - 1.0).abs() < 0.02, "{fraction}: {found} {expected}");
    }
}

/// With 10 cells across it.
#[test]
fn a_sphere_of_a_cubic_array_settles_as_zick_and_homsy_say() {
    lbm_tests::in_turn!();
    let (fraction, expected) = DRAG[1];
    let mut array = Array::new(16, fraction, Some(1.5));
    array.flow.run(800).unwrap();
    let (parts, mut found) = (20, 0.0);
    for _ in 0..parts {
        array.flow.run(50).unwrap();
        found += array.drag() / f64::from(parts);
    }
    let by = array.flow.bodies()[0].1.by[2];
    assert!((found / expected - 1.0).abs() < 0.05 && by < -0.8, "{found} {expected} {by}");
}
