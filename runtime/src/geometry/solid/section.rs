//! Sections of surfaces: the polygons in which a plane cuts them, for flows in two dimensions.
//!
//! A corner in the plane counts as above it, so every triangle has none or two sides that the plane cuts, and a plane through a flat part
//! cuts just below it. Both triangles of a side compute the same intersection, to the last bit, so polygons are closed.

use super::surface::Surface;
use super::triangle::Triangle;
use super::vector::Vector;

impl Surface {
    /// The section with the plane at a position along an axis, as a surface: walls on its polygons from z = -1 to z = 1, where x and y
    /// are the other two axes in their order. It winds around the inside of the polygons at z = 0. `None` if nothing is cut.
    pub fn section(&self, normal: usize, at: f64) -> Option<Surface> {
        let [one, other] = [[1, 2], [0, 2], [0, 1]][normal];
        let is_above = |corner: Vector| corner[normal] >= at;
        let cut = |from: Vector, to: Vector| -> [f64; 2] {
            let (low, high) = if is_above(from) { (to, from) } else { (from, to) };
            let part = (at - low[normal]) / (high[normal] - low[normal]);
            [one, other].map(|axis| low[axis] + part * (high[axis] - low[axis]))
        };
        let wall = |(corners, part): (&Triangle, u16)| -> Option<[(Triangle, u16); 2]> {
            let side = |goes_up: bool| {
                let sides = (0..3).map(|corner| (corners[corner], corners[(corner + 1) % 3]));
                let mut fitting =
                    sides.filter(|(from, to)| is_above(*from) != is_above(*to) && is_above(*to) == goes_up);
                fitting.next().map(|(from, to)| cut(from, to))
            };
            let ([a, b], [c, d]) = (side(true)?, side(false)?);
            let half = |one: [f64; 3], other: [f64; 3]| ([[a, b, -1.0], one, other], part);
            Some([half([c, d, -1.0], [c, d, 1.0]), half([c, d, 1.0], [a, b, 1.0])])
        };
        let section = Surface::of_parts(self.parts().filter_map(wall).flatten());
        (section.triangles() > 0).then_some(section)
    }
}

#[cfg(test)]
mod tests {
    use super::super::surface::tests::{ball, cuboid};
    use super::*;

    /// Checks which points of a plane are inside a section, against a signed distance from the outline, except close to it.
    fn agrees(section: &Surface, inside: impl Fn(f64, f64) -> f64) {
        let mut seen = [0; 2];
        for at in 0..60 * 60 {
            let [x, y] = [at % 60, at / 60].map(|at| f64::from(at) * 0.2);
            let depth = inside(x, y);
            if depth.abs() > 1e-2 {
                assert_eq!(section.contains([x, y, 0.0]), depth > 0.0, "({x}, {y})");
                seen[usize::from(depth > 0.0)] += 1;
            }
        }
        assert!(seen.iter().all(|count| *count > 100), "{seen:?}");
    }

    #[test]
    fn a_ball_is_cut_in_a_circle_along_every_axis() {
        let surface = ball([5.0, 6.0, 7.0], 4.0, 5);
        for (normal, [x, y]) in [(0, [6.0, 7.0]), (1, [5.0, 7.0]), (2, [5.0, 6.0])] {
            let at = [5.0, 6.0, 7.0][normal] + 2.0;
            let section = surface.section(normal, at).expect("it is cut");
            agrees(&section, |a, b| 12f64.sqrt() - (a - x).hypot(b - y));
            let part = section.crossing([x - 5.0, y, 0.0], [x, y, 0.0]).expect("the outline is between");
            assert!((5.0 * part - (5.0 - 12f64.sqrt())).abs() < 1e-2, "{part}");
        }
        assert!(surface.section(2, 11.5).is_none() && surface.section(2, 2.5).is_none());
    }

    #[test]
    fn a_plane_through_corners_and_sides_cuts_closed_polygons() {
        // Corners of the ball lie in these planes: its centre, its poles, and rings of corners.
        let surface = ball([6.0, 6.0, 6.0], 4.0, 3);
        for at in surface.corners().iter().flatten().map(|corner| corner[2]).collect::<Vec<_>>() {
            let Some(section) = surface.section(2, at) else { continue };
            let mut ends = std::collections::BTreeMap::<[u64; 2], i32>::new();
            for [from, to, _] in section.corners().iter().step_by(2) {
                *ends.entry([from[0].to_bits(), from[1].to_bits()]).or_default() -= 1;
                *ends.entry([to[0].to_bits(), to[1].to_bits()]).or_default() += 1;
            }
            assert!(ends.values().all(|count| *count == 0), "{at}");
            assert!(!section.contains([11.0, 11.0, 0.0]) && !section.contains([0.5, 6.0, 0.0]), "{at}");
        }
    }

    #[test]
    fn a_plane_in_a_flat_part_cuts_just_below_it() {
        let surface = Surface::new(cuboid([2.0, 3.0, 4.0], [9.0, 8.0, 6.0]));
        let inside = |x: f64, y: f64| (x - 2.0).min(9.0 - x).min(y - 3.0).min(8.0 - y);
        agrees(&surface.section(2, 6.0).expect("just below the top"), inside);
        agrees(&surface.section(2, 5.0).expect("the middle"), inside);
        assert!(surface.section(2, 4.0).is_none(), "just below the bottom");
    }
}
