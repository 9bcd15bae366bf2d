//! Output during a run. After [`Run::follow`] copies of all output due at a step (fields, rows, a restart file) are in
//! the outbox, which writes files from them in the order of steps.

use lbm_runtime::device::host_memory;
use lbm_runtime::solver::observe::FieldCheck;

use super::error::FlowError;
use super::run::{Records, Run};
use super::watch::Kept;
use crate::output::{Data, Source};
use crate::restart;
use crate::watch::Orders;

impl<'a> Run<'a> {
    /// Posts the fields of this step, if due.
    pub(super) fn record_fields(&mut self, records: &Records<'a, '_>) -> Result<(), FlowError> {
        if self.schedule.is_due(Source::Fields, self.flow.step()) {
            let fields = self.flow.capture(records.for_fields(&mut self.waited))?;
            records.post(move |recorder| Ok(recorder.record(Data::Fields(&fields.snapshot()?))?));
        }
        Ok(())
    }

    /// Posts a row of the time series (mass, energy and others), if due.
    pub(super) fn record_row(&mut self, records: &Records<'a, '_>) -> Result<(), FlowError> {
        let step = self.flow.step();
        let wanted = self.schedule.is_due(Source::Means, step);
        if let Some(means) = wanted.then(|| self.flow.means()).transpose()?.flatten() {
            records.post(move |recorder| Ok(recorder.record(Data::Means(step, &means))?));
        }
        Ok(())
    }

    /// Posts the residual of the check for steady flow at this step, if there was one.
    fn record_check(&self, records: &Records<'a, '_>) {
        let step = self.flow.step();
        if let Some(residual) = self.checked() {
            records.post(move |recorder| Ok(recorder.record(Data::Check(step, residual))?));
        }
    }

    /// Posts the state of this step for a restart file, if due.
    fn record_state(&mut self, records: &Records<'a, '_>) -> Result<(), FlowError> {
        if self.schedule.is_restart_due(self.flow.step()) {
            self.post_state(records)?;
        }
        Ok(())
    }

    /// Posts the state of this step for a restart file.
    fn post_state(&mut self, records: &Records<'a, '_>) -> Result<(), FlowError> {
        let fields = self.flow.snapshot()?;
        let state = self.flow.capture_state(records.for_state(&mut self.waited))?;
        let (identity, units, mut course) = (self.identity, &self.case.units, self.course()?);
        records.post(move |recorder| {
            course.recorded = recorder.recorded();
            Ok(recorder.restart(|out| restart::write(out, identity, &state, Some(&fields), units, course))?)
        });
        self.saved = Some(self.flow.step());
        Ok(())
    }

    /// Posts what a page has ordered of this step, if all values are finite and the host has room for it. Returns a notice for the user.
    pub(super) fn record_orders(
        &mut self,
        orders: Orders,
        records: &Records<'a, '_>,
    ) -> Result<Option<String>, FlowError> {
        if !orders.fields && !orders.restart || self.flow.check_fields()?.not_finite.is_some() {
            return Ok(None);
        }
        let step = self.flow.step();
        let has_room = host_memory().is_none_or(|room| Kept::bytes(&self.flow) < room);
        if self.processes.any(!has_room) {
            let text = format!("the host has no memory for the files of step {step} that a page has ordered");
            return Ok(Some(text));
        }
        if orders.fields {
            let fields = self.flow.snapshot()?;
            records.post(move |recorder| Ok(recorder.record(Data::Ordered(&fields))?));
        }
        if orders.restart && self.saved != Some(step) {
            self.post_state(records)?;
        }
        Ok(None)
    }

    /// Handles all that is due at this step after a check has found all values finite: output, a check for steady flow,
    /// a restart file. Returns a notice for the user.
    pub(super) fn follow(&mut self, look: &FieldCheck, records: &Records<'a, '_>) -> Result<Option<String>, FlowError> {
        self.well = self.flow.step();
        if self.processes.broadcast(u64::from(self.good.is_due())) != 0 {
            let is_first = self.good.kept.is_none();
            self.good.take(|| Kept::of(&mut self.flow, &self.processes, is_first))?;
        }
        self.record_fields(records)?;
        self.record_row(records)?;
        let told = self.compare(look)?;
        self.record_check(records);
        self.record_state(records)?;
        Ok(told)
    }
}
