//! Asynchronous copies from GPUs to the host.
//!
//! ```text
//! kernels    ──▶ arrays ──▶ spare memory ──● kernels may change the arrays
//! transfer                                 └──▶ pinned memory ──● copied
//! host                                                         └──▶ reads
//! ```
//!
//! An array is copied to spare device memory on the stream of the kernels. After an event, the transfer stream copies
//! it from there to pinned host memory and records the event `copied`, for which the reader waits. Neither memory is
//! reused before that event. If the GPU has too little memory for the spare copy, arrays are copied directly to the
//! host, and later kernels wait for `copied`.

use std::ops::Range;
use std::ptr::NonNull;
use std::sync::Arc;
use std::time::{Duration, Instant};

use cudarc::driver::{CudaContext, CudaEvent, result, sys};

use super::memory::Memory;
use super::{Cuda, driver_error};
use crate::device::DeviceError;
use crate::device::array::Array;
use crate::device::backend::{self, Backend};

/// Spare memory takes at most the available memory of the GPU divided by this number; the rest is for grids that grow.
const SHARE_FOR_SPARE: usize = 4;

/// How long a reader asks whether its copy has arrived before it sleeps: some numbers that a step needs come within that.
const SOON: Duration = Duration::from_micros(200);

/// Memory for one copy at a time, of arrays of one or several GPUs.
#[derive(Default)]
pub(super) struct Staging {
    pinned: Option<Pinned>,
    /// One for each GPU that has taken part in a copy.
    lanes: Vec<Lane>,
    /// Bytes of the current copy.
    bytes: usize,
}

/// Resources of one GPU for its section of a copy.
struct Lane {
    cuda: Arc<Cuda>,
    spare: Option<Memory>,
    /// Event: the data of this GPU have arrived on the host.
    copied: CudaEvent,
}

/// A contiguous run of bytes: its offset in the spare memory, its offset in the copy, and its length.
type Run = (usize, usize, usize);

/// Pinned (page-locked) host memory.
pub(super) struct Pinned {
    start: NonNull<u8>,
    bytes: usize,
    context: Arc<CudaContext>,
}

// SAFETY: `Pinned` has exclusive ownership of its bytes, like a `Vec<u8>`.
#[allow(unsafe_code)]
unsafe impl Send for Pinned {}

#[allow(unsafe_code)]
impl Pinned {
    /// Allocates zero-initialised pinned memory.
    pub(super) fn new(context: &Arc<CudaContext>, bytes: usize) -> Result<Self, DeviceError> {
        context.bind_to_thread().map_err(driver_error("pin memory of the host"))?;
        // SAFETY: the size is not zero. The memory is portable: all GPUs may copy to it.
        let start =
            unsafe { result::malloc_host(bytes.max(1), sys::CU_MEMHOSTALLOC_PORTABLE) }.map_err(
                |error| match error.0 {
                    sys::CUresult::CUDA_ERROR_OUT_OF_MEMORY => DeviceError::Memory {
                        device: "the host, as memory that the GPU copies to,".into(),
                        asked: bytes,
                        available: crate::device::host_memory(),
                    },
                    _ => driver_error("pin memory of the host")(error),
                },
            )?;
        let start: NonNull<u8> = NonNull::new(start.cast()).ok_or_else(|| DeviceError::Driver {
            device: "the GPU".into(),
            action: "pin memory of the host".into(),
            reason: "the driver gave none".into(),
        })?;
        // SAFETY: the allocation has this many bytes.
        unsafe { start.as_ptr().write_bytes(0, bytes) };
        Ok(Pinned { start, bytes, context: context.clone() })
    }

    pub(super) fn start(&self) -> *mut u8 {
        self.start.as_ptr()
    }

    pub(super) fn bytes(&self) -> usize {
        self.bytes
    }
}

#[allow(unsafe_code)]
impl Drop for Pinned {
    fn drop(&mut self) {
        if self.context.bind_to_thread().is_ok() {
            // SAFETY: allocated in `new`; the owner has waited for the last copy into it. On an error the memory leaks.
            let _ = unsafe { result::free_host(self.start.as_ptr().cast()) };
        }
    }
}

impl Lane {
    fn new(cuda: &Arc<Cuda>) -> Result<Lane, DeviceError> {
        // A blocking event: the waiting thread sleeps, so that its core is free for threads that write output.
        let flags = Some(sys::CUevent_flags::CU_EVENT_BLOCKING_SYNC);
        let copied = cuda.context.new_event(flags).map_err(driver_error("create an event"))?;
        Ok(Lane { cuda: cuda.clone(), spare: None, copied })
    }

    /// Allocates spare memory for a copy if the GPU has room. A buffer that is too small is freed first.
    fn make_room(&mut self, bytes: usize) -> Result<(), DeviceError> {
        let fits = |available: usize| bytes <= available / SHARE_FOR_SPARE;
        if self.spare.as_ref().is_none_or(|spare| spare.bytes < bytes) {
            self.spare = None;
            if self.cuda.memory_available().is_some_and(fits) {
                self.spare = Some(self.cuda.allocate(bytes)?);
            }
        }
        Ok(())
    }

    /// Copies the ranges that lie on this GPU, each to its offset in the copy.
    #[allow(unsafe_code)]
    fn copy(&mut self, pinned: &Pinned, parts: &[(&Memory, Range<usize>, usize)]) -> Result<(), DeviceError> {
        let failed = || driver_error("copy to the host");
        self.make_room(parts.iter().map(|(_, range, _)| range.len()).sum())?;
        self.cuda.bind("copy to the host")?;
        let (stream, transfer) = (&self.cuda.stream, &self.cuda.transfer);
        // SAFETY of all copies below: the ranges lie inside their allocations, which `copy` and `make_room` have made
        // large enough. Nothing accesses the pinned memory until `wait` has seen the event recorded after the copy.
        // Arrays are freed in the order of the kernel stream: after the copies on that stream, and after those on the
        // transfer stream, for which it waits.
        let to_host = |from: u64, at: usize, bytes: usize| {
            let to = unsafe { std::slice::from_raw_parts_mut(pinned.start.as_ptr().add(at).cast(), bytes) };
            unsafe { result::memcpy_dtoh_async::<std::mem::MaybeUninit<u8>>(to, from, transfer.cu_stream()) }
                .map_err(failed())
        };
        match &self.spare {
            Some(spare) => {
                let mut runs: Vec<Run> = vec![];
                let mut before = 0;
                for (memory, range, at) in parts {
                    let (to, from) = (spare.address + before as u64, memory.address + range.start as u64);
                    unsafe { result::memcpy_dtod_async(to, from, range.len(), stream.cu_stream()) }.map_err(failed())?;
                    match runs.last_mut().filter(|(_, first, bytes)| first + bytes == *at) {
                        Some((_, _, bytes)) => *bytes += range.len(),
                        None => runs.push((before, *at, range.len())),
                    }
                    before += range.len();
                }
                transfer.join(stream).map_err(failed())?;
                for (from, at, bytes) in runs {
                    to_host(spare.address + from as u64, at, bytes)?;
                }
                self.copied.record(transfer).map_err(failed())
            }
            None => {
                transfer.join(stream).map_err(failed())?;
                for (memory, range, at) in parts {
                    to_host(memory.address + range.start as u64, *at, range.len())?;
                }
                self.copied.record(transfer).map_err(failed())?;
                stream.wait(&self.copied).map_err(failed())
            }
        }
    }
}

impl backend::Staging for Staging {
    fn copy(&mut self, parts: &[(&Array, Range<usize>)]) -> Result<(), DeviceError> {
        let of_gpu = parts.iter().map(|(array, range)| match array.memory.of_kind::<Memory>() {
            Some(memory) => Ok((memory, array.bytes_in(range))),
            None => Err(array.wrong("as a copy from another device")),
        });
        self.copy_memory(&of_gpu.collect::<Result<Vec<_>, _>>()?)
    }

    #[allow(unsafe_code)]
    fn bytes(&self) -> Result<&[u8], DeviceError> {
        self.wait()?;
        // SAFETY: the copy has filled this many bytes and is complete; the next one needs `self` exclusively.
        let bytes = |pinned: &Pinned| unsafe { std::slice::from_raw_parts(pinned.start.as_ptr(), self.bytes) };
        Ok(self.pinned.as_ref().map_or(&[], bytes))
    }
}

impl Staging {
    /// Copies ranges of memory one after the other, with the contents that all kernels so far produce.
    fn copy_memory(&mut self, parts: &[(&Memory, Range<usize>)]) -> Result<(), DeviceError> {
        self.wait()?;
        self.bytes = parts.iter().map(|(_, range)| range.len()).sum();
        let Some((first, _)) = parts.first() else { return Ok(()) };
        if self.pinned.as_ref().is_none_or(|pinned| pinned.bytes < self.bytes) {
            self.pinned = None;
            self.lanes.iter_mut().for_each(|lane| lane.spare = None);
            self.pinned = Some(Pinned::new(&first.cuda.context, self.bytes)?);
        }
        let Some(pinned) = &self.pinned else { return Ok(()) };
        for (memory, range) in parts {
            assert!(range.end <= memory.bytes, "the array checks its ranges");
            if !self.lanes.iter().any(|lane| lane.cuda.is(&memory.cuda)) {
                self.lanes.push(Lane::new(&memory.cuda)?);
            }
        }
        for lane in &mut self.lanes {
            let (mut of_lane, mut at) = (vec![], 0);
            for (memory, range) in parts {
                if lane.cuda.is(&memory.cuda) {
                    of_lane.push((*memory, range.clone(), at));
                }
                at += range.len();
            }
            if !of_lane.is_empty() {
                lane.copy(pinned, &of_lane)?;
            }
        }
        Ok(())
    }

    fn wait(&self) -> Result<(), DeviceError> {
        let begun = Instant::now();
        let wait = |lane: &Lane| {
            while begun.elapsed() < SOON && !lane.copied.is_complete() {
                std::hint::spin_loop();
            }
            lane.copied.synchronize().map_err(driver_error("copy to the host"))
        };
        self.lanes.iter().try_for_each(wait)
    }
}

impl Drop for Staging {
    fn drop(&mut self) {
        // Wait for the whole stream: after an error the event may not follow the last copy. Its data are useless then.
        for lane in &self.lanes {
            let _ = lane.cuda.transfer.synchronize();
        }
    }
}
