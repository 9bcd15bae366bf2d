//! Derivatives of the objective of a case. After [`Gradient::record`] `gradient.json` has them, and a file of fields those of every cell.

use serde_json::{Map, Value, json};

use super::fields::{format_of, write_vtk};
use super::output::{Data, Files, Output};
use crate::case::{Case, Quantity};
use crate::output::derivatives::Named;
use crate::output::sink::OutputError;

/// The output.
#[derive(Debug)]
pub(super) struct Gradient<'a>(pub(super) &'a Case);

impl Output for Gradient<'_> {
    fn record(&mut self, data: &Data<'_>, files: &mut Files) -> Result<(), OutputError> {
        let (Data::Gradient(found), Some(gradient)) = (data, &self.0.gradient) else { return Ok(()) };
        let of_owners = |owners: &[(String, Named)]| -> Map<String, Value> {
            owners.iter().map(|(name, values)| (name.clone(), Value::Object(by_name(values)))).collect()
        };
        let content = json!({
            "units": "lattice",
            "objective": { "formula": gradient.objective.to_string(), "value": found.objective },
            "steps": { "of_the_flow": found.work.steps, "of_the_objective": gradient.steps, "taken_again": found.work.again },
            "seconds": found.work.seconds,
            "seconds_backwards": found.work.of_backwards,
            "states": gradient.states,
            "by": {
                "params": by_name(&found.params),
                "faces": of_owners(&found.faces),
                "solids": of_owners(&found.solids),
            },
        });
        let text = serde_json::to_string_pretty(&content).unwrap_or_default() + "\n";
        files.write("gradient.json", |out| out.write_all(text.as_bytes()))?;
        let format = format_of(self.0);
        let named = found.cells.components.iter().enumerate();
        let fields: Vec<Quantity> =
            named.map(|(at, component)| Quantity::plain(&component.name, at, self.0.dim)).collect();
        files.write(&format!("gradient.{}", format.ending()), |out| {
            write_vtk(out, format, &found.cells, Some(&fields), self.0)
        })
    }
}

/// A number for a name with one component, a list for others.
fn by_name(values: &Named) -> Map<String, Value> {
    let value = |values: &[f64]| if let [one] = values { json!(one) } else { json!(values) };
    values.iter().map(|(name, values)| (name.clone(), value(values))).collect()
}
