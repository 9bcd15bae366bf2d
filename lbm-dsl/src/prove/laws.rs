//! Conservation, and initial states that are what they say: tried on exact states.
//!
//! A collision is a rational function of the populations. An identity between rational functions that fails at all fails
//! almost everywhere, so a few random exact states decide it. Where exact arithmetic gives up ([`Known::Somehow`]: square
//! roots are mostly irrational), the state is evaluated in 64 bits, and the law must hold to 1e-12.

use std::collections::BTreeSet;

use num_traits::{ToPrimitive, Zero};

use crate::expr::{ExprId, Number, Rational, Symbol};
use crate::model::Model;
use crate::prove::known::Known;
use crate::prove::random::Random;

/// States that each law is tried on.
pub const STATES: usize = 4;
/// Largest defect in 64 bits that counts as rounding.
const ROUNDING: f64 = 1e-12;

/// A law that a model breaks.
#[derive(Clone, Debug, PartialEq)]
pub enum Violation {
    /// Total mass changes by this much.
    Mass(String),
    /// Momentum along that axis changes by this much.
    Momentum(usize, String),
    /// The field with that position, its component, what was given and what the populations have.
    InitField(usize, usize, String, String),
    /// The collision has no value at rest (`true`) or near it.
    Undefined(bool),
}

impl Violation {
    /// What tells it from violations of other laws.
    fn law(&self) -> (u8, usize, usize) {
        match self {
            Violation::Mass(_) => (0, 0, 0),
            Violation::Momentum(axis, _) => (1, *axis, 0),
            Violation::InitField(field, component, ..) => (2, *field, *component),
            Violation::Undefined(rest) => (3, usize::from(*rest), 0),
        }
    }
}

/// What was tried, and what failed.
#[derive(Clone, Debug, Default)]
pub struct Trial {
    /// The laws broken, each once.
    pub violations: Vec<Violation>,
    /// Whether some state had to be evaluated in 64 bits.
    pub rounded: bool,
}

/// A value that is exact if it can be.
enum Found {
    Exact(Rational),
    Rounded(f64),
    Nothing,
}

impl Found {
    fn vanishes(&self) -> bool {
        match self {
            Found::Exact(value) => value.is_zero(),
            Found::Rounded(value) => value.abs() <= ROUNDING,
            Found::Nothing => false,
        }
    }

    fn show(&self) -> String {
        match self {
            Found::Exact(value) if value.to_string().len() < 10 => value.to_string(),
            Found::Exact(value) => Found::Rounded(value.to_f64().unwrap_or(f64::NAN)).show(),
            Found::Rounded(value) if (1e-3..1e6).contains(&value.abs()) => format!("{value:.6}"),
            Found::Rounded(value) => format!("{value:.3e}"),
            Found::Nothing => "undefined".into(),
        }
    }
}

/// Tries every law on the model.
pub fn try_all(model: &Model) -> Trial {
    let mut trial = Trial::default();
    let mut random = Random::new();
    let rest: Vec<Rational> = model.lattice.dirs().map(|dir| model.lattice.weight(dir).clone()).collect();
    let params = random.params(&model.params);
    if !defined(model, &rest, &params) {
        trial.violations.push(Violation::Undefined(true));
        return trial;
    }
    for _ in 0..STATES {
        let state = random.populations(&model.lattice);
        let params = random.params(&model.params);
        collision(model, &state, &params, &mut trial);
        initial(model, &params, &mut random, &mut trial);
    }
    let mut seen = BTreeSet::new();
    trial.violations.retain(|violation| seen.insert(violation.law()));
    trial
}

fn symbols<'v, N: Number + 'v>(
    state: &'v [Rational],
    params: &'v [Vec<Rational>],
    fields: &'v [Vec<Rational>],
) -> impl Fn(Symbol) -> N + 'v {
    move |symbol| {
        let value = match symbol {
            Symbol::Population(dir) => state.get(dir.index()),
            Symbol::Param { param, component } => params.get(param as usize).and_then(|p| p.get(component as usize)),
            Symbol::Field { field, component } => fields.get(field as usize).and_then(|p| p.get(component as usize)),
            Symbol::WallParam { .. } => None,
        };
        N::constant(value.unwrap_or(&Rational::zero()))
    }
}

fn defined(model: &Model, state: &[Rational], params: &[Vec<Rational>]) -> bool {
    let found = model.exprs.eval::<Known>(&model.collide.outputs, symbols(state, params, &[]));
    if found.contains(&Known::Somehow) {
        let rounded = model.exprs.eval::<f64>(&model.collide.outputs, symbols(state, params, &[]));
        return rounded.iter().all(|value| value.is_finite());
    }
    !found.contains(&Known::Undefined)
}

/// The value, if it is known exactly.
fn exact(known: &Known) -> Option<&Rational> {
    if let Known::Value(value) = known { Some(value) } else { None }
}

/// `roots` combined with whole factors, minus `before`.
fn combined(
    model: &Model,
    roots: &[ExprId],
    factors: &[i32],
    inputs: (&[Rational], &[Vec<Rational>], &[Vec<Rational>]),
    before: &Rational,
    known: &[Known],
) -> Found {
    let (state, params, fields) = inputs;
    let whole = |factor: i32| Rational::from_integer(factor.into());
    let terms: Option<Vec<Rational>> =
        known.iter().zip(factors).map(|(value, factor)| Some(exact(value)? * whole(*factor))).collect();
    if let Some(terms) = terms {
        return Found::Exact(terms.iter().sum::<Rational>() - before);
    }
    let values = model.exprs.eval::<f64>(roots, symbols(state, params, fields));
    let sum: f64 = values.iter().zip(factors).map(|(value, factor)| value * f64::from(*factor)).sum();
    let defect = sum - before.to_f64().unwrap_or(f64::NAN);
    if defect.is_finite() { Found::Rounded(defect) } else { Found::Nothing }
}

fn collision(model: &Model, state: &[Rational], params: &[Vec<Rational>], trial: &mut Trial) {
    let roots = &model.collide.outputs;
    let lattice = &model.lattice;
    let ones = vec![1; lattice.q()];
    let whole = |factor: i32| Rational::from_integer(factor.into());

    let known = model.exprs.eval::<Known>(roots, symbols(state, params, &[]));
    let defect = combined(model, roots, &ones, (state, params, &[]), &state.iter().sum(), &known);
    trial.rounded |= matches!(defect, Found::Rounded(_));
    if matches!(defect, Found::Nothing) {
        trial.violations.push(Violation::Undefined(false));
        return;
    }
    if !defect.vanishes() {
        trial.violations.push(Violation::Mass(defect.show()));
    }

    // A vector parameter is a force or the like: momentum is conserved without it.
    let still: Vec<Vec<Rational>> = params
        .iter()
        .zip(&model.params)
        .map(|(values, param)| if param.components > 1 { vec![Rational::zero(); values.len()] } else { values.clone() })
        .collect();
    let known = if still == params { known } else { model.exprs.eval(roots, symbols(state, &still, &[])) };
    for axis in 0..lattice.dim() {
        let c: Vec<i32> = lattice.dirs().map(|dir| lattice.velocity(dir)[axis]).collect();
        let before = state.iter().zip(&c).map(|(f, c)| f * whole(*c)).sum();
        let defect = combined(model, roots, &c, (state, &still, &[]), &before, &known);
        if !defect.vanishes() {
            trial.violations.push(Violation::Momentum(axis, defect.show()));
        }
    }
}

/// Fields to populations and back.
fn initial(model: &Model, params: &[Vec<Rational>], random: &mut Random, trial: &mut Trial) {
    let fields: Vec<Vec<Rational>> = model
        .fields
        .iter()
        .map(|field| match field.components.len() {
            1 => vec![Rational::new((16 + random.whole(-2, 2)).into(), 16.into())],
            count => (0..count).map(|_| Rational::new(random.whole(-4, 4).into(), 64.into())).collect(),
        })
        .collect();
    let populations: Option<Vec<Rational>> = model
        .exprs
        .eval::<Known>(&model.init.outputs, symbols(&[], params, &fields))
        .iter()
        .map(|value| exact(value).cloned())
        .collect();
    let rounded: Vec<f64>;
    let back: Vec<Found> = match &populations {
        Some(populations) => {
            let back = model.exprs.eval::<Known>(&model.macroscopic.outputs, symbols(populations, params, &[]));
            back.iter().map(|value| exact(value).cloned().map_or(Found::Nothing, Found::Exact)).collect()
        }
        None => {
            trial.rounded = true;
            rounded = model.exprs.eval::<f64>(&model.init.outputs, symbols(&[], params, &fields));
            let back = model.exprs.eval::<f64>(&model.macroscopic.outputs, |symbol| match symbol {
                Symbol::Population(dir) => rounded[dir.index()],
                other => symbols::<f64>(&[], params, &fields)(other),
            });
            back.into_iter().map(|x| if x.is_finite() { Found::Rounded(x) } else { Found::Nothing }).collect()
        }
    };
    let given =
        fields.iter().enumerate().flat_map(|(at, field)| field.iter().enumerate().map(move |(c, v)| (at, c, v)));
    for ((field, component, given), found) in given.zip(back) {
        let defect = match &found {
            Found::Exact(value) => Found::Exact(value - given),
            Found::Rounded(value) => Found::Rounded(value - given.to_f64().unwrap_or(f64::NAN)),
            Found::Nothing => Found::Nothing,
        };
        if !defect.vanishes() {
            let given = Found::Exact(given.clone()).show();
            trial.violations.push(Violation::InitField(field, component, given, found.show()));
        }
    }
}
