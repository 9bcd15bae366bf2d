//! What may stand at a place of a text.

use std::collections::BTreeSet;

use super::given::{self, given};
use super::names::{Definition, Names, What};
use super::says::{self, Says};
use super::unfinished::Place;
use super::{Kind, Modules, Proposal, Text, defined, is_for_others};
use crate::ast::Item;
use crate::model::Model;
use crate::parser::{self, ITEMS};
use crate::shipped::Library;
use crate::source::Source;

/// What may stand at a byte of a text, of which that method is known.
pub fn proposals(source: &Source, offset: usize, library: &dyn Library, model: Option<&Model>) -> Vec<Proposal> {
    let Some(place) = Place::of(source.text(), offset) else { return vec![] };
    let source = Source::new(source.name(), &place.finished(source.text()));
    let (ast, _) = parser::read(&source);
    let modules = Modules::of(&ast, library);
    let text = Text { source: &source, ast: &ast };
    let here = Here { offset, names: Names::of(text), says: Says { text, modules: &modules, model }, library };
    here.at(&place)
}

struct Here<'a> {
    offset: usize,
    names: Names<'a>,
    says: Says<'a>,
    library: &'a dyn Library,
}

impl Here<'_> {
    fn at(&self, place: &Place) -> Vec<Proposal> {
        match place.tokens[..] {
            [] if place.item.is_empty() => words(ITEMS),
            [] => self.statements(place.item),
            ["use"] => self.modules(),
            ["use", module, "::", ..] => self.exports(module),
            ["let" | "param" | "state" | "fn" | "populations"] => vec![],
            ["populations", _] => words(&["on"]),
            ["link" | "node" | "packet" | "fine" | "coarse" | "refine" | "coarsen"] => self.targets(false),
            ["conserve"] => [self.chosen("conserve"), words(&["none"])].concat(),
            [
                "lattice" | "boundary" | "stencil" | "coupling" | "criterion" | "field" | "observe" | "rate" | "beyond",
            ] => self.chosen(place.tokens[0]),
            ["populations", _, "on"] => self.chosen("lattice"),
            ["param" | "state" | "observe", ..] if is_unit(place) => words(&["length", "time"]),
            ["let" | "fn", ..] if !place.tokens.contains(&"=") => vec![],
            [.., "."] => words(&["cs2"]),
            _ => self.formula(place),
        }
    }

    /// What statements of a block begin with.
    fn statements(&self, item: &str) -> Vec<Proposal> {
        match item {
            "init" | "collide" => [words(&["let"]), self.targets(true)].concat(),
            "boundary" => words(&["beyond", "let", "link", "node", "param"]),
            "coupling" => words(&["coarse", "coarsen", "fine", "ghosts", "let", "packet", "rate", "refine"]),
            "stencil" => words(&["derivative at", "mean over", "points", "space", "value at"]),
            "lattice" => words(&["cs2", "isotropy", "shell", "velocity"]),
            _ => vec![],
        }
    }

    fn modules(&self) -> Vec<Proposal> {
        let names = self.library.names().into_iter();
        let one = |name: String| {
            let summary = self.library.module(&name).and_then(Result::ok).map(|source| parser::read(&source).0.summary);
            let (form, says) = (format!("use {name}"), vec![summary.unwrap_or_default().join(" ")]);
            Proposal { name, kind: Kind::Module, form, says }
        };
        names.map(one).collect()
    }

    /// What a module gives.
    fn exports(&self, module: &str) -> Vec<Proposal> {
        let Some(text) = self.says.modules.get(module) else { return vec![] };
        let items = text.ast.items.iter().filter(|item| is_for_others(item));
        let one = |item| {
            let (name, (form, says)) = (defined(item)?.text.clone(), self.says.item(text, item));
            Some(Proposal { name, kind: says::item_kind(item), form, says })
        };
        items.filter_map(one).collect()
    }

    /// What a statement assigns to.
    fn targets(&self, with_states: bool) -> Vec<Proposal> {
        let state = |it: &Definition| with_states && matches!(it.what, What::Item(Item::State(_)));
        let known = self.known(|it| it.is_populations() || state(it));
        [self.given(["f"].into_iter()), known].concat()
    }

    /// What stands behind a word that chooses one.
    fn chosen(&self, word: &str) -> Vec<Proposal> {
        self.known(|it| {
            let item = match it.what {
                What::Item(item) => Some(item),
                What::Import(import) => {
                    self.says.modules.item(&import.module.text, &it.name.text).map(|(_, item)| item)
                }
                _ => None,
            };
            match word {
                "lattice" => matches!(item, Some(Item::Lattice(_))),
                "boundary" => matches!(item, Some(Item::Boundary(_))),
                "stencil" => matches!(item, Some(Item::Stencil(_))),
                "coupling" => matches!(item, Some(Item::Coupling(_))),
                "criterion" => matches!(item, Some(Item::Criterion(_))),
                "rate" => matches!(item, Some(Item::Param(_))),
                "observe" => matches!(item, Some(Item::Let(_) | Item::State(_))),
                _ => matches!(item, Some(Item::Let(_))),
            }
        })
    }

    fn formula(&self, place: &Place) -> Vec<Proposal> {
        let count = |word: &str| place.tokens.iter().filter(|token| **token == word).count();
        let next = [("then", count("if") > count("then")), ("else", count("then") > count("else"))];
        let next: Vec<&str> = next.into_iter().filter(|(_, is_due)| *is_due).map(|(word, _)| word).collect();
        let seen = |it: &Definition| match place.item {
            "fn" | "criterion" => !it.is_top() || it.is_everywhere(),
            "boundary" | "coupling" => !it.is_top() || it.is_everywhere() || it.is_populations(),
            _ => true,
        };
        let in_formulas = |it: &Definition| {
            let kind = says::kind(it, self.says.modules);
            !matches!(kind, Kind::Lattice) && (kind != Kind::Rule || place.item == "coupling")
        };
        let given = self.given(given::names(place.item));
        let known = self.known(|it| seen(it) && in_formulas(it));
        let own: BTreeSet<&str> = known.iter().map(|it| it.name.as_str()).collect();
        let given = given.into_iter().filter(|it| !own.contains(it.name.as_str())).collect();
        [words(&["if", "prod", "sum"]), words(&next), given, known].concat()
    }

    fn given<'n>(&self, names: impl Iterator<Item = &'n str>) -> Vec<Proposal> {
        let one = |name: &str| {
            let (form, says) = given(name)?;
            let kind = if form.contains('(') { Kind::Function } else { Kind::Value };
            Some(Proposal { name: name.into(), kind, form, says })
        };
        names.filter_map(one).collect()
    }

    /// Definitions that can be used here, each name once, the innermost.
    fn known(&self, which: impl Fn(&Definition) -> bool) -> Vec<Proposal> {
        let mut seen = BTreeSet::new();
        let here = |it: &&Definition| (it.scope.start..=it.scope.end).contains(&self.offset);
        let mut known: Vec<Proposal> = vec![];
        for definition in self.names.definitions.iter().rev().filter(here) {
            if seen.insert(&definition.name.text)
                && which(definition)
                && let Some((form, says)) = self.says.definition(definition)
            {
                let kind = says::kind(definition, self.says.modules);
                known.push(Proposal { name: definition.name.text.clone(), kind, form, says });
            }
        }
        known.reverse();
        known
    }
}

/// Whether a unit stands at a place: behind a colon, and before a value.
fn is_unit(place: &Place) -> bool {
    let tokens = &place.tokens;
    let colon = tokens.iter().rposition(|token| *token == ":");
    place.is_bare() && colon.is_some_and(|at| !tokens[at..].contains(&"="))
}

fn words(words: &[&str]) -> Vec<Proposal> {
    let one = |word: &&str| Proposal { name: word.to_string(), kind: Kind::Keyword, form: String::new(), says: vec![] };
    words.iter().map(one).collect()
}
