//! The end of a run. After [`Run::end`] all its output is in the folder; the summary is written last.

use std::collections::BTreeMap;

use lbm_bundle::Manifest;
use lbm_runtime::solver::{Phase, Timings};

use super::control::Control;
use super::error::FlowError;
use super::run::Run;
use crate::case::StopReason;
use crate::output::progress::Progress;
use crate::output::summary::{About, Carried, Measured, Summary};
use crate::output::{Data, Recorder, Source};
use crate::restart::{self, Course};

impl<'a> Run<'a> {
    /// Writes the final output. Derivatives take as long as a run; if they end early, a restart file leads back to them.
    pub(super) fn end(
        mut self,
        stop: StopReason,
        recorder: &mut Option<Recorder<'a>>,
        about: &About,
        (manifest, bandwidth): (&Manifest, Option<f64>),
        (control, progress): (Control<'_>, &mut Progress<'_>),
        notice: &mut dyn FnMut(&str),
    ) -> Result<Summary, FlowError> {
        let output = &self.case.output;
        let mut has_restart = output.restart.is_some() && self.schedule.is_restart_due(self.flow.step());
        // What is recorded after this is not among rows that a longer run writes too.
        let recorded = recorder.as_ref().map_or_else(Default::default, Recorder::recorded);
        let course = Course { recorded, ..self.course()? };
        if !has_restart && (stop.is_early() || output.restart.is_some()) {
            self.save(recorder, course.clone())?;
            has_restart = true;
        }
        let sums: Vec<Carried> = std::iter::zip(&self.start, self.flow.sums()?)
            .map(|((name, start), end)| Carried { name: name.clone(), start: *start, end: end.mass })
            .collect();
        let mut measured = Measured {
            levels: self.flow.grid().cells_of_levels(),
            updates: self.updates(),
            adaptations: self.case.refinement.is_some().then(|| self.flow.adaptations()),
            phases: phases(self.flow.timings()),
            steps: self.flow.step(),
            seconds: self.seconds(),
            seconds_waiting_for_output: self.waited,
            first_step: self.first_step,
            memory: self.memory,
            memory_bandwidth: bandwidth,
            mass_start: sums[0].start,
            mass_end: sums[0].end,
            is_closed: self.drift.is_closed,
            scalars: sums[1..].to_vec(),
            residual: self.residual,
            stop,
        };
        self.record_last_forces(recorder)?;
        if self.schedule.takes(Source::Means)
            && let (Some(means), Some(recorder)) = (self.flow.means()?, recorder.as_mut())
        {
            recorder.record(Data::Means(self.flow.step(), &means))?;
        }
        self.record_last(recorder)?;
        self.write_statistics(recorder)?;
        let end = self.schedule.ends_with_fields().then(|| self.flow.snapshot()).transpose()?;
        if !stop.is_early()
            && let Some(reason) = self.derive(recorder, control, progress)?
        {
            let why = reason.words();
            notice(&format!(
                "{why} on the way backwards: there are no derivatives; resumed from its restart file, the run goes on with them"
            ));
            measured.stop = reason;
            if !has_restart {
                self.save(recorder, course)?;
            }
        }
        match recorder {
            Some(recorder) => Ok(recorder.finish(end.as_ref(), manifest, &measured)?),
            None => Ok(Summary::new(about.clone(), manifest, &measured)),
        }
    }

    /// Writes a restart file of the flow as it is.
    fn save(&mut self, recorder: &mut Option<Recorder<'a>>, course: Course) -> Result<(), FlowError> {
        // If the case requests no restart files, memory for the fields has not been checked.
        let fields = self.fields_if_room(self.case.output.restart.is_some())?;
        let (state, units) = (self.flow.state()?, &self.case.units);
        if let Some(recorder) = recorder {
            recorder.restart(|out| restart::write(out, self.identity, &state, fields.as_ref(), units, course))?;
        }
        Ok(())
    }
}

/// Mean seconds per step of each phase that takes any.
fn phases(timings: &Timings) -> BTreeMap<String, f64> {
    let of = |phase: Phase| (phase.name().to_string(), timings.phase(phase));
    let adapting = ("adapt".to_string(), timings.adapting() / timings.steps().max(1) as f64);
    Phase::ALL.into_iter().map(of).chain([adapting]).filter(|(_, seconds)| *seconds > 0.0).collect()
}
