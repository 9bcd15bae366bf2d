//! A GPU of NVIDIA as a device: driver and streams.
//!
//! cudarc loads the driver and NVRTC when they are first used and panics if they are missing. Their presence is
//! therefore checked before anything else ([`Cuda::new`], `compile::nvrtc`). All work of a GPU runs on one stream of
//! our own, except copies to the host ([`Staging`]) and what is launched [aside](Streams), which events order. cudarc's event tracking
//! between streams is disabled. `memory` and `module` are what lies on a GPU, `graph` defines the dependencies inside a [`Graph`], `peers`
//! the access of GPUs to each other's memory and their synchronization, `shared` memory that other processes open,
//! `uploads` writes that the host does not wait for, [`Mail`] the transfer of values to other processes through the
//! host.

mod aside;
mod compile;
mod graph;
mod mail;
mod memory;
mod module;
mod pages;
mod peers;
mod shared;
mod staging;
mod uploads;

use std::collections::{BTreeMap, BTreeSet};
use std::sync::{Arc, Mutex, OnceLock};

use cudarc::driver::{CudaContext, CudaEvent, CudaStream, DriverError, sys};

use lbm_bundle::Target;

use super::backend::{self, Backend, Gpus, Work};
use super::error::DeviceError;
use super::moving::MOVING;
use super::order::Accesses;
use super::{Device, Graph, Shape, Source, Takes, Toolchain, Value};

use aside::Streams;
use graph::Recorder;
use mail::Mail;
use memory::Memory;
use module::Module;
use staging::Staging;
use uploads::Uploads;

/// GPUs of NVIDIA.
pub(super) const GPUS: Gpus =
    Gpus { target: Target::Cuda, count: Cuda::count, open: |ordinal| Ok(Arc::new(Cuda::new(ordinal)?)) };

/// Kernels that signal to GPUs of other processes and wait for them.
pub(super) const SIGNALS: Source<'static> =
    Source { name: "signals.cu", text: include_str!("signals.cu"), fuses: false };

/// A GPU with its streams.
pub(super) struct Cuda {
    context: Arc<CudaContext>,
    stream: Arc<CudaStream>,
    /// This stream and the one aside.
    streams: Arc<Streams>,
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
    /// Memory for writes that the host does not wait for.
    uploads: Mutex<Uploads>,
    /// Kernels that copy listed values (`moving.cu`).
    moving: OnceLock<Module>,
    /// Kernels that wait for GPUs of other processes (`signals.cu`).
    signals: OnceLock<Module>,
}

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
        // `Mail`, work aside by those of `Streams`; GPUs that access each other's memory wait for each other. So there is nothing to track.
        unsafe { context.disable_event_tracking() };
        let stream = context.new_stream().map_err(unusable)?;
        let name = context.name().map_err(unusable)?;
        let (major, minor) = context.compute_capability().map_err(unusable)?;
        let transfer = context.new_stream().map_err(unusable)?;
        Ok(Cuda {
            streams: Arc::new(Streams::new(&context, &stream)?),
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
            uploads: Mutex::default(),
            moving: OnceLock::new(),
            signals: OnceLock::new(),
        })
    }

    /// The module of a source of the runtime, loaded when it is first needed.
    fn loaded<'a>(&self, module: &'a OnceLock<Module>, source: Source<'_>) -> Result<&'a Module, DeviceError> {
        if let Some(module) = module.get() {
            return Ok(module);
        }
        // Other kernels have already reported the notices about the cache.
        let (loaded, _) = self.load_module(source)?;
        Ok(module.get_or_init(|| loaded))
    }

    fn ordinal(&self) -> usize {
        self.context.ordinal()
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

    fn event(&self) -> Result<Box<dyn backend::Event>, DeviceError> {
        let event = self.stream.record_event(Some(sys::CUevent_flags::CU_EVENT_DEFAULT));
        Ok(Box::new(Event(event.map_err(driver_error("record an event"))?)))
    }

    fn seconds(&self, from: &dyn backend::Event, to: &dyn backend::Event) -> Result<f64, DeviceError> {
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
        backend::Code::kernel(self.loaded(&self.moving, MOVING)?, &format!("move_{bytes}")).map(Some)
    }

    fn share(self: Arc<Self>, bytes: usize) -> Result<Option<backend::Shared>, DeviceError> {
        let (memory, handle) = Cuda::share(&self, bytes)?;
        Ok(Some((Box::new(memory), handle)))
    }

    fn open_shared(self: Arc<Self>, handle: &[u8], bytes: usize) -> Result<Box<dyn backend::Memory>, DeviceError> {
        Ok(Box::new(self.open(handle, bytes)?))
    }

    fn signals(&self) -> Result<[Box<dyn backend::Entry>; 2], DeviceError> {
        let module = self.loaded(&self.signals, SIGNALS)?;
        let kernel = |symbol| backend::Code::kernel(module, symbol);
        Ok([kernel("signal")?, kernel("await_signal")?])
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
        let checked = pages::Pages::check(self);
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

    fn mark(&self) -> Result<(), DeviceError> {
        self.streams.mark()
    }

    fn begin_beside(&self) -> Result<(), DeviceError> {
        self.streams.begin()
    }

    fn end_beside(&self) -> Result<(), DeviceError> {
        self.streams.end()
    }

    fn record(&self, all: &[Device], work: Work<'_>) -> Result<Option<Graph>, DeviceError> {
        match all.iter().map(|device| device.backend.of_kind()).collect::<Option<Vec<&Cuda>>>() {
            None => Ok(None),
            Some(all) => graph::record(&all, work),
        }
    }

    fn is_recording(&self) -> bool {
        self.recorder().is_some()
    }

    fn begin(&self, accesses: &Accesses) -> usize {
        self.begin(accesses)
    }

    fn end(&self, begun: usize, accesses: &Accesses) {
        self.end(begun, accesses);
    }
}

impl backend::Event for Event {}

#[cfg(all(test, feature = "cuda"))]
mod tests;
