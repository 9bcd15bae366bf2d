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

use std::sync::Arc;

use cudarc::driver::{CudaEvent, result, sys};

use super::staging::Pinned;
use super::{Cuda, driver_error};
use crate::device::DeviceError;
use crate::device::backend::{self, Memory};

/// Pinned host memory for packed values on a GPU, and the events that order the copies between them.
pub(super) struct Mail {
    cuda: Arc<Cuda>,
    pinned: Pinned,
    /// Event: the last copy is complete.
    copied: CudaEvent,
    /// Event: the last kernel that reads or writes the packed values is complete.
    moved: CudaEvent,
}

fn failed() -> impl FnOnce(cudarc::driver::DriverError) -> DeviceError {
    driver_error("exchange values with other processes")
}

impl Mail {
    /// Allocates pinned memory for `bytes` bytes.
    pub(super) fn new(cuda: &Arc<Cuda>, bytes: usize) -> Result<Mail, DeviceError> {
        cuda.bind("exchange values with other processes")?;
        let event = || cuda.context.new_event(Some(sys::CUevent_flags::CU_EVENT_DISABLE_TIMING)).map_err(failed());
        let pinned = Pinned::new(&cuda.context, bytes)?;
        Ok(Mail { cuda: cuda.clone(), pinned, copied: event()?, moved: event()? })
    }
}

#[allow(unsafe_code)]
impl backend::Mail for Mail {
    fn await_copy(&self) -> Result<(), DeviceError> {
        self.cuda.stream.wait(&self.copied).map_err(failed())
    }

    fn fetch(&mut self, packed: &dyn Memory) -> Result<(), DeviceError> {
        let cuda = &self.cuda;
        self.moved.record(&cuda.stream).and_then(|()| cuda.transfer.wait(&self.moved)).map_err(failed())?;
        // SAFETY: the pinned memory and the packed memory both have this many bytes. Neither is accessed before the
        // event recorded after the copy.
        unsafe {
            let to = std::slice::from_raw_parts_mut(self.pinned.start().cast::<u8>(), self.pinned.bytes());
            result::memcpy_dtoh_async(to, packed.address(), cuda.transfer.cu_stream()).map_err(failed())?;
        }
        self.copied.record(&cuda.transfer).map_err(failed())
    }

    fn bring(&mut self, packed: &mut dyn Memory) -> Result<(), DeviceError> {
        let cuda = &self.cuda;
        cuda.transfer.wait(&self.moved).map_err(failed())?;
        // SAFETY: as above; the pinned memory was filled through an exclusive borrow, and is filled again only after
        // the event.
        unsafe {
            let from = std::slice::from_raw_parts(self.pinned.start().cast::<u8>(), self.pinned.bytes());
            result::memcpy_htod_async(packed.address(), from, cuda.transfer.cu_stream()).map_err(failed())?;
        }
        self.copied.record(&cuda.transfer).map_err(failed())?;
        self.await_copy()
    }

    fn unpacked(&mut self) -> Result<(), DeviceError> {
        self.moved.record(&self.cuda.stream).map_err(failed())
    }

    fn bytes(&self) -> Result<&[u8], DeviceError> {
        self.copied.synchronize().map_err(failed())?;
        // SAFETY: the memory was zero-initialised, and no copy is in progress.
        Ok(unsafe { std::slice::from_raw_parts(self.pinned.start(), self.pinned.bytes()) })
    }

    fn room(&mut self) -> Result<&mut [u8], DeviceError> {
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
