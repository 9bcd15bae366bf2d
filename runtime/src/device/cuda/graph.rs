//! Launches that are recorded as a graph: each waits for those alone whose work it needs, and the whole is repeated at once.

use std::sync::{Arc, MutexGuard, PoisonError};

use cudarc::driver::{CudaFunction, CudaSlice, CudaStream, LaunchConfig, result, sys};

use super::{Cuda, driver_error};
use crate::device::error::DeviceError;
use crate::device::order::{Accesses, Order};

/// A graph that is being made.
pub(super) struct Recorder {
    graph: sys::CUgraph,
    nodes: Vec<sys::CUgraphNode>,
    /// What each node waits for.
    waits: Vec<Vec<usize>>,
    order: Order,
    /// What the next launch waits for; `None` outside [`Cuda::accessing`].
    after: Option<Vec<usize>>,
    kept: Vec<Kept>,
}

/// Something that a recorded launch needs for as long as it can be repeated.
pub(super) enum Kept {
    Memory { _slice: Arc<CudaSlice<u8>> },
    Kernel { _function: CudaFunction },
}

/// Launches that were recorded and can be repeated as one.
pub struct Graph {
    graph: sys::CUgraphExec,
    stream: Arc<CudaStream>,
    _kept: Vec<Kept>,
}

// SAFETY: the driver lets any thread use a graph, one at a time; neither type is `Sync`, and what they keep is `Send`.
#[allow(unsafe_code)]
unsafe impl Send for Recorder {}
#[allow(unsafe_code)]
unsafe impl Send for Graph {}

#[allow(unsafe_code)]
impl Recorder {
    fn new() -> Result<Self, DeviceError> {
        let mut graph = std::ptr::null_mut();
        // SAFETY: writes a handle to a place of its type.
        unsafe { sys::cuGraphCreate(&mut graph, 0) }.result().map_err(driver_error("record launches"))?;
        Ok(Recorder { graph, nodes: vec![], waits: vec![], order: Order::default(), after: None, kept: vec![] })
    }

    /// Adds a launch.
    ///
    /// # Safety
    /// As for launching it: `args` must point to values of the kernel's parameters, in order.
    pub(super) unsafe fn add(
        &mut self,
        function: &CudaFunction,
        config: LaunchConfig,
        args: &mut [*mut std::ffi::c_void],
        used: Vec<Kept>,
    ) -> Result<(), String> {
        let Some(after) = self.after.take() else {
            return Err("a launch is recorded that does not say what it works on".into());
        };
        let ((grid_x, grid_y, grid_z), (block_x, block_y, block_z)) = (config.grid_dim, config.block_dim);
        let params = sys::CUDA_KERNEL_NODE_PARAMS {
            func: function.cu_function(),
            gridDimX: grid_x,
            gridDimY: grid_y,
            gridDimZ: grid_z,
            blockDimX: block_x,
            blockDimY: block_y,
            blockDimZ: block_z,
            sharedMemBytes: config.shared_mem_bytes,
            kernelParams: args.as_mut_ptr(),
            extra: std::ptr::null_mut(),
            kern: std::ptr::null_mut(),
            ctx: std::ptr::null_mut(),
        };
        let before: Vec<sys::CUgraphNode> = after.iter().map(|node| self.nodes[*node]).collect();
        let mut node = std::ptr::null_mut();
        // SAFETY: graph and nodes are this recorder's; the driver copies the parameters' values before it returns, by the caller's
        // promise as many as the kernel has.
        unsafe { sys::cuGraphAddKernelNode_v2(&mut node, self.graph, before.as_ptr(), before.len(), &params) }
            .result()
            .map_err(|error| error.to_string())?;
        self.after = Some(vec![self.nodes.len()]);
        self.nodes.push(node);
        self.waits.push(after);
        self.kept.extend(used);
        Ok(())
    }

    /// What a node with these accesses waits for, without what others of these wait for.
    fn before(&self, accesses: &Accesses) -> Vec<usize> {
        let before = self.order.before(accesses);
        let waited_for = |node: &usize| before.iter().any(|other| self.waits[*other].contains(node));
        before.iter().copied().filter(|node| !waited_for(node)).collect()
    }

    fn finish(mut self, stream: &Arc<CudaStream>) -> Result<Option<Graph>, DeviceError> {
        if self.nodes.is_empty() {
            return Ok(None);
        }
        // SAFETY: the graph is whole, and what is made of it needs it no more.
        let graph = unsafe { result::graph::instantiate(self.graph, sys::CUgraphInstantiate_flags(0)) }
            .map_err(driver_error("record launches"))?;
        Ok(Some(Graph { graph, stream: stream.clone(), _kept: std::mem::take(&mut self.kept) }))
    }
}

#[allow(unsafe_code)]
impl Drop for Recorder {
    fn drop(&mut self) {
        // SAFETY: the handle is this recorder's own. There is nobody to tell of an error.
        let _ = unsafe { result::graph::destroy(self.graph) };
    }
}

impl Cuda {
    pub(super) fn recorder(&self) -> MutexGuard<'_, Option<Recorder>> {
        self.recorder.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Calls `work`, whose launches work on no other places than these: in a recording, what they wait for.
    pub(in crate::device) fn accessing<R>(&self, accesses: &Accesses, work: impl FnOnce() -> R) -> R {
        if let Some(recorder) = &mut *self.recorder() {
            recorder.after = Some(recorder.before(accesses));
        }
        let begun = self.recorder().as_ref().map(|recorder| recorder.nodes.len());
        let done = work();
        if let (Some(recorder), Some(begun)) = (&mut *self.recorder(), begun) {
            recorder.after = None;
            // The launches of `work` follow each other.
            if let Some(last) = recorder.nodes.len().checked_sub(1).filter(|last| *last >= begun) {
                recorder.order.add(last, accesses);
            }
        }
        done
    }

    /// Records what `work` launches. `None` if it launches nothing.
    pub(in crate::device) fn record(
        &self,
        work: impl FnOnce() -> Result<(), DeviceError>,
    ) -> Result<Option<Graph>, DeviceError> {
        self.context.bind_to_thread().map_err(driver_error("record launches"))?;
        *self.recorder() = Some(Recorder::new()?);
        let worked = work();
        let recorder = self.recorder().take();
        worked?;
        recorder.map_or(Ok(None), |recorder| recorder.finish(&self.stream))
    }
}

#[allow(unsafe_code)]
impl Graph {
    /// Queues the recorded launches once more.
    pub fn launch(&self) -> Result<(), DeviceError> {
        let failed = || driver_error("repeat recorded launches");
        self.stream.context().bind_to_thread().map_err(failed())?;
        // SAFETY: graph and stream are of the same context, which the stream keeps.
        unsafe { result::graph::launch(self.graph, self.stream.cu_stream()) }.map_err(failed())
    }
}

#[allow(unsafe_code)]
impl Drop for Graph {
    fn drop(&mut self) {
        let _ = self.stream.context().bind_to_thread();
        // SAFETY: the handle is this graph's own; one that still runs is destroyed when it is done. There is nobody to tell of an error.
        let _ = unsafe { result::graph::exec_destroy(self.graph) };
    }
}
