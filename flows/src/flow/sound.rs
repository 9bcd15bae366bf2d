//! Walls and solids whose time-dependent formulas exceed the speed of sound between the steps that were checked before
//! the run.

use std::ops::Range;

use lbm_runtime::geometry::solid::{Motion, Vector};
use lbm_runtime::solver::Simulation;

use super::error::FlowError;
use crate::case::sound::{Fastest, on_surface};
use crate::case::{Case, Formula, Wall};

/// Number of steps to check, out of those in an interval.
const LOOKED_AT: u64 = 256;

/// Number of sample points on a face along each axis.
const POINTS: usize = 8;

/// All velocities of a case that depend on time.
pub(super) struct Sound<'a> {
    /// Speed of sound in cells per step.
    speed: f64,
    velocities: Vec<(String, &'a [Formula], Vec<Vector>)>,
    motions: Vec<(String, Motion, f64)>,
}

impl<'a> Sound<'a> {
    pub(super) fn new(case: &'a Case, cs2: f64) -> Sound<'a> {
        let timed = |formulas: &'a [(String, Vec<Formula>)]| {
            let velocity = formulas.iter().find(|(name, _)| name == "velocity").map(|(_, velocity)| &velocity[..]);
            velocity.filter(|velocity| velocity.iter().any(Formula::varies_in_time))
        };
        let of_wall = |face: &'a Wall| {
            face.all().filter_map(move |wall| {
                let mut points = on_face(case, wall);
                points.retain(|at| std::ptr::eq(face.at(*at), wall));
                Some((format!("face `{}`", wall.face.name()), timed(&wall.formulas)?, points))
            })
        };
        let bodies = || case.bodies().flat_map(|body| body.entries.clone().map(move |at| (body.title(), at)));
        let of_body = |(title, at): (String, usize)| {
            let body = &case.solids[at];
            Some((title, timed(&body.formulas)?, on_surface(&body.solid.shape, case.size, case.dim)))
        };
        let motion = |(title, at): (String, usize)| {
            let (body, steps) = (&case.solids[at], case.stop.steps);
            // Of bodies that the fluid moves the solver looks at the speed.
            let motion = body.motion(steps).filter(|motion| motion.body().is_none())?;
            let reach = motion.reach(&body.solid.shape);
            Some((title, motion, reach))
        };
        Sound {
            speed: cs2.sqrt(),
            velocities: case.walls.iter().flat_map(of_wall).chain(bodies().filter_map(of_body)).collect(),
            motions: bodies().filter_map(motion).collect(),
        }
    }

    /// An error if anything exceeds the speed of sound in this range of steps.
    pub(super) fn exceeded(&self, steps: Range<u64>) -> Result<(), FlowError> {
        let apart = (steps.end - steps.start).div_ceil(LOOKED_AT).max(1) as usize;
        let times = || steps.clone().step_by(apart).map(|step| step as f64);
        let velocities = self
            .velocities
            .iter()
            .filter_map(|(title, velocity, points)| Some((title, Fastest::of(velocity, points, times())?)));
        let motions = self.motions.iter().flat_map(|(title, motion, reach)| {
            times().map(move |time| {
                let rate = motion.rate(time, time + 1.0);
                let norm = |of: Vector| of.iter().map(|along| along * along).sum::<f64>().sqrt();
                (title, Fastest { speed: norm(rate.velocity) + reach * norm(rate.rotation), at: [0.0; 3], time })
            })
        });
        let is_fast = |(_, found): &(&String, Fastest)| found.speed.is_nan() || found.speed >= self.speed;
        match velocities.chain(motions).find(is_fast) {
            None => Ok(()),
            Some((title, found)) => Err(FlowError::Supersonic {
                what: title.clone(),
                step: found.time as u64,
                mach: found.speed / self.speed,
            }),
        }
    }
}

/// Speed of sound of the lattice, in cells per step. A well-resolved flow stays far below it.
pub(super) fn sound(flow: &Simulation) -> f64 {
    flow.manifest().main().cs2.sqrt()
}

/// Sample points on the face of a wall, in cells.
fn on_face(case: &Case, wall: &Wall) -> Vec<Vector> {
    let along = |axis: usize, number: usize| (number as f64 + 0.5) / POINTS as f64 * case.size[axis] as f64;
    let point = |number: usize| {
        let mut at = [0, 1, 2]
            .map(|axis| if axis < case.dim { along(axis, number / POINTS.pow(axis as u32) % POINTS) } else { 0.0 });
        at[wall.face.axis] = if wall.face.high { case.size[wall.face.axis] as f64 } else { 0.0 };
        at
    };
    let mut points: Vec<Vector> = (0..POINTS.pow(case.dim as u32)).map(point).collect();
    points.sort_by(|one, other| one.partial_cmp(other).expect("finite"));
    points.dedup();
    points
}
