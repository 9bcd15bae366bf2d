//! Cells of a grid, counted: those of the domain. Blocks may reach beyond it, and their cells there do not count.

use crate::device::DeviceError;
use crate::mesh::Grid;
use crate::mesh::forest::Leaf;

impl Grid {
    /// Number of cells of all levels.
    pub fn cells(&self) -> usize {
        self.cells_of_levels().iter().sum()
    }

    /// Number of cells of each level, the coarsest first.
    pub fn cells_of_levels(&self) -> Vec<usize> {
        match &self.inside {
            Some(inside) => inside.clone(),
            None => self.levels().iter().map(|level| level.leaves.len() * self.cells_of_block()).collect(),
        }
    }

    /// Whether blocks reach beyond the upper end of an axis.
    pub fn is_padded(&self) -> bool {
        (0..self.dim()).any(|axis| !self.size[axis].is_multiple_of(self.block[axis]))
    }

    /// Counts the cells that lie in the domain, if not all do.
    pub(super) fn count_inside(&mut self) -> Result<(), DeviceError> {
        if !self.is_padded() {
            return Ok(());
        }
        let mut inside = vec![0; self.levels().len()];
        for Leaf { block, .. } in self.leaves()? {
            let size = self.domain().size_of(block.level);
            let along = |axis: usize| {
                let first = block.place[axis] * self.block[axis];
                size[axis].saturating_sub(first).min(self.block[axis])
            };
            inside[block.level] += (0..self.dim()).map(along).product::<usize>();
        }
        self.inside = Some(inside);
        Ok(())
    }

    /// Cells updated in a step of the coarsest level: those of level `l` are updated `2^l` times.
    pub fn updates(&self) -> usize {
        self.cells_of_levels().iter().enumerate().map(|(level, cells)| cells << level).sum()
    }

    fn cells_of_block(&self) -> usize {
        self.block.iter().product()
    }
}
