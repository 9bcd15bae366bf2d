//! Fills the part of a [`View`](super::view::View) that is about refinement interfaces.

use std::collections::BTreeSet;

use lbm_bundle::{Manifest, Role};
use lbm_dsl::expr::{Expr, ExprId, LevelSymbol, Rational, Symbol};

use super::arithmetic::reads;
use super::formula::{Language, Printer, real_name};
use super::method::{self, Method, PointSet, Wall};
use super::number::literal;
use super::text::Comment;
use super::view::{Case, Jump, JumpKernel, Kernel, LinkRule, Packet, Slope, SlopeSet};
use super::walls;
use crate::ir::{Output, Plan};
use crate::lower::word;

/// The kernels of blocks at level jumps, and what crosses; `kernel` gives the signature of a role.
pub fn view(method: &Method, jump: &method::Jump, kernel: impl Fn(Role, Option<&Plan>) -> Kernel) -> Jump {
    let manifest = method.manifest;
    let real = real_name(manifest.real);
    let [interior, walls] = match &jump.rescaled {
        None => [Role::StreamCollideInterface, Role::StreamCollideInterfaceWalls],
        Some(_) => [Role::StreamCollideGhosts, Role::StreamCollideGhostsWalls],
    };
    let roles = [(interior, false), (walls, true)];
    let present = roles.into_iter().filter(|(role, _)| manifest.kernel(*role).is_some());
    let any_reads = |is: &dyn Fn(&Symbol) -> bool| jump.packets.iter().any(|plan| reads(plan, is));
    let params = params(jump);
    let packets: Vec<Packet> =
        jump.packets.iter().enumerate().filter_map(|(at, plan)| packet(manifest, jump, at, plan)).collect();
    let children = 1usize << manifest.dim;
    Jump {
        name: Comment::new(&manifest.coupling.as_ref().expect("there is a coupling").name),
        kernels: present
            .map(|(role, walls)| JumpKernel {
                signature: kernel(role, None),
                walls,
                gather: if walls { "gather_inbox_walls" } else { "gather_inbox" },
            })
            .collect(),
        walls: !method.walls.is_empty(),
        links: links(method),
        mirrors: mirrors(method),
        children,
        share: literal(&Rational::new(1.into(), children.into()), manifest.real),
        kinds: any_reads(&|symbol| matches!(symbol, Symbol::Level(LevelSymbol::Kind { .. }))),
        switches: !packets.is_empty(),
        packets,
        slopes: sampled(jump).map(|number| slope(manifest, jump, number)).collect(),
        decl: params.iter().map(|name| format!(", const {real} {name}")).collect(),
        pass: params.iter().map(|name| format!(", {name}")).collect(),
    }
}

/// Names of the parameters of the method that packets read.
pub fn params<'a>(jump: &method::Jump<'a>) -> BTreeSet<&'a str> {
    let symbols = jump.packets.iter().flat_map(|plan| plan.dag().symbols());
    let of_method = symbols.filter(|(symbol, _)| matches!(symbol, Symbol::Param { .. }));
    of_method.map(|(_, name)| name.as_str()).collect()
}

/// Positions of the stencils whose slopes packets read.
pub fn sampled(jump: &method::Jump) -> impl Iterator<Item = usize> {
    let of = |stencil: usize| move |symbol: &Symbol| matches!(symbol, Symbol::Level(LevelSymbol::Slope { stencil: at, .. }) if usize::from(*at) == stencil);
    (0..jump.stencils.len()).filter(move |stencil| jump.packets.iter().any(|plan| reads(plan, of(*stencil))))
}

/// The rules that send back what the image of the cell sends, as a condition on `rule`. Whatever comes near such a face goes
/// on inside, in the mirror.
fn mirrors(method: &Method) -> String {
    let rules = method.manifest.mirror_rules.iter();
    rules.map(|code| format!("rule == {code}")).collect::<Vec<_>>().join(" || ")
}

/// The rules of links that need nothing but the cell; mirrors need the cell's image.
fn links(method: &Method) -> Vec<LinkRule> {
    let rule = |(wall, boundary): (&Wall, &lbm_bundle::Boundary)| {
        let Wall::Link(plan) = wall else { return None };
        let mirror = reads(plan, |symbol| matches!(symbol, Symbol::Mirrored(_)));
        let value = reads(plan, |symbol| matches!(symbol, Symbol::WallParam { .. }));
        (!mirror).then(|| LinkRule {
            code: boundary.code,
            function: walls::function(boundary, "link"),
            pass: if value { ", value".into() } else { String::new() },
        })
    };
    method.walls.iter().zip(&method.manifest.boundaries).filter_map(rule).collect()
}

/// What the packets of a population carry; none where each carries the population itself.
fn packet(manifest: &Manifest, jump: &method::Jump, at: usize, plan: &Plan) -> Option<Packet> {
    let mut printer = Printer::new(plan, manifest.real, Language::C);
    let mut lines = Vec::new();
    for (symbol, name) in plan.dag().symbols() {
        match *symbol {
            Symbol::Population(pop) => printer.spell(*symbol, format!("load(src, slot, {}, cell)", pop.index())),
            Symbol::Level(LevelSymbol::Kind { child }) => printer.spell(*symbol, format!("kinds[{child}]")),
            // Slopes of the population itself are there for all directions.
            Symbol::Level(LevelSymbol::Slope { stencil, axis, pop }) if pop.index() == at => {
                printer.spell(*symbol, format!("{}[{axis}]", of_stencil(jump, stencil.into(), "slopes")));
            }
            Symbol::Level(LevelSymbol::Slope { stencil, axis, pop }) => {
                let (real, function) = (real_name(manifest.real), of_stencil(jump, stencil.into(), "slope"));
                let call = format!("{function}(jump, side, corner, {}, {axis})", pop.index());
                lines.push(format!("const {real} {name} = {call};"));
            }
            _ => {}
        }
    }
    let outputs = plan.dag().outputs();
    let itself = |output: &Output| {
        let exprs = plan.dag().exprs();
        matches!(exprs.get(output.value), Expr::Symbol(Symbol::Population(pop)) if pop.index() == at)
    };
    if outputs.iter().all(itself) {
        return None;
    }
    let needs: Vec<Vec<ExprId>> = outputs.iter().map(|output| printer.needs(output.value)).collect();
    let users = |id: ExprId| needs.iter().filter(|needs| needs.contains(&id)).count();
    let shared: BTreeSet<ExprId> = needs.iter().flatten().copied().filter(|id| users(*id) > 1).collect();
    let statement = |id: ExprId| printer.statement(&printer.operand(id), id);
    lines.extend(shared.iter().flat_map(|id| statement(*id)));
    let case = |(at, output): (usize, &Output)| {
        let own = needs[at].iter().filter(|id| !shared.contains(id));
        let value =
            if shared.contains(&output.value) { printer.operand(output.value) } else { printer.formula(output.value) };
        Case { at, lines: own.flat_map(|id| statement(*id)).chain([format!("return {value};")]).collect() }
    };
    Some(Packet { at, lines, cases: outputs.iter().enumerate().map(case).collect() })
}

/// Name of the function of a derivative stencil, or of what it gives along each axis, with its number, so that no two have the same:
/// `central_slope_0`.
pub fn of_stencil(jump: &method::Jump, number: usize, what: &str) -> String {
    format!("{}_{what}_{number}", word(jump.stencils[number].name))
}

/// The function of a derivative stencil.
pub fn slope(manifest: &Manifest, jump: &method::Jump, number: usize) -> Slope {
    let stencil = &jump.stencils[number];
    let mut points: Vec<i64> = stencil.sets.iter().flat_map(|set| set.points).copied().collect();
    points.sort_unstable();
    points.dedup();
    let place = |point: i64| points.iter().position(|other| *other == point).expect("every point is listed");
    let set = |set: &PointSet| {
        let plan = set.slope.expect("only slopes are read");
        let mut printer = Printer::new(plan, manifest.real, Language::C);
        for (symbol, _) in plan.dag().symbols() {
            if let Symbol::Level(LevelSymbol::Sample(number)) = *symbol {
                printer.spell(*symbol, format!("v[{}]", place(set.points[usize::from(number)])));
            }
        }
        let output = &plan.dag().outputs()[0];
        let mut lines: Vec<String> = printer
            .needs(output.value)
            .into_iter()
            .flat_map(|id| printer.statement(&printer.operand(id), id))
            .collect();
        lines.push(format!("return {};", printer.formula(output.value)));
        let has: Vec<String> = set.points.iter().map(|point| format!("has[{}]", place(*point))).collect();
        SlopeSet { condition: has.join(" && "), lines }
    };
    let doc = if stencil.doc.is_empty() { String::new() } else { format!(": {}", stencil.doc) };
    Slope {
        doc: [&*format!("Stencil {}{doc}", stencil.name), "A cell is given by the lowest place in it."]
            .map(Comment::new)
            .to_vec(),
        function: of_stencil(jump, number, "slope"),
        name: of_stencil(jump, number, "slopes"),
        points: points.iter().map(i64::to_string).collect::<Vec<_>>().join(", "),
        count: points.len(),
        sets: stencil.sets.iter().map(set).collect(),
    }
}
