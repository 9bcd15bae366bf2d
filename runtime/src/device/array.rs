//! Device arrays whose element type is known only at run time.

use std::ops::Range;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use lbm_bundle::Real as Precision;
use rayon::prelude::*;

use super::Device;
use super::backend::Memory;
use super::error::DeviceError;

/// Element type of an array.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Scalar {
    /// 32-bit integers.
    I32,
    /// 16-bit floating point: populations or moments times [`lbm_bundle::HALF_SCALE`].
    F16,
    /// 32-bit floating point.
    F32,
    /// 64-bit floating point.
    F64,
}

impl Scalar {
    /// Bytes per value.
    pub fn bytes(self) -> usize {
        match self {
            Scalar::F16 => 2,
            Scalar::I32 | Scalar::F32 => 4,
            Scalar::F64 => 8,
        }
    }

    /// Rust name of the type.
    pub fn name(self) -> &'static str {
        match self {
            Scalar::I32 => "i32",
            Scalar::F16 => "f16",
            Scalar::F32 => "f32",
            Scalar::F64 => "f64",
        }
    }
}

impl Scalar {
    /// The type in which the kernels of a bundle compute.
    pub fn computed(precision: Precision) -> Self {
        match precision {
            Precision::F32 | Precision::F16F32 => Scalar::F32,
            Precision::F64 => Scalar::F64,
        }
    }

    /// The type in which a bundle stores populations.
    pub fn stored(precision: Precision) -> Self {
        match precision {
            Precision::F16F32 => Scalar::F16,
            Precision::F32 | Precision::F64 => Scalar::computed(precision),
        }
    }
}

/// Counter of the bytes transferred between the program and the buffers of a device.
#[derive(Clone, Default)]
pub(super) struct Traffic(Arc<AtomicU64>);

impl Traffic {
    pub(super) fn add(&self, bytes: usize) {
        self.0.fetch_add(bytes as u64, Ordering::Relaxed);
    }

    pub(super) fn bytes(&self) -> u64 {
        self.0.load(Ordering::Relaxed)
    }
}

/// An array on a device, with an element type known at run time.
pub struct Array {
    pub(super) scalar: Scalar,
    /// Number of values.
    pub(super) len: usize,
    pub(super) memory: Box<dyn Memory>,
    pub(super) device: Device,
}

impl std::fmt::Debug for Array {
    fn fmt(&self, out: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(out, "{} x {}", self.len, self.scalar.name())
    }
}

impl Array {
    /// Element type.
    pub fn scalar(&self) -> Scalar {
        self.scalar
    }

    /// Address of the first value in the memory of its device.
    pub(super) fn address(&self) -> u64 {
        self.memory.address()
    }

    /// Size in bytes.
    pub(super) fn bytes(&self) -> usize {
        self.len * self.scalar.bytes()
    }

    /// Bytes backed by memory of their own.
    pub(super) fn own_bytes(&self) -> usize {
        self.memory.own().map_or(self.bytes(), |own| own.into_iter().map(|range| range.len()).sum())
    }

    /// Whether the array is backed page by page and pages can be mapped and released.
    pub(crate) fn is_by_page(&self) -> bool {
        self.memory.by_page().is_some()
    }

    /// For an array backed page by page: maps pages for these values and releases all others. Otherwise does nothing.
    pub(crate) fn back_only(&mut self, ranges: impl Iterator<Item = Range<usize>>) -> Result<(), DeviceError> {
        let size = self.scalar.bytes();
        self.memory.back_only(&ranges.map(|range| range.start * size..range.end * size).collect::<Vec<_>>())
    }

    /// Maps pages for these values, if the array is backed by pages. Otherwise does nothing.
    pub(crate) fn back(&mut self, ranges: impl Iterator<Item = Range<usize>>) -> Result<(), DeviceError> {
        let size = self.scalar.bytes();
        self.memory.back(&ranges.map(|range| range.start * size..range.end * size).collect::<Vec<_>>())
    }

    /// Makes unbacked values accessible: they share one page.
    pub(super) fn seal(&mut self) -> Result<(), DeviceError> {
        self.memory.seal()
    }

    /// Byte range of these values.
    pub(super) fn bytes_in(&self, range: &Range<usize>) -> Range<usize> {
        range.start * self.scalar.bytes()..range.end * self.scalar.bytes()
    }

    /// Byte offset of a value.
    pub(super) fn offset(&self, at: usize) -> u64 {
        (at * self.scalar.bytes()) as u64
    }

    pub(super) fn wrong(&self, wrong: impl Into<String>) -> DeviceError {
        DeviceError::Buffer { len: self.len, scalar: self.scalar.name(), wrong: wrong.into() }
    }

    /// An error if the range `start..start + count` exceeds the array.
    pub(super) fn check_range(&self, start: usize, count: usize) -> Result<(), DeviceError> {
        match start.checked_add(count) {
            Some(end) if end <= self.len => Ok(()),
            _ => Err(self.wrong(format!("at {start} .. {start} + {count}"))),
        }
    }

    /// Reads raw bytes from value `start` on, after all launches so far.
    pub(crate) fn read_raw(&self, start: usize, bytes: &mut [u8]) -> Result<(), DeviceError> {
        self.check_range(start, bytes.len().div_ceil(self.scalar.bytes()))?;
        self.read_bytes(start, bytes)
    }

    /// Sets every byte to `0xff`.
    pub(super) fn poison(&mut self) -> Result<(), DeviceError> {
        self.memory.fill(0..self.bytes(), 0xff)
    }

    /// Sets every byte of the values in `range` to `0xff`.
    pub(super) fn poison_part(&mut self, range: Range<usize>) -> Result<(), DeviceError> {
        self.check_range(range.start, range.len())?;
        let bytes = self.bytes_in(&range);
        self.memory.fill(bytes, 0xff)
    }

    /// An error if the arrays differ in type or length.
    pub(super) fn check_same(&self, from: &Array) -> Result<(), DeviceError> {
        if (self.scalar, self.len) == (from.scalar, from.len) {
            Ok(())
        } else {
            Err(self.wrong(format!("as a copy of {} values of {}", from.len, from.scalar.name())))
        }
    }

    /// Writes bytes from value `start` on. The caller checks the range.
    pub(super) fn write_bytes(&mut self, start: usize, bytes: &[u8]) -> Result<(), DeviceError> {
        let at = start * self.scalar.bytes();
        self.device.traffic.add(bytes.len());
        self.memory.write(at, bytes)
    }

    /// Writes bytes from the first value on, in the order of the launches of its device. The caller checks the range.
    pub(super) fn enqueue_bytes(&mut self, bytes: &[u8]) -> Result<(), DeviceError> {
        self.device.traffic.add(bytes.len());
        self.memory.enqueue(0, bytes)
    }

    /// Reads bytes from value `start` on, after all launches so far. The caller checks the range.
    pub(super) fn read_bytes(&self, start: usize, bytes: &mut [u8]) -> Result<(), DeviceError> {
        let at = start * self.scalar.bytes();
        self.device.traffic.add(bytes.len());
        self.memory.read(at, bytes)
    }
}

/// Interprets bytes as reals of type [`Scalar::F32`] or [`Scalar::F64`].
pub(super) fn reals_of(scalar: Scalar, bytes: &[u8]) -> Vec<f64> {
    match scalar {
        Scalar::F32 => widened(bytes.as_chunks().0, |bytes| f64::from(f32::from_ne_bytes(bytes))),
        _ => widened(bytes.as_chunks().0, f64::from_ne_bytes),
    }
}

/// Least number of values for which several threads are faster than one.
const FEW: usize = 1 << 16;

/// Values as reals of 64 bits.
pub(super) fn widened<T: Copy + Sync>(values: &[T], of: impl Fn(T) -> f64 + Sync) -> Vec<f64> {
    match values.len() {
        ..FEW => values.iter().map(|value| of(*value)).collect(),
        _ => values.par_iter().map(|value| of(*value)).collect(),
    }
}

/// Numbers without padding, for which every bit pattern is valid.
pub(super) trait Plain: Copy {}
impl Plain for i32 {}
impl Plain for u16 {}
impl Plain for f32 {}
impl Plain for f64 {}

/// The bytes of a slice of numbers.
#[allow(unsafe_code)]
pub(super) fn bytes_of<T: Plain>(values: &[T]) -> &[u8] {
    // SAFETY: `T` has no padding, so all bytes are initialised; `u8` needs no alignment; the lifetime is the same.
    unsafe { std::slice::from_raw_parts(values.as_ptr().cast(), size_of_val(values)) }
}

/// The bytes of a slice of numbers, writable.
#[allow(unsafe_code)]
pub(super) fn bytes_of_mut<T: Plain>(values: &mut [T]) -> &mut [u8] {
    // SAFETY: as in `bytes_of`; any byte pattern is a valid `T`; the borrow is exclusive.
    unsafe { std::slice::from_raw_parts_mut(values.as_mut_ptr().cast(), size_of_val(values)) }
}
