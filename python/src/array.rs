//! Arrays as Python's protocols show them, without a copy: the array interface of numpy, that of CUDA, and DLPack, which numpy, cupy and torch read.
//!
//! Values of a flow lie where its kernels have them, which work is done on as long as steps are done; an array of them keeps the flow alive. Whoever
//! takes one may not write into it.

use std::ffi::{CStr, c_void};

use lbm_runtime::device::Scalar;
use lbm_runtime::solver::resident::Resident;
use pyo3::exceptions::{PyAttributeError, PyBufferError};
use pyo3::ffi;
use pyo3::prelude::*;
use pyo3::types::PyDict;

use crate::simulation::Simulation;

/// What keeps the values.
enum Keeper {
    Own { _values: Vec<f64> },
    Flow { _flow: Py<Simulation> },
}

/// Numbers on the host or a GPU.
#[pyclass(frozen, module = "lbmc")]
pub struct Array {
    keeper: Keeper,
    address: u64,
    gpu: Option<usize>,
    /// The number that DLPack has for the memory.
    dlpack: i32,
    scalar: Scalar,
    shape: Vec<usize>,
    /// In values.
    strides: Vec<usize>,
}

impl Array {
    /// Values of its own, x fastest.
    pub fn own(values: Vec<f64>, shape: Vec<usize>) -> Array {
        debug_assert_eq!(values.len(), shape.iter().product::<usize>());
        let mut strides = vec![1; shape.len()];
        for axis in (1..shape.len()).rev() {
            strides[axis - 1] = strides[axis] * shape[axis];
        }
        let address = values.as_ptr() as usize as u64;
        let keeper = Keeper::Own { _values: values };
        Array { keeper, address, gpu: None, dlpack: HOST, scalar: Scalar::F64, shape, strides }
    }

    /// Values of a flow, where they lie.
    pub fn resident(flow: Py<Simulation>, found: Resident) -> Array {
        let Resident { address, gpu, dlpack, scalar, shape, strides } = found;
        let keeper = Keeper::Flow { _flow: flow };
        Array { keeper, address, gpu, dlpack, scalar, shape: shape.to_vec(), strides: strides.to_vec() }
    }

    fn interface<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        let bytes = self.scalar.bytes();
        let kind = if self.scalar == Scalar::I32 { "i" } else { "f" };
        let read_only = matches!(self.keeper, Keeper::Flow { .. });
        let strides: Vec<usize> = self.strides.iter().map(|stride| stride * bytes).collect();
        let found = PyDict::new(py);
        found.set_item("version", 3)?;
        found.set_item("typestr", format!("<{kind}{bytes}"))?;
        found.set_item("data", (self.address, read_only))?;
        found.set_item("shape", pyo3::types::PyTuple::new(py, &self.shape)?)?;
        found.set_item("strides", pyo3::types::PyTuple::new(py, strides)?)?;
        Ok(found)
    }
}

#[pymethods]
impl Array {
    /// Number of entries along each index.
    #[getter]
    fn shape<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, pyo3::types::PyTuple>> {
        pyo3::types::PyTuple::new(py, &self.shape)
    }

    /// Type of the values: `float16`, `float32`, `float64`.
    #[getter]
    fn dtype(&self) -> &'static str {
        match self.scalar {
            Scalar::I32 => "int32",
            Scalar::F16 => "float16",
            Scalar::F32 => "float32",
            Scalar::F64 => "float64",
        }
    }

    /// The number of the GPU; None on the host.
    #[getter]
    fn gpu(&self) -> Option<usize> {
        self.gpu
    }

    #[getter]
    fn __array_interface__<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        match self.gpu {
            None => self.interface(py),
            Some(_) => Err(PyAttributeError::new_err("the values lie on a GPU: cupy and torch read them there")),
        }
    }

    #[getter]
    fn __cuda_array_interface__<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        let Some(_) = self.gpu else { return Err(PyAttributeError::new_err("the values lie on the host")) };
        let found = self.interface(py)?;
        // All that writes them has been waited for.
        found.set_item("stream", py.None())?;
        Ok(found)
    }

    fn __dlpack_device__(&self) -> (i32, i32) {
        let Device { kind, number } = self.device();
        (kind, number)
    }

    /// A capsule with a DLPack tensor, version 0. All that writes the values has been waited for, on any stream.
    #[pyo3(signature = (*, stream=None, max_version=None, dl_device=None, copy=None))]
    fn __dlpack__<'py>(
        slf: Bound<'py, Self>,
        stream: Option<Bound<'py, PyAny>>,
        max_version: Option<Bound<'py, PyAny>>,
        dl_device: Option<(i32, i32)>,
        copy: Option<bool>,
    ) -> PyResult<Bound<'py, PyAny>> {
        let (_, _) = (stream, max_version);
        if dl_device.is_some_and(|wanted| wanted != slf.get().__dlpack_device__()) || copy == Some(true) {
            return Err(PyBufferError::new_err("the values are given as they are, where they are"));
        }
        capsule(&slf)
    }

    fn __repr__(&self) -> String {
        let place = self.gpu.map_or("the host".to_string(), |number| format!("GPU {number}"));
        format!("<lbmc.Array {:?} of {} on {place}>", self.shape, self.dtype())
    }
}

// ---- DLPack (dmlc/dlpack, include/dlpack/dlpack.h)

/// `kDLCPU`.
const HOST: i32 = 1;

/// `DLDevice`.
#[repr(C)]
struct Device {
    kind: i32,
    number: i32,
}

/// `DLDataType`.
#[repr(C)]
struct DataType {
    code: u8,
    bits: u8,
    lanes: u16,
}

/// `DLTensor`.
#[repr(C)]
struct Tensor {
    data: *mut c_void,
    device: Device,
    ndim: i32,
    dtype: DataType,
    shape: *mut i64,
    strides: *mut i64,
    byte_offset: u64,
}

/// `DLManagedTensor`.
#[repr(C)]
struct Managed {
    tensor: Tensor,
    context: *mut c_void,
    deleter: Option<unsafe extern "C" fn(*mut Managed)>,
}

/// What a tensor needs for as long as somebody has it.
struct Context {
    shape: Vec<i64>,
    strides: Vec<i64>,
    _array: Py<Array>,
}

/// Name of a capsule whose tensor nobody has taken.
const UNTAKEN: &CStr = c"dltensor";

impl Array {
    fn device(&self) -> Device {
        Device { kind: self.dlpack, number: self.gpu.map_or(0, |number| number as i32) }
    }
}

#[allow(unsafe_code)]
fn capsule<'py>(array: &Bound<'py, Array>) -> PyResult<Bound<'py, PyAny>> {
    let this = array.get();
    let of = |values: &[usize]| values.iter().map(|value| *value as i64).collect();
    let context =
        Box::new(Context { shape: of(&this.shape), strides: of(&this.strides), _array: array.clone().unbind() });
    let context = Box::into_raw(context);
    let code = if this.scalar == Scalar::I32 { 0 } else { 2 };
    // SAFETY: `context` was just made and is not shared; its vectors stay where they are until the deleter drops them.
    let (shape, strides) = unsafe { ((*context).shape.as_mut_ptr(), (*context).strides.as_mut_ptr()) };
    let tensor = Tensor {
        data: this.address as usize as *mut c_void,
        device: this.device(),
        ndim: this.shape.len() as i32,
        dtype: DataType { code, bits: 8 * this.scalar.bytes() as u8, lanes: 1 },
        shape,
        strides,
        byte_offset: 0,
    };
    let managed = Box::into_raw(Box::new(Managed { tensor, context: context.cast(), deleter: Some(release) }));
    // SAFETY: the interpreter's lock is held; the capsule owns `managed` until it is taken, and `drop_untaken` knows whether it was.
    unsafe {
        let capsule = ffi::PyCapsule_New(managed.cast(), UNTAKEN.as_ptr(), Some(drop_untaken));
        if capsule.is_null() {
            release(managed);
        }
        Bound::from_owned_ptr_or_err(array.py(), capsule)
    }
}

/// Ends a tensor that somebody has had.
#[allow(unsafe_code)]
unsafe extern "C" fn release(managed: *mut Managed) {
    // SAFETY: `managed` and its context came from `Box::into_raw` in `capsule`, and whoever has the tensor calls this once.
    let (managed, context) = unsafe {
        let managed = Box::from_raw(managed);
        let context = Box::from_raw(managed.context.cast::<Context>());
        (managed, context)
    };
    Python::attach(|_| drop((managed, context)));
}

/// Ends a capsule; whoever takes its tensor renames it.
#[allow(unsafe_code)]
unsafe extern "C" fn drop_untaken(capsule: *mut ffi::PyObject) {
    // SAFETY: the interpreter calls this with the capsule, which has what `capsule` put there as long as it has this name.
    unsafe {
        if ffi::PyCapsule_IsValid(capsule, UNTAKEN.as_ptr()) == 1 {
            release(ffi::PyCapsule_GetPointer(capsule, UNTAKEN.as_ptr()).cast());
        }
    }
}
