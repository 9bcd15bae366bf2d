//! What pages ask of a flow between its steps. After [`Run::visit`] what is ordered of this step is in the outbox, and a pause is over or the
//! run ends. In several processes the first one has the pages, and all of them measure what it is asked.

use std::sync::Arc;
use std::time::{Duration, Instant};

use serde::{Deserialize, Serialize};

use super::control::Control;
use super::error::FlowError;
use super::run::{Records, Run};
use crate::output::progress::Progress;
use crate::watch::{Answer, Ask, Desk, Orders, Phase};

/// How long a flow that pauses waits before it looks whether it is to end.
const REST: Duration = Duration::from_millis(100);

/// What was found at the desk, the same in all processes.
#[derive(Serialize, Deserialize)]
struct Found {
    orders: Orders,
    ask: Option<Ask>,
}

impl<'a> Run<'a> {
    /// Answers what is asked, writes what is ordered, and waits while it is told to.
    pub(super) fn visit(
        &mut self,
        desk: &Desk,
        control: Control<'_>,
        records: &Records<'a, '_>,
        progress: &mut Progress<'_>,
        notice: &mut dyn FnMut(&str),
    ) -> Result<(), FlowError> {
        let mut phase = Phase::Running;
        loop {
            let Found { orders, ask } = self.find(desk, phase);
            if let Some(ask) = ask {
                let began = Instant::now();
                let answer = self.answer(&ask)?;
                desk.answer(&ask, &answer, began.elapsed());
            }
            if let Some(text) = self.record_orders(orders, records)? {
                progress.aside(|| notice(&text));
            }
            if !orders.pause || self.early(control).is_some() {
                break;
            }
            if phase == Phase::Running {
                phase = Phase::Paused;
                desk.publish(progress.status(self.flow.step()));
            } else if ask.is_none() {
                desk.wait(REST);
            }
        }
        if phase == Phase::Paused {
            progress.go_on();
        }
        Ok(())
    }

    /// What is at the desk of the first process.
    fn find(&self, desk: &Desk, phase: Phase) -> Found {
        let (orders, ask) = desk.visit(phase);
        let found = Found { orders, ask };
        if !self.processes.are_several() {
            return found;
        }
        let own = if self.processes.is_first() { serde_json::to_vec(&found).unwrap_or_default() } else { vec![] };
        let all = self.processes.allgather(&own);
        // What the first has written is the same text everywhere.
        serde_json::from_slice(&all[0]).unwrap_or(found)
    }

    fn answer(&mut self, ask: &Ask) -> Result<Answer, FlowError> {
        let probe = match self.asked.take().filter(|(known, _)| known == ask) {
            Some((_, probe)) => Some(probe),
            None => ask.probe(self.case),
        };
        let Some(mut probe) = probe else {
            return Ok(Answer::Fields(self.fields_if_room(false)?.map(Arc::new)));
        };
        let (step, readings) = (self.flow.step(), self.flow.probe(&mut probe)?);
        self.asked = Some((*ask, probe));
        Ok(Answer::Section { step, readings })
    }
}
