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

use crate::device::{Buffer, Int, Real, Stored};
use crate::solver::adjoint::Adjoint;
use crate::solver::adjoint::crossing::{Crossing, Shares, Tables};
use crate::solver::adjoint::lanes::Lanes;
use crate::solver::adjoint::local::{Before, Flow, Flows, Local};
use crate::solver::adjoint::state::{copy_level, every_slot, populations};
use crate::solver::error::StepError;
use crate::solver::plan::phase::Phase;
use crate::solver::simulation::Simulation;

/// What an adjoint needs of a grid of several levels.
pub(super) struct Levels {
    pub(super) crossing: Crossing,
    /// Those of each subdomain.
    tapes: Vec<Tape>,
}

/// What steps of levels have begun with, on a subdomain.
struct Tape {
    /// The numbers of all slots.
    slots: Buffer<Int>,
    /// Populations before the step of that number of each level that takes so many.
    populations: Vec<Buffer<Stored>>,
    /// What has entered blocks in each step of each level: in step `n` of level `l` at `2^l - 1 + n`.
    inboxes: Vec<Buffer<Real>>,
}

impl Tape {
    fn new(flow: Flow<'_>) -> Result<Tape, StepError> {
        let Flow { subdomain, levels } = flow;
        let (device, finest) = (subdomain.program().device(), subdomain.grid().levels().len() - 1);
        let first = populations(subdomain, levels[0].current);
        let Some(inbox) = subdomain.inbox() else { unreachable!("levels with packets have an inbox") };
        let rows = inbox.arguments(subdomain.grid(), false).inbox;
        Ok(Tape {
            slots: every_slot(subdomain)?,
            populations: (0..1usize << finest).map(|_| device.alloc_like(first)).collect::<Result<_, _>>()?,
            inboxes: (0..(2usize << finest) - 1).map(|_| device.alloc_like(rows)).collect::<Result<_, _>>()?,
        })
    }

    /// What the step of that number of a level has begun with, with these neighbours.
    fn before<'a>(&'a self, tables: &'a Tables, level: usize, number: usize) -> Before<'a> {
        let inbox = Some(&self.inboxes[(1 << level) - 1 + number]);
        Before { src: &self.populations[number], inbox, neighbours: &tables.neighbours }
    }
}

impl Levels {
    pub(super) fn new(flow: &Simulation, crossing: Crossing) -> Result<Levels, StepError> {
        Ok(Levels { crossing, tapes: Flows::of(flow).each().map(Tape::new).collect::<Result<_, _>>()? })
    }

    /// Takes a step and keeps what its steps of levels have begun with; the flow is then where it was.
    fn record(&mut self, flow: &mut Simulation, lanes: &[Lanes]) -> Result<(), StepError> {
        let (current, tasks) = (flow.stepper.current(), flow.stepper.tasks(&flow.subdomains));
        let mut kept = vec![0; current.len()];
        flow.subdomains.iter_mut().for_each(|subdomain| subdomain.forget_fields());
        for task in tasks {
            let (level, number) = (task.level, (task.half / 2) as usize);
            if Phase::STREAMING.contains(&task.phase) && kept[level] == number {
                kept[level] += 1;
                for (subdomain, tape) in flow.subdomains.here.iter().zip(&mut self.tapes) {
                    let src = populations(subdomain, task.current(level));
                    copy_level(subdomain, level, &tape.slots, src, &mut tape.populations[number])?;
                    let Some(inbox) = subdomain.inbox() else { unreachable!("it has one") };
                    let rows = inbox.arguments(subdomain.grid(), task.start).inbox;
                    subdomain.program().device().copy(rows, &mut tape.inboxes[(1 << level) - 1 + number])?;
                }
                lanes[level].exchange(&mut self.tapes, |tape| &mut tape.populations[number])?;
            }
            flow.stepper.run(task, &mut flow.subdomains)?;
        }
        flow.subdomains.sum_exchanges(1)?;
        flow.stepper.levels.iter_mut().zip(&current).for_each(|(level, before)| level.current = *before);
        // Each set was overwritten on levels that have taken two steps.
        let count = flow.grid().levels().len();
        for (subdomain, tape) in flow.subdomains.iter_mut().zip(&self.tapes) {
            for (level, set) in current.iter().enumerate().take(count) {
                subdomain.copy_populations(level, &tape.slots, &tape.populations[0], *set)?;
            }
        }
        Ok(())
    }
}

impl Adjoint {
    /// A step backwards of all levels.
    pub(super) fn levels_back(&mut self, flow: &mut Simulation, levels: &mut Levels) -> Result<(), StepError> {
        let device = flow.device().clone();
        device.scope(|| levels.record(flow, &self.lanes))?;
        self.timed(flow, |adjoint, flow| {
            adjoint.level_back(flow, levels, 0, 0)?;
            adjoint.each(flow, levels, |local, flow, _, tape| local.bring_together(flow, &tape.slots))
        })
    }

    /// Works on each subdomain.
    fn each(
        &mut self,
        flow: Flows<'_>,
        levels: &Levels,
        mut work: impl FnMut(&mut Local, Flow<'_>, &Tables, &Tape) -> Result<(), StepError>,
    ) -> Result<(), StepError> {
        let subdomains = self.locals.iter_mut().zip(flow.each());
        let mut all = subdomains.zip(levels.crossing.tables.iter().zip(&levels.tapes));
        all.try_for_each(|((local, flow), (tables, tape))| work(local, flow, tables, tape))
    }

    fn level_back(&mut self, flow: Flows<'_>, levels: &Levels, level: usize, number: usize) -> Result<(), StepError> {
        let finer = level + 1 < levels.crossing.lanes.len();
        if finer {
            self.level_back(flow, levels, level + 1, 2 * number + 1)?;
        }
        self.each(flow, levels, |local, flow, tables, tape| {
            local.collide_back(flow, level, tape.before(tables, level, number))?;
            local.receive(flow, tables, level, number)
        })?;
        self.lanes[level].exchange(&mut self.locals, |local| local.arrived_mut(level))?;
        levels.crossing.lanes[level].exchange(&mut self.locals, |local| &mut local.crossed)?;
        self.each(flow, levels, |local, flow, tables, tape| {
            local.stream_back(flow, level, tape.before(tables, level, number), number == 0)?;
            local.inside_back(flow, level, &tables.neighbours)
        })?;
        if finer {
            let cross = |adjoint: &mut Adjoint, to: usize, of: fn(&Tables, usize) -> &Shares| {
                adjoint.each(flow, levels, |local, flow, tables, _| local.cross(flow, tables, to, of(tables, level)))
            };
            cross(self, level + 1, |tables, level| &tables.levels[level].after)?;
            self.level_back(flow, levels, level + 1, 2 * number)?;
            cross(self, level + 1, |tables, level| &tables.levels[level].before)?;
            cross(self, level, |tables, level| &tables.levels[level].sent)?;
            self.each(flow, levels, |local, flow, tables, tape| {
                local.give_back(flow, tables, level, &tape.populations[number])
            })?;
        }
        Ok(())
    }
}
