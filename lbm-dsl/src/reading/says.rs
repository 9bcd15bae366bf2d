//! What is said of a definition: its form, its type and its comment.

use super::given::given;
use super::names::{Definition, What};
use super::{Entry, Kind, Modules, Text, defined};
use crate::ast::{Binder, Item, Let, Name, Range};
use crate::lexer;
use crate::model::Model;
use crate::source::Source;

/// Longest form of a name that is told, in characters.
const LONGEST: usize = 300;

/// A text, and what is known besides.
#[derive(Clone, Copy)]
pub struct Says<'a> {
    pub text: Text<'a>,
    pub modules: &'a Modules,
    /// The method, if the text is one without errors.
    pub model: Option<&'a Model>,
}

impl Says<'_> {
    /// What is said of a definition of the text.
    pub fn definition(&self, definition: &Definition) -> Option<Entry> {
        let source = self.text.source;
        let name = definition.name;
        Some(match definition.what {
            What::Item(item) => self.item(self.text, item),
            What::Value(value) => self.value(source, value),
            What::Param(param) => {
                let what = format!("parameter of the boundary condition: {}", self.shape(&param.indices));
                entry(source, "param ", &param.name, ";", [what, param.doc.clone()])
            }
            What::Argument(indices) => (name.text.clone(), vec![format!("argument: {}", self.shape(indices))]),
            What::Index(binder) => self.index(binder)?,
            What::Import(import) => {
                let (text, item) = self.modules.item(&import.module.text, &name.text)?;
                let (form, mut says) = self.item(text, item);
                says.push(format!("from `{}`", text.source.name()));
                (form, says)
            }
            What::Module(import) => self.module(&import.module.text)?,
            What::Method => (name.text.clone(), vec!["value of the methods that use this".into()]),
        })
    }

    /// What is said of a module.
    pub fn module(&self, name: &str) -> Option<Entry> {
        let summary = self.modules.get(name)?.ast.summary.join(" ");
        Some((format!("use {name}"), vec!["module".into(), summary]))
    }

    /// What is said of what a statement at the top of a text defines.
    pub fn item(&self, text: Text, item: &Item) -> Entry {
        let source = text.source;
        let Some(name) = defined(item) else { return (String::new(), vec![]) };
        let entry = |keyword: &str, end: &str, says: [String; 2]| entry(source, keyword, name, end, says);
        let above = || lexer::comment_above(source, name.span);
        match item {
            Item::Param(def) => {
                entry("param ", ";", [format!("parameter: {}", self.shape(&def.indices)), def.doc.clone()])
            }
            Item::State(def) => {
                let what = format!("state, which each cell keeps from step to step: {}", self.shape(&def.indices));
                entry("state ", ";", [what, def.doc.clone()])
            }
            Item::Let(value) => self.value(source, value),
            Item::Observe(def) => entry("observe ", ";", ["what output can have".into(), def.doc.clone()]),
            Item::Fn(def) => entry("fn ", ";", [format!("function: {}", self.shape(&def.indices)), above()]),
            Item::Criterion(def) => entry("criterion ", ";", ["refinement criterion".into(), def.doc.clone()]),
            Item::Boundary(def) => {
                let kind = if def.node { "wet-node" } else { "link-wise" };
                entry("boundary ", "{", [format!("{kind} boundary condition"), def.doc.clone()])
            }
            Item::Stencil(def) => {
                entry("stencil ", "{", ["interpolation stencil along an axis".into(), def.doc.clone()])
            }
            Item::Coupling(def) => entry("coupling ", "{", ["coupling of two levels".into(), def.doc.clone()]),
            Item::Populations(_) => entry("populations ", ";", [self.set(&name.text), above()]),
            Item::Lattice(_) => entry("lattice ", "{", [self.lattice(&name.text), above()]),
            _ => (name.text.clone(), vec![]),
        }
    }

    fn value(&self, source: &Source, value: &Let) -> Entry {
        let doc = lexer::comment_at(source, value.value.span.after());
        entry(source, "let ", &value.name, ";", [format!("value: {}", self.shape(&value.indices)), doc])
    }

    fn index(&self, binder: &Binder) -> Option<Entry> {
        let source = self.text.source;
        let form = |end: usize| source.text()[binder.name.span.start..end].to_string();
        let (form, over) = match &binder.range {
            Range::Directions | Range::Axes => return given(&binder.name.text),
            Range::DirectionsOf(set) => (form(set.span.end), self.over(binder)),
            Range::Whole { high, .. } => (form(high.span.end), "whole numbers".into()),
        };
        Some((form, vec![format!("index over {over}")]))
    }

    fn set(&self, name: &str) -> String {
        let set = self.model.and_then(|model| model.populations().iter().find(|set| set.name == name));
        set.map_or("populations".into(), |set| format!("{} populations", set.lattice.q()))
    }

    fn lattice(&self, name: &str) -> String {
        let sets = self.model.map_or(&[][..], |model| model.populations());
        let lattice = sets.iter().map(|set| &set.lattice).find(|lattice| lattice.name() == name);
        lattice.map_or("velocity set".into(), |lattice| {
            let (q, dim, cs2) = (lattice.q(), lattice.dim(), lattice.cs2());
            format!("velocity set: {q} velocities in {dim} dimensions, squared speed of sound {cs2}")
        })
    }

    /// What a family with these indices is, with the number of its values where the method is known.
    fn shape(&self, indices: &[Binder]) -> String {
        let one = |binder: &Binder| self.over(binder);
        match indices {
            [] => "a number".into(),
            [Binder { range: Range::Axes, .. }] => format!("a vector, over {}", one(&indices[0])),
            [Binder { range: Range::Axes, .. }, Binder { range: Range::Axes, .. }] => {
                format!("a tensor, over {} twice", one(&indices[0]))
            }
            _ => format!("numbers, over {}", indices.iter().map(one).collect::<Vec<_>>().join(" and ")),
        }
    }

    /// What an index runs over.
    fn over(&self, binder: &Binder) -> String {
        let dim = self.model.map(|model| model.lattice().dim());
        let q = |set: Option<&Name>| {
            let mut sets = self.model?.populations().iter();
            let set = sets.find(|known| set.is_none_or(|set| set.text == known.name))?;
            Some(set.lattice.q())
        };
        let count = |number: Option<usize>, what: &str| match number {
            Some(number) => format!("{number} {what}"),
            None => format!("the {what}"),
        };
        match &binder.range {
            Range::Directions => count(q(None), "directions"),
            Range::DirectionsOf(set) => count(q(Some(set)), &format!("directions of `{}`", set.text)),
            Range::Axes => count(dim, "axes"),
            Range::Whole { .. } => format!("the whole numbers of `{}`", binder.name.text),
        }
    }
}

/// What a definition is.
pub fn kind(definition: &Definition, modules: &Modules) -> Kind {
    match definition.what {
        What::Item(item) => item_kind(item),
        What::Param(_) => Kind::Parameter,
        What::Value(_) | What::Argument(_) | What::Method => Kind::Value,
        What::Index(_) => Kind::Index,
        What::Import(import) => {
            modules.item(&import.module.text, &definition.name.text).map_or(Kind::Value, |(_, item)| item_kind(item))
        }
        What::Module(_) => Kind::Module,
    }
}

/// What a statement at the top defines.
pub fn item_kind(item: &Item) -> Kind {
    match item {
        Item::Lattice(_) => Kind::Lattice,
        Item::Populations(_) => Kind::Populations,
        Item::Param(_) => Kind::Parameter,
        Item::State(_) => Kind::State,
        Item::Observe(_) => Kind::Observable,
        Item::Fn(_) => Kind::Function,
        Item::Boundary(_) | Item::Stencil(_) | Item::Coupling(_) | Item::Criterion(_) => Kind::Rule,
        Item::Init(_) | Item::Collide(_) => Kind::Block,
        _ => Kind::Value,
    }
}

fn entry(source: &Source, keyword: &str, name: &Name, end: &str, says: [String; 2]) -> Entry {
    let rest = &source.text()[name.span.start..];
    let rest = &rest[..rest.find(end).unwrap_or(rest.len())];
    let lines = rest.lines().map(|line| line.split("//").next().unwrap_or_default());
    let form = lines.flat_map(str::split_whitespace).collect::<Vec<_>>().join(" ");
    let form = match form.char_indices().nth(LONGEST) {
        Some((end, _)) => format!("{keyword}{}…", &form[..end]),
        None => format!("{keyword}{form}"),
    };
    (form, says.into_iter().filter(|text| !text.is_empty()).collect())
}
