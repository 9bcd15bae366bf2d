//! Where linear stability ends.

use lbm_bundle::digits_of;
use lbm_dsl::model::Model;
use lbm_dsl::prove::moments::{self, Stored};
use lbm_dsl::prove::stability::{self, Limit, Mode};
use lbm_dsl::prove::{NotLinear, edge, noise};
use lbm_flows::case::Case;
use lbm_flows::output::chart;
use miette::{Result, miette};
use rayon::prelude::*;
use serde::Serialize;

use crate::params;
use crate::rates::Rates;

/// What was found about it.
#[derive(Serialize)]
pub struct Stability {
    /// Number of wave vectors, multiples of 2 pi over `cells` along each axis.
    pub waves: usize,
    /// Cells along each axis of the box that the waves fit into.
    pub cells: usize,
    /// What grows most on a uniform flow of the given velocity, for each value of the rate.
    pub at_velocity: Vec<AtVelocity>,
    /// The unit vector along which velocities rise.
    pub direction: Vec<f64>,
    /// Where stability ends along it, for each value of the rate.
    pub limits: Vec<AtRate>,
}

/// What grows most on a uniform flow.
#[derive(Serialize)]
pub struct AtVelocity {
    /// The value of the parameter that varies.
    pub rate: f64,
    /// Velocity of the flow, in cells per step.
    pub velocity: Vec<f64>,
    /// Whether nothing grows.
    pub stable: bool,
    /// What grows most.
    pub worst: Wave,
    /// Growth at refinement interfaces and open faces, of the logarithm in a step; a run warns of it (C0509).
    pub interface_growth: f64,
}

/// Where stability ends for one value of the rate.
#[derive(Serialize)]
pub struct AtRate {
    /// The value of the parameter that varies.
    pub rate: f64,
    /// Largest velocity up to which nothing grows, in cells per step; nothing where a wave grows at rest.
    pub stable_to: Option<f64>,
    /// What grows most beyond it.
    pub beyond: Wave,
    /// With moments stored in 16 bits, the noise of the velocity over the velocity, at [`SPEED`] along the direction; nothing for methods that need all
    /// moments, or where something grows.
    pub noise_in_16_bits: Option<f64>,
}

/// The velocity whose noise in 16 bits is told, in cells per step.
pub const SPEED: f64 = 0.05;

/// A wave vector in radians per cell, and the growth of its amplitude's logarithm in a step.
#[derive(Serialize)]
pub struct Wave {
    /// The wave vector.
    pub wave: Vec<f64>,
    /// The growth.
    pub growth: f64,
}

impl From<&Mode> for Wave {
    fn from(mode: &Mode) -> Wave {
        Wave { wave: mode.wave.clone(), growth: mode.growth }
    }
}

/// Tries waves on uniform flows.
pub fn find(model: &Model, rates: &Rates, velocity: Option<&[f64]>) -> Result<Stability> {
    let dim = model.lattice().dim();
    let direction = direction(velocity, dim)?;
    let at_velocity = match velocity {
        None => vec![],
        Some(velocity) => each(rates, |params| {
            Ok((stability::worst(model, params, velocity)?, edge::growth(model, params, velocity)?))
        })?
        .iter()
        .map(|(rate, (mode, interface_growth))| AtVelocity {
            rate: *rate,
            velocity: velocity.to_vec(),
            stable: !mode.grows(),
            worst: mode.into(),
            interface_growth: *interface_growth,
        })
        .collect(),
    };
    // Noise of what neighbours show is not followed.
    let stored = moments::stored(model).ok().filter(|_| !model.is_among_alike());
    let of_rate = |params: &[Vec<f64>]| {
        let noise = stored.as_ref().map(|stored| noise_in_16_bits(model, stored, params, &direction)).transpose()?;
        Ok((stability::limit(model, params, &direction)?, noise.filter(|noise| noise.is_finite())))
    };
    let limits = each(rates, of_rate)?
        .iter()
        .map(|(rate, (Limit { stable, beyond }, noise))| AtRate {
            rate: *rate,
            stable_to: *stable,
            beyond: beyond.into(),
            noise_in_16_bits: *noise,
        })
        .collect();
    Ok(Stability {
        waves: stability::waves(dim).len(),
        cells: stability::box_size(dim),
        at_velocity,
        direction,
        limits,
    })
}

/// The noise of the velocity over the velocity, in a uniform flow whose moments are stored in 16 bits: each is rounded up or down by chance, so its error
/// in a step has a quarter of the square of its last digit as variance at most, and the last of `digits` is `2^(1 - digits)` of it at most.
fn noise_in_16_bits(model: &Model, stored: &Stored, params: &[Vec<f64>], direction: &[f64]) -> Result<f64, NotLinear> {
    let lent = lbm_bundle::lent(stored.moments.iter().map(|moment| moment.name.as_str()));
    let variance = |at: usize, value: f64| (value * 0.5f64.powi(digits_of(&lent, at) as i32 - 1)).powi(2) / 4.0;
    let velocity: Vec<f64> = direction.iter().map(|along| along * SPEED).collect();
    Ok(noise::of_velocity(model, stored, params, &velocity, variance)? / SPEED)
}

/// Where the linearised collision of a case amplifies waves of a uniform stream of its velocity, with its rates on the coarsest level: that, in a
/// sentence. Nothing is known of methods without derivative, and of those whose cells have states.
pub fn beyond(model: &Model, case: &Case) -> Option<String> {
    let model = &*model.frozen();
    let params = params::of_case(model, case)?;
    let velocity: Vec<f64> = (0..case.dim).map(|axis| if axis == 0 { case.scales.velocity } else { 0.0 }).collect();
    let worst = stability::worst(model, &params, &velocity).ok().filter(Mode::grows)?;
    let spec = &case.spec;
    Some(format!(
        "with these rates a uniform stream of {:.3} cells per step is beyond the limit of the collision, whatever the grid is (waves grow by {:.1e} a step): \
         lower the velocity in cells per step or raise the viscosity (`lbmc check {spec} --stability` has the limit)",
        case.scales.velocity, worst.growth
    ))
}

/// A picture (PNG) of the largest stable velocity over the rate.
pub fn draw(model: &Model, rates: &Rates, found: &Stability) -> Result<Vec<u8>> {
    let Some(name) = &rates.name else {
        return Err(miette!(
            code = "L0204",
            help = "leave one --set out, and that parameter varies",
            "every parameter is set, so there is nothing to plot over"
        ));
    };
    let points: Vec<(f64, f64)> =
        found.limits.iter().map(|limit| (limit.rate, limit.stable_to.unwrap_or(0.0))).collect();
    let title = format!("{}: linear stability", model.name());
    let curve = format!("stable below, along {}", vector(&found.direction));
    Ok(chart::curve(&title, name, "|u|, cells per step", &curve, &points))
}

/// For each value of the rate, all at once.
fn each<T: Send>(rates: &Rates, find: impl Fn(&[Vec<f64>]) -> Result<T, NotLinear> + Sync) -> Result<Vec<(f64, T)>> {
    let found: Result<Vec<(f64, T)>, NotLinear> =
        rates.values().par_iter().map(|value| Ok((*value, find(&rates.params(*value))?))).collect();
    found.map_err(|why| {
        miette!(
            code = "L0202",
            help = "run a flow with a known solution to test the stability of the method",
            "linear stability cannot be computed: {why}"
        )
    })
}

/// The unit vector along the velocity; along x unless one is given.
fn direction(velocity: Option<&[f64]>, dim: usize) -> Result<Vec<f64>> {
    let Some(velocity) = velocity else {
        return Ok((0..dim).map(|axis| if axis == 0 { 1.0 } else { 0.0 }).collect());
    };
    let speed = velocity.iter().map(|u| u * u).sum::<f64>().sqrt();
    if velocity.len() != dim || !speed.is_finite() || speed == 0.0 {
        return Err(miette!(
            code = "L0203",
            help = format!("for example --velocity {}", ["0.1", "0", "0"][..dim].join(",")),
            "the mean velocity needs {dim} numbers that are not all zero"
        ));
    }
    Ok(velocity.iter().map(|u| u / speed).collect())
}

/// `(0.1, 0)`, to three decimals.
pub fn vector(components: &[f64]) -> String {
    let rounded = |value: &f64| ((value * 1000.0).round() / 1000.0).to_string();
    format!("({})", components.iter().map(rounded).collect::<Vec<_>>().join(", "))
}
