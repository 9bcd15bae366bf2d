//! Free bodies among the solids of a domain: the fluid pushes them, they stay apart, and blocks are reserved around them.
//!
//! Where a prescribed motion leads is known; where the fluid moves a body is not. So blocks are reserved within [`ROOM`] cells around each
//! free body, and again when it has come further. Where the grid is adapted, the reserve reaches further, by what the body may move until
//! the next adaptation at twice its present speed.

use super::contact::{Ball, Room};
use super::free::{BodyState, Impulse, Turning};
use super::shape::Shape;
use super::vector::{minus, norm, times};
use super::{Moving, Placed, Pose, Solids};

/// How far a free body may come before blocks are reserved again, in cells of its level.
const ROOM: f64 = 4.0;

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
        for moving in &mut self.moving {
            if let Some((_, state)) = states.iter().find(|(number, _)| *number == moving.number) {
                moving.motion.set_state(*state);
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
        let mut states = vec![];
        for moving in self.free(level) {
            let Some((body, state)) = moving.motion.body() else { continue };
            let contact = balls.iter().find(|ball| ball.number == moving.number);
            let contact = contact.map_or([0.0; 3], |ball| room.force(ball, &balls));
            let next = body.kick(state, impulses(moving.number), contact, step);
            let number = moving.number;
            let centre = [0, 1, 2].map(|axis| body.displaced.centre[axis] + state.by[axis]);
            let is_outside = |axis: usize| !(0.0..=size[axis] as f64).contains(&centre[axis]);
            if (0..dim).any(|axis| !periodic[axis] && is_outside(axis)) {
                return Err(Astray::Outside { number });
            }
            let speed = norm(next.velocity[1]) + moving.motion.reach(&moving.shape) * norm(next.rotation[1]);
            if speed.is_nan() || speed >= fastest {
                return Err(Astray::Fast { number, speed });
            }
            states.push((number, next));
        }
        Ok(states)
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

    /// Reserves blocks around the present positions of free bodies, and further by what they may move in some steps of the coarsest level.
    pub(super) fn reserve_free(&mut self, ahead: f64) {
        for moving in &mut self.moving {
            let Some((_, state)) = moving.motion.body() else { continue };
            let speed = norm(state.velocity[1]) + moving.motion.reach(&moving.shape) * norm(state.rotation[1]);
            self.slack[moving.number] = ROOM * 0.5f64.powi(self.levels[moving.number] as i32) + 2.0 * speed * ahead;
            moving.reserved = moving.motion.at(state.time);
        }
    }

    /// Reserves blocks around free bodies again, at their present positions.
    pub fn follow_free(&mut self) {
        self.reserve_free(0.0);
        let is_free = |number: usize| self.moving.iter().any(|of| of.number == number && of.motion.body().is_some());
        let mut places: Vec<Placed> = self.places.iter().filter(|placed| !is_free(placed.number)).cloned().collect();
        for moving in self.moving.iter().filter(|moving| moving.motion.body().is_some()) {
            places.extend(self.placed(moving, moving.reserved));
        }
        self.places = places.into();
    }

    /// Whether a free body has come further than blocks are reserved for it.
    pub fn strays(&self) -> bool {
        self.moving.iter().any(|moving| {
            let Some((body, state)) = moving.motion.body() else { return false };
            let (now, then) = (moving.motion.at(state.time), moving.reserved);
            let turn = |pose: Pose| times(pose.angle, pose.axis);
            let turned = match body.turning {
                Turning::Held => 0.0,
                Turning::About { .. } => (now.angle - then.angle).abs(),
                // A bound: the way from one orientation to the other.
                Turning::Free => norm(minus(turn(now), turn(then))),
            };
            let moved = (0..self.dim).map(|axis| (now.by[axis] - then.by[axis]).abs()).fold(0.0, f64::max);
            moved + moving.motion.reach(&moving.shape) * turned > self.slack[moving.number]
        })
    }
}
