//! Kernels of statistics, loaded, and their launches: a struct for each row of [`lbm_bundle::statistics_kernels!`].

use std::sync::Arc;

use lbm_bundle::statistics::{StatisticsBundle, StatisticsRole};
use lbm_bundle::{File, Manifest, Target, statistics_kernels};

use super::KernelError;
use super::launch::{Arguments, Launch, field, launches, put};
use super::loaded::{Family, Loaded, Signature};
use crate::device::{Buffer, Device, Double, Int, Part, Real};

macro_rules! of_statistics {
    ($($rows:tt)*) => { launches! { StatisticsRole: $($rows)* } };
}

statistics_kernels!(of_statistics);

impl Family for StatisticsBundle {
    // The same values on every device.
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

    /// Of each statistic, in the order of [`StatisticsRole::ALL`].
    fn signatures(&self) -> Vec<Signature<'_>> {
        let kernels = self.manifest.statistics.iter().flat_map(|statistic| &statistic.kernels);
        let signatures = kernels.map(|kernel| Signature {
            symbol: &kernel.symbol,
            args: &kernel.args,
            as_declared: true, // those of a statistic are, as a whole
            divisible: kernel.role.is_divisible(),
            threads: kernel.threads,
            items_per_group: 1,
            passes: 1,
            shared: 0,
        });
        signatures.collect()
    }
}

/// What a case accumulates over time, on a device. Cheap to clone.
#[derive(Clone)]
pub struct Statistics {
    loaded: Arc<Loaded<StatisticsBundle>>,
}

impl Statistics {
    /// Compiles and loads a bundle's source and checks that the runtime can serve it.
    pub fn load(device: &Device, bundle: &StatisticsBundle) -> Result<Statistics, KernelError> {
        Ok(Statistics { loaded: Arc::new(Loaded::new(device, bundle)?) })
    }

    /// The same for arrays of a device, loaded there where that is needed.
    pub(crate) fn on(&self, device: &Device) -> Result<Statistics, KernelError> {
        match self.loaded.is_on(device) {
            true => Ok(self.clone()),
            false => Statistics::load(device, &self.loaded.bundle),
        }
    }

    /// What the user should know about loading, a sentence each.
    pub fn notices(&self) -> &[String] {
        &self.loaded.notices
    }

    /// Accumulators of a cell, of each statistic.
    pub fn accumulators(&self) -> impl ExactSizeIterator<Item = usize> + '_ {
        self.loaded.bundle.manifest.statistics.iter().map(|statistic| statistic.accumulators)
    }

    /// Whether samples of any statistic read slopes of the velocity, and with them which cells beside a block are solid.
    pub fn read_slopes(&self) -> bool {
        self.loaded.bundle.manifest.statistics.iter().any(|statistic| statistic.slopes)
    }

    /// Whether samples of a statistic, by its number, read slopes of the velocity.
    pub fn reads_slopes(&self, number: usize) -> bool {
        self.loaded.bundle.manifest.statistics[number].slopes
    }

    /// Launches one of the kernels of a statistic, by its number, on blocks of the method of a manifest.
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
