//! Signatures of [`Layout::Soa`](lbm_bundle::Layout): those of blocks, with a box of the caller's arrays in the place of
//! lists of slots.

use lbm_bundle::{Kernel, Manifest, Role};

/// The manifest of plain arrays from that of blocks. Walls are the caller's: there are no rules.
pub fn manifest(blocks: Manifest) -> Manifest {
    let mut manifest = Manifest {
        boundaries: Vec::new(),
        wall_stride: 0,
        kernels: Vec::new(),
        coupling: None,
        criteria: Vec::new(),
        solid_rules: Vec::new(),
        mirror_rules: Vec::new(),
        one_level_rules: Vec::new(),
        ..blocks.clone()
    };
    let kernel = |of_blocks: Kernel| {
        let args = of_blocks.role.args(&manifest);
        let threads = manifest.cells() as u32;
        match of_blocks.role {
            _ if args.is_empty() => None,
            Role::Collide => Some(of_blocks),
            _ => Some(Kernel { args, threads, items_per_group: threads, ..of_blocks }),
        }
    };
    let kernels = blocks.kernels.into_iter().filter_map(kernel).collect();
    manifest.kernels = kernels;
    manifest
}
