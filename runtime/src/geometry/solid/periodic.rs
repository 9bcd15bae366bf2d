//! Images of solids: where they are in a domain that may be periodic.

use super::shape::Shape;
use super::vector::Vector;
use super::{Moving, Placed, Pose, Solids};

/// How far outside of the domain a solid may have cut links in it, in cells of the coarsest level: these reach one cell beyond it.
const REACH_OF_LINKS: f64 = 2.0;

impl Solids {
    /// Updates the images of moving solids to their present positions.
    pub(super) fn place(&mut self) {
        self.images.truncate(self.still);
        for moving in &self.moving {
            let images = self.placed(moving, moving.pose, REACH_OF_LINKS);
            self.images.extend(images);
        }
    }

    /// A displacement modulo the domain size along periodic axes.
    pub(super) fn seen(&self, by: Vector) -> Vector {
        [0, 1, 2].map(|axis| match axis < self.dim && self.periodic[axis] {
            true => by[axis] - (by[axis] / self.size[axis] as f64).round() * self.size[axis] as f64,
            false => by[axis],
        })
    }

    /// The images of a moving solid at a position, as far as they come within a distance of the domain.
    pub(super) fn placed(&self, moving: &Moving, pose: Pose, reach: f64) -> Vec<Placed> {
        let Moving { number, shape, motion, .. } = moving;
        let mut by = self.seen(pose.by);
        if motion.turns() {
            // A rotation may move it out of the domain as well.
            let (low, high) = motion.placed(shape, Pose { by, ..pose }).bounds();
            for axis in (0..self.dim).filter(|axis| self.periodic[*axis]) {
                let turns = (0.5 * (low[axis] + high[axis]) / self.size[axis] as f64).floor();
                by[axis] -= if turns.is_finite() { turns * self.size[axis] as f64 } else { 0.0 };
            }
        }
        let at = |turn: Vector| {
            let pose = Pose { by: [0, 1, 2].map(|axis| by[axis] + turn[axis]), ..pose };
            Placed { number: *number, shape: motion.placed(shape, pose), pivot: motion.pivot(pose) }
        };
        let bounds = at([0.0; 3]).shape.bounds();
        self.repeats(shape, bounds, reach).into_iter().map(at).collect()
    }

    /// How far outside of the domain a solid determines the levels of blocks: blocks that touch cut blocks need the level of the surface.
    pub(super) fn reach_of_levels(&self, number: usize) -> f64 {
        let side = self.block.into_iter().max().unwrap_or(1) as f64;
        let levels = (side + 1.0) * self.slack(number);
        self.shells[number].iter().map(|shell| shell.within).fold(levels, f64::max) + self.slack(number)
    }

    /// The displacements at which periodic images of a shape with these bounds come within a distance of the domain.
    pub(super) fn repeats(&self, shape: &Shape, (low, high): (Vector, Vector), reach: f64) -> Vec<Vector> {
        // The outside of one image is not the outside of all images.
        let repeats = !matches!(shape, Shape::Outside(_));
        let turns = |axis: usize| if repeats && axis < self.dim && self.periodic[axis] { -1..=1 } else { 0..=0 };
        let reaches = |by: &Vector| {
            (0..self.dim)
                .all(|axis| high[axis] + by[axis] > -reach && low[axis] + by[axis] < self.size[axis] as f64 + reach)
        };
        let all = turns(2).flat_map(|z| turns(1).flat_map(move |y| turns(0).map(move |x| [x, y, z])));
        all.map(|by| [0, 1, 2].map(|axis| f64::from(by[axis]) * self.size[axis] as f64)).filter(reaches).collect()
    }
}
