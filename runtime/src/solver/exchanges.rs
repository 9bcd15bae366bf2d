//! What solids and the fluid exchange along cut links.
//!
//! Kernels add it up link by link for each block and leave that on the device; the host adds the blocks up along the curve, so that sums are the same in
//! any number of parts. Where something is summed up over steps, what several steps have left is read at once: a device need not wait for the host.

use super::bodies::Bodies;
use super::error::StepError;
use super::observe::{Exchange, Exchanged};
use super::parts::{Parts, bytes_of, numbers_of};
use super::step::Level;
use super::subdomain::Subdomain;
use crate::device::{Buffer, Device, Double};
use crate::geometry::solid::{Vector, cross};
use crate::kernels;

/// Steps of levels whose sums are left on the device at most.
const MOST_LEFT: usize = 32;

/// What links of a part's blocks have exchanged in steps of levels, on the device until it is read.
#[derive(Default)]
pub(super) struct Left {
    steps: Vec<OfStep>,
    /// Room for more.
    unused: Vec<Buffer<Double>>,
}

/// What a step of a level has left.
struct OfStep {
    /// Of its blocks `[block][solid][axis or set of populations]`, and how many numbers these are.
    blocks: (Buffer<Double>, usize),
    /// Of its links with solids that turn.
    links: Option<OfLinks>,
}

/// What links with solids that turn have given to these.
pub(super) struct OfLinks {
    /// `[block][link][axis or set of populations]`, and how many numbers these are.
    pub(super) values: (Buffer<Double>, usize),
    pub(super) links: Vec<OfLink>,
}

/// What a link has given to a solid that turns.
pub(super) struct OfLink {
    /// Where its numbers are.
    pub(super) from: usize,
    /// Where the numbers of the solid are among those of the step.
    pub(super) to: usize,
    /// From the pivot to where the link meets the solid.
    pub(super) arm: Vector,
    /// Of the surface there.
    pub(super) velocity: Vector,
}

impl Left {
    /// Room for so many numbers.
    pub(super) fn room(&mut self, device: &Device, count: usize) -> Result<Buffer<Double>, StepError> {
        match self.unused.iter().position(|room| room.len() >= count) {
            Some(at) => Ok(self.unused.swap_remove(at)),
            None => {
                self.unused.pop();
                Ok(device.alloc_doubles(count)?)
            }
        }
    }

    fn read(&mut self, (values, count): (Buffer<Double>, usize)) -> Result<Vec<f64>, StepError> {
        let read = if count > 0 { values.read_reals(0..count)? } else { vec![] };
        self.unused.push(values);
        Ok(read)
    }

    /// What has been left since it was last read: for each step `[block][solid][axis or set of populations, axis of the torque]`.
    fn take(&mut self, dim: usize, sums: usize) -> Result<Vec<Vec<f64>>, StepError> {
        let mut all = vec![];
        for OfStep { blocks, links } in std::mem::take(&mut self.steps) {
            let blocks = self.read(blocks)?;
            let with_torque = |sums: &[f64]| [sums, &[0.0; 3]].concat();
            let mut found: Vec<f64> = blocks.chunks_exact(sums).flat_map(with_torque).collect();
            if let Some(OfLinks { values, links }) = links {
                let values = self.read(values)?;
                for OfLink { from, to, arm, velocity } in links {
                    let of_link = &values[from..from + sums];
                    // What the fluid gains of mass has had the velocity of the surface.
                    let mut force = [0.0; 3];
                    (0..dim).for_each(|axis| force[axis] = of_link[axis] + of_link[dim] * velocity[axis]);
                    let torque = cross(arm, force);
                    let numbers = force[..dim].iter().chain(&of_link[dim..]).chain(&torque);
                    found[to..to + sums + 3].iter_mut().zip(numbers).for_each(|(total, value)| *total += value);
                }
            }
            all.push(found);
        }
        Ok(all)
    }
}

impl Parts {
    /// Adds to what each solid and the fluid exchange what its links give in the step that comes next, as if each step of a finer level in it gave
    /// what the first does.
    pub(super) fn add_exchanges(&mut self, levels: &[Level], total: &mut [Exchange]) -> Result<(), StepError> {
        let dim = self.first().grid.dim();
        for (at, level) in levels.iter().enumerate() {
            if self.first().bodies.is_some() {
                // Boundary conditions read neighbours.
                self.exchange(at, level.current)?;
            }
            for subdomain in self.iter_mut() {
                subdomain.prescribe(at, 1)?;
                subdomain.leave_exchanges(at, level)?;
            }
            // A cell of a finer level has 2^-dim of the mass, and gives it away in half the time.
            let scale = 0.5f64.powi((at * (dim - 1)) as i32);
            self.take_exchanges(1)?.iter().for_each(|found| self.add_found(found, scale, total));
        }
        Ok(())
    }

    /// Adds what steps of levels have left to all sums over steps, those of so many or more.
    pub(super) fn sum_exchanges(&mut self, least: usize) -> Result<(), StepError> {
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

    /// The same where there is no room for more to be left.
    pub(super) fn sum_many_exchanges(&mut self) -> Result<(), StepError> {
        self.sum_exchanges(MOST_LEFT)
    }

    /// What all parts have left in so many steps of levels, block by block along the curve.
    fn take_exchanges(&mut self, count: usize) -> Result<Vec<Vec<f64>>, StepError> {
        let mut all = vec![vec![]; count];
        for subdomain in self.iter_mut() {
            all.iter_mut().zip(subdomain.take_exchanges()?).for_each(|(all, own)| all.extend(own));
        }
        let Some(processes) = self.processes() else { return Ok(all) };
        let lengths = all.iter().map(|own| own.len() as f64);
        let sent: Vec<f64> = lengths.chain(all.iter().flatten().copied()).collect();
        let mut all = vec![vec![]; count];
        for bytes in processes.share(&bytes_of(&sent)) {
            let mut numbers = numbers_of(&bytes);
            let lengths: Vec<usize> = numbers.by_ref().take(count).map(|length| length as usize).collect();
            all.iter_mut().zip(lengths).for_each(|(all, length)| all.extend(numbers.by_ref().take(length)));
        }
        Ok(all)
    }

    /// Adds that up, block by block.
    fn add_found(&self, found: &[f64], scale: f64, total: &mut [Exchange]) {
        let Some(bodies) = &self.first().bodies else { return };
        let dim = self.first().grid.dim();
        for (entry, sums) in found.chunks_exact(bodies.sums + 3).enumerate() {
            let Exchange { force, torque, gains } = &mut total[entry % bodies.count];
            for (total, value) in force[..dim].iter_mut().chain(gains).chain(torque).zip(sums) {
                *total += scale * value;
            }
        }
    }
}

impl Subdomain {
    /// Leaves what links of a level give in its step that comes next; walls are as they are in that step, and what is read of other parts is there.
    pub(super) fn leave_exchanges(&mut self, at: usize, level: &Level) -> Result<(), StepError> {
        let Some(bodies) = &mut self.bodies else { return Ok(()) };
        let listed = bodies.levels[at].clone();
        let (blocks, count) = (listed.len(), listed.len() * bodies.count * bodies.sums);
        let mut values = bodies.left.room(self.program.device(), count)?;
        if blocks > 0 {
            self.program.launch(kernels::Force {
                shares: self.grid.forest().every().part(0..blocks),
                ids: bodies.list.part(listed),
                per: 1,
                neighbours: &self.grid.tables().neighbours,
                wall_rules: &self.walls.rules,
                wall_values: &self.walls.values,
                rows: &bodies.rows,
                links: &bodies.links,
                distances: &bodies.distances,
                src: &self.fields.populations[level.current],
                exchanged: &mut values,
                owners: &bodies.owners,
                frames: &bodies.frames,
                bodies: bodies.count as i32,
            })?;
        }
        let links = self.leave_turned(at, level)?;
        let Some(bodies) = &mut self.bodies else { return Ok(()) };
        bodies.left.steps.push(OfStep { blocks: (values, count), links });
        Ok(())
    }

    /// What its blocks have left.
    fn take_exchanges(&mut self) -> Result<Vec<Vec<f64>>, StepError> {
        let dim = self.grid.dim();
        let Some(Bodies { left, sums, .. }) = &mut self.bodies else { return Ok(vec![]) };
        left.take(dim, *sums)
    }
}
