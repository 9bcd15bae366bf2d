//! Conservation, and initial states that are what they say: tried on exact states.
//!
//! A collision is a rational function of the populations. An identity between rational functions that fails at all fails
//! almost everywhere, so a few random exact states decide it. Where exact arithmetic gives up ([`Known::Somehow`]: square
//! roots are mostly irrational), the state is evaluated in 64 bits, and the law must hold to 1e-12.

use std::collections::BTreeSet;

use num_traits::{One, ToPrimitive, Zero};

use crate::expr::{ExprId, Number, Rational, Symbol};
use crate::model::{Law, Model};
use crate::prove::known::Known;
use crate::prove::random::Random;

/// States that each law is tried on.
pub const STATES: usize = 4;
/// Largest defect in 64 bits that counts as rounding.
const ROUNDING: f64 = 1e-12;

/// A law that a model breaks.
#[derive(Clone, Debug, PartialEq)]
pub enum Violation {
    /// The conserved quantity with that position, its component, changes by this much.
    Conserved(usize, usize, String),
    /// The field with that position, its component, what was given and what the populations have.
    InitField(usize, usize, String, String),
    /// The collision has no value at rest (`true`) or near it.
    Undefined(bool),
}

impl Violation {
    /// What tells it from violations of other laws.
    fn law(&self) -> (u8, usize, usize) {
        match self {
            Violation::Conserved(quantity, component, _) => (1, *quantity, *component),
            Violation::InitField(field, component, ..) => (2, *field, *component),
            Violation::Undefined(rest) => (3, usize::from(*rest), 0),
        }
    }
}

/// What a collision adds to the momentum because of a vector parameter.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Push {
    /// Nothing.
    Nothing,
    /// The parameter: it is a force per volume.
    Force,
    /// The parameter times the density: it is an acceleration.
    Acceleration,
}

/// What was tried, and what failed.
#[derive(Clone, Debug, Default)]
pub struct Trial {
    /// The laws broken, each once.
    pub violations: Vec<Violation>,
    /// Whether some state had to be evaluated in 64 bits.
    pub rounded: bool,
    /// For each vector parameter, by its position, what it does to the momentum; `None` where it is none of the three.
    pub pushes: Vec<(usize, Option<Push>)>,
    /// The position in `Model::vectors` of what the collision adds to the momentum, where no vector parameter alone is that. From populations
    /// after the collision it follows as [`before`] says.
    pub driven: Option<usize>,
}

/// A value that is exact if it can be.
#[derive(Clone)]
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

    /// In 64 bits; no number where there is none.
    fn rounded(&self) -> f64 {
        match self {
            Found::Exact(value) => value.to_f64().unwrap_or(f64::NAN),
            Found::Rounded(value) => *value,
            Found::Nothing => f64::NAN,
        }
    }

    fn minus(&self, other: &Found) -> Found {
        match (self, other) {
            (Found::Exact(a), Found::Exact(b)) => Found::Exact(a - b),
            _ => Found::of(self.rounded() - other.rounded()),
        }
    }

    fn plus(&self, other: &Rational) -> Found {
        match self {
            Found::Exact(value) => Found::Exact(value + other),
            _ => Found::of(self.rounded() + other.to_f64().unwrap_or(f64::NAN)),
        }
    }

    fn over(&self, other: &Found) -> Found {
        match (self, other) {
            (Found::Exact(_), Found::Exact(b)) if b.is_zero() => Found::Nothing,
            (Found::Exact(a), Found::Exact(b)) => Found::Exact(a / b),
            _ => Found::of(self.rounded() / other.rounded()),
        }
    }

    fn times(&self, factor: &Rational) -> Found {
        match self {
            Found::Exact(value) => Found::Exact(value * factor),
            _ => Found::of(self.rounded() * factor.to_f64().unwrap_or(f64::NAN)),
        }
    }

    fn of(value: f64) -> Found {
        if value.is_finite() { Found::Rounded(value) } else { Found::Nothing }
    }

    fn show(&self) -> String {
        match self {
            Found::Exact(value) if value.to_string().len() < 10 => value.to_string(),
            Found::Exact(_) => Found::Rounded(self.rounded()).show(),
            Found::Rounded(value) if (1e-3..1e6).contains(&value.abs()) => format!("{value:.6}"),
            Found::Rounded(value) => format!("{value:.3e}"),
            Found::Nothing => "undefined".into(),
        }
    }
}

/// Values of `roots`, given the populations, parameters and fields: exact where that is possible, else in 64 bits.
fn values(
    model: &Model,
    roots: &[ExprId],
    state: &[Found],
    params: &[Vec<Rational>],
    fields: &[Vec<Rational>],
) -> Vec<Found> {
    let exact: Option<Vec<Rational>> =
        state.iter().map(|value| if let Found::Exact(value) = value { Some(value.clone()) } else { None }).collect();
    let known = exact.map(|state| model.exprs.eval::<Known>(roots, symbols(&state, params, fields)));
    if let Some(known) = &known
        && !known.contains(&Known::Somehow)
    {
        let found =
            |value: &Known| if let Known::Value(value) = value { Found::Exact(value.clone()) } else { Found::Nothing };
        return known.iter().map(found).collect();
    }
    let rounded = model.exprs.eval::<f64>(roots, |symbol| match symbol {
        Symbol::Population(pop) => state.get(pop.index()).map_or(0.0, Found::rounded),
        other => symbols::<f64>(&[], params, fields)(other),
    });
    rounded.into_iter().map(Found::of).collect()
}

/// Tries every law on the model.
pub fn try_all(model: &Model) -> Trial {
    let mut trial = Trial::default();
    let mut random = Random::new();
    let rest: Vec<Found> = model.weights().into_iter().map(Found::Exact).collect();
    let params = random.params(&model.params);
    if !defined(&values(model, &model.collide.outputs, &rest, &params, &[])) {
        trial.violations.push(Violation::Undefined(true));
        return trial;
    }
    let mut pushes = candidates(model);
    let momentum = model.conserved.iter().position(|quantity| quantity.law == Law::Momentum);
    let mut driven: Vec<usize> = (0..momentum.map_or(0, |_| model.vectors.len())).collect();
    for _ in 0..STATES {
        let state: Vec<Found> = random.populations(model).into_iter().map(Found::Exact).collect();
        let params = random.params(&model.params);
        collision(model, &state, &params, &mut trial);
        for (param, left) in &mut pushes {
            left.retain(|push| pushes_so(model, &state, &params, *param, *push));
        }
        driven.retain(|at| drives(model, &state, &params, *at));
        initial(model, &params, &mut random, &mut trial);
    }
    let mut seen = BTreeSet::new();
    trial.violations.retain(|violation| seen.insert(violation.law()));
    trial.pushes = pushes.into_iter().map(|(param, left)| (param, left.first().copied())).collect();
    let is_push = |(_, push): &(usize, Option<Push>)| matches!(push, Some(Push::Force | Push::Acceleration));
    trial.driven = driven.first().copied().filter(|_| !trial.pushes.iter().any(is_push));
    // What the spec names is meant.
    if trial.driven.is_some() {
        trial
            .violations
            .retain(|violation| !matches!(violation, Violation::Conserved(at, ..) if Some(*at) == momentum));
    }
    trial
}

/// What each vector parameter may do to the momentum, where that is a law.
fn candidates(model: &Model) -> Vec<(usize, Vec<Push>)> {
    if !model.conserved.iter().any(|quantity| quantity.law == Law::Momentum) {
        return Vec::new();
    }
    let vectors = model.params.iter().enumerate().filter(|(_, param)| param.components > 1);
    vectors.map(|(at, _)| (at, vec![Push::Nothing, Push::Force, Push::Acceleration])).collect()
}

/// The parameters with all vectors but that of position `kept` at zero.
fn without_vectors(model: &Model, params: &[Vec<Rational>], kept: Option<usize>) -> Vec<Vec<Rational>> {
    let still = |(at, values): (usize, &Vec<Rational>)| match model.params[at].components {
        count if count > 1 && Some(at) != kept => vec![Rational::zero(); count],
        _ => values.clone(),
    };
    params.iter().enumerate().map(still).collect()
}

/// Whether the collision of this state adds that to the momentum because of a vector parameter.
fn pushes_so(model: &Model, state: &[Found], params: &[Vec<Rational>], param: usize, push: Push) -> bool {
    let params = without_vectors(model, params, Some(param));
    let after = values(model, &model.collide.outputs, state, &params, &[]);
    let of = |law: Law, state: &[Found]| {
        let quantity = model.conserved.iter().find(|quantity| quantity.law == law);
        quantity.map_or(Vec::new(), |quantity| values(model, &quantity.components, state, &params, &[]))
    };
    let factor = match push {
        Push::Nothing => Found::Exact(Rational::zero()),
        Push::Force => Found::Exact(Rational::one()),
        Push::Acceleration => of(Law::Sum(0), state).first().cloned().unwrap_or(Found::Nothing),
    };
    let (before, after) = (of(Law::Momentum, state), of(Law::Momentum, &after));
    let mut changes = before.iter().zip(&after).zip(&params[param]);
    changes.all(|((before, after), value)| after.minus(before).minus(&factor.times(value)).vanishes())
}

/// A component of a force before a collision that adds it to the momentum, from its values after it: `now`, and `more` where there is one
/// more of the momentum along its axis. Exact for a force that is the sum of something that the collision leaves as it is, and of a part in
/// proportion to the momentum, as that of a porous medium is: with `F(j) = F0 - k j` before it is `F(j + F(j)) / (1 - k)`.
pub fn before<T>(now: T, more: T, minus: impl Fn(T, T) -> T, one: T, over: impl Fn(T, T) -> T) -> T
where
    T: Clone,
{
    over(now.clone(), minus(one, minus(now, more)))
}

/// Whether the collision of this state adds a vector of the model to the momentum, which follows from populations after it.
fn drives(model: &Model, state: &[Found], params: &[Vec<Rational>], vector: usize) -> bool {
    let after = values(model, &model.collide.outputs, state, params, &[]);
    let Some(momentum) = model.conserved.iter().find(|quantity| quantity.law == Law::Momentum) else { return false };
    let of = |roots: &[ExprId], state: &[Found]| values(model, roots, state, params, &[]);
    let roots = &model.vectors[vector].components;
    let (force, now) = (of(roots, state), of(roots, &after));
    let (changed, whole) = (of(&momentum.components, &after), of(&momentum.components, state));
    let follows = |(axis, (force, now)): (usize, (&Found, &Found))| {
        let pushed: Vec<Found> = after.iter().zip(push(model, axis)).map(|(value, push)| value.plus(&push)).collect();
        let more = of(&roots[axis..=axis], &pushed).remove(0);
        let one = Found::Exact(Rational::one());
        let found = before(now.clone(), more, |a, b| a.minus(&b), one, |a, b| a.over(&b));
        found.minus(force).vanishes()
    };
    force.iter().any(|force| !force.vanishes())
        && changed
            .iter()
            .zip(&whole)
            .zip(&force)
            .all(|((after, before), force)| after.minus(before).minus(force).vanishes())
        && force.iter().zip(&now).enumerate().all(follows)
}

/// What has one of the momentum along an axis, and nothing else of what is conserved: `w c / cs2` of the first populations.
pub fn push(model: &Model, axis: usize) -> Vec<Rational> {
    let set = &model.populations[0];
    let mut push = vec![Rational::zero(); model.q()];
    for dir in set.lattice.dirs() {
        let c = Rational::from_integer(set.lattice.velocity(dir)[axis].into());
        push[set.pop(dir).index()] = set.lattice.weight(dir) / set.lattice.cs2() * c;
    }
    push
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
            _ => None,
        };
        N::constant(value.unwrap_or(&Rational::zero()))
    }
}

/// Whether the collision has a value in this state.
fn defined(after: &[Found]) -> bool {
    !after.iter().any(|value| matches!(value, Found::Nothing))
}

fn collision(model: &Model, state: &[Found], params: &[Vec<Rational>], trial: &mut Trial) {
    let collide = |params| values(model, &model.collide.outputs, state, params, &[]);
    let after = collide(params);
    trial.rounded |= after.iter().any(|value| matches!(value, Found::Rounded(_)));
    if !defined(&after) {
        trial.violations.push(Violation::Undefined(false));
        return;
    }
    // A vector parameter is a force or the like: vectors are conserved without it.
    let still = without_vectors(model, params, None);
    let after_still = if still == params { after.clone() } else { collide(&still) };
    for (at, quantity) in model.conserved.iter().enumerate() {
        let (params, after) = if quantity.components.len() > 1 { (&still[..], &after_still) } else { (params, &after) };
        let of = |state| values(model, &quantity.components, state, params, &[]);
        for (component, (after, before)) in of(after).iter().zip(of(state)).enumerate() {
            let defect = after.minus(&before);
            if !defect.vanishes() {
                trial.violations.push(Violation::Conserved(at, component, defect.show()));
            }
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
    let populations = values(model, &model.init.outputs, &[], params, &fields);
    let back = values(model, &model.macroscopic.outputs, &populations, params, &[]);
    trial.rounded |= populations.iter().any(|value| matches!(value, Found::Rounded(_)));
    let given =
        fields.iter().enumerate().flat_map(|(at, field)| field.iter().enumerate().map(move |(c, v)| (at, c, v)));
    // What cells keep is what it is given as.
    for ((field, component, given), found) in given.zip(back).filter(|((field, ..), _)| !model.fields[*field].place) {
        let given = Found::Exact(given.clone());
        if !found.minus(&given).vanishes() {
            trial.violations.push(Violation::InitField(field, component, given.show(), found.show()));
        }
    }
}
