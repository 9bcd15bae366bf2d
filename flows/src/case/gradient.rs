//! What a case derives by all that its flow depends on: an objective.

use std::ops::Range;

use lbm_bundle::Formula;

use super::formula;
use super::stop::Steady;

/// An objective: a sum over the cells of the fluid and what forces on solids add, and a mean over the last steps.
#[derive(Clone, Debug, PartialEq)]
pub struct Gradient {
    /// What each cell adds: a formula of components of the method's fields, in lattice units, and of its position in cells.
    pub objective: Option<Formula>,
    /// What forces on solids add in each step: a formula of their components, in lattice units.
    pub forces: Option<Formula>,
    /// What it names: a component of the force on some of the entries of solids.
    pub(crate) pulls: Vec<(String, Pull)>,
    /// The positions of the components that it depends on.
    pub(crate) depends: Vec<usize>,
    /// A factor of each cell: a formula of its position in cells.
    pub weight: Option<formula::Formula>,
    /// How many of the last steps it is the mean of.
    pub steps: u64,
    /// Whether the flow is steady at its end, and when its derivatives are: steps backwards all begin at that state.
    pub steady: Option<Steady>,
    /// How many states of the flow may be in memory.
    pub states: u64,
    /// Bytes that further ones may take on disk.
    pub disk: u64,
    /// Parameters that are what cells keep.
    pub(crate) kept: Vec<Kept>,
    /// Parameters of the compiled method that the case does not have: those that varying ones are made of.
    pub(crate) made: Vec<String>,
}

/// A component of a force.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Pull {
    /// The entries of solids whose forces it is the sum of.
    pub(crate) entries: Range<usize>,
    pub(crate) axis: usize,
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
    /// The value of the objective in a cell with its centre at a position and values of `components`, by their numbers, and its derivative by the
    /// component of that number.
    pub(crate) fn slope(
        &self,
        components: &[String],
        (centre, value): ([f64; 3], &dyn Fn(usize) -> f64),
        by: usize,
    ) -> [f64; 2] {
        let named = |name: &str| match components.iter().position(|known| known == name) {
            Some(at) => Some([value(at), f64::from(u8::from(at == by))]),
            None => formula::POSITIONS.iter().position(|known| *known == name).map(|axis| [centre[axis], 0.0]),
        };
        self.objective.as_ref().map_or([0.0; 2], |formula| formula.slope(&named).unwrap_or([f64::NAN; 2]))
    }

    /// What these forces on the entries of solids add, and its derivatives by them.
    pub(crate) fn slope_by_forces(&self, forces: &[[f64; 3]]) -> (f64, Vec<[f64; 3]>) {
        let mut pulls = vec![[0.0; 3]; forces.len()];
        let Some(formula) = &self.forces else { return (0.0, pulls) };
        let value = |Pull { entries, axis }: &Pull| forces[entries.clone()].iter().map(|force| force[*axis]).sum();
        let slope = |by: usize| {
            let named = |name: &str| {
                let at = self.pulls.iter().position(|(known, _)| known == name)?;
                Some([value(&self.pulls[at].1), f64::from(u8::from(at == by))])
            };
            formula.slope(&named).unwrap_or([f64::NAN; 2])
        };
        for (by, (_, Pull { entries, axis })) in self.pulls.iter().enumerate() {
            let [_, slope] = slope(by);
            pulls[entries.clone()].iter_mut().for_each(|pull| pull[*axis] += slope);
        }
        (slope(self.pulls.len())[0], pulls)
    }

    /// The factor of a cell with its centre at a position.
    pub(crate) fn weight_at(&self, position: [f64; 3]) -> f64 {
        self.weight.as_ref().map_or(1.0, |weight| weight.at(position, 0.0))
    }
}
