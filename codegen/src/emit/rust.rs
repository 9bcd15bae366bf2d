//! Kernels on plain arrays in Rust: safe functions, on runs of cells and on whole arrays. They end `<spec>.rs` of
//! [`Layout::Soa`](lbm_bundle::Layout).

use lbm_bundle::Role;
use serde::Serialize;

use super::arithmetic::{self, body};
use super::formula::{Language, Printer};
use super::method::Method;
use super::render::render;
use super::signature::doc;
use super::storage::Storage;
use super::target::Dialect;

const TEMPLATE: &str = include_str!("../../../templates/rust/soa.rs");

/// What the template prints.
#[derive(Serialize)]
struct View {
    real: &'static str,
    kernels: Vec<Kernel>,
}

/// A function for runs of cells, and the one that applies it to arrays.
#[derive(Serialize)]
struct Kernel {
    name: &'static str,
    arrays: &'static str,
    doc: &'static [&'static str],
    about: &'static str,
    /// Whether the arrays' function pulls its input from upwind cells.
    streams: bool,
    from: &'static str,
    to: &'static str,
    ins: &'static str,
    outs: &'static str,
    /// Whether the method has parameters.
    params: bool,
    unpack: Vec<String>,
    inputs: Vec<Value>,
    body: Vec<String>,
    outputs: Vec<Value>,
}

/// A value and its position among the inputs or outputs.
#[derive(Serialize)]
struct Value {
    name: String,
    text: String,
}

/// The functions, as text.
pub fn functions(method: &Method) -> String {
    let kernels = [Role::Init, Role::StreamCollide, Role::Macroscopic].map(|role| kernel(method, role));
    let real = method.manifest.real.computed().name();
    format!("\n{}", render(&Dialect::C, &Storage::WHOLE, "soa.rs", TEMPLATE, &View { real, kernels: kernels.into() }))
}

fn kernel(method: &Method, role: Role) -> Kernel {
    let (manifest, plan) = (method.manifest, method.plan(role));
    let printer = Printer::new(plan, manifest.real, Language::Rust);
    let members = manifest.members.iter().map(|member| &member.name);
    let read = members.filter(|name| arithmetic::is_read(plan, name));
    let mut unpack: Vec<String> = read.map(|name| format!("let {name} = params.{name};")).collect();
    if unpack.is_empty() && !manifest.members.is_empty() {
        unpack.push("let _ = params;".into());
    }
    let inputs = arithmetic::inputs(manifest, plan).into_iter().map(|input| (input.text, input.at));
    let outputs = plan.dag().outputs().iter().enumerate().map(|(at, output)| (printer.operand(output.value), at));
    let value = |(name, at): (String, usize)| Value { name, text: at.to_string() };
    let kernel = Kernel {
        name: "collide",
        arrays: "stream_collide",
        doc: &["The collision of `N` cells: `src[direction][lane]` before, `dst[direction][lane]` after."],
        about: doc(manifest.layout, role),
        streams: role == Role::StreamCollide,
        from: "src",
        to: "dst",
        ins: "Q",
        outs: "Q",
        params: !manifest.members.is_empty(),
        unpack,
        inputs: inputs.map(value).collect(),
        body: body(plan, &printer),
        outputs: outputs.map(value).collect(),
    };
    match role {
        Role::Init => Kernel {
            name: "init",
            arrays: "init",
            doc: &["Populations `dst[direction][lane]` of `N` cells from their `fields[component][lane]`."],
            from: "fields",
            ins: "FIELDS",
            ..kernel
        },
        Role::Macroscopic => Kernel {
            name: "macroscopic",
            arrays: "macroscopic",
            doc: &["Macroscopic `fields[component][lane]` of `N` cells from their populations `src[direction][lane]`."],
            to: "fields",
            outs: "FIELDS",
            ..kernel
        },
        _ => kernel,
    }
}
