//! Kernels in C for the host, and the header that declares them.

use lbm_bundle::File;

use super::layout::{Dialect, view};
use super::{Method, render};

const KERNELS: &str = include_str!("../../../templates/c/kernels.c");

/// `<spec>.c`
pub fn kernels(method: &Method) -> File {
    let dialect = Dialect { target: "c", int: "int32_t", restrict: "restrict" };
    File { name: format!("{}.c", method.manifest.spec), text: render("kernels.c", KERNELS, &view(method, &dialect)) }
}

/// `<spec>.h`
pub fn header(method: &Method) -> File {
    File { name: format!("{}.h", method.manifest.spec), text: String::new() }
}
