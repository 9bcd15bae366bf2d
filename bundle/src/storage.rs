//! How a cell is stored: the type of its numbers, and populations or moments.

use serde::{Deserialize, Serialize};

use crate::populations::value;

/// Floating-point types: that of arithmetic, fields and parameters, and that of stored populations.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Real {
    /// 32 bits.
    F32,
    /// 64 bits.
    F64,
    /// 32 bits, populations or moments stored in 16: differences from rest times [`HALF_SCALE`], IEEE 754 binary16.
    #[serde(rename = "f16/f32")]
    F16F32,
}

impl Real {
    /// All of them.
    pub const ALL: [Real; 3] = [Real::F32, Real::F64, Real::F16F32];

    /// Bytes of a value that is computed with.
    pub fn bytes(self) -> usize {
        match self {
            Real::F32 | Real::F16F32 => 4,
            Real::F64 => 8,
        }
    }

    /// Bytes of a stored population.
    pub fn stored_bytes(self) -> usize {
        match self {
            Real::F16F32 => 2,
            Real::F32 | Real::F64 => self.bytes(),
        }
    }

    /// Name, what is stored before what is computed with: `f32`, `f64`, `f16/f32`.
    pub fn name(self) -> &'static str {
        match self {
            Real::F32 => "f32",
            Real::F64 => "f64",
            Real::F16F32 => "f16/f32",
        }
    }

    /// What is computed with, stored as it is.
    pub fn computed(self) -> Real {
        match self {
            Real::F32 | Real::F16F32 => Real::F32,
            Real::F64 => Real::F64,
        }
    }
}

/// What populations and moments that are stored in 16 bits are multiplied with: 2^15, as in Lehmann et al., Phys. Rev. E 106 (2022) 015308. The
/// largest that fits is 2, the smallest with all 11 bits 2^-29.
pub const HALF_SCALE: f32 = 32768.0;

/// What is stored of a cell.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub enum Storage {
    /// Its populations.
    #[default]
    Populations,
    /// The moments that populations after a collision depend on.
    Moments,
    /// What is faster.
    Auto,
}

impl Storage {
    /// All of them.
    pub const ALL: [Self; 3] = [Self::Populations, Self::Moments, Self::Auto];

    /// Its name in files and on the command line.
    pub fn name(self) -> &'static str {
        match self {
            Self::Populations => "populations",
            Self::Moments => "moments",
            Self::Auto => "auto",
        }
    }
}

/// A sum of the populations of a cell, which is stored in their place; or one of its states.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Moment {
    /// Name: `rho`, `jx`, `pxy`.
    pub name: String,
    /// The share of each population in it, and of each state: a quotient of whole numbers.
    pub shares: Vec<String>,
}

impl Moment {
    /// The shares as numbers.
    pub fn share_values(&self) -> Vec<f64> {
        self.shares.iter().map(|share| value(share)).collect()
    }
}

/// Digits that one moment in 16 bits lends to another: its last bits are further digits of the other, beyond the 11 that it has.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Lent {
    /// The number of the moment that gets them.
    pub to: usize,
    /// The number of the moment that lends them.
    pub from: usize,
    /// How many they are.
    pub digits: u32,
    /// How many digits of `to` are behind them.
    pub shift: u32,
    /// How many digits `to` has more in all.
    pub more: u32,
}

/// Binary digits of a number of 16 bits, the first of which is not written.
pub const HALF_DIGITS: u32 = 11;

/// The digits that second moments of 16 bits lend to momenta, 4 or 3 to each, for moments with these names. Errors of a momentum are conserved, and
/// viscosity alone removes them; errors of a stress are not conserved.
pub fn lent<'a>(names: impl Iterator<Item = &'a str>) -> Vec<Lent> {
    let is_momentum: Vec<bool> = names.map(|name| name.starts_with('j')).collect();
    let momenta: Vec<usize> = (0..is_momentum.len()).filter(|at| is_momentum[*at]).collect();
    let Some(last) = momenta.last() else { return vec![] };
    let each = ((is_momentum.len() - 1 - last) / momenta.len()).min(2);
    let digits = if each == 2 { 2 } else { 3 };
    let lend = |(number, to): (usize, &usize)| {
        let one = move |at: usize| Lent {
            to: *to,
            from: last + 1 + number * each + at,
            digits,
            shift: digits * at as u32,
            more: digits * each as u32,
        };
        (0..each).map(one).collect::<Vec<_>>()
    };
    momenta.iter().enumerate().flat_map(lend).collect()
}

/// Binary digits of a moment of 16 bits, by its number, where these are lent.
pub fn digits_of(lent: &[Lent], at: usize) -> u32 {
    let more = lent.iter().find(|lent| lent.to == at).map_or(0, |lent| lent.more);
    let less = lent.iter().find(|lent| lent.from == at).map_or(0, |lent| lent.digits);
    HALF_DIGITS + more - less
}

/// Largest number of contiguous values of a cell: as many of 16 bits as are loaded at once.
pub(crate) const MOST_SIDE_BY_SIDE: usize = 8;

/// Groups of values of a cell, of so many in all, that lie side by side: the first of each and how many they are, eight while there are as many,
/// then four, two and one.
pub fn side_by_side(values: usize) -> impl Iterator<Item = (usize, usize)> {
    let group = move |first: usize| {
        let left = values - first;
        (first, MOST_SIDE_BY_SIDE.min(if left == 0 { 0 } else { 1 << left.ilog2() }))
    };
    let next = move |(first, width): &(usize, usize)| Some(group(first + width)).filter(|(_, width)| *width > 0);
    std::iter::successors(Some(group(0)).filter(|(_, width)| *width > 0), next)
}
