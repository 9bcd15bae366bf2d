//! Derivatives of the objective of a case, as they are written.

use std::io::{self, Write};

use lbm_bundle::Formula;
use lbm_runtime::solver::adjoint::AtPlace;
use lbm_runtime::solver::snapshot::Snapshot;
use serde_json::{Map, Value, json};

use super::csv;
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
    /// States that were on disk.
    pub on_disk: u64,
    /// How long both took.
    pub seconds: f64,
    /// How long steps backwards took.
    pub of_backwards: f64,
}

/// Derivatives by values that vary along a face.
#[derive(Clone, Debug)]
pub struct DerivedProfile {
    /// What the face is called.
    pub face: String,
    /// The names of the values at each place.
    pub columns: Vec<String>,
    /// Where links cross the face: at the centres of the faces of cells, and along directions askew between these.
    pub places: Vec<AtPlace>,
}

impl DerivedProfile {
    /// Name of its table.
    pub fn file_name(face: &str) -> String {
        format!("gradient_{face}.csv")
    }

    /// Writes its table: a row for each place, in `dim` dimensions.
    pub(super) fn write(&self, out: &mut dyn Write, dim: usize) -> io::Result<()> {
        let names = ["x", "y", "z"].into_iter().take(dim).map(str::to_string);
        let by = self.columns.iter().map(|name| format!("by_{name}"));
        let names: Vec<String> = names.chain(self.columns.iter().cloned()).chain(by).collect();
        writeln!(out, "{}", names.join(","))?;
        for AtPlace { at, values, by } in &self.places {
            let count = self.columns.len();
            let row = at[..dim].iter().chain(&values[..count]).chain(&by[..count]);
            writeln!(out, "{}", row.map(|value| csv::number(*value)).collect::<Vec<_>>().join(","))?;
        }
        Ok(())
    }
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
    /// By values of walls at faces: what these are called, and their values; of those that vary, by a change that is the same everywhere.
    pub faces: Vec<(String, Named)>,
    /// By values of surfaces of solids.
    pub solids: Vec<(String, Named)>,
    /// By values that vary along faces, place by place.
    pub profiles: Vec<DerivedProfile>,
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
            "states_on_disk": self.work.on_disk,
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
