//! In: a [`System`]. Out: the same with shared products named.
//!
//! After: no pair of factors occurs in two different products. The most frequent pair goes first; a pair of reciprocals
//! becomes the reciprocal of a product, which saves a division.

use std::collections::{BTreeMap, BTreeSet};

use super::algebra::{Coef, Mono, Poly, Var};
use super::system::{Def, System};

/// A factor or its reciprocal.
type Literal = (Var, i32);

/// Names products that are shared.
pub(super) fn share_products(system: &mut System) {
    let rows = system.rows();
    let used: Vec<Mono> = System::uses(&rows).into_keys().collect();
    let mut now = used.clone();
    loop {
        let monos: BTreeSet<Mono> = now.iter().copied().collect();
        let mut counts: BTreeMap<(Literal, Literal), usize> = BTreeMap::new();
        for &mono in &monos {
            for pair in pairs(system.algebra.factors(mono)) {
                *counts.entry(pair).or_default() += 1;
            }
        }
        // Of equally frequent pairs the first, which is the one made of the oldest variables.
        let best = counts.iter().filter(|(_, count)| **count > 1).max_by(|a, b| a.1.cmp(b.1).then(b.0.cmp(a.0)));
        let Some((&(left, right), _)) = best else { break };
        extract(system, &mut now, left, right);
    }
    let renamed: BTreeMap<Mono, Mono> = used.into_iter().zip(now).collect();
    for (row, sum) in rows {
        let sum: Poly = sum.into_iter().map(|(mono, coef)| (renamed[&mono], coef)).collect();
        system.defs[row.index()] = Def::Sum(sum);
    }
}

/// Pairs of literals of a product, each once.
fn pairs(factors: &[(Var, i32)]) -> Vec<(Literal, Literal)> {
    let mut pairs = Vec::new();
    for (at, &(var, power)) in factors.iter().enumerate() {
        let literal = (var, power.signum());
        if power.abs() > 1 {
            pairs.push((literal, literal));
        }
        for &(other, power) in &factors[at + 1..] {
            pairs.push((literal, (other, power.signum())));
        }
    }
    pairs
}

/// Replaces a pair in all products by a new variable.
fn extract(system: &mut System, monos: &mut [Mono], left: Literal, right: Literal) {
    let sign = if left.1 < 0 && right.1 < 0 { -1 } else { 1 };
    let mut factors = BTreeMap::new();
    for (var, power) in [left, right] {
        *factors.entry(var).or_insert(0) += power * sign;
    }
    let product = system.algebra.mono(factors.into_iter().collect());
    let var = system.push(Def::Sum(Poly::from([(product, Coef::ONE)])));
    for mono in monos {
        let times = occurrences(system.algebra.factors(*mono), left, right);
        if times > 0 {
            let removed = system.algebra.raise(product, -sign * times);
            let added = system.algebra.mono(vec![(var, sign * times)]);
            let rest = system.algebra.times(*mono, removed);
            *mono = system.algebra.times(rest, added);
        }
    }
}

/// How often a pair fits into a product.
fn occurrences(factors: &[(Var, i32)], left: Literal, right: Literal) -> i32 {
    let power = |(var, sign): Literal| {
        let power = factors.iter().find(|(own, _)| *own == var).map_or(0, |(_, power)| *power);
        if power.signum() == sign { power.abs() } else { 0 }
    };
    if left == right { power(left) / 2 } else { power(left).min(power(right)) }
}
