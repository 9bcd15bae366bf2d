//! Derivatives of the objective of a case. After [`Gradient::record`] `gradient.json` has them, a file of fields
//! those of every cell, and a table those by values that vary along a face.

use super::fields::{format_of, write_vtk};
use super::output::{Data, Files, Output};
use crate::case::{Case, Quantity};
use crate::output::derivatives::DerivedProfile;
use crate::output::sink::OutputError;

/// The output.
#[derive(Debug)]
pub(super) struct Gradient<'a>(pub(super) &'a Case);

impl Output for Gradient<'_> {
    fn record(&mut self, data: &Data<'_>, files: &mut Files) -> Result<(), OutputError> {
        let (Data::Gradient(found), Some(gradient)) = (data, &self.0.gradient) else { return Ok(()) };
        files.notices.extend(found.notice(gradient));
        let content = found.described(gradient);
        let text = serde_json::to_string_pretty(&content).unwrap_or_default() + "\n";
        files.write("gradient.json", |out| out.write_all(text.as_bytes()))?;
        for profile in &found.profiles {
            files.write(&DerivedProfile::file_name(&profile.face), |out| profile.write(out, self.0.dim))?;
        }
        let format = format_of(self.0);
        let named = found.cells.components.iter().enumerate();
        let fields: Vec<Quantity> =
            named.map(|(at, component)| Quantity::plain(&component.name, at, self.0.dim)).collect();
        files.write(&format!("gradient.{}", format.ending()), |out| {
            write_vtk(out, format, &found.cells, Some(&fields), self.0)
        })
    }
}
