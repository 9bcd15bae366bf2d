//! Formulas of named values: what cases, rates between levels and refinement criteria are written in, computed with and compiled from.
//!
//! | | binds | example |
//! | --- | --- | --- |
//! | `<` `<=` `>` `>=` `==` `!=` | least; 1 where it is true, else 0; not in a row | `x < 8` |
//! | `+` `-` | from the left | `1 - x + y` |
//! | `*` `/` | from the left | `2 * x / lx` |
//! | `-` `+` before a value | | `-x^2` is `-(x^2)` |
//! | `^` | most, from the right | `2^3^2` is `2^(3^2)` |
//!
//! Further there are numbers (`12`, `1_000`, `.5`, `1.5e-3`), parentheses, functions of [`Function`] (`sqrt(a)`, `if(a < b, c, d)`), names,
//! which whoever computes a formula knows, and [tables](Table) of files (`table("inflow.csv", t)`), which others read. All numbers are of 64 bits. A text is a [`Formula`] and back: `Display` writes what
//! parses to the same tree, and so do manifests.
//!
//! Texts come from strangers: length and depth are limited, so that nothing here recurses far.

use std::collections::BTreeSet;
use std::fmt;
use std::ops::Range;
use std::str::FromStr;
use std::sync::Arc;

use serde::{Deserialize, Deserializer, Serialize, Serializer};

mod table;

pub use table::{Points, Table};

/// Longest text of a formula, in bytes.
pub const LONGEST: usize = 1 << 14;

/// Most tables that a text may read: each becomes some operations for each of its points.
pub const MOST_TABLES: usize = 8;

/// Most operations inside each other that a text may have.
pub const DEEPEST: usize = 512;

/// What a table is called in formulas.
pub const TABLE: &str = "table";

/// A formula of named values.
#[derive(Clone, Debug, PartialEq)]
pub enum Formula {
    /// A finite number, 0 or more; [`Formula::number`] makes others.
    Number(f64),
    /// What has a name.
    Name(String),
    /// A function, with as many operands as it has.
    Apply(Function, Vec<Formula>),
    /// A table at a value: straight lines between its points, and beyond its ends what it has there.
    Table(Table, Box<Formula>),
}

macro_rules! functions {
    ($($(#[doc = $doc:tt])+ $function:ident = $name:literal ($($operand:ident),+) $of:expr;)+) => {
        /// A function of numbers of 64 bits. Operators have the names of their signs.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
        pub enum Function {
            $($(#[doc = $doc])+ $function,)+
        }

        impl Function {
            /// All of them.
            pub const ALL: &[Function] = &[$(Function::$function),+];

            /// Name in formulas.
            pub fn name(self) -> &'static str {
                match self {
                    $(Function::$function => $name,)+
                }
            }

            /// Names of its operands.
            pub fn operands(self) -> &'static [&'static str] {
                match self {
                    $(Function::$function => &[$(stringify!($operand)),+],)+
                }
            }

            /// Its value; NaN for another number of operands than it has.
            pub fn of(self, operands: &[f64]) -> f64 {
                match (self, operands) {
                    $((Function::$function, [$($operand),+]) => {
                        $(let $operand = *$operand;)+
                        $of
                    })+
                    _ => f64::NAN,
                }
            }
        }
    };
}

functions! {
    /// `a + b`
    Add = "+" (a, b) a + b;
    /// `a - b`
    Subtract = "-" (a, b) a - b;
    /// `a * b`
    Multiply = "*" (a, b) a * b;
    /// `a / b`
    Divide = "/" (a, b) a / b;
    /// `a^b`
    Power = "^" (a, b) power(a, b);
    /// `-a`
    Negate = "-" (a) -a;
    /// `a < b`
    Less = "<" (a, b) truth(a < b);
    /// `a <= b`
    LessEqual = "<=" (a, b) truth(a <= b);
    /// `a > b`
    Greater = ">" (a, b) truth(a > b);
    /// `a >= b`
    GreaterEqual = ">=" (a, b) truth(a >= b);
    /// `a == b`
    Equal = "==" (a, b) truth(a == b);
    /// `a != b`
    NotEqual = "!=" (a, b) truth(a != b);
    /// `if(condition, a, b)`: the second where the first is not 0, else the third
    If = "if" (condition, a, b) if condition != 0.0 { a } else { b };
    /// Sine.
    Sin = "sin" (a) a.sin();
    /// Cosine.
    Cos = "cos" (a) a.cos();
    /// Tangent.
    Tan = "tan" (a) a.tan();
    /// Inverse sine.
    Asin = "asin" (a) a.asin();
    /// Inverse cosine.
    Acos = "acos" (a) a.acos();
    /// Inverse tangent.
    Atan = "atan" (a) a.atan();
    /// Angle of the point `(b, a)`.
    Atan2 = "atan2" (a, b) a.atan2(b);
    /// Hyperbolic sine.
    Sinh = "sinh" (a) a.sinh();
    /// Hyperbolic cosine.
    Cosh = "cosh" (a) a.cosh();
    /// Hyperbolic tangent.
    Tanh = "tanh" (a) a.tanh();
    /// Exponential.
    Exp = "exp" (a) a.exp();
    /// Natural logarithm.
    Ln = "ln" (a) a.ln();
    /// Logarithm to base 10.
    Log10 = "log10" (a) a.log10();
    /// Square root.
    Sqrt = "sqrt" (a) a.sqrt();
    /// Magnitude.
    Abs = "abs" (a) a.abs();
    /// The smaller one; the other where one is no number.
    Min = "min" (a, b) a.min(b);
    /// The larger one; the other where one is no number.
    Max = "max" (a, b) a.max(b);
}

fn truth(is: bool) -> f64 {
    f64::from(u8::from(is))
}

/// Squares and reciprocals are rounded once, on every machine.
fn power(a: f64, b: f64) -> f64 {
    match b {
        2.0 => a * a,
        -1.0 => 1.0 / a,
        _ => a.powf(b),
    }
}

/// How tightly operators bind.
mod binding {
    pub(super) const COMPARISON: u8 = 1;
    pub(super) const SUM: u8 = 2;
    pub(super) const PRODUCT: u8 = 3;
    pub(super) const PREFIX: u8 = 4;
    pub(super) const POWER: u8 = 5;
    pub(super) const VALUE: u8 = 6;
}

/// Operators between two operands, those first that begin like others.
const INFIX: [Function; 11] = [
    Function::LessEqual,
    Function::GreaterEqual,
    Function::Equal,
    Function::NotEqual,
    Function::Less,
    Function::Greater,
    Function::Add,
    Function::Subtract,
    Function::Multiply,
    Function::Divide,
    Function::Power,
];

impl Function {
    /// The function that is called by that name: `sin`, and no operator.
    pub fn called(name: &str) -> Option<Function> {
        let called = |function: &&Function| function.binding() == binding::VALUE && function.name() == name;
        Function::ALL.iter().find(called).copied()
    }

    /// Names of all functions that are called by name.
    pub fn names() -> impl Iterator<Item = &'static str> {
        let called = Function::ALL.iter().filter(|function| function.binding() == binding::VALUE);
        called.map(|function| function.name())
    }

    fn binding(self) -> u8 {
        use Function::{Equal, Greater, GreaterEqual, Less, LessEqual, NotEqual};
        match self {
            Less | LessEqual | Greater | GreaterEqual | Equal | NotEqual => binding::COMPARISON,
            Function::Add | Function::Subtract => binding::SUM,
            Function::Multiply | Function::Divide => binding::PRODUCT,
            Function::Negate => binding::PREFIX,
            Function::Power => binding::POWER,
            _ => binding::VALUE,
        }
    }

    /// How tightly what is left and right of an operator must bind.
    fn sides(self) -> [u8; 2] {
        let own = self.binding();
        match own {
            binding::COMPARISON => [own + 1; 2],
            binding::POWER => [own + 1, own],
            _ => [own, own + 1],
        }
    }
}

impl Formula {
    /// A number of any kind: a negative one is a negation, an infinite one `1 / 0`, what is no number `0 / 0`.
    pub fn number(value: f64) -> Formula {
        let quotient = |a| Formula::apply(Function::Divide, [Formula::Number(a), Formula::Number(0.0)]);
        if value.is_nan() {
            return quotient(0.0);
        }
        let size = if value.is_infinite() { quotient(1.0) } else { Formula::Number(value.abs()) };
        if value.is_sign_negative() { Formula::apply(Function::Negate, [size]) } else { size }
    }

    /// What has a name.
    pub fn name(name: &str) -> Formula {
        Formula::Name(name.into())
    }

    /// A function of operands.
    ///
    /// # Panics
    /// For another number of operands than it has.
    pub fn apply(function: Function, operands: impl Into<Vec<Formula>>) -> Formula {
        let operands = operands.into();
        assert_eq!(operands.len(), function.operands().len(), "operands of `{}`", function.name());
        Formula::Apply(function, operands)
    }

    /// Its value, given those of names; `None` where a name is unknown.
    pub fn value(&self, named: &dyn Fn(&str) -> Option<f64>) -> Option<f64> {
        match self {
            Formula::Number(value) => Some(*value),
            Formula::Name(name) => named(name),
            Formula::Apply(function, operands) => {
                let mut values = [0.0; 3];
                for (value, operand) in values.iter_mut().zip(operands) {
                    *value = operand.value(named)?;
                }
                Some(function.of(&values[..operands.len()]))
            }
            Formula::Table(table, at) => table.at(at.value(named)?),
        }
    }

    /// Its value, if it has no names.
    pub fn constant(&self) -> Option<f64> {
        self.value(&|_| None)
    }

    /// All names in it.
    pub fn names(&self) -> BTreeSet<&str> {
        match self {
            Formula::Number(_) => BTreeSet::new(),
            Formula::Name(name) => BTreeSet::from([&name[..]]),
            Formula::Apply(_, operands) => operands.iter().flat_map(Formula::names).collect(),
            Formula::Table(_, at) => at.names(),
        }
    }

    /// The files of all tables in it.
    pub fn tables(&self) -> BTreeSet<&str> {
        match self {
            Formula::Number(_) | Formula::Name(_) => BTreeSet::new(),
            Formula::Apply(_, operands) => operands.iter().flat_map(Formula::tables).collect(),
            Formula::Table(table, at) => at.tables().into_iter().chain([&table.file[..]]).collect(),
        }
    }

    /// The formula with the points of its tables, by their files; those that `points` does not know stay as they are.
    pub fn with_tables(&self, points: &dyn Fn(&str) -> Option<Points>) -> Formula {
        match self {
            Formula::Number(_) | Formula::Name(_) => self.clone(),
            Formula::Apply(function, operands) => {
                Formula::Apply(*function, operands.iter().map(|operand| operand.with_tables(points)).collect())
            }
            Formula::Table(Table { file, points: old }, at) => {
                let points_of = points(file).unwrap_or_else(|| old.clone());
                Formula::Table(Table { file: file.clone(), points: points_of }, Box::new(at.with_tables(points)))
            }
        }
    }

    /// The formula with others in the place of names; names that `given` does not know stay. What is then a number is computed.
    pub fn with(&self, given: &dyn Fn(&str) -> Option<Formula>) -> Formula {
        match self {
            Formula::Number(_) => self.clone(),
            Formula::Name(name) => given(name).unwrap_or_else(|| self.clone()),
            Formula::Apply(function, operands) => {
                let formula = Formula::Apply(*function, operands.iter().map(|operand| operand.with(given)).collect());
                formula.constant().map_or(formula, Formula::number)
            }
            Formula::Table(table, at) => {
                let formula = Formula::Table(table.clone(), Box::new(at.with(given)));
                formula.constant().map_or(formula, Formula::number)
            }
        }
    }

    /// The formula at the start of a text.
    pub fn parse(text: &str) -> Result<Parsed<'_>, FormulaError> {
        if text.len() > LONGEST {
            let message = format!("a formula of {} characters", text.len());
            let help = format!("a formula may have {LONGEST}");
            return Err(FormulaError::new(0..text.len(), message, "too long", help));
        }
        let mut parser = Parser { text, at: 0, names: Vec::new(), tables: 0 };
        let (formula, _) = parser.formula(0, 0)?;
        let end = parser.at;
        let rest = text[end..].trim();
        let rest_at = end + text[end..].find(rest).unwrap_or(0);
        Ok(Parsed { formula, names: parser.names, rest, rest_at })
    }

    fn write(&self, out: &mut fmt::Formatter<'_>, least: u8) -> fmt::Result {
        match self {
            Formula::Number(value) => {
                let text = format!("{value:?}");
                out.write_str(text.strip_suffix(".0").unwrap_or(&text))
            }
            Formula::Name(name) => out.write_str(name),
            Formula::Apply(function, operands) if function.binding() < least => {
                out.write_str("(")?;
                Formula::write_apply(*function, operands, out)?;
                out.write_str(")")
            }
            Formula::Apply(function, operands) => Formula::write_apply(*function, operands, out),
            Formula::Table(table, at) => {
                write!(out, "table(\"{}\", ", table.file)?;
                at.write(out, 0)?;
                out.write_str(")")
            }
        }
    }

    fn write_apply(function: Function, operands: &[Formula], out: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (name, [left, right]) = (function.name(), function.sides());
        match (function.binding(), operands) {
            (binding::PREFIX, [a]) => {
                out.write_str(name)?;
                a.write(out, binding::PREFIX)
            }
            (binding::VALUE, _) | (_, [] | [_] | [_, _, _, ..]) => {
                write!(out, "{name}(")?;
                for (at, operand) in operands.iter().enumerate() {
                    out.write_str(if at == 0 { "" } else { ", " })?;
                    operand.write(out, 0)?;
                }
                out.write_str(")")
            }
            (own, [a, b]) => {
                a.write(out, left)?;
                let blank = if own == binding::POWER { "" } else { " " };
                write!(out, "{blank}{name}{blank}")?;
                b.write(out, right)
            }
        }
    }
}

impl fmt::Display for Formula {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.write(out, 0)
    }
}

impl FromStr for Formula {
    type Err = FormulaError;

    /// The formula that a text is, all of it.
    fn from_str(text: &str) -> Result<Formula, FormulaError> {
        let parsed = Formula::parse(text)?;
        parsed.complete()?;
        Ok(parsed.formula)
    }
}

impl Serialize for Formula {
    fn serialize<S: Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        to.collect_str(self)
    }
}

impl<'de> Deserialize<'de> for Formula {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Formula, D::Error> {
        String::deserialize(from)?.parse().map_err(serde::de::Error::custom)
    }
}

/// A formula that has been read from the start of a text.
#[derive(Clone, Debug, PartialEq)]
pub struct Parsed<'a> {
    /// The formula.
    pub formula: Formula,
    /// Its names in the order of the text, with the bytes where they stand.
    pub names: Vec<(String, Range<usize>)>,
    /// What follows it, without blanks around it.
    pub rest: &'a str,
    /// The byte of the text where that begins.
    pub rest_at: usize,
}

impl Parsed<'_> {
    /// Refuses what follows.
    pub fn complete(&self) -> Result<(), FormulaError> {
        if self.rest.is_empty() {
            return Ok(());
        }
        let at = self.rest_at..self.rest_at + self.rest.len();
        let message = format!("expected an operator, found `{}`", self.rest);
        Err(FormulaError::new(at, message, "the formula has ended", "write `*` between factors".into()))
    }
}

/// What is wrong with the text of a formula.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FormulaError {
    /// Which bytes of the text it is.
    pub at: Range<usize>,
    /// What is wrong.
    pub message: String,
    /// The same in a few words.
    pub label: &'static str,
    /// What to do about it.
    pub help: String,
    /// The name that is no function's, where that is what is wrong.
    pub unknown: Option<String>,
}

impl FormulaError {
    /// An error at these bytes of a text.
    pub fn new(at: Range<usize>, message: String, label: &'static str, help: String) -> FormulaError {
        FormulaError { at, message, label, help, unknown: None }
    }
}

impl fmt::Display for FormulaError {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str(&self.message)
    }
}

impl std::error::Error for FormulaError {}

/// Reads by precedence: an operator belongs to the formula at hand if it binds tightly enough.
struct Parser<'a> {
    text: &'a str,
    at: usize,
    names: Vec<(String, Range<usize>)>,
    tables: usize,
}

/// A formula, and how many operations inside each other it has.
type Read = Result<(Formula, usize), FormulaError>;

impl<'a> Parser<'a> {
    fn rest(&self) -> &'a str {
        &self.text[self.at..]
    }

    fn skip_blanks(&mut self) {
        self.at = self.text.len() - self.rest().trim_start().len();
    }

    fn take(&mut self, mark: &str) -> bool {
        let found = self.rest().starts_with(mark);
        self.at += if found { mark.len() } else { 0 };
        found
    }

    fn take_while(&mut self, is: impl Fn(char) -> bool) -> &'a str {
        let rest = self.rest();
        let length = rest.find(|letter| !is(letter)).unwrap_or(rest.len());
        self.at += length;
        &rest[..length]
    }

    fn wrong<T>(at: Range<usize>, message: String, label: &'static str, help: &str) -> Result<T, FormulaError> {
        Err(FormulaError::new(at, message, label, help.into()))
    }

    fn apply(&self, start: usize, function: Function, operands: Vec<(Formula, usize)>) -> Read {
        let depth = 1 + operands.iter().map(|(_, depth)| *depth).max().unwrap_or(0);
        let formula = Formula::Apply(function, operands.into_iter().map(|(formula, _)| formula).collect());
        self.limit(start, depth)?;
        Ok((formula, depth))
    }

    fn limit(&self, start: usize, depth: usize) -> Result<(), FormulaError> {
        if depth <= DEEPEST {
            return Ok(());
        }
        let message = format!("a formula of more than {DEEPEST} operations inside each other");
        Parser::wrong(start..self.at, message, "nested too deeply", "write it in another way")
    }

    /// The formula of operators that bind at least so tightly, inside so many others.
    fn formula(&mut self, least: u8, inside: usize) -> Read {
        self.skip_blanks();
        let start = self.at;
        self.limit(start, inside)?;
        let mut left = if self.take("-") {
            let operand = self.formula(binding::PREFIX, inside + 1)?;
            self.apply(start, Function::Negate, vec![operand])?
        } else if self.take("+") {
            self.formula(binding::PREFIX, inside + 1)?
        } else {
            self.operand(inside)?
        };
        loop {
            let end = self.at;
            self.skip_blanks();
            let sign = self.at;
            let Some(function) = self.infix(least) else {
                self.at = end;
                return Ok(left);
            };
            let right = self.formula(function.sides()[1], inside + 1)?;
            left = self.apply(start, function, vec![left, right])?;
            if function.binding() == binding::COMPARISON {
                self.unchained(sign)?;
            }
        }
    }

    fn infix(&mut self, least: u8) -> Option<Function> {
        let function = INFIX.into_iter().find(|function| self.rest().starts_with(function.name()))?;
        (function.binding() >= least && self.take(function.name())).then_some(function)
    }

    /// Refuses a comparison behind another, which readers take for something else.
    fn unchained(&mut self, sign: usize) -> Result<(), FormulaError> {
        let end = self.at;
        self.skip_blanks();
        let chained = self.infix(binding::COMPARISON).is_some_and(|next| next.binding() == binding::COMPARISON);
        if chained {
            let message = "a comparison of a comparison".to_string();
            let help = "write `if(a < b, b < c, 0)` for `a < b < c`";
            return Parser::wrong(sign..self.at, message, "two comparisons in a row", help);
        }
        self.at = end;
        Ok(())
    }

    fn operand(&mut self, inside: usize) -> Read {
        let start = self.at;
        match self.rest().chars().next() {
            Some('(') => {
                self.at += 1;
                let inner = self.formula(0, inside + 1)?;
                self.close(start)?;
                Ok(inner)
            }
            Some('0'..='9' | '.') => self.number(),
            Some(letter) if letter.is_alphabetic() || letter == '_' => self.name(inside),
            found => {
                let message = match found {
                    Some(found) => format!("expected a value, found `{found}`"),
                    None => "expected a value, and the formula ends".to_string(),
                };
                let help = "a value is a number, a name or a formula in parentheses";
                Parser::wrong(start..start + found.map_or(0, char::len_utf8), message, "no value", help)
            }
        }
    }

    fn close(&mut self, open: usize) -> Result<(), FormulaError> {
        self.skip_blanks();
        if self.take(")") {
            return Ok(());
        }
        Parser::wrong(open..open + 1, "this parenthesis is not closed".into(), "opened here", "add `)`")
    }

    /// `12`, `1_000`, `.5`, `1.5e-3`.
    fn number(&mut self) -> Read {
        let start = self.at;
        let digit = |letter: char| letter.is_ascii_digit() || letter == '_';
        self.take_while(digit);
        if self.take(".") {
            self.take_while(digit);
        }
        let end = self.at;
        if self.take("e") || self.take("E") {
            let _ = self.take("-") || self.take("+");
            if self.take_while(|letter| letter.is_ascii_digit()).is_empty() {
                self.at = end;
            }
        }
        let text = &self.text[start..self.at];
        match text.replace('_', "").parse() {
            Ok(value) => Ok((Formula::number(value), 0)),
            Err(_) => {
                let help = "for example 12, 0.5 or 1.5e-3";
                Parser::wrong(start..self.at, format!("`{text}` is no number"), "no number", help)
            }
        }
    }

    /// `"inflow.csv", t)` of a table.
    fn table(&mut self, start: usize, open: usize, inside: usize) -> Read {
        let help = "write `table(\"inflow.csv\", t)`";
        self.skip_blanks();
        let quoted = self.at;
        if !self.take("\"") {
            return Parser::wrong(start..self.at, "a table is that of a file".into(), "no file", help);
        }
        let file = self.take_while(|letter| letter != '"' && !letter.is_control());
        if !self.take("\"") || file.is_empty() {
            return Parser::wrong(quoted..self.at, "the name of a file does not end".into(), "no name", help);
        }
        self.skip_blanks();
        if !self.take(",") {
            return Parser::wrong(start..self.at, "a table is read at a value".into(), "no value", help);
        }
        let (at, depth) = self.formula(0, inside + 1)?;
        self.close(open)?;
        self.limit(start, depth + 1)?;
        self.tables += 1;
        if self.tables > MOST_TABLES {
            let message = format!("a formula of more than {MOST_TABLES} tables");
            return Parser::wrong(start..self.at, message, "one too many", "add them up in one file");
        }
        Ok((Formula::Table(Table { file: file.into(), points: Arc::new([]) }, Box::new(at)), depth + 1))
    }

    /// A name, or a function if a parenthesis follows at once.
    fn name(&mut self, inside: usize) -> Read {
        let start = self.at;
        let name = self.take_while(|letter| letter.is_alphanumeric() || letter == '_');
        let (at, open) = (start..self.at, self.at);
        if !self.take("(") {
            self.names.push((name.into(), at));
            return Ok((Formula::name(name), 0));
        }
        if name == TABLE {
            return self.table(start, open, inside);
        }
        let Some(function) = Function::called(name) else {
            let help = format!("functions: {}", Function::names().collect::<Vec<_>>().join(", "));
            let error = FormulaError::new(at, format!("there is no function `{name}`"), "unknown name", help);
            return Err(FormulaError { unknown: Some(name.into()), ..error });
        };
        let mut operands = vec![self.formula(0, inside + 1)?];
        self.skip_blanks();
        while self.take(",") {
            operands.push(self.formula(0, inside + 1)?);
            self.skip_blanks();
        }
        self.close(open)?;
        let wanted = function.operands();
        if operands.len() == wanted.len() {
            return self.apply(start, function, operands);
        }
        let message = format!("`{name}` has {} argument(s), not {}", wanted.len(), operands.len());
        Parser::wrong(at, message, "wrong arguments", &format!("write `{name}({})`", wanted.join(", ")))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn named(name: &str) -> Option<f64> {
        Some(match name {
            "x" | "sin" => 3.0,
            "y" => 0.5,
            "omega" => 1.5,
            _ => return None,
        })
    }

    fn value(text: &str) -> Option<f64> {
        text.parse::<Formula>().unwrap_or_else(|error| panic!("{text}: {error:?}")).value(&named)
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
            ("2 * omega / (4 - omega)", 3.0 / 2.5),
            ("min(x, y) + max(1, 2) * x", 6.5),
            ("1 + 1 < x", 1.0),
            ("(x <= 3) + (x != 3) + 2 * (x >= 3)", 3.0),
            ("if(x > 2, if(y == 0.5, 7, 8), 9)", 7.0),
            ("if(x - 3, 1, 2)", 2.0),
            ("1e999 - 1 > 1e308", 1.0),
        ] {
            assert_eq!(value(text), Some(expected), "{text}");
        }
    }

    #[test]
    fn a_name_may_be_that_of_a_function() {
        assert_eq!(value("2 * sin"), Some(6.0));
        assert_eq!(value("sin(0) + sin"), Some(3.0));
        assert_eq!(value("2 * tau"), None);
    }

    #[test]
    fn what_follows_a_formula_is_left() {
        for (text, rest) in
            [("0.1 m/s", "m/s"), ("10mm", "mm"), ("sin(x) m/s", "m/s"), ("2 x ", "x"), ("1", ""), ("2e", "e")]
        {
            let parsed = Formula::parse(text).expect("a formula");
            assert_eq!(parsed.rest, rest, "{text}");
            assert_eq!(parsed.complete().is_ok(), rest.is_empty(), "{text}");
        }
        let error = Formula::parse(" 2 x").expect("a formula").complete().expect_err("two values");
        assert_eq!(error.at, 3..4);
    }

    #[test]
    fn names_are_told_with_their_places() {
        let parsed = Formula::parse("x + sin(ω_1*x)").expect("a formula");
        assert_eq!(parsed.names, [("x".into(), 0..1), ("ω_1".into(), 8..12), ("x".into(), 13..14)]);
        assert_eq!(parsed.formula.names(), BTreeSet::from(["x", "ω_1"]));
    }

    #[test]
    fn errors_say_what_and_where() {
        for (text, at, part) in [
            ("1 + foo(2)", 4..7, "`foo`"),
            ("sin(1, 2)", 0..3, "1 argument"),
            ("min(1)", 0..3, "2 argument"),
            ("if(1, 2)", 0..2, "3 argument"),
            ("2 * (1 + x", 4..5, "not closed"),
            ("sin(x", 3..4, "not closed"),
            ("1 +", 3..3, "ends"),
            ("", 0..0, "ends"),
            ("2 * )", 4..5, "found `)`"),
            ("x**2", 2..3, "found `*`"),
            (".", 0..1, "no number"),
            ("§", 0..2, "found `§`"),
            ("sin()", 4..5, "found `)`"),
            ("1 < x < 2", 2..7, "comparison"),
        ] {
            let error = Formula::parse(text).expect_err(text);
            assert_eq!(error.at, at, "{text}: {error:?}");
            assert!(error.message.contains(part), "{text}: {error:?}");
        }
    }

    #[test]
    fn deep_nesting_is_read_or_refused() {
        let half = DEEPEST / 2;
        for (part, end) in [("(", ")"), ("-", ""), ("2^", ""), ("sin(", ")"), ("1+", ""), ("if(1, 2, ", ")")] {
            let text = |count: usize| format!("{}1{}", part.repeat(count), end.repeat(count));
            assert!(Formula::parse(&text(half)).is_ok(), "{part}");
            for count in [DEEPEST + 1, LONGEST / (part.len() + end.len()) - 1, 100_000] {
                assert!(Formula::parse(&text(count)).is_err(), "{part} {count}");
            }
        }
    }

    /// Random formulas, by a generator of our own so that they are the same everywhere.
    fn random(state: &mut u64, depth: usize) -> Formula {
        *state = state.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
        let draw = (*state >> 33) as usize;
        match draw % 4 {
            0 if depth > 0 => Formula::number([0.0, 1.0, -0.5, 1e-7, 1e300, 0.1, -0.0, f64::INFINITY][draw / 4 % 8]),
            1 if depth > 0 => Formula::name(["x", "y", "sin", "ω_1"][draw / 4 % 4]),
            _ if depth > 6 => Formula::number(2.0),
            _ => {
                let function = Function::ALL[draw / 4 % Function::ALL.len()];
                let operands: Vec<Formula> = function.operands().iter().map(|_| random(state, depth + 1)).collect();
                Formula::apply(function, operands)
            }
        }
    }

    #[test]
    fn what_is_written_reads_back_as_the_same_tree() {
        let mut state = 3;
        for _ in 0..5000 {
            let formula = random(&mut state, 0);
            let text = formula.to_string();
            assert_eq!(text.parse(), Ok(formula), "{text}");
        }
    }

    #[test]
    fn formulas_are_written_as_people_would() {
        for text in
            ["2 * omega / (4 - omega)", "-x^2", "(-x)^2", "a - (b - c)", "if(a < b, -1, 2^(-x))", "sqrt(x^2 + 0.1)"]
        {
            assert_eq!(text.parse::<Formula>().unwrap().to_string(), text);
        }
        assert_eq!(Formula::number(-2.0).to_string(), "-2");
        assert_eq!(Formula::number(f64::NEG_INFINITY).to_string(), "-(1 / 0)");
    }

    #[test]
    fn names_are_replaced_and_numbers_computed() {
        let formula: Formula = "x / lx + 2 * lx".parse().unwrap();
        let given = |name: &str| (name == "lx").then(|| Formula::number(8.0));
        assert_eq!(formula.with(&given).to_string(), "x / 8 + 16");
        assert_eq!(formula.constant(), None);
        assert_eq!("2^3 - 9".parse::<Formula>().unwrap().with(&given), Formula::number(-1.0));
        assert_eq!("2^3 - 9".parse::<Formula>().unwrap().constant(), Some(-1.0));
    }

    #[test]
    fn a_manifest_has_its_text() {
        let formula: Formula = "2*omega/(4-omega)".parse().unwrap();
        let text = serde_json::to_string(&formula).unwrap();
        assert_eq!(text, r#""2 * omega / (4 - omega)""#);
        assert_eq!(serde_json::from_str::<Formula>(&text).unwrap(), formula);
        let error = serde_json::from_str::<Formula>(r#""2 omega""#).expect_err("two values").to_string();
        assert!(error.contains("expected an operator"), "{error}");
        assert!(serde_json::from_str::<Formula>(&format!("\"{}\"", "(".repeat(100_000))).is_err());
    }
}
