//! Stored numbers of a cell as its values, and back: 64-bit numbers with the precision of what is stored. Moments of 16 bits lend each other
//! digits ([`Manifest::lent`]); a state is stored in two numbers of 16 bits ([`Manifest::rows_of`]).

use lbm_bundle::{Lent, Manifest};

use crate::device::halves::{joined, narrowed as bits, split, widened as value};

/// Mantissa bits of a 64-bit number that a 16-bit number lacks.
const LEFT: u32 = 42;

/// How values of a cell follow from what is stored.
pub struct Digits {
    lent: Vec<Lent>,
    /// The first of the values that are stored in two numbers.
    halves: usize,
}

impl Digits {
    /// Those of a bundle.
    pub fn of(manifest: &Manifest) -> Self {
        let halves = manifest.first_in_halves().unwrap_or(manifest.values());
        Digits { lent: manifest.lent(), halves }
    }

    /// Converts stored numbers of a cell to its values.
    pub fn read(&self, stored: &[f64], values: &mut [f64]) {
        let (own, in_halves) = values.split_at_mut(self.halves);
        own.copy_from_slice(&stored[..self.halves]);
        for (value, halves) in in_halves.iter_mut().zip(stored[self.halves..].as_chunks().0) {
            *value = joined(*halves);
        }
        for lent in &self.lent {
            let bits = bits(values[lent.from]);
            let digits = bits & lent.mask();
            values[lent.to] = f64::from_bits(values[lent.to].to_bits() | u64::from(digits) << lent.place());
            values[lent.from] = value(bits & !lent.mask());
        }
    }

    /// Converts the values of a cell to stored numbers, each rounded to the nearest number with its digits.
    pub fn write(&self, values: &[f64], stored: &mut [f64]) {
        let (own, in_halves) = values.split_at(self.halves);
        stored[..self.halves].copy_from_slice(own);
        for (value, halves) in in_halves.iter().zip(stored[self.halves..].as_chunks_mut().0) {
            *halves = split(*value);
        }
        if own.iter().any(|value| !value.is_finite()) {
            return;
        }
        for lent in &self.lent {
            if lent.shift == 0 {
                stored[lent.to] = rounded(stored[lent.to], LEFT - lent.more);
            }
            let digits = (stored[lent.to].to_bits() >> lent.place()) as u16 & lent.mask();
            stored[lent.from] = value(bits(rounded(stored[lent.from], LEFT + lent.digits)) & !lent.mask() | digits);
            if lent.shift + lent.digits == lent.more {
                stored[lent.to] = f64::from_bits(stored[lent.to].to_bits() >> LEFT << LEFT);
            }
        }
    }
}

/// Position of lent digits in a 64-bit number.
trait DigitPosition {
    fn mask(&self) -> u16;
    fn place(&self) -> u32;
}

impl DigitPosition for Lent {
    fn mask(&self) -> u16 {
        (1 << self.digits) - 1
    }

    fn place(&self) -> u32 {
        LEFT - self.more + self.shift
    }
}

/// The nearest number whose last `digits` binary digits are zero.
fn rounded(value: f64, digits: u32) -> f64 {
    f64::from_bits((value.to_bits() + (1 << (digits - 1))) >> digits << digits)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// As for ten moments: four digits of each momentum are stored in two other moments.
    #[test]
    fn what_is_written_is_read_with_its_digits() {
        let lent = |number: usize| {
            let of = |at: usize| Lent {
                to: 1 + number,
                from: 4 + 2 * number + at,
                digits: 2,
                shift: 2 * at as u32,
                more: 4,
            };
            [of(0), of(1)]
        };
        let digits = Digits { lent: (0..3).flat_map(lent).collect(), halves: 10 };
        let before = [0.003, 0.05123, -0.00712, 0.0, 1.3e-4, -2.7e-5, 0.0, 3e-3, -1e-4, 0.2];
        let (mut stored, mut values) = ([0.0; 10], [0.0; 10]);
        digits.write(&before, &mut stored);
        assert!(stored.iter().skip(1).all(|stored| value(bits(*stored)) == *stored), "all fit into 16 bits");
        digits.read(&stored, &mut values);
        for (at, (found, before)) in values.iter().zip(before).enumerate() {
            let last = match at {
                0 => 0.0,
                1..=3 => 2f64.powi(-15),
                _ => 2f64.powi(-9),
            };
            assert!((found - before).abs() <= last * before.abs() + 1e-300, "{at}: {found} for {before}");
        }
        let once = values;
        digits.write(&once, &mut stored);
        digits.read(&stored, &mut values);
        assert_eq!(values, once);
    }
}
