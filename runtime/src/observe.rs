//! What a run is judged by: conserved sums, change towards steady state, the first value that is no number. Reads only.

use rayon::prelude::*;

use crate::mesh::Cell;
use crate::snapshot::{Component, Snapshot};

/// Sums over all cells of one set of populations, in lattice units.
#[derive(Clone, Debug, PartialEq)]
pub struct Conserved {
    /// Name of the set: `f`.
    pub name: String,
    /// `sum f_i`
    pub mass: f64,
    /// `sum c_i f_i`, 0 beyond the dimension.
    pub momentum: [f64; 3],
}

/// A sum whose rounding errors are carried along (Neumaier's variant of Kahan's summation).
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
    /// Time step of the snapshot.
    pub step: u64,
}

/// The first cell, in the order of the values, where a component is infinite or no number.
pub fn first_not_finite(snapshot: &Snapshot) -> Option<NotFinite> {
    let first = |component: &Component| component.data.par_iter().position_first(|value| !value.is_finite());
    let found = snapshot.components.iter().filter_map(|component| Some((first(component)?, component)));
    let (at, component) = found.min_by_key(|(at, _)| *at)?;
    Some(NotFinite { component: component.name.clone(), cell: snapshot.cell(at), step: snapshot.step })
}

/// Largest change of the velocity vector's length between two snapshots of one domain, `max |u - u'|` over the cells of the
/// second, in cells of the coarsest level per its time step; NaN if a value is. `None` where a component of the velocity
/// `u` is missing. Where the first has other cells, it is read as [`Snapshot::read`] says.
pub fn velocity_change(one: &Snapshot, other: &Snapshot) -> Option<f64> {
    let (before, after) = (one.vector("u")?, other.vector("u")?);
    let vector = |parts: &[&[f64]], at: usize| -> [f64; 3] {
        std::array::from_fn(|axis| parts.get(axis).map_or(0.0, |part| part[at]))
    };
    let same = (one.block(), one.blocks()) == (other.block(), other.blocks());
    let square = |at: usize| {
        let old = match same {
            true => vector(&before, at),
            false => one.read(other.cell(at), &|at| vector(&before, at)),
        };
        let square: f64 = old.iter().zip(vector(&after, at)).map(|(old, new)| (old - new).powi(2)).sum();
        if square.is_nan() { f64::INFINITY } else { square }
    };
    let largest = (0..after[0].len()).into_par_iter().map(square).reduce(|| 0.0, f64::max);
    Some(if largest.is_infinite() { f64::NAN } else { largest.sqrt() })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::snapshot::{Domain, tests};

    fn snapshot(ux: [f64; 4], uy: [f64; 4]) -> Snapshot {
        let component = |name: &str, data: [f64; 4]| Component { name: name.into(), data: data.to_vec() };
        let domain = Domain { dim: 2, size: [2, 2, 1], periodic: [true; 3] };
        Snapshot::uniform(9, domain, vec![component("ux", ux), component("uy", uy)])
    }

    #[test]
    fn change_is_the_longest_difference_vector() {
        let change =
            velocity_change(&snapshot([0.0, 3.0, 0.0, 0.0], [0.0, 4.0, 0.0, 4.5]), &snapshot([0.0; 4], [0.0; 4]));
        assert_eq!(change, Some(5.0));
    }

    #[test]
    fn change_is_not_a_number_where_a_velocity_is_not() {
        let change = velocity_change(&snapshot([0.0, f64::NAN, 0.0, 0.0], [0.0; 4]), &snapshot([9.0; 4], [0.0; 4]));
        assert!(change.unwrap().is_nan());
    }

    #[test]
    fn the_first_cell_that_is_not_finite_is_found_across_components() {
        let found = first_not_finite(&snapshot([0.0, 0.0, 0.0, f64::NAN], [0.0, 0.0, f64::INFINITY, 0.0]));
        assert_eq!(found, Some(NotFinite { component: "uy".into(), cell: Cell { level: 0, at: [0, 1, 0] }, step: 9 }));
        assert_eq!(first_not_finite(&snapshot([1.0; 4], [2.0; 4])), None);
    }

    #[test]
    fn a_change_is_found_between_other_cells_and_named_by_its_level() {
        let linear = |[x, y, _]: [f64; 3]| 0.01 * x - 0.02 * y;
        let still = |_: [f64; 3]| 0.0;
        let domain = Domain { dim: 2, size: [16, 8, 1], periodic: [false, false, true] };
        let before =
            tests::refined(domain, |block| block.level == 0 && block.place[0] == 2, &[("ux", &linear), ("uy", &still)]);
        let mut after = tests::levels(false, &[("ux", &linear), ("uy", &still)]);
        assert!(velocity_change(&before, &after).unwrap() < 1e-15);
        let last = after.components[1].data.len() - 1;
        after.components[1].data[last] = 0.5;
        assert!((velocity_change(&before, &after).unwrap() - 0.5).abs() < 1e-15);
        after.components[1].data[last] = f64::NAN;
        assert_eq!(first_not_finite(&after).unwrap().cell, Cell { level: 2, at: [7, 7, 0] });
    }

    #[test]
    fn the_sum_keeps_what_plain_addition_loses() {
        let mut sum: Sum = [1e16, 1.0, -1e16, 1.0].into_iter().collect();
        assert_eq!(sum.value(), 2.0);
        sum.merge([1e16, 3.0].into_iter().collect());
        sum.add(-1e16);
        assert_eq!(sum.value(), 5.0);
    }
}
