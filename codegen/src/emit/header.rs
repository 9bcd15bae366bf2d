//! The header that declares kernels, for C, C++ and CUDA C++.

use lbm_bundle::{File, HALF_SCALE, Kernel, Layout, Manifest, Real, Role, Target};
use serde::Serialize;

use super::banner;
use super::constants::{rest, rule_constants, weight};
use super::method::Method;
use super::render::render;
use super::signature::{Params, Types, declarations, doc};
use super::storage::Storage;
use super::target::Dialect;
use super::text::Comment;

const HEADER: &str = include_str!("../../../templates/c/kernels.h");

/// What the header's template prints.
#[derive(Serialize)]
struct Header {
    banner: Vec<Comment>,
    upper: String,
    spec: String,
    abi: u32,
    about: Vec<&'static str>,
    constants: Vec<String>,
    directions: Vec<String>,
    velocities: Vec<String>,
    weights: String,
    opposites: String,
    dim: u32,
    /// Layout of blocks, if that is the layout.
    blocks: Option<Blocks>,
    /// The struct of the method's parameters, if it has any.
    params: Option<Params>,
    kernels: Vec<Declared>,
}

/// What index functions of blocks need.
#[derive(Serialize)]
struct Blocks {
    /// What populations in 16 bits are multiplied with.
    half_scale: Option<String>,
    field_names: Comment,
    rests: String,
    bx: u32,
    by: u32,
    /// Rows of a block.
    rows: usize,
    /// The row of a direction.
    row: String,
    /// The first of the states that take two rows, if some do.
    halves: Option<usize>,
    cells: usize,
    /// From a direction's populations to those of the next, of kernels on the host.
    pitch: usize,
    fields: usize,
}

/// A declared kernel.
#[derive(Serialize)]
struct Declared {
    symbol: String,
    doc: String,
    args: Vec<String>,
}

const ABOUT_BLOCKS: &[&str] = &[
    "Cells lie in blocks of BX x BY x BZ; a data slot is the place of one block in every array. A neighbour is the number",
    "of a slot, or a wall, which has a rule and WALL_VALUES values. CUDA: thread blocks of THREADS, each for SLOTS slots,",
    "where a kernel does not say otherwise.",
];

const ABOUT_SOA: &[&str] = &[
    "Arrays are yours. A kernel works on a box of cells in them. Each pointer is to the first value at cell (0, 0, 0) of",
    "the box; from there, direction (or component) i of cell (x, y, z) is at",
    "    i * stride_i + z * stride_z + y * stride_y + x",
    "",
    "stream_collide reads cells -1 to nx, ny, nz of src: fill that layer of ghost cells before every step, with the cells",
    "of the opposite side (periodic), those of a neighbour (domain decomposition), or what a wall sends back: population i",
    "of the ghost cell g goes to cell g + c. Ghost cells of dst are not written.",
    "",
    "Threads share the work by boxes inside the same arrays. CUDA: one thread a cell, in thread blocks of BX x BY x BZ,",
    "as many along each axis as cover the box; twice as fast if cell 0 of every row begins a line of 128 bytes.",
];

const ABOUT_DERIVATIVES: &[&str] = &[
    "",
    "stream_collide_tangent reads src and src_change as stream_collide reads src: ghost cells of both are filled, those of",
    "src_change by what the boundary conditions make of changes. dst_change is the derivative of the step times these changes",
    "and those of the parameters.",
    "",
    "stream_collide_adjoint is the transpose. src is what the step read, ghost cells included; dst_adjoint[i] of a cell is the",
    "derivative of an objective by the population i that the step gave it. It writes src_adjoint[i] at every cell g for which",
    "g + c is in the box: ghost cells too, but not the cells from which population i left the box. Set src_adjoint to 0",
    "before. Then give back, for every value that the program copied or reflected into a ghost cell, what src_adjoint has",
    "there: add it, times the same factor, to src_adjoint where that value came from. Cells are independent of each other.",
    "stream_collide_adjoint_parameters, of a method with parameters, also adds to params_adjoint the derivatives by the",
    "parameters as if each cell had its own; their sum over steps and cells is the derivative by a parameter that all share.",
];

/// `<spec>.h`, for C, C++ and CUDA C++.
pub fn header(method: &Method) -> File {
    let manifest = method.manifest;
    let spec = &manifest.spec;
    let upper = spec.to_uppercase();
    let dialect = Dialect { target: "host", restrict: "", ..Dialect::C };
    let dim = manifest.dim as usize;
    let list = |values: &[String]| values.join(", ");
    let velocity = |direction: &lbm_bundle::Direction| {
        let c: Vec<String> = direction.c[..dim].iter().map(i32::to_string).collect();
        format!("{{{}}},", list(&c))
    };
    let directions = manifest.directions.iter().enumerate().map(|(at, direction)| {
        let c: Vec<String> = direction.c[..dim].iter().map(|c| format!("{c:>2}")).collect();
        format!("{at:>2}: ({})  weight {}, opposite {}", list(&c), direction.weight, direction.opposite)
    });
    let opposites: Vec<String> = manifest.directions.iter().map(|direction| direction.opposite.to_string()).collect();
    let kernels = manifest.kernels.iter().map(|kernel| Declared {
        symbol: kernel.symbol.clone(),
        doc: format!("{}{}", doc(manifest.layout, kernel.role), other_shape(manifest, kernel)),
        args: declarations(&kernel.args, &Types::new(manifest), &dialect, ");"),
    });
    let view = Header {
        banner: banner::origin(method, &banner::options(manifest)),
        spec: spec.clone(),
        abi: manifest.abi,
        about: match manifest.layout {
            Layout::Blocks => ABOUT_BLOCKS.into(),
            Layout::Soa if method.derivatives.is_some() => [ABOUT_SOA, ABOUT_DERIVATIVES].concat(),
            Layout::Soa => ABOUT_SOA.into(),
        },
        constants: constants(manifest, &upper),
        directions: directions.collect(),
        velocities: manifest.directions.iter().map(velocity).collect(),
        weights: list(&manifest.directions.iter().map(weight).collect::<Vec<_>>()),
        opposites: list(&opposites),
        dim: manifest.dim,
        blocks: (manifest.layout == Layout::Blocks).then(|| blocks(manifest)),
        params: Params::new(manifest),
        kernels: kernels.collect(),
        upper,
    };
    File { name: format!("{spec}.h"), text: render(&dialect, &Storage::WHOLE, "kernels.h", HEADER, &view) }
}

/// The launch shape of a kernel that has not the one which the constants tell.
fn other_shape(manifest: &Manifest, kernel: &Kernel) -> String {
    let usual = manifest.kernel(Role::StreamCollide).expect("every bundle streams");
    let is_usual = (usual.threads, usual.items_per_group) == (kernel.threads, kernel.items_per_group);
    let shared = match kernel.shared {
        0 => String::new(),
        bytes => format!(" CUDA: {bytes} bytes of dynamic shared memory."),
    };
    if manifest.layout == Layout::Soa || kernel.role == Role::Collide || is_usual {
        return shared;
    }
    let passes = match kernel.passes {
        1 => String::new(),
        passes => format!(", {passes} of them along y"),
    };
    format!(
        " CUDA: thread blocks of {}, each for {} of `{}`{passes}.{shared}",
        kernel.threads, kernel.items_per_group, kernel.args[0].name
    )
}

fn blocks(manifest: &Manifest) -> Blocks {
    let [bx, by, _] = manifest.block;
    let halves = manifest.first_in_halves();
    Blocks {
        half_scale: (manifest.real == Real::F16F32).then(|| format!("{HALF_SCALE:?}f")),
        rests: manifest.directions.iter().map(rest).collect::<Vec<_>>().join(", "),
        field_names: Comment::new(&manifest.component_names().join(", ")),
        bx,
        by,
        rows: manifest.rows(),
        row: halves
            .map_or("direction".into(), |first| format!("(direction < {first} ? direction : 2 * direction - {first})")),
        halves,
        cells: manifest.cells(),
        pitch: manifest.pitch_of(Target::C),
        fields: manifest.field_components(),
    }
}

/// Constants with what they are.
fn constants(manifest: &Manifest, upper: &str) -> Vec<String> {
    let [bx, by, bz] = manifest.block.map(|side| side as usize);
    let shape = |role| manifest.kernel(role).map_or((0, 0), |kernel| (kernel.threads, kernel.items_per_group));
    let (threads, slots) = shape(Role::StreamCollide);
    let (collide_threads, _) = shape(Role::Collide);
    let mut all = vec![
        ("DIM", manifest.dim as usize, "axes"),
        ("Q", manifest.q(), "directions"),
        ("FIELDS", manifest.field_components(), "components of the macroscopic fields"),
    ];
    let sides = [("BX", bx), ("BY", by), ("BZ", bz)];
    match manifest.layout {
        Layout::Blocks => {
            all.extend(sides.map(|(name, side)| (name, side, "cells of a block along this axis")));
            all.extend([
                ("CELLS", manifest.cells(), "cells of a block"),
                ("NEAR", 3usize.pow(manifest.dim), "neighbours of a block, itself included"),
                ("WALL_VALUES", manifest.wall_stride as usize, "values of a wall"),
                ("THREADS", threads as usize, "CUDA: threads of a thread block"),
                ("SLOTS", slots as usize, "CUDA: slots that a thread block works on"),
            ]);
        }
        Layout::Soa => {
            all.extend(sides.map(|(name, side)| (name, side, "CUDA: threads of a thread block along this axis")))
        }
    }
    all.push(("COLLIDE_THREADS", collide_threads as usize, "CUDA: threads of a thread block of collide, a state each"));
    let rules = manifest.boundaries.iter().zip(rule_constants(manifest));
    let rules = rules.map(|(rule, name)| format!("{upper}_{name} = {},  // in wall_rules", rule.code));
    all.iter().map(|(name, value, what)| format!("{upper}_{name} = {value},  // {what}")).chain(rules).collect()
}
