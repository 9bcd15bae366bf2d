//! Kernels in C for the host, and the header that declares them.

use lbm_bundle::File;
use serde::Serialize;

use super::layout::{Dialect, declarations, doc, view};
use super::{Method, banner, render};
use crate::lower::signature::names_of_fields;

const KERNELS: &str = include_str!("../../../templates/c/kernels.c");
const HEADER: &str = include_str!("../../../templates/c/kernels.h");

/// `<spec>.c`
pub fn kernels(method: &Method) -> File {
    let dialect = Dialect { target: "c", int: "int32_t", restrict: "restrict " };
    File { name: format!("{}.c", method.manifest.spec), text: render("kernels.c", KERNELS, &view(method, &dialect)) }
}

/// What the header's template prints.
#[derive(Serialize)]
struct Header {
    banner: Vec<String>,
    guard: String,
    spec: String,
    constants: Vec<String>,
    directions: Vec<String>,
    field_names: String,
    bx: u32,
    by: u32,
    q: usize,
    cells: usize,
    fields: usize,
    kernels: Vec<Declared>,
}

/// A declared kernel.
#[derive(Serialize)]
struct Declared {
    symbol: String,
    doc: String,
    args: Vec<String>,
}

/// `<spec>.h`, for C and C++.
pub fn header(method: &Method) -> File {
    let manifest = method.manifest;
    let spec = &manifest.spec;
    let upper = spec.to_uppercase();
    let dialect = Dialect { target: "host", int: "int32_t", restrict: "" };
    let [bx, by, bz] = manifest.block;
    let constants = [
        ("Q", manifest.q()),
        ("BX", bx as usize),
        ("BY", by as usize),
        ("BZ", bz as usize),
        ("CELLS", manifest.cells()),
        ("NEAR", 3usize.pow(manifest.dim)),
        ("FIELDS", manifest.field_components()),
        ("WALL_VALUES", manifest.wall_stride as usize),
    ];
    let rules =
        manifest.boundaries.iter().map(|rule| format!("{upper}_RULE_{} = {}", rule.name.to_uppercase(), rule.code));
    let directions = manifest.directions.iter().enumerate().map(|(at, direction)| {
        let c: Vec<String> = direction.c[..manifest.dim as usize].iter().map(|c| format!("{c:>2}")).collect();
        format!("{at:>2}: ({})  weight {}, opposite {}", c.join(", "), direction.weight, direction.opposite)
    });
    let kernels = manifest.kernels.iter().map(|kernel| Declared {
        symbol: kernel.symbol.clone(),
        doc: doc(kernel.role).into(),
        args: declarations(&kernel.args, super::formula::real_name(manifest.real), &dialect, ");"),
    });
    let view = Header {
        banner: banner::origin(method, &format!("{} block={}", banner::real(manifest.real), banner::block(manifest))),
        guard: format!("LBMC_{upper}_H"),
        spec: spec.clone(),
        constants: constants.iter().map(|(name, value)| format!("{upper}_{name} = {value}")).chain(rules).collect(),
        directions: directions.collect(),
        field_names: names_of_fields(manifest).join(", "),
        bx,
        by,
        q: manifest.q(),
        cells: manifest.cells(),
        fields: manifest.field_components(),
        kernels: kernels.collect(),
    };
    File { name: format!("{spec}.h"), text: render("kernels.h", HEADER, &view) }
}
