//! Momentum and mass exchanged along cut links, kept on the device until the host reads them.

use crate::device::{Buffer, Device, Double};
use crate::solver::error::StepError;

/// Exchanges along the cut links of a subdomain's blocks in the steps of all levels since the last readback.
#[derive(Default)]
pub(crate) struct Left {
    /// For each step `[block][solid][axis, set of populations, or axis of the torque]`, and the number of values.
    steps: Vec<(Buffer<Double>, usize)>,
    /// The same of recorded steps, which write these each time they are replayed.
    recorded: Vec<(Buffer<Double>, usize)>,
    /// Whether they have been replayed since.
    replayed: bool,
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

    /// Takes what has been stored since the last call of [`Self::take`] as that of recorded steps.
    pub(crate) fn record(&mut self) {
        self.recorded = std::mem::take(&mut self.steps);
    }

    /// Recorded steps have been replayed; everything stored before must have been taken.
    pub(crate) fn replay(&mut self) {
        self.replayed = !self.recorded.is_empty();
    }

    /// The exchanges since the last call, step by step.
    pub(crate) fn take(&mut self) -> Result<Vec<Vec<f64>>, StepError> {
        let read = |(values, count): &(Buffer<Double>, usize)| match *count {
            0 => Ok(vec![]),
            count => values.read_reals(0..count),
        };
        let recorded: &[_] = if std::mem::take(&mut self.replayed) { &self.recorded } else { &[] };
        let all = recorded.iter().chain(&self.steps).map(read).collect::<Result<_, _>>()?;
        self.unused.extend(self.steps.drain(..).map(|(values, _)| values));
        Ok(all)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Stores `value` as the exchange of a step.
    fn step(left: &mut Left, device: &Device, value: f64) {
        let mut room = left.room(device, 1).unwrap();
        room.write_reals(0, &[value]).unwrap();
        left.push(room, 1);
    }

    #[test]
    fn recorded_exchanges_are_taken_after_each_replay_and_before_those_of_later_steps() {
        let (device, mut left) = (Device::host(1).unwrap(), Left::default());
        step(&mut left, &device, 1.0);
        step(&mut left, &device, 2.0);
        left.record();
        step(&mut left, &device, 3.0);
        assert_eq!(left.take().unwrap(), [[3.0]]);
        for _ in 0..2 {
            left.replay();
            step(&mut left, &device, 4.0);
            assert_eq!(left.take().unwrap(), [[1.0], [2.0], [4.0]]);
        }
        assert!(left.take().unwrap().is_empty());
    }
}
