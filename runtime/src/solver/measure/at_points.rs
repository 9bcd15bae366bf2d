//! Fields of a snapshot at any point.

use crate::geometry::solid::Solids;
use crate::solver::measure::snapshot::Snapshot;
use crate::solver::measure::stencil::Interpolation;

/// Interpolates a snapshot at any point: linear along each axis, and beside solids on the plane through the fluid cells near the point,
/// as a [`Probe`](crate::solver::measure::probe::Probe) does.
pub struct AtPoints<'a> {
    interpolation: Interpolation<'a>,
}

impl<'a> AtPoints<'a> {
    /// Interpolates a snapshot of a flow around these solids.
    pub fn new(snapshot: &'a Snapshot, solids: Option<&'a Solids>) -> AtPoints<'a> {
        AtPoints { interpolation: Interpolation { blocks: snapshot, solids } }
    }

    /// The components of the fields, in their order, at a point in cells of the coarsest level; `None` inside a solid. A point beyond a
    /// periodic face is wrapped to the other side, and a point beyond a wall is moved to the wall.
    pub fn read(&self, point: [f64; 3]) -> Option<Vec<f64>> {
        let (_, weights) = self.weights(point)?;
        let of = |values: &[f64]| weights.iter().map(|(at, weight)| weight * values[*at]).sum();
        Some(self.interpolation.blocks.components.iter().map(|component| of(&component.data)).collect())
    }

    /// The same for whatever has a value in each cell: the level of the leaf that has the point, and indices of values with their weights.
    pub fn weights(&self, point: [f64; 3]) -> Option<(usize, Vec<(usize, f64)>)> {
        let blocks = self.interpolation.blocks;
        let inside = |axis: usize| {
            let size = blocks.size()[axis] as f64;
            if blocks.domain.periodic[axis] { point[axis].rem_euclid(size) } else { point[axis].clamp(0.0, size) }
        };
        let stencil = self.interpolation.stencil([0, 1, 2].map(inside), false)?;
        Some((stencil.level, stencil.value))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fixture::snapshots::levels;

    #[test]
    fn what_is_linear_is_exact_and_beyond_faces_it_is_that_of_the_face_or_of_the_other_side() {
        let linear = |[x, y, _]: [f64; 3]| 3.0 + 0.25 * x - 2.0 * y;
        let snapshot = levels(false, &[("a", &linear), ("b", &|_| 7.0)]);
        let points = AtPoints::new(&snapshot, None);
        for (at, read) in
            [([3.3, 2.1, 0.0], [3.3, 2.1]), ([17.0, 5.0, 0.0], [16.0, 5.0]), ([2.0, -3.0, 0.0], [2.0, 0.0])]
        {
            let found = points.read(at).unwrap();
            assert!((found[0] - linear([read[0], read[1], 0.0])).abs() < 1e-12 && found[1] == 7.0, "{at:?}: {found:?}");
        }
        let snapshot = levels(true, &[("a", &|[x, _, _]| x)]);
        let points = AtPoints::new(&snapshot, None);
        assert_eq!(points.read([19.5, 4.0, 0.0]), points.read([3.5, 4.0, 0.0]));
    }
}
