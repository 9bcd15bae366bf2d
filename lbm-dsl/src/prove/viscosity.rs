//! Viscosities and diffusivities, by linearising the collision about rest.
//!
//! Populations `w_i (1 + eps s_i)` carry one moment alone, and the collision keeps the share `1 - lambda` of it. The coefficient
//! is `factor (1/lambda - 1/2)`:
//!
//! - kinematic viscosity: shear stress, `s_i = c_ix c_iy`, factor `cs2` (Krueger et al., The Lattice Boltzmann Method, 2017,
//!   section 4.1);
//! - bulk viscosity: compression, `s_i = |c_i|^2 - d cs2` in `d` dimensions, factor `2 cs2 / d`, for the stress
//!   `2 nu (S - tr S / d) + nu_b tr S` (Lallemand & Luo, Phys. Rev. E 61 (2000) 6546, in two dimensions);
//! - diffusivity: a flux, `s_i = c_ix`, factor `cs2` (Krueger et al., section 8.3). A flux that is kept entirely is a momentum:
//!   it diffuses nothing.

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

/// The kinematic viscosity of the first populations of a model.
pub fn viscosity(model: &Model) -> Transport {
    let set = &model.populations[0];
    let found = relaxed(model, set, set.lattice.cs2().clone(), &|c| whole(c[0] * c[1]));
    match diffusivity(model, set) {
        Some(_) => Transport {
            formula: "none: the collision does not conserve momentum".into(),
            rate: None,
            factor: found.factor,
            names: found.names,
            time: None,
        },
        None => found,
    }
}

/// The bulk viscosity of the first populations of a model, if they carry a momentum.
pub fn bulk(model: &Model) -> Option<Transport> {
    let set = &model.populations[0];
    let (cs2, dim) = (set.lattice.cs2(), whole(set.lattice.dim() as i32));
    let compression = |c: &[i32]| whole(c.iter().map(|c| c * c).sum()) - &dim * cs2;
    diffusivity(model, set).is_none().then(|| relaxed(model, set, whole(2) * cs2 / &dim, &compression))
}

/// Whether shear along the diagonals relaxes as shear along the axes does, where both have a rate.
pub fn is_isotropic(model: &Model) -> bool {
    let time = |shape: &dyn Fn(&[i32]) -> Rational| relaxed(model, &model.populations[0], whole(1), shape).time;
    let (axes, diagonals) = (time(&|c| whole(c[0] * c[1])), time(&|c| whole(c[0] * c[0] - c[1] * c[1])));
    axes.is_none() || diagonals.is_none() || axes == diagonals
}

/// The diffusivity of what some populations carry, unless they carry a momentum.
pub fn diffusivity(model: &Model, set: &Populations) -> Option<Transport> {
    // What is proved need not be found again.
    if set.first == 0 && model.conserved.iter().any(|quantity| quantity.law == Law::Momentum) {
        return None;
    }
    let found = relaxed(model, set, set.lattice.cs2().clone(), &|c| whole(c[0]));
    found.time.is_some().then_some(found)
}

fn whole(value: i32) -> Rational {
    Rational::from_integer(value.into())
}

/// The coefficient that follows from how the moment `sum s(c) f` of some populations relaxes.
fn relaxed(model: &Model, set: &Populations, factor: Rational, shape: &dyn Fn(&[i32]) -> Rational) -> Transport {
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
    let rate = lambda.as_ref().and_then(Ratio::as_variable).map(name);
    let formula = match (&lambda, &time) {
        (_, Some(Ratio::Constant(time))) => (&factor * (time - Rational::new(1.into(), 2.into()))).to_string(),
        (_, Some(time)) => format!("{factor}*({} - 1/2)", time.show(&name)),
        (Some(_), None) => "infinite: the collision leaves it as it is".into(),
        (None, None) => "not found: the collision has no linear part at rest".into(),
    };
    Transport { formula, rate, factor: factor.to_f64().unwrap_or(f64::NAN), names, time }
}

/// The share of a moment that is left after a collision.
fn kept(
    model: &Model,
    set: &Populations,
    shape: &dyn Fn(&[i32]) -> Rational,
    terms: usize,
    variables: &[Option<usize>],
    sample: &dyn Fn(usize) -> f64,
) -> Option<Ratio> {
    let weights = model.weights();
    let mut shapes = vec![Rational::zero(); weights.len()];
    for dir in set.lattice.dirs() {
        shapes[set.pop(dir).index()] = shape(set.lattice.velocity(dir));
    }
    let symbol = |symbol: Symbol| match symbol {
        Symbol::Population(pop) => {
            let weight = &weights[pop.index()];
            series::ray(weight, &(weight * &shapes[pop.index()]))
        }
        Symbol::Param { param, .. } => series::parameter(variables[param as usize]),
        _ => series::parameter(None),
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
