//! The criterion kernels: what they take, in a table as [`method_kernels!`](crate::method_kernels) is one.

use serde::{Deserialize, Serialize};

use super::{CriteriaManifest, CriterionKernel};
use crate::Arg;
use crate::args::{roles, same_args};

/// The table of the criterion kernels.
#[macro_export]
macro_rules! criterion_kernels {
    ($with:ident) => {
        $with! {
            /// The target level of each of the listed blocks.
            TargetLevels = "target_levels" {
                ids: list Int [count] "slots to work on",
                neighbours: read Int [slot][near]
                    "slots of the neighbours at {place}, -(w + 1) for wall w, or the least integer",
                nodes: read Int [slot] "node of each slot",
                levels: read Int [node] "level of each node",
                places: read Int [node][3] "position of each node in blocks of its level",
                fields: read Real [slot][fields][cells] in lattice "macroscopic fields: {fields}",
                finest: value Int "the finest level",
                steps: value Int "steps of level 0 that are done",
                targets: write Int [node] "target level of each leaf",
            }
        }
    };
}

macro_rules! role {
    ($($rows:tt)*) => {
        roles! {
            /// What a criterion kernel does. Rows of [`criterion_kernels!`](crate::criterion_kernels) say what each takes.
            CriterionRole: $($rows)*
        }
    };
}

criterion_kernels!(role);

impl CriterionRole {
    /// The arguments of its kernels for the method and blocks of a manifest.
    pub fn args(self, manifest: &CriteriaManifest) -> Vec<Arg> {
        let near = 3u32.pow(manifest.dim);
        let index = |index: &str| match index {
            "near" => format!("[{near}]"),
            "fields" => format!("[{}]", manifest.components.len()),
            "cells" => format!("[{}]", manifest.block.iter().product::<u32>()),
            count => format!("[{count}]"),
        };
        let place = if manifest.dim == 2 { "(dx+1) + 3 (dy+1)" } else { "(dx+1) + 3 (dy+1) + 9 (dz+1)" };
        let text = |text: &str| text.replace("{fields}", &manifest.components.join(", ")).replace("{place}", place);
        self.declared().iter().flat_map(|arg| arg.args(index, text)).collect()
    }
}

impl CriterionKernel {
    /// Whether its arguments are those of its role; their documentation may differ.
    pub fn is_as_declared(&self, manifest: &CriteriaManifest) -> bool {
        same_args(&self.args, &CriterionRole::TargetLevels.args(manifest))
    }
}
