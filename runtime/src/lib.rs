//! Kernels to flows.
