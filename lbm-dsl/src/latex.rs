//! The equations of a method as LaTeX.
//!
//! In: a text that is a valid method, and its library. After: its statements in their order, as environments of amsmath, with the functions
//! that they call; a document of them is one that pdflatex takes.

mod formula;
mod name;

use std::collections::BTreeMap;
use std::fmt::Write;

use crate::ast::{Assign, Ast, Binder, Block, Component, Expr, ExprKind, FnDef, Item, Let, ParamDef, Range, Target};
use crate::diag::Report;
use crate::parser::parse;
use crate::shipped::Library;
use crate::source::Source;
use formula::Scope;
use name::written;

/// Characters of a line, more or less, behind which a sum goes on in the next one.
const LINE: usize = 90;

/// Parts of a method: what they are called, and their titles.
pub const PARTS: [(&str, &str); 5] = [
    ("values", "Values of a cell"),
    ("collide", "Collision"),
    ("init", "Initial populations"),
    ("observe", "Observables"),
    ("functions", "Functions"),
];

/// The equations of a method.
#[derive(Clone, Debug)]
pub struct Equations {
    name: String,
    summary: Vec<String>,
    params: Vec<String>,
    /// Lines of the parts, in the order of [`PARTS`].
    parts: [Vec<String>; 5],
}

impl Equations {
    /// Of a text, with the functions that its library has.
    ///
    /// # Errors
    ///
    /// If the text, or a module that it uses, cannot be parsed.
    pub fn new(source: &Source, library: &dyn Library) -> Result<Equations, Report> {
        let ast = parse(source)?;
        let scope = Scope { vectors: vectors(&ast), bound: vec![] };
        let (mut values, mut collide, mut init, mut observe, mut params) = (vec![], vec![], vec![], vec![], vec![]);
        let mut called = Called { library, modules: BTreeMap::new(), found: vec![], lines: vec![] };
        for item in &ast.items {
            match item {
                Item::Param(def) => params.push(param(&scope, def)),
                Item::Let(def) => values.push(binding(&scope, def)),
                Item::Collide(block) => collide.extend(statements(&scope, block)),
                Item::Init(block) => init.extend(statements(&scope, block)),
                Item::Observe(def) => observe.extend(def.value.as_ref().map(|value| binding(&scope, value))),
                _ => {}
            }
            for expr in formulas(item) {
                called.by(expr, &ast)?;
            }
        }
        let file = source.name().rsplit(['/', '\\']).next().unwrap_or_default();
        let parts = [values, collide, init, observe, called.lines];
        Ok(Equations { name: file.trim_end_matches(".lbm").into(), summary: ast.summary, params, parts })
    }

    /// A part, as an environment `align*`. Nothing where the method has no such part.
    pub fn part(&self, name: &str) -> Option<String> {
        let at = PARTS.iter().position(|(part, _)| *part == name)?;
        let lines = &self.parts[at];
        (!lines.is_empty()).then(|| format!("\\begin{{align*}}\n{}\n\\end{{align*}}\n", lines.join(" \\\\\n")))
    }

    /// A document of all parts, for pdflatex.
    pub fn document(&self) -> String {
        let mut text = "\\documentclass{article}\n\\usepackage[T1]{fontenc}\n\\usepackage{amsmath}\n\
             \\usepackage[landscape, margin=15mm]{geometry}\n\\allowdisplaybreaks\n\\begin{document}\n"
            .to_string();
        let _ = writeln!(text, "\\section*{{{}}}", prose(&self.name));
        let summary: Vec<String> = self.summary.iter().map(|line| prose(line)).collect();
        let _ = writeln!(text, "{}", summary.join("\n"));
        if !self.params.is_empty() {
            let items: String = self.params.iter().map(|param| format!("\\item {param}\n")).collect();
            let _ = write!(text, "\\subsection*{{Parameters}}\n\\begin{{itemize}}\n{items}\\end{{itemize}}\n");
        }
        for (name, title) in PARTS {
            if let Some(part) = self.part(name) {
                let _ = write!(text, "\\subsection*{{{title}}}\n{part}");
            }
        }
        text + "\\end{document}\n"
    }
}

/// Functions that formulas call, each once, and what they call.
struct Called<'a> {
    library: &'a dyn Library,
    modules: BTreeMap<String, Ast>,
    found: Vec<String>,
    lines: Vec<String>,
}

impl Called<'_> {
    /// Those of a formula of this text.
    fn by(&mut self, expr: &Expr, ast: &Ast) -> Result<(), Report> {
        let mut names = vec![];
        expr.visit(&mut |part| {
            if let ExprKind::Name { name, args: Some(_), .. } = &part.kind {
                names.push(name.text.clone());
            }
        });
        for name in names {
            if self.found.contains(&name) {
                continue;
            }
            let Some((def, ast)) = self.definition(&name, ast)? else { continue };
            self.found.push(name);
            self.lines.push(function(&def));
            self.by(&def.body, &ast)?;
        }
        Ok(())
    }

    /// A function that a text defines or imports, with the text that defines it.
    fn definition(&mut self, name: &str, ast: &Ast) -> Result<Option<(FnDef, Ast)>, Report> {
        for item in &ast.items {
            match item {
                Item::Fn(def) if def.name.text == name => return Ok(Some((def.clone(), ast.clone()))),
                Item::Use(import) if import.names.iter().any(|known| known.text == name) => {
                    let Some(module) = self.module(&import.module.text)? else { return Ok(None) };
                    return self.definition(name, &module);
                }
                _ => {}
            }
        }
        Ok(None)
    }

    fn module(&mut self, name: &str) -> Result<Option<Ast>, Report> {
        if let Some(ast) = self.modules.get(name) {
            return Ok(Some(ast.clone()));
        }
        let Some(Ok(source)) = self.library.module(name) else { return Ok(None) };
        let ast = parse(&source)?;
        self.modules.insert(name.into(), ast.clone());
        Ok(Some(ast))
    }
}

/// Names of vectors at the top of a text and in its collision.
fn vectors(ast: &Ast) -> Vec<String> {
    let is_vector = |indices: &[Binder]| matches!(indices, [Binder { range: Range::Axes, .. }]);
    let mut names = vec![];
    for item in &ast.items {
        match item {
            Item::Param(def) if is_vector(&def.indices) => names.push(def.name.text.clone()),
            Item::Let(def) if is_vector(&def.indices) => names.push(def.name.text.clone()),
            Item::Collide(block) | Item::Init(block) => {
                names.extend(block.lets.iter().filter(|def| is_vector(&def.indices)).map(|def| def.name.text.clone()));
            }
            _ => {}
        }
    }
    names
}

/// The formulas of a statement that has equations.
fn formulas(item: &Item) -> Vec<&Expr> {
    match item {
        Item::Let(def) => vec![&def.value],
        Item::Observe(def) => def.value.iter().map(|def| &def.value).collect(),
        Item::Collide(block) | Item::Init(block) => {
            let lets = block.lets.iter().map(|def| &def.value);
            lets.chain(block.assigns.iter().map(|assign| &assign.value)).collect()
        }
        _ => vec![],
    }
}

fn statements(scope: &Scope, block: &Block) -> Vec<String> {
    let lets = block.lets.iter().map(|def| binding(scope, def));
    lets.chain(block.assigns.iter().map(|assign| assignment(scope, assign))).collect()
}

/// `\omega \in (0, 2)`: what it is.
fn param(scope: &Scope, def: &ParamDef) -> String {
    let scope = scope.with(&def.indices);
    let mut text = format!("${}", left(&scope, &def.name.text, &def.indices));
    if let Some((low, high)) = &def.range {
        let _ = write!(text, " \\in \\left({}, {}\\right)", scope.formula(low), scope.formula(high));
    }
    text += "$";
    if let Some(default) = &def.default {
        let _ = write!(text, ", ${}$ unless given", scope.formula(default));
    }
    if def.doc.is_empty() { text } else { format!("{text}: {}", prose(&def.doc)) }
}

/// A name with its index variables.
fn left(scope: &Scope, name: &str, indices: &[Binder]) -> String {
    let mut symbol = written(name);
    let texts: Vec<String> = indices.iter().map(|binder| scope.index(&binder.name.text)).collect();
    if !texts.is_empty() {
        symbol.below.push(texts.join(" "));
    }
    symbol.text()
}

fn binding(scope: &Scope, def: &Let) -> String {
    let scope = scope.with(&def.indices);
    equation(&scope, &left(&scope, &def.name.text, &def.indices), "=", &def.value, &ranges(&scope, &def.indices))
}

fn function(def: &FnDef) -> String {
    let is_vector = |indices: &[Binder]| matches!(indices, [Binder { range: Range::Axes, .. }]);
    let vectors =
        def.params.iter().filter(|(_, indices)| is_vector(indices)).map(|(name, _)| name.text.clone()).collect();
    let scope = Scope { vectors, bound: vec![] }.with(&def.indices);
    let args: Vec<Expr> = def
        .params
        .iter()
        .map(|(name, _)| Expr {
            kind: ExprKind::Name { name: name.clone(), indices: vec![], args: None },
            span: name.span,
        })
        .collect();
    let args: Vec<String> = args.iter().map(|arg| scope.formula(arg)).collect();
    let head = format!("{}\\left({}\\right)", left(&scope, &def.name.text, &def.indices), args.join(", "));
    equation(&scope, &head, "=", &def.body, &ranges(&scope, &def.indices))
}

fn assignment(scope: &Scope, assign: &Assign) -> String {
    let name = &assign.populations.text;
    let (scope, head, mut where_) = match &assign.target {
        Target::State => (scope.clone(), left(scope, name, &[]), vec![]),
        Target::Index(binder) => {
            let scope = scope.with(std::slice::from_ref(binder));
            let head = left(&scope, name, std::slice::from_ref(binder));
            (scope, head, vec![])
        }
        Target::Velocity(components) => {
            let bound = |component: &Component| match component {
                Component::Bound(binder) => Some(binder.clone()),
                Component::Fixed(_) => None,
            };
            let binders: Vec<Binder> = components.iter().filter_map(bound).collect();
            let scope = scope.with(&binders);
            let text = |component: &Component| match component {
                Component::Bound(binder) => scope.index(&binder.name.text),
                Component::Fixed(value) => scope.formula(value),
            };
            let texts: Vec<String> = components.iter().map(text).collect();
            let mut symbol = written(name);
            symbol.below.push(format!("({})", texts.join(", ")));
            let ranges = ranges(&scope, &binders);
            (scope, symbol.text(), ranges)
        }
    };
    where_.extend(assign.filter.iter().map(|filter| scope.formula(filter)));
    equation(&scope, &head, "\\leftarrow", &assign.value, &where_)
}

/// What index variables run over, of those of whole numbers.
fn ranges(scope: &Scope, binders: &[Binder]) -> Vec<String> {
    binders.iter().filter_map(|binder| scope.range(binder)).collect()
}

/// A line of `align*`, or several where it is long.
fn equation(scope: &Scope, head: &str, sign: &str, value: &Expr, conditions: &[String]) -> String {
    let (mut text, mut length) = (format!("{head} &{sign}"), width(head));
    for (at, (is_minus, term)) in scope.terms(value).into_iter().enumerate() {
        if at > 0 && length + width(&term) > LINE {
            text += " \\\\\n&\\quad";
            length = 0;
        }
        text += match (at, is_minus) {
            (0, false) => " ",
            (_, false) => " + ",
            (_, true) => " - ",
        };
        length += width(&term) + 1;
        text += &term;
    }
    if conditions.is_empty() { text } else { format!("{text}, \\quad {}", conditions.join(",\\; ")) }
}

/// How many characters are seen, more or less: a command is one.
fn width(text: &str) -> usize {
    let mut in_command = false;
    let mut is_seen = |c: char| {
        let goes_on = in_command && c.is_ascii_alphabetic();
        in_command = goes_on || c == '\\';
        !goes_on && !"{}_^& \n".contains(c)
    };
    text.chars().filter(|c| is_seen(*c)).count()
}

/// A comment as text.
fn prose(text: &str) -> String {
    let letter = |c: char| match c {
        '\\' => "\\textbackslash{}".into(),
        '{' | '}' | '$' | '&' | '#' | '_' | '%' => format!("\\{c}"),
        '^' => "\\textasciicircum{}".into(),
        '~' => "\\textasciitilde{}".into(),
        '<' | '>' | '|' => format!("${c}$"),
        '\t' => " ".into(),
        // Latin letters with accents are known to fontenc.
        ' '..='~' | 'À'..='ÿ' => c.to_string(),
        _ => "?".into(),
    };
    text.chars().map(letter).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::shipped::{self, Prelude};

    fn of(name: &str) -> Equations {
        let text = shipped::spec(name).unwrap();
        Equations::new(&Source::new(&format!("{name}.lbm"), text), &Prelude).unwrap()
    }

    #[test]
    fn a_collision_is_that_of_the_paper() {
        let bgk = of("d2q9_bgk");
        assert_eq!(
            bgk.part("collide").unwrap(),
            "\\begin{align*}\n\
             f^{\\mathrm{eq}}_{i} &= \\mathrm{quadratic}_{i}\\left(\\rho, \\mathbf{u}\\right) \\\\\n\
             f_{i} &\\leftarrow f_{i} + \\omega \\, \\left(f^{\\mathrm{eq}}_{i} - f_{i}\\right)\n\
             \\end{align*}\n"
        );
        assert_eq!(
            bgk.part("functions").unwrap(),
            "\\begin{align*}\n\
             \\mathrm{quadratic}_{i}\\left(\\rho, \\mathbf{u}\\right) &= w_{i} \\, \\rho \\, \\left(1 + \\frac{\\mathbf{c}_{i} \\cdot \
             \\mathbf{u}}{c_s^{2}} + \\frac{\\left(\\mathbf{c}_{i} \\cdot \\mathbf{u}\\right)^{2}}{2 \\, c_s^{4}} - \
             \\frac{\\mathbf{u} \\cdot \\mathbf{u}}{2 \\, c_s^{2}}\\right)\n\
             \\end{align*}\n"
        );
        assert!(bgk.part("values").unwrap().contains("u_{\\alpha} &= \\frac{j_{\\alpha}}{\\rho}"));
        assert_eq!(bgk.part("walls"), None);
    }

    #[test]
    fn parentheses_are_those_of_the_formula() {
        let line = |value: &str| {
            let text = format!("let x = {value};");
            let ast = parse(&Source::new("t.lbm", &text)).unwrap();
            let Item::Let(def) = &ast.items[0] else { panic!("a value") };
            Scope::default().formula(&def.value)
        };
        assert_eq!(line("(p + q) * r"), "\\left(p + q\\right) \\, r");
        assert_eq!(line("p - (q - r)"), "p - \\left(q - r\\right)");
        assert_eq!(line("-(p + q)"), "-\\left(p + q\\right)");
        assert_eq!(line("(p / q)^2"), "\\left(\\frac{p}{q}\\right)^{2}");
        assert_eq!(line("sum(i: f[i] + 1) * p"), "\\left(\\sum_{i} \\left(f_{i} + 1\\right)\\right) \\, p");
        assert_eq!(line("p * sum(i: f[i]) * q"), "\\left(p \\, \\sum_{i} f_{i}\\right) \\, q");
        assert_eq!(line("2 * 3 * p"), "2 \\cdot 3 \\, p");
        assert_eq!(
            line("1 + (if p < 0 then p else if p == 0 then 1/2 else q)"),
            "1 + \\left(\\begin{cases} p & \\text{if } p < 0 \\\\ \\frac{1}{2} & \\text{if } p = 0 \\\\ q & \\text{otherwise} \\end{cases}\\right)"
        );
        assert_eq!(line("sum(a, b if a <= b: p)"), "\\sum_{\\substack{\\alpha, \\beta \\\\ \\alpha \\le \\beta}} p");
        assert_eq!(
            line("sum(x in -1..2: x^2 * f[(x, 0, 0)])"),
            "\\sum_{x = -1}^{1} x^{2} \\, f_{\\left(x, 0, 0\\right)}"
        );
        assert_eq!(line("cs2^2 + f[opp(i)]"), "c_s^{4} + f_{\\bar{i}}");
        // As deep as a text may be, in no time that grows with the power of the depth.
        let deep = format!("{}p{}", "p * (q + ".repeat(30), ")".repeat(30));
        assert_eq!(line(&deep).matches("\\left(").count(), 30);
    }

    /// Braces, environments and delimiters close in the order in which they open.
    fn is_balanced(text: &str) -> Result<(), String> {
        let mut open: Vec<String> = vec![];
        let mut rest = text;
        while let Some(at) = rest.find(['{', '}', '\\']) {
            let tail = &rest[at..];
            let end = |word: &str| tail[word.len()..].split('}').next().unwrap_or_default().to_string();
            let (closes, opens, length) = if tail.starts_with("\\begin{") {
                (None, Some(end("\\begin{")), tail.find('}').unwrap_or(0) + 1)
            } else if tail.starts_with("\\end{") {
                (Some(end("\\end{")), None, tail.find('}').unwrap_or(0) + 1)
            } else if tail.starts_with("\\leftarrow") {
                (None, None, "\\leftarrow".len())
            } else if tail.starts_with("\\left") {
                (None, Some("left".into()), "\\left(".len())
            } else if tail.starts_with("\\right") {
                (Some("left".into()), None, "\\right)".len())
            } else if tail.starts_with('\\') {
                (None, None, 2)
            } else if tail.starts_with('{') {
                (None, Some("{".into()), 1)
            } else {
                (Some("{".into()), None, 1)
            };
            if let Some(closed) = closes
                && open.pop().as_ref() != Some(&closed)
            {
                return Err(format!("{closed} closes nothing at {}", &tail[..tail.len().min(40)]));
            }
            open.extend(opens);
            rest = &tail[length..];
        }
        if open.is_empty() { Ok(()) } else { Err(format!("{open:?} stay open")) }
    }

    #[test]
    fn documents_of_shipped_methods_are_balanced_ascii() {
        for (name, _) in shipped::specs() {
            let equations = of(name);
            let document = equations.document();
            is_balanced(&document).unwrap_or_else(|why| panic!("{name}: {why}"));
            assert!(document.chars().all(|c| c.is_ascii() || ('À'..='ÿ').contains(&c)), "{name}");
            for part in ["values", "collide", "init"] {
                assert!(equations.part(part).is_some(), "{name} has no {part}");
            }
        }
        assert!(is_balanced("{\\left(}\\right)").is_err() && is_balanced("\\begin{cases}").is_err());
    }
}
