//! The grid follows the flow, and populations follow the grid: the order of an adaptation over all subdomains, and its statistics.

use std::ops::{Range, RangeInclusive};

use serde::{Deserialize, Serialize};

use crate::geometry::Block;
use crate::kernels::criteria::Criterion;
use crate::mesh::forest::Outcome;
use crate::solver::arrays::memory::UNEVEN;
use crate::solver::decomposition::Subdomains;
use crate::solver::error::StepError;
use crate::solver::halo::transfer::Reach;
use crate::solver::plan::task::PopulationSet;
use crate::solver::step::Stepper;
use crate::solver::subdomain::Subdomain;

/// Statistics of the adaptations so far.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Adaptations {
    /// How often the grid was checked.
    pub looks: u64,
    /// How often it changed.
    pub changes: u64,
    /// How often there was no room for all refinements.
    pub refusals: u64,
    /// The largest number of refinements refused at a time for lack of room.
    pub most_refused: usize,
    /// Blocks that there is room for.
    pub room: usize,
    /// How often the data were reordered along the curve.
    pub reorderings: u64,
}

impl Adaptations {
    pub(crate) fn add(&mut self, outcome: Outcome) {
        self.looks += 1;
        self.changes += u64::from(outcome.changed());
        self.refusals += u64::from(outcome.refused() > 0);
        self.most_refused = self.most_refused.max(outcome.refused());
    }
}

/// Steps between two adaptations, if that is fixed; `None` for a grid that changes on request only.
pub(crate) fn interval(every: u64) -> Option<u64> {
    (every > 0 && every < u64::MAX).then_some(every)
}

/// The passes that set a grid up, each of which refines by one level. A grid that keeps changing, because its target levels are finer
/// where it is coarse and coarser where it is fine, is used as the last pass has left it, with a [`warning`](unsettled).
pub(crate) fn first_passes(levels: &RangeInclusive<usize>) -> std::ops::Range<usize> {
    0..2 * (levels.end() + 1)
}

/// The warning that the grid still changed in the last of the passes that set it up.
pub(crate) fn unsettled(levels: &RangeInclusive<usize>, outcome: Outcome) -> String {
    format!(
        "the grid that the flow starts with is not settled: after {} passes {} blocks are still refined or coarsened in turn, and it is \
         taken as it is; `refinement.level` or the criterion has features narrower than a cell, which only finer cells see: make them \
         wider, or use `refinement.boxes`",
        first_passes(levels).len(),
        outcome.refined + outcome.coarsened
    )
}

/// How often the grid is adapted, and the statistics of that: the same on all devices.
pub(crate) struct Adapter {
    /// Steps of the coarsest level between two adaptations, if the grid changes.
    pub(crate) every: Option<u64>,
    /// Levels that leaves may have.
    pub(crate) range: RangeInclusive<usize>,
    pub(crate) adaptations: Adaptations,
    /// Whether the last adaptation has changed nothing.
    pub(crate) settled: bool,
    /// Blocks that have changed since the data were last reordered.
    pub(crate) scattered: usize,
}

impl Adapter {
    pub(crate) fn new(every: Option<u64>, range: RangeInclusive<usize>, adaptations: Adaptations) -> Self {
        Adapter { every, range, adaptations, settled: true, scattered: 0 }
    }

    /// Steps from `step` until the next adaptation, if there is one.
    pub(crate) fn steps_until_change(&self, step: u64) -> Option<u64> {
        self.every.map(|every| every - step % every)
    }
}

impl Subdomains {
    /// Adapts the forest to the target levels of a criterion, by default that of the grid, for the fields of the current step, and to
    /// moving solids within the interval `ahead`, or during their whole motion. Populations and reference fields are transferred.
    pub(crate) fn change(
        &mut self,
        criterion: Option<&Criterion>,
        range: &RangeInclusive<usize>,
        stepper: &Stepper,
        ahead: Option<Range<f64>>,
    ) -> Result<Outcome, StepError> {
        if !self.first().moves() {
            return self.change_once(criterion, range, stepper);
        }
        self.iter_mut().try_for_each(|subdomain| subdomain.reserve(ahead.clone()))?;
        let mut all = Outcome::default();
        // Each pass refines by one level.
        loop {
            self.iter_mut().try_for_each(Subdomain::demand)?;
            let outcome = self.change_once(criterion, range, stepper)?;
            all.add(outcome);
            if outcome.changed() {
                self.iter_mut().try_for_each(Subdomain::renew_solids)?;
                self.renew_halo()?;
            }
            match self.first().coarse_way()? {
                None => {
                    // The interval is another, even if the grid is the same.
                    if !all.changed() {
                        self.iter_mut().try_for_each(Subdomain::renew_interval)?;
                    }
                    self.iter_mut().try_for_each(|subdomain| subdomain.check_way())?;
                    return Ok(all);
                }
                Some(_) if outcome.refined > 0 => {}
                Some(Block { level, place }) => return Err(StepError::CoarseWay { level, place }),
            }
        }
    }

    /// One pass, in which leaves change by one level at most.
    fn change_once(
        &mut self,
        criterion: Option<&Criterion>,
        range: &RangeInclusive<usize>,
        stepper: &Stepper,
    ) -> Result<Outcome, StepError> {
        for subdomain in self.iter_mut() {
            subdomain.sample(&stepper.levels)?;
        }
        self.exchange_fields()?;
        for subdomain in self.iter_mut() {
            subdomain.target(criterion, *range.end(), stepper.step)?;
        }
        self.gather_targets()?;
        self.iter_mut().try_for_each(Subdomain::overrule)?;
        let current = stepper.current();
        // The transfer may read cells of covered blocks that steps do not fill: fill them from the finer blocks.
        self.fill_covered(&current, false)?;
        let reaches = self.get_before_change(&current)?;
        let mut reaches: Vec<Option<Reach>> = reaches.into_iter().map(Some).collect();
        reaches.resize_with(self.here(), || None);
        let outcomes =
            self.at_once(&mut reaches, |subdomain, reach| subdomain.change(range, current.clone(), reach.as_mut()))?;
        self.take_over(reaches.into_iter().flatten().collect())?;
        Ok(outcomes.into_iter().next_back().unwrap_or_default())
    }

    /// Sorts the data of all blocks along the curve; returns the set of populations that is then current on all levels.
    pub(crate) fn reorder(&mut self, current: &[PopulationSet]) -> Result<PopulationSet, StepError> {
        let mut reaches = self.reaches(&[]);
        let mut set = PopulationSet::First;
        for (number, subdomain) in self.iter_mut().enumerate() {
            set = subdomain.reorder(current.to_vec(), reaches.get_mut(number))?;
        }
        self.take_over(reaches)?;
        Ok(set)
    }

    /// After the grid has changed: balances the work of subdomains, and updates the halo, the memory for refinement interfaces and their
    /// lists.
    pub(crate) fn follow(&mut self, current: &[PopulationSet]) -> Result<(), StepError> {
        if self.partition().is_some_and(|partition| partition.imbalance() > UNEVEN) {
            self.divide_again(current)?;
        }
        self.renew_halo()?;
        self.each_with_senders(|subdomain, senders| subdomain.follow(senders))
    }
}
