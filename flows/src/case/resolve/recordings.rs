//! Recordings: planes that a run records, against its domain; and recordings that a face takes, as formulas of place and time.

use std::sync::Arc;

use lbm_bundle::Formula;
use lbm_bundle::formula::{Function, Plane, Recorded, Shape};

use super::resolver::{Grid, Resolver, axis_name, short};
use crate::case::diag::{self, Span, Spanned};
use crate::case::formula::{self, POSITIONS, TIME};
use crate::case::keys::recordings::{RawPlayed, RawRecording};
use crate::case::keys::values::Interval;
use crate::case::recording::{Head, MOST_POINTS, Recording, RecordingFile};
use crate::case::sound::Fastest;
use crate::case::stop::Stop;
use crate::case::units::{Dimension, Units};
use crate::case::walls::Face;

/// Bytes of frames that a device has of a recording at a time, if one step does not read more.
const WINDOW: usize = 1 << 28;

/// Times of a recording at which its velocity is compared with that of sound before the run.
const TIMES: u64 = 16;

impl Resolver<'_> {
    /// Planes that are recorded; `finest` is the finest level that there may be.
    pub(super) fn recordings(
        &mut self,
        size: [usize; 3],
        units: &Units,
        finest: usize,
        stop: Stop,
    ) -> Option<Vec<Recording>> {
        let raw = self.raw;
        let all: Vec<_> = raw.recordings.iter().map(|given| self.recording(given, size, units, finest, stop)).collect();
        all.into_iter().collect()
    }

    fn recording(
        &mut self,
        given: &Spanned<RawRecording>,
        size: [usize; 3],
        units: &Units,
        finest: usize,
        stop: Stop,
    ) -> Option<Recording> {
        let raw = &given.value;
        let Some(velocity) = self.manifest.component_names().iter().position(|name| name == "ux") else {
            let message = format!("`{}` has no velocity `u`", self.manifest.spec);
            return self.report.add(diag::UNKNOWN_WORD, &given.span, message, "nothing flows", None);
        };
        let (normal, place) = (raw.plane.value.normal, &raw.plane.value.at);
        let at = place.value / units.scale(Dimension::LENGTH);
        if normal >= self.dim || !(0.0..=size[normal] as f64).contains(&at) {
            let message = format!("the plane lies {} cells along {}, outside the domain", short(at), axis_name(normal));
            let help = "a plane is normal to an axis of the flow, inside the domain".to_string();
            return self.report.add(diag::OUTSIDE, &place.span, message, "outside", help);
        }
        let across: Vec<usize> = (0..self.dim).filter(|axis| *axis != normal).collect();
        let along = |axis: usize| across.get(axis).map_or(1, |axis| size[*axis] << finest);
        let counts = [along(0), along(1)];
        if counts[0].saturating_mul(counts[1]) > MOST_POINTS {
            let message = format!("the plane has more than {MOST_POINTS} cells of the finest level");
            return self.report.add(diag::BAD_VALUE, &raw.plane.span, message, "too many", None);
        }
        let every = self.interval(&raw.every, units)?;
        let mut step = |interval: &Spanned<Interval>| match interval.value {
            Interval::Steps(steps) => Some(steps),
            Interval::Seconds(0.0) => Some(0),
            Interval::Seconds(_) => self.interval(interval, units),
        };
        let from = raw.from.as_ref().map_or(Some(0), &mut step)?;
        let until = raw.until.as_ref().map_or(Some(stop.steps), &mut step)?;
        let first = from.div_ceil(every).saturating_mul(every);
        if first.saturating_add(every) > until.min(stop.steps) {
            let last = until.min(stop.steps);
            let message = format!("from step {from} to step {last} there is one frame at most, every {every} steps");
            let help = "two frames are the fewest: lower `every`, or record more steps".to_string();
            self.report.add::<()>(diag::NO_SAMPLES, &raw.every.span, message, "too few", help);
        }
        let spacing = 0.5f64.powi(finest as i32);
        let mut points = Vec::with_capacity(counts[0] * counts[1]);
        for second in 0..counts[1] {
            for number in 0..counts[0] {
                let mut point = [0.0; 3];
                point[normal] = at;
                for (axis, number) in across.iter().zip([number, second]) {
                    point[*axis] = (number as f64 + 0.5) * spacing;
                }
                points.push(point);
            }
        }
        let time = units.scale(Dimension::TIME);
        let head = Head {
            components: self.dim,
            normal,
            si: units.si,
            points: counts,
            spacing: spacing * units.scale(Dimension::LENGTH),
            at: at * units.scale(Dimension::LENGTH),
            first: first as f64 * time,
            interval: every as f64 * time,
        };
        Some(Recording { name: raw.name.value.clone(), head, points, velocity, every, steps: [first, until] })
    }

    /// The velocity that a face takes from a recording, in cells per step; `points` are where the face has values, in cells.
    pub(super) fn played(
        &mut self,
        at: Face,
        raw: &Spanned<RawPlayed>,
        points: &[[f64; 3]],
        (units, grid): (&Units, Grid),
    ) -> Option<Vec<formula::Formula>> {
        let RawPlayed { file, repeat, opened } = &raw.value;
        let Some(opened) = opened else {
            let message = format!("`{}` has not been read", file.value);
            return self.report.add(diag::RECORDING, &file.span, message, "not read", None);
        };
        let plane = self.fitted(at, &file.span, (&file.value, opened), *repeat, units, grid)?;
        if let Err(why) = plane.frame(0) {
            let message = format!("`{}` cannot be read: {why}", file.value);
            return self.report.add(diag::RECORDING, &file.span, message, "cannot be read", None);
        }
        let velocity = self.velocity_of(at, &plane, opened.head.spacing / units.scale(Dimension::LENGTH), units);
        let shape = plane.shape();
        let times =
            (0..TIMES).map(|number| (shape.frames - 1).min(number * shape.frames / TIMES) as f64 * shape.interval);
        let Some(Fastest { speed, time, .. }) = Fastest::of(&velocity, points, times) else { return Some(velocity) };
        let mach = speed / self.manifest.main().cs2.sqrt();
        if mach < 1.0 {
            return Some(velocity);
        }
        let message =
            format!("Mach {mach:.2} at step {} of the recording: faster than sound on this lattice", short(time));
        let help = "a tenth of a cell in a step is Mach 0.17".to_string();
        self.report.add(diag::SUPERSONIC, &file.span, message, "too fast", help)
    }

    /// The recording for a face, which must have its normal, its units and its size, and last as long as the run.
    fn fitted(
        &mut self,
        at: Face,
        span: &Span,
        (name, file): (&str, &Arc<RecordingFile>),
        repeats: bool,
        units: &Units,
        Grid { size, .. }: Grid,
    ) -> Option<Plane> {
        let head = file.head;
        let wrong = |resolver: &mut Self, message: String, help: String| {
            resolver.report.add::<Plane>(diag::RECORDING, span, message, "does not fit", help)
        };
        if head.components != self.dim || head.normal != at.axis {
            let message = format!(
                "`{name}` is a plane normal to {} of a flow in {} dimensions; `{}` is normal to {}, in {} dimensions",
                axis_name(head.normal),
                head.components,
                at.name(),
                axis_name(at.axis),
                self.dim
            );
            return wrong(self, message, "record a plane that is parallel to the face".into());
        }
        if head.si != units.si {
            let told = |si: bool| if si { "in m and s" } else { "in cells and steps" };
            let message = format!("`{name}` is {}, and the case is {}", told(head.si), told(units.si));
            return wrong(self, message, "both runs have `[units] system = \"si\"`, or neither".into());
        }
        let (length, time) = (units.scale(Dimension::LENGTH), units.scale(Dimension::TIME));
        let across: Vec<usize> = (0..self.dim).filter(|axis| *axis != at.axis).collect();
        for (axis, points) in across.iter().zip(head.points) {
            let (extent, cells) = (points as f64 * head.spacing / length, size[*axis] as f64);
            if (extent - cells).abs() > 0.5 * (head.spacing / length).max(1.0) {
                let axis = axis_name(*axis);
                let message = format!("`{name}` has {} cells along {axis}, and the face {cells}", short(extent));
                return wrong(
                    self,
                    message,
                    "the plane has the size of the face; only the size of its cells may be another".into(),
                );
            }
        }
        let interval = head.interval / time;
        let (all, steps) = ((file.frames - 1) as f64 * interval, Stop::new(&self.raw.stop, units).steps);
        if !repeats && all * (1.0 + 1e-9) < steps as f64 {
            let message = format!(
                "`{name}` has {} frames and is {} steps long; the run has up to {steps}",
                file.frames,
                short(all)
            );
            let help =
                format!("`repeat = true` begins it again, or the run ends before: `stop.steps = {}`", all.floor());
            return wrong(self, message, help);
        }
        let periodic = self.raw.periodic();
        let periodic = [0, 1].map(|axis| across.get(axis).is_some_and(|axis| periodic[*axis]));
        let shape = Shape {
            name: name.to_string(),
            points: head.points,
            components: head.components,
            frames: file.frames,
            repeats,
            periodic,
            interval,
            window: WINDOW,
        };
        Some(Plane::new(shape, file.clone()))
    }

    /// Its components at a place and a time of the face; `spacing` is that of its points, in cells.
    fn velocity_of(&self, at: Face, plane: &Plane, spacing: f64, units: &Units) -> Vec<formula::Formula> {
        let across: Vec<usize> = (0..self.dim).filter(|axis| *axis != at.axis).collect();
        let over = |a: Formula, b: f64| Formula::apply(Function::Divide, [a, Formula::number(b)]);
        let place = |axis: usize| match across.get(axis) {
            Some(axis) => {
                let points = over(Formula::name(POSITIONS[*axis]), spacing);
                Formula::apply(Function::Subtract, [points, Formula::number(0.5)])
            }
            None => Formula::number(0.0),
        };
        let time = over(Formula::name(TIME), plane.shape().interval);
        let component = |component: usize| {
            let recorded = Recorded { plane: plane.clone(), component };
            let value = Formula::Recorded(recorded, Box::new([place(0), place(1), time.clone()]));
            match units.si {
                true => over(value, units.scale(Dimension::VELOCITY)).into(),
                false => value.into(),
            }
        };
        (0..self.dim).map(component).collect()
    }
}
