//! The mesh kernels, loaded, and their launches: a struct for each row of [`lbm_bundle::mesh_kernels!`].

use lbm_bundle::mesh::{MeshBundle, MeshManifest, MeshRole};
use lbm_bundle::{File, Target, mesh_kernels};

use super::launch::{Arguments, Launch, field, launches, put};
use super::{Entry, KernelError, check_versions};
use crate::device::{Buffer, Device, Int, Part, Source};

macro_rules! of_mesh {
    ($($rows:tt)*) => { launches! { MeshRole: $($rows)* } };
}

mesh_kernels!(of_mesh);

/// The mesh kernels of a dimension, as they are checked in.
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

/// Mesh kernels on a device.
pub struct MeshProgram {
    device: Device,
    manifest: MeshManifest,
    entries: Vec<Entry>,
    notices: Vec<String>,
}

impl MeshProgram {
    /// Compiles and loads the bundle's source and checks that the runtime can serve it.
    pub fn load(device: &Device, bundle: &MeshBundle) -> Result<Self, KernelError> {
        let manifest = bundle.manifest.clone();
        check_versions(device, &manifest.name, manifest.abi, manifest.target)?;
        let wrong = |reason: String| KernelError::Manifest { spec: manifest.name.clone(), reason };
        if !(2..=3).contains(&manifest.dim) {
            return Err(wrong(format!("{} axes", manifest.dim)));
        }
        let module = device.load(Source { name: &bundle.source.name, text: &bundle.source.text, fuses: true })?;
        let mut entries = vec![];
        for kernel in &manifest.kernels {
            if !kernel.is_as_declared(manifest.dim) {
                return Err(wrong(format!("the arguments of `{}` are not those of its role", kernel.symbol)));
            }
            if kernel.threads == 0 {
                return Err(wrong(format!("`{}` has an empty launch shape", kernel.symbol)));
            }
            entries.push(Entry {
                kernel: module.kernel(&kernel.symbol)?,
                symbol: kernel.symbol.clone(),
                divisible: kernel.divisible,
                threads: kernel.threads,
                items_per_group: if kernel.divisible { kernel.threads } else { 1 },
                passes: 1,
                shared: 0,
            });
        }
        Ok(MeshProgram { device: device.clone(), manifest, entries, notices: module.notices().to_vec() })
    }

    /// The device it runs on.
    pub fn device(&self) -> &Device {
        &self.device
    }

    /// Signatures.
    pub fn manifest(&self) -> &MeshManifest {
        &self.manifest
    }

    /// What the user should know about loading, a sentence each.
    pub fn notices(&self) -> &[String] {
        &self.notices
    }

    /// Runs a kernel over the items that it lists; one that lists none, once.
    pub fn launch<'a>(&self, kernel: impl Launch<'a, Role = MeshRole>) -> Result<(), KernelError> {
        let role = kernel.role();
        let entry = self.manifest.kernels.iter().zip(&self.entries).find(|(kernel, _)| kernel.role == role);
        let (_, entry) = entry
            .ok_or_else(|| KernelError::MissingRole { spec: self.manifest.name.clone(), role: role.name().into() })?;
        Ok(entry.launch(&self.device, &Arguments::of(kernel))?)
    }
}
