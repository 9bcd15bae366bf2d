//! What a case derives by all that its flow depends on: an objective.

use lbm_bundle::Formula;

use super::formula;

/// An objective: a sum over the cells of the fluid, and a mean over the last steps.
#[derive(Clone, Debug, PartialEq)]
pub struct Gradient {
    /// What each cell adds: a formula of components of the method's fields, in lattice units.
    pub objective: Formula,
    /// The positions of the components that it depends on.
    pub(crate) depends: Vec<usize>,
    /// A factor of each cell: a formula of its position in cells.
    pub weight: Option<formula::Formula>,
    /// How many of the last steps it is the mean of.
    pub steps: u64,
    /// How many states of the flow may be in memory.
    pub states: u64,
    /// Parameters that are what cells keep.
    pub(crate) kept: Vec<Kept>,
    /// Parameters of the compiled method that the case does not have: those that varying ones are made of.
    pub(crate) made: Vec<String>,
}

/// A parameter that varies in space alone: its value is what a cell keeps.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Kept {
    /// The name of what a cell keeps.
    pub(crate) state: String,
    /// That of the parameter, with its axis if it has several components.
    pub(crate) param: String,
    /// A unit of what is kept, in lattice units.
    pub(crate) unit: f64,
}

impl Gradient {
    /// The value of the objective in a cell with these values of all `components`, and its derivative by that at a position.
    pub(crate) fn slope(&self, components: &[String], values: &[f64], by: usize) -> [f64; 2] {
        let position = |name: &str| components.iter().position(|known| known == name);
        let named = |name: &str| position(name).map(|at| [values[at], f64::from(u8::from(at == by))]);
        self.objective.slope(&named).unwrap_or([f64::NAN; 2])
    }

    /// The factor of a cell with its centre at a position.
    pub(crate) fn weight_at(&self, position: [f64; 3]) -> f64 {
        self.weight.as_ref().map_or(1.0, |weight| weight.at(position, 0.0))
    }
}
