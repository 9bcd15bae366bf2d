//! Arrays of blocks on a device, what kernels read beside them, and what all of that takes in memory.

pub(crate) mod cells;
pub mod fields;
pub mod memory;
pub(crate) mod pages;
pub(crate) mod params;
pub(crate) mod places;
pub(crate) mod prescribed;
pub(crate) mod statistics;
pub(crate) mod walls;
