//! Virtual address ranges of a GPU with memory mapped only where needed.
//!
//! After [`Pages::back`]: some ranges have mapped memory of their own, zero-initialised if that was before
//! [`Pages::seal`]. After [`Pages::seal`]: all other pages of the range map to one shared page. Values written there
//! are lost and values read there are undefined, but no access faults. After [`Pages::back_only`]: these ranges have
//! memory, and others no longer do, except for a few pages.
//!
//! Mappings change only while nothing accesses the range: the caller has made this GPU wait for others that write
//! there, and the functions here make the host wait for this GPU. Released pages are retained for reuse by other
//! ranges, until [`Cuda::release_put_by`].

use std::collections::BTreeMap;
use std::ops::Range;
use std::sync::{Arc, Mutex};

use cudarc::driver::{CudaContext, result, sys};

use super::graph::lock;
use super::{Cuda, driver_error};
use crate::device::backend::Backend;
use crate::device::error::DeviceError;

/// An address range and its mapped pages.
pub(super) struct Pages {
    context: Arc<CudaContext>,
    pub(super) start: sys::CUdeviceptr,
    /// Bytes of a page: the driver's granularity, or a multiple of it if pages are mapped and released individually.
    page: usize,
    /// Number of pages in the range.
    count: usize,
    /// Whether pages are allocated individually, so that they can be released; otherwise a run of pages is one
    /// allocation.
    by_page: bool,
    mapped: Mutex<Mapped>,
}

/// Unneeded pages stay mapped while they are at most one in this many of all mapped pages: they may be needed again.
const FEW: usize = 16;

/// Held while mappings of any GPU change: the driver is slower if it works on two at a time.
static AT_WORK: Mutex<()> = Mutex::new(());

/// The mappings of a range.
#[derive(Default)]
struct Mapped {
    /// Pages with memory of their own.
    own: Runs<Handle>,
    /// The shared page to which all other pages map, once the range is sealed.
    shared: Option<Handle>,
}

/// Runs of pages by their first page: the number of pages, and a value.
struct Runs<T>(BTreeMap<usize, (usize, T)>);

impl<T> Default for Runs<T> {
    fn default() -> Self {
        Runs(BTreeMap::new())
    }
}

impl<T> Runs<T> {
    fn iter(&self) -> impl Iterator<Item = Range<usize>> {
        self.0.iter().map(|(first, (count, _))| *first..first + count)
    }

    /// All pages, as the fewest ranges possible.
    fn ranges(&self) -> Vec<Range<usize>> {
        merged(self.iter().collect())
    }

    fn insert(&mut self, run: Range<usize>, of: T) {
        self.0.insert(run.start, (run.len(), of));
    }

    /// The sections of some ascending ranges that no run covers.
    fn gaps(&self, ranges: &[Range<usize>]) -> Vec<Range<usize>> {
        let mut found = vec![];
        for range in ranges {
            let mut next = range.start;
            let before = self.0.range(..range.start).next_back();
            for (first, (count, _)) in before.into_iter().chain(self.0.range(range.clone())) {
                if *first > next {
                    found.push(next..*first);
                }
                next = next.max(first + count);
            }
            if next < range.end {
                found.push(next..range.end);
            }
        }
        found
    }

    /// Removes the runs that are disjoint from some ascending ranges; none if they are few compared with all runs.
    fn take_many_outside(&mut self, ranges: &[Range<usize>]) -> Vec<(Range<usize>, T)> {
        let is_outside = |run: &Range<usize>| {
            let after = ranges.partition_point(|range| range.end <= run.start);
            ranges.get(after).is_none_or(|range| range.start >= run.end)
        };
        let mut firsts: Vec<usize> = self.iter().filter(is_outside).map(|run| run.start).collect();
        if firsts.len() * FEW <= self.0.len() {
            firsts.clear();
        }
        let take = |first: usize| self.0.remove(&first).map(|(count, of)| (first..first + count, of));
        firsts.into_iter().filter_map(take).collect()
    }
}

/// The same ranges in ascending order, with adjacent and overlapping ones merged and empty ones removed.
fn merged(mut ranges: Vec<Range<usize>>) -> Vec<Range<usize>> {
    ranges.retain(|range| !range.is_empty());
    ranges.sort_unstable_by_key(|range| range.start);
    let mut merged: Vec<Range<usize>> = vec![];
    for range in ranges {
        match merged.last_mut().filter(|last| last.end >= range.start) {
            Some(last) => last.end = last.end.max(range.end),
            None => merged.push(range),
        }
    }
    merged
}

/// Properties of memory allocations on a GPU.
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

/// An allocation of device memory. It is freed when this is dropped and no address maps to it.
pub(super) struct Handle(sys::CUmemGenericAllocationHandle);

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
        // SAFETY: this value owns the handle; mappings keep the memory alive. An error cannot be reported here.
        let _ = unsafe { sys::cuMemRelease(self.0) };
    }
}

#[allow(unsafe_code)]
impl Pages {
    /// Reserves a range of `bytes` bytes without memory. `pages`: if pages are to be mapped and released individually,
    /// the most pages of the range.
    pub(super) fn reserve(cuda: &Cuda, bytes: usize, pages: Option<usize>) -> Result<Pages, DeviceError> {
        let failed = || driver_error("reserve an address range");
        cuda.bind("reserve an address range")?;
        let (mut page, mut start) = (0, 0);
        let least = sys::CUmemAllocationGranularity_flags::CU_MEM_ALLOC_GRANULARITY_MINIMUM;
        // SAFETY: all pointers lead to live values.
        unsafe { sys::cuMemGetAllocationGranularity(&mut page, &properties(cuda), least) }.result().map_err(failed())?;
        if let Some(pages) = pages {
            page *= bytes.max(1).div_ceil(page * pages.max(1));
        }
        let count = bytes.max(1).div_ceil(page);
        // SAFETY: as before; the driver chooses the address.
        unsafe { sys::cuMemAddressReserve(&mut start, count * page, 0, 0, 0) }.result().map_err(failed())?;
        let by_page = pages.is_some();
        Ok(Pages { context: cuda.context.clone(), start, page, count, by_page, mapped: Mutex::default() })
    }

    /// Number of pages, if they are mapped and released individually.
    pub(super) fn by_page(&self) -> Option<usize> {
        self.by_page.then_some(self.count)
    }

    /// Byte ranges with memory of their own.
    pub(super) fn own(&self) -> Vec<Range<usize>> {
        let in_bytes = |run: Range<usize>| run.start * self.page..run.end * self.page;
        lock(&self.mapped).own.ranges().into_iter().map(in_bytes).collect()
    }

    /// The pages of some byte ranges.
    fn pages_of(&self, ranges: &[Range<usize>]) -> Vec<Range<usize>> {
        let pages = |range: &Range<usize>| range.start / self.page..range.end.div_ceil(self.page).min(self.count);
        merged(ranges.iter().filter(|range| !range.is_empty()).map(pages).collect())
    }

    /// Maps memory for the pages of some byte ranges that have none; zero-initialised unless the range is sealed.
    pub(super) fn back(&self, cuda: &Cuda, ranges: &[Range<usize>]) -> Result<(), DeviceError> {
        let mut mapped = lock(&self.mapped);
        let gaps = mapped.own.gaps(&self.pages_of(ranges));
        if gaps.is_empty() {
            return Ok(());
        }
        cuda.bind("map memory")?;
        if mapped.shared.is_some() {
            self.wait()?;
        }
        let _alone = lock(&AT_WORK);
        self.fill(cuda, &mut mapped, gaps)
    }

    /// As [`Pages::back`], and releases all other pages, unless they are few. The range must be sealed.
    pub(super) fn back_only(&self, cuda: &Cuda, ranges: &[Range<usize>]) -> Result<(), DeviceError> {
        let (mut mapped, needed_ranges) = (lock(&self.mapped), self.pages_of(ranges));
        let (gaps, gone) = (mapped.own.gaps(&needed_ranges), mapped.own.take_many_outside(&needed_ranges));
        if gaps.is_empty() && gone.is_empty() {
            return Ok(());
        }
        cuda.bind("map memory")?;
        self.wait()?;
        let _alone = lock(&AT_WORK);
        let sealed = merged(gone.iter().map(|(run, _)| run.clone()).collect());
        for (run, handle) in gone {
            self.unmap(run)?;
            if self.by_page {
                lock(&cuda.put_by).entry(self.page).or_default().push(handle);
            }
        }
        self.share(cuda, &mapped, sealed)?;
        self.fill(cuda, &mut mapped, gaps)
    }

    /// Maps all unbacked pages to one shared page.
    pub(super) fn seal(&self, cuda: &Cuda) -> Result<(), DeviceError> {
        let mut mapped = lock(&self.mapped);
        if mapped.shared.is_some() {
            return Ok(());
        }
        cuda.bind("map memory")?;
        let _alone = lock(&AT_WORK);
        mapped.shared = Some(Handle::new(cuda, self.page)?);
        let left = mapped.own.gaps(std::slice::from_ref(&(0..self.count)));
        self.share(cuda, &mapped, left)
    }

    /// Maps memory for runs of pages that have none of their own.
    fn fill(&self, cuda: &Cuda, mapped: &mut Mapped, runs: Vec<Range<usize>>) -> Result<(), DeviceError> {
        for run in runs {
            let pages = if self.by_page { 1 } else { run.len() };
            let pieces = run.clone().step_by(pages).map(|first| {
                let handle = if self.by_page { cuda.page(self.page)? } else { Handle::new(cuda, pages * self.page)? };
                Ok((first..first + pages, handle))
            });
            let pieces = pieces.collect::<Result<Vec<_>, DeviceError>>()?;
            if mapped.shared.is_some() {
                run.clone().try_for_each(|page| self.unmap(page..page + 1))?;
            }
            for (pages, handle) in pieces {
                self.map(pages.clone(), &handle)?;
                mapped.own.insert(pages, handle);
            }
            self.allow(cuda, run.clone())?;
            if mapped.shared.is_none() {
                let (first, bytes) = self.in_bytes(&run);
                // SAFETY: the pages are mapped, and this GPU may write them.
                unsafe { result::memset_d8_async(first, 0, bytes, cuda.stream.cu_stream()) }
                    .map_err(driver_error("fill memory"))?;
            }
        }
        Ok(())
    }

    /// Maps runs of unbacked pages to the shared page, if there is one.
    fn share(&self, cuda: &Cuda, mapped: &Mapped, runs: Vec<Range<usize>>) -> Result<(), DeviceError> {
        let Some(shared) = &mapped.shared else { return Ok(()) };
        for run in runs {
            run.clone().try_for_each(|page| self.map(page..page + 1, shared))?;
            self.allow(cuda, run)?;
        }
        Ok(())
    }

    /// Address and bytes of a run of pages.
    fn in_bytes(&self, run: &Range<usize>) -> (sys::CUdeviceptr, usize) {
        (self.start + (run.start * self.page) as u64, run.len() * self.page)
    }

    fn map(&self, run: Range<usize>, handle: &Handle) -> Result<(), DeviceError> {
        let (first, bytes) = self.in_bytes(&run);
        // SAFETY: the pages belong to this range and are unmapped; the handle has this many bytes.
        unsafe { sys::cuMemMap(first, bytes, 0, handle.0, 0) }.result().map_err(driver_error("map memory"))
    }

    /// Unmaps pages that were mapped together.
    fn unmap(&self, run: Range<usize>) -> Result<(), DeviceError> {
        let (first, bytes) = self.in_bytes(&run);
        // SAFETY: the pages belong to this range, and the caller has waited for all work that accesses it.
        unsafe { sys::cuMemUnmap(first, bytes) }.result().map_err(driver_error("map memory"))
    }

    /// Blocks until this GPU is idle.
    fn wait(&self) -> Result<(), DeviceError> {
        self.context.synchronize().map_err(driver_error("run the kernels"))
    }

    /// Tests whether this GPU supports all of this, with a range of two pages; otherwise returns the reason.
    pub(super) fn check(cuda: &Cuda) -> Result<(), DeviceError> {
        let pages = Pages::reserve(cuda, 1, Some(2))?;
        let pages = Pages::reserve(cuda, 2 * pages.page, Some(2))?;
        pages.back(cuda, std::slice::from_ref(&(0..1)))?;
        pages.seal(cuda)?;
        pages.back_only(cuda, std::slice::from_ref(&(pages.page..2 * pages.page)))?;
        cuda.release_put_by();
        cuda.synchronize()
    }

    /// Grants read and write access to some pages, to this GPU and to those with peer access to it.
    fn allow(&self, cuda: &Cuda, run: Range<usize>) -> Result<(), DeviceError> {
        let flags = sys::CUmemAccess_flags::CU_MEM_ACCESS_FLAGS_PROT_READWRITE;
        let access = |device: i32| sys::CUmemAccessDesc { location: location(device), flags };
        let all: Vec<_> = cuda.reached_by().into_iter().chain([cuda.context.cu_device()]).map(access).collect();
        let (first, bytes) = self.in_bytes(&run);
        // SAFETY: the pages are mapped, and the number of access descriptors is that of the list.
        unsafe { sys::cuMemSetAccess(first, bytes, all.as_ptr(), all.len()) }
            .result()
            .map_err(driver_error("map memory"))
    }
}

impl Cuda {
    /// A page of `bytes` bytes: a retained one, if there is one.
    fn page(&self, bytes: usize) -> Result<Handle, DeviceError> {
        if let Some(page) = lock(&self.put_by).get_mut(&bytes).and_then(Vec::pop) {
            return Ok(page);
        }
        match Handle::new(self, bytes) {
            Err(DeviceError::Memory { .. }) => {
                // Retained pages of other sizes may occupy the memory.
                self.release_put_by();
                Handle::new(self, bytes)
            }
            answer => answer,
        }
    }

    /// Returns retained pages to the driver.
    pub(super) fn release_put_by(&self) {
        lock(&self.put_by).clear();
    }
}

#[allow(unsafe_code)]
impl Drop for Pages {
    fn drop(&mut self) {
        if self.context.bind_to_thread().is_err() {
            return;
        }
        // No work accesses the range any more: the stream of this GPU has waited for other GPUs. An error cannot be
        // reported here.
        let _ = self.context.synchronize();
        let mapped = lock(&self.mapped);
        let others = mapped.own.gaps(std::slice::from_ref(&(0..self.count)));
        let shared = others.into_iter().flatten().filter(|_| mapped.shared.is_some()).map(|page| page..page + 1);
        mapped.own.iter().chain(shared).for_each(|run| drop(self.unmap(run)));
        // SAFETY: this value owns the range, and nothing is mapped to it.
        let _ = unsafe { sys::cuMemAddressFree(self.start, self.count * self.page) };
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn runs(all: &[(usize, usize)]) -> Runs<()> {
        Runs(all.iter().map(|(first, count)| (*first, (*count, ()))).collect())
    }

    fn ends(ranges: Vec<Range<usize>>) -> Vec<(usize, usize)> {
        ranges.into_iter().map(|range| (range.start, range.end)).collect()
    }

    #[test]
    fn ranges_are_merged_where_they_touch() {
        assert_eq!(merged(vec![5..7, 0..2, 9..9, 2..3, 6..8, 10..11]), [0..3, 5..8, 10..11]);
    }

    #[test]
    fn gaps_are_what_no_run_has() {
        let runs = runs(&[(2, 3), (5, 1), (9, 2)]);
        let of = |range: Range<usize>| ends(runs.gaps(std::slice::from_ref(&range)));
        assert_eq!(of(0..12), [(0, 2), (6, 9), (11, 12)]);
        assert_eq!(of(3..9), [(6, 9)]);
        assert_eq!(of(4..6), []);
        assert_eq!(of(10..14), [(11, 14)]);
        assert_eq!(of(20..21), [(20, 21)]);
        assert_eq!(runs.gaps(&[0..3, 8..10]), [0..2, 8..9]);
        assert_eq!(runs.ranges(), [2..6, 9..11]);
    }

    #[test]
    fn runs_go_of_which_nothing_is_wanted() {
        let mut runs = runs(&[(2, 3), (5, 1), (6, 1), (9, 2)]);
        let gone = runs.take_many_outside(&[0..2, 4..5, 6..9]).into_iter().map(|(run, ())| run);
        assert_eq!(gone.collect::<Vec<_>>(), [5..6, 9..11]);
        assert_eq!(runs.iter().collect::<Vec<_>>(), [2..5, 6..7]);
        assert_eq!(runs.take_many_outside(&[]).len(), 2);
    }

    #[test]
    fn few_pages_that_are_not_wanted_stay() {
        let mut runs = Runs((0..2 * FEW).map(|page| (page, (1, ()))).collect());
        assert!(runs.take_many_outside(std::slice::from_ref(&(2..2 * FEW))).is_empty());
        assert_eq!(runs.take_many_outside(std::slice::from_ref(&(3..2 * FEW))).len(), 3);
        assert_eq!(ends(runs.ranges()), [(3, 2 * FEW)]);
    }

    #[test]
    fn after_random_changes_each_page_that_is_wanted_has_memory_and_few_others_have() {
        let (mut runs, mut state) = (Runs::default(), 7u64);
        let mut draw = |below: u64| {
            state = state.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
            (state >> 33) % below
        };
        for _ in 0..500 {
            let mut needed_ranges = vec![];
            for _ in 0..draw(6) {
                let first = draw(90) as usize;
                needed_ranges.push(first..first + draw(9) as usize);
            }
            let needed_ranges = merged(needed_ranges);
            let gaps = runs.gaps(&needed_ranges);
            for (run, ()) in runs.take_many_outside(&needed_ranges) {
                assert!(needed_ranges.iter().all(|range| range.end <= run.start || range.start >= run.end));
            }
            let (before, more) = (runs.0.len(), gaps.iter().map(Range::len).sum::<usize>());
            gaps.into_iter().flatten().for_each(|page| runs.insert(page..page + 1, ()));
            assert_eq!(runs.0.len(), before + more, "nothing is mapped twice");
            assert!(runs.gaps(&needed_ranges).is_empty());
            let needed = needed_ranges.iter().map(Range::len).sum::<usize>();
            assert!((runs.0.len() - needed) * FEW <= before, "{} of {needed}", runs.0.len());
        }
    }
}
