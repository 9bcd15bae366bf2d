//! In: a [`System`]. Out: the same with reciprocals taken together.
//!
//! Why: a division costs as much as many multiplications. `1/a`, `1/b`, `1/c`, `1/d` follow from one division and nine
//! products (Montgomery's trick).
//!
//! After: reciprocals that the same outputs always need, and none of which needs another, share divisions in groups of
//! at most [`GROUP`]. Always: a reciprocal that a choice may leave unused stays alone, since a zero among its group would
//! make the whole group undefined. Groups are small, so that products stay far from overflow and underflow in 32 bits.

use std::collections::{BTreeMap, BTreeSet};

use super::algebra::{Coef, Mono, Poly, Var};
use super::system::{Def, System};

/// Most reciprocals that share one division.
const GROUP: usize = 4;

/// Fewest reciprocals worth sharing: two take three products to save one division.
const FEWEST: usize = 3;

/// Takes reciprocals together.
pub(super) fn share_divisions(system: &mut System) {
    let order = system.order();
    let mut divisors: Vec<Var> = Vec::new();
    for mono in System::uses(&system.rows()).into_keys() {
        let below = system.algebra.factors(mono).iter().filter(|(_, power)| *power < 0);
        divisors.extend(below.map(|(var, _)| *var));
    }
    let divisors: BTreeSet<Var> = divisors.into_iter().collect();
    if divisors.len() < FEWEST {
        return;
    }
    let (reach, level) = (unguarded(system, &order), levels(system, &order));
    let mut alike: BTreeMap<(BTreeSet<usize>, usize), Vec<Var>> = BTreeMap::new();
    for var in order.into_iter().filter(|var| divisors.contains(var)) {
        let outputs = reach[var.index()].clone();
        if !outputs.is_empty() {
            alike.entry((outputs, level[var.index()])).or_default().push(var);
        }
    }
    for vars in alike.into_values().filter(|vars| vars.len() >= FEWEST) {
        let groups = vars.len().div_ceil(GROUP);
        let mut rest = &vars[..];
        for left in (1..=groups).rev() {
            let (group, others) = rest.split_at(rest.len().div_ceil(left));
            rest = others;
            if group.len() >= FEWEST {
                invert(system, group);
            }
        }
    }
}

/// The outputs that need the reciprocal of a variable (not merely the variable), whatever choices say.
fn unguarded(system: &System, order: &[Var]) -> Vec<BTreeSet<usize>> {
    let mut reach: Vec<BTreeSet<usize>> = vec![BTreeSet::new(); system.defs.len()];
    let mut below = reach.clone();
    for (at, output) in system.outputs.iter().enumerate() {
        reach[output.index()].insert(at);
    }
    for var in order.iter().rev() {
        let outputs = reach[var.index()].clone();
        match &system.defs[var.index()] {
            Def::Leaf(_) => {}
            Def::Sqrt(operand) => reach[operand.index()].extend(&outputs),
            Def::Select { left, right, .. } => {
                reach[left.index()].extend(&outputs);
                reach[right.index()].extend(&outputs);
            }
            Def::Sum(sum) => {
                for mono in sum.keys() {
                    for (factor, power) in system.algebra.factors(*mono) {
                        reach[factor.index()].extend(&outputs);
                        if *power < 0 {
                            below[factor.index()].extend(&outputs);
                        }
                    }
                }
            }
        }
    }
    below
}

/// How many reciprocals, one after the other, each variable needs.
fn levels(system: &System, order: &[Var]) -> Vec<usize> {
    let mut level = vec![0; system.defs.len()];
    for var in order {
        level[var.index()] = match &system.defs[var.index()] {
            Def::Sum(sum) => {
                let factors = sum.keys().flat_map(|mono| system.algebra.factors(*mono));
                factors.map(|(factor, power)| level[factor.index()] + usize::from(*power < 0)).max().unwrap_or(0)
            }
            _ => {
                let mut most = 0;
                system.visit_operands(*var, |operand| most = most.max(level[operand.index()]));
                most
            }
        };
    }
    level
}

/// Replaces the reciprocals of a group.
fn invert(system: &mut System, group: &[Var]) {
    let rows = system.rows();
    // before[k] = group[0] * ... * group[k]
    let mut before = vec![group[0]];
    for &var in &group[1..] {
        let product = product(system, before[before.len() - 1], var);
        before.push(product);
    }
    let mono = system.algebra.mono(vec![(before[group.len() - 1], -1)]);
    // The reciprocal of before[k], from the last to the first.
    let mut inverse = system.push(Def::Sum(Poly::from([(mono, Coef::ONE)])));
    let mut reciprocals: BTreeMap<Var, Var> = BTreeMap::new();
    for k in (1..group.len()).rev() {
        let reciprocal = product(system, inverse, before[k - 1]);
        reciprocals.insert(group[k], reciprocal);
        inverse = product(system, inverse, group[k]);
    }
    reciprocals.insert(group[0], inverse);
    for (row, sum) in rows {
        let replaced = sum.into_iter().map(|(mono, coef)| (replace(system, mono, &reciprocals), coef));
        let replaced = replaced.collect();
        system.defs[row.index()] = Def::Sum(replaced);
    }
}

fn product(system: &mut System, a: Var, b: Var) -> Var {
    let (a, b) = (system.algebra.single(a), system.algebra.single(b));
    let mono = system.algebra.times(a, b);
    system.push(Def::Sum(Poly::from([(mono, Coef::ONE)])))
}

/// The monomial with products by reciprocals instead of divisions.
fn replace(system: &mut System, mono: Mono, reciprocals: &BTreeMap<Var, Var>) -> Mono {
    let factors = system.algebra.factors(mono).iter().map(|&(var, power)| match reciprocals.get(&var) {
        Some(&reciprocal) if power < 0 => (reciprocal, -power),
        _ => (var, power),
    });
    let factors = factors.collect();
    system.algebra.mono(factors)
}
