//! Measured quantities as plain data: conserved sums, exchange with solids, change towards steady state, the first value that is not
//! finite.

use crate::geometry::Cell;

/// Sums over all fluid cells of one set of populations, in lattice units.
#[derive(Clone, Debug, PartialEq)]
pub struct Conserved {
    /// Name of the set: `f`.
    pub name: String,
    /// `sum f_i`
    pub mass: f64,
    /// `sum c_i f_i`, 0 beyond the dimension.
    pub momentum: [f64; 3],
}

/// Exchange between a solid and the fluid in one step, in lattice units of the coarsest level.
#[derive(Clone, Debug, PartialEq)]
pub struct Exchange {
    /// Force of the fluid on the solid, 0 beyond the dimension.
    pub force: [f64; 3],
    /// Torque of the fluid on a rotating solid, about its pivot; along z in two dimensions. 0 for other solids.
    pub torque: [f64; 3],
    /// The gain of each set of populations from the solid: the change of their sum. In the order of the manifest.
    pub gains: Vec<f64>,
}

impl Exchange {
    /// No exchange, for this number of sets of populations.
    pub(crate) fn none(sets: usize) -> Exchange {
        Exchange { force: [0.0; 3], torque: [0.0; 3], gains: vec![0.0; sets] }
    }

    /// All values: the force, the torque and the gains.
    pub fn numbers(&self) -> impl Iterator<Item = f64> {
        self.force.iter().chain(&self.torque).chain(&self.gains).copied()
    }

    /// Mutable references to all values.
    pub fn numbers_mut(&mut self) -> impl Iterator<Item = &mut f64> {
        self.force.iter_mut().chain(&mut self.torque).chain(&mut self.gains)
    }
}

/// Exchange between solids and the fluid, accumulated over steps.
#[derive(Clone, Debug, PartialEq)]
pub struct Exchanged {
    /// Number of steps.
    pub steps: u64,
    /// The sums over these steps, one entry for each solid.
    pub sums: Vec<Exchange>,
}

impl Exchanged {
    /// The mean per step, of which there must be some, and begins again.
    pub(crate) fn take_mean(&mut self) -> Vec<Exchange> {
        let (mut mean, steps) = (self.sums.clone(), std::mem::take(&mut self.steps) as f64);
        mean.iter_mut().flat_map(Exchange::numbers_mut).for_each(|value| *value /= steps);
        self.sums.iter_mut().flat_map(Exchange::numbers_mut).for_each(|value| *value = 0.0);
        mean
    }
}

/// An accumulation that ends in a row of means at each step that a number divides.
#[derive(Clone, Debug)]
pub(crate) struct Accumulation {
    /// Steps between rows; without, it goes on until it is taken.
    pub(crate) every: Option<u64>,
    /// Since the last row.
    pub(crate) since: Exchanged,
    /// The step at the end of each row, and the means, until they are taken.
    pub(crate) rows: Vec<(u64, Vec<Exchange>)>,
}

impl Accumulation {
    /// Counts a step whose exchange has been added, the last of as many as are `done`.
    pub(crate) fn count(&mut self, done: u64) {
        self.since.steps += 1;
        if self.every.is_some_and(|every| done.is_multiple_of(every)) {
            self.rows.push((done, self.since.take_mean()));
        }
    }
}

/// Means over the volume of the box, to which solids contribute nothing, and the mass; in lattice units of the coarsest level.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Means {
    /// Mass: sum of the density `rho` over the fluid cells, each weighted by its volume in cells of the coarsest level; NaN if the method
    /// has no such field.
    pub mass: f64,
    /// Kinetic energy: half the mean square of the velocity.
    pub energy: f64,
    /// Enstrophy: half the mean square of the vorticity.
    pub enstrophy: f64,
    /// Largest speed in the fluid.
    pub fastest: f64,
}

/// A sum with compensation of rounding errors (Neumaier, Z. Angew. Math. Mech. 54 (1974) 39).
#[derive(Clone, Copy, Debug, Default)]
pub struct Sum {
    total: f64,
    carried: f64,
}

impl Sum {
    /// Adds a value.
    pub fn add(&mut self, value: f64) {
        let total = self.total + value;
        self.carried +=
            if self.total.abs() >= value.abs() { (self.total - total) + value } else { (value - total) + self.total };
        self.total = total;
    }

    /// Adds another sum.
    pub fn merge(&mut self, other: Sum) {
        self.add(other.total);
        self.add(other.carried);
    }

    /// A sum computed by a kernel, with its compensation.
    pub fn new(total: f64, carried: f64) -> Sum {
        Sum { total, carried }
    }

    /// The sum so far.
    pub fn value(self) -> f64 {
        self.total + self.carried
    }
}

impl FromIterator<f64> for Sum {
    fn from_iter<I: IntoIterator<Item = f64>>(values: I) -> Self {
        let mut sum = Sum::default();
        values.into_iter().for_each(|value| sum.add(value));
        sum
    }
}

/// The first place where a field is not finite.
#[derive(Clone, Debug, PartialEq)]
pub struct NotFinite {
    /// Name of the component of the field.
    pub component: String,
    /// The cell.
    pub cell: Cell,
}

/// Result of a check of the fields of a flow.
#[derive(Clone, Debug, PartialEq)]
pub struct FieldCheck {
    /// The first value that is infinite or NaN. The order is level by level; on a level first blocks away from walls and refinement
    /// interfaces, then those at walls, at interfaces, at both; in each group along the space-filling curve, then cell by cell, component
    /// by component. If the fields are checked in pieces, the blocks of a level are not grouped.
    pub not_finite: Option<NotFinite>,
    /// Largest change of the velocity since the reference fields, `max |u - u'|` over all cells, in cells of the coarsest level per time
    /// step of that level. `None` if there are no reference fields, if the fields have no velocity `u`, or if a value is not finite.
    pub change: Option<f64>,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_sum_keeps_what_plain_addition_loses() {
        let mut sum: Sum = [1e16, 1.0, -1e16, 1.0].into_iter().collect();
        assert_eq!(sum.value(), 2.0);
        sum.merge([1e16, 3.0].into_iter().collect());
        sum.add(-1e16);
        assert_eq!(sum.value(), 5.0);
    }
}
