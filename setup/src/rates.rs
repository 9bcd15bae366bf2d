//! Values of a method's parameters at which things are told that depend on them.

use lbm_dsl::model::{Model, Param};
use miette::{Result, miette};
use num_traits::ToPrimitive;

use crate::params::{Params, default};

/// Where the values of the varied parameter lie in its range.
const SHARES: [f64; 8] = [0.25, 0.5, 0.75, 0.85, 0.9, 0.95, 0.975, 0.995];

/// One parameter that varies; the others stay.
pub struct Rates {
    /// What was chosen for parameters that were not set: `s_bulk = 1`.
    pub chosen: Vec<String>,
    /// Name of the parameter that varies; `None` if all were set.
    pub name: Option<String>,
    place: usize,
    values: Vec<f64>,
    /// `params[param][component]`.
    params: Vec<Vec<f64>>,
}

impl Rates {
    /// Varies `rate`, or the first scalar with a range and no default, unless that is set. Other parameters that are not set have their default,
    /// or else the middle of their range, vectors (forces) zero.
    pub fn new(model: &Model, rate: Option<&str>, settings: &[String]) -> Result<Rates> {
        let given = Params::some(model, settings)?;
        let is_free = |param: &Param| param.range.is_some() && param.default.is_none();
        let free = |at: usize| given[at] == [None] && is_free(&model.params()[at]);
        let all = 0..model.params().len();
        let named = all.clone().find(|at| Some(model.params()[*at].name.as_str()) == rate);
        let varied = named.or_else(|| all.clone().find(|at| free(*at))).filter(|at| free(*at));
        let mut chosen = Vec::new();
        let mut params = Vec::new();
        for (at, (param, given)) in model.params().iter().zip(&given).enumerate() {
            let middle = || param.range.as_ref().and_then(|(low, high)| Some((low.to_f64()? + high.to_f64()?) / 2.0));
            let usual = default(param).or_else(middle);
            let value = |given: &Option<f64>| match (given, usual) {
                (Some(value), _) => Ok(*value),
                (None, _) if param.components > 1 => Ok(default(param).unwrap_or(0.0)),
                (None, Some(usual)) => {
                    if Some(at) != varied {
                        chosen.push(format!("{} = {usual}", param.name));
                    }
                    Ok(usual)
                }
                (None, None) => Err(miette!(
                    code = "L0107",
                    help = format!("for example --set {}=0.1", param.name),
                    "{} has no range, so no value can be chosen for it",
                    param.name
                )),
            };
            params.push(given.iter().map(value).collect::<Result<Vec<f64>>>()?);
        }
        let values = match varied.and_then(|at| model.params()[at].range.clone()) {
            Some((low, high)) => {
                let (low, high) = (low.to_f64().unwrap_or(0.0), high.to_f64().unwrap_or(0.0));
                SHARES.iter().map(|share| low + share * (high - low)).collect()
            }
            None => vec![0.0],
        };
        let name = varied.map(|at| model.params()[at].name.clone());
        Ok(Rates { chosen, name, place: varied.unwrap_or(0), values, params })
    }

    /// The same for a method of which only so many parameters are some: those behind stand for its states. Nothing varies where that is one of these.
    pub fn of_first(&self, count: usize) -> Rates {
        let own = self.place < count;
        Rates {
            chosen: self.chosen.clone(),
            name: self.name.clone().filter(|_| own),
            place: self.place.min(count.saturating_sub(1)),
            values: if own { self.values.clone() } else { vec![0.0] },
            params: self.params.iter().take(count).cloned().collect(),
        }
    }

    /// Values of the parameter that varies; one that means nothing if none does.
    pub fn values(&self) -> &[f64] {
        &self.values
    }

    /// A few of the values.
    pub fn few(&self) -> impl Iterator<Item = f64> {
        self.values.iter().copied().step_by(2)
    }

    /// The last of the values, those of the least viscosity.
    pub fn last(&self) -> impl Iterator<Item = f64> {
        self.values[self.values.len().saturating_sub(3)..].iter().copied()
    }

    /// All parameters where it has that value: `[param][component]`.
    pub fn params(&self, value: f64) -> Vec<Vec<f64>> {
        let mut params = self.params.clone();
        if self.name.is_some() {
            params[self.place] = vec![value];
        }
        params
    }

    /// ` at omega = 1.9`; empty if none varies.
    pub fn at(&self, value: f64) -> String {
        self.name.as_ref().map_or(String::new(), |name| format!(" at {name} = {value}"))
    }
}
