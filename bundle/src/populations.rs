//! Populations of a method, states of cells, and values that cells read from neighbours.

use serde::{Deserialize, Serialize};

use crate::{Transport, Unit};

/// Populations that stream along the directions of one velocity set.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Populations {
    /// Name as in the spec: `f`.
    pub name: String,
    /// Name of the velocity set: `D3Q19`.
    pub lattice: String,
    /// Squared speed of sound of the velocity set.
    pub cs2: f64,
    /// Position of the first of them in [`Manifest::directions`](crate::Manifest::directions).
    pub first: u32,
    /// How many there are.
    pub count: u32,
    /// Name of the field that is their sum, if there is one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub field: Option<String>,
    /// Diffusivity of the scalar that they transport; none if they transport a momentum.
    pub diffusivity: Option<Transport>,
}

impl Populations {
    /// Their positions in [`Manifest::directions`](crate::Manifest::directions).
    pub fn range(&self) -> std::ops::Range<usize> {
        self.first as usize..(self.first + self.count) as usize
    }
}

/// A number that each cell stores beside its populations and keeps from step to step.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct State {
    /// Name as in the spec: `nu`.
    pub name: String,
    /// Its unit, if the spec states one. It is stored in cells and steps of the level of its cell.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub unit: Option<Unit>,
    /// What it is.
    pub doc: String,
}

/// A value of a cell that its neighbours read.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Shown {
    /// Name of the value in the spec: `rho`, `ux`.
    pub name: String,
    /// Index of the state that stores it, counted on from the populations.
    pub value: u32,
    /// The axis along which it is a component of a vector, if it is one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub axis: Option<u32>,
}

/// A value that the collision reads from a neighbour.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Seen {
    /// Position of the value in [`Manifest::shown`](crate::Manifest::shown).
    pub shown: u32,
    /// The direction, of the first populations, that leads to the neighbour.
    pub direction: u32,
}

/// The direction of one population.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Direction {
    /// Velocity, 0 beyond the dimension.
    pub c: [i32; 3],
    /// Exact weight, as `1/36`.
    pub weight: String,
    /// Exact value at rest, as `1/36`: populations are stored without it.
    pub rest: String,
    /// Position of the opposite direction of the same set.
    pub opposite: u32,
}

impl Direction {
    /// The weight as a number; NaN if the text is not one, which no manifest of lbmc has.
    pub fn weight_value(&self) -> f64 {
        value(&self.weight)
    }

    /// The value at rest as a number, as [`Self::weight_value`].
    pub fn rest_value(&self) -> f64 {
        value(&self.rest)
    }
}

/// A quotient of whole numbers as a number.
pub(crate) fn value(quotient: &str) -> f64 {
    let (above, below) = quotient.split_once('/').unwrap_or((quotient, "1"));
    let number = |text: &str| text.trim().parse().unwrap_or(f64::NAN);
    number(above) / number(below)
}
