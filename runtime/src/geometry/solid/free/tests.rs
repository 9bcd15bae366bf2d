//! Motions of free bodies whose solutions are known.

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
