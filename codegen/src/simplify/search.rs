//! In: a `KernelIr`. Out: the cheapest [`System`] found for it.
//!
//! Two things are tried: which sums to inline where (one after the other, what pays stays), then ties of the pair search.
//! Every trial runs all passes and is priced as expressions. The number of trials is fixed; nothing depends on time.

use std::collections::BTreeSet;

use super::build::build;
use super::cost::price;
use super::normal::{Edge, normal};
use super::pairs::share_sums;
use super::products::share_products;
use super::reciprocals::share_divisions;
use super::scale::rescale;
use super::system::System;
use crate::ir::KernelIr;

/// Trials that resolve ties differently, for each order of the passes.
const SEEDS: u64 = 6;

/// Inlining that makes more terms than this, in per cent of what there was, is not tried.
const GROWTH: usize = 150;

/// Steps of rescaling in a trial, and for the best trial.
const TRIAL_STEPS: usize = 1000;
const FINAL_STEPS: usize = 20_000;

/// What a trial is made with.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Trial {
    inline: BTreeSet<Edge>,
    /// Whether products are shared before sums: else common factors are pulled out first.
    products_first: bool,
    /// Order of equally good sums.
    seed: u64,
}

/// The cheapest system found.
pub(super) fn search(kernel: &KernelIr) -> System {
    let mut best = Trial { inline: BTreeSet::new(), products_first: true, seed: 0 };
    let mut least = cost(kernel, &best);
    let mut edges = normal(kernel, &best.inline).edges;
    edges.reverse();
    for edge in edges {
        let mut trial = best.clone();
        trial.inline.insert(edge);
        if terms(kernel, &trial) > GROWTH * terms(kernel, &best) / 100 {
            continue;
        }
        improve(kernel, trial, &mut best, &mut least);
    }
    for edge in best.inline.clone() {
        let mut trial = best.clone();
        trial.inline.remove(&edge);
        improve(kernel, trial, &mut best, &mut least);
    }
    for seed in 0..SEEDS {
        for products_first in [true, false] {
            let trial = Trial { products_first, seed, ..best.clone() };
            improve(kernel, trial, &mut best, &mut least);
        }
    }
    run(kernel, &best, FINAL_STEPS)
}

/// Terms of all sums in normal form.
fn terms(kernel: &KernelIr, trial: &Trial) -> usize {
    normal(kernel, &trial.inline).system.rows().iter().map(|(_, sum)| sum.len()).sum()
}

fn improve(kernel: &KernelIr, trial: Trial, best: &mut Trial, least: &mut u32) {
    let now = cost(kernel, &trial);
    if now < *least {
        *least = now;
        *best = trial;
    }
}

fn cost(kernel: &KernelIr, trial: &Trial) -> u32 {
    let (exprs, outputs) = build(&run(kernel, trial, TRIAL_STEPS));
    price(&exprs, &outputs)
}

/// All passes.
fn run(kernel: &KernelIr, trial: &Trial, steps: usize) -> System {
    let mut system = normal(kernel, &trial.inline).system;
    if trial.products_first {
        share_products(&mut system);
    }
    share_sums(&mut system, trial.seed);
    share_products(&mut system);
    share_divisions(&mut system);
    rescale(&mut system, steps);
    system
}
