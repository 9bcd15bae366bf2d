//! What templates print of the adjoint of a step on blocks.

use lbm_bundle::{Boundary, Manifest, Role};
use lbm_dsl::expr::Symbol;
use serde::Serialize;

use super::arithmetic::{body, idle, inputs};
use super::formula::{Language, Printer, real_name};
use super::method::{Derivatives, Method, OfLink};
use super::view::{Kernel, Value};
use super::walls::{function, offsets};
use crate::ir::Plan;

/// The adjoint of a step.
#[derive(Debug, Serialize)]
pub struct Adjoint {
    /// Members of the struct of parameters.
    pub members: usize,
    /// Of the collision.
    pub collide: Backwards,
    /// Of the macroscopic fields.
    pub of_fields: Backwards,
    /// Its kernel.
    pub macroscopic: Kernel,
    /// Boundary rules.
    pub rules: Vec<Rule>,
    /// Whether some rule has parameters.
    pub has_values: bool,
    /// Values of a wall.
    pub stride: u32,
    /// How many directions carry the momentum of the flow.
    pub carriers: u32,
    /// Kernels that stream.
    pub streams: Vec<Stream>,
}

/// Arithmetic that makes derivatives of derivatives.
#[derive(Debug, Serialize)]
pub struct Backwards {
    /// Statements for parameters that it does not read.
    pub idle: Vec<String>,
    /// Populations: name and position.
    pub inputs: Vec<Value>,
    /// Derivatives by what becomes of them: name and position.
    pub weights: Vec<Value>,
    /// In lines.
    pub body: Vec<String>,
    /// Derivatives by populations: value and position.
    pub outputs: Vec<Value>,
    /// Derivatives by parameters: value and position.
    pub by_members: Vec<Value>,
}

/// A boundary rule, backwards.
#[derive(Debug, Serialize)]
pub struct Rule {
    /// Name of its function.
    pub function: String,
    /// Its number in `wall_rules`.
    pub code: i32,
    /// Its name in the spec.
    pub name: String,
    /// Of each direction that moves.
    pub links: Vec<Link>,
}

/// What a direction that a wall has sent gives to what it was made of.
#[derive(Debug, Serialize)]
pub struct Link {
    /// Direction.
    pub at: usize,
    /// Statements.
    pub lines: Vec<String>,
}

/// A kernel that streams backwards.
#[derive(Debug, Serialize)]
pub struct Stream {
    /// Symbol and arguments.
    pub signature: Kernel,
    /// Whether there may be walls in the place of neighbours.
    pub walls: bool,
    /// Whether something may come off solids.
    pub links: bool,
}

/// The adjoint of a method, if it is wanted; `kernel` gives the signature of a role.
pub fn view(method: &Method, derivatives: &Derivatives, kernel: impl Fn(Role) -> Kernel) -> Adjoint {
    let manifest = method.manifest;
    let of_rule = |(links, boundary): (&Vec<OfLink>, &Boundary)| rule(manifest, links, boundary);
    let streams = [
        (Role::StreamAdjoint, false, false),
        (Role::StreamAdjointWalls, true, false),
        (Role::StreamAdjointSolid, true, true),
    ];
    let streams = streams.into_iter().filter(|(role, ..)| manifest.kernel(*role).is_some());
    Adjoint {
        members: manifest.members.len(),
        collide: backwards(manifest, derivatives.adjoint_parameters),
        of_fields: backwards(manifest, derivatives.of_fields),
        macroscopic: kernel(Role::MacroscopicAdjoint),
        rules: derivatives.links.iter().zip(&manifest.boundaries).map(of_rule).collect(),
        has_values: manifest.wall_stride > 0,
        stride: manifest.wall_stride,
        carriers: manifest.main().count,
        streams: streams.map(|(role, walls, links)| Stream { signature: kernel(role), walls, links }).collect(),
    }
}

fn backwards(manifest: &Manifest, plan: &Plan) -> Backwards {
    let printer = Printer::new(plan, manifest.real, Language::C);
    let is_population = |name: &str| {
        let named = plan.dag().symbols().iter().find(|(_, other)| other == name);
        named.is_some_and(|(symbol, _)| matches!(symbol, Symbol::Population(_)))
    };
    let (populations, fields): (Vec<Value>, Vec<Value>) =
        inputs(manifest, plan).into_iter().partition(|input| is_population(&input.text));
    let adjoints = plan.dag().symbols().iter().filter_map(|(symbol, name)| match symbol {
        Symbol::Adjoint(pop) => Some(Value { text: name.clone(), at: pop.index() }),
        _ => None,
    });
    let outputs = plan.dag().outputs().iter().enumerate().map(|(at, output)| (at, printer.operand(output.value)));
    let (by_populations, by_members): (Vec<_>, Vec<_>) = outputs.partition(|(at, _)| *at < manifest.q());
    let value = |(at, text)| Value { text, at };
    Backwards {
        idle: idle(manifest, plan),
        inputs: populations,
        weights: adjoints.chain(fields).collect(),
        body: body(plan, &printer),
        outputs: by_populations.into_iter().map(value).collect(),
        by_members: by_members.into_iter().map(|(at, text)| value((at - manifest.q(), text))).collect(),
    }
}

fn rule(manifest: &Manifest, links: &[OfLink], boundary: &Boundary) -> Rule {
    let moving = links.iter().enumerate().filter(|(at, _)| manifest.directions[*at].c != [0; 3]);
    Rule {
        function: function(boundary, "backwards"),
        code: boundary.code,
        name: boundary.name.clone(),
        links: moving.map(|(at, link)| Link { at, lines: lines(manifest, link, boundary) }).collect(),
    }
}

fn lines(manifest: &Manifest, OfLink { by, plan }: &OfLink, boundary: &Boundary) -> Vec<String> {
    let real = real_name(manifest.real);
    let offsets = offsets(boundary);
    let value_at = |param: u16, component: u8| offsets[usize::from(param)] + u32::from(component);
    let mut printer = Printer::new(plan, manifest.real, Language::C);
    let mut lines = Vec::new();
    for (symbol, name) in plan.dag().symbols() {
        match *symbol {
            Symbol::Population(pop) => printer.spell(*symbol, format!("load(src, slot, {}, cell)", pop.index())),
            Symbol::WallParam { param, component } => {
                lines.push(format!("const {real} {name} = value[{}];", value_at(param, component)));
            }
            _ => {}
        }
    }
    lines.extend(body(plan, &printer).into_iter().filter(|line| !line.is_empty()));
    for (symbol, output) in by.iter().zip(plan.dag().outputs()) {
        let derivative = printer.operand(output.value);
        match *symbol {
            Symbol::Population(pop) => lines.push(format!("back[{}] += {derivative};", pop.index())),
            Symbol::WallParam { param, component } => {
                lines.push(format!("if (by != 0) by[{} * CELLS] += {derivative};", value_at(param, component)));
            }
            _ => {}
        }
    }
    lines
}
