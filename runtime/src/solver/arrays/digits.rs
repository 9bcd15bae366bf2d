//! Digits that moments of 16 bits lend each other ([`Manifest::lent`]), in the values of a cell that the host reads and writes: 64-bit
//! numbers with the precision of 16 bits.

use half::f16;
use lbm_bundle::{HALF_SCALE, Lent, Manifest};

/// Mantissa bits of a 64-bit number that a 16-bit number lacks.
const LEFT: u32 = 42;

/// The digits that the moments of a cell lend each other.
pub struct Digits(Vec<Lent>);

impl Digits {
    /// Those of a bundle; none if values are stored otherwise.
    pub fn of(manifest: &Manifest) -> Self {
        Digits(manifest.lent())
    }

    /// Converts stored numbers of a cell to its moments.
    pub fn read(&self, values: &mut [f64]) {
        for lent in &self.0 {
            let bits = bits(values[lent.from]);
            let digits = bits & lent.mask();
            values[lent.to] = f64::from_bits(values[lent.to].to_bits() | u64::from(digits) << lent.place());
            values[lent.from] = value(bits & !lent.mask());
        }
    }

    /// Converts the moments of a cell to stored numbers, each rounded to the nearest number with its digits.
    pub fn write(&self, values: &mut [f64]) {
        if values.iter().any(|value| !value.is_finite()) {
            return;
        }
        for lent in &self.0 {
            if lent.shift == 0 {
                values[lent.to] = rounded(values[lent.to], LEFT - lent.more);
            }
            let digits = (values[lent.to].to_bits() >> lent.place()) as u16 & lent.mask();
            values[lent.from] = value(bits(rounded(values[lent.from], LEFT + lent.digits)) & !lent.mask() | digits);
            if lent.shift + lent.digits == lent.more {
                values[lent.to] = f64::from_bits(values[lent.to].to_bits() >> LEFT << LEFT);
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

fn bits(value: f64) -> u16 {
    f16::from_f64(value * f64::from(HALF_SCALE)).to_bits()
}

fn value(bits: u16) -> f64 {
    f16::from_bits(bits).to_f64() / f64::from(HALF_SCALE)
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
        let digits = Digits((0..3).flat_map(lent).collect());
        let before = [0.003, 0.05123, -0.00712, 0.0, 1.3e-4, -2.7e-5, 0.0, 3e-3, -1e-4, 0.2];
        let mut values = before;
        digits.write(&mut values);
        assert!(values.iter().skip(1).all(|stored| value(bits(*stored)) == *stored), "all fit into 16 bits");
        digits.read(&mut values);
        for (at, (found, before)) in values.iter().zip(before).enumerate() {
            let last = match at {
                0 => 0.0,
                1..=3 => 2f64.powi(-15),
                _ => 2f64.powi(-9),
            };
            assert!((found - before).abs() <= last * before.abs() + 1e-300, "{at}: {found} for {before}");
        }
        let once = values;
        digits.write(&mut values);
        digits.read(&mut values);
        assert_eq!(values, once);
    }
}
