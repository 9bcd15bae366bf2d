//! Polynomials in several variables over the rationals.
//!
//! After: no term has a zero coefficient, no monomial ends in a zero exponent; so equal polynomials are equal values.

use std::collections::BTreeMap;

use num_traits::{One, ToPrimitive, Zero};

use crate::expr::{Exact, Number, Rational};

/// Exponents of variables 0, 1, ...; those left out at the end are zero.
pub type Monomial = Vec<u16>;

/// A polynomial: a coefficient for each monomial.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Poly {
    terms: BTreeMap<Monomial, Rational>,
}

impl Poly {
    /// A constant.
    pub fn constant(value: Rational) -> Self {
        let mut poly = Self::default();
        poly.put(Vec::new(), value);
        poly
    }

    /// A variable.
    pub fn variable(index: usize) -> Self {
        let mut monomial = vec![0; index];
        monomial.push(1);
        Self { terms: BTreeMap::from([(monomial, Rational::one())]) }
    }

    /// How many monomials it has.
    pub fn len(&self) -> usize {
        self.terms.len()
    }

    /// Whether it is zero.
    pub fn is_zero(&self) -> bool {
        self.terms.is_empty()
    }

    /// Its value, if it has no variable.
    pub fn as_constant(&self) -> Option<Rational> {
        match self.terms.len() {
            0 => Some(Rational::zero()),
            1 => self.terms.get(&Vec::new()).cloned(),
            _ => None,
        }
    }

    /// Every monomial with its coefficient, constants first.
    pub fn terms(&self) -> impl DoubleEndedIterator<Item = (&Monomial, &Rational)> {
        self.terms.iter()
    }

    fn put(&mut self, mut monomial: Monomial, value: Rational) {
        while monomial.last() == Some(&0) {
            monomial.pop();
        }
        let sum = self.terms.remove(&monomial).unwrap_or_default() + value;
        if !sum.is_zero() {
            self.terms.insert(monomial, sum);
        }
    }

    /// `self + factor * other`
    pub fn plus(&self, factor: &Rational, other: &Poly) -> Poly {
        let mut sum = self.clone();
        for (monomial, value) in &other.terms {
            sum.put(monomial.clone(), value * factor);
        }
        sum
    }

    /// `factor * self`
    pub fn scaled(&self, factor: &Rational) -> Poly {
        Poly::default().plus(factor, self)
    }

    /// `self * other`
    pub fn times(&self, other: &Poly) -> Poly {
        let mut product = Poly::default();
        for (left, x) in &self.terms {
            for (right, y) in &other.terms {
                product.put(joined(left, right), x * y);
            }
        }
        product
    }

    /// The quotient, if it leaves no remainder.
    pub fn divided(&self, divisor: &Poly) -> Option<Poly> {
        let (lead, factor) = divisor.terms.last_key_value()?;
        if divisor.len() == 1 {
            let terms = self.terms.iter().map(|(monomial, value)| Some((less(monomial, lead)?, value / factor)));
            return terms.collect::<Option<Vec<_>>>().map(|terms| {
                let mut quotient = Poly::default();
                terms.into_iter().for_each(|(monomial, value)| quotient.put(monomial, value));
                quotient
            });
        }
        let (mut rest, mut quotient) = (self.clone(), Poly::default());
        while let Some((monomial, value)) = rest.terms.last_key_value() {
            let monomial = less(monomial, lead)?;
            let term = Poly { terms: BTreeMap::from([(monomial, value / factor)]) };
            rest = rest.plus(&-Rational::one(), &term.times(divisor));
            quotient = quotient.plus(&Rational::one(), &term);
        }
        Some(quotient)
    }

    /// The polynomial of which this is the square, its last coefficient positive, if there is one.
    pub fn sqrt(&self) -> Option<Poly> {
        let Some((monomial, value)) = self.terms.last_key_value() else { return Some(Poly::default()) };
        let half: Option<Monomial> = monomial.iter().map(|power| (power % 2 == 0).then_some(power / 2)).collect();
        let lead = Poly { terms: BTreeMap::from([(half?, <Exact as Number>::sqrt(&Some(value.clone()))?)]) };
        let mut root = lead.clone();
        let mut rest = self.plus(&-Rational::one(), &lead.times(&lead));
        while let Some((monomial, value)) = rest.terms.last_key_value() {
            // The last monomials of the rest are twice the product of the first term and the next one.
            let last = Poly { terms: BTreeMap::from([(monomial.clone(), value / Rational::from_integer(2.into()))]) };
            let next = last.divided(&lead)?;
            let twice = root.scaled(&Rational::from_integer(2.into())).plus(&Rational::one(), &next);
            rest = rest.plus(&-Rational::one(), &twice.times(&next));
            root = root.plus(&Rational::one(), &next);
        }
        Some(root)
    }

    /// A greatest common divisor, up to a constant factor; 1 where only constants divide both.
    pub fn gcd(&self, other: &Poly) -> Poly {
        if self.is_zero() {
            return other.clone();
        }
        if other.is_zero() {
            return self.clone();
        }
        if self.len() == 1 || other.len() == 1 {
            return self.common_powers(other);
        }
        let Some(variable) = self.first_variable().into_iter().chain(other.first_variable()).min() else {
            return Poly::constant(Rational::one());
        };
        let (left, right) = (self.coefficients(variable), other.coefficients(variable));
        let (content_left, content_right) = (content(&left), content(&right));
        let common = content_left.gcd(&content_right);
        let (mut a, mut b) = (shrunk(&left, &content_left), shrunk(&right, &content_right));
        if a.len() < b.len() {
            std::mem::swap(&mut a, &mut b);
        }
        while b.len() > 1 {
            let rest = pseudo_remainder(&a, &b);
            a = b;
            let factor = content(&rest);
            b = if rest.is_empty() { rest } else { shrunk(&rest, &factor) };
        }
        let primitive = if b.is_empty() { assembled(&a, variable) } else { Poly::constant(Rational::one()) };
        primitive.times(&common).monic()
    }

    /// Divided by the coefficient of its last monomial.
    pub fn monic(&self) -> Poly {
        match self.terms.last_key_value() {
            Some((_, lead)) => self.scaled(&lead.recip()),
            None => self.clone(),
        }
    }

    /// Its value, given those of the variables.
    pub fn at(&self, variable: &dyn Fn(usize) -> f64) -> f64 {
        let term = |(monomial, value): (&Monomial, &Rational)| {
            let powers =
                monomial.iter().enumerate().map(|(v, n)| if *n == 0 { 1.0 } else { variable(v).powi((*n).into()) });
            value.to_f64().unwrap_or(f64::NAN) * powers.product::<f64>()
        };
        self.terms.iter().map(term).sum()
    }

    /// The largest monomial that divides both, which is all that a single term can share.
    fn common_powers(&self, other: &Poly) -> Poly {
        let lower = |common: Monomial, next: &Monomial| common.iter().zip(next).map(|(a, b)| *a.min(b)).collect();
        let mut all = self.terms.keys().chain(other.terms.keys());
        let first = all.next().cloned().unwrap_or_default();
        let mut common = Poly::default();
        common.put(all.fold(first, lower), Rational::one());
        common
    }

    fn first_variable(&self) -> Option<usize> {
        self.terms.keys().filter_map(|monomial| monomial.iter().position(|power| *power > 0)).min()
    }

    /// Coefficients of the powers of a variable, from 0; the last is not zero.
    fn coefficients(&self, variable: usize) -> Vec<Poly> {
        let mut all: Vec<Poly> = Vec::new();
        for (monomial, value) in &self.terms {
            let power = monomial.get(variable).map_or(0, |power| usize::from(*power));
            let mut rest = monomial.clone();
            if let Some(slot) = rest.get_mut(variable) {
                *slot = 0;
            }
            all.resize_with(all.len().max(power + 1), Poly::default);
            all[power].put(rest, value.clone());
        }
        all
    }
}

fn joined(left: &Monomial, right: &Monomial) -> Monomial {
    let power = |of: &Monomial, at: usize| of.get(at).copied().unwrap_or(0);
    (0..left.len().max(right.len())).map(|at| power(left, at) + power(right, at)).collect()
}

fn less(monomial: &Monomial, divisor: &Monomial) -> Option<Monomial> {
    let power = |of: &Monomial, at: usize| of.get(at).copied().unwrap_or(0);
    (0..monomial.len().max(divisor.len())).map(|at| power(monomial, at).checked_sub(power(divisor, at))).collect()
}

fn content(coefficients: &[Poly]) -> Poly {
    coefficients.iter().fold(Poly::default(), |common, coefficient| common.gcd(coefficient))
}

fn shrunk(coefficients: &[Poly], divisor: &Poly) -> Vec<Poly> {
    coefficients.iter().map(|coefficient| coefficient.divided(divisor).unwrap_or_default()).collect()
}

fn assembled(coefficients: &[Poly], variable: usize) -> Poly {
    let (mut sum, mut power) = (Poly::default(), Poly::constant(Rational::one()));
    for coefficient in coefficients {
        sum = sum.plus(&Rational::one(), &coefficient.times(&power));
        power = power.times(&Poly::variable(variable));
    }
    sum
}

/// What is left of `a`, times a power of the leading coefficient of `b`, after division by `b`.
fn pseudo_remainder(a: &[Poly], b: &[Poly]) -> Vec<Poly> {
    let (mut rest, degree) = (a.to_vec(), b.len() - 1);
    while rest.len() > degree {
        let lead = rest[rest.len() - 1].clone();
        let shift = rest.len() - b.len();
        let mut next: Vec<Poly> = rest.iter().map(|coefficient| coefficient.times(&b[degree])).collect();
        for (at, coefficient) in b.iter().enumerate() {
            next[shift + at] = next[shift + at].plus(&-Rational::one(), &coefficient.times(&lead));
        }
        while next.last().is_some_and(Poly::is_zero) {
            next.pop();
        }
        rest = next;
    }
    rest
}

#[cfg(test)]
mod tests {
    use super::*;

    fn whole(value: i64) -> Rational {
        Rational::from_integer(value.into())
    }

    /// `a + b x + c y`
    fn linear(a: i64, b: i64, c: i64) -> Poly {
        let start = Poly::constant(whole(a));
        start.plus(&whole(b), &Poly::variable(0)).plus(&whole(c), &Poly::variable(1))
    }

    #[test]
    fn common_factors_are_found() {
        let (p, q, r) = (linear(1, 2, 0), linear(-3, 1, 5), linear(0, 4, -1));
        let (left, right) = (p.times(&q).times(&q), q.times(&r));
        assert_eq!(left.gcd(&right), q.monic());
        assert_eq!(p.gcd(&r), Poly::constant(whole(1)));
        let xxy = Poly::variable(0).times(&Poly::variable(0)).times(&Poly::variable(1));
        assert_eq!(xxy.gcd(&xxy.times(&p)), xxy);
        assert_eq!(Poly::variable(0).times(&q).gcd(&xxy), Poly::variable(0));
        assert_eq!(p.times(&p).gcd(&p.times(&p).times(&r)), p.times(&p).monic());
    }

    #[test]
    fn division_is_exact_or_refused() {
        let (p, q) = (linear(1, 2, 3), linear(-3, 1, 5));
        assert_eq!(p.times(&q).divided(&q), Some(p.clone()));
        assert_eq!(p.times(&q).plus(&whole(1), &Poly::constant(whole(1))).divided(&q), None);
    }
}
