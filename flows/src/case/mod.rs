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
//! target = "auto"               # auto, cuda, cpu, or checked: the CPU, where kernels are checked
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
mod load;
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

use std::collections::BTreeMap;

use lbm_bundle::{AtFace, Manifest, Real};
use lbm_runtime::solver::memory::Copies;

pub use address::{Parameter, parameter};
pub use diag::{CODES, CaseError, Code, Diagnostic};
pub use explain::Long;
pub use fluxes::FluxPlane;
pub use formula::Formula;
pub use heat::{Nusselt, Scalar};
pub use image::nrrd;
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
pub use schema::{keys, nearest};
pub use solids::{Body, Moves, Part, REST, SolidBody, Surfaces, Turn};
pub use start::{Start, StartField, StartValue};
pub use statistics::{Measure, Statistics};
pub use takes::json_schema;
pub use tree::{KeyAt, key_at};
pub use units::{Dimension, Units};
pub use vary::Method;
pub use views::View;

/// Mach number above which a case gets a warning.
pub const MACH_ADVISED: f64 = 0.3;

/// Where to run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TargetChoice {
    /// On a GPU if there is one, else on the CPU.
    Auto,
    /// On a GPU.
    Cuda,
    /// On the CPU.
    Cpu,
    /// The same, where each access of a kernel is compared with the arrays it was given.
    Checked,
}

impl TargetChoice {
    /// As a case says it.
    pub(crate) const WORDS: [(&'static str, TargetChoice); 4] = [
        ("auto", TargetChoice::Auto),
        ("cuda", TargetChoice::Cuda),
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

/// A face of the domain.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Face {
    /// Axis: 0 is x.
    pub axis: usize,
    /// Whether it is at the high end of the axis.
    pub high: bool,
}

impl Face {
    /// Its name in a case file: `left`, `right`, `bottom`, `top`, `back`, `front`.
    pub fn name(self) -> &'static str {
        schema::FACES[2 * self.axis + usize::from(self.high)]
    }
}

/// A face with a wall rule.
#[derive(Clone, Debug, PartialEq)]
pub struct Wall {
    /// Which face.
    pub face: Face,
    /// Name of the rule in the method.
    pub rule: String,
    /// Its parameters by name, with all their components, in lattice units.
    pub values: Vec<(String, Vec<f64>)>,
    /// Parameters that vary along it or in time, which `values` does not have: formulas of place, in cells, and time, in steps.
    pub formulas: Vec<(String, Vec<Formula>)>,
    /// What its parameters say of a velocity, in lattice units: that called `velocity`; zero for a rule without parameters;
    /// nothing for other rules, or where it varies. What the velocity at the face is, [`Wall::velocity_at`] says.
    pub velocity: Option<[f64; 3]>,
    /// What the rule says of the velocity at the face.
    pub at_face: AtFace,
    /// Parts of the face with walls of their own; where several are, the first counts.
    pub patches: Vec<Patch>,
}

impl Wall {
    /// Whether a parameter depends on time.
    pub fn varies_in_time(&self) -> bool {
        self.all().flat_map(|wall| &wall.formulas).flat_map(|(_, formulas)| formulas).any(Formula::varies_in_time)
    }

    /// The wall, and those of its patches.
    pub fn all(&self) -> impl Iterator<Item = &Wall> {
        std::iter::once(self).chain(self.patches.iter().map(|patch| &patch.wall))
    }

    /// Whether it is known to be at rest.
    pub fn rests(&self) -> bool {
        self.all().all(|wall| wall.velocity == Some([0.0; 3]))
    }

    /// The wall at a point of the face, in cells: that of a patch, if one is there.
    pub(crate) fn at(&self, point: [f64; 3]) -> &Wall {
        let patch = self.patches.iter().find(|patch| patch.region.contains(self.face.axis, point));
        patch.map_or(self, |patch| &patch.wall)
    }

    /// Velocity in lattice units at a point of the face, in cells, and a time, in steps, where the flow beside it has the velocity
    /// `beside`; `None` where the rule leaves it to the flow.
    pub fn velocity_at(&self, point: [f64; 3], time: f64, beside: [f64; 3]) -> Option<[f64; 3]> {
        let wall = self.at(point);
        match wall.at_face {
            AtFace::Unknown => None,
            AtFace::Prescribed => Some(wall.stated_velocity(point, time).unwrap_or_default()),
            AtFace::Slip => Some(std::array::from_fn(|axis| if axis == self.face.axis { 0.0 } else { beside[axis] })),
        }
    }

    /// The rule's parameter `velocity` at a point of the face and a time, if it has one: what the case wants there, which the flow need not
    /// have.
    pub fn stated_velocity(&self, point: [f64; 3], time: f64) -> Option<[f64; 3]> {
        let wall = self.at(point);
        if let Some((_, formulas)) = wall.formulas.iter().find(|(name, _)| name == "velocity") {
            return Some(std::array::from_fn(|axis| formulas.get(axis).map_or(0.0, |formula| formula.at(point, time))));
        }
        let (_, values) = wall.values.iter().find(|(name, _)| name == "velocity")?;
        Some(std::array::from_fn(|axis| values.get(axis).copied().unwrap_or(0.0)))
    }

    /// Whether the rule may let something through somewhere, on a face of a domain of so many cells.
    pub fn may_be_open(&self, size: [usize; 3]) -> bool {
        let centre = size.map(|cells| 0.5 * cells as f64);
        !self.patches.is_empty() || !self.formulas.is_empty() || !self.is_closed_at(centre)
    }

    /// Whether the rule never lets anything through at a point of the face.
    pub fn is_closed_at(&self, point: [f64; 3]) -> bool {
        let changes = |(name, formulas): &(String, Vec<Formula>)| {
            name == "velocity" && formulas.get(self.face.axis).is_some_and(Formula::varies_in_time)
        };
        let wall = self.at(point);
        let changes = wall.formulas.iter().any(changes);
        let still = |velocity: [f64; 3]| !changes && velocity[self.face.axis] == 0.0;
        match wall.at_face {
            AtFace::Slip => true,
            AtFace::Prescribed => wall.stated_velocity(point, 0.0).is_none_or(still),
            // Rules of nodes that state a velocity, and walls at a distance.
            AtFace::Unknown => match wall.values.iter().any(|(name, _)| name == "density") {
                true => false,
                false => wall.stated_velocity(point, 0.0).is_some_and(still) || wall.rule == "interpolated_bounce_back",
            },
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

/// A plane through a domain of three dimensions.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Slice {
    /// The axis normal to it.
    pub normal: usize,
    /// Its position along that axis, in cells.
    pub at: f64,
}

/// A format of fields for ParaView.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Vtk {
    /// Image data: of a grid of one level.
    Image,
    /// Overlapping AMR in a VTKHDF file.
    Amr,
    /// An unstructured grid.
    Unstructured,
}

impl Vtk {
    /// All of them.
    pub const ALL: [Vtk; 3] = [Vtk::Image, Vtk::Amr, Vtk::Unstructured];

    /// What is written unless the case says more.
    pub fn default_for(refined: bool, dim: usize) -> Vtk {
        match (refined, dim) {
            (false, _) => Vtk::Image,
            (true, 2) => Vtk::Unstructured,
            (true, _) => Vtk::Amr,
        }
    }

    /// Ending of the names of files.
    pub fn ending(self) -> &'static str {
        match self {
            Vtk::Image => "vti",
            Vtk::Amr => "vtkhdf",
            Vtk::Unstructured => "vtu",
        }
    }
}

/// What is written.
#[derive(Clone, Debug, PartialEq)]
pub struct Output {
    /// Folder, relative to where the command runs.
    pub directory: String,
    /// Centre lines as CSV.
    pub profiles: bool,
    /// A picture of the velocity.
    pub picture: bool,
    /// Plane of the pictures, if it is not the middle one normal to z.
    pub slice: Option<Slice>,
    /// Whether the edges of blocks are drawn over them, on a refined grid.
    pub grid: bool,
    /// Fields for ParaView at the end.
    pub vtk: Option<Vtk>,
    /// What these files have, if not the fields of the method.
    pub fields: Option<Vec<Quantity>>,
    /// And every so many steps.
    pub every: Option<u64>,
    /// Energy, enstrophy, dissipation and the like every so many steps.
    pub series: Option<u64>,
    /// A restart file every so many steps, and at the end.
    pub restart: Option<u64>,
    /// Steps between rows of the force on solids, if there are any.
    pub forces: Option<u64>,
    /// Steps between rows of the scalars that solids give to the fluid, if there are any.
    pub heat: Option<u64>,
    /// Pressure and friction on solids.
    pub surfaces: Option<Surfaces>,
    /// Published data to compare with.
    pub compare: Option<Reference>,
    /// Points at which fields are recorded.
    pub probes: Vec<Probe>,
    /// Pictures of fields by name.
    pub pictures: Vec<Picture>,
    /// Views of surfaces in three dimensions.
    pub views: Vec<View>,
    /// What is accumulated over time.
    pub statistics: Vec<Statistics>,
    /// Planes through which fluxes are measured.
    pub fluxes: Vec<FluxPlane>,
    /// The first step that means in time are of, if it is not chosen.
    pub average_from: Option<u64>,
    /// What follows from the results.
    pub report: Vec<Report>,
}

impl Output {
    /// Whether fields are written at a step on the way.
    pub fn wants_fields(&self, step: u64) -> bool {
        self.vtk.is_some() && step > 0 && is_due(self.every, step)
    }

    /// The files of all pictures and views.
    pub fn frames(&self) -> impl Iterator<Item = &Frames> {
        self.pictures.iter().map(|picture| &picture.frames).chain(self.views.iter().map(|view| &view.frames))
    }

    /// Whether pressure and friction on solids are written at a step on the way.
    pub fn wants_surfaces(&self, step: u64) -> bool {
        step > 0 && is_due(self.surfaces.as_ref().map(|surfaces| surfaces.every), step)
    }

    /// Whether something is made of the fields of a step on the way: pictures, views, what is on solids.
    pub fn wants_pictures(&self, step: u64) -> bool {
        self.wants_surfaces(step) || self.frames().any(|frames| frames.wants(step))
    }

    /// Whether the series has a row of a step on the way.
    pub fn wants_row(&self, step: u64) -> bool {
        is_due(self.series, step)
    }

    /// Whether the forces of a step are recorded.
    pub fn wants_forces(&self, step: u64) -> bool {
        is_due(self.forces, step)
    }

    /// Whether what solids give to the fluid in a step is recorded.
    pub fn wants_heat(&self, step: u64) -> bool {
        is_due(self.heat, step)
    }

    /// Steps between all that is written on the way.
    pub fn intervals(&self) -> impl Iterator<Item = u64> + '_ {
        let surfaces = self.surfaces.as_ref().map(|surfaces| surfaces.every);
        let tables = [self.every, self.series, self.forces, self.heat, self.restart, surfaces].into_iter().flatten();
        let pictures = self.frames().filter_map(|frames| frames.every);
        let planes = self.fluxes.iter().map(|plane| plane.every);
        tables.chain(self.probes.iter().map(|probe| probe.every)).chain(pictures).chain(planes)
    }

    /// Whether a restart file is written at a step on the way.
    pub fn wants_restart(&self, step: u64) -> bool {
        is_due(self.restart, step)
    }

    /// Whether some of its files are made of the fields of all cells at the end.
    fn ends_with_fields(&self) -> bool {
        let of_fields = self.vtk.is_some() || self.profiles || self.picture || self.surfaces.is_some();
        let pictures = self.pictures.iter().any(|picture| picture.statistics.is_none());
        of_fields || pictures || !self.views.is_empty()
    }
}

/// Whether one of a parameter's components depends on time.
pub(crate) fn is_timed(formulas: &[Formula]) -> bool {
    formulas.iter().any(Formula::varies_in_time)
}

fn is_due(every: Option<u64>, step: u64) -> bool {
    every.is_some_and(|every| step.is_multiple_of(every))
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

    /// Whether results are made of the fields of all cells at the end, by a method with this manifest: files, fluxes through open faces, means
    /// over the fluid.
    pub fn ends_with_fields(&self, manifest: &Manifest) -> bool {
        let observes = manifest.fields.iter().any(|field| field.observed);
        let reads = self.output.ends_with_fields() || observes || report::reads_fields(self);
        reads || self.walls.iter().any(|wall| wall.may_be_open(self.size))
    }

    /// Copies that are on their way to files at a time: one of fields is written while the next is taken.
    pub fn copies(&self, manifest: &Manifest) -> Copies {
        let output = &self.output;
        let fields = output.vtk.and(output.every).is_some()
            || output.frames().any(|frames| frames.every.is_some())
            || output.surfaces.is_some();
        let states = usize::from(output.restart.is_some());
        let outputs = fields || states > 0 || self.ends_with_fields(manifest);
        Copies { fields: if fields { 2 } else { 0 }, states, outputs }
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
