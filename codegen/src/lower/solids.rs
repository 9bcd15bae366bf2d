//! Boundary rules on surfaces of solids, which cut links anywhere and along any direction.
//!
//! A rule of links fits as it is, unless it needs a mirror. A rule of nodes fits if it gives each unknown population, and no
//! other, from those of its own link: what its form for one wall says of one direction then holds for all directions of the
//! same shell, because rules of nodes are for lattices that are the same along all axes.

use lbm_dsl::expr::{Expr, ExprId, Exprs, Pop, Symbol};
use lbm_dsl::lattice::Dir;
use lbm_dsl::model::{Boundary, Formulas, Model, NodeForm, Rule};

use super::{lower_in, numbered};
use crate::ir::KernelIr;

/// Whether surfaces of solids can have the rule with that position.
pub fn fits(model: &Model, rule: usize) -> bool {
    match &model.boundaries()[rule].rule {
        Rule::Link(_) => !reads_mirror(model, rule),
        Rule::Node(_) => turned(model, rule).is_some(),
    }
}

/// Whether the rule with that position is a mirror: what enters is what the mirror sends back.
pub fn is_mirror(model: &Model, rule: usize) -> bool {
    let Rule::Link(links) = &model.boundaries()[rule].rule else { return false };
    let lattice = model.lattice();
    let moving = |dir: &Dir| lattice.velocity(*dir).iter().any(|c| *c != 0);
    lattice
        .dirs()
        .zip(links)
        .filter(|(dir, _)| moving(dir))
        .all(|(dir, link)| *model.exprs().get(*link) == Expr::Symbol(Symbol::Mirrored(dir)))
}

/// Whether the rule with that position knows what a mirror would send back.
pub fn reads_mirror(model: &Model, rule: usize) -> bool {
    let Rule::Link(links) = &model.boundaries()[rule].rule else { return false };
    model.exprs().symbols(links).any(|symbol| matches!(symbol, Symbol::Mirrored(_)))
}

/// A rule of nodes that fits as one of links, `solid_<rule>`: what enters along each direction.
pub fn turned(model: &Model, rule: usize) -> Option<KernelIr> {
    let boundary = &model.boundaries()[rule];
    let Rule::Node(forms) = &boundary.rule else { return None };
    let face = forms.first()?;
    let lattice = model.lattice();
    let entering = |dir: &Dir| !NodeForm::known(lattice.velocity(*dir), face.normals);
    if face.dirs != lattice.dirs().filter(entering).collect::<Vec<_>>() {
        return None;
    }
    let shell = |dir: Dir| {
        let mut speeds: Vec<i32> = lattice.velocity(dir).iter().map(|c| c.abs()).collect();
        speeds.sort_unstable();
        speeds
    };
    let mut exprs = model.exprs().clone();
    let mut outputs = Vec::new();
    for dir in lattice.dirs() {
        let pop = model.populations()[0].pop(dir);
        if lattice.velocity(dir).iter().all(|c| *c == 0) {
            outputs.push(exprs.add(Expr::Symbol(Symbol::Population(pop))));
            continue;
        }
        let like = face.dirs.iter().position(|other| shell(*other) == shell(dir))?;
        outputs.push(turn(model, boundary, &mut exprs, face, like, dir)?);
    }
    let outputs = Formulas { lets: Vec::new(), outputs };
    let name = format!("solid_{}", boundary.name);
    let kernel = lower_in(model, &exprs, &name, &outputs, numbered("in", model.q()), &boundary.params);
    Some(kernel.giving(model.pops().map(|(pop, ..)| pop)))
}

/// What a form says of its direction with that position, said of the direction `dir`; nothing if it reads more than a link.
fn turn(
    model: &Model,
    boundary: &Boundary,
    exprs: &mut Exprs,
    form: &NodeForm,
    like: usize,
    dir: Dir,
) -> Option<ExprId> {
    let lattice = model.lattice();
    let pop = |dir: Dir| model.populations()[0].pop(dir);
    let of_link = |old: Dir| match old {
        old if old == form.dirs[like] => Some(dir),
        old if old == lattice.opposite(form.dirs[like]) => Some(lattice.opposite(dir)),
        _ => None,
    };
    let of_pop = |old: Pop| lattice.dirs().find(|dir| pop(*dir) == old).and_then(of_link);
    let of_symbol = |symbol: Symbol| match symbol {
        Symbol::Population(old) => of_pop(old).map(|dir| Symbol::Population(pop(dir))),
        Symbol::Streamed(old) => of_link(old).map(Symbol::Streamed),
        Symbol::Inside(_) => None,
        Symbol::WallParam { param, .. } if boundary.params[usize::from(param)].components > 1 => None,
        _ => Some(symbol),
    };
    let root = form.formulas.outputs[like];
    let turns = model.exprs().symbols(&[root]).all(|symbol| of_symbol(symbol).is_some());
    let turned = |to: &mut Exprs, symbol| of_symbol(symbol).map(|symbol| to.symbol(symbol));
    turns.then(|| model.exprs().substitute(&[root], exprs, turned)[root])
}
