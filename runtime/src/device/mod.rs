//! Buffers, compiled modules, launches and timing, on the host's cores or on a GPU.
//!
//! In: kernel sources and argument lists. Out: arrays with the results. This module knows neither blocks nor
//! populations; it alone imports cudarc and libloading, and all `unsafe` code of the project lies here.
//!
//! | module | job |
//! | --- | --- |
//! | `error` | what can go wrong, with advice |
//! | `array` | arrays, their type known at run time |
//! | `buffer` | the same, their elements known to the compiler |
//! | `packing` | some values of an array, one after the other, on their way to another array |
//! | `staging` | copies that leave the device while launches go on |
//! | `order` | which launches of a recording wait for which others |
//! | `devices` | several that work together |
//! | `memory` | amounts of memory, and how much there is |
//! | `bandwidth` | how fast memory can be copied: what speed is measured against |
//! | `cache` | generated and compiled kernels on disk, sealed |
//! | `host` | C compiler, shared objects, threads; kernels with checks |
//! | `cuda` | driver, NVRTC, stream, graphs |
//!
//! A [`Module`] is machine code made from a bundle's source. Like any compiled code it is trusted to keep to its
//! signature: `kernels` checks the arguments that its bundle says it has; what a kernel does with them is checked on the host alone, where
//! that is asked for ([`Device::checked`]).
//!
//! Work on each GPU is queued on one stream, in order: [`Device::launch`] returns before the kernel has run, reading a
//! buffer waits for it; a [`Staging`] takes what a buffer has while kernels go on. On the host a launch is done when it returns.

mod array;
mod bandwidth;
mod buffer;
pub mod cache;
mod cuda;
mod devices;
mod error;
mod host;
mod memory;
mod order;
mod packing;
mod staging;

use std::collections::BTreeMap;
use std::ops::Range;
use std::sync::{Arc, OnceLock};
use std::time::Instant;

use lbm_bundle::{Real as Precision, Target};

pub use array::{Array, Scalar};
pub use bandwidth::{copy_bandwidth, copy_bandwidth_of};
pub use buffer::{Buffer, Double, Element, Floating, Int, Part, Real, Stored};
pub use cuda::Graph;
pub use devices::{Devices, Marks};
pub use error::DeviceError;
pub use memory::{Available, Bytes};
pub use order::{Accesses, Order, Place};
pub use packing::{Incoming, Outgoing, Packing, Route};
pub use staging::{Staging, Stagings};

/// Bytes of the host's memory that can still be allocated, within the limits of control groups, if the system says so.
pub fn host_memory() -> Option<usize> {
    host::memory_available()
}

/// Who is told before kernels are compiled.
static COMPILES: OnceLock<fn(&str)> = OnceLock::new();

/// Says who is told, by the name of the source, before kernels are compiled, which takes seconds: the first who asks to; before that, nobody.
/// Nothing is told of kernels that an earlier run has compiled.
pub fn tell_before_compiling(tell: fn(&str)) {
    COMPILES.get_or_init(|| tell);
}

/// Kernels are about to be compiled.
fn compiles(source: Source<'_>) {
    if let Some(tell) = COMPILES.get() {
        tell(source.name);
    }
}

/// What kernels run on. Cheap to clone; clones are the same device.
#[derive(Clone)]
pub struct Device {
    backend: Backend,
    traffic: array::Traffic,
    /// Which memory arrays take.
    takes: Takes,
}

/// Which memory arrays take.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Takes {
    /// All that they are long.
    All,
    /// What is needed of it.
    Needed,
    /// The same, which comes and goes, of so many pages of an array at most.
    NeededForNow(usize),
}

#[derive(Clone)]
enum Backend {
    Host(Arc<host::Host>),
    Cuda(Arc<cuda::Cuda>),
}

/// What decides, beside its text, which machine code a source becomes, and so the last bits of results: the compiler, its flags, on
/// the host the processor; each by a name for messages. On a GPU the flags have its architecture.
pub type Toolchain = BTreeMap<String, String>;

/// A kernel source.
#[derive(Clone, Copy, Debug)]
pub struct Source<'a> {
    /// File name, for messages.
    pub name: &'a str,
    /// Text.
    pub text: &'a str,
    /// Whether a multiplication and an addition may become one operation, which is rounded once.
    pub fuses: bool,
}

/// Compiled kernels.
pub struct Module {
    code: Code,
    notices: Vec<String>,
}

enum Code {
    Host(host::Library),
    Cuda(cuda::Module),
}

impl Module {
    /// What the user should know about loading, a sentence each: for example that the cache cannot be written.
    pub fn notices(&self) -> &[String] {
        &self.notices
    }

    /// The kernel with that symbol.
    pub fn kernel(&self, symbol: &str) -> Result<Kernel, DeviceError> {
        let entry = match &self.code {
            Code::Host(library) => Entry::Host(library.kernel(symbol)?),
            Code::Cuda(module) => Entry::Cuda(module.kernel(symbol)?),
        };
        Ok(Kernel { symbol: symbol.to_string(), entry })
    }
}

impl Kernel {
    /// The same whose arguments have these names in messages.
    pub fn naming(mut self, arguments: Vec<String>) -> Kernel {
        if let Entry::Host(entry) = &mut self.entry {
            entry.name_arguments(arguments);
        }
        self
    }

    /// The same whose thread blocks share so many bytes on a GPU, which are refused where it has not as many.
    pub fn sharing(self, bytes: u32) -> Result<Kernel, DeviceError> {
        if let (Entry::Cuda(entry), true) = (&self.entry, bytes > 0) {
            entry.share(&self.symbol, bytes)?;
        }
        Ok(self)
    }
}

/// A kernel that can be launched. Keeps its module loaded.
pub struct Kernel {
    symbol: String,
    entry: Entry,
}

enum Entry {
    Host(host::Entry),
    Cuda(cuda::Entry),
}

/// An argument of a launch.
#[derive(Debug)]
pub enum Value<'a> {
    /// `int32_t`
    Int(i32),
    /// A struct, or another number: its bytes.
    Struct(&'a [u64]),
    /// Pointer to what the kernel reads.
    Read(&'a Array),
    /// Pointer to the part of an array that the kernel reads.
    Part(&'a Array, Range<usize>),
    /// Pointer to what the kernel writes.
    Write(&'a mut Array),
    /// Pointer to what the kernel writes in the memory of another GPU, which this one reaches.
    Peer(&'a mut Array),
}

/// How the items of a launch are spread.
#[derive(Clone, Copy, Debug)]
pub struct Shape {
    /// Number of items.
    pub items: usize,
    /// Host: whether the launch may be cut into several, by moving the first argument, a pointer to one `int32_t` per
    /// item, and setting the second, the count.
    pub divisible: bool,
    /// CUDA: threads of a thread block.
    pub threads: u32,
    /// CUDA: items of a thread block.
    pub items_per_group: u32,
    /// On a GPU: groups that work on the same items, along y of the grid.
    pub passes: u32,
    /// On a GPU: bytes of dynamic shared memory of a group.
    pub shared: u32,
}

impl Device {
    /// The host, on so many threads (0: one per core).
    pub fn host(threads: usize) -> Result<Self, DeviceError> {
        Ok(Device::new(Backend::Host(Arc::new(host::Host::new(threads, false)?))))
    }

    /// The same, where kernels are compiled with checks, and a launch fails whose kernel reaches outside of the arrays that it was given, writes
    /// one that it may only read, or reads reals that nobody has written since they were [poisoned](Buffer::poison).
    pub fn checked(threads: usize) -> Result<Self, DeviceError> {
        Ok(Device::new(Backend::Host(Arc::new(host::Host::new(threads, true)?))))
    }

    /// The GPU with that number.
    pub fn cuda(ordinal: usize) -> Result<Self, DeviceError> {
        Ok(Device::new(Backend::Cuda(Arc::new(cuda::Cuda::new(ordinal)?))))
    }

    /// How many GPUs there are, of the numbers from 0 on.
    pub fn gpus() -> Result<usize, DeviceError> {
        cuda::Cuda::count()
    }

    /// The CUDA sources that the devices themselves use: names and texts.
    pub fn cuda_sources() -> [(&'static str, &'static str); 1] {
        [(cuda::MOVING.name, cuda::MOVING.text)]
    }

    fn new(backend: Backend) -> Self {
        Device { backend, traffic: array::Traffic::default(), takes: Takes::All }
    }

    /// The GPU that an array lies on.
    fn of_gpu(cuda: &Arc<cuda::Cuda>, array: &Array) -> Self {
        Device { backend: Backend::Cuda(cuda.clone()), traffic: array.traffic.clone(), takes: Takes::All }
    }

    /// The same device, on which arrays take memory only where it is needed, for large arrays of which few values are: on the host where
    /// something is written; on a GPU, where it can do so, where [`Buffer::back`] says, and they must be [sealed](Buffer::seal) before kernels
    /// work on them.
    pub fn sparse(&self) -> Self {
        Device { takes: Takes::Needed, ..self.clone() }
    }

    /// The same, where it changes what is needed of an array ([`Buffer::back_only`]): memory comes and goes in pages, of which an array has so many at
    /// most. Few are coarse, and have more that is not needed; many take longer, because the driver takes as long for each, whatever its size.
    pub fn sparse_for_now(&self, pages: usize) -> Self {
        Device { takes: Takes::NeededForNow(pages), ..self.clone() }
    }

    /// The same device, on which arrays take memory for all that they are long.
    pub fn whole(&self) -> Self {
        Device { takes: Takes::All, ..self.clone() }
    }

    /// Whether arrays take memory only where it is needed.
    pub fn is_sparse(&self) -> bool {
        self.takes != Takes::All
            && match &self.backend {
                Backend::Host(_) => true,
                Backend::Cuda(cuda) => cuda.has_pages(),
            }
    }

    /// Gives back memory that arrays [need no more](Buffer::back_only), which is kept for others until then.
    pub fn release(&self) {
        if let Backend::Cuda(cuda) = &self.backend {
            cuda.release_put_by();
        }
    }

    /// The first GPU if one can be used, else the host on all its cores; with a sentence that says which and why.
    pub fn find() -> Result<(Self, String), DeviceError> {
        match Device::cuda(0) {
            Ok(device) => {
                let said = format!("using the GPU: {}", device.describe());
                Ok((device, said))
            }
            Err(error) => {
                let reason = match error {
                    DeviceError::NoGpu { reason } => reason,
                    other => other.to_string(),
                };
                let device = Device::host(0)?;
                let said = format!("{reason}: using the {}", device.describe());
                Ok((device, said))
            }
        }
    }

    /// What bundles must be compiled for.
    pub fn target(&self) -> Target {
        match &self.backend {
            Backend::Host(_) => Target::C,
            Backend::Cuda(_) => Target::Cuda,
        }
    }

    /// The number of a GPU; nothing for the host.
    pub fn ordinal(&self) -> Option<usize> {
        match &self.backend {
            Backend::Host(_) => None,
            Backend::Cuda(cuda) => Some(cuda.ordinal()),
        }
    }

    /// What tells a GPU from all others, whatever its number is; nothing for the host.
    pub fn hardware(&self) -> Option<[u8; 16]> {
        match &self.backend {
            Backend::Host(_) => None,
            Backend::Cuda(cuda) => cuda.hardware(),
        }
    }

    /// Name for messages: `CPU, 2 threads`, `NVIDIA H200 (sm_90)`.
    pub fn describe(&self) -> String {
        match &self.backend {
            Backend::Host(host) => host.describe(),
            Backend::Cuda(cuda) => cuda.describe(),
        }
    }

    /// What compiles kernels for it, in a line: compiler, version, flags and processor. Empty where there is no compiler, which
    /// loading says.
    pub fn compiler(&self) -> String {
        let toolchain = self.toolchain().unwrap_or_default();
        let of = |name: &str| toolchain.get(name).map_or("", String::as_str);
        let processor = toolchain.get("the processor").map_or(String::new(), |name| format!(", on {name}"));
        if toolchain.is_empty() {
            String::new()
        } else {
            format!("{}: {}{processor}", of("the compiler"), of("its flags"))
        }
    }

    /// Threads of a kernel that are under way at the same time: on a GPU all that it holds; 1 on the host, where none waits.
    pub fn concurrency(&self) -> usize {
        match &self.backend {
            Backend::Host(_) => 1,
            Backend::Cuda(cuda) => cuda.concurrency(),
        }
    }

    /// Bytes that can still be allocated, if the device says so; on the host within the limits of control groups.
    pub fn memory_available(&self) -> Option<usize> {
        match &self.backend {
            Backend::Host(_) => host::memory_available(),
            Backend::Cuda(cuda) => cuda.memory_available(),
        }
    }

    /// Bytes that have been written into buffers of this device, or read from them, by anything but kernels and copies
    /// between buffers.
    pub fn traffic(&self) -> u64 {
        self.traffic.bytes()
    }

    /// A buffer of so many integers, zeros.
    pub fn alloc_ints(&self, len: usize) -> Result<Buffer<Int>, DeviceError> {
        Ok(Buffer::new(self.alloc(Scalar::I32, len)?))
    }

    /// A buffer of so many reals, zeros, in the precision of a bundle.
    pub fn alloc_reals(&self, precision: Precision, len: usize) -> Result<Buffer<Real>, DeviceError> {
        Ok(Buffer::new(self.alloc(Scalar::computed(precision), len)?))
    }

    /// A buffer of so many populations, zeros, as a bundle of that precision stores them.
    pub fn alloc_stored(&self, precision: Precision, len: usize) -> Result<Buffer<Stored>, DeviceError> {
        Ok(Buffer::new(self.alloc(Scalar::stored(precision), len)?))
    }

    /// A buffer of so many doubles, zeros.
    pub fn alloc_doubles(&self, len: usize) -> Result<Buffer<Double>, DeviceError> {
        Ok(Buffer::new(self.alloc(Scalar::F64, len)?))
    }

    /// A buffer of so many values as another has, of their type, zeros; with memory where that has some.
    pub fn alloc_like<E: Element>(&self, other: &Buffer<E>) -> Result<Buffer<E>, DeviceError> {
        let array = other.array();
        if let (Backend::Cuda(cuda), array::Storage::Cuda(memory)) = (&self.backend, &array.storage)
            && let Some(own) = memory.own()
        {
            let mut like = cuda.alloc_pages(array.bytes(), memory.by_page())?;
            like.back(&own)?;
            like.seal()?;
            let (scalar, len, storage) = (array.scalar, array.len, array::Storage::Cuda(like));
            return Ok(Buffer::new(Array { scalar, len, storage, traffic: self.traffic.clone() }));
        }
        Ok(Buffer::new(self.alloc(array.scalar, other.len())?))
    }

    fn alloc(&self, scalar: Scalar, len: usize) -> Result<Array, DeviceError> {
        let bytes = len.checked_mul(scalar.bytes()).ok_or_else(|| self.out_of_memory(usize::MAX))?;
        let storage = match &self.backend {
            Backend::Host(_) => {
                let memory = if self.is_sparse() { host::Memory::sparse(bytes) } else { host::Memory::new(bytes) };
                array::Storage::Host(memory.ok_or_else(|| self.out_of_memory(bytes))?)
            }
            Backend::Cuda(cuda) if self.is_sparse() => {
                let pages = match self.takes {
                    Takes::NeededForNow(pages) => Some(pages),
                    Takes::All | Takes::Needed => None,
                };
                array::Storage::Cuda(cuda.alloc_pages(bytes, pages)?)
            }
            Backend::Cuda(cuda) => array::Storage::Cuda(cuda.alloc(bytes)?),
        };
        Ok(Array { scalar, len, storage, traffic: self.traffic.clone() })
    }

    /// A buffer that holds these integers.
    pub fn ints(&self, values: &[i32]) -> Result<Buffer<Int>, DeviceError> {
        let mut buffer = self.alloc_ints(values.len())?;
        buffer.write_ints(0, values)?;
        Ok(buffer)
    }

    /// The error for an allocation of so many bytes that does not fit.
    pub fn out_of_memory(&self, asked: usize) -> DeviceError {
        DeviceError::Memory { device: self.describe(), asked, available: self.memory_available() }
    }

    /// What its kernels are compiled with.
    pub fn toolchain(&self) -> Result<Toolchain, DeviceError> {
        match &self.backend {
            Backend::Host(host) => host.toolchain(),
            Backend::Cuda(cuda) => cuda.toolchain(),
        }
    }

    /// Compiles and loads a source, or takes the compiled one from the cache.
    pub fn load(&self, source: Source<'_>) -> Result<Module, DeviceError> {
        match &self.backend {
            Backend::Host(host) => {
                let (library, notices) = host.load(source)?;
                Ok(Module { code: Code::Host(library), notices })
            }
            Backend::Cuda(cuda) => {
                let (module, notices) = cuda.load(source)?;
                Ok(Module { code: Code::Cuda(module), notices })
            }
        }
    }

    /// Runs a kernel over `shape.items` items. The arguments must be those of the kernel, in order.
    pub fn launch(&self, kernel: &Kernel, shape: Shape, args: &[Value<'_>]) -> Result<(), DeviceError> {
        if shape.items == 0 {
            return Ok(());
        }
        let failed = |reason: &str| DeviceError::Launch { kernel: kernel.symbol.clone(), reason: reason.to_string() };
        if shape.items > i32::MAX as usize {
            return Err(failed("more items than an int32 can count"));
        }
        if args.iter().any(|arg| matches!(arg, Value::Part(array, range) if range.end > array.len)) {
            return Err(failed("a part of an array ends behind its end"));
        }
        match (&self.backend, &kernel.entry) {
            (Backend::Host(host), Entry::Host(entry)) => host.launch(entry, shape, args).map_err(|why| match why {
                host::Failed::Arguments(why) => failed(why),
                host::Failed::Access(what) => DeviceError::Access { kernel: kernel.symbol.clone(), what },
            }),
            (Backend::Cuda(cuda), Entry::Cuda(entry)) => cuda.launch(&kernel.symbol, entry, shape, args),
            _ => Err(failed("it was compiled for another device")),
        }
    }

    /// Runs work that makes many launches. On the host it runs on one of the device's threads, so that the others need
    /// not be woken for every launch.
    pub fn scope<R: Send>(&self, work: impl FnOnce() -> R + Send) -> R {
        match &self.backend {
            Backend::Host(host) => host.scope(work),
            Backend::Cuda(_) => work(),
        }
    }

    /// Waits until all launches have run.
    pub fn synchronize(&self) -> Result<(), DeviceError> {
        match &self.backend {
            Backend::Host(_) => Ok(()),
            Backend::Cuda(cuda) => cuda.synchronize(),
        }
    }

    /// A mark in the order of work, to measure time from.
    pub fn mark(&self) -> Result<Mark, DeviceError> {
        Ok(match &self.backend {
            Backend::Host(_) => Mark(MarkKind::Host(Instant::now())),
            Backend::Cuda(cuda) => Mark(MarkKind::Cuda(cuda.mark()?)),
        })
    }

    /// Seconds from one mark to a later one; waits for the later one.
    pub fn seconds(&self, from: &Mark, to: &Mark) -> Result<f64, DeviceError> {
        match (&self.backend, &from.0, &to.0) {
            (Backend::Host(_), MarkKind::Host(from), MarkKind::Host(to)) => Ok(to.duration_since(*from).as_secs_f64()),
            (Backend::Cuda(cuda), MarkKind::Cuda(from), MarkKind::Cuda(to)) => cuda.seconds(from, to),
            _ => Err(DeviceError::Driver {
                device: self.describe(),
                action: "measure time".into(),
                reason: "the events belong to another device".into(),
            }),
        }
    }

    /// Records the launches that `work` makes, all of them [`accessing`](Self::accessing) something, instead of running them, so that they
    /// can be repeated at once. `None` on the host, where `work` is not called.
    pub fn record(&self, work: impl FnOnce() -> Result<(), DeviceError>) -> Result<Option<Graph>, DeviceError> {
        match &self.backend {
            Backend::Host(_) => Ok(None),
            Backend::Cuda(cuda) => cuda::record(std::slice::from_ref(cuda), work),
        }
    }

    /// Calls `work`, whose launches read and write no other places than these, and follow each other. In a
    /// [recording](Self::record) on a GPU they wait for nothing that does not need; elsewhere launches are in order.
    pub fn accessing<R>(&self, accesses: &Accesses, work: impl FnOnce() -> R) -> R {
        match &self.backend {
            Backend::Host(_) => work(),
            Backend::Cuda(cuda) => cuda.accessing(accesses, work),
        }
    }

    /// Copies all values of `from` into `to`, a buffer of the same type and length; on the host with all threads.
    pub fn copy<E: Element>(&self, from: &Buffer<E>, to: &mut Buffer<E>) -> Result<(), DeviceError> {
        to.array().check_same(from.array())?;
        self.copy_to(from.array(), to.array_mut())
    }

    /// The first values of a buffer, which has as many, in one of their own.
    pub fn first<E: Element>(&self, from: &Buffer<E>, len: usize) -> Result<Buffer<E>, DeviceError> {
        from.array().check_range(0, len)?;
        let mut to = Buffer::new(self.alloc(from.array().scalar(), len)?);
        self.copy_to(from.array(), to.array_mut())?;
        Ok(to)
    }

    /// Fills an array with the first bytes of another.
    fn copy_to(&self, from: &Array, to: &mut Array) -> Result<(), DeviceError> {
        let bytes = to.bytes();
        match (&self.backend, &from.storage, &mut to.storage) {
            (Backend::Host(host), array::Storage::Host(from), array::Storage::Host(to)) => {
                host.copy(&from.as_slice()[..bytes], to.as_mut_slice());
                Ok(())
            }
            (Backend::Cuda(_), array::Storage::Cuda(from), array::Storage::Cuda(to)) => to.copy_from(from),
            _ => Err(to.wrong("as a copy from another device")),
        }
    }
}

/// A mark in the order of work of a device.
pub struct Mark(MarkKind);

enum MarkKind {
    Host(Instant),
    Cuda(cuda::Event),
}
