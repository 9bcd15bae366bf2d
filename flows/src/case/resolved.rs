//! A case that is known to be valid for one method. It does not change after it is resolved.

use std::collections::BTreeMap;

use lbm_bundle::Real;
use lbm_bundle::variation::FAR_DENSITY;

use super::devices::{Buffers, Devices, TargetChoice};
use super::formula::{Formula, is_timed};
use super::gradient::Gradient;
use super::heat::Scalar;
use super::output::Output;
use super::refinement::Refinement;
use super::results::Results;
use super::solids::SolidBody;
use super::start::{Start, StartValue};
use super::statistics::Statistics;
use super::stop::Stop;
use super::units::Units;
use super::walls::{self, Face, Wall};

/// Mach number above which a case gets a warning.
pub const MACH_ADVISED: f64 = 0.3;

/// The scales of a flow, in lattice units.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Scales {
    /// Reference velocity, in cells per step; 0 when nothing moves.
    pub velocity: f64,
    /// Reference length, in cells.
    pub length: f64,
    /// Kinematic viscosity, where it is a function of one rate alone.
    pub viscosity: Option<f64>,
    /// The rate that sets it.
    pub omega: Option<f64>,
    /// Reynolds number: velocity times length over viscosity.
    pub re: Option<f64>,
    /// Mach number: velocity over the lattice's speed of sound.
    pub mach: f64,
}

/// A case that is known to be valid for one method. Lattice units throughout: a cell and a time step are 1.
#[derive(Clone, Debug, PartialEq)]
pub struct Case {
    /// What it is called: by itself, else its file without folder and ending.
    pub name: String,
    /// Name of the method, wherever its file lies.
    pub spec: String,
    /// Where to run.
    pub target: TargetChoice,
    /// What runs it, a part of the flow each.
    pub devices: Devices,
    /// How many sets of populations there are.
    pub buffers: Buffers,
    /// Precision.
    pub real: Real,
    /// Number of axes.
    pub dim: usize,
    /// Cells along each axis; 1 beyond the dimension; a multiple of `block`.
    pub size: [usize; 3],
    /// Cells of a block along each axis; 1 beyond the dimension.
    pub block: [u32; 3],
    /// Whether an axis is periodic; true beyond the dimension.
    pub periodic: [bool; 3],
    /// The walls, in the order left, right, bottom, top, back, front: both faces of every axis that is not periodic.
    pub walls: Vec<Wall>,
    /// All of the method's parameters by name, with all their components, in lattice units: at the start, where they depend on time.
    pub params: Vec<(String, Vec<f64>)>,
    /// Those that the case leaves to the defaults of the method.
    pub defaults: Vec<String>,
    /// Those that depend on time, in steps.
    pub courses: Vec<(String, Vec<Formula>)>,
    /// What it carries beside mass and momentum.
    pub scalars: Vec<Scalar>,
    /// Components of the method's fields, each with a lattice unit of it in the units of the case.
    pub means: Vec<(String, f64)>,
    /// What cells keep for parameters that vary, in the order of the method's places.
    pub places: Vec<StartValue>,
    /// State at the start.
    pub start: Start,
    /// Solids.
    pub solids: Vec<SolidBody>,
    /// Where it is refined, if it is; `size`, parameters and steps are those of the coarsest level.
    pub refinement: Option<Refinement>,
    /// When to stop.
    pub stop: Stop,
    /// What is derived, if anything is.
    pub gradient: Option<Gradient>,
    /// What to write.
    pub output: Output,
    /// The names of what is written.
    pub results: Results,
    /// Scale to the units of the case, for what is written.
    pub units: Units,
    /// Scales of the flow.
    pub scales: Scales,
    /// What the file and its overrides say of the flow, value by value: every key but those of output and of when to stop, and
    /// those of which the kernels tell.
    pub keys: BTreeMap<String, String>,
}

impl Case {
    /// Number of cells.
    pub fn cells(&self) -> usize {
        self.size.iter().product()
    }

    /// A change of velocity (cells per step) over the reference velocity, to be compared with `Steady::tolerance`.
    pub fn residual(&self, change: f64) -> f64 {
        if self.scales.velocity > 0.0 { change / self.scales.velocity } else { change }
    }

    /// The formulas of what depends on time at walls, which are compiled for it: of faces, each before its patches, then of solids, parameter by parameter, each
    /// with all its components.
    pub fn prescribed(&self) -> Vec<lbm_bundle::Formula> {
        let solids = self.solids.iter().flat_map(|body| &body.formulas);
        let all = self.walls.iter().flat_map(Wall::all).flat_map(|wall| &wall.formulas).chain(solids);
        let timed = all.filter(|(_, formulas)| is_timed(formulas));
        timed.flat_map(|(_, formulas)| formulas).map(|formula| formula.get().clone()).collect()
    }

    /// What is accumulated over time, which is compiled for it.
    pub fn accumulated(&self) -> Vec<lbm_bundle::statistics::Statistic> {
        self.output.statistics.iter().map(Statistics::accumulated).collect()
    }

    /// Whether nothing passes a wall, anywhere and at any time.
    pub fn is_closed(&self, wall: &Wall) -> bool {
        walls::points(self.size, self.dim, wall.face, 0.0).all(|point| wall.is_closed_at(point))
    }

    /// The diffusivity of one of its scalars at a step, in cells and steps of the coarsest level.
    pub fn diffusivity(&self, scalar: &Scalar, step: u64) -> Option<f64> {
        let (name, cs2) = scalar.rate.as_ref()?;
        let course = self.courses.iter().find(|(course, _)| course == name);
        let course = course.and_then(|(_, formulas)| Some(formulas.first()?.at([0.0; 3], step as f64)));
        let value = || self.params.iter().find(|(param, _)| param == name)?.1.first().copied();
        Some(cs2 * (1.0 / course.or_else(value)? - 0.5))
    }

    /// Whether it has an absorbing layer, which conserves neither mass nor momentum.
    pub fn absorbs(&self) -> bool {
        self.params.iter().any(|(name, _)| name == FAR_DENSITY)
    }

    /// The wall at a face, if there is one.
    pub fn wall(&self, face: Face) -> Option<&Wall> {
        self.walls.iter().find(|wall| wall.face == face)
    }
}
