//! The steps of a run, in intervals that end when something is due. After [`Run::advance`] the flow is at its last
//! step, or where it became steady, was interrupted or blew up. All output due until then is in the outbox.

use lbm_runtime::solver::observe::NotFinite;
use lbm_runtime::solver::{Adaptations, Simulation};

use super::control::Control;
use super::error::FlowError;
use super::exchanges;
use super::run::{Records, Run};
use super::sound::Sound;
use super::sway;
use super::watch::Watch;
use crate::case::{Case, Refinement, StopReason};
use crate::output::progress::Progress;
use crate::output::{Schedule, Source};

/// Longest interval between two updates of the progress line, in seconds.
const STRETCH: f64 = 0.25;

/// How the steps of a run ended.
pub(super) enum Ended {
    Stopped(StopReason),
    /// A value is not finite.
    Broken(NotFinite),
}

impl<'a> Run<'a> {
    /// Advances the flow to its end, and posts the output that becomes due.
    pub(super) fn advance(
        &mut self,
        records: &Records<'a, '_>,
        control: Control<'_>,
        progress: &mut Progress<'_>,
        notice: &mut dyn FnMut(&str),
    ) -> Result<Ended, FlowError> {
        let case = self.case;
        let mut watch = Watch::new(self.flow.step());
        let sound = Sound::new(case, self.flow.manifest().main().cs2);
        let (mut told, mut told_all) = (false, false);
        self.record_fields(records)?;
        self.record_row(records)?;
        self.record_forces(records)?;
        self.record_probes(records)?;
        self.accumulate()?;
        self.catch_up()?;
        // Also where it was steady when it was left.
        if self.is_steady() {
            return Ok(Ended::Stopped(StopReason::Steady));
        }
        while self.flow.step() < case.stop.steps {
            if self.flow.adaptations().refusals > 0 && !told {
                told = true;
                progress.aside(|| notice(&refusal(&self.flow.adaptations())));
            }
            if !told_all && marks_all(case, &self.flow) {
                told_all = true;
                let text = "the target level is the finest everywhere; a higher `refinement.threshold` leaves some blocks \
                            coarse";
                progress.aside(|| notice(text));
            }
            let stretch = stretch(case, &self.schedule, &self.flow).min(watch.next - self.flow.step());
            let stretch = self.processes.broadcast(stretch);
            sound.exceeded(self.flow.step()..self.flow.step() + stretch)?;
            self.flow.run(stretch)?;
            if self.first_step == 0.0 {
                self.first_step = self.began.elapsed().as_secs_f64();
            }
            let step = self.flow.step();
            self.record_forces(records)?;
            if let Some(text) = self.compare_forces()? {
                progress.aside(|| notice(&text));
            }
            self.record_probes(records)?;
            self.accumulate()?;
            let early = self.early(control);
            let is_examined = self.is_due(step) || early.is_some() || step == watch.next;
            if is_examined && let Some(place) = self.examine(&mut watch, records, progress, notice)? {
                return Ok(Ended::Broken(place));
            }
            records.check()?;
            progress.update(step, self.flow.grid().updates(), self.checked(), self.waited);
            if self.is_steady() {
                return Ok(Ended::Stopped(StopReason::Steady));
            }
            let early = match control.desk {
                Some(desk) if early.is_none() => {
                    desk.publish(progress.status(step));
                    self.visit(desk, control, records, progress, notice)?;
                    self.early(control)
                }
                _ => early,
            };
            if early.is_some()
                && !is_examined
                && let Some(place) = self.examine(&mut watch, records, progress, notice)?
            {
                return Ok(Ended::Broken(place));
            }
            if let Some(reason) = early.filter(|_| step < case.stop.steps) {
                let why = reason.words();
                let text = format!(
                    "{why} at step {step}: writing its results and a restart file; another signal ends at once"
                );
                progress.aside(|| notice(&text));
                return Ok(Ended::Stopped(reason));
            }
        }
        Ok(Ended::Stopped(StopReason::Steps))
    }

    /// Checks whether all values are finite, and posts what is due at this step. Returns a place where a value is not.
    fn examine(
        &mut self,
        watch: &mut Watch,
        records: &Records<'a, '_>,
        progress: &Progress<'_>,
        notice: &mut dyn FnMut(&str),
    ) -> Result<Option<NotFinite>, FlowError> {
        let look = watch.time(|| self.flow.check_fields())?;
        watch.plan(self.flow.step(), self.flow.timings().steps_per_second());
        watch.next = self.processes.broadcast(watch.next);
        if look.not_finite.is_some() {
            return Ok(look.not_finite);
        }
        let drift = self.drift.look(self.start[0].1, &self.flow)?;
        let swing = self.follow(&look, records)?;
        for text in [drift, swing].into_iter().flatten() {
            progress.aside(|| notice(&text));
        }
        Ok(None)
    }

    /// Why the run ends at this step, whatever the flow: the same in all processes.
    pub(super) fn early(&self, control: Control<'_>) -> Option<StopReason> {
        control.early(self.case, &self.processes, self.began)
    }

    /// Whether a check or output other than forces, probes and statistics is due at a step.
    fn is_due(&self, step: u64) -> bool {
        let of_flow = [Source::Fields, Source::Means].into_iter().any(|source| self.schedule.is_due(source, step));
        let wanted = of_flow || self.schedule.is_restart_due(step);
        wanted || self.checks(step) || self.checks_after(step) || step == self.case.stop.steps
    }
}

/// Number of steps until something is due.
fn stretch(case: &Case, schedule: &Schedule, flow: &Simulation) -> u64 {
    let step = flow.step();
    let until = |every: u64| every - step % every;
    let rate = flow.timings().steps_per_second();
    let glance = if rate > 0.0 { (rate * STRETCH) as u64 } else { 1 };
    let mut steps = glance.max(1).min(case.stop.steps - step);
    if let Some(steady) = case.stop.steady {
        // To the check, or to the step before it.
        let left = until(steady.check_every);
        steps = steps.min(if left > 1 { left - 1 } else { left });
    }
    steps = sway::until(case, step).map_or(steps, |until| steps.min(until));
    for every in schedule.intervals(|source| exchanges::stops(case, source)) {
        steps = steps.min(until(every));
    }
    steps = steps.min(exchanges::most_steps(case));
    for statistics in &case.output.statistics {
        steps = steps.min(statistics.until(step));
    }
    steps
}

/// Whether the refinement criterion has refined the whole grid to the finest level.
fn marks_all(case: &Case, flow: &Simulation) -> bool {
    let follows = |refinement: &&Refinement| refinement.follow.is_some() && refinement.coarsest < refinement.finest;
    let Some(refinement) = case.refinement.as_ref().filter(follows) else { return false };
    flow.grid().levels().iter().position(|level| !level.leaves.is_empty()) == Some(refinement.finest)
}

/// Message for refinements that did not fit into memory.
fn refusal(adaptations: &Adaptations) -> String {
    format!(
        "{} refinements did not fit: there is memory for {} blocks; coarser levels come first, and on a level the \
         blocks first on the space-filling curve; raise `refinement.memory` or its threshold",
        adaptations.most_refused, adaptations.room
    )
}
