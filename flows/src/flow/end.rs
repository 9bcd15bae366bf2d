//! The end of a run. After [`Run::end`] all its output is in the folder; the summary is written last.

use std::collections::BTreeMap;

use lbm_bundle::Manifest;
use lbm_runtime::solver::{Phase, Timings};

use super::error::FlowError;
use super::run::Run;
use crate::case::StopReason;
use crate::output::summary::{About, Carried, Measured, Summary};
use crate::output::{Data, Recorder, Source};
use crate::restart::{self, Course};

impl<'a> Run<'a> {
    /// Writes the final output.
    pub(super) fn end(
        mut self,
        stop: StopReason,
        recorder: &mut Option<Recorder<'a>>,
        about: &About,
        manifest: &Manifest,
        bandwidth: Option<f64>,
    ) -> Result<Summary, FlowError> {
        let output = &self.case.output;
        if stop.is_early() || output.restart.is_some() && !self.schedule.is_restart_due(self.flow.step()) {
            // If the case requests no restart files, memory for the fields has not been checked.
            let fields = self.fields_if_room(output.restart.is_some())?;
            let recorded = recorder.as_ref().map_or_else(Default::default, Recorder::recorded);
            let course = Course { recorded, ..self.course()? };
            let (state, units) = (self.flow.state()?, &self.case.units);
            if let Some(recorder) = recorder {
                recorder.restart(|out| restart::write(out, self.identity, &state, fields.as_ref(), units, course))?;
            }
        }
        let sums: Vec<Carried> = std::iter::zip(&self.start, self.flow.sums()?)
            .map(|((name, start), end)| Carried { name: name.clone(), start: *start, end: end.mass })
            .collect();
        let measured = Measured {
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
        // After the restart file, which must list only rows that a longer run writes too.
        self.record_last_forces(recorder)?;
        if self.schedule.takes(Source::Means)
            && let (Some(means), Some(recorder)) = (self.flow.means()?, recorder.as_mut())
        {
            recorder.record(Data::Means(self.flow.step(), &means))?;
        }
        self.record_last(recorder)?;
        self.write_statistics(recorder)?;
        let end = self.schedule.ends_with_fields().then(|| self.flow.snapshot()).transpose()?;
        if !stop.is_early() {
            self.derive(recorder)?;
        }
        match recorder {
            Some(recorder) => Ok(recorder.finish(end.as_ref(), manifest, &measured)?),
            None => Ok(Summary::new(about.clone(), manifest, &measured)),
        }
    }
}

/// Mean seconds per step of each phase that takes any.
fn phases(timings: &Timings) -> BTreeMap<String, f64> {
    let of = |phase: Phase| (phase.name().to_string(), timings.phase(phase));
    let adapting = ("adapt".to_string(), timings.adapting() / timings.steps().max(1) as f64);
    Phase::ALL.into_iter().map(of).chain([adapting]).filter(|(_, seconds)| *seconds > 0.0).collect()
}
