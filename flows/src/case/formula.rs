//! Formulas of position: `0.05 * sin(2*pi*x/lx) * cos(2*pi*y/ly)`.
//!
//! Numbers, `+ - * / ^` and parentheses with the precedence of mathematics (`-x^2` is `-(x^2)`, `2^3^2` is `2^(3^2)`), `pi`,
//! the functions of [`FUNCTIONS`], and two variables for each axis: the position of a cell's centre from the lower corner
//! of the domain, `x, y, z`, and the extent of the domain, `lx, ly, lz`.
//!
//! Libraries that evaluate formulas were tried first; those whose licence fits read `-x^2` as `(-x)^2`, which would make
//! every Gaussian wrong and say nothing. So the precedence is stated here, and winnow's Pratt parser applies it.

use std::fmt;
use std::ops::Range;

use lbm_runtime::kernels::criterion::Criterion;
use winnow::ascii::multispace0;
use winnow::combinator::{Infix, Prefix, dispatch, expression, fail, opt, preceded};
use winnow::error::{ErrMode, ParserError};
use winnow::prelude::*;
use winnow::stream::{LocatingSlice, Location};
use winnow::token::{any, one_of, take_while};

use super::schema;

/// Longest text of a formula, in bytes: what nests deeper cannot be meant.
const LONGEST: usize = 1000;

/// A formula of position.
#[derive(Clone, PartialEq)]
pub struct Formula {
    text: String,
    term: Term,
}

/// What is wrong with a formula, and which bytes of it.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct FormulaError {
    pub(super) at: Range<usize>,
    pub(super) message: String,
    pub(super) label: &'static str,
    pub(super) help: String,
}

#[derive(Clone, Debug, PartialEq)]
enum Term {
    Number(f64),
    /// Position of a cell's centre along an axis.
    Position(usize),
    /// Extent of the domain along an axis.
    Extent(usize),
    /// What has a name that no formula of position has, and the bytes of the text where it stands.
    Named(String, Range<usize>),
    Apply(&'static Function, Vec<Term>),
}

/// A function of one or two arguments; with one, the second is 0.
#[derive(Debug)]
struct Function {
    name: &'static str,
    arguments: usize,
    of: fn(f64, f64) -> f64,
}

impl PartialEq for Function {
    fn eq(&self, other: &Function) -> bool {
        (self.name, self.arguments) == (other.name, other.arguments)
    }
}

const fn function(name: &'static str, arguments: usize, of: fn(f64, f64) -> f64) -> Function {
    Function { name, arguments, of }
}

static FUNCTIONS: [Function; 17] = [
    function("sin", 1, |a, _| a.sin()),
    function("cos", 1, |a, _| a.cos()),
    function("tan", 1, |a, _| a.tan()),
    function("asin", 1, |a, _| a.asin()),
    function("acos", 1, |a, _| a.acos()),
    function("atan", 1, |a, _| a.atan()),
    function("atan2", 2, f64::atan2),
    function("sinh", 1, |a, _| a.sinh()),
    function("cosh", 1, |a, _| a.cosh()),
    function("tanh", 1, |a, _| a.tanh()),
    function("exp", 1, |a, _| a.exp()),
    function("ln", 1, |a, _| a.ln()),
    function("log10", 1, |a, _| a.log10()),
    function("sqrt", 1, |a, _| a.sqrt()),
    function("abs", 1, |a, _| a.abs()),
    function("min", 2, f64::min),
    function("max", 2, f64::max),
];
static SUM: Function = function("+", 2, |a, b| a + b);
static DIFFERENCE: Function = function("-", 2, |a, b| a - b);
static PRODUCT: Function = function("*", 2, |a, b| a * b);
static QUOTIENT: Function = function("/", 2, |a, b| a / b);
static POWER: Function = function("^", 2, f64::powf);
static NEGATION: Function = function("-", 1, |a, _| -a);

const POSITIONS: [&str; 3] = ["x", "y", "z"];
const EXTENTS: [&str; 3] = ["lx", "ly", "lz"];

/// Names that stand for a value.
fn values() -> impl Iterator<Item = &'static str> {
    POSITIONS.into_iter().chain(EXTENTS).chain(["pi"])
}

impl Formula {
    /// A number.
    pub fn number(value: f64) -> Formula {
        Formula { text: value.to_string(), term: Term::Number(value) }
    }

    /// The formula of position at the start of a text, and the rest of the text, without the blanks between.
    pub(super) fn parse(text: &str) -> Result<(Formula, &str), FormulaError> {
        let (formula, rest) = Formula::parse_with_names(text)?;
        match formula.unknown(&|_| false) {
            Some(error) => Err(error),
            None => Ok((formula, rest)),
        }
    }

    /// The same with names of any kind, to be known later: [`Formula::unknown`].
    pub(super) fn parse_with_names(text: &str) -> Result<(Formula, &str), FormulaError> {
        if text.len() > LONGEST {
            return Err(FormulaError {
                at: 0..text.len(),
                message: format!("a formula of {} characters", text.len()),
                label: "too long",
                help: format!("it may have {LONGEST}"),
            });
        }
        let mut input = LocatingSlice::new(text);
        let term = term(&mut input).map_err(|error| match error.into_inner() {
            Ok(error) => error,
            Err(_) => unreachable!("a text is never incomplete"),
        })?;
        let end = input.current_token_start();
        Ok((Formula { text: text[..end].trim().to_string(), term }, text[end..].trim()))
    }

    /// What is wrong with the first name that is none, if there is one.
    pub(super) fn unknown(&self, known: &dyn Fn(&str) -> bool) -> Option<FormulaError> {
        self.term.find(&|term| match term {
            Term::Named(name, at) if !known(name) => {
                let choices: Vec<&str> = values().chain(FUNCTIONS.iter().map(|function| function.name)).collect();
                Some(FormulaError {
                    at: at.clone(),
                    message: format!("there is no `{name}` in a formula"),
                    label: "unknown name",
                    help: schema::suggest(name, &choices),
                })
            }
            _ => None,
        })
    }

    /// Appends the formula to a criterion: its value is then on the stack. `variable` gives the number of a name.
    pub(super) fn append(&self, criterion: &mut Criterion, variable: &dyn Fn(&str) -> Option<i32>) {
        self.term.append(criterion, variable);
    }

    /// Its value, if it is the same everywhere.
    pub fn constant(&self) -> Option<f64> {
        match self.term {
            Term::Number(value) => Some(value),
            _ => None,
        }
    }

    /// The formula times a factor.
    pub(super) fn times(&self, factor: f64) -> Formula {
        let term = apply(&PRODUCT, vec![self.term.clone(), Term::Number(factor)]);
        Formula { text: self.text.clone(), term }
    }

    /// The formula over a divisor.
    pub(super) fn over(&self, divisor: f64) -> Formula {
        let term = apply(&QUOTIENT, vec![self.term.clone(), Term::Number(divisor)]);
        Formula { text: self.text.clone(), term }
    }

    /// The formula on a grid: for a position in cells, cells of size `cell`, and a domain of `size` cells.
    pub(super) fn on(&self, size: [usize; 3], cell: f64) -> Formula {
        let place = |term: &Term| match term {
            Term::Position(_) if cell != 1.0 => apply(&PRODUCT, vec![term.clone(), Term::Number(cell)]),
            Term::Extent(axis) => Term::Number(size[*axis] as f64 * cell),
            _ => term.clone(),
        };
        Formula { text: self.text.clone(), term: self.term.map(&place) }
    }

    /// The name of a variable of an axis beyond the dimension, if there is one.
    pub(super) fn beyond(&self, dim: usize) -> Option<&'static str> {
        self.term.find(&|term| match term {
            Term::Position(axis) if *axis >= dim => Some(POSITIONS[*axis]),
            Term::Extent(axis) if *axis >= dim => Some(EXTENTS[*axis]),
            _ => None,
        })
    }

    /// Its value at a position: in cells from the lower corner of the domain, once a case is resolved.
    pub fn at(&self, position: [f64; 3]) -> f64 {
        self.term.at(position)
    }
}

impl std::str::FromStr for Formula {
    type Err = String;

    /// A formula of `x, y, z`, in cells: what is wrong with the text, if it is none.
    fn from_str(text: &str) -> Result<Formula, String> {
        match Formula::parse(text) {
            Ok((formula, "")) => Ok(formula),
            Ok((_, rest)) => Err(format!("the formula has ended before `{rest}`")),
            Err(error) => Err(error.message),
        }
    }
}

impl fmt::Debug for Formula {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.constant() {
            Some(value) => fmt::Debug::fmt(&value, out),
            None => fmt::Debug::fmt(&self.text, out),
        }
    }
}

impl Term {
    fn at(&self, position: [f64; 3]) -> f64 {
        match self {
            Term::Number(value) => *value,
            Term::Position(axis) => position[*axis],
            Term::Extent(_) | Term::Named(..) => f64::NAN,
            Term::Apply(function, terms) => {
                let argument = |at: usize| terms.get(at).map_or(0.0, |term| term.at(position));
                (function.of)(argument(0), argument(1))
            }
        }
    }

    fn append(&self, criterion: &mut Criterion, variable: &dyn Fn(&str) -> Option<i32>) {
        match self {
            Term::Number(value) => criterion.constant(*value),
            Term::Position(axis) => criterion.variable(*axis as i32),
            Term::Named(name, _) => match variable(name) {
                Some(number) => criterion.variable(number),
                None => criterion.constant(f64::NAN),
            },
            Term::Extent(_) => criterion.constant(f64::NAN),
            Term::Apply(function, terms) => {
                terms.iter().for_each(|term| term.append(criterion, variable));
                let name = if (function.name, function.arguments) == ("-", 1) { "neg" } else { function.name };
                let known = criterion.function(name);
                debug_assert!(known, "{name}");
            }
        }
    }

    /// The term with its leaves replaced.
    fn map(&self, leaf: &dyn Fn(&Term) -> Term) -> Term {
        match self {
            Term::Apply(function, terms) => apply(function, terms.iter().map(|term| term.map(leaf)).collect()),
            _ => leaf(self),
        }
    }

    fn find<T>(&self, leaf: &dyn Fn(&Term) -> Option<T>) -> Option<T> {
        match self {
            Term::Apply(_, terms) => terms.iter().find_map(|term| term.find(leaf)),
            _ => leaf(self),
        }
    }
}

/// A function of terms: a number, if they are numbers.
fn apply(function: &'static Function, terms: Vec<Term>) -> Term {
    let known = terms.iter().all(|term| matches!(term, Term::Number(_)));
    let term = Term::Apply(function, terms);
    if known { Term::Number(term.at([0.0; 3])) } else { term }
}

type Input<'a> = LocatingSlice<&'a str>;
type Parsed<T> = Result<T, ErrMode<FormulaError>>;

impl ParserError<Input<'_>> for FormulaError {
    type Inner = FormulaError;

    /// Where nothing else is said, a value is missing.
    fn from_input(input: &Input<'_>) -> FormulaError {
        let at = input.current_token_start();
        let message = match input.chars().next() {
            Some(found) => format!("expected a value, found `{found}`"),
            None => "expected a value, and the formula ends".to_string(),
        };
        let help = "a value is a number, a name or a formula in parentheses".to_string();
        let width = input.chars().next().map_or(0, char::len_utf8);
        FormulaError { at: at..at + width, message, label: "no value", help }
    }

    fn into_inner(self) -> Result<FormulaError, FormulaError> {
        Ok(self)
    }
}

fn binary(function: &'static Function, a: Term, b: Term) -> Parsed<Term> {
    Ok(apply(function, vec![a, b]))
}

fn sign(input: &mut Input<'_>) -> Parsed<char> {
    preceded(multispace0, one_of(['+', '-'])).parse_next(input)
}

fn operator(input: &mut Input<'_>) -> Parsed<char> {
    preceded(multispace0, one_of(['+', '-', '*', '/', '^'])).parse_next(input)
}

fn term(input: &mut Input<'_>) -> Parsed<Term> {
    expression(operand)
        .prefix(dispatch! {sign;
            '-' => Prefix(5, |_: &mut Input<'_>, a| Ok(apply(&NEGATION, vec![a]))),
            '+' => Prefix(5, |_: &mut Input<'_>, a| Ok(a)),
            _ => fail,
        })
        .infix(dispatch! {operator;
            '+' => Infix::Left(1, |_: &mut Input<'_>, a, b| binary(&SUM, a, b)),
            '-' => Infix::Left(1, |_: &mut Input<'_>, a, b| binary(&DIFFERENCE, a, b)),
            '*' => Infix::Left(3, |_: &mut Input<'_>, a, b| binary(&PRODUCT, a, b)),
            '/' => Infix::Left(3, |_: &mut Input<'_>, a, b| binary(&QUOTIENT, a, b)),
            '^' => Infix::Right(7, |_: &mut Input<'_>, a, b| binary(&POWER, a, b)),
            _ => fail,
        })
        .parse_next(input)
}

fn operand(input: &mut Input<'_>) -> Parsed<Term> {
    multispace0.parse_next(input)?;
    match input.chars().next() {
        Some('(') => {
            let open = input.current_token_start();
            any.parse_next(input)?;
            let inner = committed(term(input))?;
            close(input, open)?;
            Ok(inner)
        }
        Some('0'..='9' | '.') => number(input),
        Some('a'..='z' | 'A'..='Z' | '_') => name(input),
        _ => Err(ErrMode::Backtrack(FormulaError::from_input(input))),
    }
}

/// An error after which no other reading is tried.
fn committed<T>(parsed: Parsed<T>) -> Parsed<T> {
    parsed.map_err(ErrMode::cut)
}

fn wrong<T>(at: Range<usize>, message: String, label: &'static str, help: String) -> Parsed<T> {
    Err(ErrMode::Cut(FormulaError { at, message, label, help }))
}

fn close(input: &mut Input<'_>, open: usize) -> Parsed<()> {
    multispace0.parse_next(input)?;
    if opt(one_of(')')).parse_next(input)?.is_some() {
        return Ok(());
    }
    wrong(open..open + 1, "this parenthesis is not closed".to_string(), "opened here", "add `)`".to_string())
}

/// `12`, `1_000`, `.5`, `1.5e-3`.
fn number(input: &mut Input<'_>) -> Parsed<Term> {
    let digits = |c: char| c.is_ascii_digit() || c == '_';
    let start = input.current_token_start();
    let exponent = (one_of(['e', 'E']), opt(one_of(['+', '-'])), take_while(1.., |c: char| c.is_ascii_digit()));
    let text =
        (take_while(0.., digits), opt(('.', take_while(0.., digits))), opt(exponent)).take().parse_next(input)?;
    match text.replace('_', "").parse() {
        Ok(value) => Ok(Term::Number(value)),
        Err(_) => {
            let help = "for example 12, 0.5 or 1.5e-3".to_string();
            wrong(start..input.current_token_start(), format!("`{text}` is no number"), "no number", help)
        }
    }
}

fn name(input: &mut Input<'_>) -> Parsed<Term> {
    let start = input.current_token_start();
    let name = take_while(1.., |c: char| c.is_ascii_alphanumeric() || c == '_').parse_next(input)?;
    let at = start..input.current_token_start();
    let axis = |names: [&str; 3]| names.iter().position(|known| *known == name);
    if let Some(axis) = axis(POSITIONS) {
        return Ok(Term::Position(axis));
    }
    if let Some(axis) = axis(EXTENTS) {
        return Ok(Term::Extent(axis));
    }
    if name == "pi" {
        return Ok(Term::Number(std::f64::consts::PI));
    }
    let Some(function) = FUNCTIONS.iter().find(|function| function.name == name) else {
        if !input.starts_with('(') {
            return Ok(Term::Named(name.to_string(), at));
        }
        let known: Vec<&str> = values().chain(FUNCTIONS.iter().map(|function| function.name)).collect();
        return wrong(at, format!("there is no `{name}` in a formula"), "unknown name", schema::suggest(name, &known));
    };
    let terms = arguments(input)?;
    if terms.len() == function.arguments {
        return Ok(apply(function, terms));
    }
    let example = if function.arguments == 1 { "a" } else { "a, b" };
    let message = match terms.len() {
        0 => format!("`{name}` is a function"),
        found => format!("`{name}` has {} argument(s), not {found}", function.arguments),
    };
    wrong(at, message, "wrong arguments", format!("write `{name}({example})`"))
}

/// What stands in parentheses, if a parenthesis opens here.
fn arguments(input: &mut Input<'_>) -> Parsed<Vec<Term>> {
    let open = input.current_token_start();
    let mut terms = vec![];
    if opt(one_of('(')).parse_next(input)?.is_none() {
        return Ok(terms);
    }
    loop {
        terms.push(committed(term(input))?);
        multispace0.parse_next(input)?;
        if opt(one_of(',')).parse_next(input)?.is_none() {
            break;
        }
    }
    close(input, open)?;
    Ok(terms)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn value(text: &str) -> f64 {
        let (formula, rest) = Formula::parse(text).unwrap_or_else(|error| panic!("{text}: {error:?}"));
        assert_eq!(rest, "", "{text}");
        formula.on([8, 4, 2], 1.0).at([3.0, 0.5, 0.25])
    }

    #[test]
    fn precedence_is_that_of_mathematics() {
        for (text, expected) in [
            ("1 - 2 - 3", -4.0),
            ("8 / 4 / 2", 1.0),
            ("1 + 2 * 3", 7.0),
            ("(1 + 2) * 3", 9.0),
            ("-x^2", -9.0),
            ("2 * -x^2", -18.0),
            ("2^3^2", 512.0),
            ("2^-1 * 4", 2.0),
            ("(-x)^2", 9.0),
            ("- - 1", 1.0),
            ("1_000 + .5 + 1.5e-1", 1000.65),
            ("exp(-x^2)", (-9.0f64).exp()),
            ("sin(2*pi*y)", 1.2246467991473532e-16),
            ("min(x/lx, y/ly) + max(1, 2) * lz", 4.125),
        ] {
            assert_eq!(value(text), expected, "{text}");
        }
    }

    #[test]
    fn what_follows_a_formula_is_left() {
        for (text, rest) in [("0.1 m/s", "m/s"), ("10mm", "mm"), ("sin(x) m/s", "m/s"), ("2 x", "x"), ("1", "")] {
            assert_eq!(Formula::parse(text).expect("a formula").1, rest, "{text}");
        }
    }

    #[test]
    fn errors_say_what_and_where() {
        for (text, at, part) in [
            ("1 + foo(2)", 4..7, "`foo`"),
            ("sin", 0..3, "function"),
            ("sin(1, 2)", 0..3, "1 argument"),
            ("min(1)", 0..3, "2 argument"),
            ("2 * (1 + x", 4..5, "not closed"),
            ("sin(x", 3..4, "not closed"),
            ("1 +", 3..3, "ends"),
            ("", 0..0, "ends"),
            ("2 * )", 4..5, "found `)`"),
            ("x**2", 2..3, "found `*`"),
            ("1.2.3 + .", 0..0, ""),
            (".", 0..1, "no number"),
            ("é", 0..2, "found `é`"),
            ("sin()", 4..5, "found `)`"),
        ] {
            match Formula::parse(text) {
                Err(error) => {
                    assert_eq!(error.at, at, "{text}: {error:?}");
                    assert!(error.message.contains(part), "{text}: {error:?}");
                }
                Ok((_, rest)) => assert_eq!(rest, ".3 + .", "{text}"),
            }
        }
    }

    #[test]
    fn deep_nesting_is_read_or_refused() {
        for part in ["(", "-", "2^", "sin("] {
            let deep = part.repeat(LONGEST / part.len());
            assert!(Formula::parse(&deep).is_err(), "{part}");
            assert!(Formula::parse(&part.repeat(100_000)).is_err(), "{part}");
        }
    }

    #[test]
    fn on_a_grid_positions_are_cells() {
        let (formula, _) = Formula::parse("x / lx + y").expect("a formula");
        assert_eq!(formula.on([8, 4, 1], 0.5).at([2.0, 3.0, 0.0]), 0.25 + 1.5);
        assert_eq!(formula.beyond(1), Some("y"));
        assert_eq!(formula.beyond(2), None);
        let (constant, _) = Formula::parse("2 * lx").expect("a formula");
        assert_eq!(constant.on([8, 4, 1], 0.5).times(3.0).constant(), Some(24.0));
    }
}
