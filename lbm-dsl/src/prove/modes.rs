//! Discrete modes of a method near a uniform flow: what a step multiplies by a number and leaves as it is otherwise.
//!
//! A disturbance of the populations after a collision with the wave vector k is multiplied in a step by `J A(k)`: streaming turns
//! population `i` by `exp(-i k.c_i)`, and `J` is the derivative of the collision at the flow. An eigenvector is a disturbance of the
//! method itself, to all orders of k, so what comes of it elsewhere than where it was put is not an error of how the flow was started.

use nalgebra::{Complex, DMatrix, DVector};

use crate::model::Model;
use crate::prove::linear::{self, Linear, NotLinear};

/// Largest change of a vector of norm one that counts as none.
const SETTLED: f64 = 1e-12;
/// Most iterations for a vector.
const ITERATIONS: usize = 60;

/// A method near a uniform flow of density 1.
pub struct Modes {
    velocities: Vec<Vec<i32>>,
    equilibrium: Vec<f64>,
    collision: Linear,
}

impl Modes {
    /// `params[param][component]`; velocity in cells per step.
    pub fn new(model: &Model, params: &[Vec<f64>], velocity: &[f64]) -> Result<Self, NotLinear> {
        Ok(Self {
            velocities: model.pops().map(|(_, set, dir)| set.lattice.velocity(dir).to_vec()).collect(),
            equilibrium: linear::equilibrium(model, params, velocity)?,
            collision: linear::collision(model, params, velocity)?,
        })
    }

    /// The populations of the uniform flow.
    pub fn equilibrium(&self) -> &[f64] {
        &self.equilibrium
    }

    /// The mode of a wave vector, in radians per cell, whose factor in a step is nearest to `near` (real and imaginary part): its
    /// populations after a collision, up to a factor. None if two are as near.
    pub fn nearest(&self, wave: &[f64], near: [f64; 2]) -> Option<Vec<[f64; 2]>> {
        let q = self.velocities.len();
        let turn = |velocity: &Vec<i32>| {
            let phase: f64 = velocity.iter().zip(wave).map(|(c, k)| f64::from(*c) * k).sum();
            Complex::from_polar(1.0, -phase)
        };
        let turns: Vec<Complex<f64>> = self.velocities.iter().map(turn).collect();
        let near = Complex::new(near[0], near[1]);
        let collision = self.collision.of_wave(wave);
        let shifted = DMatrix::from_fn(q, q, |i, j| {
            let step = turns[j] * collision[(i, j)];
            if i == j { step - near } else { step }
        });
        // Inverse iteration: each solution resembles the mode more than the one before it.
        let solver = shifted.lu();
        let mut mode = DVector::from_fn(q, |i, _| Complex::new(1.0 + (i * 7 % 11) as f64, (i * 5 % 3) as f64));
        for _ in 0..ITERATIONS {
            let next = solver.solve(&mode)?;
            // Turned as the one before it, so that it is the same vector once it has settled.
            let turned = next.dotc(&mode);
            let next = &next * (turned / (turned.norm() * next.norm()));
            let change = (&next - &mode).norm();
            mode = next;
            if change < SETTLED {
                return Some(mode.iter().map(|value| [value.re, value.im]).collect());
            }
        }
        None
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::shipped;
    use crate::source::Source;

    /// A step turns a mode by one number: for a shear wave in a stream along it, by the Galilean phase and the viscous decay.
    #[test]
    fn a_step_multiplies_a_shear_mode_by_its_decay() {
        let text = shipped::spec("d2q9_bgk").unwrap();
        let model = crate::fixture::compile(&Source::new("x", text), &shipped::Prelude).unwrap();
        let (omega, u, k) = (1.9_f64, 0.0577_f64, 0.1_f64);
        let modes = Modes::new(&model, &[vec![omega]], &[u, 0.0]).unwrap();
        let decay = (-(1.0 / omega - 0.5) / 3.0 * k * k).exp();
        let near = [decay * (k * u).cos(), -decay * (k * u).sin()];
        let mode = modes.nearest(&[k, 0.0], near).unwrap();
        let momentum = |axis: usize| -> [f64; 2] {
            let parts = modes.velocities.iter().zip(&mode);
            parts.fold([0.0; 2], |sum, (c, f)| [sum[0] + f64::from(c[axis]) * f[0], sum[1] + f64::from(c[axis]) * f[1]])
        };
        let size = |value: [f64; 2]| value[0].hypot(value[1]);
        assert!(size(momentum(0)) < 1e-9 * size(momentum(1)), "{:?} {:?}", momentum(0), momentum(1));
        let turned: Vec<Complex<f64>> = modes
            .velocities
            .iter()
            .zip(&mode)
            .map(|(c, f)| Complex::new(f[0], f[1]) * Complex::from_polar(1.0, -k * f64::from(c[0])))
            .collect();
        let after = |i: usize| -> Complex<f64> { (0..9).map(|j| turned[j] * modes.collision.own[(i, j)]).sum() };
        // Some populations take no part in it.
        let largest = (0..9).max_by(|a, b| size(mode[*a]).total_cmp(&size(mode[*b]))).unwrap();
        let factor = after(largest) / Complex::new(mode[largest][0], mode[largest][1]);
        for (i, f) in mode.iter().enumerate() {
            let due = factor * Complex::new(f[0], f[1]);
            assert!((after(i) - due).norm() < 1e-12, "population {i}");
        }
        assert!((factor - Complex::new(near[0], near[1])).norm() < 1e-5, "{factor}");
    }
}
