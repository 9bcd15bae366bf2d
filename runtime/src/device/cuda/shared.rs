//! Memory of a GPU that other processes of the host open (CUDA IPC).

use std::sync::Arc;

use cudarc::driver::{CudaContext, result, sys};

use super::memory::{Backing, Memory};
use super::{Cuda, driver_error};
use crate::device::backend::Backend;
use crate::device::error::DeviceError;

/// Whole pages of the driver are shared, so that nothing else lies in them.
const PAGE: usize = 2 << 20;

/// An allocation that other processes may open, or one of another process that this one has opened.
pub(super) struct Shared {
    context: Arc<CudaContext>,
    address: sys::CUdeviceptr,
    is_own: bool,
}

fn failed() -> impl FnOnce(cudarc::driver::DriverError) -> DeviceError {
    driver_error("share memory with other processes")
}

#[allow(unsafe_code)]
impl Cuda {
    /// Allocates zero-initialised memory that other processes may open by the handle.
    pub(super) fn share(self: &Arc<Self>, bytes: usize) -> Result<(Memory, Vec<u8>), DeviceError> {
        self.bind("share memory with other processes")?;
        let whole = bytes.next_multiple_of(PAGE);
        // SAFETY: the allocation is owned by the value returned, and is of the bound context.
        let address = unsafe { result::malloc_sync(whole) }.map_err(|error| match error.0 {
            sys::CUresult::CUDA_ERROR_OUT_OF_MEMORY => {
                DeviceError::Memory { device: self.describe(), asked: whole, available: self.memory_available() }
            }
            _ => failed()(error),
        })?;
        let shared = Shared { context: self.context.clone(), address, is_own: true };
        let mut handle = sys::CUipcMemHandle { reserved: [0; 64] };
        // SAFETY: the range is the whole allocation; the handle is written to a variable of its type.
        unsafe {
            result::memset_d8_async(address, 0, whole, self.stream.cu_stream())
                .and_then(|()| self.stream.synchronize())
                .and_then(|()| sys::cuIpcGetMemHandle(&mut handle, address).result())
        }
        .map_err(failed())?;
        Ok((self.memory_of(shared, bytes), handle.reserved.iter().map(|byte| *byte as u8).collect()))
    }

    /// Opens memory that another process shares.
    pub(super) fn open(self: &Arc<Self>, handle: &[u8], bytes: usize) -> Result<Memory, DeviceError> {
        self.bind("share memory with other processes")?;
        let mut opened = sys::CUipcMemHandle { reserved: [0; 64] };
        opened.reserved.iter_mut().zip(handle).for_each(|(to, byte)| *to = *byte as _);
        let (mut address, lazy) = (0, sys::CUipcMem_flags_enum::CU_IPC_MEM_LAZY_ENABLE_PEER_ACCESS);
        // SAFETY: the handle is plain bytes, which the driver checks; the address is written to a variable of its type.
        unsafe { sys::cuIpcOpenMemHandle_v2(&mut address, opened, lazy as u32) }.result().map_err(failed())?;
        Ok(self.memory_of(Shared { context: self.context.clone(), address, is_own: false }, bytes))
    }

    fn memory_of(self: &Arc<Self>, shared: Shared, bytes: usize) -> Memory {
        let address = shared.address;
        Memory { backing: Arc::new(Backing::Shared { _shared: shared }), address, bytes, cuda: self.clone() }
    }
}

#[allow(unsafe_code)]
impl Drop for Shared {
    fn drop(&mut self) {
        let _ = self.context.bind_to_thread();
        // SAFETY: this value owns the allocation or the mapping, which nothing accesses any more: graphs keep it alive, and the driver waits for
        // launches. An error cannot be reported here.
        let _ = unsafe {
            match self.is_own {
                true => result::free_sync(self.address),
                false => sys::cuIpcCloseMemHandle(self.address).result(),
            }
        };
    }
}
