//! Signatures of [`Layout::Soa`](lbm_bundle::Layout): those of blocks, with a box of the caller's arrays in the place of
//! lists of slots.

use lbm_bundle::{Cost, Kernel, Manifest, Role};

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
    let kernel = |of_blocks: Kernel| match of_blocks.role {
        Role::Collide => Some(of_blocks),
        role if role.args(&manifest).is_empty() => None,
        _ => Some(on_box(&manifest, of_blocks)),
    };
    let kernels = blocks.kernels.into_iter().filter_map(kernel).collect();
    manifest.kernels = kernels;
    manifest
}

/// The kernel of a role with the arguments and the launch shape of a box.
fn on_box(manifest: &Manifest, kernel: Kernel) -> Kernel {
    let threads = manifest.cells() as u32;
    Kernel { args: kernel.role.args(manifest), threads, items_per_group: threads, ..kernel }
}

/// The tangent and the adjoint of a step; with parameters, the adjoint with derivatives by these.
pub fn derivatives(manifest: &Manifest, cost: impl Fn(Role) -> Cost) -> Vec<Kernel> {
    let roles = [Role::StreamCollideTangent, Role::StreamCollideAdjoint, Role::StreamCollideAdjointParameters];
    let count = if manifest.members.is_empty() { 2 } else { 3 };
    let kernel = |role: &Role| super::kernel(manifest, *role, manifest.cells() as u32, cost(*role));
    roles[..count].iter().map(|role| on_box(manifest, kernel(role))).collect()
}
