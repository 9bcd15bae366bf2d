//! Points and vectors, and their arithmetic.

/// A point or a vector, 0 beyond the dimension.
pub type Vector = [f64; 3];

pub(super) fn plus(a: Vector, b: Vector) -> Vector {
    [0, 1, 2].map(|axis| a[axis] + b[axis])
}

pub(super) fn minus(a: Vector, b: Vector) -> Vector {
    [0, 1, 2].map(|axis| a[axis] - b[axis])
}

pub(crate) fn cross(a: Vector, b: Vector) -> Vector {
    [a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0]]
}

pub(super) fn dot(a: Vector, b: Vector) -> f64 {
    a[0] * b[0] + a[1] * b[1] + a[2] * b[2]
}

pub(super) fn times(a: f64, b: Vector) -> Vector {
    b.map(|along| a * along)
}

/// The length of a vector.
pub(super) fn norm(a: Vector) -> f64 {
    dot(a, a).sqrt()
}
