//! Memory of a GPU of which parts alone are there: the address range is that of the whole, pages lie behind what is needed of it.
//!
//! After [`Pages::back`]: memory of its own, zeros, lies behind some ranges. After [`Pages::seal`]: one page lies behind all others, again and
//! again. What is written there is lost, and what is read of it has no meaning; but no kernel that does so fails.

use std::collections::BTreeMap;
use std::ops::Range;
use std::sync::{Arc, Mutex};

use cudarc::driver::{CudaContext, result, sys};

use super::graph::lock;
use super::{Cuda, driver_error};
use crate::device::error::DeviceError;

/// An address range with pages behind it.
pub(super) struct Pages {
    context: Arc<CudaContext>,
    pub(super) start: sys::CUdeviceptr,
    /// Bytes of a page.
    page: usize,
    /// Pages of the range.
    count: usize,
    mapped: Mutex<Mapped>,
}

/// What lies behind a range.
#[derive(Default)]
struct Mapped {
    /// Runs of pages by their first, with how many they are.
    runs: BTreeMap<usize, usize>,
    /// Pages with memory of their own.
    own: Vec<Range<usize>>,
}

/// Memory of a GPU, by the page.
fn properties(cuda: &Cuda) -> sys::CUmemAllocationProp {
    sys::CUmemAllocationProp {
        type_: sys::CUmemAllocationType::CU_MEM_ALLOCATION_TYPE_PINNED,
        requestedHandleTypes: sys::CUmemAllocationHandleType(0),
        location: location(cuda.context.cu_device()),
        win32HandleMetaData: std::ptr::null_mut(),
        allocFlags: sys::CUmemAllocationProp_st__bindgen_ty_1 {
            compressionType: 0,
            gpuDirectRDMACapable: 0,
            usage: 0,
            reserved: [0; 4],
        },
    }
}

fn location(device: sys::CUdevice) -> sys::CUmemLocation {
    sys::CUmemLocation { type_: sys::CUmemLocationType::CU_MEM_LOCATION_TYPE_DEVICE, id: device }
}

/// A part of the memory of a GPU, given back when it is mapped nowhere and this is dropped.
struct Handle(sys::CUmemGenericAllocationHandle);

#[allow(unsafe_code)]
impl Handle {
    fn new(cuda: &Cuda, bytes: usize) -> Result<Handle, DeviceError> {
        let mut handle = 0;
        // SAFETY: handle and properties are live.
        match unsafe { sys::cuMemCreate(&mut handle, bytes, &properties(cuda), 0) } {
            sys::CUresult::CUDA_ERROR_OUT_OF_MEMORY => {
                Err(DeviceError::Memory { device: cuda.describe(), asked: bytes, available: cuda.memory_available() })
            }
            answer => answer.result().map(|()| Handle(handle)).map_err(driver_error("allocate memory")),
        }
    }
}

#[allow(unsafe_code)]
impl Drop for Handle {
    fn drop(&mut self) {
        // SAFETY: the handle is this one's own; what it is mapped to keeps the memory. There is nobody to tell of an error.
        let _ = unsafe { sys::cuMemRelease(self.0) };
    }
}

#[allow(unsafe_code)]
impl Pages {
    /// A range of so many bytes, with nothing behind it.
    pub(super) fn reserve(cuda: &Cuda, bytes: usize) -> Result<Pages, DeviceError> {
        let failed = || driver_error("reserve an address range");
        cuda.bind("reserve an address range")?;
        let (mut page, mut start) = (0, 0);
        let least = sys::CUmemAllocationGranularity_flags::CU_MEM_ALLOC_GRANULARITY_MINIMUM;
        // SAFETY: all pointers are to live values.
        unsafe { sys::cuMemGetAllocationGranularity(&mut page, &properties(cuda), least) }.result().map_err(failed())?;
        let count = bytes.max(1).div_ceil(page);
        // SAFETY: as before; the driver chooses the address.
        unsafe { sys::cuMemAddressReserve(&mut start, count * page, 0, 0, 0) }.result().map_err(failed())?;
        Ok(Pages { context: cuda.context.clone(), start, page, count, mapped: Mutex::default() })
    }

    /// The ranges of bytes with memory of their own.
    pub(super) fn own(&self) -> Vec<Range<usize>> {
        lock(&self.mapped).own.iter().map(|run| run.start * self.page..run.end * self.page).collect()
    }

    /// Puts memory, zeros, behind the pages of some ranges of bytes that have none yet.
    pub(super) fn back(&self, cuda: &Cuda, ranges: &[Range<usize>]) -> Result<(), DeviceError> {
        cuda.bind("map memory")?;
        let mut mapped = lock(&self.mapped);
        let mut wanted: Vec<Range<usize>> = vec![];
        let pages = |range: &Range<usize>| range.start / self.page..range.end.div_ceil(self.page).min(self.count);
        let mut sorted: Vec<Range<usize>> = ranges.iter().filter(|range| !range.is_empty()).map(pages).collect();
        sorted.sort_unstable_by_key(|range| range.start);
        for range in sorted {
            match wanted.last_mut().filter(|last| last.end >= range.start) {
                Some(last) => last.end = last.end.max(range.end),
                None => wanted.push(range),
            }
        }
        for run in wanted.into_iter().flat_map(|range| gaps(&mapped.runs, range)).collect::<Vec<_>>() {
            let (first, bytes) = (self.start + (run.start * self.page) as u64, run.len() * self.page);
            let handle = Handle::new(cuda, bytes)?;
            self.map(&mut mapped, run.clone(), &handle)?;
            self.allow(cuda, run.clone())?;
            mapped.own.push(run);
            // SAFETY: the pages are mapped and this GPU may write them.
            unsafe { result::memset_d8_async(first, 0, bytes, cuda.stream.cu_stream()) }
                .map_err(driver_error("fill memory"))?;
        }
        Ok(())
    }

    /// Puts one page behind all that have none.
    pub(super) fn seal(&self, cuda: &Cuda) -> Result<(), DeviceError> {
        let mut mapped = lock(&self.mapped);
        let left = gaps(&mapped.runs, 0..self.count);
        if left.is_empty() {
            return Ok(());
        }
        cuda.bind("map memory")?;
        let page = Handle::new(cuda, self.page)?;
        for run in left {
            for at in run.clone() {
                self.map(&mut mapped, at..at + 1, &page)?;
            }
            self.allow(cuda, run)?;
        }
        Ok(())
    }

    fn map(&self, mapped: &mut Mapped, run: Range<usize>, handle: &Handle) -> Result<(), DeviceError> {
        let (first, bytes) = (self.start + (run.start * self.page) as u64, run.len() * self.page);
        // SAFETY: the pages are of this range and nothing is mapped there; the handle has as many bytes.
        unsafe { sys::cuMemMap(first, bytes, 0, handle.0, 0) }.result().map_err(driver_error("map memory"))?;
        mapped.runs.insert(run.start, run.len());
        Ok(())
    }

    /// Whether this GPU can do all this, and why not otherwise: with two pages, one of which has memory of its own.
    pub(super) fn check(cuda: &Cuda) -> Result<(), DeviceError> {
        let pages = Pages::reserve(cuda, 1)?;
        let pages = Pages::reserve(cuda, 2 * pages.page)?;
        pages.back(cuda, std::slice::from_ref(&(0..1)))?;
        pages.seal(cuda)?;
        cuda.synchronize()
    }

    /// Lets this GPU and those that reach it read and write some pages.
    fn allow(&self, cuda: &Cuda, run: Range<usize>) -> Result<(), DeviceError> {
        let flags = sys::CUmemAccess_flags::CU_MEM_ACCESS_FLAGS_PROT_READWRITE;
        let access = |device: i32| sys::CUmemAccessDesc { location: location(device), flags };
        let all: Vec<_> = cuda.reached_by().into_iter().chain([cuda.context.cu_device()]).map(access).collect();
        let (first, bytes) = (self.start + (run.start * self.page) as u64, run.len() * self.page);
        // SAFETY: the pages are mapped, and the descriptions are as many as is said.
        unsafe { sys::cuMemSetAccess(first, bytes, all.as_ptr(), all.len()) }
            .result()
            .map_err(driver_error("map memory"))
    }
}

/// The parts of a range that no run has.
fn gaps(runs: &BTreeMap<usize, usize>, range: Range<usize>) -> Vec<Range<usize>> {
    let (mut found, mut next) = (vec![], range.start);
    let before = runs.range(..range.start).next_back();
    for (first, count) in before.into_iter().chain(runs.range(range.clone())) {
        if *first > next {
            found.push(next..*first);
        }
        next = next.max(first + count);
    }
    if next < range.end {
        found.push(next..range.end);
    }
    found
}

#[allow(unsafe_code)]
impl Drop for Pages {
    fn drop(&mut self) {
        if self.context.bind_to_thread().is_err() {
            return;
        }
        // Nothing works on it any more: other GPUs have been waited for by this one's stream. There is nobody to tell of an error.
        let _ = self.context.synchronize();
        for (first, count) in &lock(&self.mapped).runs {
            // SAFETY: this is what has been mapped.
            let _ = unsafe { sys::cuMemUnmap(self.start + (first * self.page) as u64, count * self.page) };
        }
        // SAFETY: the range is this one's own, and nothing is mapped to it.
        let _ = unsafe { sys::cuMemAddressFree(self.start, self.count * self.page) };
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn gaps_are_what_no_run_has() {
        let runs = BTreeMap::from([(2, 3), (5, 1), (9, 2)]);
        let of = |range: Range<usize>| -> Vec<(usize, usize)> {
            gaps(&runs, range).into_iter().map(|gap| (gap.start, gap.end)).collect()
        };
        assert_eq!(of(0..12), [(0, 2), (6, 9), (11, 12)]);
        assert_eq!(of(3..9), [(6, 9)]);
        assert_eq!(of(4..6), []);
        assert_eq!(of(10..14), [(11, 14)]);
        assert_eq!(of(20..21), [(20, 21)]);
    }
}
