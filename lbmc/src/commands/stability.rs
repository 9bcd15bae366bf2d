//! Where linear stability ends.

use std::f64::consts::PI;
use std::path::Path;

use lbm_dsl::model::Model;
use lbm_dsl::prove::stability::{self, Limit, Mode};
use lbm_dsl::prove::{NotLinear, edge};
use lbm_flows::output::chart;
use miette::{Result, miette};
use rayon::prelude::*;
use serde::Serialize;

use crate::files;
use crate::rates::Rates;

/// What was found about it.
#[derive(Serialize)]
pub struct Stability {
    /// Number of wave vectors, multiples of 2 pi over `cells` along each axis.
    waves: usize,
    cells: usize,
    /// What grows most on a uniform flow of the given velocity, for each value of the rate.
    at_velocity: Vec<AtVelocity>,
    /// The unit vector along which velocities rise.
    direction: Vec<f64>,
    /// Where stability ends along it, for each value of the rate.
    limits: Vec<AtRate>,
}

#[derive(Serialize)]
struct AtVelocity {
    rate: f64,
    velocity: Vec<f64>,
    stable: bool,
    worst: Wave,
    /// Growth at refinement interfaces, of the logarithm in a step; a run warns of it (C0509).
    interface_growth: f64,
}

#[derive(Serialize)]
struct AtRate {
    rate: f64,
    /// Largest velocity up to which nothing grows, in cells per step; nothing where a wave grows at rest.
    stable_to: Option<f64>,
    /// What grows most beyond it.
    beyond: Wave,
}

/// A wave vector in radians per cell, and the growth of its amplitude's logarithm in a step.
#[derive(Serialize)]
struct Wave {
    wave: Vec<f64>,
    growth: f64,
}

impl From<&Mode> for Wave {
    fn from(mode: &Mode) -> Wave {
        Wave { wave: mode.wave.clone(), growth: mode.growth }
    }
}

impl Wave {
    fn verdict(&self) -> String {
        let wave: Vec<f64> = self.wave.iter().map(|k| k / PI).collect();
        format!("waves k = pi {} grow by {:.1e}", vector(&wave), self.growth)
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
    let limits = each(rates, |params| stability::limit(model, params, &direction))?
        .iter()
        .map(|(rate, Limit { stable, beyond })| AtRate { rate: *rate, stable_to: *stable, beyond: beyond.into() })
        .collect();
    Ok(Stability {
        waves: stability::waves(dim).len(),
        cells: stability::box_size(dim),
        at_velocity,
        direction,
        limits,
    })
}

/// Prints a line for each value of the rate.
pub fn tell(found: &Stability, rates: &Rates) {
    let Stability { waves, cells, at_velocity, direction, limits } = found;
    println!("linear stability of uniform flow (von Neumann)");
    println!(
        "  {waves} wave vectors, multiples of 2 pi/{cells} along each axis; growth of the amplitude's logarithm in a step"
    );
    for AtVelocity { rate, velocity, stable, worst, interface_growth } in at_velocity {
        let mut verdict = if *stable { "stable".into() } else { worst.verdict() };
        if *interface_growth > edge::GROWS {
            verdict += &format!("; disturbances at refinement interfaces grow by {interface_growth:.1e} (C0509)");
        }
        println!("  u = {}{}: {verdict}", vector(velocity), rates.at(*rate));
    }
    for AtRate { rate, stable_to, beyond } in limits {
        let (rate, verdict) = (rates.at(*rate), beyond.verdict());
        match stable_to {
            Some(speed) => {
                println!("  stable for |u| <= {speed:.2} along {}{rate}; beyond, {verdict}", vector(direction))
            }
            None => println!("  unstable at rest{rate}: {verdict}"),
        }
    }
}

/// Draws the largest stable velocity over the rate.
pub fn draw(model: &Model, rates: &Rates, found: &Stability, file: &Path) -> Result<()> {
    let Some(name) = &rates.name else {
        return Err(miette!(
            code = "lbmc::plot",
            help = "leave one --set out, and that parameter varies",
            "every parameter is set, so there is nothing to plot over"
        ));
    };
    let points: Vec<(f64, f64)> =
        found.limits.iter().map(|limit| (limit.rate, limit.stable_to.unwrap_or(0.0))).collect();
    let title = format!("{}: linear stability", model.name());
    let curve = format!("stable below, along {}", vector(&found.direction));
    files::write(file, chart::curve(&title, name, "|u|, cells per step", &curve, &points))
}

/// For each value of the rate, all at once.
fn each<T: Send>(rates: &Rates, find: impl Fn(&[Vec<f64>]) -> Result<T, NotLinear> + Sync) -> Result<Vec<(f64, T)>> {
    let found: Result<Vec<(f64, T)>, NotLinear> =
        rates.values().par_iter().map(|value| Ok((*value, find(&rates.params(*value))?))).collect();
    found.map_err(|why| {
        miette!(
            code = "lbmc::stability",
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
            code = "lbmc::velocity",
            help = format!("for example --velocity {}", ["0.1", "0", "0"][..dim].join(",")),
            "the mean velocity needs {dim} numbers that are not all zero"
        ));
    }
    Ok(velocity.iter().map(|u| u / speed).collect())
}

fn vector(components: &[f64]) -> String {
    let rounded = |value: &f64| ((value * 1000.0).round() / 1000.0).to_string();
    format!("({})", components.iter().map(rounded).collect::<Vec<_>>().join(", "))
}
