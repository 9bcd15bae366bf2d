//! The kernels of a bundle of any family, loaded on a device.
//!
//! In: a bundle of one of the families. After: it follows this runtime's version of the kernel interface, each kernel
//! has the arguments that the table of its role lists, and each symbol exists.

use lbm_bundle::{ABI, Arg, File, Target};

use super::KernelError;
use super::launch::Arguments;
use crate::device::{Device, DeviceError, Kernel, Shape, Source};

/// The common interface of all families of bundles.
pub(super) trait Family: Clone {
    /// Whether a multiplication and an addition may be fused into one operation (FMA).
    const FUSES: bool;

    /// Name of the spec, or `mesh`.
    fn name(&self) -> &str;

    /// Version of the kernel interface, and target.
    fn made_for(&self) -> (u32, Target);

    /// The source.
    fn source(&self) -> &File;

    /// Checks everything except the kernels; the error is a description in words.
    fn check(&self) -> Result<(), String>;

    /// The kernels, in the order of the bundle.
    fn signatures(&self) -> Vec<Signature<'_>>;
}

/// A kernel as the manifest describes it.
pub(super) struct Signature<'a> {
    pub(super) symbol: &'a str,
    pub(super) args: &'a [Arg],
    /// Whether the arguments are those of its role.
    pub(super) as_declared: bool,
    pub(super) divisible: bool,
    pub(super) threads: u32,
    pub(super) items_per_group: u32,
    pub(super) passes: u32,
    pub(super) shared: u32,
}

/// The kernels of a bundle, loaded on a device.
pub(super) struct Loaded<B> {
    pub(super) device: Device,
    pub(super) bundle: B,
    /// In the order of the bundle.
    entries: Vec<Entry>,
    pub(super) notices: Vec<String>,
}

/// A kernel on the device, and the properties that its launches share.
struct Entry {
    kernel: Kernel,
    symbol: String,
    divisible: bool,
    threads: u32,
    items_per_group: u32,
    passes: u32,
    shared: u32,
}

impl<B: Family> Loaded<B> {
    /// Compiles and loads the source of a bundle, after checking that this runtime supports it.
    pub(super) fn new(device: &Device, bundle: &B) -> Result<Self, KernelError> {
        check(device, bundle)?;
        let File { name, text } = bundle.source();
        let module = device.load(Source { name, text, fuses: B::FUSES })?;
        let entry = |signature: Signature<'_>| {
            let Signature { symbol, args, divisible, threads, items_per_group, passes, shared, .. } = signature;
            let names = args.iter().map(|arg| arg.name.clone()).collect();
            let kernel = module.kernel(symbol)?.sharing(shared)?.naming(names);
            Ok(Entry { kernel, symbol: symbol.to_string(), divisible, threads, items_per_group, passes, shared })
        };
        let entries = bundle.signatures().into_iter().map(entry).collect::<Result<_, DeviceError>>()?;
        Ok(Loaded { device: device.clone(), bundle: bundle.clone(), entries, notices: module.notices().to_vec() })
    }

    /// Whether the kernels can access arrays on `device`.
    pub(super) fn is_on(&self, device: &Device) -> bool {
        device.has_kernels_of(&self.device)
    }

    /// Runs the kernel with this index in the bundle. `fits` tells whether the arguments belong to the bundle.
    pub(super) fn launch(
        &self,
        number: usize,
        arguments: &Arguments<'_>,
        fits: impl FnOnce(&B) -> bool,
    ) -> Result<(), KernelError> {
        let Entry { ref kernel, ref symbol, divisible, threads, items_per_group, passes, shared } =
            self.entries[number];
        if !fits(&self.bundle) {
            return Err(KernelError::OtherBundle { spec: self.bundle.name().into(), kernel: symbol.clone() });
        }
        let shape = Shape { items: arguments.items(), divisible, threads, items_per_group, passes, shared };
        Ok(self.device.launch(kernel, shape, arguments.values())?)
    }
}

/// Refuses a bundle that this runtime does not support on `device`.
pub(super) fn check(device: &Device, bundle: &impl Family) -> Result<(), KernelError> {
    let (spec, (abi, target)) = (bundle.name().to_string(), bundle.made_for());
    if abi != ABI {
        return Err(KernelError::Abi { spec, found: abi });
    }
    if target != device.target() {
        let (found, expected) = (target, device.target());
        return Err(KernelError::WrongTarget { spec, found, expected, device: device.describe() });
    }
    let of_kernel = |kernel: &Signature<'_>| match kernel {
        Signature { symbol, as_declared: false, .. } => {
            Err(format!("the arguments of `{symbol}` are not those of its role"))
        }
        Signature { symbol, threads: 0, .. } | Signature { symbol, items_per_group: 0, .. } => {
            Err(format!("`{symbol}` has an empty launch shape"))
        }
        _ => Ok(()),
    };
    let all = bundle.check().and_then(|()| bundle.signatures().iter().try_for_each(of_kernel));
    all.map_err(|reason| KernelError::Manifest { spec, reason })
}
