//! How a grid resolves the inside of a surface: along each axis, every line of cell centres is followed through it.

use rayon::prelude::*;

use super::surface::Surface;
use super::vector::{Vector, dot};

/// How a grid resolves the inside of a surface.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Thickness {
    /// Cells whose centres are inside.
    pub cells: usize,
    /// Number of cells whose centres are inside several shells, and the centre of one of them.
    pub overlaps: (usize, Option<Vector>),
    /// Whether there are cells inside shells whose normals point outwards, and inside shells whose normals point inwards.
    pub turned: [bool; 2],
    /// Number of lines of cells that cross a part of the body with no cell centre inside.
    pub thin: usize,
    /// A point in the thinnest such part, and its thickness there, in units of the surface.
    pub thinnest: Option<(Vector, f64)>,
}

/// The normals of the two sides of a thin part have an angle with at least this cosine between them, up to sign.
const PARALLEL: f64 = 0.9;

impl Surface {
    /// How cells of `width` resolve the surface in a box from the origin to `end`; the origin is the lower corner of a cell.
    pub fn thickness(&self, width: f64, end: Vector) -> Thickness {
        self.prepare();
        let (low, high) = self.bounds();
        // Cells whose centres lie in an extent: the first, and one beyond the last.
        let first =
            |axis: usize, from: f64| (from.max(0.0) / width - 0.5).ceil().max(0.0).min(end[axis] / width) as usize;
        let range = |axis: usize, from: f64, to: f64| (first(axis, from), first(axis, to.min(end[axis])));
        let of_axis = |axis: usize| {
            let (one, other) = ((axis + 1) % 3, (axis + 2) % 3);
            let [across, along] = [one, other].map(|axis| range(axis, low[axis], high[axis]));
            let line = |at: usize| {
                let count = across.1 - across.0;
                let mut through = [0.0; 3];
                through[one] = ((across.0 + at % count) as f64 + 0.5) * width;
                through[other] = ((along.0 + at / count) as f64 + 0.5) * width;
                let mut crossed = Vec::new();
                self.ray(axis, through, |place, leaves, normal| crossed.push((place, leaves, normal)));
                // At equal positions, leaving comes before entering: bodies that touch do not overlap.
                crossed.sort_by(|a, b| a.0.total_cmp(&b.0).then(b.1.cmp(&a.1)));
                let mut found = Thickness::NONE;
                let (mut windings, mut begin) = (0, (0.0, [0.0; 3]));
                for (at, (place, leaves, normal)) in crossed.iter().enumerate() {
                    if windings == 0 {
                        begin = (*place, *normal);
                    }
                    windings -= leaves;
                    if let (0, Some(next)) = (axis, crossed.get(at + 1)) {
                        let (from, to) = range(axis, *place, next.0);
                        if windings != 0 && from < to {
                            through[axis] = (from as f64 + 0.5) * width;
                            found = found.and(Thickness::inside(to - from, windings, through));
                        }
                    }
                    if windings != 0 {
                        continue;
                    }
                    let ((from, enters), (to, leaves)) = (begin, (*place, *normal));
                    // Where a line cuts an edge or a rounded part, the body is not thin: sides of thin parts are nearly parallel.
                    let (steep, parallel) = (enters[axis].abs(), -dot(enters, leaves));
                    let empty = (from / width - 0.5).ceil() == (to / width - 0.5).ceil();
                    let outside = to < 0.0 || from > end[axis];
                    if empty && from < to && !outside && steep > 0.5 && parallel > PARALLEL {
                        through[axis] = 0.5 * (from + to);
                        let thinnest = Some((through, steep * (to - from)));
                        found = found.and(Thickness { thin: 1, thinnest, ..Thickness::NONE });
                    }
                }
                found
            };
            let lines = (across.1 - across.0) * (along.1 - along.0);
            (0..lines).into_par_iter().map(line).reduce(|| Thickness::NONE, Thickness::and)
        };
        (0..3).map(of_axis).fold(Thickness::NONE, Thickness::and)
    }
}

impl Thickness {
    const NONE: Thickness = Thickness { cells: 0, overlaps: (0, None), turned: [false; 2], thin: 0, thinnest: None };

    /// Cells with this winding number, one of them with this centre.
    fn inside(cells: usize, windings: i32, centre: Vector) -> Thickness {
        let overlaps = if windings.abs() > 1 { (cells, Some(centre)) } else { (0, None) };
        Thickness { cells, overlaps, turned: [windings > 0, windings < 0], ..Thickness::NONE }
    }

    fn and(self, other: Thickness) -> Thickness {
        let thinnest = match (self.thinnest, other.thinnest) {
            (Some(one), Some(other)) => Some(if other.1 < one.1 { other } else { one }),
            (one, other) => one.or(other),
        };
        Thickness {
            cells: self.cells + other.cells,
            overlaps: (self.overlaps.0 + other.overlaps.0, self.overlaps.1.or(other.overlaps.1)),
            turned: [0, 1].map(|way| self.turned[way] || other.turned[way]),
            thin: self.thin + other.thin,
            thinnest,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::geometry::solid::surface::tests::{ball, cuboid};

    #[test]
    fn a_plate_is_thin_where_no_centre_is_inside() {
        let plate = |thickness: f64| Surface::new(cuboid([1.1, 1.1, 3.6], [9.1, 5.1, 3.6 + thickness]));
        let all = [f64::INFINITY; 3];
        let thin = plate(0.3).thickness(1.0, all);
        assert_eq!((thin.cells, thin.thin), (0, 32));
        let (place, thickness) = thin.thinnest.unwrap();
        assert!((thickness - 0.3).abs() < 1e-12 && (place[2] - 3.75).abs() < 1e-12, "{thin:?}");
        let thick = plate(1.2).thickness(1.0, all);
        assert_eq!((thick.cells, thick.thin, thick.thinnest), (32, 0, None));
        assert_eq!(ball([5.0; 3], 3.1, 4).thickness(0.5, all).thin, 0);
    }
}
