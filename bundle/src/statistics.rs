//! Bundles of kernels that accumulate statistics of a flow over time.
//!
//! They are compiled for a method's fields and a case. Quantities are formulas of the components of the fields in a cell, `ux`, and of the
//! [slopes] of the velocity, `dx_uy`. Of n samples x a cell has accumulators in 64 bits, in this order:
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

use std::collections::BTreeMap;

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

/// The slopes of the velocity that quantities may read, where fields have such components, by name: `dy_ux`, the derivative of `ux` along y,
/// per cell of level 0; the axis and the component of the velocity.
pub fn slopes(dim: usize, components: &[String]) -> BTreeMap<String, [usize; 2]> {
    const AXES: [&str; 3] = ["x", "y", "z"];
    let has_velocity = AXES[..dim].iter().all(|axis| components.contains(&format!("u{axis}")));
    let all = (0..dim).flat_map(|axis| (0..dim).map(move |of| (format!("d{}_u{}", AXES[axis], AXES[of]), [axis, of])));
    all.filter(|_| has_velocity).collect()
}

/// The table of the kernels, as [`method_kernels!`](crate::method_kernels) is one.
#[macro_export]
macro_rules! statistics_kernels {
    ($with:ident) => {
        $with! {
            /// Another sample in the listed blocks.
            Accumulate = "accumulate" {
                ids: list Int [count] "slots to work on",
                nodes: read Int [slot] "node of each slot",
                levels: read Int [node] "level of each node",
                near: read Int [node][near]
                    "nodes of the same level around each node, -(w + 1) for wall w, or the least integer",
                children: read Int [node] "first of the nodes that refine each node, or -1",
                parents: read Int [node] "node that each node refines, or -1",
                slots: read Int [node] "slot of each node, or -1",
                cut: value Int "whether there are blocks with cut links, which those of solids are",
                rows: read Int [slot] "row of each slot in the table of links, or -1",
                links: read Int [row][directions][cells] "what cuts each link; below 0 in solid cells",
                first: value Int "the first of the slots that have fields; 0 where slopes are read",
                fields: read Real [slot - first][fields][cells] in lattice "macroscopic fields: {fields}",
                samples: value Int "samples before this one",
                values: write Double [slot][accumulators][cells] in lattice "accumulators",
            }
            /// Accumulators of the listed blocks from those of the blocks that refined them.
            ///
            /// Means of means and of sums; the least and the greatest of extremes.
            AverageAccumulators = "average_accumulators" {
                ids: list Int [count] "slots to work on",
                child_slots: read Int [slot][children] "slots of the blocks that refine each slot's",
                values: write Double [slot][accumulators][cells] in lattice "accumulators",
            }
            /// Accumulators of the blocks that refine the listed ones from theirs.
            ///
            /// Means on a plane through each coarse cell; copies of all others.
            FillAccumulators = "fill_accumulators" {
                ids: list Int [count] "slots to work on",
                neighbours: read Int [slot][near]
                    "slots of the neighbours at {place}, -(w + 1) for wall w, or the least integer",
                first_covered: value Int "the first of the slots of covered blocks",
                child_slots: read Int [slot][children] "slots of the blocks that refine each slot's",
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
            "children" => format!("[{parts}]"),
            "directions" => format!("[{}]", manifest.directions),
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
    /// Whether samples read [`slopes`], and so fields of all slots.
    pub slopes: bool,
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
    /// Directions of the method's links.
    pub directions: u32,
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
            && (self.directions as usize, &self.components) == (method.directions.len(), &method.component_names())
    }

    /// Whether the kernels of a statistic are those of all roles, with their arguments; their documentation may differ.
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
