//! A GPU of AMD as a device: the HIP runtime, and kernels compiled by hiprtc.
//!
//! All work of a GPU runs on one stream of our own, in order. There are no graphs, no access of GPUs to each other's
//! memory and no paged memory: each GPU has memory for whole arrays, and what crosses between GPUs goes through the
//! host. Copies to the host are complete when they return.
//!
//! The kernels are written for waves of 64 lanes; GPUs with waves of 32 are refused.

mod api;
mod compile;

use std::ffi::{CStr, CString, c_int, c_uint, c_void};
use std::ops::Range;
use std::ptr::null_mut;
use std::sync::{Arc, OnceLock};

use lbm_bundle::Target;

use super::array::Array;
use super::backend::{self, Backend, Gpus};
use super::error::DeviceError;
use super::host::cell;
use super::moving::MOVING;
use super::{Shape, Source, Takes, Toolchain, Value};
use api::{Api, api};

/// GPUs of AMD.
pub(super) const GPUS: Gpus = Gpus { target: Target::Hip, count, open: |ordinal| Ok(Arc::new(Hip::new(ordinal)?)) };

/// Most bytes of the name of a GPU.
const NAME_BYTES: usize = 256;

/// Number of GPUs that the runtime finds.
#[allow(unsafe_code)]
fn count() -> Result<usize, DeviceError> {
    let (api, mut count) = (api()?, 0);
    // SAFETY: writes an integer.
    match unsafe { (api.runtime.hipGetDeviceCount)(&mut count) } {
        0 if count > 0 => Ok(count as usize),
        0 => Err(DeviceError::NoGpu { reason: "the HIP runtime finds no GPU".into() }),
        error => Err(unusable(api, error)),
    }
}

fn unusable(api: &Api, error: api::Status) -> DeviceError {
    DeviceError::NoGpu { reason: format!("the HIP runtime says: {}", api.words(error)) }
}

/// A GPU with its stream.
struct Hip {
    api: &'static Api,
    ordinal: c_int,
    stream: Handle,
    name: String,
    /// `gfx90a:sramecc+:xnack-`
    architecture: String,
    /// Kernels that copy listed values.
    moving: OnceLock<Module>,
}

/// A pointer that the runtime gave, to something that any thread may use.
struct Handle(*mut c_void);

// SAFETY: functions of the runtime may be called from any thread with the same stream, event, module or memory.
#[allow(unsafe_code)]
unsafe impl Send for Handle {}
#[allow(unsafe_code)]
unsafe impl Sync for Handle {}

#[allow(unsafe_code)]
impl Hip {
    fn new(ordinal: usize) -> Result<Self, DeviceError> {
        let no_gpu = |reason: String| DeviceError::NoGpu { reason };
        let (api, count) = (api()?, count()?);
        if ordinal >= count {
            return Err(no_gpu(format!("GPU {ordinal} asked for, the HIP runtime knows {count}")));
        }
        let ordinal = ordinal as c_int;
        let check = |status: api::Status| if status == 0 { Ok(()) } else { Err(unusable(api, status)) };
        let (mut name, mut stream) = ([0u8; NAME_BYTES], null_mut());
        // SAFETY: the GPU exists; the name is written to a buffer of this size, the stream to a pointer.
        unsafe {
            check((api.runtime.hipSetDevice)(ordinal))?;
            check((api.runtime.hipDeviceGetName)(name.as_mut_ptr().cast(), NAME_BYTES as c_int, ordinal))?;
            check((api.runtime.hipStreamCreateWithFlags)(&mut stream, api::NON_BLOCKING))?;
        }
        let name = CStr::from_bytes_until_nul(&name).map_or("GPU of AMD".into(), |name| name.to_string_lossy());
        let (name, architecture) = (name.into_owned(), api.architecture(ordinal)?);
        let hip = Hip { api, ordinal, stream: Handle(stream), name, architecture, moving: OnceLock::new() };
        let (lanes, needed) = (hip.attribute(api::WARP_SIZE), Target::Hip.lanes());
        if lanes != Some(needed as usize) {
            let lanes = lanes.map_or("unknown size".into(), |lanes| format!("{lanes} lanes"));
            return Err(no_gpu(format!(
                "{} has waves of {lanes}, and kernels are written for {needed}, as GPUs of the Instinct series have",
                hip.describe()
            )));
        }
        Ok(hip)
    }

    /// A property of the GPU, if the runtime knows it.
    fn attribute(&self, attribute: c_int) -> Option<usize> {
        let mut value = 0;
        // SAFETY: writes an integer.
        let status = unsafe { (self.api.runtime.hipDeviceGetAttribute)(&mut value, attribute, self.ordinal) };
        (status == 0).then_some(value.max(0) as usize)
    }

    /// An error if a function of the runtime returned one.
    fn check(&self, status: api::Status, action: &str) -> Result<(), DeviceError> {
        self.api.check(status, action)
    }

    /// Makes this the GPU on which functions of the runtime work that this thread calls.
    fn bind(&self, action: &str) -> Result<(), DeviceError> {
        // SAFETY: the GPU exists.
        self.check(unsafe { (self.api.runtime.hipSetDevice)(self.ordinal) }, action)
    }

    fn load_module(&self, source: Source<'_>) -> Result<(Module, Vec<String>), DeviceError> {
        let (code, notices) = compile::compile(self.api, source, &self.architecture)?;
        self.bind("load the compiled kernels")?;
        let mut module = null_mut();
        // SAFETY: a code object as hiprtc made it, which exists as long as the module.
        let status = unsafe { (self.api.runtime.hipModuleLoadData)(&mut module, code.as_ptr().cast()) };
        self.check(status, "load the compiled kernels")?;
        let shared = self.attribute(api::MAX_SHARED_MEMORY_PER_BLOCK);
        Ok((Module(Arc::new(Loaded { api: self.api, module: Handle(module), shared, _code: code })), notices))
    }

    fn run(&self, symbol: &str, entry: &Entry, shape: Shape, args: &[Value<'_>]) -> Result<(), DeviceError> {
        let failed = |reason: String| DeviceError::Launch { kernel: symbol.to_string(), reason };
        let address = |array: &Array, start: usize| match array.memory.of_kind::<Memory>() {
            Some(memory) if std::ptr::eq(self, &*memory.hip) => Ok(array.address() + array.offset(start)),
            _ => Err(failed("an array belongs to another device".into())),
        };
        // Structs are passed in place; every other argument is copied into an 8-byte cell.
        let mut cells = Vec::with_capacity(args.len());
        for arg in args {
            cells.push(match arg {
                Value::Int(value) => cell(&value.to_ne_bytes()),
                Value::Struct(_) => 0,
                Value::Read(array) => address(array, 0)?,
                Value::Slice(array, range) => address(array, range.start)?,
                Value::Write(array) => address(array, 0)?,
                Value::WriteFrom(array, start) => address(array, *start)?,
                Value::Peer(_) => return Err(failed("an array belongs to another device".into())),
            });
        }
        let pointer = |(arg, cell): (&Value<'_>, &u64)| match arg {
            Value::Struct(words) => words.as_ptr().cast_mut().cast::<c_void>(),
            _ => std::ptr::from_ref(cell).cast_mut().cast(),
        };
        let mut pointers: Vec<*mut c_void> = args.iter().zip(&cells).map(pointer).collect();
        let groups = shape.items.div_ceil(shape.items_per_group.max(1) as usize) as c_uint;
        self.bind("launch a kernel")?;
        // SAFETY: the arguments match the table against which the manifest was checked when its source was loaded. Each
        // pointer leads to a value with as many bytes as the parameter has, which the runtime copies. Freeing memory
        // waits for the kernels that use it. Bundles are trusted to have code that matches its signature.
        let status = unsafe {
            (self.api.runtime.hipModuleLaunchKernel)(
                entry.function.0,
                groups,
                shape.passes.max(1),
                1,
                shape.threads,
                1,
                1,
                shape.shared,
                self.stream.0,
                pointers.as_mut_ptr(),
                null_mut(),
            )
        };
        if status == 0 { Ok(()) } else { Err(failed(self.api.words(status))) }
    }

    /// Copies bytes in the order of the stream.
    ///
    /// # Safety
    /// Both ranges must lie inside their allocations until the copy is complete.
    unsafe fn copy_bytes(&self, to: u64, from: u64, bytes: usize, way: c_int) -> Result<(), DeviceError> {
        self.bind("copy memory")?;
        let (to, from) = (to as usize as *mut c_void, from as usize as *const c_void);
        // SAFETY: as the caller says.
        let status = unsafe { (self.api.runtime.hipMemcpyAsync)(to, from, bytes, way, self.stream.0) };
        self.check(status, "copy memory")
    }

    /// The error that something belongs to another device.
    fn foreign(&self, action: &str) -> DeviceError {
        let reason = "it belongs to another device".into();
        DeviceError::Driver { device: self.describe(), action: action.into(), reason }
    }
}

#[allow(unsafe_code)]
impl Drop for Hip {
    fn drop(&mut self) {
        // SAFETY: created in `new`; all that works on it keeps this value alive. An error cannot be reported here.
        let _ = unsafe { (self.api.runtime.hipStreamDestroy)(self.stream.0) };
    }
}

#[allow(unsafe_code)]
impl Backend for Hip {
    fn target(&self) -> Target {
        Target::Hip
    }

    fn dlpack(&self) -> i32 {
        10
    }

    fn describe(&self) -> String {
        format!("{} ({})", self.name, self.architecture)
    }

    fn toolchain(&self) -> Result<Toolchain, DeviceError> {
        Ok(compile::toolchain(self.api, &self.architecture))
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
            None => Err(self.foreign("launch a kernel")),
        }
    }

    fn memory_available(&self) -> Option<usize> {
        self.bind("tell its memory").ok()?;
        let (mut free, mut total) = (0, 0);
        // SAFETY: writes two integers.
        let status = unsafe { (self.api.runtime.hipMemGetInfo)(&mut free, &mut total) };
        (status == 0).then_some(free)
    }

    fn alloc(self: Arc<Self>, bytes: usize, _takes: Takes) -> Result<Box<dyn backend::Memory>, DeviceError> {
        self.bind("allocate memory")?;
        let mut start = null_mut();
        // SAFETY: writes a pointer; the size is not zero.
        match unsafe { (self.api.runtime.hipMalloc)(&mut start, bytes.max(1)) } {
            0 => {}
            api::OUT_OF_MEMORY => return Err((&*self as &dyn Backend).out_of_memory(bytes)),
            error => self.check(error, "allocate memory")?,
        }
        let mut memory = Memory { start: Handle(start), bytes, hip: self };
        backend::Memory::fill(&mut memory, 0..bytes, 0)?;
        Ok(Box::new(memory))
    }

    fn copy(&self, from: &dyn backend::Memory, to: &mut dyn backend::Memory, bytes: usize) -> Result<(), DeviceError> {
        match (from.of_kind::<Memory>(), to.of_kind_mut::<Memory>()) {
            (Some(from), Some(to)) if std::ptr::eq(self, &*from.hip) && std::ptr::eq(self, &*to.hip) => {
                assert!(bytes <= from.bytes && bytes <= to.bytes, "the buffer checks lengths");
                // SAFETY: both allocations have this many bytes; they are distinct, because one is borrowed exclusively.
                unsafe {
                    self.copy_bytes(backend::Memory::address(to), backend::Memory::address(from), bytes, api::ON_DEVICE)
                }
            }
            _ => Err(self.foreign("copy memory")),
        }
    }

    fn staging(self: Arc<Self>) -> Box<dyn backend::Staging> {
        Box::new(Staging::default())
    }

    fn event(&self) -> Result<Box<dyn backend::Event>, DeviceError> {
        self.bind("record an event")?;
        let mut event = null_mut();
        // SAFETY: writes a pointer to an event of the bound GPU, which is recorded on its stream.
        unsafe {
            self.check((self.api.runtime.hipEventCreate)(&mut event), "create an event")?;
            let event = Event { api: self.api, event: Handle(event) };
            self.check((self.api.runtime.hipEventRecord)(event.event.0, self.stream.0), "record an event")?;
            Ok(Box::new(event))
        }
    }

    fn seconds(&self, from: &dyn backend::Event, to: &dyn backend::Event) -> Result<f64, DeviceError> {
        let (Some(from), Some(to)) = (from.of_kind::<Event>(), to.of_kind::<Event>()) else {
            return Err(self.foreign("measure time"));
        };
        self.bind("measure time")?;
        let mut milliseconds = 0.0;
        // SAFETY: both events are alive and recorded; the time is written to a number.
        unsafe {
            self.check((self.api.runtime.hipEventSynchronize)(to.event.0), "run the kernels")?;
            let status = (self.api.runtime.hipEventElapsedTime)(&mut milliseconds, from.event.0, to.event.0);
            self.check(status, "measure time")?;
        }
        Ok(f64::from(milliseconds) / 1e3)
    }

    fn synchronize(&self) -> Result<(), DeviceError> {
        self.bind("run the kernels")?;
        // SAFETY: the stream is alive.
        self.check(unsafe { (self.api.runtime.hipStreamSynchronize)(self.stream.0) }, "run the kernels")
    }

    fn ordinal(&self) -> Option<usize> {
        Some(self.ordinal as usize)
    }

    fn hardware(&self) -> Option<[u8; 16]> {
        let mut uuid = [0; 16];
        // SAFETY: the GPU exists; its identifier has this many bytes.
        let status = unsafe { (self.api.runtime.hipDeviceGetUuid)(&mut uuid, self.ordinal) };
        (status == 0).then(|| uuid.map(|byte| byte as u8))
    }

    fn concurrency(&self) -> usize {
        let asked = [api::MULTIPROCESSOR_COUNT, api::MAX_THREADS_PER_MULTIPROCESSOR];
        asked.map(|what| self.attribute(what).map_or(1, |found| found.max(1))).iter().product()
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

    fn check_pages(&self) -> Result<(), DeviceError> {
        let reason = "lbmc does so on GPUs of NVIDIA only".into();
        Err(DeviceError::Driver { device: self.describe(), action: "map memory page by page".into(), reason })
    }
}

/// An allocation on the GPU.
struct Memory {
    start: Handle,
    bytes: usize,
    hip: Arc<Hip>,
}

#[allow(unsafe_code)]
impl backend::Memory for Memory {
    fn address(&self) -> u64 {
        self.start.0 as usize as u64
    }

    fn write(&mut self, at: usize, bytes: &[u8]) -> Result<(), DeviceError> {
        assert!(at + bytes.len() <= self.bytes, "the buffer checks its ranges");
        let (to, from) = (self.address() + at as u64, bytes.as_ptr() as usize as u64);
        // SAFETY: the range lies inside the allocation; `bytes` outlives the copy, for which this function waits.
        unsafe { self.hip.copy_bytes(to, from, bytes.len(), api::TO_DEVICE)? };
        self.hip.synchronize()
    }

    fn read(&self, at: usize, bytes: &mut [u8]) -> Result<(), DeviceError> {
        assert!(at + bytes.len() <= self.bytes, "the buffer checks its ranges");
        let (to, from) = (bytes.as_mut_ptr() as usize as u64, self.address() + at as u64);
        // SAFETY: as in `write`; the copy comes after all kernels that write the range.
        unsafe { self.hip.copy_bytes(to, from, bytes.len(), api::TO_HOST)? };
        self.hip.synchronize()
    }

    fn fill(&mut self, range: Range<usize>, byte: u8) -> Result<(), DeviceError> {
        assert!(range.end <= self.bytes, "the buffer checks its ranges");
        self.hip.bind("fill memory")?;
        let first = (self.address() + range.start as u64) as usize as *mut c_void;
        let fill = self.hip.api.runtime.hipMemsetAsync;
        // SAFETY: the range lies inside the allocation.
        let status = unsafe { fill(first, c_int::from(byte), range.len(), self.hip.stream.0) };
        self.hip.check(status, "fill memory")
    }
}

#[allow(unsafe_code)]
impl Drop for Memory {
    fn drop(&mut self) {
        if self.hip.bind("free memory").is_ok() {
            // Kernels may still use the memory.
            let _ = self.hip.synchronize();
            // SAFETY: allocated in `alloc`, and no work uses it any more. On an error the memory leaks.
            let _ = unsafe { (self.hip.api.runtime.hipFree)(self.start.0) };
        }
    }
}

/// An event in the stream.
struct Event {
    api: &'static Api,
    event: Handle,
}

impl backend::Event for Event {}

#[allow(unsafe_code)]
impl Drop for Event {
    fn drop(&mut self) {
        // SAFETY: created in `event`. An error cannot be reported here.
        let _ = unsafe { (self.api.runtime.hipEventDestroy)(self.event.0) };
    }
}

/// Loaded kernels.
struct Module(Arc<Loaded>);

struct Loaded {
    api: &'static Api,
    module: Handle,
    /// Bytes of shared memory that a thread block may have, if the runtime knows it.
    shared: Option<usize>,
    /// The code object, which the runtime does not copy.
    _code: Vec<u8>,
}

#[allow(unsafe_code)]
impl Drop for Loaded {
    fn drop(&mut self) {
        // SAFETY: loaded in `load_module`; its kernels keep it alive. An error cannot be reported here.
        let _ = unsafe { (self.api.runtime.hipModuleUnload)(self.module.0) };
    }
}

/// A kernel, which keeps its module loaded.
struct Entry {
    function: Handle,
    module: Arc<Loaded>,
}

impl backend::Code for Module {
    #[allow(unsafe_code)]
    fn kernel(&self, symbol: &str) -> Result<Box<dyn backend::Entry>, DeviceError> {
        let missing = || DeviceError::MissingKernel { symbol: symbol.to_string() };
        let name = CString::new(symbol).map_err(|_| missing())?;
        let mut function = null_mut();
        // SAFETY: the module is loaded; the name ends with zero, and the function is written to a pointer.
        match unsafe { (self.0.api.runtime.hipModuleGetFunction)(&mut function, self.0.module.0, name.as_ptr()) } {
            api::NOT_FOUND => Err(missing()),
            status => {
                self.0.api.check(status, "find a kernel")?;
                Ok(Box::new(Entry { function: Handle(function), module: self.0.clone() }))
            }
        }
    }
}

impl backend::Entry for Entry {
    /// All memory that thread blocks may share is available without being asked for.
    fn share(&self, symbol: &str, bytes: u32) -> Result<(), DeviceError> {
        match self.module.shared {
            Some(most) if (bytes as usize) > most => Err(DeviceError::Shared { kernel: symbol.to_string(), bytes }),
            _ => Ok(()),
        }
    }
}

/// Memory of the host for copies, which are complete when they return.
#[derive(Default)]
struct Staging(Vec<u8>);

impl backend::Staging for Staging {
    fn copy(&mut self, parts: &[(&Array, Range<usize>)]) -> Result<(), DeviceError> {
        self.0.resize(parts.iter().map(|(array, range)| array.bytes_in(range).len()).sum(), 0);
        let mut rest = &mut self.0[..];
        for (array, range) in parts {
            let bytes = array.bytes_in(range);
            let (to, later) = rest.split_at_mut(bytes.len());
            array.memory.read(bytes.start, to)?;
            rest = later;
        }
        Ok(())
    }

    fn bytes(&self) -> Result<&[u8], DeviceError> {
        Ok(&self.0)
    }
}
