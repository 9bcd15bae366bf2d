//! Small writes to arrays in the order of launches, for which the host does not wait: through pinned memory that is used in turn.

use std::collections::VecDeque;

use cudarc::driver::{CudaEvent, result, sys};

use super::staging::Pinned;
use super::{Cuda, driver_error};
use crate::device::DeviceError;

/// Most writes that have not reached the GPU, those of two replays of recorded steps; the host waits for the first of them before the next.
const MOST: usize = 6;

/// Memory for writes, in the order of its last use.
#[derive(Default)]
pub(super) struct Uploads(VecDeque<Upload>);

/// Memory for one write at a time.
struct Upload {
    pinned: Pinned,
    /// Event: its bytes have been copied to the GPU.
    copied: CudaEvent,
}

impl Uploads {
    /// Writes bytes to an address of the GPU in the current stream.
    ///
    /// # Safety
    /// The GPU must have an allocation there that is as large and lives until the stream is done with it.
    #[allow(unsafe_code)]
    pub(super) unsafe fn write(&mut self, cuda: &Cuda, to: sys::CUdeviceptr, bytes: &[u8]) -> Result<(), DeviceError> {
        let failed = || driver_error("write memory");
        cuda.bind("write memory")?;
        let oldest = (self.0.len() >= MOST).then(|| self.0.pop_front()).flatten();
        let event = || cuda.context.new_event(Some(sys::CUevent_flags::CU_EVENT_DISABLE_TIMING)).map_err(failed());
        let (room, stream) = (bytes.len().next_power_of_two(), cuda.streams.current());
        let upload = match oldest {
            Some(upload) => {
                upload.copied.synchronize().map_err(failed())?;
                match upload.pinned.bytes() < bytes.len() {
                    true => Upload { pinned: Pinned::new(&cuda.context, room)?, ..upload },
                    false => upload,
                }
            }
            None => Upload { pinned: Pinned::new(&cuda.context, room)?, copied: event()? },
        };
        // SAFETY: nothing else accesses the pinned memory, which is as large: its last copy is complete.
        let pinned = unsafe {
            upload.pinned.start().copy_from_nonoverlapping(bytes.as_ptr(), bytes.len());
            std::slice::from_raw_parts(upload.pinned.start().cast_const(), bytes.len())
        };
        // SAFETY: the caller guarantees the target; the pinned memory lives until the event has been waited for.
        let copied = unsafe { result::memcpy_htod_async(to, pinned, stream.cu_stream()) };
        copied.and_then(|()| upload.copied.record(stream)).map_err(failed())?;
        self.0.push_back(upload);
        Ok(())
    }
}

impl Drop for Uploads {
    fn drop(&mut self) {
        // An error cannot be reported here.
        for upload in &self.0 {
            let _ = upload.copied.synchronize();
        }
    }
}
