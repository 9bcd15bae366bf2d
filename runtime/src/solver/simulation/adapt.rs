//! When the grid follows the flow, and what that has brought.

use crate::kernels::criteria::Criterion;
use crate::mesh::forest::Outcome;
use crate::solver::error::StepError;
use crate::solver::remesh::adapt::{self, Adaptations};
use crate::solver::simulation::Simulation;

/// Share of the leaves that must have changed before the data are put into order again.
const SCATTERED: f64 = 0.25;

impl Simulation {
    /// Looks at the flow and lets the grid follow; the next step starts on the new one.
    pub(crate) fn adapt(&mut self) -> Result<Outcome, StepError> {
        if self.parts.first().criterion.is_none() {
            return Ok(Outcome::default());
        }
        self.change(None)
    }

    /// The same with a criterion of the caller's, once; between levels that the simulation was made for. Refused where
    /// [`Adaptivity::during`] has made no room.
    pub fn adapt_to(&mut self, criterion: &Criterion) -> Result<Outcome, StepError> {
        if self.parts.first().criterion.is_none() {
            return Err(StepError::StaysAsItIs);
        }
        self.change(Some(criterion))
    }

    /// With a criterion, or with the grid's own.
    fn change(&mut self, criterion: Option<&Criterion>) -> Result<Outcome, StepError> {
        let Simulation { parts, stepper, adapter, .. } = self;
        let ahead =
            adapter.every.and_then(adapt::interval).map(|every| stepper.step as f64..(stepper.step + every) as f64);
        let outcome = parts.change(criterion, &adapter.range, stepper, ahead)?;
        adapter.adaptations.add(outcome);
        adapter.settled = !outcome.changed();
        adapter.scattered += outcome.refined + outcome.coarsened;
        let grid = &parts.first().grid;
        let mut other = outcome.changed();
        if (adapter.scattered << grid.dim()) as f64 > SCATTERED * grid.leaf_count() as f64 {
            let current = parts.reorder(&stepper.current())?;
            stepper.levels.iter_mut().for_each(|level| level.current = current);
            adapter.scattered = 0;
            adapter.adaptations.reorderings += 1;
            other = true;
        }
        if other {
            parts.follow(&stepper.current())?;
        }
        Ok(outcome)
    }

    /// Goes on counting from what an earlier run has counted.
    pub fn restore_adaptations(&mut self, before: Adaptations, scattered: usize) {
        self.adapter.adaptations = Adaptations { room: self.adapter.adaptations.room, ..before };
        self.adapter.scattered = scattered;
    }

    /// Blocks that have changed since the data were put into order the last time.
    pub fn scattered(&self) -> usize {
        self.adapter.scattered
    }

    /// What changes of the grid have brought so far.
    pub fn adaptations(&self) -> Adaptations {
        self.adapter.adaptations
    }
}
