//! Names: what they mean, and whether they are used.
//!
//! In: a program. After: every name in a formula is defined and visible where it stands, hides no other, and is used
//! (unless it starts with `_`); no function calls itself.
//!
//! What is visible: formulas of the spec see the parameters and every `let` above them; a function sees its arguments
//! alone; a boundary rule sees populations, its own parameters and what its kind is given, a coupling populations, the
//! rates it names and what it is given, a criterion its arguments and `gradient`; all see functions and the lattice.
//! A name of the text hides a function of numbers (`exp`) that has the same.

use std::collections::BTreeMap;

use crate::ast::{
    Absorbing, Assign, Ast, Binder, Block, BoundaryDef, Component, CouplingDef, Expr, ExprKind, FnDef, Item, Let, Name,
    ParamDef, Range, Statement, Target,
};
use crate::check::program::{ModuleId, Program};
use crate::diag::{Code, Diagnostic, Report, suggest};
use crate::function;
use crate::parser::BUILTINS;
use crate::shipped::Library;
use crate::source::{Source, Span};

/// Checks the names of every module. `Ok` has what does not keep formulas from being expanded: unused names, and warnings.
pub fn check(program: &Program, library: &dyn Library) -> Result<(Report, Vec<Diagnostic>), Report> {
    let (mut report, mut warnings) = (Report::new(), Vec::new());
    for id in program.ids() {
        let module = program.module(id);
        let mut names = Names {
            source: &module.source,
            library,
            report: &mut report,
            warnings: &mut warnings,
            globals: Vec::new(),
            locals: Vec::new(),
            sees: Sees::Everything,
            strict: id == ModuleId::SPEC,
        };
        names.module(&module.ast);
    }
    recursion(program, &mut report);
    if report.diagnostics().iter().all(|fault| fault.code() == Code::Unused) {
        return Ok((report, warnings));
    }
    report.propagate().map(|()| (report, warnings))
}

/// What a formula may see besides functions and the lattice.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Sees {
    /// Populations, parameters and values.
    Everything,
    /// The same without populations.
    Fields,
    /// Its arguments alone.
    Arguments,
    /// Populations, what a link has, and the rule's own parameters.
    Link,
    /// Populations, and what a coupling is given.
    Coupling,
    /// Populations, what a node has, and the rule's own parameters.
    Node,
}

/// What a link rule is given besides `f`.
const LINK: &[&str] = &["mirrored"];
/// What a node rule is given besides `f`.
const NODE: &[&str] = &["streamed", "inside", "deep", "sent", "n"];

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Kind {
    Import,
    Fn,
    Lattice,
    Boundary,
    Populations,
    Stencil,
    Coupling,
    Criterion,
    Param,
    State,
    Let,
    Field,
    Observable,
    Index,
    Argument,
    Given,
}

/// What a criterion is given besides its arguments.
pub(super) const GRADIENT: &str = "gradient";

/// Functions of the cells around one. A name of the text hides that of a function.
pub(super) const AROUND: [&str; 3] = ["gradient", "laplacian", "neighbour"];

/// What a coupling is given besides populations.
const CROSSING: &[&str] = &["equilibrium", "kind", "mean", "position"];

impl Kind {
    fn noun(self) -> &'static str {
        match self {
            Kind::Import => "import",
            Kind::Fn => "function",
            Kind::Lattice => "velocity set",
            Kind::Boundary => "boundary condition",
            Kind::Populations => "set of populations",
            Kind::Stencil => "stencil",
            Kind::Coupling => "coupling",
            Kind::Criterion => "criterion",
            Kind::Param => "parameter",
            Kind::State => "state",
            Kind::Let => "value",
            Kind::Field => "field",
            Kind::Observable => "observable",
            Kind::Index => "index",
            Kind::Argument => "argument",
            Kind::Given => "given name",
        }
    }

    /// Whether it can be seen above the line that defines it, and from everywhere.
    fn everywhere(self) -> bool {
        use Kind::{Boundary, Coupling, Criterion, Fn, Import, Lattice, Stencil};
        matches!(self, Import | Fn | Lattice | Boundary | Stencil | Coupling | Criterion)
    }
}

#[derive(Clone, Debug)]
struct Entry {
    name: Name,
    kind: Kind,
    used: bool,
    /// Whether the statement that defines it has been passed.
    defined: bool,
}

struct Names<'a> {
    source: &'a Source,
    library: &'a dyn Library,
    report: &'a mut Report,
    warnings: &'a mut Vec<Diagnostic>,
    globals: Vec<Entry>,
    locals: Vec<Entry>,
    sees: Sees,
    strict: bool,
}

impl Names<'_> {
    fn module(&mut self, ast: &Ast) {
        self.collect(ast);
        for item in &ast.items {
            self.item(item);
        }
        let globals = std::mem::take(&mut self.globals);
        globals.iter().for_each(|entry| self.unused(entry));
    }

    fn fault(&mut self, code: Code, span: Span, label: String, hint: String) {
        let diagnostic = Diagnostic::new(code, self.source, span, label);
        self.report.push(if hint.is_empty() { diagnostic } else { diagnostic.hint(hint) });
    }

    /// Enters what the statements define.
    fn collect(&mut self, ast: &Ast) {
        for item in &ast.items {
            match item {
                Item::Use(import) => import.names.iter().for_each(|name| self.global(name, Kind::Import)),
                Item::Fn(def) => self.global(&def.name, Kind::Fn),
                Item::Lattice(def) => self.global(&def.name, Kind::Lattice),
                Item::Boundary(def) => self.global(&def.name, Kind::Boundary),
                Item::Populations(def) => self.global(&def.name, Kind::Populations),
                Item::Stencil(def) => self.global(&def.name, Kind::Stencil),
                Item::Coupling(def) => self.global(&def.name, Kind::Coupling),
                Item::Criterion(def) => self.global(&def.function.name, Kind::Criterion),
                Item::Param(def) => self.global(&def.name, Kind::Param),
                Item::State(def) => self.global(&def.name, Kind::State),
                Item::Place(name) => self.global(name, Kind::State),
                Item::Let(def) | Item::Varied(def) => self.global(&def.name, Kind::Let),
                Item::Observe(def) if def.value.is_some() => self.global(&def.name, Kind::Observable),
                _ => {}
            }
        }
        // What is observed has a name of its own, or that of a value that is no field.
        let fields = ast.items.iter().filter_map(|item| match item {
            Item::Field(name) => Some(name),
            Item::Observe(def) if def.value.is_none() => Some(&def.name),
            _ => None,
        });
        let mut seen: Vec<&Name> = Vec::new();
        for field in fields {
            match seen.iter().find(|other| other.text == field.text) {
                Some(first) => self.twice(field, first.span, Kind::Field),
                None => seen.push(field),
            }
        }
    }

    fn global(&mut self, name: &Name, kind: Kind) {
        if let Some(first) = self.globals.iter().find(|other| other.name.text == name.text) {
            let span = first.name.span;
            self.twice(name, span, kind);
            return;
        }
        // Parameters and populations are given before anything is computed; a module offers what it defines.
        let offered =
            matches!(kind, Kind::Boundary | Kind::Stencil | Kind::Coupling | Kind::Criterion | Kind::Observable);
        let used = !self.strict || offered;
        let defined = kind.everywhere() || matches!(kind, Kind::Param | Kind::State | Kind::Populations);
        self.globals.push(Entry { name: name.clone(), kind, used, defined });
    }

    fn twice(&mut self, name: &Name, first: Span, kind: Kind) {
        let label = format!("a second {} `{}`", kind.noun(), name.text);
        let fault = Diagnostic::new(Code::Duplicate, self.source, name.span, label);
        self.report.push(fault.also(first, "the first one"));
    }

    fn unused(&mut self, entry: &Entry) {
        if entry.used || !self.strict || entry.name.text.starts_with('_') {
            return;
        }
        let noun = entry.kind.noun();
        let label = format!("nothing uses this {noun}");
        let hint = match entry.kind {
            Kind::Import | Kind::Fn | Kind::Lattice => "remove it".into(),
            _ => format!("remove it, or call it `_{}`", entry.name.text),
        };
        self.fault(Code::Unused, entry.name.span, label, hint);
    }

    fn item(&mut self, item: &Item) {
        match item {
            Item::Use(_) => {}
            Item::LatticeChoice(name)
            | Item::BoundaryChoice(name)
            | Item::StencilChoice(name)
            | Item::CouplingChoice(name)
            | Item::CriterionChoice(name) => self.mark(name),
            Item::Field(name) | Item::Conserve(name) => self.field(name, &[Kind::Let]),
            Item::Observe(def) => match &def.value {
                Some(value) => {
                    self.value(value);
                    self.pass(&def.name);
                }
                None => self.field(&def.name, &[Kind::Let, Kind::State]),
            },
            Item::Populations(def) => self.mark(&def.lattice),
            Item::Absorbing(Absorbing { rate, density, velocity }) => {
                [rate, density, velocity].into_iter().for_each(|name| self.mark(name));
            }
            // Formulas of numbers, and of the `x` of a stencil, which `stencils` knows.
            Item::Lattice(_) | Item::Stencil(_) => {}
            Item::Param(def) | Item::State(def) => self.param(def),
            Item::Place(_) | Item::ConserveNone(_) => {}
            Item::Let(def) | Item::Varied(def) => {
                self.value(def);
                self.pass(&def.name);
            }
            Item::Init(block) => self.within(Sees::Fields, |this| this.block(block)),
            Item::Collide(block) => self.within(Sees::Everything, |this| this.block(block)),
            Item::Fn(def) => self.within(Sees::Arguments, |this| this.function(def)),
            Item::Boundary(def) => {
                let sees = if def.node { Sees::Node } else { Sees::Link };
                self.within(sees, |this| this.boundary(def));
            }
            Item::Coupling(def) => self.within(Sees::Coupling, |this| this.coupling(def)),
            Item::Criterion(def) => self.within(Sees::Arguments, |this| {
                let name = Name { text: GRADIENT.into(), span: def.function.name.span };
                this.local(&name, Kind::Given, false);
                this.function(&def.function);
            }),
        }
    }

    fn within(&mut self, sees: Sees, work: impl FnOnce(&mut Self)) {
        let outer = std::mem::replace(&mut self.sees, sees);
        work(self);
        self.leave(0);
        self.sees = outer;
    }

    /// Forgets local names from `depth` on.
    fn leave(&mut self, depth: usize) {
        for entry in self.locals.split_off(depth) {
            self.unused(&entry);
        }
    }

    fn mark(&mut self, name: &Name) {
        if let Some(entry) = self.globals.iter_mut().find(|entry| entry.name.text == name.text) {
            entry.used = true;
        }
    }

    /// The statement that defines a name has been passed.
    fn pass(&mut self, name: &Name) {
        if let Some(entry) = self.globals.iter_mut().find(|entry| entry.name == *name) {
            entry.defined = true;
        }
    }

    fn field(&mut self, name: &Name, kinds: &[Kind]) {
        let known = self.globals.iter().any(|entry| entry.name.text == name.text && kinds.contains(&entry.kind));
        if known {
            self.mark(name);
            return;
        }
        let lets: Vec<&str> =
            self.globals.iter().filter(|entry| entry.kind == Kind::Let).map(|entry| entry.name.text.as_str()).collect();
        let hint = suggest::did_you_mean(&name.text, lets, &format!("define it: `let {} = ...;`", name.text));
        self.fault(Code::Undefined, name.span, format!("no `let` defines `{}`", name.text), hint);
    }

    fn param(&mut self, def: &ParamDef) {
        def.default.iter().for_each(|value| self.formula(value));
        if let Some((low, high)) = &def.range {
            self.formula(low);
            self.formula(high);
        }
        self.ranges(&def.indices);
    }

    fn value(&mut self, def: &Let) {
        let depth = self.locals.len();
        self.binders(&def.indices, false);
        self.formula(&def.value);
        self.leave(depth);
    }

    fn block(&mut self, block: &Block) {
        for def in &block.lets {
            self.value(def);
            self.local(&def.name, Kind::Let, true);
        }
        block.assigns.iter().for_each(|assign| self.assign(assign));
    }

    fn assign(&mut self, assign: &Assign) {
        let depth = self.locals.len();
        match &assign.target {
            // What is assigned and never read is of no use.
            Target::State => self.state(&assign.populations),
            _ => self.populations(&assign.populations),
        }
        match &assign.target {
            Target::State => {}
            Target::Index(binder) => self.binders(std::slice::from_ref(binder), false),
            Target::Velocity(components) => {
                for component in components {
                    match component {
                        Component::Bound(binder) => self.binders(std::slice::from_ref(binder), false),
                        Component::Fixed(expr) => self.formula(expr),
                    }
                }
            }
        }
        assign.filter.iter().for_each(|filter| self.formula(filter));
        self.formula(&assign.value);
        self.leave(depth);
    }

    fn function(&mut self, def: &FnDef) {
        self.binders(&def.indices, true);
        for (param, indices) in &def.params {
            self.ranges(indices);
            self.local(param, Kind::Argument, true);
        }
        self.formula(&def.body);
    }

    fn boundary(&mut self, def: &BoundaryDef) {
        for given in if def.node { NODE } else { LINK } {
            let name = Name { text: given.to_string(), span: def.name.span };
            self.local(&name, Kind::Given, false);
        }
        for param in &def.params {
            self.param(param);
            self.local(&param.name, Kind::Param, true);
        }
        for beyond in &def.beyond {
            // A module of boundary conditions is for methods that have such a value.
            if self.strict && self.globals.iter().any(|entry| entry.kind == Kind::Let) {
                self.field(&beyond.name, &[Kind::Let]);
            }
            let depth = self.locals.len();
            self.local(&beyond.name, Kind::Given, false);
            self.binders(&beyond.indices, false);
            self.formula(&beyond.value);
            self.leave(depth);
        }
        self.block(&def.block);
    }

    fn coupling(&mut self, def: &CouplingDef) {
        for given in CROSSING {
            let name = Name { text: given.to_string(), span: def.name.span };
            self.local(&name, Kind::Given, false);
        }
        for statement in &def.statements {
            match statement {
                Statement::Rate(name, value) => {
                    self.local(name, Kind::Given, false);
                    self.formula(value);
                }
                Statement::Let(def) => {
                    self.value(def);
                    self.local(&def.name, Kind::Let, true);
                }
                Statement::Ghosts(layers) => self.formula(layers),
                Statement::Packet(assign)
                | Statement::Fine(assign)
                | Statement::Coarse(assign)
                | Statement::Refine(assign)
                | Statement::Coarsen(assign) => self.assign(assign),
            }
        }
    }

    /// Names in the ranges of index variables that are not used as variables.
    fn ranges(&mut self, binders: &[Binder]) {
        for binder in binders {
            match &binder.range {
                Range::Directions | Range::Axes => {}
                Range::DirectionsOf(name) => self.populations(name),
                Range::Whole { low, high, .. } => {
                    self.formula(low);
                    self.formula(high);
                }
            }
        }
    }

    /// A name where no other than that of populations can stand.
    fn populations(&mut self, name: &Name) {
        if self.sees == Sees::Arguments {
            let hint = "an index without a range runs over the directions that the function is called for";
            self.fault(Code::NotVisible, name.span, "a function sees its arguments only".into(), hint.into());
        } else if name.text != "f" {
            match self.globals.iter_mut().find(|entry| entry.name.text == name.text) {
                Some(entry) if entry.kind == Kind::Populations => entry.used = true,
                found => {
                    let declare = format!("declare them: `populations {} on D2Q5;`", name.text);
                    let hint = if found.is_some() {
                        "populations are `f` and what `populations` declares".into()
                    } else {
                        declare
                    };
                    self.fault(Code::Undefined, name.span, format!("there are no populations `{}`", name.text), hint);
                }
            }
        }
    }

    /// A name where no other than that of a state can stand.
    fn state(&mut self, name: &Name) {
        let found = self.globals.iter().find(|entry| entry.name.text == name.text);
        if found.is_some_and(|entry| entry.kind == Kind::State) {
            return;
        }
        let hint = match found {
            Some(entry) if entry.kind == Kind::Populations => {
                format!("populations have directions: `{}[i] <- ...;`", name.text)
            }
            Some(entry) if entry.kind == Kind::Let => "name a value: `let x = ...;`".into(),
            _ if name.text == "f" => "populations have directions: `f[i] <- ...;`".into(),
            _ => format!("declare it: `state {};`", name.text),
        };
        self.fault(Code::Undefined, name.span, format!("there is no state `{}`", name.text), hint);
    }

    fn binders(&mut self, binders: &[Binder], must_be_used: bool) {
        for binder in binders {
            self.ranges(std::slice::from_ref(binder));
            self.local(&binder.name, Kind::Index, must_be_used);
        }
    }

    /// A name that is known from here to the end of its block.
    fn local(&mut self, name: &Name, kind: Kind, must_be_used: bool) {
        let sees = self.sees;
        let global = self.globals.iter().filter(|entry| match sees {
            Sees::Arguments => entry.kind.everywhere(),
            Sees::Link | Sees::Node | Sees::Coupling => entry.kind.everywhere() || entry.kind == Kind::Populations,
            _ => true,
        });
        if let Some(hidden) = self.locals.iter().chain(global).find(|other| other.name.text == name.text) {
            let (span, noun) = (hidden.name.span, hidden.kind.noun());
            let label = format!("this hides the {noun} of the same name");
            let fault = Diagnostic::new(Code::Shadowed, self.source, name.span, label);
            self.report.push(fault.also(span, format!("the {noun}")));
        }
        self.locals.push(Entry { name: name.clone(), kind, used: !must_be_used, defined: true });
    }

    /// Whether only functions and the lattice are seen from outside.
    fn alone(&self) -> bool {
        matches!(self.sees, Sees::Arguments | Sees::Link | Sees::Node | Sees::Coupling)
    }

    fn formula(&mut self, expr: &Expr) {
        match &expr.kind {
            ExprKind::Number(_) => {}
            ExprKind::Cs2(name) => self.populations(name),
            ExprKind::Name { name, indices, args } => {
                self.reference(name, args.is_some());
                indices.iter().chain(args.iter().flatten()).for_each(|part| self.formula(part));
            }
            ExprKind::Vector(parts) => parts.iter().for_each(|part| self.formula(part)),
            ExprKind::Unary(_, inner) => self.formula(inner),
            ExprKind::Binary(_, left, right) => {
                self.formula(left);
                self.formula(right);
            }
            ExprKind::Fold { binders, filter, body, .. } => {
                let depth = self.locals.len();
                self.binders(binders, true);
                filter.iter().for_each(|filter| self.formula(filter));
                self.formula(body);
                self.leave(depth);
            }
            ExprKind::If(condition, then, otherwise) => {
                [condition, then, otherwise].into_iter().for_each(|part| self.formula(part));
            }
        }
    }

    fn reference(&mut self, name: &Name, called: bool) {
        if let Some(entry) = self.locals.iter_mut().rev().find(|entry| entry.name.text == name.text) {
            entry.used = true;
            return;
        }
        let populations = self.globals.iter_mut().find(|entry| entry.name.text == name.text);
        let populations = populations.filter(|entry| entry.kind == Kind::Populations);
        if name.text == "f" || populations.is_some() {
            populations.into_iter().for_each(|entry| entry.used = true);
            match self.sees {
                Sees::Everything | Sees::Link | Sees::Coupling => return,
                Sees::Node => {
                    let label = format!(
                        "in a wet-node boundary condition `{}` is the state of the cell after the last \
                                 collision",
                        name.text
                    );
                    self.warnings.push(Diagnostic::new(Code::StepBefore, self.source, name.span, label));
                    return;
                }
                Sees::Fields => {
                    let hint = "only fields and parameters are given here: write the formula in terms of them";
                    self.fault(Code::InitReads, name.span, "there are no populations yet".into(), hint.into());
                    return;
                }
                Sees::Arguments => {
                    let label = "a function sees its arguments only".into();
                    let hint = format!("make it an argument: `fn mass({}[i]) = ...`", name.text);
                    self.fault(Code::NotVisible, name.span, label, hint);
                    return;
                }
            }
        }
        if BUILTINS.contains(&name.text.as_str()) {
            return;
        }
        let alone = self.alone();
        match self.globals.iter_mut().find(|entry| entry.name.text == name.text) {
            Some(entry) if entry.kind.everywhere() => entry.used = true,
            Some(entry) if alone => {
                entry.used = true;
                let (label, hint) = match self.sees {
                    Sees::Link | Sees::Node => (
                        "a boundary condition sees populations and its own parameters only",
                        "a `param` of the \
                                                                                               boundary condition",
                    ),
                    Sees::Coupling => {
                        ("a coupling sees populations and the rates that it names", "a `rate` of the coupling")
                    }
                    _ => ("a function sees its arguments only", "an argument"),
                };
                let hint = format!("make `{}` {hint}", name.text);
                self.fault(Code::NotVisible, name.span, label.into(), hint);
            }
            Some(entry) if !entry.defined => {
                entry.used = true;
                let line = self.source.position(entry.name.span.start).line;
                let label = format!("`{}` has no value yet", name.text);
                self.fault(Code::NotVisible, name.span, label, format!("line {line} defines it: move that line up"));
            }
            Some(entry) => entry.used = true,
            None if self.sees == Sees::Link && NODE.contains(&name.text.as_str()) => {
                let label = format!("`{}` exists in wet-node boundary conditions only", name.text);
                let hint = "write `node f[i if !known(i)] <- ...;`: wet-node boundary conditions are applied after \
                            streaming";
                self.fault(Code::NotVisible, name.span, label, hint.into());
            }
            None if self.sees == Sees::Node && LINK.contains(&name.text.as_str()) => {
                let label = format!("`{}` exists in link-wise boundary conditions only", name.text);
                self.fault(Code::NotVisible, name.span, label, "write `link f[i] <- ...;`".into());
            }
            None if function::called(&name.text).is_some() || AROUND.contains(&name.text.as_str()) => {}
            None => self.undefined(name, called),
        }
    }

    fn undefined(&mut self, name: &Name, called: bool) {
        let text = name.text.as_str();
        let index = matches!(text, "i" | "j" | "k" | "a" | "b" | "g" | "α" | "β" | "γ");
        let import = self.library.names().into_iter().find(|module| {
            let has = |keyword: &str| {
                let source = self.library.module(module).and_then(Result::ok);
                source.iter().flat_map(|source| source.text().lines()).any(|line| {
                    let rest = line.trim_start().strip_prefix(keyword).map(str::trim_start);
                    rest.and_then(|rest| rest.strip_prefix(&name.text)).is_some_and(|rest| !rest.starts_with(is_letter))
                })
            };
            has("fn ") || has("stencil ")
        });
        let visible = self.globals.iter().filter(|entry| entry.defined || called).chain(&self.locals);
        let functions: Vec<&str> = function::names().chain(AROUND).filter(|_| called).collect();
        let visible = visible.map(|entry| entry.name.text.as_str()).chain(BUILTINS.iter().copied()).chain(functions);
        let hint = match import {
            _ if index => format!("bind the index: `let x[{text}] = ...` or `sum({text}: ...)`"),
            Some(module) => format!("import it: `use {module}::{text};`"),
            None => suggest::did_you_mean(text, visible, ""),
        };
        // What was meant is not unused on top of this.
        for entry in self.globals.iter_mut().chain(&mut self.locals) {
            entry.used |= hint.contains(&format!("`{}`", entry.name.text));
        }
        self.fault(Code::Undefined, name.span, format!("`{text}` is not defined here"), hint);
    }
}

fn is_letter(c: char) -> bool {
    c.is_alphanumeric() || c == '_'
}

/// Functions that reach themselves.
fn recursion(program: &Program, report: &mut Report) {
    let mut calls: BTreeMap<(ModuleId, String), Vec<(ModuleId, String)>> = BTreeMap::new();
    for id in program.ids() {
        for item in &program.module(id).ast.items {
            if let Item::Fn(def) = item {
                let mut called = Vec::new();
                callees(&def.body, &mut |name| {
                    called.extend(program.find(id, name).map(|(home, _)| (home, name.to_string())));
                });
                calls.insert((id, def.name.text.clone()), called);
            }
        }
    }
    for id in program.ids() {
        let module = program.module(id);
        for item in &module.ast.items {
            let Item::Fn(def) = item else { continue };
            let start = (id, def.name.text.clone());
            let (mut reached, mut next) = (Vec::new(), calls[&start].clone());
            while let Some(callee) = next.pop() {
                if !reached.contains(&callee) {
                    next.extend(calls.get(&callee).cloned().unwrap_or_default());
                    reached.push(callee);
                }
            }
            if reached.contains(&start) {
                let label = format!("`{}` leads back to itself", def.name.text);
                report.push(Diagnostic::new(Code::Recursion, &module.source, def.name.span, label));
            }
        }
    }
}

fn callees(expr: &Expr, found: &mut dyn FnMut(&str)) {
    expr.visit(&mut |part| {
        if let ExprKind::Name { name, args: Some(_), .. } = &part.kind {
            found(&name.text);
        }
    });
}
