//! States to try a law on: exact, small and the same on every machine.

use crate::expr::Rational;
use crate::model::{Model, Param};

/// A sequence of pseudo-random numbers (a 64-bit linear congruence, upper bits).
pub struct Random(u64);

impl Random {
    /// The sequence that always starts the same.
    pub fn new() -> Self {
        Random(0x9e37_79b9_7f4a_7c15)
    }

    /// A whole number from `low` to `high`.
    pub fn whole(&mut self, low: i64, high: i64) -> i64 {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        low + ((self.0 >> 33) % (high - low + 1) as u64) as i64
    }

    /// Populations near rest: each weight changed by up to a quarter.
    pub fn populations(&mut self, model: &Model) -> Vec<Rational> {
        let weights = model.weights().into_iter();
        weights.map(|weight| weight * Rational::new((32 + self.whole(-8, 8)).into(), 32.into())).collect()
    }

    /// Values for parameters, a component each: scalars inside their range, vectors small.
    pub fn params(&mut self, params: &[Param]) -> Vec<Vec<Rational>> {
        params.iter().map(|param| (0..param.components).map(|_| self.param(param)).collect()).collect()
    }

    fn param(&mut self, param: &Param) -> Rational {
        match &param.range {
            Some((low, high)) => low + (high - low) * Rational::new(self.whole(1, 7).into(), 8.into()),
            None if param.components == 1 => Rational::new(self.whole(1, 7).into(), 8.into()),
            None => Rational::new(self.whole(-4, 4).into(), 64.into()),
        }
    }
}
