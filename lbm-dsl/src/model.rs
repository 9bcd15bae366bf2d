//! A lattice Boltzmann method that is known to be valid.
//!
//! In: what `check` accepts. After: indices are expanded, every formula is a node of one [`Exprs`], every name is unique
//! and usable as an identifier in C, every output is defined, mass and momentum are conserved.
//!
//! Names: a component of `u[a]` is `ux`, `uy`, `uz`; of `pi[a,b]`, `pi_xy`; of `feq[i]`, `feq_7`; of a family over
//! ranges, `m_1_0_2`, a negative index written `n1`.

use crate::expr::{ExprId, Exprs, Rational};
use crate::lattice::Lattice;

/// A named value of a block of formulas.
#[derive(Clone, Debug)]
pub struct Let {
    /// Expanded name: `rho`, `ux`, `feq_7`.
    pub name: String,
    /// Name of the family as written: `rho`, `u`, `feq`.
    pub family: String,
    /// Its value.
    pub value: ExprId,
    /// Line of the spec (or of the file named by `file`) that defines it, from 1.
    pub line: usize,
    /// Name of the source file that defines it, without folder: the spec itself or a prelude file.
    pub file: String,
}

/// A run-time argument.
#[derive(Clone, Debug)]
pub struct Param {
    /// Name as written.
    pub name: String,
    /// Number of components: 1 for a scalar, the dimension for a vector.
    pub components: usize,
    /// Open interval of allowed values, if the spec states one.
    pub range: Option<(Rational, Rational)>,
    /// The comment that documents it, one line; may be empty.
    pub doc: String,
}

/// A macroscopic field: an output of the `macroscopic` kernel and an input of `init`.
#[derive(Clone, Debug)]
pub struct Field {
    /// Name as written.
    pub name: String,
    /// Its components in terms of the populations: 1 for a scalar, the dimension for a vector.
    pub components: Vec<ExprId>,
}

/// Formulas with their named intermediate values.
#[derive(Clone, Debug, Default)]
pub struct Formulas {
    /// Named values in the order written; only those that the outputs need.
    pub lets: Vec<Let>,
    /// One value per output.
    pub outputs: Vec<ExprId>,
}

/// A boundary rule for links: what an unknown population is, from the outgoing ones.
#[derive(Clone, Debug)]
pub struct Boundary {
    /// Name, for example `bounce_back`.
    pub name: String,
    /// Its own parameters, set for each wall.
    pub params: Vec<Param>,
    /// `links[i]`: the population that enters in direction `i`. Symbols are `Population` (post-collision, of the cell
    /// itself, before streaming) and `WallParam`.
    pub links: Vec<ExprId>,
    /// The comment that documents it, one line; may be empty.
    pub doc: String,
}

/// A method.
#[derive(Clone, Debug)]
pub struct Model {
    pub(crate) name: String,
    pub(crate) summary: Vec<String>,
    pub(crate) lattice: Lattice,
    pub(crate) params: Vec<Param>,
    pub(crate) fields: Vec<Field>,
    pub(crate) exprs: Exprs,
    pub(crate) macroscopic: Formulas,
    pub(crate) init: Formulas,
    pub(crate) collide: Formulas,
    pub(crate) boundaries: Vec<Boundary>,
}

impl Model {
    /// Name: the stem of the spec's file, for example `d3q27_kbc`.
    pub fn name(&self) -> &str {
        &self.name
    }
    /// The comment that opens the spec, a line each, without `//`.
    pub fn summary(&self) -> &[String] {
        &self.summary
    }
    /// Velocity set.
    pub fn lattice(&self) -> &Lattice {
        &self.lattice
    }
    /// Run-time arguments.
    pub fn params(&self) -> &[Param] {
        &self.params
    }
    /// Macroscopic fields.
    pub fn fields(&self) -> &[Field] {
        &self.fields
    }
    /// The graph that all formulas live in.
    pub fn exprs(&self) -> &Exprs {
        &self.exprs
    }
    /// Fields from populations: an output per component, in the order of `fields`.
    pub fn macroscopic(&self) -> &Formulas {
        &self.macroscopic
    }
    /// Populations from fields (symbols are `Field` and `Param`): an output per direction.
    pub fn init(&self) -> &Formulas {
        &self.init
    }
    /// Post-collision populations from populations: an output per direction.
    pub fn collide(&self) -> &Formulas {
        &self.collide
    }
    /// Boundary rules.
    pub fn boundaries(&self) -> &[Boundary] {
        &self.boundaries
    }
}
