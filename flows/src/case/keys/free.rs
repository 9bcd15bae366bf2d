//! `solids.motion` with `free = true`: a body that the fluid moves.

use super::reader::Reader;
use super::table::{Key, key};
use super::values::RawVector;
use crate::case::diag::{self, Span, Spanned};
use crate::case::takes::{DIRECTION, POINT, QUANTITY, Takes};
use crate::case::tree::{Kind, Table, Value};
use crate::case::units::Dimension;
use crate::case::words;

/// A free body, to show how one is written.
const FREE: &str = "motion = { free = true, density = 1.2, gravity = [0, -1e-5] }";

/// What may be held.
const HELD: [&str; 4] = ["x", "y", "z", "rotation"];

/// Its keys.
pub(in crate::case) const KEYS: &[Key] = &[
    key(
        "solids.motion.free",
        Takes::Truth,
        "whether the fluid moves the solid; it then has these keys, and no formulas",
    ),
    key(
        "solids.motion.density",
        QUANTITY,
        "density of a free body: over that of the fluid, or in SI units with its unit; its mass and inertia follow from its shape",
    ),
    key("solids.motion.mass", QUANTITY, "mass of a free body, instead of `density`; in two dimensions per length"),
    key(
        "solids.motion.inertia",
        QUANTITY,
        "moment of inertia of a free body about its axis of rotation; default: that of its shape with its mass",
    ),
    key(
        "solids.motion.gravity",
        POINT,
        "acceleration of gravity: the force on a free body is its mass less that of the fluid that it displaces, times this",
    ),
    key(
        "solids.motion.stiffness",
        POINT,
        "force of springs on a free body along each axis, over its displacement from its given place",
    ),
    key("solids.motion.damping", POINT, "force of dampers on a free body along each axis, over its velocity"),
    key(
        "solids.motion.torsion_stiffness",
        QUANTITY,
        "torque of a spring on a free body about its axis of rotation, over its angle in radians",
    ),
    key(
        "solids.motion.torsion_damping",
        QUANTITY,
        "torque of a damper on a free body about its axis of rotation, over its angular velocity",
    ),
    key(
        "solids.motion.hold",
        Takes::List(&Takes::Word(&HELD)),
        "what a free body does not do: move along an axis, or turn: [\"x\", \"rotation\"]; it keeps its velocity at the start along these axes",
    ),
    key("solids.motion.velocity", POINT, "velocity of a free body at the start; default: at rest"),
    key(
        "solids.motion.angular_velocity",
        Takes::Either(&[QUANTITY, DIRECTION]),
        "angular velocity of a free body at the start, in radians per time: a number, in three dimensions a vector; default: 0",
    ),
];

/// A number with the dimension of its unit, which a resolver looks at.
pub(in crate::case) type RawQuantity = Spanned<(f64, Dimension)>;

/// The same along each axis.
pub(in crate::case) type RawQuantities = Spanned<Vec<RawQuantity>>;

/// A body that the fluid moves.
#[derive(Clone, Debug)]
pub(in crate::case) struct RawFree {
    pub(in crate::case) density: Option<RawQuantity>,
    pub(in crate::case) mass: Option<RawQuantity>,
    pub(in crate::case) inertia: Option<RawQuantity>,
    pub(in crate::case) gravity: Option<RawQuantities>,
    pub(in crate::case) stiffness: Option<RawQuantities>,
    pub(in crate::case) damping: Option<RawQuantities>,
    pub(in crate::case) torsion_stiffness: Option<RawQuantity>,
    pub(in crate::case) torsion_damping: Option<RawQuantity>,
    pub(in crate::case) hold: Vec<Spanned<String>>,
    pub(in crate::case) axis: Option<RawVector>,
    pub(in crate::case) velocity: Option<RawQuantities>,
    pub(in crate::case) angular_velocity: Option<RawQuantities>,
}

impl Reader {
    /// A free body; `span` is where a key is missing.
    pub(super) fn free(&mut self, table: &Table, span: &Span) -> Option<RawFree> {
        let names = KEYS.iter().map(Key::name).chain(["axis"]);
        self.only_keys(table, &names.collect::<Vec<_>>(), "the motion of a free body")?;
        if table.get("density").is_none() && table.get("mass").is_none() {
            let help = format!("for example `{FREE}`");
            return self.missing(span, "density", "that of the body, over that of the fluid", help);
        }
        self.exclusive(table, &["density", "mass"], true, "what the body weighs");
        let (density, mass, inertia) =
            (self.weight(table, "density"), self.weight(table, "mass"), self.weight(table, "inertia"));
        let (torsion_stiffness, torsion_damping) =
            (self.resistance(table, "torsion_stiffness"), self.resistance(table, "torsion_damping"));
        let axis = match table.get("axis") {
            Some(entry) => Some(self.axis(&entry.value)?),
            None => None,
        };
        let angular_velocity = match table.get("angular_velocity").map(|entry| &entry.value) {
            None => None,
            Some(value) if matches!(value.kind, Kind::List(_)) => Some(self.quantities(table, "angular_velocity")?),
            Some(value) => {
                let span = value.span.clone();
                let number = Spanned { value: self.quantity(value, None)?, span: span.clone() };
                Some(Spanned { value: vec![number], span })
            }
        };
        Some(RawFree {
            density: density?,
            mass: mass?,
            inertia: inertia?,
            gravity: self.optional(table, "gravity")?,
            stiffness: self.optional(table, "stiffness")?,
            damping: self.optional(table, "damping")?,
            torsion_stiffness: torsion_stiffness?,
            torsion_damping: torsion_damping?,
            hold: self.held(table)?,
            axis,
            velocity: self.optional(table, "velocity")?,
            angular_velocity,
        })
    }

    /// A positive quantity, if it is given.
    fn weight(&mut self, table: &Table, key: &str) -> Option<Option<RawQuantity>> {
        let Some(found) = self.resistance(table, key)? else { return Some(None) };
        if found.value.0 > 0.0 {
            return Some(Some(found));
        }
        let message = format!("`{key}` must be positive");
        self.report.add(diag::BAD_VALUE, &found.span, message, "not positive", None)
    }

    /// A quantity that is not negative, if it is given.
    fn resistance(&mut self, table: &Table, key: &str) -> Option<Option<RawQuantity>> {
        let Some(entry) = table.get(key) else { return Some(None) };
        let value = self.quantity(&entry.value, None)?;
        if value.0 >= 0.0 {
            return Some(Some(Spanned { value, span: entry.value.span.clone() }));
        }
        let message = format!("`{key}` must not be negative");
        self.report.add(diag::BAD_VALUE, &entry.value.span, message, "negative", None)
    }

    fn optional(&mut self, table: &Table, key: &str) -> Option<Option<RawQuantities>> {
        match table.get(key) {
            None => Some(None),
            Some(_) => Some(Some(self.quantities(table, key)?)),
        }
    }

    fn quantities(&mut self, table: &Table, key: &str) -> Option<RawQuantities> {
        self.vector(table, key, |reader, value| reader.quantity(value, None))
    }

    fn held(&mut self, table: &Table) -> Option<Vec<Spanned<String>>> {
        let Some(entry) = table.get("hold") else { return Some(vec![]) };
        let help = "for example `hold = [\"x\", \"rotation\"]`".to_string();
        let Kind::List(list) = &entry.value.kind else { return self.wrong_type(&entry.value, "a list", help) };
        let word = |reader: &mut Self, value: &Value| match &value.kind {
            Kind::Text(text) if HELD.contains(&&text[..]) => {
                Some(Spanned { value: text.clone(), span: value.span.clone() })
            }
            Kind::Text(text) => {
                let (message, help) = (format!("`{text}` is nothing to hold"), words::suggest(text, &HELD));
                reader.report.add(diag::UNKNOWN_WORD, &value.span, message, "unknown word", help)
            }
            _ => reader.wrong_type(value, "a name", help.clone()),
        };
        list.iter().map(|value| word(self, value)).collect()
    }
}
