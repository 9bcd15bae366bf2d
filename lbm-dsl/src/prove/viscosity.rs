//! Kinematic viscosity and diffusivity, by linearising the collision about rest.
//!
//! Populations `w_i (1 + eps s_i)` carry one moment alone: shear stress with `s_i = c_ix c_iy`, a flux with `s_i = c_ix`. The
//! collision keeps the share `1 - lambda` of it, and the coefficient is `cs2 (1/lambda - 1/2)` (Krueger et al., The Lattice
//! Boltzmann Method, 2017, sections 4.1 and 8.3). A flux that is kept entirely is a momentum: it diffuses nothing.

use num_traits::{One, ToPrimitive, Zero};

use crate::expr::{Rational, Symbol};
use crate::model::{Law, Model, Populations};
use crate::prove::ratio::Ratio;
use crate::prove::series;

/// A transport coefficient in lattice units as a function of the parameters.
#[derive(Clone, Debug, PartialEq)]
pub struct Transport {
    /// Formula of the parameters, `1/3*(1/omega - 1/2)`; says why where none was found.
    pub formula: String,
    /// The parameter `p` for which the coefficient is `cs2 (1/p - 1/2)`, if it is that simple.
    pub rate: Option<String>,
    cs2: f64,
    names: Vec<String>,
    /// `1 / lambda`; without it there is no formula.
    time: Option<Ratio>,
}

impl Transport {
    /// Its value, given those of the scalar parameters by name; `None` where no formula was found.
    pub fn at(&self, value: impl Fn(&str) -> f64) -> Option<f64> {
        let time = self.time.as_ref()?.at(&|variable| value(&self.names[variable]));
        Some(self.cs2 * (time - 0.5))
    }
}

/// Number of terms of the series; more where some cancel.
const TERMS: [usize; 3] = [2, 4, 7];

/// The kinematic viscosity of the first populations of a model.
pub fn viscosity(model: &Model) -> Transport {
    let set = &model.populations[0];
    let found = relaxed(model, set, &|c| c[0] * c[1]);
    match diffusivity(model, set) {
        Some(_) => Transport {
            formula: "none: the collision does not conserve momentum".into(),
            rate: None,
            cs2: found.cs2,
            names: found.names,
            time: None,
        },
        None => found,
    }
}

/// The diffusivity of what some populations carry, unless they carry a momentum.
pub fn diffusivity(model: &Model, set: &Populations) -> Option<Transport> {
    // What is proved need not be found again.
    if set.first == 0 && model.conserved.iter().any(|quantity| quantity.law == Law::Momentum) {
        return None;
    }
    let found = relaxed(model, set, &|c| c[0]);
    found.time.is_some().then_some(found)
}

/// The coefficient that follows from how the moment `sum s(c) f` of some populations relaxes.
fn relaxed(model: &Model, set: &Populations, shape: &dyn Fn(&[i32]) -> i32) -> Transport {
    // Variables are the scalar parameters; vectors (forces) rest at zero.
    let mut variables: Vec<Option<usize>> = Vec::new();
    let (mut names, mut samples) = (Vec::new(), Vec::new());
    for param in &model.params {
        variables.push((param.components == 1).then_some(names.len()));
        if param.components == 1 {
            names.push(param.name.clone());
            let middle = param.range.as_ref().map(|(low, high)| (low + high) / Rational::from_integer(2.into()));
            samples.push(middle.and_then(|middle| middle.to_f64()).unwrap_or(1.0));
        }
    }
    let name = |variable: usize| names[variable].clone();
    let sample = |variable: usize| samples[variable];
    let kept = TERMS.iter().find_map(|terms| kept(model, set, shape, *terms, &variables, &sample));
    let lambda = kept.map(|kept| Ratio::whole(1).add(&kept.neg()));
    let time = lambda.as_ref().and_then(Ratio::recip);
    let cs2 = set.lattice.cs2();
    let rate = lambda.as_ref().and_then(Ratio::as_variable).map(name);
    let formula = match (&lambda, &time) {
        (_, Some(time)) => format!("{cs2}*({} - 1/2)", time.show(&name)),
        (Some(_), None) => "infinite: the collision leaves shear as it is".into(),
        (None, None) => "not found: the collision has no linear part at rest".into(),
    };
    Transport { formula, rate, cs2: cs2.to_f64().unwrap_or(f64::NAN), names, time }
}

/// The share of a moment that is left after a collision.
fn kept(
    model: &Model,
    set: &Populations,
    shape: &dyn Fn(&[i32]) -> i32,
    terms: usize,
    variables: &[Option<usize>],
    sample: &dyn Fn(usize) -> f64,
) -> Option<Ratio> {
    let weights = model.weights();
    let mut shapes = vec![Rational::zero(); weights.len()];
    for dir in set.lattice.dirs() {
        shapes[set.pop(dir).index()] = Rational::from_integer(shape(set.lattice.velocity(dir)).into());
    }
    let symbol = |symbol: Symbol| match symbol {
        Symbol::Population(pop) => {
            let weight = &weights[pop.index()];
            series::ray(weight, &(weight * &shapes[pop.index()]))
        }
        Symbol::Param { param, .. } => series::parameter(variables[param as usize]),
        Symbol::Field { .. } | Symbol::WallParam { .. } | Symbol::Level(_) => series::parameter(None),
    };
    let after = series::eval(&model.exprs, &model.collide.outputs, terms, &symbol, sample);
    let (mut before, mut left) = (Rational::zero(), Ratio::whole(0));
    for ((weight, shape), after) in weights.iter().zip(&shapes).zip(after) {
        let after = after?;
        // Rest must stay at rest, or this is no linearisation.
        let resting = after.coefficient(0)?.add(&Ratio::Constant(-weight));
        if !resting.is_zero() {
            return None;
        }
        before += weight * shape * shape;
        left = left.add(&after.coefficient(1)?.mul(&Ratio::Constant(shape.clone())));
    }
    (!before.is_zero()).then(|| left.mul(&Ratio::Constant(Rational::one() / before)))
}
