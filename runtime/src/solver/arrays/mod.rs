//! Per-block arrays on a device, other data that kernels read, and the memory of all these.

pub(crate) mod cells;
pub(crate) mod digits;
pub mod fields;
pub mod memory;
pub(crate) mod pages;
pub(crate) mod params;
pub(crate) mod places;
pub(crate) mod prescribed;
pub(crate) mod statistics;
pub(crate) mod walls;
