//! Kernels to flows.
pub mod case;
pub mod snapshot;
