//! Polynomials in one variable over the rationals, and the linear systems that interpolation asks for.

use std::fmt;

use num_integer::Integer;
use num_traits::{One, Pow, Signed, Zero};

use crate::expr::Rational;

/// `c0 + c1 x + c2 x^2 + ...`; the last coefficient is not zero.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Polynomial {
    coefficients: Vec<Rational>,
}

impl Polynomial {
    /// From the coefficient of `x^0` on.
    pub fn new(mut coefficients: Vec<Rational>) -> Self {
        while coefficients.last().is_some_and(Zero::is_zero) {
            coefficients.pop();
        }
        Self { coefficients }
    }

    /// `x^power`
    pub fn power(power: usize) -> Self {
        let mut coefficients = vec![Rational::zero(); power];
        coefficients.push(Rational::one());
        Self { coefficients }
    }

    /// Its highest power; 0 for a constant.
    pub fn degree(&self) -> usize {
        self.coefficients.len().saturating_sub(1)
    }

    /// Whether it is zero.
    pub fn is_zero(&self) -> bool {
        self.coefficients.is_empty()
    }

    /// `self + factor * other`
    pub fn plus(&self, factor: &Rational, other: &Polynomial) -> Self {
        let at = |of: &Polynomial, power: usize| of.coefficients.get(power).cloned().unwrap_or_default();
        let count = self.coefficients.len().max(other.coefficients.len());
        Self::new((0..count).map(|power| at(self, power) + at(other, power) * factor).collect())
    }

    /// `self * other`
    pub fn times(&self, other: &Polynomial) -> Self {
        let mut product = vec![Rational::zero(); self.coefficients.len() + other.coefficients.len()];
        for (i, left) in self.coefficients.iter().enumerate() {
            for (j, right) in other.coefficients.iter().enumerate() {
                product[i + j] += left * right;
            }
        }
        Self::new(product)
    }

    /// Its value.
    pub fn at(&self, x: &Rational) -> Rational {
        self.coefficients.iter().rev().fold(Rational::zero(), |value, coefficient| value * x + coefficient)
    }

    /// Its derivative.
    pub fn derivative(&self) -> Self {
        let terms = self.coefficients.iter().enumerate().skip(1);
        Self::new(terms.map(|(power, coefficient)| coefficient * Rational::from_integer(power.into())).collect())
    }

    /// Its mean from `low` to `high`, which differ.
    pub fn mean(&self, low: &Rational, high: &Rational) -> Rational {
        let terms = self.coefficients.iter().enumerate().map(|(power, coefficient)| {
            let end = |x: &Rational| Pow::pow(x, power as i32 + 1);
            coefficient * (end(high) - end(low)) / Rational::from_integer((power + 1).into())
        });
        terms.sum::<Rational>() / (high - low)
    }

    /// The same up to a factor, with whole coefficients that have no common divisor, the first of them positive.
    pub fn primitive(&self) -> Self {
        let denominators = self.coefficients.iter().map(|c| c.denom().clone());
        let clear = Rational::from_integer(denominators.fold(One::one(), |all: num_bigint::BigInt, d| all.lcm(&d)));
        let whole = Self::default().plus(&clear, self);
        let common = whole.coefficients.iter().fold(num_bigint::BigInt::zero(), |all, c| all.gcd(c.numer()));
        let Some(first) = whole.coefficients.iter().find(|c| !c.is_zero()) else { return whole };
        let common = Rational::from_integer(if first.is_negative() { -common } else { common });
        Self::default().plus(&common.recip(), &whole)
    }
}

impl fmt::Display for Polynomial {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut first = true;
        for (power, coefficient) in self.coefficients.iter().enumerate().filter(|(_, c)| !c.is_zero()) {
            out.write_str(match (first, coefficient.is_negative()) {
                (true, false) => "",
                (true, true) => "-",
                (false, false) => " + ",
                (false, true) => " - ",
            })?;
            first = false;
            let size = coefficient.abs();
            match (power, size.is_one()) {
                (0, _) => write!(out, "{size}")?,
                (_, true) => {}
                (_, false) => write!(out, "{size}*")?,
            }
            match power {
                0 => {}
                1 => out.write_str("x")?,
                _ => write!(out, "x^{power}")?,
            }
        }
        if first { out.write_str("0") } else { Ok(()) }
    }
}

/// What is known of `x` in `rows[k] . x = right[k]`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Solution {
    /// This is the only one.
    One(Vec<Rational>),
    /// With any solution, this may be added: the product of every row with it is zero.
    Many(Vec<Rational>),
    /// There is none.
    None,
}

/// Solves a linear system of `count` unknowns by elimination.
pub fn solve(rows: &[Vec<Rational>], right: &[Rational], count: usize) -> Solution {
    let mut rows: Vec<Vec<Rational>> =
        rows.iter().zip(right).map(|(row, right)| row.iter().chain([right]).cloned().collect()).collect();
    let mut pivots = Vec::new();
    for column in 0..count {
        let done = pivots.len();
        let Some(found) = (done..rows.len()).find(|row| !rows[*row][column].is_zero()) else { continue };
        rows.swap(done, found);
        let lead = rows[done][column].recip();
        rows[done].iter_mut().for_each(|value| *value *= &lead);
        let pivot = rows[done].clone();
        for (at, row) in rows.iter_mut().enumerate() {
            if at != done && !row[column].is_zero() {
                let factor = row[column].clone();
                row.iter_mut().zip(&pivot).for_each(|(value, pivot)| *value -= &factor * pivot);
            }
        }
        pivots.push(column);
    }
    if rows[pivots.len()..].iter().any(|row| !row[count].is_zero()) {
        return Solution::None;
    }
    let Some(free) = (0..count).find(|column| !pivots.contains(column)) else {
        return Solution::One(rows[..count].iter().map(|row| row[count].clone()).collect());
    };
    let mut kernel = vec![Rational::zero(); count];
    kernel[free] = Rational::one();
    for (row, column) in pivots.iter().enumerate() {
        kernel[*column] = -rows[row][free].clone();
    }
    Solution::Many(kernel)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ratio(above: i64, below: i64) -> Rational {
        Rational::new(above.into(), below.into())
    }

    fn polynomial(coefficients: &[i64]) -> Polynomial {
        Polynomial::new(coefficients.iter().map(|c| ratio(*c, 1)).collect())
    }

    #[test]
    fn values_means_and_derivatives() {
        let p = polynomial(&[1, 0, 3]);
        assert_eq!(p.at(&ratio(1, 2)), ratio(7, 4));
        assert_eq!(p.mean(&ratio(-1, 1), &ratio(1, 1)), ratio(2, 1));
        assert_eq!(p.derivative(), polynomial(&[0, 6]));
        assert_eq!(polynomial(&[1, 1]).times(&polynomial(&[1, -1])).to_string(), "1 - x^2");
        assert_eq!(polynomial(&[0, -2, 0, 4]).primitive().to_string(), "x - 2*x^3");
    }

    #[test]
    fn systems_have_one_many_or_no_solutions() {
        let rows = |rows: &[&[i64]]| -> Vec<Vec<Rational>> {
            rows.iter().map(|row| row.iter().map(|v| ratio(*v, 1)).collect()).collect()
        };
        let right = [ratio(3, 1), ratio(1, 1)];
        assert_eq!(solve(&rows(&[&[1, 1], &[1, -1]]), &right, 2), Solution::One(vec![ratio(2, 1), ratio(1, 1)]));
        assert_eq!(solve(&rows(&[&[1, 1], &[1, 1]]), &right, 2), Solution::None);
        assert_eq!(solve(&rows(&[&[1, 2]]), &right[..1], 2), Solution::Many(vec![ratio(-2, 1), ratio(1, 1)]));
    }
}
