//! Mesh kernels: signatures, and the tables of how the neighbourhood of a node follows from that of its parent.
//!
//! In: a dimension and a target. Out: a [`MeshBundle`]. Along one axis, with the parent at `0` and its neighbours at
//! -1 and 1, a child with the bit `o` and the offset `c` of a place near it give the position `o + c`, from -1 to 2,
//! in children of the parent's low end: the parent's neighbour there is at `(o + c) / 2`, rounded down, and the
//! child's neighbour is the child of that with the bit `(o + c) mod 2`.

use lbm_bundle::mesh::{MeshBundle, MeshKernel, MeshManifest, MeshRole};
use lbm_bundle::{ABI, Arg, ArgType, File, Target};

use crate::emit;

/// CUDA: threads of a thread block.
const THREADS: u32 = 128;

/// CUDA: threads that sum an array.
const SCAN_THREADS: u32 = 1024;

/// The mesh kernels of a dimension, 2 or 3, for a target.
pub fn bundle(dim: u32, target: Target) -> MeshBundle {
    let name = format!("mesh_{dim}d");
    let kernels = signatures().into_iter().map(|(role, args)| {
        let divisible = role != MeshRole::Scan;
        MeshKernel {
            role,
            symbol: format!("{name}_{}", role_name(role)),
            args,
            divisible,
            threads: if divisible { THREADS } else { SCAN_THREADS },
        }
    });
    let manifest = MeshManifest { abi: ABI, target, dim, kernels: kernels.collect(), name };
    let source = emit::mesh(&manifest, &Relations::new(dim as usize));
    MeshBundle { manifest, source }
}

/// The files of a dimension: a source for each target, and the manifest as `mesh_2d.json` (those of both targets
/// differ in the target alone).
pub fn files(dim: u32) -> Vec<File> {
    let [cuda, c] = [Target::Cuda, Target::C].map(|target| bundle(dim, target));
    let text = serde_json::to_string_pretty(&cuda.manifest).expect("a manifest is plain data") + "\n";
    let manifest = File { name: format!("{}.json", cuda.manifest.name), text };
    vec![cuda.source, c.source, manifest]
}

/// Name of a role in symbols.
pub fn role_name(role: MeshRole) -> &'static str {
    match role {
        MeshRole::Mark => "mark",
        MeshRole::Yield => "yield",
        MeshRole::Spread => "spread",
        MeshRole::Dissolve => "dissolve",
        MeshRole::Tally => "tally",
        MeshRole::Scan => "scan",
        MeshRole::Rank => "rank",
        MeshRole::Pick => "pick",
        MeshRole::Merge => "merge",
        MeshRole::Drop => "drop",
        MeshRole::Split => "split",
        MeshRole::Vacate => "vacate",
        MeshRole::Link => "link",
        MeshRole::Classify => "classify",
        MeshRole::Number => "number",
        MeshRole::Expand => "expand",
        MeshRole::Hold => "hold",
        MeshRole::Arrange => "arrange",
        MeshRole::Clear => "clear",
        MeshRole::Follow => "follow",
    }
}

/// A place near a child, seen from its parent.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Relation {
    /// The child.
    pub octant: usize,
    /// The place near it, by its position in `near`.
    pub place: usize,
    /// The place near the parent that holds it.
    pub parent_place: usize,
    /// The child of what is there.
    pub part: usize,
}

/// The places near all children of a node.
pub struct Relations {
    /// Number of axes.
    pub dim: usize,
    /// All of them, by octant and place.
    pub all: Vec<Relation>,
}

impl Relations {
    /// Those of a dimension.
    pub fn new(dim: usize) -> Self {
        let parts = 1 << dim;
        let relation = |octant: usize, place: usize| {
            let (mut parent_place, mut part) = (0, 0);
            for (axis, offset) in offsets(dim, place).into_iter().enumerate() {
                let at = (octant >> axis & 1) as i32 + offset;
                parent_place += 3usize.pow(axis as u32) * (at.div_euclid(2) + 1) as usize;
                part |= (at.rem_euclid(2) as usize) << axis;
            }
            Relation { octant, place, parent_place, part }
        };
        let all = (0..parts).flat_map(|octant| (0..3usize.pow(dim as u32)).map(move |place| relation(octant, place)));
        Relations { dim, all: all.collect() }
    }

    /// Children of a node.
    pub fn parts(&self) -> usize {
        1 << self.dim
    }

    /// Places around a node, its own included.
    pub fn near(&self) -> usize {
        3usize.pow(self.dim as u32)
    }

    /// Places near the parent, its own excluded, that the child with that octant touches.
    pub fn touched_by(&self, octant: usize) -> Vec<usize> {
        sorted(self.all.iter().filter(|relation| relation.octant == octant).map(|relation| relation.parent_place))
            .into_iter()
            .filter(|place| *place != self.near() / 2)
            .collect()
    }

    /// Children of what is at a place near the parent that touch children of the parent.
    pub fn touching_from(&self, parent_place: usize) -> Vec<usize> {
        sorted(self.all.iter().filter(|relation| relation.parent_place == parent_place).map(|relation| relation.part))
    }
}

/// Each value once, in order.
fn sorted(values: impl Iterator<Item = usize>) -> Vec<usize> {
    let mut values: Vec<usize> = values.collect();
    values.sort_unstable();
    values.dedup();
    values
}

/// The offset of a place near a node, along each axis.
pub fn offsets(dim: usize, place: usize) -> Vec<i32> {
    (0..dim as u32).map(|axis| (place / 3usize.pow(axis) % 3) as i32 - 1).collect()
}

fn signatures() -> Vec<(MeshRole, Vec<Arg>)> {
    use ArgType::{Int, Ints, IntsOut};
    let arg = |name: &str, ty, doc: &str| Arg::new(name, ty, doc);
    let list = |name: &str, doc: &str| {
        vec![arg(name, Ints, &format!("{doc} [count]")), arg("count", Int, &format!("how many `{name}` lists"))]
    };
    let with = |mut list: Vec<Arg>, args: &[Arg]| {
        list.extend_from_slice(args);
        list
    };
    let (nodes, ids) = (|doc: &str| list("nodes", doc), |doc: &str| list("ids", doc));
    let near = |ty| arg("near", ty, "nodes around each node [node][3^dim]");
    let child = |ty| arg("child", ty, "first child of each node, or -1 [node]");
    let parent = arg("parent", IntsOut, "parent of each node, or -1 [node]");
    let level = |ty| arg("level", ty, "level of each node [node]");
    let slot = |ty| arg("slot", ty, "data slot of each node, or -1 [node]");
    let node = arg("node", IntsOut, "node of each slot, or -1 [slot]");
    let bound = |ty| arg("bound", ty, "1 where a leaf keeps its level, 2 where a node does not become coarser [node]");
    let mark = |ty| arg("mark", ty, "what becomes of each node [node]");
    let kind = |ty| arg("kind", ty, "kind of each node [node]");
    let interface = |ty| arg("interface", ty, "0 for nodes at refinement interfaces, else -1 [node]");
    let rank = |ty| arg("rank", ty, "position of each node that has a class [node]");
    let order = |ty| arg("order", ty, "nodes, level by level in space-filling-curve order");
    let parent_of = Arg { ty: Ints, ..parent.clone() };
    let roots = arg("roots", Int, "number of roots");
    let all_roots = roots.clone();
    let all_slots = arg("slots", Int, "how many slots there are for leaves");
    let slots = arg("slots", Int, "how many free slots there are");
    let families = arg("families", Int, "how many free families there are");
    let free_slots = |ty| arg("free_slots", ty, "free slots, the next one last");
    let free_families = |ty| arg("free_families", ty, "free families, the next one last");
    let parts = arg("parts", IntsOut, "slots of the children of what has each slot [slot][2^dim]");
    let coarse = arg("coarse", IntsOut, "slots of the listed nodes [count]");
    let first = |doc: &str| arg("first", Int, doc);
    let size = arg("size", Int, "how many nodes there are from `first` on");
    let code = arg("code", Ints, "class of each node, negative if none; what is above the last class is in it [node]");
    let classes = arg("classes", Int, "number of classes");
    let counts = arg("counts", IntsOut, "entries of each class in each chunk [class][chunk]");
    let begins = arg("begins", IntsOut, "position of the first of each class and level [level][class]");
    let first_in_order = first("position in `order` of the list");
    let first_rank = first("rank of the first node of the list");
    vec![
        (
            MeshRole::Mark,
            with(
                nodes("nodes of all levels"),
                &[
                    level(Ints),
                    child(Ints),
                    arg("want", Ints, "level that each leaf wishes [node]"),
                    bound(Ints),
                    arg("coarsest", Int, "lowest level of leaves"),
                    arg("finest", Int, "highest level of leaves"),
                    mark(IntsOut),
                ],
            ),
        ),
        (MeshRole::Yield, with(nodes("nodes of a level"), &[near(Ints), child(Ints), mark(IntsOut)])),
        (MeshRole::Spread, with(nodes("nodes of a level"), &[near(Ints), child(Ints), mark(IntsOut)])),
        (MeshRole::Dissolve, with(nodes("nodes of a level"), &[near(Ints), child(Ints), mark(IntsOut)])),
        (
            MeshRole::Tally,
            with(
                list("chunks", "chunks of the list"),
                &[order(Ints), first_in_order.clone(), size.clone(), code.clone(), classes.clone(), counts.clone()],
            ),
        ),
        (
            MeshRole::Scan,
            vec![
                arg("counts", IntsOut, "becomes the sum of all entries before each [size]"),
                arg("size", Int, "number of entries"),
                arg("begins", IntsOut, "where the sum of all goes"),
                arg("total", Int, "position of it"),
            ],
        ),
        (
            MeshRole::Rank,
            with(
                list("chunks", "chunks of the list"),
                &[
                    order(Ints),
                    first_in_order,
                    size,
                    code,
                    classes,
                    Arg { ty: Ints, doc: "sums of the entries before each [class][chunk]".into(), ..counts },
                    level(Ints),
                    begins,
                    rank(IntsOut),
                ],
            ),
        ),
        (
            MeshRole::Pick,
            with(
                nodes("nodes of all levels"),
                &[mark(Ints), rank(Ints), arg("picked", IntsOut, "nodes by their rank")],
            ),
        ),
        (
            MeshRole::Merge,
            with(
                ids("nodes that will lose their children"),
                &[
                    rank(Ints),
                    first_rank.clone(),
                    child(Ints),
                    slots.clone(),
                    free_slots(Ints),
                    slot(IntsOut),
                    node.clone(),
                    coarse.clone(),
                    parts.clone(),
                ],
            ),
        ),
        (
            MeshRole::Drop,
            with(
                ids("nodes that lose their children"),
                &[
                    rank(Ints),
                    first_rank,
                    roots.clone(),
                    families.clone(),
                    slots.clone(),
                    child(IntsOut),
                    parent.clone(),
                    slot(IntsOut),
                    node.clone(),
                    free_families(IntsOut),
                    free_slots(IntsOut),
                ],
            ),
        ),
        (
            MeshRole::Split,
            with(
                ids("leaves that get children"),
                &[
                    rank(Ints),
                    roots,
                    families,
                    slots.clone(),
                    free_families(Ints),
                    free_slots(Ints),
                    child(IntsOut),
                    parent,
                    level(IntsOut),
                    arg("place", IntsOut, "position of each node, in blocks of its level [node][3]"),
                    slot(IntsOut),
                    node.clone(),
                    bound(IntsOut),
                    coarse,
                    parts,
                ],
            ),
        ),
        (
            MeshRole::Vacate,
            with(ids("former leaves"), &[rank(Ints), slots, slot(IntsOut), node.clone(), free_slots(IntsOut)]),
        ),
        (MeshRole::Link, with(nodes("nodes of a level"), &[near(IntsOut), child(Ints)])),
        (
            MeshRole::Follow,
            with(
                list("positions", "positions in `found`"),
                &[
                    arg("found", Ints, "leaves with rows [position]"),
                    arg("row", Ints, "the row of each [position]"),
                    slot(Ints),
                    arg("list", IntsOut, "their slots [position]"),
                    arg("rows", IntsOut, "row of each of these slots [slot]"),
                ],
            ),
        ),
        (
            MeshRole::Classify,
            with(
                nodes("nodes"),
                &[
                    near(Ints),
                    child(Ints),
                    slot(Ints),
                    arg("neighbours", IntsOut, "slots around each slot [slot][3^dim]"),
                    kind(IntsOut),
                    interface(IntsOut),
                ],
            ),
        ),
        (
            MeshRole::Number,
            with(
                nodes("nodes of all levels"),
                &[
                    slot(Ints),
                    interface(Ints),
                    rank(Ints),
                    arg("rows", IntsOut, "place of each slot among those at refinement interfaces, or -1 [slot]"),
                ],
            ),
        ),
        (
            MeshRole::Expand,
            with(
                list("positions", "positions in `order` of the nodes of a level"),
                &[
                    kind(Ints),
                    rank(Ints),
                    child(Ints),
                    slot(Ints),
                    arg("first_leaf", Int, "position in `leaves` of this level"),
                    arg("leaf_count", Int, "how many leaves this level has"),
                    arg("first_held", Int, "position in `held` of this level"),
                    arg("first_next", Int, "position in `order` of the next level"),
                    all_roots.clone(),
                    all_slots.clone(),
                    arg("leaves", IntsOut, "slots of leaves, by level, group and space-filling curve"),
                    arg("held", IntsOut, "slots that refined nodes would have, by level and space-filling curve"),
                    order(IntsOut),
                ],
            ),
        ),
        (
            MeshRole::Hold,
            with(
                nodes("nodes of all levels"),
                &[
                    near(Ints),
                    child(Ints),
                    parent_of,
                    slot(Ints),
                    all_roots,
                    all_slots,
                    arg("data", IntsOut, "slot of each node, refined or not [node]"),
                    arg("neighbours", IntsOut, "slots around each slot [slot][3^dim]"),
                    arg("sides", IntsOut, "bit p: the level changes at place p around each slot [slot]"),
                    interface(IntsOut),
                    arg("parts", IntsOut, "slots of the children of each refined node [family][2^dim]"),
                    arg("uppers", IntsOut, "slot of the parent, times 2^dim, and the octant, or -1 [slot]"),
                ],
            ),
        ),
        (
            MeshRole::Arrange,
            with(
                ids("nodes of all levels"),
                &[rank(Ints), slot(IntsOut), node.clone(), arg("from", IntsOut, "former slot of each slot [leaf]")],
            ),
        ),
        (
            MeshRole::Clear,
            with(
                list("unused", "slots that no leaf has"),
                &[arg("all", Int, "number of slots"), node, free_slots(IntsOut)],
            ),
        ),
    ]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_place_near_a_child_lies_where_positions_say() {
        for dim in [2, 3] {
            for relation in Relations::new(dim).all {
                let (child, parent) = (offsets(dim, relation.place), offsets(dim, relation.parent_place));
                for axis in 0..dim {
                    let [octant, part] = [relation.octant, relation.part].map(|bits| (bits >> axis & 1) as i32);
                    assert_eq!(octant + child[axis], 2 * parent[axis] + part);
                }
            }
        }
    }

    #[test]
    fn a_child_touches_the_places_on_its_side_only() {
        // 6 7 8
        // 3 4 5   the places near the parent
        // 0 1 2
        let square = Relations::new(2);
        assert_eq!([0, 1, 2, 3].map(|octant| square.touched_by(octant)), [[0, 1, 3], [1, 2, 5], [3, 6, 7], [5, 7, 8]]);
        assert_eq!(square.touching_from(1), [2, 3]);
        assert_eq!(square.touching_from(8), [0]);
        let cube = Relations::new(3);
        assert!((0..8).all(|octant| cube.touched_by(octant).len() == 7));
        let around: usize = (0..27).filter(|place| *place != 13).map(|place| cube.touching_from(place).len()).sum();
        assert_eq!(around, 4 * 4 * 4 - 8);
    }
}
