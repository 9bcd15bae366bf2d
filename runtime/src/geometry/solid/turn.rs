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

#[cfg(test)]
mod tests {
    use std::f64::consts::PI;

    use super::*;

    #[test]
    fn a_turn_goes_to_the_left_about_its_axis_and_back() {
        let turn = Turn::new([0.0, 0.0, 1.0], 0.5 * PI, [1.0, 2.0, 0.0], [5.0, 2.0, 0.0]);
        let at = turn.forth([3.0, 2.0, 7.0]);
        assert!((0..3).all(|axis| (at[axis] - [5.0, 4.0, 7.0][axis]).abs() < 1e-15), "{at:?}");
        let square = |way: Vector| dot(way, way);
        let turn = Turn::new([0.6, 0.0, 0.8], 0.7, [4.0; 3], [5.1, 6.0, 7.2]);
        for at in (0..13 * 13 * 13).map(|at| [at % 13, at / 13 % 13, at / 169].map(f64::from)) {
            let (forth, way) = (turn.forth(at), minus(turn.back(turn.forth(at)), at));
            assert!(square(way) < 1e-28, "{way:?}");
            // The component along the axis and the distance from it do not change.
            let (one, other) = (minus(at, [4.0; 3]), minus(forth, [5.1, 6.0, 7.2]));
            assert!(dot(minus(one, other), [0.6, 0.0, 0.8]).abs() < 1e-13);
            assert!((square(one) - square(other)).abs() < 1e-12);
        }
    }
}
