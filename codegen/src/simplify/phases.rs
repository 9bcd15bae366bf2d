//! Phases: where too many values would be alive at once, a kernel computes some of them again.
//!
//! In: a [`KernelIr`]. Out: [`KernelIr`]s of its phases in order, each simplified by itself, and their [`Dag`]s as one.
//!
//! After: no value but the inputs is alive from one phase to the next that is not a *gather*.
//!
//! A let is a gather if it is made of several populations that no other gather stands for: a moment, a scalar product over
//! directions. Entropic methods need one value for each direction on both sides of a gather: KBC its equilibrium, for the stress
//! and again for the scalar products, and these to relax with what comes of them. Shared by the whole kernel they are 81
//! values alive on D3Q27, and a processor of a GPU has registers for few cells. So such a kernel is cut behind the gather: phases
//! share gathers and the populations alone, and what else they need each makes of these. Measured on an H200, D3Q27 KBC:
//! 64 registers in f32 where there were 94, 128 in f64 where there were 196, and .89 of the copy in f32 where it was .82.

use std::collections::{BTreeMap, BTreeSet};

use lbm_bundle::Cost;
use lbm_dsl::expr::{Expr, ExprId, Exprs, Pop, Symbol};

use crate::ir::{Dag, KernelIr, Output};

/// Values alive behind a gather above which a kernel is cut there, inputs included. With addresses and what is in flight, as many
/// values of 32 bits take 64 registers, which a processor has for half of the threads that it can hold.
const MOST_ALIVE: usize = 48;

/// What a value is made of, apart from gathers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Source {
    /// No population.
    None,
    /// This one.
    One(Pop),
    /// More than one.
    Several,
}

impl Source {
    fn with(self, other: Source) -> Source {
        match (self, other) {
            (Source::None, one) | (one, Source::None) => one,
            (Source::One(a), Source::One(b)) if a == b => self,
            _ => Source::Several,
        }
    }
}

/// The phases of a kernel; the kernel itself if it needs no second.
pub(super) fn split(kernel: &KernelIr) -> Vec<KernelIr> {
    let gathers = gathers(kernel);
    let outputs: Vec<ExprId> = kernel.outputs.iter().map(|output| output.value).collect();
    let populations = kernel.exprs.symbols(&outputs).filter(|symbol| matches!(symbol, Symbol::Population(_))).count();
    let last = gathers.values().copied().max().unwrap_or(0);
    let of_ranks = |from: usize, to: usize| gathers.iter().filter(move |(_, rank)| (from..=to).contains(*rank));
    let roots = |from: usize, to: usize| of_ranks(from, to).map(|(id, _)| *id).collect::<Vec<_>>();
    let later = |rank: usize| [roots(rank + 1, last), outputs.clone()].concat();
    let cuts: Vec<usize> = (1..=last)
        .filter(|&rank| {
            let [before, after] = [roots(1, rank), later(rank)].map(|roots| made_for(&kernel.exprs, &roots, &gathers));
            let read_after: BTreeSet<ExprId> = after
                .iter()
                .chain(&later(rank))
                .filter(|id| !before.contains(id) && gathers.get(id).is_none_or(|own| *own > rank))
                .flat_map(|id| kernel.exprs.get(*id).operands())
                .collect();
            let alive = |id: &&ExprId| !gathers.contains_key(id) && !kernel.exprs.get(**id).operands().is_empty();
            populations + read_after.intersection(&before).filter(alive).count() > MOST_ALIVE
        })
        .collect();

    let mut phases = Vec::new();
    // Gathers of phases before, by what they are handed on as.
    let mut kept: BTreeMap<ExprId, Symbol> = BTreeMap::new();
    for (at, cut) in cuts.iter().enumerate() {
        let first = at.checked_sub(1).map_or(1, |before| cuts[before] + 1);
        let needed = made_for(&kernel.exprs, &later(*cut), &gathers);
        let goals: Vec<ExprId> = roots(first, *cut).into_iter().filter(|id| needed.contains(id)).collect();
        let output = |value: &ExprId| Output {
            name: kernel.lets.iter().find(|own| own.value == *value).expect("a gather has a name").name.clone(),
            value: *value,
            population: None,
        };
        phases.push(phase(kernel, goals.iter().map(output).collect(), &kept));
        for goal in goals {
            let next = Symbol::Kept(kept.len() as u16);
            kept.insert(goal, next);
        }
    }
    phases.push(phase(kernel, kernel.outputs.clone(), &kept));
    phases
}

/// The gathers of a kernel, each with its rank: how many of them are made one of the other, itself included.
fn gathers(kernel: &KernelIr) -> BTreeMap<ExprId, usize> {
    let named: BTreeSet<ExprId> = kernel.lets.iter().map(|own| own.value).collect();
    let mut gathers = BTreeMap::new();
    let mut made: Vec<(Source, usize)> = Vec::with_capacity(kernel.exprs.len());
    for (id, node) in kernel.exprs.iter() {
        let own = match node {
            Expr::Symbol(Symbol::Population(pop)) => Source::One(*pop),
            _ => Source::None,
        };
        let operands = node.operands();
        let of = operands.iter().map(|operand| made[operand.index()]);
        let (source, rank) = of.fold((own, 0), |(source, rank), (other, its)| (source.with(other), rank.max(its)));
        if source == Source::Several && named.contains(&id) {
            gathers.insert(id, rank + 1);
            made.push((Source::None, rank + 1));
        } else {
            made.push((source, rank));
        }
    }
    gathers
}

/// What `roots` are made of: down to gathers, which are named and not looked into.
fn made_for(exprs: &Exprs, roots: &[ExprId], gathers: &BTreeMap<ExprId, usize>) -> BTreeSet<ExprId> {
    let mut seen = BTreeSet::new();
    let mut open: Vec<ExprId> = roots.iter().flat_map(|root| exprs.get(*root).operands()).collect();
    while let Some(id) = open.pop() {
        if seen.insert(id) && !gathers.contains_key(&id) {
            open.extend(exprs.get(id).operands());
        }
    }
    seen
}

/// The part of a kernel that makes `outputs` of its inputs and of what phases before it kept.
fn phase(kernel: &KernelIr, outputs: Vec<Output>, kept: &BTreeMap<ExprId, Symbol>) -> KernelIr {
    let roots: Vec<ExprId> = outputs.iter().map(|output| output.value).collect();
    let mut whole = Exprs::new();
    let new = kernel.exprs.rewrite(&roots, &mut whole, |to, id, node| match kept.get(&id) {
        Some(symbol) => to.symbol(*symbol),
        None => to.add(node),
    });
    let (exprs, own) = whole.subgraph(&roots.iter().map(|root| new[*root]).collect::<Vec<_>>());
    let place = |id: ExprId| new.get(id).and_then(|id| own.get(id));
    let is_value = |id: &ExprId| !matches!(exprs.get(*id), Expr::Const(_) | Expr::Symbol(_));
    let lets = kernel.lets.iter().filter_map(|named| {
        let value = place(named.value).filter(is_value)?;
        Some(crate::ir::Named { value, ..named.clone() })
    });
    let handed = kept.values().map(|symbol| {
        let Symbol::Kept(number) = symbol else { unreachable!("what is kept has a number") };
        (*symbol, format!("kept_{number}"))
    });
    KernelIr {
        name: kernel.name.clone(),
        lets: lets.collect(),
        outputs: outputs.into_iter().map(|output| Output { value: own[new[output.value]], ..output }).collect(),
        symbols: kernel.symbols.iter().cloned().chain(handed).collect(),
        exprs,
    }
}

/// Phases as one kernel: what one hands on, the next ones take by [`Expr::Again`].
pub(super) fn join(kernel: &KernelIr, phases: Vec<Dag>) -> Dag {
    let mut joined = Dag {
        name: kernel.name.clone(),
        exprs: Exprs::new(),
        lets: Vec::new(),
        outputs: Vec::new(),
        symbols: kernel.symbols.clone(),
        algebra: Cost::default(),
    };
    let mut kept: Vec<ExprId> = Vec::new();
    let mut names: BTreeSet<String> = BTreeSet::new();
    let last = phases.len() - 1;
    for (at, phase) in phases.into_iter().enumerate() {
        let roots: Vec<ExprId> = phase.outputs.iter().map(|output| output.value).collect();
        let new = phase.exprs.rewrite(&roots, &mut joined.exprs, |to, _, node| match node {
            Expr::Symbol(Symbol::Kept(number)) => {
                let own = &mut kept[usize::from(number)];
                *own = to.add(Expr::Again(*own));
                *own
            }
            node => to.add(node),
        });
        let lets = phase.lets.into_iter().filter(|named| names.insert(named.name.clone()));
        joined.lets.extend(lets.filter_map(|named| Some(crate::ir::Named { value: new.get(named.value)?, ..named })));
        joined.algebra = joined.algebra + phase.algebra;
        if at == last {
            let output = |output: Output| Output { value: new[output.value], ..output };
            joined.outputs = phase.outputs.into_iter().map(output).collect();
        } else {
            kept.extend(roots.iter().map(|root| new[*root]));
        }
    }
    joined
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::simplify::testing::collision;

    #[test]
    fn an_entropic_method_is_cut_behind_the_stress_and_behind_the_scalar_products() {
        let kernel = collision("d3q27_kbc", 0, 0).ir;
        let names: Vec<Vec<String>> = split(&kernel)
            .iter()
            .map(|phase| phase.outputs.iter().map(|output| output.name.clone()).collect())
            .collect();
        assert_eq!(names.len(), 3);
        assert!(names[0].contains(&"rho".into()) && names[0].contains(&"pi_xy".into()), "{names:?}");
        assert_eq!(names[1], ["sh", "hh"]);
    }

    #[test]
    fn methods_of_moments_are_one_phase() {
        for spec in ["d2q9_bgk", "d3q19_smagorinsky", "d3q27_bgk", "d3q27_cumulant", "d3q27_central"] {
            assert_eq!(split(&collision(spec, 0, 0).ir).len(), 1, "{spec}");
        }
    }
}
