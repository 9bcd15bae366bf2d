//! Exact constants as literals of the target's real type.

use std::cmp::Ordering;

use lbm_bundle::Real;
use lbm_dsl::expr::Rational;
use num_traits::{Signed, ToPrimitive};

/// The shortest decimal literal that reads back as the number of type `real` nearest to `value` (ties to even).
pub fn literal(value: &Rational, real: Real) -> String {
    match real {
        Real::F32 | Real::F16F32 => format!("{:?}f", nearest_f32(value)),
        Real::F64 => format!("{:?}", nearest_f64(value)),
    }
}

macro_rules! nearest {
    ($name:ident, $float:ty) => {
        fn $name(value: &Rational) -> $float {
            let guess = value.to_f64().unwrap_or(f64::NAN) as $float;
            let distance = |float: &$float| Rational::from_float(*float).map(|exact| (exact - value).abs());
            let even = |float: &$float| float.to_bits() & 1;
            let candidates = [guess.next_down(), guess, guess.next_up()];
            let closer = |a: &$float, b: &$float| match (distance(a), distance(b)) {
                (Some(x), Some(y)) => x.cmp(&y).then(even(a).cmp(&even(b))),
                (Some(_), None) => Ordering::Less,
                (None, Some(_)) => Ordering::Greater,
                (None, None) => Ordering::Equal,
            };
            candidates.into_iter().min_by(closer).unwrap_or(guess)
        }
    };
}
nearest!(nearest_f32, f32);
nearest!(nearest_f64, f64);

#[cfg(test)]
mod tests {
    use super::*;

    fn ratio(numerator: i64, denominator: i64) -> Rational {
        Rational::new(numerator.into(), denominator.into())
    }

    #[test]
    fn literals_are_the_shortest_that_round_trip() {
        assert_eq!(literal(&ratio(1, 3), Real::F32), "0.33333334f");
        assert_eq!(literal(&ratio(1, 3), Real::F64), "0.3333333333333333");
        assert_eq!(literal(&ratio(2, 1), Real::F32), "2.0f");
        assert_eq!(literal(&ratio(-9, 2), Real::F64), "-4.5");
        assert_eq!(literal(&ratio(1, 216), Real::F32), "0.0046296297f");
        assert_eq!(literal(&ratio(1, 10_000_000), Real::F32), "1e-7f");
    }

    #[test]
    fn rationals_round_once_not_twice() {
        // Just above half-way between two neighbouring f32, by less than an f64 can see: rounding through f64 gives a
        // tie, which goes down to the even neighbour 1.
        let half_way = ratio((1 << 24) + 1, 1 << 24);
        let above = half_way + num_traits::pow(ratio(1, 2), 80);
        assert_eq!(nearest_f32(&above), 1.0 + f32::EPSILON);
    }
}
