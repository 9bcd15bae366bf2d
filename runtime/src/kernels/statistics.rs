//! Kernels of statistics, loaded, and their launches: a struct for each row of [`lbm_bundle::statistics_kernels!`].

use std::sync::Arc;

use lbm_bundle::statistics::{StatisticsBundle, StatisticsManifest, StatisticsRole};
use lbm_bundle::{Manifest, statistics_kernels};

use super::launch::{Arguments, Launch, field, launches, put};
use super::{Entry, KernelError, check_versions};
use crate::device::{Buffer, Device, Double, Int, Part, Real, Source};

macro_rules! of_statistics {
    ($($rows:tt)*) => { launches! { StatisticsRole: $($rows)* } };
}

statistics_kernels!(of_statistics);

/// What a case accumulates over time, on a device. Cheap to clone.
#[derive(Clone)]
pub struct Statistics {
    loaded: Arc<Loaded>,
}

struct Loaded {
    device: Device,
    /// What it was loaded from, for other devices.
    bundle: StatisticsBundle,
    manifest: StatisticsManifest,
    /// Of each statistic its kernels, in the order of [`StatisticsRole::ALL`].
    entries: Vec<Vec<Entry>>,
    notices: Vec<String>,
}

impl Statistics {
    /// Compiles and loads a bundle's source and checks that the runtime can serve it.
    pub fn load(device: &Device, bundle: &StatisticsBundle) -> Result<Statistics, KernelError> {
        let manifest = bundle.manifest.clone();
        check_versions(device, &manifest.spec, manifest.abi, manifest.target)?;
        let wrong = |reason: String| KernelError::Manifest { spec: manifest.spec.clone(), reason };
        if !(2..=3).contains(&manifest.dim) || manifest.block.contains(&0) {
            return Err(wrong(format!("{} axes, or an empty block", manifest.dim)));
        }
        // The same values on every device.
        let source = Source { name: &bundle.source.name, text: &bundle.source.text, fuses: false };
        let module = device.load(source)?;
        let mut entries = vec![];
        for statistic in &manifest.statistics {
            if !manifest.is_as_declared(statistic) {
                return Err(wrong("the kernels of a statistic are not those of their roles".into()));
            }
            let mut of_statistic = vec![];
            for kernel in &statistic.kernels {
                if kernel.threads == 0 {
                    return Err(wrong(format!("`{}` has an empty launch shape", kernel.symbol)));
                }
                of_statistic.push(Entry {
                    kernel: module.kernel(&kernel.symbol)?,
                    symbol: kernel.symbol.clone(),
                    divisible: kernel.role.is_divisible(),
                    threads: kernel.threads,
                    items_per_group: 1,
                    passes: 1,
                    shared: 0,
                });
            }
            entries.push(of_statistic);
        }
        let notices = module.notices().to_vec();
        Ok(Statistics {
            loaded: Arc::new(Loaded { device: device.clone(), bundle: bundle.clone(), manifest, entries, notices }),
        })
    }

    /// The same for arrays of a device, loaded there where that is needed.
    pub(crate) fn on(&self, device: &Device) -> Result<Statistics, KernelError> {
        match device.has_kernels_of(&self.loaded.device) {
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
        self.loaded.manifest.statistics.iter().map(|statistic| statistic.accumulators)
    }

    /// Whether samples of any statistic read slopes of the velocity, and with them which cells beside a block are solid.
    pub fn read_slopes(&self) -> bool {
        self.loaded.manifest.statistics.iter().any(|statistic| statistic.slopes)
    }

    /// Whether samples of a statistic, by its number, read slopes of the velocity.
    pub fn reads_slopes(&self, number: usize) -> bool {
        self.loaded.manifest.statistics[number].slopes
    }

    /// Launches one of the kernels of a statistic, by its number, on blocks of the method of a manifest.
    pub fn launch<'a>(
        &self,
        method: &Manifest,
        number: usize,
        kernel: impl Launch<'a, Role = StatisticsRole>,
    ) -> Result<(), KernelError> {
        let Loaded { device, manifest, entries, .. } = &*self.loaded;
        let (entry, arguments) = (&entries[number][kernel.role() as usize], Arguments::of(kernel));
        if !manifest.is_for(method) || !arguments.are_of(method) {
            return Err(KernelError::OtherBundle { spec: manifest.spec.clone(), kernel: entry.symbol.clone() });
        }
        Ok(entry.launch(device, &arguments)?)
    }
}
