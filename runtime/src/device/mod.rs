//! Devices: memory, compiled modules, kernel launches and timing, on the cores of the host or on a GPU.
//!
//! In: kernel sources and argument lists. Out: arrays with the results. This module knows neither blocks nor
//! populations. It alone imports cudarc and libloading. All `unsafe` code is here, except calls of the MPI library in
//! `processes`.
//!
//! | module | job |
//! | --- | --- |
//! | `error` | errors, with advice |
//! | `backend` | what each kind of devices provides, as traits; `host`, `cuda` and `hip` implement them |
//! | `array` | arrays whose element type is known at run time |
//! | `buffer` | arrays whose kind of element is known at compile time |
//! | `launch` | what a launch of a kernel takes |
//! | `packing` | packs and unpacks selected values of an array, to transfer them to another array |
//! | `window` | memory into which GPUs of other processes write |
//! | `staging` | asynchronous copies to the host |
//! | `order` | dependencies between the launches of a graph capture |
//! | `devices` | several devices that work together |
//! | `memory` | amounts of memory, and available memory |
//! | `bandwidth` | measured memory bandwidth, the reference for the speed of kernels |
//! | `cache` | generated and compiled kernels on disk, protected by hashes |
//! | `host` | C compiler, shared objects, threads; kernels with checks |
//! | `cuda` | GPUs of NVIDIA: driver, NVRTC, streams, graphs, paged memory, peer access |
//! | `hip` | GPUs of AMD: the HIP runtime, hiprtc, a stream |
//!
//! A [`Module`] is machine code compiled from the source of a bundle. Like any compiled code, it is trusted to match
//! its signature. `kernels` checks the arguments against the manifest of the bundle. The accesses that a kernel makes
//! are checked only on the host, and only on request ([`Device::checked`]).
//!
//! Each GPU executes its work on one stream, in order. [`Device::launch`] returns before the kernel has run, and
//! reading a buffer waits for it. A [`Staging`] copies a buffer to the host while later kernels run. On the host a
//! launch is complete when it returns.

mod array;
mod backend;
mod bandwidth;
mod buffer;
pub mod cache;
mod cuda;
mod devices;
mod error;
pub(crate) mod halves;
mod hip;
mod host;
mod launch;
mod memory;
mod moving;
mod order;
mod packing;
mod staging;
mod window;

use std::collections::BTreeMap;
use std::sync::{Arc, OnceLock};

use lbm_bundle::{Real as Precision, Target};

use backend::{Backend, Code, Entry, Gpus, Replay};

pub use array::{Array, Scalar};
pub use bandwidth::{copy_bandwidth, copy_bandwidth_of};
pub use buffer::{Buffer, Double, Element, Floating, Int, Real, Slice, Stored};
pub use devices::{Devices, Events};
pub use error::DeviceError;
pub use launch::{Shape, Value};
pub use memory::{Available, Bytes};
pub use order::{Accesses, Order, Resource};
pub use packing::{Incoming, Outgoing, Packing, Route};
pub use staging::{Staging, Stagings};
pub use window::{Message, Messages, Receiver, Sender, Window};

/// Kinds of GPUs, in the order in which [`Device::find`] looks for them.
const GPUS: [Gpus; 2] = [cuda::GPUS, hip::GPUS];

/// Bytes of host memory that can still be allocated, within the limits of control groups; `None` if unknown.
pub fn host_memory() -> Option<usize> {
    host::memory_available()
}

/// Callback before kernels are compiled.
static COMPILES: OnceLock<fn(&str)> = OnceLock::new();

/// Sets the callback that receives the name of a source before its kernels are compiled, which takes seconds. Only the
/// first call has an effect. Kernels found in the cache are not reported.
pub fn tell_before_compiling(tell: fn(&str)) {
    COMPILES.get_or_init(|| tell);
}

/// Reports that kernels are about to be compiled.
fn compiles(source: Source<'_>) {
    if let Some(tell) = COMPILES.get() {
        tell(source.name);
    }
}

/// A device that runs kernels. Cheap to clone; clones are the same device.
#[derive(Clone)]
pub struct Device {
    backend: Arc<dyn Backend>,
    traffic: array::Traffic,
    /// Allocation policy for arrays.
    takes: Takes,
}

/// Allocation policy for arrays.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Takes {
    /// Memory for the whole array.
    All,
    /// Memory only for the values that are needed.
    Needed,
    /// As `Needed`, and pages are mapped and released as needs change. The number is the most pages of an array.
    NeededForNow(usize),
}

/// Everything besides its text that determines the machine code of a source, and so the last bits of results: the
/// compiler, its flags and, on the host, the processor. Keys are names for messages. On a GPU the flags include the
/// architecture.
pub type Toolchain = BTreeMap<String, String>;

/// A kernel source.
#[derive(Clone, Copy, Debug)]
pub struct Source<'a> {
    /// File name, for messages.
    pub name: &'a str,
    /// Source text.
    pub text: &'a str,
    /// Whether a multiplication and an addition may be fused into one operation (FMA), which is rounded once.
    pub fuses: bool,
}

/// Compiled kernels.
pub struct Module {
    code: Box<dyn Code>,
    notices: Vec<String>,
}

impl Module {
    /// Notices about loading for the user, one sentence each: for example, that the cache cannot be written.
    pub fn notices(&self) -> &[String] {
        &self.notices
    }

    /// The kernel with this symbol.
    pub fn kernel(&self, symbol: &str) -> Result<Kernel, DeviceError> {
        Ok(Kernel { symbol: symbol.to_string(), entry: self.code.kernel(symbol)? })
    }
}

impl Kernel {
    /// Sets the names of the arguments for messages.
    pub fn naming(mut self, arguments: Vec<String>) -> Kernel {
        self.entry.name_arguments(arguments);
        self
    }

    /// Sets the bytes of shared memory per thread block on a GPU; an error if the GPU does not have as much.
    pub fn sharing(self, bytes: u32) -> Result<Kernel, DeviceError> {
        if bytes > 0 {
            self.entry.share(&self.symbol, bytes)?;
        }
        Ok(self)
    }
}

/// A kernel that can be launched. It keeps its module loaded.
pub struct Kernel {
    symbol: String,
    entry: Box<dyn Entry>,
}

impl Device {
    /// The host, with this number of threads (0: one per core).
    pub fn host(threads: usize) -> Result<Self, DeviceError> {
        Ok(Device::new(Arc::new(host::Host::new(threads, false)?)))
    }

    /// As [`host`](Self::host), with kernels compiled with checks. A launch fails if its kernel accesses memory outside
    /// its arrays, writes a read-only array, or reads reals that have not been written since they were
    /// [poisoned](Buffer::poison).
    pub fn checked(threads: usize) -> Result<Self, DeviceError> {
        Ok(Device::new(Arc::new(host::Host::new(threads, true)?)))
    }

    /// The GPU with this number among those that run bundles of a target.
    pub fn gpu(target: Target, ordinal: usize) -> Result<Self, DeviceError> {
        Ok(Device::new((Device::kind(target)?.open)(ordinal)?))
    }

    /// The GPU of NVIDIA with this number.
    pub fn cuda(ordinal: usize) -> Result<Self, DeviceError> {
        Device::gpu(Target::Cuda, ordinal)
    }

    /// Number of GPUs that run bundles of a target. They are numbered from 0.
    pub fn gpus(target: Target) -> Result<usize, DeviceError> {
        (Device::kind(target)?.count)()
    }

    /// The target whose GPUs [`find`](Self::find) takes, and their number; `None` if there are no GPUs.
    pub fn kind_of_gpus() -> Option<(Target, usize)> {
        let known = |gpus: &Gpus| Some((gpus.target, (gpus.count)().ok().filter(|count| *count > 0)?));
        GPUS.iter().find_map(known)
    }

    fn kind(target: Target) -> Result<&'static Gpus, DeviceError> {
        let no_gpu = || DeviceError::NoGpu { reason: format!("no GPU runs kernels in {}", target.name()) };
        GPUS.iter().find(|gpus| gpus.target == target).ok_or_else(no_gpu)
    }

    /// Names and texts of the GPU sources that this module itself uses.
    pub fn gpu_sources() -> [(&'static str, &'static str); 2] {
        [moving::MOVING, cuda::SIGNALS].map(|source| (source.name, source.text))
    }

    fn new(backend: Arc<dyn Backend>) -> Self {
        Device { backend, traffic: array::Traffic::default(), takes: Takes::All }
    }

    /// The same device, with memory allocated only where needed, for large arrays of which few values are used. On the
    /// host, pages are allocated when they are written. On a GPU that supports it, an array is an address range:
    /// [`Buffer::back`] maps pages, and the array must be [sealed](Buffer::seal) before kernels use it.
    pub fn sparse(&self) -> Self {
        Device { takes: Takes::Needed, ..self.clone() }
    }

    /// As [`sparse`](Self::sparse), for arrays whose needs change ([`Buffer::back_only`]): pages are mapped and
    /// released. `pages` is the most pages of an array. With few, large pages more memory is mapped than needed. Many
    /// small pages take longer, because the driver takes the same time to map a page of any size.
    pub fn sparse_for_now(&self, pages: usize) -> Self {
        Device { takes: Takes::NeededForNow(pages), ..self.clone() }
    }

    /// The same device, with memory allocated for whole arrays.
    pub fn whole(&self) -> Self {
        Device { takes: Takes::All, ..self.clone() }
    }

    /// Whether arrays have memory only where needed.
    pub fn is_sparse(&self) -> bool {
        self.takes != Takes::All && self.backend.has_pages()
    }

    /// Returns memory to the driver that arrays have [released](Buffer::back_only) and that was retained for reuse.
    pub fn release(&self) {
        self.backend.release();
    }

    /// The first GPU if one is usable, otherwise the host with all its cores; and a sentence that reports the choice and
    /// the reason.
    pub fn find() -> Result<(Self, String), DeviceError> {
        let mut reasons = vec![];
        for gpus in &GPUS {
            match (gpus.open)(0).map(Device::new) {
                Ok(device) => {
                    let said = format!("using the GPU: {}", device.describe());
                    return Ok((device, said));
                }
                Err(DeviceError::NoGpu { reason }) => reasons.push(reason),
                Err(other) => reasons.push(other.to_string()),
            }
        }
        let device = Device::host(0)?;
        let said = format!("{}: using the {}", reasons.join(", "), device.describe());
        Ok((device, said))
    }

    /// The target for which bundles must be compiled.
    pub fn target(&self) -> Target {
        self.backend.target()
    }

    /// Number of the GPU; `None` for the host.
    pub fn ordinal(&self) -> Option<usize> {
        self.backend.ordinal()
    }

    /// Unique identifier of the GPU, independent of its number; `None` for the host, and where it is not known.
    pub fn hardware(&self) -> Option<[u8; 16]> {
        self.backend.hardware()
    }

    /// The number that DLPack has for memory of this kind (`DLDeviceType`).
    pub fn dlpack(&self) -> i32 {
        self.backend.dlpack()
    }

    /// Name for messages: `CPU, 2 threads`, `NVIDIA H200 (sm_90)`, `AMD Instinct MI250X (gfx90a)`.
    pub fn describe(&self) -> String {
        self.backend.describe()
    }

    /// Description of the compiler in one line: name, version, flags and processor. Empty if there is no compiler,
    /// which [`load`](Self::load) reports.
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

    /// Number of threads of a kernel that can be resident at the same time on a GPU; 1 on the host.
    pub fn concurrency(&self) -> usize {
        self.backend.concurrency()
    }

    /// Bytes that can still be allocated, if known; on the host within the limits of control groups.
    pub fn memory_available(&self) -> Option<usize> {
        self.backend.memory_available()
    }

    /// Bytes written to or read from buffers of this device by the program. Kernels and copies between buffers do not
    /// count.
    pub fn traffic(&self) -> u64 {
        self.traffic.bytes()
    }

    /// A zero-initialised buffer of `len` integers.
    pub fn alloc_ints(&self, len: usize) -> Result<Buffer<Int>, DeviceError> {
        Ok(Buffer::new(self.alloc(Scalar::I32, len)?))
    }

    /// A zero-initialised buffer of `len` reals in the precision of a bundle.
    pub fn alloc_reals(&self, precision: Precision, len: usize) -> Result<Buffer<Real>, DeviceError> {
        Ok(Buffer::new(self.alloc(Scalar::computed(precision), len)?))
    }

    /// A zero-initialised buffer of `len` populations, in the type in which a bundle of that precision stores them.
    pub fn alloc_stored(&self, precision: Precision, len: usize) -> Result<Buffer<Stored>, DeviceError> {
        Ok(Buffer::new(self.alloc(Scalar::stored(precision), len)?))
    }

    /// A zero-initialised buffer of `len` doubles.
    pub fn alloc_doubles(&self, len: usize) -> Result<Buffer<Double>, DeviceError> {
        Ok(Buffer::new(self.alloc(Scalar::F64, len)?))
    }

    /// A zero-initialised buffer with the type, length and mapped pages of another.
    pub fn alloc_like<E: Element>(&self, other: &Buffer<E>) -> Result<Buffer<E>, DeviceError> {
        let (from, backend) = (other.array(), self.backend.clone());
        let memory = backend.alloc_like(from.bytes(), &*from.memory, self.takes)?;
        Ok(Buffer::new(Array { scalar: from.scalar, len: from.len, memory, device: self.clone() }))
    }

    fn alloc(&self, scalar: Scalar, len: usize) -> Result<Array, DeviceError> {
        let bytes = len.checked_mul(scalar.bytes()).ok_or_else(|| self.out_of_memory(usize::MAX))?;
        let memory = self.backend.clone().alloc(bytes, self.takes)?;
        Ok(Array { scalar, len, memory, device: self.clone() })
    }

    /// A buffer with these integers.
    pub fn ints(&self, values: &[i32]) -> Result<Buffer<Int>, DeviceError> {
        let mut buffer = self.alloc_ints(values.len())?;
        buffer.write_ints(0, values)?;
        Ok(buffer)
    }

    /// The error for a failed allocation of `asked` bytes.
    pub fn out_of_memory(&self, asked: usize) -> DeviceError {
        self.backend.out_of_memory(asked)
    }

    /// The toolchain that compiles kernels for this device.
    pub fn toolchain(&self) -> Result<Toolchain, DeviceError> {
        self.backend.toolchain()
    }

    /// Compiles and loads a source, or loads its kernels from the cache.
    pub fn load(&self, source: Source<'_>) -> Result<Module, DeviceError> {
        let (code, notices) = self.backend.load(source)?;
        Ok(Module { code, notices })
    }

    /// Runs work that makes many launches. On the host it runs on a thread of the device's pool, so that the pool need
    /// not be woken for every launch.
    pub fn scope<R: Send>(&self, work: impl FnOnce() -> R + Send) -> R {
        match self.backend.threads() {
            Some(threads) => threads.install(work),
            None => work(),
        }
    }

    /// Blocks until all launches have completed.
    pub fn synchronize(&self) -> Result<(), DeviceError> {
        self.backend.synchronize()
    }

    /// A timing event in the stream.
    pub fn event(&self) -> Result<Event, DeviceError> {
        Ok(Event(self.backend.event()?))
    }

    /// Seconds between two events. Blocks until the later one is reached.
    pub fn seconds(&self, from: &Event, to: &Event) -> Result<f64, DeviceError> {
        self.backend.seconds(&*from.0, &*to.0)
    }

    /// Captures the launches that `work` makes as a graph that can be replayed, instead of running them. Each launch
    /// must declare its accesses by [`accessing`](Self::accessing). `None` where launches cannot be captured, as on the
    /// host; `work` is not called then.
    pub fn record(&self, work: impl FnOnce() -> Result<(), DeviceError>) -> Result<Option<Graph>, DeviceError> {
        self.backend.record(std::slice::from_ref(self), Box::new(work))
    }

    /// Whether launches are captured: the accesses of these are asked for.
    pub fn is_recording(&self) -> bool {
        self.backend.is_recording()
    }

    /// Calls `work`, whose launches access only these places and run one after another. In a [capture](Self::record) on
    /// a GPU they wait only for the launches that they depend on; otherwise launches run in stream order.
    pub fn accessing<R>(&self, accesses: &Accesses, work: impl FnOnce() -> R) -> R {
        if !self.is_recording() {
            return work();
        }
        let begun = self.backend.begin(accesses);
        let done = work();
        self.backend.end(begun, accesses);
        done
    }

    /// Copies all values of `from` to `to`, a buffer of the same type and length; on the host with all threads.
    pub fn copy<E: Element>(&self, from: &Buffer<E>, to: &mut Buffer<E>) -> Result<(), DeviceError> {
        to.array().check_same(from.array())?;
        self.copy_to(from.array(), to.array_mut())
    }

    /// A new buffer with the first `len` values of another.
    pub fn first<E: Element>(&self, from: &Buffer<E>, len: usize) -> Result<Buffer<E>, DeviceError> {
        from.array().check_range(0, len)?;
        let mut to = Buffer::new(self.alloc(from.array().scalar(), len)?);
        self.copy_to(from.array(), to.array_mut())?;
        Ok(to)
    }

    /// Fills an array with the first bytes of another.
    fn copy_to(&self, from: &Array, to: &mut Array) -> Result<(), DeviceError> {
        let bytes = to.bytes();
        self.backend.copy(&*from.memory, &mut *to.memory, bytes)
    }
}

/// A timing event in the stream of a device.
pub struct Event(Box<dyn backend::Event>);

/// Captured launches that can be replayed as one.
pub struct Graph(Box<dyn Replay>);

impl Graph {
    /// Replays the captured launches, after all earlier work of their GPUs.
    pub fn launch(&self) -> Result<(), DeviceError> {
        self.0.launch()
    }
}
