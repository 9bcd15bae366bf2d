//! Interpolation stencils: the cells that the value at a point is computed from, and their weights.
//!
//! A value is linear along each axis between the cell centres around its point, on the level of the leaf that contains the point. Between
//! the outermost centres and a wall it is extrapolated with the slope there. Cells of other levels are read as in [`Snapshot::read`], so
//! linear fields are exact everywhere. If one of the surrounding cells is solid, the value is that of a plane through the fluid cells
//! near the point, fitted by weighted least squares with larger weights for nearer cells.
//!
//! Slopes at a point use the same cells with the same weights, and in each cell the differences of
//! [`Velocity`](super::velocity::Velocity).

use std::collections::BTreeMap;

use crate::geometry::Cell;
use crate::geometry::solid::Solids;
use crate::solver::measure::snapshot::Snapshot;

/// Positions in the arrays of a [`Snapshot`], ascending, and the weights of the values there.
pub(crate) type Weights = Vec<(usize, f64)>;

/// The interpolation stencil of a point.
pub(crate) struct Stencil {
    /// Level of the leaf that contains the point.
    pub(crate) level: usize,
    /// Weights of the value.
    pub(crate) value: Weights,
    /// Weights of the slope along each axis, per cell of the coarsest level; empty unless requested.
    pub(crate) slopes: [Weights; 3],
}

/// Blocks and solids around points. Of the snapshot only the blocks are used.
pub(crate) struct Interpolation<'a> {
    pub(crate) blocks: &'a Snapshot,
    pub(crate) solids: Option<&'a Solids>,
}

/// Squared distance, in cells, that is added in the denominator of weights, so that they are finite.
const NEAR: f64 = 0.25;

/// Pivots below this fraction of the largest entry are round-off.
const SINGULAR: f64 = 1e-9;

impl Interpolation<'_> {
    /// The stencil of a point in cells of the coarsest level; `None` inside a solid.
    pub(crate) fn stencil(&self, point: [f64; 3], with_slopes: bool) -> Option<Stencil> {
        let dim = self.blocks.dim();
        let point: [f64; 3] = std::array::from_fn(|axis| if axis < dim { point[axis] } else { 0.0 });
        if self.solids.is_some_and(|solids| solids.at(point).is_some()) {
            return None;
        }
        let level = self.level(point);
        let corners = self.corners(point, level);
        let cells = match corners.iter().any(|(cell, _)| self.is_solid(*cell)) {
            true => self.plane(point, level)?,
            false => corners,
        };
        let (mut value, mut slopes): (BTreeMap<usize, f64>, [BTreeMap<usize, f64>; 3]) = Default::default();
        for (cell, share) in cells {
            self.blocks.weigh(cell, share, &mut value);
            for axis in (0..dim).filter(|_| with_slopes) {
                for (other, weight) in self.slope(cell, axis) {
                    self.blocks.weigh(other, share * weight, &mut slopes[axis]);
                }
            }
        }
        let listed = |weights: BTreeMap<usize, f64>| weights.into_iter().collect();
        Some(Stencil { level, value: listed(value), slopes: slopes.map(listed) })
    }

    /// Level of the leaf that contains a point.
    fn level(&self, point: [f64; 3]) -> usize {
        let finest = self.blocks.finest();
        let size = self.blocks.size_of(finest);
        let at = |axis: usize| ((point[axis] * (1u64 << finest) as f64) as usize).min(size[axis] - 1);
        let cell = Cell { level: finest, at: std::array::from_fn(at) };
        self.blocks.cover(cell).map_or(0, |(_, leaf)| leaf.level)
    }

    /// The lower of the two cells of a level along an axis between whose centres a point lies, or of the two nearest ones beside a wall,
    /// and the distance of the point from its centre in cells of the level. Across a periodic face the lower cell may be -1.
    fn below(&self, point: [f64; 3], level: usize, axis: usize) -> (isize, f64) {
        if axis >= self.blocks.dim() {
            return (0, 0.0);
        }
        let place = point[axis] * (1u64 << level) as f64 - 0.5;
        let last = self.blocks.size_of(level)[axis] as isize - 1;
        let below = match self.blocks.domain.periodic[axis] {
            true => place.floor() as isize,
            false => (place.floor() as isize).min(last - 1).max(0),
        };
        // A single cell between two walls has no slope.
        let single = last == 0 && !self.blocks.domain.periodic[axis];
        (below, if single { 0.0 } else { place - below as f64 })
    }

    /// The cell at a position of a level that may lie across a periodic face; `None` behind a wall.
    fn cell(&self, level: usize, place: [isize; 3]) -> Option<Cell> {
        let (size, periodic) = (self.blocks.size_of(level), self.blocks.domain.periodic);
        let inside = |axis: usize| (0..size[axis] as isize).contains(&place[axis]);
        let there = (0..self.blocks.dim()).all(|axis| periodic[axis] || inside(axis));
        let at = |axis: usize| place[axis].rem_euclid(size[axis] as isize) as usize;
        there.then(|| Cell { level, at: std::array::from_fn(at) })
    }

    /// The cells around a point with their weights, without those of weight 0.
    fn corners(&self, point: [f64; 3], level: usize) -> Vec<(Cell, f64)> {
        let dim = self.blocks.dim();
        let below: [(isize, f64); 3] = std::array::from_fn(|axis| self.below(point, level, axis));
        let corner = |corner: usize| {
            let upper = |axis: usize| corner >> axis & 1;
            let place = std::array::from_fn(|axis| below[axis].0 + upper(axis) as isize);
            let shares = (0..dim).map(|axis| if upper(axis) == 1 { below[axis].1 } else { 1.0 - below[axis].1 });
            Some((self.cell(level, place)?, shares.product::<f64>())).filter(|(_, share)| *share != 0.0)
        };
        (0..1usize << dim).filter_map(corner).collect()
    }

    /// The fluid cells of a level within two cells of a point along each axis, with the weights of the plane through them at the point,
    /// or of their mean if they define no plane. `None` if there are none.
    fn plane(&self, point: [f64; 3], level: usize) -> Option<Vec<(Cell, f64)>> {
        let dim = self.blocks.dim();
        let below: [(isize, f64); 3] = std::array::from_fn(|axis| self.below(point, level, axis));
        let mut near: Vec<(Cell, [f64; 4], f64)> = vec![];
        for number in 0..1usize << (2 * dim) {
            let by: [isize; 3] =
                std::array::from_fn(|axis| if axis < dim { (number >> (2 * axis) & 3) as isize - 1 } else { 0 });
            let Some(cell) = self.cell(level, std::array::from_fn(|axis| below[axis].0 + by[axis])) else { continue };
            if !self.is_solid(cell) {
                let off: [f64; 3] = std::array::from_fn(|axis| by[axis] as f64 - below[axis].1);
                let square: f64 = off.iter().map(|off| off * off).sum();
                near.push((cell, [1.0, off[0], off[1], off[2]], 1.0 / (NEAR + square)));
            }
        }
        let moments = |row: usize, column: usize| -> f64 {
            near.iter().map(|(_, terms, weight)| weight * terms[row] * terms[column]).sum()
        };
        let matrix: [[f64; 4]; 4] = std::array::from_fn(|row| {
            std::array::from_fn(|column| match row.max(column) <= dim {
                true => moments(row, column),
                false => f64::from(u8::from(row == column)),
            })
        });
        let total: f64 = near.iter().map(|(_, _, weight)| weight).sum();
        let coefficients = solve(matrix, [1.0, 0.0, 0.0, 0.0]).unwrap_or([1.0 / total, 0.0, 0.0, 0.0]);
        let share = |terms: [f64; 4]| terms.iter().zip(coefficients).map(|(term, of)| term * of).sum::<f64>();
        let shares: Vec<_> = near.into_iter().map(|(cell, terms, weight)| (cell, weight * share(terms))).collect();
        (!shares.is_empty()).then_some(shares)
    }

    /// The cells from which the slope along an axis at a cell is computed, with their weights.
    fn slope(&self, cell: Cell, axis: usize) -> Vec<(Cell, f64)> {
        let fluid = |cell: &Cell| !self.is_solid(*cell);
        let beside = |cell: Cell, high: bool| self.blocks.beside(cell, axis, high).filter(fluid);
        let one_sided = |next: Cell, high: bool, sign: f64| match beside(next, high) {
            Some(third) => vec![(cell, -1.5 * sign), (next, 2.0 * sign), (third, -0.5 * sign)],
            None => vec![(cell, -sign), (next, sign)],
        };
        let per_width = (1u64 << cell.level) as f64;
        let cells = match (beside(cell, false), beside(cell, true)) {
            (Some(low), Some(high)) => vec![(low, -0.5), (high, 0.5)],
            (None, Some(next)) => one_sided(next, true, 1.0),
            (Some(next), None) => one_sided(next, false, -1.0),
            (None, None) => vec![],
        };
        cells.into_iter().map(|(cell, weight)| (cell, weight * per_width)).collect()
    }

    fn is_solid(&self, cell: Cell) -> bool {
        let (dim, centre) = (self.blocks.dim(), cell.centre());
        let centre = std::array::from_fn(|axis| if axis < dim { centre[axis] } else { 0.0 });
        self.solids.is_some_and(|solids| solids.at(centre).is_some())
    }
}

/// Solves a linear system by Gauss-Jordan elimination with partial pivoting; `None` if it is singular.
fn solve(mut matrix: [[f64; 4]; 4], mut right: [f64; 4]) -> Option<[f64; 4]> {
    let scale = matrix.iter().flatten().fold(0.0_f64, |most, entry| most.max(entry.abs()));
    for column in 0..4 {
        let pivot = (column..4).max_by(|a, b| matrix[*a][column].abs().total_cmp(&matrix[*b][column].abs()))?;
        matrix.swap(column, pivot);
        right.swap(column, pivot);
        if matrix[column][column].abs() <= SINGULAR * scale {
            return None;
        }
        for row in (0..4).filter(|row| *row != column) {
            let factor = matrix[row][column] / matrix[column][column];
            let pivot = matrix[column];
            matrix[row].iter_mut().zip(pivot).for_each(|(entry, of_pivot)| *entry -= factor * of_pivot);
            right[row] -= factor * right[column];
        }
    }
    Some(std::array::from_fn(|row| right[row] / matrix[row][row]))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fixture::snapshots::{Field, levels};
    use crate::geometry::Domain;
    use crate::geometry::solid::{Shape, Solid};
    use crate::solver::measure::snapshot::Component;
    use crate::solver::measure::velocity::Velocity;

    fn sum(weights: &[(usize, f64)], values: &[f64]) -> f64 {
        weights.iter().map(|(at, weight)| weight * values[*at]).sum()
    }

    #[test]
    fn what_is_linear_is_exact_up_to_walls_and_across_level_interfaces() {
        let linear = |[x, y, _]: [f64; 3]| 3.0 + 0.25 * x - 2.0 * y;
        let snapshot = levels(false, &[("a", &linear)]);
        let (values, around) = (snapshot.get("a").unwrap(), Interpolation { blocks: &snapshot, solids: None });
        let mut found_levels = [false; 3];
        for number in 0..400 {
            let point = [16.0 * (number % 20) as f64 / 19.0, 8.0 * (number / 20) as f64 / 19.0, 0.0];
            let stencil = around.stencil(point, true).unwrap();
            found_levels[stencil.level] = true;
            assert!((sum(&stencil.value, values) - linear(point)).abs() < 1e-12, "{point:?}");
            let slopes = [0.25, -2.0];
            (0..2).for_each(|axis| {
                assert!((sum(&stencil.slopes[axis], values) - slopes[axis]).abs() < 1e-12, "{point:?}");
            });
        }
        assert_eq!(found_levels, [true; 3]);
    }

    #[test]
    fn at_a_cell_centre_the_value_is_that_of_the_cell_and_slopes_are_those_of_pictures() {
        let fields: [Field<'_>; 2] = [("ux", &|[x, y, _]| (0.7 * x).sin() * y), ("uy", &|[x, y, _]| x * y * y)];
        for periodic in [false, true] {
            let snapshot = levels(periodic, &fields);
            let velocity = Velocity::new(&snapshot).unwrap();
            let around = Interpolation { blocks: &snapshot, solids: None };
            for at in 0..snapshot.components[0].data.len() {
                let stencil = around.stencil(snapshot.cell(at).centre(), true).unwrap();
                assert_eq!(stencil.value, [(at, 1.0)]);
                let gradient = velocity.gradient(at);
                for (axis, component) in [(0, 0), (0, 1), (1, 0), (1, 1)] {
                    let found = sum(&stencil.slopes[axis], &snapshot.components[component].data);
                    assert!((found - gradient[axis][component]).abs() < 1e-11, "{at}: {found}");
                }
            }
        }
    }

    #[test]
    fn beside_a_solid_only_the_fluid_counts_and_what_is_linear_stays_exact() {
        let domain = Domain { dim: 2, size: [24, 16, 1], periodic: [true, false, true] };
        let shape = Shape::Cylinder { centre: [12.0, 8.0, 0.0], axis: [0.0, 0.0, 1.0], radius: 4.0, length: None };
        let solid = Solid { shape, rule: String::new(), values: vec![], level: 0, shells: vec![] };
        let solids = Solids::new(&[solid], 2, domain.size, [8, 8, 1], domain.periodic);
        let linear = |[x, y, _]: [f64; 3]| 1.0 + 0.5 * x - 0.25 * y;
        let mut snapshot = Snapshot::uniform(0, domain, vec![]);
        let value = |at: usize| {
            let centre = snapshot.cell(at).centre();
            if solids.at(centre).is_some() { f64::NAN } else { linear(centre) }
        };
        let data: Vec<f64> = (0..24 * 16).map(value).collect();
        snapshot.components = vec![Component { name: "a".into(), data: data.clone() }];
        let around = Interpolation { blocks: &snapshot, solids: Some(&solids) };
        for degrees in 0..360 {
            let (sin, cos) = f64::from(degrees).to_radians().sin_cos();
            for distance in [4.001, 4.4, 5.0] {
                let point = [12.0 + distance * cos, 8.0 + distance * sin, 0.0];
                let stencil = around.stencil(point, false).unwrap();
                assert!((sum(&stencil.value, &data) - linear(point)).abs() < 1e-11, "{point:?}");
            }
            assert!(around.stencil([12.0 + 3.9 * cos, 8.0 + 3.9 * sin, 0.0], false).is_none());
        }
    }
}
