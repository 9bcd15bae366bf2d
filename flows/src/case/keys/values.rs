//! Single values: texts, words, numbers, quantities with their units, formulas; and what is said where one is wrong.

use super::reader::Reader;
use crate::case::diag::{self, Span, Spanned};
use lbm_bundle::formula::FormulaError;

use crate::case::formula::Formula;
use crate::case::probes::LONGEST_NAME;
use crate::case::tree::{Kind, Table, Value};
use crate::case::units::{self, Dimension};
use crate::case::words;

/// Names of the axes.
const AXES: [&str; 3] = ["x", "y", "z"];

/// The largest count: all up to it are exact as numbers.
const MOST: i64 = 1 << f64::MANTISSA_DIGITS;

/// What lies between two times at which something is written.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(in crate::case) enum Interval {
    /// So many steps of the coarsest level.
    Steps(u64),
    /// So many seconds.
    Seconds(f64),
}

/// A point or a vector, in m or in cells.
pub(in crate::case) type RawVector = Spanned<Vec<Spanned<f64>>>;

/// A plane for pictures, in m or in cells.
#[derive(Clone, Debug)]
pub(in crate::case) struct RawSlice {
    pub(in crate::case) normal: usize,
    pub(in crate::case) at: Spanned<f64>,
}

/// A value of a field: in units of the colour bar, or in SI units a value with a unit, in m, kg, s.
#[derive(Clone, Copy, Debug)]
pub(in crate::case) struct RawAmount {
    pub(in crate::case) value: f64,
    /// That of its unit, if it has one.
    pub(in crate::case) dimension: Option<Dimension>,
}

impl Reader {
    pub(in crate::case) fn wrong_type<T>(&mut self, value: &Value, wanted: &str, help: String) -> Option<T> {
        let found = value.kind.describe();
        let message = format!("expected {wanted}, found {found}");
        self.report.add(diag::WRONG_TYPE, &value.span, message, format!("this is {found}"), help)
    }

    pub(super) fn text(&mut self, table: &Table, key: &str) -> Option<Spanned<String>> {
        let entry = table.get(key)?;
        match &entry.value.kind {
            Kind::Text(text) => Some(Spanned { value: text.clone(), span: entry.value.span.clone() }),
            _ => self.wrong_type(&entry.value, "a string", format!("write `{key} = \"...\"`")),
        }
    }

    pub(super) fn word(&mut self, table: &Table, key: &str, choices: &[&str]) -> Option<Spanned<String>> {
        let word = self.text(table, key)?;
        if choices.contains(&&word.value[..]) {
            return Some(word);
        }
        let message = format!("`{}` is no choice for `{key}`", word.value);
        let help = format!("{key} is {}", words::list(choices.iter().copied()));
        self.report.add(diag::UNKNOWN_WORD, &word.span, message, "unknown word", help)
    }

    pub(super) fn truth(&mut self, table: &Table, key: &str) -> Option<bool> {
        self.choice(table, key).map(|truth| truth.value)
    }

    /// True or false, where that is given.
    pub(super) fn choice(&mut self, table: &Table, key: &str) -> Option<Spanned<bool>> {
        let value = &table.get(key)?.value;
        match value.kind {
            Kind::Bool(truth) => Some(Spanned { value: truth, span: value.span.clone() }),
            _ => self.wrong_type(value, "true or false", format!("write `{key} = true`")),
        }
    }

    /// Bytes, as `"8 GiB"`; `no`: what a text is that is none.
    pub(super) fn bytes(&mut self, table: &Table, key: &str, no: &str) -> Option<u64> {
        const UNITS: [(&str, f64); 8] = [
            ("KiB", 1024.0),
            ("MiB", 1048576.0),
            ("GiB", 1073741824.0),
            ("TiB", 1099511627776.0),
            ("kB", 1e3),
            ("MB", 1e6),
            ("GB", 1e9),
            ("TB", 1e12),
        ];
        let text = self.text(table, key)?;
        let number = |unit: &str| text.value.trim().strip_suffix(unit)?.trim().parse::<f64>().ok();
        let bytes = UNITS.iter().find_map(|(unit, size)| Some(number(unit)? * size)).filter(|bytes| *bytes >= 1.0);
        match bytes {
            Some(bytes) => Some(bytes as u64),
            None => {
                let message = format!("`{}` is {no}", text.value);
                let help = format!("for example `{key} = \"8 GiB\"`");
                self.report.add(diag::BAD_VALUE, &text.span, message, "no amount", help)
            }
        }
    }

    /// A positive whole number without unit.
    pub(super) fn count(&mut self, table: &Table, key: &str) -> Option<Spanned<f64>> {
        let entry = table.get(key)?;
        let span = entry.value.span.clone();
        match entry.value.kind {
            Kind::Integer(number @ 1..=MOST) => Some(Spanned { value: number as f64, span }),
            Kind::Integer(1..) => {
                let message = format!("`{key}` is at most {MOST}");
                self.report.add(diag::BAD_VALUE, &span, message, "too large", None)
            }
            Kind::Integer(_) => {
                self.report.add(diag::BAD_VALUE, &span, format!("`{key}` must be positive"), "not positive", None)
            }
            _ => self.wrong_type(&entry.value, "an integer", format!("write `{key} = 1000`")),
        }
    }

    /// A number of steps, or in SI units a time with its unit.
    pub(super) fn interval(&mut self, table: &Table, key: &str) -> Option<Spanned<Interval>> {
        match table.get(key)?.value.kind {
            Kind::Text(_) if self.si => {
                let time = self.positive(table, key, Dimension::TIME)?;
                Some(Spanned { value: Interval::Seconds(time.value), span: time.span })
            }
            _ => {
                let steps = self.count(table, key)?;
                Some(Spanned { value: Interval::Steps(steps.value as u64), span: steps.span })
            }
        }
    }

    pub(super) fn positive(&mut self, table: &Table, key: &str, dimension: Dimension) -> Option<Spanned<f64>> {
        let entry = table.get(key)?;
        let (value, _) = self.quantity(&entry.value, Some(dimension))?;
        if value > 0.0 {
            return Some(Spanned { value, span: entry.value.span.clone() });
        }
        let message = format!("`{key}` must be positive");
        self.report.add(diag::BAD_VALUE, &entry.value.span, message, "not positive", None)
    }

    pub(super) fn vector<T>(
        &mut self,
        table: &Table,
        key: &str,
        component: impl Fn(&mut Self, &Value) -> Option<T>,
    ) -> Option<Spanned<Vec<Spanned<T>>>> {
        let entry = table.get(key)?;
        let Kind::List(list) = &entry.value.kind else {
            return self.wrong_type(&entry.value, "a list", format!("one value for each axis: `{key} = [x, y]`"));
        };
        let components: Vec<_> = list
            .iter()
            .filter_map(|value| {
                let component = component(self, value)?;
                Some(Spanned { value: component, span: value.span.clone() })
            })
            .collect();
        let whole = components.len() == list.len();
        whole.then(|| Spanned { value: components, span: entry.value.span.clone() })
    }

    /// A part of a file's name, and a cell of tables: what is neither a command nor a formula to whoever reads it.
    pub(super) fn file_name(&mut self, table: &Table, key: &str) -> Option<Spanned<String>> {
        let name = self.text(table, key)?;
        let fine = |letter: char| letter.is_alphanumeric() || " _-.".contains(letter);
        let begins = |letter: char| letter.is_alphanumeric() || letter == '_';
        let text = &name.value;
        if text.starts_with(begins) && text.chars().all(fine) && !text.ends_with(' ') && text.len() <= LONGEST_NAME {
            return Some(name);
        }
        let help = format!(
            "letters, digits, `_`, `-`, `.` and blanks, a letter or a digit first, at most {LONGEST_NAME} bytes"
        );
        self.report.add(diag::BAD_VALUE, &name.span, "no file can have this name", "not a name", help)
    }

    /// A list of strings, of one at least.
    pub(super) fn names(&mut self, table: &Table, key: &str, example: &str) -> Option<Vec<Spanned<String>>> {
        let value = &table.get(key)?.value;
        let help = format!("for example `{example}`");
        let Kind::List(list) = &value.kind else { return self.wrong_type(value, "a list of names", help) };
        if list.is_empty() {
            return self.report.add(diag::BAD_VALUE, &value.span, "no field is named", "empty", help);
        }
        let word = |reader: &mut Self, value: &Value| match &value.kind {
            Kind::Text(text) => Some(Spanned { value: text.clone(), span: value.span.clone() }),
            _ => reader.wrong_type(value, "a name", help.clone()),
        };
        list.iter().map(|value| word(self, value)).collect()
    }

    /// Lengths along axes.
    pub(super) fn lengths(&mut self, table: &Table, key: &str) -> Option<RawVector> {
        let length = if self.si { Dimension::LENGTH } else { Dimension::NUMBER };
        self.vector(table, key, |reader, value| Some(reader.quantity(value, Some(length))?.0))
    }

    pub(super) fn point(&mut self, table: &Table, key: &str) -> Option<RawVector> {
        self.point_of(&table.get(key)?.value)
    }

    pub(super) fn point_of(&mut self, value: &Value) -> Option<RawVector> {
        let length = if self.si { Dimension::LENGTH } else { Dimension::NUMBER };
        let Kind::List(list) = &value.kind else {
            return self.wrong_type(value, "a point", "one value for each axis: `[40, 32]`".to_string());
        };
        let along = |reader: &mut Self, value: &Value| {
            Some(Spanned { value: reader.quantity(value, Some(length))?.0, span: value.span.clone() })
        };
        let axes: Option<Vec<_>> = list.iter().map(|value| along(self, value)).collect();
        Some(Spanned { value: axes?, span: value.span.clone() })
    }

    pub(super) fn plane(&mut self, table: &Table, key: &str) -> Option<Spanned<RawSlice>> {
        self.slice(&table.get(key)?.value)
    }

    pub(super) fn slice(&mut self, value: &Value) -> Option<Spanned<RawSlice>> {
        let help = "for example `{ normal = \"y\", at = 32 }`".to_string();
        let Kind::Table(table) = &value.kind else { return self.wrong_type(value, "a table", help) };
        self.only_keys(table, &["normal", "at"], "a slice")?;
        if let Some(key) = ["normal", "at"].iter().find(|key| table.get(key).is_none()) {
            return self.missing(&value.span, key, "a slice has a normal and a place", help);
        }
        let normal = self.normal(table)?;
        let length = if self.si { Dimension::LENGTH } else { Dimension::NUMBER };
        let entry = table.get("at")?;
        let at = Spanned { value: self.quantity(&entry.value, Some(length))?.0, span: entry.value.span.clone() };
        Some(Spanned { value: RawSlice { normal, at }, span: value.span.clone() })
    }

    /// A direction in three dimensions: three numbers, or an axis by its name.
    pub(super) fn axis(&mut self, value: &Value) -> Option<RawVector> {
        let span = &value.span;
        let along = |value: f64| Spanned { value, span: span.clone() };
        let components = match &value.kind {
            Kind::Text(name) if AXES.contains(&&name[..]) => {
                AXES.iter().map(|axis| along(f64::from(axis == name))).collect()
            }
            Kind::List(list) => {
                let component = |value: &Value| Some(self.quantity(value, Some(Dimension::NUMBER))?.0);
                let components: Option<Vec<f64>> = list.iter().map(component).collect();
                components?.into_iter().map(along).collect()
            }
            _ => {
                let help = "for example `axis = [0, 0, 1]`, or `axis = \"z\"`".to_string();
                return self.wrong_type(value, "a direction", help);
            }
        };
        Some(Spanned { value: components, span: span.clone() })
    }

    /// The number of the axis that `normal` names, or along which it points.
    pub(super) fn normal(&mut self, table: &Table) -> Option<usize> {
        let value = &table.get("normal")?.value;
        if !matches!(value.kind, Kind::List(_)) {
            let name = self.word(table, "normal", &AXES)?;
            return AXES.iter().position(|axis| *axis == name.value);
        }
        let direction = self.axis(value)?;
        let mut along = direction.value.iter().enumerate().filter(|(_, along)| along.value != 0.0);
        match (along.next(), along.next()) {
            (Some((axis, _)), None) if direction.value.len() == AXES.len() => Some(axis),
            _ => {
                let help = format!("normal is {}", words::list(AXES));
                self.report.add(diag::UNKNOWN_WORD, &value.span, "a plane is normal to an axis", "along no axis", help)
            }
        }
    }

    pub(super) fn amount(&mut self, table: &Table, key: &str) -> Option<Spanned<RawAmount>> {
        self.amount_of(&table.get(key)?.value)
    }

    /// A value of a field whose units are not known yet: a number, or in SI units a string with a unit.
    pub(super) fn amount_of(&mut self, value: &Value) -> Option<Spanned<RawAmount>> {
        let (number, dimension) = match value.kind {
            Kind::Text(_) => {
                let (number, dimension) = self.quantity(value, None)?;
                (number, self.si.then_some(dimension))
            }
            Kind::Integer(number) => (number as f64, None),
            Kind::Float(number) if number.is_finite() => (number, None),
            Kind::Float(_) => {
                return self.report.add(diag::BAD_VALUE, &value.span, "not a finite number", "not finite", None);
            }
            _ => {
                let help = "in units of the colour bar: 0.5; in SI also with a unit: \"0.5 m/s\"".to_string();
                return self.wrong_type(value, "a number", help);
            }
        };
        Some(Spanned { value: RawAmount { value: number, dimension }, span: value.span.clone() })
    }

    /// A number or a formula of numbers, in SI units with a unit of the wanted dimension (any, if none is wanted), in m, kg, s. Zero needs
    /// no unit.
    pub(super) fn quantity(&mut self, value: &Value, wanted: Option<Dimension>) -> Option<(f64, Dimension)> {
        let (what, example) = wanted.unwrap_or(Dimension::NUMBER).describe();
        let (number, unit) = match &value.kind {
            Kind::Integer(number) => (*number as f64, None),
            Kind::Float(number) => (*number, None),
            Kind::Text(text) => match Formula::parse(text) {
                Ok((formula, unit)) => match formula.constant() {
                    Some(number) => (number, Some(unit)),
                    None => {
                        let message = format!("expected {what}, the same everywhere and at all times");
                        return self.report.add(diag::CANNOT_VARY, &value.span, message, "a formula", None);
                    }
                },
                Err(_) if !text.trim_start().starts_with(|first: char| "(+-.0123456789".contains(first)) => {
                    let help = match self.si {
                        true => format!("write a number and a unit, such as \"{example}\""),
                        false => "write a plain number".to_string(),
                    };
                    let message = format!("expected {what}, found a string that does not start with a number");
                    return self.report.add(diag::WRONG_TYPE, &value.span, message, "no number", help);
                }
                Err(error) => return self.no_formula(value, text, error),
            },
            _ => return self.wrong_type(value, &what, format!("for example {example}")),
        };
        let (size, dimension) = self.unit(&value.span, unit.unwrap_or(""), number == 0.0, wanted)?;
        if !(number * size).is_finite() {
            return self.report.add(diag::BAD_VALUE, &value.span, "not a finite number", "not finite", None);
        }
        Some((number * size, dimension))
    }

    /// A formula of position, or in SI units a string with a formula and a unit. A formula may be a number.
    pub(super) fn formula(&mut self, value: &Value, wanted: Dimension) -> Option<Formula> {
        let (formula, _) = self.timed_formula(value, Some(wanted))?;
        if formula.varies_in_time() {
            let message = "nothing changes with the time `t` here";
            let help = "formulas of time are for what acts while the flow goes on: parameters of faces and solids, and \
                        of the method in `[params]`";
            return self.report.add(diag::FORMULA, &value.span, message, "a formula of time", help.to_string());
        }
        Some(formula)
    }

    /// The same, of position and time, with the dimension of its unit: any, if none is wanted.
    pub(super) fn timed_formula(&mut self, value: &Value, wanted: Option<Dimension>) -> Option<(Formula, Dimension)> {
        self.formula_by(value, wanted, Formula::parse)
    }

    /// The same with names of fields, which are not known yet.
    pub(super) fn named_formula(&mut self, value: &Value, wanted: Option<Dimension>) -> Option<(Formula, Dimension)> {
        self.formula_by(value, wanted, Formula::parse_named)
    }

    fn formula_by(
        &mut self,
        value: &Value,
        wanted: Option<Dimension>,
        parse: fn(&str) -> Result<(Formula, &str), FormulaError>,
    ) -> Option<(Formula, Dimension)> {
        let Kind::Text(text) = &value.kind else {
            let (number, dimension) = self.quantity(value, wanted)?;
            return Some((Formula::number(number), dimension));
        };
        match parse(text) {
            Ok((formula, rest)) => {
                if !self.si && units::parse(rest).is_err() && !rest.is_empty() {
                    let at = text.len() - rest.len()..text.len();
                    let message = format!("expected an operator, found `{rest}`");
                    let help = "write `*` between factors".to_string();
                    let error = FormulaError::new(at, message, "the formula has ended", help);
                    return self.no_formula(value, text, error);
                }
                let (size, dimension) = self.unit(&value.span, rest, formula.constant() == Some(0.0), wanted)?;
                Some((if size == 1.0 { formula } else { formula.times(size) }, dimension))
            }
            Err(error) => self.no_formula(value, text, error),
        }
    }

    /// A formula of names that are known later, and its text: `what` it is, and an example of one.
    pub(super) fn formula_of_names(
        &mut self,
        value: &Value,
        what: &str,
        example: &str,
    ) -> Option<(String, lbm_bundle::Formula)> {
        let Kind::Text(text) = &value.kind else {
            return self.wrong_type(value, "a formula, in quotes", format!("for example `{example}`"));
        };
        let parsed = lbm_bundle::Formula::parse(text).and_then(|parsed| parsed.complete().map(|()| parsed.formula));
        match parsed {
            Ok(formula) if formula.tables().is_empty() => Some((text.clone(), formula)),
            Ok(_) => self.report.add(diag::FORMULA, &value.span, format!("{what} has no tables"), "a table", None),
            Err(error) => self.no_formula(value, text, error),
        }
    }

    pub(super) fn no_formula<T>(&mut self, value: &Value, text: &str, error: FormulaError) -> Option<T> {
        let mut span = value.span.clone();
        // Where the file has the text as it is, without escapes, the place is known to the letter.
        if let Some(from) = span.source.inner()[span.range.clone()].find(text) {
            let start = span.range.start + from;
            span.range = start + error.at.start..start + error.at.end;
        }
        self.report.add(diag::FORMULA, &span, error.message, error.label, error.help)
    }

    /// The size in m, kg, s and the dimension of the unit that stands behind a value; a value without one has the wanted
    /// dimension. Zero needs no unit.
    pub(super) fn unit(
        &mut self,
        span: &Span,
        unit: &str,
        zero: bool,
        wanted: Option<Dimension>,
    ) -> Option<(f64, Dimension)> {
        let (what, example) = wanted.unwrap_or(Dimension::NUMBER).describe();
        if unit.is_empty() {
            let wanted = wanted.unwrap_or(Dimension::NUMBER);
            if !self.si || !wanted.needs_unit() || zero {
                return Some((1.0, wanted));
            }
            let help = format!("write a string with its unit, such as \"{example}\"");
            return self.report.add(diag::MISSING_UNIT, span, format!("{what} needs a unit"), "no unit", help);
        }
        if !self.si {
            let message = "a case in lattice units has no units of measurement";
            let help = "write a plain number, or `[units] system = \"si\"` and units throughout".to_string();
            return self.report.add(diag::UNIT_IN_LATTICE, span, message, "has a unit", help);
        }
        let unit = match units::parse(unit) {
            Ok(unit) => unit,
            Err(part) => {
                let message = format!("`{part}` is no unit");
                return self.report.add(
                    diag::UNKNOWN_UNIT,
                    span,
                    message,
                    "unknown unit",
                    units::advice(&part, wanted),
                );
            }
        };
        if let Some(wanted) = wanted.filter(|wanted| *wanted != unit.dimension) {
            let found = unit.dimension.describe().0;
            let message = format!("expected {what}, found {found}");
            let help = wanted.advice(unit.dimension);
            return self.report.add(diag::WRONG_UNIT, span, message, format!("this is {found}"), help);
        }
        Some((unit.size, unit.dimension))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::case::diag::Report;
    use crate::case::tree;
    use std::f64::consts::PI;

    fn quantity(text: &str, si: bool) -> Option<f64> {
        let (table, _) = tree::parse("case.toml", &format!("key = \"{text}\""), &mut Report::default());
        let mut reader = Reader { report: Report::default(), si };
        Some(reader.quantity(&table.get("key")?.value, None)?.0)
    }

    #[test]
    fn a_quantity_is_a_number_or_a_formula_of_numbers_and_its_unit() {
        for (text, value) in [
            ("1.5e-3 m/s", 1.5e-3),
            (" 10mm ", 10.0 * 1e-3),
            ("-2 m^2/s", -2.0),
            ("1_000 s", 1000.0),
            ("7", 7.0),
            ("2*3 m/s", 6.0),
            ("(1 + 1) 1/s", 2.0),
        ] {
            assert_eq!(quantity(text, true), Some(value), "{text}");
        }
        for (text, value) in [("2*0.01", 0.02), ("0.02+0", 0.02), ("(0.02)", 0.02), ("pi/100", 0.01 * PI)] {
            assert_eq!(quantity(text, false), Some(value), "{text}");
        }
        for text in ["fast", "m/s 3", "1/0", "2*(3", "x"] {
            assert_eq!(quantity(text, false), None, "{text}");
        }
    }
}
