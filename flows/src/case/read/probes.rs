//! `[[probes]]`.

use super::Reader;
use crate::case::diag::{self, Spanned};
use crate::case::probes::{LONGEST_NAME, MOST_PROBES};
use crate::case::raw::{RawPoints, RawProbe, RawVector};
use crate::case::tree::{Kind, Table, Value};
use crate::case::units::Dimension;

/// Keys of a probe.
const KNOWN: [&str; 7] = ["name", "at", "from", "to", "points", "fields", "every"];

impl Reader {
    pub(super) fn probes(&mut self, root: &Table) -> Vec<Spanned<RawProbe>> {
        let help = "write `[[probes]]` above the keys of each".to_string();
        let list = match root.get("probes").map(|entry| &entry.value) {
            None => return vec![],
            Some(Value { kind: Kind::List(list), .. }) => list,
            Some(value) => return self.wrong_type(value, "a list of tables", help).unwrap_or_default(),
        };
        if let Some(beyond) = list.get(MOST_PROBES) {
            let message = format!("{} probes are more than {MOST_PROBES}", list.len());
            let help = "one probe may have many points".to_string();
            self.report.add::<()>(diag::BAD_VALUE, &beyond.span, message, "one too many", help);
        }
        let probes: Vec<_> = list.iter().take(MOST_PROBES).filter_map(|value| self.probe(value)).collect();
        for (at, probe) in probes.iter().enumerate() {
            let name = &probe.value.name;
            // File systems may not tell capitals from small letters.
            let same = |other: &&Spanned<RawProbe>| other.value.name.value.eq_ignore_ascii_case(&name.value);
            if probes[..at].iter().find(same).is_some() {
                let message = format!("two probes are called `{}`", name.value);
                let help = "each has a file of its name: give it another".to_string();
                self.report.add::<()>(diag::CONFLICT, &name.span, message, "taken", help);
            }
        }
        probes
    }

    fn probe(&mut self, value: &Value) -> Option<Spanned<RawProbe>> {
        let Kind::Table(table) = &value.kind else {
            return self.wrong_type(value, "a table", "write `[[probes]]` above the keys of each".to_string());
        };
        self.only_keys(table, &KNOWN, "a probe")?;
        let span = table.entries.first().map_or(&value.span, |entry| &entry.span).clone();
        for (key, what, example) in [
            ("name", "what its file is called", "`name = \"wake\"` for `probe_wake.csv`"),
            ("every", "steps between rows", "for example `every = 10`"),
        ] {
            if table.get(key).is_none() {
                self.missing::<()>(&span, &format!("probes.{key}"), what, example.to_string());
            }
        }
        let (name, every) = (self.file_name(table, "name"), self.interval(table, "every"));
        let points = match (table.get("at"), table.get("from").or(table.get("to")).or(table.get("points"))) {
            (Some(at), None) => self.points(&at.value).map(RawPoints::At),
            (None, Some(_)) => self.between(table, &span),
            (Some(_), Some(other)) => {
                let message = format!("`at` and `{}` exclude each other", other.key);
                let help =
                    "points are listed in `at`; a line, a rectangle or a box is `from`, `to` and `points`".to_string();
                self.report.add(diag::CONFLICT, &other.span, message, "one too many", help)
            }
            (None, None) => {
                let help = "`at = [[40, 32], [60, 32]]`, or a line: `from`, `to` and `points`".to_string();
                self.missing(&span, "probes.at", "the points", help)
            }
        };
        let fields = match table.get("fields") {
            None => None,
            Some(entry) => Some(self.words(&entry.value, "fields = [\"velocity\", \"pressure\"]")?),
        };
        let probe = RawProbe { name: name?, points: points?, fields, every: every? };
        Some(Spanned { value: probe, span })
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

    /// Points, or a single one.
    fn points(&mut self, value: &Value) -> Option<Vec<RawVector>> {
        let help = "for example `at = [[40, 32], [60, 32]]`".to_string();
        let Kind::List(list) = &value.kind else { return self.wrong_type(value, "a list of points", help) };
        if list.is_empty() {
            return self.report.add(diag::BAD_VALUE, &value.span, "there is no point", "empty", help);
        }
        let is_list = |value: &Value| matches!(value.kind, Kind::List(_));
        match list.iter().any(is_list) {
            true => list.iter().map(|point| self.point(point)).collect(),
            false => Some(vec![self.point(value)?]),
        }
    }

    pub(super) fn point(&mut self, value: &Value) -> Option<RawVector> {
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

    /// A line with a number of points, or a rectangle or a box with one for each axis.
    fn between(&mut self, table: &Table, span: &diag::Span) -> Option<RawPoints> {
        if let Some(key) = ["from", "to", "points"].iter().find(|key| table.get(key).is_none()) {
            let help = "a line is `from = [0, 32]`, `to = [128, 32]`, `points = 100`; a rectangle or a box has a number of points \
                        for each axis: `points = [129, 65]`"
                .to_string();
            let what = "a line, a rectangle or a box has two ends and numbers of points";
            return self.missing(span, &format!("probes.{key}"), what, help);
        }
        let (from, to) = (self.point(&table.get("from")?.value), self.point(&table.get("to")?.value));
        let points = &table.get("points")?.value;
        if let Kind::List(list) = &points.kind {
            let number = |value: &Value| match value.kind {
                Kind::Integer(number) => usize::try_from(number).ok().filter(|number| *number > 0),
                _ => None,
            };
            let Some(numbers) = list.iter().map(number).collect() else {
                let help = "one number for each axis, 1 at least: `points = [129, 65]`".to_string();
                return self.report.add(diag::BAD_VALUE, &points.span, "no grid has these points", "not numbers", help);
            };
            let points = Spanned { value: numbers, span: points.span.clone() };
            return Some(RawPoints::Grid { from: from?, to: to?, points });
        }
        let points = self.count(table, "points")?;
        if points.value < 2.0 {
            let help = "for a single point write `at = [40, 32]`".to_string();
            return self.report.add(diag::BAD_VALUE, &points.span, "a line has two points at least", "too few", help);
        }
        Some(RawPoints::Line { from: from?, to: to?, points })
    }

    /// A list of strings, of one at least.
    pub(super) fn words(&mut self, value: &Value, example: &str) -> Option<Vec<Spanned<String>>> {
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
}
