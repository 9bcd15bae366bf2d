//! Modules of a GPU: loaded, and their kernels launched or recorded.

use std::sync::Arc;

use cudarc::driver::{CudaFunction, CudaModule, LaunchConfig, PushKernelArg, sys};

use super::graph::{self, Kept};
use super::memory::Memory;
use super::{Cuda, compile, driver_error};
use crate::device::array::Array;
use crate::device::backend;
use crate::device::error::DeviceError;
use crate::device::host::cell;
use crate::device::{Shape, Source, Value};

/// Loaded kernels.
pub(in crate::device) struct Module(Arc<CudaModule>);

/// A kernel, which keeps its module loaded.
pub(in crate::device) struct Entry(CudaFunction);

impl Cuda {
    /// Compiles and loads a source, or loads its kernels from the cache; with notices for the user.
    pub(super) fn load_module(&self, source: Source<'_>) -> Result<(Module, Vec<String>), DeviceError> {
        let (cubin, notices) = compile::compile(source, self.architecture)?;
        let image = cudarc::nvrtc::Ptx::from_binary(cubin);
        let module = self.context.load_module(image).map_err(driver_error("load the compiled kernels"))?;
        Ok((Module(module), notices))
    }

    /// Launches a kernel, or adds it to the graph that is recorded.
    #[allow(unsafe_code)]
    pub(super) fn run(&self, symbol: &str, entry: &Entry, shape: Shape, args: &[Value<'_>]) -> Result<(), DeviceError> {
        let failed = |reason: String| DeviceError::Launch { kernel: symbol.to_string(), reason };
        let groups = shape.items.div_ceil(shape.items_per_group.max(1) as usize);
        let recorder = self.recorder();
        // What a capture keeps alive.
        let mut used = vec![];
        if recorder.is_some() {
            used.push(Kept::Kernel { _function: entry.0.clone() });
        }
        let mut address = |array: &Array, start: usize, may_be_peers: bool| match array.memory.of_kind::<Memory>() {
            Some(memory) if self.is(&memory.cuda) || (may_be_peers && self.reaches(&memory.cuda)) => {
                if recorder.is_some() {
                    used.push(Kept::Memory { _backing: memory.backing.clone() });
                }
                Ok(memory.address + array.offset(start))
            }
            _ => Err(failed("an array belongs to another device".into())),
        };
        // Structs are passed in place; every other argument is copied into an 8-byte cell.
        let mut cells = Vec::with_capacity(args.len());
        for arg in args {
            cells.push(match arg {
                Value::Int(value) => Some(cell(&value.to_ne_bytes())),
                Value::Struct(_) => None,
                Value::Read(array) => Some(address(array, 0, false)?),
                Value::Slice(array, range) => Some(address(array, range.start, false)?),
                Value::Write(array) => Some(address(array, 0, false)?),
                Value::WriteFrom(array, start) => Some(address(array, *start, false)?),
                Value::Peer(array) => Some(address(array, 0, true)?),
            });
        }
        let config = LaunchConfig {
            grid_dim: (groups as u32, shape.passes.max(1), 1),
            block_dim: (shape.threads, 1, 1),
            shared_mem_bytes: shape.shared,
        };
        // SAFETY, for both launches: the arguments match the table against which the manifest was checked when its
        // source was loaded. Each pointer leads to a value with as many bytes as the parameter has, which the driver
        // copies. Buffers are freed in stream order, after the kernel, or are kept alive by the graph capture. Bundles
        // are trusted to have code that matches its signature.
        if let Some(recorder) = recorder {
            let mut pointers: Vec<*mut std::ffi::c_void> = (args.iter().zip(&cells))
                .map(|(arg, cell)| match (arg, cell) {
                    (Value::Struct(words), _) => words.as_ptr().cast_mut().cast(),
                    (_, Some(cell)) => std::ptr::from_ref(cell).cast_mut().cast(),
                    (_, None) => unreachable!("what is no struct has a cell"),
                })
                .collect();
            self.bind("record launches")?;
            return unsafe { graph::lock(&recorder).add(&entry.0, config, &mut pointers, used) }.map_err(failed);
        }
        let mut launch = self.stream.launch_builder(&entry.0);
        for (arg, cell) in args.iter().zip(&cells) {
            match (arg, cell) {
                (Value::Struct(words), _) => launch.arg(&words[0]),
                (_, Some(cell)) => launch.arg(cell),
                (_, None) => unreachable!("what is no struct has a cell"),
            };
        }
        unsafe { launch.launch(config) }.map(|_| ()).map_err(|error| failed(error.to_string()))
    }
}

impl backend::Code for Module {
    fn kernel(&self, symbol: &str) -> Result<Box<dyn backend::Entry>, DeviceError> {
        match self.0.load_function(symbol) {
            Ok(function) => Ok(Box::new(Entry(function))),
            Err(error) if error.0 == sys::CUresult::CUDA_ERROR_NOT_FOUND => {
                Err(DeviceError::MissingKernel { symbol: symbol.to_string() })
            }
            Err(error) => Err(driver_error("find a kernel")(error)),
        }
    }
}

impl backend::Entry for Entry {
    /// Sets the limit of dynamic shared memory per thread block.
    fn share(&self, symbol: &str, bytes: u32) -> Result<(), DeviceError> {
        let attribute = sys::CUfunction_attribute_enum::CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES;
        self.0
            .set_attribute(attribute, bytes as i32)
            .map_err(|_| DeviceError::Shared { kernel: symbol.to_string(), bytes })
    }
}
