//! Packs selected values of an array contiguously, to transfer them to an array of the same shape.
//!
//! In: the selection, as patterns at places. After [`Buffer::pack`]: the bytes of the values, place by place, in the
//! order of the patterns. After [`Buffer::unpack`] of these bytes into another array: the values at the same places are
//! set, all others are unchanged. [`Route::send`] does both at once; between GPUs with peer access, a kernel of the
//! first writes the values directly into the memory of the second. Between processes the bytes pass through host memory
//! ([`Outgoing`], [`Incoming`]), or GPUs write them into each other's [windows](super::window).

use std::ops::Range;

use rayon::prelude::*;

use super::array::{Array, reals_of};
use super::backend::Mail;
use super::buffer::{Buffer, Element, Floating, Int};
use super::error::DeviceError;
use super::moving::{self, Moving, PackedSide};
use super::{Device, Scalar, Value};

/// Number of places that one thread moves at a time.
const AT_ONCE: usize = 16;

/// A selection of values of an array.
#[derive(Clone, Debug, Default)]
pub struct Packing {
    /// Runs of values for each pattern, as offsets from a place.
    pub(super) patterns: Vec<Vec<Range<u32>>>,
    /// Index of each place in the array, and its pattern. Places ascend and share no values.
    pub(super) places: Vec<(usize, usize)>,
}

impl Packing {
    /// A selection with these patterns and no places yet. A pattern is a list of ascending runs of values, as offsets
    /// from a place.
    pub fn new(patterns: Vec<Vec<Range<u32>>>) -> Packing {
        Packing { patterns, places: vec![] }
    }

    /// Adds a pattern at a place beyond all values of earlier places.
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

    /// The range of values that each place spans, gaps included.
    pub fn ranges(&self) -> impl Iterator<Item = Range<usize>> + '_ {
        self.places.iter().map(|at| at.0..self.end(at))
    }

    /// Index after the last value of a place.
    fn end(&self, (place, pattern): &(usize, usize)) -> usize {
        place + self.patterns[*pattern].last().map_or(0, |run| run.end as usize)
    }

    /// Chunks of places that are moved together, with their numbers of values.
    fn pieces(&self) -> impl Iterator<Item = (&[(usize, usize)], usize)> {
        let length = |places: &[(usize, usize)]| places.iter().map(|(_, at)| values(&self.patterns[*at])).sum();
        self.places.chunks(AT_ONCE).map(move |places| (places, length(places)))
    }

    /// An error if the selection exceeds the array.
    pub(super) fn check(&self, array: &Array) -> Result<(), DeviceError> {
        array.check_range(0, self.places.last().map_or(0, |last| self.end(last)))
    }
}

/// A reusable transfer of the values of a packing from arrays of one device to arrays of another.
pub struct Route {
    /// The kernel of the first device that writes directly into the memory of the second, if that is possible.
    direct: Option<Moving>,
}

impl Route {
    /// A transfer of values of `value_bytes` bytes.
    pub fn new(from: &Device, to: &Device, packing: &Packing, value_bytes: usize) -> Result<Route, DeviceError> {
        let reaches = from.backend.reaches(&*to.backend);
        Ok(Route { direct: if reaches { Moving::new(from, packing, value_bytes)? } else { None } })
    }

    /// Whether values go from GPU to GPU without passing through the host.
    pub fn is_direct(&self) -> bool {
        self.direct.is_some()
    }

    /// Copies the values from one array to the other. Between GPUs this launches a kernel on the first, for which the
    /// second does not wait by itself; otherwise it is complete on return.
    pub fn send<E: Element>(&self, packing: &Packing, from: &Buffer<E>, to: &mut Buffer<E>) -> Result<(), DeviceError> {
        let Some(moving) = &self.direct else { return to.unpack(packing, &from.pack(packing)?) };
        to.array().check_same(from.array())?;
        packing.check(from.array())?;
        moving.launch(PackedSide::Neither, Value::Read(from.array()), Value::Peer(to.array_mut()))
    }
}

/// A reusable transfer of the values of a packing from arrays of a device to another process.
pub struct Outgoing(Post);

/// A reusable transfer of the values of a packing from another process to arrays of a device.
pub struct Incoming(Post);

/// Location of the packed values: on the host, or on a GPU with a copy in host memory.
enum Post {
    Host(Vec<u8>),
    Gpu(Box<Packed>),
}

/// Values packed or unpacked by a GPU.
struct Packed {
    moving: Moving,
    values: Array,
    mail: Box<dyn Mail>,
}

impl Post {
    fn new(device: &Device, packing: &Packing, scalar: Scalar) -> Result<Post, DeviceError> {
        let bytes = packing.values() * scalar.bytes();
        let Some(mail) = device.backend.clone().mail(bytes)? else { return Ok(Post::Host(vec![0; bytes])) };
        let Some(moving) = Moving::new(device, packing, scalar.bytes())? else { return Ok(Post::Host(vec![0; bytes])) };
        let values = device.whole().alloc(scalar, packing.values())?;
        Ok(Post::Gpu(Box::new(Packed { moving, values, mail })))
    }
}

impl Packed {
    fn pack(&mut self, from: &Array) -> Result<(), DeviceError> {
        self.mail.await_copy()?;
        self.moving.launch(PackedSide::Target, Value::Read(from), Value::Write(&mut self.values))?;
        self.mail.fetch(&*self.values.memory)
    }

    fn unpack(&mut self, to: &mut Array) -> Result<(), DeviceError> {
        self.mail.bring(&mut *self.values.memory)?;
        self.moving.launch(PackedSide::Source, Value::Read(&self.values), Value::Write(to))?;
        self.mail.unpacked()
    }
}

impl Outgoing {
    /// For arrays of this type.
    pub fn new(device: &Device, packing: &Packing, scalar: Scalar) -> Result<Outgoing, DeviceError> {
        Ok(Outgoing(Post::new(device, packing, scalar)?))
    }

    /// Packs the values as all launches so far leave them. Later launches need not wait for the copy to the host.
    pub fn pack<E: Element>(&mut self, packing: &Packing, from: &Buffer<E>) -> Result<(), DeviceError> {
        packing.check(from.array())?;
        match &mut self.0 {
            Post::Host(bytes) => *bytes = from.pack(packing)?,
            Post::Gpu(packed) => packed.pack(from.array())?,
        }
        Ok(())
    }

    /// The bytes packed last; blocks until they are on the host.
    pub fn bytes(&self) -> Result<&[u8], DeviceError> {
        match &self.0 {
            Post::Host(bytes) => Ok(bytes),
            Post::Gpu(packed) => packed.mail.bytes(),
        }
    }
}

impl Incoming {
    /// For arrays of this type.
    pub fn new(device: &Device, packing: &Packing, scalar: Scalar) -> Result<Incoming, DeviceError> {
        Ok(Incoming(Post::new(device, packing, scalar)?))
    }

    /// Memory to be filled with the bytes that [`Outgoing::bytes`] of the other process returns.
    pub fn room(&mut self) -> Result<&mut [u8], DeviceError> {
        match &mut self.0 {
            Post::Host(bytes) => Ok(bytes),
            Post::Gpu(packed) => packed.mail.room(),
        }
    }

    /// Sets the values from the bytes in that memory.
    pub fn unpack<E: Element>(&mut self, packing: &Packing, to: &mut Buffer<E>) -> Result<(), DeviceError> {
        packing.check(to.array())?;
        match &mut self.0 {
            Post::Host(bytes) => to.unpack(packing, bytes),
            Post::Gpu(packed) => packed.unpack(to.array_mut()),
        }
    }
}

/// Number of values of a pattern.
fn values(runs: &[Range<u32>]) -> usize {
    runs.iter().map(|run| run.len()).sum()
}

impl<E: Element> Buffer<E> {
    /// The bytes of the selected values.
    pub fn pack(&self, packing: &Packing) -> Result<Vec<u8>, DeviceError> {
        let (array, size) = (self.array(), self.value_bytes());
        packing.check(array)?;
        let Some(from) = array.memory.on_host() else { return moving::pack(packing, array) };
        let mut bytes = vec![0; packing.values() * size];
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

    /// Sets the selected values from the bytes that [`Buffer::pack`] returned.
    pub fn unpack(&mut self, packing: &Packing, bytes: &[u8]) -> Result<(), DeviceError> {
        let (size, array) = (self.value_bytes(), self.array_mut());
        packing.check(array)?;
        if bytes.len() != packing.values() * size {
            return Err(array.wrong(format!("set from {} bytes", bytes.len())));
        }
        let Some(to) = array.memory.on_host_mut() else { return moving::unpack(packing, bytes, array) };
        let (mut pieces, mut from, mut rest, mut before) = (vec![], bytes, to, 0);
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

impl<E: Floating> Buffer<E> {
    /// The selected reals.
    pub fn pack_reals(&self, packing: &Packing) -> Result<Vec<f64>, DeviceError> {
        Ok(reals_of(self.array().scalar, &self.pack(packing)?))
    }
}

impl Buffer<Int> {
    /// The selected integers.
    pub fn pack_ints(&self, packing: &Packing) -> Result<Vec<i32>, DeviceError> {
        let bytes = self.pack(packing)?;
        Ok(bytes.as_chunks().0.iter().map(|bytes| i32::from_ne_bytes(*bytes)).collect())
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
    fn what_goes_to_another_process_gets_there_as_often_as_it_is_packed() {
        let device = Device::host(1).unwrap();
        let (mut from, mut to) =
            (device.alloc_reals(Real::F64, 40).unwrap(), device.alloc_reals(Real::F64, 40).unwrap());
        let mut packing = Packing::new(vec![vec![1..3]]);
        [0, 10, 30].iter().for_each(|at| packing.push(*at, 0));
        let scalar = from.scalar();
        let mut outgoing = Outgoing::new(&device, &packing, scalar).unwrap();
        let mut incoming = Incoming::new(&device, &packing, scalar).unwrap();
        for round in 1..3 {
            from.write_reals(0, &(0..40).map(|at| f64::from(round * at)).collect::<Vec<_>>()).unwrap();
            outgoing.pack(&packing, &from).unwrap();
            // Packed values are unaffected by later changes of the array.
            from.poison().unwrap();
            incoming.room().unwrap().copy_from_slice(outgoing.bytes().unwrap());
            incoming.unpack(&packing, &mut to).unwrap();
            let expected = |at: i32| if [1, 2, 11, 12, 31, 32].contains(&at) { f64::from(round * at) } else { 0.0 };
            assert_eq!(to.read_reals(0..40).unwrap(), (0..40).map(expected).collect::<Vec<_>>(), "{round}");
        }
    }

    #[test]
    fn sparse_arrays_are_zero_and_take_what_is_written() {
        let device = Device::host(1).unwrap().sparse();
        // More memory than any machine has.
        let mut array = device.alloc_doubles(1 << 36).unwrap_or_else(|_| device.alloc_doubles(1 << 20).unwrap());
        array.write_reals(array.len() - 2, &[1.5]).unwrap();
        assert_eq!(array.read_reals(array.len() - 3..array.len()).unwrap(), [0.0, 1.5, 0.0]);
        assert_eq!(array.read_reals(0..2).unwrap(), [0.0, 0.0]);
    }
}
