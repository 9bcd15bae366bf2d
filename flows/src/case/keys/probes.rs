//! `[[probes]]`.

use super::lists::{List, same_file};
use super::reader::Reader;
use super::table::{Key, key};
use super::values::{Interval, RawVector};
use crate::case::diag::{self, Span, Spanned};
use crate::case::probes::MOST_PROBES;
use crate::case::takes::{COUNT, POINT, QUANTITY, STEPS, TEXT, Takes};
use crate::case::tree::{Kind, Table, Value};

/// Its keys.
pub(in crate::case) const KEYS: &[Key] = &[
    key(
        "probes.name",
        TEXT,
        "name of points at which fields are recorded, under `[[probes]]`; the file is `probe_NAME.csv`",
    ),
    key(
        "probes.at",
        Takes::List(&Takes::Either(&[QUANTITY, POINT])),
        "the points: [[40, 32], [60, 32]], or a single one: [40, 32]",
    ),
    key("probes.from", POINT, "first point of a line, or lower corner of a rectangle or a box; instead of `at`"),
    key("probes.to", POINT, "last point of a line, or upper corner of a rectangle or a box"),
    key(
        "probes.points",
        Takes::Either(&[COUNT, Takes::List(&COUNT)]),
        "number of points of a line, with both ends; of a rectangle or a box (files for ParaView) along each axis: [129, 65]",
    ),
    key("probes.fields", Takes::List(&TEXT), "fields that are recorded, by name; default: [\"density\", \"velocity\"]"),
    key("probes.every", STEPS, "time steps, or a time, between rows"),
];

/// A probe.
#[derive(Clone, Debug)]
pub(in crate::case) struct RawProbe {
    pub(in crate::case) name: Spanned<String>,
    pub(in crate::case) points: RawPoints,
    pub(in crate::case) fields: Option<Vec<Spanned<String>>>,
    pub(in crate::case) every: Spanned<Interval>,
}

/// Points, in m or in cells.
#[derive(Clone, Debug)]
pub(in crate::case) enum RawPoints {
    At(Vec<RawVector>),
    Line { from: RawVector, to: RawVector, points: Spanned<f64> },
    Grid { from: RawVector, to: RawVector, points: Spanned<Vec<usize>> },
}

impl Reader {
    pub(in crate::case) fn probes(&mut self, root: &Table) -> Vec<Spanned<RawProbe>> {
        let fewer = Some("one probe may have many points");
        let list = List { name: "probes", one: "a probe", most: MOST_PROBES, fewer, keys: KEYS };
        let all = self.list(root, &list, Self::probe);
        let help = "each has a file of its name: give it another";
        self.named_apart(&all, list.name, |probe| &probe.name, same_file, help);
        all
    }

    fn probe(&mut self, table: &Table, span: &Span) -> Option<RawProbe> {
        let required = [
            ("name", "what its file is called", "`name = \"wake\"` for `probe_wake.csv`"),
            ("every", "steps between rows", "for example `every = 10`"),
        ];
        self.require(table, span, "probes.", &required);
        let (name, every) = (self.file_name(table, "name"), self.interval(table, "every"));
        let points = self.points_of(table, span, "probes");
        let fields = self.names(table, "fields", "fields = [\"velocity\", \"pressure\"]");
        Some(RawProbe { name: name?, points: points?, fields, every: every? })
    }

    /// Points that a table lists, or those of a line or a grid; `of` names the table.
    pub(super) fn points_of(&mut self, table: &Table, span: &Span, of: &str) -> Option<RawPoints> {
        match (table.get("at"), table.get("from").or(table.get("to")).or(table.get("points"))) {
            (Some(at), None) => self.points(&at.value).map(RawPoints::At),
            (None, Some(_)) => self.between(table, span, of),
            (Some(_), Some(other)) => {
                let message = format!("`at` and `{}` exclude each other", other.key);
                let help =
                    "points are listed in `at`; a line, a rectangle or a box is `from`, `to` and `points`".to_string();
                self.report.add(diag::CONFLICT, &other.span, message, "one too many", help)
            }
            (None, None) => {
                let help = "`at = [[40, 32], [60, 32]]`, or a line: `from`, `to` and `points`".to_string();
                self.missing(span, &format!("{of}.at"), "the points", help)
            }
        }
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
            true => list.iter().map(|point| self.point_of(point)).collect(),
            false => Some(vec![self.point_of(value)?]),
        }
    }

    /// A line with a number of points, or a rectangle or a box with one for each axis.
    fn between(&mut self, table: &Table, span: &Span, of: &str) -> Option<RawPoints> {
        if let Some(key) = ["from", "to", "points"].iter().find(|key| table.get(key).is_none()) {
            let help = "a line is `from = [0, 32]`, `to = [128, 32]`, `points = 100`; a rectangle or a box has a number of points \
                        for each axis: `points = [129, 65]`"
                .to_string();
            let what = "a line, a rectangle or a box has two ends and numbers of points";
            return self.missing(span, &format!("{of}.{key}"), what, help);
        }
        let (from, to) = (self.point(table, "from"), self.point(table, "to"));
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
}
