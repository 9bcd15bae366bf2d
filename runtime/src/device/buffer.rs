//! Arrays on a device.
//!
//! A [`Buffer`] knows its type and length; values cross as `i32` or `f64` and are rounded to `f32` where the buffer is.
//! What a buffer holds before it is written is zero.

use std::ops::Range;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use lbm_bundle::Real;

use super::error::DeviceError;
use super::{cuda, host};

/// Type of the values of a buffer.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Scalar {
    /// 32-bit integers.
    I32,
    /// 32-bit floating point.
    F32,
    /// 64-bit floating point.
    F64,
}

impl Scalar {
    /// Bytes per value.
    pub fn bytes(self) -> usize {
        match self {
            Scalar::I32 | Scalar::F32 => 4,
            Scalar::F64 => 8,
        }
    }

    /// Name as in Rust.
    pub fn name(self) -> &'static str {
        match self {
            Scalar::I32 => "i32",
            Scalar::F32 => "f32",
            Scalar::F64 => "f64",
        }
    }
}

impl From<Real> for Scalar {
    fn from(real: Real) -> Self {
        match real {
            Real::F32 => Scalar::F32,
            Real::F64 => Scalar::F64,
        }
    }
}

/// Bytes that cross between buffers and the program, counted together for all buffers of a device.
#[derive(Clone, Default)]
pub(super) struct Traffic(Arc<AtomicU64>);

impl Traffic {
    fn add(&self, bytes: usize) {
        self.0.fetch_add(bytes as u64, Ordering::Relaxed);
    }

    pub(super) fn bytes(&self) -> u64 {
        self.0.load(Ordering::Relaxed)
    }
}

/// An array on a device.
pub struct Buffer {
    pub(super) scalar: Scalar,
    pub(super) len: usize,
    pub(super) storage: Storage,
    pub(super) traffic: Traffic,
}

pub(super) enum Storage {
    Host(host::Memory),
    Cuda(cuda::Memory),
}

impl std::fmt::Debug for Buffer {
    fn fmt(&self, out: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(out, "Buffer({} x {})", self.len, self.scalar.name())
    }
}

impl Buffer {
    /// Type of the values.
    pub fn scalar(&self) -> Scalar {
        self.scalar
    }

    /// Number of values.
    pub fn len(&self) -> usize {
        self.len
    }

    /// Whether there are no values.
    pub fn is_empty(&self) -> bool {
        self.len == 0
    }

    /// Size in bytes.
    pub fn bytes(&self) -> usize {
        self.len * self.scalar.bytes()
    }

    /// Bytes before a value.
    pub(super) fn offset(&self, at: usize) -> u64 {
        (at * self.scalar.bytes()) as u64
    }

    pub(super) fn wrong(&self, wrong: impl Into<String>) -> DeviceError {
        DeviceError::Buffer { len: self.len, scalar: self.scalar.name(), wrong: wrong.into() }
    }

    fn check_range(&self, start: usize, count: usize) -> Result<(), DeviceError> {
        match start.checked_add(count) {
            Some(end) if end <= self.len => Ok(()),
            _ => Err(self.wrong(format!("at {start} .. {start} + {count}"))),
        }
    }

    /// Writes integers from position `start` on.
    pub fn write_ints(&mut self, start: usize, values: &[i32]) -> Result<(), DeviceError> {
        self.check_range(start, values.len())?;
        match self.scalar {
            Scalar::I32 => self.write_bytes(start, bytes_of(values)),
            _ => Err(self.wrong("as integers")),
        }
    }

    /// Writes reals from position `start` on, rounded to the buffer's type.
    pub fn write_reals(&mut self, start: usize, values: &[f64]) -> Result<(), DeviceError> {
        self.check_range(start, values.len())?;
        match self.scalar {
            Scalar::F64 => self.write_bytes(start, bytes_of(values)),
            Scalar::F32 => {
                let rounded: Vec<f32> = values.iter().map(|value| *value as f32).collect();
                self.write_bytes(start, bytes_of(&rounded))
            }
            Scalar::I32 => Err(self.wrong("as reals")),
        }
    }

    /// The integers in `range`, after all launches so far.
    pub fn read_ints(&self, range: Range<usize>) -> Result<Vec<i32>, DeviceError> {
        self.check_range(range.start, range.len())?;
        match self.scalar {
            Scalar::I32 => {
                let mut values = vec![0i32; range.len()];
                self.read_bytes(range.start, bytes_of_mut(&mut values))?;
                Ok(values)
            }
            _ => Err(self.wrong("as integers")),
        }
    }

    /// The reals in `range`, after all launches so far.
    pub fn read_reals(&self, range: Range<usize>) -> Result<Vec<f64>, DeviceError> {
        self.check_range(range.start, range.len())?;
        match self.scalar {
            Scalar::F64 => {
                let mut values = vec![0f64; range.len()];
                self.read_bytes(range.start, bytes_of_mut(&mut values))?;
                Ok(values)
            }
            Scalar::F32 => {
                let mut values = vec![0f32; range.len()];
                self.read_bytes(range.start, bytes_of_mut(&mut values))?;
                Ok(values.into_iter().map(f64::from).collect())
            }
            Scalar::I32 => Err(self.wrong("as reals")),
        }
    }

    /// The bytes of values from position `start` on as they are on the device, after all launches so far.
    pub fn read_raw(&self, start: usize, bytes: &mut [u8]) -> Result<(), DeviceError> {
        self.check_range(start, bytes.len().div_ceil(self.scalar.bytes()))?;
        self.read_bytes(start, bytes)
    }

    /// Writes the bytes of values from position `start` on.
    pub fn write_raw(&mut self, start: usize, bytes: &[u8]) -> Result<(), DeviceError> {
        self.check_range(start, bytes.len().div_ceil(self.scalar.bytes()))?;
        self.write_bytes(start, bytes)
    }

    /// Sets every byte to `0xff`: reals become NaN, integers -1. What is read before it is written then shows.
    pub fn poison(&mut self) -> Result<(), DeviceError> {
        match &mut self.storage {
            Storage::Host(memory) => {
                memory.fill(0xff);
                Ok(())
            }
            Storage::Cuda(memory) => memory.fill(0xff),
        }
    }

    pub(super) fn check_same(&self, from: &Buffer) -> Result<(), DeviceError> {
        if (self.scalar, self.len) == (from.scalar, from.len) {
            Ok(())
        } else {
            Err(self.wrong(format!("as a copy of {} values of {}", from.len, from.scalar.name())))
        }
    }

    fn write_bytes(&mut self, start: usize, bytes: &[u8]) -> Result<(), DeviceError> {
        let at = start * self.scalar.bytes();
        self.traffic.add(bytes.len());
        match &mut self.storage {
            Storage::Host(memory) => {
                memory.as_mut_slice()[at..at + bytes.len()].copy_from_slice(bytes);
                Ok(())
            }
            Storage::Cuda(memory) => memory.write(at, bytes),
        }
    }

    fn read_bytes(&self, start: usize, bytes: &mut [u8]) -> Result<(), DeviceError> {
        let at = start * self.scalar.bytes();
        self.traffic.add(bytes.len());
        match &self.storage {
            Storage::Host(memory) => {
                bytes.copy_from_slice(&memory.as_slice()[at..at + bytes.len()]);
                Ok(())
            }
            Storage::Cuda(memory) => memory.read(at, bytes),
        }
    }
}

/// Numbers of which every bit pattern is a value and which have no padding.
trait Plain: Copy {}
impl Plain for i32 {}
impl Plain for f32 {}
impl Plain for f64 {}

#[allow(unsafe_code)]
fn bytes_of<T: Plain>(values: &[T]) -> &[u8] {
    // SAFETY: `T` has no padding, so all of the slice's bytes are initialised; `u8` has no alignment; same lifetime.
    unsafe { std::slice::from_raw_parts(values.as_ptr().cast(), size_of_val(values)) }
}

#[allow(unsafe_code)]
fn bytes_of_mut<T: Plain>(values: &mut [T]) -> &mut [u8] {
    // SAFETY: as in `bytes_of`; any bytes written are valid values of `T`; the borrow is exclusive.
    unsafe { std::slice::from_raw_parts_mut(values.as_mut_ptr().cast(), size_of_val(values)) }
}

#[cfg(test)]
mod tests {
    use crate::device::{Device, Scalar};

    #[test]
    fn reals_round_trip_in_both_precisions_and_are_rounded_to_f32() {
        let device = Device::host(1).unwrap();
        for scalar in [Scalar::F32, Scalar::F64] {
            let mut buffer = device.alloc(scalar, 5).unwrap();
            buffer.write_reals(1, &[0.1, -2.5]).unwrap();
            let values = buffer.read_reals(0..5).unwrap();
            let tenth = if scalar == Scalar::F32 { f64::from(0.1f32) } else { 0.1 };
            assert_eq!(values, [0.0, tenth, -2.5, 0.0, 0.0]);
        }
    }

    #[test]
    fn bytes_cross_as_they_are() {
        let device = Device::host(1).unwrap();
        let mut buffer = device.alloc(Scalar::F32, 3).unwrap();
        buffer.write_raw(1, &[1.5f32.to_le_bytes(), 0.1f32.to_le_bytes()].concat()).unwrap();
        assert_eq!(buffer.read_reals(0..3).unwrap(), [0.0, 1.5, f64::from(0.1f32)]);
        let mut bytes = [0; 4];
        buffer.read_raw(2, &mut bytes).unwrap();
        assert_eq!(bytes, 0.1f32.to_le_bytes());
        assert!(buffer.read_raw(3, &mut bytes).is_err() && buffer.write_raw(2, &[0; 8]).is_err());
    }

    #[test]
    fn poison_is_nan_for_reals_and_negative_for_integers() {
        let device = Device::host(1).unwrap();
        for scalar in [Scalar::F32, Scalar::F64] {
            let mut buffer = device.alloc(scalar, 3).unwrap();
            buffer.poison().unwrap();
            assert!(buffer.read_reals(0..3).unwrap().iter().all(|value| value.is_nan()));
        }
        let mut ints = device.alloc(Scalar::I32, 2).unwrap();
        ints.poison().unwrap();
        assert_eq!(ints.read_ints(0..2).unwrap(), [-1, -1]);
    }

    #[test]
    fn bytes_that_cross_are_counted_for_each_device() {
        let (device, other) = (Device::host(1).unwrap(), Device::host(1).unwrap());
        let mut buffer = device.alloc(Scalar::F32, 10).unwrap();
        assert_eq!(device.traffic(), 0);
        buffer.write_reals(2, &[1.0; 5]).unwrap();
        buffer.read_reals(0..3).unwrap();
        device.copy(&device.alloc(Scalar::F32, 10).unwrap(), &mut buffer).unwrap();
        assert_eq!((device.clone().traffic(), other.traffic()), (4 * (5 + 3), 0));
    }

    #[test]
    fn a_range_beyond_the_end_or_a_wrong_type_is_an_error() {
        let device = Device::host(1).unwrap();
        let mut buffer = device.alloc(Scalar::F32, 4).unwrap();
        assert!(buffer.write_reals(3, &[1.0, 2.0]).is_err());
        assert!(buffer.read_reals(0..5).is_err());
        assert!(buffer.write_ints(0, &[1]).is_err());
        let other = device.alloc(Scalar::F64, 4).unwrap();
        assert!(device.copy(&other, &mut buffer).is_err());
    }
}
