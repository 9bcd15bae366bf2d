//! What templates print of refinement interfaces.

use lbm_bundle::Manifest;
use lbm_dsl::expr::{Expr, LevelSymbol, Rational, Symbol};
use serde::Serialize;

use super::arithmetic::reads;
use super::formula::real_name;
use super::method::{self, Method, Wall};
use super::number::literal;
use super::packets::{Route, Shared, Slope, packets, params, shared, slopes};
use super::text::Comment;
use super::walls::{self, LinkRule};
use crate::ir::Output;

/// Kernels and formulas of a coupling of packets.
#[derive(Debug, Serialize)]
pub struct Interface {
    /// Name of the coupling.
    pub name: Comment,
    /// Whether the method has boundary rules.
    pub walls: bool,
    /// Rules of links that read the cell alone.
    pub links: Vec<LinkRule>,
    /// Whether the face with the rule `rule` is a mirror and nothing else, as a condition; empty if there are no such rules.
    pub mirrors: String,
    /// Fine cells in a coarse one.
    pub children: usize,
    /// One over that.
    pub share: String,
    /// Whether packets depend on how they travel.
    pub kinds: bool,
    /// Whether some packet carries something else than its cell's population.
    pub switches: bool,
    /// Those that do.
    pub packets: Vec<Packet>,
    /// What packets of several directions are made of, if there is such.
    pub shared: Option<Shared>,
    /// Derivatives that packets read.
    pub slopes: Vec<Slope>,
    /// Parameters of the method that packets read, with a leading comma.
    pub decl: String,
    /// The same as they are passed on.
    pub pass: String,
}

/// What the packets of one direction carry.
#[derive(Debug, Serialize)]
pub struct Packet {
    /// Direction.
    pub at: usize,
    /// Statements that compute it.
    pub lines: Vec<String>,
    /// That of each child.
    pub values: Vec<String>,
}

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
