//! Errors of stored moments, of a step after the other, and what becomes of them: the noise of the velocity in a uniform flow.
//!
//! With moments `m = M f` stored of a cell after a collision, a disturbance with the wave vector k becomes `B m` in a step,
//! `B = M J A(k) G`: `G` gives populations from moments, `A(k)` streams them, and `J` is the derivative of the collision
//! ([`stability`](super::stability)). Errors of the moments that are independent of each other, of cells and of steps, with variances `D`, come to
//! the covariance `S = B S B* + D` of each wave. Its mean over the waves of a periodic box is that of a cell. Waves that nothing damps are left out:
//! the one of length infinity, as momentum in all goes nowhere, and momenta that change their sign from cell to cell, of which there are a
//! few in a box of any size. In them errors go on adding up, as steps of a random walk.

use std::f64::consts::PI;

use nalgebra::{Complex, DMatrix};

use crate::expr::Symbol;
use crate::model::Model;
use crate::prove::linear::{self, Dual, NotLinear};
use crate::prove::moments::Stored;
use crate::prove::stability::box_size;

/// Doublings of the number of steps whose errors are added up: a wave in which they still grow by then is one that nothing damps.
const DOUBLINGS: usize = 40;

/// The root of the mean square of the velocity's error, in cells per step, in a uniform flow of density 1 in the box of the wave vectors. `variance` says
/// that of the error of a moment in a step, by its number and its difference from rest; `params[param][component]`. Infinite where a disturbance grows.
pub fn of_velocity(
    model: &Model,
    stored: &Stored,
    params: &[Vec<f64>],
    velocity: &[f64],
    variance: impl Fn(usize, f64) -> f64,
) -> Result<f64, NotLinear> {
    let (dim, count) = (velocity.len(), stored.moments.len());
    let rest = linear::equilibrium(model, params, &vec![0.0; dim])?;
    let state = linear::equilibrium(model, params, velocity)?;
    let shares: Vec<Vec<f64>> = stored.moments.iter().map(|moment| moment.share_values()).collect();
    let of = |shares: &[f64], values: &[f64]| std::iter::zip(shares, values).map(|(share, value)| share * value).sum();
    let moments: Vec<f64> = shares.iter().map(|shares| of(shares, &state)).collect();
    let at_rest = shares.iter().map(|shares| -> f64 { of(shares, &rest) });
    let errors: Vec<f64> =
        std::iter::zip(&moments, at_rest).enumerate().map(|(at, (value, rest))| variance(at, value - rest)).collect();
    let collision = linear::collision(model, params, velocity)?;
    let given = linear::derivatives(&stored.exprs, &stored.populations.outputs, count, |symbol| match symbol {
        Symbol::Moment(at) => Dual::variable(moments[usize::from(at)], at.into(), count),
        Symbol::Param { param, component } => Dual::constant(params[usize::from(param)][usize::from(component)]),
        _ => Dual::constant(0.0),
    })?;
    let taken = DMatrix::from_fn(count, state.len(), |row, pop| shares[row][pop]) * collision.own;
    let momenta: Vec<usize> = (0..count).filter(|at| stored.moments[*at].is_momentum()).collect();
    let cells = box_size(dim) as i64;
    let all = cells.pow(dim as u32);
    let mut sum = 0.0;
    for wave in 1..all {
        let k: Vec<f64> =
            (0..dim as u32).map(|axis| 2.0 * PI * (wave / cells.pow(axis) % cells) as f64 / cells as f64).collect();
        let turn =
            |c: &[i32]| Complex::from_polar(1.0, -std::iter::zip(c, &k).map(|(c, k)| f64::from(*c) * k).sum::<f64>());
        let turns: Vec<Complex<f64>> = model.pops().map(|(_, set, dir)| turn(set.lattice.velocity(dir))).collect();
        let streamed = DMatrix::from_fn(state.len(), count, |pop, at| turns[pop] * given[(pop, at)]);
        let mut step = taken.map(Complex::from) * streamed;
        let mut found =
            DMatrix::from_fn(count, count, |row, column| Complex::from(if row == column { errors[row] } else { 0.0 }));
        let mut is_damped = false;
        for _ in 0..DOUBLINGS {
            let more = &step * &found * step.adjoint();
            let size = more.norm();
            if !size.is_finite() {
                return Ok(f64::INFINITY);
            }
            found += more;
            is_damped = size <= f64::EPSILON * found.norm();
            if is_damped {
                break;
            }
            step = &step * &step;
        }
        if is_damped {
            sum += momenta.iter().map(|at| found[(*at, *at)].re).sum::<f64>();
        }
    }
    Ok((sum / all as f64).sqrt())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::prove::moments::stored;
    use crate::shipped;
    use crate::source::Source;

    /// At rest errors of momenta live until viscosity has taken them away: those of shear waves `1 / (2 nu k^2)` steps. Of long waves it is all; the
    /// others are added up one step after the other.
    #[test]
    fn errors_of_momenta_are_added_up_until_viscosity_takes_them_away() {
        let source = Source::new("d2q9_recursive", shipped::spec("d2q9_recursive").unwrap());
        let model = crate::fixture::compile(&source, &shipped::Prelude).unwrap();
        let stored = stored(&model).unwrap();
        let is_momentum: Vec<bool> = stored.moments.iter().map(|moment| moment.is_momentum()).collect();
        let noise = |omega: f64, of_momenta: f64, of_others: f64| {
            let variance = |at: usize, _| if is_momentum[at] { of_momenta } else { of_others };
            of_velocity(&model, &stored, &[vec![omega]], &[0.0, 0.0], variance).unwrap()
        };
        let at = |omega: f64| noise(omega, 1.0, 0.0).powi(2);
        // A quarter of the viscosity, nearly four times the variance: sound and waves of a few cells are damped otherwise.
        let (thick, thin) = (1.0 / (0.5 + 3.0 * 0.04), 1.0 / (0.5 + 3.0 * 0.01));
        let ratio = at(thin) / at(thick);
        assert!((2.5..4.0).contains(&ratio), "{ratio}");
        // Errors of stresses are gone sooner.
        assert!(noise(thin, 0.0, 1.0) < 0.6 * noise(thin, 1.0, 0.0));
        // They are added: variances of errors that are independent.
        let both = noise(thin, 1.0, 1.0).powi(2);
        assert!((both - noise(thin, 0.0, 1.0).powi(2) - at(thin)).abs() < 1e-9 * both);
    }
}
