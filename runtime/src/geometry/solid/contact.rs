//! What keeps bodies apart that the fluid moves: a repulsive force, and lubrication where a gap is narrower than a cell.
//!
//! Both are known for spheres, and in two dimensions for circles, against each other and against the faces of the domain; other shapes
//! feel neither. `g` is the gap and `w` the width of the cells at the surface.
//!
//! - The *repulsive force* `F (1 - g / w)^2` acts from `g = w` on; it stops a body of mass `m` that comes with [`STOPPED`] cells per
//!   step before the gap closes: `F = 3 m u^2 / (2 w)`. `m` is the mass of the body and of the fluid that it displaces; of two bodies,
//!   `m1 m2 / (m1 + m2)`. The form is that of Glowinski, Pan, Hesla & Joseph, Int. J. Multiphase Flow 25 (1999) 755.
//! - *Lubrication*: a gap narrower than a cell has no cells whose pressure would slow the approach. What is missing beyond a gap of `w`
//!   is added: `6 pi mu R^2 (1 / g - 1 / w)` times the speed of approach for spheres (Nguyen & Ladd, Phys. Rev. E 66 (2002) 046708), and
//!   `3 sqrt(2) pi mu R^(3/2) (g^(-3/2) - w^(-3/2))` for circles, with `1 / R = 1 / R1 + 1 / R2`. `g` counts as a tenth of a cell at least.

use std::f64::consts::{PI, SQRT_2};

use super::vector::{Vector, dot, minus, norm, plus, times};

/// Range of the repulsive force, in cells: a body at rest has a layer of cells below it.
const RANGE: f64 = 1.0;

/// The speed of approach that it stops, in cells per step.
const STOPPED: f64 = 0.1;

/// The gap below which lubrication is added, in cells.
const RESOLVED: f64 = 1.0;

/// The narrowest gap of lubrication, in cells.
const NARROWEST: f64 = 0.1;

/// A sphere, or in two dimensions a circle.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Ball {
    /// Number of its solid.
    pub(super) number: usize,
    pub(super) centre: Vector,
    pub(super) radius: f64,
    pub(super) velocity: Vector,
    /// Its mass with that of the fluid that it displaces, if the fluid moves it.
    pub(super) mass: Option<f64>,
    /// Width of the cells at its surface, in cells of the coarsest level.
    pub(super) width: f64,
}

/// The domain in which balls touch.
#[derive(Clone, Copy, Debug)]
pub(super) struct Room {
    pub(super) dim: usize,
    pub(super) size: [usize; 3],
    pub(super) periodic: [bool; 3],
    /// Viscosity of the fluid, if it is known.
    pub(super) viscosity: Option<f64>,
    /// Length of a step.
    pub(super) step: f64,
}

impl Room {
    /// Force on a ball that the fluid moves, by all others and by the walls.
    pub(super) fn force(&self, ball: &Ball, others: &[Ball]) -> Vector {
        let Some(mass) = ball.mass else { return [0.0; 3] };
        let mut force = [0.0; 3];
        for other in others.iter().filter(|other| other.number != ball.number && !self.is_far(ball, other)) {
            let off = self.nearest(minus(ball.centre, other.centre));
            let apart = norm(off);
            let gap = apart - ball.radius - other.radius;
            if apart == 0.0 || gap >= RESOLVED * ball.width {
                continue;
            }
            let radius = ball.radius * other.radius / (ball.radius + other.radius);
            let mass = other.mass.map_or(mass, |other| mass * other / (mass + other));
            let (normal, speed) = (times(1.0 / apart, off), minus(ball.velocity, other.velocity));
            let size = self.between(gap, radius, mass, ball.width, dot(normal, speed));
            force = plus(force, times(size, normal));
        }
        for axis in (0..self.dim).filter(|axis| !self.periodic[*axis]) {
            for (sign, distance) in [(1.0, ball.centre[axis]), (-1.0, self.size[axis] as f64 - ball.centre[axis])] {
                let gap = distance - ball.radius;
                if gap < RESOLVED * ball.width {
                    force[axis] += sign * self.between(gap, ball.radius, mass, ball.width, sign * ball.velocity[axis]);
                }
            }
        }
        force
    }

    /// Whether the gap between two balls is wider than one that counts by their distance along some axis alone.
    fn is_far(&self, ball: &Ball, other: &Ball) -> bool {
        let far = ball.radius + other.radius + RESOLVED * ball.width;
        (0..self.dim).any(|axis| {
            let (apart, size) = ((ball.centre[axis] - other.centre[axis]).abs(), self.size[axis] as f64);
            apart > far && (!self.periodic[axis] || (apart < size && size - apart > far))
        })
    }

    /// The shortest of a vector's periodic images.
    fn nearest(&self, off: Vector) -> Vector {
        [0, 1, 2].map(|axis| match axis < self.dim && self.periodic[axis] {
            true => off[axis] - (off[axis] / self.size[axis] as f64).round() * self.size[axis] as f64,
            false => off[axis],
        })
    }

    /// Force across a gap, positive if it pushes apart; `speed` is that at which the gap grows.
    fn between(&self, gap: f64, radius: f64, mass: f64, width: f64, speed: f64) -> f64 {
        let range = RANGE * width;
        let part = (1.0 - gap / range).max(0.0);
        let repulsion = 1.5 * mass * STOPPED * STOPPED / range * part * part;
        let (gap, resolved) = (gap.max(NARROWEST * width), RESOLVED * width);
        let lubrication = self.viscosity.map_or(0.0, |viscosity| match self.dim {
            2 => 3.0 * SQRT_2 * PI * viscosity * radius.powf(1.5) * (gap.powf(-1.5) - resolved.powf(-1.5)),
            _ => 6.0 * PI * viscosity * radius * radius * (1.0 / gap - 1.0 / resolved),
        });
        // A damper that stops the approach within a step is as strong as the scheme bears.
        repulsion - lubrication.clamp(0.0, mass / self.step) * speed
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const ROOM: Room = Room { dim: 3, size: [40, 30, 20], periodic: [true, false, false], viscosity: None, step: 1.0 };

    fn ball(number: usize, centre: Vector, velocity: Vector) -> Ball {
        Ball { number, centre, radius: 4.0, velocity, mass: Some(300.0), width: 1.0 }
    }

    #[test]
    fn balls_push_each_other_apart_with_opposite_forces_across_a_periodic_face_too() {
        let (one, other) = (ball(0, [1.0, 15.0, 10.0], [0.0; 3]), ball(1, [33.3, 15.0, 10.0], [0.0; 3]));
        let all = [one, other];
        let (first, second) = (ROOM.force(&one, &all), ROOM.force(&other, &all));
        assert!(first[0] > 0.0 && first[0] == -second[0], "{first:?} {second:?}");
        assert_eq!(ROOM.force(&ball(0, [2.4, 15.0, 10.0], [0.0; 3]), &all), [0.0; 3]);
        // One that does not move is as heavy as can be.
        let fixed = Ball { mass: None, ..other };
        assert!((ROOM.force(&one, &[one, fixed])[0] / first[0] - 2.0).abs() < 1e-12);
        assert_eq!(ROOM.force(&fixed, &all), [0.0; 3]);
    }

    #[test]
    fn a_ball_that_comes_with_the_speed_that_is_stopped_does_not_reach_the_wall() {
        let mut at = ball(0, [10.0, 6.0, 10.0], [0.0, -0.99 * STOPPED, 0.0]);
        let mut nearest = f64::INFINITY;
        for _ in 0..200 {
            at.velocity = plus(at.velocity, times(1.0 / 300.0, ROOM.force(&at, &[])));
            at.centre = plus(at.centre, at.velocity);
            nearest = nearest.min(at.centre[1] - at.radius);
        }
        assert!(nearest > -0.02 && nearest < 0.1, "{nearest}");
        // And it comes back as fast.
        assert!((at.velocity[1] / STOPPED - 1.0).abs() < 0.05, "{:?}", at.velocity);
    }

    #[test]
    fn lubrication_slows_the_approach_as_theory_says() {
        let room = Room { viscosity: Some(0.01), ..ROOM };
        let at = ball(0, [10.0, 4.6, 10.0], [0.0, -0.001, 0.0]);
        let expected = 6.0 * PI * 0.01 * 16.0 * (1.0 / 0.6 - 1.0) * 0.001;
        let repulsion = ROOM.force(&at, &[])[1];
        let lubrication = |at: &Ball| room.force(at, &[])[1] - repulsion;
        assert!((lubrication(&at) / expected - 1.0).abs() < 1e-9);
        let away = Ball { velocity: [0.0, 0.001, 0.0], ..at };
        assert!((lubrication(&away) / expected + 1.0).abs() < 1e-9);
        // Circles: the same as the integral of the pressure 6 mu u R / h^2 over the gap h = g + x^2 / (2 R).
        let flat = Room { dim: 2, ..room };
        let integral = |gap: f64| -> f64 {
            let (count, far) = (200_000, 200.0);
            let of = |at: i32| {
                let x = (f64::from(at) + 0.5) / f64::from(count) * far;
                6.0 * 0.01 * 4.0 / (gap + x * x / 8.0).powi(2) * far / f64::from(count)
            };
            2.0 * (0..count).map(of).sum::<f64>()
        };
        let expected = (integral(0.6) - integral(1.0)) * 0.001;
        let found = flat.force(&at, &[])[1] - repulsion;
        assert!((found / expected - 1.0).abs() < 1e-3, "{found} {expected}");
    }
}
