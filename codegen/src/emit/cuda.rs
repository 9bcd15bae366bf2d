//! Kernels in CUDA C++.

use lbm_bundle::File;

use super::layout::view;
use super::method::Method;
use super::render::render;
use super::target::Dialect;

const KERNELS: &str = include_str!("../../../templates/cuda/kernels.cu");

/// `<spec>.cu`
pub fn kernels(method: &Method) -> File {
    File {
        name: format!("{}.cu", method.manifest.spec),
        text: render(&Dialect::CUDA, "kernels.cu", KERNELS, &view(method, &Dialect::CUDA)),
    }
}
