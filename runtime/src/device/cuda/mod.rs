//! A GPU of NVIDIA as a device: driver, modules, streams, and graphs of launches.
//!
//! cudarc loads the driver and NVRTC when they are first used and panics if they are missing. Their presence is
//! therefore checked before anything else ([`Cuda::new`], `compile::nvrtc`). All work of a GPU runs on one stream of
//! our own, except copies to the host ([`Staging`]), which events order. cudarc's event tracking between streams is
//! disabled. `graph` defines the dependencies inside a [`Graph`], `peers` the access of GPUs to each other's memory and
//! their synchronization, [`Mail`] the transfer of values to other processes.

mod compile;
mod graph;
mod mail;
mod pages;
mod peers;
mod staging;

use std::collections::{BTreeMap, BTreeSet};
use std::ops::Range;
use std::sync::{Arc, Mutex, OnceLock};

use cudarc::driver::{
    CudaContext, CudaEvent, CudaFunction, CudaModule, CudaSlice, CudaStream, DevicePtr, DriverError, LaunchConfig,
    PushKernelArg, result, sys,
};

use lbm_bundle::Target;

use super::array::Array;
use super::backend::{self, Backend, Gpus, Work};
use super::error::DeviceError;
use super::host::cell;
use super::order::Accesses;
use super::packing::MOVING;
use super::{Device, Graph, Shape, Source, Takes, Toolchain, Value};

use graph::{Kept, Recorder};
use mail::Mail;
use pages::Pages;
use staging::Staging;

/// GPUs of NVIDIA.
pub(super) const GPUS: Gpus =
    Gpus { target: Target::Cuda, count: Cuda::count, open: |ordinal| Ok(Arc::new(Cuda::new(ordinal)?)) };

/// A GPU with its streams.
pub(super) struct Cuda {
    context: Arc<CudaContext>,
    stream: Arc<CudaStream>,
    /// Stream for copies to and from the host, concurrent with kernels.
    transfer: Arc<CudaStream>,
    name: String,
    /// `90` for `sm_90`.
    architecture: i32,
    /// The graph capture that receives launches, shared with other GPUs; `None` outside
    /// [`graph::record`].
    recorder: Mutex<Option<Arc<Mutex<Recorder>>>>,
    /// Numbers of the GPUs to whose memory this one has peer access.
    peers: Mutex<BTreeSet<usize>>,
    /// GPUs that have peer access to the memory of this one.
    reached_by: Mutex<BTreeSet<sys::CUdevice>>,
    /// Whether arrays can be backed page by page, once checked.
    has_pages: OnceLock<bool>,
    /// Unused pages retained for reuse, by their size in bytes.
    put_by: Mutex<BTreeMap<usize, Vec<pages::Handle>>>,
    /// Kernels that copy listed values (`moving.cu`).
    moving: OnceLock<Module>,
}

/// An allocation on the GPU.
pub(super) struct Memory {
    held: Arc<Held>,
    address: sys::CUdeviceptr,
    bytes: usize,
    cuda: Arc<Cuda>,
}

/// The memory behind an address.
enum Held {
    Slice { _slice: CudaSlice<u8> },
    Pages(Pages),
}

/// Loaded kernels.
pub(super) struct Module(Arc<CudaModule>);

/// A kernel, which keeps its module loaded.
pub(super) struct Entry(CudaFunction);

/// An event in the stream.
pub(super) struct Event(CudaEvent);

fn driver_error(action: &str) -> impl FnOnce(DriverError) -> DeviceError + use<> {
    let action = action.to_string();
    move |error| DeviceError::Driver { device: "the GPU".into(), action, reason: error.to_string() }
}

fn unusable(error: DriverError) -> DeviceError {
    DeviceError::NoGpu { reason: format!("the CUDA driver says: {error}") }
}

/// Whether the driver library can be loaded.
#[allow(unsafe_code)]
fn driver_present() -> bool {
    // SAFETY: loads and closes the CUDA driver library, whose initialisers permit that.
    unsafe { sys::is_culib_present() }
}

impl Cuda {
    /// Number of GPUs that the driver finds.
    pub(super) fn count() -> Result<usize, DeviceError> {
        if !driver_present() {
            return Err(DeviceError::NoGpu { reason: "no CUDA driver found (libcuda.so)".into() });
        }
        Ok(CudaContext::device_count().map_err(unusable)?.max(0) as usize)
    }

    #[allow(unsafe_code)]
    pub(super) fn new(ordinal: usize) -> Result<Self, DeviceError> {
        let no_gpu = |reason: String| DeviceError::NoGpu { reason };
        let count = Cuda::count()?;
        if ordinal >= count {
            return Err(no_gpu(format!("GPU {ordinal} asked for, the CUDA driver knows {count}")));
        }
        compile::nvrtc().map_err(no_gpu)?;
        let context = CudaContext::new(ordinal).map_err(unusable)?;
        // SAFETY: all work runs on one stream; copies on the transfer stream are ordered by the events of `Staging` and
        // `Mail`; GPUs that access each other's memory wait for each other. So there is nothing to track.
        unsafe { context.disable_event_tracking() };
        let stream = context.new_stream().map_err(unusable)?;
        let name = context.name().map_err(unusable)?;
        let (major, minor) = context.compute_capability().map_err(unusable)?;
        let transfer = context.new_stream().map_err(unusable)?;
        Ok(Cuda {
            context,
            stream,
            transfer,
            name,
            architecture: 10 * major + minor,
            recorder: Mutex::default(),
            peers: Mutex::default(),
            reached_by: Mutex::default(),
            has_pages: OnceLock::new(),
            put_by: Mutex::default(),
            moving: OnceLock::new(),
        })
    }

    fn ordinal(&self) -> usize {
        self.context.ordinal()
    }

    /// Allocates zero-initialised memory.
    fn allocate(self: &Arc<Self>, bytes: usize) -> Result<Memory, DeviceError> {
        let slice = self.stream.alloc_zeros::<u8>(bytes.max(1)).map_err(|error| match error.0 {
            sys::CUresult::CUDA_ERROR_OUT_OF_MEMORY => {
                DeviceError::Memory { device: self.describe(), asked: bytes, available: self.memory_available() }
            }
            _ => driver_error("allocate memory")(error),
        })?;
        let address = slice.device_ptr(&self.stream).0;
        Ok(Memory { held: Arc::new(Held::Slice { _slice: slice }), address, bytes, cuda: self.clone() })
    }

    /// Reserves an address range of `bytes` bytes. Pages must be [mapped](Memory::back) and the range
    /// [sealed](Memory::seal) before use. `pages`: if pages are to be mapped and released later, the most pages of the
    /// range.
    fn allocate_pages(self: &Arc<Self>, bytes: usize, pages: Option<usize>) -> Result<Memory, DeviceError> {
        let pages = Pages::reserve(self, bytes, pages)?;
        let address = pages.start;
        Ok(Memory { held: Arc::new(Held::Pages(pages)), address, bytes, cuda: self.clone() })
    }

    /// Compiles and loads a source, or loads its kernels from the cache; with notices for the user.
    fn load_module(&self, source: Source<'_>) -> Result<(Module, Vec<String>), DeviceError> {
        let (cubin, notices) = compile::compile(source, self.architecture)?;
        let image = cudarc::nvrtc::Ptx::from_binary(cubin);
        let module = self.context.load_module(image).map_err(driver_error("load the compiled kernels"))?;
        Ok((Module(module), notices))
    }

    #[allow(unsafe_code)]
    fn run(&self, symbol: &str, entry: &Entry, shape: Shape, args: &[Value<'_>]) -> Result<(), DeviceError> {
        let failed = |reason: String| DeviceError::Launch { kernel: symbol.to_string(), reason };
        let groups = shape.items.div_ceil(shape.items_per_group.max(1) as usize);
        let mut used = vec![Kept::Kernel { _function: entry.0.clone() }];
        let mut address = |array: &Array, start: usize, may_be_peers: bool| match array.memory.of_kind::<Memory>() {
            Some(memory) if self.is(&memory.cuda) || (may_be_peers && self.reaches(&memory.cuda)) => {
                used.push(Kept::Memory { _held: memory.held.clone() });
                Ok(memory.address + array.offset(start))
            }
            _ => Err(failed("an array belongs to another device".into())),
        };
        // Structs are passed in place; every other argument is copied into an 8-byte cell.
        let mut cells = Vec::with_capacity(args.len());
        for arg in args {
            cells.push(match arg {
                Value::Int(value) => Some(cell(&value.to_ne_bytes())),
                Value::Struct(_) => None,
                Value::Read(array) => Some(address(array, 0, false)?),
                Value::Part(array, range) => Some(address(array, range.start, false)?),
                Value::Write(array) => Some(address(array, 0, false)?),
                Value::Peer(array) => Some(address(array, 0, true)?),
            });
        }
        let config = LaunchConfig {
            grid_dim: (groups as u32, shape.passes.max(1), 1),
            block_dim: (shape.threads, 1, 1),
            shared_mem_bytes: shape.shared,
        };
        // SAFETY, for both launches: the arguments match the table against which the manifest was checked when its
        // source was loaded. Each pointer leads to a value with as many bytes as the parameter has, which the driver
        // copies. Buffers are freed in stream order, after the kernel, or are kept alive by the graph capture. Bundles
        // are trusted to have code that matches its signature.
        if let Some(recorder) = self.recorder() {
            let mut pointers: Vec<*mut std::ffi::c_void> = (args.iter().zip(&cells))
                .map(|(arg, cell)| match (arg, cell) {
                    (Value::Struct(words), _) => words.as_ptr().cast_mut().cast(),
                    (_, Some(cell)) => std::ptr::from_ref(cell).cast_mut().cast(),
                    (_, None) => unreachable!("what is no struct has a cell"),
                })
                .collect();
            self.bind("record launches")?;
            return unsafe { graph::lock(&recorder).add(&entry.0, config, &mut pointers, used) }.map_err(failed);
        }
        let mut launch = self.stream.launch_builder(&entry.0);
        for (arg, cell) in args.iter().zip(&cells) {
            match (arg, cell) {
                (Value::Struct(words), _) => launch.arg(&words[0]),
                (_, Some(cell)) => launch.arg(cell),
                (_, None) => unreachable!("what is no struct has a cell"),
            };
        }
        unsafe { launch.launch(config) }.map(|_| ()).map_err(|error| failed(error.to_string()))
    }

    /// Whether both are the same GPU with the same stream.
    fn is(&self, other: &Cuda) -> bool {
        self.stream == other.stream
    }

    fn bind(&self, action: &str) -> Result<(), DeviceError> {
        self.context.bind_to_thread().map_err(driver_error(action))
    }
}

/// The error that something belongs to another device.
fn foreign(action: &str) -> DeviceError {
    DeviceError::Driver {
        device: "the GPU".into(),
        action: action.into(),
        reason: "it belongs to another device".into(),
    }
}

impl Backend for Cuda {
    fn target(&self) -> Target {
        Target::Cuda
    }

    fn dlpack(&self) -> i32 {
        2
    }

    fn describe(&self) -> String {
        format!("{} (sm_{})", self.name, self.architecture)
    }

    fn toolchain(&self) -> Result<Toolchain, DeviceError> {
        compile::toolchain(self.architecture)
    }

    fn load(&self, source: Source<'_>) -> Result<(Box<dyn backend::Code>, Vec<String>), DeviceError> {
        let (module, notices) = self.load_module(source)?;
        Ok((Box::new(module), notices))
    }

    fn launch(
        &self,
        symbol: &str,
        entry: &dyn backend::Entry,
        shape: Shape,
        args: &[Value<'_>],
    ) -> Result<(), DeviceError> {
        match entry.of_kind() {
            Some(entry) => self.run(symbol, entry, shape, args),
            None => Err(DeviceError::Launch {
                kernel: symbol.to_string(),
                reason: "it was compiled for another device".into(),
            }),
        }
    }

    fn memory_available(&self) -> Option<usize> {
        self.context.mem_get_info().ok().map(|(free, _)| free)
    }

    fn alloc(self: Arc<Self>, bytes: usize, takes: Takes) -> Result<Box<dyn backend::Memory>, DeviceError> {
        Ok(Box::new(match takes {
            Takes::NeededForNow(pages) if self.has_pages() => self.allocate_pages(bytes, Some(pages))?,
            Takes::Needed if self.has_pages() => self.allocate_pages(bytes, None)?,
            _ => self.allocate(bytes)?,
        }))
    }

    fn alloc_like(
        self: Arc<Self>,
        bytes: usize,
        other: &dyn backend::Memory,
        takes: Takes,
    ) -> Result<Box<dyn backend::Memory>, DeviceError> {
        let paged = other.of_kind::<Memory>().and_then(|memory| Some((backend::Memory::own(memory)?, memory)));
        let Some((own, memory)) = paged else { return Backend::alloc(self, bytes, takes) };
        let mut like = self.allocate_pages(bytes, backend::Memory::by_page(memory))?;
        backend::Memory::back(&mut like, &own)?;
        backend::Memory::seal(&mut like)?;
        Ok(Box::new(like))
    }

    fn copy(&self, from: &dyn backend::Memory, to: &mut dyn backend::Memory, _bytes: usize) -> Result<(), DeviceError> {
        match (from.of_kind::<Memory>(), to.of_kind_mut::<Memory>()) {
            (Some(from), Some(to)) => to.copy_from(from),
            _ => Err(foreign("copy memory")),
        }
    }

    fn staging(self: Arc<Self>) -> Box<dyn backend::Staging> {
        Box::new(Staging::default())
    }

    fn mark(&self) -> Result<Box<dyn backend::Mark>, DeviceError> {
        let event = self.stream.record_event(Some(sys::CUevent_flags::CU_EVENT_DEFAULT));
        Ok(Box::new(Event(event.map_err(driver_error("record an event"))?)))
    }

    fn seconds(&self, from: &dyn backend::Mark, to: &dyn backend::Mark) -> Result<f64, DeviceError> {
        let (Some(from), Some(to)) = (from.of_kind::<Event>(), to.of_kind::<Event>()) else {
            return Err(foreign("measure time"));
        };
        let milliseconds = from.0.elapsed_ms(&to.0).map_err(driver_error("measure time"))?;
        Ok(f64::from(milliseconds) / 1e3)
    }

    fn synchronize(&self) -> Result<(), DeviceError> {
        self.stream.synchronize().map_err(driver_error("run the kernels"))
    }

    fn ordinal(&self) -> Option<usize> {
        Some(Cuda::ordinal(self))
    }

    /// UUID of the GPU, if the driver reports it.
    fn hardware(&self) -> Option<[u8; 16]> {
        Some(self.context.uuid().ok()?.bytes.map(|byte| byte as u8))
    }

    fn concurrency(&self) -> usize {
        use sys::CUdevice_attribute::{
            CU_DEVICE_ATTRIBUTE_MAX_THREADS_PER_MULTIPROCESSOR, CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT,
        };
        let asked = [CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT, CU_DEVICE_ATTRIBUTE_MAX_THREADS_PER_MULTIPROCESSOR];
        asked.map(|what| self.context.attribute(what).map_or(1, |found| found.max(1) as usize)).iter().product()
    }

    fn moving(&self, bytes: usize) -> Result<Option<Box<dyn backend::Entry>>, DeviceError> {
        let module = match self.moving.get() {
            Some(module) => module,
            None => {
                // Other kernels have already reported the notices about the cache.
                let (module, _) = self.load_module(MOVING)?;
                self.moving.get_or_init(|| module)
            }
        };
        backend::Code::kernel(module, &format!("move_{bytes}")).map(Some)
    }

    fn mail(self: Arc<Self>, bytes: usize) -> Result<Option<Box<dyn backend::Mail>>, DeviceError> {
        Ok(Some(Box::new(Mail::new(&self, bytes)?)))
    }

    fn reach(&self, other: &dyn Backend) -> Result<bool, DeviceError> {
        other.of_kind().map_or(Ok(false), |other| self.reach(other))
    }

    fn reaches(&self, other: &dyn Backend) -> bool {
        other.of_kind().is_some_and(|other| self.reaches(other))
    }

    fn wait_for(&self, other: &dyn Backend) -> Result<(), DeviceError> {
        other.of_kind().map_or(Ok(()), |other| self.wait_for(other))
    }

    /// Checks whether arrays can be backed page by page; otherwise returns the reason.
    fn check_pages(&self) -> Result<(), DeviceError> {
        let checked = Pages::check(self);
        // The first result is final.
        let _ = self.has_pages.set(checked.is_ok());
        checked
    }

    /// Whether arrays can be backed page by page, as found by [`Backend::check_pages`].
    fn has_pages(&self) -> bool {
        self.has_pages.get().copied().unwrap_or(false)
    }

    fn release(&self) {
        self.release_put_by();
    }

    fn record(&self, all: &[Device], work: Work<'_>) -> Result<Option<Graph>, DeviceError> {
        match all.iter().map(|device| device.backend.of_kind()).collect::<Option<Vec<&Cuda>>>() {
            None => Ok(None),
            Some(all) => graph::record(&all, work),
        }
    }

    fn begin(&self, accesses: &Accesses) -> Option<usize> {
        self.begin(accesses)
    }

    fn end(&self, begun: usize, accesses: &Accesses) {
        self.end(begun, accesses);
    }
}

impl backend::Mark for Event {}

#[allow(unsafe_code)]
impl backend::Memory for Memory {
    fn address(&self) -> u64 {
        self.address
    }

    fn own(&self) -> Option<Vec<Range<usize>>> {
        match &*self.held {
            Held::Slice { .. } => None,
            Held::Pages(pages) => Some(pages.own()),
        }
    }

    fn back(&mut self, ranges: &[Range<usize>]) -> Result<(), DeviceError> {
        match &*self.held {
            Held::Slice { .. } => Ok(()),
            Held::Pages(pages) => pages.back(&self.cuda, ranges),
        }
    }

    fn back_only(&mut self, ranges: &[Range<usize>]) -> Result<(), DeviceError> {
        match &*self.held {
            Held::Pages(pages) if pages.by_page().is_some() => pages.back_only(&self.cuda, ranges),
            _ => Ok(()),
        }
    }

    fn by_page(&self) -> Option<usize> {
        match &*self.held {
            Held::Slice { .. } => None,
            Held::Pages(pages) => pages.by_page(),
        }
    }

    fn seal(&mut self) -> Result<(), DeviceError> {
        match &*self.held {
            Held::Slice { .. } => Ok(()),
            Held::Pages(pages) => pages.seal(&self.cuda),
        }
    }

    fn write(&mut self, at: usize, bytes: &[u8]) -> Result<(), DeviceError> {
        assert!(at + bytes.len() <= self.bytes, "the buffer checks its ranges");
        self.cuda.bind("write memory")?;
        // SAFETY: the range lies inside the allocation; `bytes` outlives the copy, for which this function waits.
        unsafe { result::memcpy_htod_async(self.address + at as u64, bytes, self.cuda.stream.cu_stream()) }
            .and_then(|()| self.cuda.stream.synchronize())
            .map_err(driver_error("write memory"))
    }

    fn read(&self, at: usize, bytes: &mut [u8]) -> Result<(), DeviceError> {
        assert!(at + bytes.len() <= self.bytes, "the buffer checks its ranges");
        self.cuda.bind("read memory")?;
        // SAFETY: as in `write`; stream order puts the copy after all kernels that write the range.
        unsafe { result::memcpy_dtoh_async(bytes, self.address + at as u64, self.cuda.stream.cu_stream()) }
            .and_then(|()| self.cuda.stream.synchronize())
            .map_err(driver_error("read memory"))
    }

    fn fill(&mut self, range: Range<usize>, byte: u8) -> Result<(), DeviceError> {
        assert!(range.end <= self.bytes, "the buffer checks its ranges");
        self.cuda.bind("fill memory")?;
        let (first, stream) = (self.address + range.start as u64, self.cuda.stream.cu_stream());
        // SAFETY: the range lies inside the allocation.
        unsafe { result::memset_d8_async(first, byte, range.len(), stream) }.map_err(driver_error("fill memory"))
    }
}

#[allow(unsafe_code)]
impl Memory {
    fn copy_from(&mut self, from: &Memory) -> Result<(), DeviceError> {
        assert!(self.bytes <= from.bytes, "the buffer checks lengths");
        if !self.cuda.is(&from.cuda) {
            return Err(DeviceError::Driver {
                device: "the GPU".into(),
                action: "copy memory".into(),
                reason: "the buffers belong to different devices".into(),
            });
        }
        self.cuda.bind("copy memory")?;
        // SAFETY: the target is a whole allocation and the source is at least as large; they are distinct because the
        // target is borrowed exclusively.
        unsafe { result::memcpy_dtod_async(self.address, from.address, self.bytes, self.cuda.stream.cu_stream()) }
            .map_err(driver_error("copy memory"))
    }
}

impl backend::Code for Module {
    fn kernel(&self, symbol: &str) -> Result<Box<dyn backend::Entry>, DeviceError> {
        match self.0.load_function(symbol) {
            Ok(function) => Ok(Box::new(Entry(function))),
            Err(error) if error.0 == sys::CUresult::CUDA_ERROR_NOT_FOUND => {
                Err(DeviceError::MissingKernel { symbol: symbol.to_string() })
            }
            Err(error) => Err(driver_error("find a kernel")(error)),
        }
    }
}

impl backend::Entry for Entry {
    /// Sets the limit of dynamic shared memory per thread block.
    fn share(&self, symbol: &str, bytes: u32) -> Result<(), DeviceError> {
        let attribute = sys::CUfunction_attribute_enum::CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES;
        self.0
            .set_attribute(attribute, bytes as i32)
            .map_err(|_| DeviceError::Shared { kernel: symbol.to_string(), bytes })
    }
}

#[cfg(all(test, feature = "cuda"))]
mod tests {
    use lbm_bundle::Real;

    use crate::device::{Accesses, Device, DeviceError, Devices, Packing, Place, Route, Shape, Source, Value};

    const TRIPLE: &str = r#"
        extern "C" __global__ void triple(const int *ids, int count, const double *src, double *dst, float factor) {
            int at = blockIdx.x * blockDim.x + threadIdx.x;
            if (at < count) dst[ids[at]] = factor * src[ids[at]];
        }
        extern "C" __global__ void increment(double *dst, int count) {
            int at = blockIdx.x * blockDim.x + threadIdx.x;
            if (at < count) dst[at] += 1;
        }"#;

    fn load(device: &Device) -> crate::device::Module {
        device.load(Source { name: "triple.cu", text: TRIPLE, fuses: true }).unwrap()
    }

    #[test]
    fn a_launch_covers_the_listed_items_with_arguments_of_every_type() {
        let device = Device::cuda(0).unwrap();
        let kernel = load(&device).kernel("triple").unwrap();
        let count = 1001;
        let ids = device.ints(&(0..count).map(|at| (at * 5 % count) as i32).collect::<Vec<_>>()).unwrap();
        let mut src = device.alloc_doubles(count).unwrap();
        src.write_reals(0, &(0..count).map(|at| at as f64).collect::<Vec<_>>()).unwrap();
        let mut dst = device.alloc_doubles(count).unwrap();
        dst.poison().unwrap();
        let shape = Shape { items: count, divisible: true, threads: 128, items_per_group: 128, passes: 1, shared: 0 };
        let args = [
            Value::Part(ids.array(), 0..count),
            Value::Int(count as i32),
            Value::Read(src.array()),
            Value::Write(dst.array_mut()),
            Value::Struct(&[u64::from(3f32.to_bits())]),
        ];
        device.launch(&kernel, shape, &args).unwrap();
        let expected: Vec<f64> = (0..count).map(|at| 3.0 * at as f64).collect();
        assert_eq!(dst.read_reals(0..count).unwrap(), expected);
    }

    #[test]
    fn recorded_launches_run_only_when_repeated_and_outlive_their_buffers() {
        let device = Device::cuda(0).unwrap();
        let kernel = load(&device).kernel("increment").unwrap();
        let mut dst = device.alloc_doubles(10).unwrap();
        let shape = Shape { items: 10, divisible: false, threads: 32, items_per_group: 32, passes: 1, shared: 0 };
        let graph = device
            .record(|| {
                let accesses = Accesses { writes: vec![Place(0)], ..Accesses::default() };
                device.accessing(&accesses, || {
                    device.launch(&kernel, shape, &[Value::Write(dst.array_mut()), Value::Int(10)])
                })
            })
            .unwrap()
            .expect("one launch was recorded");
        assert_eq!(dst.read_reals(0..10).unwrap(), [0.0; 10]);
        (0..3).for_each(|_| graph.launch().unwrap());
        assert_eq!(dst.read_reals(0..10).unwrap(), [3.0; 10]);
        drop(dst);
        graph.launch().unwrap();
        device.synchronize().unwrap();
    }

    /// Two streams of one GPU behave like two GPUs with peer access.
    #[test]
    fn values_go_to_the_same_places_of_an_array_of_another_device_at_once_or_recorded() {
        let (here, there) = (Device::cuda(0).unwrap(), Device::cuda(0).unwrap());
        let devices = Devices::new([&here, &there]);
        assert!(devices.connect().unwrap().is_empty());
        let mut packing = Packing::new(vec![vec![0..3, 5..6], vec![0..8]]);
        (0..50).for_each(|at| packing.push(16 * at, at % 2));
        for real in [Real::F16F32, Real::F32, Real::F64] {
            let mut from = here.alloc_stored(real, 800).unwrap();
            from.write_reals(0, &(0..800).map(|at| f64::from(at) / 1024.0).collect::<Vec<_>>()).unwrap();
            let route = Route::new(&here, &there, &packing, from.value_bytes()).unwrap();
            assert!(route.is_direct());
            let bytes = from.pack(&packing).unwrap();
            let mut expected = there.alloc_stored(real, 800).unwrap();
            expected.unpack(&packing, &bytes).unwrap();
            assert_eq!(bytes.len(), packing.values() * from.value_bytes());
            let mut to = there.alloc_stored(real, 800).unwrap();
            devices.meet().unwrap();
            route.send(&packing, &from, &mut to).unwrap();
            devices.meet().unwrap();
            assert_eq!(to.read_reals(0..800).unwrap(), expected.read_reals(0..800).unwrap());
            to.write_reals(0, &[0.0; 800]).unwrap();
            let accesses = Accesses { reads: vec![Place(0)], writes: vec![Place(1)], ahead: true };
            let graph = devices.record(|| here.accessing(&accesses, || route.send(&packing, &from, &mut to)));
            graph.unwrap().expect("a launch was recorded").launch().unwrap();
            assert_eq!(to.read_reals(0..800).unwrap(), expected.read_reals(0..800).unwrap());
            let host = expected.read_reals(0..800).unwrap();
            assert_eq!((host[16], host[2], host[3], host[5]), (1.0 / 64.0, 2.0 / 1024.0, 0.0, 5.0 / 1024.0));
        }
    }

    #[test]
    fn memory_comes_and_goes_and_what_is_needed_stays() {
        let device = Device::cuda(0).unwrap();
        assert!(Devices::new([&device]).share_memory().unwrap());
        const PART: usize = 1 << 20;
        let part = |number: usize| number * PART..(number + 1) * PART;
        let mut array = device.sparse_for_now(64).alloc_doubles(16 * PART).unwrap();
        array.back([part(0), part(2)].into_iter()).unwrap();
        array.seal().unwrap();
        assert_eq!((array.own_bytes(), array.read_reals(part(2)).unwrap()), (16 * PART, vec![0.0; PART]));
        array.write_reals(part(0).end - 1, &[1.5]).unwrap();
        array.back([part(15)].into_iter()).unwrap();
        array.write_reals(part(15).start, &[2.5]).unwrap();
        array.back_only([part(0), part(7), part(15)].into_iter()).unwrap();
        array.write_reals(part(7).start, &vec![3.5; PART]).unwrap();
        assert_eq!(array.own_bytes(), 24 * PART);
        assert_eq!(array.read_reals(part(0).end - 1..part(0).end).unwrap(), [1.5]);
        assert_eq!(array.read_reals(part(15).start..part(15).start + 1).unwrap(), [2.5]);
        // Unbacked values may still be written and read.
        array.poison().unwrap();
        let like = device.alloc_like(&array).unwrap();
        assert_eq!(like.own_bytes(), array.own_bytes());
        array.back_only([part(7)].into_iter()).unwrap();
        device.release();
        assert_eq!((array.own_bytes(), array.read_reals(part(7)).unwrap()[0].is_nan()), (8 * PART, true));
    }

    #[test]
    fn a_second_load_takes_the_cached_kernels() {
        let device = Device::cuda(0).unwrap();
        let first = load(&device);
        let second = load(&device);
        assert!(first.notices().is_empty() && second.notices().is_empty());
        second.kernel("triple").unwrap();
    }

    #[test]
    fn copies_and_poison_reach_the_gpu() {
        let device = Device::cuda(0).unwrap();
        let mut from = device.alloc_reals(Real::F32, 1000).unwrap();
        from.write_reals(10, &[0.5; 20]).unwrap();
        let mut to = device.alloc_reals(Real::F32, 1000).unwrap();
        to.poison().unwrap();
        assert!(to.read_reals(0..1000).unwrap().iter().all(|value| value.is_nan()));
        device.copy(&from, &mut to).unwrap();
        assert_eq!(to.read_reals(0..1000).unwrap(), from.read_reals(0..1000).unwrap());
    }

    #[test]
    fn errors_say_what_is_wrong() {
        let device = Device::cuda(0).unwrap();
        let refused =
            device.load(Source { name: "broken.cu", text: "int broken( {", fuses: true }).err().expect("not CUDA");
        assert!(refused.to_string().contains("broken.cu"), "{refused}");
        let missing = load(&device).kernel("quadruple").err().expect("no such kernel");
        assert!(matches!(missing, DeviceError::MissingKernel { symbol } if symbol == "quadruple"));
        let large = device.alloc_doubles(1 << 44).expect_err("128 TiB");
        assert!(matches!(large, DeviceError::Memory { .. }), "{large}");
    }

    #[test]
    fn marks_measure_the_time_between_them() {
        let device = Device::cuda(0).unwrap();
        let from = device.alloc_doubles(1 << 24).unwrap();
        let mut to = device.alloc_doubles(1 << 24).unwrap();
        let start = device.mark().unwrap();
        device.copy(&from, &mut to).unwrap();
        let end = device.mark().unwrap();
        let seconds = device.seconds(&start, &end).unwrap();
        assert!(seconds > 1e-6 && seconds < 1.0, "{seconds}");
    }
}
