//! Formulas of named values, for cases, rates between levels and refinement criteria: text, value and syntax tree.
//!
//! | | binds | example |
//! | --- | --- | --- |
//! | `<` `<=` `>` `>=` `==` `!=` | least; 1 where it is true, else 0; not in a row | `x < 8` |
//! | `+` `-` | from the left | `1 - x + y` |
//! | `*` `/` | from the left | `2 * x / lx` |
//! | `-` `+` before a value | | `-x^2` is `-(x^2)` |
//! | `^` | most, from the right | `2^3^2` is `2^(3^2)` |
//!
//! Further there are numbers (`12`, `1_000`, `.5`, `1.5e-3`), parentheses, functions of [`Function`] (`sqrt(a)`, `if(a < b, c, d)`), names, which
//! whoever computes a formula knows, [tables](Table) of files (`table("inflow.csv", t)`), which others read, and [noise](Noise)
//! (`noise(7, x / 8, y / 8, t / 20)`). All numbers are of 64 bits. A text is a [`Formula`] and back: `Display` writes what parses to the same tree,
//! and so do manifests. [Recordings](Recorded) alone have no text that parses: programs make such formulas.
//!
//! Texts are not trusted: length and depth are limited, and so is recursion.

use std::collections::BTreeSet;
use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Deserializer, Serialize, Serializer};

mod noise;
mod parse;
mod recorded;
mod slope;
mod table;

pub use noise::Noise;
pub use parse::{FormulaError, Parsed};
pub use recorded::{Frames, Plane, Recorded, Shape};
pub use table::{Points, Table};

/// Longest text of a formula, in bytes.
pub const LONGEST: usize = 1 << 14;

/// Most tables that a text may read.
pub const MOST_TABLES: usize = 8;

/// Most operations inside each other that a text may have.
pub const DEEPEST: usize = 512;

/// What a table is called in formulas.
pub const TABLE: &str = "table";

/// What noise is called in formulas.
pub const NOISE: &str = "noise";

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
    /// Noise at a point.
    Noise(Noise, Box<[Formula; 3]>),
    /// A recording at a place along both axes of its plane, in points from the first one, and a time, in frames.
    Recorded(Recorded, Box<[Formula; 3]>),
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
            Formula::Noise(noise, point) => {
                let [x, y, z] = &**point;
                Some(noise.at([x.value(named)?, y.value(named)?, z.value(named)?]))
            }
            Formula::Recorded(recorded, point) => {
                let [first, second, time] = &**point;
                Some(recorded.at([first.value(named)?, second.value(named)?, time.value(named)?]))
            }
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
            Formula::Noise(_, point) | Formula::Recorded(_, point) => point.iter().flat_map(Formula::names).collect(),
        }
    }

    /// The files of all tables in it.
    pub fn tables(&self) -> BTreeSet<&str> {
        match self {
            Formula::Number(_) | Formula::Name(_) => BTreeSet::new(),
            Formula::Apply(_, operands) => operands.iter().flat_map(Formula::tables).collect(),
            Formula::Table(table, at) => at.tables().into_iter().chain([&table.file[..]]).collect(),
            Formula::Noise(_, point) | Formula::Recorded(_, point) => point.iter().flat_map(Formula::tables).collect(),
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
            Formula::Noise(noise, point) => {
                Formula::Noise(*noise, Box::new(point.each_ref().map(|at| at.with_tables(points))))
            }
            Formula::Recorded(recorded, point) => {
                Formula::Recorded(recorded.clone(), Box::new(point.each_ref().map(|at| at.with_tables(points))))
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
            Formula::Noise(noise, point) => {
                let formula = Formula::Noise(*noise, Box::new(point.each_ref().map(|at| at.with(given))));
                formula.constant().map_or(formula, Formula::number)
            }
            Formula::Recorded(recorded, point) => {
                Formula::Recorded(recorded.clone(), Box::new(point.each_ref().map(|at| at.with(given))))
            }
        }
    }

    /// The formula with zero in the place of noise.
    pub fn without_noise(&self) -> Formula {
        match self {
            Formula::Number(_) | Formula::Name(_) | Formula::Recorded(..) => self.clone(),
            Formula::Apply(function, operands) => {
                Formula::Apply(*function, operands.iter().map(Formula::without_noise).collect())
            }
            Formula::Table(table, at) => Formula::Table(table.clone(), Box::new(at.without_noise())),
            Formula::Noise(..) => Formula::Number(0.0),
        }
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
            Formula::Noise(Noise { seed, periods }, point) => {
                write!(out, "{NOISE}({seed}")?;
                for at in &**point {
                    out.write_str(", ")?;
                    at.write(out, 0)?;
                }
                if *periods != [0; 3] {
                    let [x, y, z] = periods;
                    write!(out, ", {x}, {y}, {z}")?;
                }
                out.write_str(")")
            }
            Formula::Recorded(Recorded { plane, component }, point) => {
                write!(out, "recorded({}, {component}", plane.shape().name)?;
                for at in &**point {
                    out.write_str(", ")?;
                    at.write(out, 0)?;
                }
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
