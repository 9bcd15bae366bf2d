//! Motions of solids, prescribed: how far a solid is from where its shape is given, at each time.
//!
//! A solid moves as a whole and does not turn. Its velocity over a step is the displacement in it over its length, a central difference in
//! the middle of the step: the fluid that the surface displaces is then what it sweeps over.

use std::collections::BTreeSet;
use std::fmt;
use std::ops::Range;
use std::sync::Arc;

use super::Vector;

/// Most places that stand for a way.
pub const MOST_PLACES: usize = 4096;

/// Most times at which a way is looked at.
const MOST_TIMES: u64 = 1 << 20;

/// A motion.
#[derive(Clone)]
pub struct Motion {
    displacement: Arc<dyn Fn(f64) -> Vector + Send + Sync>,
    steps: u64,
}

impl fmt::Debug for Motion {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.debug_struct("Motion").field("steps", &self.steps).finish_non_exhaustive()
    }
}

impl Motion {
    /// By a displacement in cells of the coarsest level at each time, in its steps; it lasts for so many of them.
    pub fn new(displacement: impl Fn(f64) -> Vector + Send + Sync + 'static, steps: u64) -> Motion {
        Motion { displacement: Arc::new(displacement), steps }
    }

    /// The displacement at a time.
    pub fn at(&self, time: f64) -> Vector {
        (self.displacement)(time)
    }

    /// The mean velocity from one time to another.
    pub fn velocity(&self, from: f64, to: f64) -> Vector {
        let (before, after) = (self.at(from), self.at(to));
        [0, 1, 2].map(|axis| (after[axis] - before[axis]) / (to - from))
    }

    /// From its beginning to its end, in steps of the coarsest level.
    pub fn duration(&self) -> Range<f64> {
        0.0..self.steps as f64
    }

    /// Displacements of which one at least is nearer than `width` along each axis to that at any time of an interval; none where more
    /// than [`MOST_PLACES`] are needed. `seen` is where the solid is seen with a displacement, for periodic axes.
    pub fn places(&self, times: Range<f64>, width: f64, seen: impl Fn(Vector) -> Vector) -> Option<Vec<Vector>> {
        let (start, length) = (times.start, times.end - times.start);
        let times = (length.ceil() as u64).clamp(1, MOST_TIMES);
        let time = |number: u64| start + length * number as f64 / times as f64;
        let mut places = BTreeSet::new();
        let mut before = self.at(start);
        for number in 0..=times {
            let after = self.at(time(number));
            let apart = (0..3).map(|axis| (after[axis] - before[axis]).abs()).fold(0.0, f64::max);
            // Straight between two times.
            let parts = (2.0 * apart / width).ceil().max(1.0);
            if parts > MOST_PLACES as f64 {
                return None;
            }
            for part in 1..=parts as usize {
                let part = part as f64 / parts;
                let at = seen([0, 1, 2].map(|axis| before[axis] + part * (after[axis] - before[axis])));
                places.insert(at.map(|at| (at / width).round() as i64));
            }
            if places.len() > MOST_PLACES {
                return None;
            }
            before = after;
        }
        Some(places.into_iter().map(|place| place.map(|at| at as f64 * width)).collect())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn some_place_is_near_the_solid_at_any_time() {
        let motion = Motion::new(|time| [7.0 * (0.3 * time).sin(), 3.0 * (0.2 * time).cos(), 0.0], 400);
        let places = motion.places(motion.duration(), 0.5, |at| at).expect("a short way");
        assert!(places.len() < 400, "{}", places.len());
        for tenth in 0..4000 {
            let at = motion.at(f64::from(tenth) / 10.0);
            let near = |place: &&Vector| (0..3).all(|axis| (place[axis] - at[axis]).abs() < 0.5);
            assert!(places.iter().find(near).is_some(), "{at:?}");
        }
    }

    #[test]
    fn a_way_without_end_has_places_only_where_it_comes_again() {
        let motion = Motion::new(|time| [0.1 * time, 0.0, 0.0], 1_000_000);
        assert!(motion.places(motion.duration(), 1.0, |at| at).is_none());
        let seen = |at: Vector| [at[0] - 32.0 * (at[0] / 32.0).round(), at[1], at[2]];
        let places = motion.places(motion.duration(), 1.0, seen);
        assert_eq!(places.map(|places| places.len()), Some(33));
    }

    #[test]
    fn an_interval_has_the_places_between_its_ends() {
        let motion = Motion::new(|time| [0.1 * time, 0.0, 0.0], 1_000_000);
        let along = |places: Vec<Vector>| places.into_iter().map(|at| at[0]).collect::<Vec<_>>();
        assert_eq!(motion.places(100.0..130.0, 1.0, |at| at).map(along), Some(vec![10.0, 11.0, 12.0, 13.0]));
    }

    #[test]
    fn the_velocity_over_a_step_makes_up_the_displacement() {
        let motion = Motion::new(|time| [time * time, 0.0, 0.0], 10);
        assert_eq!(motion.velocity(2.0, 2.5), [4.5, 0.0, 0.0]);
    }
}
