//! Bodies that the fluid moves: Newton's law in time steps of the fluid.
//!
//! During a step a body has one velocity `v` and one rate of rotation, which its surface has in the fluid; both belong to the middle of the
//! step, and places to its ends. At the end of the step:
//!
//! - *drift*: the place advances by what the surface has moved in the step;
//! - *kick*: the velocity of the next step follows from all forces. Springs, weight and contacts act at the new place, so that they are
//!   integrated by the leapfrog scheme: of second order, and without a drift of energy. Dampers take the mean of both velocities.
//!
//! The force of the fluid is known for the step that ends. A fluid resists acceleration by its own inertia, and the scheme would be
//! unstable for light bodies if that force were taken as it is. As in Schwarz, Kempe & Froehlich, J. Comput. Phys. 281 (2015) 591, a
//! *virtual mass* `mv` is added to both sides of Newton's law, on the right with the acceleration of the step before:
//!
//! ```text
//! (m + mv) a = F + mv a'      so      G = (m F + mv G') / (m + mv)      with the force G = m a that acts on the body
//! ```
//!
//! `mv` is the mass of the fluid that the body displaces. So `G` is a mean of `F` over about `1 + mv / m` steps. A force `F = -ma a'` of an
//! added mass `ma` is stable for `ma < m + 2 mv`, which is true of a sphere (`ma = mv / 2`) and a circle (`ma = mv`) of any mass. Other
//! forces are not part of this. Torques are treated alike.
//!
//! A body that turns freely in three dimensions has its angular momentum in space as a variable. The rotation of a step is that of a body
//! without torque, in turns about its principal axes: half steps about the first and the second, a step about the third, and back (McLachlan,
//! Phys. Rev. Lett. 71 (1993) 3043; Touma & Wisdom, Astron. J. 107 (1994) 1189). It keeps the angular momentum to round-off, and the energy
//! without a drift.

use super::mass::Mass;
use super::orientation::Orientation;
use super::vector::{Vector, dot, plus, times};

/// How a body may turn.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Turning {
    /// It does not.
    Held,
    /// About an axis of length 1 through its centre of mass, against a spring and a damper; in two dimensions about z.
    About {
        /// The axis.
        axis: Vector,
        /// Torque of the spring over the angle.
        stiffness: f64,
        /// Torque of the damper over the rate of rotation.
        damping: f64,
    },
    /// About all axes.
    Free,
}

/// What does not change of a body that the fluid moves, in lattice units of the coarsest level; the density of the fluid is 1.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct FreeBody {
    /// Its mass.
    pub mass: f64,
    /// Its moments of inertia about the principal axes of its shape.
    pub moments: Vector,
    /// What the fluid would weigh in its place: volume, centre and inertia.
    pub displaced: Mass,
    /// Weight without buoyancy: the fluid is displaced and has none.
    pub gravity: Vector,
    /// Force of springs along the axes over the displacement from the given place.
    pub stiffness: Vector,
    /// Force of dampers along the axes over the velocity.
    pub damping: Vector,
    /// Axes along which the velocity stays as at the start.
    pub held: [bool; 3],
    /// How it may turn.
    pub turning: Turning,
    /// Velocity at the start.
    pub velocity: Vector,
    /// Rate of rotation at the start, in radians per step.
    pub rotation: Vector,
    /// Kinematic viscosity of the fluid, for lubrication.
    pub viscosity: Option<f64>,
}

/// Place and velocity of a body at the end of a step.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct BodyState {
    /// The time, in steps of the coarsest level.
    pub time: f64,
    /// Displacement of its centre of mass.
    pub by: Vector,
    /// The angle by which it has turned about its axis, whole turns included, if it has one axis.
    pub angle: f64,
    /// How it has turned, if it turns about all axes.
    pub orientation: Orientation,
    /// Velocity in the step before, and in the step that begins.
    pub velocity: [Vector; 2],
    /// Rate of rotation in these steps.
    pub rotation: [Vector; 2],
    /// Angular momentum, if it turns about all axes.
    pub momentum: Vector,
    /// Force of the fluid that acts on it.
    pub force: Vector,
    /// Torque of the fluid about its centre of mass.
    pub torque: Vector,
}

/// Number of values of a state.
const NUMBERS: usize = 30;

/// Momentum and angular momentum that a body gets from the fluid in a step.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Impulse {
    /// Momentum.
    pub force: Vector,
    /// Angular momentum about its centre of mass.
    pub torque: Vector,
}

/// What something other than the fluid does to a body between two steps.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Change {
    /// Its displacement from now on.
    pub by: Option<Vector>,
    /// Its velocity from now on.
    pub velocity: Option<Vector>,
    /// Its rate of rotation from now on; of a body that turns about one axis the part along it.
    pub rotation: Option<Vector>,
    /// Momentum and angular momentum that it gets, besides.
    pub impulse: Impulse,
}

impl Impulse {
    /// Whether all its values are finite.
    pub fn is_finite(&self) -> bool {
        self.force.iter().chain(&self.torque).all(|along| along.is_finite())
    }
}

impl BodyState {
    /// All values, for a file.
    pub fn numbers(&self) -> Vec<f64> {
        let vectors = [self.velocity[0], self.velocity[1], self.rotation[0], self.rotation[1]];
        let others = [self.momentum, self.force, self.torque];
        let scalars = [self.time, self.angle].into_iter().chain(self.by).chain(self.orientation.0);
        scalars.chain(vectors.into_iter().chain(others).flatten()).collect()
    }

    /// From all values; `None` if their number is wrong, or one is not finite.
    pub fn of_numbers(numbers: &[f64]) -> Option<BodyState> {
        if numbers.len() != NUMBERS || !numbers.iter().all(|number| number.is_finite()) {
            return None;
        }
        let vector = |at: usize| [numbers[at], numbers[at + 1], numbers[at + 2]];
        Some(BodyState {
            time: numbers[0],
            angle: numbers[1],
            by: vector(2),
            orientation: Orientation([numbers[5], numbers[6], numbers[7], numbers[8]]),
            velocity: [vector(9), vector(12)],
            rotation: [vector(15), vector(18)],
            momentum: vector(21),
            force: vector(24),
            torque: vector(27),
        })
    }

    /// Its velocity at the present time, between two steps.
    pub fn mean_velocity(&self) -> Vector {
        times(0.5, plus(self.velocity[0], self.velocity[1]))
    }

    /// Its rate of rotation at the present time.
    pub fn mean_rotation(&self) -> Vector {
        times(0.5, plus(self.rotation[0], self.rotation[1]))
    }
}

impl FreeBody {
    /// A body of a density, over that of the fluid, on which nothing but the fluid acts, at rest.
    pub fn new(displaced: Mass, density: f64, turning: Turning) -> FreeBody {
        FreeBody {
            mass: density * displaced.volume,
            moments: times(density, displaced.moments),
            displaced,
            gravity: [0.0; 3],
            stiffness: [0.0; 3],
            damping: [0.0; 3],
            held: [false; 3],
            turning,
            velocity: [0.0; 3],
            rotation: [0.0; 3],
            viscosity: None,
        }
    }

    /// Whether it may turn.
    pub fn turns(&self) -> bool {
        self.turning != Turning::Held
    }

    /// The angle by which it has turned, along its axis; about all axes half a turn at most.
    pub fn turned_by(&self, state: &BodyState) -> Vector {
        match self.turning {
            Turning::Held => [0.0; 3],
            Turning::About { axis, .. } => times(state.angle, axis),
            Turning::Free => state.orientation.vector(),
        }
    }

    /// The part of a rate of rotation with which it may turn.
    fn permitted(&self, rotation: Vector) -> Vector {
        match self.turning {
            Turning::Held => [0.0; 3],
            Turning::About { axis, .. } => times(dot(axis, rotation), axis),
            Turning::Free => rotation,
        }
    }

    /// Its angular momentum at an orientation.
    fn momentum(&self, orientation: Orientation, rotation: Vector) -> Vector {
        (0..3).fold([0.0; 3], |sum, at| {
            let axis = orientation.forth(self.displaced.axes[at]);
            plus(sum, times(self.moments[at] * dot(axis, rotation), axis))
        })
    }

    /// Its state at the start.
    pub fn start(&self) -> BodyState {
        let rotation = self.permitted(self.rotation);
        BodyState {
            time: 0.0,
            by: [0.0; 3],
            angle: 0.0,
            orientation: Orientation::GIVEN,
            velocity: [self.velocity; 2],
            rotation: [rotation; 2],
            momentum: self.momentum(Orientation::GIVEN, rotation),
            force: [0.0; 3],
            torque: [0.0; 3],
        }
    }

    /// The moment of inertia about an axis; `moments`: the principal ones.
    fn about(&self, axis: Vector, moments: Vector) -> f64 {
        (0..3).map(|at| moments[at] * dot(self.displaced.axes[at], axis).powi(2)).sum()
    }

    /// The place after a step of a length.
    pub fn drift(&self, state: &BodyState, step: f64) -> BodyState {
        let [_, rotation] = state.rotation;
        let turned = |angle: f64| match self.turning {
            Turning::About { axis, .. } => angle + step * dot(axis, rotation),
            _ => angle,
        };
        let orientation = match self.turning {
            Turning::Free => state.orientation.then(Orientation::of(times(step, rotation))),
            _ => state.orientation,
        };
        BodyState {
            time: state.time + step,
            by: plus(state.by, times(step, state.velocity[1])),
            angle: turned(state.angle),
            orientation,
            ..*state
        }
    }

    /// The velocities of the next step, which has the same length, after a [drift](Self::drift); `impulse` is that of the fluid in the step
    /// that has ended, `contact` the force of what the body touches.
    pub fn kick(&self, state: &BodyState, impulse: Impulse, contact: Vector, step: f64) -> BodyState {
        let mean = |inertia: f64, fluid: f64, now: Vector, before: Vector| {
            plus(times(inertia / (inertia + fluid) / step, now), times(fluid / (inertia + fluid), before))
        };
        let force = mean(self.mass, self.displaced.volume, impulse.force, state.force);
        let weight = times(self.mass - self.displaced.volume, self.gravity);
        let along = |axis: usize| {
            let (damped, velocity) = (0.5 * step * self.damping[axis] / self.mass, state.velocity[1][axis]);
            let other = weight[axis] + contact[axis] - self.stiffness[axis] * state.by[axis];
            ((1.0 - damped) * velocity + step * (force[axis] + other) / self.mass) / (1.0 + damped)
        };
        let velocity = [0, 1, 2].map(|axis| if self.held[axis] { state.velocity[1][axis] } else { along(axis) });
        let (inertia, fluid) = match self.turning {
            Turning::About { axis, .. } => (self.about(axis, self.moments), self.about(axis, self.displaced.moments)),
            _ => (self.moments.iter().sum(), self.displaced.moments.iter().sum()),
        };
        let torque = mean(inertia, fluid, impulse.torque, state.torque);
        let (rotation, momentum) = match self.turning {
            Turning::Held => ([0.0; 3], state.momentum),
            Turning::About { axis, stiffness, damping } => {
                let (damped, rate) = (0.5 * step * damping / inertia, dot(axis, state.rotation[1]));
                let other = dot(axis, torque) - stiffness * state.angle;
                let rate = ((1.0 - damped) * rate + step * other / inertia) / (1.0 + damped);
                (times(rate, axis), state.momentum)
            }
            Turning::Free => {
                let momentum = plus(state.momentum, times(step, torque));
                (self.rate(state.orientation, momentum, step), momentum)
            }
        };
        let (velocity, rotation) = ([state.velocity[1], velocity], [state.rotation[1], rotation]);
        BodyState { velocity, rotation, momentum, force, torque, ..*state }
    }

    /// The state after a change between two steps of a length. An impulse acts as if its force had been part of the last
    /// [kick](Self::kick).
    pub fn changed(&self, state: &BodyState, change: &Change, step: f64) -> BodyState {
        let mut now = *state;
        now.by = change.by.unwrap_or(now.by);
        now.velocity[1] = change.velocity.unwrap_or(now.velocity[1]);
        if let Some(rotation) = change.rotation.map(|rotation| self.permitted(rotation)) {
            now.rotation[1] = rotation;
            now.momentum = self.momentum(now.orientation, rotation);
        }
        let Impulse { force, torque } = change.impulse;
        for axis in (0..3).filter(|axis| !self.held[*axis]) {
            now.velocity[1][axis] += force[axis] / (self.mass + 0.5 * step * self.damping[axis]);
        }
        match self.turning {
            Turning::Held => {}
            Turning::About { axis, damping, .. } => {
                let gained = dot(axis, torque) / (self.about(axis, self.moments) + 0.5 * step * damping);
                now.rotation[1] = plus(now.rotation[1], times(gained, axis));
            }
            Turning::Free => {
                now.momentum = plus(now.momentum, torque);
                now.rotation[1] = self.rate(now.orientation, now.momentum, step);
            }
        }
        now
    }

    /// The rate of rotation of a body that turns freely, without torque in a step.
    fn rate(&self, orientation: Orientation, momentum: Vector, step: f64) -> Vector {
        times(1.0 / step, orientation.back().then(self.turned(orientation, momentum, step)).vector())
    }

    /// The orientation after a step without torque.
    fn turned(&self, mut orientation: Orientation, momentum: Vector, step: f64) -> Orientation {
        for (axis, part) in [(0, 0.5), (1, 0.5), (2, 1.0), (1, 0.5), (0, 0.5)] {
            let along = orientation.forth(self.displaced.axes[axis]);
            let angle = part * step * dot(along, momentum) / self.moments[axis];
            orientation = orientation.then(Orientation::of(times(angle, along)));
        }
        orientation
    }
}

#[cfg(test)]
mod tests;
