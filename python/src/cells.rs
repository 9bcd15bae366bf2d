//! The cells of a flow in the order of its arrays: x fastest on a grid of one level, and block by block on others.

use lbm_runtime::geometry::Cell;
use lbm_runtime::solver;
use lbm_runtime::solver::snapshot::Snapshot;
use miette::{IntoDiagnostic, Result};

/// Where cells are: a snapshot without values.
pub struct Cells(Snapshot);

impl Cells {
    /// Those of a flow, as its snapshots have them.
    pub fn of(flow: &solver::Simulation) -> Result<Cells> {
        let (leaves, domain, step) = (flow.grid().leaves().into_diagnostic()?, flow.grid().domain(), flow.step());
        if leaves.iter().all(|leaf| leaf.block.level == 0) {
            return Ok(Cells(Snapshot::uniform(step, domain, vec![])));
        }
        let block = flow.manifest().block.map(|side| side as usize);
        Ok(Cells(Snapshot::new(step, domain, block, leaves.iter().map(|leaf| leaf.block).collect(), vec![])))
    }

    /// The axes of an array of a value in each cell: `[z,] y, x`, on a refined grid `block, [z,] y, x`.
    pub fn shape(&self) -> Vec<usize> {
        let axes = (0..self.0.dim()).rev();
        match self.0.is_uniform() {
            true => axes.map(|axis| self.0.size()[axis]).collect(),
            false => [self.0.blocks().len()].into_iter().chain(axes.map(|axis| self.0.block()[axis])).collect(),
        }
    }

    /// Where a cell is in such an array, if it is in the domain.
    pub fn at(&self, cell: Cell) -> Option<usize> {
        self.0.cover(cell).map(|(at, _)| at).filter(|_| self.0.domain.contains(cell))
    }
}
