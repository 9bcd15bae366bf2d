//! Forces on solids that change from one step to the next and back. Rows of forces at even steps alone would see one of two values.

use super::error::FlowError;
use super::run::Run;
use crate::case::{Body, Case};

/// Steps at the end of a run whose forces are compared.
const COMPARED: u64 = 3;

/// Part of the force by which it must change from step to step, forth and back.
const SHARE: f64 = 0.3;

/// Least force, over the square of the reference velocity and the area of a side of a cell.
const LEAST: f64 = 1e-2;

/// Steps to where the first of the compared steps, or the next of them, is.
pub(super) fn until(case: &Case, step: u64) -> Option<u64> {
    let left = case.stop.steps - step;
    is_compared(case).then_some(if left >= COMPARED { left + 1 - COMPARED } else { 1 })
}

/// Whether rows have forces at even steps alone, each that of one step: they are means if a solid moves.
fn is_compared(case: &Case) -> bool {
    case.output.forces.is_some_and(|every| every.is_multiple_of(2)) && !case.moves()
}

impl Run<'_> {
    /// Keeps the forces of this step if it is one of the last, and at the last one compares them. Returns a notice for the user.
    pub(super) fn compare_forces(&mut self) -> Result<Option<String>, FlowError> {
        let left = self.case.stop.steps - self.flow.step();
        if left >= COMPARED || !is_compared(self.case) {
            return Ok(None);
        }
        let forces = self.flow.forces()?;
        self.last_forces.push(forces);
        let [one, other, again] = &self.last_forces[..] else { return Ok(None) };
        let least = LEAST * self.case.scales.velocity.powi(2);
        let of = |body: &Body<'_>| [one, other, again].map(|forces| total(&forces[body.entries.clone()]));
        let found = self.case.bodies().into_iter().find(|body| sways(of(body), least));
        Ok(found.map(|body| told(self.case.dim, self.flow.step(), body.solid, of(&body))))
    }
}

fn total(forces: &[[f64; 3]]) -> [f64; 3] {
    [0, 1, 2].map(|axis| forces.iter().map(|force| force[axis]).sum())
}

fn told(dim: usize, step: u64, solid: usize, [_, before, last]: [[f64; 3]; 3]) -> String {
    let of = |force: [f64; 3]| force[..dim].iter().map(|part| format!("{part:.4e}")).collect::<Vec<_>>().join(", ");
    format!(
        "the force on solid {solid} swings from step to step: ({}) at step {}, ({}) at step {step}, lattice units; with an even \
         `output.forces` the rows have one of both, and means of them are wrong: take an odd number of steps",
        of(before),
        step - 1,
        of(last),
    )
}

/// Whether a force goes forth and back by more than a part of it.
fn sways([one, other, again]: [[f64; 3]; 3], least: f64) -> bool {
    let norm = |force: [f64; 3]| force.iter().map(|part| part * part).sum::<f64>().sqrt();
    let (forth, back) =
        ([0, 1, 2].map(|axis| other[axis] - one[axis]), [0, 1, 2].map(|axis| again[axis] - other[axis]));
    let most = norm(one).max(norm(other)).max(norm(again));
    let turns = (0..3).map(|axis| forth[axis] * back[axis]).sum::<f64>() < 0.0;
    turns && most > least && norm(forth).min(norm(back)) > SHARE * most
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_force_that_goes_forth_and_back_sways_and_one_that_falls_or_is_small_does_not() {
        let along = |all: [f64; 3]| all.map(|x| [x, 0.1, 0.0]);
        assert!(sways(along([1.0, -0.5, 1.1]), 1e-3));
        assert!(!sways(along([1.0, -0.5, 1.1]), 10.0));
        assert!(!sways(along([4.0, 2.0, 1.0]), 1e-3));
        assert!(!sways(along([1.0, 0.9, 1.0]), 1e-3));
        assert!(!sways(along([1.0, -0.5, -2.0]), 1e-3));
    }
}
