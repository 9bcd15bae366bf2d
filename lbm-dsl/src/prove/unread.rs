//! A proof that formulas do not change along given directions in the space of populations.
//!
//! Every value is followed as a sum of products of *coordinates*: those along the directions, which must drop out, and others. A
//! value that has lost the former may become a variable of its own, equal sums the same one. So the identity that is found
//! holds for any values of those variables, the more so for those that they stand for. Functions that are no rational ones
//! are variables too where their operands have lost the directions, so that what is proved holds for any function in their place.

use std::collections::BTreeMap;

use num_traits::{One, Zero};

use crate::expr::{Compare, Expr, Rational, Symbol};
use crate::function::Function;
use crate::model::Model;
use crate::prove::budget::Budget;

/// Terms of a value beyond which it becomes a variable.
const MAX_TERMS: usize = 16;
/// Most products of terms in one multiplication of what may not become a variable.
const MAX_PRODUCTS: usize = 20_000;

/// Variables with their powers, ascending, none of them zero.
type Monomial = Vec<(u32, i32)>;
/// A factor for each monomial, none of them zero.
type Sum = BTreeMap<Monomial, Rational>;

/// What a variable stands for.
#[derive(PartialEq, Eq, PartialOrd, Ord)]
enum Atom {
    Symbol(Symbol),
    Sum(Sum),
    Call(Function, Vec<Sum>),
    Select(Compare, [Sum; 4]),
}

struct Work<'b> {
    /// How many of the variables are coordinates along the directions; they come first.
    directions: u32,
    /// How many are coordinates.
    coordinates: u32,
    atoms: BTreeMap<Atom, u32>,
    budget: &'b Budget,
}

/// Whether populations after the collision are the same for all `t` in `f = sum(a: section[a] m_a) + sum(b: directions[b] t_b)`.
pub(super) fn is_unread(
    model: &Model,
    section: &[Vec<Rational>],
    directions: &[Vec<Rational>],
    budget: &Budget,
) -> bool {
    let [along, all] = [directions.len(), directions.len() + section.len()].map(|count| count as u32);
    let mut work = Work { directions: along, coordinates: all, atoms: BTreeMap::new(), budget };
    let population = |pop: usize| {
        let shares = directions.iter().chain(section).enumerate();
        let terms = shares.map(|(at, shares)| (vec![(at as u32, 1)], shares[pop].clone()));
        terms.filter(|(_, share)| !share.is_zero()).collect::<Sum>()
    };
    let outputs = &model.collide.outputs;
    let needed = model.exprs.needed(outputs);
    // Nothing where a value is not followed.
    let mut values: Vec<Option<Sum>> = vec![None; model.exprs.len()];
    for (id, node) in model.exprs.iter().filter(|(id, _)| needed[id.index()]) {
        let operands = node.operands();
        let known: Option<Vec<Sum>> = operands.iter().map(|operand| values[operand.index()].clone()).collect();
        let Some(known) = known else { continue };
        if budget.spend(known.iter().map(Sum::len).sum()).is_none() {
            return false;
        }
        values[id.index()] = match node {
            Expr::Const(value) => Some(constant(value.clone())),
            Expr::Symbol(Symbol::Population(pop)) if pop.index() < model.moving() => Some(population(pop.index())),
            Expr::Symbol(symbol) => Some(work.variable(Atom::Symbol(*symbol))),
            Expr::Neg(_) => Some(scaled(&known[0], &-Rational::one())),
            Expr::Again(_) => Some(known[0].clone()),
            Expr::Add(..) => Some(plus(&known[0], &Rational::one(), &known[1])),
            Expr::Sub(..) => Some(plus(&known[0], &-Rational::one(), &known[1])),
            Expr::Mul(..) => work.times(&known[0], &known[1]),
            Expr::Fma(..) => {
                work.times(&known[0], &known[1]).map(|product| plus(&product, &Rational::one(), &known[2]))
            }
            Expr::Div(..) => work.inverse(&known[1]).and_then(|inverse| work.times(&known[0], &inverse)),
            Expr::Sqrt(_) => work.opaque(known, |operands| Atom::Call(Function::Sqrt, operands)),
            Expr::Call(function, _) => work.opaque(known, |operands| Atom::Call(*function, operands)),
            Expr::Select { compare, .. } => work.opaque(known, |operands| {
                Atom::Select(*compare, operands.try_into().expect("a choice has four operands"))
            }),
        }
        .map(|value| work.short(value));
    }
    outputs.iter().all(|output| values[output.index()].as_ref().is_some_and(|value| !work.reads(value)))
}

fn constant(value: Rational) -> Sum {
    if value.is_zero() { Sum::new() } else { Sum::from([(Vec::new(), value)]) }
}

fn scaled(sum: &Sum, factor: &Rational) -> Sum {
    sum.iter().map(|(monomial, value)| (monomial.clone(), value * factor)).collect()
}

fn put(sum: &mut Sum, monomial: Monomial, value: Rational) {
    let total = sum.remove(&monomial).unwrap_or_default() + value;
    if !total.is_zero() {
        sum.insert(monomial, total);
    }
}

/// `left + factor * right`
fn plus(left: &Sum, factor: &Rational, right: &Sum) -> Sum {
    let mut sum = left.clone();
    right.iter().for_each(|(monomial, value)| put(&mut sum, monomial.clone(), value * factor));
    sum
}

fn product(left: &Monomial, right: &Monomial) -> Monomial {
    let mut powers: BTreeMap<u32, i32> = left.iter().copied().collect();
    for (variable, power) in right {
        *powers.entry(*variable).or_default() += power;
    }
    powers.into_iter().filter(|(_, power)| *power != 0).collect()
}

impl Work<'_> {
    /// Whether a coordinate along a direction is in it.
    fn reads(&self, sum: &Sum) -> bool {
        sum.keys().any(|monomial| monomial.first().is_some_and(|(variable, _)| *variable < self.directions))
    }

    fn variable(&mut self, atom: Atom) -> Sum {
        let next = self.coordinates + self.atoms.len() as u32;
        let variable = *self.atoms.entry(atom).or_insert(next);
        Sum::from([(vec![(variable, 1)], Rational::one())])
    }

    /// The value, or a variable for it where it is long and may be one.
    fn short(&mut self, sum: Sum) -> Sum {
        if sum.len() > MAX_TERMS && !self.reads(&sum) { self.variable(Atom::Sum(sum)) } else { sum }
    }

    fn times(&mut self, left: &Sum, right: &Sum) -> Option<Sum> {
        let whole = |work: &mut Work<'_>, sum: &Sum| match sum.len() > 1 && !work.reads(sum) {
            true => work.variable(Atom::Sum(sum.clone())),
            false => sum.clone(),
        };
        let (left, right) = match left.len() * right.len() > MAX_PRODUCTS {
            true => (whole(self, left), whole(self, right)),
            false => (left.clone(), right.clone()),
        };
        let products = left.len() * right.len();
        if products > MAX_PRODUCTS {
            return None;
        }
        self.budget.spend(products)?;
        let mut all = Sum::new();
        for (a, x) in &left {
            for (b, y) in &right {
                put(&mut all, product(a, b), x * y);
            }
        }
        Some(all)
    }

    /// `1 / sum`, for a sum that has lost the directions and is not zero.
    fn inverse(&mut self, sum: &Sum) -> Option<Sum> {
        if sum.is_empty() || self.reads(sum) {
            return None;
        }
        let single = if sum.len() == 1 { sum.clone() } else { self.variable(Atom::Sum(sum.clone())) };
        let invert = |(monomial, value): (Monomial, Rational)| {
            (monomial.into_iter().map(|(variable, power)| (variable, -power)).collect(), value.recip())
        };
        Some(single.into_iter().map(invert).collect())
    }

    fn opaque(&mut self, operands: Vec<Sum>, atom: impl Fn(Vec<Sum>) -> Atom) -> Option<Sum> {
        if operands.iter().any(|operand| self.reads(operand)) {
            return None;
        }
        Some(self.variable(atom(operands)))
    }
}
