//! Bindings of the shipped kernels.
