//! What kernels are compiled for.

use serde::{Deserialize, Serialize};

/// What the kernels are compiled for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Target {
    /// CUDA C++, compiled by NVRTC or nvcc.
    Cuda,
    /// C for the host, compiled by the system compiler.
    C,
    /// HIP C++, compiled by hiprtc or hipcc.
    Hip,
}

impl Target {
    /// All there are.
    pub const ALL: [Target; 3] = [Target::Cuda, Target::C, Target::Hip];

    /// Its name in options, manifests and banners.
    pub const fn name(self) -> &'static str {
        match self {
            Target::Cuda => "cuda",
            Target::C => "c",
            Target::Hip => "hip",
        }
    }

    /// Ending of the names of kernel sources.
    pub const fn ending(self) -> &'static str {
        match self {
            Target::Cuda => "cu",
            Target::C => "c",
            Target::Hip => "hip",
        }
    }

    /// Whether kernels have a thread for each item, in thread blocks.
    pub const fn is_gpu(self) -> bool {
        !matches!(self, Target::C)
    }

    /// Threads that run in step: a warp, or a wave of GPUs of AMD (gfx9).
    pub const fn lanes(self) -> u32 {
        match self {
            Target::Cuda => 32,
            Target::C => 1,
            Target::Hip => 64,
        }
    }

    /// Bytes of memory that a thread block may have for its threads to share.
    pub const fn shared_bytes(self) -> usize {
        match self {
            Target::Cuda => 163 << 10,
            Target::C => usize::MAX,
            Target::Hip => 64 << 10,
        }
    }
}
