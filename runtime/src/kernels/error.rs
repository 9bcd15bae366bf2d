//! Errors of kernels, with advice.

use lbm_bundle::{ABI, Target};
use miette::Diagnostic;
use thiserror::Error;

use crate::device::DeviceError;

/// Why a bundle cannot be used or a kernel cannot be launched.
#[derive(Debug, Error, Diagnostic)]
pub enum KernelError {
    /// The bundle follows another version of the kernel interface.
    #[error("the bundle of `{spec}` follows version {found} of the kernel interface, this program version {ABI}")]
    #[diagnostic(code(L0301), help("generate the bundle again with this version of lbmc"))]
    Abi {
        /// The spec.
        spec: String,
        /// Version of the bundle.
        found: u32,
    },

    /// The bundle is for another target.
    #[error("the bundle of `{spec}` is for the target {}, the device ({device}) runs {}", found.name(), expected.name())]
    #[diagnostic(code(L0302), help("generate the bundle with `--target {}`", expected.name()))]
    WrongTarget {
        /// The spec.
        spec: String,
        /// Target of the bundle.
        found: Target,
        /// Target of the device.
        expected: Target,
        /// The device.
        device: String,
    },

    /// The bundle's kernels work on plain arrays.
    #[error("the kernels of `{spec}` work on plain arrays (layout soa), this runtime on blocks")]
    #[diagnostic(code(L0303), help("generate the bundle with `--layout blocks`, the default"))]
    WrongLayout {
        /// The spec.
        spec: String,
    },

    /// The manifest is inconsistent or violates the kernel interface.
    #[error("the manifest of `{spec}` is wrong: {reason}")]
    #[diagnostic(code(L0304), help("generate the bundle again"))]
    Manifest {
        /// The spec.
        spec: String,
        /// The reason.
        reason: String,
    },

    /// The bundle has no kernel for a role.
    #[error("the bundle of `{spec}` has no {role} kernel")]
    #[diagnostic(code(L0304), help("generate the bundle again"))]
    MissingRole {
        /// The spec.
        spec: String,
        /// The role.
        role: String,
    },

    /// The arguments belong to another bundle.
    #[error("kernel `{kernel}` of `{spec}` was given arrays or parameters of another bundle")]
    #[diagnostic(code(L0305))]
    OtherBundle {
        /// The spec.
        spec: String,
        /// Symbol of the kernel.
        kernel: String,
    },

    /// An error of the device.
    #[error(transparent)]
    #[diagnostic(transparent)]
    Device(#[from] DeviceError),
}
