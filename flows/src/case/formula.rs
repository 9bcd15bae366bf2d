//! Formulas of position and time: `0.05 * sin(2*pi*x/lx) * cos(2*pi*t/600)`.
//!
//! They are [formulas](lbm_bundle::formula) of `pi`, of two variables for each axis, the position of a cell's centre from the lower
//! corner of the domain, `x, y, z`, and the extent of the domain, `lx, ly, lz`, and, where what they say may change, of the time `t`.

use std::fmt;
use std::ops::Range;

use lbm_bundle::formula::{FormulaError, Function, NOISE, Parsed, Points, TABLE};

use super::words;

/// A formula of position and time.
#[derive(Clone, PartialEq)]
pub struct Formula(lbm_bundle::Formula);

pub(super) const POSITIONS: [&str; 3] = ["x", "y", "z"];
pub(super) const EXTENTS: [&str; 3] = ["lx", "ly", "lz"];
const PI: &str = "pi";
pub(super) const TIME: &str = "t";

/// Names that stand for a value.
fn values() -> impl Iterator<Item = &'static str> {
    POSITIONS.into_iter().chain(EXTENTS).chain([PI, TIME])
}

fn suggest(name: &str) -> String {
    words::suggest(name, &values().chain(Function::names()).chain([TABLE, NOISE]).collect::<Vec<_>>())
}

/// What is wrong with a name that stands for nothing.
fn unknown(name: &str, at: Range<usize>) -> FormulaError {
    match Function::called(name) {
        Some(function) => {
            let help = format!("write `{name}({})`", function.operands().join(", "));
            FormulaError::new(at, format!("`{name}` is a function"), "wrong arguments", help)
        }
        None => FormulaError::new(at, format!("there is no `{name}` in a formula"), "unknown name", suggest(name)),
    }
}

fn parsed(text: &str) -> Result<Parsed<'_>, FormulaError> {
    lbm_bundle::Formula::parse(text).map_err(|error| match &error.unknown {
        Some(name) => FormulaError { help: suggest(name), ..error },
        None => error,
    })
}

impl Formula {
    /// A number.
    pub fn number(value: f64) -> Formula {
        Formula(lbm_bundle::Formula::number(value))
    }

    /// The formula of position and time at the start of a text, and the rest of the text, without the blanks between.
    pub(super) fn parse(text: &str) -> Result<(Formula, &str), FormulaError> {
        let Parsed { formula, names, rest, .. } = parsed(text)?;
        match names.into_iter().find(|(name, _)| !values().any(|known| known == name)) {
            Some((name, at)) => Err(unknown(&name, at)),
            None => Ok((Formula(formula), rest)),
        }
    }

    /// The same, with names of any kind, to be known later: [`Formula::unknown`].
    pub(super) fn parse_named(text: &str) -> Result<(Formula, &str), FormulaError> {
        let Parsed { formula, rest, .. } = parsed(text)?;
        Ok((Formula(formula), rest))
    }

    /// A whole text, with names of any kind, to be known later: [`Formula::unknown`].
    pub(super) fn parse_with_names(text: &str) -> Result<Formula, FormulaError> {
        let parsed = parsed(text)?;
        parsed.complete()?;
        Ok(Formula(parsed.formula))
    }

    /// What is wrong with a name that is none, if there is one.
    pub(super) fn unknown(&self, known: &dyn Fn(&str) -> bool) -> Option<FormulaError> {
        self.0.names().into_iter().find(|name| !known(name)).map(|name| unknown(name, 0..0))
    }

    /// Its value, if it is the same everywhere.
    pub fn constant(&self) -> Option<f64> {
        self.0.value(&|name| (name == PI).then_some(std::f64::consts::PI))
    }

    /// The formula times a factor.
    pub(super) fn times(&self, factor: f64) -> Formula {
        self.by(Function::Multiply, factor)
    }

    /// The formula over a divisor.
    pub(super) fn over(&self, divisor: f64) -> Formula {
        self.by(Function::Divide, divisor)
    }

    /// The formula over another one.
    pub(super) fn over_formula(&self, divisor: &Formula) -> Formula {
        Formula(lbm_bundle::Formula::apply(Function::Divide, [self.0.clone(), divisor.0.clone()]))
    }

    fn by(&self, function: Function, number: f64) -> Formula {
        let formula = lbm_bundle::Formula::apply(function, [self.0.clone(), lbm_bundle::Formula::number(number)]);
        Formula(formula.with(&|_| None))
    }

    /// The formula on a grid: for a position in cells, cells of size `cell`, and a domain of `size` cells. Numbers are computed.
    pub(super) fn on(&self, size: [usize; 3], cell: f64) -> Formula {
        Formula(Formula::placed(&self.0, size, cell, &[]))
    }

    /// The same of a formula with other names, which stay.
    pub(super) fn placed(
        formula: &lbm_bundle::Formula,
        size: [usize; 3],
        cell: f64,
        others: &[String],
    ) -> lbm_bundle::Formula {
        let number = lbm_bundle::Formula::number;
        let place = |name: &str| match axis(EXTENTS, name) {
            _ if others.iter().any(|other| other == name) => None,
            Some(axis) => Some(number(size[axis] as f64 * cell)),
            None if name == PI => Some(number(std::f64::consts::PI)),
            None if cell == 1.0 => None,
            None => {
                let position =
                    || lbm_bundle::Formula::apply(Function::Multiply, [lbm_bundle::Formula::name(name), number(cell)]);
                axis(POSITIONS, name).map(|_| position())
            }
        };
        formula.with(&place)
    }

    /// The formula for a time in steps, which are `step` long. Numbers are computed.
    pub(super) fn in_steps(&self, step: f64) -> Formula {
        if step == 1.0 {
            return self.clone();
        }
        let [time, step] = [lbm_bundle::Formula::name(TIME), lbm_bundle::Formula::number(step)];
        let time = lbm_bundle::Formula::apply(Function::Multiply, [time, step]);
        Formula(self.0.with(&|name| (name == TIME).then(|| time.clone())))
    }

    /// Whether it depends on time.
    pub fn varies_in_time(&self) -> bool {
        self.0.names().contains(TIME)
    }

    /// Whether it depends on position.
    pub fn varies_in_place(&self) -> bool {
        self.0.names().iter().any(|name| POSITIONS.contains(name))
    }

    /// Whether it has names that are neither position nor time: those of fields.
    pub(super) fn reads_fields(&self) -> bool {
        self.0.names().iter().any(|name| !Formula::knows(name))
    }

    /// Whether a name stands for a position, an extent, the time or pi.
    pub(super) fn knows(name: &str) -> bool {
        values().any(|known| known == name)
    }

    /// The formula with these extents of the domain, and the number pi.
    pub(super) fn with_extents(&self, extents: &[f64; 3]) -> lbm_bundle::Formula {
        self.0.with(&|name| match axis(EXTENTS, name) {
            Some(axis) => Some(lbm_bundle::Formula::number(extents[axis])),
            None => (name == PI).then(|| lbm_bundle::Formula::number(std::f64::consts::PI)),
        })
    }

    /// Names of fields that it may read, by themselves or by their derivatives: `ux` for `dx_ux`.
    pub(super) fn fields(&self) -> Vec<&str> {
        let derived = |name| ["dx_", "dy_", "dz_"].iter().find_map(|axis| str::strip_prefix(name, axis));
        self.0.names().into_iter().flat_map(|name| [Some(name), derived(name)]).flatten().collect()
    }

    /// The name of a variable of an axis beyond the dimension, if there is one.
    pub(super) fn beyond(&self, dim: usize) -> Option<&'static str> {
        let names = self.0.names();
        POSITIONS[dim..].iter().chain(&EXTENTS[dim..]).find(|name| names.contains(*name)).copied()
    }

    /// Its value at a position and a time: in cells from the lower corner of the domain and in steps, once a case is resolved.
    pub fn at(&self, position: [f64; 3], time: f64) -> f64 {
        let value = |name: &str| match (axis(POSITIONS, name), name) {
            (Some(axis), _) => Some(position[axis]),
            (None, PI) => Some(std::f64::consts::PI),
            (None, TIME) => Some(time),
            (None, _) => None,
        };
        self.0.value(&value).unwrap_or(f64::NAN)
    }

    /// Its value where all noise is zero.
    pub(super) fn without_noise_at(&self, position: [f64; 3], time: f64) -> f64 {
        Formula(self.0.without_noise()).at(position, time)
    }

    /// The files of tables in it.
    pub(super) fn tables(&self) -> std::collections::BTreeSet<&str> {
        self.0.tables()
    }

    /// The formula with the points of tables, by their files.
    pub(super) fn with_tables(&self, points: &dyn Fn(&str) -> Option<Points>) -> Formula {
        Formula(self.0.with_tables(points))
    }

    /// The formula for others than cases.
    pub fn get(&self) -> &lbm_bundle::Formula {
        &self.0
    }
}

fn axis(names: [&str; 3], name: &str) -> Option<usize> {
    names.iter().position(|known| *known == name)
}

impl From<lbm_bundle::Formula> for Formula {
    fn from(formula: lbm_bundle::Formula) -> Formula {
        Formula(formula)
    }
}

impl std::str::FromStr for Formula {
    type Err = FormulaError;

    /// A formula of `x, y, z`, in cells, and `t`, in steps: what is wrong with the text, if it is none.
    fn from_str(text: &str) -> Result<Formula, FormulaError> {
        let parsed = parsed(text)?;
        parsed.complete()?;
        Formula::parse(text).map(|(formula, _)| formula)
    }
}

impl fmt::Debug for Formula {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(&self.0, out)
    }
}

/// Whether one of a parameter's components depends on time.
pub(crate) fn is_timed(formulas: &[Formula]) -> bool {
    formulas.iter().any(Formula::varies_in_time)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn value(text: &str) -> f64 {
        let (formula, rest) = Formula::parse(text).unwrap_or_else(|error| panic!("{text}: {error:?}"));
        assert_eq!(rest, "", "{text}");
        formula.on([8, 4, 2], 1.0).at([3.0, 0.5, 0.25], 0.0)
    }

    #[test]
    fn positions_and_extents_have_values() {
        for (text, expected) in [
            ("sin(2*pi*y)", 1.2246467991473532e-16),
            ("min(x/lx, y/ly) + max(1, 2) * lz", 4.125),
            ("if(x < 4, 1, 2) * z", 0.25),
        ] {
            assert_eq!(value(text), expected, "{text}");
        }
    }

    #[test]
    fn a_name_that_is_none_is_told_with_its_place() {
        for (text, at, part, help) in [
            ("1 + sinn(2)", 4..8, "`sinn`", "`sinh`"),
            ("1 + yy", 4..6, "`yy`", "did you mean"),
            ("sin", 0..3, "is a function", "`sin(a)`"),
            ("x + é", 4..6, "`é`", "`t`"),
        ] {
            let error = Formula::parse(text).expect_err(text);
            assert_eq!(error.at, at, "{text}: {error:?}");
            assert!(error.message.contains(part) && error.help.contains(help), "{text}: {error:?}");
        }
        let error = Formula::parse_with_names("dx_u + x").unwrap().unknown(&|name| name == "x").expect("a name");
        assert!(error.message.contains("`dx_u`"), "{error:?}");
    }

    #[test]
    fn time_is_in_steps_and_told_apart_from_place() {
        let formula = |text: &str| Formula::parse(text).expect(text).0;
        assert_eq!(formula("x * t").in_steps(0.5).at([3.0, 0.0, 0.0], 4.0), 6.0);
        let varies = |text: &str| (formula(text).varies_in_place(), formula(text).varies_in_time());
        assert_eq!(
            ["1 + lx", "x", "sin(t)", "x * t"].map(varies),
            [(false, false), (true, false), (false, true), (true, true)]
        );
        assert_eq!(formula("2 * t").constant(), None);
    }

    #[test]
    fn on_a_grid_positions_are_cells() {
        let (formula, _) = Formula::parse("x / lx + y").expect("a formula");
        assert_eq!(formula.on([8, 4, 1], 0.5).at([2.0, 3.0, 0.0], 0.0), 0.25 + 1.5);
        assert_eq!(formula.beyond(1), Some("y"));
        assert_eq!(formula.beyond(2), None);
        let (constant, _) = Formula::parse("2 * lx").expect("a formula");
        assert_eq!(constant.on([8, 4, 1], 0.5).times(3.0).constant(), Some(24.0));
    }
}
