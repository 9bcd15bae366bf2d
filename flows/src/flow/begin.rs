//! Start of a run, from the beginning of its case or from a restart file, and the state of a run in restart files. A
//! run resumed by [`Run::begin`] from what [`Run::course`] returned continues as if it had not been interrupted.

use std::time::Instant;

use super::backwards::Backwards;
use super::control::Kernels;
use super::error::FlowError;
use super::exchanges;
use super::mass::Drift;
use super::placement::Placement;
use super::probes;
use super::run::{Run, Steadiness};
use super::setup::{fill, set_up};
use super::watch::{Good, Kept};
use crate::case::Case;
use crate::output::mass::is_closed;
use crate::output::{Bits, Recorded, Schedule};
use crate::restart::{self, Course, Identity, Restart, SavedBody};

impl<'a> Run<'a> {
    /// Sets up a flow with the initial state of the case, or with the state in `restart`.
    pub(super) fn begin(
        case: &'a Case,
        kernels: Kernels<'_>,
        placement: &Placement,
        identity: &'a Identity,
        restart: Option<Restart>,
    ) -> Result<Run<'a>, FlowError> {
        let began = Instant::now();
        let (mut flow, memory) = set_up(case, kernels, placement, restart.as_ref())?;
        let (mut start, mut before, mut waited, mut residual) = (vec![], (0.0, 0), 0.0, None);
        let mut sampled = vec![None; case.output.statistics.len()];
        exchanges::sum(case, &mut flow);
        match restart {
            Some(restart) => {
                let course = restart.course();
                start = course.start.iter().map(|(name, sum)| (name.clone(), sum.0)).collect();
                (before, waited) = ((course.seconds.0, course.updates), course.waited.0);
                residual = course.residual.map(|change| change.0);
                flow.restore_adaptations(course.adaptations, course.scattered);
                exchanges::restore(&mut flow, &course.exchanged);
                sampled = restart.restore(&mut flow, &case.output.statistics)?;
            }
            None => {
                fill(case, &mut flow)?;
                start.extend(flow.sums()?.into_iter().map(|sum| (sum.name, sum.mass)));
            }
        }
        let well = flow.step();
        if case.stop.steady.is_some() && flow.reference_step().is_none() {
            flow.set_reference()?;
        }
        let backwards = Backwards::new(case, kernels, placement, &flow, case.stop.steps)?;
        let (good, saved, first_step) = (Good::new(Kept::bytes(&flow)), None, 0.0);
        let (probes, planes, recordings) = (probes::of(case), probes::planes_of(case), probes::recordings_of(case));
        let drift = Drift::new(is_closed(case, &kernels.method.manifest), well);
        let schedule = Schedule::new(case, &kernels.method.manifest);
        Ok(Run {
            case,
            identity,
            processes: placement.processes().clone(),
            flow,
            memory,
            began,
            first_step,
            start,
            before,
            waited,
            residual,
            steadiness: Steadiness::default(),
            well,
            good,
            saved,
            schedule,
            probes,
            planes,
            recordings,
            sampled,
            drift,
            backwards,
            last_forces: vec![],
            asked: None,
        })
    }

    /// State of the run for a restart file, except the list of output already written.
    pub(super) fn course(&self) -> Result<Course, FlowError> {
        Ok(Course {
            step: self.flow.step(),
            seconds: Bits(self.seconds()),
            waited: Bits(self.waited),
            updates: self.updates(),
            adaptations: self.flow.adaptations(),
            scattered: self.flow.scattered(),
            start: self.start.iter().map(|(name, sum)| (name.clone(), Bits(*sum))).collect(),
            residual: self.residual.map(Bits),
            recorded: Recorded::default(),
            exchanged: exchanges::saved(&self.flow),
            bodies: self.flow.bodies().iter().map(SavedBody::of).collect(),
            slips: self.flow.slips()?.into_iter().map(Bits).collect(),
            statistics: restart::saved(&self.case.output.statistics, &self.sampled, self.flow.samples()),
        })
    }
}
