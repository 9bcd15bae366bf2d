//! `lbmc bench`: kernels on a uniform periodic box, as a fraction of the memory bandwidth in the same run.

use lbm_bundle::{Bundle, Layout, Real, Target};
use lbm_codegen::options::Options;
use lbm_dsl::model::{Model, Param};
use lbm_dsl::shipped;
use lbm_runtime::device::{Device, copy_bandwidth};
use lbm_runtime::mesh::preferred_block;
use lbm_runtime::solver::{GridSpec, Simulation};
use miette::{Result, miette};
use num_traits::ToPrimitive;
use serde::Serialize;

use crate::cli::{Bench, BenchTarget};
use crate::files;
use crate::spec::{self, Spec};

/// Timed runs; the median counts.
const REPEATS: usize = 5;
/// Seconds that one timed run should take.
const SECONDS: f64 = 0.4;

/// One kernel's result.
#[derive(Clone, Debug, Serialize)]
struct Row {
    spec: String,
    real: Real,
    block: [u32; 3],
    size: [usize; 3],
    /// Steps of each timed run.
    steps: u64,
    /// Million cell updates per second: median, slowest and fastest of the timed runs.
    mlups: f64,
    mlups_min: f64,
    mlups_max: f64,
    /// Memory bandwidth: GB read and written per second by a device-to-device copy, just before.
    memory_bandwidth_gb_per_s: f64,
    /// Populations read and written, over the memory bandwidth.
    fraction_of_bandwidth: f64,
    /// Largest change of the total mass over the whole run, relative.
    mass_drift: f64,
}

#[derive(Clone, Debug, Serialize)]
struct Results {
    version: &'static str,
    device: String,
    rows: Vec<Row>,
}

/// Runs the command.
pub fn bench(args: &Bench) -> Result<()> {
    let device = match args.target {
        BenchTarget::Host => Device::host(0)?,
        BenchTarget::Gpu => Device::cuda(0)?,
    };
    let all: Vec<String> = shipped::specs().map(|(name, _)| name.to_string()).collect();
    let specs = if args.specs.is_empty() { &all } else { &args.specs };
    let mut results = Results { version: env!("CARGO_PKG_VERSION"), device: device.describe(), rows: vec![] };
    println!("{}", results.device);
    println!(
        "{:<16} {:>4} {:>10} {:>14} {:>9} {:>14} {:>21}",
        "method", "real", "block", "cells", "MLUPS", "bandwidth GB/s", "fraction of bandwidth"
    );
    for name in specs {
        let model = Spec::find(name)?.model()?;
        for real in &args.real {
            let row = measure(args, &device, &model, Real::from(*real))?;
            let dim = model.lattice().dim();
            println!(
                "{:<16} {:>4} {:>10} {:>14} {:>9.1} {:>14.1} {:>21.3}",
                row.spec,
                row.real.name().to_string(),
                row.block[..dim].iter().map(u32::to_string).collect::<Vec<_>>().join("x"),
                row.size[..dim].iter().map(usize::to_string).collect::<Vec<_>>().join("x"),
                row.mlups,
                row.memory_bandwidth_gb_per_s,
                row.fraction_of_bandwidth
            );
            results.rows.push(row);
        }
    }
    if let Some(path) = &args.out {
        let text = serde_json::to_string_pretty(&results).expect("plain data has a text");
        files::write(path, &(text + "\n"))?;
    }
    Ok(())
}

fn measure(args: &Bench, device: &Device, model: &Model, real: Real) -> Result<Row> {
    let dim = model.lattice().dim();
    let block = spec::block(args.block.as_ref(), dim, preferred_block(device.target(), dim, real, None))?;
    let bundle = spec::compile(
        model,
        &Options { target: device.target(), real, layout: Layout::Blocks, block, coupling: None, solids: false },
    )?;
    let size = size(&bundle, args.gib);
    if size.contains(&0) {
        return Err(miette!(help = "raise --gib", "{} GiB are too little for a single block", args.gib));
    }
    let params = rates(model)?;
    let mut flow = Simulation::new(device, &bundle, &GridSpec::periodic(size), &params)?;
    flow.init(|cell, out| start(size, cell, out))?;
    let mass = flow.mass()?;
    // Every run must consist of the same launches: of what a GPU repeats as one.
    let unit = match device.target() {
        Target::C => 2,
        Target::Cuda => 32,
    };
    flow.run(unit)?;
    let start = device.mark()?;
    flow.run(unit)?;
    let end = device.mark()?;
    let steps = ((SECONDS / device.seconds(&start, &end)?).ceil() as u64).max(1) * unit;
    let bandwidth = copy_bandwidth(device)?;
    let mut mlups = vec![];
    for _ in 0..REPEATS {
        let start = device.mark()?;
        flow.run(steps)?;
        let end = device.mark()?;
        mlups.push(flow.grid().cells() as f64 * steps as f64 / device.seconds(&start, &end)? / 1e6);
    }
    mlups.sort_by(f64::total_cmp);
    let mass_drift = (flow.mass()? / mass - 1.0).abs();
    if !mass_drift.is_finite() {
        return Err(miette!("{} at {}: the flow is not finite after the run", model.name(), real.name()));
    }
    let median = mlups[REPEATS / 2];
    Ok(Row {
        spec: model.name().to_string(),
        real,
        block,
        size,
        steps,
        mlups: median,
        mlups_min: mlups[0],
        mlups_max: mlups[REPEATS - 1],
        memory_bandwidth_gb_per_s: bandwidth / 1e9,
        fraction_of_bandwidth: flow.share_of_copy(median, bandwidth),
        mass_drift,
    })
}

/// The largest box, close to a cube, whose two buffers of populations fit in `gib`.
fn size(bundle: &Bundle, gib: f64) -> [usize; 3] {
    let manifest = &bundle.manifest;
    let dim = manifest.dim as usize;
    let cells = gib * f64::from(1u32 << 30) / (2 * manifest.q() * manifest.real.stored_bytes()) as f64;
    let side = cells.powf(1.0 / dim as f64);
    let mut size = [1; 3];
    for (size, block) in size.iter_mut().zip(manifest.block).take(dim) {
        *size = (side / f64::from(block)).floor() as usize * block as usize;
    }
    size
}

/// Rate of a viscous flow.
const RATE: f64 = 1.7;

/// [`RATE`] for every parameter, or the value at the same place in a range that does not hold it; zero for a vector.
fn rates(model: &Model) -> Result<Vec<(String, Vec<f64>)>> {
    let rate = |param: &Param| match &param.range {
        _ if param.components > 1 => Ok((param.name.clone(), vec![0.0; param.components])),
        Some((low, high)) => {
            let (low, high) = (low.to_f64().unwrap_or(f64::NAN), high.to_f64().unwrap_or(f64::NAN));
            let rate = if low < RATE && RATE < high { RATE } else { low + (high - low) * RATE / 2.0 };
            Ok((param.name.clone(), vec![rate]))
        }
        _ => Err(miette!(
            "{}: the parameter `{}` has no range, so it is no rate; only rates are known here",
            model.name(),
            param.name
        )),
    };
    model.params().iter().map(rate).collect()
}

/// Waves along every axis, so that no two cells of a row are alike.
fn start(size: [usize; 3], cell: [usize; 3], out: &mut [f64]) {
    let phase = |axis: usize| std::f64::consts::TAU * (cell[axis] as f64 + 0.5) / size[axis] as f64;
    out[0] = 1.0 + 0.01 * phase(0).cos();
    let dim = out.len() - 1;
    for axis in 0..dim {
        out[1 + axis] = 0.05 * (phase((axis + 1) % dim) + axis as f64).sin();
    }
}
