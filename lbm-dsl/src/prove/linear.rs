//! The collision near a uniform flow, as a matrix; of a collision that reads values of the cells around, a matrix for each of these.
//!
//! Derivatives are those of dual numbers, exact up to rounding. A collision may use functions that have none at equilibrium:
//! the norm of the non-equilibrium stress (a root), the rate of an entropic method (a quotient of what vanishes, behind a
//! choice). Each value therefore carries how smooth it is, and a factor that vanishes makes a product one degree smoother:
//! so Smagorinsky's operator has a derivative at equilibrium, as it should, and an entropic one has none.

use std::borrow::Cow;
use std::collections::BTreeSet;
use std::fmt;

use nalgebra::{Complex, DMatrix};
use num_traits::ToPrimitive;

use crate::expr::{Compare, ExprId, Exprs, Number, Rational, Symbol};
use crate::function::{self, Function};
use crate::model::{Field, Model};

/// What counts as zero: values are of the order of one, rounding of 1e-16.
const TINY: f64 = 1e-12;
/// The same of a sum of squares, each over a small weight.
const TINY_SQUARE: f64 = 1e-20;
/// Most applications of the collision that may be needed to reach equilibrium.
const SETTLING: usize = 4000;

/// Why there is no matrix.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum NotLinear {
    /// No field is a vector, so there is no flow to be near.
    NoVelocity,
    /// Collisions of a uniform flow do not settle.
    NotSteady,
    /// The collision is not differentiable there.
    Rough,
    /// The collision has no value there.
    Undefined,
}

impl fmt::Display for NotLinear {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str(match self {
            NotLinear::NoVelocity => "no field of the method is a velocity",
            NotLinear::NotSteady => "collisions do not bring a uniform flow to rest in itself",
            NotLinear::Rough => {
                "the collision has no derivative at equilibrium (it divides what vanishes there, or chooses by its sign)"
            }
            NotLinear::Undefined => "the collision has no value in a uniform flow",
        })
    }
}

/// A value with its derivatives by the variables; smoothness 2: it has them, 1: it is continuous, 0: it may jump.
#[derive(Clone, Debug)]
pub(super) struct Dual {
    pub value: f64,
    /// Empty: it depends on no variable.
    pub slope: Vec<f64>,
    pub smooth: u8,
}

impl Dual {
    pub(super) fn constant(value: f64) -> Self {
        Dual { value, slope: Vec::new(), smooth: 2 }
    }

    /// The variable with that number, of `count`.
    pub(super) fn variable(value: f64, number: usize, count: usize) -> Self {
        let slope = (0..count).map(|at| if at == number { 1.0 } else { 0.0 }).collect();
        Dual { value, slope, smooth: 2 }
    }

    fn vanishes(&self) -> bool {
        self.value.abs() <= TINY
    }

    /// Whether its derivatives vanish.
    fn is_flat(&self) -> bool {
        self.slope.iter().all(|slope| slope.abs() <= TINY.sqrt())
    }

    /// `value` with the slope `a * self' + b * other'`.
    fn joined(&self, other: &Dual, value: f64, a: f64, b: f64, smooth: u8) -> Dual {
        let slope = match (self.slope.is_empty(), other.slope.is_empty()) {
            (true, true) => Vec::new(),
            (false, true) => self.slope.iter().map(|x| a * x).collect(),
            (true, false) => other.slope.iter().map(|y| b * y).collect(),
            (false, false) => self.slope.iter().zip(&other.slope).map(|(x, y)| a * x + b * y).collect(),
        };
        Dual { value, slope, smooth }
    }

    fn scaled(&self, value: f64, factor: f64, smooth: u8) -> Dual {
        Dual { value, slope: self.slope.iter().map(|x| factor * x).collect(), smooth }
    }

    /// Smoothness of a product with it, as far as `other` goes.
    fn beside(&self, other: &Dual) -> u8 {
        (other.smooth + u8::from(self.vanishes())).min(2)
    }
}

impl Number for Dual {
    fn constant(value: &Rational) -> Self {
        Dual::constant(value.to_f64().unwrap_or(f64::NAN))
    }
    fn neg(&self) -> Self {
        self.scaled(-self.value, -1.0, self.smooth)
    }
    fn add(&self, other: &Self) -> Self {
        self.joined(other, self.value + other.value, 1.0, 1.0, self.smooth.min(other.smooth))
    }
    fn sub(&self, other: &Self) -> Self {
        self.joined(other, self.value - other.value, 1.0, -1.0, self.smooth.min(other.smooth))
    }
    fn mul(&self, other: &Self) -> Self {
        let smooth = self.beside(other).min(other.beside(self));
        self.joined(other, self.value * other.value, other.value, self.value, smooth)
    }
    fn div(&self, other: &Self) -> Self {
        let inverse = 1.0 / other.value;
        let quotient = self.mul(&other.scaled(inverse, -inverse * inverse, other.smooth));
        // Where the divisor vanishes, it is whatever rounding makes of it.
        let is_rounding = other.vanishes() && !other.slope.is_empty();
        Dual { smooth: if is_rounding { 0 } else { quotient.smooth }, ..quotient }
    }
    fn sqrt(&self) -> Self {
        if self.slope.is_empty() || !self.vanishes() {
            let root = self.value.sqrt();
            return self.scaled(root, 0.5 / root, self.smooth);
        }
        // The root of something like a square: continuous, with a kink.
        self.scaled(0.0, 0.0, if self.is_flat() { self.smooth.min(1) } else { 0 })
    }
    fn call(function: Function, operands: &[Self]) -> Self {
        let values: Vec<f64> = operands.iter().map(|operand| operand.value).collect();
        let value = function.of(&values);
        let mut found = Dual::constant(value);
        for (operand, slope) in operands.iter().zip(function::slopes(function, &values)) {
            found = if operand.slope.is_empty() {
                found
            } else if slope.is_finite() {
                found.joined(operand, value, 1.0, slope, found.smooth.min(operand.smooth))
            } else {
                // The end of its domain, as zero is that of a root.
                let smooth = if operand.is_flat() { operand.smooth.min(1) } else { 0 };
                found.joined(operand, value, 1.0, 0.0, found.smooth.min(smooth))
            };
        }
        found
    }
    fn select(compare: Compare, left: &Self, right: &Self, then: &Self, otherwise: &Self) -> Self {
        let difference = left.sub(right);
        // What has no slopes is a sum of squares, and so is its rounding.
        let rounding = if difference.is_flat() { TINY_SQUARE } else { TINY };
        if difference.slope.is_empty() || difference.value.abs() > rounding {
            let yes = f64::select(compare, &left.value, &right.value, &1.0, &0.0) > 0.0;
            return if yes { then.clone() } else { otherwise.clone() };
        }
        // On the edge of the choice.
        let apart = then.sub(otherwise);
        let smooth = match apart.vanishes() {
            false => 0,
            true if apart.slope.iter().any(|slope| slope.abs() > TINY.sqrt()) => 1,
            true => 2,
        };
        let chosen = if otherwise.value.is_finite() { otherwise } else { then };
        Dual { smooth: smooth.min(then.smooth).min(otherwise.smooth), ..chosen.clone() }
    }
}

/// Populations and states of a uniform flow of density 1 that the collision leaves as they are. Scalars are 1 in it, or what a parameter says where it
/// drives the flow then, as warm fluid does that is warmer than a reference.
pub(super) fn equilibrium(model: &Model, params: &[Vec<f64>], velocity: &[f64]) -> Result<Vec<f64>, NotLinear> {
    if !model.fields.iter().any(|field| field.components.len() > 1) {
        return Err(NotLinear::NoVelocity);
    }
    let model = &*among_alike(model);
    let is_scalar = |field: &Field| field.components.len() == 1;
    let found = settled(model, params, velocity, 1.0);
    if found.is_ok() || model.fields.iter().filter(|field| is_scalar(field)).count() < 2 {
        return found;
    }
    let stated =
        std::iter::zip(&model.params, params).filter(|(param, _)| param.components == 1 && param.range.is_none());
    stated.map(|(_, value)| settled(model, params, velocity, value[0])).find(Result::is_ok).unwrap_or(found)
}

/// The same, where all scalars but the density have this value at first.
fn settled(model: &Model, params: &[Vec<f64>], velocity: &[f64], scalar: f64) -> Result<Vec<f64>, NotLinear> {
    let density = model.fields.iter().position(|field| field.components.len() == 1);
    let given = |symbol: Symbol| match symbol {
        Symbol::Param { param, component } => params[usize::from(param)][usize::from(component)],
        Symbol::Field { field, component } if model.fields[usize::from(field)].components.len() > 1 => {
            velocity[usize::from(component)]
        }
        Symbol::Field { field, .. } if Some(usize::from(field)) != density => scalar,
        _ => 1.0,
    };
    let mut populations = model.exprs.eval(&model.init.outputs, given);
    for _ in 0..SETTLING {
        let after: Vec<f64> = model.exprs.eval(&model.collide.outputs, |symbol| match symbol {
            Symbol::Population(pop) => populations[pop.index()],
            other => given(other),
        });
        let change = populations.iter().zip(&after).map(|(f, post)| (post - f).abs()).fold(0.0, f64::max);
        if !after.iter().all(|value| value.is_finite()) {
            return Err(NotLinear::Undefined);
        }
        if change < TINY / 10.0 {
            return Ok(populations);
        }
        // Half way, so that rates near two settle as well as others.
        populations.iter_mut().zip(after).for_each(|(f, post)| *f = 0.5 * (*f + post));
    }
    Err(NotLinear::NotSteady)
}

/// Derivatives of `outputs` of a graph: `matrix[(i, j)]` is that of output `i` by variable `j` of `count`. `given` says what a symbol
/// is: one of the variables, or a constant.
pub(super) fn derivatives(
    exprs: &Exprs,
    outputs: &[ExprId],
    count: usize,
    given: impl Fn(Symbol) -> Dual,
) -> Result<DMatrix<f64>, NotLinear> {
    let values = exprs.eval(outputs, given);
    if !values.iter().all(|dual| dual.value.is_finite() && dual.slope.iter().all(|slope| slope.is_finite())) {
        return Err(NotLinear::Undefined);
    }
    if values.iter().any(|dual| dual.smooth < 2) {
        return Err(NotLinear::Rough);
    }
    Ok(DMatrix::from_fn(outputs.len(), count, |i, j| values[i].slope.get(j).copied().unwrap_or(0.0)))
}

/// The derivatives of a collision about a uniform flow.
pub(super) struct Linear {
    /// By the populations of the cell.
    pub own: DMatrix<f64>,
    /// Of what a cell shows to others, a row for each value, by its populations.
    pub shown: DMatrix<f64>,
    /// By what the cells show that lie a velocity away, a column for each value.
    pub around: Vec<(Vec<i32>, DMatrix<f64>)>,
}

impl Linear {
    /// By the populations of the cell, of a disturbance with a wave vector k, which is `exp(i k.c)` times as large at the velocity c.
    pub fn of_wave(&self, wave: &[f64]) -> DMatrix<Complex<f64>> {
        let mut all = self.own.map(Complex::from);
        if self.around.is_empty() {
            return all;
        }
        let mut by_shown = DMatrix::zeros(self.own.nrows(), self.shown.nrows());
        for (velocity, by) in &self.around {
            let phase: f64 = std::iter::zip(velocity, wave).map(|(c, k)| f64::from(*c) * k).sum();
            by_shown += by.map(Complex::from) * Complex::from_polar(1.0, phase);
        }
        all += by_shown * self.shown.map(Complex::from);
        all
    }
}

/// The method among cells that all are like the one at hand: it has what its collision reads of them.
fn among_alike(model: &Model) -> Cow<'_, Model> {
    if model.shown.is_empty() { Cow::Borrowed(model) } else { model.frozen() }
}

/// The collision's derivatives about a uniform flow of density 1. `params[param][component]`.
pub(super) fn collision(model: &Model, params: &[Vec<f64>], velocity: &[f64]) -> Result<Linear, NotLinear> {
    let model = &*among_alike(model);
    let state = equilibrium(model, params, velocity)?;
    let q = state.len();
    let given = |symbol: Symbol, count: usize| match symbol {
        Symbol::Population(pop) => Dual::variable(state[pop.index()], pop.index(), count),
        Symbol::Param { param, component } => Dual::constant(params[usize::from(param)][usize::from(component)]),
        _ => Dual::constant(0.0),
    };
    let Some(around) = &model.around else {
        let own = derivatives(&model.exprs, &model.collide.outputs, q, |symbol| given(symbol, q))?;
        return Ok(Linear { own, shown: DMatrix::zeros(0, q), around: Vec::new() });
    };
    let shown = derivatives(&model.exprs, &around.shown, q, |symbol| given(symbol, q))?;
    let values: Vec<f64> =
        model.exprs.eval::<Dual>(&around.shown, |symbol| given(symbol, q)).iter().map(|dual| dual.value).collect();
    let seen = model.exprs.symbols(&around.collide).filter_map(|symbol| match symbol {
        Symbol::Neighbour { shown, dir } => Some((dir, shown)),
        _ => None,
    });
    let seen: Vec<_> = seen.collect::<BTreeSet<_>>().into_iter().collect();
    let count = q + seen.len();
    let all = derivatives(&model.exprs, &around.collide, count, |symbol| match symbol {
        Symbol::Neighbour { shown, dir } => {
            let at = seen.iter().position(|one| *one == (dir, shown)).unwrap_or(0);
            Dual::variable(values[usize::from(shown)], q + at, count)
        }
        other => given(other, count),
    })?;
    let mut of_dirs: Vec<(Vec<i32>, DMatrix<f64>)> = Vec::new();
    for (at, (dir, value)) in seen.iter().enumerate() {
        let velocity = model.lattice().velocity(*dir);
        if of_dirs.last().is_none_or(|(last, _)| last != velocity) {
            of_dirs.push((velocity.to_vec(), DMatrix::zeros(q, values.len())));
        }
        let (_, by) = of_dirs.last_mut().expect("one was added");
        by.set_column(usize::from(*value), &all.column(q + at));
    }
    Ok(Linear { own: all.columns(0, q).into_owned(), shown, around: of_dirs })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn x(value: f64) -> Dual {
        Dual::variable(value, 0, 1)
    }

    #[test]
    fn derivatives_are_those_of_calculus() {
        // x sqrt(x) / (1 - x) at 4: value -8/3, slope (1.5 sqrt(x) (1 - x) + x sqrt(x)) / (1 - x)^2 = -1/9.
        let value = x(4.0).mul(&x(4.0).sqrt()).div(&Dual::constant(1.0).sub(&x(4.0)));
        assert!((value.value + 8.0 / 3.0).abs() < 1e-15 && (value.slope[0] + 1.0 / 9.0).abs() < 1e-14);
        assert_eq!(value.smooth, 2);
        // x^x at 2: slope 4 (1 + ln 2).
        let value = Dual::call(Function::Power, &[x(2.0), x(2.0)]);
        assert!((value.slope[0] - 4.0 * (1.0 + 2.0_f64.ln())).abs() < 1e-14 && value.smooth == 2);
    }

    #[test]
    fn a_kink_is_smooth_only_behind_a_factor_that_vanishes() {
        let norm = x(0.0).mul(&x(0.0)).sqrt();
        assert_eq!((norm.smooth, norm.mul(&x(0.0)).smooth, norm.mul(&x(1.0)).smooth), (1, 2, 1));
        let fourth = Dual::call(Function::Power, &[x(0.0).mul(&x(0.0)), Dual::constant(0.25)]);
        assert_eq!((fourth.smooth, fourth.mul(&x(0.0)).smooth), (1, 2));
    }

    /// Eddy viscosities are zero below a threshold that no disturbance reaches which is small enough.
    #[test]
    fn a_threshold_of_squares_is_not_at_zero() {
        let square = x(0.0).mul(&x(0.0));
        let (quotient, none) = (square.div(&square), Dual::constant(0.0));
        let above = |least: f64| Number::select(Compare::Less, &Dual::constant(least), &square, &quotient, &none);
        assert_eq!((above(1e-18).smooth, above(1e-18).value, above(0.0).smooth), (2, 0.0, 0));
    }

    #[test]
    fn a_jump_is_never_smooth() {
        let zero = x(0.0);
        let square = zero.mul(&zero);
        let choice =
            |then: &Dual| Number::select(Compare::Less, &Dual::constant(0.0), &square, then, &Dual::constant(0.0));
        let jump = choice(&Dual::constant(0.0).div(&zero));
        assert_eq!((jump.smooth, jump.mul(&zero).smooth), (0, 1));
        assert_eq!(choice(&zero).smooth, 1);
    }
}
