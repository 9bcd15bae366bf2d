//! Where a flow is refined.

use super::formula::Formula;
use crate::mesh::Block;

/// Coupling of levels, if the case names none.
pub const COUPLING: &str = "volumetric_shifted";

/// Where a flow is refined, in cells of the coarsest level.
#[derive(Clone, Debug, PartialEq)]
pub struct Refinement {
    /// The finest level, 1 or more.
    pub finest: usize,
    /// The level wished at a place.
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
    /// Whether a block of so many cells along each axis (1 beyond the dimension) is to be refined: the level wished at the
    /// centre of one of its cells is higher than its own, or that of a box which overlaps it.
    pub fn refines(&self, block: Block, cells: [usize; 3]) -> bool {
        if block.level >= self.finest {
            return false;
        }
        let width = 0.5f64.powi(block.level as i32);
        let corner = |axis: usize, at: usize| (block.place[axis] * cells[axis] + at) as f64 * width;
        let overlaps = |region: &RefinedBox| {
            region.level > block.level
                && (0..3).all(|axis| {
                    cells[axis] == 1
                        || corner(axis, 0) < region.to[axis] && corner(axis, cells[axis]) > region.from[axis]
                })
        };
        let Some(level) = self.level.as_ref().filter(|_| !self.boxes.iter().any(overlaps)) else {
            return self.boxes.iter().any(overlaps);
        };
        let wished = |cell: usize| {
            let at = [cell % cells[0], cell / cells[0] % cells[1], cell / (cells[0] * cells[1])];
            level.at(std::array::from_fn(|axis| corner(axis, at[axis]) + 0.5 * width)).floor()
        };
        (0..cells.iter().product()).any(|cell| wished(cell) > block.level as f64)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn block(level: usize, x: usize, y: usize) -> Block {
        Block { level, place: [x, y, 0] }
    }

    #[test]
    fn a_box_refines_what_overlaps_it_up_to_its_level() {
        let region = RefinedBox { level: 1, from: [8.0, 0.0, 0.0], to: [16.0, 8.0, 0.0] };
        let refinement = Refinement { finest: 3, level: None, boxes: vec![region], coupling: COUPLING.into() };
        let refines = |block| refinement.refines(block, [8, 8, 1]);
        assert_eq!([(0, 0), (1, 0), (2, 0), (1, 1)].map(|(x, y)| refines(block(0, x, y))), [false, true, false, false]);
        assert!(!refines(block(1, 2, 0)));
    }

    #[test]
    fn a_formula_is_asked_at_every_cell() {
        let (level, _) = Formula::parse("3 - x").expect("a formula");
        let refinement = Refinement { finest: 2, level: Some(level), boxes: vec![], coupling: COUPLING.into() };
        let refines = |block| refinement.refines(block, [8, 8, 1]);
        assert!(refines(block(0, 0, 0)) && !refines(block(0, 1, 0)));
        assert!(refines(block(1, 0, 0)) && !refines(block(1, 1, 0)) && !refines(block(2, 0, 0)));
    }
}
