//! A text while somebody writes it: what is wrong with it, and what is known of the names in it. Editors ask.
//!
//! In: any text. After: a text without a method, such as a module of boundary conditions, is checked as far as its names go. Of a text
//! with errors in its syntax, the statements that can be read are known.
//!
//! | module | job |
//! | --- | --- |
//! | `given` | names that the language gives |
//! | `names` | what the names of a text stand for |
//! | `says` | what is said of a definition |
//! | `unfinished` | in what an editor's cursor stands, and the text with the statement there completed |
//! | `complete` | what may stand there |

mod complete;
mod given;
mod names;
mod says;
mod unfinished;

use std::cell::OnceCell;

use crate::ast::{Ast, Item, Name, Use};
use crate::check;
use crate::diag::{Diagnostic, Report};
use crate::lexer::continues_name;
use crate::model::Model;
use crate::parser;
use crate::prove::{self, Findings, Transport};
use crate::shipped::Library;
use crate::source::{Source, Span};
use given::given;
use names::{Names, Place, What};
use says::Says;

/// The form of a name, and what is said of it.
type Entry = (String, Vec<String>);

/// A text and its tree.
#[derive(Clone, Copy)]
struct Text<'a> {
    source: &'a Source,
    ast: &'a Ast,
}

/// What is known of a name where it stands.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct About {
    /// Where it stands.
    pub span: Span,
    /// As its definition has it: `let u[a] = j[a] / rho`.
    pub form: String,
    /// What it is, and what follows from the method: a sentence each.
    pub says: Vec<String>,
}

/// What a name is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
#[allow(missing_docs)]
pub enum Kind {
    Keyword,
    Module,
    Lattice,
    Populations,
    Parameter,
    State,
    Value,
    Observable,
    Index,
    Function,
    /// A boundary condition, a stencil, a coupling or a criterion.
    Rule,
    /// `init` or `collide`.
    Block,
}

/// What may stand at a place.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Proposal {
    /// What is written.
    pub name: String,
    /// What it is.
    pub kind: Kind,
    /// As its definition has it.
    pub form: String,
    /// What it is: a sentence each.
    pub says: Vec<String>,
}

/// A definition of a text, or a block.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Symbol {
    /// Its name; of a block its keyword.
    pub name: String,
    /// What it is.
    pub kind: Kind,
    /// As the text has it.
    pub form: String,
    /// The statement from its name on.
    pub span: Span,
    /// Its name.
    pub at: Span,
    /// The definitions in it.
    pub inside: Vec<Symbol>,
}

/// What the method of a text is.
#[derive(Debug)]
enum Outcome {
    Method(Box<Model>),
    /// The text has definitions for other texts only.
    Module,
    Wrong(Report),
}

/// A text that was read.
#[derive(Debug)]
pub struct Reading {
    source: Source,
    ast: Ast,
    /// Whether all of its statements are in the tree.
    whole: bool,
    modules: Modules,
    outcome: Outcome,
    findings: OnceCell<Findings>,
}

/// What a text imports from, by name.
#[derive(Debug)]
struct Modules(Vec<(String, Source, Ast)>);

impl Modules {
    fn of(ast: &Ast, library: &dyn Library) -> Modules {
        let mut modules = Modules(vec![]);
        for item in &ast.items {
            let Item::Use(Use { module: Name { text: name, .. }, .. }) = item else { continue };
            if modules.get(name).is_none()
                && let Some(Ok(source)) = library.module(name)
            {
                let (ast, _) = parser::read(&source);
                modules.0.push((name.clone(), source, ast));
            }
        }
        modules
    }

    fn get(&self, name: &str) -> Option<Text<'_>> {
        let (_, source, ast) = self.0.iter().find(|(module, ..)| module == name)?;
        Some(Text { source, ast })
    }

    /// The statement of a module that defines a name.
    fn item(&self, module: &str, name: &str) -> Option<(Text<'_>, &Item)> {
        let text = self.get(module)?;
        let item = text.ast.items.iter().find(|item| defined(item).is_some_and(|own| own.text == name))?;
        Some((text, item))
    }
}

impl Reading {
    /// Reads and checks a text.
    pub fn new(source: Source, library: &dyn Library) -> Reading {
        let (ast, mut faults) = parser::read(&source);
        let whole = faults.is_empty();
        let outcome = faults.propagate().and_then(|()| match ast.items.iter().all(is_for_others) {
            true => check::module(&source, &ast, library).map(|()| Outcome::Module),
            false => check::check(&source, &ast, library).map(|model| Outcome::Method(Box::new(model))),
        });
        let (modules, outcome) = (Modules::of(&ast, library), outcome.unwrap_or_else(Outcome::Wrong));
        Reading { source, ast, whole, modules, outcome, findings: OnceCell::new() }
    }

    /// Its text.
    pub fn source(&self) -> &Source {
        &self.source
    }

    /// Its method, if it is one and has no errors.
    pub fn model(&self) -> Option<&Model> {
        match &self.outcome {
            Outcome::Method(model) => Some(model),
            _ => None,
        }
    }

    /// All that is wrong with it; if nothing is, what is remarkable.
    pub fn diagnostics(&self) -> &[Diagnostic] {
        match &self.outcome {
            Outcome::Method(model) => model.warnings(),
            Outcome::Module => &[],
            Outcome::Wrong(report) => report.diagnostics(),
        }
    }

    /// What is known of the name at a byte of the text; nothing where there is none.
    pub fn about(&self, offset: usize) -> Option<About> {
        let span = name_at(self.source.text(), offset)?;
        let word = self.source.slice(span);
        let names = self.names();
        let (form, says) = match names.definition(span) {
            Some(definition) => {
                let (form, mut says) = self.says().definition(definition)?;
                if let What::Item(Item::Param(_)) = definition.what {
                    says.extend(self.sets(word));
                }
                (form, says)
            }
            None => self.keyword(word).or_else(|| given(word))?,
        };
        Some(About { span, form, says })
    }

    /// Where the name at a byte is defined: in this text, or in the text of a module.
    pub fn definition(&self, offset: usize) -> Option<(&Source, Span)> {
        let names = self.names();
        let definition = names.definition(name_at(self.source.text(), offset)?)?;
        Some(match definition.what {
            What::Import(import) => {
                let (text, item) = self.modules.item(&import.module.text, &definition.name.text)?;
                (text.source, defined(item)?.span)
            }
            What::Module(import) => (self.modules.get(&import.module.text)?.source, Span::default()),
            _ => (&self.source, definition.name.span),
        })
    }

    /// The name at a byte, if [`rename`](Self::rename) can give it another; else why it cannot.
    pub fn renameable(&self, offset: usize) -> Result<Span, String> {
        let span = name_at(self.source.text(), offset).ok_or("no name stands here")?;
        let name = self.source.slice(span);
        let names = self.names();
        if !self.whole {
            return Err("the text has syntax errors: mend them first, so that all uses are found".into());
        }
        match names.definition(span).map(|definition| definition.what) {
            None => Err(format!("`{name}` is a word of the language, or nothing defines it")),
            Some(What::Import(import)) => {
                Err(format!("the module `{}` defines `{name}`: it is renamed there", import.module.text))
            }
            Some(What::Module(_)) => Err(format!("`{name}` is a module: its name is that of its file")),
            Some(What::Method) => Err(format!("methods that use this text have `{name}`: they give its name")),
            Some(_) => Ok(span),
        }
    }

    /// All places of the name at a byte, which become `new`; or why they cannot.
    pub fn rename(&self, offset: usize, new: &str) -> Result<Vec<Span>, String> {
        let span = self.renameable(offset)?;
        let names = self.names();
        let of = names.at(span).and_then(|place| place.of);
        let spans: Vec<Span> = names.places.iter().filter(|place| place.of == of).map(|place| place.span).collect();
        let (mut text, mut from) = (String::new(), 0);
        for span in &spans {
            text += &self.source.text()[from..span.start];
            text += new;
            from = span.end;
        }
        text += &self.source.text()[from..];
        let source = Source::new(self.source.name(), &text);
        let (ast, faults) = parser::read(&source);
        if let Some(fault) = faults.diagnostics().first() {
            return Err(format!("`{new}` cannot be its name: {}", fault.label()));
        }
        // All else must mean what it meant.
        let renamed = Names::of(Text { source: &source, ast: &ast });
        let meant = |names: &[Place]| names.iter().map(|place| place.of).collect::<Vec<_>>();
        let twice = of.is_some_and(|of| {
            let alike = renamed.definitions.iter().filter(|other| other.name.text == new);
            let own = renamed.definitions.get(of);
            own.is_some_and(|own| alike.filter(|other| meets(other.scope, own.scope)).count() > 1)
        });
        if twice || meant(&renamed.places) != meant(&names.places) {
            return Err(format!("`{new}` means something else here"));
        }
        Ok(spans)
    }

    /// What may stand at a byte, whether the statement there has an end or not.
    pub fn proposals(&self, offset: usize, library: &dyn Library) -> Vec<Proposal> {
        complete::proposals(&self.source, offset, library, self.model())
    }

    /// What the text defines, in its order.
    pub fn symbols(&self) -> Vec<Symbol> {
        let names = self.names();
        let says = self.says();
        let text = self.source.text();
        let mut symbols: Vec<Symbol> = vec![];
        let mut inner =
            names.definitions.iter().filter(|it| matches!(it.what, What::Value(_) | What::Param(_))).peekable();
        for item in &self.ast.items {
            let (name, at, form) = match (item, defined(item)) {
                (Item::Init(block), _) => ("init".to_string(), block.span, String::new()),
                (Item::Collide(block), _) => ("collide".to_string(), block.span, String::new()),
                (_, Some(name)) => (name.text.clone(), name.span, says.item(says.text, item).0),
                _ => continue,
            };
            let span = extent(text, at.start);
            let mut inside = vec![];
            while let Some(definition) = inner.next_if(|it| it.name.span.start < span.end) {
                let (at, kind) = (definition.name.span, says::kind(definition, &self.modules));
                let form = says.definition(definition).map(|(form, _)| form).unwrap_or_default();
                let span = extent(text, at.start);
                inside.push(Symbol { name: definition.name.text.clone(), kind, form, span, at, inside: vec![] });
            }
            symbols.push(Symbol { name, kind: says::item_kind(item), form, span, at, inside });
        }
        symbols
    }

    /// Where statements of parameters end that set a transport coefficient, and what they set.
    pub fn rates(&self) -> Vec<(usize, String)> {
        let params = self.ast.items.iter().filter_map(|item| match item {
            Item::Param(def) => Some(&def.name),
            _ => None,
        });
        let rates = params.flat_map(|name| {
            let end = extent(self.source.text(), name.span.start).end;
            self.coefficients(&name.text).into_iter().map(move |(what, formula)| (end, format!("{what} {formula}")))
        });
        rates.collect()
    }

    /// Where `collide` stands.
    pub fn collision(&self) -> Option<Span> {
        self.ast.items.iter().find_map(|item| match item {
            Item::Collide(block) => Some(block.span),
            _ => None,
        })
    }

    fn names(&self) -> Names<'_> {
        Names::of(Text { source: &self.source, ast: &self.ast })
    }

    fn says(&self) -> Says<'_> {
        Says { text: Text { source: &self.source, ast: &self.ast }, modules: &self.modules, model: self.model() }
    }

    fn findings(&self) -> Option<&Findings> {
        self.model().map(|model| self.findings.get_or_init(|| prove::findings(model)))
    }

    /// What is proved of the method, which stands where it collides.
    fn keyword(&self, word: &str) -> Option<Entry> {
        let findings = (word == "collide").then(|| self.findings()).flatten()?;
        let viscosity = format!("kinematic viscosity: {}", findings.viscosity.formula);
        Some(("collide".into(), findings.lines.iter().cloned().chain([viscosity]).collect()))
    }

    /// What follows from a parameter.
    fn sets(&self, param: &str) -> Vec<String> {
        let told = self.coefficients(param).into_iter();
        told.map(|(what, formula)| format!("sets the {what}: {formula}")).collect()
    }

    /// The transport coefficients that a parameter sets, with their formulas.
    fn coefficients(&self, param: &str) -> Vec<(String, String)> {
        let Some((findings, model)) = self.findings().zip(self.model()) else { return vec![] };
        let told = |what: String, transport: &Transport| {
            (transport.rate.as_deref() == Some(param)).then(|| (what, transport.formula.clone()))
        };
        let viscosity = told("kinematic viscosity".into(), &findings.viscosity);
        let bulk = findings.bulk.as_ref().and_then(|bulk| told("bulk viscosity".into(), bulk));
        let scalars = model.populations().iter().zip(&findings.diffusivities);
        let scalars = scalars
            .filter_map(|(set, found)| told(format!("diffusivity of the scalar of `{}`", set.name), found.as_ref()?));
        viscosity.into_iter().chain(bulk).chain(scalars).collect()
    }
}

/// Whether two spans have a byte in common.
fn meets(a: Span, b: Span) -> bool {
    a.start < b.end && b.start < a.end
}

/// The name that has a byte of the text, or ends there.
fn name_at(text: &str, offset: usize) -> Option<Span> {
    let offset = (0..=offset.min(text.len())).rev().find(|at| text.is_char_boundary(*at))?;
    let comment = text[..offset].rfind('\n').map_or(0, |at| at + 1);
    if text[comment..offset].contains("//") {
        return None;
    }
    let before = text[..offset].chars().rev().take_while(|c| continues_name(*c)).map(char::len_utf8).sum::<usize>();
    let behind = text[offset..].chars().take_while(|c| continues_name(*c)).map(char::len_utf8).sum::<usize>();
    let span = Span::new(offset - before, offset + behind);
    let first = text[span.start..span.end].chars().next()?;
    (!first.is_ascii_digit()).then_some(span)
}

/// Where a statement starts, or its name stands.
fn start(item: &Item) -> usize {
    match item {
        Item::Use(import) => import.module.span.start,
        Item::Init(block) | Item::Collide(block) => block.span.start,
        Item::LatticeChoice(name)
        | Item::Conserve(name)
        | Item::ConserveNone(name)
        | Item::Field(name)
        | Item::BoundaryChoice(name)
        | Item::StencilChoice(name)
        | Item::CouplingChoice(name)
        | Item::CriterionChoice(name) => name.span.start,
        _ => defined(item).map_or(0, |name| name.span.start),
    }
}

/// The name that a statement defines.
fn defined(item: &Item) -> Option<&Name> {
    Some(match item {
        Item::Lattice(def) => &def.name,
        Item::Populations(def) => &def.name,
        Item::Param(def) | Item::State(def) => &def.name,
        Item::Place(name) => name,
        Item::Let(value) | Item::Varied(value) => &value.name,
        Item::Observe(def) if def.value.is_some() => &def.name,
        Item::Fn(def) => &def.name,
        Item::Boundary(def) => &def.name,
        Item::Stencil(def) => &def.name,
        Item::Coupling(def) => &def.name,
        Item::Criterion(def) => &def.function.name,
        _ => return None,
    })
}

/// Whether a statement defines something that other texts may import.
fn is_for_others(item: &Item) -> bool {
    use Item::{Boundary, Coupling, Criterion, Fn, Lattice, Stencil, Use};
    matches!(item, Use(_) | Fn(_) | Lattice(_) | Boundary(_) | Stencil(_) | Coupling(_) | Criterion(_))
}

/// From a place in a statement to its end: behind its `;`, or behind the block that it has.
fn extent(text: &str, from: usize) -> Span {
    let (mut open, mut comment) = (0usize, false);
    let mut before = ' ';
    for (at, letter) in text[from..].char_indices() {
        match letter {
            '\n' => comment = false,
            '/' if before == '/' => comment = true,
            _ if comment => {}
            '(' | '[' | '{' => open += 1,
            ')' | ']' => open = open.saturating_sub(1),
            '}' => {
                open = open.saturating_sub(1);
                if open == 0 {
                    return Span::new(from, from + at + 1);
                }
            }
            ';' if open == 0 => return Span::new(from, from + at + 1),
            _ => {}
        }
        before = letter;
    }
    Span::new(from, text.len())
}

#[cfg(test)]
#[path = "../../tests/texts/damage.rs"]
mod damage;

#[cfg(test)]
mod tests {
    use super::*;
    use crate::parser::BUILTINS;
    use crate::shipped::{self, Prelude};

    fn reading(name: &str) -> Reading {
        Reading::new(Source::new(&format!("{name}.lbm"), shipped::spec(name).expect("shipped")), &Prelude)
    }

    /// What is known of the first place where `place` stands; the name is the part before `|`.
    fn about(reading: &Reading, place: &str) -> About {
        let at = place.find('|').expect("a mark");
        let offset = reading.source().text().find(&place.replace('|', "")).expect("it stands there") + at;
        reading.about(offset).unwrap_or_else(|| panic!("{place}"))
    }

    #[test]
    fn the_rate_tells_the_viscosity_that_it_sets() {
        let reading = reading("d2q9_boussinesq");
        let omega = about(&reading, "param omega|");
        assert_eq!(omega.form, "param omega in (0, 2)");
        assert_eq!(omega.says[..2], ["parameter: a number", "relaxation rate of the flow"]);
        assert_eq!(omega.says[2], "sets the kinematic viscosity: 1/3*(1/omega - 1/2)");
        let other = about(&reading, "+ omega_g| * (geq").says;
        assert_eq!(
            other.last().map(String::as_str),
            Some("sets the diffusivity of the scalar of `g`: 1/3*(1/omega_g - 1/2)")
        );
    }

    #[test]
    fn values_tell_their_shape() {
        let reading = reading("d2q9_boussinesq");
        let says = |place: &str| about(&reading, place).says[0].clone();
        assert_eq!(says("field u|"), "value: a vector, over 2 axes");
        assert_eq!(says("let feq|"), "value: numbers, over 9 directions");
        assert_eq!(says("let geq|"), "value: numbers, over 5 directions of `g`");
        assert_eq!(says("velocity) / f.cs2|"), "square of the speed of sound; of other populations `g.cs2`");
        assert_eq!(about(&reading, "let u|").form, "let u[a] = (j[a] + force[a] / 2) / rho");
    }

    #[test]
    fn a_name_means_what_it_means_in_its_statement() {
        let reading = reading("d2q9_boussinesq");
        assert_eq!(about(&reading, "field temperature|").form, "let temperature = sum(i in g: g[i])");
        assert_eq!(about(&reading, "w[i] * temperature|").says[0], "parameter of the boundary condition: a number");
        assert_eq!(about(&reading, "guo[i](u, lift|").form, "let lift[a] = buoyancy[a] * (temperature - reference)");
    }

    #[test]
    fn imports_and_the_collision_tell_what_is_behind_them() {
        let reading = reading("d2q9_boussinesq");
        let quadratic = about(&reading, "<- quadratic|");
        assert!(quadratic.form.starts_with("fn quadratic[i](rho, u[a]) ="), "{}", quadratic.form);
        assert!(quadratic.says.contains(&"from `prelude/equilibria.lbm`".to_string()), "{:?}", quadratic.says);
        assert!(about(&reading, "lattice D2Q9|").says[0].starts_with("velocity set: 9 velocities in 2 dimensions"));
        let proved = about(&reading, "collide|").says;
        assert!(proved.iter().any(|line| line.starts_with("collision conserves mass")), "{proved:?}");
        assert_eq!(proved.last().map(String::as_str), Some("kinematic viscosity: 1/3*(1/omega - 1/2)"));
    }

    #[test]
    fn comments_numbers_and_texts_with_errors_tell_nothing() {
        let reading = reading("d2q9_bgk");
        let comment = reading.source().text().find("//").expect("a comment") + 4;
        assert_eq!(reading.about(comment), None);
        assert_eq!(reading.about(usize::MAX), None);
        let broken = Reading::new(Source::new("a.lbm", "let = 1;"), &Prelude);
        assert!(!broken.diagnostics().is_empty());
        assert_eq!(broken.about(1), None);
    }

    #[test]
    fn a_module_is_checked_as_far_as_its_names_go() {
        for (name, text) in shipped::modules() {
            let reading = Reading::new(Source::new(&format!("{name}.lbm"), text), &Prelude);
            assert!(reading.diagnostics().is_empty(), "{name}: {:?}", reading.diagnostics());
        }
        let wrong = Reading::new(Source::new("a.lbm", "fn double(x) = 2 * y;"), &Prelude);
        assert_eq!(wrong.diagnostics().len(), 1, "{:?}", wrong.diagnostics());
    }

    fn offset(text: &str, place: &str) -> usize {
        text.find(&place.replace('|', "")).expect("it stands there") + place.find('|').expect("a mark")
    }

    /// The names that may stand at the `|` of a text.
    fn proposed(text: &str) -> Vec<String> {
        let reading = Reading::new(Source::new("a.lbm", &text.replace('|', "")), &Prelude);
        let proposals = reading.proposals(text.find('|').expect("a mark"), &Prelude);
        let names: Vec<String> = proposals.into_iter().map(|proposal| proposal.name).collect();
        let mut once = names.clone();
        once.sort();
        once.dedup();
        assert_eq!(once.len(), names.len(), "{names:?}");
        names
    }

    #[track_caller]
    fn propose(text: &str, has: &[&str], lacks: &[&str]) {
        let names = proposed(text);
        let is_there = |name: &&&str| names.iter().any(|known| known == **name);
        assert_eq!(has.iter().filter(|name| !is_there(name)).count(), 0, "{has:?}: {names:?}");
        assert_eq!(lacks.iter().filter(is_there).count(), 0, "{lacks:?}: {names:?}");
    }

    #[test]
    fn names_in_scope_and_words_are_proposed_where_they_may_stand() {
        let top = "use lattices::D2Q9;\nuse equilibria::quadratic;\nlattice D2Q9;\nparam omega in (0, 2);\nlet rho = sum(i: f[i]);\n";
        let with = |rest: &str| format!("{top}{rest}");
        propose(&with("|"), &["collide", "let", "boundary"], &["rho", "sum"]);
        propose(
            &with("let u = r|\nfield rho;"),
            &["rho", "omega", "quadratic", "sum", "f", "exp", "neighbour"],
            &["D2Q9", "u", "let"],
        );
        propose(&with("let u = | + (2"), &["rho"], &["u"]);
        propose(&with("let u[a] = sum(i: c[i, a] * f[|"), &["i", "a"], &[]);
        propose(&with("let later = 1;\nlet u[a] = if rho > |"), &["then", "later"], &["else"]);
        propose(&with("collide {\n    let feq[i] = quadratic[i](|"), &["rho", "omega", "i"], &["feq", "mirrored"]);
        propose(&with("collide {\n    let feq[i] = 1;\n    |\n}\nfield rho;"), &["let", "f"], &["feq", "collide"]);
        propose(&with("collide {\n    let feq[i] = 1;\n    f[i] <- fe|\n}\nlet below = 1;"), &["feq"], &["below"]);
        propose(&with("fn half[i](x, v[a]) = w[i] * |;"), &["x", "v", "i", "quadratic", "dot"], &["rho", "omega", "f"]);
        propose(
            &with("boundary own { param speed; link f[i] <- | }"),
            &["speed", "mirrored", "f"],
            &["rho", "equilibrium"],
        );
        propose(&with("boundary own { | }"), &["param", "link", "node", "beyond"], &["rho"]);
        propose(&with("field |"), &["rho"], &["omega", "quadratic"]);
        propose(&with("lattice |;"), &["D2Q9"], &["quadratic", "rho"]);
        propose(&with("param tau: |"), &["length", "time"], &["rho"]);
        propose(&with("use |"), &["walls", "equilibria"], &["rho"]);
        propose(&with("use walls::{bounce_back, |"), &["moving_wall", "bounce_back"], &["walls"]);
        for nothing in ["let |", "let u[a|", "// rho |", "let u = 1|"] {
            assert_eq!(proposed(&with(nothing)), [""; 0], "{nothing}");
        }
        let reading = Reading::new(Source::new("a.lbm", &with("let u = r;")), &Prelude);
        let proposals = reading.proposals(with("let u = r").len(), &Prelude);
        let rho = proposals.iter().find(|proposal| proposal.name == "rho").expect("it is in scope");
        assert_eq!(
            (rho.kind, &rho.form[..], &rho.says[0][..]),
            (Kind::Value, "let rho = sum(i: f[i])", "value: a number")
        );
    }

    #[test]
    fn definitions_are_found_in_the_text_and_in_modules() {
        let reading = reading("d2q9_boussinesq");
        let text = reading.source().text();
        let found = |place: &str| {
            let (source, span) = reading.definition(offset(text, place)).expect(place);
            let line = source.text()[..span.start].rfind('\n').map_or(0, |at| at + 1);
            (source.name().to_string(), source.text()[line..].lines().next().unwrap_or_default().trim().to_string())
        };
        assert!(found("field u|").1.starts_with("let u[a]"));
        assert!(found("w[i] * temperature|").1.starts_with("param temperature"));
        let (file, line) = found("<- quadratic|");
        assert!(file == "prelude/equilibria.lbm" && line.starts_with("fn quadratic[i]"), "{file}: {line}");
        assert_eq!(reading.definition(offset(text, "collide|")), None);
    }

    #[test]
    fn a_name_is_renamed_at_all_of_its_places_and_at_no_other() {
        let text = "use lattices::D2Q9;\nlattice D2Q9;\nparam omega in (0, 2);\nlet rho = sum(i: f[i]);\nlet u[a] = sum(i: c[i, a] * f[i]) / rho;\n\
                    fn own(rho) = 2 * rho;\ncriterion steep(rho) = rho + own(1);\nboundary wall { let u = 1; link f[i] <- u * f[opp(i)]; }\nfield rho;\n";
        let reading = Reading::new(Source::new("a.lbm", text), &Prelude);
        let renamed = |place: &str, new: &str| {
            let spans = reading.rename(offset(text, place), new)?;
            let mut written = text.to_string();
            spans.iter().rev().for_each(|span| written.replace_range(span.start..span.end, new));
            Ok::<_, String>(written)
        };
        let density = renamed("let rh|o", "density").expect("it is free");
        assert_eq!(density.matches("density").count(), 5, "{density}");
        assert!(
            density.contains("fn own(rho) = 2 * rho;") && density.contains("steep(density) = density"),
            "{density}"
        );
        assert!(renamed("fn own(rho|)", "density").expect("it is free").contains("fn own(density) = 2 * density;"));
        assert!(renamed("wall { let u|", "v").expect("it is free").contains("let v = 1; link f[i] <- v *"));
        for (place, new, why) in [
            ("lattice D2Q9|", "D", "module `lattices`"),
            ("use lattices|", "sets", "is a module"),
            ("sum|(i: f[i])", "add", "word of the language"),
            ("let rho|", "omega", "something else"),
            ("let rho|", "u", "something else"),
            ("let rho|", "let", "fixed meaning"),
            ("let rho|", "f", "fixed meaning"),
            ("let rho|", "1; let x", "cannot be its name"),
            ("sum(i|: c[i, a]", "a", "something else"),
        ] {
            let said = renamed(place, new).expect_err(place);
            assert!(said.contains(why), "{place} {new}: {said}");
        }
        let broken = Reading::new(Source::new("a.lbm", "let a = 1;\nlet b = ;"), &Prelude);
        assert!(broken.rename(4, "c").expect_err("errors").contains("syntax errors"));
    }

    #[test]
    fn symbols_are_the_definitions_and_what_is_in_them() {
        let reading = reading("d2q9_boussinesq");
        let symbols = reading.symbols();
        let find = |name: &str| symbols.iter().find(|symbol| symbol.name == name).expect(name);
        assert_eq!(
            (find("omega").kind, &find("u").form[..]),
            (Kind::Parameter, "let u[a] = (j[a] + force[a] / 2) / rho")
        );
        let inside: Vec<&str> = find("collide").inside.iter().map(|symbol| symbol.name.as_str()).collect();
        assert!(inside.contains(&"feq") && inside.contains(&"geq"), "{inside:?}");
        assert!(reading.source().slice(find("collide").span).ends_with('}'));
        let ends = reading.rates();
        assert_eq!(ends.len(), 3, "{ends:?}");
        let statement = reading.source().text()[..ends[0].0].lines().last().unwrap_or_default();
        assert!(statement.starts_with("param omega") && statement.ends_with(';'), "{statement}");
        assert_eq!(ends[0].1, "kinematic viscosity 1/3*(1/omega - 1/2)");
    }

    #[test]
    fn statements_without_errors_are_known_beside_others() {
        let reading = Reading::new(Source::new("a.lbm", "let a = 1;\nlet = 2;\nlet b = a;"), &Prelude);
        assert_eq!(about(&reading, "= a|").form, "let a = 1");
    }

    #[test]
    fn damaged_texts_answer_every_question() {
        let texts =
            ["d2q9_boussinesq", "d3q19_wale"].map(|name| shipped::spec(name).expect("shipped").as_bytes().to_vec());
        let modules = shipped::modules().map(|(_, text)| text.as_bytes().to_vec());
        let texts: Vec<Vec<u8>> = texts.into_iter().chain(modules).collect();
        damage::read_damaged(&texts, 300, |bytes| {
            let text = String::from_utf8_lossy(bytes);
            let reading = Reading::new(Source::new("a.lbm", &text), &Prelude);
            reading.symbols();
            for at in [0, text.len() / 3, text.len() / 2, text.len(), usize::MAX] {
                reading.about(at);
                reading.definition(at);
                reading.proposals(at, &Prelude);
                let _ = reading.rename(at, "other");
            }
        });
    }

    #[test]
    fn every_name_of_the_language_is_known() {
        for name in BUILTINS {
            assert!(given(name).is_some(), "{name}");
        }
    }
}
