//! Fills a [`View`]: the parts that both targets share.

use lbm_bundle::{Arg, ArgType, HALF_SCALE, Kernel as Signature, Layout, Manifest, Member, Real, Role, wishes};
use lbm_dsl::expr::Symbol;

use super::formula::{Language, Printer, real_name};
use super::text::Comment;
use super::view::{Carry, Formulas, Head, Kernel, Op, Packed, Params, Pull, Reduce, Value, View};
use super::walls::walls;
use super::{Method, banner, ghosts, inbox, jump, work};
use crate::ir::{Output, Plan};
use crate::lower::word;

/// How a target spells what the targets spell differently.
pub struct Dialect {
    /// Name of the target in the banner.
    pub target: &'static str,
    /// 32-bit integer.
    pub int: &'static str,
    /// No other pointer reaches what this one does.
    pub restrict: &'static str,
}

/// Bytes of gathered populations, the less of the first-level cache the better.
const SLAB_BYTES: u32 = 8 * 1024;

/// Everything a template prints.
pub fn view(method: &Method, dialect: &Dialect) -> View {
    let manifest = method.manifest;
    let types = Types::new(manifest);
    let real = types.real;
    let [bx, by, bz] = manifest.block;
    let dim = manifest.dim as usize;
    let near = 3usize.pow(manifest.dim);
    let velocity = |direction: &lbm_bundle::Direction| {
        let c: Vec<String> = direction.c[..dim].iter().map(i32::to_string).collect();
        format!("{{{}}},", c.join(", "))
    };
    let velocities: Vec<String> = manifest.directions.iter().map(velocity).collect();
    let number = |code: usize| {
        let wanted: Vec<i32> = (0..dim).map(|axis| (code / 3usize.pow(axis as u32) % 3) as i32 - 1).collect();
        let found = manifest.directions.iter().position(|direction| direction.c[..dim] == wanted[..]);
        found.map_or("-1".to_string(), |at| at.to_string())
    };
    let opposites: Vec<String> = manifest.directions.iter().map(|direction| direction.opposite.to_string()).collect();
    let kernel = |role, plan: Option<&Plan>| {
        let signature = manifest.kernel(role).expect("the manifest lists every kernel");
        let formulas = plan.map(|plan| formulas(manifest, plan)).unwrap_or_default();
        let resident = resident(manifest, signature, method.collide);
        Kernel { head: Head { resident, ..head(manifest, signature, plan, dialect) }, formulas }
    };
    // The function that collides takes all parameters.
    let collide = Kernel { formulas: formulas(manifest, method.collide), ..kernel(Role::Collide, None) };
    let walls = (!method.walls.is_empty()).then(|| walls(method, kernel(Role::StreamCollideWalls, None)));
    View {
        banner: banner::banner(method, dialect.target),
        real: real.into(),
        stored: types.stored.into(),
        half: manifest.real == Real::F16F32,
        half_scale: format!("{HALF_SCALE:?}f"),
        q: manifest.q(),
        bx,
        by,
        bz,
        dim,
        velocities: velocities.chunks(9).map(|line| line.join(" ")).collect(),
        numbers: (0..near).map(number).collect::<Vec<_>>().join(", "),
        near,
        middle: near / 2,
        deep: dim == 3,
        fields: manifest.field_components(),
        rows: rows(manifest),
        init: kernel(Role::Init, Some(method.init)),
        stream_collide: kernel(Role::StreamCollide, None),
        jump: method.jump.as_ref().map(|jump| jump::view(method, jump, kernel)),
        inbox: method
            .jump
            .as_ref()
            .filter(|jump| !jump.packets.is_empty())
            .map(|jump| inbox::view(manifest, jump, kernel)),
        ghosts: method.jump.as_ref().and_then(|jump| ghosts::view(method, jump, kernel)),
        solids: (!manifest.solid_rules.is_empty()).then(|| super::solids::view(method, |role| kernel(role, None))),
        opposites: opposites.join(", "),
        weights: manifest.directions.iter().map(weight).collect::<Vec<_>>().join(", "),
        rests: manifest.directions.iter().map(rest).collect::<Vec<_>>().join(", "),
        carry: method.jump.as_ref().map(|_| carry(manifest, kernel)),
        reduce: reduce(manifest, kernel),
        walls,
        macroscopic: kernel(Role::Macroscopic, Some(method.macroscopic)),
        collide,
        params: Params::new(manifest),
        packed: manifest.kernels.iter().map(|kernel| packed(&kernel.symbol, &kernel.args, &types)).collect(),
        param_decls: manifest.members.iter().map(|member| format!(", const {real} {}", member.name)).collect(),
        param_names: manifest.members.iter().map(|member| format!(", {}", member.name)).collect(),
        upwind: upwind(manifest),
        pulls: (0..manifest.q()).map(|at| pull(manifest, at)).collect(),
    }
}

/// The kernels that sum up a flow.
fn reduce(manifest: &Manifest, kernel: impl Fn(Role, Option<&Plan>) -> Kernel) -> Reduce {
    let set_of = |at: usize| manifest.populations.iter().position(|set| set.range().contains(&at)).unwrap_or(0);
    let components = |field: &lbm_bundle::Field| field.components as usize;
    let velocity = manifest.fields.iter().position(|field| field.name == "u" && field.components == manifest.dim);
    Reduce {
        look: kernel(Role::Look, None),
        sums: kernel(Role::Sums, None),
        sets: manifest.populations.len(),
        set_of: (0..manifest.q()).map(|at| set_of(at).to_string()).collect::<Vec<_>>().join(", "),
        velocity: velocity.map(|at| manifest.fields[..at].iter().map(components).sum()),
    }
}

/// The kernels that move data when a forest changes, and that say how it should.
fn carry(manifest: &Manifest, kernel: impl Fn(Role, Option<&Plan>) -> Kernel) -> Carry {
    let list = |texts: Vec<String>| texts.join(", ");
    let stiffness = |set: &lbm_bundle::Populations| {
        if set.diffusivity.is_some() { "0".into() } else { format!("{:?}", 1.0 / set.cs2) }
    };
    let op = |function: &wishes::Function| Op { code: function.op, formula: function.formula };
    Carry {
        average: kernel(Role::Average, None),
        fill: kernel(Role::Fill, None),
        average_fields: kernel(Role::AverageFields, None),
        fill_fields: kernel(Role::FillFields, None),
        relocate: kernel(Role::Relocate, None),
        relocate_fields: kernel(Role::RelocateFields, None),
        wish: kernel(Role::Wish, None),
        stiffness: list(manifest.populations.iter().map(stiffness).collect()),
        stack: wishes::STACK,
        taking: wishes::TAKING,
        binary: wishes::BINARY,
        level: wishes::LEVEL,
        within: wishes::WITHIN,
        above: wishes::ABOVE,
        ops: [
            Op { code: wishes::CONSTANT, formula: "constants[argument]" },
            Op { code: wishes::VARIABLE, formula: "variable(sight, argument)" },
        ]
        .into_iter()
        .chain(wishes::FUNCTIONS.iter().map(op))
        .collect(),
    }
}

/// Rows that the host gathers at a time. A row of whole cache lines is collided at once, so that the processor works on it
/// while the next one is on its way; of shorter rows, as many whole planes as fit into `SLAB_BYTES`.
fn rows(manifest: &Manifest) -> u32 {
    let [bx, by, bz] = manifest.block;
    let row = bx * manifest.real.bytes() as u32;
    if row.is_multiple_of(64) {
        return 1;
    }
    let plane = by * row * manifest.q() as u32;
    by * (1..=bz).rev().find(|planes| bz.is_multiple_of(*planes) && planes * plane <= SLAB_BYTES).unwrap_or(1)
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
        work: work::work(manifest, signature),
    }
}

/// CUDA: thread blocks of a kernel that streams and collides which a processor shall hold at the same time. Said so, the compiler
/// asks for all populations of a cell before it waits for the first, in about 2.3 registers each, those of addresses included (measured
/// on an H200: D3Q19 and D3Q27 in f32 gain 2 to 8 % with 5 and 4, and lose 7 % and more with one more). In f64 nothing is gained.
fn resident(manifest: &Manifest, signature: &Signature, collide: &Plan) -> Option<u32> {
    const REGISTERS: usize = 65536;
    let streams = matches!(signature.role, Role::StreamCollide | Role::StreamCollideInterface);
    if !streams || manifest.real == Real::F64 || manifest.dim == 2 || signature.threads < 256 {
        return None;
    }
    let a_block = signature.threads as usize;
    let registers = (23 * manifest.q() / 10).max(collide.live() + 17);
    u32::try_from((REGISTERS / (a_block * registers)).min(5)).ok().filter(|blocks| *blocks > 1)
}

/// Arithmetic, all of its outputs.
pub fn formulas(manifest: &Manifest, plan: &Plan) -> Formulas {
    let printer = Printer::new(plan, manifest.real, Language::C);
    let value = |(at, output): (usize, &Output)| Value { text: printer.operand(output.value), at };
    Formulas {
        inputs: inputs(manifest, plan),
        body: body(plan, &printer),
        outputs: plan.dag().outputs().iter().enumerate().map(value).collect(),
    }
}

/// Names of the constants for the codes of the boundary rules, `RULE_BOUNCE_BACK`; of those that differ in no more than the case of
/// letters, all but the first have their code behind it.
pub fn rule_constants(manifest: &Manifest) -> Vec<String> {
    let mut names: Vec<String> = Vec::new();
    for rule in &manifest.boundaries {
        let name = format!("RULE_{}", word(&rule.name).to_uppercase());
        let numbered = (rule.code..).map(|code| format!("{name}_{code}"));
        let free = std::iter::once(name.clone()).chain(numbered).find(|name| !names.contains(name));
        names.push(free.expect("there is always a next number"));
    }
    names
}

/// The weight of a direction as a quotient of floating-point numbers: `4.0 / 9.0`.
pub fn weight(direction: &lbm_bundle::Direction) -> String {
    quotient(&direction.weight)
}

/// What a population is stored without, in the same form.
pub fn rest(direction: &lbm_bundle::Direction) -> String {
    quotient(&direction.rest)
}

fn quotient(text: &str) -> String {
    let parts: Vec<String> = text.split('/').map(|whole| format!("{whole}.0")).collect();
    parts.join(" / ")
}

/// What a kernel of that role does.
pub fn doc(layout: Layout, role: Role) -> &'static str {
    match (layout, role) {
        (Layout::Blocks, _) | (_, Role::Collide) => role.doc(),
        (Layout::Soa, Role::Init) => "Populations of a box of cells from its macroscopic fields.",
        (Layout::Soa, Role::Macroscopic) => "Macroscopic fields of a box of cells from its populations.",
        (Layout::Soa, _) => "Pulls, collides and stores a box of cells.",
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

/// Whether arithmetic reads a parameter of the method.
pub fn is_read(plan: &Plan, member: &str) -> bool {
    plan.dag().symbols().iter().any(|(_, symbol)| symbol == member)
}

/// Statements that take the parameters that a kernel reads out of their struct.
pub fn unpack(manifest: &Manifest, reads: impl Fn(&str) -> bool) -> Vec<String> {
    let real = real_name(manifest.real);
    let names = manifest.members.iter().map(|member| &member.name).filter(|name| reads(name));
    let lines: Vec<String> = names.map(|name| format!("const {real} {name} = params.{name};")).collect();
    if lines.is_empty() { vec!["(void)params;".into()] } else { lines }
}

/// Statements that keep compilers from complaining of parameters that a function is given and does not need.
pub fn idle(manifest: &Manifest, plan: &Plan) -> Vec<String> {
    let names = manifest.members.iter().map(|member| &member.name).filter(|name| !is_read(plan, name));
    names.map(|name| format!("(void){name};")).collect()
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

/// Populations or fields that a kernel reads, with their positions in memory.
pub fn inputs(manifest: &Manifest, plan: &Plan) -> Vec<Value> {
    let first: Vec<usize> = manifest
        .fields
        .iter()
        .scan(0, |next, field| {
            let first = *next;
            *next += field.components as usize;
            Some(first)
        })
        .collect();
    let value = |(symbol, name): &(Symbol, String)| {
        let at = match *symbol {
            Symbol::Population(pop) => pop.index(),
            Symbol::Field { field, component } => first[usize::from(field)] + usize::from(component),
            _ => return None,
        };
        Some(Value { text: name.clone(), at })
    };
    plan.dag().symbols().iter().filter_map(value).collect()
}

/// Sections in lines, each after an empty one and under its heading; an empty line at the end.
pub fn body(plan: &Plan, printer: &Printer) -> Vec<String> {
    let mut lines = Vec::new();
    for section in plan.sections() {
        lines.push(String::new());
        let heading = match (section.title.as_str(), section.cite.as_str()) {
            ("", _) => "shared".into(),
            (title, "") => title.into(),
            (title, cite) => format!("{title}   ({cite})"),
        };
        lines.push(format!("// ---- {}", Comment::new(&heading)));
        for statement in &section.statements {
            lines.extend(printer.statement(&statement.name, statement.value));
        }
    }
    lines.push(String::new());
    lines
}

/// Upwind coordinates along each axis, for the velocities +1 and -1, and the block they lie in.
fn upwind(manifest: &Manifest) -> Vec<String> {
    let [bx, by, _] = manifest.block;
    let deep = manifest.dim == 3;
    let coordinates = [
        format!("cell % {bx}"),
        if deep { format!("cell / {bx} % {by}") } else { format!("cell / {bx}") },
        format!("cell / {}", bx * by),
    ];
    let mut lines = vec!["const int *near = neighbours + (size_t)slot * NEAR;".to_string(), String::new()];
    lines.push("// ---- upwind along each axis: coordinate and block, m for the velocity +1, p for -1".into());
    for axis in 0..manifest.dim as usize {
        let (a, last) = (["x", "y", "z"][axis], manifest.block[axis] - 1);
        lines.push(format!("const int {a} = {};", coordinates[axis]));
        lines.push(format!("const int {a}m = {a} > 0 ? {a} - 1 : {last}, b{a}m = {a} > 0 ? 0 : -1;"));
        lines.push(format!("const int {a}p = {a} < {last} ? {a} + 1 : 0, b{a}p = {a} < {last} ? 0 : 1;"));
    }
    lines
}

fn pull(manifest: &Manifest, at: usize) -> Pull {
    let c = manifest.directions[at].c;
    let dim = manifest.dim as usize;
    let [bx, by, _] = manifest.block;
    let coordinate = |axis: usize| {
        let name = ["x", "y", "z"][axis];
        match c[axis] {
            0 => name.to_string(),
            1 => format!("{name}m"),
            _ => format!("{name}p"),
        }
    };
    let strides = ["", "3 * ", "9 * "];
    let mut near = (3usize.pow(manifest.dim) / 2).to_string();
    for axis in (0..dim).filter(|axis| c[*axis] != 0) {
        near += &format!(" + {}b{}", strides[axis], coordinate(axis));
    }
    let rest = c == [0; 3];
    let cell = if dim == 2 {
        format!("{} + {bx} * {}", coordinate(0), coordinate(1))
    } else {
        format!("{} + {bx} * ({} + {by} * {})", coordinate(0), coordinate(1), coordinate(2))
    };
    Pull {
        at,
        velocity: c.map(|c| c.to_string()).join(", "),
        rest,
        near: if rest { "slot".into() } else { format!("near[{near}]") },
        entry: near,
        cell: if rest { "cell".into() } else { cell },
    }
}
