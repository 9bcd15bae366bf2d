//! What a flow is judged by: conserved sums, change towards steady state, the first value that is no number.

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

/// What a solid and the fluid exchange in a step, in lattice units of the coarsest level.
#[derive(Clone, Debug, PartialEq)]
pub struct Exchange {
    /// Force of the fluid on the solid, 0 beyond the dimension.
    pub force: [f64; 3],
    /// Torque of the fluid on a solid that turns, about its pivot; along z in two dimensions. 0 of others.
    pub torque: [f64; 3],
    /// What the sum of each set of populations gains from the solid, in the order of the manifest.
    pub gains: Vec<f64>,
}

impl Exchange {
    /// Nothing, of so many sets of populations.
    pub(crate) fn none(sets: usize) -> Exchange {
        Exchange { force: [0.0; 3], torque: [0.0; 3], gains: vec![0.0; sets] }
    }

    /// Its numbers: the force, the torque and the gains.
    pub fn numbers(&self) -> impl Iterator<Item = f64> {
        self.force.iter().chain(&self.torque).chain(&self.gains).copied()
    }

    /// The same, to be changed.
    pub fn numbers_mut(&mut self) -> impl Iterator<Item = &mut f64> {
        self.force.iter_mut().chain(&mut self.torque).chain(&mut self.gains)
    }
}

/// What solids and the fluid have exchanged in some steps.
#[derive(Clone, Debug, PartialEq)]
pub struct Exchanged {
    /// How many steps.
    pub steps: u64,
    /// The sums over these steps, solid by solid.
    pub sums: Vec<Exchange>,
}

/// Means over the domain, of which solids have nothing, by volume, and the mass, in lattice units of the coarsest level.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Means {
    /// Sum of the density `rho` over the fluid cells, each times its volume in cells of the coarsest level; NaN where there is no such field.
    pub mass: f64,
    /// Kinetic energy: half the mean square of the velocity.
    pub energy: f64,
    /// Enstrophy: half the mean square of the vorticity.
    pub enstrophy: f64,
    /// Largest speed.
    pub fastest: f64,
}

/// A sum whose rounding errors are carried along (Neumaier, Z. Angew. Math. Mech. 54 (1974) 39).
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

    /// A sum that a kernel has made.
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

/// Where a field is not finite.
#[derive(Clone, Debug, PartialEq)]
pub struct NotFinite {
    /// Name of the component.
    pub component: String,
    /// The cell.
    pub cell: Cell,
}

/// What a look at a flow tells.
#[derive(Clone, Debug, PartialEq)]
pub struct Look {
    /// The first value that is infinite or no number: level by level, on a level the blocks without walls and level jumps first,
    /// then those at walls, at jumps, at both, each along the curve, cell by cell, component by component. Where the fields are looked at
    /// in pieces, all blocks of a level along the curve.
    pub not_finite: Option<NotFinite>,
    /// Largest change of the velocity vector's length since the fields were kept, `max |u - u'|` over all cells, in cells of the
    /// coarsest level per its time step. `None` where nothing was kept, the fields have no velocity `u`, or some value is not
    /// finite.
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
