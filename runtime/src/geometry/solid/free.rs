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
mod tests {
    use super::super::shape::Shape;
    use super::super::vector::{minus, norm};
    use super::*;

    fn block() -> FreeBody {
        let displaced = Shape::Box { from: [1.0, 2.0, 3.0], to: [4.0, 7.0, 5.0] }.mass(3).unwrap();
        FreeBody::new(displaced, 2.0, Turning::Held)
    }

    /// The states of a body on which a fluid exerts a force and a torque that depend on its state.
    fn run(body: &FreeBody, steps: usize, fluid: impl Fn(&BodyState) -> Impulse) -> Vec<BodyState> {
        let next = |state: &BodyState| {
            let impulse = fluid(state);
            Some(body.kick(&body.drift(state, 1.0), impulse, [0.0; 3], 1.0))
        };
        std::iter::successors(Some(body.start()), next).take(steps + 1).collect()
    }

    fn nothing(_: &BodyState) -> Impulse {
        Impulse::default()
    }

    #[test]
    fn a_body_on_a_spring_swings_with_its_period_and_a_damper_takes_its_energy() {
        let rate: f64 = 0.01;
        let body = FreeBody { velocity: [0.02, 0.0, 0.0], ..block() };
        let stiffness = [body.mass * rate * rate, 0.0, 0.0];
        for damping in [0.0, 0.001] {
            let damping_of = [2.0 * body.mass * damping, 0.0, 0.0];
            let body = FreeBody { stiffness, damping: damping_of, ..body };
            let damped = (rate * rate - damping * damping).sqrt();
            let states = run(&body, 3000, nothing);
            for state in &states {
                // The first velocity is that of the middle of the first step.
                let time = state.time;
                let exact = 0.02 / damped * (-damping * time).exp() * (damped * time).sin();
                assert!((state.by[0] - exact).abs() < 2e-2, "{damping} at {time}: {} {exact}", state.by[0]);
            }
            // No drift of the energy: the largest displacement of the last period is that of the first.
            let largest = |states: &[BodyState]| states.iter().map(|state| state.by[0].abs()).fold(0.0, f64::max);
            let (first, last) = (largest(&states[..629]), largest(&states[2372..]));
            assert!(damping > 0.0 || (last / first - 1.0).abs() < 1e-4, "{first} {last}");
        }
    }

    #[test]
    fn a_body_falls_with_its_weight_less_the_fluids() {
        let body =
            FreeBody { gravity: [0.0, -1e-4, 0.0], held: [true, false, false], velocity: [0.01, 0.0, 0.0], ..block() };
        let states = run(&body, 100, nothing);
        let last = states[100];
        // Half of its weight, since it is twice as dense; along x it goes on.
        let exact = -0.5 * 0.5e-4 * 100.0 * 99.0;
        assert!((last.by[1] - exact).abs() < 1e-12 && (last.by[0] - 1.0).abs() < 1e-12, "{:?}", last.by);
    }

    #[test]
    fn a_body_that_turns_freely_keeps_its_angular_momentum_and_its_energy() {
        // About the axis of the middle moment.
        let body = FreeBody { turning: Turning::Free, rotation: [0.03, 1e-4, 1e-5], ..block() };
        assert!(body.moments[1] < body.moments[0] && body.moments[0] < body.moments[2]);
        let states = run(&body, 20_000, nothing);
        let momentum = |state: &BodyState| {
            let axes = body.displaced.axes.map(|axis| state.orientation.forth(axis));
            // Of the rate of rotation at the middle of a step, and the orientation there.
            (0..3).fold([0.0; 3], |sum, at| {
                plus(sum, times(body.moments[at] * dot(axes[at], state.mean_rotation()), axes[at]))
            })
        };
        let energy = |state: &BodyState| {
            let axes = body.displaced.axes.map(|axis| state.orientation.forth(axis));
            (0..3).map(|at| 0.5 * dot(axes[at], state.momentum).powi(2) / body.moments[at]).sum::<f64>()
        };
        let first = energy(&states[0]);
        let mut flips = 0;
        for pair in states.windows(2) {
            let state = &pair[1];
            assert!((energy(state) / first - 1.0).abs() < 1e-3, "{}", energy(state) / first);
            assert_eq!(state.momentum, states[0].momentum);
            let apart = norm(minus(momentum(state), state.momentum)) / norm(state.momentum);
            assert!(apart < 5e-3, "{apart}");
            let up = |state: &BodyState| state.orientation.forth(body.displaced.axes[0])[0] > 0.0;
            flips += usize::from(up(&pair[0]) != up(state));
        }
        assert!(flips > 1, "the motion about the middle axis is unstable: {flips}");
    }

    #[test]
    fn a_symmetric_body_precesses_at_its_rate() {
        let displaced = Shape::Box { from: [0.0; 3], to: [4.0, 4.0, 2.0] }.mass(3).unwrap();
        let body = FreeBody { rotation: [0.003, 0.0, 0.01], ..FreeBody::new(displaced, 2.0, Turning::Free) };
        let states = run(&body, 2000, nothing);
        // The axis of symmetry goes round the angular momentum at the rate L / I.
        let rate = norm(states[0].momentum) / body.moments[0];
        let along = times(1.0 / norm(states[0].momentum), states[0].momentum);
        let start = body.displaced.axes[2];
        for state in states.iter().step_by(100) {
            let exact = Orientation::of(times(rate * state.time, along)).forth(start);
            let axis = state.orientation.forth(start);
            assert!(norm(minus(axis, exact)) < 2e-4, "{} {axis:?} {exact:?}", state.time);
        }
    }

    #[test]
    fn a_body_much_lighter_than_the_fluid_rises_as_its_added_mass_lets_it() {
        for density in [0.01, 0.3, 1.0, 8.0] {
            for added in [0.5, 1.0] {
                let body = block();
                let mass = density * body.displaced.volume;
                let body = FreeBody { mass, gravity: [0.0, 0.0, -1e-5], ..body };
                let added = added * body.displaced.volume;
                // The fluid resists the acceleration of the last step.
                let fluid = |state: &BodyState| {
                    let faster = state.velocity[1][2] - state.velocity[0][2];
                    Impulse { force: [0.0, 0.0, -added * faster], ..Impulse::default() }
                };
                let states = run(&body, 2000, fluid);
                let exact = -1e-5 * (mass - body.displaced.volume) / (mass + added);
                let [before, after] = states[2000].velocity;
                let found = after[2] - before[2];
                assert!((found - exact).abs() < 1e-3 * exact.abs() + 1e-18, "{density}: {found} {exact}");
            }
        }
    }

    #[test]
    fn forces_from_outside_move_a_body_as_its_own_spring_and_weight_do() {
        let rate: f64 = 0.01;
        for turning in [Turning::Held, Turning::About { axis: [0.0, 0.6, 0.8], stiffness: 2e-4, damping: 1e-2 }] {
            let own = FreeBody {
                velocity: [0.02, 0.0, 0.0],
                rotation: [0.0, 6e-3, 8e-3],
                stiffness: [60.0 * rate * rate, 0.0, 0.0],
                damping: [0.3, 0.0, 0.0],
                turning,
                ..block()
            };
            let loose = match turning {
                Turning::About { axis, damping, .. } => Turning::About { axis, stiffness: 0.0, damping },
                other => other,
            };
            let pushed = FreeBody { stiffness: [0.0; 3], turning: loose, ..own };
            let mut state = pushed.start();
            for exact in run(&own, 1000, nothing) {
                assert!((state.by[0] - exact.by[0]).abs() < 1e-12, "{state:?} {exact:?}");
                assert!((state.angle - exact.angle).abs() < 1e-12, "{state:?} {exact:?}");
                state = pushed.kick(&pushed.drift(&state, 1.0), Impulse::default(), [0.0; 3], 1.0);
                let torque = match turning {
                    Turning::About { axis, stiffness, .. } => times(-stiffness * state.angle, axis),
                    _ => [0.0; 3],
                };
                let force = [-own.stiffness[0] * state.by[0], 0.0, 0.0];
                let change = Change { impulse: Impulse { force, torque }, ..Change::default() };
                state = pushed.changed(&state, &change, 1.0);
            }
        }
    }

    #[test]
    fn a_body_goes_on_with_what_is_set() {
        let body = FreeBody { turning: Turning::Free, held: [true, false, false], ..block() };
        let before = run(&body, 3, nothing)[3];
        let (velocity, rotation) = ([0.01, 0.02, 0.0], [0.0, 0.0, 0.03]);
        let impulse = Impulse { force: [1.0, 2.0, 0.0], torque: [0.0; 3] };
        let change = Change { by: Some([5.0, 0.0, 0.0]), velocity: Some(velocity), rotation: Some(rotation), impulse };
        let now = body.changed(&before, &change, 1.0);
        // Along x it is held.
        assert_eq!(now.velocity[1], [0.01, 0.02 + 2.0 / body.mass, 0.0]);
        assert!(norm(minus(now.rotation[1], rotation)) < 1e-15);
        let next = body.kick(&body.drift(&now, 1.0), Impulse::default(), [0.0; 3], 1.0);
        assert_eq!(next.by, plus([5.0, 0.0, 0.0], now.velocity[1]));
        assert!(norm(minus(next.rotation[1], rotation)) < 1e-15 && next.momentum == now.momentum);
    }

    #[test]
    fn a_state_is_its_numbers() {
        let body = FreeBody { turning: Turning::Free, rotation: [0.01, 0.02, 0.03], ..block() };
        let fluid = |_: &BodyState| Impulse { force: [1.0, 2.0, 3.0], torque: [0.1, -0.2, 0.3] };
        let last = run(&body, 7, fluid)[7];
        let numbers = last.numbers();
        assert_eq!((numbers.len(), BodyState::of_numbers(&numbers)), (NUMBERS, Some(last)));
        assert!(BodyState::of_numbers(&numbers[1..]).is_none());
        assert!(BodyState::of_numbers(&[f64::NAN; NUMBERS]).is_none());
    }
}
