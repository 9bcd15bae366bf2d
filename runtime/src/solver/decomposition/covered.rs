//! Covered blocks of a ghost coupling, filled from their children when all their cells are needed.

use crate::solver::decomposition::Subdomains;
use crate::solver::error::StepError;
use crate::solver::halo::transfer;
use crate::solver::plan::task::PopulationSet;

impl Subdomains {
    /// Fills the covered blocks of all levels from their children, finest first: all cells if `whole`, otherwise those that no step
    /// computes.
    pub(crate) fn fill_covered(&mut self, current: &[PopulationSet], whole: bool) -> Result<(), StepError> {
        let grid = self.first().grid();
        if !grid.forest().stores_covered() {
            return Ok(());
        }
        let levels = grid.levels().len();
        let families = self.partition().map_or(Ok(vec![]), |partition| transfer::families(grid, partition))?;
        // The finest level has no covered blocks.
        for level in (0..levels.saturating_sub(1)).rev() {
            let first = families.partition_point(|family| family.level <= level);
            let end = families.partition_point(|family| family.level <= level + 1);
            self.send_populations(&families[first..end], current)?;
            self.iter_mut().try_for_each(|subdomain| subdomain.fill_covered(current, level, whole))?;
        }
        Ok(())
    }
}
