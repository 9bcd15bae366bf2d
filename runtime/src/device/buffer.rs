//! Arrays on a device.
//!
//! A [`Buffer`] has elements of one kind: integers, the real type of a bundle, populations as it stores them, or doubles. Values cross as
//! `i32` or `f64` and are rounded to what the buffer has. What a buffer holds before it is written is zero. Beneath it is an [`Array`], which knows
//! its type at run time.

use std::marker::PhantomData;
use std::ops::Range;

use half::f16;
use lbm_bundle::{HALF_SCALE, Real as Precision};
use rayon::prelude::*;

use super::array::{Array, Scalar, bytes_of, bytes_of_mut};
use super::error::DeviceError;

/// A kind of elements.
pub trait Element {
    /// Their type in a bundle of some precision, where it depends on that.
    fn of_bundle(_precision: Precision) -> Option<Scalar> {
        None
    }
}

/// Elements that are real numbers.
pub trait Floating: Element {}

/// Elements of 32-bit integers.
#[derive(Debug)]
pub enum Int {}

/// Elements of a bundle's real type, which is known at run time.
#[derive(Debug)]
pub enum Real {}

/// Populations as a bundle stores them.
#[derive(Debug)]
pub enum Stored {}

/// Elements of 64-bit floating point, whatever a bundle's real type is.
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

/// An array on a device, of elements of one kind.
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
    /// An array of the element's type.
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

    /// Bytes of a value.
    pub fn value_bytes(&self) -> usize {
        self.array.scalar.bytes()
    }

    /// Type of the values.
    pub fn scalar(&self) -> Scalar {
        self.array.scalar
    }

    /// Where the first value lies in the memory of its device.
    pub fn address(&self) -> u64 {
        self.array.address()
    }

    /// The bytes of values from position `start` on as they are on the device, after all launches so far.
    pub fn read_raw(&self, start: usize, bytes: &mut [u8]) -> Result<(), DeviceError> {
        self.array.read_raw(start, bytes)
    }

    /// Writes the bytes of values from position `start` on.
    pub fn write_raw(&mut self, start: usize, bytes: &[u8]) -> Result<(), DeviceError> {
        self.array.check_range(start, bytes.len().div_ceil(self.array.scalar.bytes()))?;
        self.array.write_bytes(start, bytes)
    }

    /// Sets every byte to `0xff`: reals become NaN, integers -1. What is read before it is written then shows.
    pub fn poison(&mut self) -> Result<(), DeviceError> {
        self.array.poison()
    }

    /// The same for some values.
    pub fn poison_part(&mut self, range: Range<usize>) -> Result<(), DeviceError> {
        self.array.poison_part(range)
    }

    /// Bytes of memory that it takes: of all values, but on a GPU of a [sparse](crate::device::Device::sparse) device.
    pub fn own_bytes(&self) -> usize {
        self.array.own_bytes()
    }

    /// On a GPU of a [sparse](crate::device::Device::sparse) device, puts memory behind some values, zeros; elsewhere there is some.
    pub fn back(&mut self, ranges: impl Iterator<Item = Range<usize>>) -> Result<(), DeviceError> {
        self.array.back(ranges)
    }

    /// On a GPU of a device that is [sparse for now](crate::device::Device::sparse_for_now), puts memory behind some values and takes it away from
    /// others; elsewhere nothing changes. What had none, and what has none any more, has no meaning.
    pub fn back_only(&mut self, ranges: impl Iterator<Item = Range<usize>>) -> Result<(), DeviceError> {
        self.array.back_only(ranges)
    }

    /// What has no memory yet gets none: from now on it may be written and read like all others, but what is there has no meaning.
    pub fn seal(&mut self) -> Result<(), DeviceError> {
        self.array.seal()
    }

    /// Entries of the array, for a kernel.
    pub fn part(&self, range: Range<usize>) -> Part<'_, E> {
        Part { buffer: self, range }
    }

    /// What is beneath.
    pub(crate) fn array(&self) -> &Array {
        &self.array
    }

    /// What is beneath, to be written.
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

    /// The integers in `range`, after all launches so far.
    pub fn read_ints(&self, range: Range<usize>) -> Result<Vec<i32>, DeviceError> {
        self.array.check_range(range.start, range.len())?;
        let mut values = vec![0i32; range.len()];
        self.array.read_bytes(range.start, bytes_of_mut(&mut values))?;
        Ok(values)
    }
}

impl<E: Floating> Buffer<E> {
    /// Writes reals from position `start` on, rounded to the buffer's type.
    pub fn write_reals(&mut self, start: usize, values: &[f64]) -> Result<(), DeviceError> {
        self.array.check_range(start, values.len())?;
        match self.array.scalar {
            Scalar::F16 => {
                let half = |value: &f64| f16::from_f64(value * f64::from(HALF_SCALE)).to_bits();
                let rounded: Vec<u16> = values.iter().map(half).collect();
                self.array.write_bytes(start, bytes_of(&rounded))
            }
            Scalar::F32 => {
                let rounded: Vec<f32> = values.iter().map(|value| *value as f32).collect();
                self.array.write_bytes(start, bytes_of(&rounded))
            }
            _ => self.array.write_bytes(start, bytes_of(values)),
        }
    }

    /// The reals in `range`, after all launches so far.
    pub fn read_reals(&self, range: Range<usize>) -> Result<Vec<f64>, DeviceError> {
        self.array.check_range(range.start, range.len())?;
        match self.array.scalar {
            Scalar::F16 => {
                let mut values = vec![0u16; range.len()];
                self.array.read_bytes(range.start, bytes_of_mut(&mut values))?;
                let real = |bits| f16::from_bits(bits).to_f64() / f64::from(HALF_SCALE);
                Ok(values.into_par_iter().map(real).collect())
            }
            Scalar::F32 => {
                let mut values = vec![0f32; range.len()];
                self.array.read_bytes(range.start, bytes_of_mut(&mut values))?;
                Ok(values.into_par_iter().map(f64::from).collect())
            }
            _ => {
                let mut values = vec![0f64; range.len()];
                self.array.read_bytes(range.start, bytes_of_mut(&mut values))?;
                Ok(values)
            }
        }
    }
}

/// Some entries of an array, one behind the other.
#[derive(Debug)]
pub struct Part<'a, E> {
    pub(crate) buffer: &'a Buffer<E>,
    pub(crate) range: Range<usize>,
}

impl<E> Part<'_, E> {
    /// How many they are.
    pub fn len(&self) -> usize {
        self.range.len()
    }

    /// Whether there are none.
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
