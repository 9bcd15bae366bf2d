//! Probes of a case and the planes of its fluxes, which are sampled in the same way.

use lbm_runtime::solver::probe::Probe;

use super::error::FlowError;
use super::run::{Records, Run};
use crate::case::{Case, FluxPlane};
use crate::output::Recorder;

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

impl<'a> Run<'a> {
    /// Posts the readings of probes and planes that are due at this step.
    pub(super) fn record_probes(&mut self, records: &Records<'a, '_>) -> Result<(), FlowError> {
        let step = self.flow.step();
        let wanted = self.case.output.probes.iter().zip(&mut self.probes).enumerate();
        for (number, (_, probe)) in wanted.filter(|(_, (probe, _))| probe.wants(step)) {
            let readings = self.flow.probe(probe)?;
            records.post(move |recorder| Ok(recorder.probe(number, step, &readings)?));
        }
        let wanted = self.case.output.fluxes.iter().zip(&mut self.planes).enumerate();
        for (number, (_, plane)) in wanted.filter(|(_, (plane, _))| plane.wants(step)) {
            let readings = self.flow.probe(plane)?;
            records.post(move |recorder| Ok(recorder.flux(number, step, &readings)?));
        }
        Ok(())
    }

    /// Records their readings at the last step.
    pub(super) fn record_last(&mut self, recorder: &mut Option<Recorder<'a>>) -> Result<(), FlowError> {
        let step = self.flow.step();
        for (number, probe) in self.probes.iter_mut().enumerate() {
            let readings = self.flow.probe(probe)?;
            recorder.as_mut().map_or(Ok(()), |recorder| recorder.probe(number, step, &readings))?;
        }
        for (number, plane) in self.planes.iter_mut().enumerate() {
            let readings = self.flow.probe(plane)?;
            recorder.as_mut().map_or(Ok(()), |recorder| recorder.flux(number, step, &readings))?;
        }
        Ok(())
    }
}
