//! Exchange between solids and the fluid along cut links.
//!
//! Kernels sum the exchange of all links of each block and leave the sums on the device. The host adds the blocks along the space-filling
//! curve, so totals are the same for any number of subdomains. If the exchange is accumulated over steps, the host reads the sums of
//! several steps at once, so that a device need not wait for the host. Where the fluid moves a body, the host reads them after each step of
//! its level, and the same in all processes the body gets its next velocity.

use crate::geometry::solid::Impulse;
use crate::solver::arrays::params::LevelState;
use crate::solver::decomposition::Subdomains;
use crate::solver::decomposition::collect::{bytes_of, numbers_of};
use crate::solver::error::StepError;
use crate::solver::observe::Exchange;
use crate::solver::plan::task::LevelStep;

/// Most level steps whose sums are left on the device.
pub(crate) const MOST_LEFT: usize = 64;

impl Subdomains {
    /// Adds the exchange of each solid in the next step to `total`. Every step of a finer level is taken to contribute as much as the
    /// first.
    pub(crate) fn add_exchanges(&mut self, levels: &[LevelState], total: &mut [Exchange]) -> Result<(), StepError> {
        let dim = self.first().grid().dim();
        for (at, level) in levels.iter().enumerate() {
            if self.first().bodies().is_some() {
                // Boundary conditions read neighbouring blocks.
                self.exchange(at, level.current)?;
            }
            for subdomain in self.iter_mut() {
                subdomain.prescribe(at, 1)?;
                subdomain.leave_exchanges((at, subdomain.link_set(at)), level)?;
            }
            // A cell of a finer level has 2^-dim of the mass, and exchanges it in half the time.
            let scale = 0.5f64.powi((at * (dim - 1)) as i32);
            self.take_exchanges(1)?.iter().for_each(|found| self.add_found(found, scale, total));
        }
        Ok(())
    }

    /// Accumulates the sums that level steps have left on the devices, if there are at least `least` of them.
    pub(crate) fn sum_exchanges(&mut self, least: usize) -> Result<(), StepError> {
        if self.left.len() < least.max(1) { Ok(()) } else { self.sum_first_exchanges(self.left.len()) }
    }

    /// Accumulates the sums that the first of these have left, as many.
    pub(crate) fn sum_first_exchanges(&mut self, count: usize) -> Result<(), StepError> {
        if count == 0 {
            return Ok(());
        }
        let steps: Vec<LevelStep> = self.left.drain(..count).collect();
        self.replayed = self.replayed.saturating_sub(count);
        let found = self.take_exchanges(count)?;
        let mut all = std::mem::take(&mut self.exchanged);
        let (dim, levels) = (self.first().grid().dim(), self.first().grid().levels().len());
        for (step, found) in steps.into_iter().zip(found) {
            for accumulation in &mut all {
                self.add_found(&found, 0.5f64.powi((step.level * dim) as i32), &mut accumulation.since.sums);
                if let Some(done) = step.completes(levels) {
                    accumulation.count(done);
                }
            }
            if self.first().has_free(step.level) {
                self.keep_impulses(step.level, &found);
            }
        }
        self.exchanged = all;
        Ok(())
    }

    /// Keeps what a step of a level has given to its free bodies.
    fn keep_impulses(&mut self, level: usize, found: &[f64]) {
        let Some(bodies) = self.first().bodies() else { return };
        let sets = self.first().program().manifest().populations.len();
        let mut total = vec![Exchange::none(sets); bodies.count];
        self.add_found(found, 0.5f64.powi((level * self.first().grid().dim()) as i32), &mut total);
        let solids = &bodies.cutters.solids;
        let own = solids.motions(level).filter(|(_, motion)| motion.body().is_some());
        let impulses: Vec<(usize, Impulse)> = own
            .map(|(number, _)| (number, Impulse { force: total[number].force, torque: total[number].torque }))
            .collect();
        self.impulses.extend(impulses);
    }

    /// Gives the free bodies of a level, after its step that ends at a time, their place and their next velocity, in all subdomains.
    pub(crate) fn push_bodies(&mut self, level: usize, time: f64) -> Result<(), StepError> {
        let is_pushed = |subdomains: &Subdomains| {
            let solids = subdomains.first().bodies().map(|bodies| &bodies.cutters.solids);
            solids.is_none_or(|solids| !solids.has_free(level) || solids.is_pushed(level, time))
        };
        if is_pushed(self) {
            return Ok(());
        }
        self.sum_exchanges(1)?;
        let first = self.first();
        let Some(bodies) = first.bodies() else { return Ok(()) };
        // A flow that is not finite ends at its next check, which says where it began.
        let impulse =
            |number: usize| self.impulses.get(&number).copied().filter(Impulse::is_finite).unwrap_or_default();
        let sound = first.program().manifest().main().cs2.sqrt();
        let states = bodies
            .cutters
            .solids
            .clone()
            .pushed((level, time), impulse, sound)
            .map_err(|astray| StepError::astray(astray, time as u64, sound))?;
        self.iter_mut().for_each(|subdomain| subdomain.set_states(&states));
        Ok(())
    }

    /// The same if [`MOST_LEFT`] of them are left, which is all that there is room for.
    pub(crate) fn sum_many_exchanges(&mut self) -> Result<(), StepError> {
        self.sum_exchanges(MOST_LEFT)
    }

    /// Reads the sums that the first level steps have left, as many, in all subdomains: block by block along the space-filling curve.
    fn take_exchanges(&mut self, count: usize) -> Result<Vec<Vec<f64>>, StepError> {
        let mut all = vec![vec![]; count];
        for subdomain in self.iter_mut() {
            all.iter_mut().zip(subdomain.take_exchanges(count)?).for_each(|(all, own)| all.extend(own));
        }
        let Some(processes) = self.processes() else { return Ok(all) };
        let lengths = all.iter().map(|own| own.len() as f64);
        let sent: Vec<f64> = lengths.chain(all.iter().flatten().copied()).collect();
        let mut all = vec![vec![]; count];
        for bytes in processes.allgather(&bytes_of(&sent)) {
            let mut numbers = numbers_of(&bytes);
            let lengths: Vec<usize> = numbers.by_ref().take(count).map(|length| length as usize).collect();
            all.iter_mut().zip(lengths).for_each(|(all, length)| all.extend(numbers.by_ref().take(length)));
        }
        Ok(all)
    }

    /// Adds these sums to `total`, block by block.
    fn add_found(&self, found: &[f64], scale: f64, total: &mut [Exchange]) {
        let Some(bodies) = self.first().bodies() else { return };
        let dim = self.first().grid().dim();
        for entry in found.chunks_exact(1 + bodies.sums) {
            let (number, sums) = (entry[0] as usize, &entry[1..]);
            let Exchange { force, torque, gains } = &mut total[number];
            for (total, value) in force[..dim].iter_mut().chain(gains).chain(torque).zip(sums) {
                *total += scale * value;
            }
        }
    }
}
