//! Kernels of refinement criteria, and their launch: a struct for the row of [`lbm_bundle::criterion_kernels!`].

use std::sync::Arc;

use lbm_bundle::criteria::{CriteriaBundle, CriterionRole};
use lbm_bundle::{File, Manifest, Target, criterion_kernels};

use super::KernelError;
use super::launch::{Arguments, Launch, Put, about, arguments, field, launch, launches, put};
use super::loaded::{Family, Loaded, Signature};
use crate::device::{Buffer, Device, Int, Real, Slice};

macro_rules! of_criteria {
    ($($rows:tt)*) => { launches! { CriterionRole: $($rows)* } };
}

criterion_kernels!(of_criteria);

impl Family for CriteriaBundle {
    // Without FMA, so that all devices refine the same blocks.
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
        let (dim, block) = (self.manifest.dim, self.manifest.block);
        match (2..=3).contains(&dim) && !block.contains(&0) {
            true => Ok(()),
            false => Err(format!("{dim} axes, or an empty block")),
        }
    }

    fn signatures(&self) -> Vec<Signature<'_>> {
        let kernels = self.manifest.kernels.iter();
        let signatures = kernels.map(|kernel| Signature {
            symbol: &kernel.symbol,
            args: &kernel.args,
            as_declared: kernel.is_as_declared(&self.manifest),
            divisible: CriterionRole::TargetLevels.is_divisible(),
            threads: kernel.threads,
            items_per_group: 1,
            passes: 1,
            shared: 0,
        });
        signatures.collect()
    }
}

/// A refinement criterion on a device: it computes the target level of each block. Cheap to clone.
#[derive(Clone)]
pub struct Criterion {
    loaded: Arc<Loaded<CriteriaBundle>>,
    number: usize,
}

impl Criterion {
    /// Compiles and loads the source of a bundle, after checking that this runtime supports it. Returns its criteria in
    /// order.
    pub fn load(device: &Device, bundle: &CriteriaBundle) -> Result<Vec<Criterion>, KernelError> {
        let loaded = Arc::new(Loaded::new(device, bundle)?);
        Ok((0..bundle.manifest.kernels.len()).map(|number| Criterion { loaded: loaded.clone(), number }).collect())
    }

    /// The same criterion for arrays on `device`; loads the kernels there if necessary.
    pub(crate) fn on(&self, device: &Device) -> Result<Criterion, KernelError> {
        let Criterion { loaded, number } = self;
        match loaded.is_on(device) {
            true => Ok(self.clone()),
            false => Ok(Criterion::load(device, &loaded.bundle)?.swap_remove(*number)),
        }
    }

    /// Notices about loading for the user, one sentence each.
    pub fn notices(&self) -> &[String] {
        &self.loaded.notices
    }

    /// Runs the kernel over the blocks in its list, with fields of the method that `method` describes.
    pub fn launch<'a>(
        &self,
        method: &Manifest,
        kernel: impl Launch<'a, Role = CriterionRole>,
    ) -> Result<(), KernelError> {
        let arguments = Arguments::of(kernel);
        self.loaded.launch(self.number, &arguments, |own| own.manifest.is_for(method) && arguments.are_of(method))
    }
}
