//! Wall instances: boundary rules with their parameters, checked by name, and the form in which kernels read them.

use lbm_bundle::{Boundary, Manifest, Param};

use crate::device::{Buffer, Device, DeviceError, Int, Real};
use crate::geometry::Face;
use crate::kernels;
use crate::solver::error::StepError;

/// A wall instance as kernels read it.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Instance {
    pub(crate) rule: i32,
    pub(crate) values: Vec<f64>,
}

pub(crate) fn find_rule<'a>(manifest: &'a Manifest, face: Face, name: &str) -> Result<&'a Boundary, StepError> {
    manifest.boundaries.iter().find(|rule| rule.name == name).ok_or_else(|| StepError::Rule {
        face: face.name(),
        rule: name.to_string(),
        known: list(manifest.boundaries.iter().map(|rule| rule.name.as_str())),
    })
}

pub(crate) fn list<'a>(names: impl Iterator<Item = &'a str>) -> String {
    let names: Vec<String> = names.map(|name| format!("`{name}`")).collect();
    if names.is_empty() { "none".to_string() } else { names.join(", ") }
}

/// The values of `params` in their order. An error if a value is missing, invalid, or of no such parameter.
pub(crate) fn resolve(owner: &str, params: &[Param], given: &[(String, Vec<f64>)]) -> Result<Vec<Vec<f64>>, StepError> {
    let known = || list(params.iter().map(|param| param.name.as_str()));
    if let Some((name, _)) = given.iter().find(|(name, _)| !params.iter().any(|param| param.name == *name)) {
        return Err(StepError::SurplusParam { owner: owner.to_string(), name: name.clone(), known: known() });
    }
    params
        .iter()
        .map(|param| {
            let (_, values) =
                given.iter().rev().find(|(name, _)| *name == param.name).ok_or_else(|| StepError::MissingParam {
                    owner: owner.to_string(),
                    name: param.name.clone(),
                    doc: param.doc.clone(),
                    known: known(),
                })?;
            valid(owner, param, values)?;
            Ok(values.clone())
        })
        .collect()
}

pub(crate) fn valid(owner: &str, param: &Param, values: &[f64]) -> Result<(), StepError> {
    let (owner, name) = (owner.to_string(), param.name.clone());
    if values.len() != param.components as usize {
        return Err(StepError::Components { owner, name, expected: param.components as usize, found: values.len() });
    }
    let (low, high) = param.range.unwrap_or((f64::NEG_INFINITY, f64::INFINITY));
    match values.iter().find(|value| !(**value > low && **value < high)) {
        None => Ok(()),
        Some(value) => {
            let allowed = match param.range {
                Some((low, high)) => format!("between {low} and {high}"),
                None => "finite".to_string(),
            };
            Err(StepError::Range { owner, name, value: *value, allowed })
        }
    }
}

/// Wall instances on the device.
pub(crate) struct Walls {
    pub(crate) rules: Buffer<Int>,
    pub(crate) values: Buffer<Real>,
}

impl Walls {
    pub(crate) fn new(device: &Device, manifest: &Manifest, instances: &[Instance]) -> Result<Self, DeviceError> {
        let stride = manifest.wall_stride as usize;
        let rules: Vec<i32> = instances.iter().map(|instance| instance.rule).collect();
        let mut values = device.alloc_reals(manifest.real, instances.len() * stride)?;
        for (at, instance) in instances.iter().enumerate() {
            values.write_reals(at * stride, &instance.values)?;
        }
        Ok(Walls { rules: device.ints(&rules)?, values })
    }

    /// The arguments of kernels.
    pub(crate) fn arguments(&self) -> kernels::Walls<'_> {
        kernels::Walls { wall_rules: &self.rules, wall_values: &self.values }
    }
}
