//! What the templates of kernels print: a [`View`], of which each subject fills its own part.

use lbm_bundle::{HALF_SCALE, Kernel as Signature, Manifest, Real, Role};
use lbm_dsl::expr::{LevelSymbol, Symbol};
use serde::Serialize;

use super::adjoint;
use super::arithmetic::{computes_again, formulas, reads};
use super::around;
use super::banner;
use super::constants::rest;
use super::formula::real_name;
use super::gather;
use super::ghosts;
use super::inbox;
use super::interface;
use super::method::Method;
use super::moments;
use super::signature::{Params, Types, head, packed};
use super::solids;
use super::target::Dialect;
use super::text::Comment;
use super::transfer;
use super::view::{Head, Kernel, Packed, Pull};
use super::walls::{self, walls};
use crate::ir::Plan;
use crate::lower::signature::{in_pairs, velocity_at};

/// One file of kernels. Fields that hold lists are printed line by line.
#[derive(Debug, Serialize)]
pub struct View {
    /// The words of the target.
    #[serde(flatten)]
    pub dialect: Dialect,
    /// The comment that opens the file, a line each, without `//`.
    pub banner: Vec<Comment>,
    /// `float` or `double`.
    pub real: String,
    /// CUDA: whether a kernel says how many of its thread blocks a processor shall hold.
    pub resident: bool,
    /// Whether the collision computes values again.
    pub again: bool,
    /// What a population is stored as.
    pub stored: String,
    /// Whether that is a number of 16 bits.
    pub half: bool,
    /// What it is multiplied with then.
    pub half_scale: String,
    /// The power of two that it is.
    pub half_exponent: u32,
    /// Number of directions.
    pub q: usize,
    /// The constant that says how many values are stored of a cell: `Q` or `K`.
    pub values: &'static str,
    /// How many there are.
    pub value_count: usize,
    /// How many rows a block has: `Q` or `K`, or more where states take two.
    pub stored_rows: String,
    /// The first of the states that take two rows, if some do.
    pub halves: Option<usize>,
    /// Moments that are stored in the place of populations.
    pub moments: Option<moments::Moments>,
    /// What cells show to those around them.
    pub around: Option<around::Neighbours>,
    /// The constant that says how many values a collision reads: `Q`, or `INPUTS`.
    pub inputs: &'static str,
    /// Cells of a block along x.
    pub bx: u32,
    /// Along y.
    pub by: u32,
    /// Along z.
    pub bz: u32,
    /// Number of axes.
    pub dim: usize,
    /// Whether the cells of a block are found by their numbers.
    pub numbered: bool,
    /// Velocity of each direction, in lines.
    pub velocities: Vec<String>,
    /// Direction of each velocity, by `(cx+1) + 3 (cy+1) + 9 (cz+1)`; -1 where there is none.
    pub numbers: String,
    /// Neighbours of a block, itself included.
    pub near: usize,
    /// Position of the block itself among its neighbours.
    pub middle: usize,
    /// Whether there is a third axis.
    pub deep: bool,
    /// Components of all macroscopic fields.
    pub fields: usize,
    /// Rows along x that the host gathers at a time.
    pub rows: u32,
    /// Host: whether a row is whole cache lines, which are collided where they lie.
    pub lines: bool,
    /// Values from the populations of a direction in a block to those of the next.
    pub pitch_len: usize,
    /// What the kernel `macroscopic` does with the level of the blocks.
    pub level: String,
    /// Populations from fields.
    pub init: Kernel,
    /// Whether there are kernels for steps in the only set of populations.
    pub in_place: bool,
    /// Kernels that gather what arrives in cells.
    pub gathers: Vec<gather::Gather>,
    /// Rules of walls, if the spec has some.
    pub walls: Option<walls::Walls>,
    /// The adjoint of a step, if it is wanted.
    pub adjoint: Option<adjoint::Adjoint>,
    /// Blocks at refinement interfaces, if kernels for them are wanted.
    pub interface: Option<interface::Interface>,
    /// What enters blocks from other levels, if the coupling is one of packets.
    pub inbox: Option<inbox::Inbox>,
    /// What is different about refinement interfaces, if the coupling is one of ghosts.
    pub ghosts: Option<ghosts::Ghosts>,
    /// Blocks with solids in them, if kernels for them are wanted.
    pub solids: Option<solids::Solids>,
    /// The opposite of each direction.
    pub opposites: String,
    /// What each population is stored without.
    pub rests: String,
    /// What cells have whose level changes, if there are kernels for refinement interfaces.
    pub transfer: Option<transfer::Transfer>,
    /// The kernels that move data when a forest changes, likewise.
    pub remap: Option<Remap>,
    /// Fields of blocks.
    pub macroscopic: Kernel,
    /// What sums up a flow.
    pub reduce: Reduce,
    /// Plain states.
    pub collide: Kernel,
    /// The host kernels again, their arguments as read through an array of pointers.
    pub packed: Vec<Packed>,
    /// The struct of the method's parameters, if it has any.
    pub params: Option<Params>,
    /// Parameters of the method, with a leading comma where there are any: `, const float omega`.
    pub param_decls: String,
    /// The same as they are passed on: `, omega`.
    pub param_names: String,
    /// Upwind coordinates along each axis that a thread needs.
    pub upwind: Vec<String>,
    /// CUDA: the same for a thread that takes two cells of a row, if interior blocks are worked on so.
    pub pairs: Option<Vec<String>>,
    /// Each direction's way through the block and its neighbours.
    pub pulls: Vec<Pull>,
}

/// Kernels that sum up a flow.
#[derive(Debug, Serialize)]
pub struct Reduce {
    /// Values that are not finite, and changes of velocity.
    pub check_fields: Kernel,
    /// Mass and momentum.
    pub sums: Kernel,
    /// Number of sets of populations.
    pub sets: usize,
    /// Components of the fields of the method, which a flow must keep finite.
    pub own: usize,
    /// How many directions have a set: those of states have none.
    pub summed: String,
    /// The set that each direction belongs to.
    pub set_of: String,
    /// Type of the fields.
    pub real: &'static str,
    /// The first component of the velocity, if the fields have one.
    pub velocity: Option<usize>,
    /// The component that is the density, if there is one.
    pub density: Option<usize>,
    /// Mass, energy, enstrophy and the largest speed, if there is a velocity.
    pub means: Option<Kernel>,
}

/// Kernels that move data when a forest changes.
#[derive(Debug, Serialize)]
pub struct Remap {
    /// From children to their parent.
    pub average: Kernel,
    /// From a parent to its children.
    pub fill: Kernel,
    /// The same for fields.
    pub average_fields: Kernel,
    /// The same for fields.
    pub fill_fields: Kernel,
    /// From slot to slot.
    pub relocate: Kernel,
    /// The same for fields.
    pub relocate_fields: Kernel,
}

/// Bytes of gathered populations, the less of the first-level cache the better.
const SLAB_BYTES: u32 = 8 * 1024;

/// Everything a template prints.
pub fn view(method: &Method, dialect: &Dialect) -> View {
    let manifest = method.manifest;
    let types = Types::new(manifest);
    let real = types.real;
    let [bx, by, bz] = manifest.block;
    let dim = manifest.dim as usize;
    let near = 3usize.pow(manifest.dim);
    let velocity = |direction: &lbm_bundle::Direction| {
        let c: Vec<String> = direction.c[..dim].iter().map(i32::to_string).collect();
        format!("{{{}}},", c.join(", "))
    };
    let velocities: Vec<String> = manifest.directions.iter().map(velocity).collect();
    let number = |code: usize| {
        let wanted: Vec<i32> = (0..dim).map(|axis| (code / 3usize.pow(axis as u32) % 3) as i32 - 1).collect();
        let found = manifest.directions.iter().position(|direction| direction.c[..dim] == wanted[..]);
        found.map_or("-1".to_string(), |at| at.to_string())
    };
    let opposites: Vec<String> = manifest.directions.iter().map(|direction| direction.opposite.to_string()).collect();
    let resident = |signature| resident(manifest, signature, method.collide).filter(|_| dialect.resident);
    let kernel = |role, plan: Option<&Plan>| {
        let signature = manifest.kernel(role).expect("the manifest lists every kernel");
        let formulas = plan.map(|plan| formulas(manifest, plan)).unwrap_or_default();
        let resident = resident(signature);
        Kernel { head: Head { resident, ..head(manifest, signature, plan, dialect) }, formulas }
    };
    // The function that collides takes all parameters.
    let collide = Kernel { formulas: formulas(manifest, method.collide), ..kernel(Role::Collide, None) };
    let lines = whole_lines(manifest) && manifest.moments.is_empty() && row_by_row(manifest);
    let walls = (!method.walls.is_empty()).then(|| walls(method));
    let solids = manifest.kernel(Role::StreamCollideSolid).is_some();
    let in_place = manifest.kernel(Role::CollideOut).is_some();
    let numbered = method.interface.is_some()
        || in_place
        || solids
        || method.derivatives.is_some()
        || walls
            .as_ref()
            .is_some_and(|walls| !walls.nodes.is_empty() && (walls.inside && walls.thin || !dialect.threads));
    View {
        dialect: *dialect,
        numbered,
        banner: banner::banner(method, dialect.target),
        real: real.into(),
        stored: types.stored.into(),
        resident: manifest.kernels.iter().any(|kernel| resident(kernel).is_some()),
        again: computes_again(method.collide),
        half: manifest.real == Real::F16F32,
        half_scale: format!("{HALF_SCALE:?}f"),
        half_exponent: HALF_SCALE.log2() as u32,
        q: manifest.q(),
        values: if manifest.moments.is_empty() { "Q" } else { "K" },
        value_count: manifest.values(),
        stored_rows: match (manifest.rows() - manifest.values(), manifest.moments.is_empty()) {
            (0, true) => "Q".into(),
            (0, false) => "K".into(),
            (more, true) => format!("(Q + {more})"),
            (more, false) => format!("(K + {more})"),
        },
        halves: manifest.first_in_halves(),
        moments: method.moments.as_ref().map(|plans| moments::view(method, plans)),
        around: method.around.as_ref().map(|plans| around::view(manifest, plans, |at| pull(manifest, at))),
        inputs: if manifest.seen.is_empty() { "Q" } else { "INPUTS" },
        bx,
        by,
        bz,
        dim,
        velocities: velocities.chunks(9).map(|line| line.join(" ")).collect(),
        numbers: (0..near).map(number).collect::<Vec<_>>().join(", "),
        near,
        middle: near / 2,
        deep: dim == 3,
        fields: manifest.field_components(),
        rows: rows(manifest),
        lines,
        pitch_len: manifest.pitch(),
        init: kernel(Role::Init, Some(method.init)),
        in_place,
        gathers: gather::view(manifest, lines, |role| kernel(role, None)),
        interface: method.interface.as_ref().map(|interface| interface::view(method, interface)),
        inbox: method
            .interface
            .as_ref()
            .filter(|interface| !interface.packets.is_empty())
            .map(|interface| inbox::view(manifest, interface, kernel)),
        ghosts: method.interface.as_ref().and_then(|interface| ghosts::view(method, interface, kernel)),
        solids: solids.then(|| solids::view(method, |role| kernel(role, None))),
        opposites: opposites.join(", "),
        rests: manifest.directions.iter().map(rest).collect::<Vec<_>>().join(", "),
        transfer: method.interface.as_ref().map(|interface| transfer::view(manifest, interface)),
        remap: method.interface.as_ref().map(|_| remap(kernel)),
        reduce: reduce(manifest, kernel),
        walls,
        adjoint: method.derivatives.as_ref().map(|own| adjoint::view(method, own, |role| kernel(role, None))),
        level: match reads(method.macroscopic, |symbol| *symbol == Symbol::Level(LevelSymbol::Width)) {
            true => format!("const {real} width = ({real})1 / ({real})(1 << level);"),
            false => "(void)level;".into(),
        },
        macroscopic: kernel(Role::Macroscopic, Some(method.macroscopic)),
        collide,
        params: Params::new(manifest),
        packed: manifest.kernels.iter().map(|kernel| packed(&kernel.symbol, &kernel.args, &types)).collect(),
        param_decls: manifest.members.iter().map(|member| format!(", const {real} {}", member.name)).collect(),
        param_names: manifest.members.iter().map(|member| format!(", {}", member.name)).collect(),
        upwind: upwind(manifest, 1),
        pairs: (dialect.threads && in_pairs(manifest, Role::StreamCollide)).then(|| upwind(manifest, 2)),
        pulls: (0..manifest.q() + manifest.seen.len()).map(|at| pull(manifest, at)).collect(),
    }
}

/// The kernels that sum up a flow.
fn reduce(manifest: &Manifest, kernel: impl Fn(Role, Option<&Plan>) -> Kernel) -> Reduce {
    let set_of = |at: usize| manifest.populations.iter().position(|set| set.range().contains(&at)).unwrap_or(0);
    let velocity = velocity_at(manifest);
    Reduce {
        check_fields: kernel(Role::CheckFields, None),
        sums: kernel(Role::Sums, None),
        sets: manifest.populations.len(),
        own: manifest.own_components(),
        summed: if manifest.states.is_empty() {
            "Q".into()
        } else {
            (manifest.q() - manifest.states.len()).to_string()
        },
        set_of: (0..manifest.q()).map(|at| set_of(at).to_string()).collect::<Vec<_>>().join(", "),
        real: real_name(manifest.real),
        velocity,
        density: manifest.component_names().iter().position(|name| name == "rho"),
        means: velocity.map(|_| kernel(Role::Means, None)),
    }
}

/// The kernels that move data when a forest changes.
fn remap(kernel: impl Fn(Role, Option<&Plan>) -> Kernel) -> Remap {
    Remap {
        average: kernel(Role::Average, None),
        fill: kernel(Role::Fill, None),
        average_fields: kernel(Role::AverageFields, None),
        fill_fields: kernel(Role::FillFields, None),
        relocate: kernel(Role::Relocate, None),
        relocate_fields: kernel(Role::RelocateFields, None),
    }
}

/// Whether a row is whole cache lines.
fn whole_lines(manifest: &Manifest) -> bool {
    (manifest.block[0] * manifest.real.bytes() as u32).is_multiple_of(64)
}

/// Whether the host may gather a row alone. Populations that are converted on their way, or stand beside what cells around show, come in whole
/// planes.
fn row_by_row(manifest: &Manifest) -> bool {
    manifest.seen.is_empty() && (manifest.real != Real::F16F32 || !manifest.moments.is_empty())
}

/// Rows that the host gathers at a time. A row of whole cache lines is collided at once, so that the processor works on it
/// while the next one is on its way; of shorter rows, as many whole planes as fit into `SLAB_BYTES`.
fn rows(manifest: &Manifest) -> u32 {
    let [bx, by, bz] = manifest.block;
    if whole_lines(manifest) && row_by_row(manifest) {
        return 1;
    }
    let plane = by * bx * manifest.real.bytes() as u32 * (manifest.q() + manifest.seen.len()) as u32;
    by * (1..=bz).rev().find(|planes| bz.is_multiple_of(*planes) && planes * plane <= SLAB_BYTES).unwrap_or(1)
}

/// CUDA: thread blocks of a kernel that streams and collides, or slides, which a processor shall hold at the same time. Said so, the compiler
/// asks for all populations of a cell before it waits for the first, in about 2.3 registers each, those of addresses included (measured
/// on an H200: D3Q19 and D3Q27 in f32 gain 2 to 8 % with 5 and 4, and lose 7 % and more with one more). A collision in phases needs no
/// more (D3Q27 KBC gains 2 %), whatever its order has alive: the compiler finds a better one. In f64 nothing is gained. With values of neighbours, which come before those of the cell, it would spill
/// some of these (WALE loses 3 %, at refinement interfaces half of its speed; measured on an H100). Surfaces that slide wait for one value after the
/// other: with 3 thread blocks, of 80 registers, they are 5 % faster although some values are spilled, with 4 they are slower (H200).
fn resident(manifest: &Manifest, signature: &Signature, collide: &Plan) -> Option<u32> {
    const REGISTERS: usize = 65536;
    if signature.shared > 0 {
        return resident_exchanging(manifest, signature);
    }
    if signature.role == Role::Slide && manifest.real != Real::F64 {
        return Some(3);
    }
    let streams = matches!(signature.role, Role::StreamCollide | Role::StreamCollideInterface);
    let reads_around = !manifest.seen.is_empty();
    if !streams || reads_around || manifest.real == Real::F64 || manifest.dim == 2 || signature.threads < 256 {
        return None;
    }
    let a_block = signature.threads as usize;
    let alive = if computes_again(collide) { 0 } else { collide.live() + 17 };
    let registers = (23 * manifest.q() / 10).max(alive);
    u32::try_from((REGISTERS / (a_block * registers)).min(5)).ok().filter(|blocks| *blocks > 1)
}

/// The same of a kernel whose threads exchange populations: as many as have room beside each other, with 42 registers a thread in f32 and 64
/// in f64 and where values of neighbours are read, of which some would be spilled.
fn resident_exchanging(manifest: &Manifest, signature: &Signature) -> Option<u32> {
    const SHARED: u32 = 227 << 10;
    let threads = if manifest.real == Real::F64 || !manifest.seen.is_empty() { 1024 } else { 1536 };
    let blocks = (threads / signature.threads).min(SHARED / (signature.shared + 1024));
    Some(blocks).filter(|blocks| *blocks > 1)
}

/// Upwind coordinates along each axis, for the velocities +1 and -1, and the block they lie in; along x, those beside so many cells
/// of a row, of which `x` is the first.
fn upwind(manifest: &Manifest, width: u32) -> Vec<String> {
    let [bx, by, _] = manifest.block;
    let deep = manifest.dim == 3;
    let coordinates = [
        format!("cell % {bx}"),
        if deep { format!("cell / {bx} % {by}") } else { format!("cell / {bx}") },
        format!("cell / {}", bx * by),
    ];
    let heading = "// ---- upwind along each axis: coordinate and block, m for the velocity +1, p for -1";
    let mut lines = vec![heading.to_string()];
    for axis in 0..manifest.dim as usize {
        let (a, last) = (["x", "y", "z"][axis], manifest.block[axis] - 1);
        let width = if axis == 0 { width } else { 1 };
        lines.push(format!("const int {a} = {};", coordinates[axis]));
        lines.push(format!("const int {a}m = {a} > 0 ? {a} - 1 : {last}, b{a}m = {a} > 0 ? 0 : -1;"));
        let start = last + 1 - width;
        lines.push(format!("const int {a}p = {a} < {start} ? {a} + {width} : 0, b{a}p = {a} < {start} ? 0 : 1;"));
    }
    lines
}

fn pull(manifest: &Manifest, at: usize) -> Pull {
    let seen = at.checked_sub(manifest.q()).map(|number| (number, &manifest.seen[number]));
    // What is seen along a direction is brought by the opposite one.
    let c = match seen {
        Some((_, seen)) => manifest.directions[seen.direction as usize].c.map(|c| -c),
        None => manifest.directions[at].c,
    };
    let dim = manifest.dim as usize;
    let [bx, by, _] = manifest.block;
    let coordinate = |axis: usize| {
        let name = ["x", "y", "z"][axis];
        match c[axis] {
            0 => name.to_string(),
            1 => format!("{name}m"),
            _ => format!("{name}p"),
        }
    };
    let strides = ["", "3 * ", "9 * "];
    let near_from = |first: usize| {
        let mut near = (3usize.pow(manifest.dim) / 2).to_string();
        for axis in (first..dim).filter(|axis| c[*axis] != 0) {
            near += &format!(" + {}b{}", strides[axis], coordinate(axis));
        }
        near
    };
    let near = near_from(0);
    let rest = c == [0; 3];
    let in_row = |x: &str| match dim {
        2 => format!("{x} + {bx} * {}", coordinate(1)),
        _ => format!("{x} + {bx} * ({} + {by} * {})", coordinate(1), coordinate(2)),
    };
    Pull {
        at,
        row: seen.map_or(at, |(_, seen)| manifest.shown[seen.shown as usize].value as usize),
        seen: seen.map(|(number, _)| number),
        own: manifest.shown.first().is_none_or(|first| at < first.value as usize),
        velocity: c.map(|c| c.to_string()).join(", "),
        back: c.map(|c| (-c).to_string()).join(", "),
        opposite: if seen.is_some() { at } else { manifest.directions[at].opposite as usize },
        rest,
        near: if rest { "slot".into() } else { format!("near[{near}]") },
        entry: near,
        cell: if rest { "cell".into() } else { in_row(&coordinate(0)) },
        along: c[0],
        row_near: format!("near[{}]", near_from(1)),
        row_cell: in_row("x"),
    }
}
