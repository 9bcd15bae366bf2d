//! Loads the kernels of a bundle and launches them by role: those of a method ([`Program`]), of the mesh
//! ([`MeshProgram`]), of refinement criteria ([`Criterion`]), of prescribed wall values ([`Prescribed`]), of links that moving solids cut ([`Cutting`]) and of
//! statistics ([`Statistics`]).
//!
//! In: a bundle and a device. After loading: the bundle follows this runtime's version of the kernel interface, every
//! kernel has the arguments that the table of its role lists, and every symbol exists. A launch is a struct generated
//! from that table, with the arguments as fields, groups of them as structs; [`Gather`] launches all kernels that gather:
//!
//! ```no_run
//! # use lbm_runtime::device::{Buffer, Int, Real, Stored};
//! # use lbm_runtime::kernels::{self, KernelError, Params, Program};
//! # fn f(program: &Program, ids: &Buffer<Int>, src: &Buffer<Stored>, fields: &mut Buffer<Real>, params: &Params) -> Result<(), KernelError> {
//! program.launch(kernels::Macroscopic { ids: ids.slice(0..8), src, first: 0, level: 0, fields, params })
//! # }
//! ```
//!
//! A missing argument, an unknown one or one of the wrong type does not compile. Here the populations are integers:
//!
//! ```compile_fail
//! # use lbm_runtime::device::{Buffer, Int, Real, Stored};
//! # use lbm_runtime::kernels::{self, KernelError, Params, Program};
//! # fn f(program: &Program, ids: &Buffer<Int>, src: &Buffer<Stored>, fields: &mut Buffer<Real>, params: &Params) -> Result<(), KernelError> {
//! program.launch(kernels::Macroscopic { ids: ids.slice(0..8), src: ids, first: 0, level: 0, fields, params })
//! # }
//! ```
//!
//! Here the fields are borrowed immutably:
//!
//! ```compile_fail
//! # use lbm_runtime::device::{Buffer, Int, Real, Stored};
//! # use lbm_runtime::kernels::{self, KernelError, Params, Program};
//! # fn f(program: &Program, ids: &Buffer<Int>, src: &Buffer<Stored>, fields: &mut Buffer<Real>, params: &Params) -> Result<(), KernelError> {
//! program.launch(kernels::Macroscopic { ids: ids.slice(0..8), src, first: 0, level: 0, fields: &*fields, params })
//! # }
//! ```
//!
//! Here the parameters are missing:
//!
//! ```compile_fail
//! # use lbm_runtime::device::{Buffer, Int, Real, Stored};
//! # use lbm_runtime::kernels::{self, KernelError, Params, Program};
//! # fn f(program: &Program, ids: &Buffer<Int>, src: &Buffer<Stored>, fields: &mut Buffer<Real>, params: &Params) -> Result<(), KernelError> {
//! program.launch(kernels::Macroscopic { ids: ids.slice(0..8), src, first: 0, level: 0, fields })
//! # }
//! ```
//!
//! The real type of a bundle is known only at run time, when the types of arrays and parameters are checked.

pub mod criteria;
pub mod cutting;
mod error;
mod launch;
pub mod layout;
mod loaded;
pub mod mesh;
mod method;
pub mod prescribed;
pub mod statistics;

use lbm_bundle::{Bundle, File, Layout, Manifest, Role, Target};

pub use criteria::Criterion;
pub use cutting::Cutting;
pub use error::KernelError;
pub use launch::{Launch, Params};
pub use mesh::{MeshProgram, mesh_bundle};
pub use method::*;
pub use prescribed::Prescribed;
pub use statistics::Statistics;

use crate::device::Device;
use launch::Arguments;
use loaded::{Family, Loaded, Signature};

impl Family for Bundle {
    const FUSES: bool = true;

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
        check(&self.manifest)
    }

    fn signatures(&self) -> Vec<Signature<'_>> {
        let kernels = self.manifest.kernels.iter();
        let signatures = kernels.map(|kernel| Signature {
            symbol: &kernel.symbol,
            args: &kernel.args,
            as_declared: kernel.is_as_declared(&self.manifest),
            divisible: kernel.role.is_divisible(),
            threads: kernel.threads,
            items_per_group: kernel.items_per_group,
            passes: kernel.passes,
            shared: kernel.shared,
        });
        signatures.collect()
    }
}

/// The kernels of a method, loaded on a device.
pub struct Program {
    loaded: Loaded<Bundle>,
}

impl Program {
    /// Compiles and loads the source of a bundle, after checking that this runtime supports it.
    pub fn load(device: &Device, bundle: &Bundle) -> Result<Self, KernelError> {
        if bundle.manifest.layout != Layout::Blocks {
            return Err(KernelError::WrongLayout { spec: bundle.manifest.spec.clone() });
        }
        Ok(Program { loaded: Loaded::new(device, bundle)? })
    }

    /// The device on which the kernels run.
    pub fn device(&self) -> &Device {
        &self.loaded.device
    }

    /// The manifest: signatures and memory layout.
    pub fn manifest(&self) -> &Manifest {
        &self.loaded.bundle.manifest
    }

    /// Notices about loading for the user, one sentence each.
    pub fn notices(&self) -> &[String] {
        &self.loaded.notices
    }

    /// Runs a kernel over the items in its list; does nothing if the list is empty.
    pub fn launch<'a>(&self, kernel: impl Launch<'a, Role = Role>) -> Result<(), KernelError> {
        let (role, arguments, manifest) = (kernel.role(), Arguments::of(kernel), self.manifest());
        if arguments.items() == 0 {
            return Ok(());
        }
        let number = manifest.kernels.iter().position(|kernel| kernel.role == role);
        let missing = || KernelError::MissingRole { spec: manifest.spec.clone(), role: role.name().into() };
        self.loaded.launch(number.ok_or_else(missing)?, &arguments, |own| arguments.are_of(&own.manifest))
    }
}

/// Refuses a manifest that this runtime does not support, independent of its kernels.
fn check(manifest: &Manifest) -> Result<(), String> {
    if !(2..=3).contains(&manifest.dim) {
        return Err(format!("{} axes", manifest.dim));
    }
    let counted: u32 = manifest.populations.iter().map(|set| set.count).sum();
    let counted = counted as usize + manifest.states.len();
    if manifest.directions.is_empty() || counted != manifest.q() || manifest.block.contains(&0) {
        return Err("no directions, some that belong to no populations, or an empty block".into());
    }
    if manifest.dim == 2 && manifest.block[2] != 1 {
        return Err(format!("a block of {} cells along z in two dimensions", manifest.block[2]));
    }
    match manifest.members.iter().find(|member| manifest.param_of(member).is_none()) {
        Some(member) => Err(format!("`{}` is a parameter that the method has not", member.name)),
        None => Ok(()),
    }
}

#[cfg(test)]
mod tests {
    use lbm_bundle::Real;

    use super::*;
    use crate::fixture::{bundle, manifest};

    fn check(manifest: Manifest) -> Result<(), KernelError> {
        loaded::check(&Device::host(1).unwrap(), &Bundle { manifest, ..bundle() })
    }

    fn refusal(change: impl Fn(&mut Manifest)) -> String {
        let mut changed = manifest();
        change(&mut changed);
        check(changed).expect_err("it is not what its roles say").to_string()
    }

    #[test]
    fn a_manifest_is_refused_whose_arguments_are_not_those_of_its_roles() {
        check(manifest()).unwrap();
        let (ids, dst) = (0, 4);
        let changes: [&dyn Fn(&mut Manifest); 6] = [
            &|manifest| drop(manifest.kernels[0].args.pop()),
            &|manifest| manifest.kernels[0].args = Role::Macroscopic.args(manifest),
            &|manifest| manifest.kernels[0].args.swap(ids, dst),
            &|manifest| manifest.kernels[0].args[ids].name = "slots".into(),
            &|manifest| manifest.kernels[0].args[dst].ty = lbm_bundle::ArgType::Reals,
            &|manifest| manifest.kernels[0].args[dst].shape = "[slot][q]".into(),
        ];
        for change in changes {
            let text = refusal(change);
            assert!(text.contains("fixture_init") && text.contains("its role"), "{text}");
        }
    }

    #[test]
    fn what_is_said_of_arguments_may_differ() {
        let mut manifest = manifest();
        manifest.kernels[0].args[0].doc = "in other words".into();
        check(manifest).unwrap();
    }

    #[test]
    fn a_member_of_no_parameter_is_refused() {
        let text = refusal(|manifest| manifest.members[0].param = "tau".into());
        assert!(text.contains("`omega_`"), "{text}");
    }

    #[test]
    fn arrays_and_parameters_of_another_precision_are_refused() {
        let device = Device::host(1).unwrap();
        let program = Program::load(&device, &bundle()).unwrap();
        let other = Manifest { real: Real::F32, ..manifest() };
        let ids = device.ints(&[0]).unwrap();
        let launch = |fields: Real, params: &Manifest| {
            let fields = device.alloc_reals(fields, 3 * 64).unwrap();
            let mut dst = device.alloc_stored(Real::F64, 9 * 64).unwrap();
            let params = Params::new(params, &[vec![1.0]]);
            program.launch(Init { ids: ids.slice(0..1), first: 0, fields: &fields, dst: &mut dst, params: &params })
        };
        launch(Real::F64, &manifest()).unwrap();
        for (fields, params) in [(Real::F32, &manifest()), (Real::F64, &other)] {
            assert!(matches!(launch(fields, params), Err(KernelError::OtherBundle { .. })), "{fields:?}");
        }
    }

    #[test]
    fn a_kernel_that_the_bundle_has_not_is_named() {
        let device = Device::host(1).unwrap();
        let program = Program::load(&device, &bundle()).unwrap();
        let (ids, parts) = (device.ints(&[0]).unwrap(), device.ints(&[0; 4]).unwrap());
        let mut fields = device.alloc_reals(Real::F64, 3 * 64).unwrap();
        let kernel = AverageFields { ids: ids.slice(0..1), child_slots: &parts, fields: &mut fields };
        let error = program.launch(kernel).expect_err("the fixture has one level");
        assert!(error.to_string().contains("average_fields"), "{error}");
    }
}
