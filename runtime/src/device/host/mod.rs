//! The host as a device: shared objects whose kernels run in a thread pool.

mod available;
mod checked;
mod compile;
mod memory;
mod staging;

use std::ffi::c_void;
use std::sync::Arc;
use std::time::Instant;

use lbm_bundle::Target;
use rayon::prelude::*;

use super::backend::{self, Backend};
use super::error::DeviceError;
use super::{Shape, Source, Takes, Toolchain, Value};
use checked::Reach;
use memory::Memory;

pub(super) use available::available as memory_available;

/// Number of chunks per thread into which a launch is split, so that one delayed thread does not delay the rest.
const PIECES_PER_THREAD: usize = 4;

/// `<symbol>_packed`: takes an array of pointers to the arguments.
type Function = unsafe extern "C" fn(*const *mut c_void);

/// A loaded shared object.
pub(super) struct Library(Arc<libloading::Library>);

/// A kernel of a shared object, which stays loaded.
pub(super) struct Entry {
    packed: Function,
    /// Function that calls the kernel with checks, if it was compiled with them.
    checks: Option<checked::Call>,
    /// Names of the arguments, for messages.
    arguments: Vec<String>,
    _library: Arc<libloading::Library>,
}

impl backend::Entry for Entry {
    fn name_arguments(&mut self, names: Vec<String>) {
        self.arguments = names;
    }
}

impl backend::Code for Library {
    #[allow(unsafe_code)]
    fn kernel(&self, symbol: &str) -> Result<Box<dyn backend::Entry>, DeviceError> {
        let name = format!("{symbol}_packed");
        // SAFETY: by the contract of bundles, every symbol of this form has the type `Function`.
        let packed = unsafe { self.0.get::<Function>(name.as_bytes()) }
            .map(|found| *found)
            .map_err(|_| DeviceError::MissingKernel { symbol: name })?;
        // SAFETY: `checked.c` defines this symbol with that type.
        let checks = unsafe { self.0.get::<checked::Call>(checked::CALL) }.ok().map(|found| *found);
        Ok(Box::new(Entry { packed, checks, arguments: vec![], _library: self.0.clone() }))
    }
}

/// The cores of this machine, as a pool of threads.
pub(super) struct Host {
    pool: rayon::ThreadPool,
    /// Whether kernels are compiled with checks.
    checks: bool,
}

impl Host {
    /// A pool of `threads` threads, 0 for one per core. `checks`: whether kernels are compiled with checks.
    pub(super) fn new(threads: usize, checks: bool) -> Result<Self, DeviceError> {
        let pool = rayon::ThreadPoolBuilder::new()
            .num_threads(threads)
            .thread_name(|at| format!("lbmc-{at}"))
            .build()
            .map_err(|error| DeviceError::Driver {
                device: "CPU".into(),
                action: "start threads".into(),
                reason: error.to_string(),
            })?;
        Ok(Host { pool, checks })
    }

    /// Runs the kernel on all threads.
    fn run(&self, entry: &Entry, shape: Shape, args: &[Value<'_>]) -> Result<(), Failed> {
        let cells = pack(args)?;
        let reach = entry.checks.map(|checks| (checks, Reach::of(args)));
        let call = |cells: &[Packed<'_>]| call(entry, cells, reach.as_ref(), args);
        let threads = self.pool.current_num_threads();
        if !shape.divisible || threads == 1 || shape.items == 1 {
            return call(&cells);
        }
        let first = match (args, cells.first()) {
            ([Value::Slice(_, range), Value::Int(_), ..], Some(Packed::Cell(first))) if range.len() == shape.items => {
                *first
            }
            _ => return Err(Failed::Arguments("a launch that can be cut starts with a list and its length")),
        };
        let pieces = (threads * PIECES_PER_THREAD).min(shape.items);
        let bound = |piece: usize| piece * shape.items / pieces;
        self.pool.install(|| {
            (0..pieces).into_par_iter().with_max_len(1).try_for_each(|piece| {
                let (from, to) = (bound(piece), bound(piece + 1));
                let mut cells = cells.clone();
                cells[0] = Packed::Cell(first + (from * size_of::<i32>()) as u64);
                cells[1] = Packed::Cell(cell(&((to - from) as i32).to_ne_bytes()));
                call(&cells)
            })
        })
    }

    /// Copies bytes with all threads, one piece each. The pieces are so large that the C library uses non-temporal
    /// stores.
    fn copy_bytes(&self, from: &[u8], to: &mut [u8]) {
        let piece = to.len().div_ceil(self.pool.current_num_threads()).max(1);
        self.pool.install(|| {
            to.par_chunks_mut(piece).zip(from.par_chunks(piece)).with_max_len(1).for_each(|(to, from)| {
                to.copy_from_slice(from);
            });
        });
    }

    /// The error that something belongs to another device.
    fn foreign(&self, action: &str) -> DeviceError {
        DeviceError::Driver {
            device: self.describe(),
            action: action.into(),
            reason: "it belongs to another device".into(),
        }
    }
}

impl Backend for Host {
    fn target(&self) -> Target {
        Target::C
    }

    fn dlpack(&self) -> i32 {
        1
    }

    fn describe(&self) -> String {
        let checks = if self.checks { ", kernels with checks" } else { "" };
        match self.pool.current_num_threads() {
            1 => format!("CPU, 1 thread{checks}"),
            many => format!("CPU, {many} threads{checks}"),
        }
    }

    fn toolchain(&self) -> Result<Toolchain, DeviceError> {
        compile::toolchain(self.checks)
    }

    fn load(&self, source: Source<'_>) -> Result<(Box<dyn backend::Code>, Vec<String>), DeviceError> {
        let (library, notices) = compile::load(source, self.checks)?;
        Ok((Box::new(library), notices))
    }

    fn launch(
        &self,
        symbol: &str,
        entry: &dyn backend::Entry,
        shape: Shape,
        args: &[Value<'_>],
    ) -> Result<(), DeviceError> {
        let other = Failed::Arguments("it was compiled for another device");
        let done = entry.of_kind().ok_or(other).and_then(|entry| self.run(entry, shape, args));
        done.map_err(|why| match why {
            Failed::Arguments(why) => DeviceError::Launch { kernel: symbol.to_string(), reason: why.to_string() },
            Failed::Access(what) => DeviceError::Access { kernel: symbol.to_string(), what },
        })
    }

    fn memory_available(&self) -> Option<usize> {
        memory_available()
    }

    fn alloc(self: Arc<Self>, bytes: usize, takes: Takes) -> Result<Box<dyn backend::Memory>, DeviceError> {
        let memory = if takes == Takes::All { Memory::new(bytes) } else { Memory::sparse(bytes) };
        match memory {
            Some(memory) => Ok(Box::new(memory)),
            None => Err((&*self as &dyn Backend).out_of_memory(bytes)),
        }
    }

    fn copy(&self, from: &dyn backend::Memory, to: &mut dyn backend::Memory, bytes: usize) -> Result<(), DeviceError> {
        match (from.on_host(), to.on_host_mut()) {
            (Some(from), Some(to)) => {
                self.copy_bytes(&from[..bytes], to);
                Ok(())
            }
            _ => Err(self.foreign("copy memory")),
        }
    }

    fn staging(self: Arc<Self>) -> Box<dyn backend::Staging> {
        Box::new(staging::Staging::new(self))
    }

    fn event(&self) -> Result<Box<dyn backend::Event>, DeviceError> {
        Ok(Box::new(Event(Instant::now())))
    }

    fn seconds(&self, from: &dyn backend::Event, to: &dyn backend::Event) -> Result<f64, DeviceError> {
        match (from.of_kind::<Event>(), to.of_kind::<Event>()) {
            (Some(from), Some(to)) => Ok(to.0.duration_since(from.0).as_secs_f64()),
            _ => Err(self.foreign("measure time")),
        }
    }

    fn threads(&self) -> Option<&rayon::ThreadPool> {
        Some(&self.pool)
    }

    fn runs_kernels_of(&self, other: &dyn Backend) -> bool {
        other.of_kind::<Host>().is_some()
    }

    fn reach(&self, other: &dyn Backend) -> Result<bool, DeviceError> {
        Ok(self.reaches(other))
    }

    fn reaches(&self, other: &dyn Backend) -> bool {
        other.of_kind::<Host>().is_some()
    }

    /// The system provides pages when they are first written.
    fn has_pages(&self) -> bool {
        true
    }
}

/// A point in time.
struct Event(Instant);

impl backend::Event for Event {}

/// Why a launch failed.
pub(super) enum Failed {
    /// Invalid arguments.
    Arguments(&'static str),
    /// An invalid access by the kernel.
    Access(String),
}

/// A value at the start of an 8-byte cell, so that a pointer to the cell is a pointer to the value.
pub(super) fn cell(bytes: &[u8]) -> u64 {
    let mut cell = [0u8; 8];
    cell[..bytes.len()].copy_from_slice(bytes);
    u64::from_ne_bytes(cell)
}

/// An argument: a value, which the kernel reads through a pointer to its cell, or the bytes of a struct.
#[derive(Clone, Copy)]
enum Packed<'a> {
    Cell(u64),
    Struct(&'a [u64]),
}

fn pack<'a>(args: &'a [Value<'_>]) -> Result<Vec<Packed<'a>>, Failed> {
    let address = |array: &super::Array| match array.memory.on_host() {
        Some(_) => Ok(array.address()),
        None => Err(Failed::Arguments("an array belongs to another device")),
    };
    args.iter()
        .map(|arg| {
            Ok(Packed::Cell(match arg {
                Value::Struct(words) => return Ok(Packed::Struct(words)),
                Value::Int(value) => cell(&value.to_ne_bytes()),
                Value::Read(array) => address(array)?,
                Value::Slice(array, range) => address(array)? + array.offset(range.start),
                Value::Write(array) => address(array)?,
                Value::WriteFrom(array, start) => address(array)? + array.offset(*start),
                Value::Peer(_) => return Err(Failed::Arguments("an array belongs to another device")),
            }))
        })
        .collect()
}

/// Calls a kernel with these arguments. A kernel with checks may report an invalid access.
#[allow(unsafe_code)]
fn call(
    entry: &Entry,
    args: &[Packed<'_>],
    checks: Option<&(checked::Call, Reach)>,
    values: &[Value<'_>],
) -> Result<(), Failed> {
    let pointer = |arg: &Packed<'_>| match arg {
        Packed::Cell(cell) => std::ptr::from_ref(cell).cast_mut().cast(),
        Packed::Struct(words) => words.as_ptr().cast_mut().cast(),
    };
    let pointers: Vec<*mut c_void> = args.iter().map(pointer).collect();
    if let Some((call, reach)) = checks {
        return reach.call(entry, *call, args, &pointers, values).map_err(Failed::Access);
    }
    // SAFETY: the arguments match the table against which the manifest was checked when its source was loaded. Every
    // pointer leads to an array that is borrowed for the launch, exclusively if it is written. The chunks of one launch
    // work on different items. Bundles are trusted to have code that matches its signature.
    unsafe { (entry.packed)(pointers.as_ptr()) }
    Ok(())
}

const _: () = assert!(size_of::<*const u8>() == 8, "kernels take 64-bit pointers");

#[cfg(test)]
mod tests {
    use crate::device::{Device, DeviceError, Shape, Source, Value};

    const TRIPLE: &str = "
        #include <stdint.h>
        void triple(const int32_t *ids, int32_t count, const double *src, double *dst, double factor) {
            for (int32_t at = 0; at < count; at++) dst[ids[at]] = factor * src[ids[at]];
        }
        void triple_packed(void *const *args) {
            triple(*(const int32_t **)args[0], *(int32_t *)args[1], *(const double **)args[2], *(double **)args[3],
                   *(double *)args[4]);
        }";

    #[test]
    fn a_launch_covers_the_listed_items_once_on_any_number_of_threads() {
        for threads in [1, 2, 3] {
            let device = Device::host(threads).unwrap();
            let module = device.load(Source { name: "triple.c", text: TRIPLE, fuses: true }).unwrap();
            let kernel = module.kernel("triple").unwrap();
            let count = 101;
            let ids = device.ints(&(0..count).map(|at| (at * 7 % 101) as i32).collect::<Vec<_>>()).unwrap();
            let mut src = device.alloc_doubles(count).unwrap();
            src.write_reals(0, &(0..count).map(|at| at as f64).collect::<Vec<_>>()).unwrap();
            let mut dst = device.alloc_doubles(count).unwrap();
            dst.poison().unwrap();
            let shape = Shape { items: count, divisible: true, threads: 1, items_per_group: 1, passes: 1, shared: 0 };
            let args = [
                Value::Slice(ids.array(), 0..count),
                Value::Int(count as i32),
                Value::Read(src.array()),
                Value::Write(dst.array_mut()),
                Value::Struct(&[3f64.to_bits()]),
            ];
            device.launch(&kernel, shape, &args).unwrap();
            let expected: Vec<f64> = (0..count).map(|at| 3.0 * at as f64).collect();
            assert_eq!(dst.read_reals(0..count).unwrap(), expected);
        }
    }

    #[test]
    fn a_launch_on_part_of_a_list_is_cut_inside_that_part() {
        let device = Device::host(3).unwrap();
        let kernel =
            device.load(Source { name: "triple.c", text: TRIPLE, fuses: true }).unwrap().kernel("triple").unwrap();
        let ids = device.ints(&(0..100).collect::<Vec<_>>()).unwrap();
        let mut src = device.alloc_doubles(100).unwrap();
        src.write_reals(0, &[1.0; 100]).unwrap();
        let mut dst = device.alloc_doubles(100).unwrap();
        let mut launch = |start: usize, items: usize| {
            let shape = Shape { items, divisible: true, threads: 1, items_per_group: 1, passes: 1, shared: 0 };
            let (ids, count) = (Value::Slice(ids.array(), start..start + items), Value::Int(items as i32));
            let args =
                [ids, count, Value::Read(src.array()), Value::Write(dst.array_mut()), Value::Struct(&[3f64.to_bits()])];
            device.launch(&kernel, shape, &args)
        };
        launch(20, 50).unwrap();
        for (start, items) in [(60, 41), (101, 1)] {
            assert!(matches!(launch(start, items), Err(DeviceError::Launch { .. })), "{items} from {start} on");
        }
        let expected: Vec<f64> = (0..100).map(|at| if (20..70).contains(&at) { 3.0 } else { 0.0 }).collect();
        assert_eq!(dst.read_reals(0..100).unwrap(), expected);
    }

    #[test]
    fn a_missing_symbol_is_named() {
        let device = Device::host(1).unwrap();
        let module = device.load(Source { name: "triple.c", text: TRIPLE, fuses: true }).unwrap();
        let error = module.kernel("quadruple").err().expect("no such kernel");
        assert!(matches!(error, DeviceError::MissingKernel { symbol } if symbol == "quadruple_packed"));
    }

    #[test]
    fn what_does_not_fit_into_memory_is_an_error_with_the_size() {
        let device = Device::host(1).unwrap();
        let error = device.alloc_doubles(usize::MAX / 16).expect_err("nobody has that");
        assert!(matches!(error, DeviceError::Memory { asked, .. } if asked == usize::MAX / 16 * 8));
    }

    #[test]
    fn copy_moves_all_pieces() {
        let device = Device::host(2).unwrap();
        let len = 100_003;
        let mut from = device.alloc_doubles(len).unwrap();
        from.write_reals(0, &(0..len).map(|at| at as f64).collect::<Vec<_>>()).unwrap();
        let mut to = device.alloc_doubles(len).unwrap();
        device.copy(&from, &mut to).unwrap();
        assert_eq!(to.read_reals(0..len).unwrap(), from.read_reals(0..len).unwrap());
    }
}
