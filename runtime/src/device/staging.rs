//! Asynchronous copies of arrays to the host while kernels continue to run.
//!
//! In: ranges of arrays. After [`Staging::copy`]: later launches may overwrite the arrays. After [`Staging::bytes`]:
//! the bytes of the ranges, as all launches before the copy left them, readable from any host thread.
//!
//! With CUDA the ranges are first copied to a device staging buffer in stream order, and from there to pinned host
//! memory, concurrently with later kernels. On the host they are copied once, by all threads; with HIP once, when all
//! kernels have run.

use std::ops::Range;
use std::sync::mpsc::{self, Receiver, Sender};

use super::array::Array;
use super::error::DeviceError;
use super::{Device, Scalar, backend};

/// A pool of staging buffers that are reused.
pub struct Stagings {
    device: Device,
    free: Receiver<Area>,
    home: Sender<Area>,
}

/// Memory of a staging buffer; `None` before the first copy.
type Area = Option<Box<dyn backend::Staging>>;

/// A staging buffer for one copy. It returns to its pool when dropped, and grows to the size of its largest copy.
pub struct Staging {
    device: Device,
    area: Area,
    home: Sender<Area>,
}

impl Device {
    /// A pool of `count` staging buffers.
    pub fn stagings(&self, count: usize) -> Stagings {
        let (home, free) = mpsc::channel();
        for _ in 0..count {
            // The receiver is alive, so this cannot fail.
            let _ = home.send(None);
        }
        Stagings { device: self.clone(), free, home }
    }
}

impl Stagings {
    /// A free staging buffer, or `None` if all are in use.
    pub fn try_take(&self) -> Option<Staging> {
        self.free.try_recv().ok().map(|area| self.staging(area))
    }

    /// A free staging buffer; blocks until one is available.
    pub fn take(&self) -> Staging {
        self.staging(self.free.recv().unwrap_or_default())
    }

    fn staging(&self, area: Area) -> Staging {
        Staging { device: self.device.clone(), area, home: self.home.clone() }
    }
}

impl Drop for Staging {
    fn drop(&mut self) {
        // If the pool has been dropped, the memory is freed.
        let _ = self.home.send(std::mem::take(&mut self.area));
    }
}

impl Staging {
    /// Copies ranges of arrays one after the other, with the values that all launches so far produce. The arrays lie on
    /// one device, or on several GPUs.
    pub(crate) fn copy(&mut self, parts: &[(&Array, Range<usize>)]) -> Result<(), DeviceError> {
        for (array, range) in parts {
            array.check_range(range.start, range.len())?;
            array.device.traffic.add(range.len() * array.scalar.bytes());
        }
        self.area.get_or_insert_with(|| self.device.backend.clone().staging()).copy(parts)
    }

    /// The copied bytes, in the order of the ranges; blocks until the copy is complete.
    pub(crate) fn bytes(&self) -> Result<&[u8], DeviceError> {
        self.area.as_ref().map_or(Ok(&[]), |area| area.bytes())
    }

    /// Values `range` of the copy as reals. All copied values up to the end of the range must have type `scalar`.
    pub(crate) fn reals(&self, scalar: Scalar, range: Range<usize>) -> Result<Vec<f64>, DeviceError> {
        let bytes = &self.bytes()?[range.start * scalar.bytes()..range.end * scalar.bytes()];
        Ok(super::array::reals_of(scalar, bytes))
    }
}

#[cfg(test)]
mod tests {
    use lbm_bundle::Real;

    use crate::device::{Device, Scalar};

    #[test]
    fn a_copy_has_what_was_there_before_the_array_changed() {
        let device = Device::host(2).unwrap();
        let stagings = device.stagings(1);
        let mut array = device.alloc_reals(Real::F32, 6).unwrap();
        array.write_reals(0, &[0.0, 1.0, 2.0, 3.0, 4.0, 5.0]).unwrap();
        let mut staging = stagings.take();
        staging.copy(&[(array.array(), 4..6), (array.array(), 1..3)]).unwrap();
        array.poison().unwrap();
        assert_eq!(staging.reals(Scalar::F32, 0..4).unwrap(), [4.0, 5.0, 1.0, 2.0]);
        assert_eq!(staging.reals(Scalar::F32, 1..3).unwrap(), [5.0, 1.0]);
        assert!(staging.copy(&[(array.array(), 4..7)]).is_err());
    }

    #[test]
    fn memory_that_is_used_again_has_the_new_copy_alone() {
        let device = Device::host(1).unwrap();
        let stagings = device.stagings(1);
        let ints = device.ints(&[1, 2, 3]).unwrap();
        for range in [0..1, 0..3, 2..3] {
            let mut staging = stagings.take();
            staging.copy(&[(ints.array(), range.clone())]).unwrap();
            let expected: Vec<u8> = [1i32, 2, 3][range].iter().flat_map(|value| value.to_ne_bytes()).collect();
            assert_eq!(staging.bytes().unwrap(), expected);
        }
    }

    #[test]
    fn there_are_no_more_copies_at_a_time_than_was_said() {
        let stagings = Device::host(1).unwrap().stagings(2);
        let (first, _second) = (stagings.take(), stagings.try_take().expect("two"));
        assert!(stagings.try_take().is_none());
        std::thread::spawn(|| drop(first)).join().unwrap();
        assert!(stagings.try_take().is_some());
    }
}
