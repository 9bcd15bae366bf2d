//! Memory of a GPU: allocated as a whole, or an address range whose pages are mapped when they are needed.

use std::ops::Range;
use std::sync::Arc;

use cudarc::driver::{CudaSlice, DevicePtr, result, sys};

use super::graph::lock;
use super::pages::Pages;
use super::shared::Shared;
use super::{Cuda, driver_error};
use crate::device::backend::{self, Backend};
use crate::device::error::DeviceError;

/// An allocation on the GPU.
pub(in crate::device) struct Memory {
    pub(super) backing: Arc<Backing>,
    pub(super) address: sys::CUdeviceptr,
    pub(super) bytes: usize,
    pub(super) cuda: Arc<Cuda>,
}

/// The memory behind an address.
pub(super) enum Backing {
    Slice { _slice: CudaSlice<u8> },
    Pages(Pages),
    Shared { _shared: Shared },
}

impl Cuda {
    /// Allocates zero-initialised memory.
    pub(super) fn allocate(self: &Arc<Self>, bytes: usize) -> Result<Memory, DeviceError> {
        let slice = self.stream.alloc_zeros::<u8>(bytes.max(1)).map_err(|error| match error.0 {
            sys::CUresult::CUDA_ERROR_OUT_OF_MEMORY => {
                DeviceError::Memory { device: self.describe(), asked: bytes, available: self.memory_available() }
            }
            _ => driver_error("allocate memory")(error),
        })?;
        let address = slice.device_ptr(&self.stream).0;
        Ok(Memory { backing: Arc::new(Backing::Slice { _slice: slice }), address, bytes, cuda: self.clone() })
    }

    /// Reserves an address range of `bytes` bytes. Pages must be [mapped](Memory::back) and the range
    /// [sealed](Memory::seal) before use. `pages`: if pages are to be mapped and released later, the most pages of the
    /// range.
    pub(super) fn allocate_pages(self: &Arc<Self>, bytes: usize, pages: Option<usize>) -> Result<Memory, DeviceError> {
        let pages = Pages::reserve(self, bytes, pages)?;
        let address = pages.start;
        Ok(Memory { backing: Arc::new(Backing::Pages(pages)), address, bytes, cuda: self.clone() })
    }
}

#[allow(unsafe_code)]
impl backend::Memory for Memory {
    fn address(&self) -> u64 {
        self.address
    }

    fn own(&self) -> Option<Vec<Range<usize>>> {
        match &*self.backing {
            Backing::Slice { .. } | Backing::Shared { .. } => None,
            Backing::Pages(pages) => Some(pages.own()),
        }
    }

    fn back(&mut self, ranges: &[Range<usize>]) -> Result<(), DeviceError> {
        match &*self.backing {
            Backing::Slice { .. } | Backing::Shared { .. } => Ok(()),
            Backing::Pages(pages) => pages.back(&self.cuda, ranges),
        }
    }

    fn back_only(&mut self, ranges: &[Range<usize>]) -> Result<(), DeviceError> {
        match &*self.backing {
            Backing::Pages(pages) if pages.by_page().is_some() => pages.back_only(&self.cuda, ranges),
            _ => Ok(()),
        }
    }

    fn by_page(&self) -> Option<usize> {
        match &*self.backing {
            Backing::Slice { .. } | Backing::Shared { .. } => None,
            Backing::Pages(pages) => pages.by_page(),
        }
    }

    fn seal(&mut self) -> Result<(), DeviceError> {
        match &*self.backing {
            Backing::Slice { .. } | Backing::Shared { .. } => Ok(()),
            Backing::Pages(pages) => pages.seal(&self.cuda),
        }
    }

    fn write(&mut self, at: usize, bytes: &[u8]) -> Result<(), DeviceError> {
        assert!(at + bytes.len() <= self.bytes, "the buffer checks its ranges");
        self.cuda.bind("write memory")?;
        // SAFETY: the range lies inside the allocation; `bytes` outlives the copy, for which this function waits.
        unsafe { result::memcpy_htod_async(self.address + at as u64, bytes, self.cuda.stream.cu_stream()) }
            .and_then(|()| self.cuda.stream.synchronize())
            .map_err(driver_error("write memory"))
    }

    fn enqueue(&mut self, at: usize, bytes: &[u8]) -> Result<(), DeviceError> {
        assert!(at + bytes.len() <= self.bytes, "the buffer checks its ranges");
        // SAFETY: the range lies inside the allocation, which is freed in stream order.
        unsafe { lock(&self.cuda.uploads).write(&self.cuda, self.address + at as u64, bytes) }
    }

    fn read(&self, at: usize, bytes: &mut [u8]) -> Result<(), DeviceError> {
        assert!(at + bytes.len() <= self.bytes, "the buffer checks its ranges");
        self.cuda.bind("read memory")?;
        // SAFETY: as in `write`; stream order puts the copy after all kernels that write the range.
        unsafe { result::memcpy_dtoh_async(bytes, self.address + at as u64, self.cuda.stream.cu_stream()) }
            .and_then(|()| self.cuda.stream.synchronize())
            .map_err(driver_error("read memory"))
    }

    fn fill(&mut self, range: Range<usize>, byte: u8) -> Result<(), DeviceError> {
        assert!(range.end <= self.bytes, "the buffer checks its ranges");
        self.cuda.bind("fill memory")?;
        let (first, stream) = (self.address + range.start as u64, self.cuda.stream.cu_stream());
        // SAFETY: the range lies inside the allocation.
        unsafe { result::memset_d8_async(first, byte, range.len(), stream) }.map_err(driver_error("fill memory"))
    }
}

#[allow(unsafe_code)]
impl Memory {
    /// Copies as many bytes as it has from other memory of the same GPU.
    pub(super) fn copy_from(&mut self, from: &Memory) -> Result<(), DeviceError> {
        assert!(self.bytes <= from.bytes, "the buffer checks lengths");
        if !self.cuda.is(&from.cuda) {
            return Err(DeviceError::Driver {
                device: "the GPU".into(),
                action: "copy memory".into(),
                reason: "the buffers belong to different devices".into(),
            });
        }
        self.cuda.bind("copy memory")?;
        // SAFETY: the target is a whole allocation and the source is at least as large; they are distinct because the
        // target is borrowed exclusively.
        unsafe { result::memcpy_dtod_async(self.address, from.address, self.bytes, self.cuda.stream.cu_stream()) }
            .map_err(driver_error("copy memory"))
    }
}
