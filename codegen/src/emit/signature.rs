//! How kernels are declared: their arguments, and the struct of the method's parameters.

use lbm_bundle::{Arg, ArgType, Kernel as Signature, Layout, Manifest, Member, Real, Role};
use serde::Serialize;

use super::arithmetic::{is_read, unpack};
use super::formula::real_name;
use super::items;
use super::target::Dialect;
use super::text::Comment;
use super::view::{Head, Packed, Work};
use crate::ir::Plan;

/// The struct of a method's parameters.
#[derive(Debug, Serialize)]
pub struct Params {
    /// Macro that says that it is declared: a header and a source that are compiled together both declare it.
    pub guard: String,
    /// Its name.
    pub name: String,
    /// Its members, a line each.
    pub members: Vec<String>,
}

/// What is around the text of a kernel, with its arithmetic if that is all it does; one that does something else reads all parameters
/// that it is given.
pub fn head(manifest: &Manifest, signature: &Signature, plan: Option<&Plan>, dialect: &Dialect) -> Head {
    let takes = signature.args.iter().any(|arg| arg.ty == ArgType::Params);
    let reads = |name: &str| plan.is_none_or(|plan| is_read(plan, name));
    Head {
        symbol: signature.symbol.clone(),
        doc: vec![doc(manifest.layout, signature.role)],
        args: declarations(&signature.args, &Types::new(manifest), dialect, ")"),
        unpack: if takes { unpack(manifest, reads) } else { Vec::new() },
        threads: signature.threads,
        resident: None,
        work: items::work(manifest, signature),
    }
}

/// What is around the text of a kernel that belongs to no method.
pub fn plain_head(symbol: &str, doc: &'static str, args: Vec<String>, threads: u32, work: Work) -> Head {
    Head { symbol: symbol.into(), doc: vec![doc], args, unpack: Vec::new(), threads, resident: None, work }
}

/// What a kernel of that role does.
pub fn doc(layout: Layout, role: Role) -> &'static str {
    match (layout, role) {
        (Layout::Blocks, _) | (_, Role::Collide) => role.doc(),
        (Layout::Soa, Role::Init) => "Populations of a box of cells from its macroscopic fields.",
        (Layout::Soa, Role::Macroscopic) => "Macroscopic fields of a box of cells from its populations.",
        (Layout::Soa, Role::StreamCollide) => "Pulls, collides and stores a box of cells.",
        (Layout::Soa, _) => role.doc(),
    }
}

/// Longest line of a list of arguments with its comments.
const WIDTH: usize = 118;

/// One argument a line, the comments aligned and wrapped; `end` closes the list.
pub fn declarations(args: &[Arg], types: &Types, dialect: &Dialect, end: &str) -> Vec<String> {
    let mut texts: Vec<String> = args.iter().map(|arg| declaration(arg, types, dialect) + ",").collect();
    if let Some(last) = texts.last_mut() {
        last.pop();
        *last += end;
    }
    let width = texts.iter().map(String::len).max().unwrap_or(0);
    let mut lines = Vec::new();
    for (text, arg) in texts.iter().zip(args) {
        let (mut code, mut said) = (text.as_str(), String::new());
        for word in spoken(arg).split(' ') {
            if width + "  //".len() + said.len() + word.len() >= WIDTH - 4 {
                lines.push(format!("{code:<width$}  //{}", Comment::new(&said)));
                (code, said) = ("", "  ".into());
            }
            said = said + " " + word;
        }
        lines.push(format!("{code:<width$}  //{}", Comment::new(&said)));
    }
    lines
}

/// What an argument is, with its index space and unit.
pub fn spoken(arg: &Arg) -> String {
    let shape = if arg.shape.is_empty() { String::new() } else { format!(" {}", arg.shape) };
    let unit = if arg.unit.is_empty() { String::new() } else { format!(", {}", arg.unit) };
    format!("{}{shape}{unit}", arg.doc)
}

/// What a bundle calls its own types.
#[derive(Default)]
pub struct Types {
    /// `float` or `double`.
    pub real: &'static str,
    /// What a population is stored as.
    pub stored: &'static str,
    /// The struct of the method's parameters.
    pub params: String,
}

impl Types {
    /// Those of a method's bundle.
    pub fn new(manifest: &Manifest) -> Self {
        let real = real_name(manifest.real);
        let stored = if manifest.real == Real::F16F32 { "uint16_t" } else { real };
        Types { real, stored, params: manifest.params_struct() }
    }
}

/// One argument.
pub fn declaration(arg: &Arg, types: &Types, dialect: &Dialect) -> String {
    let Dialect { int, restrict, .. } = dialect;
    let (name, Types { real, stored, params }) = (&arg.name, types);
    match arg.ty {
        ArgType::Int => format!("const {int} {name}"),
        ArgType::Long => format!("const long long {name}"),
        ArgType::Params => format!("const {params} {name}"),
        ArgType::Ints => format!("const {int} *{restrict}{name}"),
        ArgType::IntsOut => format!("{int} *{restrict}{name}"),
        ArgType::Reals => format!("const {real} *{restrict}{name}"),
        ArgType::RealsOut => format!("{real} *{restrict}{name}"),
        ArgType::Stored => format!("const {stored} *{restrict}{name}"),
        ArgType::StoredOut => format!("{stored} *{restrict}{name}"),
        ArgType::Doubles => format!("const double *{restrict}{name}"),
        ArgType::DoublesOut => format!("double *{restrict}{name}"),
    }
}

/// The arguments of a host kernel, each read through the pointer to it.
pub fn packed(symbol: &str, args: &[Arg], types: &Types) -> Packed {
    let Types { real, stored, params } = types;
    let arg = |(at, arg): (usize, &Arg)| {
        let ty = match arg.ty {
            ArgType::Int => "const int32_t *".to_string(),
            ArgType::Long => "const long long *".to_string(),
            ArgType::Params => format!("const {params} *"),
            ArgType::Ints => "const int32_t *const *".to_string(),
            ArgType::IntsOut => "int32_t *const *".to_string(),
            ArgType::Reals => format!("const {real} *const *"),
            ArgType::RealsOut => format!("{real} *const *"),
            ArgType::Stored => format!("const {stored} *const *"),
            ArgType::StoredOut => format!("{stored} *const *"),
            ArgType::Doubles => "const double *const *".to_string(),
            ArgType::DoublesOut => "double *const *".to_string(),
        };
        let end = if at + 1 == args.len() { ");" } else { "," };
        format!("*({ty})args[{at}]{end}")
    };
    Packed { symbol: symbol.into(), args: args.iter().enumerate().map(arg).collect() }
}

impl Params {
    /// That of a method; none if it has no parameters.
    pub fn new(manifest: &Manifest) -> Option<Params> {
        let real = real_name(manifest.real);
        let texts: Vec<String> = manifest.members.iter().map(|member| format!("{real} {};", member.name)).collect();
        let width = texts.iter().map(String::len).max()?;
        let line = |(text, member): (&String, &Member)| format!("{text:<width$}  // {}", Comment::new(&member.doc));
        Some(Params {
            guard: format!("LBMC_{}", manifest.params_struct().to_uppercase()),
            name: manifest.params_struct(),
            members: texts.iter().zip(&manifest.members).map(line).collect(),
        })
    }
}
