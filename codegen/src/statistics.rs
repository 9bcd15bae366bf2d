//! Kernels that accumulate statistics of a flow over time, for the fields and blocks of a method.
//!
//! In: a [`Manifest`] and [`Statistic`]s. Out: a [`StatisticsBundle`]. After: every name of a formula is known.

use std::fmt;

use lbm_bundle::statistics::{
    Statistic, StatisticKernels, StatisticsBundle, StatisticsKernel, StatisticsManifest, StatisticsRole, slopes,
};
use lbm_bundle::{ABI, Manifest};

use crate::emit;

/// CUDA: most threads of a thread block.
const THREADS: u32 = 256;

/// A formula reads what is no component of the method's fields.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct UnknownComponent {
    /// What is read.
    pub name: String,
    /// What there is.
    pub known: Vec<String>,
}

impl fmt::Display for UnknownComponent {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(out, "a statistic reads `{}`; it knows {}", self.name, self.known.join(", "))
    }
}

impl std::error::Error for UnknownComponent {}

/// The kernels of some statistics, in their order, for the method of a manifest.
pub fn bundle(method: &Manifest, statistics: &[Statistic]) -> Result<StatisticsBundle, UnknownComponent> {
    let mut manifest = StatisticsManifest {
        abi: ABI,
        spec: method.spec.clone(),
        target: method.target,
        real: method.real,
        dim: method.dim,
        block: method.block,
        directions: method.directions.len() as u32,
        components: method.component_names(),
        statistics: vec![],
    };
    let known = slopes(method.dim as usize, &manifest.components);
    let of = |(number, statistic): (usize, &Statistic)| {
        let accumulators = statistic.accumulators();
        let is_slope = |name: &str| known.contains_key(name) && !manifest.components.iter().any(|known| known == name);
        let slopes = statistic.quantities.iter().any(|formula| formula.names().into_iter().any(is_slope));
        let kernel = |role: &StatisticsRole| StatisticsKernel {
            role: *role,
            symbol: format!("{}_{}_{number}", method.spec, role.name()),
            args: role.args(&manifest, accumulators),
            threads: (method.cells() as u32).min(THREADS),
        };
        StatisticKernels { accumulators, slopes, kernels: StatisticsRole::ALL.iter().map(kernel).collect() }
    };
    manifest.statistics = statistics.iter().enumerate().map(of).collect();
    match emit::statistics(&manifest, statistics) {
        Ok(source) => Ok(StatisticsBundle { manifest, source }),
        Err(name) => {
            Err(UnknownComponent { name, known: manifest.components.into_iter().chain(known.into_keys()).collect() })
        }
    }
}
