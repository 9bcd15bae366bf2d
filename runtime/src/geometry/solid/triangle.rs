//! One triangle: its bounds, and where lines and paths meet it.

use super::vector::{Vector, cross, dot, minus, norm};

/// Corners of a triangle.
pub(super) type Triangle = [Vector; 3];

/// The bounding box of a triangle.
pub(super) fn bounds(corners: &Triangle) -> (Vector, Vector) {
    let of = |pick: fn(f64, f64) -> f64| {
        [0, 1, 2].map(|axis| pick(pick(corners[0][axis], corners[1][axis]), corners[2][axis]))
    };
    (of(f64::min), of(f64::max))
}

/// A normal of a triangle, twice its area long.
pub(super) fn normal(corners: &Triangle) -> Vector {
    let (a, b) = (minus(corners[1], corners[0]), minus(corners[2], corners[0]));
    [a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0]]
}

/// The solid angle under which a point sees a triangle, positive if its normal points away (van Oosterom & Strackee, IEEE Trans. Biomed.
/// Eng. 30 (1983) 125).
pub(super) fn solid_angle(corners: &Triangle, at: Vector) -> f64 {
    let [a, b, c] = corners.map(|corner| minus(corner, at));
    let [x, y, z] = [a, b, c].map(norm);
    2.0 * dot(a, cross(b, c)).atan2(x * y * z + dot(a, b) * z + dot(b, c) * x + dot(c, a) * y)
}

/// The bits of a corner. Corners are compared exactly: adjacent triangles have the same numbers in a file.
pub(super) fn key(at: Vector) -> [u64; 3] {
    at.map(|at| (at + 0.0).to_bits())
}

/// Where a line along an axis through a point crosses a triangle that covers it; for a triangle parallel to the axis, anywhere on it.
pub(super) fn place(corners: &Triangle, normal: Vector, axis: usize, through: Vector) -> f64 {
    let (low, high) = bounds(corners);
    let place = through[axis] - dot(normal, minus(through, corners[0])) / normal[axis];
    if place.is_finite() { place.clamp(low[axis], high[axis]) } else { low[axis] }
}

/// Whether a projected triangle covers a point: 1 if it is counter-clockwise, -1 if clockwise, and 0 if it does not. Of triangles that
/// share an edge, exactly one covers each point of it.
pub(super) fn covers(corners: [[f64; 2]; 3], at: [f64; 2]) -> i32 {
    let mut covered = 0;
    for corner in 0..3 {
        let (one, other) = (corners[corner], corners[(corner + 1) % 3]);
        // The same formula for both orientations of an edge.
        let (low, high, up) = if one[1] < other[1] { (one, other, 1) } else { (other, one, -1) };
        if low[1] <= at[1] && at[1] < high[1] {
            let is_before = (at[0] - low[0]) * (high[1] - low[1]) < (at[1] - low[1]) * (high[0] - low[0]);
            covered += if is_before { up } else { 0 };
        }
    }
    covered
}

/// The fraction of a path at which it intersects a triangle, edges included (Möller & Trumbore, J. Graphics Tools 2 (1997) 21).
pub(super) fn pierces(corners: &Triangle, from: Vector, way: Vector) -> Option<f64> {
    const SLACK: f64 = 1e-9;
    let cross =
        |a: Vector, b: Vector| [a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0]];
    let (one, other) = (minus(corners[1], corners[0]), minus(corners[2], corners[0]));
    let across = cross(way, other);
    let scale = dot(one, across);
    let off = minus(from, corners[0]);
    let u = dot(off, across) / scale;
    let turned = cross(off, one);
    let v = dot(way, turned) / scale;
    let part = dot(other, turned) / scale;
    let inside = u >= -SLACK && v >= -SLACK && u + v <= 1.0 + SLACK;
    (part.is_finite() && inside && (0.0..=1.0).contains(&part)).then_some(part)
}
