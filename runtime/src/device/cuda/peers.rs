//! GPUs of one host: peer access to each other's memory, and synchronization between them.

use cudarc::driver::sys;

use super::graph::lock;
use super::{Cuda, driver_error};
use crate::device::error::DeviceError;

impl Cuda {
    /// Enables access of this GPU's kernels to the memory of another; `false` if the hardware does not permit it.
    #[allow(unsafe_code)]
    pub(super) fn reach(&self, other: &Cuda) -> Result<bool, DeviceError> {
        if self.ordinal() == other.ordinal() {
            return Ok(true);
        }
        let failed = |error| driver_error("reach the memory of another GPU")(error);
        let (own, others) = (self.context.cu_device(), other.context.cu_device());
        let mut can = 0;
        // SAFETY: both devices come from the driver, and the result is written to an integer.
        unsafe { sys::cuDeviceCanAccessPeer(&mut can, own, others) }.result().map_err(failed)?;
        if can == 0 {
            return Ok(false);
        }
        self.bind("reach the memory of another GPU")?;
        // SAFETY: both contexts are alive; this one is bound.
        match unsafe { sys::cuCtxEnablePeerAccess(other.context.cu_ctx(), 0) } {
            sys::CUresult::CUDA_ERROR_PEER_ACCESS_ALREADY_ENABLED => {}
            answer => answer.result().map_err(failed)?,
        }
        // Memory from a pool does not belong to the context: the pool grants access to it.
        if other.context.has_async_alloc() {
            let location = sys::CUmemLocation { type_: sys::CUmemLocationType::CU_MEM_LOCATION_TYPE_DEVICE, id: own };
            let flags = sys::CUmemAccess_flags::CU_MEM_ACCESS_FLAGS_PROT_READWRITE;
            let access = sys::CUmemAccessDesc { location, flags };
            let mut pool = std::ptr::null_mut();
            // SAFETY: the pool is the one from which the other GPU allocates; there is one access descriptor.
            unsafe {
                sys::cuDeviceGetMemPool(&mut pool, others)
                    .result()
                    .and_then(|()| sys::cuMemPoolSetAccess(pool, &access, 1).result())
            }
            .map_err(failed)?;
        }
        lock(&self.peers).insert(other.ordinal());
        lock(&other.reached_by).insert(own);
        Ok(true)
    }

    /// GPUs that have peer access to the memory of this one.
    pub(super) fn reached_by(&self) -> Vec<sys::CUdevice> {
        lock(&self.reached_by).iter().copied().collect()
    }

    /// Whether kernels of this GPU may access the memory of `other`.
    pub(super) fn reaches(&self, other: &Cuda) -> bool {
        self.ordinal() == other.ordinal() || lock(&self.peers).contains(&other.ordinal())
    }

    /// Makes later work of this GPU wait for all earlier work of `other`. No effect during a capture, in which the
    /// declared accesses define the order.
    pub(super) fn wait_for(&self, other: &Cuda) -> Result<(), DeviceError> {
        if self.recorder().is_some() {
            return Ok(());
        }
        self.stream.join(&other.stream).map_err(driver_error("wait for another GPU"))
    }
}
