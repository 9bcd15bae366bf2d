//! Linear stability where a uniform stream ends: at a refinement interface or an open face.
//!
//! Waves of a uniform grid (`stability`) may be stable because what one population gains another returns. Where populations do
//! not come back as they left, that balance is gone: populations that enter from another level or through an open face know
//! little of the disturbances beside it. So here nothing is disturbed in what enters: a column of cells along the stream, both
//! ends open, periodic across. What grows in it grows at any such edge (Gustafsson, Kreiss & Sundstrom, Math. Comput. 26 (1972)
//! 649, for difference schemes).
//!
//! A collision that amplifies no disturbance, measured by the sum of `f_i^2 / feq_i`, is stable here and on every grid: streaming
//! moves what is in that sum, packets share it out, means make it smaller. `docs/couplings.md` has this for two rates.

use std::f64::consts::PI;

use nalgebra::DMatrix;

use crate::model::Model;
use crate::prove::linear::{self, Linear, NotLinear};

/// Cells of the column.
const CELLS: usize = 16;
/// Steps before the growth is measured, and steps over which it is.
const STEPS: i32 = 200;
/// Growth in a step, of the logarithm, from which on a disturbance counts as growing: it is found to about a part in `STEPS`.
pub const GROWS: f64 = 0.005;

/// Growth rate of the disturbance that grows most at the ends of a uniform stream: its amplitude grows by `exp(growth)` in a
/// step. `params[param][component]`; velocity in cells per step.
pub fn growth(model: &Model, params: &[Vec<f64>], velocity: &[f64]) -> Result<f64, NotLinear> {
    let collision = linear::collision(model, params, velocity)?;
    let dim = velocity.len();
    let along = (0..dim).fold(0, |most, axis| if velocity[axis].abs() > velocity[most].abs() { axis } else { most });
    // Five waves across the column in the plane, nine in space.
    let across: &[f64] = if dim == 2 { &[0.0, 0.25, 0.5, 0.75, 1.0] } else { &[0.0, 0.5, 1.0] };
    let count = across.len().pow(dim as u32 - 1);
    let wave = |number: usize| -> Vec<f64> {
        let mut rest = number;
        let mut component = |axis| {
            if axis == along {
                return 0.0;
            }
            let share = across[rest % across.len()];
            rest /= across.len();
            PI * share
        };
        (0..dim).map(&mut component).collect()
    };
    Ok((0..count).map(|number| column(model, &collision, along, &wave(number))).fold(f64::NEG_INFINITY, f64::max))
}

/// Growth rate in a column along an axis of what varies across it with a wave vector.
fn column(model: &Model, collision: &Linear, along: usize, wave: &[f64]) -> f64 {
    let velocities: Vec<&[i32]> = model.pops().map(|(_, set, dir)| set.lattice.velocity(dir)).collect();
    let q = velocities.len();
    // Real and imaginary parts, a column for each cell: something that resembles no wave.
    let start = |factor: usize| DMatrix::from_fn(q, CELLS, |i, x| ((i * 7 + x * factor) % 11) as f64 / 11.0 - 0.5);
    let mut state = [start(5), start(3)];
    let mut growth = 0.0;
    for _ in 0..2 {
        let norm = state.iter().map(DMatrix::norm_squared).sum::<f64>().sqrt();
        state.iter_mut().for_each(|part| *part /= norm);
        for _ in 0..STEPS {
            let mut post = [&collision.own * &state[0], &collision.own * &state[1]];
            // Cells beyond the ends show what they show in the undisturbed stream.
            let shown = [&collision.shown * &state[0], &collision.shown * &state[1]];
            for (velocity, by) in &collision.around {
                let (sin, cos) = phase(velocity, wave).sin_cos();
                let read = [by * (&shown[0] * cos - &shown[1] * sin), by * (&shown[0] * sin + &shown[1] * cos)];
                for (x, there) in (0..CELLS).filter_map(|x| Some((x, inside(x, velocity[along])?))) {
                    for (post, read) in post.iter_mut().zip(&read) {
                        let sum = post.column(x) + read.column(there);
                        post.set_column(x, &sum);
                    }
                }
            }
            for (i, velocity) in velocities.iter().enumerate() {
                let (sin, cos) = phase(velocity, wave).sin_cos();
                for x in 0..CELLS {
                    let from = inside(x, -velocity[along]);
                    let (re, im) = from.map_or((0.0, 0.0), |from| (post[0][(i, from)], post[1][(i, from)]));
                    state[0][(i, x)] = cos * re + sin * im;
                    state[1][(i, x)] = cos * im - sin * re;
                }
            }
        }
        let norm = state.iter().map(DMatrix::norm_squared).sum::<f64>().sqrt();
        growth = norm.ln() / f64::from(STEPS);
    }
    growth
}

fn phase(velocity: &[i32], wave: &[f64]) -> f64 {
    velocity.iter().zip(wave).map(|(c, k)| f64::from(*c) * k).sum()
}

/// The cell of the column that lies so far behind another, unless that is beyond an end.
fn inside(x: usize, shift: i32) -> Option<usize> {
    x.checked_add_signed(shift as isize).filter(|there| *there < CELLS)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::shipped;
    use crate::source::Source;

    fn growth_of(text: &str, params: &[f64], velocity: &[f64]) -> f64 {
        let model = crate::fixture::compile(&Source::new("x", text), &shipped::Prelude).unwrap();
        let params: Vec<Vec<f64>> = params.iter().map(|value| vec![*value]).collect();
        growth(&model, &params, velocity).unwrap()
    }

    /// The largest eigenvalue of the same column, found with dense matrices, is 1.0452 at omega 1.98.
    #[test]
    fn two_rates_far_apart_amplify_what_enters() {
        let published = shipped::spec("d2q9_trt").unwrap();
        let found = |omega, u| growth_of(published, &[omega, 0.25], &[u, 0.0]);
        assert!((found(1.98, 0.0577) - 1.0452_f64.ln()).abs() < 1e-3, "{}", found(1.98, 0.0577));
        assert!(found(1.9, 0.0577) < 0.0 && found(1.98, 0.0) < 0.0);
    }

    #[test]
    fn a_bounded_rate_or_one_rate_does_not() {
        let bounded = shipped::spec("d2q9_trt_bounded").unwrap();
        let bgk = shipped::spec("d2q9_bgk").unwrap();
        for omega in [1.9, 1.98, 1.996] {
            for velocity in [[0.0577, 0.0], [0.04, 0.04], [0.0, -0.1]] {
                let found = growth_of(bounded, &[omega, 0.25], &velocity);
                assert!(found < GROWS, "trt at {omega}, {velocity:?}: {found}");
                let found = growth_of(bgk, &[omega], &velocity);
                assert!(found < GROWS, "bgk at {omega}, {velocity:?}: {found}");
            }
        }
    }

    /// Below the velocity from which on the magic number is bounded, the collision is the published one, to the last bit.
    #[test]
    fn a_slow_flow_has_the_published_collision() {
        let collision = |text: &str, speed: f64| {
            let model = crate::fixture::compile(&Source::new("x", text), &shipped::Prelude).unwrap();
            linear::collision(&model, &[vec![1.9], vec![3.0 / 16.0]], &[speed, 0.0]).unwrap().own
        };
        // (1/1.9 - 1/2) / (2 sqrt(3/16)) = 0.0304
        let (published, bounded) = (shipped::spec("d2q9_trt").unwrap(), shipped::spec("d2q9_trt_bounded").unwrap());
        assert_eq!(collision(bounded, 0.03), collision(published, 0.03));
        assert_ne!(collision(bounded, 0.031), collision(published, 0.031));
    }
}
