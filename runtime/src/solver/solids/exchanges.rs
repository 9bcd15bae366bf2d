//! Momentum and mass exchanged along cut links, kept on the device until the host reads them.

use crate::device::{Buffer, Device, Double};
use crate::solver::error::StepError;

/// Exchanges along the cut links of a subdomain's blocks in the steps of all levels since the last readback.
#[derive(Default)]
pub(crate) struct Left {
    /// For each step `[block][solid][axis, set of populations, or axis of the torque]`, and the number of values.
    steps: Vec<(Buffer<Double>, usize)>,
    /// Buffers to reuse.
    unused: Vec<Buffer<Double>>,
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

    /// Stores the exchanges of a step of a level, with the number of values.
    pub(crate) fn push(&mut self, values: Buffer<Double>, count: usize) {
        self.steps.push((values, count));
    }

    /// The exchanges since the last call, step by step.
    pub(crate) fn take(&mut self) -> Result<Vec<Vec<f64>>, StepError> {
        let mut all = vec![];
        for (values, count) in std::mem::take(&mut self.steps) {
            all.push(if count > 0 { values.read_reals(0..count)? } else { vec![] });
            self.unused.push(values);
        }
        Ok(all)
    }
}
