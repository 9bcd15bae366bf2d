//! The mesh kernels, and their launches: a struct for each row of [`lbm_bundle::mesh_kernels!`].

use lbm_bundle::mesh::{MeshBundle, MeshManifest, MeshRole};
use lbm_bundle::{File, Target, mesh_kernels};

use super::KernelError;
use super::launch::{Arguments, Launch, Put, about, arguments, field, launch, launches, put};
use super::loaded::{Family, Loaded, Signature};
use crate::device::{Buffer, Device, Int, Slice};

macro_rules! of_mesh {
    ($($rows:tt)*) => { launches! { MeshRole: $($rows)* } };
}

mesh_kernels!(of_mesh);

/// The checked-in mesh kernels for a dimension.
pub fn mesh_bundle(dim: usize, target: Target) -> Result<MeshBundle, KernelError> {
    macro_rules! generated {
        ($name:literal) => {
            include_str!(concat!("../../../generated/", $name))
        };
    }
    let (manifest, gpu, host) = match dim {
        2 => (generated!("mesh_2d.json"), generated!("mesh_2d.cu"), generated!("mesh_2d.c")),
        _ => (generated!("mesh_3d.json"), generated!("mesh_3d.cu"), generated!("mesh_3d.c")),
    };
    let wrong = |error: serde_json::Error| KernelError::Manifest { spec: "mesh".into(), reason: error.to_string() };
    let mut manifest: MeshManifest = serde_json::from_str(manifest).map_err(wrong)?;
    manifest.target = target;
    let text = if target.is_gpu() { gpu } else { host };
    let source = File { name: format!("{}.{}", manifest.name, target.ending()), text: text.into() };
    Ok(MeshBundle { manifest, source })
}

impl Family for MeshBundle {
    const FUSES: bool = true;

    fn name(&self) -> &str {
        &self.manifest.name
    }

    fn made_for(&self) -> (u32, Target) {
        (self.manifest.abi, self.manifest.target)
    }

    fn source(&self) -> &File {
        &self.source
    }

    fn check(&self) -> Result<(), String> {
        match self.manifest.dim {
            2..=3 => Ok(()),
            dim => Err(format!("{dim} axes")),
        }
    }

    fn signatures(&self) -> Vec<Signature<'_>> {
        let kernels = self.manifest.kernels.iter();
        let signatures = kernels.map(|kernel| Signature {
            symbol: &kernel.symbol,
            args: &kernel.args,
            as_declared: kernel.is_as_declared(self.manifest.dim),
            divisible: kernel.divisible,
            threads: kernel.threads,
            items_per_group: if kernel.divisible { kernel.threads } else { 1 },
            passes: 1,
            shared: 0,
        });
        signatures.collect()
    }
}

/// The mesh kernels, loaded on a device.
pub struct MeshProgram {
    loaded: Loaded<MeshBundle>,
}

impl MeshProgram {
    /// Compiles and loads the source of a bundle, after checking that this runtime supports it.
    pub fn load(device: &Device, bundle: &MeshBundle) -> Result<Self, KernelError> {
        Ok(MeshProgram { loaded: Loaded::new(device, bundle)? })
    }

    /// The device on which the kernels run.
    pub fn device(&self) -> &Device {
        &self.loaded.device
    }

    /// The manifest: signatures.
    pub fn manifest(&self) -> &MeshManifest {
        &self.loaded.bundle.manifest
    }

    /// Notices about loading for the user, one sentence each.
    pub fn notices(&self) -> &[String] {
        &self.loaded.notices
    }

    /// Runs a kernel over the items in its list, or once if it has no list.
    pub fn launch<'a>(&self, kernel: impl Launch<'a, Role = MeshRole>) -> Result<(), KernelError> {
        let (role, manifest) = (kernel.role(), self.manifest());
        let number = manifest.kernels.iter().position(|kernel| kernel.role == role);
        let missing = || KernelError::MissingRole { spec: manifest.name.clone(), role: role.name().into() };
        self.loaded.launch(number.ok_or_else(missing)?, &Arguments::of(kernel), |_| true)
    }
}
