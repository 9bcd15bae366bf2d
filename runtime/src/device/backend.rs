//! What a kind of devices provides. Each kind implements these traits in a folder of its own; the modules beside it use
//! devices through these traits alone.
//!
//! What only some devices have is optional: peer access, graphs, paged memory, mail. A method with a default stands for
//! such a thing, and its default says what a device without it does.
//!
//! Arrays and kernels of one kind are recognised by their type (`Any`): a launch refuses those of another device.

use std::any::Any;
use std::ops::Range;
use std::sync::Arc;

use lbm_bundle::Target;

use super::array::Array;
use super::error::DeviceError;
use super::order::Accesses;
use super::{Device, Graph, Shape, Source, Takes, Toolchain, Value};

/// A kind of GPUs: a row of [`super::GPUS`].
pub(super) struct Gpus {
    /// The target for which bundles must be compiled.
    pub target: Target,
    /// Number of GPUs of this kind.
    pub count: fn() -> Result<usize, DeviceError>,
    /// The GPU with this number.
    pub open: fn(usize) -> Result<Arc<dyn Backend>, DeviceError>,
}

/// A device.
pub(super) trait Backend: Any + Send + Sync {
    /// The target for which bundles must be compiled.
    fn target(&self) -> Target;

    /// The number that DLPack has for memory of this kind (`DLDeviceType`).
    fn dlpack(&self) -> i32;

    /// Name for messages.
    fn describe(&self) -> String;

    /// Everything besides its text that determines the machine code of a source.
    fn toolchain(&self) -> Result<Toolchain, DeviceError>;

    /// Compiles and loads a source, or loads its kernels from the cache; with notices for the user.
    fn load(&self, source: Source<'_>) -> Result<(Box<dyn Code>, Vec<String>), DeviceError>;

    /// Runs a kernel with this symbol.
    fn launch(&self, symbol: &str, entry: &dyn Entry, shape: Shape, args: &[Value<'_>]) -> Result<(), DeviceError>;

    /// Bytes that can still be allocated, if known.
    fn memory_available(&self) -> Option<usize>;

    /// Allocates zero-initialised memory.
    fn alloc(self: Arc<Self>, bytes: usize, takes: Takes) -> Result<Box<dyn Memory>, DeviceError>;

    /// Allocates zero-initialised memory of `bytes` bytes, the size of `_other`, with the same mapped pages.
    fn alloc_like(
        self: Arc<Self>,
        bytes: usize,
        _other: &dyn Memory,
        takes: Takes,
    ) -> Result<Box<dyn Memory>, DeviceError> {
        self.alloc(bytes, takes)
    }

    /// Copies the first `bytes` bytes of `from` to `to`, which has as many.
    fn copy(&self, from: &dyn Memory, to: &mut dyn Memory, bytes: usize) -> Result<(), DeviceError>;

    /// A buffer for asynchronous copies to the host.
    fn staging(self: Arc<Self>) -> Box<dyn Staging>;

    /// A timing event in the stream.
    fn event(&self) -> Result<Box<dyn Event>, DeviceError>;

    /// Seconds between two events. Blocks until the later one is reached.
    fn seconds(&self, from: &dyn Event, to: &dyn Event) -> Result<f64, DeviceError>;

    /// Blocks until all launches have completed. By default a launch is complete when it returns.
    fn synchronize(&self) -> Result<(), DeviceError> {
        Ok(())
    }

    /// Number of the GPU; `None` for the host.
    fn ordinal(&self) -> Option<usize> {
        None
    }

    /// Unique identifier of the GPU, independent of its number, if it is known.
    fn hardware(&self) -> Option<[u8; 16]> {
        None
    }

    /// Number of threads of a kernel that can be resident at the same time; 1 on the host.
    fn concurrency(&self) -> usize {
        1
    }

    /// The threads that run kernels, on the host.
    fn threads(&self) -> Option<&rayon::ThreadPool> {
        None
    }

    /// Whether kernels loaded on `_other`, another device, can be launched on arrays of this one.
    fn runs_kernels_of(&self, _other: &dyn Backend) -> bool {
        false
    }

    /// The kernel that moves values of `_bytes` bytes ([`super::moving::MOVING`]); `None` on the host.
    fn moving(&self, _bytes: usize) -> Result<Option<Box<dyn Entry>>, DeviceError> {
        Ok(None)
    }

    /// Pinned memory for packed values that go to and come from other processes. Without it, values are packed and
    /// unpacked when the host asks for them.
    fn mail(self: Arc<Self>, _bytes: usize) -> Result<Option<Box<dyn Mail>>, DeviceError> {
        Ok(None)
    }

    /// Zero-initialised memory that devices of other processes on this host may open; `None` without such memory.
    fn share(self: Arc<Self>, _bytes: usize) -> Result<Option<Shared>, DeviceError> {
        Ok(None)
    }

    /// Opens memory that a device of another process [shares](Self::share).
    fn open_shared(self: Arc<Self>, _handle: &[u8], _bytes: usize) -> Result<Box<dyn Memory>, DeviceError> {
        Err(self.shares_none())
    }

    /// The error that devices of this kind share no memory with other processes.
    fn shares_none(&self) -> DeviceError {
        DeviceError::Driver {
            device: self.describe(),
            action: "share memory with other processes".into(),
            reason: "this kind of devices does not".into(),
        }
    }

    /// The kernels that signal to a device of another process and wait for its signals.
    fn signals(&self) -> Result<[Box<dyn Entry>; 2], DeviceError> {
        Err(self.shares_none())
    }

    /// Enables access of kernels to the memory of another device; `false` if that is not possible.
    fn reach(&self, _other: &dyn Backend) -> Result<bool, DeviceError> {
        Ok(false)
    }

    /// Whether kernels may access the memory of `_other`.
    fn reaches(&self, _other: &dyn Backend) -> bool {
        false
    }

    /// Makes later work wait for all earlier work of `_other`.
    fn wait_for(&self, _other: &dyn Backend) -> Result<(), DeviceError> {
        Ok(())
    }

    /// Checks whether arrays can have memory only where needed; otherwise returns the reason.
    fn check_pages(&self) -> Result<(), DeviceError> {
        Ok(())
    }

    /// Whether arrays can have memory only where needed.
    fn has_pages(&self) -> bool {
        false
    }

    /// Returns memory to the driver that is retained for reuse.
    fn release(&self) {}

    /// Marks the end of all work so far, for [`Self::begin_beside`].
    fn mark(&self) -> Result<(), DeviceError> {
        Ok(())
    }

    /// From now on writes that are [enqueued](Memory::enqueue) and replays wait for what was launched before the last mark alone.
    fn begin_beside(&self) -> Result<(), DeviceError> {
        Ok(())
    }

    /// No longer; later work waits for them.
    fn end_beside(&self) -> Result<(), DeviceError> {
        Ok(())
    }

    /// Captures the launches that `_work` makes on these devices, of which this is one. `None` if there are none, or
    /// where launches cannot be captured; `_work` is not called then.
    fn record(&self, _all: &[Device], _work: Work<'_>) -> Result<Option<Graph>, DeviceError> {
        Ok(None)
    }

    /// Whether launches are captured.
    fn is_recording(&self) -> bool {
        false
    }

    /// In a capture, begins launches that access only these places; returns where they begin.
    fn begin(&self, _accesses: &Accesses) -> usize {
        0
    }

    /// Ends the launches that [began](Self::begin) there.
    fn end(&self, _begun: usize, _accesses: &Accesses) {}
}

/// Memory, and the handle by which other processes open it.
pub(super) type Shared = (Box<dyn Memory>, Vec<u8>);

/// Work whose launches are captured.
pub(super) type Work<'a> = Box<dyn FnOnce() -> Result<(), DeviceError> + 'a>;

impl dyn Backend {
    /// This device, if it is of that kind.
    pub(super) fn of_kind<T: Backend>(&self) -> Option<&T> {
        (self as &dyn Any).downcast_ref()
    }

    /// The error for a failed allocation of `asked` bytes.
    pub(super) fn out_of_memory(&self, asked: usize) -> DeviceError {
        DeviceError::Memory { device: self.describe(), asked, available: self.memory_available() }
    }
}

/// The memory of an array.
pub(super) trait Memory: Any + Send + Sync {
    /// Address of the first byte.
    fn address(&self) -> u64;

    /// The bytes, if they lie in the memory of the host.
    fn on_host(&self) -> Option<&[u8]> {
        None
    }

    /// The bytes, writable, if they lie in the memory of the host.
    fn on_host_mut(&mut self) -> Option<&mut [u8]> {
        None
    }

    /// Writes bytes from `at` on.
    fn write(&mut self, at: usize, bytes: &[u8]) -> Result<(), DeviceError>;

    /// Writes bytes from `at` on, after all launches so far and before all that follow on this device. The host need not wait for it.
    fn enqueue(&mut self, at: usize, bytes: &[u8]) -> Result<(), DeviceError> {
        self.write(at, bytes)
    }

    /// Reads bytes from `at` on, after all launches so far.
    fn read(&self, at: usize, bytes: &mut [u8]) -> Result<(), DeviceError>;

    /// Sets all bytes in a range.
    fn fill(&mut self, range: Range<usize>, byte: u8) -> Result<(), DeviceError>;

    /// Byte ranges with mapped memory of their own; `None` if that is the whole allocation.
    fn own(&self) -> Option<Vec<Range<usize>>> {
        None
    }

    /// Number of pages, if pages can be mapped and released.
    fn by_page(&self) -> Option<usize> {
        None
    }

    /// Maps zero-initialised memory for byte ranges that have none.
    fn back(&mut self, _ranges: &[Range<usize>]) -> Result<(), DeviceError> {
        Ok(())
    }

    /// Maps memory for these byte ranges and releases all other pages, if pages can be mapped and released.
    fn back_only(&mut self, _ranges: &[Range<usize>]) -> Result<(), DeviceError> {
        Ok(())
    }

    /// Makes unbacked addresses accessible. Their contents are undefined.
    fn seal(&mut self) -> Result<(), DeviceError> {
        Ok(())
    }
}

impl dyn Memory {
    /// This memory, if it is of that kind.
    pub(super) fn of_kind<T: Memory>(&self) -> Option<&T> {
        (self as &dyn Any).downcast_ref()
    }

    /// This memory, writable, if it is of that kind.
    pub(super) fn of_kind_mut<T: Memory>(&mut self) -> Option<&mut T> {
        (self as &mut dyn Any).downcast_mut()
    }
}

/// Loaded kernels.
pub(super) trait Code: Send + Sync {
    /// The kernel with this symbol, which keeps its module loaded.
    fn kernel(&self, symbol: &str) -> Result<Box<dyn Entry>, DeviceError>;
}

/// A kernel.
pub(super) trait Entry: Any + Send + Sync {
    /// Sets the names of the arguments for messages.
    fn name_arguments(&mut self, _names: Vec<String>) {}

    /// Sets the bytes of shared memory per thread block; an error if the GPU does not have as much.
    fn share(&self, _symbol: &str, _bytes: u32) -> Result<(), DeviceError> {
        Ok(())
    }
}

impl dyn Entry {
    /// This kernel, if it is of that kind.
    pub(super) fn of_kind<T: Entry>(&self) -> Option<&T> {
        (self as &dyn Any).downcast_ref()
    }
}

/// A timing event.
pub(super) trait Event: Any + Send + Sync {}

impl dyn Event {
    /// This event, if it is of that kind.
    pub(super) fn of_kind<T: Event>(&self) -> Option<&T> {
        (self as &dyn Any).downcast_ref()
    }
}

/// A buffer for one copy to the host at a time. It grows to the size of its largest copy.
pub(super) trait Staging: Send {
    /// Copies ranges of arrays one after the other, with the values that all launches so far produce.
    fn copy(&mut self, parts: &[(&Array, Range<usize>)]) -> Result<(), DeviceError>;

    /// The copied bytes; blocks until the copy is complete.
    fn bytes(&self) -> Result<&[u8], DeviceError>;
}

/// Host memory for packed values on a GPU, to and from which they are copied concurrently with kernels.
pub(super) trait Mail: Send {
    /// Makes later kernels wait for the last copy.
    fn await_copy(&self) -> Result<(), DeviceError>;

    /// Copies the packed values to the host, concurrently with later kernels.
    fn fetch(&mut self, packed: &dyn Memory) -> Result<(), DeviceError>;

    /// Copies the bytes on the host to the GPU, where later kernels unpack them.
    fn bring(&mut self, packed: &mut dyn Memory) -> Result<(), DeviceError>;

    /// Records that the unpacking kernel has been launched.
    fn unpacked(&mut self) -> Result<(), DeviceError>;

    /// The bytes on the host; blocks until the last copy is complete.
    fn bytes(&self) -> Result<&[u8], DeviceError>;

    /// The bytes on the host, writable; blocks until the last copy is complete.
    fn room(&mut self) -> Result<&mut [u8], DeviceError>;
}

/// Captured launches.
pub(super) trait Replay: Send {
    /// Replays them, after all earlier work of their GPUs.
    fn launch(&self) -> Result<(), DeviceError>;
}
