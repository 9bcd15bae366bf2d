//! Where linear stability ends.

use std::f64::consts::PI;
use std::path::Path;

use lbm_dsl::model::Model;
use lbm_dsl::prove::NotLinear;
use lbm_dsl::prove::stability::{self, Limit, Mode};
use lbm_runtime::output::chart;
use miette::{Result, miette};
use rayon::prelude::*;

use crate::files;
use crate::rates::Rates;

/// Prints a line for each value of the rate.
pub fn tell(model: &Model, rates: &Rates, velocity: Option<&[f64]>, plot: Option<&Path>) -> Result<()> {
    let dim = model.lattice().dim();
    let direction = direction(velocity, dim)?;
    let cells = stability::box_size(dim);
    println!("linear stability of uniform flow (von Neumann)");
    println!(
        "  {} wave vectors, multiples of 2 pi/{cells} along each axis; growth of the amplitude's logarithm in a step",
        stability::waves(dim).len()
    );
    if let Some(velocity) = velocity {
        for (value, mode) in each(rates, |params| stability::worst(model, params, velocity))? {
            println!("  u = {}{}: {}", vector(velocity), rates.at(value), verdict(&mode));
        }
    }
    let limits = each(rates, |params| stability::limit(model, params, &direction))?;
    for (value, Limit { stable, beyond }) in &limits {
        let rate = rates.at(*value);
        match stable {
            Some(speed) => println!(
                "  stable for |u| <= {speed:.2} along {}{rate}; beyond, {}",
                vector(&direction),
                verdict(beyond)
            ),
            None => println!("  unstable at rest{rate}: {}", verdict(beyond)),
        }
    }
    if let Some(file) = plot {
        draw(model, rates, &direction, &limits, file)?;
    }
    Ok(())
}

/// Draws the largest stable velocity over the rate.
fn draw(model: &Model, rates: &Rates, direction: &[f64], limits: &[(f64, Limit)], file: &Path) -> Result<()> {
    let Some(name) = &rates.name else {
        return Err(miette!(
            code = "lbmc::plot",
            help = "leave one --set out, and that parameter varies",
            "every parameter is set, so there is nothing to plot over"
        ));
    };
    let points: Vec<(f64, f64)> = limits.iter().map(|(value, limit)| (*value, limit.stable.unwrap_or(0.0))).collect();
    let title = format!("{}: linear stability", model.name());
    let curve = format!("stable below, along {}", vector(direction));
    files::write(file, chart::curve(&title, name, "|u|, cells per step", &curve, &points))?;
    println!("  drawn in {}", file.display());
    Ok(())
}

/// For each value of the rate, all at once.
fn each<T: Send>(rates: &Rates, find: impl Fn(&[Vec<f64>]) -> Result<T, NotLinear> + Sync) -> Result<Vec<(f64, T)>> {
    let found: Result<Vec<(f64, T)>, NotLinear> =
        rates.values().par_iter().map(|value| Ok((*value, find(&rates.params(*value))?))).collect();
    found.map_err(|why| {
        miette!(
            code = "lbmc::stability",
            help = "a run of a flow with a known answer can still tell how stable the method is",
            "linear stability can't be told: {why}"
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

fn verdict(mode: &Mode) -> String {
    if !mode.grows() {
        return "stable".into();
    }
    let wave: Vec<f64> = mode.wave.iter().map(|k| k / PI).collect();
    format!("waves k = pi {} grow by {:.1e}", vector(&wave), mode.growth)
}

fn vector(components: &[f64]) -> String {
    let rounded = |value: &f64| ((value * 1000.0).round() / 1000.0).to_string();
    format!("({})", components.iter().map(rounded).collect::<Vec<_>>().join(", "))
}
