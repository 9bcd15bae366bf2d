//! What values keys take, and the JSON schema of these.

use serde_json::{Map, Value, json};

use super::pictures::Colours;
use super::walls::FACES;

/// What a value may be.
#[derive(Clone, Copy, Debug)]
pub(super) enum Takes {
    /// A string.
    Text,
    /// One of some words.
    Word(&'static [&'static str]),
    /// The name of a colour map.
    Colours,
    /// A number.
    Number,
    /// A whole number, not less than this.
    Whole(i64),
    /// True or false.
    Truth,
    /// A list.
    List(&'static Takes),
    /// A table of these keys.
    Table(&'static [(&'static str, Takes)]),
    /// A table of these keys and of others.
    Open(&'static [(&'static str, Takes)]),
    /// One of these.
    Either(&'static [Takes]),
}

/// A string.
pub(super) const TEXT: Takes = Takes::Text;
/// How many.
pub(super) const COUNT: Takes = Takes::Whole(1);
/// A level of refinement.
pub(super) const LEVEL: Takes = Takes::Whole(0);
/// A number, or a string with a unit.
pub(super) const QUANTITY: Takes = Takes::Either(&[Takes::Number, TEXT]);
/// A number, or a string with a formula.
pub(super) const FORMULA: Takes = QUANTITY;
/// A number of steps, or a time with its unit.
pub(super) const STEPS: Takes = Takes::Either(&[COUNT, TEXT]);
/// The first of some steps, or a time with its unit.
pub(super) const FROM: Takes = Takes::Either(&[Takes::Whole(0), TEXT]);
/// Fields by name, or formulas with a name.
pub(super) const NAMED: Takes =
    Takes::List(&Takes::Either(&[TEXT, Takes::Table(&[("name", TEXT), ("formula", TEXT)])]));
/// A quantity for each axis.
pub(super) const POINT: Takes = Takes::List(&QUANTITY);
/// A parameter: a formula, or one for each axis.
pub(super) const VALUE: Takes = Takes::Either(&[Takes::Number, TEXT, Takes::List(&FORMULA)]);
/// A direction, or an axis by its name.
pub(super) const DIRECTION: Takes = Takes::Either(&[Takes::Word(&["x", "y", "z"]), POINT]);
/// A plane normal to an axis.
pub(super) const PLANE: Takes = Takes::Table(&[("normal", DIRECTION), ("at", QUANTITY)]);
/// Points: listed, on a line, or on a grid along the axes.
pub(super) const SEEDS: Takes = Takes::Table(&[
    ("at", Takes::List(&Takes::Either(&[QUANTITY, POINT]))),
    ("from", POINT),
    ("to", POINT),
    ("points", Takes::Either(&[COUNT, Takes::List(&COUNT)])),
]);
/// Boxes, with a level or without.
pub(super) const BOXES: Takes = Takes::List(&Takes::Table(&[("level", COUNT), ("from", POINT), ("to", POINT)]));
/// Layers around a surface.
pub(super) const SHELLS: Takes = Takes::List(&Takes::Table(&[("level", COUNT), ("within", QUANTITY)]));
/// Eddies at a face.
pub(super) const TURBULENCE: Takes = Takes::Table(&[
    ("stresses", STRESSES),
    ("intensity", FORMULA),
    ("length", Takes::Either(&[QUANTITY, POINT])),
    ("velocity", POINT),
    ("seed", Takes::Whole(0)),
]);
/// Covariances of components of the velocity.
const STRESSES: Takes = Takes::Table(&[
    ("uu", FORMULA),
    ("uv", FORMULA),
    ("uw", FORMULA),
    ("vv", FORMULA),
    ("vw", FORMULA),
    ("ww", FORMULA),
]);
/// Parts of a surface with boundary conditions of their own, and parameters of these.
pub(super) const PATCHES: Takes =
    Takes::List(&Takes::Open(&[("rule", TEXT), ("turbulence", TURBULENCE), ("velocity", VELOCITY)]));
/// A velocity at a face: a formula for each axis, or a recording.
const VELOCITY: Takes = Takes::Either(&[VALUE, Takes::Table(&[("recording", TEXT), ("repeat", Takes::Truth)])]);
/// A boundary condition, alone or with its parameters.
pub(super) const FACE: Takes = Takes::Either(&[
    TEXT,
    Takes::Open(&[("rule", TEXT), ("turbulence", TURBULENCE), ("velocity", VELOCITY), ("patches", PATCHES)]),
]);
/// Faces by their names.
pub(super) const SIDES: Takes = Takes::List(&Takes::Word(&FACES));
/// A field at the start.
pub(super) const START: Takes =
    Takes::Either(&[Takes::Number, TEXT, Takes::List(&FORMULA), Takes::Table(&[("file", TEXT), ("array", TEXT)])]);

impl Takes {
    pub(super) fn schema(self) -> Value {
        match self {
            Takes::Text => json!({ "type": "string" }),
            Takes::Word(words) => json!({ "enum": words }),
            Takes::Colours => json!({ "enum": Colours::ALL.map(|(name, _)| name) }),
            Takes::Number => json!({ "type": "number" }),
            Takes::Whole(least) => json!({ "type": "integer", "minimum": least }),
            Takes::Truth => json!({ "type": "boolean" }),
            Takes::List(of) => json!({ "type": "array", "items": of.schema() }),
            Takes::Table(keys) => table(keys, false),
            Takes::Open(keys) => table(keys, true),
            Takes::Either(choices) => {
                json!({ "anyOf": choices.iter().map(|choice| choice.schema()).collect::<Vec<_>>() })
            }
        }
    }
}

fn table(keys: &[(&str, Takes)], open: bool) -> Value {
    let properties: Map<String, Value> = keys.iter().map(|(key, takes)| (key.to_string(), takes.schema())).collect();
    json!({ "type": "object", "properties": properties, "additionalProperties": open })
}
