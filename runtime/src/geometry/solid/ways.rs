//! Paths between cells, and their intersections with solids.
//!
//! A link between a fluid and a solid cell meets the surface of the solid. A link between two fluid cells may also meet a solid, if no
//! cell centre of the solid lies between them: a plate thinner than a cell, or a slanted plate thinner than the diagonal of a cell, whose
//! solid cells touch at corners only. Such a link is cut at both ends, each at its own distance, if the solid separates the two cells: if
//! no short path from one to the other leads from cell to cell along the axes. A link that only clips a corner or a bulge, around which
//! the fluid can flow, is not cut.

use super::{Placed, Vector};

/// A path that is inside a solid for less than this fraction of its length only touches the solid.
const TOUCH: f64 = 1e-9;

/// Maps a point beyond a symmetry plane, which lies half-way between cells, to its mirror image.
pub(super) trait Seen: Fn(Vector) -> Vector + Copy {}
impl<S: Fn(Vector) -> Vector + Copy> Seen for S {}

/// The solid whose surface is first on the path from one cell to another, and its distance as a fraction of the path.
fn met<'a>(near: &[&'a Placed], [from, to]: [Vector; 2], seen: impl Seen) -> Option<(&'a Placed, f64)> {
    let square = |one: Vector, other: Vector| (0..3).map(|axis| (one[axis] - other[axis]).powi(2)).sum::<f64>();
    let (begin, end) = (seen(from), seen(to));
    // A path through a symmetry plane is shorter after reflection; coordinates of cells are exact.
    let is_straight = square(begin, end) == square(from, to);
    let cut = |placed: &&'a Placed| {
        let shape = &placed.shape;
        if is_straight {
            return Some((*placed, shape.crossing(begin, end)?));
        }
        let turn = seen([0, 1, 2].map(|axis| 0.5 * (from[axis] + to[axis])));
        let before = shape.crossing(begin, turn).map(|part| 0.5 * part);
        Some((*placed, before.or_else(|| shape.crossing(turn, end).map(|part| 0.5 + 0.5 * part))?))
    };
    near.iter().filter_map(cut).min_by(|one, other| one.1.total_cmp(&other.1))
}

/// The solid whose surface is first on the path from a fluid cell to a solid one, and its distance as a fraction of the path.
pub(super) fn first<'a>(near: &[&'a Placed], way: [Vector; 2], seen: impl Seen) -> (&'a Placed, f64) {
    let inside = || near.iter().find(|placed| placed.shape.contains(seen(way[1]))).unwrap_or(&near[0]);
    // A cell centre on a surface may count as inside without a crossing, because of round-off.
    met(near, way, seen).unwrap_or_else(|| (inside(), 1.0))
}

/// The same for two fluid cells, if the path passes through a solid; `None` if it only touches one. The result is the same in both
/// directions.
pub(super) fn through<'a>(near: &[&'a Placed], way: [Vector; 2], seen: impl Seen) -> Option<(&'a Placed, f64)> {
    let (placed, distance) = met(near, way, seen)?;
    let (_, back) = met(near, [way[1], way[0]], seen)?;
    (distance + back < 1.0 - TOUCH).then_some((placed, distance))
}

/// The same if no [`Steps`] connect the two cells: solids that touch on the path leave no gap.
pub(super) fn barred<'a>(near: &[&'a Placed], way: [Vector; 2], seen: impl Seen) -> Option<(&'a Placed, f64)> {
    met(near, [way[1], way[0]], seen).and(met(near, way, seen))
}

/// Whether solids may separate cells without solid cells between them. `diagonal`: that of a cell. A single sphere or infinite cylinder
/// of more than two diagonals across cannot: it only clips links.
pub(super) fn parts(near: &[&Placed], diagonal: f64) -> bool {
    let is_wide = |placed: &Placed| placed.shape.diameter().is_some_and(|across| across > 2.0 * diagonal);
    !matches!(near, [one] if is_wide(one))
}

/// Steps along the axes between the cells of a box, and which of them the fluid can take.
pub(super) struct Steps {
    lowest: [i32; 3],
    sides: [usize; 3],
    /// For each cell, x fastest, whether the step to the next one along each axis is open.
    open: Vec<[bool; 3]>,
}

impl Steps {
    /// For a box of cells from `lowest` on; `is_open` says whether the fluid can flow between two adjacent cells.
    pub(super) fn new(lowest: [i32; 3], sides: [usize; 3], is_open: impl Fn([i32; 3], [i32; 3]) -> bool) -> Steps {
        let [width, height, depth] = sides;
        let of_cell = |cell: usize| {
            let inside = [cell % width, cell / width % height, cell / (width * height)];
            let at = [0, 1, 2].map(|axis| lowest[axis] + inside[axis] as i32);
            let to_next = |axis: usize| {
                let mut next = at;
                next[axis] += 1;
                inside[axis] + 1 < sides[axis] && is_open(at, next)
            };
            [0, 1, 2].map(to_next)
        };
        Steps { lowest, sides, open: (0..width * height * depth).map(of_cell).collect() }
    }

    /// Whether no path along the axes leads from one cell to another: neither a shortest one nor one with a step aside.
    pub(super) fn bar(&self, from: [i32; 3], to: [i32; 3]) -> bool {
        let leads_aside = |(axis, step): (usize, i32)| {
            let [here, there] = [from, to].map(|mut at| {
                at[axis] += step;
                at
            });
            self.lead(from, here) && self.lead(here, there) && self.lead(there, to)
        };
        let across = (0..3).filter(|axis| from[*axis] == to[*axis] && self.sides[*axis] > 1);
        !self.lead(from, to) && !across.flat_map(|axis| [(axis, -1), (axis, 1)]).any(leads_aside)
    }

    /// Whether a shortest path along the axes leads from one cell to another.
    fn lead(&self, from: [i32; 3], to: [i32; 3]) -> bool {
        let step = |axis: usize| {
            let mut next = from;
            next[axis] += (to[axis] - from[axis]).signum();
            self.is_open(if next[axis] < from[axis] { next } else { from }, axis) && self.lead(next, to)
        };
        from == to || (0..3).filter(|axis| from[*axis] != to[*axis]).any(step)
    }

    fn is_open(&self, at: [i32; 3], axis: usize) -> bool {
        let [x, y, z] = [0, 1, 2].map(|axis| (at[axis] - self.lowest[axis]) as usize);
        self.open[x + self.sides[0] * (y + self.sides[1] * z)][axis]
    }
}

#[cfg(test)]
mod tests {
    use std::collections::{BTreeMap, BTreeSet};
    use std::sync::Arc;

    use lbm_bundle::Direction;

    use super::super::surface::tests::{ball, cuboid};
    use super::super::{Cut, Cutters, Image, Padding, Shape, Solid, Solids, Surface, Turn, Voxels};
    use crate::geometry::Block;

    /// All directions to cells around a cell.
    fn directions(dim: usize) -> Vec<Direction> {
        let count = 3i32.pow(dim as u32);
        let of = |at: i32| Direction {
            c: [at % 3 - 1, at / 3 % 3 - 1, if dim == 3 { at / 9 - 1 } else { 0 }],
            weight: "0".into(),
            rest: "0".into(),
            opposite: (count - 1 - at) as u32,
        };
        (0..count).map(of).collect()
    }

    /// The connected components of the fluid cells of a closed box, 16 cells wide along each axis, around a shape: cells are connected by
    /// links that are not cut. Also the number of cut links between fluid cells.
    fn parted(shape: Shape, dim: usize) -> (Vec<Vec<[i32; 3]>>, usize) {
        let along = |wide: usize| [0, 1, 2].map(|axis| if axis < dim { wide } else { 1 });
        let solid = Solid { shape, rule: String::new(), values: vec![], level: 0, shells: vec![] };
        let solids = Solids::new(&[solid], dim, along(16), along(8), [false; 3]);
        let (no, varying_solids) = ([false; 6], BTreeSet::new());
        let cutters = Cutters {
            solids,
            first: 0,
            padding: Padding::default(),
            varying: no,
            varying_solids,
            symmetry_planes: no,
            nodes: no,
            faces_at_interfaces: false,
        };
        let directions = directions(dim);
        let blocks = (0..2usize.pow(dim as u32)).map(|at| [at % 2, at / 2 % 2, at / 4]);
        let cuts: BTreeMap<[usize; 3], Cut> =
            blocks.map(|place| (place, cutters.cut(Block { level: 0, place }, &directions))).collect();
        let [wide, _, deep] = along(16).map(|side| side as i32);
        let inside = |at: [i32; 3]| (0..dim).all(|axis| (0..wide).contains(&at[axis]));
        let here = |at: [i32; 3]| {
            let (at, block) = (at.map(|at| at as usize), along(8));
            (
                &cuts[&[0, 1, 2].map(|axis| at[axis] / block[axis])],
                at[0] % 8 + 8 * (at[1] % 8) + 64 * (at[2] % block[2]),
            )
        };
        let cells = if dim == 3 { 512 } else { 64 };
        let is_solid = |at: [i32; 3]| here(at).0.is_solid(here(at).1);
        let entry = |at: [i32; 3], dir: usize| match here(at) {
            (Cut::Some(row), cell) => (row.links[dir * cells + cell], row.distances[dir * cells + cell]),
            _ => (0, 0.5),
        };
        let all = (0..wide * wide * deep).map(|at| [at % wide, at / wide % wide, at / (wide * wide)]);
        let mut left: BTreeSet<[i32; 3]> = all.filter(|at| !is_solid(*at)).collect();
        let (mut found, mut count) = (vec![], 0);
        while let Some(start) = left.pop_first() {
            let (mut together, mut next) = (vec![start], 0);
            while let Some(at) = together.get(next).copied() {
                next += 1;
                for (dir, direction) in directions.iter().enumerate() {
                    let from = [0, 1, 2].map(|axis| at[axis] - direction.c[axis]);
                    if !inside(from) || is_solid(from) {
                        continue;
                    }
                    let (one, other) = (entry(at, dir), entry(from, direction.opposite as usize));
                    assert_eq!(one.0 > 0, other.0 > 0, "{at:?} {from:?}");
                    if one.0 > 0 {
                        assert!(one.1 + other.1 < 1.0 + 1e-9, "{at:?} {from:?}: {one:?} {other:?}");
                        count += 1;
                    } else if left.remove(&from) {
                        together.push(from);
                    }
                }
            }
            found.push(together);
        }
        (found, count)
    }

    /// Checks that no connected component has cells on both sides of a shape.
    fn parts(shape: Shape, dim: usize, side: impl Fn([f64; 3]) -> bool, what: &str) -> usize {
        let (found, count) = parted(shape, dim);
        let centre = |at: [i32; 3]| [0, 1, 2].map(|axis| if axis < dim { f64::from(at[axis]) + 0.5 } else { 0.0 });
        assert!(found.len() > 1, "{what}: {}", found.len());
        for together in found {
            let first = side(centre(together[0]));
            let other = together.iter().find(|at| side(centre(**at)) != first);
            assert!(other.is_none(), "{what}: {:?} and {other:?}", together[0]);
        }
        count
    }

    #[test]
    fn a_plate_parts_the_fluid_however_thin_and_slanted_it_is() {
        for (dim, axis) in [(2, [0.0, 0.0, 1.0]), (3, [0.6, 0.0, 0.8])] {
            for thickness in [0.05, 0.3, 0.8, 1.0, 1.2, 1.4] {
                for angle in [0.0, 0.3, std::f64::consts::FRAC_PI_4, 1.0, 1.4] {
                    let (low, high) = ([-30.0, -0.5 * thickness, -30.0], [30.0, 0.5 * thickness, 30.0]);
                    let turn = Turn::new(axis, angle, [0.0; 3], [8.03, 7.93, if dim == 3 { 8.1 } else { 0.0 }]);
                    let side = |at: [f64; 3]| turn.back(at)[1] > 0.0;
                    let analytic = Shape::Turned { shape: Arc::new(Shape::Box { from: low, to: high }), turn };
                    let surface = Shape::Surface(Surface::new(cuboid(low, high)).map(|at| turn.forth(at)));
                    let what = format!("{dim} {thickness} {angle}");
                    let counts = [analytic, surface].map(|shape| parts(shape, dim, side, &what));
                    assert_eq!(counts[0], counts[1], "{what}");
                }
            }
        }
    }

    #[test]
    fn a_hollow_body_keeps_what_is_in_it() {
        let (centre, radius) = ([8.1, 7.9, 8.0], 6.0);
        for thickness in [0.3, 0.8, 1.2, 1.6] {
            let inwards =
                |surface: &Surface| surface.corners().iter().map(|[a, b, c]| [*a, *c, *b]).collect::<Vec<_>>();
            let (outer, inner) = (ball(centre, radius, 4), ball(centre, radius - thickness, 4));
            let hollow = Shape::Surface(Surface::new([outer.corners().to_vec(), inwards(&inner)].concat()));
            let middle = radius - 0.5 * thickness;
            let side =
                |at: [f64; 3]| (0..3).map(|axis| (at[axis] - centre[axis]).powi(2)).sum::<f64>() < middle * middle;
            parts(hollow, 3, side, &format!("{thickness}"));
        }
    }

    #[test]
    fn voxels_that_touch_at_edges_and_corners_part_the_fluid() {
        for (dim, sum) in [(2, 15), (3, 21)] {
            let depth = if dim == 3 { 16 } else { 1 };
            let mut all = (0..16 * 16 * depth).map(|at| at % 16 + at / 16 % 16 + at / 256 == sum);
            let voxels = Arc::new(Voxels::of([16, 16, depth], &mut all));
            // Once with voxels aligned with cells, and once where round-off decides on which side of an edge a path passes.
            for from in [0.0, 0.1 + 0.2 - 0.3] {
                let image = Image::new(voxels.clone(), [from, from, if dim == 3 { from } else { -0.5 }], 1.0);
                let side = |at: [f64; 3]| at[..dim].iter().map(|at| at.floor()).sum::<f64>() > sum as f64;
                assert!(parts(Shape::Image(image), dim, side, "image") > 10);
            }
        }
    }

    #[test]
    fn links_that_clip_a_thick_body_are_not_cut() {
        for shape in [
            Shape::Sphere { centre: [8.0, 7.7, 8.2], radius: 5.3 },
            Shape::Box { from: [3.0, 4.0, 5.0], to: [9.0, 11.0, 12.0] },
            Shape::Cylinder { centre: [8.0, 8.2, 7.0], axis: [0.6, 0.0, 0.8], radius: 4.0, length: Some(7.0) },
        ] {
            let (found, count) = parted(shape.clone(), 3);
            assert_eq!((found.len(), count), (1, 0), "{shape:?}");
        }
    }
}
