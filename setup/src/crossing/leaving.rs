//! What a face sends back of what leaves through it: packets of waves in a channel that is periodic across, and open at the right.
//!
//! As in [`crossing`](super), packets consist of discrete modes of the method and are so small that all is linear; `omega` is 1.9. What differs from
//! the same packet in a longer periodic channel comes from the face. The stream is 0.05 cells per step, out of the domain at an outlet and into it at an
//! inlet. Rules have the values of that stream, and their `length` is 1000 cells.
//!
//! - *Sound*: a packet with waves of 32 cells at an angle to the normal, as high as these waves, and a radius of 48 cells. It starts three radii before
//!   the face, and is compared when it is as far behind it. The amplitude of what comes back is the root of its acoustic energy over that of the packet;
//!   packets that move against the stream are shorter, and their energy is that much less. They also fade sooner, and those with the stream later:
//!   at the normal by 4 % and 2 % more and less than waves that go on.
//! - *Vortex*: one of the radius R = 8 cells, of a row 96 cells apart, compared when its centre is at the face and 8 R beyond: the root of the energy of
//!   what the face adds, sound and flow, over that of the vortex.
//!
//! An absorbing layer lies behind the place of the face, and the face at its outer edge.

use std::collections::BTreeMap;
use std::f64::consts::TAU;
use std::sync::Arc;

use lbm_bundle::variation::{ABSORBING, FAR_DENSITY, FAR_VELOCITY, Variation};
use lbm_bundle::{Formula, Layout, Real};
use lbm_codegen::options::Options;
use lbm_dsl::model::Model;
use lbm_dsl::prove::pair;
use lbm_flows::case::absorbing_rate;
use lbm_runtime::device::Device;
use lbm_runtime::geometry::Face;
use lbm_runtime::solver::{GridSpec, Prepared};
use miette::{Result, miette};

use super::packet::{Packet, Waves};
use super::{Fields, PEAK, dot, has_packets, modes, params};
use crate::faces::{ANGLES, SPEED, passing};
use crate::spec::{self, Spec};

/// Rate of the method.
const OMEGA: f64 = 1.9;
/// Its viscosity.
const VISCOSITY: f64 = (1.0 / OMEGA - 0.5) / 3.0;
/// Cells between the ends of the channel, and in the longer one without an end.
const LENGTH: usize = 384;
/// See [`LENGTH`].
const LONG: usize = 896;
/// Radii of a packet of sound and of a vortex, in cells.
const RADII: [f64; 2] = [48.0, 8.0];
/// Cells across the channel of waves at each of [`ANGLES`], and waves in it: their length is 32 cells.
const WAVES: [(usize, f64); 3] = [(8, 0.0), (64, 1.0), (112, 3.0)];
/// Cells across that of vortices.
const APART: usize = 96;
/// How far behind the face the centre of a vortex is when it is compared, in its radii.
pub const BEYOND: [f64; 2] = [0.0, 8.0];
/// The rule at the other end: quiet, and gives the density and the velocity.
const OTHER: &str = "equilibrium";
/// The value that a cell of a layer keeps.
const PLACE: &str = "absorbing_place_0";
/// The parameter with the unit of its rate.
const UNIT: &str = "absorbing_unit";

/// Which way the stream goes through a face.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Side {
    /// Into the domain.
    Inlet,
    /// Out of it.
    Outlet,
}

impl Side {
    /// The velocity of the stream.
    fn stream(self) -> f64 {
        if self == Side::Inlet { -SPEED } else { SPEED }
    }
}

/// What leaves.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum What {
    /// Sound at one of [`ANGLES`].
    Sound(usize),
    Vortex,
}

/// What leaves with a stream.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct Passage {
    what: What,
    side: Side,
}

impl Passage {
    /// Cells across the channel.
    fn across(self) -> usize {
        match self.what {
            What::Sound(angle) => WAVES[angle].0,
            What::Vortex => APART,
        }
    }

    /// The wave vector of sound.
    fn wave(angle: usize) -> [f64; 2] {
        let ((across, waves), radians) = (WAVES[angle], ANGLES[angle].to_radians());
        let along = TAU * waves / across as f64;
        if waves == 0.0 { [TAU / 32.0, 0.0] } else { [along / radians.tan(), along] }
    }

    fn packet(self) -> Packet {
        let (waves, radius, before) = match self.what {
            What::Sound(angle) => (Waves::Sound(Self::wave(angle)), RADII[0], 3.0 * RADII[0]),
            What::Vortex => (Waves::Shear, RADII[1], 6.0 * RADII[1]),
        };
        let across = self.across();
        let centre = [LENGTH as f64 - before, across as f64 / 2.0];
        Packet { waves, radius, centre, sides: [LONG, across], stream: self.side.stream() }
    }

    /// Velocities along the normal with which sound comes and with which it goes.
    fn speeds(angle: usize, stream: f64) -> [f64; 2] {
        let ([normal, across], sound) = (Self::wave(angle), 1.0 / 3f64.sqrt());
        let pulse = sound * normal.hypot(across) + stream * normal;
        // The other wave vector along the normal with the same frequency.
        let other = ((sound * across).powi(2) - pulse * pulse) / (sound * sound - stream * stream) / normal;
        [normal, other].map(|normal| sound * normal / normal.hypot(across) + stream)
    }

    /// Steps after which it is compared, before a layer of so many cells.
    fn steps(self, layer: usize) -> Vec<u64> {
        let speed = self.side.stream();
        match self.what {
            What::Sound(angle) => {
                let [comes, goes] = Self::speeds(angle, speed);
                let way = 3.0 * RADII[0] + layer as f64;
                vec![(way / comes - way / goes).round() as u64]
            }
            What::Vortex => BEYOND.iter().map(|past| ((6.0 + past) * RADII[1] / speed).round() as u64).collect(),
        }
    }
}

/// The end of a channel.
#[derive(Clone, Copy)]
struct End<'a> {
    rule: &'a str,
    /// Cells of the layer in front of it.
    layer: usize,
}

/// Packets of one method, through whatever face.
pub struct Leaving {
    spec: Spec,
    /// Fields without a face after so many steps.
    without: BTreeMap<(Passage, Vec<u64>), Vec<Fields>>,
}

impl Leaving {
    /// As [`Crossings::new`](super::Crossings::new).
    pub fn new(spec: Spec) -> Result<Self> {
        has_packets(&spec.model()?)?;
        Ok(Self { spec, without: BTreeMap::new() })
    }

    /// Rules of the prelude and of the method that let a stream pass, at inlets and at outlets.
    pub fn rules(&self) -> Result<[Vec<String>; 2]> {
        let all = self.spec.with_every_rule();
        let model =
            all.ok_or_else(|| miette!(code = "L0201", "the rules of the prelude do not fit `{}`", self.spec.name()))?;
        passing(&model, &params(&model, OMEGA), own)
    }

    /// The part of the amplitude of sound that a rule sends back behind a layer of so many cells, at one of [`ANGLES`].
    pub fn sound(&mut self, device: &Device, side: Side, rule: &str, layer: usize, angle: usize) -> Result<f64> {
        let found = self.sent_back(device, Passage { what: What::Sound(angle), side }, End { rule, layer })?;
        let [comes, goes] = Passage::speeds(angle, side.stream());
        Ok(found[0] * (comes / -goes).sqrt())
    }

    /// What a rule at an outlet makes of a vortex, for each of [`BEYOND`].
    pub fn vortex(&mut self, device: &Device, rule: &str, layer: usize) -> Result<Vec<f64>> {
        self.sent_back(device, Passage { what: What::Vortex, side: Side::Outlet }, End { rule, layer })
    }

    /// The root of the energy in front of a face of what differs from the flow without it, over that of the packet.
    fn sent_back(&mut self, device: &Device, passage: Passage, end: End) -> Result<Vec<f64>> {
        let steps = passage.steps(end.layer);
        let found = self.run(device, passage, &steps, Some(end))?;
        let key = (passage, steps);
        if !self.without.contains_key(&key) {
            let fields = self.run(device, passage, &key.1, None)?;
            self.without.insert(key.clone(), fields);
        }
        let energy = |[rho, u, v]: [f64; 3]| u * u + v * v + rho * rho / 3.0;
        let parts = found.iter().zip(&self.without[&key]).map(|(with, without)| {
            let before = with.iter().zip(without).take(LENGTH * passage.across());
            let back: f64 = before.map(|(a, b)| energy(std::array::from_fn(|at| a[at] - b[at]))).sum();
            let all: f64 = without.iter().copied().map(energy).sum();
            (back / all).sqrt()
        });
        Ok(parts.collect())
    }

    /// Fields after each of these steps.
    fn run(&self, device: &Device, passage: Passage, steps: &[u64], end: Option<End>) -> Result<Vec<Fields>> {
        let layer = end.map_or(0, |end| end.layer);
        let variations = if layer > 0 { vec![varies()] } else { vec![] };
        let rules: Vec<&str> = end.iter().flat_map(|end| [OTHER, end.rule]).collect();
        let model = self.spec.model_with(&rules, None, None, &variations)?;
        let options = Options {
            target: device.target(),
            real: Real::F64,
            layout: Layout::Blocks,
            block: Options::default_block(2),
            coupling: None,
            solids: false,
        };
        let bundle = spec::compile(&model, &options)?;
        let packet = passage.packet();
        // The method itself has the waves: a layer is behind them.
        let method = self.spec.model()?;
        let modes = modes(&method, OMEGA, packet.stream)?;
        let velocities: Vec<Vec<i32>> = model.pops().map(|(_, set, dir)| set.lattice.velocity(dir).to_vec()).collect();
        let disturbance = packet
            .populations(&modes, &velocities, 1.0, VISCOSITY, PEAK)
            .ok_or_else(|| miette!(code = "L0201", "`{}` has a wave that two modes fit as well", model.name()))?;

        let across = passage.across();
        let mut grid = GridSpec::periodic([if end.is_some() { LENGTH + layer } else { LONG }, across, 1]);
        for (face, rule) in end.iter().flat_map(|end| [(Face::XMin, OTHER), (Face::XMax, end.rule)]) {
            grid = with_face(grid, &model, face, rule, packet.stream)?;
        }
        let value = |name: &str| match name {
            FAR_VELOCITY => Some(vec![packet.stream, 0.0]),
            FAR_DENSITY | UNIT => Some(vec![1.0]),
            _ => None,
        };
        let values: Vec<(String, Vec<f64>)> = (model.params().iter().zip(params(&model, OMEGA)))
            .map(|(param, usual)| (param.name.clone(), value(&param.name).unwrap_or(usual)))
            .collect();
        let mut flow = Prepared::refined(device, &bundle, &grid, 1, |_| false)?.simulation(&values)?;
        let (edge, width) = (LENGTH as f64, layer as f64);
        let rate = move |x: f64| absorbing_rate((x - edge) / width, width);
        if layer > 0 {
            flow.follow_places(Arc::new(move |at, out| out[0] = rate(at[0])));
        }
        let uniform: Vec<f64> = (method.fields().iter())
            .flat_map(|field| (0..field.components.len()).map(|at| (field.components.len(), at)))
            .map(|(count, at)| if count == 1 { 1.0 } else { [packet.stream, 0.0][at] })
            .collect();
        flow.init_cells(|cell, out| {
            out[..uniform.len()].copy_from_slice(&uniform);
            if layer > 0 {
                out[uniform.len()] = rate(cell.centre()[0]);
            }
        })?;
        flow.update_cells(|cell, populations| {
            let at = cell.at[0] * across + cell.at[1];
            for (number, population) in populations.iter_mut().enumerate().take(velocities.len()) {
                *population = modes.equilibrium()[number] + disturbance[number][at];
            }
        })?;
        let mut taken = vec![];
        let mut done = 0;
        for steps in steps {
            flow.run(steps - done)?;
            done = *steps;
            let mut fields = vec![[0.0; 3]; grid.size[0] * across];
            flow.visit_populations(|cell, populations| {
                let weights =
                    |factor: &dyn Fn(&[i32]) -> f64| -> Vec<f64> { velocities.iter().map(|c| factor(c)).collect() };
                let sum = |factor: &dyn Fn(&[i32]) -> f64| dot(&weights(factor), &populations[..velocities.len()]);
                let rho = sum(&|_| 1.0);
                let [u, v] = [0, 1].map(|axis| sum(&|c| f64::from(c[axis])) / rho);
                fields[cell.at[0] * across + cell.at[1]] = [rho - 1.0, u - packet.stream, v].map(|value| value / PEAK);
            })?;
            taken.push(fields);
        }
        Ok(taken)
    }
}

/// The rate of a layer, a value of the cell.
fn varies() -> Variation {
    Variation {
        param: ABSORBING.into(),
        formulas: vec![Formula::name(PLACE)],
        places: vec![PLACE.into()],
        numbers: vec![],
        unit: Some(UNIT.into()),
        viscosity: false,
    }
}

/// What rules ask for that a stream does not say.
fn own(name: &str) -> Option<f64> {
    (name == "viscosity").then_some(VISCOSITY)
}

/// A rule at a face, with values of the stream along x.
fn with_face(grid: GridSpec, model: &Model, face: Face, rule: &str, stream: f64) -> Result<GridSpec> {
    let found = model.boundaries().iter().find(|own| own.name == rule).expect("it was compiled with the method");
    let values = pair::values(model, found, &[stream, 0.0], own)
        .ok_or_else(|| miette!(code = "L0201", "parameters of `{rule}` say something else of a stream"))?;
    let named: Vec<(&str, &[f64])> =
        found.params.iter().zip(&values).map(|(param, values)| (&param.name[..], &values[..])).collect();
    Ok(grid.with_wall(face, rule, &named))
}
