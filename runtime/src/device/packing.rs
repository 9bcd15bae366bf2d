//! Some values of an array, one after the other, on their way to an array of the same shape.
//!
//! In: which values, as patterns at places. After [`Buffer::pack`]: their bytes, place by place, in the order of the patterns. After
//! [`Buffer::unpack`] of these bytes into another array: that has them at the same places, and all others as before.

use std::ops::Range;

use rayon::prelude::*;

use super::array::{Array, Storage};
use super::buffer::{Buffer, Element};
use super::error::DeviceError;

/// Places that one thread moves at a time.
const AT_ONCE: usize = 16;

/// Which values of an array are meant.
#[derive(Clone, Debug, Default)]
pub struct Packing {
    /// Runs of values, as distances from a place.
    patterns: Vec<Vec<Range<u32>>>,
    /// Where each place is among the values of the array, and its pattern: rising, and no two share a value.
    places: Vec<(usize, usize)>,
}

impl Packing {
    /// Of these patterns: runs of values, rising, as distances from a place.
    pub fn new(patterns: Vec<Vec<Range<u32>>>) -> Packing {
        Packing { patterns, places: vec![] }
    }

    /// Adds a pattern at a place, which lies behind those of before.
    pub fn push(&mut self, place: usize, pattern: usize) {
        debug_assert!(self.places.last().is_none_or(|last| self.end(last) <= place), "places rise");
        self.places.push((place, pattern));
    }

    /// Number of places.
    pub fn places(&self) -> usize {
        self.places.len()
    }

    /// Number of values.
    pub fn values(&self) -> usize {
        let lengths: Vec<usize> = self.patterns.iter().map(|runs| values(runs)).collect();
        self.places.iter().map(|(_, pattern)| lengths[*pattern]).sum()
    }

    /// The first value behind those of a place.
    fn end(&self, (place, pattern): &(usize, usize)) -> usize {
        place + self.patterns[*pattern].last().map_or(0, |run| run.end as usize)
    }

    /// Places that are moved together, with the number of their values.
    fn pieces(&self) -> impl Iterator<Item = (&[(usize, usize)], usize)> {
        let length = |places: &[(usize, usize)]| places.iter().map(|(_, at)| values(&self.patterns[*at])).sum();
        self.places.chunks(AT_ONCE).map(move |places| (places, length(places)))
    }

    /// An error where it has values that an array does not.
    fn check(&self, array: &Array) -> Result<(), DeviceError> {
        array.check_range(0, self.places.last().map_or(0, |last| self.end(last)))
    }
}

/// Values of a pattern.
fn values(runs: &[Range<u32>]) -> usize {
    runs.iter().map(|run| run.len()).sum()
}

fn elsewhere(array: &Array) -> DeviceError {
    array.wrong("packed on a GPU")
}

impl<E: Element> Buffer<E> {
    /// The bytes of some values.
    pub fn pack(&self, packing: &Packing) -> Result<Vec<u8>, DeviceError> {
        let (array, size) = (self.array(), self.value_bytes());
        packing.check(array)?;
        let Storage::Host(memory) = &array.storage else { return Err(elsewhere(array)) };
        let (from, mut bytes) = (memory.as_slice(), vec![0; packing.values() * size]);
        let (mut pieces, mut rest) = (vec![], &mut bytes[..]);
        for (places, length) in packing.pieces() {
            let (to, later) = rest.split_at_mut(length * size);
            pieces.push((places, to));
            rest = later;
        }
        pieces.into_par_iter().for_each(|(places, mut to)| {
            for (place, pattern) in places {
                for run in &packing.patterns[*pattern] {
                    let (here, later) = to.split_at_mut(run.len() * size);
                    here.copy_from_slice(&from[(place + run.start as usize) * size..][..run.len() * size]);
                    to = later;
                }
            }
        });
        Ok(bytes)
    }

    /// Sets these values from the bytes that [`Buffer::pack`] has given of them.
    pub fn unpack(&mut self, packing: &Packing, bytes: &[u8]) -> Result<(), DeviceError> {
        let (size, array) = (self.value_bytes(), self.array_mut());
        packing.check(array)?;
        if bytes.len() != packing.values() * size {
            return Err(array.wrong(format!("set from {} bytes", bytes.len())));
        }
        let Storage::Host(memory) = &mut array.storage else { return Err(array.wrong("set on a GPU")) };
        let (mut pieces, mut from, mut rest, mut before) = (vec![], bytes, memory.as_mut_slice(), 0);
        for (places, length) in packing.pieces() {
            let end = places.last().map_or(before, |last| packing.end(last));
            let (to, later) = rest.split_at_mut((end - before) * size);
            let (piece, left) = from.split_at(length * size);
            pieces.push((places, before, to, piece));
            (from, rest, before) = (left, later, end);
        }
        pieces.into_par_iter().for_each(|(places, before, to, mut from)| {
            for (place, pattern) in places {
                for run in &packing.patterns[*pattern] {
                    let (here, left) = from.split_at(run.len() * size);
                    to[(place - before + run.start as usize) * size..][..run.len() * size].copy_from_slice(here);
                    from = left;
                }
            }
        });
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use lbm_bundle::Real;

    use super::*;
    use crate::device::Device;

    #[test]
    fn values_go_to_the_same_places_of_another_array_and_no_others_change() {
        let device = Device::host(2).unwrap();
        let (mut from, mut to) =
            (device.alloc_reals(Real::F32, 1000).unwrap(), device.alloc_reals(Real::F32, 1000).unwrap());
        from.write_reals(0, &(0..1000).map(f64::from).collect::<Vec<_>>()).unwrap();
        let mut packing = Packing::new(vec![vec![0..2, 5..6], vec![3..8]]);
        let expected: Vec<usize> = (0..50).flat_map(|at| [20 * at, 20 * at + 1, 20 * at + 5]).collect();
        (0..50).for_each(|at| packing.push(20 * at, 0));
        assert_eq!((packing.places(), packing.values()), (50, 150));
        let bytes = from.pack(&packing).unwrap();
        to.unpack(&packing, &bytes).unwrap();
        for (at, value) in to.read_reals(0..1000).unwrap().into_iter().enumerate() {
            assert_eq!(value, if expected.contains(&at) { at as f64 } else { 0.0 }, "{at}");
        }
        assert!(to.unpack(&packing, &bytes[1..]).is_err());
        packing.push(993, 1);
        assert!(from.pack(&packing).is_err(), "it ends behind the array");
    }

    #[test]
    fn sparse_arrays_are_zero_and_take_what_is_written() {
        let device = Device::host(1).unwrap().sparse();
        // More than any machine has.
        let mut array = device.alloc_doubles(1 << 36).unwrap_or_else(|_| device.alloc_doubles(1 << 20).unwrap());
        array.write_reals(array.len() - 2, &[1.5]).unwrap();
        assert_eq!(array.read_reals(array.len() - 3..array.len()).unwrap(), [0.0, 1.5, 0.0]);
        assert_eq!(array.read_reals(0..2).unwrap(), [0.0, 0.0]);
    }
}
