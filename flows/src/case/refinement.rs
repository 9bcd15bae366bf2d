//! Where a flow is refined.

use lbm_bundle::criteria::TargetLevel;
use lbm_runtime::geometry::Block;
use lbm_runtime::kernels::Criterion;
use lbm_runtime::solver::Adaptivity;

use super::formula::Formula;
use super::walls::Face;

/// Coupling of levels, if the case names none.
pub const COUPLING: &str = "volumetric_shifted";

/// What the grid follows while it changes, besides solids that move.
#[derive(Clone, Debug, PartialEq)]
pub struct Follow {
    /// What of the flow: a place has the finest level that one of them has there.
    pub indicators: Vec<Indicator>,
    /// Steps between two changes.
    pub every: u64,
    /// Boxes whose blocks do not change: lower and upper corner.
    pub pinned: Vec<([f64; 3], [f64; 3])>,
}

/// What of the flow a grid follows.
#[derive(Clone, Debug, PartialEq)]
pub struct Indicator {
    /// A formula of position, fields and their derivatives.
    pub formula: Formula,
    /// Its value from which on a place has level 1, 2 and so on.
    pub thresholds: Vec<f64>,
    /// Share of its threshold below which a level is given up.
    pub hysteresis: f64,
}

/// Where a flow is refined, in cells of the coarsest level.
#[derive(Clone, Debug, PartialEq)]
pub struct Refinement {
    /// The coarsest level of leaves.
    pub coarsest: usize,
    /// The finest level, 1 or more.
    pub finest: usize,
    /// What the grid follows, if it changes.
    pub follow: Option<Follow>,
    /// Bytes that it may take; none for most of what the device has.
    pub memory: Option<usize>,
    /// The target level at a place.
    pub level: Option<Formula>,
    /// Boxes with a level of their own.
    pub boxes: Vec<RefinedBox>,
    /// Name of the coupling.
    pub coupling: String,
}

/// A box with a level of its own.
#[derive(Clone, Debug, PartialEq)]
pub struct RefinedBox {
    /// Blocks that overlap it have at least this level.
    pub level: usize,
    /// Its lower corner.
    pub from: [f64; 3],
    /// Its upper corner.
    pub to: [f64; 3],
}

impl Refinement {
    /// The criteria that are compiled for it, with `dim` axes: what the grid starts with, and what it follows, if it changes.
    pub fn criteria(&self, dim: usize) -> Vec<Vec<TargetLevel>> {
        let level = self.level.iter().map(|level| TargetLevel::Level(level.get().clone()));
        let within = |region: &RefinedBox| {
            let [from, to] = [region.from, region.to].map(|corner| corner[..dim].to_vec());
            TargetLevel::Within { level: region.level, from, to }
        };
        let start: Vec<TargetLevel> = level.chain(self.boxes.iter().map(within)).collect();
        let during = self.follow.as_ref().map(|follow| {
            let above = follow.indicators.iter().map(|Indicator { formula, thresholds, hysteresis }| {
                let (formula, thresholds) = (formula.get().clone(), thresholds.clone());
                TargetLevel::Above { formula, thresholds, given_up: *hysteresis }
            });
            start.iter().cloned().chain(above).collect()
        });
        std::iter::once(start.clone()).chain(during).collect()
    }

    /// The same for a simulation, with [`Self::criteria`] on its device; none where they are too few. `keeps` is whether it is to
    /// keep fields.
    pub fn adaptivity(&self, criteria: &[Criterion], keeps: bool) -> Option<Adaptivity> {
        let start = criteria.first()?.clone();
        let during = match &self.follow {
            Some(follow) => Some((follow.every, criteria.get(1)?.clone())),
            None => None,
        };
        let pinned = self.follow.as_ref().map_or(vec![], |follow| follow.pinned.clone());
        let levels = self.coarsest..=self.finest;
        Some(Adaptivity { levels, start, during, pinned, memory: self.memory, sharing: 1, keeps })
    }

    /// Whether a block of so many cells along each axis (1 beyond the dimension) is to be refined: the target level at the
    /// centre of one of its cells is higher than its own, or that of a box which overlaps it. For warnings about a case, which
    /// are told before there is a kernel; grids are made by the kernels of [`Self::criteria`], which say the same.
    pub fn refines(&self, block: Block, cells: [usize; 3]) -> bool {
        if block.level >= self.finest {
            return false;
        }
        let width = 0.5f64.powi(block.level as i32);
        let corner = |axis: usize, at: usize| (block.place[axis] * cells[axis] + at) as f64 * width;
        let overlaps =
            |region: &RefinedBox| region.level > block.level && block.overlaps(cells, &region.from, &region.to);
        let Some(level) = self.level.as_ref().filter(|_| !self.boxes.iter().any(overlaps)) else {
            return self.boxes.iter().any(overlaps);
        };
        let target = |cell: usize| {
            let at = [cell % cells[0], cell / cells[0] % cells[1], cell / (cells[0] * cells[1])];
            level.at(std::array::from_fn(|axis| corner(axis, at[axis]) + 0.5 * width), 0.0).floor()
        };
        (0..cells.iter().product()).any(|cell| target(cell) > block.level as f64)
    }

    /// Whether all blocks at a face of a box of `size` cells of level 0 have the same level, but for those that are refined because
    /// of others nearby.
    pub(super) fn has_one_level(&self, face: Face, size: [usize; 3], cells: [usize; 3]) -> bool {
        let roots: [usize; 3] = std::array::from_fn(|axis| size[axis].div_ceil(cells[axis].max(1)));
        let places = |from: [usize; 3], count: [usize; 3], last: [usize; 3]| {
            (0..count.iter().product()).filter_map(move |at: usize| {
                let off = [at % count[0], at / count[0] % count[1], at / (count[0] * count[1])];
                let place: [usize; 3] = std::array::from_fn(|axis| from[axis] + off[axis]);
                (place[face.axis] == if face.high { last[face.axis] } else { 0 }).then_some(place)
            })
        };
        let mut blocks: Vec<Block> = places([0; 3], roots, roots.map(|count| count.saturating_sub(1)))
            .map(|place| Block { level: 0, place })
            .collect();
        let mut found = None;
        while let Some(block) = blocks.pop() {
            if block.level < self.coarsest || self.refines(block, cells) {
                let level = block.level + 1;
                let parts: [usize; 3] = cells.map(|side| if side == 1 { 1 } else { 2 });
                let last: [usize; 3] = std::array::from_fn(|axis| parts[axis].pow(level as u32) * roots[axis] - 1);
                let corner = std::array::from_fn(|axis| parts[axis] * block.place[axis]);
                blocks.extend(places(corner, parts, last).map(|place| Block { level, place }));
            } else if *found.get_or_insert(block.level) != block.level {
                return false;
            }
        }
        true
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn block(level: usize, x: usize, y: usize) -> Block {
        Block { level, place: [x, y, 0] }
    }

    fn refinement(finest: usize, level: Option<Formula>, boxes: Vec<RefinedBox>) -> Refinement {
        Refinement { coarsest: 0, finest, level, boxes, coupling: COUPLING.into(), follow: None, memory: None }
    }

    #[test]
    fn a_box_refines_what_overlaps_it_up_to_its_level() {
        let region = RefinedBox { level: 1, from: [8.0, 0.0, 0.0], to: [16.0, 8.0, 0.0] };
        let refinement = refinement(3, None, vec![region]);
        let refines = |block| refinement.refines(block, [8, 8, 1]);
        assert_eq!([(0, 0), (1, 0), (2, 0), (1, 1)].map(|(x, y)| refines(block(0, x, y))), [false, true, false, false]);
        assert!(!refines(block(1, 2, 0)));
    }

    #[test]
    fn a_face_has_one_level_where_jumps_are_elsewhere() {
        let region = |from, to| RefinedBox { level: 2, from, to };
        let refinement = refinement(
            2,
            None,
            vec![region([0.0, 0.0, 0.0], [32.0, 4.0, 0.0]), region([24.0, 4.0, 0.0], [32.0, 32.0, 0.0])],
        );
        let one = |axis, high| refinement.has_one_level(Face { axis, high }, [32, 32, 1], [8, 8, 1]);
        assert_eq!([one(0, false), one(0, true), one(1, false), one(1, true)], [false, true, true, false]);
    }

    #[test]
    fn a_formula_is_asked_at_every_cell() {
        let (level, _) = Formula::parse("3 - x").expect("a formula");
        let refinement = refinement(2, Some(level), vec![]);
        let refines = |block| refinement.refines(block, [8, 8, 1]);
        assert!(refines(block(0, 0, 0)) && !refines(block(0, 1, 0)));
        assert!(refines(block(1, 0, 0)) && !refines(block(1, 1, 0)) && !refines(block(2, 0, 0)));
    }
}
