//! Bundles of kernels that evaluate formulas of position and time at walls.
//!
//! They are compiled for a case and a real type. Formulas may use the names `x`, `y` and `z`, a position in cells of level 0, and `t`, the time in
//! steps of level 0. All arithmetic is in 64 bits, and no operation is fused with another, so that values are the same on every device.
//!
//! Recordings have a [window](crate::formula::Plane::slots) of their frames on the device, which the host moves on between steps.
//!
//! The clock is on the device, so that recorded steps can be repeated: [`PrescribedRole::Tick`] moves it on at the end of each step of level
//! 0, and between its ticks finer levels count halves of their steps.

use serde::{Deserialize, Serialize};

use crate::args::{roles, same_args};
use crate::formula::Plane;
use crate::{Arg, File, Real, Target};

/// Names in formulas: a position and the time.
pub const NAMES: [&str; 4] = ["x", "y", "z", "t"];

/// The table of the kernels, as [`method_kernels!`](crate::method_kernels) is one.
#[macro_export]
macro_rules! prescribed_kernels {
    ($with:ident) => {
        $with! {
            /// The listed values at the time `clock[0] + (half + late[item]) / 2^(level + 1)`.
            Prescribe = "prescribe" {
                items: list Int [count] "values to compute",
                formulas: read Int [item] "which formula each follows",
                places: read Double [item][3] "where each is, in cells of level 0",
                late: read Int [item] "1 for a value of the end of a step, 0 for one of its middle",
                entries: read Int [item] "where each belongs in `values`",
                clock: read Double [1] "steps of level 0 that are done",
                frames: read Double [slot][second][first][component] "those of recordings that the next steps read, one recording after the other",
                level: value Int "the level that takes a step",
                half: value Int "halves of its steps from the last tick to the middle of this one",
                values: write Real [wall][stride] in lattice "parameters of each wall",
            }
            /// A step of level 0 is done.
            Tick = "tick" {
                clock: write Double [1] "steps of level 0 that are done",
            }
        }
    };
}

macro_rules! role {
    ($($rows:tt)*) => {
        roles! {
            /// What a kernel does. Rows of [`prescribed_kernels!`](crate::prescribed_kernels) say what each takes.
            PrescribedRole: $($rows)*
        }
    };
}

prescribed_kernels!(role);

impl PrescribedRole {
    /// The arguments of its kernel.
    pub fn args(self) -> Vec<Arg> {
        self.declared().iter().flat_map(|arg| arg.args(|index| format!("[{index}]"), str::to_string)).collect()
    }
}

/// A kernel.
#[derive(Clone, Debug, PartialEq)]
pub struct PrescribedKernel {
    /// What it does.
    pub role: PrescribedRole,
    /// Symbol in the compiled code: `d2q9_bgk_prescribe`. On the host, `<symbol>_packed` takes an array of pointers to the arguments.
    pub symbol: String,
    /// Arguments in order.
    pub args: Vec<Arg>,
    /// CUDA: threads of a thread block, each of which computes one value.
    pub threads: u32,
}

impl PrescribedKernel {
    /// Whether its arguments are those of its role; their documentation may differ.
    pub fn is_as_declared(&self) -> bool {
        same_args(&self.args, &self.role.args())
    }
}

/// Everything but the source text.
#[derive(Clone, Debug, PartialEq)]
pub struct PrescribedManifest {
    /// [`ABI`](crate::ABI) of the compiler that wrote it.
    pub abi: u32,
    /// Name of the method's spec.
    pub spec: String,
    /// Target.
    pub target: Target,
    /// Real type of the values.
    pub real: Real,
    /// How many formulas there are: they have the numbers below that.
    pub formulas: usize,
    /// A kernel for each of [`PrescribedRole::ALL`], in this order.
    pub kernels: Vec<PrescribedKernel>,
}

/// Kernels of a case for one target, ready to be compiled and launched.
#[derive(Clone, Debug, PartialEq)]
pub struct PrescribedBundle {
    /// Signatures.
    pub manifest: PrescribedManifest,
    /// The kernel source: CUDA or C.
    pub source: File,
    /// The recordings that formulas read, in the order of their frames.
    pub recordings: Vec<Plane>,
}
