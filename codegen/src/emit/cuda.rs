//! Kernels in CUDA C++.

use lbm_bundle::File;

use super::layout::view;
use super::method::Method;
use super::render::render;
use super::signature::Dialect;

const KERNELS: &str = include_str!("../../../templates/cuda/kernels.cu");
const GATHER: &str = include_str!("../../../templates/cuda/gather.cu");

/// `<spec>.cu`
pub fn kernels(method: &Method) -> File {
    let dialect = Dialect { target: "cuda", int: "int", restrict: "__restrict__ " };
    File {
        name: format!("{}.cu", method.manifest.spec),
        text: render(&[("gather", GATHER), ("kernels.cu", KERNELS)], &view(method, &dialect)),
    }
}
