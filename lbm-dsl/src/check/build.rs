//! From statements to a [`Model`].
//!
//! In: a program whose names are in order, and its sets of populations. After: every output is defined once, `init` reads no population,
//! a boundary rule defines every unknown population and reads none (see `walls`). The physics is not looked at.

use std::rc::Rc;

use crate::ast::{
    Absorbing, Assign, Binder, Block, Component, Expr, Item, Let, Name, ObserveDef, ParamDef, Range, Target,
};
use crate::check::arith;
use crate::check::elaborate::{Elaborator, Eval, Poisoned};
use crate::check::formulas::{Entry, formulas};
use crate::check::naming::{self, Names};
use crate::check::program::{ModuleId, Program};
use crate::check::stencils;
use crate::check::value::{Dim, LatticeId, Tensor, Value};
use crate::diag::{Code, Report};
use crate::expr::{ExprId, Pop, Symbol};
use crate::lattice::Dir;
use crate::model::{Conserved, Field, Formulas, Law, Model, Observable, Param, Populations, State};
use crate::rational::Rational;
use crate::source::Span;
use crate::unit::Unit;

/// Most populations and states of a cell.
pub(super) const MOST_VALUES: usize = 255;

/// The model that the spec describes.
pub fn model(program: &Program, populations: &[Populations]) -> Result<Model, Report> {
    let work = Elaborator::new(program, populations);
    let mut builder = Builder { work, entries: Vec::new(), names: Names::default(), states: Vec::new() };
    let built = builder.model();
    builder.work.report.propagate()?;
    // An error without a reason would be a bug of ours; it must not pass as success.
    built.map_err(|Poisoned| Report::new())
}

pub(super) struct Builder<'a> {
    pub(super) work: Elaborator<'a>,
    pub(super) entries: Vec<Entry>,
    pub(super) names: Names,
    pub(super) states: Vec<Known>,
}

/// What is known of a state.
pub(super) struct Known {
    pub(super) name: String,
    pub(super) unit: Option<Unit>,
    /// Whether it stays what a field of that name gives.
    place: bool,
}

impl Builder<'_> {
    fn model(&mut self) -> Eval<Model> {
        let spec = self.work.program.spec();
        let (program, populations) = (self.work.program, self.work.populations);
        let source = self.work.source();

        let mut params = Vec::new();
        for item in spec {
            if let Item::Param(def) = item {
                let at = params.len() as u16;
                params.push(self.param(def, &|component| Symbol::Param { param: at, component }));
            }
        }
        self.populations(populations);
        let states = self.states();
        self.work.looks_around = true;
        for item in spec {
            match item {
                Item::Let(item) | Item::Varied(item) => self.binding(item),
                Item::Observe(ObserveDef { value: Some(value), .. }) => self.binding(value),
                _ => {}
            }
        }
        self.work.looks_around = false;
        let own = spec.iter().filter_map(|item| match item {
            Item::Field(name) => Some((name, false)),
            _ => None,
        });
        let places = spec.iter().filter_map(|item| match item {
            Item::Place(name) => Some((name, true)),
            _ => None,
        });
        let named = own.chain(places);
        let fields: Vec<Field> =
            named.filter_map(|(name, place)| Some(Field { place, ..self.field(name).ok()? })).collect();
        let vectors: Vec<Field> = spec
            .iter()
            .filter_map(|item| match item {
                Item::Let(Let { name, indices, .. }) | Item::Varied(Let { name, indices, .. }) => match indices[..] {
                    [Binder { range: Range::Axes, .. }] => self.field(name).ok(),
                    _ => None,
                },
                _ => None,
            })
            .collect();
        let stated: Vec<Conserved> = spec
            .iter()
            .filter_map(|item| match item {
                Item::Conserve(name) => {
                    let Field { name, components, .. } = self.field(name).ok()?;
                    Some(Conserved { law: Law::Stated, name, components })
                }
                _ => None,
            })
            .collect();
        self.complete();
        let outputs: Vec<ExprId> = fields.iter().flat_map(|field| field.components.clone()).collect();
        let macroscopic = formulas(&self.work.exprs, &self.entries, &outputs);
        let observables: Vec<Observable> = spec
            .iter()
            .filter_map(|item| match item {
                Item::Observe(def) => self.observable(def).ok(),
                _ => None,
            })
            .collect();
        let observables = self.with_states(observables, states.as_deref().unwrap_or_default());
        let outputs: Vec<ExprId> = observables.iter().flat_map(|found| found.components.clone()).collect();
        let observed = formulas(&self.work.exprs, &self.entries, &outputs);

        let init = self.part("init", |item| if let Item::Init(block) = item { Some(block) } else { None });
        let init = init.and_then(|block| self.init(&block, &fields));
        let absorbing = spec.iter().find_map(|item| if let Item::Absorbing(def) = item { Some(def) } else { None });
        let absorbed = absorbing.zip(init.as_ref().ok()).map(|(def, init)| self.absorbed(def, &fields, init));
        let collide = self.part("collide", |item| if let Item::Collide(block) = item { Some(block) } else { None });
        self.work.looks_around = true;
        let collide = collide.and_then(|block| self.whole_block(&block));
        self.work.looks_around = false;
        let boundaries = self.boundaries();
        let none = spec.iter().find_map(|item| if let Item::ConserveNone(name) = item { Some(name) } else { None });
        if let (Some(none), [first, ..]) = (none, &stated[..]) {
            let label = format!("`{}` is conserved, the spec says", first.name);
            self.work.fault::<()>(Code::RepeatedPart, none.span, label).ok();
        }
        let conserved = if stated.is_empty() && none.is_none() { self.usual_laws() } else { stated };
        match stencils::chosen(program) {
            Ok(stencils) => self.work.stencils = stencils,
            Err(faults) => self.work.report.merge(faults),
        }

        if !self.work.report.is_empty() {
            return Err(Poisoned);
        }
        let (params, init) = (params.into_iter().collect::<Eval<Vec<_>>>()?, init?);
        let states = states?;
        let shown = self.shown();
        let couplings = self.couplings(&params, &fields, &init);
        let criteria = self.criteria(&fields);
        if !self.work.report.is_empty() {
            return Err(Poisoned);
        }
        let mut model = Model {
            name: source.stem().into(),
            summary: program.module(ModuleId::SPEC).ast.summary.clone(),
            populations: populations.to_vec(),
            states,
            shown,
            hidden: 0,
            around: None,
            params,
            fields,
            conserved,
            vectors,
            exprs: std::mem::take(&mut self.work.exprs),
            macroscopic,
            observables,
            observed,
            asked: 0,
            init,
            sampled: Formulas::default(),
            started: Formulas::default(),
            collide: collide?,
            absorbed: absorbed.transpose()?.unwrap_or_default(),
            boundaries,
            stencils: std::mem::take(&mut self.work.stencils),
            couplings,
            criteria,
            warnings: Vec::new(),
        };
        crate::check::formulas::compact(&mut model);
        Ok(model)
    }

    /// Every population as an absorbing layer leaves it: moved towards that of `init` with the density and the velocity far away. Fields of
    /// other names are those of the cell.
    fn absorbed(&mut self, def: &Absorbing, fields: &[Field], init: &Formulas) -> Eval<Vec<ExprId>> {
        let [rate, density, velocity] = [&def.rate, &def.density, &def.velocity].map(|name| self.field(name));
        let (rate, density, velocity) = (rate?.components[0], density?.components, velocity?.components);
        let moving: usize = self.work.populations.iter().map(|set| set.lattice.q()).sum();
        let exprs = &mut self.work.exprs;
        let value = |field: &Field, component: u8| {
            let far = match &field.name[..] {
                "rho" => &density,
                "u" => &velocity,
                _ => &field.components,
            };
            far.get(usize::from(component)).copied()
        };
        let far = exprs.clone().substitute(&init.outputs[..moving], exprs, |_, symbol| match symbol {
            Symbol::Field { field, component } => value(&fields[usize::from(field)], component),
            _ => None,
        });
        let absorbed = |(at, far): (usize, ExprId)| {
            let own = exprs.symbol(Symbol::Population(Pop(at as u16)));
            let apart = exprs.minus(far, own);
            let part = exprs.times(rate, apart);
            exprs.plus(own, part)
        };
        Ok(init.outputs[..moving].iter().map(|output| far[*output]).enumerate().map(absorbed).collect())
    }

    /// Reports the parts that every method has and this one lacks.
    fn complete(&mut self) {
        let has = |is: fn(&Item) -> bool| self.work.program.spec().iter().any(is);
        let parts = [
            ("field", "`field rho;`", has(|item| matches!(item, Item::Field(_)))),
            ("init", "`init f[i] <- ...;`", has(|item| matches!(item, Item::Init(_)))),
            ("collide", "`collide { f[i] <- ...; }`", has(|item| matches!(item, Item::Collide(_)))),
        ];
        let missing: Vec<_> = parts.into_iter().filter(|(.., present)| !present).collect();
        if !missing.is_empty() {
            let words: Vec<String> = missing.iter().map(|(word, ..)| format!("`{word}`")).collect();
            let forms: Vec<&str> = missing.iter().map(|(_, form, _)| *form).collect();
            let label = format!("this spec has no {}", words.join(", no "));
            let hint = format!("write {}", forms.join(" and "));
            let _ = self.work.hinted::<()>(Code::MissingPart, Span::new(0, 0), label, hint);
        }
    }

    /// The one block of a kind.
    fn part(&mut self, word: &str, pick: impl Fn(&Item) -> Option<&Block>) -> Eval<Block> {
        let mut blocks = self.work.program.spec().iter().filter_map(pick);
        let first = blocks.next().ok_or(Poisoned)?;
        if let Some(second) = blocks.next() {
            let _ = self.work.fault::<()>(Code::RepeatedPart, second.span, format!("a second `{word}`"));
        }
        Ok(first.clone())
    }

    /// Puts populations in scope.
    pub(super) fn populations(&mut self, sets: &[Populations]) {
        for set in sets {
            let dirs = set.lattice.dirs();
            let data = dirs.map(|dir| self.work.exprs.symbol(Symbol::Population(set.pop(dir)))).collect();
            let dims = vec![self.work.dirs(self.work.lattice_of(set))];
            self.work.scope.push((set.name.clone(), Value::Tensor(Tensor { dims, data })));
        }
    }

    /// States, in scope from now on: they are counted on from the populations.
    fn states(&mut self) -> Eval<Vec<State>> {
        let first: usize = self.work.populations.iter().map(|set| set.lattice.q()).sum();
        let mut states = Vec::new();
        for item in self.work.program.spec() {
            let of_place = |name: &Name| {
                let (name, doc) = (name.clone(), "value of the place".to_string());
                ParamDef { name, indices: vec![], default: None, range: None, unit: None, doc }
            };
            let (def, place) = match item {
                Item::State(def) => (def, false),
                Item::Place(name) => (&of_place(name), true),
                _ => continue,
            };
            let at = first + self.states.len();
            if at >= MOST_VALUES {
                let label = format!("a cell has at most {MOST_VALUES} populations and states");
                return self.work.fault(Code::LatticeSize, def.name.span, label);
            }
            if let Some(binder) = def.indices.first() {
                return self.work.fault(Code::NotScalar, binder.name.span, "a state is a number");
            }
            let param = self.param(def, &|_| Symbol::Population(Pop(at as u16)));
            self.states.push(Known { name: def.name.text.clone(), unit: def.unit, place });
            states.push(param.map(|Param { name, range, unit, doc, .. }| State { name, range, unit, doc }));
        }
        states.into_iter().collect()
    }

    /// What a collision conserves unless the spec says otherwise: the sum of each set, and the momentum of the first.
    fn usual_laws(&mut self) -> Vec<Conserved> {
        let mut laws = Vec::new();
        let sets = self.work.populations;
        for (at, set) in sets.iter().enumerate() {
            let name = if at == 0 { "sum(i: f[i])".into() } else { format!("sum(i in {0}: {0}[i])", set.name) };
            laws.push(Conserved { law: Law::Sum(at), name, components: vec![self.moment(set, |_| 1)] });
        }
        let momentum = (0..self.work.axes()).map(|axis| self.moment(&sets[0], |c| c[axis])).collect();
        laws.push(Conserved { law: Law::Momentum, name: "sum(i: c[i, a] * f[i])".into(), components: momentum });
        laws
    }

    /// The sum over the directions of `factor(velocity)` times the population.
    fn moment(&mut self, set: &Populations, factor: impl Fn(&[i32]) -> i32) -> ExprId {
        let exprs = &mut self.work.exprs;
        let mut sum = exprs.int(0);
        for dir in set.lattice.dirs() {
            let population = exprs.symbol(Symbol::Population(set.pop(dir)));
            let factor = exprs.int(factor(set.lattice.velocity(dir)).into());
            let term = arith::mul(exprs, factor, population);
            sum = arith::add(exprs, sum, term);
        }
        sum
    }

    /// A parameter, in scope from now on.
    pub(super) fn param(&mut self, def: &ParamDef, symbol: &dyn Fn(u8) -> Symbol) -> Eval<Param> {
        self.work.scope.push((def.name.text.clone(), Value::Poison));
        let dims = def.indices.iter().map(|binder| self.work.dim(binder)).collect::<Eval<Vec<Dim>>>()?;
        if !matches!(dims[..], [] | [Dim::Axes(_)]) {
            return self.work.fault(
                Code::NotScalar,
                def.name.span,
                "a parameter is a number or a vector over the axes",
            );
        }
        let components = dims.first().map_or(1, |dim| dim.len());
        let data: Rc<[ExprId]> = (0..components as u8).map(|at| self.work.exprs.symbol(symbol(at))).collect();
        let value =
            if dims.is_empty() { Value::Number(data[0]) } else { Value::Tensor(Tensor { dims: dims.clone(), data }) };
        for component in 0..components {
            self.names.unique(naming::component(&def.name.text, &dims, component));
        }
        let range = match &def.range {
            Some((low, high)) => {
                let span = low.span.to(high.span);
                let (low, high) = (self.work.rational(low)?, self.work.rational(high)?);
                if low >= high {
                    return self.work.fault(Code::OutOfRange, span, "this interval is empty");
                }
                Some((low, high))
            }
            None => None,
        };
        let default = def.default.as_ref().map(|value| self.default(value, range.as_ref())).transpose()?;
        if let Some((_, slot)) = self.work.scope.last_mut() {
            *slot = value;
        }
        Ok(Param { name: def.name.text.clone(), components, default, range, unit: def.unit, doc: def.doc.clone() })
    }

    /// A value that a parameter has where none is given: one that could be given.
    fn default(&mut self, value: &Expr, range: Option<&(Rational, Rational)>) -> Eval<Rational> {
        let default = self.work.rational(value)?;
        match range {
            Some((low, high)) if default <= *low || default >= *high => {
                let label = format!("{default} is not between {low} and {high}");
                self.work.fault(Code::DefaultRange, value.span, label)
            }
            _ => Ok(default),
        }
    }

    /// A value, in scope from now on.
    pub(super) fn binding(&mut self, item: &Let) {
        let Ok(tensor) = self.work.family(&item.name, &item.indices, &item.value) else {
            self.work.scope.push((item.name.text.clone(), Value::Poison));
            return;
        };
        let source = self.work.source();
        let line = source.position(item.name.span.start).line;
        for (at, value) in tensor.data.iter().enumerate() {
            let name = self.names.unique(naming::component(&item.name.text, &tensor.dims, at));
            let indexed = tensor.dims.iter().any(|dim| !matches!(dim, Dim::Axes(_)));
            self.entries.push(Entry {
                name,
                family: item.name.text.clone(),
                value: *value,
                line,
                file: source.file().into(),
                indexed,
            });
        }
        let value = if tensor.dims.is_empty() { Value::Number(tensor.data[0]) } else { Value::Tensor(tensor) };
        self.work.scope.push((item.name.text.clone(), value));
    }

    /// A number, a vector, or a symmetric tensor, of which each component is listed once: xx, xy, yy.
    fn observable(&mut self, def: &ObserveDef) -> Eval<Observable> {
        let found = self.work.scope.iter().rev().find(|(other, _)| *other == def.name.text);
        let (components, dims) = match found.map(|(_, value)| value.clone()) {
            Some(Value::Number(id)) => (vec![id], vec![]),
            Some(Value::Tensor(tensor)) => (tensor.data.to_vec(), tensor.dims),
            Some(Value::Poison) | None => return Err(Poisoned),
            Some(other) => {
                let label = format!("`{}` is {}", def.name.text, other.describe());
                return self.work.fault(Code::ObservableRank, def.name.span, label);
            }
        };
        let state = self.states.iter().find(|state| state.name == def.name.text);
        let unit = def.unit.or(state.and_then(|state| state.unit));
        let axes = self.work.axes();
        let places = match dims[..] {
            [] => vec![0],
            [Dim::Axes(_)] => (0..axes).collect(),
            [Dim::Axes(_), Dim::Axes(_)] => {
                // At values of its symbols that have nothing to do with each other.
                let known: Vec<Symbol> = self.work.exprs.symbols(&components).collect();
                let value = |symbol: Symbol| {
                    let at = known.iter().position(|other| *other == symbol).unwrap_or(0);
                    0.3 + (1.0 + at as f64 * 0.754_877_666).fract() / 2.0
                };
                let values = self.work.exprs.eval::<f64>(&components, value);
                let size = values.iter().fold(1.0, |most: f64, value| most.max(value.abs()));
                let pairs = (0..axes).flat_map(|a| (0..a).map(move |b| (a, b)));
                for (a, b) in pairs {
                    if (values[a * axes + b] - values[b * axes + a]).abs() > 1e-9 * size {
                        let label = "a tensor that is not symmetric";
                        return self.work.fault(Code::ObservableRank, def.name.span, label);
                    }
                }
                (0..axes).flat_map(|a| (a..axes).map(move |b| a * axes + b)).collect()
            }
            _ => {
                let label = format!("`{}` has other indices than axes, or more than two", def.name.text);
                return self.work.fault(Code::ObservableRank, def.name.span, label);
            }
        };
        let names = places.iter().map(|at| naming::component(&def.name.text, &dims, *at)).collect();
        let components = places.into_iter().map(|at| components[at]).collect();
        Ok(Observable { name: def.name.text.clone(), names, unit, components, doc: def.doc.clone() })
    }

    /// Observables, and as further ones the states that are none yet.
    fn with_states(&mut self, mut observables: Vec<Observable>, states: &[State]) -> Vec<Observable> {
        let first: usize = self.work.populations.iter().map(|set| set.lattice.q()).sum();
        for (at, State { name, unit, doc, .. }) in states.iter().enumerate() {
            if self.states[at].place || observables.iter().any(|known| known.name == *name) {
                continue;
            }
            let value = self.work.exprs.symbol(Symbol::Population(Pop((first + at) as u16)));
            let (names, components) = (vec![name.clone()], vec![value]);
            observables.push(Observable { name: name.clone(), names, unit: *unit, components, doc: doc.clone() });
        }
        observables
    }

    fn field(&mut self, name: &Name) -> Eval<Field> {
        let found = self.work.scope.iter().rev().find(|(other, _)| *other == name.text).map(|(_, value)| value.clone());
        let components = match found {
            Some(Value::Poison) => return Err(Poisoned),
            Some(Value::Number(id)) => vec![id],
            Some(Value::Tensor(tensor)) if matches!(tensor.dims[..], [Dim::Axes(_)]) => tensor.data.to_vec(),
            Some(other) => {
                return self.work.fault(Code::FieldRank, name.span, format!("`{}` is {}", name.text, other.describe()));
            }
            None => return self.work.fault(Code::Undefined, name.span, format!("there is no `let {}`", name.text)),
        };
        Ok(Field { name: name.text.clone(), components, place: false })
    }

    /// `init`: the fields are given, everything that reads a population is not.
    fn init(&mut self, block: &Block, fields: &[Field]) -> Eval<Formulas> {
        let outer = self.work.scope.clone();
        let sets = self.work.populations;
        self.work.scope.retain(|(name, _)| !sets.iter().any(|set| set.name == *name));
        for (at, field) in fields.iter().enumerate() {
            let value = self.work.field(at, field);
            self.work.scope.push((field.name.clone(), value));
        }
        let entries = self.entries.len();
        for item in self.work.program.spec() {
            if let Item::Varied(item) = item {
                self.binding(item);
            }
        }
        let formulas = self.whole_block(block);
        self.work.scope = outer;
        self.entries.truncate(entries);
        let formulas = self.placed(formulas?, fields);
        let population = |symbol| matches!(symbol, Symbol::Population(_) | Symbol::Neighbour { .. });
        if self.work.exprs.symbols(&formulas.outputs).any(population) {
            let hint = "only fields and parameters are given here: write the formula in terms of them";
            let span = block.assigns.first().map_or(block.span, |assign| assign.value.span);
            return self.work.hinted(Code::InitReads, span, "this reads values made from populations", hint);
        }
        Ok(formulas)
    }

    /// Formulas with the fields that give them in the place of states that stay what they are.
    fn placed(&mut self, mut formulas: Formulas, fields: &[Field]) -> Formulas {
        let first = self.work.populations.iter().map(|set| set.lattice.q()).sum::<usize>();
        let field = |pop: Pop| {
            let state = self.states.get(pop.index().checked_sub(first)?).filter(|state| state.place)?;
            fields.iter().position(|field| field.place && field.name == state.name)
        };
        let roots: Vec<ExprId> =
            formulas.lets.iter().map(|item| item.value).chain(formulas.outputs.iter().copied()).collect();
        let exprs = &mut self.work.exprs;
        let new = exprs.clone().substitute(&roots, exprs, |exprs, symbol| match symbol {
            Symbol::Population(pop) => {
                field(pop).map(|field| exprs.symbol(Symbol::Field { field: field as u16, component: 0 }))
            }
            _ => None,
        });
        formulas.lets.iter_mut().for_each(|item| item.value = new[item.value]);
        formulas.outputs.iter_mut().for_each(|output| *output = new[*output]);
        formulas
    }

    /// Values and assignments of a block that gives every state too.
    fn whole_block(&mut self, block: &Block) -> Eval<Formulas> {
        let given = |name: &str| block.assigns.iter().any(|assign| assign.populations.text == name);
        if let Some(Known { name, .. }) = self.states.iter().find(|state| !state.place && !given(&state.name)) {
            let (label, hint) = (format!("nothing defines the state `{name}`"), format!("write `{name} <- ...;`"));
            return self.work.hinted(Code::OutputMissing, block.span, label, hint);
        }
        self.block(block)
    }

    /// Values and assignments of a block. States that it does not give stay what they are.
    pub(super) fn block(&mut self, block: &Block) -> Eval<Formulas> {
        let (scope, entries) = (self.work.scope.len(), self.entries.len());
        for item in &block.lets {
            self.binding(item);
        }
        let outputs = self.assigns(&block.assigns, block.span);
        let formulas = outputs.map(|outputs| {
            let lets = formulas(&self.work.exprs, &self.entries, &outputs).lets;
            Formulas { lets, outputs }
        });
        self.work.scope.truncate(scope);
        self.entries.truncate(entries);
        formulas
    }

    /// One value for each population and state that an assignment defines.
    pub(super) fn assigned(&mut self, assigns: &[Assign]) -> Eval<Vec<Option<ExprId>>> {
        let sets = self.work.populations;
        let moving: usize = sets.iter().map(|set| set.lattice.q()).sum();
        let mut outputs: Vec<Option<ExprId>> = vec![None; moving + self.states.len()];
        let mut failed = false;
        for assign in assigns {
            failed |= self.assign(assign, &mut outputs).is_err();
        }
        if failed { Err(Poisoned) } else { Ok(outputs) }
    }

    /// One value for each population and state.
    pub(super) fn assigns(&mut self, assigns: &[Assign], span: Span) -> Eval<Vec<ExprId>> {
        let mut outputs = self.assigned(assigns)?;
        let first = outputs.len() - self.states.len();
        for (at, output) in outputs.iter_mut().enumerate().skip(first) {
            output.get_or_insert_with(|| self.work.exprs.symbol(Symbol::Population(Pop(at as u16))));
        }
        for set in self.work.populations {
            let dirs = set.lattice.dirs();
            let missing: Vec<_> = dirs.filter(|dir| outputs[set.pop(*dir).index()].is_none()).collect();
            if let Some(first) = missing.first() {
                let name = &set.name;
                let velocity: Vec<String> = set.lattice.velocity(*first).iter().map(i32::to_string).collect();
                let rest = if missing.len() > 1 { format!(" and {} more", missing.len() - 1) } else { String::new() };
                let label = format!("nothing defines {name}[({})]{rest}", velocity.join(", "));
                let hint = format!("`{name}[i] <- ...;` defines all of them");
                return self.work.hinted(Code::OutputMissing, span, label, hint);
            }
        }
        Ok(outputs.into_iter().flatten().collect())
    }

    fn assign_state(&mut self, assign: &Assign, outputs: &mut [Option<ExprId>]) -> Eval<()> {
        let of = self.states.iter().position(|state| state.name == assign.populations.text).ok_or(Poisoned)?;
        let at = outputs.len() - self.states.len() + of;
        let value = self.work.number(&assign.value)?;
        if outputs[at].replace(value).is_some() {
            let label = format!("this defines `{}` again", assign.populations.text);
            return self.work.fault(Code::OutputTwice, assign.span, label);
        }
        Ok(())
    }

    fn assign(&mut self, assign: &Assign, outputs: &mut [Option<ExprId>]) -> Eval<()> {
        if let Target::State = assign.target {
            return self.assign_state(assign, outputs);
        }
        let set = self.work.set(&assign.populations)?;
        let binders = match &assign.target {
            Target::State => Vec::new(),
            // Without a range, the directions of the populations that are assigned.
            Target::Index(Binder { name, range: Range::Directions }) => {
                vec![Binder { name: name.clone(), range: Range::DirectionsOf(assign.populations.clone()) }]
            }
            Target::Index(binder) => vec![binder.clone()],
            Target::Velocity(components) => components
                .iter()
                .filter_map(|component| match component {
                    Component::Bound(binder) => Some(binder.clone()),
                    Component::Fixed(_) => None,
                })
                .collect(),
        };
        let mut twice = false;
        let source = self.work.source();
        self.work.for_each(&binders, &mut |work| {
            if let Some(filter) = &assign.filter
                && !work.decided(filter)?
            {
                return Ok(());
            }
            let dir = target(work, assign, work.lattice_of(set))?;
            let value = work.number(&assign.value)?;
            if outputs[set.pop(dir).index()].replace(value).is_some() && !twice {
                twice = true;
                let velocity: Vec<String> = set.lattice.velocity(dir).iter().map(i32::to_string).collect();
                let label = format!("this defines {}[({})] again", set.name, velocity.join(", "));
                let fault = crate::diag::Diagnostic::new(Code::OutputTwice, &source, assign.span, label);
                work.report.push(fault);
            }
            Ok(())
        })?;
        if twice { Err(Poisoned) } else { Ok(()) }
    }
}

/// The population that an assignment defines for the present values of its variables.
fn target(work: &mut Elaborator, assign: &Assign, lattice: LatticeId) -> Eval<Dir> {
    let variable = |work: &Elaborator, name: &Name| {
        work.scope.iter().rev().find(|(other, _)| *other == name.text).map(|(_, value)| value.clone())
    };
    match &assign.target {
        Target::State => Err(Poisoned),
        Target::Index(binder) => match variable(work, &binder.name) {
            Some(Value::Dir(direction)) if direction.lattice == lattice => Ok(direction.dir),
            _ => {
                let hint = "use `i`, or a velocity: `f[(x in -1..=1, y in -1..=1)]`";
                let label =
                    format!("these populations are counted by the directions of {}", work.lattice(lattice).name());
                work.hinted(Code::IndexKind, assign.span, label, hint)
            }
        },
        Target::Velocity(_) if work.normals.is_some() => {
            work.fault(Code::FrameAxis, assign.span, "this names the components along numbered axes")
        }
        Target::Velocity(components) => {
            let mut velocity = Vec::new();
            for component in components {
                velocity.push(match component {
                    Component::Fixed(expr) => work.number(expr)?,
                    Component::Bound(binder) => match variable(work, &binder.name) {
                        Some(Value::Number(id)) => id,
                        _ => {
                            let label = "a direction where a component of a velocity is due";
                            return work.fault(Code::IndexKind, binder.name.span, label);
                        }
                    },
                });
            }
            work.direction(assign.span, lattice, &velocity)
        }
    }
}
