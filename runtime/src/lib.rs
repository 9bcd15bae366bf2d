//! Kernels to flows.
pub mod snapshot;
