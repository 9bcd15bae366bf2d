//! Packed values between a GPU and bytes of the host that go to other processes, as often as they have to.
//!
//! ```text
//! kernels    pack ──● blocks inside …              unpack
//! transfer          └──▶ pinned memory ──●     ──▶ ──┘
//! host                                   └─▶ sends │
//!            receives into pinned memory ──────────┘
//! ```
//!
//! Copies are on the transfer stream, so that kernels go on; events order them against the kernels before and after.

use cudarc::driver::{CudaEvent, result, sys};

use super::staging::Pinned;
use super::{Cuda, Memory, driver_error};
use crate::device::DeviceError;

/// Memory of the host for packed values that lie in memory of a GPU, and what orders copies between both.
pub(in crate::device) struct Mail {
    pinned: Pinned,
    /// The last copy is over.
    copied: CudaEvent,
    /// The kernels that read or write the packed values so far are over.
    moved: CudaEvent,
}

fn failed() -> impl FnOnce(cudarc::driver::DriverError) -> DeviceError {
    driver_error("exchange values with other processes")
}

#[allow(unsafe_code)]
impl Mail {
    /// For so many bytes.
    pub(in crate::device) fn new(cuda: &Cuda, bytes: usize) -> Result<Mail, DeviceError> {
        cuda.bind("exchange values with other processes")?;
        let event = || cuda.context.new_event(Some(sys::CUevent_flags::CU_EVENT_DISABLE_TIMING)).map_err(failed());
        Ok(Mail { pinned: Pinned::new(&cuda.context, bytes)?, copied: event()?, moved: event()? })
    }

    /// Kernels from now on come after the last copy.
    pub(in crate::device) fn await_copy(&self, cuda: &Cuda) -> Result<(), DeviceError> {
        cuda.stream.wait(&self.copied).map_err(failed())
    }

    /// Copies what kernels have packed to the host, beside later ones.
    pub(in crate::device) fn fetch(&mut self, packed: &Memory) -> Result<(), DeviceError> {
        let cuda = &packed.cuda;
        self.moved.record(&cuda.stream).and_then(|()| cuda.transfer.wait(&self.moved)).map_err(failed())?;
        // SAFETY: the pinned memory has as many bytes as are copied, all of which the packed memory has; neither is touched before the
        // event behind the copy.
        unsafe {
            let to = std::slice::from_raw_parts_mut(self.pinned.start().cast::<u8>(), self.pinned.bytes());
            result::memcpy_dtoh_async(to, packed.address, cuda.transfer.cu_stream()).map_err(failed())?;
        }
        self.copied.record(&cuda.transfer).map_err(failed())
    }

    /// Copies bytes of the host to memory from which kernels from now on unpack them.
    pub(in crate::device) fn bring(&mut self, packed: &mut Memory) -> Result<(), DeviceError> {
        let cuda = &packed.cuda;
        cuda.transfer.wait(&self.moved).map_err(failed())?;
        // SAFETY: as above; whoever has filled the pinned memory had it exclusively, and does so again only after the event.
        unsafe {
            let from = std::slice::from_raw_parts(self.pinned.start().cast::<u8>(), self.pinned.bytes());
            result::memcpy_htod_async(packed.address, from, cuda.transfer.cu_stream()).map_err(failed())?;
        }
        self.copied.record(&cuda.transfer).map_err(failed())?;
        self.await_copy(cuda)
    }

    /// Kernels have unpacked what was brought.
    pub(in crate::device) fn unpacked(&mut self, cuda: &Cuda) -> Result<(), DeviceError> {
        self.moved.record(&cuda.stream).map_err(failed())
    }

    /// The bytes; waits until the last copy is over.
    pub(in crate::device) fn bytes(&self) -> Result<&[u8], DeviceError> {
        self.copied.synchronize().map_err(failed())?;
        // SAFETY: it was zero at first, and no copy is under way.
        Ok(unsafe { std::slice::from_raw_parts(self.pinned.start(), self.pinned.bytes()) })
    }

    /// The same, to be filled.
    pub(in crate::device) fn room(&mut self) -> Result<&mut [u8], DeviceError> {
        self.copied.synchronize().map_err(failed())?;
        // SAFETY: as above, and `self` is exclusive.
        Ok(unsafe { std::slice::from_raw_parts_mut(self.pinned.start(), self.pinned.bytes()) })
    }
}

impl Drop for Mail {
    fn drop(&mut self) {
        // The pinned memory goes with it.
        let _ = self.copied.synchronize();
    }
}
