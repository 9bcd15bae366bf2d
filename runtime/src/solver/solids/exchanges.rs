//! What links have exchanged with solids, on the device until it is read.

use crate::device::{Buffer, Device, Double};
use crate::geometry::solid::{Vector, cross};
use crate::solver::error::StepError;

/// What links of a part's blocks have exchanged in steps of levels, on the device until it is read.
#[derive(Default)]
pub(crate) struct Left {
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
pub(crate) struct OfLinks {
    /// `[block][link][axis or set of populations]`, and how many numbers these are.
    pub(crate) values: (Buffer<Double>, usize),
    pub(crate) links: Vec<OfLink>,
}

/// What a link has given to a solid that turns.
pub(crate) struct OfLink {
    /// Where its numbers are.
    pub(crate) from: usize,
    /// Where the numbers of the solid are among those of the step.
    pub(crate) to: usize,
    /// From the pivot to where the link meets the solid.
    pub(crate) arm: Vector,
    /// Of the surface there.
    pub(crate) velocity: Vector,
}

impl Left {
    /// Room for so many numbers.
    pub(crate) fn room(&mut self, device: &Device, count: usize) -> Result<Buffer<Double>, StepError> {
        match self.unused.iter().position(|room| room.len() >= count) {
            Some(at) => Ok(self.unused.swap_remove(at)),
            None => {
                self.unused.pop();
                Ok(device.alloc_doubles(count)?)
            }
        }
    }

    /// Leaves what a step of a level has given: of its blocks, with how many numbers these are, and of links with solids that turn.
    pub(crate) fn push(&mut self, blocks: (Buffer<Double>, usize), links: Option<OfLinks>) {
        self.steps.push(OfStep { blocks, links });
    }

    fn read(&mut self, (values, count): (Buffer<Double>, usize)) -> Result<Vec<f64>, StepError> {
        let read = if count > 0 { values.read_reals(0..count)? } else { vec![] };
        self.unused.push(values);
        Ok(read)
    }

    /// What has been left since it was last read: for each step `[block][solid][axis or set of populations, axis of the torque]`.
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
