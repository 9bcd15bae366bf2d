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
#[derive(Clone, Copy, Debug, Default)]
pub struct Work {
    /// Steps backwards, of as many of the flow; of a steady flow until its derivatives are.
    pub steps: u64,
    /// Steps that were taken again.
    pub again: u64,
    /// States that were on disk.
    pub on_disk: u64,
    /// Of a steady flow.
    pub settled: Option<Settled>,
    /// How long both took.
    pub seconds: f64,
    /// How long steps backwards took.
    pub of_backwards: f64,
}

/// How steady a flow and its derivatives are.
#[derive(Clone, Copy, Debug)]
pub struct Settled {
    /// Whether the flow has become steady.
    pub is_steady: bool,
    /// How much derivatives have changed between the last two checks, over what they are: infinite if there were not two, NaN if they are not finite.
    pub change: f64,
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
        let steps = match self.work.settled {
            Some(_) => json!({ "backwards": self.work.steps, "taken_again": self.work.again }),
            None => {
                json!({ "of_the_flow": self.work.steps, "of_the_objective": gradient.steps, "taken_again": self.work.again })
            }
        };
        json!({
            "units": "lattice",
            "objective": {
                "formula": gradient.objective.as_ref().map(Formula::to_string),
                "forces": gradient.forces.as_ref().map(Formula::to_string),
                "value": self.objective,
            },
            "steps": steps,
            "steady": self.work.settled.map(|Settled { is_steady, change }| json!({ "flow": is_steady, "change": change })),
            "seconds": self.work.seconds,
            "seconds_backwards": self.work.of_backwards,
            "states": gradient.steady.is_none().then_some(gradient.states),
            "states_on_disk": self.work.on_disk,
            "by": {
                "params": by_name(&self.params),
                "faces": of_owners(&self.faces),
                "solids": of_owners(&self.solids),
            },
        })
    }
}

impl Derivatives {
    /// Why those of a steady flow are not what they should be, if they are not.
    pub(super) fn notice(&self, gradient: &Gradient) -> Option<String> {
        let (Work { steps, settled, .. }, tolerance) = (self.work, gradient.steady?.tolerance);
        let Settled { is_steady, change } = settled?;
        if !is_steady {
            return Some(
                "derivatives of a steady flow: this one has not become steady, so they are not those of its objective"
                    .into(),
            );
        }
        let what = match change {
            change if change < tolerance => return None,
            change if change.is_finite() => format!("they have changed by {change:.1e} between the last two checks"),
            change if change.is_nan() => "they have grown beyond all numbers".into(),
            _ => "there was no second check of them".into(),
        };
        Some(format!(
            "derivatives of a steady flow have not become steady in {steps} steps backwards, the most that `stop` allows: {what} (steady at {tolerance:.0e})"
        ))
    }
}

/// A number for a name with one component, a list for others.
fn by_name(values: &Named) -> Map<String, Value> {
    let value = |values: &[f64]| if let [one] = values { json!(one) } else { json!(values) };
    values.iter().map(|(name, values)| (name.clone(), value(values))).collect()
}
