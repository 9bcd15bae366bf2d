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
pub use levels::{Coupling, Criterion, Rate};
pub use manifest::Manifest;
pub use populations::{Direction, Populations, Seen, Shown, State};
pub use quantity::{Field, Member, Param, Transport, Unit};
pub use read::ManifestError;
pub use signature::{Cost, Kernel, Layout};
pub use storage::{HALF_DIGITS, HALF_SCALE, Lent, Moment, Real, Storage, digits_of, lent, side_by_side};
pub use target::Target;

/// Most shares into which a list is cut whose result does not depend on how. A *share* is a run of its entries: share `s` of `size`
/// entries has those from `s * per` on, `per` of them or what is left; what is summed up has shares of one block. What becomes of a share
/// does not depend on how many threads work on it.
pub const SHARES: usize = 128;

/// Version of this contract: of the kernels' arguments, the layouts and the manifest. A runtime refuses a bundle of
/// another version.
pub const ABI: u32 = 13;

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
