//! What a kernel is done for, item by item, and how a target comes from one to the next: in a loop on the host; on a GPU in a thread for
//! each, which finds its item from the launch shape in the signature of the kernel, and nothing else.

use lbm_bundle::{Kernel as Signature, Layout, Manifest, Role, Target};

use super::gather;
use super::view::Work;
use crate::lower::signature::in_pairs;

/// What a kernel is done for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Items {
    /// Nothing in particular: it is done once.
    Once,
    /// Entries of a list: each is `at`.
    Entries,
    /// States, which lie in no block: each is `state`.
    States,
    /// What solids have left, or what crosses refinement interfaces backwards, by a list of numbers: each is `item`.
    Left,
    /// Cells of listed blocks: `cell` of `slot`.
    Cells,
    /// Cells of listed blocks that gather what arrives: on a GPU, `cell` of `slot`; the host has a loop over the rows of `slot`.
    Gathered,
    /// Two cells of a row each: `cell` of `slot`, and the next.
    Pairs,
    /// All values of listed blocks, which are copied: those of `slot`; on a GPU, those of its `cell`.
    Copies,
    /// Parts of a list, blocks `begin` to `end` of it: each is `chunk`, of which `thread` of `threads` does its part.
    Chunks,
    /// Listed blocks, each a task of threads that wait for each other: `thread` has a part in `slot`.
    Blocks,
    /// Listed blocks, of each of which all cells have one result: `thread` of `threads` does its part of those in `slot`.
    Results,
    /// Listed cells and directions: `direction` of `cell`.
    Sends,
}

/// How a GPU is given the items of a kernel.
#[derive(Clone, Copy, Debug)]
pub struct Launch {
    /// Threads of a thread block.
    pub threads: u32,
    /// Items of a thread block.
    pub group: u32,
    /// Cells of a block.
    pub cells: u32,
}

impl Items {
    fn of(manifest: &Manifest, role: Role) -> Items {
        match role {
            role if gather::goes_by_rows(role) && !manifest.target.is_gpu() => Items::Gathered,
            role if in_pairs(manifest, role) => Items::Pairs,
            Role::Collide => Items::States,
            Role::Refill | Role::ReceiveAdjoint | Role::CrossAdjoint | Role::ReturnAdjoint => Items::Left,
            Role::Slide => Items::Results,
            Role::ToFine | Role::ToCoarse => Items::Sends,
            Role::Force | Role::CheckFields | Role::Sums | Role::Means => Items::Chunks,
            Role::InterfaceMasks
            | Role::InterfaceCells
            | Role::ToFineWalls
            | Role::ToCoarseWalls
            | Role::ExposeAcross
            | Role::StreamCollideSolid
            | Role::StreamCollideInterfaceSolid => Items::Blocks,
            Role::Relocate | Role::RelocateFields | Role::Keep => Items::Copies,
            role if gather::gathers(role) => Items::Gathered,
            _ => Items::Cells,
        }
    }
}

/// What of a block says that one of its cells may have something to do; nothing where all have, or where threads ask for their cells alone.
fn may_have_some(role: Role, target: Target) -> Option<&'static str> {
    match (role, target.is_gpu()) {
        (Role::Restrict | Role::Prolong, false) => Some("sides[slot] != 0"),
        (Role::Send, _) => Some("is_sampled(slot, neighbours, sides, first_covered)"),
        _ => None,
    }
}

/// The statements around what a kernel of a method does for an item.
pub fn work(manifest: &Manifest, signature: &Signature) -> Work {
    let items = Items::of(manifest, signature.role);
    if manifest.layout == Layout::Soa {
        return Work::default();
    }
    let Signature { threads, items_per_group: group, .. } = *signature;
    assert!(items != Items::Sends || signature.passes == manifest.q() as u32, "a direction each");
    let launch = Launch { threads, group, cells: manifest.cells() as u32 };
    let mut work = around(manifest.target, items, launch, may_have_some(signature.role, manifest.target));
    if !manifest.target.is_gpu() && gather::stores_past_caches(signature.role) {
        work.end.push("settle();".into());
    }
    work
}

/// The statements around what a kernel does for an item, in a block that has `some`.
pub fn around(target: Target, items: Items, launch: Launch, some: Option<&str>) -> Work {
    if target.is_gpu() { side_by_side(items, launch, some) } else { one_after_the_other(items, some) }
}

fn one_after_the_other(items: Items, some: Option<&str>) -> Work {
    let each = "for (int32_t item = 0; item < count; ++item) {";
    let slot = "    const int32_t slot = ids[item];";
    let begin = match items {
        Items::Once => return Work::default(),
        Items::Entries => vec!["for (int32_t at = 0; at < count; ++at) {"],
        Items::Results | Items::Blocks => vec![each, slot, "    const int thread = 0, threads = 1;"],
        Items::States => vec!["for (int32_t state = 0; state < count; ++state) {"],
        Items::Left => {
            vec!["for (int32_t place = 0; place < count; ++place) {", "    const int32_t item = items[place];"]
        }
        Items::Chunks => vec![
            each,
            "    const int32_t chunk = chunks[item], begin = chunk * per, end = begin + per < size ? begin + per : size;",
            "    const int thread = 0, threads = 1;",
        ],
        Items::Copies | Items::Gathered => vec![each, slot],
        Items::Cells => vec![each, slot, "    for (int cell = 0; cell < CELLS; ++cell) {"],
        Items::Sends => vec![each, "    const int32_t cell = cells[item];"],
        Items::Pairs => unreachable!("a GPU's"),
    };
    let mut begin: Vec<String> = begin.into_iter().map(String::from).collect();
    if let Some(some) = some {
        begin.insert(2, format!("    if (!({some})) continue;"));
    }
    let end: &[&str] = match items {
        Items::Cells => &["    }  // cells", "}  // blocks"],
        Items::Gathered | Items::Blocks => &["}  // blocks"],
        _ => &["}"],
    };
    Work { begin, end: end.iter().map(|line| line.to_string()).collect(), indent: 4 * end.len(), skip: "continue" }
}

/// Thread block b has `items_per_group` items from `b * items_per_group` on: a state for each thread; or cells, one for each thread; or
/// chunks, or blocks, one for all threads; or blocks, a cell for each thread, or the cells of one in turn if there are fewer threads, or two
/// cells of a row for each thread.
fn side_by_side(items: Items, Launch { threads, group, cells }: Launch, some: Option<&str>) -> Work {
    let item = match group {
        1 => "const int item = blockIdx.x;".to_string(),
        _ => format!("const int item = blockIdx.x * {group} + threadIdx.x / CELLS;"),
    };
    let (shape, mut lines): (bool, Vec<String>) = match items {
        Items::Once => (true, vec!["if (blockIdx.x > 0 || threadIdx.x > 0) return;".into()]),
        Items::Entries => (
            threads == group,
            vec![format!("const int at = blockIdx.x * {group} + threadIdx.x;"), "if (at >= count) return;".into()],
        ),
        Items::Results => (
            group == 1,
            vec![
                item,
                "if (item >= count) return;".into(),
                format!("constexpr int threads = {threads};"),
                "const int thread = threadIdx.x, slot = ids[item];".into(),
            ],
        ),
        Items::States => (
            threads == group,
            vec![
                format!("const int state = blockIdx.x * {group} + threadIdx.x;"),
                "if (state >= count) return;".into(),
            ],
        ),
        Items::Left => (
            threads == group,
            vec![
                format!("const int place = blockIdx.x * {group} + threadIdx.x;"),
                "if (place >= count) return;".into(),
                "const int item = items[place];".into(),
            ],
        ),
        Items::Sends => (
            threads == group,
            vec![
                format!("const int place = place_of_block(), item = place % gridDim.x * {group} + threadIdx.x;"),
                "const int cell = item < count ? cells[item] : 0, direction = place / gridDim.x;".into(),
            ],
        ),
        Items::Chunks => (
            group == 1,
            vec![
                item,
                "if (item >= count) return;".into(),
                format!("constexpr int threads = {threads};"),
                "const int thread = threadIdx.x, chunk = chunks[item];".into(),
                "const int begin = chunk * per, end = begin + per < size ? begin + per : size;".into(),
            ],
        ),
        Items::Blocks => (
            group == 1,
            vec![
                item,
                "if (item >= count) return;".into(),
                format!("constexpr int threads = {threads};"),
                "const int thread = threadIdx.x, slot = ids[item];".into(),
            ],
        ),
        Items::Pairs => (
            threads == group * cells / 2,
            vec![
                format!("const int item = blockIdx.x * {group} + threadIdx.x / (CELLS / 2);"),
                "if (item >= count) return;".into(),
                "const int slot = ids[item];".into(),
                "const int cell = 2 * (threadIdx.x % (CELLS / 2));  // and the next".into(),
            ],
        ),
        Items::Cells | Items::Copies | Items::Gathered => (
            threads == group * cells || (group == 1 && threads < cells),
            vec![
                item,
                "if (item >= count) return;".into(),
                "const int slot = ids[item];".into(),
                match group {
                    _ if threads < cells => format!("for (int cell = threadIdx.x; cell < CELLS; cell += {threads}) {{"),
                    1 => "const int cell = threadIdx.x;".into(),
                    _ => "const int cell = threadIdx.x % CELLS;".into(),
                },
            ],
        ),
    };
    if let Some(some) = some {
        lines.insert(3, format!("if (!({some})) return;"));
    }
    assert!(shape, "{threads} threads for {group} of {items:?}: no kernel does that");
    let loops = lines.last().is_some_and(|line| line.ends_with('{'));
    if loops {
        Work { begin: lines, end: vec!["}  // cells".into()], indent: 4, skip: "continue" }
    } else {
        Work { begin: lines, skip: "return", ..Work::default() }
    }
}
