//! The arrays of a forest on the device.

use super::Pool;
use super::adapt::BEGINS;
use crate::device::{Buffer, Device, DeviceError, Int};
use crate::kernels;
use crate::mesh::roots::Roots;

/// The tables of a forest that kernels read. [`lbm_bundle::mesh`] defines their contents; `dim` is the number of axes.
pub struct Tables {
    /// Nodes of the same level around each node `[node][3^dim]`.
    pub near: Buffer<Int>,
    /// First child of each node `[node]`.
    pub child: Buffer<Int>,
    /// Parent of each node `[node]`.
    pub parent: Buffer<Int>,
    /// Level of each node `[node]`.
    pub level: Buffer<Int>,
    /// Position of each node `[node][3]`.
    pub place: Buffer<Int>,
    /// Data slot of each node `[node]`.
    pub slot: Buffer<Int>,
    /// Node of each data slot `[slot]`.
    pub node: Buffer<Int>,
    /// Kind of each node `[node]`.
    pub kind: Buffer<Int>,
    /// Slots around each slot `[slot][3^dim]`.
    pub neighbours: Buffer<Int>,
    /// Place of each slot among those at refinement interfaces `[slot]`.
    pub rows: Buffer<Int>,
    /// For ghost couplings: data slot of each node, refined or not `[node]`.
    pub data: Buffer<Int>,
    /// For ghost couplings: a bit for each place around a slot where the level changes `[slot]`.
    pub sides: Buffer<Int>,
    /// For ghost couplings: slots of the children of covered blocks `[family][2^dim]`.
    pub child_slots: Buffer<Int>,
    /// For ghost couplings: slot of the parent and octant of each slot `[slot]`.
    pub uppers: Buffer<Int>,
    /// For ghost couplings: slots of all covered blocks, level by level, each level along the curve.
    pub covered: Buffer<Int>,
    /// All nodes, level by level, each level along the curve.
    pub order: Buffer<Int>,
    /// Slots of all leaves, level by level, each level group by group, each group along the curve.
    pub leaves: Buffer<Int>,
    /// Free families, the next one to be used last.
    pub free_families: Buffer<Int>,
    /// Free slots, the next one to be used last.
    pub free_slots: Buffer<Int>,
}

impl Tables {
    /// The arguments of kernels that go through the forest.
    pub fn nodes(&self) -> kernels::Nodes<'_> {
        kernels::Nodes { nodes: &self.node, near: &self.near, children: &self.child }
    }
}

/// The input of the next change of a forest, written on the device by the caller of `adapt`.
pub struct Targets {
    /// Target level of each leaf `[node]`.
    pub level: Buffer<Int>,
    /// Bound on level changes of each node `[node]`: bits of [`Bound`](super::Bound), none for new children.
    pub bound: Buffer<Int>,
}

/// Arrays that changes need besides the tables.
pub(super) struct Work {
    /// Every number from 0 on, to list positions.
    pub(super) every: Buffer<Int>,
    /// How each node changes `[node]`.
    pub(super) mark: Buffer<Int>,
    /// Whether each node is at a refinement interface `[node]`.
    pub(super) interface: Buffer<Int>,
    /// Rank of each node that has a class `[node]`.
    pub(super) rank: Buffer<Int>,
    /// Number of nodes of each class in each chunk of a list.
    pub(super) counts: Buffer<Int>,
    /// Position of the first node of each class and level, and at the end the total number.
    pub(super) begins: Buffer<Int>,
    /// Nodes that change, by rank.
    pub(super) picked: Buffer<Int>,
    /// Slots of coarse blocks that are averaged into or filled from; source slots of a move.
    pub(super) coarse: Buffer<Int>,
    /// Slots of the children of each slot `[slot][2^dim]`.
    pub(super) child_slots: Buffer<Int>,
}

/// All arrays of a forest that has only roots, each with a slot; links and lists are not yet set.
pub(super) fn new(
    device: &Device,
    dim: usize,
    roots: &Roots,
    pool: Pool,
    stores_covered: bool,
) -> Result<(Tables, Targets, Work), DeviceError> {
    let first = roots.positions.len();
    let nodes = pool.nodes(dim, first);
    let data = pool.data_slots(stores_covered);
    let if_covered = |len| if stores_covered { len } else { 0 };
    let ints = |len| device.alloc_ints(len);
    let starting = |len, values: &[i32]| {
        let mut buffer = ints(len)?;
        buffer.write_ints(0, values)?;
        Ok::<_, DeviceError>(buffer)
    };
    let numbers = |range: std::ops::Range<usize>| range.map(|at| at as i32).collect::<Vec<_>>();
    let falling = |range: std::ops::Range<usize>| range.rev().map(|at| at as i32).collect::<Vec<_>>();
    let some = |len: usize, mut values: Vec<i32>| {
        values.resize(len, -1);
        device.ints(&values)
    };
    let places: Vec<i32> = roots.positions.iter().flatten().map(|at| *at as i32).collect();
    let tables = Tables {
        near: starting(nodes * roots.places, &roots.near)?,
        child: some(nodes, vec![])?,
        parent: some(nodes, vec![])?,
        level: ints(nodes)?,
        place: starting(nodes * 3, &places)?,
        slot: some(nodes, numbers(0..first))?,
        node: some(pool.slots, numbers(0..first))?,
        kind: some(nodes, vec![])?,
        neighbours: ints(data * roots.places)?,
        rows: ints(data)?,
        data: ints(if_covered(nodes))?,
        sides: ints(if_covered(data))?,
        child_slots: ints(if_covered(pool.families << dim))?,
        uppers: ints(if_covered(data))?,
        covered: ints(pool.families)?,
        order: starting(nodes, &numbers(0..first))?,
        leaves: ints(pool.slots)?,
        free_families: device.ints(&falling(0..pool.families))?,
        free_slots: starting(pool.slots, &falling(first..pool.slots))?,
    };
    let targets = Targets { level: ints(nodes)?, bound: ints(nodes)? };
    let work = Work {
        every: device.ints(&numbers(0..nodes.max(data)))?,
        mark: ints(nodes)?,
        interface: ints(nodes)?,
        rank: ints(nodes)?,
        counts: ints(pool.counts(dim, first))?,
        begins: ints(BEGINS)?,
        picked: ints(nodes)?,
        coarse: ints(pool.slots)?,
        child_slots: ints(pool.slots << dim)?,
    };
    Ok((tables, targets, work))
}

/// The same on another device.
pub(super) fn on(
    device: &Device,
    (tables, targets, work): (&Tables, &Targets, &Work),
) -> Result<(Tables, Targets, Work), DeviceError> {
    let copy = |buffer: &Buffer<Int>| device.ints(&buffer.read_ints(0..buffer.len())?);
    let tables = Tables {
        near: copy(&tables.near)?,
        child: copy(&tables.child)?,
        parent: copy(&tables.parent)?,
        level: copy(&tables.level)?,
        place: copy(&tables.place)?,
        slot: copy(&tables.slot)?,
        node: copy(&tables.node)?,
        kind: copy(&tables.kind)?,
        neighbours: copy(&tables.neighbours)?,
        rows: copy(&tables.rows)?,
        data: copy(&tables.data)?,
        sides: copy(&tables.sides)?,
        child_slots: copy(&tables.child_slots)?,
        uppers: copy(&tables.uppers)?,
        covered: copy(&tables.covered)?,
        order: copy(&tables.order)?,
        leaves: copy(&tables.leaves)?,
        free_families: copy(&tables.free_families)?,
        free_slots: copy(&tables.free_slots)?,
    };
    let targets = Targets { level: copy(&targets.level)?, bound: copy(&targets.bound)? };
    let work = Work {
        every: copy(&work.every)?,
        mark: copy(&work.mark)?,
        interface: copy(&work.interface)?,
        rank: copy(&work.rank)?,
        counts: copy(&work.counts)?,
        begins: copy(&work.begins)?,
        picked: copy(&work.picked)?,
        coarse: copy(&work.coarse)?,
        child_slots: copy(&work.child_slots)?,
    };
    Ok((tables, targets, work))
}

/// Releases the arrays that only changes need, and truncates the others to the nodes, slots and families of a pool.
pub(super) fn stay(
    device: &Device,
    dim: usize,
    roots: usize,
    pool: Pool,
    tables: &mut Tables,
    targets: &mut Targets,
    work: &mut Work,
) -> Result<(), DeviceError> {
    let (nodes, data, places) =
        (pool.nodes(dim, roots), pool.data_slots(!tables.data.is_empty()), 3usize.pow(dim as u32));
    let Tables { near, child, parent, level, place, slot, node, kind, neighbours, rows, order, leaves, .. } = tables;
    let Tables {
        free_families, free_slots, data: of_node, sides, child_slots: covered_children, uppers, covered, ..
    } = tables;
    let Targets { level: target, bound } = targets;
    let Work { every, mark, interface, rank, counts, begins: _, picked, coarse, child_slots } = work;
    for gone in
        [kind, free_families, free_slots, target, bound, mark, interface, rank, counts, picked, coarse, child_slots]
    {
        *gone = device.alloc_ints(0)?;
    }
    let of_nodes =
        [(child, 1), (parent, 1), (level, 1), (slot, 1), (order, 1), (place, 3), (near, places), (of_node, 1)];
    let of_slots = [(rows, 1), (neighbours, places), (sides, 1), (uppers, 1)];
    let rest = [(node, pool.slots), (leaves, pool.slots), (every, nodes.max(data)), (covered, pool.families)];
    let lengths = (of_nodes.into_iter().map(|(table, per)| (table, nodes * per)))
        .chain(of_slots.into_iter().map(|(table, per)| (table, data * per)))
        .chain(rest)
        .chain([(covered_children, pool.families << dim)]);
    for (table, length) in lengths {
        // Tables of covered blocks are empty if these have no data.
        if length < table.len() {
            *table = device.first(table, length)?;
        }
    }
    Ok(())
}

/// Bytes of all arrays.
pub(super) fn bytes(tables: &Tables, targets: &Targets, work: &Work) -> usize {
    let Tables { near, child, parent, level, place, slot, node, kind, neighbours, rows, order, leaves, .. } = tables;
    let Tables { free_families, free_slots, data, sides, child_slots: covered_children, uppers, covered, .. } = tables;
    let Targets { level: target, bound } = targets;
    let Work { every, mark, interface, rank, counts, begins, picked, coarse, child_slots } = work;
    let of_nodes =
        [near, child, parent, level, place, slot, kind, order, target, bound, mark, interface, rank, picked, every];
    let others = [node, neighbours, rows, leaves, free_families, free_slots, counts, begins, coarse, child_slots];
    let of_covered = [data, sides, covered_children, uppers, covered];
    of_nodes.into_iter().chain(others).chain(of_covered).map(Buffer::bytes).sum()
}
