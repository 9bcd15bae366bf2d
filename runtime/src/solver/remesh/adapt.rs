//! Adaptation of the grid: target levels, changes of the forest, and the transfer of data.

use std::ops::{Range, RangeInclusive};
use std::sync::Arc;

use rayon::prelude::*;
use serde::{Deserialize, Serialize};

use crate::device::{Buffer, Real};
use crate::geometry::Block;
use crate::kernels::criteria::{Criterion, TargetLevels};
use crate::kernels::{KernelError, Program};
use crate::mesh::forest::{Bound, Outcome, Tables, Targets};
use crate::solver::arrays::memory::UNEVEN;
use crate::solver::error::StepError;
use crate::solver::halo::transfer::Reach;
use crate::solver::inbox::Own;
use crate::solver::parts::Parts;
use crate::solver::remesh::carry::Populations;
use crate::solver::solids::bodies::Bodies;
use crate::solver::solids::levels;
use crate::solver::spec::freezes;
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

/// Writes the target levels of some of the listed leaves of a forest after `steps` steps of level 0.
pub(crate) fn target(
    criterion: &Criterion,
    program: &Program,
    (tables, targets): (&Tables, &mut Targets),
    (listed, fields): (Range<usize>, &Buffer<Real>),
    (finest, steps): (usize, u64),
) -> Result<(), KernelError> {
    criterion.launch(
        program.manifest(),
        TargetLevels {
            ids: tables.leaves.part(listed),
            neighbours: &tables.neighbours,
            nodes: &tables.node,
            levels: &tables.level,
            places: &tables.place,
            fields,
            finest: finest as i32,
            steps: i32::try_from(steps).unwrap_or(i32::MAX),
            targets: &mut targets.level,
        },
    )
}

/// The passes that set a grid up, each of which refines by one level. A grid that keeps changing, because its target levels are finer
/// where it is coarse and coarser where it is fine, is used as the last pass has left it, with a [`warning`](unsettled).
pub(crate) fn first_looks(levels: &RangeInclusive<usize>) -> std::ops::Range<usize> {
    0..2 * (levels.end() + 1)
}

/// The warning that the grid still changed in the last of the passes that set it up.
pub(crate) fn unsettled(levels: &RangeInclusive<usize>, outcome: Outcome) -> String {
    format!(
        "the grid that the flow starts with is not settled: after {} passes {} blocks are still refined or coarsened in turn, and it is \
         taken as it is; `refinement.level` or the criterion has features narrower than a cell, which only finer cells see: make them \
         wider, or use `refinement.boxes`",
        first_looks(levels).len(),
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

impl Parts {
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
                        self.iter_mut().try_for_each(Subdomain::renew_solids)?;
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
        self.hold(&current, false)?;
        let reaches = self.get_before_change(&current)?;
        let mut reaches: Vec<Option<Reach>> = reaches.into_iter().map(Some).collect();
        reaches.resize_with(self.here(), || None);
        let outcomes =
            self.at_once(&mut reaches, |subdomain, reach| subdomain.change(range, current.clone(), reach.as_mut()))?;
        self.take_over(reaches.into_iter().flatten().collect())?;
        Ok(outcomes.into_iter().next_back().unwrap_or_default())
    }

    /// Sorts the data of all blocks along the curve; returns the set of populations that is then current on all levels.
    pub(crate) fn reorder(&mut self, current: &[usize]) -> Result<usize, StepError> {
        let mut reaches = self.reaches(&[]);
        let mut set = 0;
        for (number, subdomain) in self.iter_mut().enumerate() {
            set = subdomain.reorder(current.to_vec(), reaches.get_mut(number))?;
        }
        self.take_over(reaches)?;
        Ok(set)
    }

    /// After the grid has changed: balances the work of subdomains, and updates the halo, the memory for refinement interfaces and their
    /// lists.
    pub(crate) fn follow(&mut self, current: &[usize]) -> Result<(), StepError> {
        if self.partition().is_some_and(|partition| partition.imbalance() > UNEVEN) {
            self.divide_again(current)?;
        }
        self.renew_halo()?;
        self.each_with_senders(|subdomain, own| subdomain.follow(own))
    }
}

impl Subdomain {
    /// Writes the target levels of its leaves after `steps` steps of level 0.
    fn target(&mut self, criterion: Option<&Criterion>, finest: usize, steps: u64) -> Result<(), StepError> {
        let runs = self.own_runs();
        let Some(criterion) = criterion.or(self.criterion.as_ref()) else { return Ok(()) };
        let criterion = &criterion.on(self.program.device())?;
        let Subdomain { program, grid, fields, .. } = self;
        for run in runs {
            target(criterion, program, grid.targets(), (run, &fields.macroscopic), (finest, steps))?;
        }
        Ok(())
    }

    /// Replaces the target levels of blocks that moving solids cut or approach by the levels that these require.
    fn overrule(&mut self) -> Result<(), StepError> {
        let Some(bodies) = self.bodies.as_ref().filter(|_| self.moves()) else { return Ok(()) };
        Ok(self.grid.forest_mut().overrule(|block, target| levels::level(&bodies.cutters, block, target))?)
    }

    /// Changes the forest towards its target levels.
    fn change(
        &mut self,
        range: &RangeInclusive<usize>,
        current: Vec<usize>,
        mut reach: Option<&mut Reach>,
    ) -> Result<Outcome, StepError> {
        let placed = self.placed()?;
        let Subdomain { program, grid, fields, reference, statistics, .. } = self;
        let moving = (reference.as_mut(), statistics.as_mut());
        let mut data = Populations::new(program, grid, fields, moving, current.clone(), reach.as_deref_mut());
        let outcome = grid.adapt(range.clone(), &mut data)?;
        self.sampled = false;
        if let Some(placed) = placed.filter(|_| outcome.changed()) {
            self.give_places(&current, |leaf| {
                !placed.contains(&leaf.block) && reach.as_ref().is_none_or(|reach| reach.has(leaf.slot))
            })?;
        }
        Ok(outcome)
    }

    /// From now on the grid must resolve moving solids wherever they are within an interval, or during their whole motion.
    fn reserve(&mut self, times: Option<Range<f64>>) -> Result<(), StepError> {
        let Some(Bodies { cutters, moving: Some(moving), .. }) = &mut self.bodies else { return Ok(()) };
        let solids = &mut Arc::make_mut(cutters).solids;
        moving.until = times.as_ref().map_or(solids.end(), |times| times.end);
        solids.reserve(times).ok_or(StepError::LongWay)
    }

    /// Sets the bounds on level changes of blocks at solids and of pinned blocks.
    fn demand(&mut self) -> Result<(), StepError> {
        let Subdomain { program, grid, bodies, frozen, .. } = self;
        let Some(bodies) = bodies else { return Ok(()) };
        let cells = program.manifest().block.map(|side| side as usize);
        let freezes = |block| freezes(frozen, block, cells).then_some(Bound::Level);
        Ok(grid.forest_mut().bind(|block| freezes(block).or_else(|| levels::bound(&bodies.cutters, block)))?)
    }

    /// A leaf that is coarser than a solid on its way requires, if there is one.
    fn coarse_way(&self) -> Result<Option<Block>, StepError> {
        let Some(bodies) = &self.bodies else { return Ok(None) };
        let leaves = self.grid.forest().read_leaves()?;
        let lacking = leaves.par_iter().find_first(|leaf| levels::lacks(&bodies.cutters, leaf.block));
        Ok(lacking.map(|leaf| leaf.block))
    }

    /// Sorts the data of its blocks along the curve; returns the set of populations that is then current on all levels.
    fn reorder(&mut self, current: Vec<usize>, reach: Option<&mut Reach>) -> Result<usize, StepError> {
        let coarsest = self.own_level(0);
        let Subdomain { program, grid, fields, reference, statistics, .. } = self;
        let moving = (reference.as_mut(), statistics.as_mut());
        let mut data = Populations::new(program, grid, fields, moving, current, reach);
        // Finer levels have the same current set after every step; that of the coarsest may differ.
        let set = data.current.get(1).copied().unwrap_or(data.current[0]);
        if data.current[0] != set {
            let tables = grid.tables();
            let held = if data.held.is_some() { coarsest.held.clone() } else { 0..0 };
            let leaves = coarsest.runs().into_iter().map(|run| tables.leaves.part(run));
            for ids in leaves.chain([tables.held.part(held)]) {
                data.relocate(ids, grid.forest().every(), data.current[0])?;
            }
            data.current[0] = set;
        }
        grid.forest_mut().reorder(&mut data)?;
        if let Some(bodies) = &mut self.bodies {
            bodies.follow(&self.grid)?;
        }
        Ok(1 - set)
    }

    /// After the grid has changed: updates the memory for refinement interfaces and their lists.
    fn follow(&mut self, own: Option<Own<'_>>) -> Result<(), StepError> {
        self.recording = None;
        self.fields.make_room(self.program.device(), self.program.manifest(), &self.grid)?;
        self.renew_solids()?;
        if let Some(inbox) = &mut self.inbox {
            inbox.follow((&self.program, &self.of_rows), &mut self.grid, &self.walls, own)?;
        }
        self.program.device().release();
        Ok(())
    }
}
