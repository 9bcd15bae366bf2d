//! The tree as written, a span on every node.
//!
//! In: tokens. After: the grammar holds, nothing else: names may be undefined and ranks wrong.

mod levels;

pub use levels::{CouplingDef, Points, Statement, StencilDef, Target as StencilTarget};

use crate::expr::Rational;
use crate::source::Span;
use crate::unit::Unit;

/// A name and where it stands.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Name {
    /// As written.
    pub text: String,
    /// Where.
    pub span: Span,
}

/// A file.
#[derive(Clone, Debug)]
pub struct Ast {
    /// The comment that opens it, a line each, without `//`.
    pub summary: Vec<String>,
    /// Its statements in order.
    pub items: Vec<Item>,
    /// What is chosen besides, of modules: names that the text does not know, so that they clash with none of its own.
    pub added: Vec<Added>,
}

/// A boundary rule, a coupling or a criterion of a module.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Added {
    /// The module that defines it.
    pub module: String,
    /// Its name there.
    pub name: String,
}

impl Ast {
    /// Chooses a boundary rule of a module, unless the file has it.
    pub fn choose_boundary(&mut self, module: &str, rule: &str) {
        let has = |item: &Item| match item {
            Item::Boundary(def) => def.name.text == rule,
            Item::BoundaryChoice(name) => name.text == rule,
            _ => false,
        };
        self.choose(module, rule, has);
    }

    /// Chooses a coupling of a module, unless the file has it.
    pub fn choose_coupling(&mut self, module: &str, coupling: &str) {
        let has = |item: &Item| match item {
            Item::Coupling(def) => def.name.text == coupling,
            Item::CouplingChoice(name) => name.text == coupling,
            _ => false,
        };
        self.choose(module, coupling, has);
    }

    /// Chooses a criterion of a module, unless the file has it.
    pub fn choose_criterion(&mut self, module: &str, criterion: &str) {
        let has = |item: &Item| match item {
            Item::Criterion(def) => def.function.name.text == criterion,
            Item::CriterionChoice(name) => name.text == criterion,
            _ => false,
        };
        self.choose(module, criterion, has);
    }

    fn choose(&mut self, module: &str, chosen: &str, has: impl Fn(&Item) -> bool) {
        if !self.items.iter().any(has) {
            self.added.push(Added { module: module.into(), name: chosen.into() });
        }
    }
}

/// A statement at the top of a file.
#[derive(Clone, Debug)]
pub enum Item {
    /// `use walls::{bounce_back, moving_wall};`
    Use(Use),
    /// `lattice D2Q9 { ... }`
    Lattice(LatticeDef),
    /// `lattice D2Q9;`
    LatticeChoice(Name),
    /// `populations g on D2Q5;`
    Populations(PopulationsDef),
    /// `conserve phi;`
    Conserve(Name),
    /// `conserve none;`
    ConserveNone(Name),
    /// `param omega in (0, 2);`
    Param(ParamDef),
    /// `state nu: length^2 / time;`
    State(ParamDef),
    /// A number that cells keep as it is, and a field by which it is given at the start. No text has it: [`vary`](crate::vary) makes it.
    Place(Name),
    /// `let u[a] = j[a] / rho;`
    Let(Let),
    /// What a parameter of the text is where a case makes it vary. In `init` it is that of the fields given.
    Varied(Let),
    /// Populations before a collision are moved towards those far away. No text has it: [`absorb`](crate::absorb) makes it.
    Absorbing(Absorbing),
    /// `field rho;`
    Field(Name),
    /// `observe tau[a, b]: length^2 / time^2 = ...;` or `observe nu;`
    Observe(ObserveDef),
    /// `init f[i] <- ...;` or `init { ... }`
    Init(Block),
    /// `collide { ... }`
    Collide(Block),
    /// `fn quadratic[i](rho, u[a]) = ...;`
    Fn(FnDef),
    /// `boundary bounce_back { ... }`
    Boundary(BoundaryDef),
    /// `boundary bounce_back;`
    BoundaryChoice(Name),
    /// `stencil cubic { ... }`
    Stencil(StencilDef),
    /// `stencil conservative;`
    StencilChoice(Name),
    /// `coupling volumetric { ... }`
    Coupling(CouplingDef),
    /// `coupling volumetric;`
    CouplingChoice(Name),
    /// `criterion vorticity(u[a]) = ...;`
    Criterion(CriterionDef),
    /// `criterion vorticity;`
    CriterionChoice(Name),
}

/// An absorbing layer: names of values of the text.
#[derive(Clone, Debug)]
pub struct Absorbing {
    /// Part of the difference that is taken in a step.
    pub rate: Name,
    /// The density far away.
    pub density: Name,
    /// The velocity far away.
    pub velocity: Name,
}

/// Names from another module.
#[derive(Clone, Debug)]
pub struct Use {
    /// The module.
    pub module: Name,
    /// What it gives.
    pub names: Vec<Name>,
}

/// A velocity set.
#[derive(Clone, Debug)]
pub struct LatticeDef {
    /// Its name.
    pub name: Name,
    /// Squared speed of sound.
    pub cs2: Expr,
    /// Velocities with their weights, in order.
    pub groups: Vec<Velocities>,
    /// `isotropy n;`, the order claimed.
    pub isotropy: Option<(u32, Span)>,
}

/// Velocities of one weight.
#[derive(Clone, Debug)]
pub struct Velocities {
    /// Whether all permutations and signs of `vector` are meant, or `vector` alone.
    pub shell: bool,
    /// Component per axis.
    pub vector: Vec<i32>,
    /// Where `vector` stands.
    pub span: Span,
    /// Weight of each velocity.
    pub weight: Expr,
}

/// A further set of populations.
#[derive(Clone, Debug)]
pub struct PopulationsDef {
    /// Its name.
    pub name: Name,
    /// Its velocity set.
    pub lattice: Name,
}

/// A run-time argument, or a state.
#[derive(Clone, Debug)]
pub struct ParamDef {
    /// Its name.
    pub name: Name,
    /// None for a scalar, one axis for a vector.
    pub indices: Vec<Binder>,
    /// Value of each component where none is given; a state has none.
    pub default: Option<Expr>,
    /// Open interval of allowed values.
    pub range: Option<(Expr, Expr)>,
    /// What it is measured in.
    pub unit: Option<Unit>,
    /// The comment that documents it.
    pub doc: String,
}

/// An index variable where it is introduced: `i`, or `x in -1..=1`.
#[derive(Clone, Debug)]
pub struct Binder {
    /// The variable.
    pub name: Name,
    /// What it runs over.
    pub range: Range,
}

/// What an index variable runs over.
#[derive(Clone, Debug)]
pub enum Range {
    /// The directions of the lattice; in a function, of the velocity set that it is called for.
    Directions,
    /// The directions of these populations: `i in g`.
    DirectionsOf(Name),
    /// The axes, from 0.
    Axes,
    /// Whole numbers from `low` to `high`, without `high` unless `inclusive`.
    Whole {
        /// First.
        low: Box<Expr>,
        /// Last, or one behind it.
        high: Box<Expr>,
        /// Whether `high` belongs to it.
        inclusive: bool,
    },
}

/// A named value, or a family of them.
#[derive(Clone, Debug)]
pub struct Let {
    /// Its name.
    pub name: Name,
    /// Its indices.
    pub indices: Vec<Binder>,
    /// Its value for each value of the indices.
    pub value: Expr,
}

/// What output can have beside the fields.
#[derive(Clone, Debug)]
pub struct ObserveDef {
    /// Its name.
    pub name: Name,
    /// What it is measured in.
    pub unit: Option<Unit>,
    /// Its value; that of the name where none is given.
    pub value: Option<Let>,
    /// The comment that documents it.
    pub doc: String,
}

/// Named values and assignments to populations.
#[derive(Clone, Debug)]
pub struct Block {
    /// The keyword.
    pub span: Span,
    /// Values in order.
    pub lets: Vec<Let>,
    /// Assignments in order.
    pub assigns: Vec<Assign>,
}

/// `f[i] <- value;` or `nu <- value;`
#[derive(Clone, Debug)]
pub struct Assign {
    /// The populations, or the state.
    pub populations: Name,
    /// Which of them.
    pub target: Target,
    /// Where the left side stands.
    pub span: Span,
    /// Only where this holds: `f[i if c[i, 0] == 0] <- value;`
    pub filter: Option<Expr>,
    /// The right side.
    pub value: Expr,
}

/// Which populations an assignment defines.
#[derive(Clone, Debug)]
pub enum Target {
    /// `nu`: a state, no population.
    State,
    /// `f[i]`: one per value of the variable.
    Index(Binder),
    /// `f[(x in -1..=1, 0, 0)]`: by velocity.
    Velocity(Vec<Component>),
}

/// A component of a velocity on the left side.
#[derive(Clone, Debug)]
pub enum Component {
    /// A variable with its range.
    Bound(Binder),
    /// A constant.
    Fixed(Expr),
}

/// A function.
#[derive(Clone, Debug)]
pub struct FnDef {
    /// Its name.
    pub name: Name,
    /// Indices in `[ ]`.
    pub indices: Vec<Binder>,
    /// Arguments in `( )`, each with its indices.
    pub params: Vec<(Name, Vec<Binder>)>,
    /// Its value.
    pub body: Expr,
}

/// What a grid may follow.
#[derive(Clone, Debug)]
pub struct CriterionDef {
    /// Its value from the fields of the method that have the names of its arguments.
    pub function: FnDef,
    /// The comment that documents it.
    pub doc: String,
}

/// A boundary rule.
#[derive(Clone, Debug)]
pub struct BoundaryDef {
    /// Its name.
    pub name: Name,
    /// Its parameters.
    pub params: Vec<ParamDef>,
    /// Its values and assignments.
    pub block: Block,
    /// Whether its assignments are `node f[i] <- ...`; if not, they are `link f[i] <- ...`.
    pub node: bool,
    /// What cells beyond the wall have.
    pub beyond: Vec<Beyond>,
    /// The comment that documents it.
    pub doc: String,
}

/// `beyond u[a] <- value;`
#[derive(Clone, Debug)]
pub struct Beyond {
    /// A value of the method that cells read of their neighbours.
    pub name: Name,
    /// Its indices.
    pub indices: Vec<Binder>,
    /// What it is beyond the wall.
    pub value: Expr,
}

/// A formula.
#[derive(Clone, Debug)]
pub struct Expr {
    /// What it is.
    pub kind: ExprKind,
    /// Where it stands.
    pub span: Span,
}

impl Expr {
    /// Every formula in it, itself first.
    pub fn visit(&self, each: &mut dyn FnMut(&Expr)) {
        each(self);
        let mut all = |parts: &[&Expr]| parts.iter().for_each(|part| part.visit(each));
        match &self.kind {
            ExprKind::Number(_) | ExprKind::Cs2(_) => {}
            ExprKind::Name { indices, args, .. } => {
                indices.iter().chain(args.iter().flatten()).for_each(|part| all(&[part]));
            }
            ExprKind::Vector(parts) => parts.iter().for_each(|part| all(&[part])),
            ExprKind::Unary(_, inner) => all(&[inner]),
            ExprKind::Binary(_, left, right) => all(&[left, right]),
            ExprKind::Fold { filter, body, .. } => {
                filter.iter().for_each(|filter| all(&[filter]));
                all(&[body]);
            }
            ExprKind::If(condition, then, otherwise) => all(&[condition, then, otherwise]),
        }
    }
}

/// What a formula is.
#[derive(Clone, Debug)]
pub enum ExprKind {
    /// A decimal number.
    Number(Rational),
    /// `rho`, `u[a]`, `dot(u, v)`, `quadratic[i](rho, u)`.
    Name {
        /// The name.
        name: Name,
        /// What stands in `[ ]`.
        indices: Vec<Expr>,
        /// What stands in `( )`, if they are there.
        args: Option<Vec<Expr>>,
    },
    /// `g.cs2`: squared speed of sound of the velocity set of `g`.
    Cs2(Name),
    /// `(x, y, z)`
    Vector(Vec<Expr>),
    /// `-x` or `!x`
    Unary(Unary, Box<Expr>),
    /// `x + y` and the like.
    Binary(Binary, Box<Expr>, Box<Expr>),
    /// `sum(a, b if a <= b: x)` and `prod(...)`.
    Fold {
        /// Sum or product.
        fold: Fold,
        /// Variables, the last one runs fastest.
        binders: Vec<Binder>,
        /// Only where this holds.
        filter: Option<Box<Expr>>,
        /// A term or factor.
        body: Box<Expr>,
    },
    /// `if c then x else y`
    If(Box<Expr>, Box<Expr>, Box<Expr>),
}

/// A prefix operator.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Unary {
    /// `-`
    Minus,
    /// `!`
    Not,
}

/// An infix operator.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[allow(missing_docs)]
pub enum Binary {
    Or,
    And,
    Equal,
    NotEqual,
    Less,
    LessEqual,
    Greater,
    GreaterEqual,
    Add,
    Sub,
    Mul,
    Div,
    Power,
}

/// An operation over a range.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Fold {
    /// `sum`
    Sum,
    /// `prod`
    Product,
}
