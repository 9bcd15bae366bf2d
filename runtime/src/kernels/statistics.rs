//! Kernels of statistics, and their launches: a struct for each row of [`lbm_bundle::statistics_kernels!`].

use std::sync::Arc;

use lbm_bundle::statistics::{StatisticsBundle, StatisticsRole};
use lbm_bundle::{File, Manifest, Target, statistics_kernels};

use super::KernelError;
use super::launch::{Arguments, Launch, Put, about, arguments, field, launch, launches, put};
use super::loaded::{Family, Loaded, Signature};
use crate::device::{Buffer, Device, Double, Int, Real, Slice};

macro_rules! of_statistics {
    ($($rows:tt)*) => { launches! { StatisticsRole: $($rows)* } };
}

statistics_kernels!(of_statistics);

impl Family for StatisticsBundle {
    // Without FMA, so that all devices compute the same values.
    const FUSES: bool = false;

    fn name(&self) -> &str {
        &self.manifest.spec
    }

    fn made_for(&self) -> (u32, Target) {
        (self.manifest.abi, self.manifest.target)
    }

    fn source(&self) -> &File {
        &self.source
    }

    fn check(&self) -> Result<(), String> {
        let manifest = &self.manifest;
        if !(2..=3).contains(&manifest.dim) || manifest.block.contains(&0) {
            return Err(format!("{} axes, or an empty block", manifest.dim));
        }
        match manifest.statistics.iter().all(|statistic| manifest.is_as_declared(statistic)) {
            true => Ok(()),
            false => Err("the kernels of a statistic are not those of their roles".into()),
        }
    }

    /// For each statistic, its kernels in the order of [`StatisticsRole::ALL`].
    fn signatures(&self) -> Vec<Signature<'_>> {
        let kernels = self.manifest.statistics.iter().flat_map(|statistic| &statistic.kernels);
        let signatures = kernels.map(|kernel| Signature {
            symbol: &kernel.symbol,
            args: &kernel.args,
            as_declared: true, // checked for each statistic as a whole
            divisible: kernel.role.is_divisible(),
            threads: kernel.threads,
            items_per_group: 1,
            passes: 1,
            shared: 0,
        });
        signatures.collect()
    }
}

/// The statistics that a case accumulates over time, on a device. Cheap to clone.
#[derive(Clone)]
pub struct Statistics {
    loaded: Arc<Loaded<StatisticsBundle>>,
}

impl Statistics {
    /// Compiles and loads the source of a bundle, after checking that this runtime supports it.
    pub fn load(device: &Device, bundle: &StatisticsBundle) -> Result<Statistics, KernelError> {
        Ok(Statistics { loaded: Arc::new(Loaded::new(device, bundle)?) })
    }

    /// The same statistics for arrays on `device`; loads the kernels there if necessary.
    pub(crate) fn on(&self, device: &Device) -> Result<Statistics, KernelError> {
        match self.loaded.is_on(device) {
            true => Ok(self.clone()),
            false => Statistics::load(device, &self.loaded.bundle),
        }
    }

    /// Notices about loading for the user, one sentence each.
    pub fn notices(&self) -> &[String] {
        &self.loaded.notices
    }

    /// For each statistic, the number of accumulators per cell.
    pub fn accumulators(&self) -> impl ExactSizeIterator<Item = usize> + '_ {
        self.loaded.bundle.manifest.statistics.iter().map(|statistic| statistic.accumulators)
    }

    /// Whether any statistic samples velocity gradients. Samples then also read which cells next to a block are solid.
    pub fn read_slopes(&self) -> bool {
        self.loaded.bundle.manifest.statistics.iter().any(|statistic| statistic.slopes)
    }

    /// Whether the statistic with this number samples velocity gradients.
    pub fn reads_slopes(&self, number: usize) -> bool {
        self.loaded.bundle.manifest.statistics[number].slopes
    }

    /// Launches a kernel of the statistic with this number, on blocks of the method that `method` describes.
    pub fn launch<'a>(
        &self,
        method: &Manifest,
        number: usize,
        kernel: impl Launch<'a, Role = StatisticsRole>,
    ) -> Result<(), KernelError> {
        let number = number * StatisticsRole::ALL.len() + kernel.role() as usize;
        let arguments = Arguments::of(kernel);
        self.loaded.launch(number, &arguments, |own| own.manifest.is_for(method) && arguments.are_of(method))
    }
}
