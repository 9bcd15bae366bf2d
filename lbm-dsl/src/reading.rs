//! A text while somebody writes it: what is wrong with it, and what is known of a name where it stands. Editors ask.
//!
//! In: any text. After: a text without a method, such as a module of boundary conditions, is checked as far as its names go.

use std::cell::OnceCell;

use crate::ast::{Ast, Binder, Block, Item, Let, Name, Range, Statement};
use crate::check;
use crate::diag::{Diagnostic, Report};
use crate::function;
use crate::lexer::{self, continues_name};
use crate::model::Model;
use crate::parser::parse;
use crate::prove::{self, Findings, Transport};
use crate::shipped::Library;
use crate::source::{Source, Span};

/// Longest form of a name that is told, in characters.
const LONGEST: usize = 300;

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
    ast: Option<Ast>,
    /// What it imports from, by name.
    modules: Vec<(String, Source, Ast)>,
    outcome: Outcome,
    findings: OnceCell<Findings>,
}

impl Reading {
    /// Reads and checks a text.
    pub fn new(source: Source, library: &dyn Library) -> Reading {
        let (ast, outcome) = match parse(&source) {
            Err(report) => (None, Outcome::Wrong(report)),
            Ok(ast) => {
                let outcome = match ast.items.iter().all(is_for_others) {
                    true => check::module(&source, &ast, library).map(|()| Outcome::Module),
                    false => check::check(&source, &ast, library).map(|model| Outcome::Method(Box::new(model))),
                };
                (Some(ast), outcome.unwrap_or_else(Outcome::Wrong))
            }
        };
        let uses = ast.iter().flat_map(|ast| &ast.items).filter_map(|item| match item {
            Item::Use(import) => Some(&import.module.text),
            _ => None,
        });
        let module = |name: &String| {
            let source = library.module(name)?.ok()?;
            let ast = parse(&source).ok()?;
            Some((name.clone(), source, ast))
        };
        let modules = uses.filter_map(module).collect();
        Reading { source, ast, modules, outcome, findings: OnceCell::new() }
    }

    /// Its text.
    pub fn source(&self) -> &Source {
        &self.source
    }

    /// All that is wrong with it; if nothing is, what is remarkable.
    pub fn diagnostics(&self) -> &[Diagnostic] {
        match &self.outcome {
            Outcome::Method(model) => model.warnings(),
            Outcome::Module => &[],
            Outcome::Wrong(report) => report.diagnostics(),
        }
    }

    /// What is known of the name at a byte of the text; nothing where there is none, and in a text with errors in its syntax.
    pub fn about(&self, offset: usize) -> Option<About> {
        let ast = self.ast.as_ref()?;
        let span = name_at(self.source.text(), offset)?;
        let word = self.source.slice(span);
        let entry = self.keyword(word).or_else(|| {
            let inside = ast.items.iter().rfind(|item| start(item) <= offset);
            inside.and_then(|item| self.inside(item, word)).or_else(|| self.named(&self.source, ast, word))
        });
        let entry = entry.or_else(|| self.imported(ast, word)).or_else(|| given(word))?;
        Some(About { span, form: entry.0, says: entry.1 })
    }

    fn model(&self) -> Option<&Model> {
        match &self.outcome {
            Outcome::Method(model) => Some(model),
            _ => None,
        }
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

    /// What a name means in a statement and nowhere else.
    fn inside(&self, item: &Item, word: &str) -> Option<Entry> {
        let source = &self.source;
        let block = |block: &Block| block.lets.iter().find(|value| value.name.text == word).map(|it| self.value(it));
        match item {
            Item::Init(inner) | Item::Collide(inner) => block(inner),
            Item::Boundary(def) => {
                let param = def.params.iter().find(|param| param.name.text == word);
                let param = param.map(|param| {
                    let what = format!("parameter of the boundary condition: {}", self.shape(&param.indices));
                    entry(source, "param ", &param.name, ";", [what, param.doc.clone()])
                });
                param.or_else(|| block(&def.block))
            }
            Item::Coupling(def) => def.statements.iter().find_map(|statement| match statement {
                Statement::Let(value) if value.name.text == word => Some(self.value(value)),
                _ => None,
            }),
            Item::Fn(def) => self.argument(&def.params, word),
            Item::Criterion(def) => self.argument(&def.function.params, word),
            _ => None,
        }
    }

    fn argument(&self, params: &[(Name, Vec<Binder>)], word: &str) -> Option<Entry> {
        let (_, indices) = params.iter().find(|(name, _)| name.text == word)?;
        Some((word.into(), vec![format!("argument: {}", self.shape(indices))]))
    }

    fn value(&self, value: &Let) -> Entry {
        let doc = lexer::comment_at(&self.source, value.value.span.after());
        entry(&self.source, "let ", &value.name, ";", [format!("value: {}", self.shape(&value.indices)), doc])
    }

    /// What the top of a text defines.
    fn named(&self, source: &Source, ast: &Ast, word: &str) -> Option<Entry> {
        let item = ast.items.iter().find(|item| defined(item).is_some_and(|name| name.text == word))?;
        let name = defined(item)?;
        let entry = |keyword: &str, end: &str, says: [String; 2]| entry(source, keyword, name, end, says);
        let above = || lexer::comment_above(source, name.span);
        Some(match item {
            Item::Param(def) => {
                let mut told =
                    entry("param ", ";", [format!("parameter: {}", self.shape(&def.indices)), def.doc.clone()]);
                told.1.extend(self.sets(word));
                told
            }
            Item::State(def) => {
                let what = format!("state, which each cell keeps from step to step: {}", self.shape(&def.indices));
                entry("state ", ";", [what, def.doc.clone()])
            }
            Item::Let(value) => self.value(value),
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
            Item::Populations(_) => entry("populations ", ";", [self.set(word), above()]),
            Item::Lattice(_) => entry("lattice ", "{", [self.lattice(word), above()]),
            _ => return None,
        })
    }

    fn imported(&self, ast: &Ast, word: &str) -> Option<Entry> {
        let uses = ast.items.iter().filter_map(|item| match item {
            Item::Use(import) => Some(import),
            _ => None,
        });
        for import in uses {
            let Some((name, source, ast)) = self.modules.iter().find(|(name, ..)| *name == import.module.text) else {
                continue;
            };
            if name == word {
                return Some((format!("use {name}"), vec!["module".into(), ast.summary.join(" ")]));
            }
            if import.names.iter().any(|name| name.text == word) {
                let (form, mut says) = self.named(source, ast, word)?;
                says.push(format!("from `{}`", source.name()));
                return Some((form, says));
            }
        }
        None
    }

    /// What follows from a parameter.
    fn sets(&self, param: &str) -> Vec<String> {
        let Some((findings, model)) = self.findings().zip(self.model()) else { return vec![] };
        let told = |what: String, transport: &Transport| {
            (transport.rate.as_deref() == Some(param)).then(|| format!("sets the {what}: {}", transport.formula))
        };
        let viscosity = told("kinematic viscosity".into(), &findings.viscosity);
        let bulk = findings.bulk.as_ref().and_then(|bulk| told("bulk viscosity".into(), bulk));
        let scalars = model.populations().iter().zip(&findings.diffusivities);
        let scalars = scalars
            .filter_map(|(set, found)| told(format!("diffusivity of the scalar of `{}`", set.name), found.as_ref()?));
        viscosity.into_iter().chain(bulk).chain(scalars).collect()
    }

    fn set(&self, name: &str) -> String {
        let set = self.model().and_then(|model| model.populations().iter().find(|set| set.name == name));
        set.map_or("populations".into(), |set| format!("{} populations", set.lattice.q()))
    }

    fn lattice(&self, name: &str) -> String {
        let sets = self.model().map_or(&[][..], |model| model.populations());
        let lattice = sets.iter().map(|set| &set.lattice).find(|lattice| lattice.name() == name);
        lattice.map_or("velocity set".into(), |lattice| {
            let (q, dim, cs2) = (lattice.q(), lattice.dim(), lattice.cs2());
            format!("velocity set: {q} velocities in {dim} dimensions, squared speed of sound {cs2}")
        })
    }

    /// What a family with these indices is, with the number of its values where the method is known.
    fn shape(&self, indices: &[Binder]) -> String {
        let dim = self.model().map(|model| model.lattice().dim());
        let q = |set: Option<&Name>| {
            let mut sets = self.model()?.populations().iter();
            let set = sets.find(|known| set.is_none_or(|set| set.text == known.name))?;
            Some(set.lattice.q())
        };
        let count = |number: Option<usize>, what: &str| match number {
            Some(number) => format!("{number} {what}"),
            None => format!("each of the {what}"),
        };
        let one = |binder: &Binder| match &binder.range {
            Range::Directions => count(q(None), "directions"),
            Range::DirectionsOf(set) => count(q(Some(set)), &format!("directions of `{}`", set.text)),
            Range::Axes => count(dim, "axes"),
            Range::Whole { .. } => format!("the whole numbers of `{}`", binder.name.text),
        };
        match indices {
            [] => "a number".into(),
            [Binder { range: Range::Axes, .. }] => format!("a vector, over {}", one(&indices[0])),
            [Binder { range: Range::Axes, .. }, Binder { range: Range::Axes, .. }] => {
                format!("a tensor, over {} twice", one(&indices[0]))
            }
            _ => format!("numbers, over {}", indices.iter().map(one).collect::<Vec<_>>().join(" and ")),
        }
    }
}

/// The form of a name, and what is said of it.
type Entry = (String, Vec<String>);

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

/// What formulas have without a definition.
const GIVEN: &[(&str, &str, &str)] = &[
    ("c", "c[i, a]", "component of the velocity of direction `i` along axis `a`, in cells per step"),
    ("cs2", "cs2", "square of the speed of sound; of other populations `g.cs2`"),
    ("delta", "delta(a, b)", "1 if the two indices are equal, else 0"),
    ("dim", "dim", "number of axes"),
    ("dot", "dot(u, v)", "scalar product of two vectors"),
    ("f", "f[i]", "population of direction `i`; `f[(x, y, z)]` is that of a velocity"),
    (
        "known",
        "known(i)",
        "whether population `i` comes from the fluid, decided when the formula is expanded (wet-node boundary conditions)",
    ),
    ("opp", "opp(i)", "direction opposite to `i`"),
    ("sqrt", "sqrt(a)", "square root"),
    ("w", "w[i]", "weight of direction `i`"),
    ("mirrored", "mirrored[i]", "what a symmetry plane would send back (link-wise boundary conditions)"),
    ("streamed", "streamed[i]", "population that has arrived (wet-node boundary conditions)"),
    ("inside", "inside[i]", "population of the next cell along the inward normal (wet-node boundary conditions)"),
    ("deep", "deep[i]", "population of the cell three cells along the inward normal (wet-node boundary conditions)"),
    ("sent", "sent[i]", "what the cell itself had after the last collision (wet-node boundary conditions)"),
    ("n", "n[a]", "inward normal, at an edge or corner the sum of those that meet (wet-node boundary conditions)"),
    ("mean", "mean(x)", "mean over the packets, or cells, of a coarse cell (couplings)"),
    ("kind", "kind", "how a packet travels (couplings)"),
    (
        "position",
        "position[a]",
        "from where a packet travels, or where a child lies, from the centre of the coarse cell (couplings)",
    ),
    ("equilibrium", "equilibrium[i]", "what `init` gives for the fields of the cell (couplings)"),
    ("gradient", "gradient[a](x)", "derivative of a component of a field along an axis (criteria)"),
    ("i", "i", "index over the directions, as `j` and `k`"),
    ("a", "a", "index over the axes, as `b` and `g`"),
];

fn given(word: &str) -> Option<Entry> {
    let word = match word {
        "j" | "k" => "i",
        "b" | "g" | "α" | "β" | "γ" => "a",
        word => word,
    };
    if let Some((_, form, says)) = GIVEN.iter().find(|(known, ..)| *known == word) {
        return Some((form.to_string(), vec![says.to_string()]));
    }
    let function = function::called(word)?;
    let says = format!("function of numbers, for {}", function::domain(function));
    Some((format!("{word}({})", function.operands().join(", ")), vec![says]))
}

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

    #[test]
    fn every_name_of_the_language_is_known() {
        for name in BUILTINS {
            assert!(given(name).is_some(), "{name}");
        }
    }
}
