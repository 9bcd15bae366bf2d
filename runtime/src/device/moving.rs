//! Packed values on GPUs: kernels that pack and unpack them, or move them from one GPU to another.

use std::ops::Range;

use super::array::Array;
use super::buffer::{Buffer, Int};
use super::error::DeviceError;
use super::packing::Packing;
use super::{Device, Kernel, Shape, Source, Value};

/// Kernels that move listed values of an array on a GPU, in words that CUDA and HIP share.
pub(super) const MOVING: Source<'static> = Source { name: "moving.cu", text: include_str!("moving.cu"), fuses: false };

/// A packing in the form that kernels read: in words, each of which is several values or a fraction of one.
struct Tables {
    /// Bytes of a word: 2, 4, 8 or 16.
    word: usize,
    /// For each place, its first word in the array, and its first word in the packed array.
    places: Vec<i64>,
    firsts: Vec<i64>,
    /// For each place, the section of `offsets` with its words.
    begins: Vec<i32>,
    ends: Vec<i32>,
    /// Words of each pattern, as offsets from a place.
    offsets: Vec<i32>,
}

/// Bytes of the longest word.
const LONGEST_WORD: usize = 16;

impl Tables {
    /// Tables for values of `value_bytes` bytes.
    fn new(packing: &Packing, value_bytes: usize) -> Tables {
        // The word is the largest power of two, at most 16 bytes, that divides all places, offsets and lengths: it
        // follows from the lowest bit set in any of them.
        let runs = packing.patterns.iter().flatten().flat_map(|run| [run.start as usize, run.len()]);
        let all = packing.places.iter().map(|(place, _)| *place).chain(runs);
        let bits = all.fold(LONGEST_WORD, |bits, at| bits | (at * value_bytes));
        let word = 1 << bits.trailing_zeros();
        let words = |values: usize| values * value_bytes / word;
        let (mut offsets, mut listed) = (vec![], vec![]);
        for pattern in &packing.patterns {
            let begin = offsets.len() as i32;
            for run in pattern {
                offsets.extend((words(run.start as usize)..words(run.end as usize)).map(|at| at as i32));
            }
            listed.push((begin, offsets.len() as i32));
        }
        let mut tables = Tables { word, places: vec![], firsts: vec![], begins: vec![], ends: vec![], offsets };
        let mut first = 0;
        for (place, pattern) in &packing.places {
            let (begin, end) = listed[*pattern];
            tables.places.push(words(*place) as i64);
            tables.firsts.push(first);
            tables.begins.push(begin);
            tables.ends.push(end);
            first += i64::from(end - begin);
        }
        tables
    }
}

/// Threads of a thread block; each 32 of them move the values of one place.
const THREADS: u32 = 256;

/// Which of two arrays has its values packed, one after the other; in the others they are at the places of the packing.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum PackedSide {
    Neither,
    Source,
    Target,
}

/// Moves the values of a packing on a GPU.
pub(super) struct Moving {
    device: Device,
    kernel: Kernel,
    /// Number of places.
    places: usize,
    /// The tables, concatenated: places and first words (64-bit integers, each as two 32-bit halves), begins, ends,
    /// offsets.
    tables: Buffer<Int>,
}

impl Moving {
    /// `None` if the device is not a GPU.
    pub(super) fn new(device: &Device, packing: &Packing, value_bytes: usize) -> Result<Option<Moving>, DeviceError> {
        if device.ordinal().is_none() {
            return Ok(None);
        }
        let Tables { word, places, firsts, begins, ends, offsets } = Tables::new(packing, value_bytes);
        let Some(entry) = device.backend.moving(word)? else { return Ok(None) };
        let halves = |long: &i64| [*long as i32, (*long >> 32) as i32];
        let long = places.iter().chain(&firsts).flat_map(halves);
        let tables: Vec<i32> = long.chain(begins).chain(ends).chain(offsets).collect();
        Ok(Some(Moving {
            kernel: Kernel { symbol: format!("move_{word}"), entry },
            places: places.len(),
            tables: device.ints(&tables)?,
            device: device.clone(),
        }))
    }

    /// Moves values from one array to another.
    pub(super) fn launch(&self, packed: PackedSide, from: Value<'_>, to: Value<'_>) -> Result<(), DeviceError> {
        let (places, groups) = (self.places, THREADS / 32);
        let shape =
            Shape { items: places, divisible: false, threads: THREADS, items_per_group: groups, passes: 1, shared: 0 };
        let table = |range: Range<usize>| Value::Slice(self.tables.array(), range);
        let arguments = [
            table(0..2 * places),
            table(2 * places..4 * places),
            table(4 * places..5 * places),
            table(5 * places..6 * places),
            table(6 * places..self.tables.len()),
            Value::Int(places as i32),
            Value::Int(i32::from(packed == PackedSide::Target)),
            Value::Int(i32::from(packed == PackedSide::Source)),
            from,
            to,
        ];
        self.device.launch(&self.kernel, shape, &arguments)
    }
}

/// The bytes of the selected values of an array on a GPU.
pub(super) fn pack(packing: &Packing, array: &Array) -> Result<Vec<u8>, DeviceError> {
    let (device, scalar) = (array.device.whole(), array.scalar());
    let mut bytes = vec![0; packing.values() * scalar.bytes()];
    if let Some(moving) = Moving::new(&device, packing, scalar.bytes())? {
        let mut packed = device.alloc(scalar, packing.values())?;
        moving.launch(PackedSide::Target, Value::Read(array), Value::Write(&mut packed))?;
        packed.read_bytes(0, &mut bytes)?;
    }
    Ok(bytes)
}

/// Sets the selected values of an array on a GPU.
pub(super) fn unpack(packing: &Packing, bytes: &[u8], array: &mut Array) -> Result<(), DeviceError> {
    let (device, scalar) = (array.device.whole(), array.scalar());
    if let Some(moving) = Moving::new(&device, packing, scalar.bytes())? {
        let mut packed = device.alloc(scalar, packing.values())?;
        packed.write_bytes(0, bytes)?;
        moving.launch(PackedSide::Source, Value::Read(&packed), Value::Write(array))?;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use lbm_bundle::Real;

    use super::*;
    use crate::device::{Device, Route};

    /// Emulates the kernel of `moving.cu`.
    fn moved(tables: &Tables, packed: PackedSide, from: &[u8], to: &mut [u8]) {
        for at in 0..tables.places.len() {
            for k in tables.begins[at]..tables.ends[at] {
                let there = (tables.places[at] + i64::from(tables.offsets[k as usize])) as usize * tables.word;
                let here = (tables.firsts[at] + i64::from(k - tables.begins[at])) as usize * tables.word;
                let [source, target] =
                    [PackedSide::Source, PackedSide::Target].map(|side| if packed == side { here } else { there });
                to[target..target + tables.word].copy_from_slice(&from[source..source + tables.word]);
            }
        }
    }

    #[test]
    fn tables_of_kernels_move_what_the_host_packs_and_unpacks() {
        let device = Device::host(1).unwrap();
        let patterns: [(usize, Vec<Vec<Range<u32>>>); 3] = [
            (2, vec![vec![0..2, 5..6], vec![3..8]]),
            (4, vec![vec![0..16, 32..48], vec![16..20]]),
            (2, vec![vec![0..1], vec![0..64]]),
        ];
        for (real, words) in [(Real::F16F32, [2, 8, 2]), (Real::F32, [4, 16, 4]), (Real::F64, [8, 16, 8])] {
            for ((factor, patterns), word) in patterns.iter().zip(words) {
                let mut packing = Packing::new(patterns.clone());
                (0..40).for_each(|at| packing.push(32 * factor * at, at % 3 % 2));
                let length = 32 * factor * 41;
                let mut from = device.alloc_stored(real, length).unwrap();
                from.write_reals(0, &(0..length).map(|at| at as f64 / 4096.0).collect::<Vec<_>>()).unwrap();
                let size = from.value_bytes();
                let tables = Tables::new(&packing, size);
                assert_eq!(tables.word, word, "{real:?} {patterns:?}");
                let bytes = |buffer: &Buffer<_>| {
                    let mut bytes = vec![0; length * size];
                    buffer.read_raw(0, &mut bytes).unwrap();
                    bytes
                };
                let expected = from.pack(&packing).unwrap();
                let mut packed = vec![0; expected.len()];
                moved(&tables, PackedSide::Target, &bytes(&from), &mut packed);
                assert!(packed == expected, "{real:?} {patterns:?}");
                let mut to = device.alloc_stored(real, length).unwrap();
                Route::new(&device, &device, &packing, size).unwrap().send(&packing, &from, &mut to).unwrap();
                for (side, source) in [(PackedSide::Source, &packed), (PackedSide::Neither, &bytes(&from))] {
                    let mut found = vec![0; length * size];
                    moved(&tables, side, source, &mut found);
                    assert!(found == bytes(&to), "{real:?} {patterns:?} {side:?}");
                }
            }
        }
    }
}
