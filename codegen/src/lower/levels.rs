//! Kernels at the jump between two levels of refinement: stencils, the average, couplings. `lbm_dsl::model::levels` has what
//! they mean and when they run.

use std::collections::BTreeSet;

use lbm_dsl::expr::{ExprId, Exprs, LevelSymbol, Rational, Symbol};
use lbm_dsl::model::levels::{Coupling, Exchange, Stencil, Target};
use lbm_dsl::model::{Formulas, Model};
use num_traits::Signed;

use super::{Wanted, lower, lower_in, numbered};
use crate::ir::{KernelIr, Named, Output};

/// Every kernel of the stencils and couplings that the model chooses, and `average`.
pub fn kernels(model: &Model) -> Vec<KernelIr> {
    let dim = model.lattice().dim();
    let of_stencil = |stencil| {
        let passes = (0..Stencil::sets(stencil).len()).map(|set| pass(stencil, set));
        passes.chain(children(stencil, dim)).collect::<Vec<_>>()
    };
    let stencils = model.stencils().iter().flat_map(of_stencil);
    let couplings = model.couplings().iter().flat_map(|coupling| of_coupling(model, coupling));
    stencils.chain([average(dim)]).chain(couplings).collect()
}

fn of_coupling(model: &Model, coupling: &Coupling) -> Vec<KernelIr> {
    let crossing: Vec<KernelIr> = match coupling.exchange() {
        Exchange::Packets { .. } => (0..model.q()).filter_map(|pop| packets(model, coupling, pop)).collect(),
        Exchange::Ghosts { .. } => rescaled(model, coupling).into_iter().flatten().collect(),
    };
    [rates(model, coupling)].into_iter().chain(crossing).collect()
}

/// `rate_<coupling>`: the parameters that differ between levels, `omega_finer` and so on, on the next finer level.
pub fn rates(model: &Model, coupling: &Coupling) -> KernelIr {
    let names = coupling.rates().iter().map(|rate| Wanted::Spec(format!("{}_finer", model.params()[rate.param].name)));
    let outputs = coupling.rates().iter().map(|rate| rate.finer).collect();
    let formulas = Formulas { lets: Vec::new(), outputs };
    lower(model, &format!("rate_{}", coupling.name()), &formulas, names.collect(), &[])
}

/// `packet_<coupling>_<population>`: what the `2^dim` packets of a population carry, `packet_0` and so on. None for a
/// coupling of ghosts.
pub fn packets(model: &Model, coupling: &Coupling, pop: usize) -> Option<KernelIr> {
    let Exchange::Packets { values } = coupling.exchange() else { return None };
    let children = 1usize << model.lattice().dim();
    let (_, set, dir) = model.pops().nth(pop)?;
    let velocity = set.lattice.velocity(dir);
    let (exprs, outputs) = shared_kinds(model.exprs(), &values[pop * children..(pop + 1) * children], velocity);
    let name = format!("packet_{}_{}", coupling.name(), model.pop_names()[pop]);
    let formulas = Formulas { lets: Vec::new(), outputs };
    let kernel = lower_in(model, &exprs, &name, &formulas, numbered("packet", children), &[]);
    Some(kernel.giving(std::iter::repeat(set.pop(dir))))
}

/// The same values with fewer kinds: packets that enter the same coarse cell in their first step are of one kind, for which that of
/// the first child stands.
fn shared_kinds(exprs: &Exprs, values: &[ExprId], velocity: &[i32]) -> (Exprs, Vec<ExprId>) {
    let crossed = velocity.iter().enumerate().fold(0u8, |bits, (axis, c)| bits | u8::from(*c != 0) << axis);
    let mut to = Exprs::new();
    let new = exprs.substitute(values, &mut to, |to, symbol| match symbol {
        Symbol::Level(LevelSymbol::Kind { child }) => {
            Some(to.symbol(Symbol::Level(LevelSymbol::Kind { child: child & crossed })))
        }
        _ => None,
    });
    (to, values.iter().map(|value| new[*value]).collect())
}

/// Positions of the stencils whose slopes such values read, ascending.
pub fn sampled(model: &Model, values: &[ExprId]) -> Vec<usize> {
    let stencil = |symbol| match symbol {
        Symbol::Level(LevelSymbol::Slope { stencil, .. }) => Some(stencil.into()),
        _ => None,
    };
    let all: BTreeSet<usize> = model.exprs().symbols(values).filter_map(stencil).collect();
    all.into_iter().collect()
}

/// `fine_<coupling>` or `coarse_<coupling>`: the populations of one cell that are interpolated to ghosts, or averaged.
fn sent(model: &Model, coupling: &Coupling, way: &str, formulas: &Formulas) -> KernelIr {
    let kernel = lower(model, &format!("{way}_{}", coupling.name()), formulas, numbered("sent", model.q()), &[]);
    kernel.giving(model.pops().map(|(pop, ..)| pop))
}

/// `fine_<coupling>` and `coarse_<coupling>` of a coupling of ghosts.
pub fn rescaled(model: &Model, coupling: &Coupling) -> Option<[KernelIr; 2]> {
    let Exchange::Ghosts { fine, coarse, .. } = coupling.exchange() else { return None };
    Some([("fine", fine), ("coarse", coarse)].map(|(way, formulas)| sent(model, coupling, way, formulas)))
}

/// `stencil_<name>_<set>`: one pass along one axis. Samples are numbered like the points of the set, which for a child on
/// the lower side are those of its mirror image.
pub fn pass(stencil: &Stencil, set: usize) -> KernelIr {
    let mut kernel = Kernel::new(format!("stencil_{}_{set}", stencil.name()));
    let weights = stencil.sets()[set].weights();
    let terms: Vec<_> = weights.iter().enumerate().map(|(at, weight)| (weight.clone(), kernel.sample(at))).collect();
    let value = weighted(&mut kernel.exprs, &terms);
    kernel.finish(vec![("out".into(), value)])
}

/// Positions along one axis of the samples of [`children`], ascending: the preferred points and their mirror images.
pub fn positions(stencil: &Stencil) -> Vec<i64> {
    let points = stencil.sets()[0].points();
    let mut all: Vec<i64> = points.iter().flat_map(|point| [*point, -point]).collect();
    all.sort();
    all.dedup();
    all
}

/// `stencil_<name>`: all `2^dim` children of a cell, `child_0` and so on, one axis after the other, so that the passes along
/// the first axes are shared. With `n` [`positions`], the sample at `(k0, k1, k2)` of them has number
/// `k0 + n * (k1 + n * k2)`. A derivative has no children.
pub fn children(stencil: &Stencil, dim: usize) -> Option<KernelIr> {
    if matches!(stencil.target(), Target::Derivative(_)) {
        return None;
    }
    let mut kernel = Kernel::new(format!("stencil_{}", stencil.name()));
    let (all, set) = (positions(stencil), &stencil.sets()[0]);
    let place = |point: i64, upper: bool| {
        let point = if upper { point } else { -point };
        all.iter().position(|other| *other == point).expect("mirror images are listed")
    };
    let mut values: Vec<ExprId> = (0..all.len().pow(dim as u32)).map(|at| kernel.sample(at)).collect();
    // Axes before `axis` have two values by now, those behind it still all samples.
    for axis in 0..dim {
        let below = 1 << axis;
        let rows = values.len() / (below * all.len());
        let mut next = Vec::new();
        for row in 0..rows {
            for upper in [false, true] {
                for child in 0..below {
                    let sample = |point: i64| values[child + below * (place(point, upper) + all.len() * row)];
                    let terms: Vec<_> = set
                        .points()
                        .iter()
                        .zip(set.weights())
                        .map(|(p, weight)| (weight.clone(), sample(*p)))
                        .collect();
                    let value = weighted(&mut kernel.exprs, &terms);
                    if axis + 1 < dim {
                        kernel.name_value(format!("along_{}", ["x", "y", "z"][axis]), next.len(), value);
                    }
                    next.push(value);
                }
            }
        }
        values = next;
    }
    Some(
        kernel.finish(values.into_iter().enumerate().map(|(child, value)| (format!("child_{child}"), value)).collect()),
    )
}

/// `average`: the mean over the `2^dim` children of a cell, from samples numbered like them.
pub fn average(dim: usize) -> KernelIr {
    let mut kernel = Kernel::new("average".into());
    let children = 1usize << dim;
    let weight = Rational::new(1.into(), children.into());
    let sum = (1..children).fold(kernel.sample(0), |sum, child| {
        let next = kernel.sample(child);
        kernel.exprs.plus(sum, next)
    });
    let weight = kernel.exprs.constant(weight);
    let mean = kernel.exprs.times(weight, sum);
    kernel.finish(vec![("out".into(), mean)])
}

/// A kernel of samples while it is written.
struct Kernel {
    name: String,
    exprs: Exprs,
    lets: Vec<Named>,
    symbols: Vec<(Symbol, String)>,
}

impl Kernel {
    fn new(name: String) -> Self {
        Self { name, exprs: Exprs::new(), lets: Vec::new(), symbols: Vec::new() }
    }

    fn sample(&mut self, number: usize) -> ExprId {
        let symbol = Symbol::Level(LevelSymbol::Sample(number as u16));
        self.symbols.push((symbol, format!("v_{number}")));
        self.exprs.symbol(symbol)
    }

    fn name_value(&mut self, family: String, number: usize, value: ExprId) {
        let name = format!("{family}_{number}");
        self.lets.push(Named { name, family, value, file: String::new(), line: 0 });
    }

    fn finish(self, outputs: Vec<(String, ExprId)>) -> KernelIr {
        let outputs = outputs.into_iter().map(|(name, value)| Output { name, value, population: None }).collect();
        KernelIr { name: self.name, exprs: self.exprs, lets: self.lets, outputs, symbols: self.symbols }
    }
}

/// A sum of products with constants: those with positive constants first, so that none starts with a negation.
fn weighted(exprs: &mut Exprs, terms: &[(Rational, ExprId)]) -> ExprId {
    let (positive, negative): (Vec<_>, Vec<_>) = terms.iter().partition(|(weight, _)| weight.is_positive());
    let mut total = exprs.int(0);
    for (weight, value) in positive {
        let weight = exprs.constant(weight.clone());
        let product = exprs.times(weight, *value);
        total = exprs.plus(total, product);
    }
    for (weight, value) in negative {
        let size = exprs.constant(weight.abs());
        let product = exprs.times(size, *value);
        total = exprs.minus(total, product);
    }
    total
}
