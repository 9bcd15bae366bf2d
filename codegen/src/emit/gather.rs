//! Fills the part of a [`View`](super::view::View) that is about kernels of cells which gather what arrives in them.
//!
//! Such a kernel is an action with sources of values. Neighbours are always one; the text is written once, for all of them.

use lbm_bundle::{Manifest, Role};

use super::view::{Gather, Kernel};
use crate::lower::signature::in_pairs;

/// Where values come from, beside neighbours.
#[derive(Default)]
struct Sources {
    /// The cell itself, and no neighbour.
    stored: bool,
    /// Walls of the domain.
    walls: bool,
    /// The inbox, which has what comes from other levels.
    inbox: bool,
    /// Links that solids cut.
    links: bool,
}

/// Whether a kernel collides what it gathers or exposes what neighbours read, and its sources; nothing of one that does not gather.
fn product(role: Role) -> Option<(bool, Sources)> {
    let of = |walls, inbox, links| Sources { stored: false, walls, inbox, links };
    Some(match role {
        Role::StreamCollide => (false, of(false, false, false)),
        Role::StreamCollideWalls => (false, of(true, false, false)),
        Role::StreamCollideInterface => (false, of(false, true, false)),
        Role::StreamCollideInterfaceWalls => (false, of(true, true, false)),
        Role::StreamCollideSolid => (false, of(true, false, true)),
        Role::Expose => (true, of(false, false, false)),
        Role::ExposeWalls => (true, of(true, false, false)),
        Role::ExposeInterface => (true, of(false, true, false)),
        Role::ExposeInterfaceWalls => (true, of(true, true, false)),
        Role::ExposeSolid => (true, of(true, false, true)),
        Role::ExposeStored => (true, Sources { stored: true, ..Sources::default() }),
        _ => return None,
    })
}

/// Whether a kernel gathers; on the host it has a loop over the rows of a block then.
pub fn gathers(role: Role) -> bool {
    product(role).is_some()
}

/// Whether a kernel of the host stores past the caches, of which it must tell other threads.
pub fn stores_past_caches(role: Role) -> bool {
    product(role).is_some_and(|(exposes, sources)| !exposes && !sources.links)
}

/// All kernels that gather, in the order of the manifest; `kernel` gives the signature of a role. `lines`: the host collides rows where they
/// lie.
pub fn view(manifest: &Manifest, lines: bool, kernel: impl Fn(Role) -> Kernel) -> Vec<Gather> {
    let mut defined: Vec<&str> = Vec::new();
    let nodes = manifest.boundaries.iter().any(|boundary| boundary.nodes);
    let roles = manifest.kernels.iter().filter_map(|kernel| Some((kernel.role, product(kernel.role)?)));
    let found = roles.map(|(role, (exposes, Sources { stored, walls, inbox, links }))| {
        let function = match (walls, inbox) {
            (false, false) => "gather",
            (true, false) => "gather_walls",
            (false, true) => "gather_inbox",
            (true, true) => "gather_inbox_walls",
        };
        let defines = !stored && !defined.contains(&function);
        if defines {
            defined.push(function);
        }
        Gather {
            signature: kernel(role),
            alone: !walls && !inbox,
            stored,
            walls,
            inbox,
            links,
            exposes,
            nodes: walls && nodes,
            fast: role == Role::StreamCollide
                && if manifest.target.is_gpu() { in_pairs(manifest, role) } else { lines },
            gather: function,
            defines,
        }
    });
    found.collect()
}
