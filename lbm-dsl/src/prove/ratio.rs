//! Rational functions of the parameters.
//!
//! After: the denominator is monic, and numerator and denominator have no common factor, unless it takes too much work to find
//! ([`Poly::gcd`]). Zero is recognised, also there. Functions are equal that have the same values at [`POINTS`] points of the prime field
//! ([`residue`](super::residue) has how sure that is).

use num_integer::Integer;
use num_traits::{One, Signed, ToPrimitive, Zero};

use crate::expr::Rational;
use crate::prove::budget::Budget;
use crate::prove::poly::Poly;
use crate::prove::residue::POINTS;

/// A rational function; constants, nearly all of them, are kept apart.
#[derive(Clone, Debug)]
pub enum Ratio {
    /// A constant.
    Constant(Rational),
    /// Numerator and denominator.
    Function(Box<(Poly, Poly)>),
}

impl Ratio {
    /// A variable.
    pub fn variable(index: usize) -> Self {
        Ratio::polynomial(Poly::variable(index))
    }

    /// A polynomial.
    pub fn polynomial(poly: Poly) -> Self {
        Ratio::reduced(poly, Poly::constant(Rational::one()))
    }

    /// A whole constant.
    pub fn whole(value: i64) -> Self {
        Ratio::Constant(Rational::from_integer(value.into()))
    }

    fn new(above: Poly, below: Poly, budget: &Budget) -> Self {
        let ([above, below], _) = shared(above, below, budget);
        Ratio::reduced(above, below)
    }

    /// Of a numerator and a denominator without a common factor.
    fn reduced(above: Poly, below: Poly) -> Self {
        match (above.as_constant(), below.as_constant()) {
            (Some(above), Some(below)) => return Ratio::Constant(above / below),
            (Some(zero), None) if zero.is_zero() => return Ratio::whole(0),
            _ => {}
        }
        let lead = below.terms().next_back().map_or_else(Rational::one, |(_, value)| value.recip());
        Ratio::Function(Box::new((above.scaled(&lead), below.scaled(&lead))))
    }

    /// Numerator and denominator.
    pub fn parts(&self) -> (Poly, Poly) {
        match self {
            Ratio::Constant(value) => (Poly::constant(value.clone()), Poly::constant(Rational::one())),
            Ratio::Function(parts) => (**parts).clone(),
        }
    }

    /// How much there is to it: monomials, or thousands of bits.
    pub fn size(&self) -> usize {
        match self {
            Ratio::Constant(value) => ((value.numer().bits() + value.denom().bits()) / 1000) as usize,
            Ratio::Function(parts) => parts.0.len() + parts.1.len(),
        }
    }

    /// Whether it is zero everywhere.
    pub fn is_zero(&self) -> bool {
        matches!(self, Ratio::Constant(value) if value.is_zero())
    }

    /// `-self`
    pub fn neg(&self) -> Self {
        match self {
            Ratio::Constant(value) => Ratio::Constant(-value),
            Ratio::Function(parts) => Ratio::Function(Box::new((parts.0.scaled(&-Rational::one()), parts.1.clone()))),
        }
    }

    /// `self + other`, if the budget suffices.
    pub fn add(&self, other: &Ratio, budget: &Budget) -> Option<Self> {
        budget.spend(self.size() + other.size() + 1)?;
        Some(match (self, other) {
            (Ratio::Constant(a), Ratio::Constant(b)) => Ratio::Constant(a + b),
            (_, zero) if zero.is_zero() => self.clone(),
            (zero, _) if zero.is_zero() => other.clone(),
            _ => {
                let ((a, b), (c, d)) = (self.parts(), other.parts());
                if b == d {
                    return Some(Ratio::new(a.plus(&Rational::one(), &c), b, budget));
                }
                // Henrici, J. ACM 3 (1956) 6: what the sum shares with its denominator, both denominators do.
                let ([left, right], common) = shared(b, d, budget);
                let sum = a.times(&right, budget)?.plus(&Rational::one(), &c.times(&left, budget)?);
                let ([sum, common], _) = shared(sum, common, budget);
                Ratio::reduced(sum, left.times(&right, budget)?.times(&common, budget)?)
            }
        })
    }

    /// `self - other`, if the budget suffices.
    pub fn sub(&self, other: &Ratio, budget: &Budget) -> Option<Self> {
        self.add(&other.neg(), budget)
    }

    /// `self * other`, if the budget suffices.
    pub fn mul(&self, other: &Ratio, budget: &Budget) -> Option<Self> {
        budget.spend(self.size() + other.size() + 1)?;
        Some(match (self, other) {
            (Ratio::Constant(a), Ratio::Constant(b)) => Ratio::Constant(a * b),
            (zero, _) | (_, zero) if zero.is_zero() => Ratio::whole(0),
            (Ratio::Constant(a), Ratio::Function(parts)) | (Ratio::Function(parts), Ratio::Constant(a)) => {
                Ratio::Function(Box::new((parts.0.scaled(a), parts.1.clone())))
            }
            _ => {
                let ((a, b), (c, d)) = (self.parts(), other.parts());
                let (([a, d], _), ([c, b], _)) = (shared(a, d, budget), shared(c, b, budget));
                Ratio::reduced(a.times(&c, budget)?, b.times(&d, budget)?)
            }
        })
    }

    /// `1 / self`, unless that is zero.
    pub fn recip(&self) -> Option<Self> {
        match self {
            Ratio::Constant(value) if value.is_zero() => None,
            Ratio::Constant(value) => Some(Ratio::Constant(value.recip())),
            Ratio::Function(parts) => Some(Ratio::reduced(parts.1.clone(), parts.0.clone())),
        }
    }

    /// The square root, if it is a rational function that keeps its sign while the variables are positive.
    pub fn sqrt(&self, budget: &Budget) -> Option<Self> {
        let (above, below) = self.parts();
        let (above, below) = (above.sqrt(budget)?, below.sqrt(budget)?);
        let one_sign = |poly: &Poly| poly.terms().all(|(_, value)| value.is_positive());
        (one_sign(&above) && one_sign(&below)).then(|| Ratio::reduced(above, below))
    }

    /// Its value, given those of the variables.
    pub fn at(&self, variable: &dyn Fn(usize) -> f64) -> f64 {
        match self {
            Ratio::Constant(value) => value.to_f64().unwrap_or(f64::NAN),
            Ratio::Function(parts) => parts.0.at(variable) / parts.1.at(variable),
        }
    }

    /// The variable, if it is one.
    pub fn as_variable(&self) -> Option<usize> {
        let Ratio::Function(parts) = self else { return None };
        let (monomial, _) = parts.0.terms().next()?;
        let index = monomial.len().checked_sub(1)?;
        (*self == Ratio::variable(index)).then_some(index)
    }

    /// The same function of other variables.
    pub fn renamed(&self, variable: &dyn Fn(usize) -> usize) -> Self {
        let (above, below) = self.parts();
        Ratio::reduced(above.renamed(variable), below.renamed(variable))
    }

    /// Whether it depends on a variable.
    pub fn has(&self, variable: usize) -> bool {
        let (above, below) = self.parts();
        above.terms().chain(below.terms()).any(|(monomial, _)| monomial.get(variable).is_some_and(|power| *power > 0))
    }

    /// As text with whole coefficients: `2/(1 + tau)`.
    pub fn show(&self, name: &dyn Fn(usize) -> String) -> String {
        let (above, below) = self.parts();
        let denominators = above.terms().chain(below.terms()).map(|(_, value)| value.denom());
        let clear = Rational::from_integer(denominators.fold(One::one(), |all: num_bigint::BigInt, d| all.lcm(d)));
        let (above, below) = (above.scaled(&clear), below.scaled(&clear));
        let numerators = above.terms().chain(below.terms()).map(|(_, value)| value.numer());
        let common = numerators.fold(num_bigint::BigInt::zero(), |all, n| all.gcd(n));
        let shrink = if common.is_zero() { Rational::one() } else { Rational::new(One::one(), common) };
        let (above, below) = (above.scaled(&shrink), below.scaled(&shrink));
        if below.as_constant().is_some_and(|value| value.is_one()) {
            return sum(&above, name);
        }
        let bracket = |poly: &Poly, products: bool| {
            let text = sum(poly, name);
            let single = poly.terms().count() == 1 && (products || !text.contains('*'));
            if single { text } else { format!("({text})") }
        };
        format!("{}/{}", bracket(&above, true), bracket(&below, false))
    }
}

impl PartialEq for Ratio {
    fn eq(&self, other: &Self) -> bool {
        let ((a, b), (c, d)) = (self.parts(), other.parts());
        let same =
            |point: u64| Some(a.residue(point)?.times(d.residue(point)?) == c.residue(point)?.times(b.residue(point)?));
        if b == d { a == c } else { (0..POINTS).all(|point| same(point).unwrap_or(false)) }
    }
}

/// Two polynomials without their common factor, and that.
fn shared(a: Poly, b: Poly, budget: &Budget) -> ([Poly; 2], Poly) {
    let common = a.gcd(&b, budget);
    match (a.divided(&common, budget), b.divided(&common, budget)) {
        (Some(left), Some(right)) => ([left, right], common),
        _ => ([a, b], Poly::constant(Rational::one())),
    }
}

fn sum(poly: &Poly, name: &dyn Fn(usize) -> String) -> String {
    let mut text = String::new();
    for (monomial, value) in poly.terms() {
        text.push_str(match (text.is_empty(), value.is_negative()) {
            (true, false) => "",
            (true, true) => "-",
            (false, false) => " + ",
            (false, true) => " - ",
        });
        let powers = monomial.iter().enumerate().filter(|(_, power)| **power > 0);
        let mut factors: Vec<String> = powers
            .map(|(variable, power)| if *power == 1 { name(variable) } else { format!("{}^{power}", name(variable)) })
            .collect();
        if factors.is_empty() || !value.abs().is_one() {
            factors.insert(0, value.abs().to_string());
        }
        text.push_str(&factors.join("*"));
    }
    if text.is_empty() { "0".into() } else { text }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn functions_reduce_and_show() {
        let (x, y) = (Ratio::variable(0), Ratio::variable(1));
        let (one, budget) = (Ratio::whole(1), Budget::new());
        let add = |a: &Ratio, b: &Ratio| a.add(b, &budget).expect("a short sum");
        let mul = |a: &Ratio, b: &Ratio| a.mul(b, &budget).expect("a short product");
        let name = |index: usize| ["x", "y"][index].to_string();
        let inverse = x.recip().unwrap();
        assert_eq!(mul(&x, &inverse), one);
        assert_eq!(add(&mul(&mul(&add(&x, &y), &inverse), &x), &y.neg()), x);
        assert_eq!(add(&x, &y).recip().unwrap().show(&name), "1/(y + x)");
        let half = Ratio::Constant(Rational::new(1.into(), 2.into()));
        assert_eq!(add(&x, &half).recip().unwrap().show(&name), "2/(1 + 2*x)");
        assert_eq!((x.as_variable(), y.as_variable(), inverse.as_variable()), (Some(0), Some(1), None));
        assert_eq!(add(&inverse, &half).at(&|_| 4.0), 0.75);
    }

    #[test]
    fn roots_are_positive_or_refused() {
        let (x, y) = (Ratio::variable(0), Ratio::variable(1));
        let budget = Budget::new();
        let root_of_square = |of: &Ratio| of.mul(of, &budget).expect("a short product").sqrt(&budget);
        let sum = x.recip().unwrap().add(&y, &budget).unwrap();
        assert_eq!(root_of_square(&sum), Some(sum));
        // |x - y| is no rational function.
        assert_eq!(root_of_square(&x.sub(&y, &budget).unwrap()), None);
        let roots = [x, Ratio::whole(-1), Ratio::whole(9)].map(|of| of.sqrt(&budget));
        assert_eq!(roots, [None, None, Some(Ratio::whole(3))]);
    }

    /// Without their common factors, as they are where these take too much work to find, equal functions are still known to be equal.
    #[test]
    fn equality_needs_no_common_factors() {
        let (x, y) = (Poly::variable(0), Poly::variable(1));
        let sum = x.plus(&Rational::one(), &y);
        let of = |factor: &Poly| {
            let times = |of: &Poly| of.times(factor, &Budget::new()).expect("a short product");
            Ratio::reduced(times(&x), times(&y))
        };
        assert_eq!(of(&sum), of(&x));
        assert_ne!(of(&sum), Ratio::reduced(sum.clone(), y.clone()));
    }
}
