//! `[[solids]]`.

use super::Reader;
use crate::case::diag::{self, Spanned};
use crate::case::image::{self, Kind};
use crate::case::raw::{RawFace, RawMotion, RawNusselt, RawSection, RawShape, RawShell, RawSolid, RawTurn};
use crate::case::schema::{self, suggest};
use crate::case::tree::{self, Table, Value};
use crate::case::units::Dimension;

/// Keys of every solid.
const COMMON: [&str; 8] = ["shape", "inverted", "rule", "level", "shells", "area", "nusselt", "motion"];
/// A motion, to show how one is written.
const MOTION: &str = "motion = { displacement = [\"10 * sin(2*pi*t/4000)\", 0] }";
/// One of a solid that turns.
const TURN: &str = "motion = { angle = \"2*pi*t/4000\", pivot = [32, 32] }";
/// What a Nusselt number refers to, to show how it is written.
const NUSSELT: &str = "nusselt = { difference = 1 }";
/// A shell, to show how one is written.
const SHELL: &str = "{ level = 1, within = 16 }";
/// Shapes and the keys that each has beyond those: first those that must be given.
const SHAPES: [(&str, &[&str], &[&str]); 5] = [
    ("sphere", &["centre", "radius"], &[]),
    ("box", &["from", "to"], &[]),
    ("cylinder", &["centre", "radius"], &["axis", "length"]),
    ("stl", &["file"], &["scale", "rotate", "centre", "section", "close", "patches"]),
    ("image", &["file"], &["from", "scale", "voxels", "solid", "threshold"]),
];

impl Reader {
    pub(super) fn solids(&mut self, root: &Table) -> Vec<Spanned<RawSolid>> {
        let help = "write `[[solids]]` above the keys of each solid".to_string();
        match root.get("solids").map(|entry| &entry.value) {
            None => Vec::new(),
            Some(Value { kind: tree::Kind::List(list), .. }) => {
                list.iter().filter_map(|value| self.solid(value)).collect()
            }
            Some(value) => self.wrong_type(value, "a list of tables", help).unwrap_or_default(),
        }
    }

    fn solid(&mut self, value: &Value) -> Option<Spanned<RawSolid>> {
        let tree::Kind::Table(table) = &value.kind else {
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
            // A parameter of the boundary condition may have any name, so this one is not reported by itself.
            let meant = table.entries.iter().find(|entry| schema::nearest(&entry.key, [*key]).is_some());
            let help = match meant {
                Some(entry) => format!("`{}` is written `{key}`", entry.key),
                None => format!("a {name} is given by {}", required.join(" and ")),
            };
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
        let (params, patches) = (self.params(&rest), self.patches_of_surface(table));
        let level = table.get("level").and_then(|entry| match entry.value.kind {
            tree::Kind::Integer(level @ 0..) => Some(Spanned { value: level as f64, span: entry.value.span.clone() }),
            _ => self.wrong_type(&entry.value, "a level, 0 or more", "write `level = 2`".to_string()),
        });
        let area = self.area(table);
        let nusselt = table.get("nusselt").and_then(|entry| self.nusselt(&entry.value));
        let shells = match table.get("shells").map(|entry| &entry.value) {
            None => Vec::new(),
            Some(Value { kind: tree::Kind::List(list), .. }) => {
                list.iter().map(|value| self.shell(value)).collect::<Option<Vec<_>>>()?
            }
            Some(value) => self.wrong_type(value, "a list", format!("write `shells = [{SHELL}]`"))?,
        };
        let inverted = self.truth(table, "inverted");
        let motion = match table.get("motion") {
            Some(entry) => Some(self.motion(&entry.value)?),
            None => None,
        };
        let surface = RawFace { rule: rule?, params, patches: patches? };
        let solid = RawSolid { shape: raw_shape?, inverted, surface, level, area, nusselt, shells, motion };
        Some(Spanned { value: solid, span })
    }

    /// With the dimension of its unit, which a resolver looks at.
    fn area(&mut self, table: &Table) -> Option<Spanned<(f64, Dimension)>> {
        let entry = table.get("area")?;
        let (value, dimension) = self.quantity(&entry.value, None)?;
        if value <= 0.0 {
            let message = "`area` must be positive";
            return self.report.add(diag::BAD_VALUE, &entry.value.span, message, "not positive", None);
        }
        Some(Spanned { value: (value, dimension), span: entry.value.span.clone() })
    }

    fn nusselt(&mut self, value: &Value) -> Option<Spanned<RawNusselt>> {
        let example = format!("for example `{NUSSELT}`");
        let tree::Kind::Table(table) = &value.kind else { return self.wrong_type(value, "a table", example) };
        self.only_keys(table, &["difference", "area"], "what a Nusselt number refers to")?;
        let Some(entry) = table.get("difference") else {
            let what = "the difference of the scalar between the surface and the fluid";
            return self.missing(&value.span, "difference", what, example);
        };
        let (difference, _) = self.quantity(&entry.value, Some(Dimension::TEMPERATURE))?;
        if difference == 0.0 {
            let message = "`difference` must not be 0";
            return self.report.add(diag::BAD_VALUE, &entry.value.span, message, "no difference", example);
        }
        Some(Spanned { value: RawNusselt { difference, area: self.area(table) }, span: value.span.clone() })
    }

    fn motion(&mut self, value: &Value) -> Option<Spanned<RawMotion>> {
        let example = format!("for example `{MOTION}`");
        let tree::Kind::Table(table) = &value.kind else { return self.wrong_type(value, "a table", example) };
        self.only_keys(table, &["displacement", "angle", "axis", "pivot"], "a motion")?;
        let of_turn = ["axis", "pivot"].iter().find_map(|key| table.get(key));
        if let (None, Some(entry)) = (table.get("angle"), of_turn) {
            return self.missing(
                &entry.span,
                "angle",
                "how far the solid has turned at a time",
                format!("for example `{TURN}`"),
            );
        }
        if table.get("displacement").is_none() && table.get("angle").is_none() {
            return self.missing(&value.span, "displacement", "how far the solid is displaced at a time", example);
        }
        let length = if self.si { Dimension::LENGTH } else { Dimension::NUMBER };
        let formula = |reader: &mut Self, value: &Value| Some(reader.timed_formula(value, Some(length))?.0);
        let displacement = match table.get("displacement") {
            Some(_) => Some(self.vector(table, "displacement", formula)?),
            None => None,
        };
        let turn = match table.get("angle") {
            Some(entry) => Some(self.turn(table, &entry.value, length)?),
            None => None,
        };
        Some(Spanned { value: RawMotion { displacement, turn }, span: value.span.clone() })
    }

    fn turn(&mut self, table: &Table, angle: &Value, length: Dimension) -> Option<RawTurn> {
        let (formula, _) = self.timed_formula(angle, Some(Dimension::NUMBER))?;
        let pivot = match table.get("pivot") {
            Some(_) => {
                Some(self.vector(table, "pivot", |reader, value| Some(reader.quantity(value, Some(length))?.0))?)
            }
            None => None,
        };
        let axis = match table.get("axis") {
            Some(entry) => Some(self.axis(&entry.value)?),
            None => None,
        };
        Some(RawTurn { angle: Spanned { value: formula, span: angle.span.clone() }, axis, pivot })
    }

    fn shell(&mut self, value: &Value) -> Option<RawShell> {
        let example = format!("for example `{SHELL}`");
        let tree::Kind::Table(table) = &value.kind else { return self.wrong_type(value, "a table", example) };
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
                let axis = match table.get("axis") {
                    Some(entry) => Some(self.axis(&entry.value)?),
                    None => None,
                };
                let length = self.positive(table, "length", length);
                RawShape::Cylinder { centre: centre?, radius: radius?, axis, length }
            }
            "image" => return self.image(table, length),
            _ => {
                let (file, centre, rotate) = (self.text(table, "file"), point(self, "centre"), numbers(self, "rotate"));
                // What a unit of length of the file is.
                let scale = self.positive(table, "scale", length);
                let section = match table.get("section").map(|entry| &entry.value) {
                    Some(value) => Some(self.section(value)?),
                    None => None,
                };
                let close = self.positive(table, "close", length);
                RawShape::Stl {
                    file: file?,
                    bytes: vec![],
                    surface: None,
                    names: vec![],
                    scale,
                    centre,
                    rotate,
                    section,
                    close,
                }
            }
        })
    }

    /// A plane through the surface of a file.
    fn section(&mut self, value: &Value) -> Option<Spanned<RawSection>> {
        let example = "for example `section = { normal = \"z\", at = 0.1 }`".to_string();
        let tree::Kind::Table(table) = &value.kind else { return self.wrong_type(value, "a table", example) };
        self.only_keys(table, &["normal", "at"], "a section")?;
        let Some(at) = table.get("at").filter(|_| table.get("normal").is_some()) else {
            let key = if table.get("at").is_some() { "normal" } else { "at" };
            return self.missing(&value.span, key, "a section has an axis and a place along it", example);
        };
        let normal = self.normal(table)?;
        let (at, _) = self.quantity(&at.value, Some(Dimension::NUMBER))?;
        Some(Spanned { value: RawSection { normal, at }, span: value.span.clone() })
    }

    fn image(&mut self, table: &Table, length: Dimension) -> Option<RawShape> {
        let file = self.text(table, "file")?;
        let Some(kind) = Kind::of(&file.value) else {
            let message =
                format!("`{}` is no image: its name ends neither in `.nrrd` nor in `.raw` or `.png`", file.value);
            return self.report.add(diag::NO_IMAGE, &file.span, message, "of another kind", None);
        };
        if file.value.contains('*') && kind != Kind::Png {
            let message = "a stack of files, with `*` in its name, is made of PNG files";
            return self.report.add(diag::NO_IMAGE, &file.span, message, "a file is named by its whole name", None);
        }
        let from = self.vector(table, "from", |reader, value| Some(reader.quantity(value, Some(length))?.0));
        let scale = self.positive(table, "scale", length);
        let size = self.image_size(table, kind);
        let number = |reader: &mut Self, value: &Value| Some(reader.quantity(value, Some(Dimension::NUMBER))?.0);
        let threshold = match table.get("threshold") {
            Some(entry) => Some(number(self, &entry.value)?),
            None => None,
        };
        let above = match table.get("solid") {
            Some(_) => self.word(table, "solid", &["above", "below"])?.value == "above",
            None => true,
        };
        let solid = match threshold {
            None => image::Solid::OfTwo { larger: above },
            Some(threshold) if above => image::Solid::Above(threshold),
            Some(threshold) => image::Solid::Below(threshold),
        };
        let (stack, bytes, voxels) = (vec![], vec![], None);
        Some(RawShape::Image { file, kind, stack, bytes, voxels, size: size?, from, scale, solid })
    }

    /// Numbers of voxels, of plain bytes.
    fn image_size(&mut self, table: &Table, kind: Kind) -> Option<[usize; 3]> {
        let Some(entry) = table.get("voxels") else {
            if kind != Kind::Raw {
                return Some([1; 3]);
            }
            let help = "for example `voxels = [64, 64, 64]`".to_string();
            return self.missing(
                &table.get("file")?.span,
                "voxels",
                "a `.raw` file does not say how many it has",
                help,
            );
        };
        if kind != Kind::Raw {
            let help = "a `.raw` file needs it: others say how many voxels they have".to_string();
            self.no_effect(&entry.span, "voxels", " here", Some(help));
            return Some([1; 3]);
        }
        let sizes = self.vector(table, "voxels", |reader, value| match value.kind {
            tree::Kind::Integer(size @ 1..) => Some(size as usize),
            _ => reader.wrong_type(value, "a number of voxels", "for example `voxels = [64, 64, 64]`".to_string()),
        })?;
        if !(2..=3).contains(&sizes.value.len()) {
            let message = "an image has two axes or three";
            return self.report.add(diag::WRONG_DIMENSION, &sizes.span, message, "needs two or three numbers", None);
        }
        Some([0, 1, 2].map(|axis| sizes.value.get(axis).map_or(1, |size| size.value)))
    }
}
