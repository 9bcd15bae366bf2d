//! The contract between compiler and runtime: kernel sources, typed launch signatures, layout constants, manifest.
//!
//! A [`Bundle`] is what `lbmc gen` writes and what the runtime loads; neither side knows more of the other. Kernels of
//! both targets share their arguments to the last pointer, so a host launch and a GPU launch differ in the grid only.
//!
//! [`Layout`] is the layout of cells in memory. The runtime runs flows on [`Layout::Blocks`]; [`Layout::Soa`] is for programs
//! that have arrays of their own.
//!
//! Kernels that change the forest of blocks depend on no method and come in bundles of their own: [`mesh`]. So do the kernels that compute target
//! levels of blocks, which depend on the case too: [`criteria`].
//!
//! # Memory, blocks
//!
//! A data *slot* holds one block of `block[0] x block[1] x block[2]` cells (`block[2]` is 1 in two dimensions). Inside a
//! block, cell `(x, y, z)` has index `x + block[0] * (y + block[1] * z)`.
//!
//! - populations: `f[(slot * q + direction) * cells + cell]`, post-collision, two buffers; `direction` counts those of all
//!   sets, one set after the other, and `q` is their number. Stored is the difference from [`Direction::rest`],
//!   which keeps more digits: a population is `rest + f[..]`
//! - fields: `fields[(slot * field_components + component) * cells + cell]`
//! - neighbours: `neighbours[slot * 3^dim + (dx+1) + 3*(dy+1) + 9*(dz+1)]`, `dx, dy, dz` in -1, 0, 1: the slot of that
//!   neighbour, `-(w + 1)` where the wall instance `w` is, or [`mesh::NONE`] where blocks of another level are (no `dz`
//!   term in two dimensions)
//! - wall instances: `wall_rules[w]` is a [`Boundary::code`], `wall_values[w * wall_stride + k]` its parameters, the
//!   components of [`Boundary::params`] one after the other
//!
//! # Walls, blocks
//!
//! The rule of a wall computes the populations that would stream in from behind it. A *link-wise* rule computes each population separately, from
//! those that left the cell; the wall is half-way to the missing cell. A *wet-node* rule is applied after all links and computes the unknown
//! populations of a cell together, from those that have arrived there and in the next cell inwards; the wall is at the centres of the cells. Where
//! several walls with wet-node rules meet at an edge or corner of the box, the rule and the parameters are those of the first along x, y, z. A block
//! is then at least three cells wide along every axis.
//!
//! # Solids, blocks
//!
//! A wall instance may also be the surface of a solid, or belong to one cell of a face along which values vary. The cut links are in tables with a
//! row for each block that has any. `rows[slot]` is the row of a slot, -1 for none. `links[(row * q + direction) * cells + cell]` is 0 for a link
//! that is not cut, `w + 1` for a link that the wall instance `w` cuts, and -1, for all directions, if the cell itself is solid: its populations do
//! not change. The cells of row 0 are all solid. `distances`, of the same shape, holds the distance from the cell centre to the surface along the
//! link, divided by the length of the link. It is the value of a rule's parameter [`DISTANCE`].
//!
//! Every kernel that works on blocks takes `ids` and `count` first: the slots to work on, in that order. One that sums something up takes `chunks`
//! and `count` first, the numbers of the [chunks](CHUNKS) to work on, then `ids`, `size`, and `per`. The table [`method_kernels!`] lists all other
//! arguments.
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
//! fills before each step. They are the boundary condition: cells of the opposite side (periodic), of a neighbour (domain decomposition), or, for a
//! wall, populations that travel into the box. Several threads may each work on a smaller box inside the same arrays.

use serde::{Deserialize, Serialize};

mod args;
mod boundary;
pub mod criteria;
pub mod cutting;
pub mod formula;
mod gather;
mod groups;
pub mod input;
mod kernels;
mod levels;
mod manifest;
pub mod mesh;
pub mod plain;
mod populations;
pub mod prescribed;
mod quantity;
mod read;
mod signature;
pub mod slides;
mod soa;
pub mod statistics;
mod storage;
mod target;
pub mod variation;

pub use args::{Arg, ArgType};
pub use boundary::{AtFace, Boundary, DISTANCE};
pub use formula::Formula;
pub use gather::{Action, Sources};
pub use kernels::Role;
pub use levels::{Coupling, Criterion, Packets, Rate, Share};
pub use manifest::Manifest;
pub use populations::{Direction, Populations, Seen, Shown, State};
pub use quantity::{Field, Member, Param, Transport, Unit};
pub use read::ManifestError;
pub use signature::{Cost, Kernel, Layout};
pub use storage::{HALF_DIGITS, HALF_SCALE, Lent, Moment, Real, Storage, digits_of, lent, side_by_side};
pub use target::Target;

/// Largest number of chunks of a list, if the result does not depend on how the list is cut. Chunk `s` of `size` entries has those
/// from `s * per` on, at most `per` of them. Lists that are summed up have a chunk for each block. The result of a chunk does not depend on the
/// number of threads.
pub const CHUNKS: usize = 128;

/// Version of this contract: of the kernels' arguments, the layouts and the manifest. A runtime refuses a bundle of
/// another version.
pub const ABI: u32 = 16;

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
