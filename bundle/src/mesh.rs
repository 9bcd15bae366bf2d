//! Bundles of mesh kernels: those that change the topology of the forest of blocks.
//!
//! They depend on the dimension and the target alone, not on a method, and work on integers only.
//!
//! # Memory
//!
//! *Nodes* are blocks of any level, refined or not. The roots come first, then *families* of `2^dim` siblings: a node
//! is `roots + family * 2^dim + octant`, and bit `a` of the octant says on which side of its parent the node lies
//! along axis `a`. A *leaf* is a node without children.
//!
//! - `near[node * 3^dim + (dx+1) + 3*(dy+1) + 9*(dz+1)]`: the node of the same level there; `-(w + 1)` where the wall
//!   instance `w` is in the way; [`NONE`] where a coarser leaf covers the place (no `dz` term in two dimensions)
//! - `child[node]`: its first child, -1 for a leaf; `parent[node]`: -1 for a root; `level[node]`: 0 for a root
//! - `place[node * 3 + axis]`: position in blocks of its level, 0 beyond the dimension
//! - `slot[node]`: its data slot, or -1; `node[slot]`: the inverse
//! - `kind[node]`: 0 to 3 for a leaf (see [`Group`]), 4 for a refined node, -1 for an unused one
//! - `neighbours[slot * 3^dim + ...]`, in the order of `near`: the slot of the leaf of the same level there; a wall
//!   as in `near`; [`NONE`] where the level changes, that is, a coarser leaf or a refined node
//! - `rows[slot]`: the place of a leaf among those at refinement interfaces, level by level along the curve; -1 for other leaves
//! - where refined nodes (covered blocks) have data too: those of a family's parent have the slot `slots + family`, behind the `slots` of
//!   leaves; `neighbours` then has such slots in the place of [`NONE`] and rows for them, `sides[slot]` has the bit `p` where,
//!   at the place `p`, a leaf has a coarser one near, or a refined node a leaf; `rows[slot]` is the place of what has data and
//!   another level near, and `uppers[slot]` the slot of its parent, times `2^dim`, and its octant, -1 for a root
//! - `child_slots[coarse * 2^dim + octant]`: while a mesh changes, the slots of the children of what has the slot `coarse`
//!
//! Lists are in space-filling-curve order: Morton order of the positions.
//!
//! A launch works on a list of items, its first argument, and their number, its second. The table [`mesh_kernels!`](crate::mesh_kernels)
//! says what each kernel takes.

mod kernels;

use serde::{Deserialize, Serialize};

pub use kernels::MeshRole;

use crate::{Arg, File, Target};

/// Entry of `near` and `neighbours` where there is neither a node of the same level nor a wall.
pub const NONE: i32 = i32::MIN;

/// What lies around a leaf, itself at the middle.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Group {
    /// Leaves of the same level only.
    Interior,
    /// Leaves of the same level and walls.
    Walls,
    /// Leaves of the same level, and places where the level changes.
    Jump,
    /// All three.
    Both,
}

impl Group {
    /// All groups in the order of their numbers.
    pub const ALL: [Group; 4] = [Group::Interior, Group::Walls, Group::Jump, Group::Both];

    /// Its number in `kind`.
    pub fn index(self) -> usize {
        self as usize
    }
}

/// Number of groups, and the value of `kind` for refined nodes.
pub const REFINED: usize = Group::ALL.len();

/// Classes that the leaves and refined nodes of a level are sorted into.
pub const KINDS: usize = REFINED + 1;

/// Classes of nodes that change: 0 leaves to refine, 1 nodes to lose their children.
pub const CHANGES: usize = 2;

/// List entries that one item of `tally` and of `rank` works on.
pub const CHUNK: usize = 64;

/// One mesh kernel.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct MeshKernel {
    /// What it does.
    pub role: MeshRole,
    /// Symbol in the compiled code: `mesh_3d_link`. On the host, `<symbol>_packed` takes an array of pointers to the
    /// arguments.
    pub symbol: String,
    /// Arguments in order.
    pub args: Vec<Arg>,
    /// Whether its items are worked on side by side. Where they are not, a launch is one call on the host, and one
    /// thread block with CUDA.
    pub divisible: bool,
    /// CUDA: threads of a thread block; an item each where the kernel is divisible.
    pub threads: u32,
}

/// Everything but the source text.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct MeshManifest {
    /// [`ABI`](crate::ABI) of the compiler that wrote it.
    pub abi: u32,
    /// Name: `mesh_2d` or `mesh_3d`.
    pub name: String,
    /// Target.
    pub target: Target,
    /// Number of axes, 2 or 3.
    pub dim: u32,
    /// Kernels.
    pub kernels: Vec<MeshKernel>,
}

/// Mesh kernels of one dimension for one target, ready to be compiled and launched.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct MeshBundle {
    /// Signatures.
    pub manifest: MeshManifest,
    /// The kernel source: CUDA or C.
    pub source: File,
}
