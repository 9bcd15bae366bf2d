//! Numbers as restart files have them.

use serde::{Deserialize, Serialize};

/// A number that JSON stores bit-exactly.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(from = "u64", into = "u64")]
pub struct Bits(pub f64);

impl From<u64> for Bits {
    fn from(bits: u64) -> Bits {
        Bits(f64::from_bits(bits))
    }
}

impl From<Bits> for u64 {
    fn from(bits: Bits) -> u64 {
        bits.0.to_bits()
    }
}
