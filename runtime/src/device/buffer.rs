//! Typed arrays on a device.
//!
//! The elements of a [`Buffer`] are of one kind: integers, the real type of a bundle, populations as the bundle stores
//! them, or doubles. The host reads and writes values as `i32` or `f64`, which are rounded to the type of the buffer.
//! New buffers are zero. The underlying [`Array`] knows its element type at run time.

use std::marker::PhantomData;
use std::ops::Range;

use lbm_bundle::Real as Precision;

use super::array::{Array, Scalar, bytes_of, bytes_of_mut, widened};
use super::error::DeviceError;
use super::halves;

/// A kind of elements.
pub trait Element {
    /// Element type in a bundle of this precision, if it depends on the precision.
    fn of_bundle(_precision: Precision) -> Option<Scalar> {
        None
    }
}

/// Elements that are real numbers.
pub trait Floating: Element {}

/// 32-bit integers.
#[derive(Debug)]
pub enum Int {}

/// Reals of the type in which a bundle computes, known at run time.
#[derive(Debug)]
pub enum Real {}

/// Populations, in the type in which a bundle stores them.
#[derive(Debug)]
pub enum Stored {}

/// 64-bit floating point, independent of the bundle.
#[derive(Debug)]
pub enum Double {}

impl Element for Int {}

impl Element for Real {
    fn of_bundle(precision: Precision) -> Option<Scalar> {
        Some(Scalar::computed(precision))
    }
}

impl Element for Stored {
    fn of_bundle(precision: Precision) -> Option<Scalar> {
        Some(Scalar::stored(precision))
    }
}

impl Element for Double {}

impl Floating for Real {}
impl Floating for Stored {}
impl Floating for Double {}

/// An array on a device with elements of one kind.
pub struct Buffer<E> {
    array: Array,
    element: PhantomData<E>,
}

impl<E> std::fmt::Debug for Buffer<E> {
    fn fmt(&self, out: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        self.array.fmt(out)
    }
}

impl<E: Element> Buffer<E> {
    /// A buffer over an array of the right element type.
    pub(super) fn new(array: Array) -> Self {
        Buffer { array, element: PhantomData }
    }

    /// Number of values.
    pub fn len(&self) -> usize {
        self.array.len
    }

    /// Whether there are no values.
    pub fn is_empty(&self) -> bool {
        self.array.len == 0
    }

    /// Size in bytes.
    pub fn bytes(&self) -> usize {
        self.array.bytes()
    }

    /// Bytes per value.
    pub fn value_bytes(&self) -> usize {
        self.array.scalar.bytes()
    }

    /// Element type.
    pub fn scalar(&self) -> Scalar {
        self.array.scalar
    }

    /// Address of the first value in the memory of its device.
    pub fn address(&self) -> u64 {
        self.array.address()
    }

    /// Reads raw bytes from value `start` on, after all launches so far.
    pub fn read_raw(&self, start: usize, bytes: &mut [u8]) -> Result<(), DeviceError> {
        self.array.read_raw(start, bytes)
    }

    /// Writes raw bytes from value `start` on.
    pub fn write_raw(&mut self, start: usize, bytes: &[u8]) -> Result<(), DeviceError> {
        self.array.check_range(start, bytes.len().div_ceil(self.array.scalar.bytes()))?;
        self.array.write_bytes(start, bytes)
    }

    /// Sets every byte to `0xff`: reals become NaN, integers -1. This reveals reads of values that were never written.
    pub fn poison(&mut self) -> Result<(), DeviceError> {
        self.array.poison()
    }

    /// As [`poison`](Self::poison), for the values in `range`.
    pub fn poison_part(&mut self, range: Range<usize>) -> Result<(), DeviceError> {
        self.array.poison_part(range)
    }

    /// Bytes of memory that the buffer takes: all its values, except on a GPU that is a
    /// [sparse](crate::device::Device::sparse) device.
    pub fn own_bytes(&self) -> usize {
        self.array.own_bytes()
    }

    /// On a GPU that is a [sparse](crate::device::Device::sparse) device, maps zero-initialised memory for these
    /// values. Otherwise does nothing.
    pub fn back(&mut self, ranges: impl Iterator<Item = Range<usize>>) -> Result<(), DeviceError> {
        self.array.back(ranges)
    }

    /// On a GPU that is a [`sparse_for_now`](crate::device::Device::sparse_for_now) device, maps memory for these
    /// values and releases that of all others. Otherwise does nothing. Values that had no memory before, or have none
    /// any more, are undefined.
    pub fn back_only(&mut self, ranges: impl Iterator<Item = Range<usize>>) -> Result<(), DeviceError> {
        self.array.back_only(ranges)
    }

    /// Makes values without memory accessible: they can be written and read, but their contents are undefined.
    pub fn seal(&mut self) -> Result<(), DeviceError> {
        self.array.seal()
    }

    /// A section of the buffer, as an argument of a kernel.
    pub fn slice(&self, range: Range<usize>) -> Slice<'_, E> {
        Slice { buffer: self, range }
    }

    /// The underlying array.
    pub(crate) fn array(&self) -> &Array {
        &self.array
    }

    /// The underlying array, writable.
    pub(crate) fn array_mut(&mut self) -> &mut Array {
        &mut self.array
    }
}

impl Buffer<Int> {
    /// Writes integers from position `start` on.
    pub fn write_ints(&mut self, start: usize, values: &[i32]) -> Result<(), DeviceError> {
        self.array.check_range(start, values.len())?;
        self.array.write_bytes(start, bytes_of(values))
    }

    /// Writes the first integers after all launches so far and before all that follow on its device, without waiting for the former.
    pub(crate) fn enqueue_ints(&mut self, values: &[i32]) -> Result<(), DeviceError> {
        self.array.check_range(0, values.len())?;
        self.array.enqueue_bytes(bytes_of(values))
    }

    /// Reads the integers in `range`, after all launches so far.
    pub fn read_ints(&self, range: Range<usize>) -> Result<Vec<i32>, DeviceError> {
        self.array.check_range(range.start, range.len())?;
        let mut values = vec![0i32; range.len()];
        self.array.read_bytes(range.start, bytes_of_mut(&mut values))?;
        Ok(values)
    }
}

impl Buffer<Double> {
    /// As [`enqueue_ints`](Buffer::enqueue_ints).
    pub(crate) fn enqueue_doubles(&mut self, values: &[f64]) -> Result<(), DeviceError> {
        self.array.check_range(0, values.len())?;
        self.array.enqueue_bytes(bytes_of(values))
    }
}

impl<E: Floating> Buffer<E> {
    /// Writes reals from position `start` on, rounded to the buffer's type.
    pub fn write_reals(&mut self, start: usize, values: &[f64]) -> Result<(), DeviceError> {
        self.array.check_range(start, values.len())?;
        match self.array.scalar {
            Scalar::F16 => {
                let rounded: Vec<u16> = values.iter().map(|value| halves::narrowed(*value)).collect();
                self.array.write_bytes(start, bytes_of(&rounded))
            }
            Scalar::F32 => {
                let rounded: Vec<f32> = values.iter().map(|value| *value as f32).collect();
                self.array.write_bytes(start, bytes_of(&rounded))
            }
            _ => self.array.write_bytes(start, bytes_of(values)),
        }
    }

    /// Reads the reals in `range`, after all launches so far.
    pub fn read_reals(&self, range: Range<usize>) -> Result<Vec<f64>, DeviceError> {
        self.array.check_range(range.start, range.len())?;
        match self.array.scalar {
            Scalar::F16 => {
                let mut values = vec![0u16; range.len()];
                self.array.read_bytes(range.start, bytes_of_mut(&mut values))?;
                Ok(widened(&values, halves::widened))
            }
            Scalar::F32 => {
                let mut values = vec![0f32; range.len()];
                self.array.read_bytes(range.start, bytes_of_mut(&mut values))?;
                Ok(widened(&values, f64::from))
            }
            _ => {
                let mut values = vec![0f64; range.len()];
                self.array.read_bytes(range.start, bytes_of_mut(&mut values))?;
                Ok(values)
            }
        }
    }
}

/// A contiguous section of a buffer.
#[derive(Debug)]
pub struct Slice<'a, E> {
    pub(crate) buffer: &'a Buffer<E>,
    pub(crate) range: Range<usize>,
}

impl<E> Slice<'_, E> {
    /// Number of values.
    pub fn len(&self) -> usize {
        self.range.len()
    }

    /// Whether the section is empty.
    pub fn is_empty(&self) -> bool {
        self.range.is_empty()
    }
}

#[cfg(test)]
mod tests {
    use lbm_bundle::Real;

    use crate::device::Device;

    #[test]
    fn reals_round_trip_in_both_precisions_and_are_rounded_to_f32() {
        let device = Device::host(1).unwrap();
        for real in [Real::F32, Real::F64] {
            let mut buffer = device.alloc_reals(real, 5).unwrap();
            buffer.write_reals(1, &[0.1, -2.5]).unwrap();
            let values = buffer.read_reals(0..5).unwrap();
            let tenth = if real == Real::F32 { f64::from(0.1f32) } else { 0.1 };
            assert_eq!(values, [0.0, tenth, -2.5, 0.0, 0.0]);
        }
    }

    #[test]
    fn bytes_cross_as_they_are() {
        let device = Device::host(1).unwrap();
        let mut buffer = device.alloc_reals(Real::F32, 3).unwrap();
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
        for real in [Real::F32, Real::F64] {
            let mut buffer = device.alloc_reals(real, 3).unwrap();
            buffer.poison().unwrap();
            assert!(buffer.read_reals(0..3).unwrap().iter().all(|value| value.is_nan()));
        }
        let mut ints = device.alloc_ints(2).unwrap();
        ints.poison().unwrap();
        assert_eq!(ints.read_ints(0..2).unwrap(), [-1, -1]);
    }

    #[test]
    fn bytes_that_cross_are_counted_for_each_device() {
        let (device, other) = (Device::host(1).unwrap(), Device::host(1).unwrap());
        let mut buffer = device.alloc_reals(Real::F32, 10).unwrap();
        assert_eq!(device.traffic(), 0);
        buffer.write_reals(2, &[1.0; 5]).unwrap();
        buffer.read_reals(0..3).unwrap();
        device.copy(&device.alloc_reals(Real::F32, 10).unwrap(), &mut buffer).unwrap();
        assert_eq!((device.clone().traffic(), other.traffic()), (4 * (5 + 3), 0));
    }

    #[test]
    fn a_range_beyond_the_end_or_a_copy_of_another_precision_is_an_error() {
        let device = Device::host(1).unwrap();
        let mut buffer = device.alloc_reals(Real::F32, 4).unwrap();
        assert!(buffer.write_reals(3, &[1.0, 2.0]).is_err());
        assert!(buffer.read_reals(0..5).is_err());
        let other = device.alloc_reals(Real::F64, 4).unwrap();
        assert!(device.copy(&other, &mut buffer).is_err());
    }
}
