//! What the names of a text stand for.
//!
//! In: a tree, which may be that of a text with errors. After: every place in a statement where a name stands has its definition, unless
//! the language gives the name or nothing does. What a name stands for is asked here alone, whatever the answer is for.

use std::collections::BTreeMap;

use super::{Text, defined, extent, is_for_others, start};
use crate::ast::{
    Assign, Ast, Binder, Block, Component, Expr, ExprKind, FnDef, Item, Let, Name, ParamDef, Range, Statement, Target,
    Use,
};
use crate::source::Span;

/// What a name was defined as.
#[derive(Clone, Copy)]
pub enum What<'a> {
    /// By a statement at the top.
    Item(&'a Item),
    /// A parameter of a boundary condition.
    Param(&'a ParamDef),
    /// A value of a block.
    Value(&'a Let),
    /// An argument of a function, with its indices.
    Argument(&'a [Binder]),
    /// An index.
    Index(&'a Binder),
    /// What a module gives.
    Import(&'a Use),
    /// A module.
    Module(&'a Use),
    /// A value of the methods that use this text.
    Method,
}

/// A name where it is defined.
pub struct Definition<'a> {
    pub name: &'a Name,
    pub what: What<'a>,
    /// Where it can be used.
    pub scope: Span,
}

impl Definition<'_> {
    /// Whether the top of the text has it.
    pub fn is_top(&self) -> bool {
        matches!(self.what, What::Item(_) | What::Import(_))
    }

    /// Whether it is a set of populations.
    pub fn is_populations(&self) -> bool {
        matches!(self.what, What::Item(Item::Populations(_)))
    }

    /// Whether functions and rules see it, too, which see little of the method.
    pub fn is_everywhere(&self) -> bool {
        match self.what {
            What::Item(item) => is_for_others(item),
            _ => matches!(self.what, What::Import(_)),
        }
    }
}

/// Where a name stands, and its definition.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Place {
    pub span: Span,
    pub of: Option<usize>,
}

/// The names of a text.
pub struct Names<'a> {
    pub definitions: Vec<Definition<'a>>,
    /// In the order of the text.
    pub places: Vec<Place>,
}

impl<'a> Names<'a> {
    /// Of a tree.
    pub fn of(text: Text<'a>) -> Names<'a> {
        let mut walk = Walk {
            text,
            names: Names { definitions: vec![], places: vec![] },
            globals: BTreeMap::new(),
            locals: BTreeMap::new(),
            entered: vec![],
            sees: Sees::All,
            within: Span::default(),
        };
        walk.collect(text.ast);
        text.ast.items.iter().for_each(|item| walk.item(item));
        walk.names.places.sort_by_key(|place| place.span);
        walk.names
    }

    /// What stands at a span.
    pub fn at(&self, span: Span) -> Option<Place> {
        let at = self.places.binary_search_by_key(&span, |place| place.span).ok()?;
        Some(self.places[at])
    }

    /// The definition of what stands at a span.
    pub fn definition(&self, span: Span) -> Option<&Definition<'a>> {
        Some(&self.definitions[self.at(span)?.of?])
    }
}

/// What a formula sees of the top of a text, besides what is seen everywhere.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Sees {
    All,
    Populations,
    Nothing,
}

struct Walk<'a> {
    text: Text<'a>,
    names: Names<'a>,
    globals: BTreeMap<&'a str, usize>,
    /// Definitions of each name, the innermost last.
    locals: BTreeMap<&'a str, Vec<usize>>,
    entered: Vec<&'a str>,
    sees: Sees,
    /// The statement at the top.
    within: Span,
}

impl<'a> Walk<'a> {
    /// Enters what the statements define.
    fn collect(&mut self, ast: &'a Ast) {
        let end = self.text.source.text().len();
        let whole = Span::new(0, end);
        for item in &ast.items {
            if let Item::Use(import) = item {
                self.define(&import.module, What::Module(import), Span::default());
                for name in &import.names {
                    let at = self.define(name, What::Import(import), whole);
                    self.globals.entry(&name.text).or_insert(at);
                }
            }
            let Some(name) = defined(item) else { continue };
            let from_there = matches!(item, Item::Let(_) | Item::Observe(_));
            let scope = if from_there { Span::new(self.extent(item).end, end) } else { whole };
            let at = self.define(name, What::Item(item), scope);
            self.globals.entry(&name.text).or_insert(at);
        }
    }

    fn extent(&self, item: &Item) -> Span {
        extent(self.text.source.text(), start(item))
    }

    fn define(&mut self, name: &'a Name, what: What<'a>, scope: Span) -> usize {
        let at = self.names.definitions.len();
        self.names.definitions.push(Definition { name, what, scope });
        self.names.places.push(Place { span: name.span, of: Some(at) });
        at
    }

    /// A name that is known until its block is left.
    fn local(&mut self, name: &'a Name, what: What<'a>, from: usize) {
        let at = self.define(name, what, Span::new(from, self.within.end));
        self.enter(&name.text, at);
    }

    fn enter(&mut self, name: &'a str, definition: usize) {
        self.locals.entry(name).or_default().push(definition);
        self.entered.push(name);
    }

    fn leave(&mut self, depth: usize) {
        for name in self.entered.split_off(depth) {
            self.locals.get_mut(name).and_then(Vec::pop);
        }
    }

    fn item(&mut self, item: &'a Item) {
        self.within = self.extent(item);
        self.sees = match item {
            Item::Boundary(_) | Item::Coupling(_) => Sees::Populations,
            Item::Fn(_) | Item::Criterion(_) => Sees::Nothing,
            _ => Sees::All,
        };
        match item {
            Item::LatticeChoice(name)
            | Item::BoundaryChoice(name)
            | Item::StencilChoice(name)
            | Item::CouplingChoice(name)
            | Item::CriterionChoice(name)
            | Item::Field(name)
            | Item::Conserve(name) => self.global(name),
            Item::Observe(def) => match &def.value {
                Some(value) => self.value(value),
                None => self.global(&def.name),
            },
            Item::Populations(def) => self.global(&def.lattice),
            Item::Param(def) | Item::State(def) => self.param(def),
            Item::Let(def) => self.value(def),
            Item::Init(block) | Item::Collide(block) => self.block(block),
            Item::Fn(def) => self.function(def),
            Item::Boundary(def) => {
                for param in &def.params {
                    self.param(param);
                    self.local(&param.name, What::Param(param), param.name.span.end);
                }
                for beyond in &def.beyond {
                    self.of_method(&beyond.name);
                    let depth = self.entered.len();
                    self.binders(&beyond.indices);
                    self.formula(&beyond.value);
                    self.leave(depth);
                }
                self.block(&def.block);
            }
            Item::Coupling(def) => def.statements.iter().for_each(|statement| self.crossing(statement)),
            // Arguments are fields of the method by their names.
            Item::Criterion(def) => {
                for (name, indices) in &def.function.params {
                    self.ranges(indices);
                    self.of_method(name);
                }
                self.formula(&def.function.body);
            }
            _ => {}
        }
        self.leave(0);
    }

    /// A name of the method, which a text has that is one, and known here.
    fn of_method(&mut self, name: &'a Name) {
        match self.globals.get(name.text.as_str()) {
            Some(&at) => {
                self.names.places.push(Place { span: name.span, of: Some(at) });
                self.enter(&name.text, at);
            }
            None => self.local(name, What::Method, name.span.end),
        }
    }

    fn crossing(&mut self, statement: &'a Statement) {
        match statement {
            Statement::Rate(name, value) => {
                self.of_method(name);
                self.formula(value);
            }
            Statement::Let(def) => self.local_value(def),
            Statement::Ghosts(layers) => self.formula(layers),
            Statement::Packet(assign)
            | Statement::Fine(assign)
            | Statement::Coarse(assign)
            | Statement::Refine(assign)
            | Statement::Coarsen(assign) => self.assign(assign),
        }
    }

    fn param(&mut self, def: &'a ParamDef) {
        def.default.iter().for_each(|value| self.formula(value));
        def.range.iter().flat_map(|(low, high)| [low, high]).for_each(|end| self.formula(end));
        self.ranges(&def.indices);
    }

    fn value(&mut self, def: &'a Let) {
        let depth = self.entered.len();
        self.binders(&def.indices);
        self.formula(&def.value);
        self.leave(depth);
    }

    fn local_value(&mut self, def: &'a Let) {
        let outer = self.within;
        self.within = Span::new(def.name.span.start, def.value.span.end);
        self.value(def);
        self.within = outer;
        self.local(&def.name, What::Value(def), def.value.span.end);
    }

    fn block(&mut self, block: &'a Block) {
        block.lets.iter().for_each(|def| self.local_value(def));
        block.assigns.iter().for_each(|assign| self.assign(assign));
    }

    fn assign(&mut self, assign: &'a Assign) {
        let (depth, outer) = (self.entered.len(), self.within);
        self.within = Span::new(assign.span.start, assign.value.span.end);
        self.reference(&assign.populations);
        match &assign.target {
            Target::State => {}
            Target::Index(binder) => self.binders(std::slice::from_ref(binder)),
            Target::Velocity(components) => components.iter().for_each(|component| match component {
                Component::Bound(binder) => self.binders(std::slice::from_ref(binder)),
                Component::Fixed(expr) => self.formula(expr),
            }),
        }
        assign.filter.iter().for_each(|filter| self.formula(filter));
        self.formula(&assign.value);
        self.leave(depth);
        self.within = outer;
    }

    fn function(&mut self, def: &'a FnDef) {
        self.binders(&def.indices);
        for (param, indices) in &def.params {
            self.ranges(indices);
            self.local(param, What::Argument(indices), param.span.end);
        }
        self.formula(&def.body);
    }

    fn ranges(&mut self, binders: &'a [Binder]) {
        binders.iter().for_each(|binder| match &binder.range {
            Range::Directions | Range::Axes => {}
            Range::DirectionsOf(name) => self.reference(name),
            Range::Whole { low, high, .. } => [low, high].into_iter().for_each(|end| self.formula(end)),
        });
    }

    fn binders(&mut self, binders: &'a [Binder]) {
        for binder in binders {
            self.ranges(std::slice::from_ref(binder));
            self.local(&binder.name, What::Index(binder), binder.name.span.end);
        }
    }

    fn formula(&mut self, expr: &'a Expr) {
        match &expr.kind {
            ExprKind::Number(_) => {}
            ExprKind::Cs2(name) => self.reference(name),
            ExprKind::Name { name, indices, args } => {
                self.reference(name);
                indices.iter().chain(args.iter().flatten()).for_each(|part| self.formula(part));
            }
            ExprKind::Vector(parts) => parts.iter().for_each(|part| self.formula(part)),
            ExprKind::Unary(_, inner) => self.formula(inner),
            ExprKind::Binary(_, left, right) => [left, right].into_iter().for_each(|part| self.formula(part)),
            ExprKind::Fold { binders, filter, body, .. } => {
                let (depth, outer) = (self.entered.len(), self.within);
                self.within = expr.span;
                self.binders(binders);
                filter.iter().for_each(|filter| self.formula(filter));
                self.formula(body);
                self.leave(depth);
                self.within = outer;
            }
            ExprKind::If(condition, then, otherwise) => {
                [condition, then, otherwise].into_iter().for_each(|part| self.formula(part));
            }
        }
    }

    /// A name that is used in a formula.
    fn reference(&mut self, name: &'a Name) {
        let local = self.locals.get(name.text.as_str()).and_then(|known| known.last());
        let of = local.copied().or_else(|| {
            let at = *self.globals.get(name.text.as_str())?;
            let definition = &self.names.definitions[at];
            let seen = match self.sees {
                Sees::All => true,
                Sees::Populations => definition.is_everywhere() || definition.is_populations(),
                Sees::Nothing => definition.is_everywhere(),
            };
            seen.then_some(at)
        });
        self.names.places.push(Place { span: name.span, of });
    }

    /// A name that is used where only the top of a text can have it.
    fn global(&mut self, name: &'a Name) {
        let of = self.globals.get(name.text.as_str()).copied();
        self.names.places.push(Place { span: name.span, of });
    }
}
