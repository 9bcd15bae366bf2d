//! Couplings: what crosses a level jump, expanded.
//!
//! In: a program whose names are in order, and the method's own formulas. After: every packet of every population has a
//! value, or the ghosts' and the parents' populations have; rates are parameters of the method.

use std::rc::Rc;

use num_traits::{Pow, Zero};

use crate::ast::{Assign, CouplingDef, Expr, ExprKind, Item, Name, Statement};
use crate::check::arith;
use crate::check::build::Builder;
use crate::check::elaborate::{Elaborator, Eval, Poisoned, Siblings};
use crate::check::formulas::formulas;
use crate::check::program::{Def, ModuleId, Program};
use crate::check::stencils;
use crate::check::value::{Dim, Tensor, Value};
use crate::diag::{Code, Diagnostic, Report, suggest};
use crate::expr::{Expr as Node, ExprId, LevelSymbol, Pop, Rational, Symbol};
use crate::model::levels::{Coupling, Exchange, Rate, Target, Transfer};
use crate::model::{Field, Formulas, Model, Param};
use crate::prove::levels;
use crate::source::Span;

/// Stands for a rate that the method has not.
const MISSING: Symbol = Symbol::Param { param: u16::MAX, component: 0 };

/// Most layers of ghosts.
const MAX_LAYERS: i64 = 64;

/// Most operations of a rate that is written out: what a formula uses twice stands in a manifest twice.
const MAX_RATE: usize = 400;

/// The couplings that the spec defines or chooses and those chosen besides, each with the module that has its text.
fn definitions(program: &Program) -> impl Iterator<Item = Result<(ModuleId, &CouplingDef), &Name>> {
    let own = program.spec().iter().filter_map(|item| match item {
        Item::Coupling(def) => Some(Ok((ModuleId::SPEC, def))),
        Item::CouplingChoice(name) => Some(match program.find(ModuleId::SPEC, &name.text) {
            Some((home, Def::Coupling(def))) => Ok((home, def)),
            _ => Err(name),
        }),
        _ => None,
    });
    own.chain(program.added().filter_map(|(home, def)| match def {
        Def::Coupling(def) => Some(Ok((home, def))),
        _ => None,
    }))
}

/// Reports every law that a coupling of the model breaks.
pub fn laws(program: &Program, model: &Model) -> Result<(), Report> {
    let mut report = Report::new();
    for ((home, def), trial) in definitions(program).flatten().zip(levels::try_all(model)) {
        for violation in trial.violations {
            let source = &program.module(home).source;
            let fault = Diagnostic::new(violation.code, source, def.name.span, violation.label);
            report.push(fault.hint(violation.hint));
        }
    }
    report.propagate()
}

impl Builder<'_> {
    /// The couplings that the spec defines or chooses, and the stencils that they use behind those that the spec chooses.
    pub(super) fn couplings(&mut self, params: &[Param], fields: &[Field], init: &Formulas) -> Vec<Coupling> {
        let program = self.work.program;
        let mut couplings = Vec::new();
        for found in definitions(program) {
            let coupling = match found {
                Ok((home, def)) => {
                    let outer = std::mem::replace(&mut self.work.module, home);
                    let coupling = self.coupling(def, params, fields, init);
                    self.work.module = outer;
                    coupling
                }
                Err(name) => self.no_coupling(name),
            };
            couplings.extend(coupling);
        }
        couplings
    }

    fn no_coupling<T>(&mut self, name: &Name) -> Eval<T> {
        match self.work.program.find(ModuleId::SPEC, &name.text) {
            Some((_, other)) => {
                let label = format!("`{}` is {}, not a coupling", name.text, other.kind());
                self.work.fault(Code::NameKind, name.span, label)
            }
            None => {
                let names = self.work.program.names(ModuleId::SPEC);
                let hint =
                    suggest::did_you_mean(&name.text, names, &format!("import it: `use couplings::{};`", name.text));
                self.work.hinted(Code::Undefined, name.span, "there is no coupling of that name", hint)
            }
        }
    }

    fn coupling(&mut self, def: &CouplingDef, params: &[Param], fields: &[Field], init: &Formulas) -> Eval<Coupling> {
        let (outer_scope, outer_names) = (std::mem::take(&mut self.work.scope), self.names.clone());
        // Fields and what they are made of keep their names: the equilibrium is made of them.
        let outer_entries = self.entries.len();
        self.populations(self.work.populations);
        let varied = self.work.program.spec().iter().filter_map(|item| match item {
            Item::Varied(item) => outer_scope.iter().rev().find(|(name, _)| *name == item.name.text).cloned(),
            _ => None,
        });
        self.work.scope.extend(varied);
        let equilibrium = self.equilibrium(fields, init);
        self.work.scope.push(("equilibrium".into(), equilibrium));
        self.work.slopes = true;
        let packets = def.statements.iter().any(|statement| matches!(statement, Statement::Packet(_)));
        let coupling = match packets {
            true => self.packets(def, params),
            false if !self.work.shown.is_empty() => {
                let label = "this method reads values of the cells around one, which ghosts do not have";
                let hint = "take a coupling of packets: `coupling volumetric_shifted;`, in a case `refinement.coupling = \"volumetric_shifted\"`";
                self.work.hinted(Code::Neighbour, def.name.span, label, hint)
            }
            false => self.ghosts(def, params),
        };
        let coupling = coupling.and_then(|coupling| self.has_its_rates(def, coupling));
        self.work.siblings = None;
        self.work.slopes = false;
        self.entries.truncate(outer_entries);
        self.work.scope = outer_scope;
        self.names = outer_names;
        coupling
    }

    /// What `init` gives for the fields of the populations at hand: those of the first set.
    fn equilibrium(&mut self, fields: &[Field], init: &Formulas) -> Value {
        let exprs = &mut self.work.exprs;
        let new = exprs.clone().substitute(&init.outputs, exprs, |_, symbol| match symbol {
            Symbol::Field { field, component } => Some(fields[usize::from(field)].components[usize::from(component)]),
            _ => None,
        });
        let set = &self.work.populations[0];
        let data = init.outputs[set.range()].iter().map(|id| new[*id]).collect();
        Value::Tensor(Tensor { dims: vec![self.work.dirs(self.work.lattice_of(set))], data })
    }

    /// `rate omega <- ...;` Nothing where the method has no such parameter and the units of those that it has say what they are on the
    /// finer level. Of a parameter that varies the coupling then has the value of the cell at hand, from parameters of the coarser level; on any
    /// other it must not depend.
    fn rate(&mut self, name: &Name, value: &Expr, params: &[Param]) -> Eval<Option<Rate>> {
        let Some(at) = params.iter().position(|param| param.name == name.text && param.components == 1) else {
            if self.work.module != ModuleId::SPEC && params.iter().all(|param| param.unit.is_some()) {
                if !self.work.scope.iter().any(|(known, _)| *known == name.text) {
                    let missing = self.work.exprs.symbol(MISSING);
                    self.work.scope.push((name.text.clone(), Value::Number(missing)));
                }
                return Ok(None);
            }
            self.work.scope.push((name.text.clone(), Value::Poison));
            let label = format!("this method has no parameter `{}`", name.text);
            let names: Vec<&str> = params.iter().map(|param| param.name.as_str()).collect();
            let hint = format!("its parameters are {}: write a coupling for them in the spec", names.join(", "));
            return self.work.hinted(Code::Undefined, name.span, label, hint);
        };
        let symbol = self.work.exprs.symbol(Symbol::Param { param: at as u16, component: 0 });
        self.work.scope.push((name.text.clone(), Value::Number(symbol)));
        let finer = self.work.number(value)?;
        let is_rate = |symbol: Symbol| matches!(symbol, Symbol::Param { param, .. } if params[usize::from(param)].components == 1);
        if self.reads(&[finer], |symbol| !is_rate(symbol)) {
            let label = "this depends on populations or vectors, and a rate is one number for a whole level";
            let hint = "make it from rates of the coarser level: `rate omega <- 2 * omega / (4 - omega);`";
            return self.work.hinted(Code::CouplingForm, value.span, label, hint);
        }
        if self.work.exprs.written_out(finer) > MAX_RATE {
            let label = format!("written out, a rate has at most {MAX_RATE} operations");
            return self.work.fault(Code::TooLarge, value.span, label);
        }
        Ok(Some(Rate { param: at, finer }))
    }

    /// Refuses a coupling that depends on a rate that the method has not.
    fn has_its_rates(&mut self, def: &CouplingDef, mut coupling: Coupling) -> Eval<Coupling> {
        let roots: Vec<ExprId> = coupling.roots_mut().into_iter().map(|root| *root).collect();
        if self.reads(&roots, |symbol| symbol == MISSING) {
            let label = format!("`{}` depends on a rate that is no parameter of this method", def.name.text);
            let hint = "take a coupling of packets, or write one in the spec";
            return self.work.hinted(Code::CouplingForm, def.name.span, label, hint);
        }
        Ok(coupling)
    }

    /// A coupling of packets: everything is expanded for each child in turn, so that `mean` can look at all of them.
    fn packets(&mut self, def: &CouplingDef, params: &[Param]) -> Eval<Coupling> {
        let children = 1usize << self.work.axes();
        let (mut rates, mut assigns, mut failed) = (Vec::new(), Vec::new(), false);
        for statement in &def.statements {
            match statement {
                Statement::Rate(name, value) => match self.rate(name, value, params) {
                    Ok(rate) => rates.extend(rate),
                    Err(Poisoned) => failed = true,
                },
                Statement::Packet(assign) => assigns.push(assign.clone()),
                Statement::Let(_) | Statement::Refine(_) | Statement::Coarsen(_) => {}
                Statement::Ghosts(Expr { span, .. })
                | Statement::Fine(Assign { span, .. })
                | Statement::Coarse(Assign { span, .. }) => {
                    return self.work.fault(Code::CouplingForm, *span, "a coupling has packets or ghosts, not both");
                }
            }
        }
        self.children(true);
        for statement in &def.statements {
            let Statement::Let(item) = statement else { continue };
            let mut of = |child| {
                self.work.become_child(Some(child));
                match self.work.family(&item.name, &item.indices, &item.value) {
                    Ok(tensor) if tensor.dims.is_empty() => Value::Number(tensor.data[0]),
                    Ok(tensor) => Value::Tensor(tensor),
                    Err(Poisoned) => Value::Poison,
                }
            };
            let values: Vec<Value> = (0..children).map(&mut of).collect();
            self.work.become_child(None);
            self.binding(item);
            let siblings = self.work.siblings.as_mut().ok_or(Poisoned)?;
            for (scope, value) in siblings.scopes.iter_mut().zip(values) {
                scope.push((item.name.text.clone(), value));
            }
            siblings.any = self.work.scope.clone();
        }
        let mut values = Vec::new();
        for child in 0..children {
            self.work.become_child(Some(child));
            values.push(self.assigns(&assigns, def.name.span)?);
        }
        if failed {
            return Err(Poisoned);
        }
        // By population, then by child.
        let values = (0..values[0].len()).flat_map(|pop| values.iter().map(move |child| child[pop])).collect();
        let transfer = self.transfer(def)?;
        let exchange = Exchange::Packets { values };
        Ok(Coupling { name: def.name.text.clone(), rates, exchange, transfer, doc: def.doc.clone() })
    }

    /// What holds for each child in turn: the names that a coupling has so far, and where the child lies.
    fn children(&mut self, kinds: bool) {
        let (axes, outer) = (self.work.axes(), self.work.scope.clone());
        let exprs = &mut self.work.exprs;
        let mut scope = |child: Option<usize>| {
            let mut scope = outer.clone();
            if kinds {
                let kind = LevelSymbol::Kind { child: child.unwrap_or(0) as u8 };
                scope.push(("kind".into(), Value::Number(exprs.symbol(Symbol::Level(kind)))));
            }
            let place = |axis: usize| match child {
                Some(child) => {
                    exprs.constant(Rational::new(if child >> axis & 1 == 1 { 1 } else { -1 }.into(), 4.into()))
                }
                None => exprs.symbol(Symbol::Level(LevelSymbol::Position { axis: axis as u8 })),
            };
            let position: Rc<[ExprId]> = (0..axes).map(place).collect();
            scope.push(("position".into(), Value::Tensor(Tensor { dims: vec![Dim::Axes(axes)], data: position })));
            scope
        };
        let scopes = (0..1usize << axes).map(|child| scope(Some(child))).collect();
        let any = scope(None);
        self.work.siblings = Some(Siblings { scopes, any });
    }

    /// `refine` and `coarsen`, once what holds for children is known.
    fn transfer(&mut self, def: &CouplingDef) -> Eval<Transfer> {
        let (mut refine, mut coarsen) = (Vec::new(), Vec::new());
        for statement in &def.statements {
            match statement {
                Statement::Refine(assign) => refine.push(assign.clone()),
                Statement::Coarsen(assign) => coarsen.push(assign.clone()),
                _ => {}
            }
        }
        if refine.is_empty() && coarsen.is_empty() {
            let all: usize = self.work.populations.iter().map(|set| set.lattice.q()).sum();
            let own =
                (0..all + self.states.len()).map(|pop| self.work.exprs.symbol(Symbol::Population(Pop(pop as u16))));
            let own: Vec<_> = own.collect();
            let [refine, coarsen] = [false, true].map(|coarser| {
                let outputs = self.on_other_level(own.clone(), coarser);
                Formulas { lets: Vec::new(), outputs }
            });
            return Ok(Transfer { refine, coarsen });
        }
        if refine.is_empty() || coarsen.is_empty() {
            let label = "this coupling says only one of `refine` and `coarsen`";
            return self.work.fault(Code::CouplingForm, def.name.span, label);
        }
        self.work.become_child(None);
        let (refined, coarsened) = (self.assigns(&refine, def.name.span)?, self.assigns(&coarsen, def.name.span)?);
        let (refined, coarsened) = (self.on_other_level(refined, false), self.on_other_level(coarsened, true));
        for (values, assigns) in [(&refined, &refine), (&coarsened, &coarsen)] {
            let label = if self.reads(values, |symbol| matches!(symbol, Symbol::Level(LevelSymbol::Kind { .. }))) {
                "this depends on `kind`, and what changes its level is no packet"
            } else if self.reads(values, |symbol| matches!(symbol, Symbol::Param { .. })) {
                "this depends on a parameter, and cells that change their level are not given any"
            } else {
                continue;
            };
            return self.work.fault(Code::CouplingForm, assigns[0].span, label);
        }
        if self.reads(&coarsened, |symbol| matches!(symbol, Symbol::Level(LevelSymbol::Position { .. }))) {
            let label = "this depends on `position`, and the cell that takes the place of its children has none";
            return self.work.fault(Code::CouplingForm, coarsen[0].span, label);
        }
        let [refine, coarsen] = [refined, coarsened].map(|outputs| formulas(&self.work.exprs, &self.entries, &outputs));
        Ok(Transfer { refine, coarsen })
    }

    /// A coupling of ghosts: formulas of one cell, interpolated or averaged.
    fn ghosts(&mut self, def: &CouplingDef, params: &[Param]) -> Eval<Coupling> {
        let (mut rates, mut layers, mut stencil, mut failed) = (Vec::new(), None, None, false);
        let (mut fine, mut coarse) = (Vec::new(), Vec::new());
        for statement in &def.statements {
            let done = match statement {
                Statement::Rate(name, value) => self.rate(name, value, params).map(|rate| rates.extend(rate)),
                Statement::Let(item) => {
                    self.binding(item);
                    Ok(())
                }
                Statement::Ghosts(count) => self.layers(count).map(|count| layers = Some(count)),
                Statement::Fine(assign) => self.interpolated(assign, &mut stencil).map(|assign| fine.push(assign)),
                Statement::Coarse(assign) => self.averaged(assign).map(|assign| coarse.push(assign)),
                Statement::Packet(_) | Statement::Refine(_) | Statement::Coarsen(_) => Ok(()),
            };
            failed |= done.is_err();
        }
        if failed {
            return Err(Poisoned);
        }
        let (Some(layers), Some(stencil), false) = (layers, stencil, coarse.is_empty()) else {
            let label = "this coupling does not define the transfer in both directions";
            return self.work.fault(Code::CouplingForm, def.name.span, label);
        };
        let [fine, coarse] = [(fine, false), (coarse, true)].map(|(assigns, coarser)| {
            let outputs = self.assigns(&assigns, def.name.span)?;
            let outputs = self.on_other_level(outputs, coarser);
            if self.reads(&outputs, |symbol| matches!(symbol, Symbol::Level(LevelSymbol::Slope { .. }))) {
                let label = "this depends on a slope, and what is interpolated or averaged is that of one cell";
                return self.work.fault(Code::CouplingForm, assigns[0].span, label);
            }
            Ok(Formulas { lets: formulas(&self.work.exprs, &self.entries, &outputs).lets, outputs })
        });
        let exchange = Exchange::Ghosts { layers, stencil, fine: fine?, coarse: coarse? };
        self.children(false);
        let transfer = self.transfer(def)?;
        Ok(Coupling { name: def.name.text.clone(), rates, exchange, transfer, doc: def.doc.clone() })
    }

    /// States as they are on the next finer level, or on the next coarser one, as their units say; populations as they are.
    fn on_other_level(&mut self, mut outputs: Vec<ExprId>, coarser: bool) -> Vec<ExprId> {
        let first = outputs.len() - self.states.len();
        for (output, state) in outputs[first..].iter_mut().zip(&self.states) {
            let finer = state.unit.map_or(0, |unit| unit.length + unit.time);
            let power = if coarser { -finer } else { finer };
            let two = Rational::from_integer(2.into());
            let factor = self.work.exprs.constant(Pow::pow(two, power));
            *output = arith::mul(&mut self.work.exprs, factor, *output);
        }
        outputs
    }

    fn layers(&mut self, count: &Expr) -> Eval<usize> {
        let layers = self.work.whole(count)?;
        if !(1..=MAX_LAYERS).contains(&layers) {
            return self.work.fault(Code::OutOfRange, count.span, format!("layers go from 1 to {MAX_LAYERS}"));
        }
        Ok(layers as usize)
    }

    /// `fine f[i] <- stencil(formula);` without the stencil, which is the same for all of them.
    fn interpolated(&mut self, assign: &Assign, stencil: &mut Option<usize>) -> Eval<Assign> {
        if let ExprKind::Name { name, indices, args: Some(args) } = &assign.value.kind
            && let (true, [formula]) = (indices.is_empty(), &args[..])
        {
            let found = self.work.stencil(name)?;
            let target = self.work.stencils[found].target();
            if !target.is_of_a_child() {
                let label = format!("`{}` gives the {target}, not that of a child", name.text);
                let hint =
                    "a child has its centre at 1/4 and reaches from 0 to 1/2: `value at 1/4;` or `mean over (0, 1/2);`";
                return self.work.hinted(Code::CouplingForm, name.span, label, hint);
            }
            if stencil.is_some_and(|other| other != found) {
                return self.work.fault(Code::CouplingForm, name.span, "a second stencil: ghosts are filled by one");
            }
            *stencil = Some(found);
            return Ok(Assign { value: formula.clone(), ..assign.clone() });
        }
        let label = "this is not interpolated";
        self.work.fault(Code::CouplingForm, assign.value.span, label)
    }

    /// `coarse f[i] <- mean(formula);` without the mean.
    fn averaged(&mut self, assign: &Assign) -> Eval<Assign> {
        if let ExprKind::Name { name, indices, args: Some(args) } = &assign.value.kind
            && let ("mean", true, [formula]) = (name.text.as_str(), indices.is_empty(), &args[..])
        {
            return Ok(Assign { value: formula.clone(), ..assign.clone() });
        }
        let label = "this is not a mean over the children";
        self.work.fault(Code::CouplingForm, assign.value.span, label)
    }
}

impl Elaborator<'_> {
    /// Puts the names of a child in scope, or those of any.
    fn become_child(&mut self, child: Option<usize>) {
        if let Some(Siblings { scopes, any }) = &self.siblings {
            self.scope = child.map_or(any, |child| &scopes[child]).clone();
        }
    }

    /// `mean(x)` in a packet: over the packets of the same population of the same cell.
    pub(super) fn mean(&mut self, span: Span, args: &[Expr]) -> Eval<Value> {
        let (Some(siblings), [arg]) = (self.siblings.clone(), args) else {
            let label = "`mean` takes one formula, and stands in a packet or around a coarse population";
            return self.fault(Code::CouplingForm, span, label);
        };
        let outer = std::mem::take(&mut self.scope);
        // Indices that are bound here stand behind what every child has.
        let known = siblings.scopes[0].len().min(outer.len());
        let mut total = Ok(self.exprs.int(0));
        for scope in &siblings.scopes {
            self.scope = scope.iter().chain(&outer[known..]).cloned().collect();
            let value = self.number(arg);
            total = total.and_then(|total| Ok(arith::add(&mut self.exprs, total, value?)));
        }
        self.scope = outer;
        let weight = self.exprs.constant(Rational::new(1.into(), siblings.scopes.len().into()));
        Ok(Value::Number(arith::mul(&mut self.exprs, weight, total?)))
    }

    /// `slope[a](f[i])` in a coupling: a derivative of a population at the cell at hand.
    pub(super) fn sampled(&mut self, span: Span, name: &Name, indices: &[Expr], args: &[Expr]) -> Eval<Value> {
        let stencil = self.stencil(name)?;
        let form = format!("write the slope of a population along an axis: `{}[a](f[i])`", name.text);
        let ([axis], [of], true) = (indices, args, self.slopes) else {
            return self.hinted(Code::CouplingForm, span, "a stencil cannot be applied like this here", form);
        };
        let Target::Derivative(at) = self.stencils[stencil].target() else {
            let label = format!("`{}` gives no derivative", name.text);
            return self.hinted(Code::CouplingForm, name.span, label, form);
        };
        if !at.is_zero() {
            return self.hinted(
                Code::CouplingForm,
                name.span,
                "this derivative is not that at the cell's centre",
                form,
            );
        }
        let axis = self.whole(axis)?;
        let Some(axis) = u8::try_from(axis).ok().filter(|axis| usize::from(*axis) < self.axes()) else {
            return self.fault(Code::OutOfRange, indices[0].span, format!("{axis} is no axis"));
        };
        let of = self.number(of)?;
        let Node::Symbol(Symbol::Population(pop)) = *self.exprs.get(of) else {
            return self.hinted(Code::CouplingForm, args[0].span, "this is not one population", form);
        };
        let symbol = LevelSymbol::Slope { stencil: stencil as u8, axis, pop };
        Ok(Value::Number(self.exprs.symbol(Symbol::Level(symbol))))
    }

    /// The position of a stencil in the list of those of the model, which it joins.
    fn stencil(&mut self, name: &Name) -> Eval<usize> {
        let found = stencils::find(self.program, self.module, name);
        if let Ok((_, def)) = found
            && let Some((_, at)) = self.applied.iter().find(|(applied, _)| std::ptr::eq(*applied, def))
        {
            return Ok(*at);
        }
        let built = found.and_then(|(home, def)| Ok((def, stencils::build(&self.program.module(home).source, def)?)));
        let (def, stencil) = match built {
            Ok(built) => built,
            Err(fault) => {
                self.report.push(*fault);
                return Err(Poisoned);
            }
        };
        let at = match self.stencils.iter().position(|other| other.name() == stencil.name()) {
            Some(at) if self.stencils[at] == stencil => at,
            Some(_) => {
                let label = format!("the spec has another stencil `{}`", name.text);
                return self.fault(Code::Duplicate, name.span, label);
            }
            None if self.stencils.len() == usize::from(u8::MAX) => {
                return self.fault(Code::TooLarge, name.span, "more than 255 stencils");
            }
            None => {
                self.stencils.push(stencil);
                self.stencils.len() - 1
            }
        };
        self.applied.push((def, at));
        Ok(at)
    }
}
