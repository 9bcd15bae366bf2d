//! When the grid is adapted, and the statistics of that.

use crate::kernels::criteria::Criterion;
use crate::mesh::forest::Outcome;
use crate::solver::error::StepError;
use crate::solver::remesh::{self, Adaptations};
use crate::solver::simulation::Simulation;

/// Fraction of the leaves that must have changed before the data are reordered along the curve.
const SCATTERED: f64 = 0.25;

impl Simulation {
    /// Adapts the grid to the flow; the next step runs on the new grid.
    pub(crate) fn adapt(&mut self) -> Result<Outcome, StepError> {
        if !self.subdomains.first().is_adapted() {
            return Ok(Outcome::default());
        }
        self.change(None)
    }

    /// The same with a criterion of the caller, once, between the levels that the simulation was made for. Refused if
    /// [`Adaptivity::during`](crate::solver::spec::Adaptivity::during) has reserved no memory for it.
    pub fn adapt_to(&mut self, criterion: &Criterion) -> Result<Outcome, StepError> {
        if !self.subdomains.first().is_adapted() {
            return Err(StepError::StaysAsItIs);
        }
        self.change(Some(criterion))
    }

    /// Adapts the grid to a criterion, by default its own.
    fn change(&mut self, criterion: Option<&Criterion>) -> Result<Outcome, StepError> {
        let Simulation { subdomains, stepper, adapter, .. } = self;
        let ahead =
            adapter.every.and_then(remesh::interval).map(|every| stepper.step as f64..(stepper.step + every) as f64);
        let outcome = subdomains.change(criterion, &adapter.range, stepper, ahead)?;
        adapter.adaptations.add(outcome);
        adapter.settled = !outcome.changed();
        adapter.scattered += outcome.refined + outcome.coarsened;
        let grid = subdomains.first().grid();
        let mut other = outcome.changed();
        if (adapter.scattered << grid.dim()) as f64 > SCATTERED * grid.leaf_count() as f64 {
            let current = subdomains.reorder(&stepper.current())?;
            stepper.levels.iter_mut().for_each(|level| level.current = current);
            adapter.scattered = 0;
            adapter.adaptations.reorderings += 1;
            other = true;
        }
        if other {
            subdomains.follow(&stepper.current())?;
        }
        Ok(outcome)
    }

    /// Continues the statistics of an earlier run.
    pub fn restore_adaptations(&mut self, before: Adaptations, scattered: usize) {
        self.adapter.adaptations = Adaptations { room: self.adapter.adaptations.room, ..before };
        self.adapter.scattered = scattered;
    }

    /// Blocks that have changed since the data were last reordered.
    pub fn scattered(&self) -> usize {
        self.adapter.scattered
    }

    /// Statistics of the adaptations so far.
    pub fn adaptations(&self) -> Adaptations {
        self.adapter.adaptations
    }
}
