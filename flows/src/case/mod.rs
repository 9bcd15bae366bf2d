//! Case files: what to run, as TOML, turned into a [`Case`] that is known to be valid.
//!
//! In: the text of a file and the overrides of a command line. After: every number is finite and in lattice units, the
//! domain is a whole number of blocks, every face has a rule that the method knows with all of the rule's parameters,
//! every parameter of the method has a value in its range, the run ends. Whatever is wrong is a [`Diagnostic`] with a
//! code, a place and a hint; one run shows all of a stage.
//!
//! Two stages, because the method must be compiled in between: [`RawCase::parse`] needs no method and says which one is
//! wanted, [`RawCase::resolve`] takes its [`Manifest`](lbm_bundle::Manifest). Between them [`RawCase::vary`] says with which parameters that
//! vary it is compiled.
//!
//! ```toml
//! name = "cavity"               # in titles; the file's stem, if not given
//! spec = "d2q9_bgk"             # a shipped spec, or a path to a .lbm file
//! target = "auto"               # auto, cuda, hip, cpu, or checked: the CPU, where kernels are checked
//! devices = 2                   # how many devices, or the numbers of GPUs
//! precision = "f32"             # f32, f64 or f16/f32
//! block = [8, 8]                # cells of a block; has a good default
//!
//! [domain]
//! size = [128, 128]             # cells
//!
//! [fluid]                       # one of re, viscosity and omega
//! re = 1000
//! velocity = 0.1                # of the Reynolds and Mach number; else the fastest wall or start velocity
//! length = 128                  # of the Reynolds number; else the domain's extent along x
//!
//! [params]                      # other parameters of the method: numbers, or formulas of position, time and fields
//!
//! [faces]                       # x: left, right; y: bottom, top; z: back, front; or others
//! top = { rule = "moving_wall", velocity = [0.1, 0] }
//! others = "bounce_back"        # a rule of the method, or "periodic"
//!
//! [start]                       # at rest with density 1, if not given; numbers, or formulas of position
//! velocity = ["0.1 * sin(2*pi*y/ly)", 0]
//! density = 1
//! phi = "exp(-(x/10)^2)"        # any other field of the method, by its name; else 0
//!
//! [[solids]]                    # any number of them
//! shape = "cylinder"            # sphere, box, cylinder, stl or image
//! centre = [32, 64]
//! radius = 8
//! rule = "interpolated_bounce_back"   # of its surface, with its parameters
//!
//! [refinement]                  # blocks are refined where the formula or a box wants a higher level
//! finest = 2                    # levels 0, 1 and 2: cells and steps of 1, 1/2 and 1/4
//! level = "3 - (ly - y) / 16"   # rounded down
//! boxes = [{ level = 1, from = [0, 0], to = [32, 32] }]
//!
//! [stop]                        # steps (or time), and earlier when steady
//! steps = 500_000
//! steady = 1e-4                 # largest change of velocity between checks, over the reference velocity
//! check_every = 1000            # steps between checks
//!
//! [output]
//! directory = "out/cavity"
//! profiles = true               # centre lines as CSV
//! picture = true                # PNG of the velocity
//! slice = { normal = "y", at = 32 } # their plane in three dimensions; else the middle one normal to z
//! vtk = true                    # fields for ParaView, at the end; of a refined grid "amr" or "unstructured"
//! every = 10_000                # and every so many steps
//! series = 100                  # energy, enstrophy, dissipation, ... every so many steps
//! restart = 100_000             # a file to go on from, every so many steps and at the end
//! compare = "ghia1982"          # published profiles, or a published series, to compare with
//!
//! [[probes]]                    # fields over time at points, or along a line
//! name = "middle"
//! at = [64, 64]
//! fields = ["velocity", "pressure"]
//! every = 100
//!
//! [[statistics]]                # over time, in every cell
//! name = "mean"
//! fields = ["velocity"]
//! from = 50_000
//! every = 10
//!
//! [[fluxes]]                    # what flows through a plane
//! name = "middle"
//! plane = { normal = "x", at = 64 }
//! every = 100
//!
//! [[pictures]]                  # of fields by name
//! field = "speed"
//! every = 10_000                # on the way; else at the end
//! ```
//!
//! A formula of position takes `x, y, z`, the centre of a cell measured from the lower corner of the domain, and
//! `lx, ly, lz`, the extents of the domain, both in cells, or in metres in SI units, and at faces the time `t` in steps, or in seconds; see
//! [`Formula`]. In SI units a formula is
//! followed by its unit: `"0.1 * sin(2*pi*x/lx) m/s"`. [`Start`] says what populations start from.
//!
//! In SI units, every physical quantity is a string with a unit, `domain.resolution` is the number of cells along x and
//! the time step follows from the Mach number or is given:
//!
//! ```toml
//! [units]
//! system = "si"
//! mach = 0.17                   # or step = "0.2 ms"
//! density = "998 kg/m^3"        # of the fluid at rest
//!
//! [domain]
//! size = ["10 mm", "10 mm"]
//! resolution = 128
//! ```
//!
//! Limits: a Mach number (reference velocity over the lattice's speed of sound) of 1 and more is an error; above
//! [`MACH_ADVISED`] it is a warning, because the error of compressibility grows with its square. A relaxation rate outside
//! the method's range is an error; within 1 % of its upper limit it is a warning.

mod address;
pub(crate) mod density;
mod diag;
mod explain;
mod fluxes;
mod formula;
#[cfg(test)]
mod fuzz;
mod heat;
mod image;
mod keys;
mod load;
mod output;
mod patches;
mod pictures;
mod probes;
mod quantity;
mod raw;
mod read;
mod record;
mod reference;
mod refinement;
mod report;
mod resolve;
mod results;
mod samples;
pub(crate) mod saved;
mod schema;
mod solids;
pub(crate) mod sound;
mod start;
mod statistics;
mod table;
mod takes;
mod tree;
mod units;
mod vary;
mod views;
mod walls;
mod words;

use std::collections::BTreeMap;

use lbm_bundle::{Manifest, Real, Target};

pub use address::{Parameter, parameter};
pub use diag::{CODES, CaseError, Code, Diagnostic};
pub use explain::Long;
pub use fluxes::FluxPlane;
pub use formula::Formula;
pub use heat::{Nusselt, Scalar};
pub use image::nrrd;
pub use output::{Output, Slice, Vtk};
pub use patches::{Patch, Region};
pub use pictures::{Colours, Contours, Frames, Picture};
pub use probes::{MOST_NUMBERS, Probe};
pub use quantity::Quantity;
pub use raw::RawCase;
pub(crate) use record::is_plain;
pub use record::{CASE, INPUTS, InputFile};
pub use reference::{Curve, Moment, Reference, find as reference};
pub use refinement::{Follow, RefinedBox, Refinement};
pub use report::{Coefficient, Report, Source, Through, sources};
pub use results::{LIST, RESTART, ResultName, Results, SUMMARY};
pub use schema::{json_schema, keys};
pub use solids::{Body, Moves, Part, REST, SolidBody, Surfaces, Turn};
pub use start::{Start, StartField, StartValue};
pub use statistics::{Measure, Statistics};
pub use tree::{KeyAt, key_at};
pub use units::{Dimension, Units};
pub use vary::Method;
pub use views::View;
pub use walls::{Face, Wall};
pub use words::nearest;

/// Mach number above which a case gets a warning.
pub const MACH_ADVISED: f64 = 0.3;

/// Where to run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TargetChoice {
    /// On a GPU if there is one, else on the CPU.
    Auto,
    /// On a GPU that runs kernels of this target.
    Gpu(Target),
    /// On the CPU.
    Cpu,
    /// The same, where each access of a kernel is compared with the arrays it was given.
    Checked,
}

impl TargetChoice {
    /// As a case says it.
    pub(crate) const WORDS: [(&'static str, TargetChoice); 5] = [
        ("auto", TargetChoice::Auto),
        ("cuda", TargetChoice::Gpu(Target::Cuda)),
        ("hip", TargetChoice::Gpu(Target::Hip)),
        ("cpu", TargetChoice::Cpu),
        ("checked", TargetChoice::Checked),
    ];

    /// Whether it is the CPU that is asked for.
    pub fn is_host(self) -> bool {
        matches!(self, TargetChoice::Cpu | TargetChoice::Checked)
    }
}

/// What a flow runs on, a part of it on each.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Devices {
    /// So many devices: GPUs of the numbers from 0 on, or parts on the host.
    Count(usize),
    /// GPUs by their numbers, each once.
    Gpus(Vec<usize>),
}

impl Devices {
    /// How many they are.
    pub fn count(&self) -> usize {
        match self {
            Devices::Count(count) => *count,
            Devices::Gpus(numbers) => numbers.len(),
        }
    }

    /// The numbers of the GPUs, where they are GPUs.
    pub fn gpus(&self) -> Vec<usize> {
        match self {
            Devices::Count(count) => (0..*count).collect(),
            Devices::Gpus(numbers) => numbers.clone(),
        }
    }
}

/// When a flow counts as steady.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Steady {
    /// Stop when, since the last check, no velocity has changed by more than this fraction of the reference velocity (of 1
    /// cell per step, where that is zero).
    pub tolerance: f64,
    /// Steps between checks.
    pub check_every: u64,
}

/// When a run ends.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Stop {
    /// After so many steps.
    pub steps: u64,
    /// Or earlier, when the flow is steady.
    pub steady: Option<Steady>,
}

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

/// Whether one of a parameter's components depends on time.
pub(crate) fn is_timed(formulas: &[Formula]) -> bool {
    formulas.iter().any(Formula::varies_in_time)
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
    /// Those that depend on time, in steps.
    pub courses: Vec<(String, Vec<Formula>)>,
    /// What it carries beside mass and momentum.
    pub scalars: Vec<Scalar>,
    /// Components of the method's fields, each with a lattice unit of it in the units of the case.
    pub means: Vec<(String, f64)>,
    /// What cells keep for parameters that vary: formulas of the position, in the order of the method's places.
    pub places: Vec<Formula>,
    /// State at the start.
    pub start: Start,
    /// Solids.
    pub solids: Vec<SolidBody>,
    /// Where it is refined, if it is; `size`, parameters and steps are those of the coarsest level.
    pub refinement: Option<Refinement>,
    /// When to stop.
    pub stop: Stop,
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

    /// Whether the summary needs the fields of all cells at the end, by a method with this manifest: for fluxes through open faces, means
    /// over the fluid.
    pub fn sums_up_fields(&self, manifest: &Manifest) -> bool {
        let observes = manifest.fields.iter().any(|field| field.observed);
        observes || report::reads_fields(self) || self.walls.iter().any(|wall| wall.may_be_open(self.size))
    }

    /// What is accumulated over time, which is compiled for it.
    pub fn accumulated(&self) -> Vec<lbm_bundle::statistics::Statistic> {
        self.output.statistics.iter().map(Statistics::accumulated).collect()
    }

    /// Whether nothing passes a wall, anywhere and at any time.
    pub fn is_closed(&self, wall: &Wall) -> bool {
        resolve::points(self.size, self.dim, wall.face, 0.0).all(|point| wall.is_closed_at(point))
    }

    /// The wall at a face, if there is one.
    pub fn wall(&self, face: Face) -> Option<&Wall> {
        self.walls.iter().find(|wall| wall.face == face)
    }
}
