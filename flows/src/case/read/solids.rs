//! `[[solids]]`.

use super::Reader;
use crate::case::diag::{self, Spanned};
use crate::case::raw::{RawFace, RawShape, RawShell, RawSolid};
use crate::case::schema::{self, suggest};
use crate::case::tree::{Kind, Table, Value};
use crate::case::units::Dimension;

/// Keys of every solid.
const COMMON: [&str; 6] = ["shape", "inverted", "rule", "level", "shells", "area"];
/// A shell, to show how one is written.
const SHELL: &str = "{ level = 1, within = 16 }";
/// Shapes and the keys that each has beyond those: first those that must be given.
const SHAPES: [(&str, &[&str], &[&str]); 4] = [
    ("sphere", &["centre", "radius"], &[]),
    ("box", &["from", "to"], &[]),
    ("cylinder", &["centre", "radius"], &["axis", "length"]),
    ("stl", &["file"], &["scale", "rotate", "centre"]),
];

impl Reader {
    pub(super) fn solids(&mut self, root: &Table) -> Vec<Spanned<RawSolid>> {
        let help = "write `[[solids]]` above the keys of each solid".to_string();
        match root.get("solids").map(|entry| &entry.value) {
            None => Vec::new(),
            Some(Value { kind: Kind::List(list), .. }) => list.iter().filter_map(|value| self.solid(value)).collect(),
            Some(value) => self.wrong_type(value, "a list of tables", help).unwrap_or_default(),
        }
    }

    fn solid(&mut self, value: &Value) -> Option<Spanned<RawSolid>> {
        let Kind::Table(table) = &value.kind else {
            return self.wrong_type(value, "a table", "write `[[solids]]` above the keys of each solid".to_string());
        };
        // A heading of its own is a better place to point at than all that stands below it.
        let span = table.get("shape").map_or(&value.span, |entry| &entry.span).clone();
        let names = SHAPES.map(|(name, ..)| name);
        if table.get("shape").is_none() {
            let help = format!("write `shape = ...`: {}", schema::list(names));
            return self.missing(&value.span, "shape", "the shape of the solid", help);
        }
        let shape = self.word(table, "shape", &names)?;
        let (name, required, optional) = *SHAPES.iter().find(|(name, ..)| *name == shape.value)?;
        if let Some(key) = required.iter().find(|key| table.get(key).is_none()) {
            let help = format!("a {name} is given by {}", required.join(" and "));
            return self.missing(&span, key, &format!("needed for `{name}`"), help);
        }
        let known: Vec<&str> = COMMON.iter().chain(required).chain(optional).copied().collect();
        let elsewhere =
            |key: &str| SHAPES.iter().any(|(_, required, optional)| [*required, *optional].concat().contains(&key));
        for entry in table.entries.iter().filter(|entry| !known.contains(&&entry.key[..]) && elsewhere(&entry.key)) {
            let message = format!("a {name} has no `{}`", entry.key);
            self.report.add::<()>(diag::UNKNOWN_KEY, &entry.span, message, "unknown key", suggest(&entry.key, &known));
        }
        let raw_shape = self.shape(table, name);
        let rule = match table.get("rule") {
            Some(_) => self.text(table, "rule"),
            None => {
                let help = "for example `rule = \"bounce_back\"` or `\"interpolated_bounce_back\"`".to_string();
                self.missing(&span, "rule", "the boundary condition of its surface", help)
            }
        };
        let rest = table.entries.iter().filter(|entry| !known.contains(&&entry.key[..]) && !elsewhere(&entry.key));
        let rest: Vec<_> = rest.cloned().collect();
        let params = self.params(&rest);
        let level = table.get("level").and_then(|entry| match entry.value.kind {
            Kind::Integer(level @ 0..) => Some(Spanned { value: level as f64, span: entry.value.span.clone() }),
            _ => self.wrong_type(&entry.value, "a level, 0 or more", "write `level = 2`".to_string()),
        });
        let area = table.get("area").and_then(|entry| {
            let (value, dimension) = self.quantity(&entry.value, None)?;
            if value <= 0.0 {
                let message = "`area` must be positive";
                return self.report.add(diag::BAD_VALUE, &entry.value.span, message, "not positive", None);
            }
            Some(Spanned { value: (value, dimension), span: entry.value.span.clone() })
        });
        let shells = match table.get("shells").map(|entry| &entry.value) {
            None => Vec::new(),
            Some(Value { kind: Kind::List(list), .. }) => {
                list.iter().map(|value| self.shell(value)).collect::<Option<Vec<_>>>()?
            }
            Some(value) => self.wrong_type(value, "a list", format!("write `shells = [{SHELL}]`"))?,
        };
        let inverted = self.truth(table, "inverted");
        let solid =
            RawSolid { shape: raw_shape?, inverted, surface: RawFace { rule: rule?, params }, level, area, shells };
        Some(Spanned { value: solid, span })
    }

    fn shell(&mut self, value: &Value) -> Option<RawShell> {
        let example = format!("for example `{SHELL}`");
        let Kind::Table(table) = &value.kind else { return self.wrong_type(value, "a table", example) };
        self.only_keys(table, &["level", "within"], "a shell")?;
        let Some(entry) = table.get("within").filter(|_| table.get("level").is_some()) else {
            let key = if table.get("level").is_some() { "within" } else { "level" };
            return self.missing(&value.span, key, "a shell has a level and a distance from the surface", example);
        };
        let length = if self.si { Dimension::LENGTH } else { Dimension::NUMBER };
        let (level, within) = (self.count(table, "level"), self.quantity(&entry.value, Some(length)));
        let (level, (within, _)) = (level?, within?);
        if within <= 0.0 {
            return self.report.add(
                diag::BAD_VALUE,
                &entry.value.span,
                "`within` must be positive",
                "not positive",
                None,
            );
        }
        Some(RawShell { level, within })
    }

    fn shape(&mut self, table: &Table, name: &str) -> Option<RawShape> {
        let length = if self.si { Dimension::LENGTH } else { Dimension::NUMBER };
        let point = |reader: &mut Self, key: &str| {
            reader.vector(table, key, |reader, value| Some(reader.quantity(value, Some(length))?.0))
        };
        let numbers = |reader: &mut Self, key: &str| {
            reader.vector(table, key, |reader, value| Some(reader.quantity(value, Some(Dimension::NUMBER))?.0))
        };
        Some(match name {
            "sphere" => {
                let (centre, radius) = (point(self, "centre"), self.positive(table, "radius", length));
                RawShape::Sphere { centre: centre?, radius: radius? }
            }
            "box" => {
                let (from, to) = (point(self, "from"), point(self, "to"));
                RawShape::Box { from: from?, to: to? }
            }
            "cylinder" => {
                let (centre, radius) = (point(self, "centre"), self.positive(table, "radius", length));
                let (axis, length) = (numbers(self, "axis"), self.positive(table, "length", length));
                RawShape::Cylinder { centre: centre?, radius: radius?, axis, length }
            }
            _ => {
                let (file, centre, rotate) = (self.text(table, "file"), point(self, "centre"), numbers(self, "rotate"));
                // What a unit of length of the file is.
                let scale = self.positive(table, "scale", length);
                RawShape::Stl { file: file?, bytes: vec![], surface: None, scale, centre, rotate }
            }
        })
    }
}
