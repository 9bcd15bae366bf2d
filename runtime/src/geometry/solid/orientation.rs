//! Orientations of bodies that turn freely: quaternions of length 1.

use super::vector::{Vector, cross, dot, plus, times};

/// The rotation from the shape as given: `[w, x, y, z]`.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Orientation(pub [f64; 4]);

impl Orientation {
    /// As given.
    pub const GIVEN: Orientation = Orientation([1.0, 0.0, 0.0, 0.0]);

    /// The rotation by a vector: about its direction, by its length in radians.
    pub fn of(turn: Vector) -> Orientation {
        let angle = dot(turn, turn).sqrt();
        // sin(angle / 2) / angle
        let part = if angle > 1e-4 { (0.5 * angle).sin() / angle } else { 0.5 - angle * angle / 48.0 };
        let [x, y, z] = times(part, turn);
        Orientation([(0.5 * angle).cos(), x, y, z])
    }

    /// This rotation, followed by another; of length 1 again.
    pub fn then(self, next: Orientation) -> Orientation {
        let ([w, x, y, z], [other, a, b, c]) = (self.0, next.0);
        let (own, of) = ([x, y, z], [a, b, c]);
        let turned = cross(of, own);
        let all = plus(plus(times(other, own), times(w, of)), turned);
        let product = [other * w - dot(of, own), all[0], all[1], all[2]];
        let length = product.iter().map(|part| part * part).sum::<f64>().sqrt();
        Orientation(product.map(|part| part / length))
    }

    /// The opposite rotation.
    pub fn back(self) -> Orientation {
        let [w, x, y, z] = self.0;
        Orientation([w, -x, -y, -z])
    }

    /// The vector of the rotation, half a turn long at most.
    pub fn vector(self) -> Vector {
        let sign = if self.0[0] < 0.0 { -1.0 } else { 1.0 };
        let [w, x, y, z] = self.0.map(|part| sign * part);
        let sine = dot([x, y, z], [x, y, z]).sqrt();
        let part = if sine > 1e-4 { 2.0 * sine.atan2(w) / sine } else { 2.0 + sine * sine / 3.0 };
        times(part, [x, y, z])
    }

    /// A direction of the body, rotated.
    pub fn forth(self, along: Vector) -> Vector {
        let [w, x, y, z] = self.0;
        let own = [x, y, z];
        let across = times(2.0, cross(own, along));
        plus(plus(along, times(w, across)), cross(own, across))
    }
}

#[cfg(test)]
mod tests {
    use super::super::turn::Turn;
    use super::super::vector::minus;
    use super::*;

    fn near(one: Vector, other: Vector) -> bool {
        let off = minus(one, other);
        dot(off, off) < 1e-26
    }

    #[test]
    fn a_rotation_by_a_vector_is_that_of_rodrigues() {
        for angle in [0.7, 1e-6, 3.0, -2.0] {
            let (axis, at) = ([0.6, 0.0, 0.8], [1.0, -2.0, 0.5]);
            let turn = Turn::new(axis, angle, [0.0; 3], [0.0; 3]);
            let own = Orientation::of(times(angle, axis));
            assert!(near(own.forth(at), turn.forth(at)), "{angle}");
            assert!(near(own.vector(), times(angle, axis)), "{angle}: {:?}", own.vector());
            assert!(near(own.then(own.back()).vector(), [0.0; 3]));
        }
    }

    #[test]
    fn rotations_follow_each_other() {
        let (one, other) = (Orientation::of([0.3, -0.2, 0.9]), Orientation::of([-1.1, 0.4, 0.2]));
        let at = [0.2, 0.5, -0.7];
        assert!(near(one.then(other).forth(at), other.forth(one.forth(at))));
    }
}
