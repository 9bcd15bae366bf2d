//! Values of the cells around one: `neighbour[i](x)`, `gradient[a](x)`, `laplacian(x)`.
//!
//! In: formulas of populations. After: what they read of other cells is a symbol, and what these must have computed for it, before any cell
//! collides, is listed once: the shown values of the method. A shown value depends on populations of its own cell alone, so one pass over
//! the cells before that in which they collide is what a method needs that has such values, and no method needs more.

use crate::ast::{BoundaryDef, Expr, Name};
use crate::check::arith;
use crate::check::build::{Builder, MOST_VALUES};
use crate::check::call::count;
use crate::check::elaborate::{Elaborator, Eval};
use crate::check::program::ModuleId;
use crate::check::stored::replaced;
use crate::check::value::{Dim, LatticeId, Tensor, Value};
use crate::diag::Code;
use crate::expr::{ExprId, Pop, Rational, Symbol};
use crate::lattice::Dir;
use crate::model::{Formulas, Model, Rule, Shown, State};
use crate::source::Span;

impl Elaborator<'_> {
    /// A function of the cells around one. Slopes are those of the first populations' lattice, of second order: with its weights `w`,
    /// `gradient[a](x) = sum(i: w[i] c[i, a] x(i)) / cs2` and `laplacian(x) = 2 sum(i: w[i] (x(i) - x)) / cs2`, as isotropic as the lattice is.
    /// Thampi, Ansumali, Adhikari & Succi, J. Comput. Phys. 234 (2013) 1.
    pub(super) fn around(&mut self, span: Span, name: &Name, indices: &[Expr], args: &[Expr]) -> Eval<Value> {
        let due = if name.text == "laplacian" { 0 } else { 1 };
        if indices.len() != due {
            let label = format!("`{}` has {}, not {}", name.text, count(due, "index"), indices.len());
            return self.fault(Code::IndexCount, span, label);
        }
        let [arg] = args else {
            let label = format!("`{}` takes one argument, not {}", name.text, args.len());
            return self.fault(Code::Arguments, span, label);
        };
        if !self.looks_around {
            let label = format!("`{}` is of values and collisions of the spec", name.text);
            return self.fault(Code::Neighbour, span, label);
        }
        let own = self.number(arg)?;
        let lattice = self.populations[0].lattice.clone();
        let first = self.dirs(LatticeId(0));
        let value = match name.text.as_str() {
            "neighbour" => {
                let at = self.position(first, &indices[0])?;
                self.at_neighbour(arg.span, own, Dir(at as u8))?
            }
            "gradient" => {
                let axis = self.position(Dim::Axes(self.axes()), &indices[0])?;
                let mut sum = self.exprs.int(0);
                for dir in lattice.dirs().filter(|dir| lattice.velocity(*dir)[axis] != 0) {
                    let there = self.at_neighbour(arg.span, own, dir)?;
                    let c = Rational::from_integer(lattice.velocity(dir)[axis].into());
                    let share = self.exprs.constant(lattice.weight(dir) / lattice.cs2() * c);
                    let term = arith::mul(&mut self.exprs, share, there);
                    sum = arith::add(&mut self.exprs, sum, term);
                }
                sum
            }
            _ => {
                let mut sum = self.exprs.int(0);
                for dir in lattice.dirs().filter(|dir| lattice.velocity(*dir).iter().any(|c| *c != 0)) {
                    let there = self.at_neighbour(arg.span, own, dir)?;
                    let share =
                        self.exprs.constant(lattice.weight(dir) / lattice.cs2() * Rational::from_integer(2.into()));
                    let more = arith::sub(&mut self.exprs, there, own);
                    let term = arith::mul(&mut self.exprs, share, more);
                    sum = arith::add(&mut self.exprs, sum, term);
                }
                sum
            }
        };
        Ok(Value::Number(value))
    }

    /// A value in the next cell along a direction.
    fn at_neighbour(&mut self, span: Span, own: ExprId, dir: Dir) -> Eval<ExprId> {
        let (mut varies, mut nested) = (false, false);
        for symbol in self.exprs.symbols(&[own]) {
            varies |= matches!(symbol, Symbol::Population(_));
            nested |= matches!(symbol, Symbol::Neighbour { .. });
        }
        if nested {
            let hint = "take it of a value that is made of the populations of one cell; what is made of that is to be computed from it in each \
                        cell";
            return self.hinted(Code::Neighbour, span, "this depends itself on the cells around its own", hint);
        }
        if !varies || self.populations[0].lattice.velocity(dir).iter().all(|c| *c == 0) {
            return Ok(own);
        }
        let shown = self.shown.iter().position(|value| *value == own).unwrap_or_else(|| {
            self.shown.push(own);
            self.shown.len() - 1
        });
        Ok(self.exprs.symbol(Symbol::Neighbour { shown: shown as u16, dir }))
    }
}

impl Builder<'_> {
    /// Values that cells show to those around them; their names follow when the method is known.
    pub(super) fn shown(&mut self) -> Vec<Shown> {
        let values = self.work.shown.clone();
        if self.rows().0 + values.len() > MOST_VALUES {
            let label = format!("with what it shows to others a cell has more than {MOST_VALUES} values");
            let _ = self.work.fault::<()>(Code::LatticeSize, Span::default(), label);
        }
        values.into_iter().map(|value| Shown { name: String::new(), value, stored: value, axis: None }).collect()
    }

    /// The position of the first shown value among those of a cell, and how many there are.
    fn rows(&self) -> (usize, usize) {
        let moving: usize = self.work.populations.iter().map(|set| set.lattice.q()).sum();
        (moving + self.states.len(), self.work.shown.len())
    }

    /// What cells beyond a wall have of each shown value; `values` are names of the spec.
    pub(super) fn beyond(&mut self, def: &BoundaryDef, values: &[(String, Value)]) -> Eval<Vec<ExprId>> {
        let (first, count) = self.rows();
        let row = |at: usize| Symbol::Population(Pop((first + at) as u16));
        let mut all: Vec<ExprId> = (0..count).map(|at| self.work.exprs.symbol(row(at))).collect();
        for beyond in &def.beyond {
            let name = &beyond.name;
            let (components, dims) = match values.iter().rev().find(|(other, _)| *other == name.text) {
                Some((_, Value::Number(id))) => (vec![*id], vec![]),
                Some((_, Value::Tensor(tensor))) => (tensor.data.to_vec(), tensor.dims.clone()),
                _ => continue,
            };
            let place = |id: &ExprId| self.work.shown.iter().position(|value| value == id);
            let places: Vec<Option<usize>> = components.iter().map(place).collect();
            if places.iter().all(Option::is_none) {
                // Rules of the prelude are for methods that read it and for others.
                if self.work.module == ModuleId::SPEC {
                    let label = format!("nothing reads `{}` of the cells around", name.text);
                    return self.work.fault(Code::BeyondWall, name.span, label);
                }
                continue;
            }
            let symbol = |(at, place): (usize, &Option<usize>)| place.map_or(Symbol::Kept(at as u16), row);
            let symbols: Vec<Symbol> = places.iter().enumerate().map(symbol).collect();
            let data: Vec<ExprId> = symbols.iter().map(|symbol| self.work.exprs.symbol(*symbol)).collect();
            let given = match dims[..] {
                [] => Value::Number(data[0]),
                _ => Value::Tensor(Tensor { dims: dims.clone(), data: data.into() }),
            };
            self.work.scope.push((name.text.clone(), given));
            let found = self.work.family(name, &beyond.indices, &beyond.value);
            self.work.scope.pop();
            let found = found?;
            if found.dims != dims {
                let label = format!("`{}` has {}, not {}", name.text, count_of(dims.len()), found.dims.len());
                return self.work.fault(Code::IndexCount, name.span, label);
            }
            for (at, value) in found.data.iter().enumerate() {
                let other = |symbol| !matches!(symbol, Symbol::WallParam { .. }) && symbol != symbols[at];
                if self.reads(&[*value], other) {
                    let label = format!("this reads more than `{}` at the wall and parameters of it", name.text);
                    return self.work.fault(Code::BeyondWall, beyond.value.span, label);
                }
                if let Some(place) = places[at] {
                    all[place] = *value;
                }
            }
        }
        Ok(all)
    }
}

fn count_of(indices: usize) -> String {
    count(indices, "index")
}

/// Gives cells a place for what they show, and for fields and observables that depend on what others show: these are kept as the collision has them.
///
/// In: a model of which `sampled`, `observed` and `started` are known. After: each of these reads values of its own cell alone.
pub(super) fn complete(model: &mut Model) {
    if model.shown.is_empty() {
        return;
    }
    let lets = || model.macroscopic.lets.iter().chain(&model.collide.lets);
    let named = |(at, shown): (usize, &Shown)| {
        let vectors = model.vectors.iter().chain(&model.fields).filter(|of| of.components.len() > 1);
        let axis = vectors.flat_map(|of| of.components.iter().enumerate()).find(|(_, value)| **value == shown.value);
        let name = lets().find(|item| item.value == shown.value).map(|item| item.name.clone());
        Shown { name: name.unwrap_or(format!("shown_{at}")), axis: axis.map(|(axis, _)| axis), ..shown.clone() }
    };
    model.shown = model.shown.iter().enumerate().map(named).collect();
    for shown in model.shown.clone() {
        add(model, format!("shown_{}", shown.name), shown.value);
    }
    // Forces between cells have done nothing yet.
    let starts: Vec<ExprId> = (0..model.shown.len()).map(|at| model.init.outputs[model.row(at).index()]).collect();
    let roots = model.started.outputs.clone();
    let new = model.exprs.clone().substitute(&roots, &mut model.exprs, |_, symbol| match symbol {
        Symbol::Neighbour { shown, .. } => Some(starts[usize::from(shown)]),
        _ => None,
    });
    model.started.outputs.iter_mut().for_each(|output| *output = new[*output]);
    let fields = model
        .fields
        .iter()
        .flat_map(|field| field.components.clone().into_iter().map(|value| (field.name.clone(), value)));
    let fields: Vec<(String, ExprId)> = fields.collect();
    let observed =
        model.observables.iter().flat_map(|found| found.names.clone().into_iter().zip(found.components.clone()));
    let observed: Vec<(String, ExprId)> = observed.collect();
    for (is_field, values) in [(true, fields), (false, observed)] {
        for (at, (name, value)) in values.into_iter().enumerate() {
            if !model.exprs.symbols(&[value]).any(|symbol| matches!(symbol, Symbol::Neighbour { .. })) {
                continue;
            }
            let row = add(model, format!("kept_{name}"), value);
            let formulas = if is_field { &mut model.sampled } else { &mut model.observed };
            formulas.outputs[at] = model.exprs.symbol(Symbol::Population(row));
        }
    }
}

/// A further value of each cell: what the collision gives it, and what it is at the start, among cells that have the same.
fn add(model: &mut Model, name: String, value: ExprId) -> Pop {
    let row = Pop(model.q() as u16);
    let shown: Vec<ExprId> = model.shown.iter().map(|shown| shown.value).collect();
    let exprs = &mut model.exprs;
    let alone = exprs.clone().substitute(&[value], exprs, |_, symbol| match symbol {
        Symbol::Neighbour { shown: at, .. } => Some(shown[usize::from(at)]),
        _ => None,
    })[value];
    let formulas = Formulas { lets: Vec::new(), outputs: vec![alone] };
    let start = replaced(exprs, &formulas, &model.init.outputs.clone()).outputs[0];
    model.collide.outputs.push(value);
    model.init.outputs.push(start);
    model.started.outputs.push(start);
    let own = exprs.symbol(Symbol::Population(row));
    for boundary in &mut model.boundaries {
        if let Rule::Link(links) = &mut boundary.rule {
            links.push(own);
        }
    }
    let children = 1 << model.lattice().dim();
    model.couplings.iter_mut().for_each(|coupling| coupling.keep(own, children));
    model.states.push(State { name, range: None, unit: None, doc: String::new() });
    model.hidden += 1;
    row
}
