//! What a file says about the jump between two levels of refinement.

use super::{Assign, Expr, Let, Name};
use crate::source::Span;

/// An interpolation stencil along one axis.
#[derive(Clone, Debug)]
pub struct StencilDef {
    /// Its name.
    pub name: Name,
    /// `space 1, x, x^2;`, the polynomials that it is exact for.
    pub space: Vec<Expr>,
    /// What it gives.
    pub target: Target,
    /// Where `target` stands.
    pub target_span: Span,
    /// Sample points in order of preference.
    pub sets: Vec<Points>,
    /// The comment that documents it.
    pub doc: String,
}

/// What a stencil gives.
#[derive(Clone, Debug)]
pub enum Target {
    /// `value at 1/4;`
    Value(Expr),
    /// `derivative at 0;`
    Derivative(Expr),
    /// `mean over (0, 1/2);`
    Mean(Expr, Expr),
}

/// `points -1, 0, 1;`
#[derive(Clone, Debug)]
pub struct Points {
    /// A position each.
    pub at: Vec<Expr>,
    /// Where it stands.
    pub span: Span,
}

/// What crosses a level jump.
#[derive(Clone, Debug)]
pub struct CouplingDef {
    /// Its name.
    pub name: Name,
    /// Statements in order.
    pub statements: Vec<Statement>,
    /// The comment that documents it.
    pub doc: String,
}

/// A statement of a coupling.
#[derive(Clone, Debug)]
pub enum Statement {
    /// `rate omega <- ...;`: a parameter of the method, and its value on the next finer level.
    Rate(Name, Expr),
    /// `let h = ...;`
    Let(Let),
    /// `packet f[i] <- ...;`
    Packet(Assign),
    /// `ghosts 2;`
    Ghosts(Expr),
    /// `fine f[i] <- cubic(...);`
    Fine(Assign),
    /// `coarse f[i] <- mean(...);`
    Coarse(Assign),
    /// `refine f[i] <- ...;`
    Refine(Assign),
    /// `coarsen f[i] <- ...;`
    Coarsen(Assign),
}
