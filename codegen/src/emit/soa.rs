//! Kernels on the caller's plain arrays, in C and CUDA C++: a load for each input, the arithmetic, a store for each output.

use lbm_bundle::{Kernel as Signature, Manifest, Role};
use lbm_dsl::expr::Symbol;
use serde::Serialize;

use super::arithmetic::{self, body};
use super::banner;
use super::formula::{Language, Printer, real_name};
use super::method::Method;
use super::signature;
use super::target::Dialect;
use super::text::Comment;
use super::view;
use crate::ir::Plan;

/// What the templates print.
#[derive(Serialize)]
pub struct View {
    #[serde(flatten)]
    dialect: Dialect,
    banner: Vec<Comment>,
    real: &'static str,
    again: bool,
    params: Option<signature::Params>,
    kernels: Vec<Kernel>,
    packed: Vec<view::Packed>,
}

/// One kernel. Its texts are lists of lines.
#[derive(Serialize)]
struct Kernel {
    #[serde(flatten)]
    head: view::Head,
    #[serde(flatten)]
    cells: Cells,
    inputs: Vec<Value>,
    body: Vec<String>,
    outputs: Vec<Stored>,
}

/// How a kernel, or a thread of it, finds its cells.
#[derive(Serialize)]
struct Cells {
    /// Loops, or the coordinates of a thread.
    loops: Vec<String>,
    /// Ends of the loops.
    ends: Vec<String>,
    /// Indentation of what is done for a cell.
    pad: &'static str,
}

/// A value and the place in memory that it comes from.
#[derive(Serialize)]
struct Value {
    name: String,
    text: String,
}

/// A value and the place in memory that it goes to.
#[derive(Serialize)]
struct Stored {
    name: String,
    text: String,
    /// Whether it is added to what is there.
    adds: bool,
}

/// All that the template of a target prints.
pub fn view(method: &Method, dialect: Dialect) -> View {
    let manifest = method.manifest;
    let types = signature::Types::new(manifest);
    let cells = if dialect.threads { cell_of_thread } else { loops };
    View {
        dialect,
        banner: banner::banner(method, dialect.target),
        real: types.real,
        again: arithmetic::computes_again(method.collide),
        kernels: manifest
            .kernels
            .iter()
            .map(|signature| kernel(method, signature, &dialect, cells(manifest, signature.role)))
            .collect(),
        params: signature::Params::new(manifest),
        packed: manifest.kernels.iter().map(|kernel| signature::packed(&kernel.symbol, &kernel.args, &types)).collect(),
    }
}

fn kernel(method: &Method, signature: &Signature, dialect: &Dialect, cells: Cells) -> Kernel {
    let (manifest, role) = (method.manifest, signature.role);
    let plan = method.plan(role);
    let printer = Printer::new(plan, manifest.real, Language::C);
    let is_adjoint = matches!(role, Role::StreamCollideAdjoint | Role::StreamCollideAdjointParameters);
    let streams = is_adjoint || matches!(role, Role::StreamCollide | Role::StreamCollideTangent);
    let here = |at: usize| place(role, at, [0; 3]);
    let upwind = |at: usize| place(role, at, if streams { manifest.directions[at].c } else { [0; 3] });
    let from = if role == Role::Init { "fields" } else { "src" };
    let values = arithmetic::inputs(manifest, plan).into_iter();
    let values = values.map(|input| Value { name: input.text, text: format!("{from}[{}]", upwind(input.at)) });
    let derivatives = plan.dag().symbols().iter().filter_map(|(symbol, name)| {
        let text = match symbol {
            Symbol::Change(pop) => format!("src_change[{}]", upwind(pop.index())),
            Symbol::Adjoint(pop) => format!("dst_adjoint[{}]", here(pop.index())),
            _ => return None,
        };
        Some(Value { name: name.clone(), text })
    });
    let outputs = plan.dag().outputs().iter().enumerate().map(|(at, output)| {
        let (text, adds) = match (role, at.checked_sub(manifest.q())) {
            (Role::StreamCollideTangent, _) => (format!("dst_change[{}]", here(at)), false),
            (_, Some(member)) if is_adjoint => (format!("params_adjoint[{}]", here(member)), true),
            // The cell that a population came from gets its derivative.
            (_, None) if is_adjoint => (format!("src_adjoint[{}]", upwind(at)), false),
            (Role::Macroscopic, _) => (format!("fields[{}]", here(at)), false),
            _ => (format!("dst[{}]", here(at)), false),
        };
        Stored { name: printer.operand(output.value), text, adds }
    });
    let mut head = signature::head(manifest, signature, Some(plan), dialect);
    if role == Role::StreamCollideTangent && !manifest.members.is_empty() {
        head.unpack.extend(changes(manifest, plan));
    }
    let values: Vec<Value> = values.collect();
    // The derivative of a linear collision is the same in all states.
    if values.is_empty() {
        head.unpack.push(format!("(void){from};"));
    }
    Kernel {
        head,
        cells,
        inputs: values.into_iter().chain(derivatives).collect(),
        body: body(plan, &printer),
        outputs: outputs.collect(),
    }
}

/// Statements that take the changes of parameters that a kernel reads out of their struct.
fn changes(manifest: &Manifest, plan: &Plan) -> Vec<String> {
    let real = real_name(manifest.real);
    let lines = plan.dag().symbols().iter().filter_map(|(symbol, name)| {
        let Symbol::ParamChange { param, component } = *symbol else { return None };
        let own = (usize::from(param), usize::from(component));
        let member = manifest.members.iter().find(|member| manifest.param_of(member) == Some(own))?;
        Some(format!("const {real} {name} = params_change.{};", member.name))
    });
    let lines: Vec<String> = lines.collect();
    if lines.is_empty() { vec!["(void)params_change;".into()] } else { lines }
}

/// Where the direction or component `at` is, one step against the velocity `c`.
fn place(role: Role, at: usize, c: [i32; 3]) -> String {
    let mut text = match (role, at) {
        (Role::Collide, 0) => "state".to_string(),
        (Role::Collide, _) => format!("{at} * (size_t)count + state"),
        (_, 0) => "cell".to_string(),
        (_, 1) => "cell + stride_i".to_string(),
        _ => format!("cell + {at} * stride_i"),
    };
    for (c, step) in c.into_iter().zip(["1", "stride_y", "stride_z"]).rev() {
        match c {
            0 => {}
            1 => text += &format!(" - {step}"),
            _ => text += &format!(" + {step}"),
        }
    }
    text
}

/// Every cell of the box, row by row.
fn loops(manifest: &Manifest, role: Role) -> Cells {
    let (loops, ends, pad): (&[&str], &[&str], _) = match (role, manifest.dim) {
        (Role::Collide, _) => (
            &["    EACH_CELL", "    for (size_t state = 0; state < (size_t)count; ++state) {"],
            &["    }  // states"],
            "        ",
        ),
        (_, 2) => (
            &["    for (int32_t y = 0; y < ny; ++y) {", "        const long long row = y * stride_y;"],
            &["        }  // cells", "    }  // rows"],
            "            ",
        ),
        _ => (
            &[
                "    for (int32_t z = 0; z < nz; ++z)",
                "    for (int32_t y = 0; y < ny; ++y) {",
                "        const long long row = z * stride_z + y * stride_y;",
            ],
            &["        }  // cells", "    }  // rows"],
            "            ",
        ),
    };
    let row = ["        EACH_CELL", "        for (long long cell = row; cell < row + nx; ++cell) {"];
    let row: &[&str] = if role == Role::Collide { &[] } else { &row };
    Cells { loops: lines(loops.iter().chain(row)), ends: lines(ends), pad }
}

fn lines<'a>(lines: impl IntoIterator<Item = &'a &'a str>) -> Vec<String> {
    lines.into_iter().map(|line| line.to_string()).collect()
}

/// The cell or state of a thread.
fn cell_of_thread(manifest: &Manifest, role: Role) -> Cells {
    let axes = &["x", "y", "z"][..manifest.dim as usize];
    let mut loops: Vec<String> = if role == Role::Collide {
        lines(&["const int state = blockIdx.x * blockDim.x + threadIdx.x;", "if (state >= count) return;"])
    } else {
        let coordinate =
            |axis: &&str| format!("const int {axis} = blockIdx.{axis} * blockDim.{axis} + threadIdx.{axis};");
        let outside: Vec<String> = axes.iter().map(|axis| format!("{axis} >= n{axis}")).collect();
        let rest: String = axes[1..].iter().map(|axis| format!(" + {axis} * stride_{axis}")).collect();
        let cell = [format!("if ({}) return;", outside.join(" || ")), format!("const long long cell = x{rest};")];
        axes.iter().map(coordinate).chain(cell).collect()
    };
    loops.push(String::new());
    Cells { loops, ends: Vec::new(), pad: "    " }
}
