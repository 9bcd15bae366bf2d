//! Rational functions of the parameters.
//!
//! After: the denominator is monic, and numerator and denominator have no common factor, unless it takes too much work to find
//! ([`Poly::gcd`]). Equal functions are equal values and zero is recognised, also there.

use num_integer::Integer;
use num_traits::{One, Signed, ToPrimitive, Zero};

use crate::expr::Rational;
use crate::prove::poly::Poly;

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

    fn new(above: Poly, below: Poly) -> Self {
        let ([above, below], _) = shared(above, below);
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

    /// `self + other`
    pub fn add(&self, other: &Ratio) -> Self {
        match (self, other) {
            (Ratio::Constant(a), Ratio::Constant(b)) => Ratio::Constant(a + b),
            (_, zero) if zero.is_zero() => self.clone(),
            (zero, _) if zero.is_zero() => other.clone(),
            _ => {
                let ((a, b), (c, d)) = (self.parts(), other.parts());
                if b == d {
                    return Ratio::new(a.plus(&Rational::one(), &c), b);
                }
                // Henrici, J. ACM 3 (1956) 6: what the sum shares with its denominator, both denominators do.
                let ([left, right], common) = shared(b, d);
                let sum = a.times(&right).plus(&Rational::one(), &c.times(&left));
                let ([sum, common], _) = shared(sum, common);
                Ratio::reduced(sum, left.times(&right).times(&common))
            }
        }
    }

    /// `self * other`
    pub fn mul(&self, other: &Ratio) -> Self {
        match (self, other) {
            (Ratio::Constant(a), Ratio::Constant(b)) => Ratio::Constant(a * b),
            (zero, _) | (_, zero) if zero.is_zero() => Ratio::whole(0),
            (Ratio::Constant(a), Ratio::Function(parts)) | (Ratio::Function(parts), Ratio::Constant(a)) => {
                Ratio::Function(Box::new((parts.0.scaled(a), parts.1.clone())))
            }
            _ => {
                let ((a, b), (c, d)) = (self.parts(), other.parts());
                let (([a, d], _), ([c, b], _)) = (shared(a, d), shared(c, b));
                Ratio::reduced(a.times(&c), b.times(&d))
            }
        }
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
    pub fn sqrt(&self) -> Option<Self> {
        let (above, below) = self.parts();
        let (above, below) = (above.sqrt()?, below.sqrt()?);
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
        if b == d { a == c } else { a.times(&d) == c.times(&b) }
    }
}

/// Two polynomials without their common factor, and that.
fn shared(a: Poly, b: Poly) -> ([Poly; 2], Poly) {
    let common = a.gcd(&b);
    match (a.divided(&common), b.divided(&common)) {
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
        let one = Ratio::whole(1);
        let name = |index: usize| ["x", "y"][index].to_string();
        let inverse = x.recip().unwrap();
        assert_eq!(x.mul(&inverse), one);
        assert_eq!(x.add(&y).mul(&inverse).mul(&x).add(&y.neg()), x);
        assert_eq!(x.add(&y).recip().unwrap().show(&name), "1/(y + x)");
        let half = Ratio::Constant(Rational::new(1.into(), 2.into()));
        assert_eq!(x.add(&half).recip().unwrap().show(&name), "2/(1 + 2*x)");
        assert_eq!((x.as_variable(), y.as_variable(), inverse.as_variable()), (Some(0), Some(1), None));
        assert_eq!(inverse.add(&half).at(&|_| 4.0), 0.75);
    }

    #[test]
    fn roots_are_positive_or_refused() {
        let (x, y) = (Ratio::variable(0), Ratio::variable(1));
        let sum = x.recip().unwrap().add(&y);
        assert_eq!(sum.mul(&sum).sqrt(), Some(sum));
        // |x - y| is no rational function.
        let difference = x.add(&y.neg());
        assert_eq!(difference.mul(&difference).sqrt(), None);
        assert_eq!((x.sqrt(), Ratio::whole(-1).sqrt(), Ratio::whole(9).sqrt()), (None, None, Some(Ratio::whole(3))));
    }
}
