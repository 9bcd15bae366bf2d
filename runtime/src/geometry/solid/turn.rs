//! Rotations of solids about a point, forth and back.

use super::vector::{Vector, dot, minus, plus};

/// A rotation about a point, followed by a displacement of that point.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Turn {
    rows: [Vector; 3],
    from: Vector,
    to: Vector,
}

impl Turn {
    /// The same rotation, displaced further.
    pub(super) fn shifted(&self, by: Vector) -> Turn {
        Turn { to: plus(self.to, by), ..*self }
    }

    /// Rotation by an angle in radians about an axis of length 1 through `from`, which moves to `to`: Rodrigues' formula.
    pub fn new(axis: Vector, angle: f64, from: Vector, to: Vector) -> Turn {
        let (sine, cosine) = angle.sin_cos();
        let entry = |row: usize, column: usize| {
            let straight = if row == column { cosine } else { 0.0 };
            let across = match (column + 3 - row) % 3 {
                0 => 0.0,
                1 => -sine * axis[(row + 2) % 3],
                _ => sine * axis[(row + 1) % 3],
            };
            straight + across + (1.0 - cosine) * axis[row] * axis[column]
        };
        Turn { rows: [0, 1, 2].map(|row| [0, 1, 2].map(|column| entry(row, column))), from, to }
    }

    /// The image of a point.
    pub fn forth(&self, at: Vector) -> Vector {
        plus(self.to, self.direction(minus(at, self.from)))
    }

    /// The preimage of a point.
    pub fn back(&self, at: Vector) -> Vector {
        self.inverse().forth(at)
    }

    /// A direction, rotated.
    pub(super) fn direction(&self, along: Vector) -> Vector {
        self.rows.map(|row| dot(row, along))
    }

    /// The rows of the inverse rotation, and the point before and after the rotation: a point is the image of `from + rows (x - to)`.
    pub(super) fn back_rows(&self) -> ([Vector; 3], Vector, Vector) {
        (self.inverse().rows, self.from, self.to)
    }

    pub(super) fn inverse(&self) -> Turn {
        let rows = [0, 1, 2].map(|row| [0, 1, 2].map(|column| self.rows[column][row]));
        Turn { rows, from: self.to, to: self.from }
    }

    /// Bounding box of a rotated box; infinite along axes where the box is.
    pub(super) fn bounds(&self, (low, high): (Vector, Vector)) -> (Vector, Vector) {
        let of = |pick: fn(f64, f64) -> f64| {
            [0, 1, 2].map(|row| {
                // Axes that do not contribute may be infinite.
                let along = (0..3).filter(|axis| self.rows[row][*axis] != 0.0).map(|axis| {
                    let end = |end: Vector| self.rows[row][axis] * (end[axis] - self.from[axis]);
                    pick(end(low), end(high))
                });
                self.to[row] + along.sum::<f64>()
            })
        };
        (of(f64::min), of(f64::max))
    }
}
