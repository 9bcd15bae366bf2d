//! What a refinement interface does to what crosses it: packets of waves in a periodic square, half of which is refined.
//!
//! The waves are discrete modes of the method ([`lbm_dsl::prove::modes`]), so a packet on one level has no error of its own, and what
//! is found elsewhere comes from the interface. The square has 256 coarse cells a side; the packet's momentum is at most 1e-6 in
//! lattice units, and all figures are relative to that: effects that are not linear are a millionth of it.
//!
//! - *Shear*: a vortex of the radius R = 8 coarse cells ([`packet::Waves::Shear`]) in a stream at Mach 0.1, `omega` 1.98 on the coarse
//!   level. It starts 6 R before the interface. When its centre is there, and 1.5 R and 4 R beyond, the velocity is compared outside
//!   7 R from the centre and more than 0.07 of the square away from the other interface: root mean square of what no sum of
//!   the fields on uniform grids of both levels has, in millionths.
//! - *Sound*: a plane packet of the wavelength 12 and radius 16 coarse cells, at rest, `omega` 1.9. It starts 64 cells before the interface and
//!   has 222 steps: the root of the acoustic energy on the side it came from, beside that on a uniform grid, over the whole.
//!
//! Velocities are those of coarse cells, means over fine ones.

pub mod leaving;
pub mod packet;

use std::collections::BTreeMap;
use std::f64::consts::TAU;

use lbm_bundle::{Bundle, Layout, Real};
use lbm_codegen::options::Options;
use lbm_dsl::model::Model;
use lbm_dsl::prove::modes::Modes;
use lbm_runtime::device::Device;
use lbm_runtime::solver::{GridSpec, Simulation};
use miette::{Result, miette};

use crate::spec::{self, Spec};
use packet::{Packet, Waves};

/// Cells of the square along each axis, on the coarse level.
const SIDE: usize = 256;
/// Largest norm of the momentum of a packet.
const PEAK: f64 = 1e-6;
/// How far behind the interface the centre of the vortex is when the velocity is compared, in its radii.
pub const DISTANCES: [f64; 3] = [0.0, 1.5, 4.0];

/// Which way a packet crosses.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Way {
    /// From the coarse level into the fine one.
    Entering,
    /// From the fine level into the coarse one.
    Leaving,
}

/// A flow with a packet.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Flow {
    Shear,
    Sound,
}

impl Flow {
    /// The rate on the coarse level.
    fn omega(self) -> f64 {
        match self {
            Flow::Shear => 1.98,
            Flow::Sound => 1.9,
        }
    }

    fn packet(self) -> Packet {
        let middle = SIDE as f64 / 2.0;
        let (waves, radius, before, stream) = match self {
            Flow::Shear => (Waves::Shear, 8.0, 6.0 * 8.0, 0.1 / 3f64.sqrt()),
            Flow::Sound => (Waves::Sound([TAU / 12.0, 0.0]), 16.0, 64.0, 0.0),
        };
        Packet { waves, radius, centre: [middle - before, middle], sides: [SIDE; 2], stream }
    }

    /// Coarse steps after which fields are taken.
    fn steps(self) -> Vec<u64> {
        let Packet { radius, stream, .. } = self.packet();
        match self {
            Flow::Shear => DISTANCES.iter().map(|past| ((6.0 + past) * radius / stream).round() as u64).collect(),
            Flow::Sound => vec![(2.0 * 64.0 * 3f64.sqrt()).round() as u64],
        }
    }
}

/// Density and velocity of each coarse cell, `x * SIDE + y`, less those of the uniform stream, over the packet's peak.
type Fields = Vec<[f64; 3]>;

/// Packets of one method, by whatever coupling.
pub struct Crossings {
    spec: Spec,
    /// Fields of uniform grids of a level.
    uniform: BTreeMap<(Flow, usize), Vec<Fields>>,
}

impl Crossings {
    /// Of a method of two dimensions with a rate `omega`. Its other parameters are those of stability tests: magic 1/4, other rates 1, no
    /// force.
    pub fn new(spec: Spec) -> Result<Self> {
        has_packets(&spec.model()?)?;
        Ok(Self { spec, uniform: BTreeMap::new() })
    }

    /// What a coupling makes of shear waves, at each of [`DISTANCES`], in millionths.
    pub fn shear(&mut self, device: &Device, coupling: &str, way: Way) -> Result<Vec<f64>> {
        let crossed = self.run(device, Flow::Shear, coupled(coupling, way))?;
        let (coarse, fine) = (self.uniform(device, Flow::Shear, 0)?, self.uniform(device, Flow::Shear, 1)?);
        let radius = Flow::Shear.packet().radius;
        let of = |at: usize| {
            let middle = SIDE as f64 / 2.0;
            let counts = |cell: &usize| {
                let [x, y] = [cell / SIDE, cell % SIDE].map(|place| place as f64 + 0.5 - middle);
                (x - DISTANCES[at] * radius).hypot(y) > 7.0 * radius && x.abs() < 0.43 * SIDE as f64
            };
            let cells: Vec<usize> = (0..SIDE * SIDE).filter(counts).collect();
            let velocities = |fields: &Fields| -> Vec<f64> {
                cells.iter().flat_map(|cell| [fields[*cell][1], fields[*cell][2]]).collect()
            };
            let rest = beside(velocities(&crossed[at]), [velocities(&coarse[at]), velocities(&fine[at])]);
            1e6 * (dot(&rest, &rest) / cells.len() as f64).sqrt()
        };
        Ok((0..DISTANCES.len()).map(of).collect())
    }

    /// The part of a sound wave's amplitude that a coupling reflects.
    pub fn reflected(&mut self, device: &Device, coupling: &str, way: Way) -> Result<f64> {
        let crossed = self.run(device, Flow::Sound, coupled(coupling, way))?;
        let uniform = self.uniform(device, Flow::Sound, way as usize)?;
        let energy = |[rho, u, v]: [f64; 3]| u * u + v * v + rho * rho / 3.0;
        let near = SIDE * (SIDE / 16)..SIDE * (SIDE / 2 - 2);
        let differences = crossed[0][near.clone()].iter().zip(&uniform[0][near]);
        let back: f64 = differences.map(|(a, b)| energy(std::array::from_fn(|at| a[at] - b[at]))).sum();
        let all: f64 = uniform[0].iter().copied().map(energy).sum();
        Ok((back / all).sqrt())
    }

    /// Fields on a uniform grid of a level.
    fn uniform(&mut self, device: &Device, flow: Flow, level: usize) -> Result<Vec<Fields>> {
        if let Some(known) = self.uniform.get(&(flow, level)) {
            return Ok(known.clone());
        }
        let fields = self.run(device, flow, Grid { coupling: None, start: level })?;
        self.uniform.insert((flow, level), fields.clone());
        Ok(fields)
    }

    /// Fields after each of the flow's steps.
    fn run(&self, device: &Device, flow: Flow, grid: Grid) -> Result<Vec<Fields>> {
        let model = self.spec.model_with(&[], grid.coupling.map(|(coupling, _)| coupling), None, &[])?;
        let bundle = bundle(device, &model, grid)?;
        let packet = flow.packet();
        let rates = [flow.omega(), 2.0 * flow.omega() / (4.0 - flow.omega())];
        let modes = [modes(&model, rates[0], packet.stream)?, modes(&model, rates[1], packet.stream)?];
        let velocities: Vec<Vec<i32>> = model.pops().map(|(_, set, dir)| set.lattice.velocity(dir).to_vec()).collect();
        let width = 0.5f64.powi(grid.start as i32);
        let viscosity = (1.0 / rates[grid.start] - 0.5) / 3.0;
        let disturbance = packet
            .populations(&modes[grid.start], &velocities, width, viscosity, PEAK)
            .ok_or_else(|| miette!(code = "L0201", "`{}` has a wave that two modes fit as well", model.name()))?;

        let mut simulation = simulation(device, &model, &bundle, grid, rates)?;
        // Of a uniform grid, the level is the grid's own.
        let level = |own: usize| if grid.coupling.is_some() { own } else { grid.start };
        // Ghosts and covered cells have the stream from the start, too.
        let uniform = |components: usize| {
            let first = if components == 1 { 1.0 } else { packet.stream };
            std::iter::once(first).chain(std::iter::repeat_n(0.0, components - 1))
        };
        let stream: Vec<f64> = model.fields().iter().flat_map(|field| uniform(field.components.len())).collect();
        simulation.init_cells(|_, out| out[..stream.len()].copy_from_slice(&stream))?;
        simulation.update_cells(|cell, populations| {
            let level = level(cell.level);
            let at = cell.at[0] * (SIDE << level) + cell.at[1];
            for (number, population) in populations.iter_mut().enumerate().take(velocities.len()) {
                *population = modes[level].equilibrium()[number];
                if level == grid.start {
                    *population += disturbance[number][at];
                }
            }
        })?;
        let mut taken = vec![];
        let mut done = 0;
        for steps in flow.steps() {
            // A step of the finer level is half as long.
            let halves = if grid.coupling.is_none() { grid.start } else { 0 };
            simulation.run((steps - done) << halves)?;
            done = steps;
            taken.push(fields(&simulation, &velocities, packet.stream, &level)?);
        }
        Ok(taken)
    }
}

/// What a packet runs on: a grid half of which is refined, or a uniform one of the level where it starts.
#[derive(Clone, Copy)]
struct Grid<'a> {
    coupling: Option<(&'a str, Way)>,
    start: usize,
}

fn coupled(coupling: &str, way: Way) -> Grid<'_> {
    Grid { coupling: Some((coupling, way)), start: way as usize }
}

/// Whether packets of waves are known of a method.
fn has_packets(model: &Model) -> Result<()> {
    let has_rate = model.params().iter().any(|param| param.name == "omega");
    if model.lattice().dim() != 2 || !has_rate {
        return Err(miette!(
            code = "L0201",
            help = "take a method of two dimensions with a rate `omega`, like d2q9_bgk",
            "there are no packets of waves of `{}`",
            model.name()
        ));
    }
    Ok(())
}

/// The parameters of a method.
fn params(model: &Model, omega: f64) -> Vec<Vec<f64>> {
    let value = |name: &str| match name {
        "omega" => omega,
        "magic" => 0.25,
        _ => 1.0,
    };
    let of = |param: &lbm_dsl::model::Param| match param.components {
        1 => vec![value(&param.name)],
        count => vec![0.0; count],
    };
    model.params().iter().map(of).collect()
}

fn modes(model: &Model, omega: f64, stream: f64) -> Result<Modes> {
    Modes::new(model, &params(model, omega), &[stream, 0.0])
        .map_err(|why| miette!(code = "L0201", "`{}` has no waves: {why}", model.name()))
}

fn bundle(device: &Device, model: &Model, grid: Grid) -> Result<Bundle> {
    let coupling = grid.coupling.map(|(name, _)| spec::coupling(model, name)).transpose()?;
    let block = Options::default_block(2);
    let target = device.target();
    let options = Options { target, real: Real::F64, layout: Layout::Blocks, block, coupling, solids: false };
    spec::compile(model, &options)
}

fn simulation(device: &Device, model: &Model, bundle: &Bundle, grid: Grid, rates: [f64; 2]) -> Result<Simulation> {
    let level = if grid.coupling.is_some() { 0 } else { grid.start };
    let params: Vec<(String, Vec<f64>)> = model
        .params()
        .iter()
        .zip(params(model, rates[level]))
        .map(|(param, values)| (param.name.clone(), values))
        .collect();
    let box_of = GridSpec::periodic([SIDE << level, SIDE << level, 1]);
    let half = SIDE / 2 / bundle.manifest.block[0] as usize;
    let levels = if grid.coupling.is_some() { 2 } else { 1 };
    let refined = |right: bool| move |place: usize| (place >= half) == right;
    let is_fine = refined(grid.coupling.is_some_and(|(_, way)| way == Way::Entering));
    Ok(Simulation::refined(device, bundle, &box_of, &params, levels, |block| is_fine(block.place[0]))?)
}

fn fields(
    simulation: &Simulation,
    velocities: &[Vec<i32>],
    stream: f64,
    level: &impl Fn(usize) -> usize,
) -> Result<Fields> {
    let mut fields = vec![[0.0; 3]; SIDE * SIDE];
    simulation.visit_populations(|cell, populations| {
        let level = level(cell.level);
        let at = (cell.at[0] >> level) * SIDE + (cell.at[1] >> level);
        let sum = |factor: &dyn Fn(&[i32]) -> f64| -> f64 {
            velocities.iter().zip(populations).map(|(c, f)| factor(c) * f).sum()
        };
        let rho = sum(&|_| 1.0);
        let [u, v] = [0, 1].map(|axis| sum(&|c| f64::from(c[axis])) / rho);
        let share = 0.25f64.powi(level as i32) / PEAK;
        for (field, value) in fields[at].iter_mut().zip([rho - 1.0, u - stream, v]) {
            *field += share * value;
        }
    })?;
    let mean = fields.iter().map(|field| field[0]).sum::<f64>() / fields.len() as f64;
    fields.iter_mut().for_each(|field| field[0] -= mean);
    Ok(fields)
}

/// What a vector has beside all sums of two others.
fn beside(mut vector: Vec<f64>, [first, mut second]: [Vec<f64>; 2]) -> Vec<f64> {
    let take = |from: &mut Vec<f64>, other: &[f64]| {
        let factor = dot(from, other) / dot(other, other);
        from.iter_mut().zip(other).for_each(|(value, other)| *value -= factor * other);
    };
    take(&mut second, &first);
    take(&mut vector, &first);
    take(&mut vector, &second);
    vector
}

fn dot(a: &[f64], b: &[f64]) -> f64 {
    a.iter().zip(b).map(|(a, b)| a * b).sum()
}
