//! How a target writes what the targets write differently: single words here, functions in its template `words`, forms of what kernels do
//! in its template `forms`, and the skeleton of its files in `kernels` and `soa`.

use lbm_bundle::Target;
use serde::Serialize;

/// The words of a target. Templates see them by name.
#[derive(Clone, Copy, Debug, Serialize)]
pub struct Dialect {
    /// Name of the target in the banner.
    pub target: &'static str,
    /// Whether each item has a thread: a loop is around them all otherwise.
    #[serde(skip)]
    pub threads: bool,
    /// Whether kernels say how many of their thread blocks a processor shall hold.
    #[serde(skip)]
    pub resident: bool,
    /// 32-bit integer.
    pub int: &'static str,
    /// No other pointer reaches what this one does.
    #[serde(skip)]
    pub restrict: &'static str,
    /// Before a function.
    pub function: &'static str,
    /// Before a short one.
    pub inline: &'static str,
    /// Before one that becomes a part of whatever calls it.
    pub within: &'static str,
    /// Before a loop whose rounds shall be written one after the other.
    pub unroll: &'static str,
    /// Before one that is compiled once, whoever calls it.
    pub apart: &'static str,
    /// Before a constant array.
    pub table: &'static str,
    /// Before a variable that the threads of a thread block share.
    pub shared: &'static str,
    /// Threads that run in step.
    pub lanes: u32,
    /// What is no number.
    pub nan: &'static str,
    /// Templates: functions; forms of what kernels do; files for blocks and for plain arrays.
    #[serde(skip)]
    pub words: &'static str,
    #[serde(skip)]
    pub forms: &'static str,
    #[serde(skip)]
    pub kernels: &'static str,
    #[serde(skip)]
    pub soa: &'static str,
}

impl Dialect {
    /// C for the host.
    pub const C: Dialect = Dialect {
        target: "c",
        threads: false,
        resident: false,
        int: "int32_t",
        restrict: "restrict ",
        function: "static",
        inline: "static inline",
        within: "static inline __attribute__((always_inline))",
        unroll: "",
        apart: "static __attribute__((noinline))",
        table: "static const",
        shared: "",
        lanes: 1,
        nan: "NAN",
        words: include_str!("../../../templates/c/words.c"),
        forms: include_str!("../../../templates/c/forms.c"),
        kernels: include_str!("../../../templates/c/kernels.c"),
        soa: include_str!("../../../templates/c/soa.c"),
    };

    /// CUDA C++.
    pub const CUDA: Dialect = Dialect {
        target: "cuda",
        threads: true,
        resident: true,
        int: "int",
        restrict: "__restrict__ ",
        function: "static __device__ __noinline__",
        inline: "static __device__ __forceinline__",
        within: "static __device__ __forceinline__",
        unroll: "UNROLL ",
        apart: "static __device__ __noinline__",
        table: "static __device__ const",
        shared: "__shared__ ",
        lanes: Target::Cuda.lanes(),
        nan: "__int_as_float(0x7fffffff)",
        words: include_str!("../../../templates/cuda/words.cu"),
        forms: include_str!("../../../templates/gpu/forms.cu"),
        kernels: include_str!("../../../templates/gpu/kernels.cu"),
        soa: include_str!("../../../templates/gpu/soa.cu"),
    };

    /// HIP C++: what it says differently from CUDA C++.
    pub const HIP: Dialect = Dialect {
        target: "hip",
        resident: false,
        lanes: Target::Hip.lanes(),
        words: include_str!("../../../templates/hip/words.hip"),
        ..Dialect::CUDA
    };

    /// That of a target.
    pub const fn of(target: Target) -> Dialect {
        match target {
            Target::C => Dialect::C,
            Target::Cuda => Dialect::CUDA,
            Target::Hip => Dialect::HIP,
        }
    }

    /// The same for kernels whose arrays may alias.
    pub const fn aliasing(target: Target) -> Dialect {
        Dialect { restrict: "", ..Dialect::of(target) }
    }
}
