//! Kernels at the interface between two levels of refinement: slopes, couplings. `lbm_dsl::model::levels` has what
//! they mean and when they run.

use std::collections::BTreeSet;

use lbm_dsl::expr::{ExprId, Exprs, LevelSymbol, Rational, Symbol};
use lbm_dsl::model::levels::{Coupling, Exchange, PointSet, Stencil, Target, Transfer};
use lbm_dsl::model::{Formulas, Model};
use num_traits::Signed;

use super::{lower, lower_in, numbered};
use crate::ir::{KernelIr, Output};

/// Every kernel of the stencils and couplings that the model chooses.
pub fn kernels(model: &Model) -> Vec<KernelIr> {
    let stencils = model.stencils().iter().flat_map(slopes);
    let couplings = model.couplings().iter().flat_map(|coupling| of_coupling(model, coupling));
    stencils.chain(couplings).collect()
}

fn of_coupling(model: &Model, coupling: &Coupling) -> Vec<KernelIr> {
    let crossing: Vec<KernelIr> = match coupling.exchange() {
        Exchange::Packets { .. } => (0..model.q()).filter_map(|pop| packets(model, coupling, pop)).collect(),
        Exchange::Ghosts { .. } => rescaled(model, coupling).into_iter().flatten().collect(),
    };
    crossing.into_iter().chain(transfer(model, coupling)).collect()
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
    kernel.giving(model.values())
}

/// `fine_<coupling>` and `coarse_<coupling>` of a coupling of ghosts.
pub fn rescaled(model: &Model, coupling: &Coupling) -> Option<[KernelIr; 2]> {
    let Exchange::Ghosts { fine, coarse, .. } = coupling.exchange() else { return None };
    Some([("fine", fine), ("coarse", coarse)].map(|(way, formulas)| sent(model, coupling, way, formulas)))
}

/// `refine_<coupling>`: the populations of a child of a cell, `child_0` and so on; and `coarsen_<coupling>`: those of the cell that
/// takes the place of its children, `parent_0` and so on.
pub fn transfer(model: &Model, coupling: &Coupling) -> [KernelIr; 2] {
    let Transfer { refine, coarsen } = coupling.transfer();
    [("refine", "child", refine), ("coarsen", "parent", coarsen)].map(|(what, made, formulas)| {
        let name = format!("{what}_{}", coupling.name());
        let kernel = lower(model, &name, formulas, numbered(made, model.q()), &[]);
        kernel.giving(model.values())
    })
}

/// `stencil_<name>_<set>` of a derivative, for each set of points: its value from samples that are numbered like them. None of other
/// stencils: what these give is summed up by weight.
pub fn slopes(stencil: &Stencil) -> Vec<KernelIr> {
    let slope = |(number, set): (usize, &PointSet)| {
        let mut exprs = Exprs::new();
        let symbol = |at: usize| Symbol::Level(LevelSymbol::Sample(at as u16));
        let terms: Vec<_> =
            set.weights().iter().enumerate().map(|(at, weight)| (weight.clone(), exprs.symbol(symbol(at)))).collect();
        let value = weighted(&mut exprs, &terms);
        KernelIr {
            name: format!("stencil_{}_{number}", stencil.name()),
            exprs,
            lets: Vec::new(),
            outputs: vec![Output { name: "out".into(), value, population: None }],
            symbols: (0..terms.len()).map(|at| (symbol(at), format!("v_{at}"))).collect(),
        }
    };
    match stencil.target() {
        Target::Derivative(_) => stencil.sets().iter().enumerate().map(slope).collect(),
        Target::Value(_) | Target::Mean(..) => Vec::new(),
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
