//! Shapes of solids: which points are inside, and where a straight path first meets the surface.
//!
//! Lengths are in cells of the coarsest level, from the lower corner of the domain. In two dimensions every z is 0, and a cylinder along
//! z is a circle.

use std::f64::consts::PI;
use std::sync::Arc;

use super::image::Image;
use super::surface::Surface;
use super::turn::Turn;
use super::vector::{Vector, dot, minus, plus};

/// The shape of a solid.
#[derive(Clone, Debug, PartialEq)]
pub enum Shape {
    /// All points closer to the centre than the radius.
    Sphere {
        /// Its centre.
        centre: Vector,
        /// Its radius.
        radius: f64,
    },
    /// All points within an ellipsoid whose axes are those of the grid; an ellipse in two dimensions.
    Ellipsoid {
        /// Its centre.
        centre: Vector,
        /// Half of its axes; in two dimensions the last is infinite.
        radii: Vector,
    },
    /// All points between two corners.
    Box {
        /// The lower corner.
        from: Vector,
        /// The upper corner.
        to: Vector,
    },
    /// All points closer to a line than the radius.
    Cylinder {
        /// The point of the line half-way between the ends.
        centre: Vector,
        /// Direction of the line, of length 1.
        axis: Vector,
        /// Its radius.
        radius: f64,
        /// Distance between the ends; infinite if not given.
        length: Option<f64>,
    },
    /// The inside of a closed surface of triangles.
    Surface(Surface),
    /// The solid voxels of an image.
    Image(Image),
    /// The complement of another shape.
    Outside(Box<Shape>),
    /// Another shape at a displacement, sharing its data.
    Moved {
        /// The shape.
        shape: Arc<Shape>,
        /// The displacement.
        by: Vector,
    },
    /// Another shape, rotated, sharing its data.
    Turned {
        /// The shape.
        shape: Arc<Shape>,
        /// The rotation.
        turn: Turn,
    },
}

impl Shape {
    /// Makes what searches need, once, before threads search side by side.
    pub fn prepare(&self) {
        match self {
            Shape::Surface(surface) => surface.prepare(),
            Shape::Outside(shape) => shape.prepare(),
            _ => {}
        }
    }

    /// Whether a point is inside.
    pub fn contains(&self, at: Vector) -> bool {
        match self {
            Shape::Sphere { centre, radius } => square(minus(at, *centre)) < radius * radius,
            Shape::Ellipsoid { centre, radii } => square(scaled(minus(at, *centre), *radii)) < 1.0,
            Shape::Box { from, to } => (0..3).all(|axis| from[axis] < at[axis] && at[axis] < to[axis]),
            Shape::Cylinder { centre, axis, radius, length } => {
                let off = minus(at, *centre);
                let along = dot(off, *axis);
                square(off) - along * along < radius * radius && length.is_none_or(|length| along.abs() < 0.5 * length)
            }
            Shape::Surface(surface) => surface.contains(at),
            Shape::Image(image) => image.contains(at),
            Shape::Outside(shape) => !shape.contains(at),
            Shape::Moved { shape, by } => shape.contains(minus(at, *by)),
            Shape::Turned { shape, turn } => shape.contains(turn.back(at)),
        }
    }

    /// Marks those of points on a line along x, at this y and z, that are inside.
    pub fn inside_along(&self, xs: &[f64], [y, z]: [f64; 2], inside: &mut [bool]) {
        match self {
            Shape::Surface(surface) => surface.inside_along(xs, [y, z], inside),
            Shape::Moved { shape, by } => {
                let xs: Vec<f64> = xs.iter().map(|x| x - by[0]).collect();
                shape.inside_along(&xs, [y - by[1], z - by[2]], inside);
            }
            _ => inside.iter_mut().zip(xs).for_each(|(inside, x)| *inside = *inside || self.contains([*x, y, z])),
        }
    }

    /// Area of the surface; for a surface of triangles, of the parts that paths can meet; in two dimensions a length. `None` if it is
    /// infinite or unknown: for an ellipsoid, for an image, and for a section.
    pub fn area(&self, dim: usize) -> Option<f64> {
        match self {
            Shape::Sphere { radius, .. } => Some(4.0 * PI * radius * radius),
            Shape::Box { from, to } => {
                let [x, y, z] = minus(*to, *from);
                Some(if dim == 2 { 2.0 * (x + y) } else { 2.0 * (x * y + y * z + z * x) })
            }
            Shape::Cylinder { radius, .. } if dim == 2 => Some(2.0 * PI * radius),
            Shape::Cylinder { radius, length, .. } => length.map(|length| 2.0 * PI * radius * (radius + length)),
            Shape::Surface(surface) if dim == 3 => Some(surface.area()),
            Shape::Ellipsoid { .. } | Shape::Surface(_) | Shape::Image(_) => None,
            Shape::Outside(shape) => shape.area(dim),
            Shape::Moved { shape, .. } | Shape::Turned { shape, .. } => shape.area(dim),
        }
    }

    /// The fraction of the path from one point to another, 0 to 1, at which the surface is first met; `None` if it is not met.
    pub fn crossing(&self, from: Vector, to: Vector) -> Option<f64> {
        let way = minus(to, from);
        match self {
            Shape::Sphere { centre, radius } => {
                let off = minus(from, *centre);
                let roots = roots(square(way), dot(off, way), square(off) - radius * radius);
                first(roots.into_iter().flatten())
            }
            Shape::Ellipsoid { centre, radii } => {
                let (off, way) = (scaled(minus(from, *centre), *radii), scaled(way, *radii));
                first(roots(square(way), dot(off, way), square(off) - 1.0).into_iter().flatten())
            }
            Shape::Box { from: low, to: high } => {
                let sides = (0..3).flat_map(|axis| {
                    [low[axis], high[axis]].map(|side| ((side - from[axis]) / way[axis], axis)).into_iter()
                });
                let on_face = |(part, axis): &(f64, usize)| {
                    part.is_finite()
                        && (0..3).filter(|other| other != axis).all(|other| {
                            let at = from[other] + part * way[other];
                            low[other] <= at && at <= high[other]
                        })
                };
                first(sides.filter(on_face).map(|(part, _)| part))
            }
            Shape::Cylinder { centre, axis, radius, length } => {
                let off = minus(from, *centre);
                let (along, rise) = (dot(off, *axis), dot(way, *axis));
                let across = [0, 1, 2].map(|at| off[at] - along * axis[at]);
                let run = [0, 1, 2].map(|at| way[at] - rise * axis[at]);
                let half = length.map_or(f64::INFINITY, |length| 0.5 * length);
                let on_side = |part: &f64| (along + part * rise).abs() <= half;
                let side = roots(square(run), dot(across, run), square(across) - radius * radius);
                let ends = [-half, half].map(|end| (end - along) / rise);
                let on_end = |part: &f64| {
                    part.is_finite() && square([0, 1, 2].map(|at| across[at] + part * run[at])) <= radius * radius
                };
                first(side.into_iter().flatten().filter(on_side).chain(ends.into_iter().filter(on_end)))
            }
            Shape::Surface(surface) => surface.crossing(from, to),
            Shape::Image(image) => image.crossing(from, to),
            Shape::Outside(shape) => shape.crossing(from, to),
            Shape::Moved { shape, by } => shape.crossing(minus(from, *by), minus(to, *by)),
            Shape::Turned { shape, turn } => shape.crossing(turn.back(from), turn.back(to)),
        }
    }

    /// Bounding box, infinite where the shape is.
    pub fn bounds(&self) -> (Vector, Vector) {
        match self {
            Shape::Sphere { centre, radius } => (centre.map(|at| at - radius), centre.map(|at| at + radius)),
            Shape::Ellipsoid { centre, radii } => (minus(*centre, *radii), plus(*centre, *radii)),
            Shape::Box { from, to } => (*from, *to),
            Shape::Cylinder { centre, axis, radius, length } => {
                let half = length.map_or(f64::INFINITY, |length| 0.5 * length);
                let reach = axis.map(|along| {
                    let ends = if along == 0.0 { 0.0 } else { along.abs() * half };
                    ends + radius * (1.0 - along * along).max(0.0).sqrt()
                });
                ([0, 1, 2].map(|at| centre[at] - reach[at]), [0, 1, 2].map(|at| centre[at] + reach[at]))
            }
            Shape::Surface(surface) => surface.bounds(),
            Shape::Image(image) => image.bounds(),
            Shape::Outside(_) => ([f64::NEG_INFINITY; 3], [f64::INFINITY; 3]),
            Shape::Moved { shape, by } => {
                let (from, to) = shape.bounds();
                (plus(from, *by), plus(to, *by))
            }
            Shape::Turned { shape, turn } => turn.bounds(shape.bounds()),
        }
    }

    /// The largest distance of its surface from a line through a point along an axis of length 1; infinite if the shape is unbounded
    /// across the line.
    pub fn reach(&self, from: Vector, axis: Vector) -> f64 {
        let distance = |at: Vector| {
            let off = minus(at, from);
            // Along an axis parallel to the line the shape may be unbounded.
            let off = [0, 1, 2].map(|side| if axis[side].abs() == 1.0 { 0.0 } else { off[side] });
            let along = dot(off, axis);
            if off.iter().all(|off| off.is_finite()) {
                (square(off) - along * along).max(0.0).sqrt()
            } else {
                f64::INFINITY
            }
        };
        let farthest = |of: &mut dyn Iterator<Item = Vector>| of.map(distance).fold(0.0, f64::max);
        match self {
            Shape::Sphere { centre, radius } => distance(*centre) + radius,
            Shape::Ellipsoid { centre, radii } => {
                let across = (0..3).filter(|side| axis[*side].abs() != 1.0).map(|side| radii[side]);
                distance(*centre) + across.fold(0.0, f64::max)
            }
            Shape::Cylinder { centre, axis: line, radius, length } => {
                let is_along = dot(*line, axis).abs() > 1.0 - 1e-12;
                let half = if is_along { 0.0 } else { length.map_or(f64::INFINITY, |length| 0.5 * length) };
                let end = |sign: f64| {
                    [0, 1, 2].map(|at| if line[at] == 0.0 { centre[at] } else { centre[at] + sign * half * line[at] })
                };
                farthest(&mut [-1.0, 1.0].into_iter().map(end)) + radius
            }
            Shape::Surface(surface) => farthest(&mut surface.parts().flat_map(|(corners, _)| *corners)),
            Shape::Outside(shape) => shape.reach(from, axis),
            Shape::Box { .. } | Shape::Image(_) | Shape::Moved { .. } | Shape::Turned { .. } => {
                let (low, high) = self.bounds();
                let corner = |at: usize| [0, 1, 2].map(|axis| if at >> axis & 1 == 1 { high[axis] } else { low[axis] });
                farthest(&mut (0..8).map(corner))
            }
        }
    }

    /// Whether the surface may have points in a box; if false, it has none.
    pub fn near(&self, from: Vector, to: Vector) -> bool {
        let nearest = |centre: Vector| [0, 1, 2].map(|axis| centre[axis].clamp(from[axis], to[axis]) - centre[axis]);
        let farthest = |centre: Vector| {
            [0, 1, 2].map(|axis| (centre[axis] - from[axis]).abs().max((to[axis] - centre[axis]).abs()))
        };
        match self {
            Shape::Sphere { centre, radius } => {
                let between = square(nearest(*centre))..=square(farthest(*centre));
                between.contains(&(radius * radius))
            }
            Shape::Ellipsoid { centre, radii } => {
                // A box around the centre in the space in which this is a sphere.
                let (low, high) = (scaled(minus(from, *centre), *radii), scaled(minus(to, *centre), *radii));
                let nearest = [0, 1, 2].map(|axis| 0f64.clamp(low[axis], high[axis]));
                let farthest = [0, 1, 2].map(|axis| low[axis].abs().max(high[axis].abs()));
                (square(nearest)..=square(farthest)).contains(&1.0)
            }
            Shape::Box { from: low, to: high } => {
                let overlaps = (0..3).all(|axis| low[axis] <= to[axis] && high[axis] >= from[axis]);
                let inside = (0..3).all(|axis| low[axis] < from[axis] && high[axis] > to[axis]);
                overlaps && !inside
            }
            Shape::Cylinder { centre, axis, radius, length } => {
                let middle = [0, 1, 2].map(|at| 0.5 * (from[at] + to[at]));
                let reach = 0.5 * square(minus(to, from)).sqrt();
                let off = minus(middle, *centre);
                let along = dot(off, *axis);
                let beyond_side = (square(off) - along * along).max(0.0).sqrt() - radius;
                let beyond_end = length.map_or(f64::NEG_INFINITY, |length| along.abs() - 0.5 * length);
                let distance = if beyond_side > 0.0 && beyond_end > 0.0 {
                    beyond_side.hypot(beyond_end)
                } else {
                    beyond_side.max(beyond_end)
                };
                distance.abs() <= reach
            }
            Shape::Surface(surface) => surface.near(from, to),
            Shape::Image(image) => image.near(from, to),
            Shape::Outside(shape) => shape.near(from, to),
            Shape::Moved { shape, by } => shape.near(minus(from, *by), minus(to, *by)),
            Shape::Turned { shape, turn } => {
                let (from, to) = turn.inverse().bounds((from, to));
                shape.near(from, to)
            }
        }
    }

    /// The surface of triangles of which it is the inside or the outside.
    pub fn surface(&self) -> Option<&Surface> {
        match self {
            Shape::Surface(surface) => Some(surface),
            Shape::Outside(shape) => shape.surface(),
            _ => None,
        }
    }

    /// The shortest extent, in cells of the coarsest level; `None` for surfaces of triangles, images and complements.
    pub fn thickness(&self) -> Option<f64> {
        match self {
            Shape::Sphere { radius, .. } => Some(2.0 * radius),
            Shape::Ellipsoid { radii, .. } => radii.iter().copied().min_by(f64::total_cmp).map(|least| 2.0 * least),
            Shape::Box { from, to } => (0..3).map(|axis| to[axis] - from[axis]).min_by(f64::total_cmp),
            Shape::Cylinder { radius, length, .. } => Some(length.unwrap_or(f64::INFINITY).min(2.0 * radius)),
            Shape::Surface(_) | Shape::Image(_) | Shape::Outside(_) => None,
            Shape::Moved { shape, .. } | Shape::Turned { shape, .. } => shape.thickness(),
        }
    }

    /// The diameter of a shape without edges: of a sphere, and of an infinite cylinder.
    pub(super) fn diameter(&self) -> Option<f64> {
        match self {
            Shape::Sphere { radius, .. } | Shape::Cylinder { radius, length: None, .. } => Some(2.0 * radius),
            Shape::Moved { shape, .. } | Shape::Turned { shape, .. } => shape.diameter(),
            _ => None,
        }
    }

    /// The same shape, displaced.
    pub fn shifted(&self, by: Vector) -> Shape {
        match self {
            Shape::Sphere { centre, radius } => Shape::Sphere { centre: plus(*centre, by), radius: *radius },
            Shape::Ellipsoid { centre, radii } => Shape::Ellipsoid { centre: plus(*centre, by), radii: *radii },
            Shape::Box { from, to } => Shape::Box { from: plus(*from, by), to: plus(*to, by) },
            Shape::Cylinder { centre, axis, radius, length } => {
                Shape::Cylinder { centre: plus(*centre, by), axis: *axis, radius: *radius, length: *length }
            }
            Shape::Surface(surface) => Shape::Surface(surface.shifted(by)),
            Shape::Image(image) => Shape::Image(image.shifted(by)),
            Shape::Outside(shape) => Shape::Outside(Box::new(shape.shifted(by))),
            Shape::Moved { shape, by: before } => Shape::Moved { shape: shape.clone(), by: plus(*before, by) },
            Shape::Turned { shape, turn } => Shape::Turned { shape: shape.clone(), turn: turn.shifted(by) },
        }
    }

    /// The same shape, rotated. Spheres and cylinders remain such.
    pub fn turned(self: &Arc<Shape>, turn: &Turn) -> Shape {
        match &**self {
            Shape::Sphere { centre, radius } => Shape::Sphere { centre: turn.forth(*centre), radius: *radius },
            Shape::Cylinder { centre, axis, radius, length } => Shape::Cylinder {
                centre: turn.forth(*centre),
                axis: turn.direction(*axis),
                radius: *radius,
                length: *length,
            },
            Shape::Outside(shape) => Shape::Outside(Box::new(Arc::new((**shape).clone()).turned(turn))),
            _ => Shape::Turned { shape: self.clone(), turn: *turn },
        }
    }
}

/// A vector over the radii of an ellipsoid, along which it is a unit sphere.
pub(super) fn scaled(a: Vector, radii: Vector) -> Vector {
    [0, 1, 2].map(|axis| a[axis] / radii[axis])
}

fn square(a: Vector) -> f64 {
    dot(a, a)
}

/// The roots of `a x^2 + 2 b x + c`, the smaller first for positive `a`.
fn roots(a: f64, b: f64, c: f64) -> [Option<f64>; 2] {
    let under = b * b - a * c;
    if a == 0.0 || under < 0.0 {
        return [None; 2];
    }
    [-1.0, 1.0].map(|sign| Some((-b + sign * under.sqrt()) / a))
}

/// The smallest of those from 0 to 1.
fn first(parts: impl Iterator<Item = f64>) -> Option<f64> {
    parts.filter(|part| (0.0..=1.0).contains(part)).min_by(f64::total_cmp)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::geometry::solid::vector::cross;

    fn shapes() -> Vec<Shape> {
        let slant = 0.5f64.sqrt();
        vec![
            Shape::Sphere { centre: [5.0, 6.0, 7.0], radius: 3.1 },
            Shape::Box { from: [2.3, 3.1, 4.2], to: [7.9, 8.2, 9.4] },
            Shape::Cylinder { centre: [5.0, 6.0, 7.0], axis: [0.0, 0.0, 1.0], radius: 2.7, length: None },
            Shape::Cylinder { centre: [5.0, 6.0, 7.0], axis: [slant, slant, 0.0], radius: 2.2, length: Some(5.3) },
            Shape::Outside(Box::new(Shape::Sphere { centre: [5.0, 6.0, 7.0], radius: 3.1 })),
            Shape::Moved {
                shape: Arc::new(Shape::Sphere { centre: [1.0, 8.0, 7.0], radius: 3.1 }),
                by: [4.0, -2.0, 0.25],
            },
            Shape::Ellipsoid { centre: [5.0, 6.0, 7.0], radii: [3.1, 2.2, 4.3] },
            turned(Shape::Ellipsoid { centre: [4.0, 5.0, 4.0], radii: [3.1, 2.2, 1.6] }),
            turned(Shape::Box { from: [1.3, 2.1, 2.2], to: [6.9, 7.2, 5.4] }),
            turned(Shape::Cylinder { centre: [4.0, 5.0, 4.0], axis: [0.0, 0.0, 1.0], radius: 2.2, length: Some(5.3) }),
        ]
    }

    fn turned(shape: Shape) -> Shape {
        Arc::new(shape).turned(&Turn::new([0.6, 0.0, 0.8], 0.7, [4.0; 3], [5.1, 6.0, 7.2]))
    }

    fn points(step: f64) -> impl Iterator<Item = Vector> {
        let of_axis = move |at: usize| at as f64 * step;
        (0..13 * 13 * 13).map(move |at| [of_axis(at % 13), of_axis(at / 13 % 13), of_axis(at / 169)])
    }

    #[test]
    fn a_way_that_ends_on_the_other_side_crosses_the_surface_there() {
        for shape in shapes() {
            let mut crossed = 0;
            for from in points(1.0).filter(|at| !shape.contains(*at)) {
                for way in [[1.0, 0.0, 0.0], [-1.0, 1.0, 0.0], [1.0, -1.0, 1.0], [0.0, 0.0, -1.0]] {
                    let to = [0, 1, 2].map(|axis| from[axis] + way[axis]);
                    if !shape.contains(to) {
                        continue;
                    }
                    let part = shape.crossing(from, to).expect("the surface is between the two");
                    let at = |part: f64| [0, 1, 2].map(|axis| from[axis] + part * way[axis]);
                    assert!(!shape.contains(at(part - 1e-9)) && shape.contains(at(part + 1e-9)), "{shape:?} {from:?}");
                    crossed += 1;
                }
            }
            assert!(crossed > 50, "{shape:?}: {crossed}");
        }
    }

    #[test]
    fn what_is_inside_is_within_the_bounds() {
        for shape in shapes() {
            let (from, to) = shape.bounds();
            assert!(
                points(0.9)
                    .filter(|at| shape.contains(*at))
                    .all(|at| { (0..3).all(|axis| from[axis] <= at[axis] && at[axis] <= to[axis]) })
            );
            let moved = shape.shifted([10.0, -20.0, 0.5]);
            assert!(
                points(0.9).all(|at| moved.contains([at[0] + 10.0, at[1] - 20.0, at[2] + 0.5]) == shape.contains(at))
            );
        }
    }

    #[test]
    fn points_on_a_line_are_inside_as_each_of_them_is() {
        let ball = Shape::Surface(super::super::surface::tests::ball([5.0, 6.0, 7.0], 3.1, 3));
        let moved = Shape::Moved { shape: Arc::new(ball.clone()), by: [0.3, -0.2, 0.4] };
        for shape in shapes().into_iter().chain([ball, moved]) {
            for [_, y, z] in points(0.9) {
                let xs = [9.1, 3.4, 5.0, 7.6, -1.0];
                let mut inside = [false; 5];
                shape.inside_along(&xs, [y, z], &mut inside);
                assert_eq!(inside, xs.map(|x| shape.contains([x, y, z])), "{shape:?} {y} {z}");
            }
        }
    }

    #[test]
    fn a_turned_box_reaches_as_far_as_its_corners() {
        // In two dimensions a box is unbounded along z.
        let flat = Shape::Box { from: [0.0, 0.0, f64::NEG_INFINITY], to: [2.0, 1.0, f64::INFINITY] };
        let (low, high) =
            Arc::new(flat.clone()).turned(&Turn::new([0.0, 0.0, 1.0], 0.3, [1.0, 0.5, 0.0], [1.0, 0.5, 0.0])).bounds();
        let half = [0.3f64.cos() + 0.5 * 0.3f64.sin(), 0.3f64.sin() + 0.5 * 0.3f64.cos()];
        assert!(
            (0..2).all(|axis| (high[axis] - low[axis] - 2.0 * half[axis]).abs() < 1e-14) && high[2] == f64::INFINITY
        );
        assert!((flat.reach([1.0, 0.5, 0.0], [0.0, 0.0, 1.0]) - 1.25f64.sqrt()).abs() < 1e-15);
    }

    #[test]
    fn nothing_of_a_surface_is_beyond_its_reach() {
        let (from, axis) = ([2.0, 7.0, 4.0], [0.6, 0.0, 0.8]);
        for shape in shapes().into_iter().filter(|shape| shape.reach(from, axis).is_finite()) {
            let distance = |at: Vector| square(cross(minus(at, from), axis)).sqrt();
            let inside = matches!(shape, Shape::Outside(_));
            let farthest = points(1.0).filter(|at| shape.contains(*at) != inside).map(distance).fold(0.0, f64::max);
            let reach = shape.reach(from, axis);
            assert!(farthest <= reach && reach < farthest + 6.0, "{shape:?}: {farthest} {reach}");
        }
    }

    #[test]
    fn a_box_with_the_surface_in_it_is_near() {
        for shape in shapes() {
            for from in points(1.0) {
                let to = from.map(|at| at + 1.0);
                let corner = |at: usize| [0, 1, 2].map(|axis| if at >> axis & 1 == 1 { to[axis] } else { from[axis] });
                let inside = (0..8).filter(|at| shape.contains(corner(*at))).count();
                assert!(inside == 0 || inside == 8 || shape.near(from, to), "{shape:?} {from:?}");
            }
            assert!(!shape.near([20.0; 3], [21.0; 3]));
        }
    }
}
