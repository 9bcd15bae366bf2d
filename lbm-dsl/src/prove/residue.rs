//! Whole numbers modulo the prime p = 2^61 - 1, in which identities of formulas are decided, and ranks of matrices.
//!
//! A formula that is zero everywhere is zero at every point of the field. One that is not, a fraction of polynomials of the degree d, is zero
//! at a point taken by chance with a probability of at most d / p (Schwartz, J. ACM 27 (1980) 701; Zippel, EUROSAM 1979). [`POINTS`] points
//! and [`MOST_DEGREE`] make that less than 2^-80. Points are taken by a fixed generator, so what is decided is the same on every machine.
//!
//! A root, another function that is no rational one, and a choice count as *any* function of their operands: equal operands have equal values,
//! taken by chance. What holds so holds for whatever function is in their place.
//!
//! A rank in the field is never above the one over the rationals.

use num_bigint::BigInt;
use num_integer::Integer;
use num_traits::{Signed, ToPrimitive, Zero};

use crate::expr::{Compare, Number, Rational, Symbol};
use crate::function::Function;

const PRIME: u64 = (1 << 61) - 1;
/// Points that decide an identity.
pub const POINTS: u64 = 4;
/// Largest degree of a formula that points decide.
pub const MOST_DEGREE: u64 = 1 << 40;
/// Largest size of a numerator or denominator that [`Residue::rational`] finds.
const LARGEST: i128 = 1 << 20;

/// One of them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Residue(u64);

impl Residue {
    pub const ZERO: Self = Residue(0);
    pub const ONE: Self = Residue(1);

    /// That of any word.
    pub fn word(word: u64) -> Self {
        Residue(word % PRIME)
    }

    /// That of a fraction, unless the prime divides its denominator.
    pub fn of(value: &Rational) -> Option<Self> {
        let residue = |whole: &BigInt| Residue(whole.mod_floor(&PRIME.into()).to_u64().unwrap_or(0));
        Some(residue(value.numer()).times(residue(value.denom()).inverse()?))
    }

    pub fn plus(self, other: Self) -> Self {
        Self::word(self.0 + other.0)
    }

    pub fn negated(self) -> Self {
        Self::word(PRIME - self.0)
    }

    pub fn times(self, other: Self) -> Self {
        // 2^61 is 1 modulo the prime.
        let product = u128::from(self.0) * u128::from(other.0);
        Self::word((product & u128::from(PRIME)) as u64 + (product >> 61) as u64)
    }

    /// What times it is one; zero has none.
    pub fn inverse(self) -> Option<Self> {
        let (mut power, mut left, mut inverse) = (self, PRIME - 2, Self::ONE);
        while left > 0 {
            if left % 2 == 1 {
                inverse = inverse.times(power);
            }
            power = power.times(power);
            left /= 2;
        }
        (self != Self::ZERO).then_some(inverse)
    }

    /// The same number mixed with another, as if by chance: equal pairs give equal numbers.
    pub fn mixed(self, with: u64) -> Self {
        // splitmix64: Steele, Lea & Flood, OOPSLA 2014, figure 16.
        let mut word = (self.0 ^ with.rotate_left(29)).wrapping_add(0x9e37_79b9_7f4a_7c15);
        word = (word ^ (word >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        word = (word ^ (word >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        Self::word(word ^ (word >> 31))
    }

    /// The word that stands for it.
    fn bits(self) -> u64 {
        self.0
    }

    /// The one fraction of small numbers that it may stand for, by Euclid's algorithm (Wang, SYMSAC 1981).
    pub fn rational(self) -> Option<Rational> {
        let (mut above, mut below) = ((i128::from(PRIME), 0), (i128::from(self.0), 1));
        while below.0 > LARGEST {
            let quotient = above.0 / below.0;
            (above, below) = (below, (above.0 - quotient * below.0, above.1 - quotient * below.1));
        }
        let found = (!below.1.is_zero()).then(|| Rational::new(below.0.into(), below.1.into()))?;
        (found.denom().abs() <= LARGEST.into()).then_some(found)
    }
}

/// What a symbol has at a point.
pub(super) fn chance(point: u64, symbol: Symbol) -> Residue {
    let pair = |a: u16, b: u8| u64::from(a) << 8 | u64::from(b);
    let (kind, number) = match symbol {
        Symbol::Population(pop) => (1, pop.index() as u64),
        Symbol::Param { param, component } => (2, pair(param, component)),
        Symbol::Moment(number) => (3, number.into()),
        Symbol::Field { field, component } => (5, pair(field, component)),
        Symbol::Neighbour { shown, dir } => (6, pair(shown, dir.index() as u8)),
        _ => (4, 0),
    };
    Residue::word(point).mixed(kind).mixed(number)
}

/// What has a value that is taken by chance, the same for the same operands.
pub(super) enum Any {
    Function(Function),
    Choice(Compare),
}

impl Any {
    /// Its value; operands may be undefined.
    pub fn of(&self, operands: impl Iterator<Item = Option<Residue>>) -> Residue {
        let kind = match self {
            Any::Function(function) => 16 + *function as u64,
            Any::Choice(compare) => 4 + *compare as u64,
        };
        operands.fold(Residue::word(kind), |mix, operand| mix.mixed(operand.map_or(u64::MAX, Residue::bits)))
    }
}

/// Nothing where there is a division by zero, except in what a choice may leave out.
impl Number for Option<Residue> {
    fn constant(value: &Rational) -> Self {
        Residue::of(value)
    }
    fn neg(&self) -> Self {
        self.map(Residue::negated)
    }
    fn add(&self, other: &Self) -> Self {
        Some((*self)?.plus((*other)?))
    }
    fn sub(&self, other: &Self) -> Self {
        self.add(&other.neg())
    }
    fn mul(&self, other: &Self) -> Self {
        Some((*self)?.times((*other)?))
    }
    fn div(&self, other: &Self) -> Self {
        Some((*self)?.times((*other)?.inverse()?))
    }
    fn sqrt(&self) -> Self {
        Self::call(Function::Sqrt, &[*self])
    }
    fn call(function: Function, operands: &[Self]) -> Self {
        operands.iter().all(Option::is_some).then(|| Any::Function(function).of(operands.iter().copied()))
    }
    fn select(compare: Compare, left: &Self, right: &Self, then: &Self, otherwise: &Self) -> Self {
        left.and(*right).and(then.or(*otherwise))?;
        Some(Any::Choice(compare).of([left, right, then, otherwise].into_iter().copied()))
    }
}

/// Not less than the degrees of the numerator and the denominator of a formula. What counts as any function is a variable.
#[derive(Clone, Copy)]
pub(super) struct Degree {
    pub above: u64,
    below: u64,
}

impl Degree {
    pub const CONSTANT: Self = Degree { above: 0, below: 0 };
    pub const VARIABLE: Self = Degree { above: 1, below: 0 };
}

impl Number for Degree {
    fn constant(_: &Rational) -> Self {
        Self::CONSTANT
    }
    fn neg(&self) -> Self {
        *self
    }
    fn add(&self, other: &Self) -> Self {
        let above = self.above.saturating_add(other.below).max(other.above.saturating_add(self.below));
        Degree { above, below: self.below.saturating_add(other.below) }
    }
    fn sub(&self, other: &Self) -> Self {
        self.add(other)
    }
    fn mul(&self, other: &Self) -> Self {
        Degree { above: self.above.saturating_add(other.above), below: self.below.saturating_add(other.below) }
    }
    fn div(&self, other: &Self) -> Self {
        self.mul(&Degree { above: other.below, below: other.above })
    }
    fn sqrt(&self) -> Self {
        Self::VARIABLE
    }
    fn call(_: Function, _: &[Self]) -> Self {
        Self::VARIABLE
    }
    fn select(_: Compare, _: &Self, _: &Self, _: &Self, _: &Self) -> Self {
        Self::VARIABLE
    }
}

/// Linearly independent rows in reduced echelon form.
#[derive(Clone, Debug, Default)]
pub(super) struct Rows {
    rows: Vec<(usize, Vec<Residue>)>,
}

impl Rows {
    /// Adds a row, if it is independent of those that are there.
    pub fn add(&mut self, mut row: Vec<Residue>) -> bool {
        let clear = |row: &mut Vec<Residue>, pivot: usize, by: &[Residue]| {
            let factor = row[pivot].negated();
            row.iter_mut().zip(by).for_each(|(value, by)| *value = value.plus(factor.times(*by)));
        };
        for (pivot, by) in &self.rows {
            clear(&mut row, *pivot, by);
        }
        let Some(pivot) = row.iter().position(|value| *value != Residue::ZERO) else { return false };
        let scale = row[pivot].inverse().expect("it is not zero");
        row.iter_mut().for_each(|value| *value = value.times(scale));
        for (_, other) in &mut self.rows {
            clear(other, pivot, &row);
        }
        self.rows.push((pivot, row));
        true
    }

    /// How many there are.
    pub fn rank(&self) -> usize {
        self.rows.len()
    }

    /// The rows as fractions, if all are of small numbers.
    pub fn rational(&self) -> Option<Vec<Vec<Rational>>> {
        let row = |(_, row): &(usize, Vec<Residue>)| row.iter().map(|value| value.rational()).collect();
        self.rows.iter().map(row).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn fractions_come_back() {
        for (n, d) in [(0, 1), (1, 3), (-7, 216), (1000, 999)] {
            let value = Rational::new(n.into(), d.into());
            assert_eq!(Residue::of(&value).unwrap().rational(), Some(value));
        }
        assert_eq!(Residue::ZERO.inverse(), None);
    }

    #[test]
    fn products_are_those_of_whole_numbers() {
        let of = |value: u64| Residue::of(&Rational::from_integer(value.into())).unwrap();
        for (a, b) in [(3, 5), (PRIME - 1, PRIME - 1), (1 << 60, 1 << 60), (987_654_321_987_654_321, PRIME - 7)] {
            let due = Rational::from_integer(a.into()) * Rational::from_integer(b.into());
            assert_eq!(of(a).times(of(b)), Residue::of(&due).unwrap(), "{a} {b}");
        }
    }

    /// `(x^2 - y^2) / (x + y) - (x - y)` is zero; beside a root it is so for any function, and a root squared is not its operand then.
    #[test]
    fn identities_are_decided_for_any_function() {
        let [x, y] = [2, 3].map(|pop| Some(chance(7, Symbol::Moment(pop))));
        let quotient = x.mul(&x).sub(&y.mul(&y)).div(&x.add(&y));
        assert_eq!(quotient.sub(&x.sub(&y)), Some(Residue::ZERO));
        assert_eq!(quotient.sqrt().sub(&x.sub(&y).sqrt()), Some(Residue::ZERO));
        assert_ne!(x.sqrt().mul(&x.sqrt()), x);
        let nothing = x.div(&x.sub(&x));
        assert_eq!((nothing, nothing.sqrt()), (None, None));
        assert!(Number::select(Compare::Less, &x, &y, &nothing, &x).is_some());
    }

    #[test]
    fn degrees_are_bounded_from_above() {
        let x = Degree::VARIABLE;
        // (x^2 + 1) / x + x / (x^2 + 1): of the degree 4 over 3.
        let square = x.mul(&x).add(&Degree::CONSTANT);
        let sum = square.div(&x).add(&x.div(&square));
        assert_eq!((sum.above, sum.below), (4, 3));
    }

    #[test]
    fn dependent_rows_are_none() {
        let row = |values: [u64; 3]| values.map(Residue::word).to_vec();
        let mut rows = Rows::default();
        assert!(rows.add(row([1, 2, 3])) && rows.add(row([0, 1, 1])) && !rows.add(row([2, 5, 7])));
        assert_eq!(rows.rank(), 2);
    }
}
