//! What templates print of the adjoint of a step on blocks.

use lbm_bundle::{Boundary, Manifest, Role};
use lbm_dsl::expr::Symbol;
use serde::Serialize;

use super::arithmetic::{body, idle, inputs};
use super::formula::{Language, Printer, real_name};
use super::method::{Derivatives, Method, OfLink};
use super::view::{Kernel, Value};
use super::walls::{function, is_distance, offsets};
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
    /// Whether some rule reads what arrives along the opposite direction.
    pub against: bool,
    /// Values of a wall.
    pub stride: u32,
    /// How many directions carry the momentum of the flow.
    pub carriers: u32,
    /// Kernels that stream.
    pub streams: Vec<Stream>,
    /// Kernels of what crosses refinement interfaces, if something does.
    pub crossing: Option<Crossing>,
}

/// Kernels of what crosses refinement interfaces, backwards.
#[derive(Debug, Serialize)]
pub struct Crossing {
    /// What blocks have read of the inbox.
    pub receive: Kernel,
    /// What it was made of.
    pub cross: Kernel,
    /// What walls have sent back, if the method has rules.
    pub returns: Option<Kernel>,
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
    /// Name of its function, and of that of what arrives along the opposite direction, if it reads that.
    pub function: String,
    pub streamed: Option<String>,
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
    /// The same of what arrives along the opposite direction; the last returns its derivative.
    pub streamed: Vec<String>,
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
    let crossing = manifest.kernel(Role::CrossAdjoint).map(|_| Crossing {
        receive: kernel(Role::ReceiveAdjoint),
        cross: kernel(Role::CrossAdjoint),
        returns: manifest.kernel(Role::ReturnAdjoint).map(|_| kernel(Role::ReturnAdjoint)),
    });
    let streams = streams.into_iter().filter(|(role, ..)| manifest.kernel(*role).is_some());
    Adjoint {
        members: manifest.members.len(),
        collide: backwards(manifest, derivatives.adjoint_parameters),
        of_fields: backwards(manifest, derivatives.of_fields),
        macroscopic: kernel(Role::MacroscopicAdjoint),
        rules: derivatives.links.iter().zip(&manifest.boundaries).map(of_rule).collect(),
        has_values: manifest.wall_stride > 0,
        against: derivatives.links.iter().flatten().any(|link| link.streamed.is_some()),
        stride: manifest.wall_stride,
        carriers: manifest.main().count,
        streams: streams.map(|(role, walls, links)| Stream { signature: kernel(role), walls, links }).collect(),
        crossing,
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
    let reads = links.iter().any(|link| link.streamed.is_some());
    let link = |(at, link): (usize, &OfLink)| Link {
        at,
        lines: lines(manifest, link, boundary),
        streamed: link.streamed.map(|plan| streamed(manifest, plan, boundary)).unwrap_or_default(),
    };
    Rule {
        function: function(boundary, "backwards"),
        streamed: reads.then(|| function(boundary, "streamed_backwards")),
        code: boundary.code,
        name: boundary.name.clone(),
        links: moving.map(link).collect(),
    }
}

/// What prints a plan of a link, and statements for values of the wall that it reads.
fn reading<'a>(manifest: &Manifest, plan: &'a Plan, boundary: &Boundary) -> (Printer<'a>, Vec<String>) {
    let (real, offsets) = (real_name(manifest.real), offsets(boundary));
    let mut printer = Printer::new(plan, manifest.real, Language::C);
    let mut lines = Vec::new();
    for (symbol, name) in plan.dag().symbols() {
        match *symbol {
            Symbol::Population(pop) => printer.spell(*symbol, format!("load(src, slot, {}, cell)", pop.index())),
            Symbol::WallParam { param, .. } if is_distance(&boundary.params[usize::from(param)]) => {
                printer.spell(*symbol, "distance".into());
            }
            Symbol::WallParam { param, component } => {
                let at = offsets[usize::from(param)] + u32::from(component);
                lines.push(format!("const {real} {name} = value[{at}];"));
            }
            _ => {}
        }
    }
    lines.extend(body(plan, &printer).into_iter().filter(|line| !line.is_empty()));
    (printer, lines)
}

fn lines(manifest: &Manifest, OfLink { by, plan, .. }: &OfLink, boundary: &Boundary) -> Vec<String> {
    let offsets = offsets(boundary);
    let (printer, mut lines) = reading(manifest, plan, boundary);
    for (symbol, output) in by.iter().zip(plan.dag().outputs()) {
        let derivative = printer.operand(output.value);
        match *symbol {
            Symbol::Population(pop) => lines.push(format!("back[{} * SLAB] += {derivative};", pop.index())),
            Symbol::WallParam { param, component } => {
                let at = offsets[usize::from(param)] + u32::from(component);
                lines.push(format!("if (by != 0) by[{at} * CELLS] += {derivative};"));
            }
            _ => {}
        }
    }
    lines
}

fn streamed(manifest: &Manifest, plan: &Plan, boundary: &Boundary) -> Vec<String> {
    let (printer, mut lines) = reading(manifest, plan, boundary);
    lines.extend(plan.dag().outputs().iter().map(|output| format!("return {};", printer.operand(output.value))));
    lines
}
