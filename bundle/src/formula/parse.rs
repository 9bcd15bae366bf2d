//! The text of a formula becomes the formula.

use std::fmt;
use std::ops::Range;
use std::sync::Arc;

use super::{DEEPEST, Formula, Function, LONGEST, MOST_TABLES, NOISE, Noise, TABLE, Table, binding};

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

impl Formula {
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

    /// What is between the parentheses of a function, with the second of them.
    fn operands(&mut self, open: usize, inside: usize) -> Result<Vec<(Formula, usize)>, FormulaError> {
        let mut operands = vec![self.formula(0, inside + 1)?];
        self.skip_blanks();
        while self.take(",") {
            operands.push(self.formula(0, inside + 1)?);
            self.skip_blanks();
        }
        self.close(open)?;
        Ok(operands)
    }

    /// `7, x, y, z)` of noise; three periods may follow.
    fn noise(&mut self, name: Range<usize>, open: usize, inside: usize) -> Read {
        let help = "write `noise(7, x, y, z)`: its seed and a point";
        let operands = self.operands(open, inside)?;
        let depth = 1 + operands.iter().map(|(_, depth)| *depth).max().unwrap_or(0);
        self.limit(name.start, depth)?;
        let wrong = |message: &str| Parser::wrong(name.clone(), message.into(), "wrong arguments", help);
        let formulas: Vec<Formula> = operands.into_iter().map(|(formula, _)| formula).collect();
        let (seed, point, periods) = match &formulas[..] {
            [seed, x, y, z] => (seed, [x, y, z], [0; 3]),
            [seed, x, y, z, periods @ ..] if periods.len() == 3 => {
                let mut whole_periods = [0; 3];
                for (period, formula) in whole_periods.iter_mut().zip(periods) {
                    match whole(formula).filter(|period| *period < 1 << 31) {
                        Some(1) => return wrong("a period of one eddy: it would meet itself"),
                        Some(found) => *period = found,
                        None => return wrong("a period of `noise` is a whole number below 2^31; 0 for none"),
                    }
                }
                (seed, [x, y, z], whole_periods)
            }
            others => return wrong(&format!("`noise` has 4 argument(s), or 7 with periods, not {}", others.len())),
        };
        let Some(seed) = whole(seed) else { return wrong("the seed of `noise` is a whole number below 2^32") };
        Ok((Formula::Noise(Noise { seed, periods }, Box::new(point.map(Formula::clone))), depth))
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
        if name == NOISE {
            return self.noise(at, open, inside);
        }
        let Some(function) = Function::called(name) else {
            let help = format!("functions: {}", Function::names().collect::<Vec<_>>().join(", "));
            let error = FormulaError::new(at, format!("there is no function `{name}`"), "unknown name", help);
            return Err(FormulaError { unknown: Some(name.into()), ..error });
        };
        let operands = self.operands(open, inside)?;
        let wanted = function.operands();
        if operands.len() == wanted.len() {
            return self.apply(start, function, operands);
        }
        let message = format!("`{name}` has {} argument(s), not {}", wanted.len(), operands.len());
        Parser::wrong(at, message, "wrong arguments", &format!("write `{name}({})`", wanted.join(", ")))
    }
}

/// A whole number of 32 bits.
fn whole(formula: &Formula) -> Option<u32> {
    match formula {
        Formula::Number(value) if value.fract() == 0.0 && *value <= f64::from(u32::MAX) => Some(*value as u32),
        _ => None,
    }
}
