//! A subdomain follows changes of its grid: target levels, the change of the forest with the transfer of data, and lists that depend on it.

use std::ops::{Range, RangeInclusive};
use std::sync::Arc;

use rayon::prelude::*;

use crate::device::{Buffer, Real};
use crate::geometry::Block;
use crate::kernels::criteria::{Criterion, TargetLevels};
use crate::kernels::layout::SlotId;
use crate::kernels::{KernelError, Program};
use crate::mesh::forest::{Bound, Outcome, Tables, Targets};
use crate::solver::error::StepError;
use crate::solver::halo::transfer::Reach;
use crate::solver::plan::task::PopulationSet;
use crate::solver::solids::bodies::Bodies;
use crate::solver::solids::levels;
use crate::solver::spec::pins;
use crate::solver::subdomain::Subdomain;
use crate::solver::subdomain::transfer::Populations;

/// Writes the target levels of some of the listed leaves of a forest after `steps` steps of level 0.
pub(crate) fn set_targets(
    criterion: &Criterion,
    program: &Program,
    (tables, targets): (&Tables, &mut Targets),
    (listed, fields): (Range<usize>, &Buffer<Real>),
    (finest, steps): (usize, u64),
) -> Result<(), KernelError> {
    criterion.launch(
        program.manifest(),
        TargetLevels {
            ids: tables.leaves.slice(listed),
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

impl Subdomain {
    /// Writes the target levels of its leaves after `steps` steps of level 0.
    pub(crate) fn target(&mut self, criterion: Option<&Criterion>, finest: usize, steps: u64) -> Result<(), StepError> {
        let runs = self.own_runs();
        let Some(criterion) = criterion.or(self.criterion.as_ref()) else { return Ok(()) };
        let criterion = &criterion.on(self.program.device())?;
        let Subdomain { program, grid, fields, .. } = self;
        for run in runs {
            set_targets(criterion, program, grid.targets(), (run, &fields.macroscopic), (finest, steps))?;
        }
        Ok(())
    }

    /// Replaces the target levels of blocks that moving solids cut or approach by the levels that these require.
    pub(crate) fn overrule(&mut self) -> Result<(), StepError> {
        let Some(bodies) = self.bodies.as_ref().filter(|_| self.moves()) else { return Ok(()) };
        Ok(self.grid.forest_mut().overrule(|block, target| levels::level(&bodies.cutters, block, target))?)
    }

    /// Changes the forest towards its target levels.
    pub(crate) fn change(
        &mut self,
        range: &RangeInclusive<usize>,
        current: Vec<PopulationSet>,
        mut reach: Option<&mut Reach>,
    ) -> Result<Outcome, StepError> {
        let placed = self.placed()?;
        let Subdomain { program, grid, fields, reference, statistics, .. } = self;
        let moving = (reference.as_mut(), statistics.as_mut());
        let mut data = Populations::new(program, grid, fields, moving, current.clone(), reach.as_deref_mut());
        let outcome = grid.adapt(range.clone(), &mut data)?;
        self.sampled = false;
        self.lists_solids &= !outcome.changed();
        if let Some(placed) = placed.filter(|_| outcome.changed()) {
            self.give_places(&current, |leaf| {
                !placed.contains(&leaf.block) && reach.as_ref().is_none_or(|reach| reach.has(leaf.slot))
            })?;
        }
        Ok(outcome)
    }

    /// From now on the grid must resolve moving solids wherever they are within an interval, or during their whole motion.
    pub(crate) fn reserve(&mut self, times: Option<Range<f64>>) -> Result<(), StepError> {
        let Some(Bodies { cutters, moving: Some(moving), .. }) = &mut self.bodies else { return Ok(()) };
        let solids = &mut Arc::make_mut(cutters).solids;
        moving.until = times.as_ref().map_or(solids.end(), |times| times.end);
        solids.reserve(times).ok_or(StepError::LongWay)
    }

    /// Sets the bounds on level changes of blocks at solids and of pinned blocks.
    pub(crate) fn demand(&mut self) -> Result<(), StepError> {
        let Subdomain { program, grid, bodies, pinned, .. } = self;
        let Some(bodies) = bodies else { return Ok(()) };
        let cells = program.manifest().block.map(|side| side as usize);
        let pins = |block| pins(pinned, block, cells).then_some(Bound::Level);
        Ok(grid.forest_mut().bind(|block| pins(block).or_else(|| levels::bound(&bodies.cutters, block)))?)
    }

    /// A leaf that is coarser than a solid on its way requires, if there is one.
    pub(crate) fn coarse_way(&self) -> Result<Option<Block>, StepError> {
        let Some(bodies) = &self.bodies else { return Ok(None) };
        let leaves = self.grid.forest().read_leaf_nodes()?;
        let lacking = leaves.par_iter().find_first(|(_, leaf)| levels::lacks(&bodies.cutters, leaf.block));
        Ok(lacking.map(|(_, leaf)| leaf.block))
    }

    /// Sorts the data of its blocks along the curve; returns the set of populations that is then current on all levels.
    pub(crate) fn reorder(
        &mut self,
        current: Vec<PopulationSet>,
        reach: Option<&mut Reach>,
    ) -> Result<PopulationSet, StepError> {
        let coarsest = self.own_level(0);
        let Subdomain { program, grid, fields, reference, statistics, .. } = self;
        let moving = (reference.as_mut(), statistics.as_mut());
        let mut data = Populations::new(program, grid, fields, moving, current, reach);
        // Finer levels have the same current set after every step; that of the coarsest may differ.
        let set = data.current.get(1).copied().unwrap_or(data.current[0]);
        if data.current[0] != set {
            let tables = grid.tables();
            let covered = if data.covered.is_some() { coarsest.covered.clone() } else { 0..0 };
            let leaves = coarsest.runs().into_iter().map(|run| tables.leaves.slice(run));
            for ids in leaves.chain([tables.covered.slice(covered)]) {
                data.relocate(ids, grid.forest().every(), data.current[0])?;
            }
            data.current[0] = set;
        }
        grid.forest_mut().reorder(&mut data)?;
        if let Some(bodies) = &mut self.bodies {
            bodies.follow(&self.grid)?;
        }
        self.lists_solids = false;
        Ok(set.other())
    }

    /// After the grid has changed: updates the memory for refinement interfaces and their lists. `senders`: the blocks of other subdomains
    /// that send populations into its own.
    pub(crate) fn follow(&mut self, senders: Option<&[Vec<SlotId>]>) -> Result<(), StepError> {
        self.fields.make_room(self.program.device(), self.program.manifest(), &self.grid)?;
        if !self.lists_solids {
            self.renew_solids()?;
        }
        if let Some(inbox) = &mut self.inbox {
            inbox.follow(
                &self.program,
                &self.of_rows,
                &mut self.grid,
                &self.walls,
                self.owned.as_ref().zip(senders),
            )?;
        }
        self.list_blocks()?;
        self.program.device().release();
        Ok(())
    }
}
