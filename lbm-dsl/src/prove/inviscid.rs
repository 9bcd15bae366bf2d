//! Whether a collision is stable with nearly no viscosity, where the grid does not resolve the flow.
//!
//! Two kinds of collisions are:
//!
//! - Those with which a uniform flow is linearly stable, also where it ends ([`stability`](super::stability), [`edge`](super::edge)), at a
//!   velocity beyond which a lattice computes no flow well. One relaxation time, or two, fail below it.
//! - Those whose rates follow the flow: eddy viscosities, entropic collisions, collisions of cumulants. A disturbance that grows changes the
//!   rate at which it does. Of these linear stability says nothing.
//!
//! The second kind is found by its values: a collision whose rates do not follow the flow is linear in what populations have more than in
//! equilibrium, as long as the conserved moments are the same.

use num_traits::ToPrimitive;

use crate::expr::{Rational, Symbol};
use crate::lattice::Dir;
use crate::model::Model;
use crate::prove::edge;
use crate::prove::linear::{self, NotLinear};
use crate::prove::random::Random;
use crate::prove::stability;

/// The velocity of the uniform flow, in cells per step: Mach 0.35 where the square of the speed of sound is 1/3.
const SPEED: f64 = 0.2;
/// How much populations have more than in equilibrium, over their weights.
const EXCESS: f64 = 0.01;
/// What counts as rounding of populations.
const ROUNDING: f64 = 1e-12;

/// Whether it is, with these rates: `params[param][component]`. A vector counts as a force and is left out, because a uniform flow is steady
/// without. States have values in the middle of their ranges.
pub fn is_stable(model: &Model, params: &[Vec<f64>]) -> Result<bool, NotLinear> {
    let model = &*model.frozen();
    let middle =
        |(low, high): &(Rational, Rational)| low.to_f64().zip(high.to_f64()).map(|(low, high)| (low + high) / 2.0);
    let given = model.params.iter().enumerate().map(|(at, param)| match (param.components, params.get(at)) {
        (1, Some(given)) => given.clone(),
        (1, None) => vec![param.range.as_ref().and_then(middle).unwrap_or(0.0)],
        (components, _) => vec![0.0; components],
    });
    let params: Vec<Vec<f64>> = given.collect();
    let velocity: Vec<f64> = (0..model.lattice().dim()).map(|axis| if axis == 0 { SPEED } else { 0.0 }).collect();
    let is_linearly = || -> Result<bool, NotLinear> {
        let uniform = stability::is_stable(model, &params, &velocity)?;
        Ok(uniform && edge::growth(model, &params, &velocity)? <= edge::GROWS)
    };
    Ok(rates_follow(model, &params, &velocity)? || is_linearly()?)
}

/// Whether rates follow the flow: the collision of the sum of two disturbances is not the sum of the collisions of both. With the second one,
/// cells around are disturbed as well.
fn rates_follow(model: &Model, params: &[Vec<f64>], velocity: &[f64]) -> Result<bool, NotLinear> {
    let state = linear::equilibrium(model, params, velocity)?;
    let around = model.around.as_ref();
    let outputs = around.map_or(&model.collide.outputs, |around| &around.collide);
    let symbol = |symbol: Symbol, populations: &[f64]| match symbol {
        Symbol::Population(pop) => populations[pop.index()],
        Symbol::Param { param, component } => params[usize::from(param)][usize::from(component)],
        _ => 0.0,
    };
    let shown = around.map_or(vec![], |around| model.exprs.eval(&around.shown, |of| symbol(of, &state)));
    let mut random = Random::new();
    let (first, second) = (excess(model, &mut random), excess(model, &mut random));
    let mut disturbed = |count: usize| -> Vec<f64> { (0..count).map(|_| EXCESS * share(&mut random)).collect() };
    let others: Vec<Vec<f64>> = shown.iter().map(|_| disturbed(model.lattice().q())).collect();
    let after = |first_share: f64, second_share: f64| -> Vec<f64> {
        let of = |at: usize| state[at] + first_share * first[at] + second_share * second[at];
        let populations: Vec<f64> = (0..state.len()).map(of).collect();
        model.exprs.eval(outputs, |of| match of {
            Symbol::Neighbour { shown: at, dir } => {
                let at = usize::from(at);
                shown[at] + second_share * others[at][dir.index()]
            }
            of => symbol(of, &populations),
        })
    };
    let (none, one, other, both) = (after(0.0, 0.0), after(1.0, 0.0), after(0.0, 1.0), after(1.0, 1.0));
    let more = |at: usize| (both[at] - one[at] - other[at] + none[at]).abs();
    let more: Vec<f64> = (0..none.len()).map(more).collect();
    if more.iter().any(|more| more.is_nan()) {
        return Err(NotLinear::Undefined);
    }
    Ok(more.iter().any(|more| *more > ROUNDING))
}

/// A number from -1 to 1.
fn share(random: &mut Random) -> f64 {
    random.whole(-16, 16) as f64 / 16.0
}

/// What populations have more than in equilibrium: in each set no mass and no momentum.
fn excess(model: &Model, random: &mut Random) -> Vec<f64> {
    let mut all = vec![];
    for set in &model.populations {
        let lattice = &set.lattice;
        let cs2 = lattice.cs2().to_f64().unwrap_or(f64::NAN);
        let weight = |dir: Dir| lattice.weight(dir).to_f64().unwrap_or(f64::NAN);
        let raw: Vec<(Dir, f64)> = lattice.dirs().map(|dir| (dir, EXCESS * weight(dir) * share(random))).collect();
        let mass: f64 = raw.iter().map(|(_, value)| value).sum();
        let momentum = |axis: usize| -> f64 {
            raw.iter().map(|(dir, value)| f64::from(lattice.velocity(*dir)[axis]) * value).sum()
        };
        let momentum: Vec<f64> = (0..lattice.dim()).map(momentum).collect();
        all.extend(raw.iter().map(|(dir, value)| {
            let along: f64 = std::iter::zip(lattice.velocity(*dir), &momentum).map(|(c, j)| f64::from(*c) * j).sum();
            value - weight(*dir) * (mass + along / cs2)
        }));
    }
    all
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::shipped;
    use crate::source::Source;

    fn model(name: &str) -> Model {
        crate::fixture::compile(&Source::new(name, shipped::spec(name).unwrap()), &shipped::Prelude).unwrap()
    }

    /// The first parameter is the rate, the others have these values.
    fn found(model: &Model, omega: f64, others: &[f64]) -> (bool, bool) {
        let mut params = vec![vec![omega]];
        params.extend(others.iter().map(|value| vec![*value]));
        let frozen = model.frozen();
        let mut velocity = vec![0.0; model.lattice().dim()];
        velocity[0] = SPEED;
        let mut all = params.clone();
        all.extend(frozen.params[params.len()..].iter().map(|param| vec![0.0; param.components]));
        (rates_follow(&frozen, &all, &velocity).unwrap(), is_stable(model, &params).unwrap())
    }

    #[test]
    fn rates_of_these_follow_the_flow() {
        for (name, others) in [
            ("d2q9_kbc", &[][..]),
            ("d3q27_kbc", &[]),
            ("d3q27_kbc_n2", &[]),
            ("d3q27_cumulant", &[]),
            ("d3q27_k17", &[0.01]),
            ("d3q19_smagorinsky", &[0.1]),
            ("d3q27_central_smagorinsky", &[0.1]),
            ("d3q19_wale", &[0.5, 0.6]),
            ("d3q19_vreman", &[0.07, 0.6]),
        ] {
            assert_eq!(found(&model(name), 1.9999, others), (true, true), "{name}");
        }
    }

    /// Without its constant an eddy viscosity leaves one relaxation time.
    #[test]
    fn an_eddy_viscosity_of_zero_does_not_count() {
        assert_eq!(found(&model("d3q19_smagorinsky"), 1.99, &[0.0]), (false, false));
    }

    #[test]
    fn these_are_linear_and_stable_close_to_the_limit() {
        for (name, omega, others) in [
            ("d2q9_recursive", 1.995, &[][..]),
            ("d3q19_recursive", 1.995, &[]),
            ("d2q9_central", 1.99, &[]),
            ("d2q9_hybrid", 1.99, &[0.98]),
        ] {
            assert_eq!(found(&model(name), omega, others), (false, true), "{name}");
        }
    }

    #[test]
    fn these_are_unstable_close_to_the_limit() {
        for (name, others) in [
            ("d2q9_bgk", &[][..]),
            ("d3q19_bgk", &[]),
            ("d2q9_guo", &[]),
            ("d3q19_guo", &[]),
            ("d2q9_trt", &[0.25]),
            ("d3q19_regularized", &[]),
            ("d2q9_shan_chen", &[-1.0]),
        ] {
            assert_eq!(found(&model(name), 1.99, others), (false, false), "{name}");
        }
        assert!(is_stable(&model("d2q9_bgk"), &[vec![1.9]]).unwrap());
    }
}
