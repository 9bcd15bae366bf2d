//! Graph capture and replay: each launch waits only for the launches that it depends on, and all are replayed at once.
//! One graph may have kernels of several GPUs: the function of a node determines its GPU.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use cudarc::driver::{CudaFunction, CudaStream, LaunchConfig, result, sys};

use super::aside::Streams;
use super::memory::Backing;
use super::{Cuda, driver_error};
use crate::device::Graph;
use crate::device::backend;
use crate::device::error::DeviceError;
use crate::device::order::{Accesses, Order};

/// A graph under construction.
pub(super) struct Recorder {
    graph: sys::CUgraph,
    nodes: Vec<sys::CUgraphNode>,
    /// For each node, the nodes that it waits for.
    waits: Vec<Vec<usize>>,
    order: Order,
    /// The nodes that the next launch waits for; `None` unless its accesses have been declared ([`Cuda::begin`]).
    after: Option<Vec<usize>>,
    /// Whether the next launches have priority over others that are ready.
    ahead: bool,
    /// Whether any launch has priority.
    has_ahead: bool,
    kept: Vec<Kept>,
}

/// A resource that must stay alive as long as the graph can be replayed.
pub(super) enum Kept {
    Memory { _backing: Arc<Backing> },
    Kernel { _function: CudaFunction },
}

/// Captured launches.
struct Captured {
    graph: sys::CUgraphExec,
    /// Streams of its GPUs; the graph is launched into that of the first.
    streams: Vec<Arc<Streams>>,
    _kept: Vec<Kept>,
}

// SAFETY: the driver permits any thread to use a graph, one at a time. Neither type is `Sync`, and the resources that
// they keep alive are `Send`.
#[allow(unsafe_code)]
unsafe impl Send for Recorder {}
#[allow(unsafe_code)]
unsafe impl Send for Captured {}

#[allow(unsafe_code)]
impl Recorder {
    fn new() -> Result<Self, DeviceError> {
        let mut graph = std::ptr::null_mut();
        // SAFETY: writes a handle to a variable of its type.
        unsafe { sys::cuGraphCreate(&mut graph, 0) }.result().map_err(driver_error("record launches"))?;
        let (nodes, waits, order) = (vec![], vec![], Order::default());
        Ok(Recorder { graph, nodes, waits, order, after: None, ahead: false, has_ahead: false, kept: vec![] })
    }

    /// Adds a launch.
    ///
    /// # Safety
    /// As for a launch: `args` must point to the values of the kernel's parameters, in order.
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
        // SAFETY: graph and nodes belong to this recorder. The driver copies the values of all parameters before it
        // returns; the caller guarantees that there is one for each.
        unsafe { sys::cuGraphAddKernelNode_v2(&mut node, self.graph, before.as_ptr(), before.len(), &params) }
            .result()
            .map_err(|error| error.to_string())?;
        if self.ahead {
            self.has_ahead = true;
            let (mut least, mut greatest) = (0, 0);
            // SAFETY: the node belongs to this recorder, its kernel to the bound context, and the values have the type
            // of the attribute.
            unsafe {
                sys::cuCtxGetStreamPriorityRange(&mut least, &mut greatest).result().and_then(|()| {
                    let value = sys::CUkernelNodeAttrValue { priority: greatest };
                    let priority = sys::CUkernelNodeAttrID::CU_LAUNCH_ATTRIBUTE_PRIORITY;
                    sys::cuGraphKernelNodeSetAttribute(node, priority, &value).result()
                })
            }
            .map_err(|error| error.to_string())?;
        }
        self.after = Some(vec![self.nodes.len()]);
        self.nodes.push(node);
        self.waits.push(after);
        self.kept.extend(used);
        Ok(())
    }

    /// The nodes that a node with these accesses waits for, without those that another of them waits for directly.
    fn before(&self, accesses: &Accesses) -> Vec<usize> {
        let before = self.order.before(accesses);
        let mut is_waited_for = vec![false; self.nodes.len()];
        before.iter().flat_map(|other| &self.waits[*other]).for_each(|node| is_waited_for[*node] = true);
        before.into_iter().filter(|node| !is_waited_for[*node]).collect()
    }

    fn finish(&mut self, streams: Vec<Arc<Streams>>) -> Result<Option<Graph>, DeviceError> {
        if self.nodes.is_empty() {
            return Ok(None);
        }
        let flags = match self.has_ahead {
            true => sys::CUgraphInstantiate_flags::CUDA_GRAPH_INSTANTIATE_FLAG_USE_NODE_PRIORITY,
            false => sys::CUgraphInstantiate_flags(0),
        };
        // SAFETY: the graph is complete, and its instance does not depend on it.
        let graph =
            unsafe { result::graph::instantiate(self.graph, flags) }.map_err(driver_error("record launches"))?;
        Ok(Some(Graph(Box::new(Captured { graph, streams, _kept: std::mem::take(&mut self.kept) }))))
    }
}

#[allow(unsafe_code)]
impl Drop for Recorder {
    fn drop(&mut self) {
        // SAFETY: this recorder owns the handle. An error cannot be reported here.
        let _ = unsafe { result::graph::destroy(self.graph) };
    }
}

/// Locks a mutex, even if a thread has panicked while holding it.
pub(super) fn lock<T>(shared: &Mutex<T>) -> MutexGuard<'_, T> {
    shared.lock().unwrap_or_else(PoisonError::into_inner)
}

impl Cuda {
    pub(super) fn recorder(&self) -> Option<Arc<Mutex<Recorder>>> {
        lock(&self.recorder).clone()
    }

    /// Declares the accesses of the next launches of a capture, which determine what these launches wait for.
    pub(super) fn begin(&self, accesses: &Accesses) -> usize {
        let Some(recorder) = self.recorder() else { return 0 };
        let mut recorder = lock(&recorder);
        recorder.after = Some(recorder.before(accesses));
        recorder.ahead = accesses.ahead;
        recorder.nodes.len()
    }

    /// Ends the launches that began at this node.
    pub(super) fn end(&self, begun: usize, accesses: &Accesses) {
        let Some(recorder) = self.recorder() else { return };
        let mut recorder = lock(&recorder);
        recorder.after = None;
        // The launches run one after another.
        if let Some(last) = recorder.nodes.len().checked_sub(1).filter(|last| *last >= begun) {
            recorder.order.add(last, accesses);
        }
    }
}

/// Captures the launches that `work` makes on these GPUs. `None` if there are none.
pub(super) fn record(
    all: &[&Cuda],
    work: impl FnOnce() -> Result<(), DeviceError>,
) -> Result<Option<Graph>, DeviceError> {
    all[0].bind("record launches")?;
    let recorder = Arc::new(Mutex::new(Recorder::new()?));
    all.iter().for_each(|cuda| *lock(&cuda.recorder) = Some(recorder.clone()));
    let worked = work();
    all.iter().for_each(|cuda| *lock(&cuda.recorder) = None);
    worked?;
    all[0].bind("record launches")?;
    lock(&recorder).finish(all.iter().map(|cuda| cuda.streams.clone()).collect())
}

#[allow(unsafe_code)]
impl backend::Replay for Captured {
    fn launch(&self) -> Result<(), DeviceError> {
        let failed = || driver_error("repeat recorded launches");
        let streams: Vec<&Arc<CudaStream>> = self.streams.iter().map(|streams| streams.current()).collect();
        let Some((first, others)) = streams.split_first() else { return Ok(()) };
        others.iter().try_for_each(|other| first.join(other)).map_err(failed())?;
        first.context().bind_to_thread().map_err(failed())?;
        // SAFETY: graph and stream have the same context, which the stream keeps alive.
        unsafe { result::graph::launch(self.graph, first.cu_stream()) }.map_err(failed())?;
        others.iter().try_for_each(|other| other.join(first)).map_err(failed())
    }
}

#[allow(unsafe_code)]
impl Drop for Captured {
    fn drop(&mut self) {
        let _ = self.streams.first().map(|first| first.current().context().bind_to_thread());
        // SAFETY: this graph owns the handle; the driver destroys a running graph once it has finished. An error cannot
        // be reported here.
        let _ = unsafe { result::graph::exec_destroy(self.graph) };
    }
}
