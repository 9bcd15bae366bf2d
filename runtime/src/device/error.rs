//! Errors of devices, with advice.

use miette::Diagnostic;
use thiserror::Error;

use super::Bytes;

/// An error of a device or of the compiler of its kernels.
#[derive(Debug, Error, Diagnostic)]
pub enum DeviceError {
    /// No C compiler for the host target.
    #[error("no C compiler found: `{tried}` cannot be run ({reason})")]
    #[diagnostic(
        code(L0601),
        help(
            "install one (Debian and Ubuntu: `apt install gcc`; Fedora: `dnf install gcc`; macOS: `xcode-select --install`; with Python: `pip install ziglang`) or name it in the environment variable CC"
        )
    )]
    NoCompiler {
        /// The command that was tried.
        tried: String,
        /// The error of the system.
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
        /// Messages of the compiler.
        words: String,
    },

    /// A compiler was ended by a signal, as Ctrl-C sends one to all programs of a terminal.
    #[error("{compiler} was ended by signal {signal} while it compiled {file}")]
    #[diagnostic(code(L0613), help("no kernel ran, and nothing is lost: start again"))]
    Ended {
        /// The compiler.
        compiler: String,
        /// Name of the source file.
        file: String,
        /// Number of the signal.
        signal: i32,
    },

    /// No GPU can be used.
    #[error("no GPU can be used: {reason}")]
    #[diagnostic(
        code(L0603),
        help(
            "install the NVIDIA driver and the NVRTC library of CUDA 13 (with Python: `pip install nvidia-cuda-nvrtc`), or for a GPU of AMD the HIP runtime of ROCm with hiprtc (`ROCM_PATH` names its folder where it is in no usual place); or run on the CPU: `lbmc run CASE --set target=cpu`"
        )
    )]
    NoGpu {
        /// The reason.
        reason: String,
    },

    /// Not enough memory for an allocation.
    #[error("{device} has not enough memory: {} needed, {} available", Bytes(*.asked), .available.map_or("an unknown amount".to_string(), |bytes| Bytes(bytes).to_string()))]
    #[diagnostic(code(L0604), help("take fewer cells, or end what else uses this memory"))]
    Memory {
        /// The device.
        device: String,
        /// Bytes requested.
        asked: usize,
        /// Bytes available, if known.
        available: Option<usize>,
    },

    /// A module lacks a symbol that the manifest lists.
    #[error("the compiled kernels have no symbol `{symbol}`")]
    #[diagnostic(
        code(L0605),
        help("the manifest and the source of the bundle do not belong together: generate it again")
    )]
    MissingKernel {
        /// The symbol.
        symbol: String,
    },

    /// A kernel needs more shared memory per thread block than the GPU has.
    #[error("thread blocks of `{kernel}` share {} KiB, which is more than this GPU has for one", bytes >> 10)]
    #[diagnostic(
        code(L0606),
        help("take smaller blocks, such as `block = [8, 8, 4]`, fewer bits, or `storage = \"populations\"`")
    )]
    Shared {
        /// The kernel.
        kernel: String,
        /// Shared memory of a thread block, in bytes.
        bytes: u32,
    },

    /// A launch is invalid or failed.
    #[error("launch of `{kernel}` failed: {reason}")]
    #[diagnostic(code(L0607))]
    Launch {
        /// The kernel.
        kernel: String,
        /// The reason.
        reason: String,
    },

    /// The compiler does not support checked kernels.
    #[error("{compiler} cannot compile kernels with checks")]
    #[diagnostic(code(L0612), help("name GCC in the environment variable CC, or take `target = \"cpu\"`"))]
    NoChecks {
        /// The compiler.
        compiler: String,
    },

    /// A kernel compiled with checks made an invalid access.
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
        /// The invalid access.
        what: String,
    },

    /// The driver reports an error.
    #[error("{device} failed to {action}: {reason}")]
    #[diagnostic(code(L0608), help("errors of a GPU are often reported late: an earlier kernel may be the cause"))]
    Driver {
        /// The device.
        device: String,
        /// The operation that failed.
        action: String,
        /// The error of the driver.
        reason: String,
    },

    /// A buffer was used in a way that its type or length does not permit.
    #[error("a buffer of {len} values of {scalar} was used {wrong}")]
    #[diagnostic(code(L0609))]
    Buffer {
        /// Length of the buffer.
        len: usize,
        /// Its element type.
        scalar: &'static str,
        /// How it was used.
        wrong: String,
    },

    /// A compiled kernel can be stored neither in the cache nor in a temporary file.
    #[error("compiled kernels cannot be stored in {place}: {reason}")]
    #[diagnostic(code(L0610), help("make room, or name a writable directory in the environment variable LBMC_CACHE"))]
    Storage {
        /// The location.
        place: String,
        /// The error of the system.
        reason: String,
    },
}
