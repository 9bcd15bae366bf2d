//! Where boundary conditions put the wall.

use std::collections::BTreeMap;

use lbm_dsl::model::{Boundary, Model};
use lbm_dsl::prove::channel::{self, NoWall, Wall};
use serde::Serialize;

use crate::rates::Rates;

/// Distances that differ by less are the same.
pub const SAME: f64 = 1e-6;

/// Where a rule puts the wall.
#[derive(Serialize)]
pub struct Place {
    /// The rule.
    pub rule: String,
    /// Its own numbers.
    pub parameters: BTreeMap<String, f64>,
    /// Least and largest distance of the wall behind the centre of the last cell, for linear profiles and several rates; nothing
    /// for a rule without such a wall.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub distance: Option<[f64; 2]>,
    /// Order of the wall's place for parabolic profiles; nothing where they are exact.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub order: Option<f64>,
    /// In words.
    pub text: String,
}

/// Finds where every rule puts the wall.
pub fn places(model: &Model, rates: &Rates) -> Vec<Place> {
    let all = model.boundaries().iter().flat_map(|rule| channel::choices(rule).into_iter().map(move |own| (rule, own)));
    all.map(|(rule, own)| place(model, rule, rates, &own)).collect()
}

/// Where a rule puts the wall whose own numbers are given.
fn place(model: &Model, rule: &Boundary, rates: &Rates, own: &[Option<f64>]) -> Place {
    let given = rule.params.iter().zip(own).filter_map(|(param, value)| Some((param.name.clone(), (*value)?)));
    let parameters = given.collect();
    let (distance, order, text) = match wall(model, rule, rates, own) {
        Ok((distance, order, text)) => (Some(distance), order, text),
        Err(text) => (None, None, text),
    };
    Place { rule: rule.name.clone(), parameters, distance, order, text }
}

/// Distance and order of the wall, and both in words; or why it has none.
fn wall(
    model: &Model,
    rule: &Boundary,
    rates: &Rates,
    own: &[Option<f64>],
) -> Result<([f64; 2], Option<f64>, String), String> {
    let mut found: Vec<(f64, Wall)> = Vec::new();
    for value in rates.few() {
        match channel::wall(model, rule, &rates.params(value), own) {
            Ok(wall) => found.push((value, wall)),
            Err(NoWall::OtherMeaning) => {
                let others = rule.params.iter().filter(|param| param.name != "velocity");
                let others: Vec<String> = others.map(|param| format!("`{}`", param.name)).collect();
                let others = others.join(" and ");
                return Err(format!("no wall: it is given {others}, for an inlet, an outlet or a source"));
            }
            Err(NoWall::Slips) => return Err("no wall position: the fluid slips along it".into()),
            Err(NoWall::LongVelocities) => {
                return Err("wall position unknown: some velocities of the lattice reach beyond the next cell".into());
            }
            Err(NoWall::NotLinear(why)) => return Err(format!("wall position unknown: {why}")),
        }
    }
    let places = || found.iter().map(|(_, wall)| wall.linear);
    let (low, high) = (places().fold(f64::MAX, f64::min), places().fold(f64::MIN, f64::max));
    let linear = match high - low < SAME {
        true => format!("wall {} of a cell outside the outermost cell centres for linear profiles", fraction(low)),
        false => format!("wall {low:.3} to {high:.3} cells outside the outermost cell centres, depending on the rate"),
    };
    let parabolic: Vec<String> = found
        .iter()
        .map(|(value, wall)| match (wall.order(), rates.at(*value)) {
            (None, at) => format!("exact{at}"),
            (Some(_), at) => format!("{:+.3} / n cells{at}", wall.defect()),
        })
        .collect();
    let order = found.iter().filter_map(|(_, wall)| wall.order()).reduce(f64::min);
    let parabolic = match order {
        None => "exact for parabolic ones".into(),
        Some(order) => format!(
            "order {order:.1} for parabolic ones: in a channel of n cells the wall is off by {}",
            parabolic.join(", ")
        ),
    };
    let text = format!("{linear}; {parabolic}");
    Ok(([low, high], order, text))
}

/// A distance as a simple fraction, if it is one.
fn fraction(value: f64) -> String {
    for (text, fraction) in [("0", 0.0), ("1/4", 0.25), ("1/2", 0.5), ("3/4", 0.75), ("1", 1.0)] {
        if (value - fraction).abs() < SAME {
            return text.into();
        }
    }
    format!("{value:.3}")
}
