//! Solids of a flow: where they are, the force on them, and what is done to those that the fluid moves. In lattice units; vectors about axes have
//! one component in two dimensions, along z.

use std::ops::Range;

use lbm_flows::case::Case;
use lbm_runtime::geometry::solid::{Change, Impulse};
use lbm_runtime::solver::Simulation;
use miette::{Result, miette};

/// Whether the fluid moves a solid, its displacement, its angle, its velocity and its angular velocity.
pub type Lying = (bool, Vec<f64>, Vec<f64>, Vec<f64>, Vec<f64>);

/// Components of a vector about axes.
fn about(dim: usize) -> Range<usize> {
    if dim == 2 { 2..3 } else { 0..3 }
}

/// The solids of the flow that make up one of the case; the caller has checked that there is such a one.
pub fn entries(case: &Case, number: usize) -> Range<usize> {
    case.bodies().nth(number).map_or(0..0, |body| body.entries)
}

/// Where a solid is and how it moves.
pub fn lying(flow: &Simulation, case: &Case, number: usize) -> Result<Lying> {
    let (entry, dim) = (entries(case, number).start, flow.grid().dim());
    let is_free = case.solids.get(entry).is_some_and(|solid| solid.free().is_some());
    let (pose, rate) = flow.lies(entry).unwrap_or_default();
    let angle = pose.axis.map(|along| pose.angle * along);
    let (along, about) = (0..dim, about(dim));
    let of = |vector: [f64; 3], range: &Range<usize>| vector[range.clone()].to_vec();
    Ok((is_free, of(pose.by, &along), of(angle, &about), of(rate.velocity, &along), of(rate.rotation, &about)))
}

/// The force of the fluid on a solid in the next step, and the torque.
pub fn load(flow: &mut Simulation, case: &Case, number: usize) -> Result<(Vec<f64>, Vec<f64>)> {
    let (exchanges, dim) = (flow.exchanges()?, flow.grid().dim());
    let own = &exchanges[entries(case, number)];
    let force = (0..dim).map(|axis| own.iter().map(|exchange| exchange.force[axis]).sum()).collect();
    let torque = about(dim).map(|axis| own.iter().map(|exchange| exchange.torque[axis]).sum()).collect();
    Ok((force, torque))
}

/// A change of a body; vectors must have the right number of finite components.
pub fn change(
    dim: usize,
    displacement: Option<Vec<f64>>,
    velocity: Option<Vec<f64>>,
    angular_velocity: Option<Vec<f64>>,
    force: Option<Vec<f64>>,
    torque: Option<Vec<f64>>,
) -> Result<Change> {
    let along = |name: &str, given| vector(name, given, 0..dim);
    let around = |name: &str, given| vector(name, given, about(dim));
    let impulse = Impulse {
        force: along("the force", force)?.unwrap_or_default(),
        torque: around("the torque", torque)?.unwrap_or_default(),
    };
    Ok(Change {
        by: along("the displacement", displacement)?,
        velocity: along("the velocity", velocity)?,
        rotation: around("the angular velocity", angular_velocity)?,
        impulse,
    })
}

/// A vector with its components at their axes.
fn vector(name: &str, given: Option<Vec<f64>>, axes: Range<usize>) -> Result<Option<[f64; 3]>> {
    let Some(given) = given else { return Ok(None) };
    if given.len() != axes.len() {
        let help = match axes.len() {
            1 => "it is a number: in two dimensions solids turn in the plane".to_string(),
            count => format!("it has {count} components"),
        };
        return Err(miette!(code = "L0703", help = help, "{name} of a body has {} components", given.len()));
    }
    if !given.iter().all(|value| value.is_finite()) {
        return Err(miette!(code = "L0704", "{name} of a body has values that are not finite"));
    }
    let mut all = [0.0; 3];
    all[axes].copy_from_slice(&given);
    Ok(Some(all))
}
