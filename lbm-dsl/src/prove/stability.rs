//! Linear stability of a uniform flow: the largest growth rate over wave vectors (von Neumann).
//!
//! A disturbance of the populations with the wave vector k is multiplied in a step by `A(k) J`: `J` is the derivative of the
//! collision at the flow, and streaming turns population `i` by `exp(-i k.c_i)`. The flow is stable if no eigenvalue is larger
//! than one (Sterling & Chen, J. Comput. Phys. 123 (1996) 196; Lallemand & Luo, Phys. Rev. E 61 (2000) 6546).
//! Of what a collision reads of the cell at a velocity c, the disturbance is `exp(i k.c)` times that of the cell, before the collision as well:
//! `J(k)` is the derivative by the populations of the cell and, with these factors, by what the others show.
//!
//! Wave vectors are those of a periodic square of 32 cells or a periodic cube of 10; as populations are real, one of k and -k
//! is enough. What is unstable only between them or at longer waves is not seen.

use std::f64::consts::PI;

use nalgebra::{Complex, DMatrix, Schur};

use crate::model::Model;
use crate::prove::linear::{self, Linear, NotLinear};

/// Growth in a step, of the logarithm, that counts as rounding.
const ROUNDING: f64 = 1e-7;
/// Steps of the mean velocity: the coarse one, and how often it is halved.
const STEP: f64 = 0.08;
const HALVINGS: i32 = 3;
/// What counts as zero in the iteration for eigenvalues, relative to what is beside it; where that does not end, more does.
const SMALL: [f64; 3] = [f64::EPSILON, 1e-13, 1e-11];
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

/// Whether no disturbance of a uniform flow grows.
pub(super) fn is_stable(model: &Model, params: &[Vec<f64>], velocity: &[f64]) -> Result<bool, NotLinear> {
    let collision = match linear::collision(model, params, velocity) {
        // A flow that collisions do not keep is not stable.
        Err(NotLinear::NotSteady | NotLinear::Undefined) if velocity.iter().any(|u| *u != 0.0) => return Ok(false),
        other => other?,
    };
    let waves = waves(model.lattice().dim());
    Ok(waves.iter().all(|wave| growth(model, &collision, wave) <= ROUNDING))
}

/// Growth rate of the fastest disturbance with that wave vector.
fn growth(model: &Model, collision: &Linear, wave: &[f64]) -> f64 {
    // An iteration that does not end says nothing for stability.
    let factors = factors(model, collision, wave);
    factors.map_or(f64::INFINITY, |values| values.iter().map(|value| value.norm()).fold(0.0, f64::max).ln())
}

/// What a step multiplies the disturbances with that wave vector by, if it is found.
fn factors(model: &Model, collision: &Linear, wave: &[f64]) -> Option<Vec<Complex<f64>>> {
    let turns: Vec<Complex<f64>> = model
        .pops()
        .map(|(_, set, dir)| {
            let phase: f64 = set.lattice.velocity(dir).iter().zip(wave).map(|(c, k)| f64::from(*c) * k).sum();
            Complex::from_polar(1.0, -phase)
        })
        .collect();
    let collision = collision.of_wave(wave);
    let step = DMatrix::from_fn(turns.len(), turns.len(), |i, j| turns[i] * collision[(i, j)]);
    let found = SMALL.iter().find_map(|small| Schur::try_new(step.clone(), *small, ITERATIONS));
    found?.eigenvalues().map(|values| values.iter().copied().collect())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::prove::fixture::Run;
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

    /// A wave of shear in a run of a method that reads values of cells around decays as the analysis says, to a millionth; the viscosity alone is off by
    /// some percent, and without what is read of others the rate is another one.
    #[test]
    fn waves_of_methods_that_read_values_of_cells_around_decay_as_in_a_run() {
        const CELLS: usize = 16;
        let k = 2.0 * PI / CELLS as f64;
        for (name, params, settled) in [
            ("d2q9_hybrid", vec![vec![1.7], vec![0.5]], 100),
            ("d3q19_hybrid", vec![vec![1.7], vec![0.5]], 100),
            ("d3q19_wale", vec![vec![1.7], vec![0.5], vec![0.6], vec![0.0; 3], vec![0.0]], 100),
            ("d3q19_vreman", vec![vec![1.7], vec![0.07], vec![0.6], vec![0.0; 3], vec![0.0]], 100),
        ] {
            let model = model(name);
            let frozen = model.frozen();
            let shape: Vec<f64> = (0..CELLS).map(|x| (k * x as f64).sin()).collect();
            let start: Vec<f64> = shape.iter().map(|u| 1e-7 * u).collect();
            let mut run = Run::new(&frozen, &params, None, &start, 0.0);
            let amplitude = |run: &Run| -> f64 { run.velocities().iter().zip(&shape).map(|(u, of)| u * of).sum() };
            run.run(settled);
            let before = amplitude(&run);
            run.run(100);
            let measured = (amplitude(&run) / before).ln() / 100.0;
            let rest = vec![0.0; frozen.lattice().dim()];
            let mut collision = linear::collision(&frozen, &params, &rest).unwrap();
            let mut wave = rest.clone();
            wave[0] = k;
            // Shear goes nowhere, unlike sound.
            let slowest = |collision: &Linear| {
                let factors = factors(&frozen, collision, &wave).unwrap();
                let still = factors.iter().filter(|factor| factor.im.abs() < 1e-9 && factor.re > 0.0);
                still.map(|factor| factor.re.ln()).fold(f64::NEG_INFINITY, f64::max)
            };
            let found = slowest(&collision);
            assert!((found / measured - 1.0).abs() < 1e-6, "{name}: {found}, measured {measured}");
            let viscous = -(1.0 / 1.7 - 0.5) / 3.0 * k * k;
            assert!((0.01..0.1).contains(&(viscous / measured - 1.0).abs()), "{name}: {viscous}, measured {measured}");
            collision.around.clear();
            assert!((slowest(&collision) / measured - 1.0).abs() > 0.1, "{name}");
        }
    }

    /// Fluids of uniform density, whatever they read of the cells around, are stable at rest; a liquid that attracts itself enough falls apart in long
    /// waves, with the density at which it does: where the pressure `rho / 3 + strength psi^2 / 6`, of `psi = 1 - exp(-rho)`, falls as the density rises.
    #[test]
    fn attraction_between_cells_makes_long_waves_grow() {
        let model = model("d2q9_shan_chen");
        let frozen = model.frozen();
        let (psi, slope) = (1.0 - (-1.0_f64).exp(), (-1.0_f64).exp());
        let critical = -1.0 / (psi * slope);
        for (strength, grows) in [(0.95 * critical, false), (1.05 * critical, true)] {
            let found = worst(&frozen, &[vec![1.0], vec![strength]], &[0.0, 0.0]).unwrap();
            assert_eq!(found.grows(), grows, "{strength}: {found:?}");
            assert!(!grows || found.wave.iter().map(|k| k.abs()).sum::<f64>() < 1.0, "{found:?}");
        }
        let field =
            crate::fixture::compile(&Source::new("x", shipped::spec("d2q9_phase_field").unwrap()), &shipped::Prelude)
                .unwrap();
        let params = [1.5, 1.5, 1.5, 10.0, 1e-3, 4.0, 1.0].map(|value| vec![value]);
        let params = [&params[..], &[vec![0.0; 2]]].concat();
        let found = worst(&field.frozen(), &params, &[0.0, 0.0]).unwrap();
        assert!(!found.grows(), "{found:?}");
    }

    #[test]
    fn entropic_collisions_have_no_matrix() {
        for speed in [0.0, 0.02, 0.04, 0.1] {
            let found = linear::collision(&model("d3q27_kbc"), &[vec![1.5]], &[speed, 0.0, 0.0]);
            assert_eq!(found.err(), Some(NotLinear::Rough), "{speed}");
        }
    }
}
