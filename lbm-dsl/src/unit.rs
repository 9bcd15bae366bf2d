//! Units of measurement, of which a method needs no more than how they change with the size of cells and steps.

/// What a quantity is measured in, where the density of the fluid at rest is 1: a power of a length times a power of a time.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Unit {
    /// Exponent of the length, in lattice units the side of a cell.
    pub length: i32,
    /// Exponent of the time, in lattice units a step.
    pub time: i32,
}

impl Unit {
    /// That of an acceleration, and of a force per volume where the density at rest is 1.
    pub const ACCELERATION: Unit = Unit { length: 1, time: -2 };

    /// In words: `length^-1 time^2`.
    pub fn describe(self) -> String {
        let parts = [("length", self.length), ("time", self.time)].into_iter().filter(|(_, exponent)| *exponent != 0);
        let power = |(word, exponent)| if exponent == 1 { format!("{word}") } else { format!("{word}^{exponent}") };
        let parts: Vec<String> = parts.map(power).collect();
        if parts.is_empty() { "a number".into() } else { parts.join(" ") }
    }
}
