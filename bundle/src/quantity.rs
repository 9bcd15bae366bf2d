//! Parameters, fields and transport coefficients of a method.

use serde::{Deserialize, Serialize};

/// A run-time parameter of the method or of a boundary rule.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Param {
    /// Name as in the spec.
    pub name: String,
    /// Number of components: 1 for a scalar, the dimension for a vector.
    pub components: u32,
    /// Value of each component where none is given, if the spec states one: in lattice units, of the coarsest level.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub default: Option<f64>,
    /// Open interval of allowed values, if the spec states one.
    pub range: Option<(f64, f64)>,
    /// Its unit, if the spec states one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub unit: Option<Unit>,
    /// What it is.
    pub doc: String,
}

/// A member of the struct of the method's parameters: a component of one of them, of the bundle's real type.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Member {
    /// Its name. It ends with an underscore, `omega_`, and may have other letters than the parameter in the spec.
    pub name: String,
    /// [`Param::name`] of the parameter.
    pub param: String,
    /// Axis of the component; 0 for a scalar.
    pub component: u32,
    /// What it is.
    pub doc: String,
}

/// The unit of a quantity, if the density of the fluid at rest is 1: a power of a length times a power of a time.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Unit {
    /// Exponent of the length, in lattice units the side of a cell.
    pub length: i32,
    /// Exponent of the time, in lattice units a step.
    pub time: i32,
}

impl Unit {
    /// A quantity in the units of the next finer level over the same in those of a level: cells and steps are half as large there.
    pub fn finer(self) -> f64 {
        2f64.powi(self.length + self.time)
    }
}

/// A macroscopic field.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Field {
    /// Name as in the spec: `rho`, `u`.
    pub name: String,
    /// 1 for a scalar, the dimension for a vector; of an observable also those of a symmetric tensor: 3 or 6.
    pub components: u32,
    /// Whether it is an observable that was asked for: computed for output, and nothing that a flow starts from. These come last.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub observed: bool,
    /// Whether it is a value that cells keep for a parameter that varies: a case gives it by a formula of the position. These come last but for
    /// observables.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub place: bool,
    /// The unit of an observable, if the spec states one. It is in cells and steps of the coarsest level.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub unit: Option<Unit>,
}

impl Field {
    /// A field of the method, no observable.
    pub fn own(name: &str, components: usize) -> Field {
        Field { name: name.into(), components: components as u32, observed: false, place: false, unit: None }
    }

    /// Whether it is one of the fields that the spec lists.
    pub fn is_own(&self) -> bool {
        !self.observed && !self.place
    }

    /// Whether it is a symmetric tensor in so many dimensions.
    pub fn is_tensor(&self, dim: u32) -> bool {
        self.components > 1 && self.components == dim * (dim + 1) / 2
    }

    /// Names of its components in so many dimensions, in order: `rho`; `ux`, `uy`; `tau_xx`, `tau_xy`, `tau_yy`.
    pub fn component_names(&self, dim: u32) -> Vec<String> {
        let axes = &["x", "y", "z"][..dim.min(3) as usize];
        match self.components {
            1 => vec![self.name.clone()],
            _ if self.is_tensor(dim) => {
                let pairs =
                    axes.iter().enumerate().flat_map(|(at, one)| axes[at..].iter().map(move |other| (one, other)));
                pairs.map(|(one, other)| format!("{}_{one}{other}", self.name)).collect()
            }
            _ => axes.iter().map(|axis| format!("{}{axis}", self.name)).collect(),
        }
    }
}

/// A transport coefficient in lattice units, found by linearising the collision about rest.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Transport {
    /// Formula of the parameters: `1/3*(1/omega - 1/2)`.
    pub formula: String,
    /// The parameter `p` for which the coefficient is `cs2 (1/p - 1/2)`, if it is that simple.
    pub rate: Option<String>,
}
