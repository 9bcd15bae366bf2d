//! Recordings in formulas: values on the points of a plane, at equidistant times.
//!
//! Between points and between times values are linear. A recording may be larger than memory: whoever evaluates it has a [window](Plane::slots) of
//! frames, of which the one with the number `k` is in the slot `k % slots`. All arithmetic is in 64 bits, in one order, so that the value is the same
//! on every device.

use std::fmt;
use std::ops::Range;
use std::sync::{Arc, Mutex, PoisonError};

/// Places are less than this, in points, and times, in frames.
const FAR: f64 = 1e9;
const FAR_OFF: f64 = 1e15;

/// Frames that are in memory on the host.
const KEPT: usize = 2;

/// Where the frames of a recording come from.
pub trait Frames: fmt::Debug + Send + Sync {
    /// All values of a frame, index `[second][first][component]`; the error says what is wrong with the file.
    fn read(&self, number: u64) -> Result<Vec<f32>, String>;
}

/// What is known of a recording before it is read.
#[derive(Clone, Debug, PartialEq)]
pub struct Shape {
    /// What messages call it.
    pub name: String,
    /// Points along both axes of the plane.
    pub points: [usize; 2],
    /// Values at a point.
    pub components: usize,
    /// Number of frames, 2 or more.
    pub frames: u64,
    /// Whether it begins again when it ends: the time from the last frame to the first is that between two frames.
    pub repeats: bool,
    /// Along which axes the last point is beside the first.
    pub periodic: [bool; 2],
    /// Steps of level 0 between frames.
    pub interval: f64,
    /// Bytes that its frames have on a device at a time, unless those that a step reads are more.
    pub window: usize,
}

type Kept = Vec<(u64, Arc<[f32]>)>;

/// A recording. Cheap to clone.
#[derive(Clone, Debug)]
pub struct Plane {
    shape: Arc<Shape>,
    frames: Arc<dyn Frames>,
    kept: Arc<Mutex<Kept>>,
}

impl PartialEq for Plane {
    fn eq(&self, other: &Plane) -> bool {
        self.shape == other.shape && Arc::ptr_eq(&self.frames, &other.frames)
    }
}

impl Plane {
    /// A recording that has these frames.
    pub fn new(shape: Shape, frames: Arc<dyn Frames>) -> Plane {
        Plane { shape: Arc::new(shape), frames, kept: Arc::default() }
    }

    /// What is known of it.
    pub fn shape(&self) -> &Shape {
        &self.shape
    }

    /// Values of a frame.
    pub fn length(&self) -> usize {
        let Shape { points: [first, second], components, .. } = *self.shape;
        first * second * components
    }

    /// Frames that a device has at a time: all, or a window of those around the time of the flow, of which a step needs so many at most.
    pub fn slots(&self) -> usize {
        let of_a_step = self.shape.interval.recip().ceil() as usize + 3;
        let fit = self.shape.window / (size_of::<f64>() * self.length()).max(1);
        fit.max(of_a_step).min(usize::try_from(self.shape.frames).unwrap_or(usize::MAX))
    }

    /// The frames that steps from one to another read. Where it repeats, those after the last are the first ones again.
    pub fn frames_of(&self, steps: [u64; 2]) -> Range<u64> {
        let frame = |step: u64| (step as f64 / self.shape.interval).floor() as u64;
        let all = if self.shape.repeats { u64::MAX } else { self.shape.frames };
        let end = frame(steps[1]).saturating_add(2).min(all);
        frame(steps[0]).min(end - 1)..end
    }

    /// The last step, of those after `step`, up to which all frames that are read have slots; the next one at least.
    pub fn reach(&self, step: u64, until: u64) -> u64 {
        let slots = self.slots() as u64;
        if self.shape.frames <= slots {
            return until;
        }
        let (mut low, mut high) = (step + 1, until.max(step + 1));
        while low < high {
            let middle = low + (high - low).div_ceil(2);
            let frames = self.frames_of([step, middle]);
            if frames.end - frames.start <= slots { low = middle } else { high = middle - 1 }
        }
        low
    }

    /// The values of a frame, all of them finite.
    pub fn frame(&self, number: u64) -> Result<Arc<[f32]>, String> {
        let number = number % self.shape.frames;
        let mut kept = self.kept.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some((_, values)) = kept.iter().find(|(known, _)| *known == number) {
            return Ok(values.clone());
        }
        let values: Arc<[f32]> = self.frames.read(number)?.into();
        if values.len() != self.length() {
            return Err(format!("frame {number} has {} values, not {}", values.len(), self.length()));
        }
        if values.iter().any(|value| !value.is_finite()) {
            return Err(format!("frame {number} has values that are not finite"));
        }
        if kept.len() == KEPT {
            kept.remove(0);
        }
        kept.push((number, values.clone()));
        Ok(values)
    }

    /// The value of a component at a place, in points from the first one, and a time, in frames; not a number where it cannot be read.
    fn at(&self, component: usize, [first, second, time]: [f64; 3]) -> f64 {
        let Shape { points, components, frames, repeats, periodic, .. } = *self.shape;
        if time.is_nan() || time.abs() >= FAR_OFF {
            return f64::NAN;
        }
        let last = (frames - 1) as f64;
        let time = if repeats { time.max(0.0) } else { time.clamp(0.0, last) };
        let begun = time.floor();
        let after = if repeats { begun + 1.0 } else { (begun + 1.0).min(last) };
        let along = [between(first, points[0], periodic[0]), between(second, points[1], periodic[1])];
        let (Some(a), Some(b)) = (along[0], along[1]) else { return f64::NAN };
        let in_frame = |number: f64| {
            let frame = self.frame(number as u64).ok()?;
            let value = |i: usize, j: usize| f64::from(frame[(j * points[0] + i) * components + component]);
            let row = |j: usize| (1.0 - a.way) * value(a.low, j) + a.way * value(a.high, j);
            Some((1.0 - b.way) * row(b.low) + b.way * row(b.high))
        };
        let way = time - begun;
        let both = in_frame(begun).zip(in_frame(after));
        both.map_or(f64::NAN, |(one, other)| (1.0 - way) * one + way * other)
    }
}

/// The points beside a place, and how far it is from the lower one.
#[derive(Clone, Copy)]
struct Between {
    low: usize,
    high: usize,
    way: f64,
}

/// Of so many points.
fn between(at: f64, points: usize, periodic: bool) -> Option<Between> {
    if at.is_nan() || at.abs() >= FAR {
        return None;
    }
    let all = points as f64;
    let at = if periodic { at - (at / all).floor() * all } else { at.clamp(0.0, all - 1.0) };
    let low = (at.floor() as usize).min(points - 1);
    let high = if low + 1 < points {
        low + 1
    } else if periodic {
        0
    } else {
        low
    };
    Some(Between { low, high, way: at - low as f64 })
}

/// A component of a recording.
#[derive(Clone, Debug, PartialEq)]
pub struct Recorded {
    /// The recording.
    pub plane: Plane,
    /// Which value of a point, from 0.
    pub component: usize,
}

impl Recorded {
    /// Its value at a place along both axes, in points from the first one, and a time, in frames.
    pub(super) fn at(&self, point: [f64; 3]) -> f64 {
        self.plane.at(self.component, point)
    }
}

#[cfg(test)]
mod tests {
    use super::super::Formula;
    use super::*;

    /// Frames of 3 x 2 points with two components: the second is `10 frame + first + 3 second`.
    #[derive(Debug)]
    struct Made(f32);

    impl Frames for Made {
        fn read(&self, number: u64) -> Result<Vec<f32>, String> {
            Ok((0..6).flat_map(|at| [self.0, 10.0 * number as f32 + at as f32]).collect())
        }
    }

    fn plane(repeats: bool, periodic: [bool; 2], interval: f64) -> Plane {
        let name = "made".to_string();
        let shape =
            Shape { name, points: [3, 2], components: 2, frames: 4, repeats, periodic, interval, window: 1 << 20 };
        Plane::new(shape, Arc::new(Made(0.0)))
    }

    fn value(plane: &Plane, point: [f64; 3]) -> f64 {
        let point = point.map(Formula::number);
        let recorded = Recorded { plane: plane.clone(), component: 1 };
        Formula::Recorded(recorded, Box::new(point)).constant().expect("a number")
    }

    #[test]
    fn between_points_and_frames_it_is_linear_and_beyond_them_the_same_or_from_the_start() {
        let (ends, around) = (plane(false, [false; 2], 1.0), plane(true, [true, false], 1.0));
        for (plane, point, expected) in [
            (&ends, [0.5, 0.5, 1.25], 12.5 + 0.5 + 1.5),
            (&ends, [-4.0, 7.0, 99.0], 30.0 + 3.0),
            (&ends, [9.0, 0.0, -1.0], 2.0),
            (&around, [2.5, 0.0, 0.0], 1.0),
            (&around, [-0.25, 0.0, 0.0], 0.5),
            (&around, [0.0, 0.0, 3.5], 15.0),
            (&around, [0.0, 0.0, 41.0], 10.0),
        ] {
            assert_eq!(value(plane, point), expected, "{point:?}");
        }
        assert!(value(&ends, [f64::NAN, 0.0, 0.0]).is_nan());
    }

    #[test]
    fn steps_read_the_frames_from_that_before_them_to_that_after_them() {
        let plane = plane(false, [false; 2], 4.0);
        assert_eq!([plane.frames_of([0, 3]), plane.frames_of([3, 4]), plane.frames_of([9, 900])], [0..2, 0..3, 2..4]);
        assert_eq!(self::plane(true, [false; 2], 2.0).frames_of([8, 9]), 4..6);
        assert_eq!(plane.slots(), 4, "all are in memory");
    }

    #[test]
    fn steps_go_as_far_as_a_window_has_room_for_their_frames() {
        let shape = Shape { frames: 1000, window: 0, ..plane(true, [false; 2], 0.5).shape().clone() };
        let plane = Plane::new(shape, Arc::new(Made(0.0)));
        // Two frames in a step, and one behind the last.
        assert_eq!((plane.slots(), plane.frames_of([10, 11]), plane.reach(10, 90)), (5, 20..24, 11));
        let plane = Plane::new(Shape { interval: 4.0, ..plane.shape().clone() }, Arc::new(Made(0.0)));
        assert_eq!((plane.slots(), plane.reach(10, 90), plane.reach(10, 12)), (4, 19, 12));
        assert_eq!(plane.frames_of([10, 19]), 2..6);
    }

    #[test]
    fn what_is_not_finite_is_told() {
        let shape = plane(false, [false; 2], 1.0).shape().clone();
        let broken = Plane::new(shape, Arc::new(Made(f32::NAN)));
        assert!(broken.frame(3).expect_err("not a number").contains("frame 3 has values that are not finite"));
        assert!(value(&broken, [0.0; 3]).is_nan());
    }
}
