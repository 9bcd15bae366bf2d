//! Memory of the host: zero-initialised pages, all at once or when they are first written.

use std::alloc::{Layout, alloc, alloc_zeroed, dealloc};
use std::ops::Range;
use std::ptr::NonNull;

use crate::device::backend;
use crate::device::error::DeviceError;

/// Alignment of memory: one page, so that no two buffers share a cache line or a vector load.
const ALIGNMENT: usize = 4096;

/// Alignment of memory of at least this size: a huge page. Kernels access many places of a large array in short
/// succession, more than the TLB has entries for small pages.
const HUGE_PAGE: usize = 2 << 20;

/// Zero-initialised, page-aligned memory. Large allocations request huge pages.
pub(in crate::device) struct Memory {
    start: NonNull<u8>,
    bytes: usize,
    /// The allocation that contains this memory.
    allocated: (NonNull<u8>, Layout),
}

// SAFETY: `Memory` has exclusive ownership of its bytes, like a `Vec<u8>`.
#[allow(unsafe_code)]
unsafe impl Send for Memory {}
// SAFETY: shared access only reads; kernels write through `&mut Array` arguments.
#[allow(unsafe_code)]
unsafe impl Sync for Memory {}

#[allow(unsafe_code)]
impl Memory {
    /// Allocates memory; `None` if there is not enough.
    pub(super) fn new(bytes: usize) -> Option<Self> {
        let layout = Self::layout(bytes)?;
        // SAFETY: the size is not zero.
        let start = NonNull::new(unsafe { alloc(layout) })?;
        #[cfg(target_os = "linux")]
        if layout.align() == HUGE_PAGE {
            // SAFETY: the range is the allocation, nothing has been written to it, and the advice preserves its
            // contents. If the system has no huge pages, nothing changes, so the result is ignored.
            let _ = unsafe { libc::madvise(start.as_ptr().cast(), bytes, libc::MADV_HUGEPAGE) };
        }
        // SAFETY: the range is the allocation.
        unsafe { start.write_bytes(0, bytes) };
        Some(Memory { start, bytes, allocated: (start, layout) })
    }

    /// Allocates memory whose pages the system provides when they are first written; pages never written take no
    /// memory. The system allocator returns untouched zero pages only if no alignment is requested.
    pub(super) fn sparse(bytes: usize) -> Option<Self> {
        let layout = Layout::from_size_align(bytes.checked_add(ALIGNMENT)?, 1).ok()?;
        // SAFETY: the size is not zero.
        let all = NonNull::new(unsafe { alloc_zeroed(layout) })?;
        // SAFETY: the allocation has `ALIGNMENT` bytes more than `bytes`, and the next aligned address is less than
        // that away.
        let start = unsafe { all.add(all.align_offset(ALIGNMENT)) };
        Some(Memory { start, bytes, allocated: (all, layout) })
    }

    fn layout(bytes: usize) -> Option<Layout> {
        let alignment = if bytes >= HUGE_PAGE { HUGE_PAGE } else { ALIGNMENT };
        Layout::from_size_align(bytes.max(1), alignment).ok()
    }

    pub(super) fn as_slice(&self) -> &[u8] {
        // SAFETY: the `bytes` bytes from `start` on are initialised and belong to `self`.
        unsafe { std::slice::from_raw_parts(self.start.as_ptr(), self.bytes) }
    }

    pub(super) fn as_mut_slice(&mut self) -> &mut [u8] {
        // SAFETY: as in `as_slice`, and `self` is borrowed exclusively.
        unsafe { std::slice::from_raw_parts_mut(self.start.as_ptr(), self.bytes) }
    }
}

impl backend::Memory for Memory {
    fn address(&self) -> u64 {
        self.start.as_ptr() as usize as u64
    }

    fn on_host(&self) -> Option<&[u8]> {
        Some(self.as_slice())
    }

    fn on_host_mut(&mut self) -> Option<&mut [u8]> {
        Some(self.as_mut_slice())
    }

    fn write(&mut self, at: usize, bytes: &[u8]) -> Result<(), DeviceError> {
        self.as_mut_slice()[at..at + bytes.len()].copy_from_slice(bytes);
        Ok(())
    }

    fn read(&self, at: usize, bytes: &mut [u8]) -> Result<(), DeviceError> {
        bytes.copy_from_slice(&self.as_slice()[at..at + bytes.len()]);
        Ok(())
    }

    fn fill(&mut self, range: Range<usize>, byte: u8) -> Result<(), DeviceError> {
        self.as_mut_slice()[range].fill(byte);
        Ok(())
    }
}

#[allow(unsafe_code)]
impl Drop for Memory {
    fn drop(&mut self) {
        let (all, layout) = self.allocated;
        // SAFETY: allocated with the same layout.
        unsafe { dealloc(all.as_ptr(), layout) }
    }
}
