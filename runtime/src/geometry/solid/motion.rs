//! Motions of solids: displacement and rotation from the given shape, at each time. They are prescribed, or the fluid moves a body ([`free`]).
//!
//! [`free`]: super::free
//!
//! A solid is rigid: it is displaced, and may rotate about an axis through a pivot, which is displaced with it. Its velocities in a step
//! are the displacement and the rotation angle in the step over its length, which are central differences at the middle of the step: so
//! the fluid that a surface displaces is the volume that it sweeps over.

use std::collections::BTreeSet;
use std::f64::consts::TAU;
use std::fmt;
use std::ops::Range;
use std::sync::Arc;

use super::free::{BodyState, FreeBody, Turning};
use super::orientation::Orientation;
use super::turn::Turn;
use super::vector::{cross, dot, norm, plus, times};
use super::{Shape, Vector};

/// Most sample positions of a path.
pub const MOST_PLACES: usize = 4096;

/// Most times at which a path is sampled.
const MOST_TIMES: u64 = 1 << 20;

/// A motion.
#[derive(Clone)]
pub struct Motion {
    course: Course,
    steps: u64,
}

/// What a motion follows.
#[derive(Clone)]
enum Course {
    /// Functions of time.
    Given { displacement: Arc<dyn Fn(f64) -> Vector + Send + Sync>, rotation: Option<Rotation> },
    /// The forces on a body, of which the state is known for the present time.
    Free { body: Arc<FreeBody>, state: BodyState },
}

/// The prescribed rotation of a solid.
#[derive(Clone)]
struct Rotation {
    angle: Arc<dyn Fn(f64) -> f64 + Send + Sync>,
    /// Of length 1.
    axis: Vector,
    /// A point of the axis, relative to the given shape.
    pivot: Vector,
}

/// Position of a solid, relative to the given shape.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Pose {
    /// Displacement of the solid and its pivot.
    pub by: Vector,
    /// Angle of rotation about its axis, in radians.
    pub angle: f64,
    /// The axis, of length 1; 0 for a solid that does not rotate.
    pub axis: Vector,
}

/// Velocity of a solid.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Rate {
    /// Velocity of its pivot.
    pub velocity: Vector,
    /// Angular velocity along its axis, in radians per step of the coarsest level.
    pub rotation: Vector,
}

impl Rate {
    /// Velocity of a point of the solid; `arm` is the vector from the pivot.
    pub fn at(&self, arm: Vector) -> Vector {
        plus(self.velocity, cross(self.rotation, arm))
    }
}

impl fmt::Debug for Motion {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.debug_struct("Motion").field("turns", &self.turns()).field("steps", &self.steps).finish_non_exhaustive()
    }
}

impl Motion {
    /// A motion with a displacement in cells of the coarsest level as a function of time in its steps; it lasts for `steps` steps.
    pub fn new(displacement: impl Fn(f64) -> Vector + Send + Sync + 'static, steps: u64) -> Motion {
        Motion { course: Course::Given { displacement: Arc::new(displacement), rotation: None }, steps }
    }

    /// That of a body that the fluid moves, from its start on.
    pub fn free(body: FreeBody, steps: u64) -> Motion {
        let state = body.start();
        Motion { course: Course::Free { body: Arc::new(body), state }, steps }
    }

    /// The same with a rotation: by an angle in radians as a function of time, counter-clockwise about an axis of length 1 through a
    /// pivot, which is given relative to the shape. A body that the fluid moves has its own.
    pub fn turning(
        mut self,
        angle: impl Fn(f64) -> f64 + Send + Sync + 'static,
        axis: Vector,
        pivot: Vector,
    ) -> Motion {
        if let Course::Given { rotation, .. } = &mut self.course {
            *rotation = Some(Rotation { angle: Arc::new(angle), axis, pivot });
        }
        self
    }

    /// The body that the fluid moves, with its present state.
    pub fn body(&self) -> Option<(&FreeBody, &BodyState)> {
        match &self.course {
            Course::Given { .. } => None,
            Course::Free { body, state } => Some((body, state)),
        }
    }

    /// Sets the present state of a body that the fluid moves.
    pub fn set_state(&mut self, now: BodyState) {
        if let Course::Free { state, .. } = &mut self.course {
            *state = now;
        }
    }

    /// Whether the solid rotates.
    pub fn turns(&self) -> bool {
        match &self.course {
            Course::Given { rotation, .. } => rotation.is_some(),
            Course::Free { body, .. } => body.turns(),
        }
    }

    /// Position of the solid at a time; that of a body that the fluid moves is known for the step before the present time and the one after.
    pub fn at(&self, time: f64) -> Pose {
        match &self.course {
            Course::Given { displacement, rotation } => {
                let (angle, axis) = rotation.as_ref().map_or((0.0, [0.0; 3]), |of| ((of.angle)(time), of.axis));
                Pose { by: displacement(time), angle, axis }
            }
            Course::Free { body, state } => {
                let since = (time - state.time).clamp(-1.0, 1.0);
                let step = usize::from(since >= 0.0);
                let by = plus(state.by, times(since, state.velocity[step]));
                let turn = times(since, state.rotation[step]);
                match body.turning {
                    Turning::Held => Pose { by, ..Pose::default() },
                    Turning::About { axis, .. } => Pose { by, angle: state.angle + dot(axis, turn), axis },
                    Turning::Free => {
                        let turned = state.orientation.then(Orientation::of(turn)).vector();
                        let angle = norm(turned);
                        Pose { by, angle, axis: if angle > 0.0 { times(1.0 / angle, turned) } else { [0.0; 3] } }
                    }
                }
            }
        }
    }

    /// Mean velocity between two times.
    pub fn rate(&self, from: f64, to: f64) -> Rate {
        match &self.course {
            Course::Given { rotation, .. } => {
                let (before, after) = (self.at(from), self.at(to));
                let velocity = [0, 1, 2].map(|axis| (after.by[axis] - before.by[axis]) / (to - from));
                let of_turn = |of: &Rotation| of.axis.map(|along| along * (after.angle - before.angle) / (to - from));
                Rate { velocity, rotation: rotation.as_ref().map_or([0.0; 3], of_turn) }
            }
            Course::Free { state, .. } => {
                let before = (to.min(state.time) - from).max(0.0) / (to - from);
                let mean = |of: &[Vector; 2]| plus(times(before, of[0]), times(1.0 - before, of[1]));
                Rate { velocity: mean(&state.velocity), rotation: mean(&state.rotation) }
            }
        }
    }

    /// The time interval of the motion, in steps of the coarsest level.
    pub fn duration(&self) -> Range<f64> {
        0.0..self.steps as f64
    }

    /// The pivot of the shape as given, if the solid rotates.
    fn given_pivot(&self) -> Option<Vector> {
        match &self.course {
            Course::Given { rotation, .. } => rotation.as_ref().map(|of| of.pivot),
            Course::Free { body, .. } => body.turns().then_some(body.displaced.centre),
        }
    }

    /// Position of the pivot, if the solid rotates.
    pub(super) fn pivot(&self, pose: Pose) -> Option<Vector> {
        self.given_pivot().map(|pivot| plus(pivot, pose.by))
    }

    /// A shape at a position.
    pub(super) fn placed(&self, shape: &Arc<Shape>, pose: Pose) -> Shape {
        match self.given_pivot() {
            None => Shape::Moved { shape: shape.clone(), by: pose.by },
            Some(pivot) => shape.turned(&Turn::new(pose.axis, pose.angle, pivot, plus(pivot, pose.by))),
        }
    }

    /// The largest distance of a shape from its axis of rotation, or from the point about which it turns freely; 0 if it does not rotate.
    pub fn reach(&self, shape: &Shape) -> f64 {
        match &self.course {
            Course::Given { rotation, .. } => rotation.as_ref().map_or(0.0, |of| shape.reach(of.pivot, of.axis)),
            Course::Free { body, .. } => match body.turning {
                Turning::Held => 0.0,
                Turning::About { axis, .. } => shape.reach(body.displaced.centre, axis),
                Turning::Free => {
                    let of_axis = |axis: usize| {
                        let mut along = [0.0; 3];
                        along[axis] = 1.0;
                        shape.reach(body.displaced.centre, along)
                    };
                    // The squares of the distances from three axes are twice that from their point.
                    (0.5 * (0..3).map(|axis| of_axis(axis).powi(2)).sum::<f64>()).sqrt()
                }
            },
        }
    }

    /// Sample positions such that at any time of an interval one of them has each point of the shape within `width` along each axis;
    /// `None` if more than [`MOST_PLACES`] are needed. `reach` is that of the shape. `seen` maps a displacement to its equivalent on
    /// periodic axes. Of a body that the fluid moves only the present position is known.
    pub fn places(
        &self,
        times: Range<f64>,
        width: f64,
        reach: f64,
        seen: impl Fn(Vector) -> Vector,
    ) -> Option<Vec<Pose>> {
        if let Course::Free { state, .. } = &self.course {
            let pose = self.at(state.time);
            return Some(vec![Pose { by: seen(pose.by), ..pose }]);
        }
        // For a rotating solid half of the width is reserved for the rotation.
        let room = if self.turns() { 0.5 * width } else { width };
        // Number of angles per full turn.
        let angles = (TAU * reach / room).ceil().max(1.0);
        if angles > MOST_PLACES as f64 {
            return None;
        }
        let (start, length) = (times.start, times.end - times.start);
        let times = (length.ceil() as u64).clamp(1, MOST_TIMES);
        let time = |number: u64| start + length * number as f64 / times as f64;
        let mut places = BTreeSet::new();
        let mut before = self.at(start);
        for number in 0..=times {
            let after = self.at(time(number));
            let displaced = (0..3).map(|axis| (after.by[axis] - before.by[axis]).abs()).fold(0.0, f64::max);
            let apart = displaced + reach * (after.angle - before.angle).abs();
            // Linear interpolation between two times.
            let parts = (2.0 * apart / room).ceil().max(1.0);
            if parts > MOST_PLACES as f64 {
                return None;
            }
            for part in 1..=parts as usize {
                let part = part as f64 / parts;
                let between = |before: f64, after: f64| before + part * (after - before);
                let at = seen([0, 1, 2].map(|axis| between(before.by[axis], after.by[axis])));
                let angle = (between(before.angle, after.angle) / TAU * angles).round().rem_euclid(angles);
                places.insert((at.map(|at| (at / room).round() as i64), angle as i64));
            }
            if places.len() > MOST_PLACES {
                return None;
            }
            before = after;
        }
        let axis = before.axis;
        let pose = |(by, angle): ([i64; 3], i64)| Pose {
            by: by.map(|at| at as f64 * room),
            angle: angle as f64 / angles * TAU,
            axis,
        };
        Some(places.into_iter().map(pose).collect())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn some_place_is_near_the_solid_at_any_time() {
        let motion = Motion::new(|time| [7.0 * (0.3 * time).sin(), 3.0 * (0.2 * time).cos(), 0.0], 400);
        let places = motion.places(motion.duration(), 0.5, 0.0, |at| at).expect("a short way");
        assert!(places.len() < 400, "{}", places.len());
        for tenth in 0..4000 {
            let at = motion.at(f64::from(tenth) / 10.0).by;
            let near = |place: &&Pose| (0..3).all(|axis| (place.by[axis] - at[axis]).abs() < 0.5);
            assert!(places.iter().find(near).is_some(), "{at:?}");
        }
    }

    #[test]
    fn some_place_is_near_each_point_of_a_solid_that_turns() {
        let (axis, pivot) = ([0.6, 0.0, 0.8], [3.0, -1.0, 2.0]);
        let motion = Motion::new(|time| [2.0 * (0.3 * time).sin(), 0.0, 0.1 * time], 60);
        let motion = motion.turning(|time| 0.4 * time + (0.2 * time).sin(), axis, pivot);
        let shape = Shape::Box { from: [2.0, -4.0, 1.0], to: [5.0, 2.0, 3.0] };
        let places = motion.places(motion.duration(), 0.5, motion.reach(&shape), |at| at).expect("a short way");
        let corners = |pose: Pose| {
            let turn = Turn::new(axis, pose.angle, pivot, plus(pivot, pose.by));
            let corner = |at: usize| [[2.0, 5.0][at & 1], [-4.0, 2.0][at >> 1 & 1], [1.0, 3.0][at >> 2]];
            (0..8).map(move |at| turn.forth(corner(at)))
        };
        for tenth in 0..600 {
            let at = motion.at(f64::from(tenth) / 10.0);
            let near = |place: &&Pose| {
                corners(**place)
                    .zip(corners(at))
                    .all(|(one, other)| (0..3).all(|axis| (one[axis] - other[axis]).abs() < 0.5))
            };
            assert!(places.iter().find(near).is_some(), "{at:?}");
        }
    }

    #[test]
    fn a_turn_without_end_comes_again_after_a_whole_one() {
        let motion = Motion::new(|_| [0.0; 3], 1_000_000).turning(|time| 0.01 * time, [0.0, 0.0, 1.0], [0.0; 3]);
        let places = motion.places(motion.duration(), 1.0, 8.0, |at| at).expect("few places");
        assert_eq!(places.len(), (TAU * 16.0).ceil() as usize);
        assert!(motion.places(motion.duration(), 1.0, 400.0, |at| at).is_none());
    }

    #[test]
    fn a_way_without_end_has_places_only_where_it_comes_again() {
        let motion = Motion::new(|time| [0.1 * time, 0.0, 0.0], 1_000_000);
        assert!(motion.places(motion.duration(), 1.0, 0.0, |at| at).is_none());
        let seen = |at: Vector| [at[0] - 32.0 * (at[0] / 32.0).round(), at[1], at[2]];
        let places = motion.places(motion.duration(), 1.0, 0.0, seen);
        assert_eq!(places.map(|places| places.len()), Some(33));
    }

    #[test]
    fn an_interval_has_the_places_between_its_ends() {
        let motion = Motion::new(|time| [0.1 * time, 0.0, 0.0], 1_000_000);
        let along = |places: Vec<Pose>| places.into_iter().map(|at| at.by[0]).collect::<Vec<_>>();
        let places = motion.places(100.0..130.0, 1.0, 0.0, |at| at).map(along);
        assert_eq!(places, Some(vec![10.0, 11.0, 12.0, 13.0]));
    }

    #[test]
    fn the_rate_over_a_step_makes_up_the_displacement_and_the_angle() {
        let motion = Motion::new(|time| [time * time, 0.0, 0.0], 10);
        assert_eq!(motion.rate(2.0, 2.5).velocity, [4.5, 0.0, 0.0]);
        let motion = motion.turning(|time| 0.5 * time * time, [0.0, 0.0, 1.0], [7.0; 3]);
        assert_eq!(motion.rate(2.0, 2.5).at([1.0, 2.0, 0.0]), [4.5 - 2.25 * 2.0, 2.25, 0.0]);
    }
}
