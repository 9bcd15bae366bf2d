//! Probes of a case on its flow.

use lbm_runtime::solver::probe::Probe;

use super::{FlowError, Records, Run};
use crate::case::Case;

/// The probes of a case, in their order.
pub(super) fn of(case: &Case) -> Vec<Probe> {
    case.output.probes.iter().map(|probe| Probe::new(probe.points.clone(), probe.needs_slopes())).collect()
}

impl<'a> Run<'a> {
    /// Leaves what probes read at this step to be recorded, if it is wanted.
    pub(super) fn record_probes(&mut self, records: &Records<'a, '_>) -> Result<(), FlowError> {
        let step = self.flow.step();
        let wanted = self.case.output.probes.iter().zip(&mut self.probes).enumerate();
        for (number, (_, probe)) in wanted.filter(|(_, (probe, _))| probe.wants(step)) {
            let readings = self.flow.probe(probe)?;
            records.post(move |recorder| {
                recorder.probe(number, step, &readings);
                Ok(())
            });
        }
        Ok(())
    }
}
