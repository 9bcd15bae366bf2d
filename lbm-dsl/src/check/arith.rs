//! Arithmetic on nodes, with signs and constants drawn out.
//!
//! After: no product has a negative constant, no sum adds a negation, a product has at most one constant and that stands
//! first, division by a constant is a product. All exact over the rationals.

use num_traits::{One, Signed, Zero};

use crate::check::value::Condition;
use crate::expr::{Compare, Expr, ExprId, Exprs, Rational};
use crate::function::{self, Function, Image};

fn negated(exprs: &Exprs, a: ExprId) -> Option<ExprId> {
    match exprs.get(a) {
        Expr::Neg(inner) => Some(*inner),
        _ => None,
    }
}

/// `a + b`
pub fn add(exprs: &mut Exprs, a: ExprId, b: ExprId) -> ExprId {
    match (negated(exprs, a), negated(exprs, b)) {
        (_, Some(b)) => sub(exprs, a, b),
        (Some(a), None) => sub(exprs, b, a),
        (None, None) => exprs.plus(a, b),
    }
}

/// `a - b`
pub fn sub(exprs: &mut Exprs, a: ExprId, b: ExprId) -> ExprId {
    if a == b {
        return exprs.int(0);
    }
    match (negated(exprs, a), negated(exprs, b)) {
        (Some(a), Some(b)) => exprs.minus(b, a),
        (None, Some(b)) => exprs.plus(a, b),
        (Some(a), None) => {
            let sum = exprs.plus(a, b);
            exprs.neg(sum)
        }
        (None, None) => exprs.minus(a, b),
    }
}

/// `a * b`
pub fn mul(exprs: &mut Exprs, a: ExprId, b: ExprId) -> ExprId {
    let (factor_a, a) = split(exprs, a);
    let (factor_b, b) = split(exprs, b);
    let factor = factor_a * factor_b;
    match (a, b) {
        (None, None) => exprs.constant(factor),
        (Some(a), None) | (None, Some(a)) => scale(exprs, factor, a),
        (Some(a), Some(b)) => {
            let product = exprs.times(a, b);
            scale(exprs, factor, product)
        }
    }
}

/// `a / b`; a constant `b` is not zero.
pub fn div(exprs: &mut Exprs, a: ExprId, b: ExprId) -> ExprId {
    let (factor_a, a) = split(exprs, a);
    let (factor_b, b) = split(exprs, b);
    match (a, b) {
        (Some(a), None) => scale(exprs, factor_a / factor_b, a),
        (None, None) => exprs.constant(factor_a / factor_b),
        // `1 / (2 x)` is one half of `1 / x`, so reciprocals of `x` are found to be the same.
        (_, Some(b)) => {
            let above = a.unwrap_or_else(|| exprs.int(1));
            let quotient = exprs.over(above, b);
            scale(exprs, factor_a / factor_b, quotient)
        }
    }
}

/// `-a`
pub fn neg(exprs: &mut Exprs, a: ExprId) -> ExprId {
    exprs.neg(a)
}

/// `a^n`; a constant `a` is not zero where `n` is negative.
pub fn power(exprs: &mut Exprs, a: ExprId, n: i32) -> ExprId {
    let one = exprs.int(1);
    if n < 0 {
        let positive = power(exprs, a, -n);
        return div(exprs, one, positive);
    }
    match n {
        0 => one,
        1 => a,
        _ => {
            let half = power(exprs, a, n / 2);
            let square = mul(exprs, half, half);
            if n % 2 == 0 { square } else { mul(exprs, square, a) }
        }
    }
}

/// A function that is called by name, or a power; computed where the value is known to be rational. None where it is undefined, whatever
/// the state.
///
/// `abs`, `min` and `max` are choices, exact like these. Of two numbers one of which is none (NaN), `min` and `max` are the second.
pub fn call(exprs: &mut Exprs, function: Function, operands: &[ExprId]) -> Option<ExprId> {
    match (function, operands) {
        (Function::Abs, [a]) => {
            let (zero, minus) = (exprs.int(0), neg(exprs, *a));
            let negative = compare(exprs, Compare::Less, *a, zero);
            return Some(select(exprs, &negative, minus, *a));
        }
        (Function::Min, [a, b]) => {
            let less = compare(exprs, Compare::Less, *a, *b);
            return Some(select(exprs, &less, *a, *b));
        }
        (Function::Max, [a, b]) => {
            let greater = compare(exprs, Compare::Less, *b, *a);
            return Some(select(exprs, &greater, *a, *b));
        }
        _ => {}
    }
    let constants: Option<Vec<Rational>> = operands.iter().map(|id| exprs.as_const(*id).cloned()).collect();
    match (constants.map(|constants| function::image(function, &constants)), operands) {
        (Some(Image::Undefined), _) => None,
        (Some(Image::Rational(value)), _) => Some(exprs.constant(value)),
        (_, [a]) if function == Function::Sqrt => Some(exprs.add(Expr::Sqrt(*a))),
        _ => Some(exprs.add(Expr::Call(function, operands.to_vec()))),
    }
}

/// `left compare right`, decided where both are constants.
pub fn compare(exprs: &Exprs, compare: Compare, left: ExprId, right: ExprId) -> Condition {
    match (exprs.as_const(left), exprs.as_const(right)) {
        (Some(x), Some(y)) => Condition::Known(match compare {
            Compare::Less => x < y,
            Compare::LessEqual => x <= y,
            Compare::Equal => x == y,
        }),
        _ => Condition::Ask(compare, left, right),
    }
}

/// `then` where the condition holds, else `otherwise`.
pub fn select(exprs: &mut Exprs, condition: &Condition, then: ExprId, otherwise: ExprId) -> ExprId {
    match condition {
        Condition::Known(true) => then,
        Condition::Known(false) => otherwise,
        _ if then == otherwise => then,
        Condition::Not(inner) => select(exprs, inner, otherwise, then),
        Condition::And(first, second) => {
            let inner = select(exprs, second, then, otherwise);
            select(exprs, first, inner, otherwise)
        }
        Condition::Ask(compare, left, right) => {
            exprs.add(Expr::Select { compare: *compare, left: *left, right: *right, then, otherwise })
        }
    }
}

/// The constant factor of a node, and the rest unless that is one.
fn split(exprs: &Exprs, a: ExprId) -> (Rational, Option<ExprId>) {
    match exprs.get(a) {
        Expr::Const(value) => (value.clone(), None),
        Expr::Neg(inner) => {
            let (factor, rest) = split(exprs, *inner);
            (-factor, rest)
        }
        Expr::Mul(left, right) => match exprs.as_const(*left) {
            Some(value) => (value.clone(), Some(*right)),
            None => (Rational::one(), Some(a)),
        },
        _ => (Rational::one(), Some(a)),
    }
}

/// `factor * a` for an `a` without a constant factor.
fn scale(exprs: &mut Exprs, factor: Rational, a: ExprId) -> ExprId {
    if factor.is_zero() {
        return exprs.int(0);
    }
    let size = exprs.constant(factor.abs());
    let product = exprs.times(size, a);
    if factor.is_negative() { exprs.neg(product) } else { product }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::expr::{Pop, Symbol};

    fn setting() -> (Exprs, ExprId, ExprId) {
        let mut exprs = Exprs::new();
        let x = exprs.symbol(Symbol::Population(Pop(0)));
        let y = exprs.symbol(Symbol::Population(Pop(1)));
        (exprs, x, y)
    }

    #[test]
    fn signs_move_outwards() {
        let (mut exprs, x, y) = setting();
        let minus = exprs.int(-1);
        let minus_y = mul(&mut exprs, minus, y);
        assert_eq!(add(&mut exprs, x, minus_y), sub(&mut exprs, x, y));
        let product = mul(&mut exprs, x, minus_y);
        assert!(matches!(exprs.get(product), Expr::Neg(_)));
        let zero = sub(&mut exprs, product, product);
        assert_eq!(exprs.as_const(zero), Some(&Rational::zero()));
    }

    #[test]
    fn constants_gather_in_front() {
        let (mut exprs, x, y) = setting();
        let (two, three) = (exprs.int(2), exprs.int(3));
        let (a, b) = (mul(&mut exprs, x, two), mul(&mut exprs, three, y));
        let product = mul(&mut exprs, a, b);
        let Expr::Mul(factor, rest) = *exprs.get(product) else { panic!("no product") };
        assert_eq!(exprs.as_const(factor), Some(&Rational::from_integer(6.into())));
        assert_eq!(*exprs.get(rest), Expr::Mul(x, y));
        let third = div(&mut exprs, a, three);
        let Expr::Mul(factor, _) = *exprs.get(third) else { panic!("no product") };
        assert_eq!(exprs.as_const(factor), Some(&Rational::new(2.into(), 3.into())));
    }

    #[test]
    fn functions_are_computed_where_they_are_rational() {
        let (mut exprs, x, _) = setting();
        let [minus, zero, one, four] = [-1, 0, 1, 4].map(|value| exprs.int(value));
        assert_eq!(call(&mut exprs, Function::Exp, &[zero]), Some(one));
        assert_eq!(call(&mut exprs, Function::Sqrt, &[one]), Some(one));
        assert_eq!(call(&mut exprs, Function::Abs, &[minus]), Some(one));
        assert_eq!(call(&mut exprs, Function::Max, &[minus, four]), Some(four));
        assert_eq!(call(&mut exprs, Function::Min, &[x, x]), Some(x));
        assert_eq!(call(&mut exprs, Function::Power, &[zero, minus]), None);
        assert_eq!(call(&mut exprs, Function::Ln, &[minus]), None);
        let exp = call(&mut exprs, Function::Exp, &[one]).unwrap();
        assert_eq!(*exprs.get(exp), Expr::Call(Function::Exp, vec![one]));
    }

    #[test]
    fn conditions_become_selects() {
        let (mut exprs, x, y) = setting();
        let (one, two) = (exprs.int(1), exprs.int(2));
        let positive = compare(&exprs, Compare::Less, x, y);
        let both = positive.clone().and(positive.clone().negate());
        let chosen = select(&mut exprs, &both, one, two);
        for values in [(1, 2), (2, 1)] {
            let value = exprs.eval(&[chosen], |symbol| {
                let n = if symbol == Symbol::Population(Pop(0)) { values.0 } else { values.1 };
                f64::from(n)
            });
            assert_eq!(value, [2.0]);
        }
    }
}
