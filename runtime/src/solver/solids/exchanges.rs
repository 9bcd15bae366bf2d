//! Momentum and mass exchanged along cut links, kept on the device until the host reads them.

use std::ops::Range;

use crate::device::{Buffer, Device, Double};
use crate::solver::error::StepError;

/// Steps for which a buffer has room: the host reads each buffer once.
const STEPS_AT_ONCE: usize = 16;

/// Least numbers of a buffer.
const LEAST_ROOM: usize = 1024;

/// Exchanges along the cut links of a subdomain's blocks in the steps of all levels since the last readback.
#[derive(Default)]
pub(crate) struct Left {
    steps: Exchanges,
    /// The same of recorded steps, which write these each time they are replayed.
    recorded: Exchanges,
    /// Whether they have been replayed since.
    replayed: bool,
}

/// Exchanges of some steps.
#[derive(Default)]
struct Exchanges {
    /// Values, step by step, and how many of each buffer are in use.
    buffers: Vec<(Buffer<Double>, usize)>,
    /// For each step its buffer, and its values there `[block][solid][axis, set of populations, or axis of the torque]`.
    steps: Vec<(usize, Range<usize>)>,
}

impl Exchanges {
    /// Room for the values of the next step, in a buffer from some value on.
    fn room(&mut self, device: &Device, count: usize) -> Result<(&mut Buffer<Double>, usize), StepError> {
        let fits = |(buffer, used): &(Buffer<Double>, usize)| buffer.len() - used >= count;
        let at = match self.buffers.iter().position(fits) {
            Some(at) => at,
            None => {
                self.buffers.push((device.alloc_doubles((STEPS_AT_ONCE * count).max(LEAST_ROOM))?, 0));
                self.buffers.len() - 1
            }
        };
        let (buffer, used) = &mut self.buffers[at];
        let start = *used;
        *used += count;
        self.steps.push((at, start..*used));
        Ok((buffer, start))
    }

    /// The values of each step.
    fn read(&self) -> Result<Vec<Vec<f64>>, StepError> {
        let read = |(buffer, used): &(Buffer<Double>, usize)| match used {
            0 => Ok(vec![]),
            _ => buffer.read_reals(0..*used),
        };
        let all: Vec<Vec<f64>> = self.buffers.iter().map(read).collect::<Result<_, _>>()?;
        Ok(self.steps.iter().map(|(at, range)| all[*at][range.clone()].to_vec()).collect())
    }
}

impl Left {
    /// Room for the values of the next step of a level, in a buffer from some value on.
    pub(crate) fn room(&mut self, device: &Device, count: usize) -> Result<(&mut Buffer<Double>, usize), StepError> {
        self.steps.room(device, count)
    }

    /// Takes what has been stored since the last call of [`Self::take`] as that of recorded steps.
    pub(crate) fn record(&mut self) {
        self.recorded = std::mem::take(&mut self.steps);
    }

    /// Recorded steps have been replayed; everything stored before must have been taken.
    pub(crate) fn replay(&mut self) {
        self.replayed = !self.recorded.steps.is_empty();
    }

    /// The exchanges since the last call, step by step.
    pub(crate) fn take(&mut self) -> Result<Vec<Vec<f64>>, StepError> {
        let mut all = if std::mem::take(&mut self.replayed) { self.recorded.read()? } else { vec![] };
        all.extend(self.steps.read()?);
        self.steps.steps.clear();
        self.steps.buffers.iter_mut().for_each(|(_, used)| *used = 0);
        Ok(all)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Stores `value` as the exchange of a step.
    fn step(left: &mut Left, device: &Device, value: f64) {
        let (room, start) = left.room(device, 1).unwrap();
        room.write_reals(start, &[value]).unwrap();
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
