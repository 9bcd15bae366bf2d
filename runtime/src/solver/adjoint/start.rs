//! Derivatives by the fields that a flow starts with: the transpose of how populations are made of these.
//!
//! Populations of a cell in equilibrium depend on its own fields; the viscous stress, on slopes of the velocity, and so on cells around.

use std::collections::BTreeMap;

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
    /// Derivatives by the components of the method's own fields in all cells of `fields`, from which a flow was set, with the stress of that
    /// viscosity, in units of the coarsest level, if there is one. The flow is as it was.
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
        // As the flow is [started](Simulation::start_with_stress).
        let of_level = |level: usize| shares(&manifest, viscosity * 2f64.powi(level as i32));
        let shares: Vec<_> = (0..flow.grid().levels().len()).map(of_level).collect();
        let first = manifest.main().first as usize;
        self.visit(flow, |cell, weights| {
            let Some(at) = fluid(fields, cell) else { return };
            let of_slope = |a: usize, b: usize| -> f64 {
                let products = weights[first..].iter().zip(&shares[cell.level]);
                cell.width() * products.map(|(weight, share)| weight * share[a][b]).sum::<f64>()
            };
            let rho = density.map_or(1.0, |density| fields.components[density].data[at]);
            let slopes = velocity.gradient(at);
            for (a, slopes) in slopes.iter().enumerate().take(dim) {
                let mut factors = BTreeMap::new();
                velocity.weigh_slope(a, at, rho, &mut factors);
                factors.retain(|other, _| !fields.solid.get(*other).is_some_and(|solid| *solid));
                for (b, slope) in slopes.iter().enumerate().take(dim) {
                    let weight = of_slope(a, b);
                    if let Some(density) = density {
                        by[density][at] += weight * slope;
                    }
                    factors.iter().for_each(|(other, factor)| by[along + b][*other] += weight * factor);
                }
            }
        })
    }
}

/// The position of a cell among those of a snapshot, if it is fluid.
fn fluid(fields: &Snapshot, cell: Cell) -> Option<usize> {
    let (at, own) = fields.domain.contains(cell).then(|| fields.cover(cell)).flatten()?;
    (own == cell && !fields.solid.get(at).is_some_and(|solid| *solid)).then_some(at)
}
