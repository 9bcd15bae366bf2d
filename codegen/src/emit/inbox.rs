//! What templates print of the inbox: what enters blocks from other levels.
//!
//! Around a coarse cell everything about a packet of direction `c` that starts at the child position `p` follows from which cells
//! are refined: its first step ends in the cell `floor((p + c) / 2)`, its second in the cell `c`; a path that ends where the first step
//! does, one step later, began in the cell `floor((p - c) / 2)`, if that is refined.

use lbm_bundle::{Manifest, Role};
use serde::Serialize;

use super::arithmetic::unpack;
use super::method::Interface;
use super::packets::{Route, packets, params};
use super::view::{Head, Kernel, Value};
use crate::ir::Plan;

/// Kernels that fill the inbox, and where things are in it.
#[derive(Debug, Serialize)]
pub struct Inbox {
    /// Values of a row.
    pub length: usize,
    /// For each direction, where in a row is what it brings to the cell (x, y, z).
    pub places: Vec<Value>,
    /// For each direction, bits of the coarse cells in which its packets may end.
    pub ahead: String,
    /// For each direction, bits of the coarse cells from which something may arrive.
    pub behind: String,
    /// Directions that move.
    pub ways: Vec<Way>,
    /// What cells see across interfaces, if they look around.
    pub across: Option<Kernel>,
    /// From which neighbours blocks read the inbox.
    pub masks: Kernel,
    /// Coarse cells beside refined ones.
    pub cells: Kernel,
    /// What they send.
    pub to_fine: Kernel,
    /// What they get.
    pub to_coarse: Kernel,
    /// What enters fine blocks that touch walls, if the method has rules.
    pub to_fine_walls: Option<Kernel>,
    /// What enters coarse blocks that touch walls.
    pub to_coarse_walls: Option<Kernel>,
}

/// How the packets of a direction travel around a coarse cell. Cells around it have the numbers of a block's neighbours.
#[derive(Debug, Serialize)]
pub struct Way {
    /// Direction.
    pub at: usize,
    /// Its velocity.
    pub velocity: String,
    /// The reverse.
    pub backward: String,
    /// The coarse cell where packets are after two steps.
    pub far: usize,
    /// The coarse cell where those are from that arrive in this one.
    pub back: usize,
    /// Statements that compute what packets carry.
    pub lines: Vec<String>,
    /// The packets.
    pub packets: Vec<WayPacket>,
}

/// A packet.
#[derive(Debug, Serialize)]
pub struct WayPacket {
    /// The child of the cell that it starts from, and ends at after two steps.
    pub child: usize,
    /// What it carries.
    pub value: String,
    /// Where it is after one step, if in another coarse cell.
    pub near: Option<NearCell>,
    /// Where it was one step before, if in another coarse cell.
    pub behind: Option<NearCell>,
}

/// A child of a coarse cell near another one.
#[derive(Debug, Serialize)]
pub struct NearCell {
    /// Number of the cell.
    pub entry: usize,
    /// Its offset.
    pub offset: String,
    /// The child.
    pub child: usize,
}

/// The kernels that fill the inbox, and where things are in it; `kernel` gives the signature of a role.
pub fn view(manifest: &Manifest, interface: &Interface, kernel: impl Fn(Role, Option<&Plan>) -> Kernel) -> Inbox {
    let of_role = |role| kernel(role, None);
    let params = params(interface);
    let with_packets = |role| {
        let Kernel { head, formulas } = of_role(role);
        let unpack =
            if manifest.members.is_empty() { Vec::new() } else { unpack(manifest, |name| params.contains(name)) };
        Kernel { head: Head { unpack, ..head }, formulas }
    };
    let beside_walls = |role| manifest.kernel(role).is_some().then(|| with_packets(role));
    let across = manifest.kernel(Role::ExposeAcross).map(|_| of_role(Role::ExposeAcross));
    let (mut places, mut length) = (Vec::new(), 0);
    // What is seen along a direction is brought by the opposite one.
    let seen = manifest.seen.iter().map(|seen| manifest.directions[seen.direction as usize].c.map(|c| -c));
    for (at, c) in manifest.directions.iter().map(|direction| direction.c).chain(seen).enumerate() {
        let (text, end) = place(manifest, c, length);
        if let Some(text) = text {
            places.push(Value { text, at });
        }
        length = end;
    }
    assert_eq!(length, manifest.inbox_row(), "every value of a row has one place");
    let moving = |at: &usize| manifest.directions[*at].c != [0; 3];
    Inbox {
        length,
        places,
        ahead: bits(manifest, 1),
        behind: bits(manifest, -1),
        ways: (0..manifest.q()).filter(moving).map(|at| way(manifest, interface, at)).collect(),
        across,
        masks: of_role(Role::InterfaceMasks),
        cells: of_role(Role::InterfaceCells),
        to_fine: with_packets(Role::ToFine),
        to_coarse: of_role(Role::ToCoarse),
        to_fine_walls: beside_walls(Role::ToFineWalls),
        to_coarse_walls: beside_walls(Role::ToCoarseWalls),
    }
}

/// Where in a row is what a direction brings to the cell (x, y, z), from `begin` on, and where what the next one brings begins: the
/// cells at each face that it enters through, less those at the faces of the axes before.
fn place(manifest: &Manifest, c: [i32; 3], begin: usize) -> (Option<String>, usize) {
    let dim = manifest.dim as usize;
    let width = manifest.block.map(|side| side as usize);
    let crossed: Vec<usize> = (0..dim).filter(|axis| c[*axis] != 0).collect();
    let (mut text, mut next) = (String::new(), begin);
    for (number, face) in crossed.iter().enumerate() {
        let earlier = |axis: usize| crossed[..number].contains(&axis);
        let (mut terms, mut stride) = (vec![next.to_string()], 1);
        for axis in (0..dim).filter(|axis| axis != face) {
            let name = ["x", "y", "z"][axis];
            // Of an axis before, the cells at the face where the direction enters are counted there.
            let name = if earlier(axis) && c[axis] > 0 { format!("({name} - 1)") } else { name.to_string() };
            terms.push(if stride == 1 { name } else { format!("{stride} * {name}") });
            stride *= width[axis] - usize::from(earlier(axis));
        }
        if number + 1 < crossed.len() {
            let at = if c[*face] > 0 { 0 } else { width[*face] - 1 };
            text += &format!("{} == {at} ? ", ["x", "y", "z"][*face]);
        }
        text += &terms.join(" + ");
        if number + 1 < crossed.len() {
            text += " : ";
        }
        next += stride;
    }
    ((!crossed.is_empty()).then_some(text), next)
}

/// A number for each axis, as arguments.
fn list(values: &[impl ToString]) -> String {
    values.iter().map(ToString::to_string).collect::<Vec<_>>().join(", ")
}

/// Position of an offset among the neighbours of a block.
fn entry(offset: &[i32]) -> usize {
    offset.iter().enumerate().map(|(axis, at)| 3usize.pow(axis as u32) * (at + 1) as usize).sum()
}

/// The coarse cell around a place, unless it is the cell at hand; the place is counted in fine cells from the lower corner of that.
fn near_cell(place: &[i32]) -> Option<NearCell> {
    let offset: Vec<i32> = place.iter().map(|at| at.div_euclid(2)).collect();
    let child = place.iter().enumerate().map(|(axis, at)| (at.rem_euclid(2) as usize) << axis).sum();
    let other = offset.iter().any(|at| *at != 0);
    other.then(|| NearCell { entry: entry(&offset), offset: list(&offset), child })
}

/// For each direction, a bit for each other coarse cell that its packets meet, or, with -1 for `sign`, have met.
fn bits(manifest: &Manifest, sign: i32) -> String {
    let dim = manifest.dim as usize;
    let of = |direction: &lbm_bundle::Direction| {
        let steps: Vec<Vec<i32>> = (0..1usize << dim)
            .flat_map(|child| [1, 2].map(|steps| moved(dim, &direction.c, child, sign * steps)))
            .collect();
        steps.iter().filter_map(|place| near_cell(place)).fold(0u32, |bits, cell| bits | 1 << cell.entry).to_string()
    };
    list(&manifest.directions.iter().map(of).collect::<Vec<_>>())
}

/// The place so many steps from a child of a coarse cell, in fine cells from the lower corner of the coarse one.
fn moved(dim: usize, c: &[i32; 3], child: usize, steps: i32) -> Vec<i32> {
    (0..dim).map(|axis| (child >> axis & 1) as i32 + steps * c[axis]).collect()
}

fn way(manifest: &Manifest, interface: &Interface, at: usize) -> Way {
    let dim = manifest.dim as usize;
    let c = &manifest.directions[at].c[..dim];
    let back: Vec<i32> = c.iter().map(|c| -c).collect();
    let moved = |child: usize, steps: i32| moved(dim, &manifest.directions[at].c, child, steps);
    let children = 1usize << dim;
    let near: Vec<Option<NearCell>> = (0..children).map(|child| near_cell(&moved(child, 1))).collect();
    let behind: Vec<Option<NearCell>> = (0..children).map(|child| near_cell(&moved(child, -1))).collect();
    let kind = |child: usize| match &near[child] {
        Some(cell) => format!("(mask >> {} & 1 ? 1 : far ? 2 : 0)", cell.entry),
        None => "(far ? 2 : 0)".into(),
    };
    let (lines, values) = packets(manifest, interface, at, Route::Tables, kind);
    let cells = near.into_iter().zip(behind).zip(values).enumerate();
    Way {
        at,
        velocity: list(c),
        backward: list(&back),
        far: entry(c),
        back: entry(&back),
        lines,
        packets: cells.map(|(child, ((near, behind), value))| WayPacket { child, value, near, behind }).collect(),
    }
}
