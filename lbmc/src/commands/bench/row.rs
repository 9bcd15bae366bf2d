//! A row of a suite before it is measured.

use lbm_bundle::Target;
use lbm_flows::case::nearest;
use lbm_runtime::device::Device;
use miette::{Result, miette};

use super::record::Outcome;
use super::words::is_of;

/// Measures a row on a device.
pub type Measure = Box<dyn Fn(&Device) -> Result<Outcome>>;

/// A row.
pub struct Row {
    /// Its name, of parts with a `-` between them: `d3q19_bgk-f32-4x4x4`.
    pub name: String,
    /// The command that repeats it.
    pub command: String,
    /// What it runs on.
    pub target: Target,
    /// Hash of the texts that are not in the program ([`super::record::digest`]).
    pub inputs: String,
    /// Why it is left out unless it is named.
    pub lacks: Option<String>,
    /// Measures it.
    pub measure: Measure,
}

/// Rows that are named, in the order of the suite; all of them where no name is given.
pub fn select(rows: Vec<Row>, names: &[String]) -> Result<Vec<Row>> {
    for name in names {
        if !rows.iter().any(|row| is_of(&row.name, name)) {
            let parts = rows.iter().flat_map(|row| {
                let ends = row.name.match_indices('-').map(|(at, _)| &row.name[..at]);
                ends.chain([&row.name[..]])
            });
            let help = match nearest(name, parts) {
                Some(near) => format!("did you mean `{near}`? `--list` prints the rows"),
                None => "`--list` prints the rows".to_string(),
            };
            return Err(miette!(code = "L0117", help = help, "the suite has no row `{name}`"));
        }
    }
    let named = |row: &Row| names.is_empty() || names.iter().any(|name| is_of(&row.name, name));
    Ok(rows.into_iter().filter(named).collect())
}
