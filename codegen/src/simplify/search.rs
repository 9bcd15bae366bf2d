//! In: a `KernelIr`. Out: the cheapest [`System`] found for it.
//!
//! Two things are tried: which sums to inline where (one after the other, what pays stays), then ties of the pair search.
//! Every trial runs all passes and is priced as expressions. The number of trials is fixed; nothing depends on time.

use std::collections::BTreeSet;

use super::build::build;
use super::cost::price;
use super::normal::{Edge, normal};
use super::pairs::{Choice, share_sums};
use super::products::share_products;
use super::reciprocals::share_divisions;
use super::scale::rescale;
use super::system::System;
use crate::count::count;
use crate::ir::KernelIr;

/// Trials that resolve ties differently.
const SEEDS: u64 = 16;

/// Steps of rescaling in a trial, and for the best trial.
const TRIAL_STEPS: usize = 1500;
const FINAL_STEPS: usize = 20_000;

/// The cheapest system found.
pub(super) fn search(kernel: &KernelIr) -> System {
    let mut inline: BTreeSet<Edge> = BTreeSet::new();
    let mut choice = Choice { constant: 3, seed: 0 };
    let mut best = trial(kernel, &inline, choice, TRIAL_STEPS).0;
    for edge in normal(kernel, &inline).edges {
        inline.insert(edge);
        let now = trial(kernel, &inline, choice, TRIAL_STEPS).0;
        if now < best {
            best = now;
        } else {
            inline.remove(&edge);
        }
    }
    for seed in 1..SEEDS {
        let other = Choice { constant: if seed % 2 == 0 { 3 } else { 1 }, seed };
        let now = trial(kernel, &inline, other, TRIAL_STEPS).0;
        if now < best {
            best = now;
            choice = other;
        }
    }
    trial(kernel, &inline, choice, FINAL_STEPS).1
}

fn trial(kernel: &KernelIr, inline: &BTreeSet<Edge>, choice: Choice, steps: usize) -> (u32, System) {
    let mut system = normal(kernel, inline).system;
    share_products(&mut system);
    share_sums(&mut system, choice);
    share_products(&mut system);
    share_divisions(&mut system);
    rescale(&mut system, steps);
    let (exprs, outputs) = build(&system);
    (price(&count(&exprs, &outputs)), system)
}
