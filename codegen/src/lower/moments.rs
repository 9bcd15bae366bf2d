//! Kernels of moments that are stored in the place of populations.

use lbm_dsl::expr::{Pop, Rational};
use lbm_dsl::model::Model;
use lbm_dsl::prove::moments::{Moment, Stored};

use super::{lower_in, numbered};
use crate::ir::KernelIr;

/// Moments `post_m` after a collision, from the moments `m_i` before it.
pub fn relax(model: &Model, stored: &Stored) -> KernelIr {
    let (count, first) = (stored.moments.len() as u16, model.q() as u16);
    let outputs = numbered("post", stored.moments.len());
    let kernel = lower_in(model, &stored.exprs, "relax", &stored.relaxed, outputs, &[]);
    kernel.giving((0..count).map(|at| Pop(first + at)))
}

/// Populations `post_p` after a collision, from the moments `m_i` after it.
pub fn populations(model: &Model, stored: &Stored) -> KernelIr {
    let outputs = numbered("post", model.q());
    lower_in(model, &stored.exprs, "populations", &stored.populations, outputs, &[]).giving(model.values())
}

/// Values of the moments at rest, from those of the populations.
pub fn rest(moments: &[Moment], rest: &[Rational]) -> Vec<Rational> {
    let of = |moment: &Moment| moment.shares.iter().zip(rest).map(|(share, rest)| share * rest).sum();
    moments.iter().map(of).collect()
}
