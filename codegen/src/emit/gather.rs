//! What templates print of kernels of cells which gather what arrives in them.
//!
//! Such a kernel is an action with sources of values; the text is written once, for all of them.

use lbm_bundle::{Action, Manifest, Role, Sources};
use serde::Serialize;

use super::view::Kernel;
use crate::lower::signature::in_pairs;

/// A kernel that gathers what arrives in cells.
#[derive(Debug, Serialize)]
pub struct Gather {
    /// Symbol and arguments.
    pub signature: Kernel,
    /// Whether all comes from neighbours.
    pub alone: bool,
    /// Whether nothing streams: what cells have is read where it is stored.
    pub stored: bool,
    /// Whether there may be walls in the place of neighbours.
    pub walls: bool,
    /// Whether something may come from the inbox.
    pub inbox: bool,
    /// Whether something may come off solids.
    pub links: bool,
    /// Whether it collides.
    pub collides: bool,
    /// Whether it stores what neighbours read.
    pub exposes: bool,
    /// Whether it computes what neighbours show itself, and collides.
    pub in_one_pass: bool,
    /// Whether it makes derivatives of those that neighbours have.
    pub steps_back: bool,
    /// How it works in the only set of populations, if it does: `out`, `back` or `bring`.
    pub in_place: Option<&'static str>,
    /// Whether rules of nodes replace some of what is gathered.
    pub nodes: bool,
    /// Whether the target has a form for the whole of it.
    pub fast: bool,
    /// C: name of the function that gathers a direction.
    pub gather: &'static str,
    /// C: whether it is the first that needs that function.
    pub defines: bool,
}

/// The action and the sources of a kernel whose text is here; that of those which read ghosts is elsewhere.
fn product(role: Role) -> Option<(Action, Sources)> {
    role.gathers().filter(|(_, sources)| !sources.ghosts)
}

/// Whether a kernel gathers.
pub fn gathers(role: Role) -> bool {
    product(role).is_some()
}

/// Whether a kernel of the host has a loop over the rows of a block: those that gather, and those that stream backwards.
pub fn goes_by_rows(role: Role) -> bool {
    gathers(role) || matches!(role, Role::StreamAdjoint | Role::StreamAdjointWalls | Role::StreamAdjointSolid)
}

/// Whether a kernel of the host stores past the caches, of which it must tell other threads.
pub fn stores_past_caches(role: Role) -> bool {
    let past = |action| matches!(action, Action::Collide | Action::StepAdjoint);
    product(role).is_some_and(|(action, sources)| past(action) && !sources.links)
}

/// All kernels that gather, in the order of the manifest; `kernel` gives the signature of a role. `lines`: the host collides rows where they
/// lie.
pub fn view(manifest: &Manifest, lines: bool, kernel: impl Fn(Role) -> Kernel) -> Vec<Gather> {
    let mut defined: Vec<&str> = Vec::new();
    let nodes = manifest.boundaries.iter().any(|boundary| boundary.nodes);
    let roles = manifest.kernels.iter().filter_map(|kernel| Some((kernel.role, product(kernel.role)?)));
    let found = roles.map(|(role, (action, Sources { neighbours, walls, inbox, links, .. }))| {
        let fast = match manifest.target.is_gpu() {
            true => in_pairs(manifest, role),
            false => {
                lines && matches!(role, Role::StreamCollide | Role::StepAdjoint | Role::CollideOut | Role::CollideBack)
            }
        };
        let function = match (walls, inbox) {
            (false, false) if fast => "upwind",
            (false, false) => "gather",
            (true, false) => "gather_walls",
            (false, true) => "gather_inbox",
            (true, true) => "gather_inbox_walls",
        };
        let in_place = match action {
            Action::CollideOut => Some("out"),
            Action::CollideBack => Some("back"),
            Action::BringBack => Some("bring"),
            _ => None,
        };
        let by_rows = in_place.is_none() || action == Action::CollideOut && !walls && !inbox;
        let defines = neighbours && by_rows && !defined.contains(&function);
        if defines {
            defined.push(function);
        }
        Gather {
            signature: kernel(role),
            alone: !walls && !inbox,
            stored: !neighbours,
            walls,
            inbox,
            links,
            collides: matches!(action, Action::Collide | Action::ExposeCollide),
            exposes: action == Action::Expose,
            in_one_pass: action == Action::ExposeCollide,
            steps_back: action == Action::StepAdjoint,
            in_place,
            nodes: walls && nodes,
            fast,
            gather: function,
            defines,
        }
    });
    found.collect()
}
