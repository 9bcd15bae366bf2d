//! Kernels that compute what formulas of place and time prescribe at walls.
//!
//! In: a [`Manifest`] and formulas. Out: a [`PrescribedBundle`]. After: every name of a formula is known.

use std::fmt;

use lbm_bundle::prescribed::{NAMES, PrescribedBundle, PrescribedKernel, PrescribedManifest, PrescribedRole};
use lbm_bundle::{ABI, Formula, Manifest};

use crate::emit;

/// CUDA: threads of a thread block.
const THREADS: u32 = 256;

/// A formula reads what is neither a place nor the time.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct UnknownName {
    /// What is read.
    pub name: String,
}

impl fmt::Display for UnknownName {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(out, "a formula at a wall reads `{}`; it knows {}", self.name, NAMES.join(", "))
    }
}

impl std::error::Error for UnknownName {}

/// The kernels for some formulas, in their order, at walls of the method of a manifest.
pub fn bundle(method: &Manifest, formulas: &[Formula]) -> Result<PrescribedBundle, UnknownName> {
    let kernel = |role: &PrescribedRole| PrescribedKernel {
        role: *role,
        symbol: format!("{}_{}", method.spec, role.name()),
        args: role.args(),
        threads: THREADS,
    };
    let manifest = PrescribedManifest {
        abi: ABI,
        spec: method.spec.clone(),
        target: method.target,
        real: method.real,
        formulas: formulas.len(),
        kernels: PrescribedRole::ALL.iter().map(kernel).collect(),
    };
    match emit::prescribed(&manifest, formulas) {
        Ok((source, recordings)) => Ok(PrescribedBundle { manifest, source, recordings }),
        Err(name) => Err(UnknownName { name }),
    }
}
