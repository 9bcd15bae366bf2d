//! Fluids whose viscosity follows the shear rate in a plane channel, driven by a force, against their profiles.
//!
//! With the viscosity `nu (rate / reference)^(n - 1)` and `reference` the shear rate at the walls, a channel of height `h` has the
//! velocity `U (1 - |1 - 2 y / h|^((n + 1) / n))`, where the rate at the walls is `2 U (n + 1) / (n h)` and the force `2 nu rate / h`
//! (Bird, Armstrong & Hassager, Dynamics of Polymeric Liquids 1 (1987), chapter 4). Of a Carreau-Yasuda fluid the rate at each height
//! solves `nu(rate) rate = force (h / 2 - y)`, and the velocity is its integral from the wall. The error is measured in the L2 norm over
//! the cells, relative to the profile; as the cells become smaller, the velocity falls with them (diffusive scaling).

use lbm_bundle::Real;
use lbm_runtime::device::Device;
use lbm_runtime::geometry::{Block, Face};
use lbm_runtime::solver::{GridSpec, Simulation};
use lbm_tests::compiled;
use lbm_tests::flows::{devices, simulation_with};

/// Viscosity at the walls, in cells and steps. In the middle an index of less than 1 has a far larger one, and a single rate has errors
/// that grow with its square: with five times as much the order is 1.7 for an index of 1/2.
const VISCOSITY: f64 = 0.01;

/// Largest velocity in a channel of 16 cells.
const FASTEST: f64 = 0.02;

type Params = Vec<(String, Vec<f64>)>;

/// A fluid in a channel of a height in cells.
trait Channel: Sync {
    fn height(&self) -> usize;
    /// Parameters of the method, in cells and steps.
    fn params(&self) -> Params;
    /// Velocity at a height, in cells and steps.
    fn profile(&self, y: f64) -> f64;

    fn grid(&self) -> GridSpec {
        [Face::YMin, Face::YMax]
            .into_iter()
            .fold(GridSpec::periodic([8, self.height(), 1]), |grid, face| grid.with_wall(face, "bounce_back", &[]))
    }

    /// From the profile on, until it changes no more.
    fn error(&self, mut flow: Simulation) -> f64 {
        flow.init_cells(|cell, out| out.copy_from_slice(&[1.0, self.profile(cell.centre()[1]), 0.0])).unwrap();
        flow.run((80 * self.height() * self.height()) as u64).unwrap();
        let snapshot = flow.snapshot().unwrap();
        let ux = snapshot.get("ux").unwrap();
        let (mut error, mut norm) = (0.0, 0.0);
        for (at, ux) in ux.iter().enumerate() {
            let (expected, volume) =
                (self.profile(snapshot.cell(at).centre()[1]), snapshot.volume(at / snapshot.block_cells()));
            error += volume * (ux - expected).powi(2);
            norm += volume * expected.powi(2);
        }
        (error / norm).sqrt()
    }

    fn error_of(&self, spec: &'static str, device: &Device) -> f64 {
        self.error(simulation_with(spec, device, Real::F64, &self.grid(), &self.params()))
    }
}

fn named(scalars: &[(&str, f64)], force: f64) -> Params {
    let scalars = scalars.iter().map(|(name, value)| (name.to_string(), vec![*value]));
    scalars.chain([("force".to_string(), vec![force, 0.0])]).collect()
}

struct PowerLaw {
    height: usize,
    index: f64,
}

impl PowerLaw {
    fn fastest(&self) -> f64 {
        FASTEST * 16.0 / self.height as f64
    }

    /// Shear rate at the walls.
    fn rate(&self) -> f64 {
        2.0 * self.fastest() * (self.index + 1.0) / (self.index * self.height as f64)
    }
}

impl Channel for PowerLaw {
    fn height(&self) -> usize {
        self.height
    }

    fn params(&self) -> Params {
        let given = [
            ("viscosity", VISCOSITY),
            ("reference", self.rate()),
            ("index", self.index),
            ("slowest", 1e-4 * self.rate()),
        ];
        named(&given, 2.0 * VISCOSITY * self.rate() / self.height as f64)
    }

    fn profile(&self, y: f64) -> f64 {
        let place = 1.0 - 2.0 * y / self.height as f64;
        self.fastest() * (1.0 - place.abs().powf((self.index + 1.0) / self.index))
    }
}

/// A Carreau-Yasuda fluid whose viscosity falls from ten times [`VISCOSITY`] to one.
struct CarreauYasuda {
    height: usize,
    index: f64,
    width: f64,
}

impl CarreauYasuda {
    const REST: f64 = 10.0 * VISCOSITY;

    /// One over the shear rate at which it begins to fall: a tenth of what the walls of a power-law fluid have.
    fn relaxation(&self) -> f64 {
        5.0 * (self.height as f64).powi(2) / (FASTEST * 16.0)
    }

    fn viscosity(&self, rate: f64) -> f64 {
        let thins = 1.0 + (self.relaxation() * rate).powf(self.width);
        VISCOSITY + (Self::REST - VISCOSITY) * thins.powf((self.index - 1.0) / self.width)
    }

    fn force(&self) -> f64 {
        0.05 * FASTEST * 16.0 / (self.height as f64).powi(3)
    }

    /// Shear rate at a height below the middle: the stress rises with it.
    fn rate(&self, y: f64) -> f64 {
        let stress = self.force() * (self.height as f64 / 2.0 - y);
        let (mut low, mut high) = (0.0, stress / VISCOSITY);
        for _ in 0..100 {
            let middle = (low + high) / 2.0;
            if self.viscosity(middle) * middle < stress { low = middle } else { high = middle }
        }
        low
    }
}

impl Channel for CarreauYasuda {
    fn height(&self) -> usize {
        self.height
    }

    fn params(&self) -> Params {
        let given = [
            ("viscosity", Self::REST),
            ("least", VISCOSITY),
            ("relaxation", self.relaxation()),
            ("index", self.index),
            ("width", self.width),
        ];
        named(&given, self.force())
    }

    /// The integral of the rate by Simpson's rule.
    fn profile(&self, y: f64) -> f64 {
        let y = y.min(self.height as f64 - y);
        let parts = 200;
        let weight = |at: usize| if at == 0 || at == parts { 1.0 } else { (2 + 2 * (at % 2)) as f64 };
        let step = y / parts as f64;
        (0..=parts).map(|at| weight(at) * self.rate(at as f64 * step)).sum::<f64>() * step / 3.0
    }
}

fn second_order(errors: [f64; 3], bound: f64, what: &str) {
    println!("{what}: {errors:?}");
    for pair in errors.windows(2) {
        let order = (pair[0] / pair[1]).log2();
        assert!((1.9..2.1).contains(&order), "{what}: order {order:.3}, errors {errors:?}");
    }
    assert!(errors[2] < bound, "{what}: {errors:?}");
}

#[test]
fn a_channel_has_the_profile_of_its_index() {
    lbm_tests::in_turn!();
    for device in devices() {
        for spec in ["d2q9_power_law", "d2q9_power_law_state"] {
            for (index, bound) in [(0.5, 2.6e-3), (1.0, 2e-3), (1.5, 2e-3)] {
                let errors = [8, 16, 32].map(|height| PowerLaw { height, index }.error_of(spec, &device));
                second_order(errors, bound, &format!("{spec}, index {index}"));
            }
        }
    }
}

#[test]
fn a_channel_has_the_profile_of_a_carreau_yasuda_fluid() {
    lbm_tests::in_turn!();
    for device in devices() {
        for (index, width) in [(0.4, 2.0), (0.6, 1.25)] {
            let of = |height| CarreauYasuda { height, index, width }.error_of("d2q9_carreau_yasuda", &device);
            second_order([8, 16, 32].map(of), 2e-3, &format!("index {index}, width {width}"));
        }
    }
}

/// The lower half of the channel is refined: the viscosity of its cells is twice as large a number, and the state is what it is there.
#[test]
fn a_channel_of_two_levels_has_the_profile_of_its_index() {
    lbm_tests::in_turn!();
    let device = Device::host(1).unwrap();
    let model = compiled::model_with_coupling("d2q9_power_law_state", "volumetric_shifted");
    let bundle = compiled::compile_levels(&model, device.target(), Real::F64, [4, 4, 1]);
    let error = |height: usize| {
        let channel = PowerLaw { height, index: 0.5 };
        let refine = |block: Block| 8 * block.place[1] < height;
        let flow = Simulation::refined(&device, &bundle, &channel.grid(), &channel.params(), 2, refine).unwrap();
        channel.error(flow)
    };
    let [coarse, fine] = [16, 32].map(error);
    println!("two levels: {coarse:e} {fine:e}");
    assert!(fine < 3e-3 && coarse / fine > 3.0, "{coarse:e} {fine:e}");
}
