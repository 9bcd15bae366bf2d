//! Mesh kernels: their signatures and launch shapes.
//!
//! In: a dimension and a target. Out: a [`MeshBundle`].

use lbm_bundle::mesh::{MeshBundle, MeshKernel, MeshManifest, MeshRole};
use lbm_bundle::{ABI, File, Target};

use crate::emit;
use crate::relations::Relations;

/// CUDA: threads of a thread block.
const THREADS: u32 = 128;

/// CUDA: threads that sum an array.
const SCAN_THREADS: u32 = 1024;

/// The mesh kernels of a dimension, 2 or 3, for a target.
pub fn bundle(dim: u32, target: Target) -> MeshBundle {
    let name = format!("mesh_{dim}d");
    let kernels = MeshRole::ALL.iter().map(|&role| {
        let divisible = role.is_divisible();
        MeshKernel {
            role,
            symbol: format!("{name}_{}", role.name()),
            args: role.args(dim),
            divisible,
            threads: if divisible { THREADS } else { SCAN_THREADS },
        }
    });
    let manifest = MeshManifest { abi: ABI, target, dim, kernels: kernels.collect(), name };
    let source = emit::mesh(&manifest, &Relations::new(dim as usize));
    MeshBundle { manifest, source }
}

/// The files of a dimension: a source for each target, and the manifest as `mesh_2d.json` (those of both targets
/// differ in the target alone).
pub fn files(dim: u32) -> Vec<File> {
    let [cuda, c] = [Target::Cuda, Target::C].map(|target| bundle(dim, target));
    let text = serde_json::to_string_pretty(&cuda.manifest).expect("a manifest is plain data") + "\n";
    let manifest = File { name: format!("{}.json", cuda.manifest.name), text };
    vec![cuda.source, c.source, manifest]
}
