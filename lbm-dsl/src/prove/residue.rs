//! Whole numbers modulo the prime 2^61 - 1, for the ranks of matrices: a rank there is never above the one over the rationals.

use num_bigint::BigInt;
use num_integer::Integer;
use num_traits::{Signed, ToPrimitive, Zero};

use crate::expr::Rational;

const PRIME: u64 = (1 << 61) - 1;
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
        Residue((u128::from(self.0) * u128::from(other.0) % u128::from(PRIME)) as u64)
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
    pub fn bits(self) -> u64 {
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
    fn dependent_rows_are_none() {
        let row = |values: [u64; 3]| values.map(Residue::word).to_vec();
        let mut rows = Rows::default();
        assert!(rows.add(row([1, 2, 3])) && rows.add(row([0, 1, 1])) && !rows.add(row([2, 5, 7])));
        assert_eq!(rows.rank(), 2);
    }
}
