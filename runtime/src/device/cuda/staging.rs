//! Copies from the GPU to the host beside the kernels.
//!
//! ```text
//! kernels    ──▶ arrays ──▶ spare memory ──● kernels may change the arrays
//! transfer                                 └──▶ pinned memory ──● copied
//! host                                                         └──▶ reads
//! ```
//!
//! An array is copied into spare memory in the order of the kernels; then, after an event, from there to pinned memory of the host on
//! the transfer stream; then comes the event that whoever reads waits for. Neither memory is used again before that event. Where the GPU
//! has little room, there is no spare memory: arrays are copied to the host at once, and the kernels wait for the event.

use std::ops::Range;
use std::ptr::NonNull;
use std::sync::Arc;

use cudarc::driver::{CudaContext, CudaEvent, CudaStream, result, sys};

use super::{Cuda, Memory, driver_error};
use crate::device::DeviceError;

/// Share of the memory available on the GPU that spare memory takes at most: the rest is for grids that grow.
const SHARE_FOR_SPARE: usize = 4;

/// Memory for one copy at a time.
pub(in crate::device) struct Staging {
    transfer: Arc<CudaStream>,
    pinned: Option<Pinned>,
    spare: Option<Memory>,
    /// Bytes of the copy.
    bytes: usize,
    /// The copy is on the host.
    copied: CudaEvent,
}

/// Memory of the host that the GPU copies to by itself.
struct Pinned {
    start: NonNull<u8>,
    bytes: usize,
    context: Arc<CudaContext>,
}

// SAFETY: `Pinned` owns its bytes alone, as a `Vec<u8>` does.
#[allow(unsafe_code)]
unsafe impl Send for Pinned {}

#[allow(unsafe_code)]
impl Pinned {
    fn new(context: &Arc<CudaContext>, bytes: usize) -> Result<Self, DeviceError> {
        context.bind_to_thread().map_err(driver_error("pin memory of the host"))?;
        // SAFETY: the size is not zero. The memory is not initialised: only what a copy has filled is read.
        let start = unsafe { result::malloc_host(bytes.max(1), 0) }.map_err(|error| match error.0 {
            sys::CUresult::CUDA_ERROR_OUT_OF_MEMORY => DeviceError::Memory {
                device: "the host, as memory that the GPU copies to,".into(),
                asked: bytes,
                available: crate::device::host_memory(),
            },
            _ => driver_error("pin memory of the host")(error),
        })?;
        let start = NonNull::new(start.cast()).ok_or_else(|| DeviceError::Driver {
            device: "the GPU".into(),
            action: "pin memory of the host".into(),
            reason: "the driver gave none".into(),
        })?;
        Ok(Pinned { start, bytes, context: context.clone() })
    }
}

#[allow(unsafe_code)]
impl Drop for Pinned {
    fn drop(&mut self) {
        if self.context.bind_to_thread().is_ok() {
            // SAFETY: allocated in `new`; `Staging` has waited for the last copy into it. An error leaves it allocated.
            let _ = unsafe { result::free_host(self.start.as_ptr().cast()) };
        }
    }
}

impl Cuda {
    /// Memory for a copy, none yet.
    pub(in crate::device) fn staging(&self) -> Result<Staging, DeviceError> {
        // Whoever waits for it sleeps: cores are for those who write.
        let flags = Some(sys::CUevent_flags::CU_EVENT_BLOCKING_SYNC);
        let copied = self.context.new_event(flags).map_err(driver_error("create an event"))?;
        Ok(Staging { transfer: self.transfer.clone(), pinned: None, spare: None, bytes: 0, copied })
    }
}

impl Staging {
    /// Copies parts of memory, one after the other, as all kernels so far leave them.
    #[allow(unsafe_code)]
    pub(in crate::device) fn copy(
        &mut self,
        cuda: &Cuda,
        parts: &[(&Memory, Range<usize>)],
    ) -> Result<(), DeviceError> {
        let failed = || driver_error("copy to the host");
        for (memory, range) in parts {
            assert!(range.end <= memory.bytes, "the array checks its ranges");
        }
        self.wait()?;
        self.bytes = parts.iter().map(|(_, range)| range.len()).sum();
        self.make_room(cuda)?;
        let Some(pinned) = &self.pinned else { return Ok(()) };
        let mut at = 0;
        // SAFETY, of all copies below: ranges lie inside their allocations, which `make_room` has made large enough; nothing reads
        // or writes the pinned memory until `wait` has seen the event behind the copy. Arrays are freed in the order of the
        // kernels' stream: after copies on that stream, and after those on the other, which it waits for.
        match &self.spare {
            Some(spare) => {
                for (memory, range) in parts {
                    let (to, from) = (spare.address + at as u64, memory.address + range.start as u64);
                    unsafe { result::memcpy_dtod_async(to, from, range.len(), cuda.stream.cu_stream()) }
                        .map_err(failed())?;
                    at += range.len();
                }
                self.transfer.join(&cuda.stream).map_err(failed())?;
                let to = unsafe { std::slice::from_raw_parts_mut(pinned.start.as_ptr().cast(), self.bytes) };
                unsafe {
                    result::memcpy_dtoh_async::<std::mem::MaybeUninit<u8>>(to, spare.address, self.transfer.cu_stream())
                }
                .map_err(failed())?;
                self.copied.record(&self.transfer).map_err(failed())
            }
            None => {
                self.transfer.join(&cuda.stream).map_err(failed())?;
                for (memory, range) in parts {
                    let to =
                        unsafe { std::slice::from_raw_parts_mut(pinned.start.as_ptr().add(at).cast(), range.len()) };
                    let from = memory.address + range.start as u64;
                    unsafe {
                        result::memcpy_dtoh_async::<std::mem::MaybeUninit<u8>>(to, from, self.transfer.cu_stream())
                    }
                    .map_err(failed())?;
                    at += range.len();
                }
                self.copied.record(&self.transfer).map_err(failed())?;
                cuda.stream.wait(&self.copied).map_err(failed())
            }
        }
    }

    /// Pinned memory for the copy, and spare memory if there is room; what is too small goes first.
    fn make_room(&mut self, cuda: &Cuda) -> Result<(), DeviceError> {
        if self.pinned.as_ref().is_none_or(|pinned| pinned.bytes < self.bytes) {
            (self.pinned, self.spare) = (None, None);
            self.pinned = Some(Pinned::new(&cuda.context, self.bytes)?);
        }
        let fits = |available: usize| self.bytes <= available / SHARE_FOR_SPARE;
        if self.spare.as_ref().is_none_or(|spare| spare.bytes < self.bytes) {
            self.spare = None;
            if cuda.memory_available().is_some_and(fits) {
                self.spare = Some(cuda.alloc(self.bytes)?);
            }
        }
        Ok(())
    }

    /// The bytes of the copy; waits until they are there.
    #[allow(unsafe_code)]
    pub(in crate::device) fn bytes(&self) -> Result<&[u8], DeviceError> {
        self.wait()?;
        // SAFETY: the copy has filled so many bytes, and is over; the next needs `self` exclusively.
        let bytes = |pinned: &Pinned| unsafe { std::slice::from_raw_parts(pinned.start.as_ptr(), self.bytes) };
        Ok(self.pinned.as_ref().map_or(&[], bytes))
    }

    fn wait(&self) -> Result<(), DeviceError> {
        self.copied.synchronize().map_err(driver_error("copy to the host"))
    }
}

impl Drop for Staging {
    fn drop(&mut self) {
        // All copies of the stream, should the event not be behind the last: after an error the memory is of no use either.
        let _ = self.transfer.synchronize();
    }
}
