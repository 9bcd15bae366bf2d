//! Numbers for proofs: exact where that is possible at a fair price.

use num_traits::Zero;

use crate::expr::{Compare, Number, Rational};
use crate::function::{self, Function, Image};

/// Most bits of an exact number; beyond, exactness costs more than it tells.
const MAX_BITS: u64 = 4096;

/// A number as far as exact arithmetic knows it.
#[derive(Clone, Debug, PartialEq)]
pub enum Known {
    /// Just this.
    Value(Rational),
    /// It exists, but is irrational or too long to write down.
    Somehow,
    /// There is none: a division by zero, the root of a negative number or the like is in it.
    Undefined,
}

impl Known {
    fn of(value: Rational) -> Self {
        if value.numer().bits() + value.denom().bits() > MAX_BITS { Known::Somehow } else { Known::Value(value) }
    }

    fn with(&self, other: &Known, op: impl Fn(&Rational, &Rational) -> Rational) -> Known {
        match (self, other) {
            (Known::Undefined, _) | (_, Known::Undefined) => Known::Undefined,
            (Known::Value(a), Known::Value(b)) => Known::of(op(a, b)),
            _ => Known::Somehow,
        }
    }
}

impl Number for Known {
    fn constant(value: &Rational) -> Self {
        Known::Value(value.clone())
    }
    fn neg(&self) -> Self {
        match self {
            Known::Value(value) => Known::Value(-value),
            other => other.clone(),
        }
    }
    fn add(&self, other: &Self) -> Self {
        self.with(other, |a, b| a + b)
    }
    fn sub(&self, other: &Self) -> Self {
        self.with(other, |a, b| a - b)
    }
    fn mul(&self, other: &Self) -> Self {
        self.with(other, |a, b| a * b)
    }
    fn div(&self, other: &Self) -> Self {
        match other {
            Known::Value(divisor) if divisor.is_zero() => Known::Undefined,
            _ => self.with(other, |a, b| a / b),
        }
    }
    fn sqrt(&self) -> Self {
        Known::call(Function::Sqrt, std::slice::from_ref(self))
    }
    fn call(function: Function, operands: &[Self]) -> Self {
        if operands.contains(&Known::Undefined) {
            return Known::Undefined;
        }
        let exact = |operand: &Known| if let Known::Value(value) = operand { Some(value.clone()) } else { None };
        let Some(operands) = operands.iter().map(exact).collect::<Option<Vec<_>>>() else { return Known::Somehow };
        match function::image(function, &operands) {
            Image::Rational(value) => Known::of(value),
            Image::Somehow => Known::Somehow,
            Image::Undefined => Known::Undefined,
        }
    }
    fn select(compare: Compare, left: &Self, right: &Self, then: &Self, otherwise: &Self) -> Self {
        let (left, right) = match (left, right) {
            (Known::Value(left), Known::Value(right)) => (left, right),
            (Known::Undefined, _) | (_, Known::Undefined) => return Known::Undefined,
            _ => return Known::Somehow,
        };
        let yes = match compare {
            Compare::Less => left < right,
            Compare::LessEqual => left <= right,
            Compare::Equal => left == right,
        };
        if yes { then.clone() } else { otherwise.clone() }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn whole(value: i64) -> Known {
        Known::Value(Rational::from_integer(value.into()))
    }

    #[test]
    fn roots_exist_and_quotients_by_zero_do_not() {
        assert_eq!(whole(9).sqrt(), whole(3));
        assert_eq!(whole(2).sqrt().add(&whole(1)), Known::Somehow);
        assert_eq!(whole(-1).sqrt(), Known::Undefined);
        assert_eq!(whole(1).div(&whole(0)).add(&whole(2).sqrt()), Known::Undefined);
        assert_eq!(Known::call(Function::Exp, &[whole(0)]), whole(1));
        assert_eq!(Known::call(Function::Exp, &[whole(1)]), Known::Somehow);
        assert_eq!(Known::call(Function::Ln, &[whole(0)]), Known::Undefined);
        assert_eq!(Number::select(Compare::Less, &whole(0), &whole(1), &whole(5), &Known::Undefined), whole(5));
    }

    #[test]
    fn long_numbers_are_given_up() {
        let mut power = whole(3);
        for _ in 0..40 {
            power = power.mul(&power);
        }
        assert_eq!(power, Known::Somehow);
    }
}
