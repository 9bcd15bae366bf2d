//! How a thread of a CUDA kernel finds its work: from the launch shape in the signature of the kernel, and nothing else.

use lbm_bundle::{Kernel as Signature, Layout, Manifest, Role};

use super::view::Work;
use crate::lower::signature::in_pairs;

/// The statements around what a thread does. Thread block b has `items_per_group` items from `b * items_per_group` on: a state
/// for each thread; or cells, one for each thread; or shares, or blocks, one for all threads; or blocks, a cell for each
/// thread, or the cells of one in turn if there are fewer threads, or two cells of a row for each thread.
pub fn work(manifest: &Manifest, signature: &Signature) -> Work {
    if manifest.layout == Layout::Soa {
        return Work::default();
    }
    let (threads, items, cells) = (signature.threads, signature.items_per_group, manifest.cells() as u32);
    let item = match items {
        1 => "const int item = blockIdx.x;".to_string(),
        _ => format!("const int item = blockIdx.x * {items} + threadIdx.x / CELLS;"),
    };
    let (shape, lines): (bool, Vec<String>) = match signature.role {
        Role::Collide => (
            threads == items,
            vec![
                format!("const int state = blockIdx.x * {items} + threadIdx.x;"),
                "if (state >= count) return;".into(),
            ],
        ),
        Role::Refill => (
            threads == items,
            vec![
                format!("const int place = blockIdx.x * {items} + threadIdx.x;"),
                "if (place >= count) return;".into(),
                "const int item = items[place];".into(),
            ],
        ),
        Role::ToFine | Role::ToCoarse => (
            threads == items && signature.passes == manifest.q() as u32,
            vec![
                format!("const int place = place_of_block(), item = place % gridDim.x * {items} + threadIdx.x;"),
                "const int cell = item < count ? cells[item] : 0, direction = place / gridDim.x;".into(),
            ],
        ),
        Role::Force | Role::Look | Role::Sums | Role::Means => (
            items == 1,
            vec![
                item,
                "if (item >= count) return;".into(),
                "const int thread = threadIdx.x, share = shares[item];".into(),
                "const int begin = share * per, end = begin + per < size ? begin + per : size;".into(),
            ],
        ),
        Role::InterfaceMasks
        | Role::InterfaceCells
        | Role::ToFineWalls
        | Role::ToCoarseWalls
        | Role::StreamCollideSolid => (
            items == 1,
            vec![item, "if (item >= count) return;".into(), "const int thread = threadIdx.x, slot = ids[item];".into()],
        ),
        role if in_pairs(manifest, role) => (
            threads == items * cells / 2,
            vec![
                format!("const int item = blockIdx.x * {items} + threadIdx.x / (CELLS / 2);"),
                "if (item >= count) return;".into(),
                "const int slot = ids[item];".into(),
                "const int cell = 2 * (threadIdx.x % (CELLS / 2));  // and the next".into(),
            ],
        ),
        _ => (
            threads == items * cells || (items == 1 && threads < cells),
            vec![
                item,
                "if (item >= count) return;".into(),
                "const int slot = ids[item];".into(),
                match items {
                    _ if threads < cells => format!("for (int cell = threadIdx.x; cell < CELLS; cell += {threads}) {{"),
                    1 => "const int cell = threadIdx.x;".into(),
                    _ => "const int cell = threadIdx.x % CELLS;".into(),
                },
            ],
        ),
    };
    assert!(shape, "{} threads for {items} items: no kernel does that", signature.symbol);
    let loops = lines.last().is_some_and(|line| line.ends_with('{'));
    if loops {
        Work { begin: lines, end: vec!["}  // cells".into()], indent: 4, skip: "continue" }
    } else {
        Work { begin: lines, skip: "return", ..Work::default() }
    }
}
