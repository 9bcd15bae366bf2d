//! Tokens to the tree.
//!
//! In: a text. After: an [`Ast`], or every syntax error of the text: behind an error parsing goes on at the next statement.
//!
//! syn reads the tokens, so the same grammar can stand in a file and in a Rust macro. Formulas have a parser of their own
//! (`expr`), because `^` and `if ... then` mean other things in Rust.

mod block;
mod expr;
mod levels;

use proc_macro2::{Delimiter, Ident, TokenTree};
use syn::Token;
use syn::ext::IdentExt;
use syn::parse::{ParseBuffer, ParseStream, Parser as _};

use crate::ast::{
    Ast, Binder, CriterionDef, ExprKind, FnDef, Item, LatticeDef, Let, Name, ObserveDef, ParamDef, PopulationsDef,
    Range, Use, Velocities,
};
use crate::diag::{Code, Diagnostic, Report, suggest};
use crate::lexer;
use crate::source::{Source, Span};
use crate::unit::Unit;

type Parsed<T> = Result<T, Box<Diagnostic>>;

/// Words that start or join parts of the grammar.
pub(crate) const KEYWORDS: &[&str] = &[
    "boundary",
    "collide",
    "conserve",
    "coupling",
    "criterion",
    "else",
    "field",
    "fn",
    "if",
    "in",
    "init",
    "lattice",
    "let",
    "link",
    "node",
    "observe",
    "param",
    "populations",
    "prod",
    "state",
    "stencil",
    "sum",
    "then",
    "use",
];
/// Words that mean something at one place of the grammar only, and may be names.
const PLACED: &[&str] = &[
    "at",
    "beyond",
    "coarse",
    "coarsen",
    "derivative",
    "fine",
    "ghosts",
    "isotropy",
    "length",
    "mean",
    "none",
    "on",
    "over",
    "packet",
    "points",
    "rate",
    "refine",
    "shell",
    "space",
    "time",
    "value",
    "velocity",
];
/// Names with a fixed meaning in formulas.
pub(crate) const BUILTINS: &[&str] = &["c", "cs2", "delta", "dim", "dot", "f", "known", "opp", "sqrt", "w"];
/// Words that start a statement at the top of a file.
pub(crate) const ITEMS: &[&str] = &[
    "boundary",
    "collide",
    "conserve",
    "coupling",
    "criterion",
    "field",
    "fn",
    "init",
    "lattice",
    "let",
    "observe",
    "param",
    "populations",
    "state",
    "stencil",
    "use",
];

/// Largest exponent in a unit.
const MAX_POWER: i32 = 8;

/// What editors highlight: keywords, words that are keywords at their places, and names with a fixed meaning.
pub fn words() -> [&'static [&'static str]; 3] {
    [KEYWORDS, PLACED, BUILTINS]
}

/// The tree of `source`.
pub fn parse(source: &Source) -> Result<Ast, Report> {
    let (ast, mut report) = read(source);
    report.propagate()?;
    Ok(ast)
}

/// The tree of the statements of `source` that can be read, and every syntax error.
pub(crate) fn read(source: &Source) -> (Ast, Report) {
    let mut ast = Ast { summary: lexer::opening_comment(source), items: Vec::new(), added: Vec::new() };
    let tokens = match lexer::lex(source) {
        Ok(tokens) => tokens,
        Err(report) => return (ast, report),
    };
    let mut parser = Parser { source, report: Report::new(), depth: 0 };
    let outcome = (|input: ParseStream| {
        while !input.is_empty() {
            match parser.item(input) {
                Ok(item) => ast.items.push(item),
                Err(fault) => {
                    parser.report.push(*fault);
                    skip_statement(input, ITEMS);
                }
            }
        }
        Ok(())
    })
    .parse2(tokens);
    if let (Err(error), true) = (outcome, parser.report.is_empty()) {
        let fault = parser.syntax(error);
        parser.report.push(*fault);
    }
    (ast, parser.report)
}

/// Skips to behind the next `;` or `{ }`, or up to a word that starts a statement.
fn skip_statement(input: ParseStream, starts: &[&str]) {
    let mut first = true;
    while !input.is_empty() {
        if !first && input.fork().call(Ident::parse_any).is_ok_and(|word| starts.contains(&word.to_string().as_str())) {
            return;
        }
        first = false;
        match input.parse::<TokenTree>() {
            Ok(TokenTree::Punct(punct)) if punct.as_char() == ';' => return,
            Ok(TokenTree::Group(group)) if group.delimiter() == Delimiter::Brace => return,
            Ok(_) => {}
            Err(_) => return,
        }
    }
}

fn span_of(span: proc_macro2::Span) -> Span {
    let range = span.byte_range();
    Span::new(range.start, range.end)
}

fn braces(input: ParseStream<'_>) -> syn::Result<ParseBuffer<'_>> {
    let inner;
    syn::braced!(inner in input);
    Ok(inner)
}

fn parens(input: ParseStream<'_>) -> syn::Result<(ParseBuffer<'_>, Span)> {
    let inner;
    let token = syn::parenthesized!(inner in input);
    Ok((inner, span_of(token.span.join())))
}

fn brackets(input: ParseStream<'_>) -> syn::Result<(ParseBuffer<'_>, Span)> {
    let inner;
    let token = syn::bracketed!(inner in input);
    Ok((inner, span_of(token.span.join())))
}

struct Parser<'s> {
    source: &'s Source,
    report: Report,
    depth: usize,
}

impl Parser<'_> {
    fn fault<T>(&self, code: Code, span: Span, label: impl Into<String>) -> Parsed<T> {
        Err(Box::new(Diagnostic::new(code, self.source, span, label)))
    }

    /// What syn has to say, at its place.
    fn syntax(&self, error: syn::Error) -> Box<Diagnostic> {
        let mut span = span_of(error.span());
        let mut label = error.to_string().replace("unexpected end of input, ", "");
        if span == Span::default() && self.source.text().len() > 1 {
            let text = self.source.text().trim_end();
            let last = text.char_indices().next_back().map_or(0, |(at, _)| at);
            span = Span::new(last, text.len());
        }
        if label.is_empty() {
            label = "not expected here".into();
        }
        Box::new(Diagnostic::new(Code::Syntax, self.source, span, label))
    }

    fn take<T>(&self, result: syn::Result<T>) -> Parsed<T> {
        result.map_err(|error| self.syntax(error))
    }

    fn word(&self, input: ParseStream) -> Option<String> {
        input.fork().call(Ident::parse_any).ok().map(|word| word.to_string())
    }

    fn at(&self, input: ParseStream, word: &str) -> bool {
        self.word(input).is_some_and(|found| found == word)
    }

    /// A word of the grammar, where `at` has seen it or must see it.
    fn keyword(&self, input: ParseStream, word: &str) -> Parsed<Span> {
        if !self.at(input, word) {
            return self.fault(Code::Syntax, self.here(input), format!("expected `{word}`"));
        }
        Ok(span_of(self.take(input.call(Ident::parse_any))?.span()))
    }

    /// The token that comes next; at the end, the place of the end.
    fn here(&self, input: ParseStream) -> Span {
        self.syntax(input.error("")).span()
    }

    /// A name that is used.
    fn name(&self, input: ParseStream) -> Parsed<Name> {
        let Ok(ident) = input.fork().call(Ident::parse_any) else {
            return self.fault(Code::Syntax, self.here(input), "expected a name");
        };
        let name = Name { text: ident.to_string(), span: span_of(ident.span()) };
        if KEYWORDS.contains(&name.text.as_str()) {
            return self.fault(
                Code::Syntax,
                name.span,
                format!("expected a name; `{}` belongs to the grammar", name.text),
            );
        }
        self.take(input.call(Ident::parse_any))?;
        Ok(name)
    }

    /// A name that is defined here, which must not have a fixed meaning.
    fn new_name(&self, input: ParseStream) -> Parsed<Name> {
        if let Some(word) = self.word(input)
            && (KEYWORDS.contains(&word.as_str()) || BUILTINS.contains(&word.as_str()))
        {
            return self.fault(Code::Reserved, self.here(input), format!("`{word}` has a fixed meaning"));
        }
        self.name(input)
    }

    /// `;` behind `last`; returns the span from `start` to it.
    fn semicolon(&self, input: ParseStream, start: Span, last: Span) -> Parsed<Span> {
        if input.peek(Token![;]) {
            let token: Token![;] = self.take(input.parse())?;
            return Ok(start.to(span_of(token.span)));
        }
        let next = self.word(input);
        if input.is_empty() || next.is_some_and(|word| KEYWORDS.contains(&word.as_str())) {
            return self.fault(Code::Semicolon, last.after(), "expected `;` here");
        }
        self.fault(Code::Syntax, self.here(input), "expected an operator or `;`")
    }

    fn item(&mut self, input: ParseStream) -> Parsed<Item> {
        let start = self.here(input);
        let Some(word) = self.word(input) else {
            return self.fault(Code::Syntax, start, "expected a statement such as `let` or `collide`");
        };
        if !ITEMS.contains(&word.as_str()) {
            let hint =
                suggest::did_you_mean(&word, ITEMS.iter().copied(), &format!("statements are {}", ITEMS.join(", ")));
            return Err(Box::new(
                Diagnostic::new(Code::UnknownItem, self.source, start, format!("`{word}` starts no statement"))
                    .hint(hint),
            ));
        }
        let keyword = self.keyword(input, &word)?;
        Ok(match word.as_str() {
            "use" => Item::Use(self.import(input, keyword)?),
            "lattice" => self.lattice(input, keyword)?,
            "param" => Item::Param(self.param(input, keyword)?),
            "state" => Item::State(self.state(input, keyword)?),
            "let" => Item::Let(self.binding(input, keyword)?),
            "field" => {
                let name = self.name(input)?;
                self.semicolon(input, keyword, name.span)?;
                Item::Field(name)
            }
            "observe" => Item::Observe(self.observe(input, keyword)?),
            "conserve" => {
                let name = self.name(input)?;
                self.semicolon(input, keyword, name.span)?;
                if name.text == "none" { Item::ConserveNone(name) } else { Item::Conserve(name) }
            }
            "populations" => {
                let name = self.new_name(input)?;
                self.keyword(input, "on")?;
                let lattice = self.name(input)?;
                self.semicolon(input, keyword, lattice.span)?;
                Item::Populations(PopulationsDef { name, lattice })
            }
            "init" => Item::Init(self.init(input, keyword)?),
            "collide" => Item::Collide(self.collide(input, keyword)?),
            "fn" => Item::Fn(self.function(input, keyword)?),
            "stencil" => self.stencil(input, keyword)?,
            "coupling" => self.coupling(input, keyword)?,
            "criterion" => self.criterion(input, keyword)?,
            _ => self.boundary(input, keyword)?,
        })
    }

    fn import(&mut self, input: ParseStream, keyword: Span) -> Parsed<Use> {
        let module = self.name(input)?;
        self.take(input.parse::<Token![::]>())?;
        if !input.peek(syn::token::Brace) {
            let name = self.name(input)?;
            self.semicolon(input, keyword, name.span)?;
            return Ok(Use { module, names: vec![name] });
        }
        let inner = self.take(braces(input))?;
        let mut names = vec![self.name(&inner)?];
        while !inner.is_empty() {
            self.take(inner.parse::<Token![,]>())?;
            if !inner.is_empty() {
                names.push(self.name(&inner)?);
            }
        }
        let last = names.last().map_or(keyword, |name| name.span);
        self.semicolon(input, keyword, last)?;
        Ok(Use { module, names })
    }

    fn lattice(&mut self, input: ParseStream, keyword: Span) -> Parsed<Item> {
        let name = self.name(input)?;
        if !input.peek(syn::token::Brace) {
            self.semicolon(input, keyword, name.span)?;
            return Ok(Item::LatticeChoice(name));
        }
        let inner = self.take(braces(input))?;
        let inner = &inner;
        let (mut cs2, mut groups, mut isotropy) = (None, Vec::new(), None);
        while !inner.is_empty() {
            let start = self.here(inner);
            let word = self.word(inner).unwrap_or_default();
            match word.as_str() {
                "cs2" => {
                    self.keyword(inner, "cs2")?;
                    self.take(inner.parse::<Token![=]>())?;
                    let value = self.expr(inner)?;
                    self.semicolon(inner, start, value.span)?;
                    cs2 = Some(value);
                }
                "shell" | "velocity" => {
                    self.keyword(inner, &word)?;
                    groups.push(self.velocities(inner, start, word == "shell")?);
                }
                "isotropy" => {
                    self.keyword(inner, "isotropy")?;
                    let order: syn::LitInt = self.take(inner.parse())?;
                    let span = self.semicolon(inner, start, span_of(order.span()))?;
                    isotropy = Some((self.take(order.base10_parse())?, span));
                }
                _ => return self.fault(Code::Syntax, start, "expected `cs2`, `shell`, `velocity` or `isotropy`"),
            }
        }
        let Some(cs2) = cs2 else {
            return self.fault(Code::Syntax, name.span, "expected `cs2 = ...;` in this velocity set");
        };
        Ok(Item::Lattice(LatticeDef { name, cs2, groups, isotropy }))
    }

    fn velocities(&mut self, input: ParseStream, start: Span, shell: bool) -> Parsed<Velocities> {
        let (inner, span) = self.take(parens(input))?;
        let mut vector = Vec::new();
        while !inner.is_empty() {
            let minus = inner.parse::<Token![-]>().is_ok();
            let number: syn::LitInt = self.take(inner.parse())?;
            let value: i32 = self.take(number.base10_parse())?;
            if value > 8 {
                return self.fault(Code::OutOfRange, span_of(number.span()), "velocities have components from -8 to 8");
            }
            vector.push(if minus { -value } else { value });
            if !inner.is_empty() {
                self.take(inner.parse::<Token![,]>())?;
            }
        }
        self.take(input.parse::<Token![:]>())?;
        let weight = self.expr(input)?;
        self.semicolon(input, start, weight.span)?;
        Ok(Velocities { shell, vector, span, weight })
    }

    /// A state is declared as a parameter is, but `init` says what it starts from.
    fn state(&mut self, input: ParseStream, keyword: Span) -> Parsed<ParamDef> {
        let def = self.param(input, keyword)?;
        match &def.default {
            Some(value) => self.fault(Code::Syntax, value.span, "a state has no default: give its value in `init`"),
            None => Ok(def),
        }
    }

    /// `omega in (0, 2): 1 / time`, with a default `magic = 3/16` in front of the interval.
    fn param(&mut self, input: ParseStream, keyword: Span) -> Parsed<ParamDef> {
        let name = self.new_name(input)?;
        let indices = self.family(input)?;
        let mut last = name.span;
        let mut default = None;
        if input.peek(Token![=]) {
            self.take(input.parse::<Token![=]>())?;
            let value = self.expr(input)?;
            last = value.span;
            default = Some(value);
        }
        let mut range = None;
        if self.at(input, "in") {
            self.keyword(input, "in")?;
            let (inner, span) = self.take(parens(input))?;
            let low = self.expr(&inner)?;
            self.take(inner.parse::<Token![,]>())?;
            let high = self.expr(&inner)?;
            if !inner.is_empty() {
                return self.fault(Code::Syntax, self.here(&inner), "expected `)`: an interval has two ends");
            }
            (range, last) = (Some((low, high)), span);
        }
        let mut unit = None;
        if input.peek(Token![:]) {
            self.take(input.parse::<Token![:]>())?;
            let (found, end) = self.unit(input)?;
            (unit, last) = (Some(found), end);
        }
        let span = self.semicolon(input, keyword, last)?;
        Ok(ParamDef { name, indices, default, range, unit, doc: lexer::comment_at(self.source, span) })
    }

    /// `length / time^2`, `1 / time`: a product of powers.
    fn unit(&mut self, input: ParseStream) -> Parsed<(Unit, Span)> {
        let (mut unit, mut sign) = (Unit::default(), 1);
        loop {
            let mut last = self.here(input);
            match self.word(input).unwrap_or_default().as_str() {
                word @ ("length" | "time") => {
                    self.keyword(input, word)?;
                    let mut by = 1;
                    if input.peek(Token![^]) {
                        self.take(input.parse::<Token![^]>())?;
                        let number: syn::LitInt = self.take(input.parse())?;
                        last = span_of(number.span());
                        by = match number.base10_parse() {
                            Ok(by @ 1..=MAX_POWER) => by,
                            _ => {
                                let label = format!("exponents of a unit go from 1 to {MAX_POWER}");
                                return self.fault(Code::OutOfRange, last, label);
                            }
                        };
                    }
                    *(if word == "length" { &mut unit.length } else { &mut unit.time }) += sign * by;
                }
                _ => {
                    let one = input.parse::<syn::LitInt>().is_ok_and(|number| number.base10_digits() == "1");
                    if !one {
                        return self.fault(Code::Syntax, last, "expected a unit: `length`, `time` or `1`");
                    }
                }
            }
            if input.peek(Token![*]) {
                self.take(input.parse::<Token![*]>())?;
                sign = 1;
            } else if input.peek(Token![/]) {
                self.take(input.parse::<Token![/]>())?;
                sign = -1;
            } else {
                return Ok((unit, last));
            }
        }
    }

    fn binding(&mut self, input: ParseStream, keyword: Span) -> Parsed<Let> {
        let name = self.new_name(input)?;
        let indices = self.family(input)?;
        self.take(input.parse::<Token![=]>())?;
        let value = self.expr(input)?;
        self.semicolon(input, keyword, value.span)?;
        Ok(Let { name, indices, value })
    }

    /// `observe tau[a, b]: length^2 / time^2 = ...;` or `observe nu;`
    fn observe(&mut self, input: ParseStream, keyword: Span) -> Parsed<ObserveDef> {
        let name = self.new_name(input)?;
        let indices = self.family(input)?;
        let (mut unit, mut last) = (None, name.span);
        if input.peek(Token![:]) {
            self.take(input.parse::<Token![:]>())?;
            let (found, end) = self.unit(input)?;
            (unit, last) = (Some(found), end);
        }
        let mut value = None;
        if !indices.is_empty() || input.peek(Token![=]) {
            self.take(input.parse::<Token![=]>())?;
            let formula = self.expr(input)?;
            last = formula.span;
            value = Some(Let { name: name.clone(), indices, value: formula });
        }
        self.semicolon(input, keyword, last)?;
        Ok(ObserveDef { name, unit, value, doc: lexer::comment_above(self.source, keyword) })
    }

    fn function(&mut self, input: ParseStream, keyword: Span) -> Parsed<FnDef> {
        let name = self.new_name(input)?;
        let indices = self.family(input)?;
        self.definition(input, keyword, name, indices)
    }

    /// `criterion vorticity(u[a]) = ...;` or `criterion vorticity;`
    fn criterion(&mut self, input: ParseStream, keyword: Span) -> Parsed<Item> {
        let name = self.new_name(input)?;
        if !input.peek(syn::token::Paren) {
            self.semicolon(input, keyword, name.span)?;
            return Ok(Item::CriterionChoice(name));
        }
        let doc = lexer::comment_above(self.source, keyword);
        Ok(Item::Criterion(CriterionDef { function: self.definition(input, keyword, name, Vec::new())?, doc }))
    }

    /// The arguments and the value of a function.
    fn definition(&mut self, input: ParseStream, keyword: Span, name: Name, indices: Vec<Binder>) -> Parsed<FnDef> {
        let (inner, _) = self.take(parens(input))?;
        let mut params = Vec::new();
        while !inner.is_empty() {
            let param = if self.at(&inner, "f") { self.name(&inner)? } else { self.new_name(&inner)? };
            params.push((param, self.family(&inner)?));
            if !inner.is_empty() {
                self.take(inner.parse::<Token![,]>())?;
            }
        }
        self.take(input.parse::<Token![=]>())?;
        let body = self.expr(input)?;
        self.semicolon(input, keyword, body.span)?;
        Ok(FnDef { name, indices, params, body })
    }

    /// `[a, b]` behind a name that is defined, or nothing.
    fn family(&mut self, input: ParseStream) -> Parsed<Vec<Binder>> {
        if !input.peek(syn::token::Bracket) {
            return Ok(Vec::new());
        }
        let (inner, _) = self.take(brackets(input))?;
        let mut binders = vec![self.binder(&inner)?];
        while !inner.is_empty() {
            self.take(inner.parse::<Token![,]>())?;
            binders.push(self.binder(&inner)?);
        }
        Ok(binders)
    }

    /// `i`, `i in g`, or `x in -1..=1`.
    fn binder(&mut self, input: ParseStream) -> Parsed<Binder> {
        let name = self.new_name(input)?;
        if self.at(input, "in") {
            self.keyword(input, "in")?;
            let low = Box::new(self.sum_of_terms(input)?);
            if let (ExprKind::Name { name: populations, indices, args: None }, false) =
                (&low.kind, input.peek(Token![..]))
                && indices.is_empty()
            {
                return Ok(Binder { name, range: Range::DirectionsOf(populations.clone()) });
            }
            let inclusive = input.peek(Token![..=]);
            if inclusive {
                self.take(input.parse::<Token![..=]>())?;
            } else {
                self.take(input.parse::<Token![..]>())?;
            }
            let high = Box::new(self.sum_of_terms(input)?);
            return Ok(Binder { name, range: Range::Whole { low, high, inclusive } });
        }
        let range = match name.text.as_str() {
            "i" | "j" | "k" => Range::Directions,
            "a" | "b" | "g" | "α" | "β" | "γ" => Range::Axes,
            _ => return self.fault(Code::IndexRange, name.span, format!("what does `{}` run over?", name.text)),
        };
        Ok(Binder { name, range })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn errors(text: &str) -> Vec<String> {
        match parse(&Source::new("t.lbm", text)) {
            Ok(_) => vec![],
            Err(report) => report.diagnostics().iter().map(|d| format!("{} {}", d.code().code(), d.label())).collect(),
        }
    }

    #[test]
    fn parsing_goes_on_behind_an_error() {
        let text = "let x = ;\nlte y = 1;\nlet z = 1\nlet a = 2;\ncollide { f[i] <- ; let q 3; f[i] <- 1; }\n";
        let found = errors(text);
        let codes: Vec<&str> = found.iter().map(|error| &error[..5]).collect();
        assert_eq!(codes, ["E0101", "E0103", "E0102", "E0101", "E0101"], "{found:?}");
    }

    #[test]
    fn names_with_a_meaning_are_refused() {
        assert_eq!(errors("let w = 1;"), ["E0105 `w` has a fixed meaning"]);
        assert_eq!(errors("let x[q] = 1;"), ["E0104 what does `q` run over?"]);
        assert_eq!(errors("fn mass(f[i]) = sum(i: f[i]);"), [""; 0]);
    }

    #[test]
    fn units_are_products_of_powers() {
        let unit = |text: &str| {
            let ast = parse(&Source::new("t.lbm", &format!("param p[a]: {text};"))).unwrap();
            let Item::Param(param) = &ast.items[0] else { panic!("a parameter") };
            param.unit.map(|unit| (unit.length, unit.time))
        };
        assert_eq!(unit("length / time^2"), Some((1, -2)));
        assert_eq!(unit("1 / time * length^2"), Some((2, -1)));
        assert_eq!(unit("1"), Some((0, 0)));
        assert_eq!(errors("param p[a]: metre;"), ["E0101 expected a unit: `length`, `time` or `1`"]);
        assert_eq!(errors("param p: time^9;"), ["E0404 exponents of a unit go from 1 to 8"]);
    }

    #[test]
    fn defaults_stand_in_front_of_intervals() {
        let ast = parse(&Source::new("t.lbm", "param p[a] = 3/16 in (0, 1): length;")).unwrap();
        let Item::Param(param) = &ast.items[0] else { panic!("a parameter") };
        assert!(param.default.is_some() && param.range.is_some() && param.unit.is_some());
        assert_eq!(errors("param p in (0, 1) = 1/2;"), ["E0101 expected an operator or `;`"]);
        assert_eq!(errors("state p = 1/2 in (0, 1);"), ["E0101 a state has no default: give its value in `init`"]);
    }

    #[test]
    fn an_unfinished_text_is_reported_at_its_end() {
        assert_eq!(errors("let x"), ["E0101 expected `=`"]);
    }
}
