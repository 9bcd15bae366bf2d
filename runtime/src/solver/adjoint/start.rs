//! Derivatives by the fields that a flow starts with: the transpose of how populations are made of these.
//!
//! Populations of a cell in equilibrium depend on its own fields; the viscous stress, on slopes of the velocity, and so on cells around.

use crate::geometry::Cell;
use crate::solver::adjoint::{Adjoint, State};
use crate::solver::error::StepError;
use crate::solver::measure::snapshot::Snapshot;
use crate::solver::measure::velocity::Velocity;
use crate::solver::simulation::Simulation;
use crate::solver::state::stress::shares;

/// By how much fields are changed. Equilibria are polynomials of low order in them, whose central differences of order four are exact.
const WIDTH: f64 = 1e-2;

impl Adjoint {
    /// Derivatives by the components of the method's own fields in all cells of `fields`, from which a flow on one level was set, with the
    /// stress of that viscosity if there is one. The flow is as it was.
    pub fn by_start(
        &mut self,
        flow: &mut Simulation,
        fields: &Snapshot,
        viscosity: Option<f64>,
    ) -> Result<Vec<Vec<f64>>, StepError> {
        let (state, own) = (State::of(flow)?, flow.manifest().own_components());
        let mut weights = vec![];
        self.visit(flow, |_, values| weights.push(values.to_vec()))?;
        let mut by = vec![vec![0.0; fields.components[0].data.len()]; own];
        for (component, by) in by.iter_mut().enumerate() {
            for (steps, factor) in [(1.0, 8.0), (-1.0, -8.0), (2.0, -1.0), (-2.0, 1.0)] {
                let mut changed = fields.clone();
                changed.components[component].data.iter_mut().for_each(|value| *value += steps * WIDTH);
                flow.init_fields(&changed)?;
                let mut next = weights.iter();
                flow.visit_populations(|cell, populations| {
                    let weights = next.next().into_iter().flatten();
                    let sum: f64 = weights.zip(populations).map(|(weight, value)| weight * value).sum();
                    if let Some(at) = fluid(fields, cell) {
                        by[at] += factor * sum / (12.0 * WIDTH);
                    }
                })?;
            }
        }
        state.restore(flow)?;
        if let (Some(viscosity), Some(velocity)) = (viscosity, Velocity::new(fields)) {
            self.add_stress(flow, fields, viscosity, &velocity, &mut by)?;
        }
        Ok(by)
    }

    /// Adds what comes of the viscous stress.
    fn add_stress(
        &mut self,
        flow: &Simulation,
        fields: &Snapshot,
        viscosity: f64,
        velocity: &Velocity<'_>,
        by: &mut [Vec<f64>],
    ) -> Result<(), StepError> {
        let (manifest, dim) = (flow.manifest().clone(), flow.grid().dim());
        let names = manifest.component_names();
        let position = |name: &str| names.iter().position(|known| known == name);
        let (density, along) = (position("rho"), position("ux").unwrap_or_default());
        let (shares, first) = (shares(&manifest, viscosity), manifest.main().first as usize);
        self.visit(flow, |cell, weights| {
            let Some(at) = fluid(fields, cell) else { return };
            let of_slope = |a: usize, b: usize| -> f64 {
                weights[first..].iter().zip(&shares).map(|(weight, share)| weight * share[a][b]).sum()
            };
            let rho = density.map_or(1.0, |density| fields.components[density].data[at]);
            let slopes = velocity.gradient(at);
            for (a, b) in (0..dim * dim).map(|at| (at / dim, at % dim)) {
                let weight = of_slope(a, b);
                if let Some(density) = density {
                    by[density][at] += weight * slopes[a][b];
                }
                for (other, factor) in slope_of(fields, cell, a) {
                    by[along + b][other] += rho * weight * factor;
                }
            }
        })
    }
}

/// The position of a cell among those of a snapshot on one level, if it is fluid.
fn fluid(fields: &Snapshot, cell: Cell) -> Option<usize> {
    let [x, y, z] = cell.at;
    let at = fields.domain.contains(cell).then(|| fields.index(x, y, z))?;
    (!fields.solid.get(at).is_some_and(|solid| *solid)).then_some(at)
}

/// What a slope along an axis is the sum of, as [`Velocity`] has it: positions and factors.
fn slope_of(fields: &Snapshot, cell: Cell, axis: usize) -> Vec<(usize, f64)> {
    let Some(here) = fluid(fields, cell) else { return vec![] };
    let beyond = |high: bool| {
        let next = fields.beside(cell, axis, high)?;
        let third = fields.beside(next, axis, high).and_then(|third| fluid(fields, third));
        Some((fluid(fields, next)?, third))
    };
    let one_sided = |(next, third): (usize, Option<usize>), sign: f64| match third {
        Some(third) => vec![(here, -1.5 * sign), (next, 2.0 * sign), (third, -0.5 * sign)],
        None => vec![(next, sign), (here, -sign)],
    };
    match (beyond(false), beyond(true)) {
        (Some((low, _)), Some((high, _))) => vec![(high, 0.5), (low, -0.5)],
        (None, Some(high)) => one_sided(high, 1.0),
        (Some(low), None) => one_sided(low, -1.0),
        (None, None) => vec![],
    }
}
