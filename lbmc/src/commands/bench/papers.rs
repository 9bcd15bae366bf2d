//! The suite `papers`: a row for each figure that a paper has published, repeated where it can be. The figures are in `peers.toml`.
//!
//! | rows | paper |
//! | --- | --- |
//! | `agal-…` | Jaber et al., GPU-Native Adaptive Mesh Refinement with Application to Lattice Boltzmann Simulations (2025) |
//! | `refinement-…` | Mahmoud, Salehipour & Meneghin, Optimized GPU Implementation of Grid Refinement in LBM (2024) |
//! | `disaggregated-…` | Meneghin & Mahmoud, Disaggregated Design for GPU-Based Volumetric Data Structures (2025) |

use lbm_bundle::Target;

use super::flows::{Timed, timed};
use super::record::Outcome;
use super::row::Row;

/// Its rows.
pub fn rows(target: Target) -> Vec<Row> {
    let flow = |name: &str, timed: Timed| timed.row_called(name.to_string(), target);
    vec![
        flow("agal-table3-A1", timed("cavity2d_agal", "d2q9_bgk", "f32", "40000")),
        flow("agal-table3-A2", timed("cavity2d_agal", "d2q9_bgk", "f64", "40000")),
        flow("agal-table3-A3", timed("cavity3d_agal", "d3q19_bgk", "f32", "1000")),
        flow("agal-table3-A4", timed("cavity3d_agal", "d3q19_bgk", "f64", "1000")),
        flow("agal-table3-A5", timed("cavity3d_agal", "d3q27_bgk", "f32", "1000")),
        flow("agal-table3-A6", timed("cavity3d_agal", "d3q27_bgk", "f64", "1000")),
        flow("refinement-cavity240", timed("cavity240", "d3q19_bgk", "f64", "3000")),
        flow("refinement-table1-s2", sphere("12000", &[])),
        flow("refinement-table1-s6", sphere("400", &S6)),
        not_repeated(
            "refinement-palabos",
            target,
            "Palabos runs on CPUs; the paper gives seconds per iteration (2.3) and neither the processor nor the grid's cells",
        ),
        not_repeated(
            "refinement-aeroplane",
            target,
            "the surface is not published, and neither is a speed; `lbmc bench adaptive wind_tunnel` runs one of that size",
        ),
        flow("disaggregated-table5-512-3", timed("cavity512", "d3q19_bgk", "f32", "500")),
    ]
}

/// What makes the sphere of s = 2 that of s = 6: all lengths are three times as long.
const S6: [(&str, &str); 5] = [
    ("domain.size", "[204,144,204]"),
    ("fluid.length", "12"),
    ("solids.0.centre", "[78,78,102]"),
    ("solids.0.radius", "12"),
    ("refinement.boxes", "[{level=1,from=[36,36,36],to=[168,108,168]},{level=2,from=[60,60,60],to=[144,96,144]}]"),
];

/// The flow around a sphere, with KBC in double precision.
fn sphere(steps: &'static str, scaled: &[(&'static str, &'static str)]) -> Timed {
    let mut timed = timed("sphere", "d3q27_kbc", "f64", steps);
    timed.set.extend(scaled);
    timed
}

/// A figure that is only told.
fn not_repeated(name: &str, target: Target, why: &'static str) -> Row {
    Row {
        name: name.to_string(),
        command: String::new(),
        target,
        inputs: String::new(),
        lacks: None,
        measure: Box::new(move |_| Ok(Outcome::NotRepeated { why: why.to_string() })),
    }
}
