//! In: a [`System`]. Out: the same with shared products named.
//!
//! After: no pair of factors occurs in two different products. The most frequent pair goes first; a pair of reciprocals
//! becomes the reciprocal of a product, which saves a division.

use std::cmp::Reverse;
use std::collections::BTreeMap;

use rustc_hash::FxHashMap;

use super::algebra::{Coef, Mono, Poly, Var};
use super::system::{Def, System};

/// A factor or its reciprocal.
type Literal = (Var, i32);

/// Two literals of a product, the older variable first.
type Pair = (Literal, Literal);

/// Names products that are shared.
pub(super) fn share_products(system: &mut System) {
    let rows = system.rows();
    let used: Vec<Mono> = System::uses(&rows).into_keys().collect();
    let mut now = used.clone();
    // Products that differ stay different: each counts once all the time.
    let mut counts: FxHashMap<Pair, usize> = FxHashMap::default();
    for &mono in &now {
        pairs(system.algebra.factors(mono), |pair| *counts.entry(pair).or_default() += 1);
    }
    loop {
        // Of equally frequent pairs the first, which is the one made of the oldest variables.
        let shared = counts.iter().filter(|(_, count)| **count > 1);
        let best = shared.max_by_key(|(pair, count)| (**count, Reverse(**pair)));
        let Some((&(left, right), _)) = best else { break };
        extract(system, &mut now, &mut counts, left, right);
    }
    let renamed: BTreeMap<Mono, Mono> = used.into_iter().zip(now).collect();
    for (row, sum) in rows {
        let sum: Poly = sum.into_iter().map(|(mono, coef)| (renamed[&mono], coef)).collect();
        system.defs[row.index()] = Def::Sum(sum);
    }
}

/// Visits the pairs of literals of a product, each once.
fn pairs(factors: &[(Var, i32)], mut visit: impl FnMut(Pair)) {
    for (at, &(var, power)) in factors.iter().enumerate() {
        let literal = (var, power.signum());
        if power.abs() > 1 {
            visit((literal, literal));
        }
        for &(other, power) in &factors[at + 1..] {
            visit((literal, (other, power.signum())));
        }
    }
}

/// Replaces a pair in all products by a new variable.
fn extract(
    system: &mut System,
    monos: &mut [Mono],
    counts: &mut FxHashMap<Pair, usize>,
    left: Literal,
    right: Literal,
) {
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
            pairs(system.algebra.factors(*mono), |pair| *counts.get_mut(&pair).expect("counted") -= 1);
            let removed = system.algebra.raise(product, -sign * times);
            let added = system.algebra.mono(vec![(var, sign * times)]);
            let rest = system.algebra.times(*mono, removed);
            *mono = system.algebra.times(rest, added);
            pairs(system.algebra.factors(*mono), |pair| *counts.entry(pair).or_default() += 1);
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
