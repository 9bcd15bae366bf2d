//! In: a `KernelIr`. Out: a [`System`] of sums of products.
//!
//! After: every let and every output is a sum of products over inputs and those lets that were kept. A let that is one
//! product is always inlined; a let that is a sum is inlined where `inline` says so, else it stays a variable: the
//! author's names are the places where formulas are cut. Products of two long sums are not expanded, nor are squares of
//! sums under a root, a power or another function: what is never negative must not become so by rounding.

use std::collections::{BTreeMap, BTreeSet};

use lbm_dsl::expr::{Expr, ExprId, Exprs};

use super::algebra::{Coef, Mono, Poly, Var};
use super::system::{Def, System};
use crate::ir::KernelIr;

/// Products of sums are expanded up to this many terms.
const EXPANSION: usize = 40;

/// Position of a family of lets in order of first appearance; the outputs are one more.
pub(super) type Family = usize;

/// A family that uses the lets of another: `(user, used)`.
pub(super) type Edge = (Family, Family);

/// A kernel in normal form and the places where a sum could be inlined.
pub(super) struct Normal {
    pub(super) system: System,
    /// Every use of a kept or inlined sum by another family.
    pub(super) edges: Vec<Edge>,
}

/// Brings a kernel into normal form.
pub(super) fn normal(kernel: &KernelIr, inline: &BTreeSet<Edge>) -> Normal {
    let mut families: Vec<&str> = Vec::new();
    let mut family_of = Vec::new();
    let mut owner = BTreeMap::new();
    for (at, named) in kernel.lets.iter().enumerate() {
        let family = families.iter().position(|family| *family == named.family).unwrap_or_else(|| {
            families.push(&named.family);
            families.len() - 1
        });
        family_of.push(family);
        let value = kernel.exprs.core(named.value);
        if !matches!(kernel.exprs.get(value), Expr::Const(_) | Expr::Symbol(_)) {
            owner.entry(value).or_insert(at);
        }
    }
    let mut work = Work {
        kernel,
        inline,
        family_of,
        owner,
        system: System::new(),
        squares: squares_under_roots(&kernel.exprs),
        lets: vec![None; kernel.lets.len()],
        memo: BTreeMap::new(),
        edges: BTreeSet::new(),
    };
    for output in &kernel.outputs {
        let sum = work.sum(output.value, families.len());
        let var = work.system.var(&sum);
        work.system.outputs.push(var);
    }
    Normal { system: work.system, edges: work.edges.into_iter().collect() }
}

/// The squares among the terms and factors of what roots and other functions are taken of.
fn squares_under_roots(exprs: &Exprs) -> BTreeSet<ExprId> {
    let mut squares = BTreeSet::new();
    let mut seen = BTreeSet::new();
    let function = |node: &&Expr| matches!(node, Expr::Sqrt(_) | Expr::Call(..));
    let mut left: Vec<ExprId> = exprs.iter().map(|(_, node)| node).filter(function).flat_map(Expr::operands).collect();
    while let Some(id) = left.pop() {
        match *exprs.get(id) {
            _ if !seen.insert(id) => {}
            Expr::Mul(a, b) if a == b => _ = squares.insert(id),
            Expr::Neg(a) => left.push(a),
            Expr::Add(a, b) | Expr::Sub(a, b) | Expr::Mul(a, b) | Expr::Div(a, b) => left.extend([a, b]),
            _ => {}
        }
    }
    squares
}

struct Work<'a> {
    kernel: &'a KernelIr,
    inline: &'a BTreeSet<Edge>,
    family_of: Vec<Family>,
    /// The first let with that value, but for sign and constant factor.
    owner: BTreeMap<ExprId, usize>,
    /// Squares that are not expanded.
    squares: BTreeSet<ExprId>,
    system: System,
    lets: Vec<Option<Poly>>,
    memo: BTreeMap<(Family, ExprId), Poly>,
    edges: BTreeSet<Edge>,
}

impl Work<'_> {
    /// An expression as `user` sees it.
    fn sum(&mut self, id: ExprId, user: Family) -> Poly {
        let Some(&owner) = self.owner.get(&id) else { return self.written(id, user) };
        if self.lets[owner].is_none() {
            let sum = self.written(id, self.family_of[owner]);
            self.lets[owner] = Some(sum);
        }
        let sum = self.lets[owner].clone().expect("just set");
        if sum.len() <= 1 {
            return sum;
        }
        let edge = (user, self.family_of[owner]);
        self.edges.insert(edge);
        if self.inline.contains(&edge) { sum } else { self.kept(&sum) }
    }

    /// A sum as one variable.
    fn kept(&mut self, sum: &Poly) -> Poly {
        let (var, factor) = self.system.scaled_var(sum);
        self.system.single(var, factor)
    }

    /// An expression from its operands.
    fn written(&mut self, id: ExprId, user: Family) -> Poly {
        if let Some(sum) = self.memo.get(&(user, id)) {
            return sum.clone();
        }
        let sum = match self.kernel.exprs.get(id).clone() {
            Expr::Const(value) => {
                let coef = self.system.algebra.coef(&value);
                if coef == Coef::ZERO { Poly::new() } else { Poly::from([(Mono::ONE, coef)]) }
            }
            Expr::Symbol(symbol) => {
                let var = self.system.leaf(symbol);
                self.system.single(var, Coef::ONE)
            }
            Expr::Neg(a) => {
                let a = self.sum(a, user);
                self.system.algebra.add_scaled(&Poly::new(), &a, Coef::MINUS_ONE)
            }
            Expr::Add(a, b) => self.add(a, b, Coef::ONE, user),
            Expr::Sub(a, b) => self.add(a, b, Coef::MINUS_ONE, user),
            Expr::Mul(a, _) if self.squares.contains(&id) => {
                let a = self.sum(a, user);
                let a = if a.len() > 1 { self.kept(&a) } else { a };
                self.system.algebra.expand(&a, &a)
            }
            Expr::Mul(a, b) => self.multiply(a, b, user),
            Expr::Fma(a, b, c) => {
                let product = self.multiply(a, b, user);
                let c = self.sum(c, user);
                self.system.algebra.add_scaled(&product, &c, Coef::ONE)
            }
            Expr::Div(a, b) => {
                let (a, b) = (self.sum(a, user), self.sum(b, user));
                let divisor = if b.len() == 1 { b } else { self.kept(&b) };
                let (&mono, &coef) = divisor.iter().next().expect("a kept sum is one term");
                let (mono, coef) = (self.system.algebra.raise(mono, -1), self.system.algebra.divide(Coef::ONE, coef));
                self.system.algebra.expand(&a, &Poly::from([(mono, coef)]))
            }
            Expr::Again(_) => unreachable!("phases are simplified one by one"),
            Expr::Sqrt(a) => {
                let a = self.var(a, user);
                let root = self.system.push(Def::Sqrt(a));
                self.system.single(root, Coef::ONE)
            }
            Expr::Call(function, operands) => {
                let operands = operands.iter().map(|operand| self.var(*operand, user)).collect();
                let value = self.system.push(Def::Call(function, operands));
                self.system.single(value, Coef::ONE)
            }
            Expr::Select { compare, left, right, then, otherwise } => {
                let [left, right, then, otherwise] = [left, right, then, otherwise].map(|side| self.var(side, user));
                let choice = self.system.push(Def::Select { compare, left, right, then, otherwise });
                self.system.single(choice, Coef::ONE)
            }
        };
        self.memo.insert((user, id), sum.clone());
        sum
    }

    fn var(&mut self, id: ExprId, user: Family) -> Var {
        let sum = self.sum(id, user);
        self.system.var(&sum)
    }

    fn add(&mut self, a: ExprId, b: ExprId, sign: Coef, user: Family) -> Poly {
        let (a, b) = (self.sum(a, user), self.sum(b, user));
        self.system.algebra.add_scaled(&a, &b, sign)
    }

    fn multiply(&mut self, a: ExprId, b: ExprId, user: Family) -> Poly {
        let (mut a, mut b) = (self.sum(a, user), self.sum(b, user));
        if a.len() > 1 && b.len() > 1 && a.len() * b.len() > EXPANSION {
            a = self.kept(&a);
            b = self.kept(&b);
        }
        self.system.algebra.expand(&a, &b)
    }
}

#[cfg(test)]
mod tests {
    use lbm_dsl::expr::{Pop, Symbol};

    use super::*;
    use crate::eval::eval_dag;
    use crate::ir::Output;
    use crate::simplify::simplify;

    #[test]
    fn a_sum_of_squares_under_a_root_is_never_negative() {
        // sqrt((a - m)^2 + (b - m)^2) with m = (a + b) / 2, which vanishes at a = b.
        let mut exprs = Exprs::new();
        let [a, b] = [0, 1].map(|at| exprs.symbol(Symbol::Population(Pop(at))));
        let (sum, two) = (exprs.plus(a, b), exprs.int(2));
        let mean = exprs.over(sum, two);
        let squares = [a, b].map(|value| {
            let apart = exprs.minus(value, mean);
            exprs.times(apart, apart)
        });
        let sum = exprs.plus(squares[0], squares[1]);
        let value = exprs.add(Expr::Sqrt(sum));
        let kernel = KernelIr {
            name: "root".into(),
            exprs,
            lets: Vec::new(),
            outputs: vec![Output { name: "x".into(), value, population: None }],
            symbols: [0, 1].map(|at| (Symbol::Population(Pop(at)), format!("f_{at}"))).into(),
        };
        let dag = simplify(&kernel).unwrap();
        for at in 1..1000 {
            let root = eval_dag::<f32>(&dag, |symbol| match symbol {
                Symbol::Population(Pop(0)) => at as f32 * 0.001,
                _ => at as f32 * 0.001 * (1.0 + f32::EPSILON),
            });
            assert!(root[0] >= 0.0 && root[0] < 1e-6, "{} at {at}", root[0]);
        }
    }
}
