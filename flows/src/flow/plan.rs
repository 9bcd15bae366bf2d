//! The cost of a run, derived from its grid alone: `lbmc run --dry-run`.

use lbm_bundle::Manifest;
use lbm_runtime::device::{Available, Bytes, Device, DeviceError, Devices, copy_bandwidth_of};
use lbm_runtime::solver::StepError;
use lbm_runtime::solver::adjoint::revolve::{forward_steps, states_on_disk};
use lbm_runtime::solver::memory::Memory;
use lbm_runtime::solver::snapshot::Snapshot;

use super::control::{Control, Kernels};
use super::error::FlowError;
use super::grid::grid_of;
use super::placement::Placement;
use super::setup::prepare;
use crate::case::{Case, Gradient, Steady};
use crate::output::picture::draw_grid;
use crate::output::progress::duration;
use crate::output::summary::bytes_per_update;
use crate::restart::{Identity, Restart};

/// Assumed fraction of the memory bandwidth, from measurements of shipped methods on both kinds of device.
const ASSUMED_FRACTION: f64 = 0.6;

/// A run before its first step.
#[derive(Clone, Debug, PartialEq)]
pub struct Plan {
    /// The levels, the coarsest first.
    pub levels: Vec<PlannedLevel>,
    /// Cell updates in a step of the coarsest level.
    pub updates: usize,
    /// Memory that the grid needs.
    pub memory: Memory,
    /// Available memory.
    pub available: Available,
    /// Remaining steps of the coarsest level.
    pub steps: u64,
    /// Whether the grid adapts to the flow.
    pub follows: bool,
    /// The grid, without values.
    pub grid: Snapshot,
}

/// A level of a grid.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct PlannedLevel {
    /// Number of cells.
    pub cells: usize,
    /// Relaxation rate that sets the viscosity on this level, if there is one.
    pub omega: Option<f64>,
}

impl Plan {
    /// Sets up the grid, or refuses it, as a run does.
    pub fn new(
        case: &Case,
        kernels: Kernels<'_>,
        placement: &Placement,
        control: &Control<'_>,
    ) -> Result<Plan, FlowError> {
        let manifest = &kernels.method.manifest;
        let identity = Identity::new(case, kernels.method, kernels.criteria, placement.first().toolchain()?);
        let open = |path| Restart::open(path, &identity, case, manifest, control.resume_anyway);
        let restart = control.resume.map(open).transpose()?;
        let available = placement.available();
        let grid = grid_of(case, kernels, placement.first())?;
        let (prepared, memory) = prepare(case, kernels, placement, &grid, restart.as_ref(), available)?;
        let cells = prepared.grid().cells_of_levels();
        let rates = rates(case, manifest, cells.len());
        let (domain, sides) = (prepared.grid().domain(), manifest.block.map(|side| side as usize));
        let grid = match cells.len() {
            1 => Snapshot::uniform(0, domain, vec![]),
            _ => {
                let leaves = prepared.grid().leaves().map_err(StepError::from)?;
                Snapshot::new(0, domain, sides, leaves.iter().map(|leaf| leaf.block).collect(), vec![])
            }
        };
        let done = restart.map_or(0, |restart| restart.course().step);
        Ok(Plan {
            levels: cells.into_iter().zip(rates).map(|(cells, omega)| PlannedLevel { cells, omega }).collect(),
            updates: prepared.grid().updates(),
            memory,
            available,
            steps: case.stop.steps.saturating_sub(done),
            follows: case.refinement.as_ref().is_some_and(|refinement| refinement.follow.is_some()),
            grid,
        })
    }

    /// A picture of the grid and of what is solid, as PNG.
    pub fn picture(&self, case: &Case, manifest: &Manifest) -> Option<Vec<u8>> {
        draw_grid(case, manifest, &self.grid).map(|canvas| canvas.png())
    }

    /// Bytes read and written per second by copies of about as much data as the steps work on, summed over all devices
    /// of all processes.
    pub fn bandwidth(&self, placement: &Placement) -> Result<f64, DeviceError> {
        let of_device = |device: &Device| copy_bandwidth_of(device, self.memory.populations / 2);
        let own: f64 = Devices::new(placement.devices()).iter().map(of_device).sum::<Result<f64, DeviceError>>()?;
        Ok(placement.processes().sum(own))
    }

    /// What derivatives take.
    fn of_gradient(&self, gradient: &Gradient, case: &Case) -> String {
        // A step backwards of several levels takes the step once more, with what each step of a level begins with.
        let (kept, again) = if self.levels.len() > 1 { (1 << (self.levels.len() - 1), self.steps) } else { (0, 0) };
        let (memory, of_state) = (gradient.states, self.memory.populations / 2);
        let of_derivatives = Bytes(self.memory.populations + kept * of_state);
        if let Some(Steady { tolerance, check_every }) = gradient.steady {
            return format!(
                "gradient: {of_derivatives} of derivatives in memory; {} steps backwards from the steady flow at most, until derivatives change by less \
                 than {tolerance:.0e} in {check_every}\n",
                case.stop.steps
            );
        }
        let on_disk = states_on_disk(self.steps, memory, gradient.disk / (of_state as u64).max(1));
        let disk = match on_disk {
            0 => String::new(),
            states => {
                format!(", {states} states on disk that take {}", Bytes(of_state.saturating_mul(states as usize)))
            }
        };
        format!(
            "gradient: {} states of {} and {of_derivatives} of derivatives in memory{disk}; {} more steps and {} backwards\n",
            memory.min(self.steps),
            Bytes(of_state),
            forward_steps(self.steps, memory.saturating_add(on_disk)) + 1 + again,
            self.steps,
        )
    }

    /// Seconds that the steps take at the assumed fraction of a memory bandwidth (bytes per second).
    pub fn seconds(&self, manifest: &Manifest, bandwidth: f64) -> f64 {
        let updates = self.updates as f64 * self.steps as f64;
        updates * bytes_per_update(manifest) / (ASSUMED_FRACTION * bandwidth)
    }

    /// Text that describes the plan. `bandwidth` is that of all devices together, in bytes per second.
    pub fn describe(&self, case: &Case, manifest: &Manifest, bandwidth: f64) -> String {
        let mut text = String::new();
        let total: usize = self.levels.iter().map(|level| level.cells).sum();
        text += &format!("{:>6} {:>14} {:>9} {:>10} {:>12}\n", "level", "cells", "cell", "omega", "time step");
        let units = &case.units;
        let of = |value: f64, unit: &str| if units.si { format!("{value:.3e} {unit}") } else { value.to_string() };
        for (at, level) in self.levels.iter().enumerate() {
            let share = 0.5f64.powi(at as i32);
            text += &format!(
                "{at:>6} {:>14} {:>9} {:>10} {:>12}\n",
                level.cells,
                of(units.cell * share, "m"),
                level.omega.map_or("-".to_string(), |omega| format!("{omega:.5}")),
                of(units.step * share, "s"),
            );
        }
        text += &format!("{total} cells, {} cell updates in a step of level 0", self.updates);
        text += if self.follows { "; the grid will change with the flow\n" } else { "\n" };
        let re = case.scales.re.map_or(String::new(), |re| format!("Reynolds number {re:.5}, "));
        text += &format!("{re}Mach number {:.4}\n", case.scales.mach);
        let parts: Vec<String> =
            self.memory.parts().into_iter().map(|(name, bytes)| format!("{} {name}", Bytes(bytes))).collect();
        let available = self.available.device.map_or(String::new(), |bytes| format!(" of {} available", Bytes(bytes)));
        let each = if self.memory.devices() > 1 { " on each GPU" } else { "" };
        let total = if each.is_empty() { self.memory.total() } else { self.memory.on_device() };
        text += &format!("memory {}{available}{each}: {}\n", Bytes(total), parts.join(", "));
        text += &case.gradient.as_ref().map_or(String::new(), |gradient| self.of_gradient(gradient, case));
        let earlier = if case.stop.steady.is_some() { "; earlier if the flow becomes steady" } else { "" };
        text += &format!(
            "{} steps take about {}, at {ASSUMED_FRACTION} of the memory bandwidth of {:.1} GB/s that was measured now{earlier}\n",
            self.steps,
            duration(self.seconds(manifest, bandwidth)),
            bandwidth / 1e9
        );
        text
    }
}

/// One line on the run: `cavity2d: d2q9_bgk in f32, 128x128 cells in blocks of 16x16, CPU, 2 threads`.
pub fn header(case: &Case, manifest: &Manifest, placement: &Placement) -> String {
    let join = |sides: &mut dyn Iterator<Item = String>| sides.collect::<Vec<_>>().join("x");
    let size = join(&mut case.size[..case.dim].iter().map(usize::to_string));
    let block = join(&mut case.block[..case.dim].iter().map(u32::to_string));
    let padded: Vec<usize> =
        (0..case.dim).map(|axis| case.size[axis].next_multiple_of(case.block[axis] as usize)).collect();
    let padded = match padded == case.size[..case.dim] {
        true => String::new(),
        false => format!(", padded to {}", join(&mut padded.iter().map(usize::to_string))),
    };
    let real = manifest.real.name();
    let (name, spec, device) = (&case.name, &manifest.spec, placement.describe());
    format!("{name}: {spec} in {real}, {size} cells in blocks of {block}{padded}, {device}")
}

/// Relaxation rate that sets the viscosity, on each level.
fn rates(case: &Case, manifest: &Manifest, levels: usize) -> Vec<Option<f64>> {
    let at = manifest.viscosity.rate.as_ref().and_then(|rate| case.params.iter().position(|(name, _)| name == rate));
    let first: Vec<Vec<f64>> = case.params.iter().map(|(_, values)| values.clone()).collect();
    let all = std::iter::successors(Some(first), |values| Some(manifest.finer(values)));
    all.take(levels).map(|values| at.map(|at| values[at][0])).collect()
}
