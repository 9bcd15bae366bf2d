//! Probes of a case, the planes of its fluxes and those that it records, which are sampled in the same way.

use lbm_runtime::solver::probe::Probe;

use super::error::FlowError;
use super::run::{Records, Run};
use crate::case::{Case, FluxPlane};
use crate::output::{Data, Recorder, Source};

/// The probes of a case, in order.
pub(super) fn of(case: &Case) -> Vec<Probe> {
    case.output.probes.iter().map(|probe| Probe::new(probe.points.clone(), probe.needs_slopes())).collect()
}

/// The flux planes of a case, in order.
pub(super) fn planes_of(case: &Case) -> Vec<Probe> {
    let plane = |plane: &FluxPlane| {
        let component = |scalar: &usize| case.scalars[*scalar].component;
        Probe::new(plane.points(), false).with_slopes_of(plane.diffusing.iter().filter_map(component).collect())
    };
    case.output.fluxes.iter().map(plane).collect()
}

/// The planes that a case records, in order.
pub(super) fn recordings_of(case: &Case) -> Vec<Probe> {
    case.output.recordings.iter().map(|recording| Probe::new(recording.points.clone(), false)).collect()
}

impl<'a> Run<'a> {
    /// Posts the readings of probes and planes that are due at this step.
    pub(super) fn record_probes(&mut self, records: &Records<'a, '_>) -> Result<(), FlowError> {
        let step = self.flow.step();
        let is_due = |source: Source| self.schedule.is_due(source, step);
        for (number, probe) in self.probes.iter_mut().enumerate().filter(|(number, _)| is_due(Source::Probe(*number))) {
            let readings = self.flow.probe(probe)?;
            records.post(move |recorder| Ok(recorder.record(Data::Probe(number, step, &readings))?));
        }
        for (number, plane) in self.planes.iter_mut().enumerate().filter(|(number, _)| is_due(Source::Flux(*number))) {
            let readings = self.flow.probe(plane)?;
            records.post(move |recorder| Ok(recorder.record(Data::Flux(number, step, &readings))?));
        }
        for (number, recording) in self.case.output.recordings.iter().enumerate() {
            if recording.is_due(step) {
                let readings = self.flow.probe(&mut self.recordings[number])?;
                records.post(move |recorder| Ok(recorder.record(Data::Plane(number, step, &readings))?));
            }
        }
        Ok(())
    }

    /// Records their readings at the last step.
    pub(super) fn record_last(&mut self, recorder: &mut Option<Recorder<'a>>) -> Result<(), FlowError> {
        let step = self.flow.step();
        for (number, probe) in self.probes.iter_mut().enumerate() {
            let readings = self.flow.probe(probe)?;
            recorder.as_mut().map_or(Ok(()), |recorder| recorder.record(Data::Probe(number, step, &readings)))?;
        }
        for (number, plane) in self.planes.iter_mut().enumerate() {
            let readings = self.flow.probe(plane)?;
            recorder.as_mut().map_or(Ok(()), |recorder| recorder.record(Data::Flux(number, step, &readings)))?;
        }
        Ok(())
    }
}
