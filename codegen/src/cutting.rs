//! Kernels that cut the links of cells near solids that move: their signatures and launch shapes.
//!
//! In: a dimension and a target. Out: a [`CutBundle`].

use lbm_bundle::cutting::{CutBundle, CutKernel, CutManifest, CutRole};
use lbm_bundle::{ABI, File, Target};

use crate::emit;

/// GPU: threads of a thread block. Small ones find room on a processor beside those of the kernels that stream.
const THREADS: u32 = 64;

/// The kernels of a dimension, 2 or 3, for a target.
pub fn bundle(dim: u32, target: Target) -> CutBundle {
    let name = format!("cutting_{dim}d");
    let kernels = CutRole::ALL.iter().map(|&role| CutKernel {
        role,
        symbol: format!("{name}_{}", role.name()),
        args: role.args(dim),
        threads: THREADS,
    });
    let manifest = CutManifest { abi: ABI, target, dim, kernels: kernels.collect(), name };
    let source = emit::cutting(&manifest);
    CutBundle { manifest, source }
}

/// The files of a dimension: a source for each target, and the manifest as `cutting_2d.json` (those of both targets differ in the target
/// alone).
pub fn files(dim: u32) -> Vec<File> {
    let [cuda, c] = [Target::Cuda, Target::C].map(|target| bundle(dim, target));
    let text = serde_json::to_string_pretty(&cuda.manifest).expect("a manifest is plain data") + "\n";
    let manifest = File { name: format!("{}.json", cuda.manifest.name), text };
    vec![cuda.source, c.source, manifest]
}
