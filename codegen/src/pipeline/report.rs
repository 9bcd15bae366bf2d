//! What kernels cost.

use lbm_bundle::{Cost, Manifest};
use serde::Serialize;

use super::plans::{Kernel, Plans};

/// Cost of one kernel or boundary rule.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct KernelReport {
    /// Name: that of a role, `stream_collide`, or `wall_<rule>`.
    pub name: String,
    /// As the spec says it.
    pub naive: Cost,
    /// After exact linear algebra, before the e-graph.
    pub algebra: Cost,
    /// After the e-graph, as emitted.
    pub simplified: Cost,
}

/// What the kernels of a bundle cost, per cell. A boundary rule's cost is that of all its directions together.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Report {
    /// Name of the spec.
    pub spec: String,
    /// Target, as the options call it.
    pub target: lbm_bundle::Target,
    /// Real type.
    pub real: lbm_bundle::Real,
    /// Cells of a block.
    pub block: [u32; 3],
    /// Kernels, then boundary rules.
    pub kernels: Vec<KernelReport>,
}

/// What the kernels of a manifest cost.
pub fn report(manifest: &Manifest, plans: &Plans) -> Report {
    let of_cells = |kernel: &lbm_bundle::Kernel| {
        let Cost { loads, stores, bytes, .. } = kernel.cost;
        let own = plans.of_role(kernel.role);
        KernelReport {
            name: kernel.role.name().into(),
            naive: Cost { loads, stores, bytes, ..own.naive },
            algebra: Cost { loads, stores, bytes, ..own.plan.dag().algebra() },
            simplified: kernel.cost,
        }
    };
    let of_wall = |wall: &Kernel| KernelReport {
        name: wall.plan.dag().name().into(),
        naive: wall.naive,
        algebra: wall.plan.dag().algebra(),
        simplified: wall.simplified,
    };
    Report {
        spec: manifest.spec.clone(),
        target: manifest.target,
        real: manifest.real,
        block: manifest.block,
        kernels: (manifest.kernels.iter().filter(|kernel| kernel.role.is_arithmetic()).map(of_cells))
            .chain(plans.kernels.walls.iter().map(of_wall))
            .collect(),
    }
}
