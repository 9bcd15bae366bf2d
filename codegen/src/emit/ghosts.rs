//! Fills the part of a [`View`](super::view::View) that is about ghosts.

use lbm_bundle::{Manifest, Role};

use super::arithmetic::{formulas, idle};
use super::method::{Interface, Method, PointSet};
use super::number::literal;
use super::text::Comment;
use super::view::{GhostKernel, Ghosts, Kernel, Pass, PointSet as Points};
use crate::ir::Plan;

/// The kernels of a coupling of ghosts; `kernel` gives the signature of a role. None for a coupling of packets.
pub fn view(method: &Method, interface: &Interface, kernel: impl Fn(Role, Option<&Plan>) -> Kernel) -> Option<Ghosts> {
    let rescaled = interface.rescaled.as_ref()?;
    let manifest = method.manifest;
    let dim = manifest.dim as usize;
    let layers = manifest.coupling.as_ref()?.ghosts;
    let stencil = &interface.stencils[rescaled.stencil];
    let most = stencil.sets.iter().map(|set| set.points.len()).max().unwrap_or(1);
    let pass = |at: usize| Pass { at, number: at + 1, below: function(at) };
    let of_role = |role| kernel(role, None);
    Some(Ghosts {
        kernels: [(Role::StreamCollideGhosts, false), (Role::StreamCollideGhostsWalls, true)]
            .into_iter()
            .filter(|(role, _)| manifest.kernel(*role).is_some())
            .map(|(role, walls)| GhostKernel { signature: of_role(role), walls })
            .collect(),
        layers,
        reach: reach(layers),
        restrict: of_role(Role::Restrict),
        send: of_role(Role::Send),
        prolong: of_role(Role::Prolong),
        hold: of_role(Role::Hold),
        keep: of_role(Role::Keep),
        fine: formulas(manifest, rescaled.fine),
        coarse: formulas(manifest, rescaled.coarse),
        unused_fine: idle(manifest, rescaled.fine),
        unused_coarse: idle(manifest, rescaled.coarse),
        stencil: Comment::new(stencil.name),
        sets: stencil.sets.iter().map(|set| points(manifest, set, most)).collect(),
        most,
        samples: most.pow(manifest.dim),
        axes: (0..dim).map(pass).collect(),
        top: function(dim),
    })
}

/// Layers of coarse cells that so many fine ones cover.
pub fn reach(layers: u32) -> u32 {
    layers.div_ceil(2)
}

/// Name of the function for what the passes along the first axes give.
fn function(axes: usize) -> String {
    if axes == 0 { "sample".into() } else { format!("sample_{axes}") }
}

/// Points and weights, as many as the largest set has.
fn points(manifest: &Manifest, set: &PointSet, most: usize) -> Points {
    let list = |values: Vec<String>| {
        let missing = most - values.len();
        values.into_iter().chain(std::iter::repeat_n("0".to_string(), missing)).collect::<Vec<_>>().join(", ")
    };
    Points {
        count: set.points.len(),
        points: list(set.points.iter().map(i64::to_string).collect()),
        weights: list(set.weights.iter().map(|weight| literal(weight, manifest.real)).collect()),
    }
}
