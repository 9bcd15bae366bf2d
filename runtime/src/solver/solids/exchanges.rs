//! Momentum and mass exchanged along cut links, kept on the device until the host reads them.

use crate::device::{Buffer, Device, Double};
use crate::geometry::solid::{Vector, cross};
use crate::solver::error::StepError;

/// Exchanges along the cut links of a subdomain's blocks in the steps of all levels since the last readback.
#[derive(Default)]
pub(crate) struct Left {
    steps: Vec<OfStep>,
    /// Buffers to reuse.
    unused: Vec<Buffer<Double>>,
}

/// The exchanges of one step of a level.
struct OfStep {
    /// `[block][solid][axis or set of populations]`, and the number of values.
    blocks: (Buffer<Double>, usize),
    /// The exchanges along links that meet rotating solids.
    links: Option<OfLinks>,
}

/// The exchanges along links that meet rotating solids, link by link.
pub(crate) struct OfLinks {
    /// `[block][link][axis or set of populations]`, and the number of values.
    pub(crate) values: (Buffer<Double>, usize),
    pub(crate) links: Vec<OfLink>,
}

/// A link that meets a rotating solid.
pub(crate) struct OfLink {
    /// Offset of its values in [`OfLinks::values`].
    pub(crate) from: usize,
    /// Offset of the sums of its solid among the sums of the step.
    pub(crate) to: usize,
    /// From the pivot to the point where the link meets the solid.
    pub(crate) arm: Vector,
    /// Velocity of the surface there.
    pub(crate) velocity: Vector,
}

impl Left {
    /// A buffer for at least `count` numbers, reused if possible.
    pub(crate) fn room(&mut self, device: &Device, count: usize) -> Result<Buffer<Double>, StepError> {
        match self.unused.iter().position(|room| room.len() >= count) {
            Some(at) => Ok(self.unused.swap_remove(at)),
            None => {
                self.unused.pop();
                Ok(device.alloc_doubles(count)?)
            }
        }
    }

    /// Stores the exchanges of a step of a level: those of its blocks, with the number of values, and those of links with rotating
    /// solids.
    pub(crate) fn push(&mut self, blocks: (Buffer<Double>, usize), links: Option<OfLinks>) {
        self.steps.push(OfStep { blocks, links });
    }

    fn read(&mut self, (values, count): (Buffer<Double>, usize)) -> Result<Vec<f64>, StepError> {
        let read = if count > 0 { values.read_reals(0..count)? } else { vec![] };
        self.unused.push(values);
        Ok(read)
    }

    /// The exchanges since the last call: for each step `[block][solid][axis or set of populations, axis of the torque]`.
    pub(crate) fn take(&mut self, dim: usize, sums: usize) -> Result<Vec<Vec<f64>>, StepError> {
        let mut all = vec![];
        for OfStep { blocks, links } in std::mem::take(&mut self.steps) {
            let blocks = self.read(blocks)?;
            let with_torque = |sums: &[f64]| [sums, &[0.0; 3]].concat();
            let mut found: Vec<f64> = blocks.chunks_exact(sums).flat_map(with_torque).collect();
            if let Some(OfLinks { values, links }) = links {
                let values = self.read(values)?;
                for OfLink { from, to, arm, velocity } in links {
                    let of_link = &values[from..from + sums];
                    // The mass that the fluid gains has the velocity of the surface.
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
