//! The table that a suite prints, a line as soon as a row is there.

use super::peers::Peer;
use super::record::{Accuracy, Outcome, Point, Record};

/// The line above the table.
pub fn head() -> String {
    format!(
        "{:<36} {:>12} {:>9} {:>8} {:>9} {:>8} {:>7} {:>8}  {}",
        "", "cells", "MLUPS", "fraction", "us/step", "adapting", "B/cell", "first, s", "beside"
    )
}

/// A row, and whether it was kept.
pub fn line(row: &Record, kept: bool) -> String {
    let name = &row.name;
    let rest = match &row.outcome {
        Outcome::Generation(generation) => {
            format!("{:.3} s, of all processors {:.3} s", generation.seconds, generation.processor_seconds)
        }
        Outcome::NotRepeated { why } => format!("not repeated: {why}"),
        Outcome::Failed { error, .. } => format!("failed: {error}"),
        Outcome::Accuracy(accuracy) => format!("{:>12}", accuracy.points.len()),
        Outcome::Crossing(_) | Outcome::Leaving(_) => String::new(),
        Outcome::Cost(cost) => {
            format!("{:>12} {:>9.1}", cost.size.iter().product::<usize>(), cost.mlups)
        }
        outcome @ (Outcome::Kernel(_) | Outcome::Flow(_)) => {
            let speed = outcome.speed().expect("these have one");
            let adapting = match outcome {
                Outcome::Flow(flow) if flow.adaptations.is_some_and(|all| all.looks > 0) => {
                    format!("{:.1} %", 100.0 * flow.share_adapting)
                }
                _ => "-".to_string(),
            };
            let beside = row.peers.iter().filter_map(|peer| Some(format!("{:.0} {}", peer.mlups?, peer.name)));
            let block = speed.block.iter().map(u32::to_string).collect::<Vec<_>>().join("x");
            let best = if name.ends_with("-best") { vec![format!("best is {block}")] } else { vec![] };
            format!(
                "{:>12} {:>9.1} {:>8.3} {:>9.1} {adapting:>8} {:>7.1} {:>8.2}  {}",
                speed.levels.iter().sum::<usize>(),
                speed.mlups,
                speed.fraction_of_bandwidth,
                speed.microseconds(),
                speed.bytes_per_leaf_cell,
                speed.first_step_seconds,
                best.into_iter().chain(beside).collect::<Vec<_>>().join(", "),
            )
        }
    };
    let kept = if kept { "  (kept)" } else { "" };
    let more: String = values(row).into_iter().chain(points(row)).map(|line| format!("\n    {line}")).collect();
    format!("{name:<36} {}{kept}{more}", rest.trim_end())
}

/// Figures besides speed, and those of others by the same names.
fn values(row: &Record) -> Vec<String> {
    let all = row.outcome.values().into_iter().flatten();
    let line = |(name, value): (&String, &f64)| {
        let of = |peer: &Peer| {
            let value = peer.values.get(name)?;
            Some(format!("{} {}, {}", number(*value), peer.name, peer.device))
        };
        let beside = row.peers.iter().filter_map(of).collect::<Vec<_>>().join("; ");
        format!("{name:<32} {:>9}  {beside}", number(*value)).trim_end().to_string()
    };
    all.map(line).collect()
}

/// The computations of a study: a head and a line for each.
fn points(row: &Record) -> Vec<String> {
    let Outcome::Accuracy(Accuracy { points, .. }) = &row.outcome else { return vec![] };
    let Some(first) = points.first() else { return vec![] };
    let names: String = first.errors.keys().map(|name| format!(" {name:>14}")).collect();
    let head = format!("{:>6} {:>8} {:>8} {:>8}{names}", "N", "tau", "u0", "steps");
    let line = |point: &Point| {
        let errors: String = point.errors.values().map(|error| format!(" {error:>14.3e}")).collect();
        format!("{:>6} {:>8.5} {:>8.5} {:>8}{errors}", point.cells, point.tau, point.velocity, point.steps)
    };
    std::iter::once(head).chain(points.iter().map(line)).collect()
}

/// Four digits of a number.
fn number(value: f64) -> String {
    if value == 0.0 || (1e-2..1e5).contains(&value.abs()) { format!("{value:.4}") } else { format!("{value:.2e}") }
}
