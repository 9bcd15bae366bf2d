//! Kernels of prescribed values, loaded, and their launches: a struct for each row of [`lbm_bundle::prescribed_kernels!`].

use std::sync::Arc;

use lbm_bundle::prescribed::{PrescribedBundle, PrescribedManifest, PrescribedRole};
use lbm_bundle::{Manifest, prescribed_kernels};

use super::launch::{Arguments, Launch, field, launches, put};
use super::{Entry, KernelError, check_versions};
use crate::device::{Buffer, Device, Double, Int, Part, Real, Source};

macro_rules! of_walls {
    ($($rows:tt)*) => { launches! { PrescribedRole: $($rows)* } };
}

prescribed_kernels!(of_walls);

/// Formulas of place and time at the walls of a case, on a device. Cheap to clone.
#[derive(Clone)]
pub struct Prescribed {
    loaded: Arc<Loaded>,
}

/// The kernels of a bundle, in the order of [`PrescribedRole::ALL`].
struct Loaded {
    device: Device,
    /// What it was loaded from, for other devices.
    bundle: PrescribedBundle,
    manifest: PrescribedManifest,
    entries: Vec<Entry>,
    notices: Vec<String>,
}

impl Prescribed {
    /// Compiles and loads a bundle's source and checks that the runtime can serve it.
    pub fn load(device: &Device, bundle: &PrescribedBundle) -> Result<Prescribed, KernelError> {
        let manifest = bundle.manifest.clone();
        check_versions(device, &manifest.spec, manifest.abi, manifest.target)?;
        let wrong = |reason: String| KernelError::Manifest { spec: manifest.spec.clone(), reason };
        if manifest.kernels.iter().map(|kernel| kernel.role).ne(PrescribedRole::ALL.iter().copied()) {
            return Err(wrong("not the kernels of prescribed values".into()));
        }
        // The same values on every device.
        let source = Source { name: &bundle.source.name, text: &bundle.source.text, fuses: false };
        let module = device.load(source)?;
        let mut entries = vec![];
        for kernel in &manifest.kernels {
            if !kernel.is_as_declared() {
                return Err(wrong(format!("the arguments of `{}` are not those of its role", kernel.symbol)));
            }
            if kernel.threads == 0 {
                return Err(wrong(format!("`{}` has an empty launch shape", kernel.symbol)));
            }
            entries.push(Entry {
                kernel: module.kernel(&kernel.symbol)?,
                symbol: kernel.symbol.clone(),
                divisible: kernel.role.is_divisible(),
                threads: kernel.threads,
                items_per_group: kernel.threads,
                passes: 1,
                shared: 0,
            });
        }
        let notices = module.notices().to_vec();
        Ok(Prescribed {
            loaded: Arc::new(Loaded { device: device.clone(), bundle: bundle.clone(), manifest, entries, notices }),
        })
    }

    /// The same for arrays of a device, loaded there where that is needed.
    pub(crate) fn on(&self, device: &Device) -> Result<Prescribed, KernelError> {
        match device.has_kernels_of(&self.loaded.device) {
            true => Ok(self.clone()),
            false => Prescribed::load(device, &self.loaded.bundle),
        }
    }

    /// What the user should know about loading, a sentence each.
    pub fn notices(&self) -> &[String] {
        &self.loaded.notices
    }

    /// How many formulas there are.
    pub fn formulas(&self) -> usize {
        self.loaded.manifest.formulas
    }

    /// Launches one of the kernels, at walls of the method of a manifest.
    pub fn launch<'a>(
        &self,
        method: &Manifest,
        kernel: impl Launch<'a, Role = PrescribedRole>,
    ) -> Result<(), KernelError> {
        let Loaded { device, manifest, entries, .. } = &*self.loaded;
        let (entry, arguments) = (&entries[kernel.role() as usize], Arguments::of(kernel));
        if (manifest.real, &manifest.spec) != (method.real, &method.spec) || !arguments.are_of(method) {
            return Err(KernelError::OtherBundle { spec: manifest.spec.clone(), kernel: entry.symbol.clone() });
        }
        Ok(entry.launch(device, &arguments)?)
    }
}
