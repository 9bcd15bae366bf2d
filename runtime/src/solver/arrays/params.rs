//! The parameters of the method on each level, and which set of populations is current there.

use lbm_bundle::Manifest;

use crate::kernels;
use crate::solver::arrays::walls::{list, resolve, valid};
use crate::solver::error::StepError;
use crate::solver::plan::task::PopulationSet;

/// The state of a level that changes with time.
pub(crate) struct LevelState {
    /// The parameters of the method on this level.
    pub(crate) params: Params,
    /// Which of the two sets of populations is current.
    pub(crate) current: PopulationSet,
}

/// The parameters of the method on a level, in the order of the manifest.
#[derive(Clone)]
pub(crate) struct Params {
    values: Vec<Vec<f64>>,
    packed: kernels::Params,
}

impl Params {
    pub(crate) fn new(manifest: &Manifest, given: &[(String, Vec<f64>)]) -> Result<Self, StepError> {
        Ok(Params::of(manifest, resolve(&format!("`{}`", manifest.spec), &manifest.params, given)?))
    }

    fn of(manifest: &Manifest, values: Vec<Vec<f64>>) -> Self {
        Params { packed: kernels::Params::new(manifest, &values), values }
    }

    /// The parameters in the form that kernels take.
    pub(crate) fn packed(&self) -> &kernels::Params {
        &self.packed
    }

    pub(crate) fn set(&mut self, manifest: &Manifest, name: &str, values: &[f64]) -> Result<(), StepError> {
        let owner = format!("`{}`", manifest.spec);
        let at = manifest.params.iter().position(|param| param.name == name);
        let at = at.ok_or_else(|| StepError::SurplusParam {
            owner: owner.clone(),
            name: name.to_string(),
            known: list(manifest.params.iter().map(|param| param.name.as_str())),
        })?;
        valid(&owner, &manifest.params[at], values)?;
        self.values[at] = values.to_vec();
        self.packed = kernels::Params::new(manifest, &self.values);
        Ok(())
    }

    /// The parameters of several levels, computed from those of the coarsest level.
    pub(crate) fn of_levels(self, manifest: &Manifest, levels: usize) -> Result<Vec<Params>, StepError> {
        let mut all = vec![self];
        while all.len() < levels {
            if manifest.coupling.is_none() {
                return Err(StepError::NoCoupling { spec: manifest.spec.clone() });
            }
            let values = manifest.finer(&all[all.len() - 1].values);
            for (param, values) in manifest.params.iter().zip(&values) {
                valid(&format!("`{}`", manifest.spec), param, values).map_err(|error| error.on_level(all.len()))?;
            }
            all.push(Params::of(manifest, values));
        }
        Ok(all)
    }
}

/// Derivatives of the parameters of each level by those of the coarsest: `[level][member of the coarsest][member]`.
pub(crate) fn by_coarsest(manifest: &Manifest, levels: &[LevelState]) -> Vec<Vec<Vec<f64>>> {
    let members: Vec<(usize, usize)> = manifest.members.iter().filter_map(|member| manifest.param_of(member)).collect();
    let zeros = |params: &Params| params.values.iter().map(|values| vec![0.0; values.len()]).collect::<Vec<_>>();
    let mut changes: Vec<Vec<Vec<f64>>> = members
        .iter()
        .map(|(param, component)| {
            let mut changes = zeros(&levels[0].params);
            changes[*param][*component] = 1.0;
            changes
        })
        .collect();
    let mut all = vec![];
    for level in levels {
        let flat = |changes: &Vec<Vec<f64>>| members.iter().map(|(param, at)| changes[*param][*at]).collect();
        all.push(changes.iter().map(flat).collect());
        changes.iter_mut().for_each(|changes| *changes = manifest.finer_changes(&level.params.values, changes));
    }
    all
}

#[cfg(test)]
mod tests {
    use miette::Diagnostic;

    use super::*;
    use crate::fixture::manifest;

    #[test]
    fn parameters_of_the_method_are_checked_against_their_range() {
        let omega = |value: f64| Params::new(&manifest(), &[("omega".into(), vec![value])]);
        let manifest = manifest();
        assert_eq!(*omega(1.5).unwrap().packed(), kernels::Params::new(&manifest, &[vec![1.5]]));
        for wrong in [0.0, 2.0, f64::NAN] {
            let error = omega(wrong).err().expect("outside (0, 2)");
            assert_eq!(error.help().map(|help| help.to_string()).unwrap_or_default(), "it must be between 0 and 2");
        }
    }
}
