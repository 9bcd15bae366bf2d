//! GPUs of one host: which of them reach each other's memory, how one waits for another, and the kernels that move values between them.

use cudarc::driver::sys;

use super::graph::lock;
use super::{Cuda, Entry, Source, driver_error};
use crate::device::error::DeviceError;

/// Kernels that move listed values of an array.
pub(in crate::device) const MOVING: Source<'static> =
    Source { name: "moving.cu", text: include_str!("moving.cu"), fuses: false };

impl Cuda {
    /// Lets kernels of this GPU read and write the memory of another; false where they cannot.
    #[allow(unsafe_code)]
    pub(in crate::device) fn reach(&self, other: &Cuda) -> Result<bool, DeviceError> {
        if self.ordinal() == other.ordinal() {
            return Ok(true);
        }
        let failed = |error| driver_error("reach the memory of another GPU")(error);
        let (own, others) = (self.context.cu_device(), other.context.cu_device());
        let mut can = 0;
        // SAFETY: both devices are the driver's, and the answer goes to an integer.
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
        // Memory of a pool is not the context's: access to it is given by the pool.
        if other.context.has_async_alloc() {
            let location = sys::CUmemLocation { type_: sys::CUmemLocationType::CU_MEM_LOCATION_TYPE_DEVICE, id: own };
            let flags = sys::CUmemAccess_flags::CU_MEM_ACCESS_FLAGS_PROT_READWRITE;
            let access = sys::CUmemAccessDesc { location, flags };
            let mut pool = std::ptr::null_mut();
            // SAFETY: the pool is that from which the other GPU allocates, and there is one description.
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

    /// GPUs that reach its memory.
    pub(super) fn reached_by(&self) -> Vec<sys::CUdevice> {
        lock(&self.reached_by).iter().copied().collect()
    }

    /// Whether kernels of this GPU may work on the memory of another.
    pub(in crate::device) fn reaches(&self, other: &Cuda) -> bool {
        self.ordinal() == other.ordinal() || lock(&self.peers).contains(&other.ordinal())
    }

    /// What this GPU does from now on comes after all that another has been given to do. Nothing where launches are recorded: there
    /// accesses say what comes after what.
    pub(in crate::device) fn wait_for(&self, other: &Cuda) -> Result<(), DeviceError> {
        if self.recorder().is_some() {
            return Ok(());
        }
        self.stream.join(&other.stream).map_err(driver_error("wait for another GPU"))
    }

    /// The kernel that moves values of so many bytes.
    pub(in crate::device) fn moving(&self, bytes: usize) -> Result<Entry, DeviceError> {
        let module = match self.moving.get() {
            Some(module) => module,
            None => {
                // What there is to say of the cache, other kernels have said.
                let (module, _) = self.load(MOVING)?;
                self.moving.get_or_init(|| module)
            }
        };
        module.kernel(&format!("move_{bytes}"))
    }
}
