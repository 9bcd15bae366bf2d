//! Moments in the place of populations.
//!
//! States of cells are stored as they are, behind the moments. They, and what is read of the cells around, are arbitrary values here, as
//! parameters are.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt;

use num_traits::{One, Zero};

use super::basis::{Moment, residues, section};
use super::dependence::{ATTEMPTS, dependence};
use crate::expr::{Expr, ExprId, Exprs, Pop, Rational, Symbol};
use crate::model::{Formulas, Let, Model, State};
use crate::prove::residue::{Residue, chance};

/// States whose populations must come back from their moments.
const STATES_GIVEN_BACK: usize = 4;

/// A collision of moments that are stored in the place of populations.
#[derive(Clone, Debug)]
pub struct Stored {
    /// The moments; behind them the states, each as it is.
    pub moments: Vec<Moment>,
    /// The graph of the formulas: `Symbol::Moment` is a moment by its position.
    pub exprs: Exprs,
    /// Every population and every state after a collision, from the moments after it.
    pub populations: Formulas,
    /// Every moment after a collision, from the moments before it, what is read of the cells around, and parameters.
    pub relaxed: Formulas,
}

/// Why the populations of a method cannot be stored as moments.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum NotStored {
    /// They depend on as many moments as there are populations, because of that value.
    All(usize, Option<String>),
    /// That they depend on no more than so many is not proved.
    NotProved(usize),
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
/// gives the populations that belong to them: so that is looked for, with a parameter, a state or a named value set to 0 or 1, or two of them,
/// and with nothing around. What is found is tried: `f*` of any collision must come back from `M f*`, at states in a prime field, where
/// functions count as any function.
pub fn stored(model: &Model) -> Result<Stored, NotStored> {
    let found = dependence(model).ok_or(NotStored::NoValue)?;
    let count = found.moments.len();
    if count == found.populations {
        return Err(NotStored::All(count, found.because.map(|(name, _)| name)));
    }
    if !found.proved {
        return Err(NotStored::NotProved(count));
    }
    let (section, _) = section(&found.moments, model.moving());
    let moments = with_states(model, found.moments);
    let mut exprs = Exprs::new();
    let symbols: Vec<ExprId> = (0..moments.len()).map(|at| exprs.symbol(Symbol::Moment(at as u16))).collect();
    let mut populations: Vec<ExprId> = Vec::new();
    for pop in 0..model.moving() {
        let shares: Vec<&Rational> = section.iter().map(|shares| &shares[pop]).collect();
        populations.push(sum(&mut exprs, &shares, &symbols[..count]));
    }
    populations.extend(&symbols[count..]);
    let collided = |exprs: &mut Exprs,
                    populations: &[ExprId],
                    value: &dyn Fn(ExprId, Symbol) -> Option<Rational>|
     -> Formulas {
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
    let absorbed = model.exprs.rewrite(&model.absorbed, &mut exprs, |to, _, node| match node {
        Expr::Symbol(Symbol::Population(pop)) => populations[pop.index()],
        _ => to.folded(node),
    });
    let absorbed: Vec<ExprId> = model.absorbed.iter().map(|root| absorbed[*root]).collect();
    // States are what they are in a layer, too.
    let acting = [&absorbed[..], &populations[absorbed.len()..]].concat();
    let after = collided(&mut exprs, &acting, &|_, _| None);
    let outputs: Vec<ExprId> = moments.iter().map(|moment| of_moment(&mut exprs, moment, &after.outputs)).collect();
    let relaxed = Formulas { outputs: linear(&mut exprs, &outputs), ..after };
    let with = |exprs: &mut Exprs, sets: &[Set]| {
        let value = |id, symbol| nothing(model, symbol).or_else(|| sets.iter().find_map(|set| set.value(id, symbol)));
        let mut made = collided(exprs, &populations, &value);
        made.outputs.splice(model.moving().., symbols[count..].iter().copied());
        made
    };
    let is_right = |exprs: &Exprs, made: &Formulas| gives_back(model, (&moments, count), exprs, &made.outputs);
    let single = singles(model).into_iter().find_map(|set| {
        let made = with(&mut exprs, &[set]);
        is_right(&exprs, &made).then_some(made)
    });
    let populations = single.or_else(|| {
        let left = |set: &Set| {
            let mut scratch = exprs.clone();
            let made = with(&mut scratch, std::slice::from_ref(set));
            let read = scratch.symbols(&made.outputs[..model.moving()]).filter_map(|symbol| match symbol {
                Symbol::Moment(at) => Some(Symbol::Population(state(model, usize::from(at).checked_sub(count)?))),
                _ => Some(symbol),
            });
            read.collect()
        };
        let pair = pairs(model, left).find(|pair| {
            let mut scratch = exprs.clone();
            let made = with(&mut scratch, pair);
            is_right(&scratch, &made)
        });
        pair.map(|pair| with(&mut exprs, &pair))
    });
    let populations = populations.ok_or(NotStored::NoFormula(count))?;
    Ok(Stored { moments, exprs, populations, relaxed })
}

/// Behind moments of the populations the states.
fn with_states(model: &Model, moments: Vec<Moment>) -> Vec<Moment> {
    let of_populations = moments.into_iter().map(|mut moment| {
        moment.shares.resize(model.q(), Rational::zero());
        moment
    });
    let state = |(at, state): (usize, &State)| {
        let mut shares = vec![Rational::zero(); model.q()];
        shares[model.moving() + at] = Rational::one();
        Moment { of: None, name: state.name.clone(), shares }
    };
    of_populations.chain(model.states.iter().enumerate().map(state)).collect()
}

/// The zero of a symbol that has no part in what a collision leaves as it is: forces, and what cells around have.
fn nothing(model: &Model, symbol: Symbol) -> Option<Rational> {
    let is_nothing = match symbol {
        Symbol::Param { param, .. } => model.params[usize::from(param)].components > 1,
        Symbol::Population(pop) => pop.index() >= model.q() - model.hidden,
        Symbol::Neighbour { .. } => true,
        _ => false,
    };
    is_nothing.then(Rational::zero)
}

/// What is set to a number so that a collision leaves all moments that it depends on as they are.
#[derive(Clone)]
struct Set {
    what: What,
    to: Rational,
}

#[derive(Clone)]
enum What {
    /// All parameters.
    Params,
    /// A parameter or a state.
    Symbol(Symbol),
    /// A named value.
    Let(ExprId),
}

impl Set {
    /// The number that stands for an expression, or for the symbol that it is.
    fn value(&self, id: ExprId, symbol: Symbol) -> Option<Rational> {
        let is_it = match self.what {
            What::Params => matches!(symbol, Symbol::Param { .. }),
            What::Symbol(own) => symbol == own,
            What::Let(own) => id == own,
        };
        is_it.then(|| self.to.clone())
    }
}

/// What may be set alone.
fn singles(model: &Model) -> Vec<Set> {
    let each = scalars(model).into_iter().map(What::Symbol).chain(lets(model).into_iter().map(What::Let));
    let params = Set { what: What::Params, to: Rational::zero() };
    [params].into_iter().chain(each.flat_map(to_numbers)).collect()
}

/// Two that may be set together, of which one is a scalar. `left` says what formulas still read if one is set: the other then is that, or a named
/// value that depends on all of it.
fn pairs(model: &Model, left: impl Fn(&Set) -> BTreeSet<Symbol>) -> impl Iterator<Item = [Set; 2]> {
    let first = scalars(model).into_iter().map(What::Symbol).flat_map(to_numbers);
    first.flat_map(move |first| {
        let left = left(&first);
        let reads_all = |at: &ExprId| left.is_subset(&model.exprs.symbols(&[*at]).collect());
        let symbol = left.first().filter(|_| left.len() == 1).map(|symbol| What::Symbol(*symbol));
        let others = symbol.into_iter().chain(lets(model).into_iter().filter(reads_all).map(What::Let));
        others.flat_map(to_numbers).map(|second| [first.clone(), second]).collect::<Vec<_>>()
    })
}

fn to_numbers(what: What) -> [Set; 2] {
    [Rational::zero(), Rational::one()].map(|to| Set { what: what.clone(), to })
}

/// Parameters that are no vectors, and states that the spec names.
fn scalars(model: &Model) -> Vec<Symbol> {
    let params = (0..).zip(&model.params).filter(|(_, param)| param.components == 1);
    let params = params.map(|(param, _)| Symbol::Param { param, component: 0 });
    let states = 0..model.states.len() - model.hidden;
    params.chain(states.map(|at| Symbol::Population(state(model, at)))).collect()
}

/// Where a cell has the state of that position.
fn state(model: &Model, at: usize) -> Pop {
    Pop((model.moving() + at) as u16)
}

/// Named values of the collision.
fn lets(model: &Model) -> BTreeSet<ExprId> {
    model.collide.lets.iter().map(|item| item.value).collect()
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

/// Whether these formulas of moments, which know no parameters, give back what any collision makes; the first `own` moments are those of
/// the populations.
fn gives_back(model: &Model, (moments, own): (&[Moment], usize), exprs: &Exprs, populations: &[ExprId]) -> bool {
    let is_own = |symbol: Symbol| matches!(symbol, Symbol::Moment(at) if usize::from(at) < own);
    if !exprs.symbols(&populations[..model.moving()]).all(is_own) {
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
    use lbm_bundle::variation::Variation;

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
        assert_eq!(stored("d2q9_power_law_state"), Err(NotStored::All(9, None)));
    }

    /// Cells have states then, behind the moments, and what neighbours show is one.
    #[test]
    fn populations_of_cells_with_states_come_back_from_moments() {
        for (name, count, states) in [("d2q9_hybrid", 6, 2), ("d3q19_hybrid", 10, 3), ("d3q27_hybrid", 10, 3)] {
            let source = Source::new(name, shipped::spec(name).unwrap());
            let model = crate::fixture::compile(&source, &shipped::Prelude).unwrap();
            let found = super::stored(&model).unwrap_or_else(|reason| panic!("{name}: {reason}"));
            assert_eq!((found.moments.len(), model.states().len()), (count + states, states), "{name}");
            assert_eq!((found.relaxed.outputs.len(), found.populations.outputs.len()), (count + states, model.q()));
            let read = |outputs: &[ExprId]| found.exprs.symbols(outputs).collect::<BTreeSet<_>>();
            assert!(!read(&found.populations.outputs).iter().any(|symbol| !matches!(symbol, Symbol::Moment(_))));
            assert!(read(&found.relaxed.outputs).iter().any(|symbol| matches!(symbol, Symbol::Neighbour { .. })));
        }
        // A rate of the place is a state; with the share of the slopes two things are set.
        for name in ["d2q9_recursive", "d2q9_hybrid"] {
            let variation = Variation {
                param: "omega".into(),
                formulas: vec!["place".parse().unwrap()],
                places: vec!["place".into()],
                numbers: vec![],
                unit: Some("unit".into()),
                viscosity: true,
            };
            let source = Source::new(name, shipped::spec(name).unwrap());
            let model =
                crate::fixture::compile_varied(&source, &shipped::Prelude, Default::default(), &[variation]).unwrap();
            let found = super::stored(&model).unwrap_or_else(|reason| panic!("{name}: {reason}"));
            assert_eq!(found.moments.len(), 6 + model.states().len(), "{name}");
        }
        // BGK depends on all populations; with a force the velocity of the equilibrium is not that of the populations after it.
        let refused = [("d2q9_shan_chen", NotStored::All(9, None)), ("d3q19_wale", NotStored::NoFormula(10))];
        for (name, reason) in refused {
            let source = Source::new(name, shipped::spec(name).unwrap());
            let model = crate::fixture::compile(&source, &shipped::Prelude).unwrap();
            assert_eq!(super::stored(&model).map(|found| found.moments.len()), Err(reason), "{name}");
        }
    }
}
