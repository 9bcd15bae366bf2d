//! In: a `KernelIr` as the spec says it. Out: a [`Dag`] of the same values.
//!
//! ```text
//! KernelIr ──phases──▶ KernelIr ──normal──▶ System ──products, pairs, scale──▶ System ──build──▶ Exprs ──extract, rounding──▶ Exprs ──names──▶ Dag ──phases──▶ Dag
//! ```
//!
//! - `phases`: a kernel with too many values alive in parts, and the parts as one again
//! - `normal`: sums of products, cut where the author wrote `let`
//! - `products`, `pairs`: shared products, shared two-term sums, common factors
//! - `scale`: constants absorbed where something is multiplied anyway
//! - `search`: what to inline, and which of equally good choices, by trying; the cheapest after the e-graph is taken
//! - `build`: expressions; `extract`, with `lang`, `rules` and `cost`: signs and multiply-adds in an e-graph
//! - `rounding`: constants multiplied together where two would be rounded; shares of one that add up to it
//! - `names`: the spec's names in the result
//!
//! Why not the e-graph alone: sums of 27 terms have more orders than any e-graph holds. What decides here is linear algebra
//! over the monomials of all outputs together: of the operations that the shipped collisions lose it takes 99 %. The e-graph then
//! settles forms within a few operations of each other, and makes 19 % fewer instructions of them by fusing multiply-adds.
//!
//! After: every expression is needed by an output, no expression occurs twice in a phase, every constant is exact.

mod algebra;
mod build;
mod cost;
mod extract;
mod lang;
mod names;
mod normal;
mod pairs;
mod phases;
mod products;
pub(crate) mod random;
mod rounding;
mod rules;
mod scale;
mod search;
mod system;
#[cfg(test)]
pub(crate) mod testing;

use std::fmt;

use lbm_bundle::Cost;
use lbm_dsl::expr::{ExprId, Exprs};
use rayon::prelude::*;

use crate::count::count;
use crate::ir::{Dag, KernelIr, Named, Output};

/// A kernel has more operations than the search can take, or more one upon the other.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TooLarge {
    /// Name of the kernel.
    pub kernel: String,
    /// What there is too much of.
    pub what: &'static str,
    /// How many there are.
    pub found: usize,
    /// How many there may be.
    pub most: usize,
}

/// Most operations of a kernel: ten times what the largest shipped one has. The search tries all of them many times.
const MOST_OPERATIONS: usize = 10_000;
/// Most operations one upon the other: the passes follow them to the ground.
const MOST_DEPTH: usize = 1000;

/// Refuses a kernel that is too large to be searched.
fn check_size(kernel: &KernelIr) -> Result<(), TooLarge> {
    let mut depth = vec![0; kernel.exprs.len()];
    let mut operations = 0;
    for (id, node) in kernel.exprs.iter() {
        let below = node.operands().iter().map(|operand| depth[operand.index()] + 1).max();
        operations += usize::from(below.is_some());
        depth[id.index()] = below.unwrap_or(0);
    }
    let deepest = depth.into_iter().max().unwrap_or(0);
    let sizes = [("operations", operations, MOST_OPERATIONS), ("operations one upon the other", deepest, MOST_DEPTH)];
    match sizes.into_iter().find(|(_, found, most)| found > most) {
        Some((what, found, most)) => Err(TooLarge { kernel: kernel.name.clone(), what, found, most }),
        None => Ok(()),
    }
}

impl fmt::Display for TooLarge {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { kernel, what, found, most } = self;
        write!(out, "`{kernel}` has {found} {what}, of which a kernel may have {most}: write it with fewer")
    }
}

impl std::error::Error for TooLarge {}

/// Simplifies one kernel, in phases if all of it at once would keep too many values alive.
pub fn simplify_in_phases(kernel: &KernelIr) -> Result<Dag, TooLarge> {
    check_size(kernel)?;
    let phases = phases::split(kernel);
    Ok(phases::join(kernel, phases.par_iter().map(simplify).collect::<Result<_, _>>()?))
}

/// Simplifies one kernel.
pub fn simplify(kernel: &KernelIr) -> Result<Dag, TooLarge> {
    check_size(kernel)?;
    let finish = |system| {
        let (exprs, values) = build::build(&system);
        let algebra = count(&exprs, &values);
        let (exprs, values) = extract::saturate(&exprs, &values);
        let price = (cost::price(&exprs, &values), count(&exprs, &values).flops);
        (price, algebra, exprs, values)
    };
    let finished: Vec<_> = search::search(kernel).into_par_iter().map(finish).collect();
    let cheapest = finished.into_iter().min_by_key(|(price, ..)| *price);
    let (_, algebra, exprs, values) = cheapest.expect("the search ends somewhere");
    Ok(rounded(kernel, algebra, &exprs, &values))
}

/// Signs and multiply-adds of a kernel that is derived of a simplified one: it has few operations as it stands, and linear algebra finds
/// no fewer. (The adjoint of D3Q19 BGK with its parameter has 253 operations in this way, 281 if it is searched as the
/// collision is.)
pub fn fuse(kernel: &KernelIr) -> Result<Dag, TooLarge> {
    check_size(kernel)?;
    let roots: Vec<ExprId> = kernel.outputs.iter().map(|output| output.value).collect();
    let algebra = count(&kernel.exprs, &roots);
    let (exprs, values) = extract::saturate(&kernel.exprs, &roots);
    Ok(rounded(kernel, algebra, &exprs, &values))
}

/// What the e-graph gives, each constant rounded once.
fn rounded(kernel: &KernelIr, algebra: Cost, exprs: &Exprs, values: &[ExprId]) -> Dag {
    let (exprs, values) = rounding::round_once(exprs, values);
    let (exprs, values) = rounding::keep_shares(&exprs, &values);
    name(kernel, algebra, &exprs, &values)
}

/// The graph without what no output needs, with the names of the spec.
fn name(kernel: &KernelIr, algebra: Cost, exprs: &Exprs, values: &[ExprId]) -> Dag {
    let (exprs, new) = exprs.subgraph(values);
    let counterparts = names::counterparts(&kernel.exprs, &exprs);
    let lets = kernel.lets.iter().filter_map(|named| {
        let value = counterparts[named.value.index()]?;
        Some(Named { value, ..named.clone() })
    });
    let outputs = kernel.outputs.iter().zip(values);
    Dag {
        name: kernel.name.clone(),
        lets: lets.collect(),
        outputs: outputs.map(|(output, value)| Output { value: new[*value], ..output.clone() }).collect(),
        symbols: kernel.symbols.clone(),
        exprs,
        algebra,
    }
}

#[cfg(test)]
mod tests {
    use super::random::Random;
    use super::testing::{Kernel, kernels};
    use super::*;
    use crate::eval::{eval_dag, eval_ir};
    use lbm_dsl::expr::{Exact, Number, Rational, Symbol};

    fn cost(dag: &Dag) -> Cost {
        let roots: Vec<ExprId> = dag.outputs().iter().map(|output| output.value).collect();
        count(dag.exprs(), &roots)
    }

    /// Inputs near equilibrium at rest: weights with a few per cent of noise, omega in 0.5..2.
    fn state(kernel: &Kernel, random: &mut Random) -> impl Fn(Symbol) -> Exact + use<> {
        let weights = kernel.weights.clone();
        let noise: Vec<i64> = (0..64).map(|_| random.below(2001) as i64 - 1000).collect();
        move |symbol| {
            let (base, noise) = match symbol {
                Symbol::Population(pop) => (weights[pop.index()].clone(), noise[pop.index()]),
                _ => (Rational::new(5.into(), 4.into()), noise[63] * 10),
            };
            Some(base * Rational::new((20_000 + noise).into(), 20_000.into()))
        }
    }

    #[test]
    fn counts_are_as_good_as_they_were() {
        let mut worse = vec![];
        for kernel in kernels() {
            let dag = simplify(&kernel.ir).unwrap();
            let roots: Vec<_> = kernel.ir.outputs.iter().map(|o| o.value).collect();
            println!("{} naive {} -> {:?}", kernel.name, count(&kernel.ir.exprs, &roots).flops, cost(&dag));
            let cost = cost(&dag);
            if cost.flops > kernel.flops || cost.divs > kernel.divs {
                worse.push((kernel.name, cost.flops, kernel.flops, cost.divs, kernel.divs));
            }
        }
        assert!(worse.is_empty(), "name, flops, most flops, divisions, most divisions: {worse:?}");
    }

    #[test]
    fn values_stay_exactly() {
        for kernel in kernels() {
            let dag = simplify(&kernel.ir).unwrap();
            let state = state(&kernel, &mut Random::new(7));
            assert!(eval_ir(&kernel.ir, &state) == eval_dag(&dag, &state), "{}", kernel.name);
        }
    }

    /// States that rounding errors are measured in.
    const STATES: usize = 50;

    /// How much larger the error may be after simplification. Fewer operations round less often, and multiply-adds once instead
    /// of twice: most ratios are .83 to 1.05. But constants are rounded as well, the same way in every cell, and others than the
    /// spec has may be rounded further in one of the types: D3Q19 BGK has 1.37 in 32 bits, .87 in 64.
    const RATIO: f64 = 1.5;

    /// Relative difference to the exact outputs, root mean square over outputs and states: as written, simplified.
    fn errors<N: Number>(kernel: &Kernel, dag: &Dag, value: impl Fn(&N) -> f64) -> [f64; 2] {
        let mut random = Random::new(3);
        let mut squares = [0.0f64; 2];
        for _ in 0..STATES {
            let state = state(kernel, &mut random);
            // The rounded inputs are what is exact.
            let rounded = |symbol: Symbol| N::constant(&state(symbol).unwrap());
            let exact_input = |symbol: Symbol| Some(Rational::from_float(value(&rounded(symbol))).unwrap());
            let exact = eval_ir::<Exact>(&kernel.ir, exact_input);
            let runs = [eval_ir(&kernel.ir, rounded), eval_dag(dag, rounded)];
            for (square, run) in squares.iter_mut().zip(runs) {
                for (run, exact) in run.iter().zip(exact.iter().flatten()) {
                    let apart = Rational::from_float(value(run)).unwrap() - exact;
                    *square += f64::constant(&(apart / exact)).powi(2);
                }
            }
        }
        let count = STATES * kernel.ir.outputs.len();
        squares.map(|square| (square / count as f64).sqrt())
    }

    #[test]
    fn rounding_is_no_worse() {
        for kernel in kernels() {
            let dag = simplify(&kernel.ir).unwrap();
            let single = errors::<f32>(&kernel, &dag, |value| f64::from(*value));
            let double = errors::<f64>(&kernel, &dag, |value| *value);
            for [written, simplified] in [single, double] {
                println!("{} {written:e} {simplified:e} {}", kernel.name, simplified / written);
                assert!(simplified < RATIO * written, "{} {written:e} {simplified:e}", kernel.name);
            }
        }
    }
}
