//! Samples of statistics over time: accumulated on the device, read from the host.

use crate::kernels::statistics;
use crate::solver::arrays::params::Level;
use crate::solver::arrays::statistics::Statistics;
use crate::solver::error::StepError;
use crate::solver::measure::gather;
use crate::solver::measure::snapshot::Snapshot;
use crate::solver::parts::collect::For;
use crate::solver::simulation::Simulation;
use crate::solver::subdomain::Subdomain;

impl Simulation {
    /// Adds the fields of the current step to some statistics, by their numbers in
    /// [`GridSpec::statistics`](crate::solver::GridSpec::statistics).
    pub fn accumulate(&mut self, due: &[usize]) -> Result<(), StepError> {
        if due.is_empty() {
            return Ok(());
        }
        let Simulation { parts, stepper, .. } = self;
        let known = parts.first().statistics.as_ref();
        if known.is_some_and(|statistics| due.iter().any(|number| statistics.kernels.reads_slopes(*number))) {
            // Slopes also read fields of adjacent blocks.
            parts.iter_mut().try_for_each(|subdomain| subdomain.sample(&stepper.levels))?;
            parts.exchange_fields()?;
        }
        parts.iter_mut().try_for_each(|subdomain| subdomain.accumulate(&stepper.levels, due))
    }

    /// Number of samples of each statistic.
    pub fn samples(&self) -> &[u64] {
        self.parts.first().statistics.as_ref().map_or(&[], |statistics| &statistics.samples)
    }

    /// The accumulators of a statistic in every cell, in lattice units, the components in the order of
    /// [`Statistic`](lbm_bundle::statistics::Statistic); they have no names. `None` if there is no such statistic. In several processes
    /// the first has the values, and others have zeros.
    pub fn accumulators(&self, number: usize) -> Result<Option<Snapshot>, StepError> {
        let Some(statistics) = self.parts.first().statistics.as_ref().filter(|all| number < all.values.len()) else {
            return Ok(None);
        };
        let (manifest, leaves) = (self.manifest(), self.grid().shared_leaves()?);
        let layout = statistics.layout(manifest, number);
        let names = vec![String::new(); layout.components()];
        let read =
            |range| self.parts.read(layout, range, For::First, |part| Some(&part.statistics.as_ref()?.values[number]));
        let mut snapshot = gather::gather(read, (layout, names), self.grid().domain(), &leaves, self.step())?;
        gather::mark_solid(&mut snapshot, manifest, &leaves, self.cutters().map(|cutters| &**cutters));
        Ok(Some(snapshot))
    }
}

impl Subdomain {
    /// Adds the fields of its blocks to some statistics.
    fn accumulate(&mut self, levels: &[Level], due: &[usize]) -> Result<(), StepError> {
        for window in self.windows() {
            self.sample_window(levels, &window)?;
            let (tables, every) = (self.grid.tables(), self.grid.forest().every());
            let (lists, first): (Vec<_>, usize) = match self.is_whole() {
                true => (self.own_runs().into_iter().map(|run| (&tables.leaves, run)).collect(), 0),
                false => (vec![(every, window.clone())], window.start),
            };
            let Some(Statistics { kernels, values, samples }) = &mut self.statistics else { break };
            for (number, (list, run)) in due.iter().flat_map(|number| lists.iter().map(move |list| (number, list))) {
                kernels.launch(
                    self.program.manifest(),
                    *number,
                    statistics::Accumulate {
                        ids: list.part(run.clone()),
                        nodes: &tables.node,
                        levels: &tables.level,
                        near: &tables.near,
                        children: &tables.child,
                        parents: &tables.parent,
                        slots: &tables.slot,
                        cut: i32::from(self.bodies.is_some()),
                        rows: self.bodies.as_ref().map_or(&tables.node, |bodies| &bodies.rows),
                        links: self.bodies.as_ref().map_or(&tables.node, |bodies| &bodies.links),
                        first: first as i32,
                        fields: &self.fields.macroscopic,
                        samples: i32::try_from(samples[*number]).unwrap_or(i32::MAX),
                        values: &mut values[*number],
                    },
                )?;
            }
        }
        if let Some(statistics) = &mut self.statistics {
            due.iter().for_each(|number| statistics.samples[*number] += 1);
        }
        Ok(())
    }
}
