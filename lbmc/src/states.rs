//! The file form of populations: `{"directions": [[cx,cy,cz],...], "states": [[f...],...]}`.

use std::path::Path;

use lbm_dsl::lattice::{Dir, Lattice};
use miette::{Result, miette};
use serde::{Deserialize, Serialize};

use crate::files;

/// Populations in a direction order of their own.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct States {
    /// Velocity of each column, a component per axis.
    pub directions: Vec<Vec<i32>>,
    /// `states[state][column]`.
    pub states: Vec<Vec<f64>>,
}

impl States {
    /// Reads and checks a file; also returns the direction of each column.
    pub fn read(path: &Path, lattice: &Lattice) -> Result<(States, Vec<Dir>)> {
        let text = files::read(path)?;
        let states: States = serde_json::from_str(&text).map_err(|error| {
            miette!(
                code = "lbmc::states",
                help =
                    r#"the form is {{"directions": [[cx,cy,cz],...], "states": [[f...],...]}}, two components in 2-D"#,
                "`{}`: {error}",
                path.display()
            )
        })?;
        let columns = states.columns(lattice).map_err(|what| {
            let known: Vec<String> = lattice.dirs().map(|dir| format!("{:?}", lattice.velocity(dir))).collect();
            miette!(
                code = "lbmc::states",
                help = format!("{} has the directions {}", lattice.name(), known.join(" ")),
                "`{}`: {what}",
                path.display()
            )
        })?;
        Ok((states, columns))
    }

    fn columns(&self, lattice: &Lattice) -> Result<Vec<Dir>, String> {
        let mut columns = Vec::new();
        for velocity in &self.directions {
            let dir = lattice.find(velocity).ok_or(format!("{velocity:?} is no direction of {}", lattice.name()))?;
            if columns.contains(&dir) {
                return Err(format!("direction {velocity:?} occurs twice"));
            }
            columns.push(dir);
        }
        if let Some(missing) = lattice.dirs().find(|dir| !columns.contains(dir)) {
            return Err(format!("direction {:?} is missing", lattice.velocity(missing)));
        }
        if let Some(at) = self.states.iter().position(|state| state.len() != columns.len()) {
            return Err(format!("state {at} has {} values, not {}", self.states[at].len(), columns.len()));
        }
        Ok(columns)
    }

    /// Each state in the order of the lattice: `[state][direction]`.
    pub fn in_lattice_order(&self, columns: &[Dir]) -> Vec<Vec<f64>> {
        let place = |state: &Vec<f64>| {
            let mut ordered = vec![0.0; state.len()];
            for (value, dir) in state.iter().zip(columns) {
                ordered[dir.index()] = *value;
            }
            ordered
        };
        self.states.iter().map(place).collect()
    }

    /// The same directions with other values, given in the order of the lattice.
    pub fn with(&self, columns: &[Dir], ordered: &[Vec<f64>]) -> States {
        let states = ordered.iter().map(|state| columns.iter().map(|dir| state[dir.index()]).collect()).collect();
        States { directions: self.directions.clone(), states }
    }
}
