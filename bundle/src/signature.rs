//! Signatures of kernels.

use serde::{Deserialize, Serialize};

use crate::{Arg, Role};

/// One kernel of a bundle.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Kernel {
    /// What it does.
    pub role: Role,
    /// Symbol in the compiled code, for example `d3q19_bgk_stream_collide`. On the host, `<symbol>_packed` takes an
    /// array of pointers to the arguments, as a CUDA launch does.
    pub symbol: String,
    /// Arguments in order.
    pub args: Vec<Arg>,
    /// Cost per cell.
    pub cost: Cost,
    /// CUDA: threads of a thread block.
    pub threads: u32,
    /// CUDA: list entries (blocks, or states of `collide`) that one thread block works on; the grid has
    /// `ceil(count / items_per_group)` thread blocks. Kernels on a box of cells ([`Layout::Soa`]) are launched with thread
    /// blocks of the shape [`Manifest::block`](crate::Manifest::block) instead, and as many along each axis as cover the box.
    pub items_per_group: u32,
    /// CUDA: how many thread blocks work on the same entries, along y of the grid: one for each direction, or one.
    #[serde(default = "one", skip_serializing_if = "is_one")]
    pub passes: u32,
    /// CUDA: bytes of dynamic shared memory of a thread block. For more than 48 KiB a kernel's attribute
    /// `CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES` has to be set before its first launch.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub shared: u32,
}

/// Operation counts per cell (per state for `collide`). A fused multiply-add is one `fma` and two `flops`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Cost {
    /// Additions and subtractions.
    pub adds: u32,
    /// Multiplications.
    pub muls: u32,
    /// Fused multiply-adds.
    pub fmas: u32,
    /// Divisions.
    pub divs: u32,
    /// Square roots.
    pub sqrts: u32,
    /// Other functions: exponentials, powers, angles.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub calls: u32,
    /// `adds + muls + 2 fmas + divs + sqrts + calls`; negations are free.
    pub flops: u32,
    /// Values loaded from memory per cell (indices not counted).
    pub loads: u32,
    /// Values stored to memory per cell.
    pub stores: u32,
    /// Bytes loaded and stored per cell (indices not counted).
    pub bytes: u32,
}

impl std::ops::Add for Cost {
    type Output = Cost;

    fn add(self, other: Cost) -> Cost {
        Cost {
            adds: self.adds + other.adds,
            muls: self.muls + other.muls,
            fmas: self.fmas + other.fmas,
            divs: self.divs + other.divs,
            sqrts: self.sqrts + other.sqrts,
            calls: self.calls + other.calls,
            flops: self.flops + other.flops,
            loads: self.loads + other.loads,
            stores: self.stores + other.stores,
            bytes: self.bytes + other.bytes,
        }
    }
}

/// How cells lie in memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Layout {
    /// Blocks of cells, found through lists and a table of neighbours.
    Blocks,
    /// Dense arrays of the caller, one for each direction: a structure of arrays.
    Soa,
}

fn one() -> u32 {
    1
}

fn is_one(passes: &u32) -> bool {
    *passes == 1
}

pub(crate) fn is_zero(count: &u32) -> bool {
    *count == 0
}
