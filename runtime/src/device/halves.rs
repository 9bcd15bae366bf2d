//! Numbers of 16 bits ([`lbm_bundle::HALF_SCALE`]) as numbers of 64 bits. After: every pattern of 16 bits is kept, those of NaN among them,
//! because two rows of 16 bits may be halves of a number of 32 ([`lbm_bundle::Manifest::rows_of`]).

use half::f16;
use lbm_bundle::HALF_SCALE;

/// Bits of a NaN of 16 bits that say which it is.
const PAYLOAD: u16 = 0x3ff;

const SIGN: u16 = 0x8000;

/// The number that a pattern of 16 bits stands for.
pub(crate) fn widened(bits: u16) -> f64 {
    let value = f16::from_bits(bits);
    match value.is_nan() {
        true => f64::from_bits(f64::NAN.to_bits() | u64::from(bits & SIGN) << 48 | u64::from(bits & PAYLOAD)),
        false => value.to_f64() / f64::from(HALF_SCALE),
    }
}

/// The nearest number of 16 bits, as a pattern.
pub(crate) fn narrowed(value: f64) -> u16 {
    if !value.is_nan() {
        return f16::from_f64(value * f64::from(HALF_SCALE)).to_bits();
    }
    let bits = value.to_bits();
    match bits as u16 & PAYLOAD {
        0 => f16::NAN.to_bits(),
        payload => (bits >> 48) as u16 & SIGN | f16::INFINITY.to_bits() | payload,
    }
}

/// A number of 32 bits from its halves, the upper one first.
pub(crate) fn joined([upper, lower]: [f64; 2]) -> f64 {
    f64::from(f32::from_bits(u32::from(narrowed(upper)) << 16 | u32::from(narrowed(lower))))
}

/// The halves of the nearest number of 32 bits.
pub(crate) fn split(value: f64) -> [f64; 2] {
    let bits = (value as f32).to_bits();
    [(bits >> 16) as u16, bits as u16].map(widened)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_pattern_of_16_bits_is_kept() {
        for bits in 0..=u16::MAX {
            assert_eq!(narrowed(widened(bits)), bits, "{bits:x}");
        }
        assert!(f16::from_bits(narrowed(f64::NAN)).is_nan());
        assert_eq!(narrowed(1.0), f16::from_f32(HALF_SCALE).to_bits());
    }

    #[test]
    fn a_number_of_32_bits_is_its_halves() {
        // The lower halves of these are subnormal, infinite and no numbers.
        for bits in [0x3f80_0001, 0x3dcc_7c00, 0xbdcc_ffff, 0x0000_7d01, 0x7f80_0000] {
            let value = f32::from_bits(bits);
            assert_eq!((joined(split(f64::from(value))) as f32).to_bits(), bits, "{value}");
        }
        assert!(joined(split(f64::NAN)).is_nan());
    }
}
