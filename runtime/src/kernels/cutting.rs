//! Kernels that cut links at moving solids, and their launches: a struct for each row of [`lbm_bundle::cutting_kernels!`].

pub use lbm_bundle::cutting::UNCHANGED;
use lbm_bundle::cutting::{CutBundle, CutManifest, CutRole, HASH};
use lbm_bundle::{File, Manifest, Real as Precision, Target, cutting_kernels};

use super::KernelError;
use super::launch::{Arguments, Launch, Put, about, arguments, field, launch, launches, put};
use super::loaded::{Family, Loaded, Signature};
use super::method::{AllShapes, Found, NearShapes, Placed, Surfaces};
use crate::device::{Buffer, Device, Double, Int, Real, Slice};
use crate::geometry::Block;

macro_rules! of_cutting {
    ($($rows:tt)*) => { launches! { CutRole: $($rows)* } };
}

cutting_kernels!(of_cutting);

/// The checked-in kernels for the blocks, the directions and the real type of a method.
fn bundle(method: &Manifest, target: Target) -> Result<CutBundle, KernelError> {
    macro_rules! generated {
        ($name:literal) => {
            include_str!(concat!("../../../generated/", $name))
        };
    }
    let (manifest, gpu, host) = match method.dim {
        2 => (generated!("cutting_2d.json"), generated!("cutting_2d.cu"), generated!("cutting_2d.c")),
        _ => (generated!("cutting_3d.json"), generated!("cutting_3d.cu"), generated!("cutting_3d.c")),
    };
    let wrong = |error: serde_json::Error| KernelError::Manifest { spec: "cutting".into(), reason: error.to_string() };
    let mut manifest: CutManifest = serde_json::from_str(manifest).map_err(wrong)?;
    manifest.target = target;
    let name = if method.real == Precision::F64 { "double" } else { "float" };
    let ([width, height, depth], q) = (method.block, method.q());
    let macros = format!(
        "#define REAL {name}\n#define WIDTH {width}\n#define HEIGHT {height}\n#define DEPTH {depth}\n#define Q {q}\n"
    );
    let text = macros + if target.is_gpu() { gpu } else { host };
    let source = File { name: format!("{}.{}", manifest.name, target.ending()), text };
    Ok(CutBundle { manifest, source })
}

impl Family for CutBundle {
    // Without FMA, so that all devices cut the same links.
    const FUSES: bool = false;

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
        match self.manifest.kernels.iter().map(|kernel| kernel.role).eq(CutRole::ALL.iter().copied()) {
            true => Ok(()),
            false => Err("not the kernels that cut links".into()),
        }
    }

    fn signatures(&self) -> Vec<Signature<'_>> {
        let kernels = self.manifest.kernels.iter();
        let signatures = kernels.map(|kernel| Signature {
            symbol: &kernel.symbol,
            args: &kernel.args,
            as_declared: kernel.is_as_declared(self.manifest.dim),
            divisible: kernel.role.is_divisible(),
            threads: kernel.threads,
            items_per_group: kernel.threads,
            passes: 1,
            shared: 0,
        });
        signatures.collect()
    }
}

/// The kernels that cut links, loaded on a device.
pub struct Cutting {
    loaded: Loaded<CutBundle>,
}

impl Cutting {
    /// Compiles and loads the kernels for a method.
    pub fn load(device: &Device, method: &Manifest) -> Result<Self, KernelError> {
        Ok(Cutting { loaded: Loaded::new(device, &bundle(method, device.target())?)? })
    }

    /// Notices about loading for the user, one sentence each.
    pub fn notices(&self) -> &[String] {
        &self.loaded.notices
    }

    /// Runs a kernel over the cells in its list; does nothing if the list is empty.
    pub fn launch<'a>(&self, kernel: impl Launch<'a, Role = CutRole>) -> Result<(), KernelError> {
        let (role, arguments) = (kernel.role(), Arguments::of(kernel));
        if arguments.items() == 0 {
            return Ok(());
        }
        self.loaded.launch(role as usize, &arguments, |_| true)
    }
}

/// The table in which kernels find places by where they are: see [`Found`].
pub fn map_of(places: &[Block]) -> Vec<i32> {
    let entries = (2 * places.len()).next_power_of_two().max(2);
    let mut map = vec![-1; entries];
    for (number, Block { place, .. }) in places.iter().enumerate() {
        let hash = (0..3).fold(0, |hash, axis| hash ^ HASH[axis].wrapping_mul(place[axis] as u32)) as usize;
        let free = (hash..).map(|at| at % entries).find(|at| map[*at] < 0).expect("half of the entries are free");
        map[free] = number as i32;
    }
    map
}

#[cfg(test)]
mod tests;
