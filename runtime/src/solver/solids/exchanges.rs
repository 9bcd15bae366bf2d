//! Momentum and mass exchanged along cut links, kept on the device until the host reads them.

use std::collections::VecDeque;
use std::ops::Range;
use std::sync::{Mutex, PoisonError};

use crate::device::{Array, Buffer, Device, Double, Scalar, Staging, Stagings};
use crate::solver::error::StepError;

/// Steps for which a buffer has room: the host reads each buffer once.
const STEPS_AT_ONCE: usize = 16;

/// Least numbers of a buffer.
const LEAST_ROOM: usize = 1024;

/// Exchanges along the cut links of a subdomain's blocks in the steps of all levels since the last readback.
#[derive(Default)]
pub(crate) struct Left {
    steps: Exchanges,
    /// In a mutex, as staging memory is for one thread at a time.
    copies: Mutex<Copies>,
}

/// Copies of what replays have written, which the host has not read, and their memory.
#[derive(Default)]
struct Copies {
    waiting: VecDeque<Copy>,
    stagings: Option<Stagings>,
}

/// Most copies on their way to the host: one is read while the steps that leave the next are replayed.
const COPIES: usize = 2;

/// Exchanges of recorded steps.
struct Copy {
    staging: Staging,
    /// The values of each step.
    steps: Vec<Range<usize>>,
}

/// Exchanges of some steps.
#[derive(Default)]
pub(crate) struct Exchanges {
    /// Values, step by step, and how many of each buffer are in use.
    buffers: Vec<(Buffer<Double>, usize)>,
    /// For each step its buffer, and its values there `[entry][solid, axis, set of populations, or axis of the torque]`.
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

    /// What has been stored since the last call of [`Self::take`], as that of recorded steps, which write it each time they are replayed.
    pub(crate) fn record(&mut self) -> Exchanges {
        std::mem::take(&mut self.steps)
    }

    /// Recorded steps have been replayed. Of what earlier replays have left all must have been taken but that of [`COPIES`] less one.
    pub(crate) fn replay(&mut self, device: &Device, recorded: &Exchanges) -> Result<(), StepError> {
        if recorded.steps.is_empty() {
            return Ok(());
        }
        let copies = self.copies.get_mut().unwrap_or_else(PoisonError::into_inner);
        let mut staging = copies.stagings.get_or_insert_with(|| device.stagings(COPIES)).take();
        let Exchanges { buffers, steps } = recorded;
        let parts: Vec<(&Array, Range<usize>)> =
            buffers.iter().filter(|(_, used)| *used > 0).map(|(buffer, used)| (buffer.array(), 0..*used)).collect();
        staging.copy(&parts)?;
        let begins: Vec<usize> =
            buffers.iter().scan(0, |end, (_, used)| Some(std::mem::replace(end, *end + used))).collect();
        let steps = steps.iter().map(|(at, range)| begins[*at] + range.start..begins[*at] + range.end).collect();
        copies.waiting.push_back(Copy { staging, steps });
        Ok(())
    }

    /// The exchanges of the first steps that have not been taken, step by step; as many as those of some replays, or all.
    pub(crate) fn take(&mut self, count: usize) -> Result<Vec<Vec<f64>>, StepError> {
        let copies = self.copies.get_mut().unwrap_or_else(PoisonError::into_inner);
        let mut all = vec![];
        while all.len() < count {
            let Some(Copy { staging, steps }) = copies.waiting.pop_front() else { break };
            for range in steps {
                all.push(staging.reals(Scalar::F64, range)?);
            }
        }
        if all.len() < count {
            all.extend(self.steps.read()?);
            self.steps.steps.clear();
            self.steps.buffers.iter_mut().for_each(|(_, used)| *used = 0);
        }
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
        let recorded = left.record();
        step(&mut left, &device, 3.0);
        assert_eq!(left.take(1).unwrap(), [[3.0]]);
        for _ in 0..3 {
            left.replay(&device, &recorded).unwrap();
            left.replay(&device, &recorded).unwrap();
            assert_eq!(left.take(2).unwrap(), [[1.0], [2.0]]);
            step(&mut left, &device, 4.0);
            assert_eq!(left.take(3).unwrap(), [[1.0], [2.0], [4.0]]);
        }
        assert!(left.take(0).unwrap().is_empty());
    }
}
