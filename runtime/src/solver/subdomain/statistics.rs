//! Samples of statistics over time, which a subdomain accumulates for its blocks.

use crate::kernels::statistics;
use crate::solver::arrays::params::LevelState;
use crate::solver::arrays::statistics::Statistics;
use crate::solver::error::StepError;
use crate::solver::subdomain::Subdomain;

impl Subdomain {
    /// Adds the fields of its blocks to some statistics.
    pub(crate) fn accumulate(&mut self, levels: &[LevelState], due: &[usize]) -> Result<(), StepError> {
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
                        ids: list.slice(run.clone()),
                        nodes: &tables.node,
                        levels: &tables.level,
                        near: &tables.near,
                        children: &tables.child,
                        parents: &tables.parent,
                        slots: &tables.slot,
                        cut: i32::from(self.bodies.is_some()),
                        rows: self.bodies.as_ref().map_or(&tables.node, |bodies| &bodies.rows),
                        links: self.bodies.as_ref().map_or(&tables.node, |bodies| bodies.links()),
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

    /// Sets the number of samples of a statistic.
    pub(crate) fn set_samples(&mut self, number: usize, samples: u64) {
        if let Some(statistics) = &mut self.statistics {
            statistics.samples[number] = samples;
        }
    }
}
