//! A second stream of kernels, for what need not wait for all that was launched before it.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use cudarc::driver::{CudaContext, CudaEvent, CudaStream, sys};

use super::{driver_error, unusable};
use crate::device::DeviceError;

/// Both streams of kernels of a GPU.
pub(super) struct Streams {
    main: Arc<CudaStream>,
    aside: Arc<CudaStream>,
    /// Event: all work of the main stream up to the mark is complete.
    mark: CudaEvent,
    is_aside: AtomicBool,
}

fn failed() -> impl FnOnce(cudarc::driver::DriverError) -> DeviceError {
    driver_error("work beside other launches")
}

impl Streams {
    pub(super) fn new(context: &Arc<CudaContext>, main: &Arc<CudaStream>) -> Result<Streams, DeviceError> {
        let aside = context.new_stream().map_err(unusable)?;
        let mark = context.new_event(Some(sys::CUevent_flags::CU_EVENT_DISABLE_TIMING)).map_err(unusable)?;
        Ok(Streams { main: main.clone(), aside, mark, is_aside: AtomicBool::new(false) })
    }

    /// The stream that replays and writes for which the host does not wait go to.
    pub(super) fn current(&self) -> &Arc<CudaStream> {
        if self.is_aside.load(Ordering::Relaxed) { &self.aside } else { &self.main }
    }

    pub(super) fn mark(&self) -> Result<(), DeviceError> {
        self.mark.record(&self.main).map_err(failed())
    }

    /// The other stream is the current one, and goes on where the main stream has been marked.
    pub(super) fn begin(&self) -> Result<(), DeviceError> {
        self.aside.wait(&self.mark).map_err(failed())?;
        self.is_aside.store(true, Ordering::Relaxed);
        Ok(())
    }

    /// The main stream is the current one, and waits for the other.
    pub(super) fn end(&self) -> Result<(), DeviceError> {
        self.is_aside.store(false, Ordering::Relaxed);
        self.main.join(&self.aside).map_err(failed())
    }
}
