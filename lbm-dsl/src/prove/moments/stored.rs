//! Moments in the place of populations.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt;

use num_traits::{One, Zero};

use super::basis::{Moment, residues, section};
use super::dependence::{ATTEMPTS, dependence};
use crate::expr::{Expr, ExprId, Exprs, Rational, Symbol};
use crate::model::{Formulas, Let, Model};
use crate::prove::residue::{Residue, chance};

/// States whose populations must come back from their moments.
const STATES_GIVEN_BACK: usize = 4;

/// A collision of moments that are stored in the place of populations.
#[derive(Clone, Debug)]
pub struct Stored {
    /// The moments.
    pub moments: Vec<Moment>,
    /// The graph of the formulas: `Symbol::Moment` is a moment by its position.
    pub exprs: Exprs,
    /// Every population after a collision, from the moments after it.
    pub populations: Formulas,
    /// Every moment after a collision, from the moments before it and parameters.
    pub relaxed: Formulas,
}

/// Why the populations of a method cannot be stored as moments.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum NotStored {
    /// They depend on as many moments as there are populations, because of that value.
    All(usize, Option<String>),
    /// That they depend on no more than so many is not proved.
    NotProved(usize),
    /// Cells have states beside their populations.
    States,
    /// The collision has no value.
    NoValue,
    /// No formula was found that gives populations after a collision from so many moments after it, whatever the parameters are.
    NoFormula(usize),
}

impl fmt::Display for NotStored {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::All(count, Some(name)) => {
                write!(
                    out,
                    "after a collision they depend on {count} moments, as many as there are, because of `{name}`"
                )
            }
            Self::All(count, None) => {
                write!(out, "after a collision they depend on {count} moments, as many as there are")
            }
            Self::NotProved(count) => write!(out, "that they depend on {count} moments and no others is not proved"),
            Self::States => write!(out, "cells have states beside their populations"),
            Self::NoValue => write!(out, "the collision has no value"),
            Self::NoFormula(count) => write!(
                out,
                "no formula was found that gives them from the {count} moments that they depend on, after the collision"
            ),
        }
    }
}

/// Moments in the place of populations.
///
/// Stored are those after a collision, `m* = M f*`. Where a collision leaves all of them as they are, as it does with a rate of zero, it
/// gives the populations that belong to them: so that is looked for, with a parameter or a named value set to 0 or 1, and what is found is
/// tried: `f*` of any collision must come back from `M f*`, at states in a prime field, where functions count as any function.
pub fn stored(model: &Model) -> Result<Stored, NotStored> {
    if !model.states().is_empty() || model.around.is_some() {
        return Err(NotStored::States);
    }
    let found = dependence(model).ok_or(NotStored::NoValue)?;
    let count = found.moments.len();
    if count == found.populations {
        return Err(NotStored::All(count, found.because.map(|(name, _)| name)));
    }
    if !found.proved {
        return Err(NotStored::NotProved(count));
    }
    let moments = found.moments;
    let (section, _) = section(&moments, model.q());
    let mut exprs = Exprs::new();
    let populations: Vec<ExprId> = (0..model.q())
        .map(|pop| {
            let shares: Vec<&Rational> = section.iter().map(|shares| &shares[pop]).collect();
            let symbols: Vec<ExprId> = (0..count).map(|at| exprs.symbol(Symbol::Moment(at as u16))).collect();
            sum(&mut exprs, &shares, &symbols)
        })
        .collect();
    let collided = |exprs: &mut Exprs, value: &dyn Fn(ExprId, Symbol) -> Option<Rational>| -> Formulas {
        let new = model.exprs.rewrite(&model.collide.outputs, exprs, |to, id, node| {
            let symbol = if let Expr::Symbol(symbol) = node { symbol } else { Symbol::Moment(u16::MAX) };
            match (value(id, symbol), symbol) {
                (Some(value), _) => to.constant(value),
                (None, Symbol::Population(pop)) => populations[pop.index()],
                _ => to.folded(node),
            }
        });
        let lets =
            model.collide.lets.iter().filter_map(|item| Some(Let { value: new.get(item.value)?, ..item.clone() }));
        Formulas { lets: lets.collect(), outputs: model.collide.outputs.iter().map(|output| new[*output]).collect() }
    };
    let after = collided(&mut exprs, &|_, _| None);
    let outputs: Vec<ExprId> = moments.iter().map(|moment| of_moment(&mut exprs, moment, &after.outputs)).collect();
    let relaxed = Formulas { outputs: linear(&mut exprs, &outputs), ..after };
    for choice in choices(model) {
        let vectors = |symbol: Symbol| match symbol {
            Symbol::Param { param, .. } => model.params[usize::from(param)].components > 1,
            _ => false,
        };
        let value = |id: ExprId, symbol: Symbol| match &choice {
            _ if vectors(symbol) => Some(Rational::zero()),
            Choice::Params => matches!(symbol, Symbol::Param { .. }).then(Rational::zero),
            Choice::Param(at, value) => {
                matches!(symbol, Symbol::Param { param, .. } if usize::from(param) == *at).then(|| value.clone())
            }
            Choice::Let(at, value) => (id == *at).then(|| value.clone()),
        };
        let populations = collided(&mut exprs, &value);
        if gives_back(model, &moments, &exprs, &populations.outputs) {
            return Ok(Stored { moments, exprs, populations, relaxed });
        }
    }
    Err(NotStored::NoFormula(count))
}

/// What is set to a number so that a collision leaves all moments that it depends on as they are.
enum Choice {
    /// All parameters to zero.
    Params,
    /// A scalar parameter.
    Param(usize, Rational),
    /// A named value.
    Let(ExprId, Rational),
}

fn choices(model: &Model) -> Vec<Choice> {
    let numbers = || [Rational::zero(), Rational::one()];
    let scalars = model.params.iter().enumerate().filter(|(_, param)| param.components == 1);
    let params = scalars.flat_map(|(at, _)| numbers().map(|value| Choice::Param(at, value)));
    let lets: BTreeSet<ExprId> = model.collide.lets.iter().map(|item| item.value).collect();
    let lets = lets.into_iter().flat_map(|at| numbers().map(|value| Choice::Let(at, value)));
    [Choice::Params].into_iter().chain(params).chain(lets).collect()
}

/// `sum(at: shares[at] * values[at])`
fn sum(exprs: &mut Exprs, shares: &[&Rational], values: &[ExprId]) -> ExprId {
    let zero = exprs.int(0);
    shares.iter().zip(values).filter(|(share, _)| !share.is_zero()).fold(zero, |sum, (share, value)| {
        let share = exprs.constant((*share).clone());
        let term = exprs.times(share, *value);
        exprs.plus(sum, term)
    })
}

/// The same values as sums of what is no sum, with factors: what cancels is gone.
fn linear(exprs: &mut Exprs, roots: &[ExprId]) -> Vec<ExprId> {
    let one = exprs.int(1);
    let needed = exprs.needed(roots);
    let mut sums: Vec<BTreeMap<ExprId, Rational>> = Vec::with_capacity(exprs.len());
    for (id, node) in exprs.iter() {
        let joined = |a: ExprId, b: Option<ExprId>, factors: [Rational; 2]| {
            let mut all = BTreeMap::new();
            for (part, factor) in [Some(a), b].into_iter().flatten().zip(factors) {
                for (atom, share) in &sums[part.index()] {
                    *all.entry(*atom).or_insert_with(Rational::zero) += share * &factor;
                }
            }
            all.retain(|_, share| !share.is_zero());
            all
        };
        let (plus, minus) = (Rational::one, || -Rational::one());
        let found = match *node {
            _ if !needed[id.index()] => BTreeMap::new(),
            Expr::Const(ref value) => BTreeMap::from([(one, value.clone())]),
            Expr::Neg(a) => joined(a, None, [minus(), plus()]),
            Expr::Add(a, b) => joined(a, Some(b), [plus(), plus()]),
            Expr::Sub(a, b) => joined(a, Some(b), [plus(), minus()]),
            Expr::Mul(a, b) => match (exprs.as_const(a), exprs.as_const(b)) {
                (Some(factor), _) => joined(b, None, [factor.clone(), plus()]),
                (_, Some(factor)) => joined(a, None, [factor.clone(), plus()]),
                _ => BTreeMap::from([(id, plus())]),
            },
            Expr::Div(a, b) => match exprs.as_const(b) {
                Some(divisor) if !divisor.is_zero() => joined(a, None, [divisor.recip(), plus()]),
                _ => BTreeMap::from([(id, plus())]),
            },
            _ => BTreeMap::from([(id, plus())]),
        };
        sums.push(found);
    }
    let mut write = |root: &ExprId| {
        let (atoms, shares): (Vec<ExprId>, Vec<&Rational>) = sums[root.index()].iter().unzip();
        sum(exprs, &shares, &atoms)
    };
    roots.iter().map(&mut write).collect()
}

fn of_moment(exprs: &mut Exprs, moment: &Moment, populations: &[ExprId]) -> ExprId {
    sum(exprs, &moment.shares.iter().collect::<Vec<_>>(), populations)
}

/// Whether these formulas of moments, which know no parameters, give back what any collision makes.
fn gives_back(model: &Model, moments: &[Moment], exprs: &Exprs, populations: &[ExprId]) -> bool {
    if exprs.symbols(populations).any(|symbol| !matches!(symbol, Symbol::Moment(_))) {
        return false;
    }
    let tries = (0..ATTEMPTS).filter_map(|state| {
        let after = model.exprs.eval::<Option<Residue>>(&model.collide.outputs, |symbol| Some(chance(state, symbol)));
        let after: Vec<Residue> = after.into_iter().collect::<Option<_>>()?;
        let of = |moment: &Moment| {
            let terms = residues(&moment.shares).into_iter().zip(&after).map(|(share, value)| share.times(*value));
            terms.fold(Residue::ZERO, Residue::plus)
        };
        let stored: Vec<Residue> = moments.iter().map(of).collect();
        let given = |symbol: Symbol| match symbol {
            Symbol::Moment(at) => Some(stored[usize::from(at)]),
            _ => Some(Residue::ZERO),
        };
        let back = exprs.eval::<Option<Residue>>(populations, given);
        Some(back.iter().zip(&after).all(|(back, after)| *back == Some(*after)))
    });
    let tries: Vec<bool> = tries.take(STATES_GIVEN_BACK).collect();
    tries.len() == STATES_GIVEN_BACK && tries.iter().all(|same| *same)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::shipped;
    use crate::source::Source;

    #[test]
    fn populations_come_back_from_moments() {
        let stored = |name: &str| {
            let source = Source::new(name, shipped::spec(name).unwrap());
            let model = crate::fixture::compile(&source, &shipped::Prelude).unwrap();
            super::stored(&model).map(|found| found.moments.len())
        };
        let few = [("d2q9_central", 5), ("d2q9_recursive", 6), ("d3q19_regularized", 10), ("d3q27_recursive", 10)];
        let nine = [("d3q27_cumulant", 9), ("d3q27_central", 9), ("d3q27_central_smagorinsky", 9)];
        for (name, count) in few.into_iter().chain(nine) {
            assert_eq!(stored(name), Ok(count), "{name}");
        }
        assert_eq!(stored("d3q19_bgk"), Err(NotStored::All(19, None)));
        assert_eq!(stored("d2q9_power_law_state"), Err(NotStored::States));
    }
}
