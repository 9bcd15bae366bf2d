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
    outputs.extend(model.values().skip(outputs.len()).map(|state| exprs.symbol(Symbol::Population(state))));
    let outputs = Formulas { lets: Vec::new(), outputs };
    let name = format!("solid_{}", boundary.name);
    let kernel = lower_in(model, &exprs, &name, &outputs, numbered("in", model.q()), &boundary.params);
    Some(kernel.giving(model.values()))
}

/// What a form says of its direction with that position, said of the direction `dir`; nothing if it reads more than a link, or of a vector
/// more than what is the same for all ways to turn the one direction into the other.
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
    let (from, to) = (lattice.velocity(form.dirs[like]), lattice.velocity(dir));
    let of_link = |old: Dir| match old {
        old if old == form.dirs[like] => Some(dir),
        old if old == lattice.opposite(form.dirs[like]) => Some(lattice.opposite(dir)),
        _ => None,
    };
    let of_pop = |old: Pop| lattice.dirs().find(|dir| pop(*dir) == old).and_then(of_link);
    let axes = axes(from, to)?;
    let is_vector = |param: u16| boundary.params[usize::from(param)].components > 1;
    // The symbol in the place of another, and whether its sign changes.
    let of_symbol = |symbol: Symbol| match symbol {
        Symbol::Population(old) => of_pop(old).map(|dir| (Symbol::Population(pop(dir)), false)),
        Symbol::Streamed(old) => of_link(old).map(|dir| (Symbol::Streamed(dir), false)),
        Symbol::Inside(_) | Symbol::Deep(_) => None,
        Symbol::WallParam { param, component } if is_vector(param) => {
            let axis = usize::from(component);
            let (other, turns) = axes[axis];
            (from[axis] != 0).then_some((Symbol::WallParam { param, component: other as u8 }, turns))
        }
        _ => Some((symbol, false)),
    };
    let root = form.formulas.outputs[like];
    let turns = model.exprs().symbols(&[root]).all(|symbol| of_symbol(symbol).is_some());
    let turned = |to: &mut Exprs, symbol| {
        let (symbol, turns) = of_symbol(symbol)?;
        let value = to.symbol(symbol);
        Some(if turns { to.add(Expr::Neg(value)) } else { value })
    };
    let known = turns && is_same_turned(model.exprs(), root, from, &is_vector);
    known.then(|| model.exprs().substitute(&[root], exprs, turned)[root])
}

/// For each axis of a direction the axis of another of the same shell that it becomes, and whether it is turned over.
fn axes(from: &[i32], to: &[i32]) -> Option<Vec<(usize, bool)>> {
    let mut free: Vec<usize> = (0..to.len()).collect();
    let mut becomes = |c: &i32| {
        let at = free.iter().position(|axis| to[*axis].abs() == c.abs())?;
        let axis = free.remove(at);
        Some((axis, to[axis] * c < 0))
    };
    from.iter().map(&mut becomes).collect()
}

/// Whether what is said of a direction does not change where axes along which it goes equally far are exchanged: at values of its symbols
/// that have nothing to do with each other.
fn is_same_turned(exprs: &Exprs, root: ExprId, c: &[i32], is_vector: &impl Fn(u16) -> bool) -> bool {
    let symbols: Vec<Symbol> = exprs.symbols(&[root]).collect();
    let value = |symbol: Symbol, sign: f64| {
        let number = symbols.iter().position(|other| *other == symbol).map_or(0.0, |at| at as f64);
        sign * (0.3 + (number * 0.618_033_988_749_894_9).fract() / 2.0)
    };
    let exchanged = |one: usize, other: usize| {
        let sign = f64::from((c[one] * c[other]).signum());
        exprs.eval::<f64>(&[root], |symbol| match symbol {
            Symbol::WallParam { param, component } if is_vector(param) && usize::from(component) == one => {
                value(Symbol::WallParam { param, component: other as u8 }, sign)
            }
            Symbol::WallParam { param, component } if is_vector(param) && usize::from(component) == other => {
                value(Symbol::WallParam { param, component: one as u8 }, sign)
            }
            symbol => value(symbol, 1.0),
        })[0]
    };
    let given = exprs.eval::<f64>(&[root], |symbol| value(symbol, 1.0))[0];
    let pairs = (0..c.len()).flat_map(|one| (0..one).map(move |other| (one, other)));
    let mut alike = pairs.filter(|(one, other)| c[*one] != 0 && c[*one].abs() == c[*other].abs());
    alike.all(|(one, other)| (exchanged(one, other) - given).abs() <= 1e-12 * given.abs())
}
