//! Polynomials in several variables over the rationals.
//!
//! After: no term has a zero coefficient, no monomial ends in a zero exponent; so equal polynomials are equal values.

use std::collections::{BTreeMap, BTreeSet};

use num_traits::{One, ToPrimitive, Zero};

use crate::expr::{Exact, Number, Rational};
use crate::prove::budget::Budget;
use crate::prove::residue::Residue;

/// Most operations for one greatest common divisor: one that takes more is not worth them.
const MOST_FOR_DIVISOR: u64 = 100_000;

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
    pub fn times(&self, other: &Poly, budget: &Budget) -> Option<Poly> {
        budget.spend(self.weight() * other.weight())?;
        let mut product = Poly::default();
        for (left, x) in &self.terms {
            for (right, y) in &other.terms {
                product.put(joined(left, right), x * y);
            }
        }
        Some(product)
    }

    /// The quotient, if it leaves no remainder and the budget suffices.
    pub fn divided(&self, divisor: &Poly, budget: &Budget) -> Option<Poly> {
        self.quotient(divisor, budget).flatten()
    }

    /// The quotient, nothing where it leaves a remainder; nothing at all where that takes too long.
    fn quotient(&self, divisor: &Poly, budget: &Budget) -> Option<Option<Poly>> {
        let Some((lead, factor)) = divisor.terms.last_key_value() else { return Some(None) };
        let (mut rest, mut quotient) = (self.clone(), Poly::default());
        while let Some((monomial, value)) = rest.terms.last_key_value() {
            let Some(monomial) = less(monomial, lead) else { return Some(None) };
            let value = value / factor;
            budget.spend(divisor.weight() * digits(&value))?;
            for (other, factor) in &divisor.terms {
                rest.put(joined(&monomial, other), -(&value * factor));
            }
            quotient.put(monomial, value);
        }
        Some(Some(quotient))
    }

    /// The polynomial of which this is the square, its last coefficient positive, if there is one.
    pub fn sqrt(&self, budget: &Budget) -> Option<Poly> {
        let Some((monomial, value)) = self.terms.last_key_value() else { return Some(Poly::default()) };
        let half: Option<Monomial> = monomial.iter().map(|power| (power % 2 == 0).then_some(power / 2)).collect();
        let lead = Poly { terms: BTreeMap::from([(half?, <Exact as Number>::sqrt(&Some(value.clone()))?)]) };
        let mut root = lead.clone();
        let mut rest = self.plus(&-Rational::one(), &lead.times(&lead, budget)?);
        while let Some((monomial, value)) = rest.terms.last_key_value() {
            // The last monomials of the rest are twice the product of the first term and the next one.
            let last = Poly { terms: BTreeMap::from([(monomial.clone(), value / Rational::from_integer(2.into()))]) };
            let next = last.divided(&lead, budget)?;
            let twice = root.scaled(&Rational::from_integer(2.into())).plus(&Rational::one(), &next);
            rest = rest.plus(&-Rational::one(), &twice.times(&next, budget)?);
            root = root.plus(&Rational::one(), &next);
        }
        Some(root)
    }

    /// A common divisor, up to a constant factor: the greatest, unless that takes more than [`MOST_FOR_DIVISOR`], which is where 1 is given.
    pub fn gcd(&self, other: &Poly, budget: &Budget) -> Poly {
        let found = budget.part(MOST_FOR_DIVISOR, |part| common(self, other, part));
        found.unwrap_or_else(|| Poly::constant(Rational::one()))
    }

    /// The same polynomial in other variables.
    pub fn renamed(&self, variable: &dyn Fn(usize) -> usize) -> Poly {
        let mut renamed = Poly::default();
        for (monomial, value) in &self.terms {
            let powers = monomial.iter().enumerate().filter(|(_, power)| **power > 0);
            let factors = powers.map(|(at, power)| [vec![0; variable(at)], vec![*power]].concat());
            renamed.put(factors.fold(Vec::new(), |all, factor| joined(&all, &factor)), value.clone());
        }
        renamed
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

    /// Its value at a point of the prime field, unless the prime divides a denominator.
    pub fn residue(&self, point: u64) -> Option<Residue> {
        let mut sum = Residue::ZERO;
        for (monomial, value) in &self.terms {
            let powers = monomial.iter().enumerate().flat_map(|(at, power)| (0..*power).map(move |_| at as u64));
            let term = powers.fold(Residue::of(value)?, |term, at| term.times(Residue::word(point).mixed(at)));
            sum = sum.plus(term);
        }
        Some(sum)
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

    fn variables(&self) -> BTreeSet<usize> {
        let of = |monomial: &Monomial| {
            monomial.iter().enumerate().filter(|(_, power)| **power > 0).map(|(at, _)| at).collect::<Vec<_>>()
        };
        self.terms.keys().flat_map(of).collect()
    }

    /// What a product with it costs, for each digit of the other factor.
    fn weight(&self) -> usize {
        self.terms.values().map(digits).sum()
    }

    fn degree(&self, variable: usize) -> usize {
        self.terms
            .keys()
            .map(|monomial| monomial.get(variable).map_or(0, |power| usize::from(*power)))
            .max()
            .unwrap_or(0)
    }

    /// Coefficients of the powers of a variable where all others have some value; modulo a prime, and not if that divides a denominator.
    fn image(&self, variable: usize) -> Option<Vec<Residue>> {
        let mut image = vec![Residue::ZERO; self.degree(variable) + 1];
        for (monomial, value) in &self.terms {
            let mut term = Residue::of(value)?;
            for (at, power) in monomial.iter().enumerate().filter(|(at, _)| *at != variable) {
                let sample = Residue::ONE.mixed(at as u64);
                term = (0..*power).fold(term, |term, _| term.times(sample));
            }
            let at = monomial.get(variable).map_or(0, |power| usize::from(*power));
            image[at] = image[at].plus(term);
        }
        Some(image)
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

/// Digits of a number, and one: what a product with it costs.
fn digits(value: &Rational) -> usize {
    1 + ((value.numer().bits() + value.denom().bits()) / 64) as usize
}

/// The monic greatest common divisor of two polynomials, if the budget suffices.
fn common(a: &Poly, b: &Poly, budget: &Budget) -> Option<Poly> {
    if a.is_zero() || b.is_zero() {
        return Some(if a.is_zero() { b.monic() } else { a.monic() });
    }
    if a.len() == 1 || b.len() == 1 {
        return Some(a.common_powers(b));
    }
    let variables: Vec<usize> = a.variables().union(&b.variables()).copied().collect();
    budget.spend((a.len() + b.len()) * variables.len())?;
    let degrees: Vec<usize> = variables.iter().map(|variable| degree(a, b, *variable)).collect();
    if degrees.iter().all(|degree| *degree == 0) {
        return Some(Poly::constant(Rational::one()));
    }
    // A factor without a variable divides all coefficients of its powers.
    if let Some(at) = degrees.iter().position(|degree| *degree == 0) {
        return content([a, b].iter().flat_map(|poly| poly.coefficients(variables[at])), budget);
    }
    for (whole, part) in [(a, b), (b, a)] {
        let may_divide = variables.iter().zip(&degrees).all(|(variable, degree)| part.degree(*variable) == *degree);
        if may_divide && whole.quotient(part, budget)?.is_some() {
            return Some(part.monic());
        }
    }
    let (variable, _) = variables.iter().zip(&degrees).min_by_key(|(_, degree)| **degree)?;
    let (left, right) = (a.coefficients(*variable), b.coefficients(*variable));
    let (content_left, content_right) =
        (content(left.iter().cloned(), budget)?, content(right.iter().cloned(), budget)?);
    let (mut a, mut b) = (shrunk(&left, &content_left, budget)?, shrunk(&right, &content_right, budget)?);
    if a.len() < b.len() {
        std::mem::swap(&mut a, &mut b);
    }
    while b.len() > 1 {
        let rest = pseudo_remainder(&a, &b, budget)?;
        a = b;
        b = shrunk(&rest, &content(rest.iter().cloned(), budget)?, budget)?;
    }
    let primitive = if b.is_empty() { assembled(&a, *variable, budget)? } else { Poly::constant(Rational::one()) };
    let common = common(&content_left, &content_right, budget)?;
    Some(primitive.times(&common, budget)?.monic())
}

/// Not less than the degree of the greatest common divisor of two polynomials in a variable, and nearly always that: the degree of the divisor
/// of their images, in none of which the leading coefficient vanishes.
fn degree(a: &Poly, b: &Poly, variable: usize) -> usize {
    let most = a.degree(variable).min(b.degree(variable));
    let (Some(mut left), Some(mut right)) = (a.image(variable), b.image(variable)) else { return most };
    let is_whole = |image: &[Residue]| image.last() != Some(&Residue::ZERO);
    if !is_whole(&left) || !is_whole(&right) {
        return most;
    }
    while let Some(inverse) = right.last().and_then(|lead| lead.inverse()) {
        while left.len() >= right.len() {
            let (shift, lead) = (left.len() - right.len(), left[left.len() - 1]);
            let factor = lead.times(inverse).negated();
            for (at, value) in right.iter().enumerate() {
                left[shift + at] = left[shift + at].plus(factor.times(*value));
            }
            while left.last() == Some(&Residue::ZERO) {
                left.pop();
            }
        }
        std::mem::swap(&mut left, &mut right);
    }
    left.len() - 1
}

/// The monic greatest common divisor of some polynomials.
fn content(coefficients: impl Iterator<Item = Poly>, budget: &Budget) -> Option<Poly> {
    let mut coefficients: Vec<Poly> = coefficients.collect();
    coefficients.sort_by_key(Poly::len);
    coefficients.iter().try_fold(Poly::default(), |all, coefficient| common(&all, coefficient, budget))
}

/// The coefficients divided by a common divisor, and by a number that makes the last of them monic.
fn shrunk(coefficients: &[Poly], divisor: &Poly, budget: &Budget) -> Option<Vec<Poly>> {
    let Some(last) = coefficients.last() else { return Some(Vec::new()) };
    let lead = last.terms.last_key_value().map_or_else(Rational::one, |(_, lead)| lead.recip());
    coefficients.iter().map(|coefficient| Some(coefficient.quotient(divisor, budget)??.scaled(&lead))).collect()
}

fn assembled(coefficients: &[Poly], variable: usize, budget: &Budget) -> Option<Poly> {
    let (mut sum, mut power) = (Poly::default(), Poly::constant(Rational::one()));
    for coefficient in coefficients {
        sum = sum.plus(&Rational::one(), &coefficient.times(&power, budget)?);
        power = power.times(&Poly::variable(variable), budget)?;
    }
    Some(sum)
}

/// What is left of `a`, times a power of the leading coefficient of `b`, after division by `b`.
fn pseudo_remainder(a: &[Poly], b: &[Poly], budget: &Budget) -> Option<Vec<Poly>> {
    let (mut rest, degree) = (a.to_vec(), b.len() - 1);
    while rest.len() > degree {
        let lead = rest[rest.len() - 1].clone();
        let shift = rest.len() - b.len();
        let mut next =
            rest.iter().map(|coefficient| coefficient.times(&b[degree], budget)).collect::<Option<Vec<_>>>()?;
        for (at, coefficient) in b.iter().enumerate() {
            next[shift + at] = next[shift + at].plus(&-Rational::one(), &coefficient.times(&lead, budget)?);
        }
        while next.last().is_some_and(Poly::is_zero) {
            next.pop();
        }
        rest = next;
    }
    Some(rest)
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

    fn product(factors: &[&Poly]) -> Poly {
        let one = Poly::constant(whole(1));
        factors.iter().fold(one, |product, factor| product.times(factor, &Budget::new()).expect("a short product"))
    }

    #[test]
    fn common_factors_are_found() {
        let gcd = |left: &[&Poly], right: &[&Poly]| product(left).gcd(&product(right), &Budget::new());
        let (p, q, r) = (linear(1, 2, 0), linear(-3, 1, 5), linear(0, 4, -1));
        let (x, y) = (Poly::variable(0), Poly::variable(1));
        assert_eq!(gcd(&[&p, &q, &q], &[&q, &r]), q.monic());
        assert_eq!(gcd(&[&p], &[&r]), Poly::constant(whole(1)));
        assert_eq!(gcd(&[&x, &x, &y], &[&x, &x, &y, &p]), product(&[&x, &x, &y]));
        assert_eq!(gcd(&[&x, &q], &[&x, &x, &y]), x);
        assert_eq!(gcd(&[&p, &p], &[&p, &p, &r]), product(&[&p, &p]).monic());
    }

    /// A power of a sum of eight variables beside another: of thousands of terms each, and without a common factor but one.
    #[test]
    fn the_work_for_a_common_factor_is_bounded() {
        let one = Rational::one();
        let sum = |signs: usize| {
            let signed = |at: usize| whole(if signs >> at & 1 == 1 { -1 } else { at as i64 + 1 });
            (0..8).fold(Poly::constant(one.clone()), |sum, at| sum.plus(&signed(at), &Poly::variable(at)))
        };
        let common = product(&[&sum(0), &sum(3)]);
        let [left, right] = [[5, 9], [17, 33]].map(|[a, b]| product(&[&sum(a), &sum(b), &common]));
        let budget = Budget::new();
        let found = left.gcd(&right, &budget);
        assert!(budget.spent() <= MOST_FOR_DIVISOR, "{}", budget.spent());
        assert!(found == common.monic() || found == Poly::constant(one), "{} terms", found.len());
        assert!(left.divided(&found, &Budget::new()).is_some() && right.divided(&found, &Budget::new()).is_some());
        assert_eq!(left.times(&right, &Budget::of(1000)), None);
    }

    #[test]
    fn division_is_exact_or_refused() {
        let (p, q) = (linear(1, 2, 3), linear(-3, 1, 5));
        let whole_product = product(&[&p, &q]);
        assert_eq!(whole_product.divided(&q, &Budget::new()), Some(p));
        assert_eq!(whole_product.plus(&whole(1), &Poly::constant(whole(1))).divided(&q, &Budget::new()), None);
    }
}
