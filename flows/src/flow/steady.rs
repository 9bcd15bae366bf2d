//! Detection of steady flow: the change of the flow since the previous check, evaluated at each check and one step
//! before.
//!
//! A flow that oscillates with a period of a few steps is the same again after any multiple of the period. No period
//! divides both the number of steps between two checks and that number minus one, so one of the two comparisons detects
//! it. The larger of the two changes is the residual.

use lbm_runtime::solver::observe::FieldCheck;

use super::error::FlowError;
use super::run::{Run, Swing};
use crate::case::Steady;
use crate::output::flux::{Flux, Fluxes};

/// A flow oscillates if one of its two changes is below the tolerance and the other above this multiple of it.
const SWINGS: f64 = 4.0;
/// The flux through a face oscillates if it changes from one step to the next by more than this fraction.
const SHARE: f64 = 1e-3;

impl Run<'_> {
    /// Whether a check is due at a step.
    pub(super) fn checks(&self, step: u64) -> bool {
        self.case.stop.steady.is_some_and(|steady| step.is_multiple_of(steady.check_every))
    }

    /// Whether a check is due at the next step, and the previous check was before this step.
    pub(super) fn checks_after(&self, step: u64) -> bool {
        let follows = |steady: Steady| steady.check_every > 1 && (step + 1).is_multiple_of(steady.check_every);
        self.case.stop.steady.is_some_and(follows)
    }

    /// The residual of the check at this step, if there was one.
    pub(super) fn checked(&self) -> Option<f64> {
        self.residual.filter(|_| self.checks(self.flow.step()))
    }

    /// Whether the check at this step found the flow steady.
    pub(super) fn is_steady(&self) -> bool {
        let tolerance = self.case.stop.steady.map(|steady| steady.tolerance);
        self.checked().zip(tolerance).is_some_and(|(change, tolerance)| change < tolerance)
    }

    /// Evaluates the flow if the run was resumed one step before a check, since that step has not been evaluated.
    pub(super) fn catch_up(&mut self) -> Result<(), FlowError> {
        if self.checks_after(self.flow.step()) {
            let look = self.flow.check_fields()?;
            self.compare(&look)?;
        }
        Ok(())
    }

    /// Evaluates the change of the flow at this step, if it is a check or the step before one. Returns a notice for the
    /// user.
    pub(super) fn compare(&mut self, look: &FieldCheck) -> Result<Option<String>, FlowError> {
        let (step, Some(steady)) = (self.flow.step(), self.case.stop.steady) else { return Ok(None) };
        let change = look.change.map(|change| self.case.residual(change));
        if self.checks_after(step) {
            self.steadiness.before = change;
            if self.steadiness.swing == Swing::Seen {
                self.steadiness.fluxes = self.fluxes()?;
            }
        }
        if !self.checks(step) {
            return Ok(None);
        }
        let before = self.steadiness.before.take();
        self.residual = change.map(|change| before.map_or(change, |before| before.max(change)));
        let swings = |change: f64, before: f64| {
            change.min(before) < steady.tolerance && change.max(before) > SWINGS * steady.tolerance
        };
        let changes = change.zip(before).filter(|(change, before)| swings(*change, *before));
        let fluxes = self.steadiness.fluxes.take();
        let (swing, told) = match (self.steadiness.swing, changes) {
            (Swing::Told, _) => (Swing::Told, None),
            (_, None) => (Swing::Unseen, None),
            (Swing::Unseen, Some(_)) => (Swing::Seen, None),
            // The fluxes at the previous step are known now.
            (Swing::Seen, Some(changes)) => {
                let faces = fluxes.zip(self.fluxes()?).map_or(String::new(), |(one, next)| swinging(&one, &next));
                (Swing::Told, Some(told(steady, changes, &faces)))
            }
        };
        self.steadiness.swing = swing;
        self.flow.set_reference()?;
        Ok(told)
    }

    /// Fluxes through open faces at this step, if the host has room for the fields.
    fn fluxes(&mut self) -> Result<Option<Fluxes>, FlowError> {
        let fields = self.fields_if_room(false)?;
        Ok(fields.and_then(|fields| Fluxes::new(self.case, &fields)))
    }
}

/// Message: the faces whose flux alternates between steps, and all open faces; empty if there are none.
fn swinging(one: &Fluxes, next: &Fluxes) -> String {
    let named = |flux: &Flux| format!("`{}` ({})", flux.face, flux.rule);
    let pairs = one.faces.iter().zip(&next.faces).map(|(one, next)| (one, one.mass.abs(), next.mass.abs()));
    let swings = pairs.filter(|(_, one, next)| (one - next).abs() > SHARE * one.max(*next));
    let swings: Vec<String> = swings
        .map(|(face, one, next)| format!("{} lets {one:.6} and {next:.6} through in turn", named(face)))
        .collect();
    let open: Vec<String> = one.faces.iter().map(named).collect();
    match &swings[..] {
        [] => String::new(),
        _ => format!(
            "; {}: the rules of the open faces, {}, do not go together, give one of them another",
            swings.join(", "),
            open.join(" and ")
        ),
    }
}

/// Notice for a flow that oscillates, with its changes over the steps between checks and over one step less.
fn told(steady: Steady, (change, before): (f64, f64), faces: &str) -> String {
    let Steady { check_every, tolerance } = steady;
    format!(
        "the flow swings from step to step and is not steady: its velocity has changed by {change:.1e} over {check_every} steps, \
         and by {before:.1e} over {} (steady at {tolerance:.0e}){faces}",
        check_every - 1
    )
}
