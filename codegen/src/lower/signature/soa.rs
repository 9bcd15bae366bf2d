//! Signatures of [`Layout::Soa`](lbm_bundle::Layout): those of blocks, with a box of the caller's arrays in the place of
//! lists of slots.

use lbm_bundle::{Arg, ArgType, Kernel, Manifest, Role};

use super::names_of_fields;

/// The manifest of plain arrays from that of blocks. Walls are the caller's: there are no rules.
pub fn manifest(blocks: Manifest) -> Manifest {
    let mut manifest = Manifest {
        boundaries: Vec::new(),
        wall_stride: 0,
        kernels: Vec::new(),
        coupling: None,
        criteria: Vec::new(),
        solid_rules: Vec::new(),
        mirror_rules: Vec::new(),
        one_level_rules: Vec::new(),
        ..blocks.clone()
    };
    let of_cells = [Role::Init, Role::StreamCollide, Role::Macroscopic, Role::Collide];
    let kept = blocks.kernels.into_iter().filter(|kernel| of_cells.contains(&kernel.role));
    manifest.kernels = kept.map(|of_blocks| kernel(&manifest, of_blocks)).collect();
    manifest
}

fn kernel(manifest: &Manifest, of_blocks: Kernel) -> Kernel {
    if of_blocks.role == Role::Collide {
        return of_blocks;
    }
    let threads = manifest.cells() as u32;
    let args = of_blocks.args.iter().filter_map(|arg| match arg.ty {
        ArgType::Ints | ArgType::IntsOut | ArgType::Int | ArgType::Long | ArgType::Doubles | ArgType::DoublesOut => {
            None
        }
        ArgType::Real => Some(arg.clone()),
        ArgType::Reals | ArgType::RealsOut => Some(Arg { doc: array(manifest, of_blocks.role, arg), ..arg.clone() }),
    });
    let args = bounds(manifest).into_iter().chain(args).collect();
    Kernel { args, threads, items_per_group: threads, ..of_blocks }
}

/// Extents and strides of the box.
fn bounds(manifest: &Manifest) -> Vec<Arg> {
    let dim = manifest.dim as usize;
    let arg = |name: String, ty, doc: String| Arg::new(&name, ty, doc);
    let extents = ["x", "y", "z"].map(|axis| arg(format!("n{axis}"), ArgType::Int, format!("cells along {axis}")));
    let stride = |name: &str, doc: &str| arg(format!("stride_{name}"), ArgType::Long, doc.into());
    let strides = [
        stride("y", "values from a cell to the next along y (along x it is 1)"),
        stride("z", "values from a cell to the next along z"),
    ];
    let last = stride("i", "values from a direction (or component of the fields) to the next");
    extents.into_iter().take(dim).chain(strides.into_iter().take(dim - 1)).chain([last]).collect()
}

/// What an array of a kernel holds.
fn array(manifest: &Manifest, role: Role, arg: &Arg) -> String {
    let shape = if manifest.dim == 2 { "[ny][nx]" } else { "[nz][ny][nx]" };
    let populations = format!("populations [{}]{shape}", manifest.q());
    let what = match (role, arg.name.as_str()) {
        (_, "fields") => {
            format!("{} [{}]{shape}", names_of_fields(manifest).join(", "), manifest.field_components())
        }
        (Role::Init, _) => format!("initial {populations}"),
        (Role::StreamCollide, "src") => format!("post-collision {populations} and a layer of ghost cells"),
        (_, "src") => format!("post-collision {populations}"),
        _ => format!("new post-collision {populations}"),
    };
    format!("{what}, lattice units")
}
