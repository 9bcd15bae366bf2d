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
//! shape = "cylinder"            # sphere, box, cylinder, ellipsoid, stl or image
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
//!
//! | module | job |
//! | --- | --- |
//! | `diag`, `explain`, `words` | diagnostics, their long texts, words that look alike |
//! | `devices`, `formula`, `units`, `results`, `quantity` | where to run; formulas; units; names of the files of a run; fields by name |
//! | `image`, `table`, `saved`, `samples`, `recording` | files that a case reads: voxels, tables of formulas, restart files, fields to start from, recordings of a plane |
//! | `slice`, `vtk`, `region`, `walls`, `refinement`, `heat`, `layer`, `solids`, `mixing`, `start` | parts of a case, in lattice units: the flow |
//! | `reference`, `fluxes`, `statistics`, `probes`, `pictures`, `views`, `report`, `output` | the same: what is written |
//! | `sound`, `density` | velocities against the speed of sound; walls that want another density than the start |
//! | `tree`, `takes`, `keys`, `schema` | the text as a tree; values that keys take; the keys by subject; all keys |
//! | `cursor` | at which key or value a place of the text lies, and what may stand there |
//! | `address`, `overrides` | which value `--set KEY=VALUE` means; the tree with overrides |
//! | `stop`, `gradient`, `resolved` | when and why a run ends; the objective whose derivatives are wanted; [`Case`]; `bodies`: its solids as wholes; `sources`: names of its results in formulas |
//! | `varied`, `raw`, `absorbing`, `vary` | parameters that vary; [`RawCase`]; absorbing layers as such; how the method is compiled for them |
//! | `load`, `record`, `read` | reads the files of a case; copies them to the results; text to [`RawCase`] |
//! | `resolve` | [`RawCase`] and manifest to [`Case`], a file for each subject |
//!
//! Invariant: no module imports one below it in the table (`tests/tests/layers.rs`, which has the order within rows, too).

mod absorbing;
mod address;
mod bodies;
mod cursor;
pub(crate) mod density;
mod devices;
mod diag;
mod explain;
mod fluxes;
mod formula;
#[cfg(test)]
mod fuzz;
mod gradient;
mod heat;
mod image;
mod keys;
mod layer;
mod load;
mod mixing;
mod output;
mod overrides;
mod pictures;
mod probes;
mod quantity;
mod raw;
mod read;
mod record;
mod recording;
mod reference;
mod refinement;
mod region;
mod report;
mod resolve;
mod resolved;
mod results;
mod samples;
pub(crate) mod saved;
mod schema;
mod slice;
mod solids;
pub(crate) mod sound;
mod sources;
mod start;
mod statistics;
mod stop;
mod table;
mod takes;
mod tree;
mod units;
mod varied;
mod vary;
mod views;
mod vtk;
mod walls;
mod words;

pub use absorbing::rate_at as absorbing_rate;
pub use address::{Parameter, parameter};
pub use bodies::Body;
pub use cursor::{Choice, Choices, KeyAt, choices, key_at};
pub use devices::{Buffers, Devices, TargetChoice};
pub use diag::{CODES, CaseError, Code, Diagnostic};
pub use explain::Long;
pub use fluxes::FluxPlane;
pub use formula::Formula;
pub(crate) use formula::is_timed;
pub use gradient::Gradient;
pub use heat::{Nusselt, Scalar};
pub use image::nrrd;
pub use layer::Layer;
pub use output::Output;
pub use pictures::{Colours, Contours, Frames, Picture};
pub use probes::{MOST_NUMBERS, Probe};
pub use quantity::{Measure, Quantity};
pub use raw::RawCase;
pub use record::InputFile;
pub(crate) use recording::HEAD;
pub use recording::{Head, Recording};
pub use reference::{Curve, Moment, Reference, find as reference};
pub use refinement::{Follow, RefinedBox, Refinement};
pub use region::Region;
pub use report::{Coefficient, OnSurface, Range, Report, Source, Through};
pub use resolved::{Case, MACH_ADVISED, Scales};
pub(crate) use results::is_plain;
pub use results::{CASE, INPUTS, LIST, RESTART, ResultName, Results, SUMMARY};
pub use schema::{json_schema, keys};
pub use slice::Slice;
pub use solids::{Moves, Part, REST, SolidBody, Surfaces, Turn};
pub use sources::sources;
pub use start::{Start, StartField, StartValue};
pub use statistics::Statistics;
pub use stop::{Steady, Stop, StopReason};
pub use units::{Dimension, Units};
pub use vary::Method;
pub use views::View;
pub use vtk::Vtk;
pub use walls::{Face, Patch, Wall};
pub use words::nearest;
