//! The file form of populations: `{"directions": [[cx,cy,cz],...], "states": [[f...],...]}`.
//!
//! Where several sets of populations have a velocity, it is listed once for each, in the order of the sets.

use std::path::Path;

use lbm_bundle::input::Limit;
use lbm_dsl::expr::Pop;
use lbm_dsl::model::Model;
use lbm_setup::files;
use miette::{Result, miette};
use serde::{Deserialize, Serialize};

const LIMIT: Limit = Limit { what: "a file of populations", bytes: 1 << 30 };

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
    /// Reads and checks a file; also returns the population of each column.
    pub fn read(path: &Path, model: &Model) -> Result<(States, Vec<Pop>)> {
        let text = files::read(path, LIMIT)?;
        let states: States = serde_json::from_str(&text).map_err(|error| {
            miette!(
                code = "L0111",
                help = r#"the form is {"directions": [[cx,cy,cz],...], "states": [[f...],...]}, two components in 2-D"#,
                "`{}`: {error}",
                path.display()
            )
        })?;
        let columns = states.columns(model).map_err(|what| {
            let known = model.pops().map(|(_, set, dir)| format!("{:?}", set.lattice.velocity(dir)));
            let known: Vec<String> = known.collect();
            miette!(
                code = "L0111",
                help = format!("{} has the directions {}", model.name(), known.join(" ")),
                "`{}`: {what}",
                path.display()
            )
        })?;
        Ok((states, columns))
    }

    fn columns(&self, model: &Model) -> Result<Vec<Pop>, String> {
        let mut columns = Vec::new();
        for velocity in &self.directions {
            let along = || model.pops().filter(|(_, set, dir)| set.lattice.velocity(*dir) == velocity);
            if along().next().is_none() {
                return Err(format!("{velocity:?} is no direction of {}", model.name()));
            }
            let free = along().map(|(pop, ..)| pop).find(|pop| !columns.contains(pop));
            columns.push(free.ok_or(format!("direction {velocity:?} occurs too often"))?);
        }
        if let Some((_, set, missing)) = model.pops().find(|(pop, ..)| !columns.contains(pop)) {
            return Err(format!("direction {:?} of {} is missing", set.lattice.velocity(missing), set.name));
        }
        if let Some(at) = self.states.iter().position(|state| state.len() != columns.len()) {
            return Err(format!("state {at} has {} values, not {}", self.states[at].len(), columns.len()));
        }
        Ok(columns)
    }

    /// Each state in the order of the model: `[state][population]`.
    pub fn in_model_order(&self, columns: &[Pop]) -> Vec<Vec<f64>> {
        let place = |state: &Vec<f64>| {
            let mut ordered = vec![0.0; state.len()];
            for (value, pop) in state.iter().zip(columns) {
                ordered[pop.index()] = *value;
            }
            ordered
        };
        self.states.iter().map(place).collect()
    }

    /// The same directions with other values, given in the order of the model.
    pub fn with(&self, columns: &[Pop], ordered: &[Vec<f64>]) -> States {
        let states = ordered.iter().map(|state| columns.iter().map(|pop| state[pop.index()]).collect()).collect();
        States { directions: self.directions.clone(), states }
    }
}
