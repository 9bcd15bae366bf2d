//! The tangent and the adjoint of a kernel that makes populations of populations.
//!
//! In: a [`Dag`] such as that of `collide`: what each population becomes, `F(f, p)` with parameters `p`. Out: kernels that take `f` and `p`
//! and besides
//!
//! | kernel | inputs | outputs |
//! | --- | --- | --- |
//! | [`tangent`] | changes `df`, `dp` | `dF/df df + dF/dp dp` |
//! | [`adjoint`] | derivatives `a` of an objective by `F` | `(dF/df)^T a`, then `(dF/dp)^T a` |
//!
//! After: they have a few times the operations of the kernel. A value with a name has its change or its derivative under the same name with
//! `d_` or `a_` in front. Nothing here knows where populations lie or how they stream.
//!
//! Why of the simplified kernel: reverse mode takes at most a few operations for each operation, so the fewer there are the better, and what
//! linear algebra found for the populations holds for derivatives by them, backwards.

use lbm_dsl::derivative::{adjoints, changes};
use lbm_dsl::expr::{Expr, ExprId, Exprs, Symbol};

use crate::ir::{Dag, KernelIr, Named, Output};

/// What populations change by where those before and parameters change.
pub fn tangent(kernel: &Dag) -> KernelIr {
    let mut kernel = by_reciprocals(kernel);
    let mut exprs = std::mem::take(&mut kernel.exprs);
    let roots: Vec<ExprId> = kernel.outputs.iter().map(|output| output.value).collect();
    let found = changes(&mut exprs, &roots, |exprs, symbol| Some(change(symbol)?).map(|change| exprs.symbol(change)));
    let zero = exprs.int(0);
    let output = |own: &Output| Output {
        name: format!("post_change_{}", own.population.expect("it makes populations").index()),
        value: found[own.value.index()].unwrap_or(zero),
        population: own.population,
    };
    let outputs = kernel.outputs.iter().map(output).collect();
    let lets = kernel.lets.iter().flat_map(|own| [Some(own.clone()), derived(own, "d", &found)]).flatten().collect();
    let symbols = kernel.symbols.iter().filter_map(|(symbol, name)| {
        let name = match change(*symbol)? {
            Symbol::Change(pop) => format!("change_{}", pop.index()),
            _ => format!("d_{}", name.trim_end_matches('_')),
        };
        Some((change(*symbol)?, name))
    });
    finished(&kernel, "tangent", exprs, lets, outputs, symbols.collect())
}

/// Derivatives of an objective by populations, then by `params`, from those by what populations become.
pub fn adjoint(kernel: &Dag, params: &[(Symbol, String)]) -> KernelIr {
    let mut kernel = by_reciprocals(kernel);
    let mut exprs = std::mem::take(&mut kernel.exprs);
    let populations: Vec<_> = kernel.outputs.iter().map(|own| own.population.expect("it makes populations")).collect();
    let weights: Vec<(ExprId, ExprId)> = (kernel.outputs.iter().zip(&populations))
        .map(|(own, pop)| (own.value, exprs.symbol(Symbol::Adjoint(*pop))))
        .collect();
    let found = adjoints(&mut exprs, &weights, |symbol| change(symbol).is_some());
    let mut by = |symbol: Symbol| {
        let own = exprs.symbol(symbol);
        found.get(own.index()).copied().flatten().unwrap_or_else(|| exprs.int(0))
    };
    let mut outputs: Vec<Output> = Vec::new();
    for pop in &populations {
        let value = by(Symbol::Population(*pop));
        outputs.push(Output { name: format!("back_{}", pop.index()), value, population: Some(*pop) });
    }
    for (symbol, name) in params {
        let name = format!("by_{}", name.trim_end_matches('_'));
        outputs.push(Output { name, value: by(*symbol), population: None });
    }
    // What was computed last is derived first.
    let back = kernel.lets.iter().rev().filter_map(|own| derived(own, "a", &found));
    let lets = kernel.lets.iter().cloned().chain(back).collect();
    let symbols = populations.iter().map(|pop| (Symbol::Adjoint(*pop), format!("adjoint_{}", pop.index())));
    finished(&kernel, "adjoint", exprs, lets, outputs, symbols.collect())
}

/// The same kernel, whose quotients are products with reciprocals: derivatives divide by the same divisors again.
fn by_reciprocals(kernel: &Dag) -> KernelIr {
    let roots: Vec<ExprId> = kernel.outputs.iter().map(|output| output.value).collect();
    let mut exprs = Exprs::new();
    let new = kernel.exprs.rewrite(&roots, &mut exprs, |to, _, node| match node {
        Expr::Div(a, b) if to.as_const(b).is_none() => {
            let one = to.int(1);
            let reciprocal = to.over(one, b);
            to.times(a, reciprocal)
        }
        node => to.add(node),
    });
    let output = |own: &Output| Output { value: new[own.value], ..own.clone() };
    KernelIr {
        name: kernel.name.clone(),
        lets: kernel.lets.iter().map(|own| Named { value: new[own.value], ..own.clone() }).collect(),
        outputs: kernel.outputs.iter().map(output).collect(),
        symbols: kernel.symbols.clone(),
        exprs,
    }
}

/// The change of what may change.
fn change(symbol: Symbol) -> Option<Symbol> {
    match symbol {
        Symbol::Population(pop) => Some(Symbol::Change(pop)),
        Symbol::Param { param, component } => Some(Symbol::ParamChange { param, component }),
        _ => None,
    }
}

/// What was found of a value with a name.
fn derived(own: &Named, prefix: &str, found: &[Option<ExprId>]) -> Option<Named> {
    Some(Named {
        name: format!("{prefix}_{}", own.name.trim_end_matches('_')),
        family: format!("{prefix}_{}", own.family),
        value: found[own.value.index()]?,
        ..own.clone()
    })
}

/// A kernel of what its outputs need.
fn finished(
    kernel: &KernelIr,
    name: &str,
    exprs: Exprs,
    lets: Vec<Named>,
    outputs: Vec<Output>,
    more: Vec<(Symbol, String)>,
) -> KernelIr {
    let roots: Vec<ExprId> = outputs.iter().map(|output| output.value).collect();
    let (exprs, new) = exprs.subgraph(&roots);
    let is_value = |id: &ExprId| !matches!(exprs.get(*id), Expr::Const(_) | Expr::Symbol(_));
    let kept = lets.into_iter().filter_map(|own| Some(Named { value: new.get(own.value).filter(is_value)?, ..own }));
    let read: Vec<Symbol> = exprs.symbols(&roots.iter().map(|root| new[*root]).collect::<Vec<_>>()).collect();
    let symbols = kernel.symbols.iter().cloned().chain(more).filter(|(symbol, _)| read.contains(symbol));
    KernelIr {
        name: format!("{}_{name}", kernel.name),
        lets: kept.collect(),
        outputs: outputs.into_iter().map(|own| Output { value: new[own.value], ..own }).collect(),
        symbols: symbols.collect(),
        exprs,
    }
}
