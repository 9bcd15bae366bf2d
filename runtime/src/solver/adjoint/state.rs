//! States of a flow: copies of its populations at a step.

use crate::device::{Buffer, Int, Stored};
use crate::kernels;
use crate::solver::error::StepError;
use crate::solver::plan::task::PopulationSet;
use crate::solver::simulation::Simulation;
use crate::solver::subdomain::Subdomain;

/// Populations of a flow at a step.
pub struct State {
    step: u64,
    /// Those of each subdomain.
    populations: Vec<Buffer<Stored>>,
}

impl State {
    /// A copy of the current one.
    pub fn of(flow: &Simulation) -> Result<State, StepError> {
        let levels = &flow.stepper.levels[..flow.grid().levels().len()];
        let copied = |subdomain: &Subdomain| {
            let device = subdomain.program().device();
            let first = populations(subdomain, levels[0].current);
            let mut kept = device.alloc_like(first)?;
            device.copy(first, &mut kept)?;
            // The current set of other levels may be the other one.
            if levels.len() > 1 {
                let slots = every_slot(subdomain)?;
                for (level, state) in levels.iter().enumerate().skip(1) {
                    copy_level(subdomain, level, &slots, populations(subdomain, state.current), &mut kept)?;
                }
            }
            Ok(kept)
        };
        let populations = flow.subdomains.here.iter().map(copied).collect::<Result<_, StepError>>()?;
        Ok(State { step: flow.step(), populations })
    }

    /// Bytes that one takes on a device.
    pub fn bytes(flow: &Simulation) -> usize {
        populations(flow.subdomains.first(), PopulationSet::First).own_bytes()
    }

    /// Gives it back to its flow.
    pub fn restore(&self, flow: &mut Simulation) -> Result<(), StepError> {
        flow.stepper.step = self.step;
        let sets: Vec<PopulationSet> = flow.stepper.levels.iter().map(|level| level.current).collect();
        for (subdomain, kept) in flow.subdomains.iter_mut().zip(&self.populations) {
            subdomain.forget_fields();
            let device = subdomain.program().device().clone();
            // What is not of the levels that have a set as their current one has no meaning there.
            for set in PopulationSet::BOTH.into_iter().filter(|set| sets.contains(set)) {
                device.copy(kept, subdomain.populations_mut(set))?;
            }
        }
        Ok(())
    }
}

/// A set of populations.
pub(super) fn populations(subdomain: &Subdomain, set: PopulationSet) -> &Buffer<Stored> {
    &subdomain.fields().populations[set.index()]
}

/// The numbers of all slots.
pub(super) fn every_slot(subdomain: &Subdomain) -> Result<Buffer<Int>, StepError> {
    Ok(subdomain.program().device().ints(&(0..subdomain.grid().slots() as i32).collect::<Vec<_>>())?)
}

/// Copies what is in the slots of own blocks of a level; `slots`: the numbers of all slots.
pub(super) fn copy_level(
    subdomain: &Subdomain,
    level: usize,
    slots: &Buffer<Int>,
    src: &Buffer<Stored>,
    dst: &mut Buffer<Stored>,
) -> Result<(), StepError> {
    for run in subdomain.own_level(level).runs() {
        let ids = subdomain.grid().tables().leaves.slice(run);
        subdomain.program().launch(kernels::Relocate { ids, from: slots, src, dst: &mut *dst })?;
    }
    Ok(())
}
