//! What a bundle is printed from: the arithmetic of a method beside its manifest.

use lbm_bundle::{Cost, Manifest, Role};
use lbm_dsl::expr::{Rational, Symbol};

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
    /// Arithmetic of moments that are stored in the place of populations.
    pub moments: Option<Moments<'a>>,
    /// Arithmetic of `init`.
    pub init: &'a Plan,
    /// Arithmetic of `macroscopic`.
    pub macroscopic: &'a Plan,
    /// Arithmetic of the derivatives of `collide`, if they are wanted.
    pub derivatives: Option<Derivatives<'a>>,
    /// Arithmetic of the boundary rules, in the order of their codes.
    pub walls: Vec<Wall<'a>>,
    /// Arithmetic of what cells show to those around them, if they do.
    pub around: Option<Around<'a>>,
    /// Arithmetic of what crosses refinement interfaces, if it is wanted.
    pub interface: Option<Interface<'a>>,
    /// For each boundary rule of nodes that fits surfaces of solids, its arithmetic on links.
    pub turned: Vec<Option<&'a Plan>>,
}

/// Arithmetic of the derivatives of a step.
pub struct Derivatives<'a> {
    /// Changes of populations from changes of those before and of parameters.
    pub tangent: &'a Plan,
    /// Derivatives by populations, from those by populations after the collision.
    pub adjoint: &'a Plan,
    /// The same, and derivatives by parameters.
    pub adjoint_parameters: &'a Plan,
    /// Derivatives by populations and parameters, from those by fields.
    pub of_fields: &'a Plan,
    /// Of each boundary rule, in the order of their codes, for each direction; nothing on plain arrays.
    pub links: Vec<Vec<OfLink<'a>>>,
}

/// Arithmetic of derivatives by what a wall makes of something that it sends along a direction.
pub struct OfLink<'a> {
    /// What the outputs are derivatives by: populations of the cell and values of the wall.
    pub by: &'a [Symbol],
    /// From `weight`, the derivative by what is sent.
    pub plan: &'a Plan,
    /// The derivative by what arrives in the cell along the opposite direction, if the rule reads it.
    pub streamed: Option<&'a Plan>,
}

/// Arithmetic of moments that are stored in the place of populations. `collide` of the method gives moments from moments then.
pub struct Moments<'a> {
    /// Populations after a collision from the moments after it.
    pub populations: &'a Plan,
}

/// Arithmetic of what cells show to those around them.
pub struct Around<'a> {
    /// What a cell shows, from its populations.
    pub expose: &'a Plan,
    /// The same from populations as they are stored.
    pub expose_stored: &'a Plan,
    /// For each boundary rule, what is beyond the wall, from what the image of that place has.
    pub beyond: Vec<&'a Plan>,
}

/// Arithmetic of a coupling.
pub struct Interface<'a> {
    /// What the packets of each population carry; nothing for a coupling of ghosts.
    pub packets: Vec<&'a Plan>,
    /// What those of several populations are made of, if there is such.
    pub shared: Option<&'a Plan>,
    /// What a child of a refined cell has, and what a cell has that takes the place of its children.
    pub transfer: [&'a Plan; 2],
    /// What ghosts and covered cells are given, for a coupling of ghosts.
    pub rescaled: Option<Rescaled<'a>>,
    /// All stencils of the method, of which packets and ghosts know the positions.
    pub stencils: Vec<Stencil<'a>>,
}

/// Arithmetic of a coupling of ghosts.
pub struct Rescaled<'a> {
    /// Position of the stencil that interpolates.
    pub stencil: usize,
    /// What is interpolated, from the populations of a coarse cell.
    pub fine: &'a Plan,
    /// What is averaged, from those of a fine cell.
    pub coarse: &'a Plan,
}

/// A stencil along one axis.
pub struct Stencil<'a> {
    /// Name.
    pub name: &'a str,
    /// The comment that documents it; may be empty.
    pub doc: &'a str,
    /// Its sets of points in order of preference.
    pub sets: Vec<PointSet<'a>>,
}

/// Points of a stencil.
pub struct PointSet<'a> {
    /// Where they are, in cells.
    pub points: &'a [i64],
    /// The weight of each.
    pub weights: &'a [Rational],
    /// The weighted sum, where that is a slope.
    pub slope: Option<&'a Plan>,
}

/// Arithmetic of a boundary rule.
pub enum Wall<'a> {
    /// Of links.
    Link(&'a Plan),
    /// Of nodes: for one wall, two that meet, and so on.
    Node(Vec<NodeForm<'a>>),
}

/// Arithmetic of a rule of nodes where some walls meet; its outputs are populations in the frame of the walls.
pub struct NodeForm<'a> {
    /// `face`, `edge` or `corner`.
    pub name: &'static str,
    /// How many walls meet.
    pub walls: usize,
    /// The arithmetic.
    pub plan: &'a Plan,
}

impl<'a> Method<'a> {
    /// Arithmetic of a role.
    pub fn plan(&self, role: Role) -> &'a Plan {
        match (role, &self.derivatives) {
            (Role::Init, _) => self.init,
            (Role::Macroscopic, _) => self.macroscopic,
            (Role::StreamCollideTangent, Some(own)) => own.tangent,
            (Role::StreamCollideAdjoint, Some(own)) => own.adjoint,
            (Role::StreamCollideAdjointParameters, Some(own)) => own.adjoint_parameters,
            _ => self.collide,
        }
    }
}
