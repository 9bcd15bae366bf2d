//! Kernels that say which level a block should have: from the criteria of a case, for the fields and blocks of a method.
//!
//! In: a [`Manifest`] and lists of [`TargetLevel`]s. Out: a [`CriteriaBundle`] with a kernel for each list. After: every name of a formula
//! is known.

use std::fmt;

use lbm_bundle::criteria::{CriteriaBundle, CriteriaManifest, CriterionKernel, CriterionRole, TargetLevel, variables};
use lbm_bundle::{ABI, Manifest};

use crate::emit;

/// CUDA: most threads of a thread block.
const THREADS: u32 = 256;

/// A formula of a criterion reads what is no variable of the method.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct UnknownVariable {
    /// Name of the spec.
    pub spec: String,
    /// What is read.
    pub name: String,
    /// What there is.
    pub known: Vec<String>,
}

impl fmt::Display for UnknownVariable {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        let UnknownVariable { spec, name, known } = self;
        write!(out, "a criterion reads `{name}`, which `{spec}` does not have; it has {}", known.join(", "))
    }
}

impl std::error::Error for UnknownVariable {}

/// The kernels of some criteria, in their order, for the method of a manifest.
pub fn bundle(method: &Manifest, criteria: &[Vec<TargetLevel>]) -> Result<CriteriaBundle, UnknownVariable> {
    bundle_within(method, [0; 3], criteria)
}

/// The same for a domain of so many cells of level 0, beyond which the last blocks may reach: cells there have no target level.
pub fn bundle_within(
    method: &Manifest,
    size: [usize; 3],
    criteria: &[Vec<TargetLevel>],
) -> Result<CriteriaBundle, UnknownVariable> {
    let mut manifest = CriteriaManifest {
        abi: ABI,
        spec: method.spec.clone(),
        target: method.target,
        real: method.real,
        dim: method.dim,
        block: method.block,
        components: method.component_names(),
        kernels: Vec::new(),
    };
    let role = CriterionRole::TargetLevels;
    let args = role.args(&manifest);
    let kernel = |number| CriterionKernel {
        symbol: format!("{}_{}_{number}", manifest.spec, role.name()),
        args: args.clone(),
        threads: (method.cells() as u32).min(THREADS),
    };
    manifest.kernels = (0..criteria.len()).map(kernel).collect();
    let known = variables(manifest.dim as usize, &manifest.components);
    match emit::criteria(&manifest, size, criteria, &known) {
        Ok(source) => Ok(CriteriaBundle { manifest, source }),
        Err(name) => Err(UnknownVariable { spec: manifest.spec, name, known: known.into_keys().collect() }),
    }
}
