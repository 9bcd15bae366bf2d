//! The viscous stress of an initial velocity field.

use lbm_bundle::Manifest;

use crate::solver::arrays::fields::in_moments;
use crate::solver::decomposition::collect::For;
use crate::solver::error::StepError;
use crate::solver::measure::velocity::Velocity;
use crate::solver::simulation::Simulation;

/// The contribution of the stress to a population, or to a moment stored in place of populations: `-w (tau - 1) / cs2 * (c_a c_b -
/// delta_ab c^2 / dim)`, to be multiplied by the density and contracted with the slopes `du_b/dx_a`.
pub(crate) fn shares(manifest: &Manifest, viscosity: f64) -> Vec<[[f64; 3]; 3]> {
    let (main, dim) = (manifest.main(), manifest.dim as usize);
    let tau = viscosity / main.cs2 + 0.5;
    let share = |direction: &lbm_bundle::Direction| {
        let c = direction.c.map(f64::from);
        let square: f64 = c.iter().map(|c| c * c).sum();
        let factor = -direction.weight_value() * (tau - 1.0) / main.cs2;
        std::array::from_fn(|a| {
            std::array::from_fn(|b| {
                let trace = if a == b && a < dim { square / dim as f64 } else { 0.0 };
                factor * (c[a] * c[b] - trace)
            })
        })
    };
    let of_populations: Vec<[[f64; 3]; 3]> = manifest.directions[main.range()].iter().map(share).collect();
    if manifest.moments.is_empty() {
        return of_populations;
    }
    let mut of_moments = vec![[[0.0; 3]; 3]; manifest.moments.len()];
    for (a, b) in (0..9).map(|at| (at / 3, at % 3)) {
        let of_stress = |pop: usize| of_populations.get(pop).map_or(0.0, |share| share[a][b]);
        let values = in_moments(manifest, of_stress);
        of_moments.iter_mut().zip(values).for_each(|(share, value)| share[a][b] = value);
    }
    of_moments
}

impl Simulation {
    /// Adds the viscous stress of the velocity field to populations that were just initialized, for a fluid of that viscosity (lattice
    /// units of the coarsest level), so that a flow starts without a transient: the first order of the Chapman-Enskog expansion (Skordos,
    /// Phys. Rev. E 48 (1993) 4823), without its trace, after collision as populations are stored. Slopes are those of [`Velocity`]. Does
    /// nothing if the method has no velocity `u`.
    pub fn start_with_stress(&mut self, viscosity: f64) -> Result<(), StepError> {
        let snapshot = self.snapshot_for(For::All)?;
        let Some(velocity) = Velocity::new(&snapshot) else { return Ok(()) };
        let density = snapshot.get("rho");
        let manifest = self.manifest().clone();
        let first = if manifest.moments.is_empty() { manifest.main().first as usize } else { 0 };
        // On a finer level slopes are smaller and the viscosity is larger by the same factor.
        let of_level = |level: usize| shares(&manifest, viscosity * 2f64.powi(level as i32));
        let shares: Vec<_> = (0..self.stepper.levels.len()).map(of_level).collect();
        self.update_cells(|cell, populations| {
            let Some((position, _)) = snapshot.cover(cell) else { return };
            let rho = density.map_or(1.0, |rho| rho[position]) * cell.width();
            let slopes = velocity.gradient(position);
            for (population, share) in populations[first..].iter_mut().zip(&shares[cell.level]) {
                let products = share.iter().flatten().zip(slopes.iter().flatten());
                *population += rho * products.map(|(share, slope)| share * slope).sum::<f64>();
            }
        })
    }
}
