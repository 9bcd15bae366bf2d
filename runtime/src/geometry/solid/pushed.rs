//! Free bodies among the solids of a domain: the fluid pushes them, and they stay apart.

use std::collections::HashMap;

use super::contact::{Ball, Room};
use super::free::{BodyState, Change, Impulse, Turning};
use super::shape::Shape;
use super::vector::{minus, norm};
use super::{Moving, Pose, Rate, Solids};

/// Why a solid is not changed.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Unchanged {
    /// The fluid does not move it.
    NotFree,
    /// It does not turn.
    Held,
    /// It would leave what its flow permits.
    Astray(Astray),
}

/// A free body that has left what its flow permits.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Astray {
    /// Its centre is outside of the domain.
    Outside {
        /// The number of its solid.
        number: usize,
    },
    /// It is faster than this, in cells per step.
    Fast {
        /// The number of its solid.
        number: usize,
        /// Its speed at its fastest point.
        speed: f64,
    },
}

impl Solids {
    /// The free bodies of a level.
    fn free(&self, level: usize) -> impl Iterator<Item = &Moving> {
        self.moving.iter().filter(move |moving| self.levels[moving.number] == level && moving.motion.body().is_some())
    }

    /// Whether the fluid moves any solid of a level.
    pub fn has_free(&self, level: usize) -> bool {
        self.free(level).next().is_some()
    }

    /// Whether the free bodies of a level have the states of a time.
    pub fn is_pushed(&self, level: usize, time: f64) -> bool {
        self.free(level).all(|moving| moving.motion.body().is_some_and(|(_, state)| state.time >= time))
    }

    /// The states of all free bodies, with the numbers of their solids.
    pub fn states(&self) -> Vec<(usize, BodyState)> {
        self.moving.iter().filter_map(|moving| Some((moving.number, *moving.motion.body()?.1))).collect()
    }

    /// Sets states of free bodies; [`Self::set_time`] places them.
    pub fn set_states(&mut self, states: &[(usize, BodyState)]) {
        let states: HashMap<usize, &BodyState> = states.iter().map(|(number, state)| (*number, state)).collect();
        for moving in &mut self.moving {
            if let Some(state) = states.get(&moving.number) {
                moving.motion.set_state(**state);
            }
        }
    }

    /// The states of the free bodies of a level after a step that ends at a time and in which the fluid has given them `impulses`, by the
    /// numbers of their solids. `fastest`: the speed that none may reach, in cells per step.
    pub fn pushed(
        mut self,
        (level, time): (usize, f64),
        impulses: impl Fn(usize) -> Impulse,
        fastest: f64,
    ) -> Result<Vec<(usize, BodyState)>, Astray> {
        let step = 0.5f64.powi(level as i32);
        let drifted: Vec<(usize, BodyState)> = self
            .free(level)
            .filter_map(|moving| {
                let (body, state) = moving.motion.body()?;
                Some((moving.number, BodyState { time, ..body.drift(state, step) }))
            })
            .collect();
        self.set_states(&drifted);
        let viscosity = self.free(level).find_map(|moving| moving.motion.body()?.0.viscosity);
        let Solids { dim, size, periodic, .. } = self;
        let (room, balls) = (Room { dim, size, periodic, viscosity, step }, self.balls(time, step));
        let by_number: HashMap<usize, &Ball> = balls.iter().map(|ball| (ball.number, ball)).collect();
        let mut states = vec![];
        for moving in self.free(level) {
            let Some((body, state)) = moving.motion.body() else { continue };
            let contact = by_number.get(&moving.number).map_or([0.0; 3], |ball| room.force(ball, &balls));
            let next = body.kick(state, impulses(moving.number), contact, step);
            self.permits(moving, &next, fastest)?;
            states.push((moving.number, next));
        }
        Ok(states)
    }

    /// Whether a free body in a state is in the domain, and slower than `fastest`.
    fn permits(&self, moving: &Moving, state: &BodyState, fastest: f64) -> Result<(), Astray> {
        let (Some((body, _)), number) = (moving.motion.body(), moving.number) else { return Ok(()) };
        let is_outside = |axis: &usize| {
            let centre = body.displaced.centre[*axis] + state.by[*axis];
            !self.periodic[*axis] && !(0.0..=self.size[*axis] as f64).contains(&centre)
        };
        if (0..self.dim).any(|axis| is_outside(&axis)) {
            return Err(Astray::Outside { number });
        }
        let speed = norm(state.velocity[1]) + moving.motion.reach(&moving.shape) * norm(state.rotation[1]);
        if speed.is_nan() || speed >= fastest { Err(Astray::Fast { number, speed }) } else { Ok(()) }
    }

    /// The state of a free body after a change between two steps.
    pub fn changed(&self, number: usize, change: &Change, fastest: f64) -> Result<BodyState, Unchanged> {
        let moving = self.moving.iter().find(|moving| moving.number == number).ok_or(Unchanged::NotFree)?;
        let (body, state) = moving.motion.body().ok_or(Unchanged::NotFree)?;
        if body.turning == Turning::Held && (change.rotation.is_some() || change.impulse.torque != [0.0; 3]) {
            return Err(Unchanged::Held);
        }
        let next = body.changed(state, change, 0.5f64.powi(self.levels[number] as i32));
        self.permits(moving, &next, fastest).map_err(Unchanged::Astray)?;
        Ok(next)
    }

    /// Where a moving solid is at a time, from which a step of its level goes on, and its velocity in that step.
    pub fn lies(&self, number: usize, time: f64) -> Option<(Pose, Rate)> {
        let Moving { motion, .. } = self.moving.iter().find(|moving| moving.number == number)?;
        Some((motion.at(time), motion.rate(time, time + 0.5f64.powi(self.levels[number] as i32))))
    }

    /// All solids that are spheres, or circles in two dimensions, at a time.
    fn balls(&self, time: f64, step: f64) -> Vec<Ball> {
        let round = |shape: &Shape| match shape {
            Shape::Sphere { centre, radius } if self.dim == 3 => Some((*centre, *radius)),
            Shape::Cylinder { centre, radius, .. } if self.dim == 2 => Some((*centre, *radius)),
            _ => None,
        };
        let still = self.images[..self.still].iter().filter_map(|placed| {
            let (centre, radius) = round(&placed.shape)?;
            Some(Ball { number: placed.number, centre, radius, velocity: [0.0; 3], mass: None, width: 1.0 })
        });
        let moving = self.moving.iter().filter_map(|moving| {
            let (centre, radius) = round(&moving.shape)?;
            let pose = moving.motion.at(time);
            let rate = moving.motion.rate(time - step, time);
            // That of a solid which turns about another point than its centre.
            let pivot = moving.motion.pivot(pose);
            let (low, high) = moving.motion.placed(&moving.shape, pose).bounds();
            let middle =
                [0, 1, 2].map(|axis| if axis < self.dim { 0.5 * (low[axis] + high[axis]) } else { centre[axis] });
            let velocity = rate.at(pivot.map_or([0.0; 3], |pivot| minus(middle, pivot)));
            let mass = moving.motion.body().map(|(body, _)| body.mass + body.displaced.volume);
            let width = 0.5f64.powi(self.levels[moving.number] as i32);
            Some(Ball { number: moving.number, centre: middle, radius, velocity, mass, width })
        });
        let mut balls: Vec<Ball> = still.chain(moving).collect();
        // Periodic images are those of one ball.
        balls.dedup_by_key(|ball| ball.number);
        balls
    }
}
