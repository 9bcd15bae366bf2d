//! The suite `papers`: a row for each figure that a paper has published, repeated where it can be. The figures are in `peers.toml`.
//!
//! | rows | paper |
//! | --- | --- |
//! | `performance-…` | de Oliveira, Lugarini & Franco, Performance Analysis of the Lattice Boltzmann Method Implementation on GPU (2019) |
//! | `agal-…` | Jaber et al., GPU-Native Adaptive Mesh Refinement with Application to Lattice Boltzmann Simulations (2025) |
//! | `refinement-…` | Mahmoud, Salehipour & Meneghin, Optimized GPU Implementation of Grid Refinement in LBM (2024) |
//! | `disaggregated-…` | Meneghin & Mahmoud, Disaggregated Design for GPU-Based Volumetric Data Structures (2025) |

use lbm_bundle::Target;

use super::accuracy::{PARALLEL_PLATES, Setting, Study, TAYLOR_GREEN};
use super::cost::{Costly, Doing};
use super::flows::{Timed, timed};
use super::record::Outcome;
use super::row::Row;

/// Its rows.
pub fn rows(target: Target) -> Vec<Row> {
    [performance(target), agal(target), refinement(target), disaggregated(target)].into_iter().flatten().collect()
}

/// A setting of a study.
const fn at(cells: usize, tau: f64, velocity: f64) -> Setting {
    Setting { cells, tau, velocity }
}

/// Cells, and with them steps, grow while the velocity shrinks: the relaxation time stays. Of the paper's text, `tau = 0.74` and the first
/// velocity are known, the numbers of cells are ours.
const PLATES_2D: Study = Study {
    spec: "d2q9_bgk",
    flow: &PARALLEL_PLATES,
    settings: &[at(16, 0.74, 0.1), at(32, 0.74, 0.05), at(64, 0.74, 0.025), at(128, 0.74, 0.0125)],
    large: false,
};
const PLATES_3D: Study = Study {
    spec: "d3q19_bgk",
    flow: &PARALLEL_PLATES,
    settings: &[at(16, 0.74, 0.1), at(32, 0.74, 0.05), at(64, 0.74, 0.025)],
    large: true,
};
/// The relaxation time shrinks with the velocity, at one number of cells. Of the paper's text only the velocities .01 and .02 are known.
const VORTICES_OVER_TAU: Study = Study {
    spec: "d2q9_bgk",
    flow: &TAYLOR_GREEN,
    settings: &[
        at(64, 1.1, 0.08),
        at(64, 0.8, 0.04),
        at(64, 0.65, 0.02),
        at(64, 0.575, 0.01),
        at(64, 0.5375, 0.005),
        at(64, 0.51875, 0.0025),
    ],
    large: false,
};
/// Cells grow while the velocity shrinks, at one relaxation time.
const VORTICES_OVER_CELLS: Study = Study {
    spec: "d2q9_bgk",
    flow: &TAYLOR_GREEN,
    settings: &[at(16, 0.8, 0.08), at(32, 0.8, 0.04), at(64, 0.8, 0.02), at(128, 0.8, 0.01), at(256, 0.8, 0.005)],
    large: false,
};

/// A cube of cells, as a case has it.
fn cube(cells: u32) -> String {
    format!("[{cells},{cells},{cells}]")
}

fn performance(target: Target) -> Vec<Row> {
    static STUDIES: [(&str, Study); 4] = [
        ("performance-figure4-d2q9", PLATES_2D),
        ("performance-figure4-d3q19", PLATES_3D),
        ("performance-figure6-tau", VORTICES_OVER_TAU),
        ("performance-figure6-cells", VORTICES_OVER_CELLS),
    ];
    let mut rows: Vec<Row> = STUDIES.iter().map(|(name, study)| study.row(name, target)).collect();
    // The speed of sound is 1/sqrt(3): a velocity of .05 is a Mach number of .0866. The paper says neither Re nor steps; 1600 and 20 L/U
    // are those of the publications that it compares with.
    for precision in ["f32", "f64"] {
        let vortices = timed("taylor_green3d", "d3q19_bgk", precision, "100000").writing();
        let set = [("domain.resolution", "256"), ("units.mach", "0.08660254"), ("output.series", "20")];
        let vortices = vortices.with(set).with([("output.picture", "false")]);
        rows.push(vortices.row_called(format!("performance-figure5-{precision}"), target));
    }
    let vortices = |cells: u32, precision, steps| {
        timed("taylor_green_box", "d3q19_bgk", precision, steps).with([("domain.size", cube(cells))])
    };
    for (cells, steps) in [(32, "100000"), (64, "50000"), (128, "20000"), (256, "4000")] {
        for precision in ["f32", "f64"] {
            let name = format!("performance-figure8-n{cells}-{precision}");
            rows.push(vortices(cells, precision, steps).row_called(name, target));
        }
    }
    // A thread block does one block of cells here; the first two are as in the paper, and no side is longer than 64.
    let blocks = [[32, 1, 1], [64, 1, 1], [4, 4, 4], [8, 4, 4], [16, 4, 4], [32, 4, 4], [8, 8, 8]];
    for [x, y, z] in blocks {
        let flow = vortices(128, "f64", "20000").with([("block", format!("[{x},{y},{z}]"))]);
        rows.push(flow.row_called(format!("performance-figure7-{x}x{y}x{z}"), target));
    }
    for cells in [32, 128] {
        for (figure, doing, every) in [
            ("table6", Doing::Storing, &[1][..]),
            ("figure9", Doing::Saving, &[100, 250, 500, 1000, 2500]),
            ("figure10", Doing::Residual, &[100, 250, 500, 1000, 2500]),
        ] {
            let costly = Costly { timed: vortices(cells, "f64", "4000"), doing, every };
            rows.push(costly.row(&format!("performance-{figure}-n{cells}"), target));
        }
    }
    rows.push(not_repeated(
        "performance-ecc",
        target,
        "memory with and without error correction: a setting of the device, which a program does not change",
    ));
    rows
}

fn agal(target: Target) -> Vec<Row> {
    let flow = |name: &str, timed: Timed| timed.row_called(name.to_string(), target);
    let mut rows = vec![
        flow("agal-table3-A1", timed("cavity2d_agal", "d2q9_bgk", "f32", "40000")),
        flow("agal-table3-A2", timed("cavity2d_agal", "d2q9_bgk", "f64", "40000")),
        flow("agal-table3-A3", timed("cavity3d_agal", "d3q19_bgk", "f32", "1000")),
        flow("agal-table3-A4", timed("cavity3d_agal", "d3q19_bgk", "f64", "1000")),
        flow("agal-table3-A5", timed("cavity3d_agal", "d3q27_bgk", "f32", "1000")),
        flow("agal-table3-A6", timed("cavity3d_agal", "d3q27_bgk", "f64", "1000")),
    ];
    // The root of V1 is 128^2, of V-S2 64^2; steps are 1000 and 2000 s of 1/128 and 1/64 s.
    for (label, re, root, steps) in [("V1", "1000", 128, "128000"), ("V-S2", "5000", 64, "128000")] {
        for precision in ["f32", "f64"] {
            let cavity = timed("cavity2d_agal", "d2q9_bgk", precision, steps).writing();
            let size = [("domain.size", format!("[{root},{root}]")), ("fluid.re", re.to_string())];
            let output = [("output.profiles", "true"), ("output.compare", "ghia1982"), ("output.picture", "false")];
            rows.push(flow(&format!("agal-figure17-{label}-{precision}"), cavity.with(size).with(output)));
        }
    }
    for (name, why) in [
        (
            "agal-figure17-V-S1",
            "cavities at Re 3200 and 10 000 (V-S1, V-S3) have no published profile here to be compared with",
        ),
        ("agal-figure18", "cavities in three dimensions are compared with Cortes & Miller, whose figures are not here"),
        (
            "agal-table4-steps",
            "a change of the grid is timed as a whole here, which its rows of table 3 have as a share of the time, and \
             not step by step",
        ),
        ("agal-table5", "cells without blocks and shuffled indices: there is one arrangement, blocks in order"),
    ] {
        rows.push(not_repeated(name, target, why));
    }
    let couplings = [("linear", "interpolated_linear"), ("cubic", "interpolated"), ("shifted", "volumetric_shifted")];
    let follows = [("refinement.criterion", "vorticity"), ("refinement.every", "32")];
    for (cells, finest, threshold) in [(16, "1", "0.078125"), (32, "2", "0.15625")] {
        for (name, coupling) in couplings {
            let cylinder = timed("square_cylinder_agal", "d2q9_bgk", "f64", "40000").writing();
            let fixed = cylinder.with([("refinement.finest", finest), ("refinement.coupling", coupling)]);
            let adaptive = fixed.clone().with(follows).with([("refinement.threshold", threshold)]);
            rows.push(flow(&format!("agal-table7-{cells}-static-{name}"), fixed));
            rows.push(flow(&format!("agal-table7-{cells}-adaptive-{name}"), adaptive));
        }
    }
    rows
}

/// The flow around a sphere at a scale, of which all lengths are multiples: in cells of the coarsest level.
fn sphere(scale: u32, precision: &'static str, steps: &'static str) -> Timed {
    let point = |[x, y, z]: [u32; 3]| format!("[{},{},{}]", x * scale, y * scale, z * scale);
    let region = |level, from, to| format!("{{level={level},from={},to={}}}", point(from), point(to));
    let boxes = [region(1, [6, 6, 6], [28, 18, 28]), region(2, [10, 10, 10], [24, 16, 24])];
    timed("sphere", "d3q27_kbc", precision, steps).with([
        ("domain.size", point([34, 24, 34])),
        ("fluid.length", (2 * scale).to_string()),
        ("solids.0.centre", point([13, 13, 17])),
        ("solids.0.radius", (2 * scale).to_string()),
        ("refinement.boxes", format!("[{}]", boxes.join(","))),
    ])
}

fn refinement(target: Target) -> Vec<Row> {
    let flow = |name: &str, timed: Timed| timed.row_called(name.to_string(), target);
    let mut rows = vec![
        flow("refinement-cavity240-f32", timed("cavity240", "d3q19_bgk", "f32", "3000")),
        flow("refinement-cavity240-f64", timed("cavity240", "d3q19_bgk", "f64", "3000")),
    ];
    // All of it as fine as the finest level, of which a step of the coarsest one has four.
    for precision in ["f32", "f64"] {
        let cavity = timed("cavity3d", "d3q19_bgk", precision, "12000").with([("stop.steady", "1e-300")]);
        let set = [("domain.size", cube(240)), ("fluid.re", "100".to_string())];
        let lid = ("faces.top", "{rule=\"moving_wall\",velocity=[0.04,0,0]}");
        let cavity = cavity.with(set).with([lid]);
        rows.push(flow(&format!("refinement-uniform240-{precision}"), cavity));
    }
    for (scale, steps) in [(2, "12000"), (4, "1600"), (6, "400")] {
        for precision in ["f32", "f64"] {
            let name = format!("refinement-table1-s{scale}-{precision}");
            rows.push(flow(&name, sphere(scale, precision, steps)));
        }
    }
    for (name, why) in [
        (
            "refinement-palabos",
            "Palabos runs on CPUs; the paper gives seconds per iteration (2.3) and neither the processor nor the grid's cells",
        ),
        (
            "refinement-aeroplane",
            "the surface is not published, and neither is a speed; `lbmc bench adaptive wind_tunnel` runs one of that size",
        ),
        (
            "refinement-figure9",
            "steps of the kernels fused one by one: here collision, streaming and what crosses levels are always fused",
        ),
    ] {
        rows.push(not_repeated(name, target, why));
    }
    rows
}

/// The cavities of table V with other layers than `cavity512` has: cells of the coarsest level along an edge, what is set of the levels, and
/// steps. The paper has the leaves of each level, in millions, and not where they are: layers are chosen so that the leaves are as many.
const LAYERS: [(&str, u32, &str, &str, &str); 5] = [
    (
        "512-4",
        64,
        "3",
        "3 - (min(min(x,y),z)>7)*(max(max(x,y),z)<56) - (min(min(x,y),z)>12)*(max(max(x,y),z)<52) - \
      (min(min(x,y),z)>24)*(max(max(x,y),z+4)<40)",
        "250",
    ),
    (
        "480-3",
        120,
        "2",
        "2 - (min(min(x,y),z)>12)*(max(max(x,y),z)<108) - (min(min(x,y),z)>24)*(max(max(x,y),z)<96)",
        "500",
    ),
    (
        "480-4",
        60,
        "3",
        "3 - (min(min(x,y),z)>6)*(max(max(x,y),z)<54) - (min(min(x,y),z)>12)*(max(max(x,y),z)<48) - \
      (min(min(x,y),z)>20)*(max(max(x,y),z)<40)",
        "250",
    ),
    (
        "320-3",
        80,
        "2",
        "2 - (min(min(x,y),z)>8)*(max(max(x,y),z)<72) - (min(min(x,y),z)>16)*(max(max(x,y),z)<64)",
        "2000",
    ),
    (
        "320-4",
        40,
        "3",
        "3 - (min(min(x,y),z)>4)*(max(max(x,y),z)<36) - (min(min(x,y),z)>8)*(max(max(x,y),z)<32) - \
      (min(min(x,y),z)>12)*(max(max(x,y),z)<24)",
        "1000",
    ),
];

fn disaggregated(target: Target) -> Vec<Row> {
    let cavity = timed("cavity512", "d3q19_bgk", "f32", "500");
    let mut rows = vec![cavity.row_called("disaggregated-table5-512-3".to_string(), target)];
    for (name, cells, finest, level, steps) in LAYERS {
        let set = [("refinement.finest", finest.to_string()), ("refinement.level", format!("\"{level}\""))];
        let cavity = timed("cavity512", "d3q19_bgk", "f32", steps).with([("domain.size", cube(cells))]).with(set);
        rows.push(cavity.row_called(format!("disaggregated-table5-{name}"), target));
    }
    for (name, why) in [
        (
            "disaggregated-table5-baseline",
            "collision and streaming apart where levels meet: interior blocks are always fused here, and blocks at interfaces \
             always have kernels of their own",
        ),
        (
            "disaggregated-figure8",
            "one kernel for all blocks against blocks in groups: here blocks at walls always have kernels of their own (figure 11 \
             likewise)",
        ),
        ("disaggregated-figure6", "eight GPUs: a flow runs on one here (figures 10 and 12 likewise)"),
    ] {
        rows.push(not_repeated(name, target, why));
    }
    rows
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
