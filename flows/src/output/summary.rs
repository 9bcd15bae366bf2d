//! `summary.json`: what was run, its performance, its results, and why it ended.

use std::collections::BTreeMap;

use lbm_bundle::{Manifest, Real, Target};
use lbm_runtime::device::Device;
use lbm_runtime::solver::Adaptations;
use lbm_runtime::solver::memory::Memory;
use lbm_runtime::solver::snapshot::Snapshot;
use serde::{Deserialize, Serialize};

use super::flux::Fluxes;
use super::flux_planes::FluxMean;
use super::heat::HeatMean;
use super::probes::ProbeMean;
use super::profile::Comparison;
use super::series::Decay;
use super::settling::Settled;
use super::surfaces::YPlus;
use crate::case::{Case, StopReason};

/// How a run ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Status {
    /// As the case specifies.
    Completed,
    /// Before that: the results are those of the step that it had reached.
    Interrupted,
    /// With an error.
    Failed,
}

/// Measurements of a run.
#[derive(Clone, Debug, PartialEq)]
pub struct Measured {
    /// Number of cells of each level, the coarsest first.
    pub levels: Vec<usize>,
    /// Cell updates of all steps.
    pub updates: u64,
    /// Counts of grid adaptations, if the grid is refined.
    pub adaptations: Option<Adaptations>,
    /// Mean seconds of each phase per step, by name; phases that take no time are omitted.
    pub phases: BTreeMap<String, f64>,
    /// Completed steps.
    pub steps: u64,
    /// Wall time of these steps, without set-up and output, in seconds.
    pub seconds: f64,
    /// Wall time for which the flow was waiting for earlier output to be written, in seconds.
    pub seconds_waiting_for_output: f64,
    /// Wall time from reading kernels and case to the end of the first step of this run, in seconds.
    pub first_step: f64,
    /// Memory of the grid when it was set up.
    pub memory: Memory,
    /// Memory bandwidth of the device (device-to-device copy), bytes read and written per second, if measured.
    pub memory_bandwidth: Option<f64>,
    /// Mass at the start: sum of the density over the fluid cells, in lattice units.
    pub mass_start: f64,
    /// Mass at the end.
    pub mass_end: f64,
    /// Whether no boundary lets mass in or out.
    pub is_closed: bool,
    /// Sums of further populations.
    pub scalars: Vec<Carried>,
    /// Change of velocity at the last check, relative to the reference velocity.
    pub residual: Option<f64>,
    /// Why the run ended.
    pub stop: StopReason,
}

/// Sum of a further set of populations over the fluid cells, in lattice units.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Carried {
    /// Name of the populations.
    pub name: String,
    /// At the start.
    pub start: f64,
    /// At the end.
    pub end: f64,
}

/// Statistics that a run has written.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Accumulated {
    /// Name in the case.
    pub name: String,
    /// Step of the first sample.
    pub from_step: u64,
    /// Step of the last sample.
    pub to_step: u64,
    /// Number of samples.
    pub samples: u64,
}

/// Mean over the fluid of a component of an observable, in cells and steps of the coarsest level.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Observed {
    /// Name: `tau_xy`.
    pub name: String,
    /// Volume-weighted mean.
    pub mean: f64,
}

impl Observed {
    /// Means of all observables in a snapshot.
    pub fn all(manifest: &Manifest, snapshot: &Snapshot) -> Vec<Observed> {
        let observed = manifest.fields.iter().filter(|field| field.observed);
        let mean = |name: String| {
            let is_fluid = |at: &usize| !snapshot.solid.get(*at).is_some_and(|solid| *solid);
            let values = snapshot.get(&name)?;
            let (mut sum, mut volume) = (0.0, 0.0);
            for at in (0..values.len()).filter(is_fluid) {
                let of_cell = snapshot.volume(at / snapshot.block_cells());
                (sum, volume) = (sum + of_cell * values[at], volume + of_cell);
            }
            Some(Observed { name, mean: sum / volume })
        };
        observed.flat_map(|field| field.component_names(manifest.dim)).filter_map(mean).collect()
    }
}

/// A derived result.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Reported {
    /// Its name in the case.
    pub name: String,
    /// Its formula in the case.
    pub formula: String,
    /// Its value, in the units of the case; `None` if a name in the formula has no value, or if it is not finite.
    pub value: Option<f64>,
}

impl Reported {
    /// One line of text.
    pub fn describe(&self) -> String {
        match self.value {
            Some(value) => format!("{}: {value:.6e} = {}\n", self.name, self.formula),
            None => format!("{}: no value of {}\n", self.name, self.formula),
        }
    }
}

/// A parameter of the method.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Parameter {
    /// Its name in the spec.
    pub name: String,
    /// Its components in lattice units, at the start.
    pub values: Vec<f64>,
    /// Whether the case leaves it to the default of the method.
    #[serde(skip_serializing_if = "std::ops::Not::not", default)]
    pub default: bool,
}

impl Parameter {
    /// All parameters of the method of a case.
    fn all(case: &Case) -> Vec<Parameter> {
        let of = |(name, values): &(String, Vec<f64>)| {
            let (name, values, default) = (name.clone(), values.clone(), case.defaults.contains(name));
            Parameter { name, values, default }
        };
        case.params.iter().map(of).collect()
    }
}

/// Description of a run: the part of the summary that is known at its start.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct About {
    /// Version of lbmc.
    pub version: String,
    /// Name of the case.
    pub case: String,
    /// The method.
    pub spec: String,
    /// Its lattice.
    pub lattice: String,
    /// Target of the kernels.
    pub target: Target,
    /// Device that runs them.
    pub device: String,
    /// Number of subdomains.
    pub parts: usize,
    /// Compiler of the kernels: name, version and flags.
    pub compiler: String,
    /// Precision.
    pub precision: Real,
    /// Cells of a block.
    pub block: Vec<u32>,
    /// Cells along each axis.
    pub size: Vec<usize>,
    /// Reynolds number.
    pub re: Option<f64>,
    /// Relaxation rate that sets the viscosity.
    pub omega: Option<f64>,
    /// Kinematic viscosity, in lattice units.
    pub viscosity: Option<f64>,
    /// Parameters of the method.
    #[serde(default)]
    pub parameters: Vec<Parameter>,
    /// Mach number.
    pub mach: f64,
    /// Size of a cell in metres, for a case in SI units.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub cell: Option<f64>,
    /// Time step in seconds, for a case in SI units.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub time_step: Option<f64>,
}

impl About {
    /// From a case, the kernels of its method, its first device and the number of its subdomains.
    pub fn new(case: &Case, manifest: &Manifest, device: &Device, parts: usize) -> About {
        About {
            version: env!("CARGO_PKG_VERSION").to_string(),
            case: case.name.clone(),
            spec: manifest.spec.clone(),
            lattice: manifest.main().lattice.clone(),
            target: manifest.target,
            device: device.describe(),
            parts,
            compiler: device.compiler(),
            precision: manifest.real,
            block: manifest.block[..case.dim].to_vec(),
            size: case.size[..case.dim].to_vec(),
            re: case.scales.re,
            omega: case.scales.omega,
            viscosity: case.scales.viscosity,
            parameters: Parameter::all(case),
            mach: case.scales.mach,
            cell: case.units.si.then_some(case.units.cell),
            time_step: case.units.si.then_some(case.units.step),
        }
    }
}

/// Why a run failed.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Failure {
    /// The code of the error, for `lbmc explain`.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub code: Option<String>,
    /// The message.
    pub message: String,
    /// Advice.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub help: Option<String>,
}

/// Content of `summary.json` after a failed run.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Failed {
    /// Description of the run.
    #[serde(flatten)]
    pub about: About,
    /// [`Status::Failed`].
    pub status: Status,
    /// The error.
    pub error: Failure,
    /// The last step that the run is known to have reached.
    pub steps: u64,
    /// Input files from which the run can be repeated.
    pub inputs: Vec<String>,
    /// Files written besides this one.
    pub files: Vec<String>,
}

/// Content of `summary.json` after a run that completed or was interrupted.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Summary {
    /// Description of the run.
    #[serde(flatten)]
    pub about: About,
    /// How it ended.
    pub status: Status,
    /// Number of cells of all levels.
    pub cells: usize,
    /// Number of cells of each level, the coarsest first.
    #[serde(default)]
    pub levels: Vec<usize>,
    /// Mean seconds of each phase per step of the coarsest level, from a sample of steps.
    #[serde(default)]
    pub phases: BTreeMap<String, f64>,
    /// Counts of grid adaptations.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub adaptations: Option<Adaptations>,
    /// Completed steps.
    pub steps: u64,
    /// Wall time of the steps, in seconds.
    pub seconds: f64,
    /// Wall time for which the flow was waiting for earlier output to be written, in seconds.
    #[serde(default)]
    pub seconds_waiting_for_output: f64,
    /// Wall time from reading kernels and case to the end of the first step, in seconds. It includes compiling the
    /// kernels or loading them from the cache, and setting up the grid.
    #[serde(default)]
    pub first_step_seconds: f64,
    /// Bytes of each item of the grid's memory when it was set up, by name.
    #[serde(default)]
    pub memory: BTreeMap<String, usize>,
    /// Bytes of these on the device, or on each of several GPUs.
    #[serde(default)]
    pub device_bytes: usize,
    /// Million cell updates per second.
    pub mlups: f64,
    /// Memory bandwidth of the device (device-to-device copy) in GB/s, bytes read and written; of several GPUs
    /// together.
    pub memory_bandwidth_gb_per_s: Option<f64>,
    /// Bandwidth of the populations alone (each read and written once per step) over the memory bandwidth.
    pub fraction_of_bandwidth: Option<f64>,
    /// Mass at the start: sum of the density over the fluid cells, in lattice units.
    pub mass_start: f64,
    /// Mass at the end.
    pub mass_end: f64,
    /// Relative change of mass per step, averaged over all steps, if no boundary lets mass in or out.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub mass_rate: Option<f64>,
    /// Sums of further populations.
    #[serde(skip_serializing_if = "Vec::is_empty", default)]
    pub scalars: Vec<Carried>,
    /// Why the run ended.
    pub stop: StopReason,
    /// Change of velocity at the last check, relative to the reference velocity.
    pub residual: Option<f64>,
    /// Deviations from published profiles.
    pub compared: Vec<Comparison>,
    /// Deviation from a published time series.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub decay: Option<Decay>,
    /// Fluxes through open faces at the end.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub fluxes: Option<Fluxes>,
    /// Means of observables over the fluid at the end.
    #[serde(skip_serializing_if = "Vec::is_empty", default)]
    pub observed: Vec<Observed>,
    /// Converged force on each solid.
    #[serde(skip_serializing_if = "Vec::is_empty", default)]
    pub forces: Vec<Settled>,
    /// y+ on the surface of each solid, then on each face that is a wall, at the end, with `output.surfaces`.
    #[serde(skip_serializing_if = "Vec::is_empty", default)]
    pub y_plus: Vec<YPlus>,
    /// Mean release of scalars from each solid to the fluid.
    #[serde(skip_serializing_if = "Vec::is_empty", default)]
    pub heat: Vec<HeatMean>,
    /// Mean fluxes through planes.
    #[serde(skip_serializing_if = "Vec::is_empty", default)]
    pub planes: Vec<FluxMean>,
    /// Means of probes with few points.
    #[serde(skip_serializing_if = "Vec::is_empty", default)]
    pub probes: Vec<ProbeMean>,
    /// Derived results of the case.
    #[serde(skip_serializing_if = "Vec::is_empty", default)]
    pub report: Vec<Reported>,
    /// Statistics over time.
    #[serde(skip_serializing_if = "Vec::is_empty", default)]
    pub statistics: Vec<Accumulated>,
    /// Units of these numbers, by their keys from the top: `forces.area`.
    #[serde(default)]
    pub units: BTreeMap<String, String>,
    /// Input files from which the run can be repeated: `lbmc run case.toml`.
    pub inputs: Vec<String>,
    /// Other files written, besides this one.
    pub files: Vec<String>,
}

/// Million cell updates per second; zero if no time has passed.
pub fn mlups(updates: u64, seconds: f64) -> f64 {
    if seconds > 0.0 { updates as f64 / seconds / 1e6 } else { 0.0 }
}

/// Memory traffic of a cell update in bytes: every population read and written once.
pub fn bytes_per_update(manifest: &Manifest) -> f64 {
    (2 * manifest.values() * manifest.real.stored_bytes()) as f64
}

impl Summary {
    /// From the description and the measurements of a run.
    pub fn new(about: About, manifest: &Manifest, measured: &Measured) -> Summary {
        let mlups = mlups(measured.updates, measured.seconds);
        Summary {
            about,
            status: if measured.stop.is_early() { Status::Interrupted } else { Status::Completed },
            cells: measured.levels.iter().sum(),
            levels: measured.levels.clone(),
            phases: measured.phases.clone(),
            adaptations: measured.adaptations,
            steps: measured.steps,
            seconds: measured.seconds,
            seconds_waiting_for_output: measured.seconds_waiting_for_output,
            first_step_seconds: measured.first_step,
            memory: measured.memory.parts().into_iter().map(|(name, bytes)| (name.to_string(), bytes)).collect(),
            device_bytes: measured.memory.on_device(),
            mlups,
            memory_bandwidth_gb_per_s: measured.memory_bandwidth.map(|bandwidth| bandwidth / 1e9),
            fraction_of_bandwidth: measured
                .memory_bandwidth
                .map(|bandwidth| mlups * 1e6 * bytes_per_update(manifest) / bandwidth),
            mass_start: measured.mass_start,
            mass_end: measured.mass_end,
            mass_rate: measured
                .is_closed
                .then(|| (measured.mass_end / measured.mass_start - 1.0) / measured.steps.max(1) as f64),
            scalars: measured.scalars.clone(),
            stop: measured.stop,
            residual: measured.residual,
            compared: vec![],
            decay: None,
            fluxes: None,
            observed: vec![],
            forces: vec![],
            y_plus: vec![],
            heat: vec![],
            planes: vec![],
            report: vec![],
            probes: vec![],
            statistics: vec![],
            units: BTreeMap::new(),
            inputs: vec![],
            files: vec![],
        }
    }
}

impl Summary {
    /// Whether the run has drawn anything.
    pub fn has_pictures(&self) -> bool {
        self.files.iter().any(|file| file.ends_with(".png") || file.ends_with(".gif"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::output::fixture;

    #[test]
    fn a_summary_counts_updates_and_bytes_and_survives_json() {
        let (case, _) = fixture::cavity(16);
        let measured = Measured {
            levels: vec![256],
            updates: 256 * 1000,
            adaptations: None,
            phases: BTreeMap::new(),
            steps: 1000,
            seconds: 0.5,
            seconds_waiting_for_output: 0.25,
            first_step: 0.1,
            memory: fixture::memory(),
            memory_bandwidth: Some(1e9),
            mass_start: 256.0,
            mass_end: 256.5,
            is_closed: false,
            scalars: vec![Carried { name: "g".into(), start: 2.0, end: 3.0 }],
            residual: Some(1e-5),
            stop: StopReason::Steady,
        };
        let summary = Summary::new(fixture::about(&case), &fixture::manifest(), &measured);
        assert!((summary.mlups - 256.0 * 1000.0 / 0.5 / 1e6).abs() < 1e-12);
        let bytes = 2.0 * 9.0 * 4.0;
        assert!((summary.fraction_of_bandwidth.unwrap() - summary.mlups * 1e6 * bytes / 1e9).abs() < 1e-12);
        let text = serde_json::to_string(&summary).unwrap();
        assert!(text.contains(r#""stop":"steady""#), "{text}");
        assert_eq!(serde_json::from_str::<Summary>(&text).unwrap(), summary);
    }

    #[test]
    fn no_time_is_no_speed() {
        assert_eq!(mlups(0, 0.0), 0.0);
    }
}
