//! What can go wrong on a device, with advice.

use miette::Diagnostic;
use thiserror::Error;

use super::Bytes;

/// A failure of a device or of the compiler that serves it.
#[derive(Debug, Error, Diagnostic)]
pub enum DeviceError {
    /// The host target needs a C compiler.
    #[error("no C compiler found: `{tried}` cannot be run ({reason})")]
    #[diagnostic(
        code(L0601),
        help(
            "install one (Debian and Ubuntu: `apt install gcc`; Fedora: `dnf install gcc`; macOS: `xcode-select --install`) or name it in the environment variable CC"
        )
    )]
    NoCompiler {
        /// The command that was tried.
        tried: String,
        /// What the system said.
        reason: String,
    },

    /// A compiler refused a kernel source.
    #[error("{compiler} refused {file}:\n{words}")]
    #[diagnostic(
        code(L0602),
        help("the source is the bundle's; if lbmc wrote it unchanged, this is a bug of lbmc or an outdated compiler")
    )]
    Compile {
        /// The compiler.
        compiler: String,
        /// Name of the source file.
        file: String,
        /// What the compiler said.
        words: String,
    },

    /// No CUDA device can be used.
    #[error("no GPU can be used: {reason}")]
    #[diagnostic(
        code(L0603),
        help(
            "install the NVIDIA driver and the NVRTC library of CUDA 13, or run on the CPU: `lbmc run CASE --set target=cpu`"
        )
    )]
    NoGpu {
        /// Why.
        reason: String,
    },

    /// An allocation does not fit.
    #[error("{device} has not enough memory: {} needed, {} available", Bytes(*.asked), .available.map_or("an unknown amount".to_string(), |bytes| Bytes(bytes).to_string()))]
    #[diagnostic(code(L0604), help("take fewer cells, or end what else uses this memory"))]
    Memory {
        /// Which device.
        device: String,
        /// Bytes asked.
        asked: usize,
        /// Bytes available, if the device says so.
        available: Option<usize>,
    },

    /// A module lacks a symbol that the manifest names.
    #[error("the compiled kernels have no symbol `{symbol}`")]
    #[diagnostic(
        code(L0605),
        help("the manifest and the source of the bundle do not belong together: generate it again")
    )]
    MissingKernel {
        /// The symbol.
        symbol: String,
    },

    /// Thread blocks of a kernel share more memory than the GPU has for one.
    #[error("thread blocks of `{kernel}` share {} KiB, which is more than this GPU has for one", bytes >> 10)]
    #[diagnostic(
        code(L0606),
        help("take smaller blocks, such as `block = [8, 8, 4]`, fewer bits, or `storage = \"populations\"`")
    )]
    Shared {
        /// The kernel.
        kernel: String,
        /// What they share.
        bytes: u32,
    },

    /// A launch cannot be made or failed.
    #[error("launch of `{kernel}` failed: {reason}")]
    #[diagnostic(code(L0607))]
    Launch {
        /// The kernel.
        kernel: String,
        /// Why.
        reason: String,
    },

    /// The compiler has no checks for kernels.
    #[error("{compiler} cannot compile kernels with checks")]
    #[diagnostic(code(L0612), help("name GCC in the environment variable CC, or take `target = \"cpu\"`"))]
    NoChecks {
        /// The compiler.
        compiler: String,
    },

    /// A kernel that was compiled with checks does what it may not.
    #[error("the kernel `{kernel}` is wrong: {what}")]
    #[diagnostic(
        code(L0611),
        help(
            "its text is that of the bundle: if lbmc wrote it unchanged, this is a bug of lbmc, of the coupling or of the rule at work"
        )
    )]
    Access {
        /// The kernel.
        kernel: String,
        /// What it does.
        what: String,
    },

    /// The driver reports an error.
    #[error("{device} failed to {action}: {reason}")]
    #[diagnostic(code(L0608), help("errors of a GPU are often reported late: an earlier kernel may be the cause"))]
    Driver {
        /// Which device.
        device: String,
        /// What was asked of it.
        action: String,
        /// What the driver said.
        reason: String,
    },

    /// A buffer was used as what it is not.
    #[error("a buffer of {len} values of {scalar} was used {wrong}")]
    #[diagnostic(code(L0609))]
    Buffer {
        /// Length of the buffer.
        len: usize,
        /// Its type.
        scalar: &'static str,
        /// How it was used.
        wrong: String,
    },

    /// A compiled kernel can neither be cached nor stored for the moment.
    #[error("compiled kernels cannot be stored in {place}: {reason}")]
    #[diagnostic(code(L0610), help("make room, or name a writable directory in the environment variable LBMC_CACHE"))]
    Storage {
        /// Where it was tried.
        place: String,
        /// What the system said.
        reason: String,
    },
}
