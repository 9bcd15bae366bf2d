//! Linear stability of a uniform flow: the largest growth rate over wave vectors (von Neumann).
//!
//! A disturbance of the populations with the wave vector k is multiplied in a step by `A(k) J`: `J` is the derivative of the
//! collision at the flow, and streaming turns population `i` by `exp(-i k.c_i)`. The flow is stable if no eigenvalue is larger
//! than one (Sterling & Chen, J. Comput. Phys. 123 (1996) 196; Lallemand & Luo, Phys. Rev. E 61 (2000) 6546).
//!
//! Wave vectors are those of a periodic square of 32 cells or a periodic cube of 10; as populations are real, one of k and -k
//! is enough. What is unstable only between them or at longer waves is not seen.

use std::f64::consts::PI;

use nalgebra::{Complex, DMatrix, Schur};

use crate::model::Model;
use crate::prove::linear::{self, NotLinear};

/// Growth in a step, of the logarithm, that counts as rounding.
const ROUNDING: f64 = 1e-7;
/// Steps of the mean velocity: the coarse one, and how often it is halved.
const STEP: f64 = 0.08;
const HALVINGS: i32 = 3;
/// Most steps of the iteration for eigenvalues; it takes about two for each.
const ITERATIONS: usize = 10_000;

/// A disturbance that grows, or decays more slowly than all others.
#[derive(Clone, Debug, PartialEq)]
pub struct Mode {
    /// Wave vector, radians per cell.
    pub wave: Vec<f64>,
    /// Growth rate: the amplitude grows by `exp(growth)` in a step.
    pub growth: f64,
}

impl Mode {
    /// Whether it grows by more than rounding.
    pub fn grows(&self) -> bool {
        self.growth > ROUNDING
    }
}

/// Where stability ends along a direction.
#[derive(Clone, Debug, PartialEq)]
pub struct Limit {
    /// Largest velocity, in hundredths of a cell per step, up to which no disturbance grows; `None` where one grows at rest.
    pub stable: Option<f64>,
    /// What grows most a hundredth beyond it.
    pub beyond: Mode,
}

/// How many cells the periodic box of the wave vectors has along each axis.
pub fn box_size(dim: usize) -> usize {
    if dim == 2 { 32 } else { 10 }
}

/// The wave vectors that are tried.
pub fn waves(dim: usize) -> Vec<Vec<f64>> {
    let n = box_size(dim) as i64;
    let all = (0..n.pow(dim as u32)).map(|at| (0..dim as u32).map(|axis| at / n.pow(axis) % n - n / 2 + 1).collect());
    let half = all.filter(|wave: &Vec<i64>| wave.iter().find(|k| **k != 0).is_some_and(|k| *k > 0));
    half.map(|wave| wave.into_iter().map(|k| 2.0 * PI * k as f64 / n as f64).collect()).collect()
}

/// The disturbance of a uniform flow that grows most. `params[param][component]`; velocity in cells per step.
pub fn worst(model: &Model, params: &[Vec<f64>], velocity: &[f64]) -> Result<Mode, NotLinear> {
    let collision = linear::collision(model, params, velocity)?;
    let modes = waves(model.lattice().dim()).into_iter().map(|wave| {
        let growth = growth(model, &collision, &wave);
        Mode { wave, growth }
    });
    let most = modes.reduce(|most, mode| if mode.growth > most.growth { mode } else { most });
    most.ok_or(NotLinear::Undefined)
}

/// Where stability ends for mean velocities along `direction`, a unit vector: velocities are raised in steps of 0.08 up to
/// the first that is unstable, and the last step is halved three times.
pub fn limit(model: &Model, params: &[Vec<f64>], direction: &[f64]) -> Result<Limit, NotLinear> {
    let along = |speed: f64| direction.iter().map(|component| component * speed).collect::<Vec<f64>>();
    let stable = |speed: f64| is_stable(model, params, &along(speed));
    let mut speed = 0.0;
    if !stable(speed)? {
        return Ok(Limit { stable: None, beyond: worst(model, params, &along(speed))? });
    }
    // No lattice carries a flow faster than its fastest velocity.
    let fastest = model.pops().flat_map(|(_, set, dir)| set.lattice.velocity(dir).to_vec()).max().unwrap_or(1);
    while speed < f64::from(fastest) && stable(speed + STEP)? {
        speed += STEP;
    }
    for halving in 1..=HALVINGS {
        let step = STEP / f64::from(1 << halving);
        if stable(speed + step)? {
            speed += step;
        }
    }
    let step = STEP / f64::from(1 << HALVINGS);
    let hundredths = (speed / step).round() * step;
    Ok(Limit { stable: Some(hundredths), beyond: worst(model, params, &along(hundredths + step))? })
}

fn is_stable(model: &Model, params: &[Vec<f64>], velocity: &[f64]) -> Result<bool, NotLinear> {
    let collision = match linear::collision(model, params, velocity) {
        // A flow that collisions do not keep is not stable.
        Err(NotLinear::NotSteady | NotLinear::Undefined) if velocity.iter().any(|u| *u != 0.0) => return Ok(false),
        other => other?,
    };
    let waves = waves(model.lattice().dim());
    Ok(waves.iter().all(|wave| growth(model, &collision, wave) <= ROUNDING))
}

/// Growth rate of the fastest disturbance with that wave vector.
fn growth(model: &Model, collision: &DMatrix<f64>, wave: &[f64]) -> f64 {
    let turns: Vec<Complex<f64>> = model
        .pops()
        .map(|(_, set, dir)| {
            let phase: f64 = set.lattice.velocity(dir).iter().zip(wave).map(|(c, k)| f64::from(*c) * k).sum();
            Complex::from_polar(1.0, -phase)
        })
        .collect();
    let step = DMatrix::from_fn(turns.len(), turns.len(), |i, j| turns[i] * collision[(i, j)]);
    let values = Schur::try_new(step, f64::EPSILON, ITERATIONS).and_then(|schur| schur.eigenvalues());
    // An iteration that does not end says nothing for stability.
    values.map_or(f64::INFINITY, |values| values.iter().map(|value| value.norm()).fold(0.0, f64::max).ln())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::shipped;
    use crate::source::Source;

    fn model(name: &str) -> Model {
        crate::fixture::compile(&Source::new(name, shipped::spec(name).unwrap()), &shipped::Prelude).unwrap()
    }

    fn stable(name: &str, omega: f64, direction: &[f64]) -> f64 {
        limit(&model(name), &[vec![omega]], direction).unwrap().stable.unwrap()
    }

    #[test]
    fn half_of_the_waves_is_tried() {
        assert_eq!((waves(2).len(), waves(3).len()), (16 * 32 + 16, 5 * 100 + 5 * 10 + 5));
    }

    #[test]
    fn a_long_wave_decays_with_the_viscosity() {
        let model = model("d2q9_bgk");
        let collision = linear::collision(&model, &[vec![1.2]], &[0.0, 0.0]).unwrap();
        let k = 2.0 * PI / 32.0;
        // Shear decays more slowly than sound: nu k^2, up to order k^4.
        let expected = -(1.0 / 1.2 - 0.5) / 3.0 * k * k;
        let found = growth(&model, &collision, &[k, 0.0]);
        assert!((found / expected - 1.0).abs() < 0.01, "{found} {expected}");
    }

    /// Along an axis D2Q9 is D1Q3 for long waves of sound, whose damping vanishes where the fastest of them, u + cs, outruns
    /// the populations: u = 1 - 1/sqrt(3) = 0.4226 for every rate. The limit reaches that plateau for large tau and falls
    /// towards tau = 1/2, monotonically, as Sterling & Chen (1996) found.
    #[test]
    fn bgk_is_limited_by_sound_and_then_by_its_rate() {
        let limits: Vec<f64> =
            [1.0, 1.5, 1.9, 1.99].iter().map(|omega| stable("d2q9_bgk", *omega, &[1.0, 0.0])).collect();
        assert!((limits[0] - 0.42).abs() < 1e-9, "{limits:?}");
        assert!(limits.windows(2).all(|pair| pair[1] <= pair[0]), "{limits:?}");
        assert!(limits[3] < 0.3, "{limits:?}");
    }

    #[test]
    fn entropic_collisions_have_no_matrix() {
        let found = worst(&model("d3q27_kbc"), &[vec![1.5]], &[0.1, 0.0, 0.0]);
        assert_eq!(found, Err(NotLinear::Rough));
    }
}
