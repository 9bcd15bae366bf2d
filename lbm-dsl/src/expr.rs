//! The spec's formulas as a hash-consed graph over exact rationals.
//!
//! In: nothing. After: no expression occurs twice in one [`Exprs`]; operands precede their users, so a pass over
//! `0..len` sees every operand before its use; every constant is exact.
//!
//! The language is small. A node is a constant, a [`Symbol`] (a value the kernel is given) or an operation on earlier
//! nodes. [`Expr::Fma`] never comes from a spec; simplification makes it. Division by zero is not an error here: each
//! [`Number`] says what it gives (the exact ones give "undefined", which poisons what uses it, except an operand that a
//! [`Expr::Select`] does not choose).

use std::collections::BTreeMap;
use std::fmt;
use std::ops::Index;

use num_traits::{One, Zero};

use crate::function::{self, Function, Image};
use crate::lattice::Dir;
pub use crate::rational::Rational;

/// A node of an [`Exprs`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct ExprId(u32);

impl ExprId {
    /// Position of the node: operands have smaller ones than their users.
    pub fn index(self) -> usize {
        self.0 as usize
    }
}

/// A population of a method: a position in the list of all of them, one set after the other.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Pop(pub u16);

impl Pop {
    /// Position in the list of all populations.
    pub fn index(self) -> usize {
        self.0 as usize
    }
}

/// How many cells along the inward normal `deep` lies: in the block of the cell itself, where blocks have four cells along every axis.
pub const DEEP: u32 = 3;

/// A value that a formula is given.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Symbol {
    /// A population: before collision in a collision, the cell's own post-collision one in a boundary rule.
    Population(Pop),
    /// In a link rule: what a mirror in the place of the wall sends back along that direction.
    Mirrored(Dir),
    /// In a node rule: the population that has arrived in the cell in this step.
    Streamed(Dir),
    /// In a node rule: the population that has arrived in this step in the next cell along the inward normal.
    Inside(Dir),
    /// The same of the cell that lies [`DEEP`] cells along the inward normal.
    Deep(Dir),
    /// Component of the parameter with that position in `Model::params`.
    Param {
        /// Position in `Model::params`.
        param: u16,
        /// Component, 0 for a scalar.
        component: u8,
    },
    /// Component of the parameter with that position in the `params` of the boundary rule at hand.
    WallParam {
        /// Position in `Boundary::params`.
        param: u16,
        /// Component, 0 for a scalar.
        component: u8,
    },
    /// Component of the macroscopic field with that position in `Model::fields` (an input of `init`).
    Field {
        /// Position in `Model::fields`.
        field: u16,
        /// Component, 0 for a scalar.
        component: u8,
    },
    /// In a criterion: derivative of a component of a field along an axis.
    Gradient {
        /// Position in `Model::fields`.
        field: u16,
        /// Component, 0 for a scalar.
        component: u8,
        /// The axis.
        axis: u8,
    },
    /// Something at a jump between two levels of refinement.
    Level(LevelSymbol),
    /// In a part of a kernel: the value of that number which an earlier part hands on.
    Kept(u16),
    /// Where moments are stored in the place of populations: the one of that number.
    Moment(u16),
    /// In a tangent: the change of a population.
    Change(Pop),
    /// In a tangent: the change of a component of a parameter of the method.
    ParamChange {
        /// Position in `Model::params`.
        param: u16,
        /// Component, 0 for a scalar.
        component: u8,
    },
    /// In an adjoint: the derivative of the objective by what the kernel makes of a population.
    Adjoint(Pop),
    /// A value in the next cell along a direction, before the collision.
    Neighbour {
        /// Position in `Model::shown`.
        shown: u16,
        /// The direction, of the first populations.
        dir: Dir,
    },
}

/// A value that a formula at a level jump is given; `model::levels` has their meaning.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum LevelSymbol {
    /// Width of the cell at hand, in cells of the coarsest level.
    Width,
    /// Kind (0, 1 or 2) of the packet from that child position, of the population at hand.
    Kind {
        /// Number of the child.
        child: u8,
    },
    /// Where a child of a refined cell lies along an axis: -1/4 or 1/4 coarse cells from the centre of the cell.
    Position {
        /// Along which axis.
        axis: u8,
    },
    /// Slope of a population at its cell, per coarse cell.
    Slope {
        /// Position in `Model::stencils`.
        stencil: u8,
        /// Along which axis.
        axis: u8,
        /// Of which population.
        pop: Pop,
    },
    /// A sample of a stencil, or a child's value of an average, by number.
    Sample(u16),
    /// What the packets of several populations of a cell are made of, by number.
    Shared(u16),
}

/// What a [`Expr::Select`] asks of its two sides.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Compare {
    /// `left < right`
    Less,
    /// `left <= right`
    LessEqual,
    /// `left == right`
    Equal,
}

/// One node. Operands are nodes of the same [`Exprs`].
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Expr {
    /// An exact constant.
    Const(Rational),
    /// A given value.
    Symbol(Symbol),
    /// `-a`
    Neg(ExprId),
    /// `a + b`
    Add(ExprId, ExprId),
    /// `a - b`
    Sub(ExprId, ExprId),
    /// `a * b`
    Mul(ExprId, ExprId),
    /// `a / b`
    Div(ExprId, ExprId),
    /// Square root.
    Sqrt(ExprId),
    /// A function that is none of the other operations: an exponential, an angle, a power that is no product. It has as many operands as
    /// the function.
    Call(Function, Vec<ExprId>),
    /// `a`, for a compiler of its own: what is computed from it is not taken for what was computed from `a` before.
    Again(ExprId),
    /// `a * b + c`, rounded once on a machine.
    Fma(ExprId, ExprId, ExprId),
    /// `then` where `left compare right`, else `otherwise`; the one not chosen has no effect.
    Select {
        /// The question.
        compare: Compare,
        /// Left side of the question.
        left: ExprId,
        /// Right side of the question.
        right: ExprId,
        /// Value where the answer is yes.
        then: ExprId,
        /// Value where the answer is no.
        otherwise: ExprId,
    },
}

impl Expr {
    /// The operands, in the order of the fields.
    pub fn operands(&self) -> Vec<ExprId> {
        match *self {
            Expr::Const(_) | Expr::Symbol(_) => vec![],
            Expr::Neg(a) | Expr::Sqrt(a) | Expr::Again(a) => vec![a],
            Expr::Add(a, b) | Expr::Sub(a, b) | Expr::Mul(a, b) | Expr::Div(a, b) => vec![a, b],
            Expr::Fma(a, b, c) => vec![a, b, c],
            Expr::Call(_, ref operands) => operands.clone(),
            Expr::Select { left, right, then, otherwise, .. } => vec![left, right, then, otherwise],
        }
    }

    /// The same operation on other operands.
    pub fn map(&self, mut new: impl FnMut(ExprId) -> ExprId) -> Expr {
        match *self {
            Expr::Const(_) | Expr::Symbol(_) => self.clone(),
            Expr::Neg(a) => Expr::Neg(new(a)),
            Expr::Add(a, b) => Expr::Add(new(a), new(b)),
            Expr::Sub(a, b) => Expr::Sub(new(a), new(b)),
            Expr::Mul(a, b) => Expr::Mul(new(a), new(b)),
            Expr::Div(a, b) => Expr::Div(new(a), new(b)),
            Expr::Sqrt(a) => Expr::Sqrt(new(a)),
            Expr::Call(function, ref operands) => {
                Expr::Call(function, operands.iter().map(|operand| new(*operand)).collect())
            }
            Expr::Again(a) => Expr::Again(new(a)),
            Expr::Fma(a, b, c) => Expr::Fma(new(a), new(b), new(c)),
            Expr::Select { compare, left, right, then, otherwise } => {
                Expr::Select { compare, left: new(left), right: new(right), then: new(then), otherwise: new(otherwise) }
            }
        }
    }
}

/// A hash-consed set of expressions.
#[derive(Clone, Debug, Default)]
pub struct Exprs {
    nodes: Vec<Expr>,
    index: BTreeMap<Expr, ExprId>,
}

impl Exprs {
    /// An empty set.
    pub fn new() -> Self {
        Self::default()
    }

    /// How many nodes there are.
    pub fn len(&self) -> usize {
        self.nodes.len()
    }

    /// Whether there are no nodes.
    pub fn is_empty(&self) -> bool {
        self.nodes.is_empty()
    }

    /// The node `id`.
    pub fn get(&self, id: ExprId) -> &Expr {
        &self.nodes[id.index()]
    }

    /// Every node with its id, operands first.
    pub fn iter(&self) -> impl Iterator<Item = (ExprId, &Expr)> {
        self.nodes.iter().enumerate().map(|(at, node)| (ExprId(at as u32), node))
    }

    /// Adds a node as it stands (no folding) and returns its id, the old one if it exists.
    pub fn add(&mut self, node: Expr) -> ExprId {
        if let Some(&id) = self.index.get(&node) {
            return id;
        }
        let id = ExprId(self.nodes.len() as u32);
        self.nodes.push(node.clone());
        self.index.insert(node, id);
        id
    }

    /// An expression without its sign and its constant factor, which users may have drawn into their own.
    pub fn core(&self, mut id: ExprId) -> ExprId {
        loop {
            id = match *self.get(id) {
                Expr::Neg(a) => a,
                Expr::Mul(a, b) if self.as_const(a).is_some() => b,
                Expr::Mul(a, b) | Expr::Div(a, b) if self.as_const(b).is_some() => a,
                _ => return id,
            };
        }
    }

    /// The constant `id` stands for, if it is one.
    pub fn as_const(&self, id: ExprId) -> Option<&Rational> {
        match self.get(id) {
            Expr::Const(value) => Some(value),
            _ => None,
        }
    }

    /// A constant.
    pub fn constant(&mut self, value: Rational) -> ExprId {
        self.add(Expr::Const(value))
    }

    /// A whole constant.
    pub fn int(&mut self, value: i64) -> ExprId {
        self.constant(Rational::from_integer(value.into()))
    }

    /// A given value.
    pub fn symbol(&mut self, symbol: Symbol) -> ExprId {
        self.add(Expr::Symbol(symbol))
    }

    /// `-a`, folded where `a` is constant or a negation.
    pub fn neg(&mut self, a: ExprId) -> ExprId {
        match self.get(a) {
            Expr::Const(value) => {
                let value = -value.clone();
                self.constant(value)
            }
            Expr::Neg(inner) => *inner,
            _ => self.add(Expr::Neg(a)),
        }
    }

    /// `a + b`; constants fold and zero vanishes.
    pub fn plus(&mut self, a: ExprId, b: ExprId) -> ExprId {
        match (self.as_const(a), self.as_const(b)) {
            (Some(x), Some(y)) => {
                let value = x + y;
                self.constant(value)
            }
            (Some(x), _) if x.is_zero() => b,
            (_, Some(y)) if y.is_zero() => a,
            _ => self.add(Expr::Add(a, b)),
        }
    }

    /// `a - b`; constants fold and zero vanishes.
    pub fn minus(&mut self, a: ExprId, b: ExprId) -> ExprId {
        match (self.as_const(a), self.as_const(b)) {
            (Some(x), Some(y)) => {
                let value = x - y;
                self.constant(value)
            }
            (Some(x), _) if x.is_zero() => self.neg(b),
            (_, Some(y)) if y.is_zero() => a,
            _ => self.add(Expr::Sub(a, b)),
        }
    }

    /// `a * b`; constants fold, one vanishes and zero absorbs.
    pub fn times(&mut self, a: ExprId, b: ExprId) -> ExprId {
        match (self.as_const(a), self.as_const(b)) {
            (Some(x), Some(y)) => {
                let value = x * y;
                self.constant(value)
            }
            (Some(x), _) | (_, Some(x)) if x.is_zero() => self.constant(Rational::zero()),
            (Some(x), _) if x.is_one() => b,
            (_, Some(y)) if y.is_one() => a,
            _ => self.add(Expr::Mul(a, b)),
        }
    }

    /// `a / b`; constants fold unless `b` is zero, and division by one vanishes.
    pub fn over(&mut self, a: ExprId, b: ExprId) -> ExprId {
        match (self.as_const(a), self.as_const(b)) {
            (Some(x), Some(y)) if !y.is_zero() => {
                let value = x / y;
                self.constant(value)
            }
            (_, Some(y)) if y.is_one() => a,
            _ => self.add(Expr::Div(a, b)),
        }
    }

    /// The node, folded where it is a sum, a product or a quotient.
    pub fn folded(&mut self, node: Expr) -> ExprId {
        match node {
            Expr::Neg(a) => self.neg(a),
            Expr::Add(a, b) => self.plus(a, b),
            Expr::Sub(a, b) => self.minus(a, b),
            Expr::Mul(a, b) => self.times(a, b),
            Expr::Div(a, b) => self.over(a, b),
            other => self.add(other),
        }
    }

    /// `a^n` as a product (by squaring), or its reciprocal for a negative `n`; `a^0` is 1.
    pub fn power(&mut self, a: ExprId, n: i32) -> ExprId {
        if n < 0 {
            let positive = self.power(a, -n);
            let one = self.int(1);
            return self.over(one, positive);
        }
        match n {
            0 => self.int(1),
            1 => a,
            _ => {
                let half = self.power(a, n / 2);
                let square = self.times(half, half);
                if n % 2 == 0 { square } else { self.times(square, a) }
            }
        }
    }

    /// For every node, whether `roots` need it; they need themselves.
    pub fn needed(&self, roots: &[ExprId]) -> Vec<bool> {
        let mut needed = vec![false; self.len()];
        for root in roots {
            needed[root.index()] = true;
        }
        for at in (0..self.len()).rev() {
            if needed[at] {
                for operand in self.nodes[at].operands() {
                    needed[operand.index()] = true;
                }
            }
        }
        needed
    }

    /// For every node, how many operands it is of what `roots` need; a root is needed once more.
    pub fn uses(&self, roots: &[ExprId]) -> Vec<usize> {
        let needed = self.needed(roots);
        let mut uses = vec![0; self.len()];
        roots.iter().for_each(|root| uses[root.index()] += 1);
        for (_, node) in self.iter().filter(|(id, _)| needed[id.index()]) {
            node.operands().iter().for_each(|operand| uses[operand.index()] += 1);
        }
        uses
    }

    /// Number of nodes of an expression as a tree, where what is used twice stands twice; the largest number for more.
    pub fn written_out(&self, root: ExprId) -> usize {
        let mut sizes: Vec<usize> = Vec::with_capacity(self.len());
        for (_, node) in self.iter() {
            let operands = node.operands();
            sizes.push(operands.iter().fold(1, |sum, operand| usize::saturating_add(sum, sizes[operand.index()])));
        }
        sizes[root.index()]
    }

    /// The symbols that `roots` need, each once.
    pub fn symbols(&self, roots: &[ExprId]) -> impl Iterator<Item = Symbol> {
        let needed = self.needed(roots);
        self.iter().filter(move |(id, _)| needed[id.index()]).filter_map(|(_, node)| match node {
            Expr::Symbol(symbol) => Some(*symbol),
            _ => None,
        })
    }

    /// Names of the functions that `roots` need and that are no rational ones, in alphabetical order.
    pub fn functions(&self, roots: &[ExprId]) -> Vec<&'static str> {
        let needed = self.needed(roots);
        let names = self.iter().filter(|(id, _)| needed[id.index()]).filter_map(|(_, node)| match node {
            Expr::Sqrt(_) => Some("sqrt"),
            Expr::Call(function, _) => Some(function.name()),
            Expr::Select { .. } => Some("if"),
            _ => None,
        });
        names.collect::<std::collections::BTreeSet<_>>().into_iter().collect()
    }

    /// Makes in `to` what `roots` need here, operands first. For each node, `make` is given `to`, its id here and the node as
    /// it stands in `to`, with operands that are made already; what it returns takes the node's place.
    pub fn rewrite(
        &self,
        roots: &[ExprId],
        to: &mut Exprs,
        mut make: impl FnMut(&mut Exprs, ExprId, Expr) -> ExprId,
    ) -> Rewritten {
        let needed = self.needed(roots);
        let mut new = Rewritten(vec![None; self.len()]);
        for (id, node) in self.iter().filter(|(id, _)| needed[id.index()]) {
            let node = node.map(|operand| new[operand]);
            new.0[id.index()] = Some(make(to, id, node));
        }
        new
    }

    /// Makes in `to` what `roots` need here, with other values for some symbols.
    pub fn substitute(
        &self,
        roots: &[ExprId],
        to: &mut Exprs,
        mut value: impl FnMut(&mut Exprs, Symbol) -> Option<ExprId>,
    ) -> Rewritten {
        self.rewrite(roots, to, |to, _, node| match node {
            Expr::Symbol(symbol) => value(to, symbol).unwrap_or_else(|| to.symbol(symbol)),
            _ => to.add(node),
        })
    }

    /// A set of what `roots` need and nothing else, in the same order.
    pub fn subgraph(&self, roots: &[ExprId]) -> (Exprs, Rewritten) {
        let mut to = Exprs::new();
        let new = self.rewrite(roots, &mut to, |to, _, node| to.add(node));
        (to, new)
    }

    /// Values of `roots`, given the values of symbols. Computes only what the roots need.
    pub fn eval<N: Number>(&self, roots: &[ExprId], symbol: impl Fn(Symbol) -> N) -> Vec<N> {
        let mut values: Vec<Option<N>> = vec![None; self.len()];
        let needed = self.needed(roots);
        for at in 0..self.len() {
            if !needed[at] {
                continue;
            }
            let get = |id: ExprId| values[id.index()].as_ref().expect("operands precede users");
            let value = match &self.nodes[at] {
                Expr::Const(value) => N::constant(value),
                Expr::Symbol(given) => symbol(*given),
                Expr::Neg(a) => get(*a).neg(),
                Expr::Add(a, b) => get(*a).add(get(*b)),
                Expr::Sub(a, b) => get(*a).sub(get(*b)),
                Expr::Mul(a, b) => get(*a).mul(get(*b)),
                Expr::Div(a, b) => get(*a).div(get(*b)),
                Expr::Sqrt(a) => get(*a).sqrt(),
                Expr::Call(function, operands) => {
                    let operands: Vec<N> = operands.iter().map(|operand| get(*operand).clone()).collect();
                    N::call(*function, &operands)
                }
                Expr::Again(a) => get(*a).clone(),
                Expr::Fma(a, b, c) => get(*a).fma(get(*b), get(*c)),
                Expr::Select { compare, left, right, then, otherwise } => {
                    N::select(*compare, get(*left), get(*right), get(*then), get(*otherwise))
                }
            };
            values[at] = Some(value);
        }
        roots.iter().map(|root| values[root.index()].clone().expect("roots are computed")).collect()
    }
}

/// Where the nodes of one [`Exprs`] went in another: those that the roots of [`Exprs::rewrite`] need.
#[derive(Clone, Debug)]
pub struct Rewritten(Vec<Option<ExprId>>);

impl Rewritten {
    /// What stands for a node, if the roots need it.
    pub fn get(&self, old: ExprId) -> Option<ExprId> {
        self.0[old.index()]
    }
}

impl Index<ExprId> for Rewritten {
    type Output = ExprId;

    /// What stands for a node that the roots need.
    fn index(&self, old: ExprId) -> &ExprId {
        self.0[old.index()].as_ref().expect("the roots need it")
    }
}

impl fmt::Display for ExprId {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(out, "%{}", self.0)
    }
}

/// A kind of number that formulas can be evaluated in: [`Exact`] for proofs, `f32` and `f64` for rounding.
pub trait Number: Clone {
    /// The nearest number to an exact constant.
    fn constant(value: &Rational) -> Self;
    /// `-self`
    fn neg(&self) -> Self;
    /// `self + other`
    fn add(&self, other: &Self) -> Self;
    /// `self - other`
    fn sub(&self, other: &Self) -> Self;
    /// `self * other`
    fn mul(&self, other: &Self) -> Self;
    /// `self / other`
    fn div(&self, other: &Self) -> Self;
    /// Square root.
    fn sqrt(&self) -> Self;
    /// The function of these operands, as many as it has.
    fn call(function: Function, operands: &[Self]) -> Self;
    /// `self * factor + addend`
    fn fma(&self, factor: &Self, addend: &Self) -> Self {
        self.mul(factor).add(addend)
    }
    /// `then` where `left compare right`, else `otherwise`.
    fn select(compare: Compare, left: &Self, right: &Self, then: &Self, otherwise: &Self) -> Self;
}

/// A rational, or `None` where it is undefined (divided by zero) or not known to be rational (the square root of what is no square,
/// most values of functions).
pub type Exact = Option<Rational>;

impl Number for Exact {
    fn constant(value: &Rational) -> Self {
        Some(value.clone())
    }
    fn neg(&self) -> Self {
        self.as_ref().map(|a| -a)
    }
    fn add(&self, other: &Self) -> Self {
        Some(self.as_ref()? + other.as_ref()?)
    }
    fn sub(&self, other: &Self) -> Self {
        Some(self.as_ref()? - other.as_ref()?)
    }
    fn mul(&self, other: &Self) -> Self {
        Some(self.as_ref()? * other.as_ref()?)
    }
    fn div(&self, other: &Self) -> Self {
        let divisor = other.as_ref()?;
        (!divisor.is_zero()).then_some(())?;
        Some(self.as_ref()? / divisor)
    }
    fn sqrt(&self) -> Self {
        Self::call(Function::Sqrt, std::slice::from_ref(self))
    }
    fn call(function: Function, operands: &[Self]) -> Self {
        match function::image(function, &operands.iter().cloned().collect::<Option<Vec<_>>>()?) {
            Image::Rational(value) => Some(value),
            Image::Somehow | Image::Undefined => None,
        }
    }
    fn select(compare: Compare, left: &Self, right: &Self, then: &Self, otherwise: &Self) -> Self {
        let (left, right) = (left.as_ref()?, right.as_ref()?);
        let yes = match compare {
            Compare::Less => left < right,
            Compare::LessEqual => left <= right,
            Compare::Equal => left == right,
        };
        if yes { then.clone() } else { otherwise.clone() }
    }
}

macro_rules! float_number {
    ($float:ty) => {
        impl Number for $float {
            fn constant(value: &Rational) -> Self {
                num_traits::ToPrimitive::to_f64(value).unwrap_or(f64::NAN) as $float
            }
            fn neg(&self) -> Self {
                -self
            }
            fn add(&self, other: &Self) -> Self {
                self + other
            }
            fn sub(&self, other: &Self) -> Self {
                self - other
            }
            fn mul(&self, other: &Self) -> Self {
                self * other
            }
            fn div(&self, other: &Self) -> Self {
                self / other
            }
            fn sqrt(&self) -> Self {
                <$float>::sqrt(*self)
            }
            fn call(function: Function, operands: &[Self]) -> Self {
                let operands: Vec<f64> = operands.iter().map(|operand| f64::from(*operand)).collect();
                function.of(&operands) as $float
            }
            fn fma(&self, factor: &Self, addend: &Self) -> Self {
                self.mul_add(*factor, *addend)
            }
            fn select(compare: Compare, left: &Self, right: &Self, then: &Self, otherwise: &Self) -> Self {
                let yes = match compare {
                    Compare::Less => left < right,
                    Compare::LessEqual => left <= right,
                    Compare::Equal => left == right,
                };
                if yes { *then } else { *otherwise }
            }
        }
    };
}
float_number!(f32);
float_number!(f64);
