//! What is lost of the speed of a flow by something done every so many steps: fields stored, files written, residuals computed.

use std::collections::BTreeMap;
use std::time::Instant;

use lbm_bundle::Target;
use lbm_flows::output::summary::{Summary, mlups};
use lbm_runtime::device::Device;
use lbm_runtime::solver::{GridSpec, Prepared, Simulation};
use lbm_setup::cases::{CaseFile, Shipped};
use lbm_setup::ready::Ready;
use miette::{Result, miette};

use super::flows::{self, Timed};
use super::record::{Cost, Outcome};
use super::row::Row;
use super::words::target_name;

/// How often something is done in a run that is timed.
const TIMES: u64 = 50;
/// Steps of such a run, at least.
const LEAST: u64 = 4000;
/// Steps that a flow does before it is timed, and between two marks of time.
const UNIT: u64 = 32;

/// Something done beside the steps.
#[derive(Clone, Copy, Debug)]
pub enum Doing {
    /// Density and velocity are computed and kept in the device's memory, by kernels of their own.
    Storing,
    /// `.vti` files are written, with density and velocity of all cells. The time for which the flow waits for files counts.
    Saving,
    /// The change of the velocity is compared with a tolerance.
    Residual,
}

/// Something done every so many steps of a flow.
pub struct Costly {
    /// The flow: a periodic box of one level.
    pub timed: Timed,
    /// What is done.
    pub doing: Doing,
    /// Steps from one time to the next, for each measurement.
    pub every: &'static [u64],
}

impl Costly {
    /// Its row.
    pub fn row(self, name: &str, target: Target) -> Row {
        Row {
            name: name.to_string(),
            command: format!("lbmc bench papers {name} --target {}", target_name(target)),
            target,
            inputs: String::new(),
            lacks: (self.timed.large && !target.is_gpu())
                .then(|| "wants a GPU: on a CPU only where it is named".to_string()),
            measure: Box::new(move |device| self.measure(device, target)),
        }
    }

    fn measure(&self, device: &Device, target: Target) -> Result<Outcome> {
        let run = |every: Option<u64>| match self.doing {
            Doing::Storing => stored(device, &self.timed, target, every),
            Doing::Saving | Doing::Residual => timed(&self.timed, self.doing, target, every),
        };
        let (without, about) = run(None)?;
        let mut values = BTreeMap::new();
        for &every in self.every {
            values.insert(format!("every {every}"), 1.0 - run(Some(every))?.0 / without);
        }
        Ok(Outcome::Cost(Cost { mlups: without, values, ..about }))
    }
}

/// Steps of a run in which something is done that often.
fn steps(every: Option<u64>) -> u64 {
    LEAST.max(TIMES * every.unwrap_or(0))
}

/// Speed of a run as `lbmc run` does it, in MLUPS, and what ran.
fn timed(timed: &Timed, doing: Doing, target: Target, every: Option<u64>) -> Result<(f64, Cost)> {
    let mut timed = timed.clone().with([("stop.steps", steps(every))]);
    match (doing, every) {
        (Doing::Saving, Some(every)) => {
            timed = timed.writing().with([("output.vtk", "true".to_string()), ("output.every", every.to_string())]);
        }
        // No flow is as steady as that.
        (Doing::Residual, Some(every)) => {
            timed = timed.with([("stop.steady", "1e-300".to_string()), ("stop.check_every", every.to_string())]);
        }
        _ => {}
    }
    let summary: Summary = flows::run(timed.case, &timed.settings(target), timed.writes, false)?.summary;
    let updates = summary.cells as u64 * summary.steps;
    let about = summary.about;
    let about = Cost { spec: about.spec, real: about.precision, size: about.size, mlups: 0.0, values: BTreeMap::new() };
    Ok((mlups(updates, summary.seconds + summary.seconds_waiting_for_output), about))
}

/// The same of a flow whose fields are computed and kept in the device's memory every so many steps.
fn stored(device: &Device, timed: &Timed, target: Target, every: Option<u64>) -> Result<(f64, Cost)> {
    let shipped =
        Shipped::find(timed.case).ok_or_else(|| miette!(code = "L0102", "no case `{}` is shipped", timed.case))?;
    let Ready { case, method, .. } = Ready::new(&CaseFile::of(shipped), &timed.settings(target), false)?;
    let grid = GridSpec::periodic(case.size);
    let mut flow = Prepared::refined(device, &method, &grid, 1, |_| false)?.simulation(&case.params)?;
    flow.init_cells(|cell, out| case.start.at(cell.centre(), out))?;
    advance(&mut flow, every, UNIT)?;
    device.synchronize()?;
    let (steps, began) = (LEAST.next_multiple_of(UNIT), Instant::now());
    advance(&mut flow, every, steps)?;
    device.synchronize()?;
    let seconds = began.elapsed().as_secs_f64();
    let (spec, size) = (method.manifest.spec.clone(), case.size[..case.dim].to_vec());
    let about = Cost { spec, real: case.real, size, mlups: 0.0, values: BTreeMap::new() };
    Ok((mlups(case.cells() as u64 * steps, seconds), about))
}

/// Does steps; fields are kept after every so many.
fn advance(flow: &mut Simulation, every: Option<u64>, steps: u64) -> Result<()> {
    let Some(every) = every else { return Ok(flow.run(steps)?) };
    for _ in 0..steps / every {
        flow.run(every)?;
        flow.set_reference()?;
    }
    Ok(())
}
