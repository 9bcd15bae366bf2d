//! Where boundary rules put the wall.

use lbm_dsl::model::{Boundary, Model};
use lbm_dsl::prove::channel::{self, NoWall, Wall};

use crate::rates::Rates;

/// Distances that differ by less are the same.
pub(super) const SAME: f64 = 1e-6;

/// Prints a line for each rule.
pub fn tell(model: &Model, rates: &Rates) {
    if model.boundaries().is_empty() {
        return;
    }
    let heights = channel::HEIGHTS.map(|height| height.to_string());
    println!("walls, by solving steady channels of {} cells near rest", heights.join(", "));
    for rule in model.boundaries() {
        for own in channel::choices(rule) {
            let given = rule.params.iter().zip(&own).filter_map(|(param, value)| Some((&param.name, (*value)?)));
            let given: String = given.map(|(name, value)| format!(", {name} = {value}")).collect();
            println!("  {}{given}: {}", rule.name, place(model, rule, rates, &own));
        }
    }
}

/// Where a rule puts the wall whose own numbers are given.
fn place(model: &Model, rule: &Boundary, rates: &Rates, own: &[Option<f64>]) -> String {
    let mut found: Vec<(f64, Wall)> = Vec::new();
    for value in rates.few() {
        match channel::wall(model, rule, &rates.params(value), own) {
            Ok(wall) => found.push((value, wall)),
            Err(NoWall::OtherMeaning) => return "passed over: it sets no velocity".into(),
            Err(NoWall::Slips) => return "holds no velocity along the wall".into(),
            Err(NoWall::LongVelocities) => return "passed over: velocities reach beyond the next cell".into(),
            Err(NoWall::NotLinear(why)) => return format!("passed over: {why}"),
        }
    }
    let places = || found.iter().map(|(_, wall)| wall.linear);
    let (low, high) = (places().fold(f64::MAX, f64::min), places().fold(f64::MIN, f64::max));
    let linear = match high - low < SAME {
        true => format!("wall {} of a cell behind the centre of the last, for linear profiles", fraction(low)),
        false => format!("wall {low:.3} to {high:.3} cells behind the centre of the last, depending on the rate"),
    };
    let parabolic: Vec<String> = found
        .iter()
        .map(|(value, wall)| match (wall.order(), rates.at(*value)) {
            (None, at) => format!("exact{at}"),
            (Some(_), at) => format!("{:+.3}/n{at}", wall.defect()),
        })
        .collect();
    let orders = found.iter().filter_map(|(_, wall)| wall.order());
    let order = orders.fold(f64::MAX, f64::min);
    let order = if order < f64::MAX { format!("order {order:.1}") } else { "exact".into() };
    format!("{linear}; {order} for parabolic ones, off by so many cells of n: {}", parabolic.join(", "))
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
