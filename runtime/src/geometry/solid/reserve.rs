//! Blocks that are reserved for moving solids: those that they may touch, and that have the level of their surfaces.
//!
//! Where a prescribed motion leads is known; where the fluid moves a body is not. So blocks are reserved within [`ROOM`] cells around each
//! free body, and again when it has come further. Where the grid is adapted, the reserve reaches further, by what the body may move until
//! the next adaptation at twice its present speed.

use std::collections::{BTreeSet, HashMap};
use std::ops::Range;
use std::sync::Arc;

use rayon::prelude::*;

use super::free::Turning;
use super::vector::{Vector, minus, norm, times};
use super::{Moving, Placed, Pose, Solids};
use crate::geometry::Block;

/// The longest interval that [`Solids::reserve_from`] tries, in steps of the coarsest level.
const LONGEST_INTERVAL: f64 = 4096.0;

/// How far a free body may come before blocks are reserved again, in cells of its level.
const ROOM: f64 = 2.0;

/// Moving solids at several positions.
#[derive(Debug, Default)]
pub(super) struct Reserved {
    all: Vec<Placed>,
    /// Runs of positions of one solid, with the box around these.
    runs: Vec<(Range<usize>, (Vector, Vector))>,
}

impl Reserved {
    fn new(all: Vec<Placed>) -> Reserved {
        let mut runs: Vec<(Range<usize>, (Vector, Vector))> = vec![];
        for (at, placed) in all.iter().enumerate() {
            let (from, to) = placed.shape.bounds();
            match runs.last_mut().filter(|(run, _)| all[run.start].number == placed.number) {
                Some((run, (low, high))) => {
                    run.end = at + 1;
                    *low = [0, 1, 2].map(|axis| low[axis].min(from[axis]));
                    *high = [0, 1, 2].map(|axis| high[axis].max(to[axis]));
                }
                None => runs.push((at..at + 1, (from, to))),
            }
        }
        Reserved { all, runs }
    }

    /// All but those of runs whose box is farther from the box for their solid than [`Shape::near`](super::Shape::near) may look: it may take the ball around
    /// the box, and of a shape that is turned around a box around the box.
    pub(super) fn near(&self, of: impl Fn(usize) -> (Vector, Vector)) -> impl Iterator<Item = &Placed> {
        let touches = move |(run, (from, to)): &&(Range<usize>, (Vector, Vector))| {
            let (low, high) = of(self.all[run.start].number);
            let reach = 3f64.sqrt() * 0.5 * norm(minus(high, low));
            (0..3).all(|axis| {
                let middle = 0.5 * (low[axis] + high[axis]);
                from[axis] <= middle + reach && to[axis] >= middle - reach
            })
        };
        self.runs.iter().filter(touches).flat_map(|(run, _)| &self.all[run.clone()])
    }
}

impl Solids {
    /// From now on the levels of blocks cover all positions of moving surfaces in an interval, or in the whole run; `None` if that takes
    /// more than [`MOST_PLACES`](super::MOST_PLACES) positions of a solid. Of free bodies they cover what these may move in an interval at twice their speed.
    pub fn reserve(&mut self, times: Option<Range<f64>>) -> Option<()> {
        self.reserve_free(times.as_ref().map_or(0.0, |times| times.end - times.start));
        self.reserve_places(times)
    }

    fn reserve_places(&mut self, times: Option<Range<f64>>) -> Option<()> {
        let mut places = Vec::new();
        for moving in &self.moving {
            let Moving { number, shape, motion, .. } = moving;
            let times = times.clone().unwrap_or_else(|| motion.duration());
            let reach = motion.reach(shape);
            for pose in motion.places(times, self.slack(*number), reach, |by| self.seen(by))? {
                places.extend(self.placed(moving, pose, self.reach_of_levels(*number)));
            }
        }
        // Shapes that rotate into themselves give equal entries.
        places.dedup();
        self.places = Arc::new(Reserved::new(places));
        Some(())
    }

    /// As [`reserve`](Self::reserve), from a time on for as long as is feasible; returns the end of the interval. Free bodies may stray
    /// from what is reserved before.
    pub fn reserve_from(&mut self, start: f64) -> Option<f64> {
        self.reserve_free(0.0);
        let mut steps = LONGEST_INTERVAL;
        while steps >= 1.0 {
            if self.reserve_places(Some(start..start + steps)).is_some() {
                return Some(start + steps);
            }
            steps = (0.5 * steps).floor();
        }
        None
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
        let mut places: Vec<Placed> =
            self.places.all.iter().filter(|placed| !is_free(placed.number)).cloned().collect();
        for moving in self.moving.iter().filter(|moving| moving.motion.body().is_some()) {
            places.extend(self.placed(moving, moving.reserved, self.reach_of_levels(moving.number)));
        }
        self.places = Arc::new(Reserved::new(places));
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

    /// The blocks of a level whose links or cells its moving solids may change in the reserved interval, each with a number of these solids: those
    /// whose surface comes within a cell of it.
    pub fn swept(&self, level: usize) -> BTreeSet<(Block, usize)> {
        let width = 0.5f64.powi(level as i32);
        let of_level = self.places.all.par_iter().filter(|placed| self.levels[placed.number] == level);
        let of_place = |mut found: BTreeSet<(Block, usize)>, Placed { number, shape, .. }: &Placed| {
            let reach = width + self.slack(*number);
            for block in self.blocks_within(shape.bounds(), reach, level) {
                let end = |axis: usize, upper: usize, sign: f64| match axis < self.dim {
                    true => ((block.place[axis] + upper) * self.block[axis]) as f64 * width + sign * reach,
                    false => 0.0,
                };
                let corner = |upper: usize, sign: f64| [0, 1, 2].map(|axis| end(axis, upper, sign));
                if !found.contains(&(block, *number)) && shape.near(corner(0, -1.0), corner(1, 1.0)) {
                    found.insert((block, *number));
                }
            }
            found
        };
        of_level.fold(BTreeSet::new, of_place).reduce(BTreeSet::new, |mut all, more| {
            all.extend(more);
            all
        })
    }

    /// Of solids at rest those that links of a block may meet: whose box comes within a cell of it. Ascending, for each of these blocks.
    pub fn still_beside(&self, blocks: &[Block]) -> Vec<Vec<usize>> {
        let mut found = vec![vec![]; blocks.len()];
        let mut add = |at: usize, number: usize| {
            let of: &mut Vec<usize> = &mut found[at];
            if of.last() != Some(&number) {
                of.push(number);
            }
        };
        let at: HashMap<Block, usize> = blocks.iter().enumerate().map(|(at, block)| (*block, at)).collect();
        let levels: BTreeSet<usize> = blocks.iter().map(|block| block.level).collect();
        for Placed { number, shape, .. } in &self.images[..self.still] {
            for level in &levels {
                let (bounds, reach) = (shape.bounds(), 0.5f64.powi(*level as i32));
                let range = self.range_within(bounds, reach, *level);
                // Whichever are fewer: blocks of the box, or of the list.
                if range.iter().map(Range::len).product::<usize>() <= blocks.len() {
                    let within = self.blocks_within(bounds, reach, *level);
                    within.filter_map(|block| at.get(&block)).for_each(|at| add(*at, *number));
                } else {
                    let is_within = |block: &Block| {
                        block.level == *level && range.iter().zip(block.place).all(|(along, at)| along.contains(&at))
                    };
                    let within = blocks.iter().enumerate().filter(|(_, block)| is_within(block));
                    within.for_each(|(at, _)| add(at, *number));
                }
            }
        }
        found
    }
}
