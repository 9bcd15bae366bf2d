//! The time step.
//!
//! A step of the grid is one step of the coarsest level. Level `l` takes `2^l` steps in it, in an order that needs no more than two sets of
//! populations (the rule is in `lbm_dsl::model::levels` of the compiler):
//!
//! ```text
//! advance(l):  prescribe          walls whose parameters depend on time, at this time; again after the first step of l + 1
//!              to fine            level l sends to level l + 1 for both of its steps ──▶ inbox of l + 1
//!              advance(l + 1)     its first step in this one
//!              to coarse          what leaves level l + 1 ──▶ inbox of l
//!              slide              surfaces under boundary layers: the velocity of their links in this step
//!              expose             methods that read values of neighbours: cells of level l expose their values
//!              stream, collide    level l: reads one set and the inbox, writes the other set
//!              bring back         the only set of populations: those of level l, if there is a level l + 1
//!              restrict           ghosts: averages into level l - 1, which has streamed, in the second of two steps
//!              advance(l + 1)     its second step
//!              send, prolong      ghosts: of level l + 1, from level l
//!              exchange the two sets of level l
//!              move, refill       solids of level l to their positions at the end of its step
//! ```
//!
//! A packet coupling has an inbox and no ghosts, a ghost coupling has ghosts and no inbox. Phases for which a grid has no blocks do
//! nothing. This is one of many valid orders: a recording keeps only the dependencies that [`accesses`](crate::solver::plan::accesses)
//! finds.

pub(crate) mod exchanges;
pub(crate) mod schedule;
pub(crate) mod tasks;
pub(crate) mod timing;

use lbm_bundle::Manifest;

use crate::device::Accesses;
use crate::solver::arrays::params::{LevelState, Params};
use crate::solver::decomposition::Subdomains;
use crate::solver::error::StepError;
use crate::solver::plan::phase::Phase;
use crate::solver::plan::task::{PopulationSet, Side, Subtask, Task};
use crate::solver::spec::Course;
use crate::solver::step::timing::Timings;

/// Time-dependent parameters of the method.
pub(crate) struct Courses {
    /// The parameters of the coarsest level as they were last evaluated.
    coarsest: Params,
    /// The parameters that depend on time, by name, each with all its components.
    courses: Vec<(String, Vec<Course>)>,
}

impl Courses {
    /// Changes a parameter that does not depend on time.
    pub(crate) fn set(&mut self, manifest: &Manifest, name: &str, values: &[f64]) -> Result<(), StepError> {
        self.coarsest.set(manifest, name, values)
    }

    /// The parameters of several levels at a time.
    fn at(&mut self, manifest: &Manifest, time: f64, levels: usize) -> Result<Vec<Params>, StepError> {
        for (name, courses) in &self.courses {
            let values: Vec<f64> = courses.iter().map(|course| course(time)).collect();
            self.coarsest.set(manifest, name, &values)?;
        }
        self.coarsest.clone().of_levels(manifest, levels)
    }
}

/// How far a flow has advanced: the same on all devices.
pub(crate) struct Stepper {
    /// All levels that are possible, the coarsest first.
    pub(crate) levels: Vec<LevelState>,
    /// Number of completed steps.
    pub(crate) step: u64,
    /// Parameters of the method that depend on time, if any.
    pub(crate) courses: Option<Courses>,
}

impl Stepper {
    /// Advances the grid by one step. `timed`: records timing events around each phase.
    pub(crate) fn advance(
        &mut self,
        subdomains: &mut Subdomains,
        mut timed: Option<&mut Timings>,
    ) -> Result<(), StepError> {
        let (current, tasks) = (self.current(), self.tasks(subdomains));
        let posts = timed.is_none() && subdomains.posts();
        let streams = |task: &Task| Phase::STREAMING.contains(&task.phase);
        for together in tasks.chunk_by(|a, b| posts && streams(a) && streams(b) && a.level == b.level) {
            if posts && together.iter().all(|task| Phase::STREAMING[..4].contains(&task.phase)) {
                self.stream_and_post(together, subdomains)?;
                continue;
            }
            for task in together {
                let from = timed.is_some().then(|| subdomains.devices().event()).transpose()?;
                self.run(*task, subdomains)?;
                if let (Some(from), Some(timings)) = (from, &mut timed) {
                    timings.sample(task.phase, from, subdomains.devices().event()?);
                }
            }
        }
        if let Some(timings) = timed {
            timings.sampled();
        }
        self.complete(current, tasks.iter().any(Task::brings_coarsest_back));
        Ok(())
    }

    /// Counts a step whose tasks are done. `before`: the current sets of populations before it; `is_brought_back`: whether that of the coarsest level is
    /// the same again.
    pub(crate) fn complete(&mut self, before: Vec<PopulationSet>, is_brought_back: bool) {
        // Finer levels have taken an even number of steps.
        self.levels.iter_mut().zip(before).for_each(|(level, before)| level.current = before);
        if !is_brought_back {
            self.levels[0].current = self.levels[0].current.other();
        }
        self.step += 1;
    }

    /// The tasks of a step, in a valid order.
    pub(crate) fn tasks(&self, subdomains: &Subdomains) -> Vec<Task> {
        schedule::tasks(subdomains, self.step, &self.current())
    }

    /// Makes parameters of the method depend on time from now on.
    pub(crate) fn follow(&mut self, manifest: &Manifest, courses: Vec<(String, Vec<Course>)>) -> Result<(), StepError> {
        self.courses = Some(Courses { coarsest: self.levels[0].params.clone(), courses });
        self.set_time(manifest, self.step as f64)
    }

    /// Sets the parameters of all levels to their values at a time.
    pub(crate) fn set_time(&mut self, manifest: &Manifest, time: f64) -> Result<(), StepError> {
        let Some(courses) = &mut self.courses else { return Ok(()) };
        let params = courses.at(manifest, time, self.levels.len())?;
        self.levels.iter_mut().zip(params).for_each(|(level, params)| level.params = params);
        Ok(())
    }

    /// Runs a task.
    pub(crate) fn run(&mut self, task: Task, subdomains: &mut Subdomains) -> Result<(), StepError> {
        // Without a recording, communication synchronizes all devices before and after.
        let crosses = task.phase.crosses();
        if crosses {
            subdomains.devices().meet()?;
        }
        for subtask in subdomains.subtasks(task) {
            self.run_subtask(task, subtask, subdomains)?;
        }
        if crosses { Ok(subdomains.devices().meet()?) } else { Ok(()) }
    }

    /// Runs a subtask.
    pub(crate) fn run_subtask(
        &mut self,
        task: Task,
        subtask: Subtask,
        subdomains: &mut Subdomains,
    ) -> Result<(), StepError> {
        if self.courses.is_some() && Phase::STREAMING.contains(&task.phase) {
            // Collisions take the parameters at the end of the step.
            self.set_time(subdomains.first().program().manifest(), task.end())?;
        }
        self.levels.iter_mut().enumerate().for_each(|(number, level)| level.current = task.current(number));
        let device = subdomains.device(task, subtask).clone();
        // Only a capture needs them.
        let accesses = if device.is_recording() { subdomains.accesses(task, subtask) } else { Accesses::default() };
        device.accessing(&accesses, || subdomains.run(task, subtask, &self.levels))
    }

    /// Streams the blocks of a level, edge blocks first. Communication with other processes overlaps with the streaming of interior blocks.
    fn stream_and_post(&mut self, tasks: &[Task], subdomains: &mut Subdomains) -> Result<(), StepError> {
        let all = tasks.iter().flat_map(|task| subdomains.subtasks(*task).into_iter().map(|subtask| (*task, subtask)));
        let (inside, edge): (Vec<_>, Vec<_>) =
            all.partition(|(_, subtask)| matches!(subtask, Subtask::Subdomain(_, Side::Inside)));
        edge.into_iter().try_for_each(|(task, subtask)| self.run_subtask(task, subtask, subdomains))?;
        let level = tasks[0].level;
        if subdomains.exchanges(level) {
            subdomains.post(level, tasks[0].current(level).other())?;
        }
        inside.into_iter().try_for_each(|(task, subtask)| self.run_subtask(task, subtask, subdomains))
    }

    /// The current set of populations of each level.
    pub(crate) fn current(&self) -> Vec<PopulationSet> {
        self.levels.iter().map(|level| level.current).collect()
    }
}
