//! In: a [`System`]. Out: expressions.
//!
//! After: terms of a sum that share a constant are added before they are multiplied; a product that is needed once stands
//! beside the addition that needs it; a reciprocal is computed once, or not at all where a division does.

use std::collections::BTreeMap;

use lbm_dsl::expr::{Expr, ExprId, Exprs, Rational};
use num_traits::{One, Signed, Zero};

use super::algebra::{Mono, Poly, Var};
use super::system::{Def, System};

/// The expressions of a system and its outputs among them.
pub(super) fn build(system: &System) -> (Exprs, Vec<ExprId>) {
    let order = system.order();
    let mut reciprocals: BTreeMap<Var, usize> = BTreeMap::new();
    let uses = System::uses(&system.rows());
    for &mono in uses.keys() {
        for &(var, power) in system.algebra.factors(mono) {
            if power < 0 {
                *reciprocals.entry(var).or_default() += 1;
            }
        }
    }
    let mut work = Work { system, exprs: Exprs::new(), vars: BTreeMap::new(), uses, reciprocals };
    for var in order {
        let value = match &system.defs[var.index()] {
            Def::Leaf(symbol) => work.exprs.symbol(*symbol),
            Def::Sum(sum) => work.sum(sum),
            Def::Sqrt(operand) => {
                let operand = work.vars[operand];
                work.exprs.add(Expr::Sqrt(operand))
            }
            Def::Call(function, operands) => {
                let operands = operands.iter().map(|operand| work.vars[operand]).collect();
                work.exprs.add(Expr::Call(*function, operands))
            }
            Def::Select { compare, left, right, then, otherwise } => {
                let [left, right, then, otherwise] = [left, right, then, otherwise].map(|var| work.vars[var]);
                work.exprs.add(Expr::Select { compare: *compare, left, right, then, otherwise })
            }
        };
        work.vars.insert(var, value);
    }
    let outputs = system.outputs.iter().map(|var| work.vars[var]).collect();
    (work.exprs, outputs)
}

struct Work<'a> {
    system: &'a System,
    exprs: Exprs,
    vars: BTreeMap<Var, ExprId>,
    /// Number of sums that have the monomial.
    uses: BTreeMap<Mono, usize>,
    /// Number of monomials that divide by the variable.
    reciprocals: BTreeMap<Var, usize>,
}

/// A signed product, a part of a sum.
struct Piece {
    negative: bool,
    left: ExprId,
    /// Second factor; none if the product is shared or no product.
    right: Option<ExprId>,
}

impl Work<'_> {
    fn sum(&mut self, sum: &Poly) -> ExprId {
        let mut groups: BTreeMap<Rational, Vec<(bool, Mono)>> = BTreeMap::new();
        let mut constant = Rational::zero();
        for (&mono, &coef) in sum {
            let value = self.system.algebra.value(coef);
            if mono == Mono::ONE {
                constant = value.clone();
            } else {
                groups.entry(value.abs()).or_default().push((value.is_negative(), mono));
            }
        }
        let mut pieces = Vec::new();
        if !constant.is_zero() {
            let left = self.exprs.constant(constant);
            pieces.push(Piece { negative: false, left, right: None });
        }
        for (value, terms) in groups {
            if value.is_one() {
                for (negative, mono) in terms {
                    let piece = self.product(mono, negative);
                    pieces.push(piece);
                }
            } else if let [(negative, mono)] = terms[..] {
                let piece = self.scaled(&value, mono, negative);
                pieces.push(piece);
            } else {
                // The sign of the first term goes to the constant, so that a sum and its negative share.
                let flip = terms[0].0;
                let terms = terms.into_iter().map(|(negative, mono)| self.product(mono, negative != flip));
                let terms: Vec<Piece> = terms.collect();
                let right = Some(self.add_up(terms));
                let left = self.exprs.constant(value);
                pieces.push(Piece { negative: flip, left, right });
            }
        }
        self.add_up(pieces)
    }

    /// Adds pieces: plain ones first, then products, each next to an addition that it can be fused with.
    fn add_up(&mut self, mut pieces: Vec<Piece>) -> ExprId {
        pieces.sort_by_key(|piece| (piece.right.is_some(), piece.negative));
        let mut total: Option<ExprId> = None;
        for Piece { negative, left, right } in pieces {
            total = Some(match (total, right, negative) {
                (None, None, false) => left,
                (None, None, true) => self.exprs.neg(left),
                (None, Some(right), false) => self.exprs.times(left, right),
                (None, Some(right), true) => {
                    let left = self.exprs.neg(left);
                    self.exprs.times(left, right)
                }
                (Some(total), None, false) => self.exprs.plus(total, left),
                (Some(total), None, true) => self.exprs.minus(total, left),
                (Some(total), Some(right), false) => {
                    let product = self.exprs.times(left, right);
                    self.exprs.plus(total, product)
                }
                (Some(total), Some(right), true) => {
                    let product = self.exprs.times(left, right);
                    self.exprs.minus(total, product)
                }
            });
        }
        total.unwrap_or_else(|| self.exprs.int(0))
    }

    /// A product as a part of a sum.
    fn product(&mut self, mono: Mono, negative: bool) -> Piece {
        let mut factors = self.factors(mono);
        let right =
            if factors.len() > 1 && self.uses.get(&mono).copied().unwrap_or(0) <= 1 { factors.pop() } else { None };
        Piece { negative, left: self.multiply(factors), right }
    }

    /// A product with a constant.
    fn scaled(&mut self, value: &Rational, mono: Mono, negative: bool) -> Piece {
        if let [(var, -1)] = self.system.algebra.factors(mono)
            && self.reciprocals[var] == 1
        {
            let (numerator, var) = (self.exprs.constant(value.clone()), self.vars[var]);
            return Piece { negative, left: self.exprs.over(numerator, var), right: None };
        }
        let value = self.exprs.constant(value.clone());
        let factors = self.factors(mono);
        let product = self.multiply(factors);
        Piece { negative, left: value, right: Some(product) }
    }

    /// Factors of a product: powers, reciprocals or quotients.
    fn factors(&mut self, mono: Mono) -> Vec<ExprId> {
        let factors = self.system.algebra.factors(mono).to_vec();
        let mut above: Vec<ExprId> = Vec::new();
        let mut below: Vec<ExprId> = Vec::new();
        for (var, power) in factors {
            let value = self.vars[&var];
            let count = power.unsigned_abs() as usize;
            if power > 0 {
                above.extend(std::iter::repeat_n(value, count));
            } else if self.reciprocals[&var] > 1 || count > 1 {
                let one = self.exprs.int(1);
                let reciprocal = self.exprs.over(one, value);
                above.extend(std::iter::repeat_n(reciprocal, count));
            } else {
                below.push(value);
            }
        }
        if below.is_empty() {
            return above;
        }
        let numerator = if above.is_empty() { self.exprs.int(1) } else { self.multiply(above) };
        let denominator = self.multiply(below);
        vec![self.exprs.over(numerator, denominator)]
    }

    fn multiply(&mut self, factors: Vec<ExprId>) -> ExprId {
        factors.into_iter().reduce(|product, factor| self.exprs.times(product, factor)).expect("a factor")
    }
}
