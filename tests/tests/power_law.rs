//! A power-law fluid in a plane channel, driven by a force, against its profile.
//!
//! With the viscosity `nu (rate / reference)^(n - 1)` and `reference` the shear rate at the walls, a channel of height `h` has the
//! velocity `U (1 - |1 - 2 y / h|^((n + 1) / n))`, where the rate at the walls is `2 U (n + 1) / (n h)` and the force `2 nu rate / h`
//! (Bird, Armstrong & Hassager, Dynamics of Polymeric Liquids 1 (1987), chapter 4). The error is measured in the L2 norm over
//! the cells, relative to the profile; as the cells become smaller, the velocity falls with them (diffusive scaling).

use lbm_bundle::Real;
use lbm_runtime::device::Device;
use lbm_runtime::geometry::Face;
use lbm_runtime::solver::{GridSpec, Simulation};
use lbm_tests::flows::{devices, simulation_with};

/// Viscosity at the walls, in cells and steps. In the middle an index of less than 1 has a far larger one, and a single rate has errors
/// that grow with its square: with five times as much the order is 1.7 for an index of 1/2.
const VISCOSITY: f64 = 0.01;

/// Largest velocity in a channel of 16 cells.
const FASTEST: f64 = 0.02;

struct Channel {
    height: usize,
    index: f64,
}

impl Channel {
    fn fastest(&self) -> f64 {
        FASTEST * 16.0 / self.height as f64
    }

    /// Shear rate at the walls.
    fn rate(&self) -> f64 {
        2.0 * self.fastest() * (self.index + 1.0) / (self.index * self.height as f64)
    }

    fn profile(&self, y: usize) -> f64 {
        let place = 1.0 - 2.0 * (y as f64 + 0.5) / self.height as f64;
        self.fastest() * (1.0 - place.abs().powf((self.index + 1.0) / self.index))
    }

    /// From the profile on, until it changes no more.
    fn run(&self, device: &Device) -> Simulation {
        let force = 2.0 * VISCOSITY * self.rate() / self.height as f64;
        let given = [
            ("viscosity", VISCOSITY),
            ("reference", self.rate()),
            ("index", self.index),
            ("slowest", 1e-4 * self.rate()),
        ];
        let scalars = given.map(|(name, value)| (name.to_string(), vec![value]));
        let params: Vec<_> = scalars.into_iter().chain([("force".to_string(), vec![force, 0.0])]).collect();
        let grid = [Face::YMin, Face::YMax]
            .into_iter()
            .fold(GridSpec::periodic([8, self.height, 1]), |grid, face| grid.with_wall(face, "bounce_back", &[]));
        let mut flow = simulation_with("d2q9_power_law", device, Real::F64, &grid, &params);
        flow.init(|[_, y, _], out| out.copy_from_slice(&[1.0, self.profile(y), 0.0])).unwrap();
        flow.run((80 * self.height * self.height) as u64).unwrap();
        flow
    }

    fn error(&self, device: &Device) -> f64 {
        let mut flow = self.run(device);
        let snapshot = flow.snapshot().unwrap();
        let ux = snapshot.get("ux").unwrap();
        let (mut error, mut norm) = (0.0, 0.0);
        for y in 0..self.height {
            let expected = self.profile(y);
            error += (ux[snapshot.index(3, y, 0)] - expected).powi(2);
            norm += expected.powi(2);
        }
        (error / norm).sqrt()
    }
}

#[test]
fn a_channel_has_the_profile_of_its_index() {
    for device in devices() {
        for (index, bound) in [(0.5, 2.6e-3), (1.0, 2e-3), (1.5, 2e-3)] {
            let errors = [8, 16, 32].map(|height| Channel { height, index }.error(&device));
            println!("index {index}: {errors:?}");
            for pair in errors.windows(2) {
                let order = (pair[0] / pair[1]).log2();
                assert!((1.95..2.05).contains(&order), "index {index}: order {order:.3}, errors {errors:?}");
            }
            assert!(errors[2] < bound, "index {index}: {errors:?}");
        }
    }
}
