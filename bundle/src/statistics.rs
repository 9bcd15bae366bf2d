//! Bundles of kernels that accumulate statistics of a flow over time.
//!
//! They are compiled for a method's fields and a case. Quantities are formulas of the components of the fields in a cell, `ux`. Of n
//! samples x a cell has accumulators in 64 bits, in this order:
//!
//! | accumulators | after n samples |
//! | --- | --- |
//! | one of each quantity | its mean, `m` |
//! | one of each pair (a, b) | `sum (x_a - m_a) (x_b - m_b)` |
//! | one of each in `least`, then in `greatest` | its least value, its greatest |
//!
//! A sample x with the difference `d = x - m` from the mean of those before changes the mean by `d / n` and the sum of a pair by
//! `(n - 1) / n d_a d_b` (Welford, Technometrics 4 (1962) 419, eq. 1 and 2): no large numbers are subtracted from each other, so a small
//! fluctuation about a large mean keeps its digits. No operation is fused with another: values are the same on every device.

use serde::{Deserialize, Serialize};

use crate::args::{roles, same_args};
use crate::{Arg, File, Formula, Manifest, Real, Target};

/// What is accumulated of a flow in each cell.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Statistic {
    /// Formulas of the components of the fields.
    pub quantities: Vec<Formula>,
    /// Quantities, by their numbers, whose fluctuations are multiplied.
    pub pairs: Vec<[usize; 2]>,
    /// Those whose least values are kept.
    pub least: Vec<usize>,
    /// Those whose greatest values are kept.
    pub greatest: Vec<usize>,
}

impl Statistic {
    /// Accumulators of a cell.
    pub fn accumulators(&self) -> usize {
        self.quantities.len() + self.pairs.len() + self.least.len() + self.greatest.len()
    }
}

/// The table of the kernels, as [`method_kernels!`](crate::method_kernels) is one.
#[macro_export]
macro_rules! statistics_kernels {
    ($with:ident) => {
        $with! {
            /// Another sample in the listed blocks.
            Accumulate = "accumulate" {
                ids: list Int [count] "slots to work on",
                first: value Int "the first of the slots that have fields",
                fields: read Real [slot - first][fields][cells] in lattice "macroscopic fields: {fields}",
                samples: value Int "samples before this one",
                values: write Double [slot][accumulators][cells] in lattice "accumulators",
            }
            /// Accumulators of the listed blocks from those of the blocks that refined them.
            ///
            /// Means of means and of sums; the least and the greatest of extremes.
            AverageAccumulators = "average_accumulators" {
                ids: list Int [count] "slots to work on",
                parts: read Int [slot][parts] "slots of the blocks that refine each slot's",
                values: write Double [slot][accumulators][cells] in lattice "accumulators",
            }
            /// Accumulators of the blocks that refine the listed ones from theirs.
            ///
            /// Means on a plane through each coarse cell; copies of all others.
            FillAccumulators = "fill_accumulators" {
                ids: list Int [count] "slots to work on",
                neighbours: read Int [slot][near]
                    "slots of the neighbours at {place}, -(w + 1) for wall w, or the least integer",
                held: value Int "the first of the slots that refined blocks hold",
                parts: read Int [slot][parts] "slots of the blocks that refine each slot's",
                values: write Double [slot][accumulators][cells] in lattice "accumulators",
            }
            /// Accumulators of the listed slots from other slots.
            RelocateAccumulators = "relocate_accumulators" {
                ids: list Int [count] "slots to work on",
                from: read Int [slot] "the slot that each slot is filled from",
                src: read Double [slot][accumulators][cells] in lattice "accumulators",
                dst: write Double [slot][accumulators][cells] in lattice "the same in their new slots",
            }
        }
    };
}

macro_rules! role {
    ($($rows:tt)*) => {
        roles! {
            /// What a kernel does. Rows of [`statistics_kernels!`](crate::statistics_kernels) say what each takes.
            StatisticsRole: $($rows)*
        }
    };
}

statistics_kernels!(role);

impl StatisticsRole {
    /// The arguments of its kernel, for so many accumulators and the fields and blocks of a method.
    pub fn args(self, manifest: &StatisticsManifest, accumulators: usize) -> Vec<Arg> {
        let (near, parts) = (3u32.pow(manifest.dim), 1u32 << manifest.dim);
        let index = |index: &str| match index {
            "near" => format!("[{near}]"),
            "parts" => format!("[{parts}]"),
            "fields" => format!("[{}]", manifest.components.len()),
            "accumulators" => format!("[{accumulators}]"),
            "cells" => format!("[{}]", manifest.block.iter().product::<u32>()),
            count => format!("[{count}]"),
        };
        let place = if manifest.dim == 2 { "(dx+1) + 3 (dy+1)" } else { "(dx+1) + 3 (dy+1) + 9 (dz+1)" };
        let text = |text: &str| text.replace("{fields}", &manifest.components.join(", ")).replace("{place}", place);
        self.declared().iter().flat_map(|arg| arg.args(index, text)).collect()
    }
}

/// A kernel.
#[derive(Clone, Debug, PartialEq)]
pub struct StatisticsKernel {
    /// What it does.
    pub role: StatisticsRole,
    /// Symbol in the compiled code: `d2q9_bgk_accumulate_0`. On the host, `<symbol>_packed` takes an array of pointers to the arguments.
    pub symbol: String,
    /// Arguments in order.
    pub args: Vec<Arg>,
    /// CUDA: threads of a thread block, which works on one block.
    pub threads: u32,
}

/// The kernels of one statistic.
#[derive(Clone, Debug, PartialEq)]
pub struct StatisticKernels {
    /// Accumulators of a cell.
    pub accumulators: usize,
    /// A kernel for each of [`StatisticsRole::ALL`], in this order.
    pub kernels: Vec<StatisticsKernel>,
}

/// Everything but the source text.
#[derive(Clone, Debug, PartialEq)]
pub struct StatisticsManifest {
    /// [`ABI`](crate::ABI) of the compiler that wrote it.
    pub abi: u32,
    /// Name of the method's spec.
    pub spec: String,
    /// Target.
    pub target: Target,
    /// Real type of the fields.
    pub real: Real,
    /// Number of axes, 2 or 3.
    pub dim: u32,
    /// Cells of a block along each axis.
    pub block: [u32; 3],
    /// Components of the method's fields.
    pub components: Vec<String>,
    /// Each statistic, in the order in which they were given.
    pub statistics: Vec<StatisticKernels>,
}

impl StatisticsManifest {
    /// Whether the kernels are made for the fields and blocks of a method.
    pub fn is_for(&self, method: &Manifest) -> bool {
        (self.target, self.real, self.dim, self.block) == (method.target, method.real, method.dim, method.block)
            && self.spec == method.spec
            && self.components == method.component_names()
    }

    /// Whether the kernels of a statistic are those of all roles, with their arguments; what is said of these may differ.
    pub fn is_as_declared(&self, statistic: &StatisticKernels) -> bool {
        let same = |kernel: &StatisticsKernel| same_args(&kernel.args, &kernel.role.args(self, statistic.accumulators));
        statistic.kernels.iter().map(|kernel| kernel.role).eq(StatisticsRole::ALL.iter().copied())
            && statistic.kernels.iter().all(same)
    }
}

/// Kernels of a case for one target, ready to be compiled and launched.
#[derive(Clone, Debug, PartialEq)]
pub struct StatisticsBundle {
    /// Signatures.
    pub manifest: StatisticsManifest,
    /// The kernel source: CUDA or C.
    pub source: File,
}
