//! The suite `uniform`: kernels on a uniform periodic box, as a fraction of the memory bandwidth in the same run.

use std::collections::BTreeMap;
use std::path::Path;
use std::rc::Rc;
use std::time::Instant;

use lbm_bundle::{Bundle, Layout, Real, Role, Target};
use lbm_codegen::options::Options;
use lbm_dsl::model::{Model, Param};
use lbm_dsl::shipped as specs;
use lbm_runtime::device::{Available, Device, copy_bandwidth};
use lbm_runtime::mesh::{Blocks, preferred_block};
use lbm_runtime::solver::fields::Sets;
use lbm_runtime::solver::memory::{Copies, Memory};
use lbm_runtime::solver::{GridSpec, Prepared};
use lbm_setup::spec::{self, Spec};
use miette::{Result, miette};
use num_traits::ToPrimitive;

use super::record::{self, Kernel, Outcome, Speed};
use super::row::{self, Row};
use super::words::{is_of, quoted, target_name};
use crate::cli::{BenchBlock, StorageArg, Uniform};

/// Methods where none is named.
const METHODS: [&str; 5] = ["d2q9_bgk", "d3q19_bgk", "d3q27_bgk", "d3q27_cumulant", "d3q27_kbc"];
/// The method whose best block is looked for unasked.
const PROBE: &str = "d3q19_bgk";
/// Blocks besides the usual one of which the best is taken, of two and of three dimensions.
const BLOCKS: ([[u32; 3]; 3], [[u32; 3]; 3]) =
    ([[16, 8, 1], [16, 16, 1], [32, 8, 1]], [[8, 8, 8], [16, 4, 4], [32, 4, 4]]);
/// Cells along x of a domain that is long enough for any rows.
const MANY_CELLS: usize = 1 << 12;
/// Timed runs; the median counts.
const REPEATS: usize = 5;
/// Seconds that one timed run should take.
const SECONDS: f64 = 0.4;

/// Which rows there are of a method.
#[derive(Clone)]
struct Choice {
    real: Vec<Real>,
    /// The usual block unless given; of [`PROBE`] also the best.
    block: Option<BenchBlock>,
    form: Form,
    gib: f64,
}

/// What is stored of a cell, and how often.
#[derive(Clone, Copy)]
struct Form {
    storage: StorageArg,
    /// Sets of populations, or of moments.
    buffers: u8,
}

/// Populations in two sets.
const USUAL: Form = Form { storage: StorageArg::Populations, buffers: 2 };

/// The rows that are asked for.
pub fn rows(args: &Uniform, target: Target) -> Result<Vec<Row>> {
    let real: Vec<Real> = args.real.iter().map(|real| Real::from(*real)).collect();
    let choice = |buffers: &u8| {
        let form = Form { storage: args.storage, buffers: *buffers };
        Choice { real: Vec::clone(&real), block: args.block.clone(), form, gib: args.gib }
    };
    let choices: Vec<Choice> = args.buffers.iter().map(choice).collect();
    let of = |name: &str| -> Result<Vec<Row>> {
        let rows = choices.iter().map(|choice| choice.rows(name, target)).collect::<Result<Vec<_>>>()?;
        Ok(rows.into_iter().flatten().collect())
    };
    let names = &args.suited.measurements.names;
    let mut rows = vec![];
    match (&names[..], args.all) {
        ([], all) => {
            for name in specs::specs().map(|(name, _)| name).filter(|name| all || METHODS.contains(name)) {
                rows.extend(of(name)?);
            }
        }
        (names, _) => {
            for name in names {
                // The method of a row, `d3q19_bgk` of `d3q19_bgk-f32`, where there is no file of that name.
                let method = specs::specs().map(|(method, _)| method).find(|method| is_of(name, method));
                match method.filter(|_| !Path::new(name).is_file()) {
                    Some(method) => rows.extend(row::select(of(method)?, std::slice::from_ref(name))?),
                    None => rows.extend(of(name)?),
                }
            }
        }
    }
    Ok(rows)
}

/// Rows of every shipped method.
#[cfg(test)]
pub fn shipped(target: Target) -> Vec<Row> {
    let choice = Choice { real: vec![Real::F32, Real::F64, Real::F16F32], block: None, form: USUAL, gib: 1.0 };
    specs::specs().flat_map(|(name, _)| choice.rows(name, target).expect("shipped methods are valid")).collect()
}

/// Rows of a method for another suite, on blocks of the usual size.
pub fn of(method: &str, gib: f64, target: Target) -> Result<Vec<Row>> {
    let choice = Choice { real: vec![Real::F32, Real::F64], block: None, form: USUAL, gib };
    let rows = choice.rows(method, target)?;
    Ok(rows.into_iter().filter(|row| !row.name.ends_with("best")).collect())
}

impl Choice {
    /// Rows of a method: a shipped one, or a .lbm file.
    fn rows(&self, name: &str, target: Target) -> Result<Vec<Row>> {
        let spec = Spec::find(name)?;
        let model = Rc::new(spec.model()?);
        let inputs = match Path::new(name).is_file() {
            true => record::digest(spec.files().into_iter().map(|file| file.bytes)),
            false => String::new(),
        };
        let dim = model.lattice().dim();
        let reads_alone = model.shown().is_empty() && self.form.storage == StorageArg::Populations;
        let mut rows = vec![];
        for &real in &self.real {
            let usual = preferred_block(target, dim, real, (!reads_alone).then_some(MANY_CELLS));
            let others = if dim == 2 { &BLOCKS.0 } else { &BLOCKS.1 };
            let best: Vec<[u32; 3]> = std::iter::once(usual).chain(others.iter().copied()).collect();
            let mut choices = match &self.block {
                Some(BenchBlock::Of(block)) => vec![(None, vec![spec::block(Some(&block.0), dim, usual)?])],
                Some(BenchBlock::Best) => vec![(Some("best"), best)],
                None if model.name() == PROBE => vec![(None, vec![usual]), (Some("best"), best)],
                None => vec![(None, vec![usual])],
            };
            for (called, blocks) in choices.drain(..) {
                let block = called.map_or_else(|| sides(&blocks[0][..dim]), str::to_string);
                let (model, gib, form) = (model.clone(), self.gib, self.form);
                let (mut stored, mut asked) = (String::new(), String::new());
                if form.storage == StorageArg::Moments {
                    (stored, asked) = ("-moments".into(), " --storage moments".into());
                }
                if form.buffers == 1 {
                    (stored, asked) = (stored + "-in_place", asked + " --buffers 1");
                }
                rows.push(Row {
                    name: format!("{}-{}{stored}-{block}", model.name(), real.name()),
                    command: format!(
                        "lbmc bench uniform {} --target {} --real {} --block {block} --gib {gib}{asked}",
                        quoted(name),
                        target_name(target),
                        real.name()
                    ),
                    target,
                    inputs: inputs.clone(),
                    lacks: None,
                    measure: Box::new(move |device| best_of(device, &model, (real, form), &blocks, gib)),
                });
            }
        }
        Ok(rows)
    }
}

/// `4x4x4`.
fn sides<T: ToString>(sides: &[T]) -> String {
    sides.iter().map(T::to_string).collect::<Vec<_>>().join("x")
}

/// The kernel with the block that makes it fastest.
fn best_of(
    device: &Device,
    model: &Model,
    (real, form): (Real, Form),
    blocks: &[[u32; 3]],
    gib: f64,
) -> Result<Outcome> {
    let measure = |block: &[u32; 3]| measure(device, model, (real, form), *block, gib);
    let all: Vec<Kernel> = blocks.iter().map(measure).collect::<Result<_>>()?;
    let speeds: BTreeMap<String, f64> =
        all.iter().map(|kernel| (sides(&kernel.speed.block), kernel.speed.mlups)).collect();
    let best = all.into_iter().max_by(|a, b| a.speed.mlups.total_cmp(&b.speed.mlups)).expect("there is a block");
    let blocks = if speeds.len() > 1 { speeds } else { BTreeMap::new() };
    Ok(Outcome::Kernel(Kernel { blocks, ..best }))
}

/// A kernel with one block.
fn measure(device: &Device, model: &Model, (real, form): (Real, Form), block: [u32; 3], gib: f64) -> Result<Kernel> {
    let began = Instant::now();
    let options =
        Options { target: device.target(), real, layout: Layout::Blocks, block, coupling: None, solids: false };
    let bundle = match form {
        Form { storage: StorageArg::Moments, buffers: 1 } => {
            return Err(miette!(
                code = "L0117",
                "moments need two sets: leave out `--buffers 1` or `--storage moments`"
            ));
        }
        Form { buffers: 1, .. } => spec::compile_in_place(model, &options)?,
        Form { storage, .. } => spec::compile_stored(model, &options, storage == StorageArg::Moments)?,
    };
    let generate_seconds = began.elapsed().as_secs_f64();
    let size = size(&bundle, gib);
    if size.contains(&0) {
        return Err(miette!(code = "L0117", help = "raise --gib", "{gib} GiB are too little for a single block"));
    }
    fits(device, &bundle, size, form)?;
    let grid = GridSpec::periodic(size);
    let prepared = Prepared::refined(device, &bundle, &grid, 1, |_| false)?;
    let prepared = if form.buffers == 1 { prepared.in_one_set()? } else { prepared };
    let memory = prepared.memory(false, false, Copies::default())?;
    let mut flow = prepared.simulation(&rates(model)?)?;
    flow.init(|cell, out| start(size, cell, out))?;
    let mass = flow.mass()?;
    // Every run must consist of the same launches: of what a GPU repeats as one.
    let unit = if device.target().is_gpu() { 32 } else { 2 };
    flow.run(1)?;
    let first_step_seconds = began.elapsed().as_secs_f64();
    flow.run(unit)?;
    let start = device.event()?;
    flow.run(unit)?;
    let end = device.event()?;
    let steps = ((SECONDS / device.seconds(&start, &end)?).ceil() as u64).max(1) * unit;
    let bandwidth = copy_bandwidth(device)?;
    let cells = flow.grid().cells();
    let mut seconds = vec![];
    for _ in 0..REPEATS {
        let start = device.event()?;
        flow.run(steps)?;
        let end = device.event()?;
        seconds.push(device.seconds(&start, &end)?);
    }
    seconds.sort_by(f64::total_cmp);
    let mlups = |seconds: f64| cells as f64 * steps as f64 / seconds / 1e6;
    let mass_drift = (flow.mass()? / mass - 1.0).abs();
    if !mass_drift.is_finite() {
        return Err(miette!(
            code = "L0117",
            "{} at {}: the flow is not finite after the run",
            model.name(),
            real.name()
        ));
    }
    let median = mlups(seconds[REPEATS / 2]);
    let kernel = bundle.manifest.kernels.iter().find(|kernel| kernel.role == Role::StreamCollide);
    let cost = kernel.expect("every method has it").cost;
    let dim = model.lattice().dim();
    Ok(Kernel {
        speed: Speed {
            spec: model.name().to_string(),
            real,
            block: block[..dim].to_vec(),
            size: size[..dim].to_vec(),
            levels: vec![cells],
            steps,
            seconds: seconds[REPEATS / 2],
            mlups: median,
            mlups_min: Some(mlups(seconds[REPEATS - 1])),
            mlups_max: Some(mlups(seconds[0])),
            memory_bandwidth_gb_per_s: bandwidth / 1e9,
            fraction_of_bandwidth: flow.fraction_of_bandwidth(median, bandwidth),
            bytes_per_leaf_cell: memory.on_device() as f64 / cells as f64,
            memory: memory.parts().into_iter().map(|(name, bytes)| (name.to_string(), bytes)).collect(),
            generate_seconds,
            first_step_seconds,
        },
        flop_per_cell: cost.flops,
        flop_per_byte: f64::from(cost.flops) / f64::from(cost.bytes),
        gflop_per_s: median * f64::from(cost.flops) / 1e3,
        mass_drift,
        blocks: BTreeMap::new(),
    })
}

/// The largest box, close to a cube, two sets of whose populations fit in `gib`; two blocks along each axis at least, or a block
/// would be its own neighbour and find it in a cache. No cells where not one block fits.
fn size(bundle: &Bundle, gib: f64) -> [usize; 3] {
    let manifest = &bundle.manifest;
    let dim = manifest.dim as usize;
    let mut cells = gib * f64::from(1u32 << 30) / (2 * manifest.values() * manifest.real.stored_bytes()) as f64;
    if cells < manifest.cells() as f64 {
        return [0; 3];
    }
    let mut size = [1; 3];
    for (axis, block) in manifest.block.into_iter().enumerate().take(dim) {
        let side = cells.powf(1.0 / (dim - axis) as f64);
        size[axis] = ((side / f64::from(block)).floor().max(2.0) as usize).saturating_mul(block as usize);
        cells /= size[axis] as f64;
    }
    size
}

/// Refuses a box that takes more memory than there is.
fn fits(device: &Device, bundle: &Bundle, size: [usize; 3], form: Form) -> Result<()> {
    let manifest = &bundle.manifest;
    let blocks = size.iter().zip(manifest.block).map(|(cells, side)| cells / side as usize);
    let blocks = Blocks::uniform(manifest.dim as usize, blocks.fold(1, usize::saturating_mul));
    let memory = Memory::new(manifest, blocks, false, false, Copies::default());
    let memory = if form.buffers == 1 { memory.with_sets(Sets::One) } else { memory };
    match memory.lack(Available::on_each([device])) {
        Some(lack) => Err(miette!(code = "L0117", help = "lower --gib", "the box needs {lack}")),
        None => Ok(()),
    }
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
            code = "L0117",
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
