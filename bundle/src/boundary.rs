//! Boundary rules.

use serde::{Deserialize, Serialize};

use crate::Param;

/// A boundary rule of the kernel `stream_collide_walls`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Boundary {
    /// Name as in the spec: `bounce_back`.
    pub name: String,
    /// Its number in `wall_rules`.
    pub code: i32,
    /// Whether it is a wet-node rule, whose wall lies on the centres of the outermost cells. The wall of a link-wise rule lies half-way behind them.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub nodes: bool,
    /// Which velocity it prescribes at a face.
    #[serde(default, skip_serializing_if = "AtFace::is_unknown")]
    pub at_face: AtFace,
    /// Whether it assumes a density of 1: what it adds is not proportional to the populations, and no parameter is a density.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub unit_density: bool,
    /// Its parameters, in the order in which `wall_values` holds them.
    pub params: Vec<Param>,
    /// What it is.
    pub doc: String,
}

/// The velocity that a boundary rule prescribes at a face.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum AtFace {
    /// None: it follows from the flow. Wet-node rules have their velocity in the cell.
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

/// Name of the parameter of boundary rules whose value follows from the geometry of a solid, link by link.
pub const DISTANCE: &str = "distance";
