//! Groups of arguments that several kernels take, one behind the other.
//!
//! [`method_groups!`](crate::method_groups) hands the table to a macro of the caller's. A line `name: group Group` of a row in
//! [`method_kernels!`](crate::method_kernels) stands for the lines of the group, in their order; the runtime makes a struct of each group.

use crate::args::{Declared, declared};

/// The table of groups, in which lines are those of kernels.
#[macro_export]
macro_rules! method_groups {
    ($with:ident) => {
        $with! {
            /// What boundary rules read of walls.
            Walls {
                wall_rules: read Int [wall] "rule of each wall: {rules}",
                wall_values: read Real [wall][stride] in lattice "parameters of each wall",
            }
            /// Links that solids cut.
            Links {
                link_rows: read Int [slot] "row of each slot in the next two, -1 for none",
                links: read Int [row][q][cells]
                    "where directions come from: 0 from where they always do, w + 1 off wall w, -1 the cell is solid",
                distances: read Real [row][q][cells]
                    "distance of the surface on the way to it, over the length of the link",
            }
            /// Links that solids or faces cut, and cells that are solid, if there are any.
            Mask {
                link_rows: read Int [slot] "row of each slot in the next, -1 for none; if `solids` is 1",
                links: read Int [row][q][cells] "w + 1 where a direction comes off wall w, -1 where a cell is solid; if `solids` is 1",
                solids: value Int "1 where links may be cut or cells be solid, else 0",
            }
            /// What comes from other levels, of a coupling of packets.
            Inbox {
                rows: read Int [slot] "row of the inbox of each slot at an interface, or -1",
                masks: read Int [row] "bit p: what comes from the neighbour p is in the inbox",
                inbox: read Real [row][ROW] in lattice "what enters blocks from other levels in this step",
            }
            /// Where cells beside other levels are, of a coupling of ghosts.
            Ghosts {
                sides: read Int [slot] "bit p: the level changes at place p around each slot",
                rows: read Int [slot] "row in `saved` of each slot with another level near, or -1",
                first_covered: value Int "the first of the slots of covered blocks",
            }
            /// Blocks that moving solids may touch.
            Placed {
                form: read Int [form] "the method and the grid",
                level: value Int "level of the places",
                places: read Int [place][5] "row and slot of each place, and its lowest cell",
            }
            /// All shapes, at one time.
            AllShapes {
                shapes: value Int "how many shapes there are",
                kinds: read Int [shape][8] "integers of each shape",
                numbers: read Double [shape][38] "numbers of each shape",
            }
            /// Surfaces of triangles and images, which do not change when solids move.
            Surfaces {
                tree: read Int [node][3] "first triangle of each node, one beyond its last, and its second child or 0",
                boxes: read Double [node][6] "lower and upper corner of each node",
                triangles: read Double [triangle][12] "corners of each triangle, and a normal, twice its area long",
                meets: read Int [triangle] "1 where paths meet a triangle, else 0",
                bits: read Int [word] "bit x % 32 of word x / 32 of a row: whether a voxel is solid",
                columns: read Int [entry]
                    "of each surface how many columns and voxels it has; where the triangles of each column begin, these, and what is known of voxels",
                scanned: value Int "how many triangles are of scanned surfaces, which come first",
            }
            /// Places by where they are.
            Found {
                map: read Int [entry] "places, each at the entry of its hash or the next that is free; -1 in others",
                entries: value Int "entries of `map`, a power of two",
                from: value Int "the first place of the level",
                to: value Int "one beyond the last",
            }
            /// What is near each part of a place.
            NearShapes {
                near_shapes: read Int [part][32]
                    "how many shapes are near, or -1 if they are too many, which, and how many leaves are of each",
                near_leaves: read Int [part][32]
                    "how many leaves of surfaces are near, or -1 if they are not listed, and which",
            }
            /// The forest around blocks.
            Nodes {
                nodes: read Int [slot] "node of each slot",
                near: read Int [node][near]
                    "nodes of the same level around each node, -(w + 1) for wall w, or the least integer",
                children: read Int [node] "first of the nodes that refine each node, or -1",
            }
            /// Coarse cells beside refined ones, of a coupling of packets.
            Beside {
                cells: list Int [count] "cells beside refined ones, row * CELLS + cell",
                tables: read Int [row][around] "what is around each block",
                cell_masks: read Int [row][cells] "bit p: the coarse cell at the place p around each cell is refined",
            }
            /// What coarse cells have for finer ones, of a coupling of packets.
            ToFiner {
                coarse: read Stored [slot][rows][pitch] in lattice "current populations of the coarse level",
                fine: read Stored [slot][rows][pitch] in lattice
                    "populations of the fine level before the first of its two steps",
                inbox_0: write Real [row][ROW] in lattice
                    "what enters blocks in the first of two steps in one of a coarser level",
                inbox_1: write Real [row][ROW] in lattice
                    "what enters blocks in the second of two steps in one of a coarser level",
            }
            /// What fine cells have for coarser ones, of a coupling of packets.
            ToCoarser {
                before: read Stored [slot][rows][pitch] in lattice
                    "populations of the fine level before the first of its two steps",
                after: read Stored [slot][rows][pitch] in lattice "populations of the fine level after it",
                parts: value Int "1 for what comes of populations from before that step, 2 from after it, 3 for both",
                inbox: write Real [row][ROW] in lattice "what enters blocks from other levels in this step",
            }
            /// What goes backwards through walls, of an adjoint.
            Backwards {
                src: read Stored [slot][rows][pitch] in lattice "post-collision populations before the step",
                arrived: read Stored [slot][rows][pitch] "derivatives by what arrives in cells",
            }
            /// Derivatives by values of walls, of an adjoint.
            ByGroups {
                groups: read Int [wall] "group of each wall by whose values is derived, or -1",
                asked: value Int "groups of such walls",
                by_walls: write Double [slot][asked][stride][cells]
                    "derivatives by the values of walls of each group, as each cell takes them, which are added to what is there",
            }
            /// Sums that what blocks have read of the inbox is made of, of an adjoint.
            Shares {
                places: read Int [place][2] "slot of each place, and direction * CELLS + cell, or the cell",
                begins: read Int [place + 1] "where the shares of each place begin",
                values: read Int [share] "the place in `crossed` of each value in which a place has a share",
                factors: read Double [share] "the share",
                crossed: read Real [3][value] "derivatives by what blocks have read of the inbox",
            }
            /// Both sets of populations.
            Sets {
                sets: value Int "bit l: which set is current on level l",
                populations_0: write Stored [slot][rows][pitch] in lattice "set 0 of post-collision populations",
                populations_1: write Stored [slot][rows][pitch] in lattice "set 1 of post-collision populations",
            }
            /// Parts of a list of blocks, which are summed up one by one.
            Chunks {
                chunks: list Int [count] "chunks of the list to work on",
                ids: slice Int [size] "the list: slots",
                per: value Int "slots of a chunk; the last may have less",
            }
        }
    };
}

macro_rules! group {
    ($($(#[doc = $doc:tt])+ $group:ident { $($lines:tt)* })+) => {
        /// A group of the table.
        #[derive(Clone, Copy)]
        pub(crate) enum Group {
            $($(#[doc = $doc])+ $group,)+
        }

        impl Group {
            /// Its lines.
            pub(crate) fn declared(self) -> Vec<Declared> {
                match self {
                    $(Group::$group => declared!($($lines)*),)+
                }
            }
        }
    };
}

method_groups!(group);
