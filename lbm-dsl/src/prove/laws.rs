//! Conservation, and initial states that are what they say.
//!
//! A law says that formulas vanish. Points of a prime field decide it for all populations, fields and parameters, and for any function in the
//! place of roots, powers and choices ([`residue`](super::residue)). A law that holds for the functions that a method has and not for any is
//! tried on random states near rest, in 64 bits, to 1e-12.

use num_traits::{One, ToPrimitive, Zero};

use crate::expr::{ExprId, Number, Rational, Symbol};
use crate::model::{Law, Model};
use crate::prove::known::Known;
use crate::prove::random::Random;
use crate::prove::residue::{Degree, MOST_DEGREE, POINTS, Residue, chance};

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

/// How it is known that a law holds, the surest last.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Holds {
    /// It does not.
    No,
    /// On some states, up to rounding.
    OnStates,
    /// Everywhere.
    Everywhere,
}

/// What was tried, and what failed.
#[derive(Clone, Debug)]
pub struct Trial {
    /// The laws broken, each once.
    pub violations: Vec<Violation>,
    /// How each of `Model::conserved` is known to be.
    pub conserved: Vec<Holds>,
    /// How all else is known that holds.
    pub others: Holds,
    /// For each vector parameter, by its position, what it does to the momentum; `None` where it is none of the three.
    pub pushes: Vec<(usize, Option<Push>)>,
    /// The position in `Model::vectors` of what the collision adds to the momentum, where no vector parameter alone is that. From populations
    /// after the collision it follows as [`before`] says.
    pub driven: Option<usize>,
}

/// What is given at a point: of each population, parameter and field.
struct Point<N> {
    populations: Vec<N>,
    params: Vec<Vec<N>>,
    fields: Vec<Vec<N>>,
}

/// A law.
#[derive(Clone, Copy)]
enum Question {
    /// The conserved quantity with that position is.
    Conserved(usize),
    /// A vector parameter does that to the momentum.
    Pushed(usize, Push),
    /// A vector of the model is zero.
    Still(usize),
    /// A vector of the model is added to the momentum, and follows from populations after that.
    Driven(usize),
    /// `init` gives populations that have the fields it is given.
    Init,
}

impl Question {
    /// What vanishes at a point if it is so.
    fn defects<N: Number>(self, model: &Model, point: &Point<N>) -> Vec<N> {
        let zero = || N::constant(&Rational::zero());
        let values = |roots: &[ExprId], populations: &[N], params: &[Vec<N>]| {
            model.exprs.eval::<N>(roots, |symbol| {
                let value = match symbol {
                    Symbol::Population(pop) => populations.get(pop.index()),
                    Symbol::Param { param, component } => {
                        params.get(usize::from(param)).and_then(|param| param.get(usize::from(component)))
                    }
                    Symbol::Field { field, component } => {
                        point.fields.get(usize::from(field)).and_then(|field| field.get(usize::from(component)))
                    }
                    _ => None,
                };
                value.cloned().unwrap_or_else(zero)
            })
        };
        let minus = |a: &[N], b: &[N]| a.iter().zip(b).map(|(a, b)| a.sub(b)).collect::<Vec<N>>();
        // The parameters with all vectors but that of position `kept` at zero.
        let without_vectors = |kept: Option<usize>| -> Vec<Vec<N>> {
            let still = |(at, values): (usize, &Vec<N>)| match values.len() {
                count if count > 1 && Some(at) != kept => (0..count).map(|_| zero()).collect(),
                _ => values.clone(),
            };
            point.params.iter().enumerate().map(still).collect()
        };
        let of = |law: Law| {
            let quantity = model.conserved.iter().find(|quantity| quantity.law == law);
            quantity.map_or(&[][..], |quantity| &quantity.components)
        };
        let start = &point.populations;
        match self {
            Question::Conserved(at) => {
                let roots = &model.conserved[at].components;
                // A vector parameter is a force or the like: vectors are conserved without it.
                let params = if roots.len() > 1 { without_vectors(None) } else { point.params.clone() };
                let after = values(&model.collide.outputs, start, &params);
                minus(&values(roots, &after, &params), &values(roots, start, &params))
            }
            Question::Pushed(param, push) => {
                let params = without_vectors(Some(param));
                let after = values(&model.collide.outputs, start, &params);
                let momentum = of(Law::Momentum);
                let gain = minus(&values(momentum, &after, &params), &values(momentum, start, &params));
                let factor = match push {
                    Push::Nothing => Some(zero()),
                    Push::Force => Some(N::constant(&Rational::one())),
                    Push::Acceleration => values(of(Law::Sum(0)), start, &params).into_iter().next(),
                };
                // What is pushed by its mass has one.
                let Some(factor) = factor else { return vec![N::constant(&Rational::one())] };
                gain.iter().zip(&params[param]).map(|(gain, value)| gain.sub(&factor.mul(value))).collect()
            }
            Question::Still(vector) => values(&model.vectors[vector].components, start, &point.params),
            Question::Driven(vector) => {
                let (roots, momentum) = (&model.vectors[vector].components, of(Law::Momentum));
                let of = |roots: &[ExprId], populations: &[N]| values(roots, populations, &point.params);
                let after = of(&model.collide.outputs, start);
                let (force, now) = (of(roots, start), of(roots, &after));
                let gain = minus(&of(momentum, &after), &of(momentum, start));
                let mut defects = minus(&gain, &force);
                for (axis, (force, now)) in force.iter().zip(now).enumerate() {
                    let pushed = after.iter().zip(push(model, axis));
                    let pushed: Vec<N> = pushed.map(|(value, push)| value.add(&N::constant(&push))).collect();
                    let more = of(&roots[axis..=axis], &pushed).remove(0);
                    let one = N::constant(&Rational::one());
                    let found = before(now, more, |a, b| a.sub(&b), one, |a, b| a.div(&b));
                    defects.push(found.sub(force));
                }
                defects
            }
            Question::Init => {
                let populations = values(&model.init.outputs, &[], &point.params);
                let back = values(&model.macroscopic.outputs, &populations, &point.params);
                // What cells keep is what it is given as.
                let given = model.fields.iter().zip(&point.fields);
                let given = given.flat_map(|(field, values)| values.iter().map(move |value| (field.place, value)));
                let given = given.zip(back).filter(|((is_place, _), _)| !is_place);
                given.map(|((_, given), back)| back.sub(given)).collect()
            }
        }
    }
}

/// Where laws are tried.
struct Grounds<'m> {
    model: &'m Model,
    points: Vec<Point<Option<Residue>>>,
    states: Vec<Point<f64>>,
    /// Whether there are no functions but rational ones.
    is_rational: bool,
}

impl<'m> Grounds<'m> {
    fn new(model: &'m Model, random: &mut Random) -> Self {
        let float = |value: &Rational| value.to_f64().unwrap_or(f64::NAN);
        let floats = |all: Vec<Vec<Rational>>| all.iter().map(|of| of.iter().map(float).collect()).collect();
        let mut states = Vec::new();
        for _ in 0..STATES {
            let (populations, params) = (random.populations(model), random.params(&model.params));
            let field = |count: usize, random: &mut Random| match count {
                1 => vec![Rational::new((16 + random.whole(-2, 2)).into(), 16.into())],
                _ => (0..count).map(|_| Rational::new(random.whole(-4, 4).into(), 64.into())).collect(),
            };
            let fields = model.fields.iter().map(|of| field(of.components.len(), random)).collect();
            let populations = populations.iter().map(float).collect();
            states.push(Point { populations, params: floats(params), fields: floats(fields) });
        }
        let points = (0..POINTS).map(|point| given(model, &|symbol| Some(chance(point, symbol)))).collect();
        let formulas = [&model.collide, &model.init, &model.macroscopic];
        let mut roots: Vec<ExprId> = formulas.into_iter().flat_map(|of| of.outputs.clone()).collect();
        roots.extend(model.conserved.iter().flat_map(|quantity| quantity.components.clone()));
        roots.extend(model.vectors.iter().flat_map(|vector| vector.components.clone()));
        let is_rational = model.exprs.functions(&roots).is_empty();
        Self { model, points, states, is_rational }
    }

    fn holds(&self, question: Question) -> Holds {
        let degrees = question.defects(self.model, &given(self.model, &|_| Degree::VARIABLE));
        let decided = degrees.iter().all(|degree| degree.above <= MOST_DEGREE);
        let vanish = |point| question.defects(self.model, point).iter().all(|defect| *defect == Some(Residue::ZERO));
        if decided && self.points.iter().all(vanish) {
            return Holds::Everywhere;
        }
        let vanish = |state| question.defects(self.model, state).iter().all(|defect: &f64| defect.abs() <= ROUNDING);
        if decided && self.is_rational || !self.states.iter().all(vanish) { Holds::No } else { Holds::OnStates }
    }

    /// Of a law that does not hold, each component that does not vanish: what it is on the first state on which it does not, and that state.
    fn broken(&self, question: Question) -> Vec<(usize, f64, &Point<f64>)> {
        let tried: Vec<_> = self.states.iter().map(|state| (question.defects(self.model, state), state)).collect();
        let count = tried.first().map_or(0, |(defects, _)| defects.len());
        let large = |at: usize| {
            let found = tried.iter().find(|(defects, _)| defects[at].is_nan() || defects[at].abs() > ROUNDING);
            found.map(|(defects, state)| (at, defects[at], *state))
        };
        let broken: Vec<_> = (0..count).filter_map(large).collect();
        // Near rest some defects are no more than rounding.
        match tried.first() {
            Some((defects, state)) if broken.is_empty() => (0..count).map(|at| (at, defects[at], *state)).collect(),
            _ => broken,
        }
    }
}

/// A point at which each symbol has that value.
fn given<N>(model: &Model, value: &dyn Fn(Symbol) -> N) -> Point<N> {
    let components = |count: usize| 0..count as u8;
    let param = |(param, components_of): (u16, usize)| -> Vec<N> {
        components(components_of).map(|component| value(Symbol::Param { param, component })).collect()
    };
    let field = |(field, components_of): (u16, usize)| -> Vec<N> {
        components(components_of).map(|component| value(Symbol::Field { field, component })).collect()
    };
    Point {
        populations: model.values().map(|pop| value(Symbol::Population(pop))).collect(),
        params: (0..).zip(model.params.iter().map(|param| param.components)).map(param).collect(),
        fields: (0..).zip(model.fields.iter().map(|field| field.components.len())).map(field).collect(),
    }
}

/// Tries every law on the model.
pub fn try_all(model: &Model) -> Trial {
    let mut random = Random::new();
    let mut trial = Trial {
        violations: Vec::new(),
        conserved: Vec::new(),
        others: Holds::Everywhere,
        pushes: Vec::new(),
        driven: None,
    };
    if !is_defined_at_rest(model, &mut random) {
        trial.violations.push(Violation::Undefined(true));
        return trial;
    }
    let grounds = Grounds::new(model, &mut random);
    if !is_defined(&grounds) {
        trial.violations.push(Violation::Undefined(false));
        return trial;
    }
    let first = |questions: &mut dyn Iterator<Item = Question>| {
        questions.map(|question| (question, grounds.holds(question))).find(|(_, holds)| *holds > Holds::No)
    };
    for (param, pushes) in candidates(model) {
        let found = first(&mut pushes.into_iter().map(|push| Question::Pushed(param, push)));
        trial.others = found.map_or(trial.others, |(_, holds)| holds.min(trial.others));
        let push =
            found.and_then(|(question, _)| if let Question::Pushed(_, push) = question { Some(push) } else { None });
        trial.pushes.push((param, push));
    }
    let momentum = model.conserved.iter().position(|quantity| quantity.law == Law::Momentum);
    let is_push = |(_, push): &(usize, Option<Push>)| matches!(push, Some(Push::Force | Push::Acceleration));
    if momentum.is_some() && !trial.pushes.iter().any(is_push) {
        let moving = (0..model.vectors.len()).filter(|at| grounds.holds(Question::Still(*at)) == Holds::No);
        let found = first(&mut moving.map(Question::Driven));
        trial.others = found.map_or(trial.others, |(_, holds)| holds.min(trial.others));
        trial.driven =
            found.and_then(|(question, _)| if let Question::Driven(vector) = question { Some(vector) } else { None });
    }
    for at in 0..model.conserved.len() {
        let holds = grounds.holds(Question::Conserved(at));
        trial.conserved.push(holds);
        // What the spec names is meant.
        if holds == Holds::No && !(trial.driven.is_some() && Some(at) == momentum) {
            let broken = grounds.broken(Question::Conserved(at)).into_iter();
            trial
                .violations
                .extend(broken.map(|(at_component, defect, _)| Violation::Conserved(at, at_component, show(defect))));
        }
    }
    let holds = grounds.holds(Question::Init);
    if holds == Holds::No {
        let fields = model.fields.iter().enumerate().filter(|(_, field)| !field.place);
        let places = fields.flat_map(|(at, field)| (0..field.components.len()).map(move |component| (at, component)));
        let places: Vec<(usize, usize)> = places.collect();
        trial.violations.extend(grounds.broken(Question::Init).into_iter().map(|(at, defect, state)| {
            let (field, component) = places[at];
            let given = state.fields[field][component];
            Violation::InitField(field, component, show(given), show(given + defect))
        }));
    }
    trial.others = trial.others.min(holds.max(Holds::OnStates));
    trial
}

/// Whether the collision has a value where the populations are the weights: exactly, as far as its numbers are rational and short.
fn is_defined_at_rest(model: &Model, random: &mut Random) -> bool {
    let (weights, params) = (model.weights(), random.params(&model.params));
    let given = |symbol: Symbol| match symbol {
        Symbol::Population(pop) => weights.get(pop.index()).cloned().unwrap_or_else(Rational::zero),
        Symbol::Param { param, component } => params[usize::from(param)][usize::from(component)].clone(),
        _ => Rational::zero(),
    };
    let known = model.exprs.eval::<Known>(&model.collide.outputs, |symbol| Known::Value(given(symbol)));
    if !known.contains(&Known::Somehow) {
        return !known.contains(&Known::Undefined);
    }
    let rounded = |symbol: Symbol| given(symbol).to_f64().unwrap_or(f64::NAN);
    model.exprs.eval::<f64>(&model.collide.outputs, rounded).iter().all(|value| value.is_finite())
}

/// Whether the collision has a value on each state, and at some point.
fn is_defined(grounds: &Grounds) -> bool {
    let (model, outputs) = (grounds.model, &grounds.model.collide.outputs);
    let on_states = grounds.states.iter().all(|state| {
        let after = model.exprs.eval::<f64>(outputs, |symbol| match symbol {
            Symbol::Population(pop) => state.populations.get(pop.index()).copied().unwrap_or(0.0),
            Symbol::Param { param, component } => state.params[usize::from(param)][usize::from(component)],
            _ => 0.0,
        });
        after.iter().all(|value| value.is_finite())
    });
    let at_point = |point: u64| {
        let after = model.exprs.eval::<Option<Residue>>(outputs, |symbol| Some(chance(point, symbol)));
        after.iter().all(Option::is_some)
    };
    on_states && (0..POINTS).any(at_point)
}

/// What each vector parameter may do to the momentum, where that is a law.
fn candidates(model: &Model) -> Vec<(usize, Vec<Push>)> {
    if !model.conserved.iter().any(|quantity| quantity.law == Law::Momentum) {
        return Vec::new();
    }
    let vectors = model.params.iter().enumerate().filter(|(_, param)| param.components > 1);
    vectors.map(|(at, _)| (at, vec![Push::Nothing, Push::Force, Push::Acceleration])).collect()
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

/// A number in a sentence: all of it if it is short.
fn show(value: f64) -> String {
    match value {
        _ if !value.is_finite() => "undefined".into(),
        _ if value == 0.0 => "0".into(),
        _ if value.to_string().len() < 10 => value.to_string(),
        _ if (1e-3..1e6).contains(&value.abs()) => format!("{value:.6}"),
        _ => format!("{value:.3e}"),
    }
}
