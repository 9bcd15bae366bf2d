//! A kernel as a set of variables, each an input, a sum of products of other variables, a square root or another
//! function, or a choice.
//!
//! After: every variable that an output needs is defined, without cycles; sums that differ only by a factor have one
//! variable. What the passes change is how sums are cut into variables, never the value of an output.

use std::collections::BTreeMap;

use lbm_dsl::expr::{Compare, Symbol};
use lbm_dsl::function::Function;

use super::algebra::{Algebra, Coef, Mono, Poly, Var};

/// What a variable is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Def {
    /// A given value.
    Leaf(Symbol),
    /// A sum of products.
    Sum(Poly),
    /// Square root.
    Sqrt(Var),
    /// Another function.
    Call(Function, Vec<Var>),
    /// `then` where `left compare right`, else `otherwise`.
    Select { compare: Compare, left: Var, right: Var, then: Var, otherwise: Var },
}

/// Variables, their definitions and the outputs.
#[derive(Clone, Debug)]
pub(super) struct System {
    pub(super) algebra: Algebra,
    pub(super) defs: Vec<Def>,
    pub(super) outputs: Vec<Var>,
    /// Sums by their multiple with leading coefficient one; the variable is the coefficient times that.
    sums: BTreeMap<Poly, (Var, Coef)>,
    leaves: BTreeMap<Symbol, Var>,
}

impl System {
    pub(super) fn new() -> Self {
        Self {
            algebra: Algebra::new(),
            defs: Vec::new(),
            outputs: Vec::new(),
            sums: BTreeMap::new(),
            leaves: BTreeMap::new(),
        }
    }

    /// The variable of an input.
    pub(super) fn leaf(&mut self, symbol: Symbol) -> Var {
        if let Some(&var) = self.leaves.get(&symbol) {
            return var;
        }
        let var = self.push(Def::Leaf(symbol));
        self.leaves.insert(symbol, var);
        var
    }

    /// A new variable.
    pub(super) fn push(&mut self, def: Def) -> Var {
        self.defs.push(def);
        Var(self.defs.len() as u32 - 1)
    }

    /// A variable of which the sum is a multiple, and the factor.
    pub(super) fn scaled_var(&mut self, sum: &Poly) -> (Var, Coef) {
        if let Some((&mono, &coef)) = sum.iter().next()
            && sum.len() == 1
            && let Some(var) = self.algebra.as_var(mono)
        {
            return (var, coef);
        }
        let lead = sum.values().next().copied().unwrap_or(Coef::ONE);
        let unit: Poly = sum.iter().map(|(&mono, &coef)| (mono, self.algebra.divide(coef, lead))).collect();
        if let Some(&(var, own)) = self.sums.get(&unit) {
            return (var, self.algebra.divide(lead, own));
        }
        let var = self.push(Def::Sum(sum.clone()));
        self.sums.insert(unit, (var, lead));
        (var, Coef::ONE)
    }

    /// The variable that the sum is.
    pub(super) fn var(&mut self, sum: &Poly) -> Var {
        let (var, factor) = self.scaled_var(sum);
        if factor == Coef::ONE {
            return var;
        }
        let mono = self.algebra.single(var);
        self.push(Def::Sum(Poly::from([(mono, factor)])))
    }

    /// The sum that is one variable times a factor.
    pub(super) fn single(&mut self, var: Var, factor: Coef) -> Poly {
        Poly::from([(self.algebra.single(var), factor)])
    }

    /// Visits the variables that a variable is computed from, some perhaps twice.
    pub(super) fn visit_operands(&self, var: Var, mut visit: impl FnMut(Var)) {
        match &self.defs[var.index()] {
            Def::Leaf(_) => {}
            Def::Sum(sum) => {
                let factors = sum.keys().flat_map(|mono| self.algebra.factors(*mono));
                factors.for_each(|(var, _)| visit(*var));
            }
            Def::Sqrt(operand) => visit(*operand),
            Def::Call(_, operands) => operands.iter().for_each(|var| visit(*var)),
            Def::Select { left, right, then, otherwise, .. } => {
                [left, right, then, otherwise].into_iter().for_each(|var| visit(*var));
            }
        }
    }

    /// The variables that the outputs need, operands first.
    pub(super) fn order(&self) -> Vec<Var> {
        let mut done = vec![false; self.defs.len()];
        let mut order = Vec::new();
        let mut stack: Vec<(Var, bool)> = self.outputs.iter().rev().map(|var| (*var, false)).collect();
        while let Some((var, ready)) = stack.pop() {
            if done[var.index()] {
                continue;
            }
            if ready {
                done[var.index()] = true;
                order.push(var);
                continue;
            }
            stack.push((var, true));
            let first = stack.len();
            self.visit_operands(var, |operand| stack.push((operand, false)));
            stack[first..].reverse();
        }
        order
    }

    /// The sums that the outputs need, operands first.
    pub(super) fn rows(&self) -> Vec<(Var, Poly)> {
        let sums = self.order().into_iter().filter_map(|var| match &self.defs[var.index()] {
            Def::Sum(sum) => Some((var, sum.clone())),
            _ => None,
        });
        sums.collect()
    }

    /// In how many sums each monomial occurs.
    pub(super) fn uses(rows: &[(Var, Poly)]) -> BTreeMap<Mono, usize> {
        let mut uses = BTreeMap::new();
        for mono in rows.iter().flat_map(|(_, sum)| sum.keys()) {
            *uses.entry(*mono).or_default() += 1;
        }
        uses
    }
}
