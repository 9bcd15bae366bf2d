//! In: a `KernelIr`. Out: [`System`]s of it, the cheapest found, which differ in their constants.
//!
//! Two things are tried in turn: which sums to inline where (one after the other, what pays stays) and ties of the pair
//! search. Every trial runs all passes and is priced as expressions. Trials that do not pay do not change what comes after
//! them, so some run at once; the result is that of one after the other. Nothing depends on time. The best trial is rescaled
//! several times from different seeds.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::{Arc, Mutex};

use rayon::prelude::*;

use super::build::build;
use super::cost::price;
use super::normal::{Edge, Normal, normal};
use super::pairs::share_sums;
use super::products::share_products;
use super::scale::rescale;
use super::system::System;
use crate::count::count;
use crate::ir::KernelIr;

/// Trials that resolve ties differently, for each order of the passes.
const SEEDS: u64 = 6;

/// Operations as written above which everything is tried half as often: trials take longer there.
const LARGE: u32 = 720;

/// Inlining that makes more terms than this, in per cent of what there was, is not tried.
const GROWTH: usize = 150;

/// Steps of rescaling in a trial, and for the best trial.
const TRIAL_STEPS: usize = 1000;
const FINAL_STEPS: usize = 20_000;

/// How often the best trial is rescaled anew. Half of these are handed on.
const ENDS: u64 = 8;

/// What a trial is made with.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
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
    /// Prices of what was made so far: nothing is made twice to find that it is not cheaper.
    made: Arc<Mutex<BTreeMap<Trial, u32>>>,
}

impl Best {
    fn new(trial: Trial, normal: System) -> Self {
        let (price, _) = rescaled(shared(&normal, &trial), TRIAL_STEPS, 1);
        let made = Mutex::new(BTreeMap::from([(trial.clone(), price)]));
        Self { trial, normal, price, made: Arc::new(made) }
    }

    /// Another trial, unless it is known not to be cheaper.
    fn other(&self, trial: Trial, normal: impl FnOnce(&Trial) -> Option<System>) -> Option<Self> {
        let price = self.made.lock().expect("no thread panicked").get(&trial).copied();
        if price.is_some_and(|price| price >= self.price) {
            return None;
        }
        let normal = normal(&trial)?;
        let other = Self::new(trial, normal);
        self.made.lock().expect("no thread panicked").insert(other.trial.clone(), other.price);
        Some(Self { made: self.made.clone(), ..other })
    }

    /// Tries places where a sum could be inlined the other way round.
    fn inline(&mut self, kernel: &KernelIr, edges: &[Edge]) {
        self.climb(edges, |best, edge| {
            let mut trial = best.trial.clone();
            if !trial.inline.remove(edge) {
                trial.inline.insert(*edge);
            }
            best.other(trial, |trial| {
                let normal = normal(kernel, &trial.inline).system;
                (terms(&normal) <= GROWTH * terms(&best.normal) / 100).then_some(normal)
            })
        });
    }

    /// Tries ties of the pair search and the order of the passes.
    fn resolve(&mut self) {
        let ties: Vec<(u64, bool)> = (0..SEEDS).flat_map(|seed| [(seed, true), (seed, false)]).collect();
        self.climb(&ties, |best, &(seed, products_first)| {
            let trial = Trial { products_first, seed, ..best.trial.clone() };
            best.other(trial, |_| Some(best.normal.clone()))
        });
    }

    /// Makes changes one after the other; what is cheaper stays.
    fn climb<C: Sync>(&mut self, mut changes: &[C], change: impl Fn(&Self, &C) -> Option<Self> + Sync) {
        while !changes.is_empty() {
            // What is tried after a change that stays is tried again on top of it: no more at once than there are threads.
            let batch = &changes[..changes.len().min(rayon::current_num_threads())];
            let cheaper = |(at, own)| Some((at, change(self, own).filter(|other| other.price < self.price)?));
            let stays = batch.par_iter().enumerate().find_map_first(cheaper);
            let done = stays.as_ref().map_or(batch.len(), |(at, _)| at + 1);
            changes = &changes[done..];
            if let Some((_, other)) = stays {
                *self = other;
            }
        }
    }
}

/// The cheapest systems found, the cheapest first.
pub(super) fn search(kernel: &KernelIr) -> Vec<System> {
    let nothing = Trial { inline: BTreeSet::new(), products_first: true, seed: 0 };
    let Normal { system, mut edges } = normal(kernel, &nothing.inline);
    let mut best = Best::new(nothing, system);
    edges.reverse();
    let outputs: Vec<_> = kernel.outputs.iter().map(|output| output.value).collect();
    let large = count(&kernel.exprs, &outputs).flops > LARGE;
    best.inline(kernel, &edges);
    let inlined: Vec<Edge> = best.trial.inline.iter().copied().collect();
    best.inline(kernel, &inlined);
    best.resolve();
    if !large {
        best.inline(kernel, &edges);
        best.resolve();
    }
    let shared = shared(&best.normal, &best.trial);
    let ends = if large { ENDS / 2 } else { ENDS };
    let ends = (1..=ends).into_par_iter().map(|seed| rescaled(shared.clone(), FINAL_STEPS, seed));
    let mut ends: Vec<(u32, System)> = ends.collect();
    ends.sort_by_key(|(price, _)| *price);
    ends.truncate(ends.len() / 2);
    ends.into_iter().map(|(_, system)| system).collect()
}

/// Terms of all sums.
fn terms(system: &System) -> usize {
    system.rows().iter().map(|(_, sum)| sum.len()).sum()
}

/// All passes but rescaling on a kernel in normal form.
fn shared(normal: &System, trial: &Trial) -> System {
    let mut system = normal.clone();
    if trial.products_first {
        share_products(&mut system);
    }
    share_sums(&mut system, trial.seed);
    share_products(&mut system);
    system
}

/// The last pass, and the price of what comes out.
fn rescaled(mut system: System, steps: usize, seed: u64) -> (u32, System) {
    rescale(&mut system, steps, seed);
    let (exprs, outputs) = build(&system);
    (price(&exprs, &outputs), system)
}
