//! Functions whose values are mostly irrational: exponentials, angles, powers.
//!
//! Their names, operands and values in 64 bits are those of formulas in case files ([`Function`]), of which specs have what is called
//! by name. Here is what is known besides: the names that specs know, the rational values, and the derivatives.

pub use lbm_bundle::formula::Function;
use num_traits::{One, Signed, ToPrimitive, Zero};

use crate::rational::Rational;

/// Largest exponent of a power that is computed exactly.
const MAX_EXPONENT: i32 = 64;

/// What a function gives for rational operands.
#[derive(Clone, Debug, PartialEq)]
pub enum Image {
    /// Just this.
    Rational(Rational),
    /// A number that is not known to be rational.
    Somehow,
    /// Nothing: the operands are outside of its domain.
    Undefined,
}

/// The function that a formula of a spec calls by that name.
pub fn called(name: &str) -> Option<Function> {
    Function::called(name).filter(|function| *function != Function::If)
}

/// Names of the functions that formulas of specs call.
pub fn names() -> impl Iterator<Item = &'static str> {
    Function::names().filter(|name| called(name).is_some())
}

/// The value of a function where it is rational: `exp(0)`, `ln(1)`, whole powers.
pub fn image(function: Function, operands: &[Rational]) -> Image {
    use Function::{Acos, Asin, Atan, Atan2, Cos, Cosh, Exp, Ln, Log10, Power, Sin, Sinh, Sqrt, Tan, Tanh};
    let (zero, one) = (|| Image::Rational(Rational::zero()), || Image::Rational(Rational::one()));
    match (function, operands) {
        (Ln | Log10, [a]) if !a.is_positive() => Image::Undefined,
        (Asin | Acos, [a]) if a.abs() > Rational::one() => Image::Undefined,
        (Sqrt, [a]) => root(a),
        (Power, [a, b]) => power(a, b),
        (Ln | Log10 | Acos, [a]) if a.is_one() => zero(),
        (Sin | Tan | Asin | Atan | Sinh | Tanh, [a]) if a.is_zero() => zero(),
        (Cos | Cosh | Exp, [a]) if a.is_zero() => one(),
        (Atan2, [a, b]) if a.is_zero() && !b.is_negative() => zero(),
        _ => Image::Somehow,
    }
}

fn root(a: &Rational) -> Image {
    if a.is_negative() {
        return Image::Undefined;
    }
    let root = Rational::new(a.numer().sqrt(), a.denom().sqrt());
    if &(&root * &root) == a { Image::Rational(root) } else { Image::Somehow }
}

fn power(base: &Rational, exponent: &Rational) -> Image {
    let whole = exponent.is_integer().then(|| exponent.to_i32()).flatten();
    match whole.filter(|whole| whole.abs() <= MAX_EXPONENT) {
        _ if base.is_one() || exponent.is_zero() => Image::Rational(Rational::one()),
        _ if base.is_zero() && exponent.is_negative() => Image::Undefined,
        _ if base.is_zero() => Image::Rational(Rational::zero()),
        Some(whole) => Image::Rational(base.pow(whole)),
        None if base.is_negative() && !exponent.is_integer() => Image::Undefined,
        None => Image::Somehow,
    }
}

/// Where a function has a value, in terms of its operands.
pub fn domain(function: Function) -> &'static str {
    match function {
        Function::Ln | Function::Log10 => "a > 0",
        Function::Asin | Function::Acos => "-1 <= a <= 1",
        Function::Sqrt => "a >= 0",
        Function::Power => "a >= 0 where b is no whole number",
        _ => "all a",
    }
}

/// Derivatives of a function by its operands; not finite where it has none.
pub fn slopes(function: Function, operands: &[f64]) -> Vec<f64> {
    use Function::{Acos, Asin, Atan, Atan2, Cos, Cosh, Exp, Ln, Log10, Power, Sin, Sinh, Tan, Tanh};
    match (function, operands) {
        (Sin, [a]) => vec![a.cos()],
        (Cos, [a]) => vec![-a.sin()],
        (Tan, [a]) => vec![1.0 + a.tan().powi(2)],
        (Asin, [a]) => vec![1.0 / (1.0 - a * a).sqrt()],
        (Acos, [a]) => vec![-1.0 / (1.0 - a * a).sqrt()],
        (Atan, [a]) => vec![1.0 / (1.0 + a * a)],
        (Atan2, [a, b]) => vec![b / (a * a + b * b), -a / (a * a + b * b)],
        (Sinh, [a]) => vec![a.cosh()],
        (Cosh, [a]) => vec![a.sinh()],
        (Tanh, [a]) => vec![1.0 - a.tanh().powi(2)],
        (Exp, [a]) => vec![a.exp()],
        (Ln, [a]) => vec![1.0 / a],
        (Log10, [a]) => vec![1.0 / (a * std::f64::consts::LN_10)],
        (Power, [a, b]) => vec![b * a.powf(b - 1.0), a.powf(*b) * a.ln()],
        _ => unreachable!("`{}` is an operation of its own in a spec", function.name()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Every function that is no operation of its own, with operands in its domain.
    fn samples() -> impl Iterator<Item = (Function, Vec<f64>)> {
        let own =
            |function: &Function| !matches!(function, Function::Abs | Function::Min | Function::Max | Function::Sqrt);
        let functions = names().filter_map(called).filter(own).chain([Function::Power]);
        functions.map(|function| (function, [0.3, 0.7][..function.operands().len()].to_vec()))
    }

    #[test]
    fn slopes_are_limits_of_differences() {
        for (function, operands) in samples() {
            for (at, slope) in slopes(function, &operands).into_iter().enumerate() {
                let beside = |step: f64| {
                    let mut operands = operands.clone();
                    operands[at] += step;
                    function.of(&operands)
                };
                let difference = (beside(1e-5) - beside(-1e-5)) / 2e-5;
                assert!((slope - difference).abs() < 1e-8, "{}: {slope} {difference}", function.name());
            }
        }
    }

    #[test]
    fn rational_values_are_those_in_64_bits() {
        let numbers: Vec<Rational> = [-2, -1, 0, 1, 2, 4].map(|n| Rational::new(n.into(), 2.into())).into();
        for (function, operands) in samples().chain([(Function::Sqrt, vec![0.3])]) {
            let pairs = numbers.iter().flat_map(|a| numbers.iter().map(move |b| [a.clone(), b.clone()]));
            for pair in pairs {
                let given = &pair[..operands.len()];
                let value = function.of(&given.iter().map(|a| a.to_f64().unwrap()).collect::<Vec<_>>());
                let name = function.name();
                match image(function, given) {
                    Image::Rational(exact) => assert_eq!(exact.to_f64(), Some(value), "{name} {given:?}"),
                    Image::Somehow => assert!(value.is_finite(), "{name} {given:?}"),
                    Image::Undefined => assert!(!value.is_finite(), "{name} {given:?}"),
                }
            }
        }
    }
}
