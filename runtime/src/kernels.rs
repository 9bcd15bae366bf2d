//! A bundle's kernels, loaded and launched by role: those of a method ([`Program`]) and those of the mesh
//! ([`MeshProgram`]).
//!
//! In: a bundle and a device. After loading: the bundle follows this runtime's contract, every kernel's
//! signature is one this module can serve, and every symbol exists. Arguments are matched by name; one that is missing
//! or not asked for is an error that names it.

mod mesh;

use lbm_bundle::{ABI, Arg, ArgType, Bundle, Layout, Manifest, Real, Role, Target};
use miette::Diagnostic;
use thiserror::Error;

pub use mesh::{MeshProgram, mesh_bundle};

use crate::device::{self, Buffer, Device, DeviceError, Scalar, Shape, Source, Value};

/// Why a bundle cannot be used or a kernel not be launched.
#[derive(Debug, Error, Diagnostic)]
pub enum KernelError {
    /// The bundle follows another version of the contract.
    #[error("the bundle of `{spec}` follows version {found} of the kernel interface, this program version {ABI}")]
    #[diagnostic(code(lbmc::kernels::abi), help("generate the bundle again with this version of lbmc"))]
    Abi {
        /// The spec.
        spec: String,
        /// Version of the bundle.
        found: u32,
    },

    /// The bundle is for another kind of device.
    #[error("the bundle of `{spec}` is for {found:?}, the device ({device}) runs {wanted:?}")]
    #[diagnostic(code(lbmc::kernels::target), help("generate the bundle with `--target {}`", match wanted { Target::Cuda => "cuda", Target::C => "c" }))]
    WrongTarget {
        /// The spec.
        spec: String,
        /// Target of the bundle.
        found: Target,
        /// Target of the device.
        wanted: Target,
        /// The device.
        device: String,
    },

    /// The bundle's kernels work on plain arrays.
    #[error("the kernels of `{spec}` work on plain arrays (layout soa), this runtime on blocks")]
    #[diagnostic(code(lbmc::kernels::layout), help("generate the bundle with `--layout blocks`, the default"))]
    WrongLayout {
        /// The spec.
        spec: String,
    },

    /// The manifest contradicts itself or the contract.
    #[error("the manifest of `{spec}` is wrong: {reason}")]
    #[diagnostic(code(lbmc::kernels::manifest), help("generate the bundle again"))]
    Manifest {
        /// The spec.
        spec: String,
        /// What is wrong.
        reason: String,
    },

    /// The bundle has no kernel for a job.
    #[error("the bundle of `{spec}` has no {role} kernel")]
    #[diagnostic(code(lbmc::kernels::missing_role), help("generate the bundle again"))]
    MissingRole {
        /// The spec.
        spec: String,
        /// The job.
        role: String,
    },

    /// An argument that the kernel needs was not given.
    #[error("kernel `{kernel}` needs the argument `{arg}` ({doc}); given: {given}")]
    #[diagnostic(code(lbmc::kernels::missing_argument))]
    MissingArgument {
        /// Symbol of the kernel.
        kernel: String,
        /// The argument.
        arg: String,
        /// What it is.
        doc: String,
        /// Names that were given.
        given: String,
    },

    /// An argument was given that the kernel does not have.
    #[error("kernel `{kernel}` has no argument `{arg}`; it has: {known}")]
    #[diagnostic(code(lbmc::kernels::surplus_argument))]
    SurplusArgument {
        /// Symbol of the kernel.
        kernel: String,
        /// The argument.
        arg: String,
        /// Names that the kernel has.
        known: String,
    },

    /// An argument has another type than the kernel's.
    #[error("argument `{arg}` of kernel `{kernel}` is {wanted:?}, given was {given}")]
    #[diagnostic(code(lbmc::kernels::argument_type))]
    ArgumentType {
        /// Symbol of the kernel.
        kernel: String,
        /// The argument.
        arg: String,
        /// Its type.
        wanted: ArgType,
        /// What was given.
        given: String,
    },

    /// The device failed.
    #[error(transparent)]
    #[diagnostic(transparent)]
    Device(#[from] DeviceError),
}

/// The value of an argument; reals are rounded to the bundle's type.
#[derive(Debug)]
pub enum Given<'a> {
    /// An integer.
    Int(i32),
    /// A real.
    Real(f64),
    /// An array that the kernel reads.
    Read(&'a Buffer),
    /// An array that the kernel reads from that value on.
    ReadFrom(&'a Buffer, usize),
    /// An array that the kernel writes.
    Write(&'a mut Buffer),
}

/// A kernel that takes its arguments by name.
struct Entry {
    kernel: device::Kernel,
    symbol: String,
    args: Vec<Arg>,
    divisible: bool,
    threads: u32,
    items_per_group: u32,
    passes: u32,
}

impl Entry {
    fn launch(
        &self,
        device: &Device,
        real: Option<Real>,
        items: usize,
        given: Vec<(&str, Given<'_>)>,
    ) -> Result<(), KernelError> {
        let mut values = arrange(&self.symbol, &self.args, real, given)?;
        let Entry { divisible, threads, items_per_group, passes, .. } = *self;
        device.launch(&self.kernel, Shape { items, divisible, threads, items_per_group, passes }, &mut values)?;
        Ok(())
    }
}

/// A method's kernels on a device.
pub struct Program {
    device: Device,
    manifest: Manifest,
    entries: Vec<Entry>,
    notices: Vec<String>,
}

impl Program {
    /// Compiles and loads the bundle's source and checks that the runtime can serve it.
    pub fn load(device: &Device, bundle: &Bundle) -> Result<Self, KernelError> {
        let manifest = bundle.manifest.clone();
        check(device, &manifest)?;
        let module = device.load(Source { name: &bundle.source.name, text: &bundle.source.text })?;
        let entry = |kernel: &lbm_bundle::Kernel| {
            Ok(Entry {
                kernel: module.kernel(&kernel.symbol)?,
                symbol: kernel.symbol.clone(),
                args: kernel.args.clone(),
                divisible: kernel.role != Role::Collide,
                threads: kernel.threads,
                items_per_group: kernel.items_per_group,
                passes: kernel.passes,
            })
        };
        let entries = manifest.kernels.iter().map(entry).collect::<Result<_, DeviceError>>()?;
        Ok(Program { device: device.clone(), manifest, entries, notices: module.notices().to_vec() })
    }

    /// The device it runs on.
    pub fn device(&self) -> &Device {
        &self.device
    }

    /// Signatures and layout.
    pub fn manifest(&self) -> &Manifest {
        &self.manifest
    }

    /// What the user should know about loading, a sentence each.
    pub fn notices(&self) -> &[String] {
        &self.notices
    }

    /// Runs the kernel for `role` over `items` blocks (states of `collide`).
    pub fn launch(&self, role: Role, items: usize, given: Vec<(&str, Given<'_>)>) -> Result<(), KernelError> {
        let at = self.manifest.kernels.iter().position(|kernel| kernel.role == role);
        let at =
            at.ok_or_else(|| KernelError::MissingRole { spec: self.manifest.spec.clone(), role: format!("{role:?}") })?;
        self.entries[at].launch(&self.device, Some(self.manifest.real), items, given)
    }
}

/// Refuses a bundle of another version or for another device.
fn check_versions(device: &Device, spec: &str, abi: u32, target: Target) -> Result<(), KernelError> {
    let spec = spec.to_string();
    if abi != ABI {
        return Err(KernelError::Abi { spec, found: abi });
    }
    if target != device.target() {
        let (found, wanted) = (target, device.target());
        return Err(KernelError::WrongTarget { spec, found, wanted, device: device.describe() });
    }
    Ok(())
}

/// Refuses a manifest that this runtime cannot serve.
fn check(device: &Device, manifest: &Manifest) -> Result<(), KernelError> {
    check_versions(device, &manifest.spec, manifest.abi, manifest.target)?;
    if manifest.layout != Layout::Blocks {
        return Err(KernelError::WrongLayout { spec: manifest.spec.clone() });
    }
    let wrong = |reason: String| Err(KernelError::Manifest { spec: manifest.spec.clone(), reason });
    if !(2..=3).contains(&manifest.dim) {
        return wrong(format!("{} axes", manifest.dim));
    }
    let counted: u32 = manifest.populations.iter().map(|set| set.count).sum();
    if manifest.directions.is_empty() || counted as usize != manifest.q() || manifest.block.contains(&0) {
        return wrong("no directions, some that belong to no populations, or an empty block".into());
    }
    if manifest.dim == 2 && manifest.block[2] != 1 {
        return wrong(format!("a block of {} cells along z in two dimensions", manifest.block[2]));
    }
    for kernel in &manifest.kernels {
        let starts = |names: &[&str]| {
            kernel.args.len() >= names.len() && kernel.args.iter().zip(names).all(|(arg, name)| arg.name == *name)
        };
        let in_order = match kernel.role {
            Role::Init => starts(&["ids", "count", "fields", "dst"]),
            Role::StreamCollide => starts(&["ids", "count", "neighbours", "src", "dst"]),
            Role::StreamCollideWalls => {
                starts(&["ids", "count", "neighbours", "wall_rules", "wall_values", "src", "dst"])
            }
            Role::StreamCollideInterface | Role::StreamCollideInterfaceWalls => {
                let ghosts = manifest.coupling.as_ref().is_some_and(|coupling| coupling.ghosts > 0);
                starts(&["ids", "count", "neighbours", if ghosts { "sides" } else { "rows" }])
            }
            Role::InterfaceMasks => starts(&["ids", "count", "nodes", "near", "children", "rows"]),
            Role::InterfaceCells | Role::ToCoarseWalls => {
                starts(&["ids", "count", "nodes", "near", "children", "slots", "rows"])
            }
            Role::ToFine | Role::ToCoarse => starts(&["cells", "count", "tables", "cell_masks"]),
            Role::ToFineWalls => starts(&["ids", "count", "nodes", "near", "children", "parents", "slots", "rows"]),
            Role::Restrict => starts(&["ids", "count", "sides", "parts"]),
            Role::Send | Role::Prolong => starts(&["ids", "count", "neighbours", "sides"]),
            Role::Hold => starts(&["ids", "count", "sides", "parts", "held", "whole", "sets"]),
            Role::Keep => starts(&["ids", "count", "nodes", "levels", "children"]),
            Role::StreamCollideSolid => starts(&["ids", "count", "neighbours", "wall_rules", "wall_values", "rows"]),
            Role::Force => {
                starts(&["shares", "count", "ids", "size", "per", "neighbours", "wall_rules", "wall_values"])
            }
            Role::Look => starts(&["shares", "count", "ids", "size", "per", "fields", "before"]),
            Role::Sums => starts(&["shares", "count", "ids", "size", "per", "src", "sums"]),
            Role::Average => starts(&["ids", "count", "parts", "nodes"]),
            Role::Fill => starts(&["ids", "count", "neighbours", "parts"]),
            Role::AverageFields => starts(&["ids", "count", "parts", "fields"]),
            Role::FillFields => starts(&["ids", "count", "neighbours", "held", "parts", "fields"]),
            Role::Relocate => starts(&["ids", "count", "from", "components", "src", "dst"]),
            Role::Wish => starts(&["ids", "count", "neighbours", "nodes"]),
            Role::Macroscopic => starts(&["ids", "count", "src", "fields"]),
            Role::Collide => starts(&["count", "src", "dst"]),
        };
        if !in_order {
            return wrong(format!("the arguments of `{}` are not those of its role", kernel.symbol));
        }
        let nowhere = |arg: &&Arg| arg.param.is_some() && manifest.param_of(arg).is_none();
        if let Some(arg) = kernel.args.iter().find(nowhere) {
            return wrong(format!(
                "argument `{}` of `{}` is a parameter that the method has not",
                arg.name, kernel.symbol
            ));
        }
        if kernel.threads == 0 || kernel.items_per_group == 0 {
            return wrong(format!("`{}` has an empty launch shape", kernel.symbol));
        }
    }
    Ok(())
}

/// Values in the order of the kernel's arguments. A kernel without reals needs no real type.
fn arrange<'a>(
    symbol: &str,
    args: &[Arg],
    real: Option<Real>,
    given: Vec<(&str, Given<'a>)>,
) -> Result<Vec<Value<'a>>, KernelError> {
    let names = || given_names(&given);
    if let Some(arg) = args.iter().find(|arg| !given.iter().any(|(name, _)| *name == arg.name)) {
        return Err(KernelError::MissingArgument {
            kernel: symbol.to_string(),
            arg: arg.name.clone(),
            doc: arg.doc.clone(),
            given: names(),
        });
    }
    let mut values: Vec<Option<Value<'a>>> = args.iter().map(|_| None).collect();
    for (name, value) in given {
        let Some(at) = args.iter().position(|arg| arg.name == name) else {
            return Err(KernelError::SurplusArgument {
                kernel: symbol.to_string(),
                arg: name.to_string(),
                known: args.iter().map(|arg| arg.name.as_str()).collect::<Vec<_>>().join(", "),
            });
        };
        values[at] = Some(convert(value, args[at].ty, real).map_err(|given| KernelError::ArgumentType {
            kernel: symbol.to_string(),
            arg: name.to_string(),
            wanted: args[at].ty,
            given,
        })?);
    }
    Ok(values.into_iter().flatten().collect())
}

fn given_names(given: &[(&str, Given<'_>)]) -> String {
    given.iter().map(|(name, _)| *name).collect::<Vec<_>>().join(", ")
}

/// The value as the kernel takes it, or what was given instead.
fn convert(value: Given<'_>, ty: ArgType, real: Option<Real>) -> Result<Value<'_>, String> {
    let reals = real.map(Scalar::from);
    let fits = |buffer: &Buffer| match ty {
        ArgType::Ints | ArgType::IntsOut => buffer.scalar() == Scalar::I32,
        ArgType::Reals | ArgType::RealsOut => Some(buffer.scalar()) == reals,
        ArgType::Doubles | ArgType::DoublesOut => buffer.scalar() == Scalar::F64,
        ArgType::Int | ArgType::Long | ArgType::Real => false,
    };
    let out = matches!(ty, ArgType::IntsOut | ArgType::RealsOut | ArgType::DoublesOut);
    match (ty, value) {
        (ArgType::Int, Given::Int(value)) => Ok(Value::Int(value)),
        (ArgType::Real, Given::Real(value)) if real == Some(Real::F32) => Ok(Value::F32(value as f32)),
        (ArgType::Real, Given::Real(value)) if real == Some(Real::F64) => Ok(Value::F64(value)),
        (_, Given::Read(buffer)) if !out && fits(buffer) => Ok(Value::Read(buffer)),
        (_, Given::ReadFrom(buffer, start)) if !out && fits(buffer) => Ok(Value::ReadFrom(buffer, start)),
        (_, Given::Write(buffer)) if out && fits(buffer) => Ok(Value::Write(buffer)),
        (_, Given::Int(_)) => Err("an integer".into()),
        (_, Given::Real(_)) => Err("a real".into()),
        (_, Given::Read(buffer) | Given::ReadFrom(buffer, _)) => {
            Err(format!("an array of {} to read", buffer.scalar().name()))
        }
        (_, Given::Write(buffer)) => Err(format!("an array of {} to write", buffer.scalar().name())),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn args() -> Vec<Arg> {
        let arg = |name: &str, ty| Arg::new(name, ty, "documented");
        vec![
            arg("count", ArgType::Int),
            arg("src", ArgType::Reals),
            arg("dst", ArgType::RealsOut),
            arg("omega", ArgType::Real),
        ]
    }

    #[test]
    fn arguments_are_put_into_the_kernels_order() {
        let device = Device::host(1).unwrap();
        let src = device.alloc(Scalar::F32, 1).unwrap();
        let mut dst = device.alloc(Scalar::F32, 1).unwrap();
        let given = vec![
            ("omega", Given::Real(0.1)),
            ("dst", Given::Write(&mut dst)),
            ("count", Given::Int(1)),
            ("src", Given::Read(&src)),
        ];
        let values = arrange("k", &args(), Some(Real::F32), given).unwrap();
        assert!(
            matches!(values[..], [Value::Int(1), Value::Read(_), Value::Write(_), Value::F32(omega)] if omega == 0.1)
        );
    }

    #[test]
    fn a_missing_and_a_surplus_argument_are_named() {
        let missing =
            arrange("k", &args(), Some(Real::F32), vec![("count", Given::Int(1))]).expect_err("three are missing");
        assert!(missing.to_string().contains("`src`"), "{missing}");
        let device = Device::host(1).unwrap();
        let src = device.alloc(Scalar::F32, 1).unwrap();
        let mut dst = device.alloc(Scalar::F32, 1).unwrap();
        let given = vec![
            ("count", Given::Int(1)),
            ("src", Given::Read(&src)),
            ("dst", Given::Write(&mut dst)),
            ("omega", Given::Real(1.0)),
            ("tau", Given::Real(1.0)),
        ];
        let surplus = arrange("k", &args(), Some(Real::F32), given).expect_err("tau is not asked for");
        assert!(surplus.to_string().contains("`tau`") && surplus.to_string().contains("omega"), "{surplus}");
    }

    #[test]
    fn an_array_of_the_wrong_precision_is_refused() {
        let device = Device::host(1).unwrap();
        let src = device.alloc(Scalar::F64, 1).unwrap();
        let mut dst = device.alloc(Scalar::F32, 1).unwrap();
        let given = vec![
            ("count", Given::Int(1)),
            ("src", Given::Read(&src)),
            ("dst", Given::Write(&mut dst)),
            ("omega", Given::Real(1.0)),
        ];
        let error = arrange("k", &args(), Some(Real::F32), given).expect_err("f64 for f32");
        assert!(error.to_string().contains("`src`") && error.to_string().contains("f64"), "{error}");
    }
}
