//! Boundary rules.

use serde::{Deserialize, Serialize};

use crate::Param;

/// A boundary rule that `stream_collide_walls` knows.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Boundary {
    /// Name as in the spec: `bounce_back`.
    pub name: String,
    /// Its number in `wall_rules`.
    pub code: i32,
    /// Whether it lies on the centres of the outermost cells; if not, half-way behind them.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub nodes: bool,
    /// What it says of the velocity at the face.
    #[serde(default, skip_serializing_if = "AtFace::is_unknown")]
    pub at_face: AtFace,
    /// Whether what it gives the fluid is for a density of 1: it is not in proportion to the populations, and no parameter is a density.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub unit_density: bool,
    /// Its parameters, in the order in which `wall_values` holds them.
    pub params: Vec<Param>,
    /// What it is.
    pub doc: String,
}

/// What a boundary rule says of the velocity at the face.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum AtFace {
    /// Nothing: it follows from the flow. Rules of nodes have their velocity in the cell.
    #[default]
    Unknown,
    /// It is the rule's parameter `velocity`, or zero where it has none.
    Prescribed,
    /// Nothing flows through, and the flow along it is free.
    Slip,
}

impl AtFace {
    fn is_unknown(&self) -> bool {
        *self == AtFace::Unknown
    }
}

/// Name of a parameter of boundary rules that solids take from their geometry, link by link.
pub const DISTANCE: &str = "distance";
