//! Exact rational numbers.

use num_rational::BigRational;

/// An exact rational number.
pub type Rational = BigRational;
