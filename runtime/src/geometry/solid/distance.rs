//! How far a point is from a surface.

use super::shape::Shape;
use super::surface::Surface;
use super::triangle::Triangle;
use super::vector::{Vector, cross, dot, minus, norm, plus, times};

impl Shape {
    /// The way to a point from the nearest point of the surface, inside or outside, if it is at most `most` long: for an ellipsoid in first
    /// order, for an image never.
    pub fn way_from(&self, at: Vector, most: f64) -> Option<Vector> {
        let way = match self {
            Shape::Sphere { centre, radius } => {
                let off = minus(at, *centre);
                times(1.0 - radius / norm(off), off)
            }
            Shape::Ellipsoid { centre, radii } => {
                // A function that is 1 on the surface, over its slope.
                let off = minus(at, *centre);
                let scaled = [0, 1, 2].map(|axis| off[axis] / radii[axis]);
                let slope = [0, 1, 2].map(|axis| scaled[axis] / radii[axis]);
                let value = norm(scaled);
                times((value - 1.0) * value / dot(slope, slope), slope)
            }
            Shape::Box { from, to } => {
                let is_high = |axis: usize| at[axis] - to[axis] > from[axis] - at[axis];
                let off = minus(at, [0, 1, 2].map(|axis| if is_high(axis) { to[axis] } else { from[axis] }));
                let depth = [0, 1, 2].map(|axis| (from[axis] - at[axis]).max(at[axis] - to[axis]));
                let nearest = (0..3).max_by(|one, other| depth[*one].total_cmp(&depth[*other])).unwrap_or(0);
                // Outside, all axes beyond a side; inside, that of the nearest side.
                let counts = |axis: usize| depth[axis] > 0.0 || axis == nearest;
                [0, 1, 2].map(|axis| if counts(axis) { off[axis] } else { 0.0 })
            }
            Shape::Cylinder { centre, axis, radius, length } => {
                let off = minus(at, *centre);
                let along = dot(off, *axis);
                let out = minus(off, times(along, *axis));
                let side = norm(out) - radius;
                let end = length.map_or(f64::NEG_INFINITY, |length| along.abs() - 0.5 * length);
                let to_side = || times(side / norm(out), out);
                let to_end = || times(end * along.signum(), *axis);
                match (side > 0.0, end > 0.0) {
                    (true, true) => plus(to_side(), to_end()),
                    _ if side > end => to_side(),
                    _ => to_end(),
                }
            }
            Shape::Surface(surface) => surface.way_from(at, most)?,
            Shape::Image(_) => return None,
            Shape::Outside(shape) => shape.way_from(at, most)?,
            Shape::Moved { shape, by } => shape.way_from(minus(at, *by), most)?,
            Shape::Turned { shape, turn } => turn.direction(shape.way_from(turn.back(at), most)?),
        };
        (norm(way) <= most).then_some(way)
    }
}

impl Surface {
    /// The way to a point from the nearest point of the triangles that paths meet, if they are as near as `most`.
    fn way_from(&self, at: Vector, most: f64) -> Option<Vector> {
        let mut shortest: Option<Vector> = None;
        self.overlapping(at.map(|at| at - most), at.map(|at| at + most), &mut |corners| {
            let way = minus(at, nearest_on(corners, at));
            if shortest.is_none_or(|shortest| norm(way) < norm(shortest)) {
                shortest = Some(way);
            }
        });
        shortest
    }
}

/// The point of a triangle nearest to another (Ericson, Real-Time Collision Detection (2005), section 5.1.5).
fn nearest_on([a, b, c]: &Triangle, at: Vector) -> Vector {
    let (one, other) = (minus(*b, *a), minus(*c, *a));
    let normal = cross(one, other);
    let off = minus(at, *a);
    // Coordinates of the foot of the perpendicular.
    let square = dot(normal, normal);
    let (u, v) = (dot(cross(off, other), normal) / square, dot(cross(one, off), normal) / square);
    if u >= 0.0 && v >= 0.0 && u + v <= 1.0 {
        return plus(*a, plus(times(u, one), times(v, other)));
    }
    let on = |from: Vector, to: Vector| {
        let way = minus(to, from);
        let part = dot(minus(at, from), way) / dot(way, way);
        plus(from, times(if part.is_finite() { part.clamp(0.0, 1.0) } else { 0.0 }, way))
    };
    let sides = [on(*a, *b), on(*b, *c), on(*c, *a)];
    let far = |point: &Vector| norm(minus(at, *point));
    sides.into_iter().min_by(|one, other| far(one).total_cmp(&far(other))).expect("three sides")
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use super::super::surface::tests::{ball, cuboid};
    use super::super::turn::Turn;
    use super::*;

    /// Points around the origin.
    fn points() -> impl Iterator<Item = Vector> {
        let at = |number: usize| (number % 11) as f64 - 5.0 + 0.137;
        (0..11 * 11 * 11).map(move |number| [at(number), at(number / 11), at(number / 121)])
    }

    #[test]
    fn the_triangles_of_a_box_are_as_far_as_the_box() {
        let (from, to) = ([-2.0, -1.0, -3.0], [3.0, 2.0, 1.0]);
        let shape = Shape::Box { from, to };
        let surface = Shape::Surface(Surface::new(cuboid(from, to)));
        for at in points() {
            for most in [0.7, 3.0, 20.0] {
                let (found, expected) = (surface.way_from(at, most), shape.way_from(at, most));
                assert_eq!(found.is_some(), expected.is_some(), "{at:?} {most}");
                // Inside several sides may be as near.
                let apart = |(found, expected): (Vector, Vector)| match shape.contains(at) {
                    true => (norm(found) - norm(expected)).abs(),
                    false => norm(minus(found, expected)),
                };
                let apart = found.zip(expected).map_or(0.0, apart);
                assert!(apart < 1e-12, "{at:?} {most}: {found:?} {expected:?}");
            }
        }
    }

    #[test]
    fn round_shapes_are_as_far_as_fine_triangles_of_them_wherever_they_are_moved() {
        let turn = Turn::new([0.6, 0.0, 0.8], 0.7, [0.0; 3], [0.3, -0.2, 0.1]);
        let (centre, by) = ([0.5, 0.2, -0.3], [1.0, 2.0, 3.0]);
        let sphere = Shape::Sphere { centre, radius: 2.5 };
        let fine = Shape::Surface(ball(centre, 2.5, 4));
        let moved = Shape::Moved { shape: Arc::new(sphere.clone()), by };
        let rod = Shape::Cylinder { centre: [0.2, 0.1, 0.0], axis: [0.0, 0.6, 0.8], radius: 1.3, length: Some(4.0) };
        let turned = Arc::new(rod.clone()).turned(&turn);
        let round = Shape::Ellipsoid { centre, radii: [2.5; 3] };
        let way = |shape: &Shape, at: Vector| shape.way_from(at, 20.0).expect("near");
        for at in points() {
            let one = way(&sphere, at);
            assert!((norm(way(&fine, at)) - norm(one)).abs() < 0.02, "{at:?}");
            assert!(norm(minus(way(&moved, plus(at, by)), one)) < 1e-12, "{at:?}");
            assert!(norm(minus(way(&round, at), one)) < 1e-9, "{at:?}");
            let of_rod = way(&rod, at);
            let found = turn.back(plus(way(&turned, turn.forth(at)), turn.forth([0.0; 3])));
            assert!(norm(minus(found, of_rod)) < 1e-12, "{at:?}: {found:?} {of_rod:?}");
            // Its foot is on the surface, and no shorter path meets that.
            let inwards = plus(at, times(-1.001, of_rod));
            assert!(rod.crossing(at, inwards).is_some() || rod.crossing(at, plus(at, times(-0.999, of_rod))).is_none());
            for along in [[1.0, 0.0, 0.0], [0.0, -1.0, 0.0], [0.0, 0.6, -0.8]] {
                assert!(rod.crossing(at, plus(at, times(0.999 * norm(of_rod), along))).is_none(), "{at:?}");
            }
        }
    }
}
