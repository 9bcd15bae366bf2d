//! The spec and the modules it uses.
//!
//! In: the spec's tree and a library. After: every module named by a `use` is parsed, and every imported name is known to
//! exist in its module.

use std::collections::BTreeMap;

use crate::ast::{Ast, BoundaryDef, CouplingDef, CriterionDef, FnDef, Item, LatticeDef, Name, StencilDef, Use};
use crate::diag::{Code, Diagnostic, Report, suggest};
use crate::parser::parse;
use crate::shipped::{Library, Prelude};
use crate::source::{Source, Span};

/// Position of a module in a [`Program`]; the spec is the first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct ModuleId(usize);

impl ModuleId {
    /// The spec itself.
    pub const SPEC: ModuleId = ModuleId(0);
}

/// Something that can be imported.
#[derive(Clone, Copy, Debug)]
pub enum Def<'a> {
    /// A function.
    Fn(&'a FnDef),
    /// A velocity set.
    Lattice(&'a LatticeDef),
    /// A boundary rule.
    Boundary(&'a BoundaryDef),
    /// An interpolation stencil.
    Stencil(&'a StencilDef),
    /// A coupling of levels.
    Coupling(&'a CouplingDef),
    /// What a grid may follow.
    Criterion(&'a CriterionDef),
}

impl Def<'_> {
    /// What it is, for messages.
    pub fn kind(&self) -> &'static str {
        match self {
            Def::Fn(_) => "a function",
            Def::Lattice(_) => "a velocity set",
            Def::Boundary(_) => "a boundary condition",
            Def::Stencil(_) => "a stencil",
            Def::Coupling(_) => "a coupling",
            Def::Criterion(_) => "a criterion",
        }
    }
}

/// A parsed file.
#[derive(Debug)]
pub struct Module {
    /// Its text.
    pub source: Source,
    /// Its tree.
    pub ast: Ast,
    imports: BTreeMap<String, ModuleId>,
}

/// The spec and every module it needs.
#[derive(Debug)]
pub struct Program {
    modules: Vec<Module>,
    /// What is chosen besides what the spec chooses: its module and its name there.
    added: Vec<(ModuleId, String)>,
    warnings: Vec<Diagnostic>,
}

impl Program {
    /// Loads what `ast` uses.
    pub fn load(source: &Source, ast: &Ast, library: &dyn Library) -> Result<Self, Report> {
        let mut report = Report::new();
        let spec = Module { source: source.clone(), ast: ast.clone(), imports: BTreeMap::new() };
        let mut program = Program { modules: vec![spec], added: Vec::new(), warnings: Vec::new() };
        let mut loaded = BTreeMap::new();
        for added in &ast.added {
            let module = Name { text: added.module.clone(), span: Span::default() };
            if let Some(home) = program.module_of(ModuleId::SPEC, &module, library, &mut loaded, &mut report) {
                program.added.push((home, added.name.clone()));
            }
        }
        let mut at = 0;
        while at < program.modules.len() {
            let uses: Vec<Use> = program.uses(ModuleId(at)).cloned().collect();
            for import in uses {
                let Some(from) = program.module_of(ModuleId(at), &import.module, library, &mut loaded, &mut report)
                else {
                    continue;
                };
                for name in import.names {
                    program.import(ModuleId(at), from, &import.module, &name, &mut report);
                }
            }
            at += 1;
        }
        report.propagate()?;
        Ok(program)
    }

    /// Every module.
    pub fn ids(&self) -> impl Iterator<Item = ModuleId> + use<> {
        (0..self.modules.len()).map(ModuleId)
    }

    /// The module `id`.
    pub fn module(&self, id: ModuleId) -> &Module {
        &self.modules[id.0]
    }

    /// What is remarkable about the modules.
    pub fn warnings(&self) -> &[Diagnostic] {
        &self.warnings
    }

    /// The statements of the spec.
    pub fn spec(&self) -> &[Item] {
        &self.modules[0].ast.items
    }

    /// What `name` means in a module, and the module that defines it.
    pub fn find(&self, module: ModuleId, name: &str) -> Option<(ModuleId, Def<'_>)> {
        let home = self.module(module).imports.get(name).copied().unwrap_or(module);
        Some((home, self.own(home, name)?))
    }

    /// What is chosen besides what the spec chooses, with the module that defines it.
    pub fn added(&self) -> impl Iterator<Item = (ModuleId, Def<'_>)> {
        self.added.iter().filter_map(|(home, name)| Some((*home, self.own(*home, name)?)))
    }

    /// Names that functions, velocity sets and boundary rules have in a module.
    pub fn names(&self, module: ModuleId) -> Vec<&str> {
        let own = self.module(module).ast.items.iter().filter_map(def).map(|(name, _)| name.text.as_str());
        own.chain(self.module(module).imports.keys().map(String::as_str)).collect()
    }

    fn own(&self, module: ModuleId, name: &str) -> Option<Def<'_>> {
        self.module(module).ast.items.iter().filter_map(def).find(|(own, _)| own.text == name).map(|(_, def)| def)
    }

    fn uses(&self, module: ModuleId) -> impl Iterator<Item = &Use> {
        self.module(module).ast.items.iter().filter_map(|item| match item {
            Item::Use(import) => Some(import),
            _ => None,
        })
    }

    fn module_of(
        &mut self,
        user: ModuleId,
        name: &Name,
        library: &dyn Library,
        loaded: &mut BTreeMap<String, Option<ModuleId>>,
        report: &mut Report,
    ) -> Option<ModuleId> {
        if let Some(known) = loaded.get(&name.text) {
            return *known;
        }
        let at_use = |code, label| Diagnostic::new(code, &self.module(user).source, name.span, label);
        let found = match library.module(&name.text) {
            Some(Ok(source)) => {
                if Prelude.module(&name.text).is_some_and(|shipped| shipped.as_ref() != Ok(&source)) {
                    let label = format!("this is `{}`, and not the shipped module", source.name());
                    let warning = at_use(Code::HidesShipped, label);
                    self.warnings.push(warning);
                }
                match parse(&source) {
                    Ok(ast) => {
                        self.modules.push(Module { source, ast, imports: BTreeMap::new() });
                        Some(ModuleId(self.modules.len() - 1))
                    }
                    Err(faults) => {
                        faults.diagnostics().iter().for_each(|fault| report.push(fault.clone()));
                        None
                    }
                }
            }
            Some(Err(why)) => {
                report.push(at_use(Code::UnknownModule, why));
                None
            }
            None => {
                let names = library.names();
                let all = format!("modules are {}", names.join(", "));
                let hint = suggest::did_you_mean(&name.text, names.iter().map(String::as_str), &all);
                report.push(at_use(Code::UnknownModule, format!("there is no module `{}`", name.text)).hint(hint));
                None
            }
        };
        loaded.insert(name.text.clone(), found);
        found
    }

    fn import(&mut self, user: ModuleId, from: ModuleId, module: &Name, name: &Name, report: &mut Report) {
        if self.own(from, &name.text).is_none() {
            let names = self.module(from).ast.items.iter().filter_map(def).map(|(name, _)| name.text.as_str());
            let names: Vec<&str> = names.collect();
            let hint =
                suggest::did_you_mean(&name.text, names.iter().copied(), &format!("it has {}", names.join(", ")));
            let label = format!("`{}` has no `{}`", module.text, name.text);
            let source = &self.module(user).source;
            report.push(Diagnostic::new(Code::UnknownImport, source, name.span, label).hint(hint));
            return;
        }
        self.modules[user.0].imports.insert(name.text.clone(), from);
    }
}

fn def(item: &Item) -> Option<(&Name, Def<'_>)> {
    match item {
        Item::Fn(def) => Some((&def.name, Def::Fn(def))),
        Item::Lattice(def) => Some((&def.name, Def::Lattice(def))),
        Item::Boundary(def) => Some((&def.name, Def::Boundary(def))),
        Item::Stencil(def) => Some((&def.name, Def::Stencil(def))),
        Item::Coupling(def) => Some((&def.name, Def::Coupling(def))),
        Item::Criterion(def) => Some((&def.function.name, Def::Criterion(def))),
        _ => None,
    }
}
