//! What a run is judged by: conserved sums, change towards steady state, the first value that is no number. Reads only.

use crate::snapshot::Snapshot;

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
    pub cell: [usize; 3],
    /// Time step of the snapshot.
    pub step: u64,
}

/// The first cell, in the order of the arrays, where a component is infinite or no number.
pub fn first_not_finite(snapshot: &Snapshot) -> Option<NotFinite> {
    let [width, height, _] = snapshot.size;
    snapshot
        .components
        .iter()
        .filter_map(|component| {
            let at = component.data.iter().position(|value| !value.is_finite())?;
            Some((at, component))
        })
        .min_by_key(|(at, _)| *at)
        .map(|(at, component)| NotFinite {
            component: component.name.clone(),
            cell: [at % width, at / width % height, at / (width * height)],
            step: snapshot.step,
        })
}

/// Largest change of the velocity vector's length between two snapshots of one grid, `max |u - u'|` over cells, in cells
/// per time step; NaN if a value is. `None` where a component of the velocity `u` is missing.
pub fn velocity_change(one: &Snapshot, other: &Snapshot) -> Option<f64> {
    let axes = &["ux", "uy", "uz"][..one.dim];
    let pairs = axes.iter().map(|name| Some((one.get(name)?, other.get(name)?))).collect::<Option<Vec<_>>>()?;
    let mut largest = 0.0f64;
    for cell in 0..pairs.first()?.0.len() {
        let square: f64 = pairs.iter().map(|(a, b)| (a[cell] - b[cell]).powi(2)).sum();
        if square.is_nan() {
            return Some(f64::NAN);
        }
        largest = largest.max(square);
    }
    Some(largest.sqrt())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::snapshot::Component;

    fn snapshot(ux: [f64; 4], uy: [f64; 4]) -> Snapshot {
        let component = |name: &str, data: [f64; 4]| Component { name: name.into(), data: data.to_vec() };
        Snapshot { step: 9, dim: 2, size: [2, 2, 1], components: vec![component("ux", ux), component("uy", uy)] }
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
        assert_eq!(found, Some(NotFinite { component: "uy".into(), cell: [0, 1, 0], step: 9 }));
        assert_eq!(first_not_finite(&snapshot([1.0; 4], [2.0; 4])), None);
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
