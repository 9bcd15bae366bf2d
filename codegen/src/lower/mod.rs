//! In: a [`Model`]. Out: a [`KernelIr`] for each kernel of its bundle; those at refinement interfaces are in [`levels`], what
//! surfaces of solids need beyond them in [`solids`].
//!
//! The kernels are of whole populations; [`stored`] makes those of what is stored of them.
//!
//! After: a kernel holds what its outputs need and nothing else; every name (inputs, `let`s, outputs) is an identifier of
//! C, C++, CUDA and Rust and differs from every other name of the kernel and from what the templates use: `names` says how.

pub mod in_place;
pub mod levels;
pub mod moments;
mod names;
pub mod signature;
pub mod solids;
pub mod stored;

use std::collections::BTreeMap;

use lbm_dsl::expr::{Expr, ExprId, Exprs, LevelSymbol, Pop, Symbol};
use lbm_dsl::lattice::Dir;
use lbm_dsl::model::{Formulas, Let, Model, NodeForm, Param, Populations, Rule, Shown};

use crate::ir::{KernelIr, Named, Output};
use names::Namer;
pub use names::{component, word};

/// Every kernel of the method: `collide`, `init`, `macroscopic`, then `wall_<rule>` for each boundary rule of links, and
/// `wall_<rule>_face`, `_edge`, `_corner` for each of nodes.
pub fn kernels(model: &Model) -> Vec<KernelIr> {
    let walls = (0..model.boundaries().len()).flat_map(|rule| wall(model, rule));
    [collide(model), init(model), macroscopic(model)].into_iter().chain(walls).collect()
}

/// Post-collision populations `post_p` of a cell from its populations `f_i`; `p` counts those of all sets.
pub fn collide(model: &Model) -> KernelIr {
    let outputs = numbered("post", model.q());
    let (exprs, formulas) = model.acting();
    lower_in(model, &exprs, "collide", &formulas, outputs, &[]).giving(model.values())
}

/// Post-collision populations `f_i` of a cell from its macroscopic fields.
pub fn init(model: &Model) -> KernelIr {
    lower(model, "init", model.started(), populations(model), &[]).giving(model.values())
}

/// Macroscopic fields of a cell, component by component, then the observables that are asked for, from its post-collision populations `f_i`.
pub fn macroscopic(model: &Model) -> KernelIr {
    let names = model.fields().iter().flat_map(|field| {
        let count = field.components.len();
        (0..count).map(move |at| Wanted::Spec(component(&field.name, at, count)))
    });
    let observed = model.asked().iter().flat_map(|found| &found.names).map(|name| Wanted::Spec(name.clone()));
    lower(model, "macroscopic", model.sampled(), names.chain(observed).collect(), &[])
}

/// What a cell shows to those around it, from its populations `f_i` before the collision.
pub fn expose(model: &Model) -> KernelIr {
    exposed(model, model.macroscopic().lets.clone(), |shown| shown.value)
}

/// The same from its populations as they are stored, after the collision.
pub fn expose_stored(model: &Model) -> KernelIr {
    exposed(model, model.sampled().lets.clone(), |shown| shown.stored)
}

fn exposed(model: &Model, lets: Vec<Let>, value: impl Fn(&Shown) -> ExprId) -> KernelIr {
    let formulas = Formulas { lets, outputs: model.shown().iter().map(value).collect() };
    lower(model, "expose", &formulas, numbered("shows", model.shown().len()), &[]).giving(rows(model))
}

/// What is beyond a wall with the rule of that position of what cells show, from what the image of that place has.
pub fn beyond(model: &Model, rule: usize) -> KernelIr {
    let boundary = &model.boundaries()[rule];
    let formulas = Formulas { lets: Vec::new(), outputs: boundary.beyond.clone() };
    let outputs = numbered("beyond", model.shown().len());
    lower(model, &format!("beyond_{}", boundary.name), &formulas, outputs, &boundary.params).giving(rows(model))
}

/// Where cells have what they show.
fn rows(model: &Model) -> impl Iterator<Item = Pop> {
    (0..model.shown().len()).map(|at| model.row(at))
}

/// The rule with that position: one kernel for the links, giving what enters along each direction; for the nodes one for
/// each form, giving the populations of its directions in the frame of the walls.
pub fn wall(model: &Model, rule: usize) -> Vec<KernelIr> {
    let boundary = &model.boundaries()[rule];
    let name = format!("wall_{}", boundary.name);
    match &boundary.rule {
        Rule::Link(links) => {
            let formulas = Formulas { lets: Vec::new(), outputs: links.clone() };
            let outputs = numbered("in", model.q());
            vec![lower(model, &name, &formulas, outputs, &boundary.params).giving(model.values())]
        }
        Rule::Node(forms) => {
            let kernel = |form: &NodeForm| {
                let name = format!("{name}_{}", form.name(model.lattice().dim()));
                let outputs = form.dirs.iter().map(|dir| Wanted::Own(format!("in_{}", dir.index()))).collect();
                let pops = form.dirs.iter().map(|dir| model.populations()[0].pop(*dir));
                lower(model, &name, &form.formulas, outputs, &boundary.params).giving(pops)
            };
            forms.iter().map(kernel).collect()
        }
    }
}

/// A name for a value.
enum Wanted {
    /// The compiler's own, never with an underscore at its end.
    Own(String),
    /// From the spec.
    Spec(String),
}

/// `post_0`, `post_1` and so on.
fn numbered(what: &str, count: usize) -> Vec<Wanted> {
    (0..count).map(|at| Wanted::Own(format!("{what}_{at}"))).collect()
}

/// Names of all populations, `f_7` and as the spec calls those that it declares, and of states.
fn populations(model: &Model) -> Vec<Wanted> {
    let name = |(_, set, dir): (Pop, &Populations, Dir)| {
        let name = format!("{}_{}", set.name, dir.index());
        if set.first == 0 { Wanted::Own(name) } else { Wanted::Spec(name) }
    };
    model.pops().map(name).chain(model.states().iter().map(|state| Wanted::Spec(state.name.clone()))).collect()
}

fn lower(model: &Model, name: &str, formulas: &Formulas, outputs: Vec<Wanted>, wall_params: &[Param]) -> KernelIr {
    lower_in(model, model.exprs(), name, formulas, outputs, wall_params)
}

/// Lowers formulas of a graph that begins with that of the model.
fn lower_in(
    model: &Model,
    exprs: &Exprs,
    name: &str,
    formulas: &Formulas,
    outputs: Vec<Wanted>,
    wall_params: &[Param],
) -> KernelIr {
    let mut namer = Namer::default();
    let params = claim_params(&mut namer, model.params());
    let wall_params = claim_params(&mut namer, wall_params);

    let (exprs, new) = exprs.subgraph(&formulas.outputs);
    let values = formulas.outputs.iter().map(|output| new[*output]);

    let populations = populations(model);
    let mut symbols = Vec::new();
    for (_, node) in exprs.iter() {
        if let Expr::Symbol(symbol) = *node {
            let name = match symbol {
                Symbol::Population(pop) => match &populations[pop.index()] {
                    Wanted::Own(name) => name.clone(),
                    Wanted::Spec(name) => namer.claim(name),
                },
                Symbol::Mirrored(dir) => format!("mirrored_{}", dir.index()),
                Symbol::Streamed(dir) => format!("streamed_{}", dir.index()),
                Symbol::Inside(dir) => format!("inside_{}", dir.index()),
                Symbol::Deep(dir) => format!("deep_{}", dir.index()),
                Symbol::Param { param, component } => params[&(param, component)].clone(),
                Symbol::WallParam { param, component } => wall_params[&(param, component)].clone(),
                Symbol::Field { field, component: at } => {
                    let field = &model.fields()[usize::from(field)];
                    namer.claim(&component(&field.name, at.into(), field.components.len()))
                }
                Symbol::Gradient { .. } | Symbol::Kept(_) => {
                    unreachable!("criteria are no kernels, and these no phases")
                }
                Symbol::Change(_) | Symbol::ParamChange { .. } | Symbol::Adjoint(_) => {
                    unreachable!("derivatives are made of kernels")
                }
                Symbol::Neighbour { shown, dir } => {
                    namer.claim(&format!("{}_at_{}", model.shown()[usize::from(shown)].name, dir.index()))
                }
                Symbol::Moment(number) => format!("m_{number}"),
                Symbol::Level(LevelSymbol::Width) => "width".into(),
                Symbol::Level(LevelSymbol::Sample(number)) => format!("v_{number}"),
                Symbol::Level(LevelSymbol::Shared(number)) => format!("shared_{number}"),
                Symbol::Level(LevelSymbol::Kind { child }) => format!("kind_{child}"),
                Symbol::Level(LevelSymbol::Position { axis }) => {
                    format!("position_{}", ["x", "y", "z"][usize::from(axis)])
                }
                Symbol::Level(LevelSymbol::Slope { stencil, axis, pop }) => {
                    format!("slope_{stencil}_{}_{}", ["x", "y", "z"][usize::from(axis)], pop.index())
                }
            };
            symbols.push((symbol, name));
        }
    }
    symbols.sort();

    let (mut named, mut written): (Vec<Named>, BTreeMap<&str, usize>) = Default::default();
    for each in &formulas.lets {
        // A `let` that no output needs, or that only renames an input or a constant, gives no value a name.
        let Some(value) = new.get(each.value) else { continue };
        if !matches!(exprs.get(value), Expr::Const(_) | Expr::Symbol(_)) {
            written.insert(&each.name, named.len());
            named.push(Named {
                name: namer.claim(&each.name),
                family: each.family.clone(),
                value,
                file: each.file.clone(),
                line: each.line,
            });
        }
    }
    let output = |(wanted, value): (Wanted, ExprId)| {
        let name = match wanted {
            Wanted::Own(name) => name,
            Wanted::Spec(name) => match written.get(name.as_str()).map(|at| &named[*at]) {
                Some(own_let) if own_let.value == value => own_let.name.clone(),
                _ => namer.claim(&name),
            },
        };
        Output { name, value, population: None }
    };
    let outputs = outputs.into_iter().zip(values).map(output).collect();
    KernelIr { name: name.into(), exprs, lets: named, outputs, symbols }
}

impl KernelIr {
    /// The same kernel, its outputs said to be these populations.
    fn giving(mut self, populations: impl Iterator<Item = Pop>) -> Self {
        for (output, population) in self.outputs.iter_mut().zip(populations) {
            output.population = Some(population);
        }
        self
    }
}

/// The components of the method's parameters as symbols, with their names, in the order of the struct that kernels take.
pub fn params(model: &Model) -> Vec<(Symbol, String)> {
    let named = claim_params(&mut Namer::default(), model.params()).into_iter();
    named.map(|((param, component), name)| (Symbol::Param { param, component }, name)).collect()
}

/// Names for every component of the parameters, by parameter and component.
fn claim_params(namer: &mut Namer, params: &[Param]) -> BTreeMap<(u16, u8), String> {
    let mut names = BTreeMap::new();
    for (at, param) in params.iter().enumerate() {
        for axis in 0..param.components {
            let name = namer.claim(&component(&param.name, axis, param.components));
            names.insert((at as u16, axis as u8), name);
        }
    }
    names
}
