//! What templates print of walls.

use lbm_bundle::{Boundary, DISTANCE, Manifest};
use lbm_dsl::expr::{DEEP, Symbol};
use serde::Serialize;

use super::arithmetic::{body, reads};
use super::formula::{Language, Printer, real_name};
use super::method::{self, Method, Wall};
use super::text::Comment;
use super::view::Value;
use crate::ir::{Output, Plan};
use crate::lower::{component, word};

/// Rules of walls.
#[derive(Debug, Serialize)]
pub struct Walls {
    /// The rules of links in the order of their codes.
    pub rules: Vec<Rule>,
    /// How a wall's parameters are found.
    pub values: String,
    /// Whether the wall with the rule `rule` is a mirror, as a condition; empty if there are no such rules.
    pub mirrors: String,
    /// The rules of nodes in the order of their codes.
    pub nodes: Vec<NodeRule>,
    /// Whether there are mirrors or rules of nodes, which need the velocities.
    pub tables: bool,
    /// Whether some rule of nodes reads what has left the cell.
    pub own: bool,
    /// Whether some rule of nodes reads cells along the inward normal.
    pub inside: bool,
    /// Whether a block has so few cells along some axis that this one may be in the next block, or both ends at one cell.
    pub thin: bool,
    /// Values that a wall has room for.
    pub stride: u32,
}

/// A boundary rule of nodes.
#[derive(Debug, Serialize)]
pub struct NodeRule {
    /// Its number in `wall_rules`.
    pub code: i32,
    /// What it is, in lines.
    pub doc: Vec<Comment>,
    /// Its parameters in the frame of the walls.
    pub values: Vec<String>,
    /// For one wall, two, and so on.
    pub forms: Vec<NodeForm>,
}

/// What has arrived in a cell along the inward normal.
#[derive(Debug, Serialize)]
pub struct Inwards {
    /// What the populations are called there.
    pub name: &'static str,
    /// How many cells away.
    pub cells: u32,
    /// The same along each axis: `3 * normal[0], 3 * normal[1]`.
    pub steps: String,
}

/// A rule of nodes for some walls that meet.
#[derive(Debug, Serialize)]
pub struct NodeForm {
    /// Name of its function.
    pub function: String,
    /// How many walls meet.
    pub walls: usize,
    /// What it reads of cells along the inward normal.
    pub reads: Vec<Inwards>,
    /// Declarations of what it reads.
    pub decl: String,
    /// What is passed there.
    pub pass: String,
    /// Inputs as statements.
    pub inputs: Vec<String>,
    /// Its arithmetic, in lines.
    pub body: Vec<String>,
    /// Outputs: value and direction.
    pub outputs: Vec<Value>,
}

/// A boundary rule of links.
#[derive(Debug, Serialize)]
pub struct Rule {
    /// Name of its function.
    pub function: String,
    /// Its number in `wall_rules`.
    pub code: i32,
    /// What it is, in lines.
    pub doc: Vec<Comment>,
    /// Parameter list beyond the direction and the cell's own populations: `, const float *value` or nothing.
    pub decl: String,
    /// What is passed there.
    pub pass: String,
    /// Its parameters as statements.
    pub values: Vec<String>,
    /// The population that each direction brings back.
    pub links: Vec<Link>,
}

/// What one direction brings back from a wall.
#[derive(Debug, Serialize)]
pub struct Link {
    /// Direction.
    pub at: usize,
    /// Statements, of which the last returns the value.
    pub lines: Vec<String>,
    /// Whether the statements declare something, and so need braces.
    pub block: bool,
}

/// A boundary rule as a refinement interface calls it.
#[derive(Debug, Serialize)]
pub struct LinkRule {
    /// Its number in `wall_rules`.
    pub code: i32,
    /// Name of its function.
    pub function: String,
    /// What is passed beyond the direction and the cell's own populations.
    pub pass: String,
}

/// The rules of blocks that touch walls.
pub fn walls(method: &Method) -> Walls {
    let manifest = method.manifest;
    let (mut rules, mut nodes, mut mirrors) = (Vec::new(), Vec::new(), Vec::new());
    for (wall, boundary) in method.walls.iter().zip(&manifest.boundaries) {
        match wall {
            Wall::Link(plan) => {
                rules.push(rule(manifest, plan, boundary, false));
                if reads(plan, |symbol| matches!(symbol, Symbol::Mirrored(_))) {
                    mirrors.push(format!("rule == {}", boundary.code));
                }
            }
            Wall::Node(forms) => {
                nodes.push(NodeRule {
                    code: boundary.code,
                    doc: rule_doc(boundary),
                    values: turned(boundary),
                    forms: forms.iter().map(|form| node_form(manifest, form, boundary)).collect(),
                });
            }
        }
    }
    let values = if rules.iter().all(|rule| !rule.pass.contains("value")) {
        "(void)wall_values;  // no rule has parameters".into()
    } else {
        let real = real_name(manifest.real);
        format!("const {real} *value = wall_values + (size_t)w * {};", manifest.wall_stride)
    };
    let node_plans = || {
        let forms = method.walls.iter().filter_map(|wall| match wall {
            Wall::Node(forms) => Some(forms),
            Wall::Link(_) => None,
        });
        forms.flatten().map(|form| form.plan)
    };
    Walls {
        values,
        mirrors: mirrors.join(" || "),
        tables: !mirrors.is_empty() || !nodes.is_empty(),
        own: node_plans().any(|plan| reads(plan, |symbol| matches!(symbol, Symbol::Population(_)))),
        inside: node_plans().any(|plan| reads(plan, |symbol| matches!(symbol, Symbol::Inside(_) | Symbol::Deep(_)))),
        thin: manifest.block[..manifest.dim as usize].iter().any(|side| *side < 3),
        stride: manifest.wall_stride,
        rules,
        nodes,
    }
}

/// Whether a parameter is the distance of the surface, which solids give link by link.
pub fn is_distance(param: &lbm_bundle::Param) -> bool {
    param.name == DISTANCE && param.components == 1
}

/// A rule of links. Where it is that of surfaces of solids, the distance is that of the link.
pub fn rule(manifest: &Manifest, plan: &Plan, boundary: &Boundary, of_solids: bool) -> Rule {
    let real = real_name(manifest.real);
    let mut printer = Printer::new(plan, manifest.real, Language::C);
    let mut values = Vec::new();
    let (mut streamed, mut distance) = (false, false);
    let offsets = offsets(boundary);
    for (symbol, name) in plan.dag().symbols() {
        match *symbol {
            Symbol::Population(pop) => printer.spell(*symbol, format!("load(src, slot, {}, cell)", pop.index())),
            Symbol::Mirrored(_) => printer.spell(*symbol, "mirrored".into()),
            Symbol::Streamed(_) => {
                printer.spell(*symbol, "streamed".into());
                streamed = true;
            }
            Symbol::WallParam { param, .. } if of_solids && is_distance(&boundary.params[usize::from(param)]) => {
                printer.spell(*symbol, "distance".into());
                distance = true;
            }
            Symbol::WallParam { param, component } => {
                let at = offsets[usize::from(param)] + u32::from(component);
                values.push(format!("const {real} {name} = value[{at}];"));
            }
            _ => {}
        }
    }
    let (mut decl, mut pass) = (String::new(), String::new());
    if !values.is_empty() {
        decl += &format!(", const {real} *value");
        pass += ", value";
    }
    if reads(plan, |symbol| matches!(symbol, Symbol::Mirrored(_))) {
        decl += &format!(", const {real} mirrored");
        pass += ", mirrored";
    }
    for (_, name) in [(streamed, "streamed"), (distance, "distance")].into_iter().filter(|(read, _)| *read) {
        decl += &format!(", const {real} {name}");
        pass += &format!(", {name}");
    }
    let link = |(at, output): (usize, &Output)| {
        let mut printer = printer.clone();
        printer.inline_below(output.value);
        let mut lines = Vec::new();
        for id in printer.needs(output.value) {
            lines.extend(printer.statement(&printer.operand(id), id));
        }
        lines.push(format!("return {};", printer.formula(output.value)));
        let block = lines.len() > 1;
        Link { at, lines, block }
    };
    let moving = |at: &usize| manifest.directions[*at].c != [0; 3];
    let outputs = plan.dag().outputs().iter().enumerate();
    Rule {
        function: function(boundary, if of_solids { "solid" } else { "link" }),
        code: boundary.code,
        doc: rule_doc(boundary),
        decl,
        pass,
        values,
        links: outputs.filter(|(at, _)| moving(at)).map(link).collect(),
    }
}

/// Name of a function of a rule, with its code, so that no two have the same: `bounce_back_link_0`.
pub fn function(boundary: &Boundary, what: &str) -> String {
    format!("{}_{what}_{}", word(&boundary.name), boundary.code)
}

fn rule_doc(boundary: &Boundary) -> Vec<Comment> {
    let mut lines = vec![format!("Rule {}, {}: {}", boundary.code, boundary.name, boundary.doc)];
    if boundary.doc.is_empty() {
        lines[0] = format!("Rule {}, {}.", boundary.code, boundary.name);
    }
    for param in &boundary.params {
        let count = param.components as usize;
        let names: Vec<String> = (0..count).map(|at| component(&param.name, at, count)).collect();
        lines.push(format!("  {}: {}", names.join(", "), param.doc));
    }
    lines.iter().map(|line| Comment::new(line)).collect()
}

/// Where each parameter of a rule begins among the values of a wall.
pub fn offsets(boundary: &Boundary) -> Vec<u32> {
    let begin = |next: &mut u32, param: &lbm_bundle::Param| {
        *next += param.components;
        Some(*next - param.components)
    };
    boundary.params.iter().scan(0, begin).collect()
}

/// The values of a wall, `given`, in the frame of the walls that meet: a vector's components change places and signs.
fn turned(boundary: &Boundary) -> Vec<String> {
    let of_param = |(param, first): (&lbm_bundle::Param, u32)| -> Vec<String> {
        match param.components {
            1 => vec![format!("given[{first}]")],
            count => (0..count).map(|at| format!("sign[{at}] * given[{first} + axes[{at}]]")).collect(),
        }
    };
    boundary.params.iter().zip(offsets(boundary)).flat_map(of_param).collect()
}

fn node_form(manifest: &Manifest, form: &method::NodeForm, boundary: &Boundary) -> NodeForm {
    let plan = form.plan;
    let real = real_name(manifest.real);
    let printer = Printer::new(plan, manifest.real, Language::C);
    let offsets = offsets(boundary);
    let (mut own, mut inside, mut deep, mut value) = (false, false, false, false);
    let input = |(symbol, name): &(Symbol, String)| {
        let from = match *symbol {
            Symbol::Population(pop) => {
                own = true;
                format!("own[{}]", pop.index())
            }
            Symbol::Inside(dir) => {
                inside = true;
                format!("inside[{}]", dir.index())
            }
            Symbol::Deep(dir) => {
                deep = true;
                format!("deep[{}]", dir.index())
            }
            Symbol::Streamed(dir) => format!("streamed[{}]", dir.index()),
            Symbol::WallParam { param, component } => {
                value = true;
                format!("value[{}]", offsets[usize::from(param)] + u32::from(component))
            }
            _ => return None,
        };
        Some(format!("const {real} {name} = {from};"))
    };
    let inputs = plan.dag().symbols().iter().filter_map(input).collect();
    let given: Vec<&str> = [("own", own), ("inside", inside), ("deep", deep), ("value", value)]
        .iter()
        .filter(|(_, read)| *read)
        .map(|(name, _)| *name)
        .collect();
    let steps = |cells: u32| {
        let along =
            |axis: u32| if cells == 1 { format!("normal[{axis}]") } else { format!("{cells} * normal[{axis}]") };
        (0..manifest.dim).map(along).collect::<Vec<_>>().join(", ")
    };
    let output = |output: &Output| Value {
        text: printer.operand(output.value),
        at: output.population.expect("rules of nodes give populations").index(),
    };
    NodeForm {
        function: function(boundary, form.name),
        walls: form.walls,
        reads: [("inside", inside, 1), ("deep", deep, DEEP)]
            .iter()
            .filter(|(_, read, _)| *read)
            .map(|(name, _, cells)| Inwards { name, cells: *cells, steps: steps(*cells) })
            .collect(),
        decl: given.iter().map(|name| format!("const {real} *{name}, ")).collect(),
        pass: given.iter().map(|name| format!("{name}, ")).collect(),
        inputs,
        body: body(plan, &printer),
        outputs: plan.dag().outputs().iter().map(output).collect(),
    }
}
