//! In: the [`Plan`] of each kernel and the [`Manifest`] with their signatures. Out: the files of a bundle.
//!
//! After: the text is finished. Rust decides here, the templates only lay out; a number is printed once, by `number`.
//!
//! - `number`, `formula`: constants and expressions as text; `text`: what a spec says in words
//! - `view`: the strings that templates print; `layout`, `walls`, `inbox`, `jump`, `ghosts`, `solids`, `work` and `banner` fill them in
//! - `mesh`: kernels that change the forest, for both targets
//! - `c`, `cuda`, `soa`, `rust`, `bindings`: what differs between the files

mod banner;
mod bindings;
mod c;
mod cuda;
mod formula;
mod ghosts;
mod inbox;
mod jump;
mod layout;
mod mesh;
mod number;
mod rust;
mod soa;
mod solids;
pub mod text;
mod view;
mod walls;
mod work;

pub use mesh::mesh;

use lbm_bundle::{Cost, File, Layout, Manifest, Role, Target};
use lbm_dsl::model::NodeForm;
use lbm_dsl::model::levels::{Coupling, Stencil};
use serde::Serialize;
use tera::{Context, Tera};

use crate::ir::Plan;

/// What a bundle is printed from.
pub struct Method<'a> {
    /// Signatures, layout and costs.
    pub manifest: &'a Manifest,
    /// Name of the spec's file, without folder and ending.
    pub name: &'a str,
    /// The comment that opens the spec, a line each.
    pub summary: &'a [String],
    /// Arithmetic of each role before simplification, for the banner.
    pub as_written: &'a dyn Fn(Role) -> Cost,
    /// Arithmetic of `collide`.
    pub collide: &'a Plan,
    /// Arithmetic of `init`.
    pub init: &'a Plan,
    /// Arithmetic of `macroscopic`.
    pub macroscopic: &'a Plan,
    /// Arithmetic of the boundary rules, in the order of their codes.
    pub walls: Vec<Wall<'a>>,
    /// Arithmetic of what crosses level jumps, if it is wanted.
    pub jump: Option<Jump<'a>>,
    /// For each boundary rule of nodes that fits surfaces of solids, its arithmetic on links.
    pub turned: Vec<Option<&'a Plan>>,
}

/// Arithmetic of a coupling.
pub struct Jump<'a> {
    /// The coupling.
    pub coupling: &'a Coupling,
    /// What the packets of each population carry; nothing for a coupling of ghosts.
    pub packets: Vec<&'a Plan>,
    /// For a coupling of ghosts: what is interpolated, and what is averaged.
    pub rescaled: Option<[&'a Plan; 2]>,
    /// Stencils of the model, with the arithmetic of each set of points.
    pub stencils: Vec<(&'a Stencil, Vec<&'a Plan>)>,
}

/// Arithmetic of a boundary rule.
pub enum Wall<'a> {
    /// Of links.
    Link(&'a Plan),
    /// Of nodes: each form.
    Node(Vec<(&'a NodeForm, &'a Plan)>),
}

impl<'a> Method<'a> {
    /// Arithmetic of a role.
    fn plan(&self, role: Role) -> &'a Plan {
        match role {
            Role::Init => self.init,
            Role::Macroscopic => self.macroscopic,
            _ => self.collide,
        }
    }
}

/// The kernels for the manifest's target and layout.
pub fn source(method: &Method) -> File {
    match (method.manifest.layout, method.manifest.target) {
        (Layout::Blocks, Target::Cuda) => cuda::kernels(method),
        (Layout::Blocks, Target::C) => c::kernels(method),
        (Layout::Soa, Target::Cuda) => soa::cuda(method),
        (Layout::Soa, Target::C) => soa::c(method),
    }
}

/// What embeds the kernels: the C header and the Rust bindings. They are the same for both targets.
pub fn extras(method: &Method) -> Vec<File> {
    vec![c::header(method), bindings::bindings(method)]
}

/// What the kernel templates of both targets include.
const SHARED: [(&str, &str); 15] = [
    ("kernel", include_str!("../../../templates/shared/kernel.c")),
    ("packed", include_str!("../../../templates/shared/packed.c")),
    ("params", include_str!("../../../templates/shared/params.c")),
    ("carry", include_str!("../../../templates/shared/carry.c")),
    ("reduce", include_str!("../../../templates/shared/reduce.c")),
    ("ghosts", include_str!("../../../templates/shared/ghosts.c")),
    ("inbox", include_str!("../../../templates/shared/inbox.c")),
    ("jump", include_str!("../../../templates/shared/jump.c")),
    ("cells", include_str!("../../../templates/shared/cells.c")),
    ("walls", include_str!("../../../templates/shared/walls.c")),
    ("rule", include_str!("../../../templates/shared/rule.c")),
    ("arrives", include_str!("../../../templates/shared/arrives.c")),
    ("slope", include_str!("../../../templates/shared/slope.c")),
    ("nodes", include_str!("../../../templates/shared/nodes.c")),
    ("solids", include_str!("../../../templates/shared/solids.c")),
];

/// Renders the last of some templates, which may use the others, with a view: all are ours and do not depend on what a user writes, so
/// failure is our bug.
fn render(templates: &[(&str, &str)], view: &impl Serialize) -> String {
    let name = templates.last().expect("a template").0;
    let mut tera = Tera::new();
    let text = tera
        .add_raw_templates(SHARED.iter().chain(templates).copied())
        .and_then(|()| tera.render(name, &Context::from_serialize(view)?))
        .unwrap_or_else(|error| panic!("template {name}: {error:?}"));
    let lines: Vec<&str> = text.lines().map(str::trim_end).collect();
    lines.join("\n").trim().to_string() + "\n"
}
