//! Fills the part of a [`View`](super::view::View) that is about refinement interfaces.

use lbm_bundle::Manifest;
use lbm_dsl::expr::{Expr, LevelSymbol, Rational, Symbol};

use super::arithmetic::reads;
use super::formula::real_name;
use super::method::{self, Method, Wall};
use super::number::literal;
use super::packets::{Route, packets, params, shared, slopes};
use super::text::Comment;
use super::view::{Interface, LinkRule, Packet};
use super::walls;
use crate::ir::Output;

/// What crosses refinement interfaces.
pub fn view(method: &Method, interface: &method::Interface) -> Interface {
    let manifest = method.manifest;
    let real = real_name(manifest.real);
    let any_reads = |is: &dyn Fn(&Symbol) -> bool| interface.packets.iter().any(|plan| reads(plan, is));
    let params = params(interface);
    let packets: Vec<Packet> = (0..interface.packets.len()).filter_map(|at| packet(manifest, interface, at)).collect();
    let children = 1usize << manifest.dim;
    Interface {
        name: Comment::new(&manifest.coupling.as_ref().expect("there is a coupling").name),
        walls: !method.walls.is_empty(),
        links: links(method),
        mirrors: mirrors(method),
        children,
        share: literal(&Rational::new(1.into(), children.into()), manifest.real),
        kinds: any_reads(&|symbol| matches!(symbol, Symbol::Level(LevelSymbol::Kind { .. }))),
        switches: !packets.is_empty(),
        packets,
        shared: shared(manifest, interface),
        slopes: slopes(manifest, interface),
        decl: params.iter().map(|name| format!(", const {real} {name}")).collect(),
        pass: params.iter().map(|name| format!(", {name}")).collect(),
    }
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
fn packet(manifest: &Manifest, interface: &method::Interface, at: usize) -> Option<Packet> {
    let dag = interface.packets[at].dag();
    let own = |symbol: &Symbol| matches!(symbol, Symbol::Population(pop) if pop.index() == at);
    let itself = |output: &Output| matches!(dag.exprs().get(output.value), Expr::Symbol(symbol) if own(symbol));
    if dag.outputs().iter().all(itself) {
        return None;
    }
    let (lines, values) = packets(manifest, interface, at, Route::Walk, |child| format!("kinds[{child}]"));
    Some(Packet { at, lines, values })
}
