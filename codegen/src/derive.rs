//! The tangent and the adjoint of a kernel that makes populations of populations.
//!
//! In: a [`Dag`] such as that of `collide`: what each population becomes, `F(f, p)` with parameters `p`. Out: kernels that take `f` and `p`
//! and besides
//!
//! | kernel | inputs | outputs |
//! | --- | --- | --- |
//! | [`tangent`] | changes `df`, `dp` | `dF/df df + dF/dp dp` |
//! | [`adjoint`] | derivatives `a` of an objective by `F` | `(dF/df)^T a`, then `(dF/dp)^T a` |
//! | [`of_fields`] | derivatives by fields that are computed of populations | the same |
//! | [`of_link`] | the derivative by what a wall sends along a direction | those by populations of the cell, by values of the wall, and by what arrives from beyond the cell |
//!
//! After: they have a few times the operations of the kernel. A value with a name has its change or its derivative under the same name with
//! `d_` or `a_` in front. Nothing here knows where populations lie or how they stream.
//!
//! Why of the simplified kernel: reverse mode takes at most a few operations for each operation, so the fewer there are the better, and what
//! linear algebra found for the populations holds for derivatives by them, backwards.

use lbm_dsl::derivative::{adjoints, changes};
use lbm_dsl::expr::{Expr, ExprId, Exprs, Pop, Symbol};

use crate::ir::{Dag, KernelIr, Named, Output};

/// What populations change by where those before and parameters change.
pub fn tangent(kernel: &Dag) -> KernelIr {
    let mut kernel = by_reciprocals(kernel);
    let mut exprs = std::mem::take(&mut kernel.exprs);
    let roots: Vec<ExprId> = kernel.outputs.iter().map(|output| output.value).collect();
    let found = changes(&mut exprs, &roots, |exprs, symbol| change(symbol).map(|change| exprs.symbol(change)));
    let zero = exprs.int(0);
    let output = |own: &Output| Output {
        name: format!("post_change_{}", own.population.expect("it makes populations").index()),
        value: found[own.value.index()].unwrap_or(zero),
        population: own.population,
    };
    let outputs = kernel.outputs.iter().map(output).collect();
    let lets = kernel.lets.iter().flat_map(|own| [Some(own.clone()), derived(own, "d", &found)]).flatten().collect();
    let symbols = kernel.symbols.iter().filter_map(|(symbol, name)| {
        let changing = change(*symbol)?;
        let name = match changing {
            Symbol::Change(pop) => format!("change_{}", pop.index()),
            _ => format!("d_{}", name.trim_end_matches('_')),
        };
        Some((changing, name))
    });
    finished(&kernel, "tangent", exprs, lets, outputs, symbols.collect())
}

/// Derivatives of an objective by populations, then by `params`, from those by what populations become.
pub fn adjoint(kernel: &Dag, params: &[(Symbol, String)]) -> KernelIr {
    let populations = || kernel.outputs.iter().map(|own| own.population.expect("it makes populations"));
    let weights: Vec<_> = populations().map(|pop| (Symbol::Adjoint(pop), format!("adjoint_{}", pop.index()))).collect();
    backwards(kernel, &weights, &by(populations(), params))
}

/// The same, of a kernel that computes fields of so many `populations`, from derivatives by these: `fields` lists their components.
pub fn of_fields(kernel: &Dag, fields: &[Symbol], populations: usize, params: &[(Symbol, String)]) -> KernelIr {
    let weights = fields.iter().zip(&kernel.outputs);
    let weights: Vec<_> =
        weights.map(|(field, own)| (*field, format!("by_{}", own.name.trim_end_matches('_')))).collect();
    backwards(kernel, &weights, &by((0..populations).map(|at| Pop(at as u16)), params))
}

/// What derivatives are by, and what they are called.
fn by(populations: impl Iterator<Item = Pop>, params: &[(Symbol, String)]) -> Vec<(Symbol, String)> {
    let params = params.iter().map(|(symbol, name)| (*symbol, format!("by_{}", name.trim_end_matches('_'))));
    populations.map(|pop| (Symbol::Population(pop), format!("back_{}", pop.index()))).chain(params).collect()
}

/// Derivatives by all that the output at a position reads and that `is` so, from that by the output, whose name is `weight`; and what they are by.
pub fn of_link(kernel: &Dag, at: usize, is: impl Fn(Symbol) -> bool) -> (Vec<Symbol>, KernelIr) {
    let own = &kernel.outputs[at];
    let changing = |symbol: &Symbol| is_changing(*symbol) && is(*symbol);
    let read: Vec<Symbol> = kernel.exprs.symbols(&[own.value]).filter(changing).collect();
    let named = read.iter().map(|symbol| {
        let known = kernel.symbols.iter().find(|(other, _)| other == symbol);
        (*symbol, format!("by_{}", known.map_or("", |(_, name)| name).trim_end_matches('_')))
    });
    let named: Vec<_> = named.collect();
    let alone = Dag { outputs: vec![own.clone()], lets: vec![], ..kernel.clone() };
    let weight = Symbol::Adjoint(own.population.expect("links give populations"));
    (read, backwards(&alone, &[(weight, "weight".into())], &named))
}

/// Derivatives of an objective by symbols, from those by outputs, which have the names of `weights`.
fn backwards(kernel: &Dag, weights: &[(Symbol, String)], by: &[(Symbol, String)]) -> KernelIr {
    let mut kernel = by_reciprocals(kernel);
    let mut exprs = std::mem::take(&mut kernel.exprs);
    let of = kernel.outputs.iter().zip(weights).map(|(own, (weight, _))| (own.value, exprs.symbol(*weight)));
    let of: Vec<(ExprId, ExprId)> = of.collect();
    let found = adjoints(&mut exprs, &of, is_changing);
    let output = |(symbol, name): &(Symbol, String)| {
        let own = exprs.symbol(*symbol);
        let value = found.get(own.index()).copied().flatten().unwrap_or_else(|| exprs.int(0));
        let population = if let Symbol::Population(pop) = symbol { Some(*pop) } else { None };
        Output { name: name.clone(), value, population }
    };
    let outputs = by.iter().map(output).collect();
    // What was computed last is derived first.
    let back = kernel.lets.iter().rev().filter_map(|own| derived(own, "a", &found));
    let lets = kernel.lets.iter().cloned().chain(back).collect();
    finished(&kernel, "adjoint", exprs, lets, outputs, weights.to_vec())
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

/// Whether something is derived by a symbol.
fn is_changing(symbol: Symbol) -> bool {
    change(symbol).is_some() || matches!(symbol, Symbol::WallParam { .. } | Symbol::Streamed(_))
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

#[cfg(test)]
mod tests {
    use lbm_dsl::expr::{Exact, Rational};
    use lbm_dsl::model::Model;
    use lbm_dsl::shipped::{self, Prelude};
    use lbm_dsl::source::Source;
    use num_traits::Zero;

    use super::*;
    use crate::count::count;
    use crate::eval::{eval_dag, eval_ir};
    use crate::lower;
    use crate::simplify::random::Random;
    use crate::simplify::{fuse, simplify};

    fn model(name: &str) -> Model {
        let source = Source::new(name, shipped::spec(name).expect("shipped"));
        lbm_dsl::compile(&source, &Prelude).expect("valid")
    }

    fn flops(exprs: &Exprs, outputs: &[Output]) -> u32 {
        count(exprs, &outputs.iter().map(|output| output.value).collect::<Vec<_>>()).flops
    }

    #[test]
    fn an_adjoint_is_exactly_the_transpose_of_the_tangent_before_and_after_the_e_graph() {
        for name in ["d2q9_bgk", "d2q9_kbc", "d2q9_guo"] {
            let model = model(name);
            let collide = simplify(&lower::collide(&model)).expect("small");
            let params = lower::params(&model);
            let kernels = [tangent(&collide), adjoint(&collide, &params)];
            let fused = kernels.each_ref().map(|kernel| fuse(kernel).expect("small"));
            let mut random = Random::new(5);
            let noise: Vec<Rational> =
                (0..64).map(|_| Rational::new((random.below(201) as i64 - 100).into(), 100.into())).collect();
            let weights = model.weights();
            let (first, of_adjoint, of_params) = (16, 32, 48);
            let value = |symbol: Symbol| -> Rational {
                match symbol {
                    Symbol::Population(pop) => {
                        &weights[pop.index()] * (Rational::from_integer(10.into()) + &noise[pop.index()])
                    }
                    Symbol::Change(pop) => noise[first + pop.index()].clone(),
                    Symbol::Adjoint(pop) => noise[of_adjoint + pop.index()].clone(),
                    Symbol::ParamChange { param, component } => {
                        noise[of_params + 4 * usize::from(param) + usize::from(component)].clone()
                    }
                    _ => Rational::new(5.into(), 4.into()),
                }
            };
            let exact = |symbol: Symbol| -> Exact { Some(value(symbol)) };
            let ways = [
                kernels.each_ref().map(|kernel| eval_ir::<Exact>(kernel, exact)),
                fused.each_ref().map(|dag| eval_dag::<Exact>(dag, exact)),
            ];
            let product = |values: &[Exact], with: &[Symbol]| -> Rational {
                assert_eq!(values.len(), with.len());
                let terms = values.iter().zip(with);
                terms.map(|(found, with)| found.as_ref().expect("defined") * value(*with)).sum()
            };
            let pops = || model.pops().map(|(pop, ..)| pop);
            let weighted: Vec<Symbol> = pops().map(Symbol::Adjoint).collect();
            let changed = pops().map(Symbol::Change).chain(params.iter().filter_map(|(symbol, _)| change(*symbol)));
            let changed: Vec<Symbol> = changed.collect();
            for [forward, backward] in ways {
                let left = product(&forward, &weighted);
                assert!(!left.is_zero() && left == product(&backward, &changed), "{name}");
            }
        }
    }

    #[test]
    fn derivatives_have_a_few_times_the_operations_of_the_collision() {
        for (name, most) in [("d2q9_bgk", 1.5), ("d3q19_bgk", 1.5), ("d3q19_smagorinsky", 2.0), ("d3q27_cumulant", 2.0)]
        {
            let model = model(name);
            let collide = simplify(&lower::collide(&model)).expect("small");
            let own = f64::from(flops(collide.exprs(), collide.outputs()));
            let back = fuse(&adjoint(&collide, &[])).expect("small");
            let [back, forward] = [back, fuse(&tangent(&collide)).expect("small")]
                .map(|dag| f64::from(flops(dag.exprs(), dag.outputs())) / own);
            assert!(back < most && forward < 2.2, "{name}: {back} {forward} times {own}");
        }
    }
}
