//! Derivatives of the objective of a case, as they are written.

use lbm_bundle::Formula;
use lbm_runtime::solver::snapshot::Snapshot;
use serde_json::{Map, Value, json};

use crate::case::Gradient;

/// Values by name, each with all its components.
pub(super) type Named = Vec<(String, Vec<f64>)>;

/// What was done for derivatives.
#[derive(Clone, Copy, Debug)]
pub struct Work {
    /// Steps of the flow, and as many backwards.
    pub steps: u64,
    /// Steps that were taken again.
    pub again: u64,
    /// How long both took.
    pub seconds: f64,
    /// How long steps backwards took.
    pub of_backwards: f64,
}

/// Derivatives of an objective, in lattice units.
#[derive(Clone, Debug)]
pub struct Derivatives {
    /// Its value.
    pub objective: f64,
    /// What was done for them.
    pub work: Work,
    /// By parameters of the method.
    pub params: Named,
    /// By values of walls at faces: what these are called, and their values.
    pub faces: Vec<(String, Named)>,
    /// By values of surfaces of solids.
    pub solids: Vec<(String, Named)>,
    /// By parameters as each cell takes them, by states that cells have at the start, and by fields at the start.
    pub cells: Snapshot,
}

impl Derivatives {
    /// What `gradient.json` has of them.
    pub fn described(&self, gradient: &Gradient) -> Value {
        let of_owners = |owners: &[(String, Named)]| -> Map<String, Value> {
            owners.iter().map(|(name, values)| (name.clone(), Value::Object(by_name(values)))).collect()
        };
        json!({
            "units": "lattice",
            "objective": {
                "formula": gradient.objective.as_ref().map(Formula::to_string),
                "forces": gradient.forces.as_ref().map(Formula::to_string),
                "value": self.objective,
            },
            "steps": { "of_the_flow": self.work.steps, "of_the_objective": gradient.steps, "taken_again": self.work.again },
            "seconds": self.work.seconds,
            "seconds_backwards": self.work.of_backwards,
            "states": gradient.states,
            "by": {
                "params": by_name(&self.params),
                "faces": of_owners(&self.faces),
                "solids": of_owners(&self.solids),
            },
        })
    }
}

/// A number for a name with one component, a list for others.
fn by_name(values: &Named) -> Map<String, Value> {
    let value = |values: &[f64]| if let [one] = values { json!(one) } else { json!(values) };
    values.iter().map(|(name, values)| (name.clone(), value(values))).collect()
}
