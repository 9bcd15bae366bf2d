//! The contract between compiler and runtime: kernel sources, typed launch signatures, layout constants, manifest.
//!
//! A [`Bundle`] is what `lbmc gen` writes and what the runtime loads; neither side knows more of the other. Kernels of
//! both targets share their arguments to the last pointer, so a host launch and a GPU launch differ in the grid only.
//!
//! [`Layout`] says how cells lie in memory. The runtime runs flows on [`Layout::Blocks`]; [`Layout::Soa`] is for programs
//! that have arrays of their own.
//!
//! Kernels that change the forest of blocks depend on no method and come in bundles of their own: [`mesh`]. So do those that say
//! which level a block should have, which depend on the case too: [`criteria`].
//!
//! # Memory, blocks
//!
//! A data *slot* holds one block of `block[0] x block[1] x block[2]` cells (`block[2]` is 1 in two dimensions). Inside a
//! block, cell `(x, y, z)` has index `x + block[0] * (y + block[1] * z)`.
//!
//! - populations: `f[(slot * q + direction) * cells + cell]`, post-collision, two buffers; `direction` counts those of all
//!   sets, one set after the other, and `q` is their number. What is stored is the difference from [`Direction::rest`], so that
//!   it keeps the digits that matter: a population is `rest + f[..]`
//! - fields: `fields[(slot * field_components + component) * cells + cell]`
//! - neighbours: `neighbours[slot * 3^dim + (dx+1) + 3*(dy+1) + 9*(dz+1)]`, `dx, dy, dz` in -1, 0, 1: the slot of that
//!   neighbour, `-(w + 1)` where the wall instance `w` is, or [`mesh::NONE`] where blocks of another level are (no `dz`
//!   term in two dimensions)
//! - wall instances: `wall_rules[w]` is a [`Boundary::code`], `wall_values[w * wall_stride + k]` its parameters, the
//!   components of [`Boundary::params`] one after the other
//!
//! # Walls, blocks
//!
//! What a direction would bring from behind a wall, the wall's rule says, of one of two kinds. A rule of *links* gives each
//! population on its own, from what left the cell; the wall is half-way to the missing cell. A rule of *nodes* comes after
//! all links and gives a cell the populations that nothing has brought, from what has arrived there and in the next cell
//! inwards; the wall is at the cells' centres. Where several walls of nodes meet at an edge or corner of the box, the rule
//! and the parameters are those of the first along x, y, z. A block is then at least three cells wide along every axis.
//!
//! # Solids, blocks
//!
//! A wall instance may also be the surface of a solid, or belong to one cell of a face along which values vary. Which links
//! it cuts is said link by link in tables with a row for each block that has any: `rows[slot]` is the row of a slot, -1 for none,
//! and `links[(row * q + direction) * cells + cell]` is 0 where the direction brings what it always does, `w + 1` where the wall
//! instance `w` sends it, and -1, for all directions, where the cell itself is solid: its populations stay what they are. The
//! cells of row 0 are all solid. `distances`, of the same shape, holds the distance from the cell's centre to the surface
//! along the link, over the length of the link; it is what a rule's parameter [`DISTANCE`] is there.
//!
//! Every kernel that works on blocks takes `ids` and `count` first: the slots to work on, in that order. One that sums something
//! up takes `shares` and `count` first, the numbers of the [shares](SHARES) to work on, then `ids`, `size`, and `per`. What else each
//! takes is said once, in the table [`method_kernels!`].
//!
//! # Memory, soa
//!
//! Arrays belong to the caller. Every kernel but `collide` works on a box of `nx x ny x nz` cells (no `z` terms in two
//! dimensions) and takes the extents and three strides first, all counted in values; every array is given by the address
//! of its first value at cell `(0, 0, 0)` of that box:
//!
//! - populations: `f[direction * stride_i + z * stride_z + y * stride_y + x]`, post-collision, two buffers, whole
//! - fields: the same with components in the place of directions
//!
//! `stream_collide` reads cells from -1 to `nx`, `ny`, `nz`: one layer of ghost cells around the box, which the caller
//! fills before each step. What it puts there is the boundary: the opposite side's cells (periodic), a neighbour's (domain
//! decomposition), or, for a wall, populations that travel into the box. A smaller box inside the same arrays is a
//! thread's share of the work.

use serde::{Deserialize, Serialize};

mod args;
pub mod criteria;
pub mod formula;
mod gather;
mod groups;
pub mod input;
mod kernels;
pub mod mesh;
pub mod plain;
pub mod prescribed;
mod read;
mod soa;
pub mod statistics;
pub mod variation;

pub use args::{Arg, ArgType};
pub use formula::Formula;
pub use gather::{Action, Sources};
pub use kernels::Role;
pub use read::ManifestError;

/// Name of a parameter of boundary rules that solids take from their geometry, link by link.
pub const DISTANCE: &str = "distance";

/// Most shares into which a list is cut whose result does not depend on how. A *share* is a run of its entries: share `s` of `size`
/// entries has those from `s * per` on, `per` of them or what is left; what is summed up has shares of one block. What becomes of a share
/// does not depend on how many threads work on it.
pub const SHARES: usize = 128;

/// Version of this contract: of the kernels' arguments, the layouts and the manifest. A runtime refuses a bundle of
/// another version.
pub const ABI: u32 = 12;

/// What the kernels are compiled for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Target {
    /// CUDA C++, compiled by NVRTC or nvcc.
    Cuda,
    /// C for the host, compiled by the system compiler.
    C,
    /// HIP C++, compiled by hipcc. The runtime has no backend for it.
    Hip,
}

impl Target {
    /// All there are.
    pub const ALL: [Target; 3] = [Target::Cuda, Target::C, Target::Hip];

    /// What it is called in options, manifests and banners.
    pub const fn name(self) -> &'static str {
        match self {
            Target::Cuda => "cuda",
            Target::C => "c",
            Target::Hip => "hip",
        }
    }

    /// What names of kernel sources end with.
    pub const fn ending(self) -> &'static str {
        match self {
            Target::Cuda => "cu",
            Target::C => "c",
            Target::Hip => "hip",
        }
    }

    /// Whether kernels have a thread for each item, in thread blocks.
    pub const fn is_gpu(self) -> bool {
        !matches!(self, Target::C)
    }

    /// Threads that run in step: a warp, or a wave of GPUs of AMD (gfx9).
    pub const fn lanes(self) -> u32 {
        match self {
            Target::Cuda => 32,
            Target::C => 1,
            Target::Hip => 64,
        }
    }

    /// Bytes of memory that a thread block may have for its threads to share.
    pub const fn shared_bytes(self) -> usize {
        match self {
            Target::Cuda => 163 << 10,
            Target::C => usize::MAX,
            Target::Hip => 64 << 10,
        }
    }
}

/// Floating-point types: what is computed with, of which fields and parameters are, and what populations are stored as.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Real {
    /// 32 bits.
    F32,
    /// 64 bits.
    F64,
    /// 32 bits, populations or moments stored in 16: differences from rest times [`HALF_SCALE`], IEEE 754 binary16.
    #[serde(rename = "f16/f32")]
    F16F32,
}

/// What populations and moments that are stored in 16 bits are multiplied with: 2^15, as in Lehmann et al., Phys. Rev. E 106 (2022) 015308. The
/// largest that fits is 2, the smallest with all 11 bits 2^-29.
pub const HALF_SCALE: f32 = 32768.0;

/// The last binary digits of a moment that is stored in 16 bits, which are digits of another one, behind its own 11.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Lent {
    /// The number of the moment that has them more.
    pub to: usize,
    /// The number of the one that has them less.
    pub from: usize,
    /// How many they are.
    pub digits: u32,
    /// How many digits of `to` are behind them.
    pub shift: u32,
    /// How many digits `to` has more in all.
    pub more: u32,
}

/// Binary digits of a number of 16 bits, the first of which is not written.
pub const HALF_DIGITS: u32 = 11;

/// Of moments of 16 bits with these names: the digits that second moments lend momenta, 4 to each of them or 3. Errors of a momentum last, as nothing
/// but viscosity takes them away, those of a stress do not.
pub fn lent<'a>(names: impl Iterator<Item = &'a str>) -> Vec<Lent> {
    let is_momentum: Vec<bool> = names.map(|name| name.starts_with('j')).collect();
    let momenta: Vec<usize> = (0..is_momentum.len()).filter(|at| is_momentum[*at]).collect();
    let Some(last) = momenta.last() else { return vec![] };
    let each = ((is_momentum.len() - 1 - last) / momenta.len()).min(2);
    let digits = if each == 2 { 2 } else { 3 };
    let lend = |(number, to): (usize, &usize)| {
        let one = move |at: usize| Lent {
            to: *to,
            from: last + 1 + number * each + at,
            digits,
            shift: digits * at as u32,
            more: digits * each as u32,
        };
        (0..each).map(one).collect::<Vec<_>>()
    };
    momenta.iter().enumerate().flat_map(lend).collect()
}

/// Binary digits of a moment of 16 bits, by its number, where these are lent.
pub fn digits_of(lent: &[Lent], at: usize) -> u32 {
    let more = lent.iter().find(|lent| lent.to == at).map_or(0, |lent| lent.more);
    let less = lent.iter().find(|lent| lent.from == at).map_or(0, |lent| lent.digits);
    HALF_DIGITS + more - less
}

/// Values of a cell that lie side by side at most: of 16 bits, as many as are loaded at once.
const MOST_SIDE_BY_SIDE: usize = 8;

/// Groups of values of a cell, of so many in all, that lie side by side: the first of each and how many they are, eight while there are as many,
/// then four, two and one.
pub fn side_by_side(values: usize) -> impl Iterator<Item = (usize, usize)> {
    let group = move |first: usize| {
        let left = values - first;
        (first, MOST_SIDE_BY_SIDE.min(if left == 0 { 0 } else { 1 << left.ilog2() }))
    };
    let next = move |(first, width): &(usize, usize)| Some(group(first + width)).filter(|(_, width)| *width > 0);
    std::iter::successors(Some(group(0)).filter(|(_, width)| *width > 0), next)
}

impl Real {
    /// All of them.
    pub const ALL: [Real; 3] = [Real::F32, Real::F64, Real::F16F32];

    /// Bytes of a value that is computed with.
    pub fn bytes(self) -> usize {
        match self {
            Real::F32 | Real::F16F32 => 4,
            Real::F64 => 8,
        }
    }

    /// Bytes of a stored population.
    pub fn stored_bytes(self) -> usize {
        match self {
            Real::F16F32 => 2,
            Real::F32 | Real::F64 => self.bytes(),
        }
    }

    /// Name, what is stored before what is computed with: `f32`, `f64`, `f16/f32`.
    pub fn name(self) -> &'static str {
        match self {
            Real::F32 => "f32",
            Real::F64 => "f64",
            Real::F16F32 => "f16/f32",
        }
    }

    /// What is computed with, stored as it is.
    pub fn computed(self) -> Real {
        match self {
            Real::F32 | Real::F16F32 => Real::F32,
            Real::F64 => Real::F64,
        }
    }
}

/// How cells lie in memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Layout {
    /// Blocks of cells, found through lists and a table of neighbours.
    Blocks,
    /// Dense arrays of the caller, one for each direction: a structure of arrays.
    Soa,
}

/// A member of the struct of the method's parameters: a component of one of them, of the bundle's real type.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Member {
    /// Its name. It ends with an underscore, `omega_`, and may have other letters than the parameter in the spec.
    pub name: String,
    /// [`Param::name`] of the parameter.
    pub param: String,
    /// Axis of the component; 0 for a scalar.
    pub component: u32,
    /// What it is.
    pub doc: String,
}

/// Operation counts per cell (per state for `collide`). A fused multiply-add is one `fma` and two `flops`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Cost {
    /// Additions and subtractions.
    pub adds: u32,
    /// Multiplications.
    pub muls: u32,
    /// Fused multiply-adds.
    pub fmas: u32,
    /// Divisions.
    pub divs: u32,
    /// Square roots.
    pub sqrts: u32,
    /// Other functions: exponentials, powers, angles.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub calls: u32,
    /// `adds + muls + 2 fmas + divs + sqrts + calls`; negations are free.
    pub flops: u32,
    /// Values loaded from memory per cell (indices not counted).
    pub loads: u32,
    /// Values stored to memory per cell.
    pub stores: u32,
    /// Bytes loaded and stored per cell (indices not counted).
    pub bytes: u32,
}

impl std::ops::Add for Cost {
    type Output = Cost;

    fn add(self, other: Cost) -> Cost {
        Cost {
            adds: self.adds + other.adds,
            muls: self.muls + other.muls,
            fmas: self.fmas + other.fmas,
            divs: self.divs + other.divs,
            sqrts: self.sqrts + other.sqrts,
            calls: self.calls + other.calls,
            flops: self.flops + other.flops,
            loads: self.loads + other.loads,
            stores: self.stores + other.stores,
            bytes: self.bytes + other.bytes,
        }
    }
}

/// One kernel of a bundle.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Kernel {
    /// What it does.
    pub role: Role,
    /// Symbol in the compiled code, for example `d3q19_bgk_stream_collide`. On the host, `<symbol>_packed` takes an
    /// array of pointers to the arguments, as a CUDA launch does.
    pub symbol: String,
    /// Arguments in order.
    pub args: Vec<Arg>,
    /// Cost per cell.
    pub cost: Cost,
    /// CUDA: threads of a thread block.
    pub threads: u32,
    /// CUDA: list entries (blocks, or states of `collide`) that one thread block works on; the grid has
    /// `ceil(count / items_per_group)` thread blocks. Kernels on a box of cells ([`Layout::Soa`]) are launched with thread
    /// blocks of the shape [`Manifest::block`] instead, and as many along each axis as cover the box.
    pub items_per_group: u32,
    /// CUDA: how many thread blocks work on the same entries, along y of the grid: one for each direction, or one.
    #[serde(default = "one", skip_serializing_if = "is_one")]
    pub passes: u32,
    /// CUDA: bytes of dynamic shared memory of a thread block. For more than 48 KiB a kernel's attribute
    /// `CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES` has to be set before its first launch.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub shared: u32,
}

fn one() -> u32 {
    1
}

fn is_one(passes: &u32) -> bool {
    *passes == 1
}

/// A run-time parameter of the method or of a boundary rule.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Param {
    /// Name as in the spec.
    pub name: String,
    /// Number of components: 1 for a scalar, the dimension for a vector.
    pub components: u32,
    /// Open interval of allowed values, if the spec states one.
    pub range: Option<(f64, f64)>,
    /// What it is measured in, if the spec says so.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub unit: Option<Unit>,
    /// What it is.
    pub doc: String,
}

/// What a quantity is measured in, where the density of the fluid at rest is 1: a power of a length times a power of a time.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Unit {
    /// Exponent of the length, in lattice units the side of a cell.
    pub length: i32,
    /// Exponent of the time, in lattice units a step.
    pub time: i32,
}

impl Unit {
    /// A quantity in the units of the next finer level over the same in those of a level: cells and steps are half as large there.
    pub fn finer(self) -> f64 {
        2f64.powi(self.length + self.time)
    }
}

/// A boundary rule that `stream_collide_walls` knows.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Boundary {
    /// Name as in the spec: `bounce_back`.
    pub name: String,
    /// Its number in `wall_rules`.
    pub code: i32,
    /// Whether it lies on the centres of the outermost cells; if not, half-way behind them.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub nodes: bool,
    /// What it says of the velocity at the face.
    #[serde(default, skip_serializing_if = "AtFace::is_unknown")]
    pub at_face: AtFace,
    /// Whether what it gives the fluid is for a density of 1: it is not in proportion to the populations, and no parameter is a density.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub unit_density: bool,
    /// Its parameters, in the order in which `wall_values` holds them.
    pub params: Vec<Param>,
    /// What it is.
    pub doc: String,
}

/// What a boundary rule says of the velocity at the face.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum AtFace {
    /// Nothing: it follows from the flow. Rules of nodes have their velocity in the cell.
    #[default]
    Unknown,
    /// It is the rule's parameter `velocity`, or zero where it has none.
    Prescribed,
    /// Nothing flows through, and the flow along it is free.
    Slip,
}

impl AtFace {
    fn is_unknown(&self) -> bool {
        *self == AtFace::Unknown
    }
}

/// A macroscopic field.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Field {
    /// Name as in the spec: `rho`, `u`.
    pub name: String,
    /// 1 for a scalar, the dimension for a vector; of an observable also those of a symmetric tensor: 3 or 6.
    pub components: u32,
    /// Whether it is an observable that was asked for: computed for output, and nothing that a flow starts from. These come last.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub observed: bool,
    /// Whether it is a value that cells keep for a parameter that varies: a case gives it by a formula of the position. These come last but for
    /// observables.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub place: bool,
    /// What an observable is measured in, if the spec says so. It is in cells and steps of the coarsest level.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub unit: Option<Unit>,
}

impl Field {
    /// A field of the method, no observable.
    pub fn own(name: &str, components: usize) -> Field {
        Field { name: name.into(), components: components as u32, observed: false, place: false, unit: None }
    }

    /// Whether it is one of the fields that the spec lists.
    pub fn is_own(&self) -> bool {
        !self.observed && !self.place
    }

    /// Whether it is a symmetric tensor in so many dimensions.
    pub fn is_tensor(&self, dim: u32) -> bool {
        self.components > 1 && self.components == dim * (dim + 1) / 2
    }

    /// Names of its components in so many dimensions, in order: `rho`; `ux`, `uy`; `tau_xx`, `tau_xy`, `tau_yy`.
    pub fn component_names(&self, dim: u32) -> Vec<String> {
        let axes = &["x", "y", "z"][..dim.min(3) as usize];
        match self.components {
            1 => vec![self.name.clone()],
            _ if self.is_tensor(dim) => {
                let pairs =
                    axes.iter().enumerate().flat_map(|(at, one)| axes[at..].iter().map(move |other| (one, other)));
                pairs.map(|(one, other)| format!("{}_{one}{other}", self.name)).collect()
            }
            _ => axes.iter().map(|axis| format!("{}{axis}", self.name)).collect(),
        }
    }
}

/// Populations that stream along the directions of one velocity set.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Populations {
    /// Name as in the spec: `f`.
    pub name: String,
    /// Name of the velocity set: `D3Q19`.
    pub lattice: String,
    /// Squared speed of sound of the velocity set.
    pub cs2: f64,
    /// Position of the first of them in [`Manifest::directions`].
    pub first: u32,
    /// How many there are.
    pub count: u32,
    /// Name of the field that is their sum, if there is one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub field: Option<String>,
    /// Diffusivity of what they carry; none where that is a momentum.
    pub diffusivity: Option<Transport>,
}

impl Populations {
    /// Their positions in [`Manifest::directions`].
    pub fn range(&self) -> std::ops::Range<usize> {
        self.first as usize..(self.first + self.count) as usize
    }
}

/// A number that each cell has beside its populations, from step to step.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct State {
    /// Name as in the spec: `nu`.
    pub name: String,
    /// What it is measured in, if the spec says so. It is stored in cells and steps of the level of its cell.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub unit: Option<Unit>,
    /// What it is.
    pub doc: String,
}

/// A value that cells show to those around them.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Shown {
    /// Name of the value in the spec: `rho`, `ux`.
    pub name: String,
    /// The state that it is stored as, counted on from the populations.
    pub value: u32,
    /// The axis along which it is a component of a vector, if it is one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub axis: Option<u32>,
}

/// What a collision reads of a cell beside its own.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Seen {
    /// Position of the value in [`Manifest::shown`].
    pub shown: u32,
    /// The direction, of the first populations, along which that cell is the next.
    pub direction: u32,
}

/// The direction of one population.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Direction {
    /// Velocity, 0 beyond the dimension.
    pub c: [i32; 3],
    /// Exact weight, as `1/36`.
    pub weight: String,
    /// Exact value at rest, as `1/36`: populations are stored without it.
    pub rest: String,
    /// Position of the opposite direction of the same set.
    pub opposite: u32,
}

impl Direction {
    /// The weight as a number; no number where the text is none, which no manifest of ours has.
    pub fn weight_value(&self) -> f64 {
        value(&self.weight)
    }

    /// The value at rest as a number, as [`Self::weight_value`].
    pub fn rest_value(&self) -> f64 {
        value(&self.rest)
    }
}

/// A quotient of whole numbers as a number.
fn value(quotient: &str) -> f64 {
    let (above, below) = quotient.split_once('/').unwrap_or((quotient, "1"));
    let number = |text: &str| text.trim().parse().unwrap_or(f64::NAN);
    number(above) / number(below)
}

/// A transport coefficient in lattice units, found by linearising the collision about rest.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Transport {
    /// Formula of the parameters: `1/3*(1/omega - 1/2)`.
    pub formula: String,
    /// The parameter `p` for which the coefficient is `cs2 (1/p - 1/2)`, if it is that simple.
    pub rate: Option<String>,
}

/// A parameter of the method on the next finer level.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Rate {
    /// Name of the parameter.
    pub param: String,
    /// Its value there, from the scalar parameters on the level at hand.
    pub finer: Formula,
}

/// What is stored of a cell.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub enum Storage {
    /// Its populations.
    #[default]
    Populations,
    /// The moments that populations after a collision depend on.
    Moments,
    /// What is faster.
    Auto,
}

impl Storage {
    /// All of them.
    pub const ALL: [Self; 3] = [Self::Populations, Self::Moments, Self::Auto];

    /// How files and the command line call it.
    pub fn name(self) -> &'static str {
        match self {
            Self::Populations => "populations",
            Self::Moments => "moments",
            Self::Auto => "auto",
        }
    }
}

/// A sum of the populations of a cell, which is stored in their place.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Moment {
    /// Name: `rho`, `jx`, `pxy`.
    pub name: String,
    /// The share of each population in it: a quotient of whole numbers.
    pub shares: Vec<String>,
}

impl Moment {
    /// The shares as numbers.
    pub fn share_values(&self) -> Vec<f64> {
        self.shares.iter().map(|share| value(share)).collect()
    }
}

/// What crosses the jump between two levels of refinement.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Coupling {
    /// Name as in the spec: `volumetric_shifted`.
    pub name: String,
    /// What it is.
    pub doc: String,
    /// The parameters that differ between levels.
    pub rates: Vec<Rate>,
    /// Layers of fine cells that are ghosts, beside every coarser block; 0 for a coupling of packets.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub ghosts: u32,
}

fn is_zero(count: &u32) -> bool {
    *count == 0
}

/// What a grid may follow while it changes.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Criterion {
    /// Name as in the spec: `vorticity`.
    pub name: String,
    /// What it is.
    pub doc: String,
    /// Its value in cells and steps of level 0, from components of the fields, `ux`, and their derivatives, `dx_uy`.
    pub formula: Formula,
    /// What it is measured in.
    pub unit: Unit,
}

/// Everything but the source text.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Manifest {
    /// [`ABI`] of the compiler that wrote it.
    pub abi: u32,
    /// Name of the spec: `d3q19_bgk`.
    pub spec: String,
    /// Target.
    pub target: Target,
    /// Real type.
    pub real: Real,
    /// How cells lie in memory.
    pub layout: Layout,
    /// Number of axes, 2 or 3.
    pub dim: u32,
    /// The sets of populations; the first is that of `lattice` in the spec.
    pub populations: Vec<Populations>,
    /// The direction of every population, one set after the other. Behind them comes one for each state: it goes nowhere.
    pub directions: Vec<Direction>,
    /// States, which are stored behind the populations as if they were some that stay where they are.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub states: Vec<State>,
    /// What cells show to those around them, before any collides: kernels of their own store it.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub shown: Vec<Shown>,
    /// What a collision reads of it.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub seen: Vec<Seen>,
    /// What is stored of a cell in the place of its populations: moments of them, each less its value at rest. Empty: the populations.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub moments: Vec<Moment>,
    /// Cells of a block along each axis; 1 beyond the dimension. [`Layout::Soa`] has no blocks in memory: these are the
    /// cells of a CUDA thread block.
    pub block: [u32; 3],
    /// Values a wall instance has room for in `wall_values`.
    pub wall_stride: u32,
    /// Parameters of the method.
    pub params: Vec<Param>,
    /// The struct `<spec>_params` that kernels take them in, by value as their last argument: its members in order, one behind the
    /// other. There is no such struct, and no such argument, where the method has no parameters.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub members: Vec<Member>,
    /// Macroscopic fields in the order of their components in `fields`.
    pub fields: Vec<Field>,
    /// Boundary rules.
    pub boundaries: Vec<Boundary>,
    /// Codes of the boundary rules that surfaces of solids can have, if the bundle has kernels for them.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub solid_rules: Vec<i32>,
    /// Codes of the boundary rules that are mirrors, if the bundle has kernels for solids or level jumps, which they reflect.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub mirror_rules: Vec<i32>,
    /// Codes of the boundary rules that work on one level only, if the bundle has kernels for several: they mix what a mirror
    /// would send back with something else, or have a parameter that would differ between levels.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub one_level_rules: Vec<i32>,
    /// What crosses level jumps, if the bundle has kernels for them.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub coupling: Option<Coupling>,
    /// What the spec says that a grid may follow.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub criteria: Vec<Criterion>,
    /// Kernels.
    pub kernels: Vec<Kernel>,
    /// Kinematic viscosity of the first populations as a function of the parameters.
    pub viscosity: Transport,
}

impl Manifest {
    /// The first populations, those of `lattice` in the spec.
    ///
    /// # Panics
    /// Where the manifest lists none: no such manifest is made, and no such bundle loads.
    pub fn main(&self) -> &Populations {
        &self.populations[0]
    }
    /// Number of populations of all sets, and of states.
    pub fn q(&self) -> usize {
        self.directions.len()
    }
    /// Number of values that are stored of a cell: its moments, or its populations and states.
    pub fn values(&self) -> usize {
        if self.moments.is_empty() { self.q() } else { self.moments.len() }
    }
    /// Values of the parameters on the next finer level, all in their order: rates as the coupling says, others as their units
    /// say. What neither speaks of is the same on all levels.
    pub fn finer(&self, values: &[Vec<f64>]) -> Vec<Vec<f64>> {
        let named = |name: &str| Some(values[self.params.iter().position(|param| param.name == name)?][0]);
        let of_param = |(param, values): (&Param, &Vec<f64>)| {
            let rates = self.coupling.iter().flat_map(|coupling| &coupling.rates);
            match (rates.into_iter().find(|rate| rate.param == param.name), param.unit) {
                (Some(rate), _) => vec![rate.finer.value(&named).unwrap_or(f64::NAN)],
                (None, Some(unit)) => values.iter().map(|value| value * unit.finer()).collect(),
                (None, None) => values.clone(),
            }
        };
        self.params.iter().zip(values).map(of_param).collect()
    }
    /// Cells of a block.
    pub fn cells(&self) -> usize {
        self.block.iter().map(|n| *n as usize).product()
    }

    /// Values from a block's populations of one direction to those of the next: its cells and, on the host, a cache line more where
    /// directions would be a multiple of 1 KiB apart. Their cells would share sets of a processor's caches and drive each other out.
    pub fn pitch(&self) -> usize {
        let (bytes, line) = (self.cells() * self.real.stored_bytes(), 64 / self.real.stored_bytes());
        let apart = !self.target.is_gpu() && self.layout == Layout::Blocks && bytes.is_multiple_of(1024);
        self.cells() + if apart { line } else { 0 }
    }

    /// Whether values of a cell lie side by side in memory, in the groups of [`side_by_side`]: moments of 16 bits on GPUs do, which are loaded a
    /// group at once. Others lie apart, those of one number in a block one behind the other.
    pub fn is_side_by_side(&self) -> bool {
        let half = self.real == Real::F16F32 && self.target.is_gpu();
        half && !self.moments.is_empty() && self.cells().is_multiple_of(MOST_SIDE_BY_SIDE)
    }

    /// What moments of 16 bits [lend](lent) each other; nothing where values are stored otherwise.
    pub fn lent(&self) -> Vec<Lent> {
        let names = || self.moments.iter().map(|moment| moment.name.as_str());
        if self.real == Real::F16F32 { lent(names()) } else { vec![] }
    }

    /// Values of the table of what is around a block at an interface: slots and rows of the inbox of its neighbours, and of the blocks
    /// that refine these.
    pub fn around(&self) -> usize {
        2 * 3usize.pow(self.dim) * (1 + (1 << self.dim))
    }

    /// Values of a row of the inbox: what may enter a block from outside, by direction and cell; then what its cells see there.
    pub fn inbox_row(&self) -> usize {
        let inside = |direction: &Direction| -> u32 {
            (0..3).map(|axis| self.block[axis] - u32::from(direction.c[axis] != 0)).product()
        };
        let seen = self.seen.iter().map(|seen| &self.directions[seen.direction as usize]);
        self.directions.iter().chain(seen).map(|direction| self.cells() - inside(direction) as usize).sum()
    }
    /// Components of all fields together.
    pub fn field_components(&self) -> usize {
        self.fields.iter().map(|field| field.components as usize).sum()
    }
    /// Components of the fields of the method, which come before those that are observed.
    pub fn own_components(&self) -> usize {
        self.fields.iter().filter(|field| !field.observed).map(|field| field.components as usize).sum()
    }
    /// Names of the components of all fields, in order: `rho`, `ux`, `uy`.
    pub fn component_names(&self) -> Vec<String> {
        self.fields.iter().flat_map(|field| field.component_names(self.dim)).collect()
    }
    /// Name of the struct of the method's parameters.
    pub fn params_struct(&self) -> String {
        format!("{}_params", self.spec)
    }
    /// The parameter that a member is a component of, by its position in `params`, and the component.
    pub fn param_of(&self, member: &Member) -> Option<(usize, usize)> {
        let at = self.params.iter().position(|param| param.name == member.param)?;
        (member.component < self.params[at].components).then_some((at, member.component as usize))
    }
    /// The kernel with that role.
    pub fn kernel(&self, role: Role) -> Option<&Kernel> {
        self.kernels.iter().find(|kernel| kernel.role == role)
    }
}

/// One file of a bundle.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct File {
    /// Name without folder: `d3q19_bgk.cu`.
    pub name: String,
    /// Text.
    pub text: String,
}

/// Kernels of one spec for one target, ready to be compiled and launched.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Bundle {
    /// Signatures and layout.
    pub manifest: Manifest,
    /// The kernel source that [`Target`] names: CUDA or C.
    pub source: File,
    /// Header and bindings for embedding.
    pub extras: Vec<File>,
}
