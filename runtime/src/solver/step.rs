//! The time step.
//!
//! A step of the grid is one of its coarsest level. Level `l` takes `2^l` of them, in an order in which two sets of populations
//! are all that is needed (`lbm_dsl::model::levels` in the compiler has the rule):
//!
//! ```text
//! advance(l):  prescribe          what formulas of time say of walls at this time; again after the first step of l + 1
//!              to fine            what level l sends to level l + 1 for both of its steps ──▶ inbox of l + 1
//!              advance(l + 1)     its first step in this one
//!              to coarse          what has come out of level l + 1 ──▶ inbox of l
//!              expose             methods that read values of neighbours: what cells of level l show to those around them
//!              stream, collide    level l: reads one set and the inbox, writes the other set
//!              restrict           ghosts: means of level l - 1, which has streamed, in the second of two steps
//!              advance(l + 1)     its second step
//!              send, prolong      ghosts: of level l + 1, from level l
//!              exchange the two sets of level l
//!              move               solids of level l to where they are at the end of its step
//! ```
//!
//! A coupling of packets has an inbox and no ghosts, a coupling of ghosts no inbox; phases that a grid has no blocks for do nothing.
//! This order is one of many: a recording keeps of it what [`accesses`](super::accesses) demands.

use std::sync::Arc;

use lbm_bundle::Manifest;

use super::StepError;
use super::edges::Side;
use super::parts::Parts;
use super::setup::Params;
use super::timing::{Phase, Timings};

/// A level in the course of time.
pub(super) struct Level {
    /// The method's parameters on it.
    pub(super) params: Params,
    /// Which of the two sets of populations is current.
    pub(super) current: usize,
}

/// A number at each time, in steps of the coarsest level.
pub type Course = Arc<dyn Fn(f64) -> f64 + Send + Sync>;

/// Parameters of the method that depend on time.
pub(super) struct Courses {
    /// The parameters of the coarsest level, as they were last.
    coarsest: Params,
    /// Those that change, by name, each with all its components.
    courses: Vec<(String, Vec<Course>)>,
}

impl Courses {
    /// Changes another parameter.
    pub(super) fn set(&mut self, manifest: &Manifest, name: &str, values: &[f64]) -> Result<(), StepError> {
        self.coarsest.set(manifest, name, values)
    }

    /// The parameters of so many levels at a time.
    fn at(&mut self, manifest: &Manifest, time: f64, levels: usize) -> Result<Vec<Params>, StepError> {
        for (name, courses) in &self.courses {
            let values: Vec<f64> = courses.iter().map(|course| course(time)).collect();
            self.coarsest.set(manifest, name, &values)?;
        }
        self.coarsest.clone().of_levels(manifest, levels)
    }
}

/// How far a flow has come: the same on all devices.
pub(super) struct Stepper {
    /// Levels that there may be, the coarsest first.
    pub(super) levels: Vec<Level>,
    /// Steps done.
    pub(super) step: u64,
    /// What changes of the parameters, if something does.
    pub(super) courses: Option<Courses>,
}

/// A phase of a step of a level, in the course of a step of the grid.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Task {
    pub(super) phase: Phase,
    pub(super) level: usize,
    /// Whether the step is the first of two in one of the coarser level.
    pub(super) start: bool,
    /// Halves of steps of the level from the beginning of the grid's step to the middle of this one.
    pub(super) half: i32,
    /// Which set of populations is current on each level at that time, a bit for each.
    sets: u64,
}

/// What one device does of a task.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Share {
    /// A part, on some of its blocks.
    Part(usize, Side),
    /// The device that has what crosses, in the lane of that number of the task's level.
    Lane(usize),
    /// What crosses on the task's level, where parts are in several processes.
    Processes,
}

impl Task {
    /// Which set of populations is current on a level at that time.
    pub(super) fn current(&self, level: usize) -> usize {
        (self.sets >> level & 1) as usize
    }
}

impl Stepper {
    /// One step of the grid; where its phases are timed, with marks around them.
    pub(super) fn advance(&mut self, parts: &mut Parts, mut timed: Option<&mut Timings>) -> Result<(), StepError> {
        let (current, tasks) = (self.current(), self.tasks(parts));
        let posts = timed.is_none() && parts.posts();
        let streams = |task: &Task| Phase::STREAMING.contains(&task.phase);
        for together in tasks.chunk_by(|a, b| posts && streams(a) && streams(b) && a.level == b.level) {
            if posts && together.iter().all(|task| Phase::STREAMING[..4].contains(&task.phase)) {
                self.stream_and_post(together, parts)?;
                continue;
            }
            for task in together {
                let from = timed.is_some().then(|| parts.devices().mark()).transpose()?;
                self.run(*task, parts)?;
                if let (Some(from), Some(timings)) = (from, &mut timed) {
                    timings.sample(task.phase, from, parts.devices().mark()?);
                }
            }
        }
        if let Some(timings) = timed {
            timings.sampled();
        }
        // Finer levels have taken an even number of steps.
        self.levels.iter_mut().zip(current).for_each(|(level, before)| level.current = before);
        self.levels[0].current = 1 - self.levels[0].current;
        self.step += 1;
        Ok(())
    }

    /// What a step consists of, in an order in which it can be done.
    pub(super) fn tasks(&self, parts: &Parts) -> Vec<Task> {
        let current = self.levels.iter().enumerate().map(|(level, of)| (of.current as u64) << level);
        let mut schedule = Schedule { parts, sets: current.sum(), fresh: 0, tasks: vec![] };
        schedule.advance(0, 0);
        schedule.phases(&[Phase::Tick], 0, 0);
        schedule.tasks
    }

    /// Lets parameters of the method change from now on.
    pub(super) fn follow(&mut self, manifest: &Manifest, courses: Vec<(String, Vec<Course>)>) -> Result<(), StepError> {
        self.courses = Some(Courses { coarsest: self.levels[0].params.clone(), courses });
        self.set_time(manifest, self.step as f64)
    }

    /// Parameters of all levels as they are at a time.
    pub(super) fn set_time(&mut self, manifest: &Manifest, time: f64) -> Result<(), StepError> {
        let Some(courses) = &mut self.courses else { return Ok(()) };
        let params = courses.at(manifest, time, self.levels.len())?;
        self.levels.iter_mut().zip(params).for_each(|(level, params)| level.params = params);
        Ok(())
    }

    /// Does one of them.
    pub(super) fn run(&mut self, task: Task, parts: &mut Parts) -> Result<(), StepError> {
        // Without a recording, devices are in the order of tasks where something crosses.
        let crosses = task.phase.crosses();
        if crosses {
            parts.devices().meet()?;
        }
        for share in parts.shares(task) {
            self.run_share(task, share, parts)?;
        }
        if crosses { Ok(parts.devices().meet()?) } else { Ok(()) }
    }

    /// Does what one device does of it.
    pub(super) fn run_share(&mut self, task: Task, share: Share, parts: &mut Parts) -> Result<(), StepError> {
        let end = self.step as f64 + f64::from(task.half + 1) * 0.5f64.powi(task.level as i32 + 1);
        if self.courses.is_some() && Phase::STREAMING.contains(&task.phase) {
            // Cells collide at the end of the step.
            self.set_time(parts.first().program.manifest(), end)?;
        }
        self.levels.iter_mut().enumerate().for_each(|(number, level)| level.current = task.current(number));
        let (accesses, device) = (parts.accesses(task, share), parts.device(task, share).clone());
        device.accessing(&accesses, || parts.run(task, share, &self.levels, end))
    }

    /// Blocks of a level stream, those at the edge first; what other processes read of these is on its way while the others stream.
    fn stream_and_post(&mut self, tasks: &[Task], parts: &mut Parts) -> Result<(), StepError> {
        let all = tasks.iter().flat_map(|task| parts.shares(*task).into_iter().map(|share| (*task, share)));
        let (inside, edge): (Vec<_>, Vec<_>) =
            all.partition(|(_, share)| matches!(share, Share::Part(_, Side::Inside)));
        edge.into_iter().try_for_each(|(task, share)| self.run_share(task, share, parts))?;
        let level = tasks[0].level;
        if parts.exchanges(level) {
            parts.post(level, 1 - tasks[0].current(level))?;
        }
        inside.into_iter().try_for_each(|(task, share)| self.run_share(task, share, parts))
    }

    /// Which set of populations is current on each level.
    pub(super) fn current(&self) -> Vec<usize> {
        self.levels.iter().map(|level| level.current).collect()
    }
}

/// A step of the grid that is being laid out.
struct Schedule<'a> {
    parts: &'a Parts,
    sets: u64,
    /// Of which levels all parts have what they read of others, in the first set and in the second, a bit for each.
    fresh: u64,
    tasks: Vec<Task>,
}

impl Schedule<'_> {
    /// One step of a level and all finer ones, the one with that number in a step of the grid.
    fn advance(&mut self, level: usize, number: i32) {
        let finer = level + 1 < self.parts.first().grid.levels().len();
        let second = number % 2 == 1;
        self.phases(&[Phase::Prescribe], level, number);
        if finer {
            self.phases(&Phase::TO_FINE, level, number);
            self.advance(level + 1, 2 * number);
            // The finer level has had walls as they are in its own steps.
            self.phases(&[Phase::Prescribe], level, number);
            self.phases(&Phase::TO_COARSE, level, number);
        }
        self.phases(&[Phase::Expose, Phase::Exchange], level, number);
        self.phases(&Phase::STREAMING, level, number);
        if second {
            self.phases(&[Phase::Restrict], level, number);
        }
        if finer {
            self.advance(level + 1, 2 * number + 1);
            self.phases(&[Phase::Send, Phase::Prolong], level, number);
        }
        self.sets ^= 1 << level;
        self.phases(&[Phase::Move], level, number);
    }

    /// Those phases that have anything to do. What crosses before them is the same in all processes, whatever each has to do; only where
    /// nothing moves, nothing crosses for that.
    fn phases(&mut self, phases: &[Phase], level: usize, number: i32) {
        let (sets, start, half) = (self.sets, level > 0 && number % 2 == 0, 2 * number + 1);
        for phase in phases.iter().copied() {
            let has = self.parts.has(phase, level);
            if phase == Phase::Move && !has {
                continue;
            }
            for level in phase.reads_blocks_around(level) {
                self.refresh(level, half);
            }
            if phase.reads_saved() && self.parts.exchanges_saved(level) {
                self.tasks.push(Task { phase: Phase::HaloSaved, level, start: false, half, sets });
            }
            if has {
                self.tasks.push(Task { phase, level, start, half, sets });
            }
            match phase {
                Phase::Move => self.fresh &= !self.bit(level, 0),
                Phase::Prolong => self.fresh &= !self.bit(level + 1, 0),
                _ if Phase::STREAMING.contains(&phase) => self.fresh &= !self.bit(level, 1),
                _ => {}
            }
        }
    }

    /// Lets parts get what they read of others' blocks of a level, unless they have it.
    fn refresh(&mut self, level: usize, half: i32) {
        let bit = self.bit(level, 0);
        if self.parts.exchanges(level) && self.fresh & bit == 0 {
            self.tasks.push(Task { phase: Phase::Halo, level, start: false, half, sets: self.sets });
            self.fresh |= bit;
        }
    }

    /// The bit of the current set of a level, or of the other one.
    fn bit(&self, level: usize, other: u64) -> u64 {
        1 << (2 * level as u64 + (self.sets >> level & 1 ^ other))
    }
}
