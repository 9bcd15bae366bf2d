//! The grid of a case and the conditions at its faces.

use std::sync::Arc;

use lbm_runtime::device::Device;
use lbm_runtime::geometry;
use lbm_runtime::kernels::{Prescribed, Statistics};
use lbm_runtime::solver::{
    Course, FaceSpec, GridSpec, Patch, PlaceValues, Profile, Region, StepError, Varying, WallSpec,
};

use super::control::Kernels;
use super::error::FlowError;
use crate::case::{self, Case, Formula, Layer, Wall, is_timed};
use crate::restart::SavedBody;

/// The grid of a case on a device. Time-dependent formulas are numbered as in [`Case::prescribed`].
pub(super) fn grid_of(case: &Case, kernels: Kernels<'_>, device: &Device) -> Result<GridSpec, FlowError> {
    let mut grid = GridSpec::periodic(case.size);
    let mut formulas = 0..;
    for wall in &case.walls {
        let face = geometry::Face::of_axis(wall.face.axis)[usize::from(wall.face.high)];
        let mut spec = |wall: &Wall| {
            let (values, varying) = varying(&wall.formulas, &mut formulas);
            let values = wall.values.iter().cloned().chain(values).collect();
            WallSpec { rule: wall.rule.clone(), values, varying }
        };
        grid.faces[face.index()] = FaceSpec::Wall(spec(wall));
        for case::Patch { region, wall: patch } in &wall.patches {
            let (region, normal) = (region.clone(), wall.face.axis);
            let region: Region = Arc::new(move |at| region.contains(normal, at));
            grid.patches.push(Patch { face, region, wall: spec(patch) });
        }
    }
    for body in &case.solids {
        let (values, varying) = varying(&body.formulas, &mut formulas);
        let mut solid = body.solid.clone();
        solid.values.extend(values);
        grid.solids.push(solid);
        grid.surfaces.push(varying);
        grid.motions.push(body.motion(case.stop.steps));
        grid.laws.push(body.layer.as_ref().map(Layer::law));
    }
    grid.prescribed =
        kernels.prescribed.map(|bundle| Prescribed::load(device, bundle)).transpose().map_err(StepError::from)?;
    grid.statistics =
        kernels.statistics.map(|bundle| Statistics::load(device, bundle)).transpose().map_err(StepError::from)?;
    Ok(grid)
}

/// Gives the bodies that the fluid moves their states in a restart file.
pub(super) fn resume_bodies(grid: &mut GridSpec, bodies: &[SavedBody]) {
    for (number, state) in bodies.iter().filter_map(SavedBody::state) {
        if let Some(Some(motion)) = grid.motions.get_mut(number) {
            motion.set_state(state);
        }
    }
}

/// Parameters of the method that depend on time.
pub(super) fn courses_of(case: &Case) -> Vec<(String, Vec<Course>)> {
    let course = |formula: Formula| -> Course { Arc::new(move |time| formula.at([0.0; 3], time)) };
    let of_param =
        |(name, formulas): &(String, Vec<Formula>)| (name.clone(), formulas.iter().cloned().map(course).collect());
    case.courses.iter().map(of_param).collect()
}

/// Values that cells store for parameters that vary in space.
pub(super) fn places_of(case: &Case) -> PlaceValues {
    let places = case.places.clone();
    Arc::new(move |at, out| out.iter_mut().zip(&places).for_each(|(out, place)| *out = place.at(at)))
}

/// Evaluates formulas at the start: as values if they are uniform, as profiles if they vary in space. Time-dependent
/// ones get their numbers from `numbers`.
fn varying(
    given: &[(String, Vec<Formula>)],
    numbers: &mut impl Iterator<Item = usize>,
) -> (Vec<(String, Vec<f64>)>, Varying) {
    let profile = |formula: Formula| -> Profile { Arc::new(move |at| formula.at(at, 0.0)) };
    let (mut values, mut varying) = (vec![], Varying::default());
    for (name, formulas) in given {
        if formulas.iter().any(Formula::varies_in_place) {
            varying.profiles.push((name.clone(), formulas.iter().cloned().map(profile).collect()));
        } else {
            values.push((name.clone(), formulas.iter().map(|formula| formula.at([0.0; 3], 0.0)).collect()));
        }
        if is_timed(formulas) {
            varying.timed.push((name.clone(), numbers.take(formulas.len()).collect()));
        }
    }
    (values, varying)
}
