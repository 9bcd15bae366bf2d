//! Units of measurement, of which a method needs no more than how they change with the size of cells and steps.

use std::ops::{Div, Mul};

/// What a quantity is measured in, where the density of the fluid at rest is 1: a power of a length times a power of a time.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Unit {
    /// Exponent of the length, in lattice units the side of a cell.
    pub length: i32,
    /// Exponent of the time, in lattice units a step.
    pub time: i32,
}

impl Unit {
    /// That of a length.
    pub const LENGTH: Unit = Unit { length: 1, time: 0 };
    /// That of a velocity.
    pub const VELOCITY: Unit = Unit { length: 1, time: -1 };
    /// That of an acceleration, and of a force per volume where the density at rest is 1.
    pub const ACCELERATION: Unit = Unit { length: 1, time: -2 };

    /// In words: `length^-1 time^2`.
    pub fn describe(self) -> String {
        let power = |(word, exponent): (&str, i32)| match exponent {
            0 => None,
            1 => Some(word.to_string()),
            _ => Some(format!("{word}^{exponent}")),
        };
        let parts: Vec<String> = [("length", self.length), ("time", self.time)].into_iter().filter_map(power).collect();
        if parts.is_empty() { "a number".into() } else { parts.join(" ") }
    }
}

impl Mul for Unit {
    type Output = Unit;

    fn mul(self, other: Unit) -> Unit {
        Unit { length: self.length + other.length, time: self.time + other.time }
    }
}

impl Div for Unit {
    type Output = Unit;

    fn div(self, other: Unit) -> Unit {
        Unit { length: self.length - other.length, time: self.time - other.time }
    }
}
