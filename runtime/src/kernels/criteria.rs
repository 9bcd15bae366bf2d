//! Criterion kernels, loaded, and their launches: a struct for the row of [`lbm_bundle::criterion_kernels!`].

use std::sync::Arc;

use lbm_bundle::criteria::{CriteriaBundle, CriteriaManifest, CriterionRole};
use lbm_bundle::{Manifest, criterion_kernels};

use super::launch::{Arguments, Launch, field, launches, put};
use super::{Entry, KernelError, check_versions};
use crate::device::{Buffer, Device, Int, Part, Real, Source};

macro_rules! of_criteria {
    ($($rows:tt)*) => { launches! { CriterionRole: $($rows)* } };
}

criterion_kernels!(of_criteria);

/// A criterion on a device: which level each block should have. Cheap to clone.
#[derive(Clone)]
pub struct Criterion {
    loaded: Arc<Loaded>,
    number: usize,
}

/// The kernels of a bundle.
struct Loaded {
    device: Device,
    /// What it was loaded from, for other devices.
    bundle: CriteriaBundle,
    manifest: CriteriaManifest,
    entries: Vec<Entry>,
    notices: Vec<String>,
}

impl Criterion {
    /// Compiles and loads a bundle's source and checks that the runtime can serve it: its criteria, in their order.
    pub fn load(device: &Device, bundle: &CriteriaBundle) -> Result<Vec<Criterion>, KernelError> {
        let manifest = bundle.manifest.clone();
        check_versions(device, &manifest.spec, manifest.abi, manifest.target)?;
        let wrong = |reason: String| KernelError::Manifest { spec: manifest.spec.clone(), reason };
        if !(2..=3).contains(&manifest.dim) || manifest.block.contains(&0) {
            return Err(wrong(format!("{} axes, or an empty block", manifest.dim)));
        }
        // The same blocks are to be refined on every device.
        let source = Source { name: &bundle.source.name, text: &bundle.source.text, fuses: false };
        let module = device.load(source)?;
        let mut entries = vec![];
        for kernel in &manifest.kernels {
            if !kernel.is_as_declared(&manifest) {
                return Err(wrong(format!("the arguments of `{}` are not those of its role", kernel.symbol)));
            }
            if kernel.threads == 0 {
                return Err(wrong(format!("`{}` has an empty launch shape", kernel.symbol)));
            }
            entries.push(Entry {
                kernel: module.kernel(&kernel.symbol)?,
                symbol: kernel.symbol.clone(),
                divisible: CriterionRole::TargetLevels.is_divisible(),
                threads: kernel.threads,
                items_per_group: 1,
                passes: 1,
                shared: 0,
            });
        }
        let notices = module.notices().to_vec();
        let loaded = Arc::new(Loaded { device: device.clone(), bundle: bundle.clone(), manifest, entries, notices });
        Ok((0..loaded.entries.len()).map(|number| Criterion { loaded: loaded.clone(), number }).collect())
    }

    /// The same for arrays of a device, loaded there where that is needed.
    pub(crate) fn on(&self, device: &Device) -> Result<Criterion, KernelError> {
        let Criterion { loaded, number } = self;
        match device.has_kernels_of(&loaded.device) {
            true => Ok(self.clone()),
            false => Ok(Criterion::load(device, &loaded.bundle)?.swap_remove(*number)),
        }
    }

    /// What the user should know about loading, a sentence each.
    pub fn notices(&self) -> &[String] {
        &self.loaded.notices
    }

    /// Runs its kernel over the blocks that it lists, which have the fields of the method of a manifest.
    pub fn launch<'a>(
        &self,
        method: &Manifest,
        kernel: impl Launch<'a, Role = CriterionRole>,
    ) -> Result<(), KernelError> {
        let Loaded { device, manifest, entries, .. } = &*self.loaded;
        let (entry, arguments) = (&entries[self.number], Arguments::of(kernel));
        if !manifest.is_for(method) || !arguments.are_of(method) {
            return Err(KernelError::OtherBundle { spec: manifest.spec.clone(), kernel: entry.symbol.clone() });
        }
        Ok(entry.launch(device, &arguments)?)
    }
}
