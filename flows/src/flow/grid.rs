//! The grid of a case, and what lies behind its faces.

use std::sync::Arc;

use lbm_runtime::device::Device;
use lbm_runtime::geometry;
use lbm_runtime::kernels::Prescribed;
use lbm_runtime::solver::{FaceSpec, GridSpec, Profile, StepError, WallSpec};

use super::{FlowError, Kernels};
use crate::case::{Case, Formula, Wall, is_timed};

/// The grid of a case on a device. Formulas of time are numbered as in [`Case::prescribed`].
pub(super) fn grid_of(case: &Case, kernels: Kernels<'_>, device: &Device) -> Result<GridSpec, FlowError> {
    let mut grid = GridSpec::periodic(case.size);
    let mut formulas = 0..;
    for wall in &case.walls {
        let face = geometry::Face::of_axis(wall.face.axis)[usize::from(wall.face.high)];
        grid.faces[face.index()] = FaceSpec::Wall(spec_of(wall, &mut formulas));
    }
    grid.solids = case.solids.iter().map(|body| body.solid.clone()).collect();
    grid.prescribed =
        kernels.prescribed.map(|bundle| Prescribed::load(device, bundle)).transpose().map_err(StepError::from)?;
    Ok(grid)
}

/// A wall with its parameters: at the beginning, where they depend on time. The numbers of its formulas are taken from `numbers`.
fn spec_of(wall: &Wall, numbers: &mut impl Iterator<Item = usize>) -> WallSpec {
    let profile = |formula: Formula| -> Profile { Arc::new(move |at| formula.at(at, 0.0)) };
    let (mut values, mut profiles, mut timed) = (wall.values.clone(), vec![], vec![]);
    for (name, formulas) in &wall.formulas {
        if formulas.iter().any(Formula::varies_in_place) {
            profiles.push((name.clone(), formulas.iter().cloned().map(profile).collect()));
        } else {
            values.push((name.clone(), formulas.iter().map(|formula| formula.at([0.0; 3], 0.0)).collect()));
        }
        if is_timed(formulas) {
            timed.push((name.clone(), numbers.take(formulas.len()).collect()));
        }
    }
    WallSpec { rule: wall.rule.clone(), values, profiles, timed }
}
