//! In: a `KernelIr`. Out: the cheapest [`System`] found for it.
//!
//! Two things are tried: which sums to inline where (one after the other, what pays stays), then ties of the pair search.
//! Every trial runs all passes and is priced as expressions. The number of trials is fixed; nothing depends on time.

use std::collections::BTreeSet;

use super::build::build;
use super::cost::price;
use super::normal::{Edge, Normal, normal};
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

/// The cheapest trial so far.
struct Best {
    trial: Trial,
    /// The kernel in normal form, as the trial cuts it.
    normal: System,
    price: u32,
}

impl Best {
    fn new(trial: Trial, normal: System) -> Self {
        let (exprs, outputs) = build(&run(&normal, &trial, TRIAL_STEPS));
        let price = price(&exprs, &outputs);
        Self { trial, normal, price }
    }

    /// Takes what is cheaper.
    fn improve(&mut self, trial: Trial, normal: System) {
        let other = Self::new(trial, normal);
        if other.price < self.price {
            *self = other;
        }
    }
}

/// The cheapest system found.
pub(super) fn search(kernel: &KernelIr) -> System {
    let nothing = Trial { inline: BTreeSet::new(), products_first: true, seed: 0 };
    let Normal { system, mut edges } = normal(kernel, &nothing.inline);
    let mut best = Best::new(nothing, system);
    edges.reverse();
    for edge in edges {
        let mut trial = best.trial.clone();
        trial.inline.insert(edge);
        let normal = normal(kernel, &trial.inline).system;
        if terms(&normal) <= GROWTH * terms(&best.normal) / 100 {
            best.improve(trial, normal);
        }
    }
    for edge in best.trial.inline.clone() {
        let mut trial = best.trial.clone();
        trial.inline.remove(&edge);
        let normal = normal(kernel, &trial.inline).system;
        best.improve(trial, normal);
    }
    for seed in 0..SEEDS {
        for products_first in [true, false] {
            let trial = Trial { products_first, seed, ..best.trial.clone() };
            if trial != best.trial {
                best.improve(trial, best.normal.clone());
            }
        }
    }
    run(&best.normal, &best.trial, FINAL_STEPS)
}

/// Terms of all sums.
fn terms(system: &System) -> usize {
    system.rows().iter().map(|(_, sum)| sum.len()).sum()
}

/// All passes on a kernel in normal form.
fn run(normal: &System, trial: &Trial, steps: usize) -> System {
    let mut system = normal.clone();
    if trial.products_first {
        share_products(&mut system);
    }
    share_sums(&mut system, trial.seed);
    share_products(&mut system);
    share_divisions(&mut system);
    rescale(&mut system, steps);
    system
}
