//! Surfaces with holes: what is inside follows from their generalised winding number.
//!
//! The winding number around a point is the solid angle under which the point sees the triangles, divided by 4 pi. That of a closed
//! surface is a whole number. If the surface has holes, a point is inside where it is above one half (Jacobson, Kavan &
//! Sorkine-Hornung, ACM Trans. Graph. 32 (2013) 33).
//!
//! Here it is that of the surface with lids on its holes, which rays count exactly, minus that of the lids. It does not depend on the form
//! of the lids. Far from the holes a point is decided as for a closed surface.

use std::sync::Arc;

use rayon::prelude::*;

use super::lids::{Hole, Lids};
use super::surface::Surface;
use super::vector::{Vector, minus, norm, plus, times};

/// Winding numbers for which it is unsure whether a point is inside.
const UNSURE: [f64; 2] = [0.25, 0.75];

/// The place of a lid's apex, off the middle of the hole and over its extent: cell centres do not lie on its edges.
const APEX: Vector = [0.0131, 0.0172, 0.0117];

/// Steps of the bisection for the place at which a path enters through a hole.
const BISECTIONS: usize = 40;

/// What a surface with holes encloses.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Enclosed {
    /// Cells whose centres are inside.
    pub cells: usize,
    /// Cells with a winding number between one and three quarters.
    pub unsure: usize,
}

impl Surface {
    /// The surface taken with its holes, if it is not closed.
    pub fn with_holes(&self) -> Surface {
        let (lids, holes) = self.fans(f64::INFINITY, |hole| plus(hole.at, times(hole.extent, APEX)));
        if holes.is_empty() {
            return self.clone();
        }
        self.lidded(Arc::new(Lids::new(lids, holes.into())))
    }

    /// The holes with which it is taken, in the units of the surface when it was; none if it is closed.
    pub fn holes(&self) -> &[Hole] {
        self.lids().map_or(&[], Lids::holes)
    }

    /// The same surface with lids on the holes with which it is taken.
    pub fn lidded_over(&self) -> Surface {
        let Some(lids) = self.lids() else { return self.clone() };
        let part = self.parts().map(|(_, part)| part).min().unwrap_or(0);
        let own = self.parts().map(|(corners, part)| (*corners, part));
        Surface::of_parts(own.chain(lids.mesh().triangles().iter().map(|corners| (*corners, part))))
    }

    /// How many cells of `width` are inside, in a box from the origin to `end`; the origin is the lower corner of a cell.
    pub fn enclosed(&self, width: f64, end: Vector) -> Enclosed {
        self.prepare();
        let (low, high) = self.bounds();
        let range = |axis: usize| {
            let cells = (end[axis] / width).round();
            let first = |at: f64| (at / width - 0.5).ceil().clamp(0.0, cells) as usize;
            first(low[axis])..first(high[axis].min(end[axis]) + width)
        };
        let [along, across, up] = [0, 1, 2].map(range);
        let centre = |cell: usize| (cell as f64 + 0.5) * width;
        let xs: Vec<f64> = along.map(centre).collect();
        let line = |at: usize| {
            let (y, z) = (across.start + at % across.len(), up.start + at / across.len());
            let windings = self.windings_along(&xs, [centre(y), centre(z)]);
            let count = |is: &dyn Fn(f64) -> bool| windings.iter().filter(|winding| is(winding.abs())).count();
            let is_unsure = |winding: f64| UNSURE[0] < winding && winding < UNSURE[1];
            Enclosed { cells: count(&Lids::is_inside), unsure: count(&is_unsure) }
        };
        let and = |one: Enclosed, other: Enclosed| Enclosed {
            cells: one.cells + other.cells,
            unsure: one.unsure + other.unsure,
        };
        (0..across.len() * up.len()).into_par_iter().map(line).reduce(Enclosed::default, and)
    }

    /// Whether a box without a triangle in it may have points inside and points outside.
    pub(super) fn near_hole(&self, from: Vector, to: Vector) -> bool {
        let Some(lids) = self.lids() else { return false };
        // What is beyond the bounding box is outside.
        let (low, high) = self.bounds();
        let (low, high) =
            ([0, 1, 2].map(|axis| low[axis].max(from[axis])), [0, 1, 2].map(|axis| high[axis].min(to[axis])));
        if (0..3).any(|axis| low[axis] > high[axis]) {
            return false;
        }
        let middle = times(0.5, plus(low, high));
        let winding = self.windings_along(&middle[..1], [middle[1], middle[2]])[0];
        let ends_within = Lids::is_inside(winding) && (low, high) != (from, to);
        ends_within || lids.may_part(middle, 0.5 * norm(minus(high, low)), winding)
    }

    /// Where a path that meets no triangle enters or leaves through a hole.
    pub(super) fn through_hole(&self, from: Vector, to: Vector) -> Option<f64> {
        let at = |part: f64| [0, 1, 2].map(|axis| from[axis] + part * (to[axis] - from[axis]));
        let begins = self.contains(from);
        if begins == self.contains(to) {
            return None;
        }
        let halve = |[before, behind]: [f64; 2], _| {
            let middle = 0.5 * (before + behind);
            if self.contains(at(middle)) == begins { [middle, behind] } else { [before, middle] }
        };
        let [before, behind] = (0..BISECTIONS).fold([0.0, 1.0], halve);
        Some(0.5 * (before + behind))
    }
}

#[cfg(test)]
mod tests {
    use std::f64::consts::PI;

    use super::super::surface::tests::{ball, cuboid};
    use super::super::triangle::{Triangle, normal, solid_angle};
    use super::*;

    /// The winding number of a surface by its definition.
    fn winding(surface: &Surface, at: Vector) -> f64 {
        surface.parts().map(|(corners, _)| solid_angle(corners, at)).sum::<f64>() / (4.0 * PI)
    }

    /// Points of a lattice in a box around a surface from 0 to 12.
    fn points() -> impl Iterator<Item = Vector> {
        (0..14 * 14 * 14).map(|at| [at % 14, at / 14 % 14, at / 196].map(|at| at as f64 - 0.47))
    }

    /// A sphere without the triangles of which a corner lies above.
    fn cut(height: f64) -> Surface {
        let whole = ball([6.0; 3], 5.0, 3);
        let is_below = |corners: &&Triangle| corners.iter().all(|corner| corner[2] < height);
        Surface::new(whole.corners().iter().filter(is_below).copied().collect())
    }

    #[test]
    fn a_sphere_without_a_triangle_has_the_cells_of_the_sphere() {
        let whole = ball([6.0; 3], 5.0, 3);
        let open = Surface::new(whole.corners()[1..].to_vec()).with_holes();
        let [hole] = open.holes() else { panic!("{:?}", open.holes()) };
        let [a, b, c] = whole.corners()[0];
        let around = [[a, b], [b, c], [c, a]].map(|[from, to]| norm(minus(to, from))).iter().sum::<f64>();
        assert!(hole.edges == 3 && (hole.perimeter - around).abs() < 1e-12, "{hole:?}");
        assert!(points().all(|at| open.contains(at) == whole.contains(at)));
        let (found, end) = (open.enclosed(0.25, [12.0; 3]), [12.0; 3]);
        assert_eq!(found.cells, whole.thickness(0.25, end).cells);
        assert!(found.unsure < 20, "{found:?}");
        // A path through the hole meets the surface where the triangle was.
        let middle = [0, 1, 2].map(|axis| (a[axis] + b[axis] + c[axis]) / 3.0);
        let [inner, outer] = [0.8, 1.3].map(|part| [0, 1, 2].map(|axis| 6.0 + part * (middle[axis] - 6.0)));
        let [one, other] = [&open, &whole].map(|surface| surface.crossing(outer, inner).expect("it is met"));
        assert!((one - other).abs() < 1e-3, "{one} {other}");
        // All of its coordinates are less.
        assert!(open.near(outer, inner) && !open.near([5.0; 3], [7.0; 3]));
    }

    #[test]
    fn lids_and_rays_have_the_winding_number_of_the_triangles() {
        for height in [10.0, 7.0, 5.0] {
            let open = cut(height).with_holes();
            let (low, high) = open.bounds();
            for at in points().filter(|at| (0..3).all(|axis| low[axis] <= at[axis] && at[axis] <= high[axis])) {
                let found = open.windings_along(&at[..1], [at[1], at[2]])[0];
                assert!((found - winding(&open, at)).abs() < 2e-3, "{height} {at:?} {found}");
            }
        }
    }

    #[test]
    fn boxes_that_no_triangle_cuts_are_inside_or_outside_as_a_whole() {
        let mut pipe = cuboid([1.0, 4.0, 4.0], [11.0, 8.0, 8.0]);
        pipe.retain(|corners| normal(corners)[0] == 0.0);
        let mut apart = 0;
        for open in [cut(10.0), cut(5.0), Surface::new(pipe)].map(|surface| surface.with_holes()) {
            for low in points() {
                let high = low.map(|at| at + 1.0);
                let corners = (0..8).map(|code| [0, 1, 2].map(|axis| low[axis] + f64::from(code >> axis & 1)));
                let inside: Vec<bool> = corners.map(|at| open.contains(at)).collect();
                let parts = inside.iter().any(|one| *one != inside[0]);
                assert!(!parts || open.near(low, high), "{low:?}");
                apart += usize::from(!open.near(low, high));
            }
        }
        assert!(apart > 3000, "{apart}");
    }

    #[test]
    fn overlapping_boxes_with_holes_are_one_body() {
        let (mut one, mut other) = (cuboid([0.5; 3], [7.5; 3]), cuboid([4.5; 3], [11.5; 3]));
        // Half of the lower side of one, half of the upper side of the other.
        one.remove(0);
        other.remove(3);
        let both = Surface::new([one, other].concat()).with_holes();
        assert_eq!(both.holes().len(), 2);
        assert!([[2.0; 3], [6.0; 3], [10.0; 3]].iter().all(|at| both.contains(*at)));
        assert!(![[2.0, 2.0, 10.0], [10.0, 2.0, 6.0], [0.2; 3]].iter().any(|at| both.contains(*at)));
    }

    #[test]
    fn a_bowl_too_flat_encloses_nothing() {
        let mut plate = cuboid([1.0; 3], [11.0; 3]);
        plate.retain(|corners| corners.iter().all(|corner| corner[2] == 1.0));
        let open = Surface::new(plate).with_holes();
        assert_eq!(open.enclosed(1.0, [12.0; 3]).cells, 0);
        assert!(points().all(|at| !open.contains(at)));
    }
}
