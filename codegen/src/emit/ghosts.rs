//! What templates print of ghosts.

use lbm_bundle::{Manifest, Role};
use serde::Serialize;

use super::arithmetic::{formulas, idle};
use super::method::{Interface, Method, PointSet};
use super::number::literal;
use super::text::Comment;
use super::view::{Formulas, Kernel};
use crate::ir::Plan;

/// Kernels and formulas of a coupling of ghosts.
#[derive(Debug, Serialize)]
pub struct Ghosts {
    /// The step of blocks at refinement interfaces: away from walls, then beside walls if the method has rules, then with cut links.
    pub kernels: Vec<GhostKernel>,
    /// Layers of ghosts, in fine cells.
    pub layers: u32,
    /// The same in coarse cells.
    pub reach: u32,
    /// Means over cells that refine one.
    pub restrict: Kernel,
    /// What is to be interpolated.
    pub send: Kernel,
    /// Ghosts.
    pub prolong: Kernel,
    /// What refined blocks hold, from finer ones.
    pub hold: Kernel,
    /// The same while they are being refined.
    pub keep: Kernel,
    /// From populations of a coarse cell to what is interpolated.
    pub fine: Formulas,
    /// From populations of a fine cell to what is averaged.
    pub coarse: Formulas,
    /// Statements that keep compilers from complaining of parameters that the first does not use.
    pub unused_fine: Vec<String>,
    /// The same for the second.
    pub unused_coarse: Vec<String>,
    /// States that the place of a cell alone says: ghosts have their own.
    pub places: Vec<usize>,
    /// Name of the stencil.
    pub stencil: Comment,
    /// Its sets of points in order of preference.
    pub sets: Vec<Points>,
    /// Points of the largest of them.
    pub most: usize,
    /// Most samples of a ghost.
    pub samples: usize,
    /// Passes, x first.
    pub axes: Vec<Pass>,
    /// Name of the last of them.
    pub top: String,
}

/// A kernel that steps blocks at refinement interfaces.
#[derive(Debug, Serialize)]
pub struct GhostKernel {
    /// Symbol and arguments.
    pub signature: Kernel,
    /// Whether it is that beside walls.
    pub walls: bool,
    /// Whether links may be cut.
    pub links: bool,
}

/// Points of a stencil and their weights.
#[derive(Debug, Serialize)]
pub struct Points {
    /// How many there are.
    pub count: usize,
    /// Where they are, in cells towards the child.
    pub points: String,
    /// Their weights.
    pub weights: String,
}

/// A pass of a stencil along an axis.
#[derive(Debug, Serialize)]
pub struct Pass {
    /// The axis.
    pub at: usize,
    /// One more.
    pub number: usize,
    /// Name of the function for what its samples are.
    pub below: String,
}

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
    let step = |role: Role| {
        let (_, sources) = role.gathers().filter(|(_, sources)| sources.ghosts)?;
        Some(GhostKernel { signature: of_role(role), walls: sources.walls, links: sources.links })
    };
    Some(Ghosts {
        kernels: manifest.kernels.iter().filter_map(|kernel| step(kernel.role)).collect(),
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
        places: places(manifest),
        stencil: Comment::new(stencil.name),
        sets: stencil.sets.iter().map(|set| points(manifest, set, most)).collect(),
        most,
        samples: most.pow(manifest.dim),
        axes: (0..dim).map(pass).collect(),
        top: function(dim),
    })
}

/// Where cells have the states that fields set at the start and nothing changes later.
fn places(manifest: &Manifest) -> Vec<usize> {
    let first = manifest.q() - manifest.states.len();
    let is_place = |name: &str| manifest.fields.iter().any(|field| field.place && field.name == name);
    let states = manifest.states.iter().enumerate().filter(|(_, state)| is_place(&state.name));
    states.map(|(at, _)| first + at).collect()
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
