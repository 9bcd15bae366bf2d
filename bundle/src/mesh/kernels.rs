//! The mesh kernels: what each does and takes, in one table, as [`method_kernels!`](crate::method_kernels) is one.
//!
//! Extents are `near` (3^dim) and `children` (2^dim).

use serde::{Deserialize, Serialize};

use super::MeshKernel;
use crate::Arg;
use crate::args::{roles, same_args};

/// The table of the mesh kernels.
#[macro_export]
macro_rules! mesh_kernels {
    ($with:ident) => {
        $with! {
            /// What becomes of a leaf by its target level, within the range of levels.
            Mark = "mark" {
                nodes: list Int [count] "nodes of all levels",
                level: read Int [node] "level of each node",
                child: read Int [node] "first child of each node, or -1",
                target: read Int [node] "target level of each leaf",
                bound: read Int [node] "1 where a leaf keeps its level, 2 where a node does not become coarser",
                coarsest: value Int "lowest level of leaves",
                finest: value Int "highest level of leaves",
                mark: write Int [node] "what becomes of each node",
            }
            /// A child of a node is not refined where that would refine what stays.
            Yield = "yield" {
                nodes: list Int [count] "nodes of a level",
                near: read Int [node][near] "nodes around each node",
                child: read Int [node] "first child of each node, or -1",
                mark: write Int [node] "what becomes of each node",
            }
            /// Where a child of a node is going to be refined, refines the leaves around the node that touch it.
            Spread = "spread" {
                nodes: list Int [count] "nodes of a level",
                near: read Int [node][near] "nodes around each node",
                child: read Int [node] "first child of each node, or -1",
                mark: write Int [node] "what becomes of each node",
            }
            /// Takes a node's children away if all are leaves to be coarsened and nothing finer is or will be around.
            Dissolve = "dissolve" {
                nodes: list Int [count] "nodes of a level",
                near: read Int [node][near] "nodes around each node",
                child: read Int [node] "first child of each node, or -1",
                mark: write Int [node] "what becomes of each node",
            }
            /// Counts a chunk of a list by class.
            Tally = "tally" {
                chunks: list Int [count] "chunks of the list",
                order: read Int [position] "nodes, level by level in space-filling-curve order",
                first: value Int "position in `order` of the list",
                size: value Int "how many nodes there are from `first` on",
                code: read Int [node] "class of each node, negative if none; what is above the last class is in it",
                classes: value Int "number of classes",
                counts: write Int [class][chunk] "entries of each class in each chunk",
            }
            /// Sums all entries before each, in place.
            Scan = "scan" {
                counts: write Int [size] "becomes the sum of all entries before each",
                size: value Int "number of entries",
                begins: write Int [entry] "where the sum of all goes",
                total: value Int "position of it",
            }
            /// Positions of the nodes in a chunk of a list: behind all of the classes before, then those before it.
            Rank = "rank" {
                chunks: list Int [count] "chunks of the list",
                order: read Int [position] "nodes, level by level in space-filling-curve order",
                first: value Int "position in `order` of the list",
                size: value Int "how many nodes there are from `first` on",
                code: read Int [node] "class of each node, negative if none; what is above the last class is in it",
                classes: value Int "number of classes",
                counts: read Int [class][chunk] "sums of the entries before each",
                level: read Int [node] "level of each node",
                begins: write Int [level][class] "position of the first of each class and level",
                rank: write Int [node] "position of each node that has a class",
            }
            /// Lists a node by its rank.
            Pick = "pick" {
                nodes: list Int [count] "nodes of all levels",
                mark: read Int [node] "what becomes of each node",
                rank: read Int [node] "position of each node that has a class",
                picked: write Int [rank] "nodes by their rank",
            }
            /// Gives a slot to a node that will lose its children, and tells theirs.
            Merge = "merge" {
                ids: list Int [count] "nodes that will lose their children",
                rank: read Int [node] "position of each node that has a class",
                first: value Int "rank of the first node of the list",
                child: read Int [node] "first child of each node, or -1",
                slots: value Int "how many free slots there are",
                free_slots: read Int [free] "free slots, the next one last",
                slot: write Int [node] "data slot of each node, or -1",
                node: write Int [slot] "node of each slot, or -1",
                coarse: write Int [count] "slots of the listed nodes",
                child_slots: write Int [slot][children] "slots of the children of what has each slot",
            }
            /// Takes a node's children away, with their slots.
            Drop = "drop" {
                ids: list Int [count] "nodes that lose their children",
                rank: read Int [node] "position of each node that has a class",
                first: value Int "rank of the first node of the list",
                roots: value Int "number of roots",
                families: value Int "how many free families there are",
                slots: value Int "how many free slots there are",
                child: write Int [node] "first child of each node, or -1",
                parent: write Int [node] "parent of each node, or -1",
                slot: write Int [node] "data slot of each node, or -1",
                node: write Int [slot] "node of each slot, or -1",
                free_families: write Int [free] "free families, the next one last",
                free_slots: write Int [free] "free slots, the next one last",
            }
            /// Gives children to a leaf, with slots.
            Split = "split" {
                ids: list Int [count] "leaves that get children",
                rank: read Int [node] "position of each node that has a class",
                roots: value Int "number of roots",
                families: value Int "how many free families there are",
                slots: value Int "how many free slots there are",
                free_families: read Int [free] "free families, the next one last",
                free_slots: read Int [free] "free slots, the next one last",
                child: write Int [node] "first child of each node, or -1",
                parent: write Int [node] "parent of each node, or -1",
                level: write Int [node] "level of each node",
                place: write Int [node][3] "position of each node, in blocks of its level",
                slot: write Int [node] "data slot of each node, or -1",
                node: write Int [slot] "node of each slot, or -1",
                bound: write Int [node] "1 where a leaf keeps its level, 2 where a node does not become coarser",
                coarse: write Int [count] "slots of the listed nodes",
                child_slots: write Int [slot][children] "slots of the children of what has each slot",
            }
            /// Takes the slot of a former leaf away.
            Vacate = "vacate" {
                ids: list Int [count] "former leaves",
                rank: read Int [node] "position of each node that has a class",
                slots: value Int "how many free slots there are",
                slot: write Int [node] "data slot of each node, or -1",
                node: write Int [slot] "node of each slot, or -1",
                free_slots: write Int [free] "free slots, the next one last",
            }
            /// What the children of a node have near.
            Link = "link" {
                nodes: list Int [count] "nodes of a level",
                near: write Int [node][near] "nodes around each node",
                child: read Int [node] "first child of each node, or -1",
            }
            /// Lists the slot of a leaf that has a row, and tells its row.
            Follow = "follow" {
                positions: list Int [count] "positions in `found`",
                found: read Int [position] "leaves with rows",
                row: read Int [position] "the row of each",
                slot: read Int [node] "data slot of each node, or -1",
                list: write Int [position] "their slots",
                rows: write Int [slot] "row of each of these slots",
            }
            /// Neighbours of a leaf, and the kind of a node.
            Classify = "classify" {
                nodes: list Int [count] "nodes",
                near: read Int [node][near] "nodes around each node",
                child: read Int [node] "first child of each node, or -1",
                slot: read Int [node] "data slot of each node, or -1",
                neighbours: write Int [slot][near] "slots around each slot",
                kind: write Int [node] "kind of each node",
                interface: write Int [node] "0 for nodes at refinement interfaces, else -1",
            }
            /// The place of a leaf among those at refinement interfaces.
            Number = "number" {
                nodes: list Int [count] "nodes of all levels",
                slot: read Int [node] "data slot of each node, or -1",
                interface: read Int [node] "0 for nodes at refinement interfaces, else -1",
                rank: read Int [node] "position of each node that has a class",
                rows: write Int [slot] "place of each slot among those at refinement interfaces, or -1",
            }
            /// Lists a leaf among those of its level, or the children of a node among the nodes of the next.
            Expand = "expand" {
                positions: list Int [count] "positions in `order` of the nodes of a level",
                kind: read Int [node] "kind of each node",
                rank: read Int [node] "position of each node that has a class",
                child: read Int [node] "first child of each node, or -1",
                slot: read Int [node] "data slot of each node, or -1",
                first_leaf: value Int "position in `leaves` of this level",
                leaf_count: value Int "how many leaves this level has",
                first_covered: value Int "position in `covered` of this level",
                first_next: value Int "position in `order` of the next level",
                roots: value Int "number of roots",
                slots: value Int "how many slots there are for leaves",
                leaves: write Int [leaf] "slots of leaves, by level, group and space-filling curve",
                covered: write Int [refined] "slots that refined nodes would have, by level and space-filling curve",
                order: write Int [position] "nodes, level by level in space-filling-curve order",
            }
            /// Neighbours of what has data, refined or not, and where the level changes around it; children and parents by slot.
            Hold = "hold" {
                nodes: list Int [count] "nodes of all levels",
                near: read Int [node][near] "nodes around each node",
                child: read Int [node] "first child of each node, or -1",
                parent: read Int [node] "parent of each node, or -1",
                slot: read Int [node] "data slot of each node, or -1",
                roots: value Int "number of roots",
                slots: value Int "how many slots there are for leaves",
                data: write Int [node] "slot of each node, refined or not",
                neighbours: write Int [slot][near] "slots around each slot",
                sides: write Int [slot] "bit p: the level changes at place p around each slot",
                interface: write Int [node] "0 for nodes at refinement interfaces, else -1",
                child_slots: write Int [family][children] "slots of the children of each refined node",
                uppers: write Int [slot] "slot of the parent, times 2^dim, and the octant, or -1",
            }
            /// Gives a leaf the slot of its rank.
            Arrange = "arrange" {
                ids: list Int [count] "nodes of all levels",
                rank: read Int [node] "position of each node that has a class",
                slot: write Int [node] "data slot of each node, or -1",
                node: write Int [slot] "node of each slot, or -1",
                from: write Int [leaf] "former slot of each slot",
            }
            /// Frees a slot; the lowest of those that are free comes next.
            Clear = "clear" {
                unused: list Int [count] "slots that no leaf has",
                all: value Int "number of slots",
                node: write Int [slot] "node of each slot, or -1",
                free_slots: write Int [free] "free slots, the next one last",
            }
        }
    };
}

macro_rules! role {
    ($($rows:tt)*) => {
        roles! {
            /// What a mesh kernel does. Rows of [`mesh_kernels!`](crate::mesh_kernels) say what each takes.
            MeshRole: $($rows)*
        }
    };
}

mesh_kernels!(role);

impl MeshRole {
    /// The arguments of its kernel in that dimension.
    pub fn args(self, dim: u32) -> Vec<Arg> {
        let index = |index: &str| match index {
            "near" => format!("[{}]", 3u32.pow(dim)),
            "children" => format!("[{}]", 1 << dim),
            count => format!("[{count}]"),
        };
        self.declared().iter().flat_map(|arg| arg.args(index, str::to_string)).collect()
    }
}

impl MeshKernel {
    /// Whether its arguments, and how it is launched, are those that its role has in that dimension; their documentation may differ.
    pub fn is_as_declared(&self, dim: u32) -> bool {
        self.divisible == self.role.is_divisible() && same_args(&self.args, &self.role.args(dim))
    }
}
