//! The mesh kernels, loaded and launched by role.

use lbm_bundle::mesh::{MeshBundle, MeshManifest, MeshRole};
use lbm_bundle::{ArgType, File, Target};

use super::{Entry, Given, KernelError, check_versions};
use crate::device::{Device, Source};

/// The mesh kernels of a dimension, as they are checked in.
pub fn mesh_bundle(dim: usize, target: Target) -> Result<MeshBundle, KernelError> {
    macro_rules! generated {
        ($name:literal) => {
            include_str!(concat!("../../../generated/", $name))
        };
    }
    let (manifest, cuda, c) = match dim {
        2 => (generated!("mesh_2d.json"), generated!("mesh_2d.cu"), generated!("mesh_2d.c")),
        _ => (generated!("mesh_3d.json"), generated!("mesh_3d.cu"), generated!("mesh_3d.c")),
    };
    let wrong = |error: serde_json::Error| KernelError::Manifest { spec: "mesh".into(), reason: error.to_string() };
    let mut manifest: MeshManifest = serde_json::from_str(manifest).map_err(wrong)?;
    manifest.target = target;
    let (text, ending) = if target == Target::Cuda { (cuda, "cu") } else { (c, "c") };
    let source = File { name: format!("{}.{ending}", manifest.name), text: text.into() };
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
        let module = device.load(Source { name: &bundle.source.name, text: &bundle.source.text })?;
        let mut entries = vec![];
        for kernel in &manifest.kernels {
            let list =
                matches!(&kernel.args[..], [list, count, ..] if list.ty == ArgType::Ints && count.name == "count");
            if (kernel.divisible && !list) || kernel.threads == 0 {
                return Err(wrong(format!("`{}` has no list of items, or an empty launch shape", kernel.symbol)));
            }
            entries.push(Entry {
                kernel: module.kernel(&kernel.symbol)?,
                symbol: kernel.symbol.clone(),
                args: kernel.args.clone(),
                divisible: kernel.divisible,
                threads: kernel.threads,
                items_per_group: if kernel.divisible { kernel.threads } else { 1 },
                passes: 1,
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

    /// Runs the kernel for `role` over `items` items; one that is not divisible, once, if `items` is 1.
    pub fn launch(&self, role: MeshRole, items: usize, given: Vec<(&str, Given<'_>)>) -> Result<(), KernelError> {
        let at = self.manifest.kernels.iter().position(|kernel| kernel.role == role);
        let at =
            at.ok_or_else(|| KernelError::MissingRole { spec: self.manifest.name.clone(), role: format!("{role:?}") })?;
        self.entries[at].launch(&self.device, None, items, given)
    }
}
