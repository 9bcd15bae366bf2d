//! Samples of statistics over time: accumulated on the device, read from the host.

use crate::solver::decomposition::collect::For;
use crate::solver::error::StepError;
use crate::solver::measure::gather;
use crate::solver::measure::snapshot::Snapshot;
use crate::solver::simulation::Simulation;

impl Simulation {
    /// Adds the fields of the current step to some statistics, by their numbers in
    /// [`GridSpec::statistics`](crate::solver::GridSpec::statistics).
    pub fn accumulate(&mut self, due: &[usize]) -> Result<(), StepError> {
        if due.is_empty() {
            return Ok(());
        }
        let Simulation { subdomains, stepper, .. } = self;
        let known = subdomains.first().statistics();
        if known.is_some_and(|statistics| due.iter().any(|number| statistics.kernels.reads_slopes(*number))) {
            // Slopes also read fields of adjacent blocks.
            subdomains.iter_mut().try_for_each(|subdomain| subdomain.sample(&stepper.levels))?;
            subdomains.exchange_fields()?;
        }
        subdomains.iter_mut().try_for_each(|subdomain| subdomain.accumulate(&stepper.levels, due))
    }

    /// Number of samples of each statistic.
    pub fn samples(&self) -> &[u64] {
        self.subdomains.first().statistics().map_or(&[], |statistics| &statistics.samples)
    }

    /// The accumulators of a statistic in every cell, in lattice units, the components in the order of
    /// [`Statistic`](lbm_bundle::statistics::Statistic); they have no names. `None` if there is no such statistic. In several processes
    /// the first has the values, and others have zeros.
    pub fn accumulators(&self, number: usize) -> Result<Option<Snapshot>, StepError> {
        let Some(statistics) = self.subdomains.first().statistics().filter(|all| number < all.values.len()) else {
            return Ok(None);
        };
        let (manifest, leaves) = (self.manifest(), self.grid().shared_leaves()?);
        let layout = statistics.layout(manifest, number);
        let names = vec![String::new(); layout.components()];
        let read = |range| {
            self.subdomains.read(layout, range, For::First, |subdomain| Some(&subdomain.statistics()?.values[number]))
        };
        let mut snapshot = gather::gather(read, (layout, names), self.grid().domain(), &leaves, self.step())?;
        gather::mask_solid(&mut snapshot, manifest, &leaves, self.cutters().map(|cutters| &**cutters));
        Ok(Some(snapshot))
    }
}
