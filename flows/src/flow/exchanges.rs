//! Rows of forces on solids, and of the scalars that solids release.
//!
//! While a solid moves across cells, its cut links change, so the exchange in a single step is not representative. Rows
//! are therefore means over the steps since the previous row, for all solids of the case. The flow accumulates them as it
//! goes on, and stops for none, unless a row has the states of bodies that the fluid moves. If no solid moves, a row is
//! the exchange in the next step.

use lbm_runtime::geometry::solid::BodyState;
use lbm_runtime::solver::Simulation;
use lbm_runtime::solver::observe::{Exchange, Exchanged};

use super::error::FlowError;
use super::run::{Records, Run};
use crate::case::Case;
use crate::output::forces::STATES;
use crate::output::sink::OutputError;
use crate::output::{Bits, Data, Recorder, Source};
use crate::restart::SavedExchanges;

/// The values of a row.
#[derive(Default)]
struct Row {
    /// The states of the bodies that the fluid moves.
    bodies: Vec<(usize, BodyState)>,
    forces: Option<Vec<Exchange>>,
    heat: Option<Vec<Exchange>>,
}

/// Separate sums over steps for the two tables, whose rows are due at different steps.
const FORCES: usize = 0;
const HEAT: usize = 1;
const SUMS: usize = 2;

/// Most rows that a flow accumulates before they are taken.
const MOST_ROWS: u64 = 256;

/// Whether the flow accumulates rows as it goes on.
fn accumulates(case: &Case) -> bool {
    case.moves() && !case.floats()
}

/// Steps between rows of both tables, if the flow is to accumulate them.
fn rows(case: &Case) -> [Option<u64>; SUMS] {
    [case.output.forces, case.output.heat].map(|every| every.filter(|_| accumulates(case)))
}

/// Starts summation over steps if a solid moves.
pub(super) fn sum(case: &Case, flow: &mut Simulation) {
    if case.moves() && (case.output.forces.is_some() || case.output.heat.is_some()) {
        flow.sum_exchanges(&rows(case));
    }
}

/// Whether the flow must stop where an output takes this.
pub(super) fn stops(case: &Case, source: Source) -> bool {
    !(accumulates(case) && matches!(source, Source::Forces | Source::Heat))
}

/// Most steps until rows must be taken.
pub(super) fn most_steps(case: &Case) -> u64 {
    let room = |every: u64| every.saturating_mul(MOST_ROWS);
    rows(case).into_iter().flatten().map(room).min().unwrap_or(u64::MAX)
}

/// The sums for a restart file.
pub(super) fn saved(flow: &Simulation) -> Vec<SavedExchanges> {
    let numbers = |of: &Exchanged| of.sums.iter().flat_map(Exchange::numbers).map(Bits).collect();
    flow.exchanged().into_iter().map(|of| SavedExchanges { steps: of.steps, sums: numbers(of) }).collect()
}

/// Restores the sums from a restart file, as far as it has the requested ones.
pub(super) fn restore(flow: &mut Simulation, saved: &[SavedExchanges]) {
    let mut exchanged: Vec<Exchanged> = flow.exchanged().into_iter().cloned().collect();
    for (of, saved) in exchanged.iter_mut().zip(saved) {
        of.steps = saved.steps;
        let numbers = of.sums.iter_mut().flat_map(Exchange::numbers_mut);
        numbers.zip(&saved.sums).for_each(|(number, saved)| *number = saved.0);
    }
    flow.restore_exchanged(exchanged);
}

impl<'a> Run<'a> {
    /// Posts the forces on solids, and the scalars that they release, to be recorded: if due at this step, and of steps before where the flow has
    /// not stopped.
    pub(super) fn record_forces(&mut self, records: &Records<'a, '_>) -> Result<(), FlowError> {
        let (step, case) = (self.flow.step(), self.case);
        let [forces, heat] = [FORCES, HEAT].map(|number| self.flow.take_rows(number).into_iter());
        let forces = forces.map(|(step, of)| (step, Row { forces: Some(of), ..Row::default() }));
        let heat = heat.map(|(step, of)| (step, Row { heat: Some(of), ..Row::default() }));
        for (step, row) in forces.chain(heat) {
            records.post(move |recorder| Ok(row.record(recorder, case, step)?));
        }
        let is_due = |source: Source| (step == 0 || stops(case, source)) && self.schedule.is_due(source, step);
        let (forces, heat) = (is_due(Source::Forces), is_due(Source::Heat));
        let row = self.row(forces, heat)?;
        if row.forces.is_some() || row.heat.is_some() {
            records.post(move |recorder| Ok(row.record(recorder, case, step)?));
        }
        Ok(())
    }

    /// Records them at the last step.
    pub(super) fn record_last_forces(&mut self, recorder: &mut Option<Recorder<'a>>) -> Result<(), FlowError> {
        let (step, case) = (self.flow.step(), self.case);
        let row = self.row(self.schedule.takes(Source::Forces), self.schedule.takes(Source::Heat))?;
        recorder.as_mut().map_or(Ok(()), |recorder| Ok(row.record(recorder, case, step)?))
    }

    fn row(&mut self, forces: bool, heat: bool) -> Result<Row, FlowError> {
        let mut of = |number: usize, wanted: bool| wanted.then(|| self.flow.take_exchanges(number)).flatten();
        let means = (of(FORCES, forces), of(HEAT, heat));
        // At the first step there is no mean yet.
        let lacking = forces && means.0.is_none() || heat && means.1.is_none();
        let next = lacking.then(|| self.flow.exchanges()).transpose()?;
        let or_next = |mean: Option<Vec<Exchange>>, wanted: bool| mean.or_else(|| next.clone().filter(|_| wanted));
        Ok(Row { bodies: self.flow.bodies(), forces: or_next(means.0, forces), heat: or_next(means.1, heat) })
    }
}

/// Where the fluid moves bodies: for each solid of the case its displacement, angle, velocity and angular velocity, 0 of others.
fn placed(case: &Case, bodies: &[(usize, BodyState)]) -> Vec<[f64; 3]> {
    if !case.floats() {
        return vec![];
    }
    let mut all = vec![[0.0; 3]; STATES * case.solids.len()];
    for (number, state) in bodies {
        let turned = case.solids[*number].free().map_or([0.0; 3], |body| body.turned_by(state));
        let own = [state.by, turned, state.mean_velocity(), state.mean_rotation()];
        all[STATES * number..][..STATES].copy_from_slice(&own);
    }
    all
}

impl Row {
    fn record(self, recorder: &mut Recorder<'_>, case: &Case, step: u64) -> Result<(), OutputError> {
        if let Some(exchanges) = self.forces {
            let torques = exchanges.iter().map(|exchange| exchange.torque).filter(|_| case.turns());
            let forces: Vec<[f64; 3]> = exchanges.iter().map(|exchange| exchange.force).chain(torques).collect();
            let forces: Vec<[f64; 3]> = forces.into_iter().chain(placed(case, &self.bodies)).collect();
            recorder.record(Data::Forces(step, &forces))?;
        }
        if let Some(exchanges) = self.heat {
            let gain = |exchange: &Exchange| -> Vec<f64> {
                case.scalars.iter().map(|scalar| exchange.gains[scalar.set]).collect()
            };
            let gains: Vec<f64> = exchanges.iter().flat_map(gain).collect();
            recorder.record(Data::Heat(step, &gains))?;
        }
        Ok(())
    }
}
