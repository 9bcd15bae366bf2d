//! Transfer of packed values between a GPU and host memory, for messages to and from other processes.
//!
//! ```text
//! kernels    pack ──● blocks inside …              unpack
//! transfer          └──▶ pinned memory ──●     ──▶ ──┘
//! host                                   └─▶ sends │
//!            receives into pinned memory ──────────┘
//! ```
//!
//! Copies run on the transfer stream, concurrently with kernels. Events order them relative to the packing and
//! unpacking kernels.

use cudarc::driver::{CudaEvent, result, sys};

use super::staging::Pinned;
use super::{Cuda, Memory, driver_error};
use crate::device::DeviceError;

/// Pinned host memory for packed values on a GPU, and the events that order the copies between them.
pub(in crate::device) struct Mail {
    pinned: Pinned,
    /// Event: the last copy is complete.
    copied: CudaEvent,
    /// Event: the last kernel that reads or writes the packed values is complete.
    moved: CudaEvent,
}

fn failed() -> impl FnOnce(cudarc::driver::DriverError) -> DeviceError {
    driver_error("exchange values with other processes")
}

#[allow(unsafe_code)]
impl Mail {
    /// Allocates pinned memory for `bytes` bytes.
    pub(in crate::device) fn new(cuda: &Cuda, bytes: usize) -> Result<Mail, DeviceError> {
        cuda.bind("exchange values with other processes")?;
        let event = || cuda.context.new_event(Some(sys::CUevent_flags::CU_EVENT_DISABLE_TIMING)).map_err(failed());
        Ok(Mail { pinned: Pinned::new(&cuda.context, bytes)?, copied: event()?, moved: event()? })
    }

    /// Makes later kernels wait for the last copy.
    pub(in crate::device) fn await_copy(&self, cuda: &Cuda) -> Result<(), DeviceError> {
        cuda.stream.wait(&self.copied).map_err(failed())
    }

    /// Copies the packed values to the host, concurrently with later kernels.
    pub(in crate::device) fn fetch(&mut self, packed: &Memory) -> Result<(), DeviceError> {
        let cuda = &packed.cuda;
        self.moved.record(&cuda.stream).and_then(|()| cuda.transfer.wait(&self.moved)).map_err(failed())?;
        // SAFETY: the pinned memory and the packed memory both have this many bytes. Neither is accessed before the
        // event recorded after the copy.
        unsafe {
            let to = std::slice::from_raw_parts_mut(self.pinned.start().cast::<u8>(), self.pinned.bytes());
            result::memcpy_dtoh_async(to, packed.address, cuda.transfer.cu_stream()).map_err(failed())?;
        }
        self.copied.record(&cuda.transfer).map_err(failed())
    }

    /// Copies the bytes on the host to the GPU, where later kernels unpack them.
    pub(in crate::device) fn bring(&mut self, packed: &mut Memory) -> Result<(), DeviceError> {
        let cuda = &packed.cuda;
        cuda.transfer.wait(&self.moved).map_err(failed())?;
        // SAFETY: as above; the pinned memory was filled through an exclusive borrow, and is filled again only after
        // the event.
        unsafe {
            let from = std::slice::from_raw_parts(self.pinned.start().cast::<u8>(), self.pinned.bytes());
            result::memcpy_htod_async(packed.address, from, cuda.transfer.cu_stream()).map_err(failed())?;
        }
        self.copied.record(&cuda.transfer).map_err(failed())?;
        self.await_copy(cuda)
    }

    /// Records that the unpacking kernel has been launched.
    pub(in crate::device) fn unpacked(&mut self, cuda: &Cuda) -> Result<(), DeviceError> {
        self.moved.record(&cuda.stream).map_err(failed())
    }

    /// The bytes in pinned memory; blocks until the last copy is complete.
    pub(in crate::device) fn bytes(&self) -> Result<&[u8], DeviceError> {
        self.copied.synchronize().map_err(failed())?;
        // SAFETY: the memory was zero-initialised, and no copy is in progress.
        Ok(unsafe { std::slice::from_raw_parts(self.pinned.start(), self.pinned.bytes()) })
    }

    /// The pinned memory, writable; blocks until the last copy is complete.
    pub(in crate::device) fn room(&mut self) -> Result<&mut [u8], DeviceError> {
        self.copied.synchronize().map_err(failed())?;
        // SAFETY: as above, and `self` is borrowed exclusively.
        Ok(unsafe { std::slice::from_raw_parts_mut(self.pinned.start(), self.pinned.bytes()) })
    }
}

impl Drop for Mail {
    fn drop(&mut self) {
        // The pinned memory is freed next.
        let _ = self.copied.synchronize();
    }
}
