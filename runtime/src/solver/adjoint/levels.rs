//! A step backwards of a grid of several levels, in the opposite order of a step (`step`):
//!
//! ```text
//! back(l):  back(l + 1)        its second step
//!           collide, stream    level l
//!           after              what level l has read of level l + 1 as it was after its first step, is added there
//!           back(l + 1)        its first step
//!           before, sent       what both levels have read of the other as it was before the step, is added there
//! ```
//!
//! Each step of a level needs the populations before it, and what has entered its blocks: the step of the grid is taken once more, and these are kept
//! on a tape.

use lbm_bundle::Role;

use crate::device::{Buffer, Int, Real, Stored};
use crate::kernels;
use crate::solver::adjoint::crossing::{Crossing, Shares};
use crate::solver::adjoint::state::{copy_level, every_slot, populations};
use crate::solver::adjoint::{Adjoint, Before, Flow};
use crate::solver::error::StepError;
use crate::solver::plan::phase::Phase;
use crate::solver::simulation::Simulation;

/// What an adjoint needs of a grid of several levels.
pub(super) struct Levels {
    pub(super) crossing: Crossing,
    /// The numbers of all slots.
    slots: Buffer<Int>,
    /// Populations before the step of that number of each level that takes so many.
    populations: Vec<Buffer<Stored>>,
    /// What has entered blocks in each step of each level: in step `n` of level `l` at `2^l - 1 + n`.
    inboxes: Vec<Buffer<Real>>,
}

impl Levels {
    pub(super) fn new(flow: &Simulation, crossing: Crossing) -> Result<Levels, StepError> {
        let (device, finest) = (flow.device(), flow.grid().levels().len() - 1);
        let subdomain = flow.subdomains.first();
        let first = populations(subdomain, flow.stepper.levels[0].current);
        let Some(inbox) = subdomain.inbox() else { unreachable!("levels with packets have an inbox") };
        let rows = inbox.arguments(flow.grid(), false).inbox;
        Ok(Levels {
            crossing,
            slots: every_slot(subdomain)?,
            populations: (0..1usize << finest).map(|_| device.alloc_like(first)).collect::<Result<_, _>>()?,
            inboxes: (0..(2usize << finest) - 1).map(|_| device.alloc_like(rows)).collect::<Result<_, _>>()?,
        })
    }

    /// Takes a step and keeps what its steps of levels have begun with; the flow is then where it was.
    fn record(&mut self, flow: &mut Simulation) -> Result<(), StepError> {
        let (current, tasks) = (flow.stepper.current(), flow.stepper.tasks(&flow.subdomains));
        let device = flow.device().clone();
        let mut kept = vec![0; current.len()];
        flow.subdomains.iter_mut().for_each(|subdomain| subdomain.forget_fields());
        for task in tasks {
            let number = (task.half / 2) as usize;
            if Phase::STREAMING.contains(&task.phase) && kept[task.level] == number {
                kept[task.level] += 1;
                let subdomain = flow.subdomains.first();
                let src = populations(subdomain, task.current(task.level));
                copy_level(subdomain, task.level, &self.slots, src, &mut self.populations[number])?;
                let Some(inbox) = subdomain.inbox() else { unreachable!("it has one") };
                let rows = inbox.arguments(flow.grid(), task.start).inbox;
                device.copy(rows, &mut self.inboxes[(1 << task.level) - 1 + number])?;
            }
            flow.stepper.run(task, &mut flow.subdomains)?;
        }
        flow.subdomains.sum_exchanges(1)?;
        flow.stepper.levels.iter_mut().zip(&current).for_each(|(level, before)| level.current = *before);
        // Each set was overwritten on levels that have taken two steps.
        for (level, set) in current.iter().enumerate().take(flow.grid().levels().len()) {
            let ids = flow.grid().levels()[level].leaves.clone();
            let subdomain = flow.subdomains.first_mut();
            subdomain.copy_populations(ids, &self.slots, &self.populations[0], *set)?;
        }
        Ok(())
    }
}

impl Adjoint {
    /// A step backwards of all levels.
    pub(super) fn levels_back(&mut self, flow: &mut Simulation, levels: &mut Levels) -> Result<(), StepError> {
        let device = flow.device().clone();
        device.scope(|| levels.record(flow))?;
        let flow = Flow::of(flow);
        self.timed(flow, |adjoint| {
            adjoint.level_back(flow, levels, 0, 0)?;
            // All levels are in the same array again.
            let [first, second] = &mut adjoint.sets;
            if std::mem::take(&mut adjoint.current[0]) == 1 {
                copy_level(flow.subdomain, 0, &levels.slots, second, first)?;
            }
            Ok(())
        })
    }

    fn level_back(&mut self, flow: Flow<'_>, levels: &Levels, level: usize, number: usize) -> Result<(), StepError> {
        let finer = level + 1 < levels.crossing.levels.len();
        if finer {
            self.level_back(flow, levels, level + 1, 2 * number + 1)?;
        }
        let (src, inbox) = (&levels.populations[number], &levels.inboxes[(1 << level) - 1 + number]);
        let before = Before { src, inbox: Some(inbox), neighbours: &levels.crossing.neighbours };
        self.collide_back(flow, level, before)?;
        self.receive(flow, &levels.crossing, level, number)?;
        self.current[level] = 1 - self.current[level];
        self.stream_back(flow, level, before, number == 0)?;
        self.inside_back(flow, level, before.neighbours)?;
        if finer {
            let between = &levels.crossing.levels[level];
            self.cross(flow, &levels.crossing, level + 1, &between.after)?;
            self.level_back(flow, levels, level + 1, 2 * number)?;
            self.cross(flow, &levels.crossing, level + 1, &between.before)?;
            self.cross(flow, &levels.crossing, level, &between.sent)?;
            self.give_back(flow, &levels.crossing, level, src)?;
        }
        Ok(())
    }

    /// Keeps derivatives by what blocks of a level have read of the inbox.
    fn receive(&mut self, flow: Flow<'_>, crossing: &Crossing, level: usize, number: usize) -> Result<(), StepError> {
        let items = crossing.numbers.slice(crossing.received(level));
        if items.is_empty() {
            return Ok(());
        }
        Ok(flow.subdomain.program().launch(kernels::ReceiveAdjoint {
            items,
            places: &crossing.received,
            received: crossing.count() as i32,
            later: (number % 2) as i32,
            arrived: &self.sets[self.current[level]],
            crossed: &mut self.crossed,
        })?)
    }

    /// Adds derivatives by populations of a level that have crossed.
    fn cross(&mut self, flow: Flow<'_>, crossing: &Crossing, level: usize, of: &Shares) -> Result<(), StepError> {
        if of.count == 0 {
            return Ok(());
        }
        Ok(flow.subdomain.program().launch(kernels::CrossAdjoint {
            items: crossing.numbers.slice(0..of.count),
            places: &of.places,
            begins: &of.begins,
            values: &of.values,
            factors: &of.factors,
            crossed: &self.crossed,
            adjoint: &mut self.sets[self.current[level]],
        })?)
    }

    /// The same of what walls have sent back.
    fn give_back(
        &mut self,
        flow: Flow<'_>,
        crossing: &Crossing,
        level: usize,
        src: &Buffer<Stored>,
    ) -> Result<(), StepError> {
        let (subdomain, of) = (flow.subdomain, &crossing.levels[level].returned);
        if of.count == 0 || subdomain.program().manifest().kernel(Role::ReturnAdjoint).is_none() {
            return Ok(());
        }
        Ok(subdomain.program().launch(kernels::ReturnAdjoint {
            items: crossing.numbers.slice(0..of.count),
            places: &of.places,
            begins: &of.begins,
            values: &of.values,
            factors: &of.factors,
            ways: &of.ways,
            crossed: &self.crossed,
            walls: subdomain.walls().arguments(),
            src,
            groups: &self.groups,
            asked: self.asked as i32,
            by_walls: &mut self.by_walls,
            adjoint: &mut self.sets[self.current[level]],
        })?)
    }
}
