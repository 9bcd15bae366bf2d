//! Bundles of kernels that cut the links of cells near solids that move.
//!
//! They depend on the dimension and the target alone; the array `form` describes the method and the grid. What decides
//! on links is in 64 bits, and no operation is fused with another, so that links are the same on every device. The source has macros that are defined before the
//! text: `REAL`, the type of distances and of walls' values; `WIDTH`, `HEIGHT` and `DEPTH`, the cells of a block along each axis; `Q`, the directions.
//!
//! # Memory
//!
//! Solids are a list of shapes, periodic images included, those at rest first. A point belongs to the first shape that contains it. Each has integers
//! ([`SHAPE_INTS`]) and numbers ([`SHAPE_NUMBERS`]); surfaces of triangles have a tree of boxes, in `tree` and `boxes`, and columns of triangles along x,
//! in `columns`; images have their voxels in `bits`. Positions are in cells of level 0.
//!
//! A *place* is a block that moving solids may touch; an item of a launch is a cell of a place, `place * CELLS + cell`. What is near is listed for each
//! *part* of a place, [`PART_SIDE`] cells along each axis: `place * PARTS + part`, `x` the fastest.
//!
//! Surfaces of small triangles that move are *scanned*: each triangle lists the links that it comes near, and the least fraction of the path of each is
//! kept in a table, in which fluid cells near such a surface have rows. Of each cell a state says which is its own, from 2 on; 1 where no such
//! surface meets its links; or 0 where that is not known.

use serde::{Deserialize, Serialize};

use crate::args::{roles, same_args};
use crate::{Arg, File, Target};

/// Integers of a shape: its kind ([`ShapeKind`]); the number of its solid; 1 if it is the outside of what follows; where the velocity is
/// among the values of its wall, -1 if it does not rotate; then of a surface the first node of its tree, its first entry in `meets` or -1,
/// its first entry in `columns`, and its first triangle; of an image its first word in `bits` and the voxels along each axis.
pub const SHAPE_INTS: usize = 8;

/// Numbers of a shape: a rotation (three rows), a place in space and a place in the frame of the shape: a point `x` in space is at
/// `frame + rotation (x - space)`. Eight numbers of the kind. The bounding box in space, lower and upper corner. The pivot in space, the
/// velocity of the pivot, and the rotation vector: per step of level 0.
///
/// Of the kind: a sphere has its centre and radius; a box its corners; a cylinder its centre, its axis of length 1, its radius and half of its
/// length; a surface the corners of its bounding box; an image its lower corner and the width of a voxel.
pub const SHAPE_NUMBERS: usize = 38;

/// Numbers of a triangle: its corners, and a normal, twice its area long.
pub const TRIANGLE_NUMBERS: usize = 12;

/// Numbers of a solid that moves, of which [`Place`](crate::cutting_kernels) reads those of a step: its velocity, its rotation vector, the
/// displacement of its pivot, and the velocity of its pivot in the next step.
pub const SOLID_NUMBERS: usize = 12;

/// Shapes near a part of a place that are listed, at most.
pub const MOST_NEAR: usize = 15;

/// Integers of a part of a place in the list of the shapes near it: their number, or -1 if there are more than fit; the shapes in their order; for each of them,
/// how many leaves of trees are listed up to its own; and what [`List`](crate::cutting_kernels) keeps from move to move: whether all cells are alike, and
/// since when; also which cells scanned surfaces are near, and whether only one is.
pub const NEAR_SHAPES: usize = 2 * MOST_NEAR + 2;

/// Integers of a part of a place in the list of leaves near it: how many there are, or -1 if there are more than fit or they are hardly needed, then the leaves,
/// numbered as the nodes of the tree of their surface.
pub const NEAR_LEAVES: usize = 32;

/// Of so many cells of places one has a row for its links in the table of scanned surfaces, at most.
pub const SCANNED_SHARE: usize = 4;

/// Factors of the numbers of a block along each axis, whose products are combined by exclusive or: the hash of the block.
pub const HASH: [u32; 3] = [73_856_093, 19_349_663, 83_492_791];

/// Lists of links near triangles: with one alone, all threads would count on the same number.
pub const PASS_LISTS: usize = 256;

/// Integers from the count of such a list to that of the next.
pub const PASS_APART: usize = 32;

/// Items of a launch that share the ways in which a triangle is scanned.
pub const PASS_TURNS: usize = 3;

/// Counts of all lists, and whether one was full: once of the links of this move, once of those to be read again.
pub const PASS_COUNTS: usize = 2 * PASS_APART * (PASS_LISTS + 1);

/// Integers of a surface before its columns: how many these are along y and z, how many voxels there are along each axis, and where these begin.
pub const COLUMN_HEAD: usize = 6;

/// Integers of an entry of a column: where a triangle ends along x, where it is in its column, and its number.
pub const COLUMN_ENTRY: usize = 3;

/// Intervals of a surface along x that stand for where a triangle ends.
pub const COLUMN_INTERVALS: usize = 1 << 20;

/// Intervals of a column along y and z that stand for where a triangle is in it.
pub const IN_COLUMN: usize = 1 << 8;

/// Voxels whose state stands in one integer, two bits each: all of a voxel outside, inside, or [`UNDECIDED`].
pub const VOXELS_IN_WORD: usize = 16;

/// State of a voxel that may have points on both sides of a surface.
pub const UNDECIDED: i32 = 2;

/// Triangles of scanned surfaces are no longer, in cells of the finest level of solids that move.
pub const LONGEST_SCANNED: f64 = 8.0;

// A bit of 32 for each.
const _: () = assert!(NEAR_LEAVES <= 33);

/// Cells of a part of a place along each axis; those at the ends of a block may have fewer.
pub const PART_SIDE: usize = 2;

/// Parts of a block of so many cells along each axis.
pub fn parts_of(block: [u32; 3]) -> usize {
    block.iter().map(|side| (*side as usize).div_ceil(PART_SIDE)).product()
}

/// Kinds of shapes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ShapeKind {
    /// Points nearer to the centre than the radius.
    Sphere,
    /// Points between two corners.
    Box,
    /// Points nearer to a line than the radius.
    Cylinder,
    /// The inside of a closed surface of triangles.
    Surface,
    /// Solid voxels.
    Image,
}

/// Entries of `form` before the directions: cells of a block along each axis, cells of a block, directions; cells of level 0 along each axis;
/// a bit for each axis that is periodic, and for each face that is a symmetry plane; the wall of the first solid, the first of the walls of
/// single links, the stride of walls' values; the directions of the populations that carry the flow, which come first. Then of each direction
/// its velocity and its opposite. Then the number of the direction of each of [`VELOCITIES`],
/// `(x + 1) + 3 (y + 1) + 9 (z + 1)`, or -1. Then how many ways the links have near which triangles mark cells, and these, of two opposite ones the one
/// whose first component that is not 0 is 1.
pub const FORM: usize = 14;

/// Entry of `form` with the number of the first of the walls of single links.
pub const FIRST_OF_LINKS: usize = 11;

/// Velocities that lead to a cell itself and to those around it.
pub const VELOCITIES: usize = 27;

/// Entry of `around` where nothing has changed.
pub const UNCHANGED: i32 = -1;

/// The table of the kernels, as [`method_kernels!`](crate::method_kernels) is one.
#[macro_export]
macro_rules! cutting_kernels {
    ($with:ident) => {
        $with! {
            /// Shapes where they are after a step, from a table, and the velocities of the surfaces of a level in the next step.
            Place = "place" {
                items: list Int [count] "from 0 on, as many as shapes or solids have numbers",
                entry: value Int "the entry of the table",
                shapes: value Int "how many shapes there are",
                solids: value Int "how many solids there are",
                all_kinds: read Int [entry][shape][8] "integers of each shape",
                all_numbers: read Double [entry][shape][38] "numbers of each shape",
                all_rates: read Double [entry][solid][12]
                    "rates of each solid, as below, and the velocity of its pivot in the next step",
                velocities: read Int [solid]
                    "where the velocity of each solid of the level is among the values of all walls, or -1",
                kinds: write Int [shape][8] "integers of each shape",
                numbers: write Double [shape][38] "numbers of each shape",
                rates: write Double [solid][9]
                    "of each solid its velocity at this time, its rotation vector, and the displacement of its pivot since then",
                frames: write Double [solid][axes] in lattice "velocity that each solid moves with",
                wall_values: write Real [wall][stride] in lattice "parameters of each wall",
            }
            /// Lists the links that come near triangles of scanned surfaces.
            Pass = "pass" {
                items: list Int [count] "from 0 on: each does its own triangle, a third of the ways, and those that are so many further",
                workers: value Int "how many there are",
                form: read Int [form] "the method and the grid",
                level: value Int "level of the links",
                solids: group AllShapes,
                surfaces: group Surfaces,
                leaf_of: read Int [triangle] "the leaf of its tree in which each triangle is",
                room: value Int "how many links each list has room for",
                passages: write Int [passage][5]
                    "links near triangles, list by list: the first cell of each, the triangle, and 27 times the shape and the way from this cell",
                passed: write Int [list][32] "how many each list has; behind these whether one was full; then the same of the links to be read again",
            }
            /// Marks cells whose links come near a triangle of a scanned surface.
            Mark = "mark" {
                items: list Int [count] "from 0 on: each does its own link and those that are so many further",
                workers: value Int "how many there are",
                placed: group Placed,
                found: group Found,
                solids: group AllShapes,
                surfaces: group Surfaces,
                leaf_of: read Int [triangle] "the leaf of its tree in which each triangle is",
                room: value Int "how many links each list has room for",
                passages: read Int [passage][5] "links near triangles, list by list",
                passed: read Int [list][32] "how many each list has",
                marks: write Int [part] "a bit for each cell of a part",
            }
            /// The shapes near the listed parts of places: those whose bounding boxes, or whose triangles, come within a cell of them. The next
            /// kernel passes over parts of which all cells have been fluid, or solid, for some moves.
            List = "list" {
                items: list Int [count] "parts of places",
                first_part: value Int "the first of these",
                parts: value Int "how many there are",
                placed: group Placed,
                solids: group AllShapes,
                surfaces: group Surfaces,
                near_shapes: write Int [part][32]
                    "how many shapes are near, or -1 if they are too many, which, and how many leaves are of each",
                near_leaves: write Int [part][32]
                    "how many leaves of surfaces are near, or -1 if they are not listed, and which",
                near_counts: write Int [level][2] "how many cells, and links, are in the lists of each level: none yet",
                marks: read Int [part] "a bit for each cell of a part near which a scanned surface is",
                passed: write Int [list][32] "how many links near triangles each list has: none yet, and those there are go behind these",
            }
            /// Which cells of the listed ones are solid, and which have been before; their links as if no surface cut them. Lists the cells of
            /// a range of places that surfaces are near, or that solids have left.
            Occupy = "occupy" {
                items: list Int [count] "cells of places",
                placed: group Placed,
                near: group NearShapes,
                solids: group AllShapes,
                surfaces: group Surfaces,
                own_from: value Int "the first place whose links are cut",
                own_to: value Int "one beyond the last",
                states: write Int [row][cells]
                    "bit 0: a cell is solid; bit 1: it was solid before; bit 2: a surface may cut its links; bit 3: `fractions` says where; above: 0, 1, or 2 and its row there",
                links: write Int [row][q][cells] "-1 where a cell is solid, else 0",
                distances: write Real [row][q][cells] "one half",
                near_counts: write Int [level][2] "how many cells, and links, are in the lists of each level",
                near_cells: write Int [item] "cells of places, those of a level from its first place whose links are cut on",
                fractions: write Double [row][q] "beyond the end of each path",
                marks: write Int [part] "none any more",
            }
            /// Where paths from listed cells first meet scanned surfaces.
            Scan = "scan" {
                items: list Int [count] "from 0 on: each does its own link and those that are so many further",
                workers: value Int "how many there are",
                placed: group Placed,
                found: group Found,
                solids: group AllShapes,
                surfaces: group Surfaces,
                leaf_of: read Int [triangle] "the leaf of its tree in which each triangle is",
                room: value Int "how many links each list has room for",
                passages: read Int [passage][5] "links near triangles, list by list",
                passed: read Int [list][32] "how many each list has, behind those of the next move",
                states: read Int [row][cells] "from bit 4 on: 2 and the row of a cell in `fractions`, if it has one",
                fractions: write Double [row][q]
                    "fraction of the path against each direction at which it first meets a scanned surface, or 2",
            }
            /// The links of the cells that the kernel before has listed which surfaces cut, and the distances on them.
            Cut = "cut" {
                items: list Int [count] "from 0 on: each does its own link and those that are so many further",
                workers: value Int "how many there are",
                own_from: value Int "the first place whose links are cut",
                own_to: value Int "one beyond the last",
                placed: group Placed,
                near: group NearShapes,
                solids: group AllShapes,
                surfaces: group Surfaces,
                neighbours: read Int [slot][near] "slots of the neighbours, -(w + 1) for wall w, or the least integer",
                rows: read Int [slot] "row of each slot, -1 for none",
                near_counts: write Int [level][2] "how many cells, and links, are in the lists of each level",
                near_cells: read Int [item] "cells of places, those of a level from its first place whose links are cut on",
                states: read Int [row][cells]
                    "bit 0: a cell is solid; bit 1: it was solid before; bit 2: a surface may cut its links; bit 3: `fractions` says where; above: 0, 1, or 2 and its row there",
                fractions: read Double [row][q]
                    "fraction of the path against each direction at which it first meets a scanned surface, or 2",
                links: write Int [row][q][cells]
                    "where directions come from: 0 from where they always do, w + 1 off wall w, -1 the cell is solid",
                distances: write Real [row][q][cells] "distance of the surface on the way to it, over the length of the link",
                wall_rules: write Int [wall] "rule of each wall",
                wall_values: write Real [wall][stride] in lattice "parameters of each wall",
                owners: write Int [wall] "the solid whose surface each wall is, -1 for none, or -(s + 2) for a link that meets shape s",
                detours: write Int [item][2]
                    "links between cells of the fluid that meet a surface, those of a level from its first place on: which, and nothing yet",
                beside: write Int [place][q][cells]
                    "of cells that a solid has left: whether the cell that the link comes from is fluid, and has been so",
            }
            /// Whether links between cells of the fluid that meet a surface are cut: if the fluid can flow from one to the other along no edges between
            /// cells. Each item looks at one edge.
            Detour = "detour" {
                items: list Int [count] "from 0 on: each does its own edge and those that are so many further",
                workers: value Int "how many there are",
                own_from: value Int "the first place whose links are cut",
                own_to: value Int "one beyond the last",
                placed: group Placed,
                near: group NearShapes,
                solids: group AllShapes,
                surfaces: group Surfaces,
                neighbours: read Int [slot][near] "slots of the neighbours, -(w + 1) for wall w, or the least integer",
                rows: read Int [slot] "row of each slot, -1 for none",
                near_counts: read Int [level][2] "how many cells, and links, are in the lists of each level",
                states: read Int [row][cells]
                    "bit 0: a cell is solid; bit 1: it was solid before; bit 2: a surface may cut its links; bit 3: `fractions` says where; above: 0, 1, or 2 and its row there",
                fractions: read Double [row][q]
                    "fraction of the path against each direction at which it first meets a scanned surface, or 2",
                links: write Int [row][q][cells]
                    "where directions come from: 0 from where they always do, w + 1 off wall w, -1 the cell is solid",
                distances: write Real [row][q][cells] "distance of the surface on the way to it, over the length of the link",
                wall_rules: write Int [wall] "rule of each wall",
                wall_values: write Real [wall][stride] in lattice "parameters of each wall",
                owners: write Int [wall] "the solid whose surface each wall is, -1 for none, or -(s + 2) for a link that meets shape s",
                detours: write Int [item][2]
                    "links between cells of the fluid that meet a surface: which, and a bit for each edge that is open, then for those that are not",
                beside: write Int [place][q][cells]
                    "of cells that a solid has left: whether the cell that the link comes from is fluid, and has been so",
            }
            /// What cells are filled with that solids have left or entered; shapes are those before the solids moved.
            Uncover = "uncover" {
                items: list Int [count] "cells of places",
                placed: group Placed,
                solids: group AllShapes,
                surfaces: group Surfaces,
                rates: read Double [solid][9]
                    "of each solid its velocity at this time, its rotation vector, and the displacement of its pivot since then",
                states: read Int [row][cells]
                    "bit 0: a cell is solid; bit 1: it was solid before; bit 2: a surface is so near that it may cut links",
                beside: read Int [place][q][cells]
                    "of cells that a solid has left: whether the cell that the link comes from is fluid, and has been so",
                around: write Int [item] "bit i: the next cell along direction i is fluid, and has been so; -1 where nothing has changed",
                towards: write Int [item] "the direction to the cell whose non-equilibrium each takes, or -1",
                velocities: write Double [item][axes] in lattice "velocity of the solid",
            }
        }
    };
}

macro_rules! role {
    ($($rows:tt)*) => {
        roles! {
            /// What a kernel does. Rows of [`cutting_kernels!`](crate::cutting_kernels) say what each takes.
            CutRole: $($rows)*
        }
    };
}

cutting_kernels!(role);

impl CutRole {
    /// The arguments of its kernel in that dimension.
    pub fn args(self, dim: u32) -> Vec<Arg> {
        let index = |index: &str| match index {
            "near" => format!("[{}]", 3u32.pow(dim)),
            "axes" => format!("[{dim}]"),
            count => format!("[{count}]"),
        };
        self.declared().iter().flat_map(|arg| arg.args(index, str::to_string)).collect()
    }
}

/// One kernel.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct CutKernel {
    /// What it does.
    pub role: CutRole,
    /// Symbol in the compiled code: `cutting_3d_cut`. On the host, `<symbol>_packed` takes an array of pointers to the arguments.
    pub symbol: String,
    /// Arguments in order.
    pub args: Vec<Arg>,
    /// GPU: threads of a thread block, an item each.
    pub threads: u32,
}

impl CutKernel {
    /// Whether its arguments are those of its role in that dimension; their documentation may differ.
    pub fn is_as_declared(&self, dim: u32) -> bool {
        same_args(&self.args, &self.role.args(dim))
    }
}

/// Everything but the source text.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct CutManifest {
    /// [`ABI`](crate::ABI) of the compiler that wrote it.
    pub abi: u32,
    /// Name: `cutting_2d` or `cutting_3d`.
    pub name: String,
    /// Target.
    pub target: Target,
    /// Number of axes, 2 or 3.
    pub dim: u32,
    /// Kernels.
    pub kernels: Vec<CutKernel>,
}

/// Kernels of one dimension for one target, ready to be compiled and launched once its macros are defined.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct CutBundle {
    /// Signatures.
    pub manifest: CutManifest,
    /// The kernel source: CUDA or C.
    pub source: File,
}
