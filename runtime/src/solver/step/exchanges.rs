//! Exchange between solids and the fluid along cut links.
//!
//! Kernels sum the exchange of all links of each block and leave the sums on the device. The host adds the blocks along the space-filling
//! curve, so totals are the same for any number of subdomains. If the exchange is accumulated over steps, the host reads the sums of
//! several steps at once, so that a device need not wait for the host.

use crate::kernels;
use crate::solver::arrays::params::Level;
use crate::solver::error::StepError;
use crate::solver::observe::{Exchange, Exchanged};
use crate::solver::parts::Parts;
use crate::solver::parts::collect::{bytes_of, numbers_of};
use crate::solver::solids::moving::OfLinks;
use crate::solver::subdomain::Subdomain;

/// Most level steps whose sums are left on the device.
const MOST_LEFT: usize = 32;

impl Parts {
    /// Adds the exchange of each solid in the next step to `total`. Every step of a finer level is taken to contribute as much as the
    /// first.
    pub(crate) fn add_exchanges(&mut self, levels: &[Level], total: &mut [Exchange]) -> Result<(), StepError> {
        let dim = self.first().grid.dim();
        for (at, level) in levels.iter().enumerate() {
            if self.first().bodies.is_some() {
                // Boundary conditions read neighbouring blocks.
                self.exchange(at, level.current)?;
            }
            for subdomain in self.iter_mut() {
                subdomain.prescribe(at, 1)?;
                subdomain.leave_exchanges(at, level)?;
            }
            // A cell of a finer level has 2^-dim of the mass, and exchanges it in half the time.
            let scale = 0.5f64.powi((at * (dim - 1)) as i32);
            self.take_exchanges(1)?.iter().for_each(|found| self.add_found(found, scale, total));
        }
        Ok(())
    }

    /// Accumulates the sums that level steps have left on the devices, if there are at least `least` of them.
    pub(crate) fn sum_exchanges(&mut self, least: usize) -> Result<(), StepError> {
        if self.left.len() < least.max(1) {
            return Ok(());
        }
        let levels = std::mem::take(&mut self.left);
        let found = self.take_exchanges(levels.len())?;
        let mut all = std::mem::take(&mut self.exchanged);
        let dim = self.first().grid.dim();
        for (at, found) in levels.into_iter().zip(found) {
            for Exchanged { steps, sums } in &mut all {
                *steps += u64::from(at == 0);
                self.add_found(&found, 0.5f64.powi((at * dim) as i32), sums);
            }
        }
        self.exchanged = all;
        Ok(())
    }

    /// The same if [`MOST_LEFT`] of them are left, which is all that there is room for.
    pub(crate) fn sum_many_exchanges(&mut self) -> Result<(), StepError> {
        self.sum_exchanges(MOST_LEFT)
    }

    /// Reads the sums that a number of level steps have left, in all subdomains: block by block along the space-filling curve.
    fn take_exchanges(&mut self, count: usize) -> Result<Vec<Vec<f64>>, StepError> {
        let mut all = vec![vec![]; count];
        for subdomain in self.iter_mut() {
            all.iter_mut().zip(subdomain.take_exchanges()?).for_each(|(all, own)| all.extend(own));
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
        let Some(bodies) = &self.first().bodies else { return };
        let dim = self.first().grid.dim();
        for (entry, sums) in found.chunks_exact(bodies.sums).enumerate() {
            let Exchange { force, torque, gains } = &mut total[entry % bodies.count];
            for (total, value) in force[..dim].iter_mut().chain(gains).chain(torque).zip(sums) {
                *total += scale * value;
            }
        }
    }
}

impl Subdomain {
    /// Launches the summation over the links of a level for its next step, and leaves the sums on the device. Walls must have their values
    /// of that step, and the halo must be up to date.
    pub(crate) fn leave_exchanges(&mut self, at: usize, level: &Level) -> Result<(), StepError> {
        let Some(bodies) = &mut self.bodies else { return Ok(()) };
        let listed = bodies.levels[at].clone();
        let (blocks, count) = (listed.len(), listed.len() * bodies.count * bodies.sums);
        let mut values = bodies.left.room(self.program.device(), count)?;
        if blocks > 0 {
            let OfLinks { first, form, places, shapes } = &bodies.of_links;
            let manifest = self.program.manifest();
            let torques = bodies.sums - manifest.dim as usize - manifest.populations.len();
            self.program.launch(kernels::Force {
                list: kernels::Shares {
                    shares: self.grid.forest().every().part(0..blocks),
                    ids: bodies.list.part(listed),
                    per: 1,
                },
                neighbours: &self.grid.tables().neighbours,
                walls: self.walls.arguments(),
                links: bodies.arguments(),
                src: &self.fields.populations[level.current],
                exchanged: &mut values,
                owners: &bodies.owners,
                frames: &bodies.frames,
                bodies: bodies.count as i32,
                torques: torques as i32,
                level: at as i32,
                first: *first as i32,
                form,
                places,
                kinds: &shapes.kinds,
                numbers: &shapes.numbers,
            })?;
        }
        bodies.left.push(values, count);
        Ok(())
    }

    /// Reads the sums of its blocks that were left on the device.
    fn take_exchanges(&mut self) -> Result<Vec<Vec<f64>>, StepError> {
        self.bodies.as_mut().map_or(Ok(vec![]), |bodies| bodies.left.take())
    }
}
