//! How a target writes what the targets write differently: words here, longer forms in its template `forms`.

use lbm_bundle::Target;
use serde::Serialize;

/// The words of a target. Templates see them by name.
#[derive(Clone, Copy, Debug, Serialize)]
pub struct Dialect {
    /// Name of the target in the banner.
    pub target: &'static str,
    /// Whether it is CUDA C++.
    pub cuda: bool,
    /// What names of its files end with.
    #[serde(skip)]
    pub ending: &'static str,
    /// 32-bit integer.
    pub int: &'static str,
    /// No other pointer reaches what this one does.
    #[serde(skip)]
    pub restrict: &'static str,
    /// Before a function.
    pub function: &'static str,
    /// Before a short one.
    pub inline: &'static str,
    /// Before a constant array.
    pub table: &'static str,
    /// What is no number.
    pub nan: &'static str,
    /// Longer forms, a template each.
    #[serde(skip)]
    pub forms: &'static str,
}

impl Dialect {
    /// C for the host.
    pub const C: Dialect = Dialect {
        target: "c",
        cuda: false,
        ending: "c",
        int: "int32_t",
        restrict: "restrict ",
        function: "static",
        inline: "static inline",
        table: "static const",
        nan: "NAN",
        forms: include_str!("../../../templates/c/forms.c"),
    };

    /// CUDA C++.
    pub const CUDA: Dialect = Dialect {
        target: "cuda",
        cuda: true,
        ending: "cu",
        int: "int",
        restrict: "__restrict__ ",
        function: "static __device__ __noinline__",
        inline: "static __device__ __forceinline__",
        table: "static __device__ const",
        nan: "__int_as_float(0x7fffffff)",
        forms: include_str!("../../../templates/cuda/forms.cu"),
    };

    /// That of a target, for kernels whose arrays may be the same.
    pub const fn of(target: Target) -> Dialect {
        let dialect = match target {
            Target::C => Dialect::C,
            Target::Cuda => Dialect::CUDA,
        };
        Dialect { restrict: "", ..dialect }
    }
}
