//! `[[pictures]]` and `[[views]]`.

use super::Reader;
use crate::case::Colours;
use crate::case::diag::{self, Spanned};
use crate::case::pictures::{Frames, MOST_PER_SECOND, MOST_PICTURES};
use crate::case::raw::{RawContours, RawFrames, RawPicture, RawRange, RawView};
use crate::case::tree::{Kind, Table, Value};
use crate::case::units::Dimension;
use crate::case::views::MOST_VIEWS;

/// Keys of a picture.
const KNOWN: [&str; 16] = [
    "field",
    "statistics",
    "name",
    "title",
    "range",
    "scale",
    "colours",
    "contours",
    "slice",
    "from",
    "to",
    "streamlines",
    "grid",
    "size",
    "every",
    "film",
];
/// How values lie along a colour bar.
const SCALES: [&str; 2] = ["linear", "log"];
/// Keys of a view.
const OF_VIEWS: [&str; 10] =
    ["isosurface", "value", "colour", "name", "range", "colours", "from", "size", "every", "film"];

impl Reader {
    pub(super) fn pictures(&mut self, root: &Table) -> Vec<Spanned<RawPicture>> {
        let tables = self.tables(root, "pictures", MOST_PICTURES);
        tables.into_iter().filter_map(|value| self.picture(value)).collect()
    }

    pub(super) fn views(&mut self, root: &Table) -> Vec<Spanned<RawView>> {
        let tables = self.tables(root, "views", MOST_VIEWS);
        tables.into_iter().filter_map(|value| self.view(value)).collect()
    }

    /// The tables of a list, no more than there may be.
    fn tables<'t>(&mut self, root: &'t Table, name: &str, most: usize) -> Vec<&'t Value> {
        let help = format!("write `[[{name}]]` above the keys of each");
        let list = match root.get(name).map(|entry| &entry.value) {
            None => return vec![],
            Some(Value { kind: Kind::List(list), .. }) => list,
            Some(value) => return self.wrong_type(value, "a list of tables", help).unwrap_or_default(),
        };
        if let Some(beyond) = list.get(most) {
            let message = format!("{} {name} are more than {most}", list.len());
            self.report.add::<()>(diag::BAD_VALUE, &beyond.span, message, "one too many", None);
        }
        list.iter().take(most).collect()
    }

    fn picture(&mut self, value: &Value) -> Option<Spanned<RawPicture>> {
        let Kind::Table(table) = &value.kind else {
            return self.wrong_type(value, "a table", "write `[[pictures]]` above the keys of each".to_string());
        };
        self.only_keys(table, &KNOWN, "a picture")?;
        let span = table.entries.first().map_or(&value.span, |entry| &entry.span).clone();
        let field = match table.get("field") {
            Some(_) => self.text(table, "field"),
            None => self.missing(&span, "pictures.field", "what is drawn", "`field = \"vorticity\"`".to_string()),
        };
        let statistics = match table.get("statistics") {
            Some(_) => Some(self.text(table, "statistics")?),
            None => None,
        };
        let range = table.get("range").and_then(|entry| self.range(&entry.value));
        let contours = table.get("contours").and_then(|entry| self.contours(&entry.value));
        let title = self.text(table, "title");
        let scale = self.word(table, "scale", &SCALES);
        let colours = self.word(table, "colours", &Colours::ALL.map(|(name, _)| name));
        let grid = self.choice(table, "grid");
        let slice = table.get("slice").and_then(|entry| self.slice(&entry.value));
        let corner = |reader: &mut Self, key: &str| {
            let length = if reader.si { Dimension::LENGTH } else { Dimension::NUMBER };
            reader.vector(table, key, |reader, value| Some(reader.quantity(value, Some(length))?.0))
        };
        let (from, to) = (corner(self, "from"), corner(self, "to"));
        let streamlines = table.get("streamlines").filter(|_| self.truth(table, "streamlines"));
        let streamlines = streamlines.map(|entry| entry.span.clone());
        let (size, frames) = (self.count(table, "size"), self.frames(table)?);
        let picture = RawPicture {
            frames,
            field: field?,
            statistics,
            title,
            range,
            scale,
            colours,
            contours,
            slice,
            from,
            to,
            streamlines,
            grid,
            size,
        };
        Some(Spanned { value: picture, span })
    }

    fn view(&mut self, value: &Value) -> Option<Spanned<RawView>> {
        let Kind::Table(table) = &value.kind else {
            return self.wrong_type(value, "a table", "write `[[views]]` above the keys of each".to_string());
        };
        self.only_keys(table, &OF_VIEWS, "a view")?;
        let span = table.entries.first().map_or(&value.span, |entry| &entry.span).clone();
        let isosurface = match table.get("isosurface") {
            Some(_) => self.text(table, "isosurface"),
            None => {
                let help = "`isosurface = \"q_criterion\"`".to_string();
                self.missing(&span, "views.isosurface", "the field whose surface is drawn", help)
            }
        };
        let level = match table.get("value") {
            Some(entry) => self.amount(&entry.value),
            None => self.missing(&span, "views.value", "where the surface lies", "`value = 0.5`".to_string()),
        };
        for key in ["range", "colours"] {
            if let (Some(entry), None) = (table.get(key), table.get("colour")) {
                let help = Some("add the field that colours the surface: `colour = \"speed\"`".to_string());
                self.no_effect(&entry.span, key, " without `colour`", help);
            }
        }
        let range = match table.get("range") {
            Some(entry) => Some(self.range(&entry.value)?),
            None => None,
        };
        let colour = self.text(table, "colour");
        let colours = self.word(table, "colours", &Colours::ALL.map(|(name, _)| name));
        let from = match table.get("from") {
            Some(entry) => Some(self.direction(&entry.value)?),
            None => None,
        };
        let (size, frames) = (self.count(table, "size"), self.frames(table)?);
        let view = RawView { frames, isosurface: isosurface?, value: level?, colour, range, colours, from, size };
        Some(Spanned { value: view, span })
    }

    fn frames(&mut self, table: &Table) -> Option<RawFrames> {
        let name = match table.get("name") {
            Some(_) => Some(self.file_name(table, "name")?),
            None => None,
        };
        let film = match table.get("film") {
            Some(entry) => self.film(&entry.value)?,
            None => None,
        };
        if let (Some(entry), None) = (table.get("film"), table.get("every")) {
            let help = Some("one picture is no film: add the steps between pictures, `every = 100`".to_string());
            self.no_effect(&entry.span, "film", " without `every`", help);
        }
        Some(RawFrames { name, every: self.interval(table, "every"), film })
    }

    /// Whether there is a film, and its pictures a second.
    fn film(&mut self, value: &Value) -> Option<Option<u32>> {
        let help = format!("`film = true`, or pictures a second, up to {MOST_PER_SECOND}: `film = 20`");
        match value.kind {
            Kind::Bool(truth) => Some(truth.then_some(Frames::PER_SECOND)),
            Kind::Integer(rate) if (1..=MOST_PER_SECOND).contains(&rate) => Some(Some(rate as u32)),
            Kind::Integer(_) => {
                let message = format!("a film has 1 to {MOST_PER_SECOND} pictures a second");
                self.report.add(diag::BAD_VALUE, &value.span, message, "out of range", help)
            }
            _ => self.wrong_type(value, "true or a number of pictures a second", help),
        }
    }

    /// Three numbers, not all of them zero.
    fn direction(&mut self, value: &Value) -> Option<[f64; 3]> {
        let help = "for example `from = [1, -1, 0.6]`, along x, y and z".to_string();
        let Kind::List(list) = &value.kind else { return self.wrong_type(value, "three numbers", help) };
        match list.iter().map(number).collect::<Option<Vec<f64>>>().as_deref() {
            Some(&[x, y, z]) if (1e-6..1e6).contains(&x.hypot(y).hypot(z)) => Some([x, y, z]),
            _ => self.report.add(diag::BAD_VALUE, &value.span, "a direction has three numbers", "no direction", help),
        }
    }

    /// Two values.
    fn range(&mut self, value: &Value) -> Option<RawRange> {
        let help = "for example `range = [-2, 2]`, in the units of the colour bar".to_string();
        let Kind::List(list) = &value.kind else { return self.wrong_type(value, "two numbers", help) };
        let [least, most] = &list[..] else {
            return self.report.add(diag::BAD_VALUE, &value.span, "a range has two values", "no range", help);
        };
        let ends = [self.amount(least)?, self.amount(most)?];
        Some(Spanned { value: ends, span: value.span.clone() })
    }

    /// How many lines, or their values.
    fn contours(&mut self, value: &Value) -> Option<Spanned<RawContours>> {
        let contours = match &value.kind {
            // What cannot be meant is refused with the picture.
            Kind::Integer(count) => RawContours::Number(usize::try_from(*count).unwrap_or(0)),
            Kind::List(list) => RawContours::At(list.iter().map(|value| self.amount(value)).collect::<Option<_>>()?),
            _ => {
                let help = "how many, or at which values: `contours = 9`, `contours = [0.5, 1]`".to_string();
                return self.wrong_type(value, "a number of lines, or a list of values", help);
            }
        };
        Some(Spanned { value: contours, span: value.span.clone() })
    }
}

/// A finite number.
fn number(value: &Value) -> Option<f64> {
    match value.kind {
        Kind::Integer(number) => Some(number as f64),
        Kind::Float(number) => Some(number).filter(|number| number.is_finite()),
        _ => None,
    }
}
