//! The table that a suite prints, a line as soon as a row is there.

use super::record::{Outcome, Record};

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
        outcome @ (Outcome::Kernel(_) | Outcome::Flow(_)) => {
            let speed = outcome.speed().expect("these have one");
            let adapting = match outcome {
                Outcome::Flow(flow) if flow.adaptations.is_some_and(|all| all.looks > 0) => {
                    format!("{:.1} %", 100.0 * flow.share_adapting)
                }
                _ => "-".to_string(),
            };
            let beside = row.peers.iter().map(|peer| format!("{:.0} {}", peer.mlups, peer.name));
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
    format!("{name:<36} {}{kept}", rest.trim_end())
}
