//! States of a flow: copies of its populations at a step.

use crate::device::{Buffer, Device, Int, Stored};
use crate::kernels;
use crate::solver::error::StepError;
use crate::solver::plan::task::PopulationSet;
use crate::solver::simulation::Simulation;
use crate::solver::subdomain::Subdomain;

/// Populations of a flow at a step.
pub struct State {
    step: u64,
    populations: Buffer<Stored>,
}

impl State {
    /// A copy of the current one.
    pub fn of(flow: &Simulation) -> Result<State, StepError> {
        let device: &Device = flow.device();
        let (subdomain, levels) = (flow.subdomains.first(), &flow.stepper.levels);
        let first = populations(subdomain, levels[0].current);
        let mut kept = device.alloc_like(first)?;
        device.copy(first, &mut kept)?;
        // The current set of other levels may be the other one.
        let slots = every_slot(subdomain)?;
        for (level, state) in levels.iter().enumerate().take(flow.grid().levels().len()).skip(1) {
            copy_level(subdomain, level, &slots, populations(subdomain, state.current), &mut kept)?;
        }
        Ok(State { step: flow.step(), populations: kept })
    }

    /// Bytes that one takes.
    pub fn bytes(flow: &Simulation) -> usize {
        populations(flow.subdomains.first(), PopulationSet::First).bytes()
    }

    /// Gives it back to its flow.
    pub fn restore(&self, flow: &mut Simulation) -> Result<(), StepError> {
        let device = flow.device().clone();
        flow.stepper.step = self.step;
        let sets: Vec<PopulationSet> = flow.stepper.levels.iter().map(|level| level.current).collect();
        flow.subdomains.iter_mut().try_for_each(|subdomain| {
            subdomain.forget_fields();
            // What is not of the levels that have a set as their current one has no meaning there.
            PopulationSet::BOTH
                .into_iter()
                .filter(|set| sets.contains(set))
                .try_for_each(|set| Ok(device.copy(&self.populations, subdomain.populations_mut(set))?))
        })
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

/// Copies what is in the slots of a level; `slots`: those of the flow.
pub(super) fn copy_level(
    subdomain: &Subdomain,
    level: usize,
    slots: &Buffer<Int>,
    src: &Buffer<Stored>,
    dst: &mut Buffer<Stored>,
) -> Result<(), StepError> {
    let ids = subdomain.grid().tables().leaves.slice(subdomain.grid().levels()[level].leaves.clone());
    Ok(subdomain.program().launch(kernels::Relocate { ids, from: slots, src, dst })?)
}
