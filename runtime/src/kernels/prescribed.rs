//! Kernels of time-dependent wall values, and their launches: a struct for each row of
//! [`lbm_bundle::prescribed_kernels!`].

use std::sync::Arc;

use lbm_bundle::formula::Plane;
use lbm_bundle::prescribed::{PrescribedBundle, PrescribedRole};
use lbm_bundle::{File, Manifest, Target, prescribed_kernels};

use super::KernelError;
use super::launch::{Arguments, Launch, Put, about, arguments, field, launch, launches, put};
use super::loaded::{Family, Loaded, Signature};
use crate::device::{Buffer, Device, Double, Int, Real, Slice};

macro_rules! of_walls {
    ($($rows:tt)*) => { launches! { PrescribedRole: $($rows)* } };
}

prescribed_kernels!(of_walls);

impl Family for PrescribedBundle {
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
        match self.manifest.kernels.iter().map(|kernel| kernel.role).eq(PrescribedRole::ALL.iter().copied()) {
            true => Ok(()),
            false => Err("not the kernels of prescribed values".into()),
        }
    }

    fn signatures(&self) -> Vec<Signature<'_>> {
        let kernels = self.manifest.kernels.iter();
        let signatures = kernels.map(|kernel| Signature {
            symbol: &kernel.symbol,
            args: &kernel.args,
            as_declared: kernel.is_as_declared(),
            divisible: kernel.role.is_divisible(),
            threads: kernel.threads,
            items_per_group: kernel.threads,
            passes: 1,
            shared: 0,
        });
        signatures.collect()
    }
}

/// Formulas of position and time for the walls of a case, on a device. Cheap to clone.
#[derive(Clone)]
pub struct Prescribed {
    loaded: Arc<Loaded<PrescribedBundle>>,
}

impl Prescribed {
    /// Compiles and loads the source of a bundle, after checking that this runtime supports it.
    pub fn load(device: &Device, bundle: &PrescribedBundle) -> Result<Prescribed, KernelError> {
        Ok(Prescribed { loaded: Arc::new(Loaded::new(device, bundle)?) })
    }

    /// The same formulas for arrays on `device`; loads the kernels there if necessary.
    pub(crate) fn on(&self, device: &Device) -> Result<Prescribed, KernelError> {
        match self.loaded.is_on(device) {
            true => Ok(self.clone()),
            false => Prescribed::load(device, &self.loaded.bundle),
        }
    }

    /// Notices about loading for the user, one sentence each.
    pub fn notices(&self) -> &[String] {
        &self.loaded.notices
    }

    /// Number of formulas.
    pub fn formulas(&self) -> usize {
        self.loaded.bundle.manifest.formulas
    }

    /// The recordings that formulas read, in the order of their frames.
    pub(crate) fn recordings(&self) -> &[Plane] {
        &self.loaded.bundle.recordings
    }

    /// Launches a kernel for walls of the method that `method` describes.
    pub fn launch<'a>(
        &self,
        method: &Manifest,
        kernel: impl Launch<'a, Role = PrescribedRole>,
    ) -> Result<(), KernelError> {
        // Kernels are in the order of roles.
        let (number, arguments) = (kernel.role() as usize, Arguments::of(kernel));
        self.loaded.launch(number, &arguments, |PrescribedBundle { manifest, .. }| {
            (manifest.real, &manifest.spec) == (method.real, &method.spec) && arguments.are_of(method)
        })
    }
}
