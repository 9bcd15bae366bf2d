//! Launches: a kernel with its arguments, over a number of items.

use std::ops::Range;

use super::array::Array;
use super::{Device, DeviceError, Kernel};

/// An argument of a launch.
#[derive(Debug)]
pub enum Value<'a> {
    /// `int32_t`
    Int(i32),
    /// A struct, or a number of another type, as its bytes.
    Struct(&'a [u64]),
    /// Pointer to an array that the kernel reads.
    Read(&'a Array),
    /// Pointer to a section of an array that the kernel reads.
    Slice(&'a Array, Range<usize>),
    /// Pointer to an array that the kernel writes.
    Write(&'a mut Array),
    /// Pointer to a value of an array, from which on the kernel reads and writes.
    WriteFrom(&'a mut Array, usize),
    /// Pointer to an array that the kernel writes in the memory of another GPU, through peer access.
    Peer(&'a mut Array),
}

/// Launch configuration: how the items are distributed.
#[derive(Clone, Copy, Debug)]
pub struct Shape {
    /// Number of items.
    pub items: usize,
    /// Host: whether the launch may be split into several. Each gets a section of the first argument (a pointer to one
    /// `int32_t` per item) and the length of that section as the second.
    pub divisible: bool,
    /// GPU: threads per thread block.
    pub threads: u32,
    /// GPU: items per thread block.
    pub items_per_group: u32,
    /// GPU: thread blocks that work on the same items; the y dimension of the grid.
    pub passes: u32,
    /// GPU: bytes of dynamic shared memory per thread block.
    pub shared: u32,
}

impl Device {
    /// Runs a kernel over `shape.items` items. The arguments must match the parameters of the kernel, in order.
    pub fn launch(&self, kernel: &Kernel, shape: Shape, args: &[Value<'_>]) -> Result<(), DeviceError> {
        if shape.items == 0 {
            return Ok(());
        }
        let failed = |reason: &str| DeviceError::Launch { kernel: kernel.symbol.clone(), reason: reason.to_string() };
        if shape.items > i32::MAX as usize {
            return Err(failed("more items than an int32 can count"));
        }
        let is_behind = |arg: &Value<'_>| match arg {
            Value::Slice(array, range) => range.end > array.len,
            Value::WriteFrom(array, start) => *start > array.len,
            _ => false,
        };
        if args.iter().any(is_behind) {
            return Err(failed("a part of an array ends behind its end"));
        }
        self.backend.launch(&kernel.symbol, &*kernel.entry, shape, args)
    }
}
