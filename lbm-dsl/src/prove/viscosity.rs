//! Viscosities and diffusivities, by linearising the collision about rest.
//!
//! Rest is what `init` gives where every scalar field is 1 and nothing moves: the weights for most methods, another state where
//! pressure is no constant times density (shallow water). Populations `rest_i + eps w_i s_i` carry one moment more, and the
//! collision keeps the share `1 - lambda` of it. The coefficient is `factor (1/lambda - 1/2)`:
//!
//! - kinematic viscosity: shear stress, `s_i = c_ix c_iy`, factor `cs2` (Krueger et al., The Lattice Boltzmann Method, 2017,
//!   section 4.1);
//! - bulk viscosity: compression, `s_i = |c_i|^2 - d cs2` in `d` dimensions, factor `2 cs2 / d`, for the stress
//!   `2 nu (S - tr S / d) + nu_b tr S` (Lallemand & Luo, Phys. Rev. E 61 (2000) 6546, in two dimensions);
//! - diffusivity: a flux, `s_i = c_ix`, factor `cs2` (Krueger et al., section 8.3). A flux that is kept entirely is a momentum:
//!   it diffuses nothing.

use num_traits::{One, ToPrimitive, Zero};

use crate::expr::{Expr, Rational, Symbol};
use crate::model::{Law, Model, Populations};
use crate::prove::budget::{self, Budget};
use crate::prove::ratio::Ratio;
use crate::prove::series::{self, Series};

/// A transport coefficient in lattice units as a function of the parameters.
#[derive(Clone, Debug, PartialEq)]
pub struct Transport {
    /// Formula of the parameters, `1/3*(1/omega - 1/2)`; says why where none was found.
    pub formula: String,
    /// The parameter `p` for which the coefficient is `factor (1/p - 1/2)`, if it is that simple.
    pub rate: Option<String>,
    factor: f64,
    names: Vec<String>,
    /// `1 / lambda`; without it there is no formula.
    time: Option<Ratio>,
}

impl Transport {
    /// Its value, given those of the scalar parameters by name; `None` where no formula was found.
    pub fn at(&self, value: impl Fn(&str) -> f64) -> Option<f64> {
        let time = self.time.as_ref()?.at(&|variable| value(&self.names[variable]));
        Some(self.factor * (time - 0.5))
    }
}

/// Number of terms of the series; more where some cancel.
const TERMS: [usize; 3] = [2, 4, 7];

/// What some populations carry, and the coefficient by which it spreads.
pub enum Carried {
    /// A momentum, which spreads by viscosity.
    Momentum(Transport),
    /// Something else, which diffuses.
    Scalar(Transport),
}

/// What some populations of a model carry.
pub fn carried(model: &Model, set: &Populations) -> Carried {
    match diffusivity(model, set) {
        Some(found) => Carried::Scalar(found),
        None => Carried::Momentum(relaxed(model, set, set.lattice.cs2().clone(), &|c| whole(shear(c)))),
    }
}

/// The kinematic viscosity of the first populations of a model.
pub fn viscosity(model: &Model) -> Transport {
    match carried(model, &model.populations[0]) {
        Carried::Momentum(found) => found,
        Carried::Scalar(found) => {
            let formula = "none: the collision does not conserve momentum".into();
            Transport { formula, rate: None, time: None, ..found }
        }
    }
}

/// The kinematic viscosity of the first populations of a model whose collision reads values of the cells around. In steady shear, of which the
/// velocities around tell the slope `s`, a collision makes of the shear stress `-X rho cs2 s` the stress `-K X rho cs2 s + L rho s`; streaming adds
/// `-rho cs2 s`, so `X = (1 - L / cs2) / (1 - K)`, and the viscosity is `cs2 (X - 1/2)`.
pub fn viscosity_among(model: &Model) -> Transport {
    let (alike, others) = (model.among_alike(), model.among_others());
    let (alike, others) = (&*alike.frozen(), &*others.frozen());
    let mut found = viscosity(alike);
    let own = model.params.len();
    // Values around are among the variables of the one and not of the other, before those of what cells keep.
    let (known, given) = (Given::new(alike), Given::new(others));
    let same = |variable: usize| given.names.iter().position(|name| *name == known.names[variable]).unwrap_or(variable);
    let is_around =
        |variable: usize| given.names[variable].starts_with("around_") && variable >= scalars(&model.params[..own]);
    let budget = Budget::new();
    let time = found.time.take().zip(slope_stress(model, others, &budget)).and_then(|(time, more)| {
        let less = more.mul(&Ratio::Constant(model.populations[0].lattice.cs2().recip()), &budget)?;
        time.renamed(&same).mul(&Ratio::whole(1).sub(&less, &budget)?, &budget)
    });
    let time = time.filter(|time| (0..given.names.len()).all(|variable| !is_around(variable) || !time.has(variable)));
    let name = |variable: usize| given.names[variable].clone();
    match &time {
        Some(Ratio::Constant(time)) => {
            found.formula =
                (model.populations[0].lattice.cs2() * (time - Rational::new(1.into(), 2.into()))).to_string();
        }
        Some(time) => {
            found.formula = format!("{}*({} - 1/2)", model.populations[0].lattice.cs2(), time.show(&name));
        }
        None if found.formula.starts_with("not found") || found.formula.starts_with("none") => {}
        None if budget.is_exceeded() => found.formula = format!("not found: {}", budget::gave_up()),
        None => {
            found.formula = "not found: what the collision reads of the cells around has no known slope at rest".into()
        }
    }
    found.rate = time.as_ref().and_then(Ratio::recip).as_ref().and_then(Ratio::as_variable).map(name);
    found.names = given.names;
    found.time = time;
    found
}

/// How many of some parameters are scalars.
fn scalars(params: &[crate::model::Param]) -> usize {
    params.iter().filter(|param| param.components == 1).count()
}

/// The shear stress that a collision at rest makes of a slope of one of the velocity `u_x` along y: `others` has a parameter for each of
/// `Model::seen`.
fn slope_stress(model: &Model, others: &Model, budget: &Budget) -> Option<Ratio> {
    let given = Given::new(others);
    let rest = rest_of(others, &given, budget)?;
    let set = &model.populations[0];
    let seen = model.seen();
    // How each shown value follows the velocity: from values in 64 bits, which are whole where it is one of its components, or zero.
    let numbers: Vec<f64> = rest.iter().map(|value| value.at(&|variable| given.sample(variable))).collect();
    let follows = |value: crate::expr::ExprId| -> Option<Rational> {
        let at = |step: f64| {
            let state = |symbol: Symbol| match symbol {
                Symbol::Population(pop) => {
                    let c = set
                        .range()
                        .contains(&pop.index())
                        .then(|| set.lattice.velocity(crate::lattice::Dir((pop.index() - set.first) as u8))[0]);
                    let share = c.map_or(0.0, f64::from) / set.lattice.cs2().to_f64().unwrap_or(1.0);
                    let weight = others.weights().get(pop.index()).and_then(Rational::to_f64).unwrap_or(0.0);
                    numbers.get(pop.index()).copied().unwrap_or(0.0) + step * share * weight
                }
                Symbol::Param { param, .. } => {
                    given.variables.get(usize::from(param)).copied().flatten().map_or(0.0, |v| given.samples[v])
                }
                _ => 0.0,
            };
            model.exprs.eval::<f64>(&[value], state)[0]
        };
        const STEP: f64 = 1e-3;
        let slope = (at(STEP) - at(-STEP)) / (2.0 * STEP);
        ((slope - slope.round()).abs() < 1e-6).then(|| whole(slope.round() as i32))
    };
    let slopes: Vec<Option<Rational>> = model.shown.iter().map(|shown| follows(shown.value)).collect();
    let slopes: Vec<Rational> = slopes.into_iter().collect::<Option<_>>()?;
    let first = model.params.len();
    let symbol = |symbol: Symbol| match symbol {
        Symbol::Population(pop) => Series::exact(vec![rest[pop.index()].clone()]),
        Symbol::Param { param, .. } if (first..first + seen.len()).contains(&usize::from(param)) => {
            let (shown, dir) = seen[usize::from(param) - first];
            let like = seen.iter().position(|(other, _)| *other == shown).unwrap_or(0);
            let value = given.variables[first + like].map_or(Ratio::whole(0), Ratio::variable);
            let slope = &slopes[shown] * whole(set.lattice.velocity(dir)[1]);
            Series::exact(vec![value, Ratio::Constant(slope)])
        }
        other => given.symbol(other),
    };
    let sample = |variable| given.sample(variable);
    let (after, _) = series::eval(&others.exprs, &others.collide.outputs, TERMS[1], &symbol, &sample, budget);
    let mut stress = Ratio::whole(0);
    for dir in set.lattice.dirs() {
        let part = after[set.pop(dir).index()].as_ref()?.coefficient(1)?;
        let part = part.mul(&Ratio::Constant(whole(shear(set.lattice.velocity(dir)))), budget)?;
        stress = stress.add(&part, budget)?;
    }
    Some(stress)
}

/// The factor of a velocity in a shear stress.
pub fn shear(velocity: &[i32]) -> i32 {
    velocity[0] * velocity[1]
}

/// The factor of a velocity in a flux.
pub fn flux(velocity: &[i32]) -> i32 {
    velocity[0]
}

/// The bulk viscosity of the first populations of a model, if they carry a momentum and their pressure is `cs2` times the
/// density, as it is where the weights are a state at rest.
pub fn bulk(model: &Model) -> Option<Transport> {
    if rests_elsewhere(model) {
        return None;
    }
    let set = &model.populations[0];
    let (cs2, dim) = (set.lattice.cs2(), whole(set.lattice.dim() as i32));
    let compression = |c: &[i32]| whole(c.iter().map(|c| c * c).sum()) - &dim * cs2;
    diffusivity(model, set).is_none().then(|| relaxed(model, set, whole(2) * cs2 / &dim, &compression))
}

/// Whether shear along the diagonals relaxes as shear along the axes does, where both have a rate. An error says why the rate along the diagonals
/// is not found, where that along the axes is.
pub fn is_isotropic(model: &Model) -> Result<bool, String> {
    let found = |shape: &dyn Fn(&[i32]) -> Rational| relaxed(model, &model.populations[0], whole(1), shape);
    let (axes, diagonals) = (found(&|c| whole(shear(c))), found(&|c| whole(c[0] * c[0] - c[1] * c[1])));
    match (axes.time, diagonals.time) {
        (Some(axes), Some(diagonals)) => Ok(axes == diagonals),
        (Some(_), None) => Err(diagonals.formula),
        (None, _) => Ok(true),
    }
}

/// The diffusivity of what some populations carry, unless they carry a momentum.
pub fn diffusivity(model: &Model, set: &Populations) -> Option<Transport> {
    // What is proved need not be found again.
    if set.first == 0 && model.conserved.iter().any(|quantity| quantity.law == Law::Momentum) {
        return None;
    }
    let budget = Budget::new();
    let found = relaxed_within(model, &relative(model, set, &budget), set.lattice.cs2().clone(), &budget);
    let gave_up = found.formula.ends_with(&budget::gave_up());
    (found.time.is_some() || gave_up).then_some(found)
}

/// The flux of some populations; where the collision exchanges it with other ones, as between fluids that relax towards one velocity, less the
/// same flux of these: relative to the momentum of all, which stays.
fn relative(model: &Model, set: &Populations, budget: &Budget) -> Vec<Rational> {
    let own = moment(model, set, &|c| whole(flux(c)));
    let given = Given::new(model);
    let Some(rest) = rest_of(model, &given, budget) else { return own };
    let hands = |from: &[Rational], to: &[Rational]| {
        kept(model, (from, to), TERMS[0], &rest, &given, budget).is_ok_and(|handed| !handed.is_zero())
    };
    let exchanges = |other: &&Populations| {
        let theirs = moment(model, other, &|c| whole(flux(c)));
        other.first != set.first && hands(&own, &theirs) && hands(&theirs, &own)
    };
    match model.populations.iter().find(exchanges) {
        None => own,
        Some(other) => {
            let theirs = moment(model, other, &|c| whole(flux(c)));
            own.into_iter().zip(theirs).map(|(own, theirs)| own - theirs).collect()
        }
    }
}

/// The factors of all populations in a moment of some.
fn moment(model: &Model, set: &Populations, shape: &dyn Fn(&[i32]) -> Rational) -> Vec<Rational> {
    let mut shapes = vec![Rational::zero(); model.weights().len()];
    for dir in set.lattice.dirs() {
        shapes[set.pop(dir).index()] = shape(set.lattice.velocity(dir));
    }
    shapes
}

fn whole(value: i32) -> Rational {
    Rational::from_integer(value.into())
}

/// The coefficient that follows from how the moment `sum s(c) f` of some populations relaxes.
fn relaxed(model: &Model, set: &Populations, factor: Rational, shape: &dyn Fn(&[i32]) -> Rational) -> Transport {
    relaxed_within(model, &moment(model, set, shape), factor, &Budget::new())
}

fn relaxed_within(model: &Model, shapes: &[Rational], factor: Rational, budget: &Budget) -> Transport {
    let given = Given::new(model);
    let lambda = rest_of(model, &given, budget).ok_or(NotFound::Rest).and_then(|rest| {
        let mut found = Err(NotFound::Rough);
        for terms in TERMS {
            found = kept(model, (shapes, shapes), terms, &rest, &given, budget);
            if !matches!(found, Err(NotFound::Rough | NotFound::Long)) {
                break;
            }
        }
        Ratio::whole(1).sub(&found?, budget).ok_or(NotFound::Spent)
    });
    let (lambda, why) = match lambda {
        Ok(lambda) => (Some(lambda), None),
        Err(_) if budget.is_exceeded() => (None, Some(NotFound::Spent)),
        Err(NotFound::Rough | NotFound::Long) if takes_functions(model) => (None, Some(NotFound::Function)),
        Err(why) => (None, Some(why)),
    };
    let time = lambda.as_ref().and_then(Ratio::recip);
    let name = |variable: usize| given.names[variable].clone();
    let rate = lambda.as_ref().and_then(Ratio::as_variable).map(name);
    let formula = match (&time, why) {
        (Some(Ratio::Constant(time)), _) => (&factor * (time - Rational::new(1.into(), 2.into()))).to_string(),
        (Some(time), _) => format!("{factor}*({} - 1/2)", time.show(&name)),
        (None, None) => "infinite: the collision leaves it as it is".into(),
        (None, Some(why)) => format!("not found: {}", why.says()),
    };
    Transport { formula, rate, factor: factor.to_f64().unwrap_or(f64::NAN), names: given.names, time }
}

/// Whether the collision takes functions that are mostly irrational.
fn takes_functions(model: &Model) -> bool {
    let needed = model.exprs.needed(&model.collide.outputs);
    model.exprs.iter().any(|(id, node)| needed[id.index()] && matches!(node, Expr::Call(..)))
}

/// Why a share was not found.
#[derive(Clone, Copy)]
enum NotFound {
    /// `init` gives no state at rest.
    Rest,
    /// The collision changes that state.
    Moves,
    /// The collision has no linear part there.
    Rough,
    /// The same, and the collision takes functions, of which only rational values are followed.
    Function,
    /// Formulas got too long to be followed.
    Long,
    /// The search for it takes too many operations.
    Spent,
    /// No population carries such a moment.
    NoMoment,
}

impl NotFound {
    fn says(self) -> String {
        match self {
            NotFound::Rest => "`init` gives no populations where scalar fields are 1 and nothing moves".into(),
            NotFound::Moves => {
                "the collision changes what `init` gives where scalar fields are 1 and nothing moves".into()
            }
            NotFound::Rough => "the collision has no linear part at rest".into(),
            NotFound::Function => {
                "the collision takes functions such as `exp` or powers, whose values at rest are not known to be rational".into()
            }
            NotFound::Long => "its formula has too many terms to be followed".into(),
            NotFound::Spent => budget::gave_up(),
            NotFound::NoMoment => "no velocity has two components, so there is no shear stress".into(),
        }
    }
}

/// The scalar parameters as variables, with a value of each for where a choice depends on them; vectors (forces) are zero.
struct Given {
    variables: Vec<Option<usize>>,
    names: Vec<String>,
    samples: Vec<f64>,
}

impl Given {
    fn new(model: &Model) -> Self {
        let mut given = Given { variables: Vec::new(), names: Vec::new(), samples: Vec::new() };
        for param in &model.params {
            given.variables.push((param.components == 1).then_some(given.names.len()));
            if param.components == 1 {
                given.names.push(param.name.clone());
                let middle = param.range.as_ref().map(|(low, high)| (low + high) / whole(2));
                given.samples.push(middle.and_then(|middle| middle.to_f64()).unwrap_or(1.0));
            }
        }
        given
    }

    fn symbol(&self, symbol: Symbol) -> Series {
        match symbol {
            Symbol::Param { param, .. } => series::parameter(self.variables[usize::from(param)]),
            _ => series::parameter(None),
        }
    }

    fn sample(&self, variable: usize) -> f64 {
        self.samples[variable]
    }
}

/// What `init` gives where every scalar field is 1 and every vector 0.
fn rest_of(model: &Model, given: &Given, budget: &Budget) -> Option<Vec<Ratio>> {
    let symbol = |symbol: Symbol| match symbol {
        Symbol::Field { field, .. } if model.fields[usize::from(field)].components.len() == 1 => {
            Series::exact(vec![Ratio::whole(1)])
        }
        other => given.symbol(other),
    };
    let sample = |variable| given.sample(variable);
    let (populations, _) = series::eval(&model.exprs, &model.init.outputs, TERMS[0], &symbol, &sample, budget);
    populations.into_iter().map(|population| population?.coefficient(0)).collect()
}

/// Whether a model rests in another state than that of its weights.
pub fn rests_elsewhere(model: &Model) -> bool {
    let weights = model.weights().into_iter().map(Ratio::Constant);
    rest_of(model, &Given::new(model), &Budget::new()).is_some_and(|rest| !weights.eq(rest))
}

/// The share of a moment (`shapes`) that is left after a collision; or that another moment (`onto`) gets of it.
fn kept(
    model: &Model,
    (shapes, onto): (&[Rational], &[Rational]),
    terms: usize,
    rest: &[Ratio],
    given: &Given,
    budget: &Budget,
) -> Result<Ratio, NotFound> {
    let weights = model.weights();
    let symbol = |symbol: Symbol| match symbol {
        Symbol::Population(pop) => {
            let slope = &weights[pop.index()] * &shapes[pop.index()];
            Series::exact(vec![rest[pop.index()].clone(), Ratio::Constant(slope)])
        }
        other => given.symbol(other),
    };
    let sample = |variable| given.sample(variable);
    let (after, long) = series::eval(&model.exprs, &model.collide.outputs, terms, &symbol, &sample, budget);
    let rough = if long { NotFound::Long } else { NotFound::Rough };
    let (mut before, mut left) = (Rational::zero(), Ratio::whole(0));
    for ((((weight, shape), onto), rest), after) in weights.iter().zip(shapes).zip(onto).zip(rest).zip(after) {
        let after = after.ok_or(rough)?;
        // Rest must stay at rest, or this is no linearisation.
        let resting = after.coefficient(0).ok_or(rough)?.sub(rest, budget).ok_or(NotFound::Spent)?;
        if !resting.is_zero() {
            return Err(NotFound::Moves);
        }
        before += weight * shape * shape;
        let part = after.coefficient(1).ok_or(rough)?;
        let part = part.mul(&Ratio::Constant(onto.clone()), budget);
        left = part.and_then(|part| left.add(&part, budget)).ok_or(NotFound::Spent)?;
    }
    if before.is_zero() {
        return Err(NotFound::NoMoment);
    }
    left.mul(&Ratio::Constant(Rational::one() / before), budget).ok_or(NotFound::Spent)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::shipped;
    use crate::source::Source;

    /// With half of the operations that it takes nothing is found, and with as many the same.
    #[test]
    fn a_search_ends_with_its_budget() {
        for (name, text) in shipped::specs().filter(|(name, _)| ["d2q9_central", "d2q9_trt"].contains(name)) {
            let model = crate::fixture::compile(&Source::new(name, text), &shipped::Prelude).unwrap();
            let set = &model.populations[0];
            let shapes = moment(&model, set, &|c| whole(shear(c)));
            let within = |budget: &Budget| relaxed_within(&model, &shapes, whole(1), budget);
            let budget = Budget::new();
            let found = within(&budget);
            assert_eq!(within(&Budget::of(budget.spent())), found);
            let less = within(&Budget::of(budget.spent() / 2));
            assert_eq!((less.formula, less.rate), (format!("not found: {}", budget::gave_up()), None), "{name}");
        }
    }
}
