//! `[[solids]]`.

use super::faces::RawFace;
use super::free::RawFree;
use super::layer::RawLayer;
use super::reader::Reader;
use super::shapes::{RawShape, SHAPES};
use super::table::{Key, key};
use super::values::RawVector;
use crate::case::diag::{self, Spanned};
use crate::case::formula::Formula;
use crate::case::takes::{DIRECTION, FORMULA, LEVEL, POINT, QUANTITY, SHELLS, TEXT, Takes, VALUE};
use crate::case::tree::{Kind, Table, Value};
use crate::case::units::Dimension;
use crate::case::words::{self, suggest};

/// Keys of every solid.
const COMMON: [&str; 9] = ["shape", "inverted", "rule", "level", "shells", "area", "nusselt", "motion", "layer"];
/// A motion, to show how one is written.
const MOTION: &str = "motion = { displacement = [\"10 * sin(2*pi*t/4000)\", 0] }";
/// One of a solid that turns.
const TURN: &str = "motion = { angle = \"2*pi*t/4000\", pivot = [32, 32] }";
/// What a Nusselt number refers to, to show how it is written.
const NUSSELT: &str = "nusselt = { difference = 1 }";
/// A shell, to show how one is written.
const SHELL: &str = "{ level = 1, within = 16 }";

/// Its keys.
pub(in crate::case) const KEYS: &[Key] = &[
    key("solids.rule", TEXT, "boundary condition of the surface"),
    key("solids.level", LEVEL, "level of the cells at the surface; default: refinement.finest"),
    key("solids.shells", SHELLS, "minimum levels around the surface: [{ level = 1, within = 16 }]"),
    key(
        "solids.motion.displacement",
        Takes::List(&FORMULA),
        "displacement of a moving solid along each axis: formulas of the time, from which the velocity of its surface follows",
    ),
    key(
        "solids.motion.angle",
        FORMULA,
        "angle by which a solid turns, in radians, counter-clockwise: a formula of the time, from which the velocity of its surface follows",
    ),
    key(
        "solids.motion.axis",
        DIRECTION,
        "direction of the axis of rotation, in three dimensions: [0, 0, 1], or \"z\"; a free body without it turns about all axes",
    ),
    key(
        "solids.motion.pivot",
        POINT,
        "point of the axis of rotation of the shape as given; it is displaced with the solid; default: the middle of the shape's extents",
    ),
    key(
        "solids.area",
        QUANTITY,
        "reference area of force coefficients (in two dimensions a length); default: the cross-section of a sphere; in three dimensions \
         the diameter of a cylinder times its length (without ends: that in the domain); else fluid.length, in three dimensions its \
         square",
    ),
    key(
        "solids.nusselt",
        Takes::Table(&[("difference", QUANTITY), ("area", QUANTITY)]),
        "reference values of the Nusselt number, with `output.heat`: { difference = 1, area = 63 }: difference of the scalar between \
         surface and fluid; area of the surface, in two dimensions a length (default: that of the shape, if it is known)",
    ),
    key("solids.*", VALUE, "a parameter of the boundary condition: a number, or a formula of position and time"),
];

/// A solid.
#[derive(Clone, Debug)]
pub(in crate::case) struct RawSolid {
    pub(in crate::case) shape: RawShape,
    /// Whether it is what lies outside of the shape.
    pub(in crate::case) inverted: bool,
    pub(in crate::case) surface: RawFace,
    pub(in crate::case) level: Option<Spanned<f64>>,
    /// With the dimension of its unit.
    pub(in crate::case) area: Option<Spanned<(f64, Dimension)>>,
    pub(in crate::case) nusselt: Option<Spanned<RawNusselt>>,
    pub(in crate::case) shells: Vec<RawShell>,
    pub(in crate::case) motion: Option<Spanned<RawMotion>>,
    pub(in crate::case) layer: Option<Spanned<RawLayer>>,
}

/// What a Nusselt number refers to.
#[derive(Clone, Debug)]
pub(in crate::case) struct RawNusselt {
    pub(in crate::case) difference: f64,
    /// With the dimension of its unit.
    pub(in crate::case) area: Option<Spanned<(f64, Dimension)>>,
}

/// How a solid moves.
#[derive(Clone, Debug)]
pub(in crate::case) enum RawMotion {
    /// By formulas of time.
    Given {
        /// In m or in cells; none of one that turns only.
        displacement: Option<Spanned<Vec<Spanned<Formula>>>>,
        turn: Option<Box<RawTurn>>,
    },
    /// With the fluid.
    Free(Box<RawFree>),
}

/// How a solid turns.
#[derive(Clone, Debug)]
pub(in crate::case) struct RawTurn {
    /// In radians.
    pub(in crate::case) angle: Spanned<Formula>,
    pub(in crate::case) axis: Option<RawVector>,
    pub(in crate::case) pivot: Option<RawVector>,
}

/// What lies within a distance of a surface, in m or in cells.
#[derive(Clone, Debug)]
pub(in crate::case) struct RawShell {
    pub(in crate::case) level: Spanned<f64>,
    pub(in crate::case) within: f64,
}

impl Reader {
    pub(in crate::case) fn solids(&mut self, root: &Table) -> Vec<Spanned<RawSolid>> {
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
            let help = format!("write `shape = ...`: {}", words::list(names));
            return self.missing(&value.span, "shape", "the shape of the solid", help);
        }
        let shape = self.word(table, "shape", &names)?;
        let (name, required, optional) = *SHAPES.iter().find(|(name, ..)| *name == shape.value)?;
        if let Some(key) = required.iter().find(|key| table.get(key).is_none()) {
            // A parameter of the boundary condition may have any name, so this one is not reported by itself.
            let meant = table.entries.iter().find(|entry| words::nearest(&entry.key, [*key]).is_some());
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
            Kind::Integer(level @ 0..) => Some(Spanned { value: level as f64, span: entry.value.span.clone() }),
            _ => self.wrong_type(&entry.value, "a level, 0 or more", "write `level = 2`".to_string()),
        });
        let area = self.area(table);
        let nusselt = table.get("nusselt").and_then(|entry| self.nusselt(&entry.value));
        let shells = match table.get("shells").map(|entry| &entry.value) {
            None => Vec::new(),
            Some(Value { kind: Kind::List(list), .. }) => {
                list.iter().map(|value| self.shell(value)).collect::<Option<Vec<_>>>()?
            }
            Some(value) => self.wrong_type(value, "a list", format!("write `shells = [{SHELL}]`"))?,
        };
        let inverted = self.truth(table, "inverted").unwrap_or(false);
        let motion = match table.get("motion") {
            Some(entry) => Some(self.motion(&entry.value)?),
            None => None,
        };
        let layer = match table.get("layer") {
            Some(entry) => Some(self.layer(&entry.value)?),
            None => None,
        };
        let surface = RawFace { params, patches: patches?, ..RawFace::of(rule?) };
        let solid = RawSolid { shape: raw_shape?, inverted, surface, level, area, nusselt, shells, motion, layer };
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
        let Kind::Table(table) = &value.kind else { return self.wrong_type(value, "a table", example) };
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
        let Kind::Table(table) = &value.kind else { return self.wrong_type(value, "a table", example) };
        if table.get("free").is_some() && self.truth(table, "free")? {
            let free = self.free(table, &value.span)?;
            return Some(Spanned { value: RawMotion::Free(Box::new(free)), span: value.span.clone() });
        }
        self.only_keys(table, &["displacement", "angle", "axis", "pivot", "free"], "a motion")?;
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
        Some(Spanned { value: RawMotion::Given { displacement, turn: turn.map(Box::new) }, span: value.span.clone() })
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
}
