//! The suites `refined` and `adaptive`: shipped cases run as `lbmc run` does, without output.
//!
//! Steps are so many that a row takes 5 to 20 seconds on one H200.

use std::collections::BTreeMap;
use std::path::Path;
use std::time::Instant;

use lbm_bundle::Target;
use lbm_bundle::input::{self, Limit};
use lbm_flows::case::{Case, Output};
use lbm_flows::flow::{self, Control, Kernels};
use lbm_flows::output::progress::Show;
use lbm_flows::output::summary::Summary;
use lbm_runtime::solver::Phase;
use lbm_setup::cases::{CaseFile, Shipped};
use lbm_setup::ready::Ready;
use miette::{IntoDiagnostic, Result, miette};

use super::record::{self, Flow, Outcome, Speed};
use super::row::Row;
use super::words::{quoted, target_name};
use crate::notes;

/// The surface that `wind_tunnel` reads.
const AEROPLANE: &str = "aeroplane.stl";

/// A case with some of its values set.
#[derive(Clone)]
pub struct Timed {
    /// A shipped case.
    pub case: &'static str,
    /// Keys and values.
    pub set: Vec<(&'static str, String)>,
    /// Whether it takes long on a CPU.
    pub large: bool,
    /// Whether it writes what its case and `set` say, into a folder that does not stay, and has what a summary says of the flow.
    pub writes: bool,
}

/// A case with a method, a precision and so many steps.
pub fn timed(case: &'static str, spec: &'static str, precision: &'static str, steps: &'static str) -> Timed {
    let set = [("spec", spec), ("precision", precision), ("stop.steps", steps)];
    Timed { case, set: set.map(|(key, value)| (key, value.to_string())).to_vec(), large: true, writes: false }
}

/// Flows on grids that are refined once.
pub fn refined(target: Target) -> Vec<Row> {
    let of = |case, spec, precision, steps| timed(case, spec, precision, steps).row(target);
    vec![
        of("cavity512", "d3q19_bgk", "f32", "500"),
        of("cavity512", "d3q19_bgk", "f64", "500"),
        of("cavity512", "d3q27_cumulant", "f32", "500"),
        of("cavity512", "d3q27_cumulant", "f64", "500"),
        of("cavity240", "d3q27_kbc", "f32", "3000"),
        of("sphere", "d3q27_kbc", "f32", "12000"),
    ]
}

/// Flows on grids that follow them.
pub fn adaptive(target: Target) -> Vec<Row> {
    let of = |case, spec, precision, steps| timed(case, spec, precision, steps).row(target);
    let steps = if target.is_gpu() { "20000" } else { "1000" };
    let small = small("cavity2d_adaptive", "d2q9_bgk", "f64", steps);
    vec![
        of("cavity2d_agal", "d2q9_bgk", "f32", "40000"),
        of("cavity3d_agal", "d3q19_bgk", "f32", "1000"),
        of("cavity3d_agal", "d3q19_bgk", "f64", "1000"),
        of("cavity3d_agal", "d3q27_bgk", "f32", "1000"),
        of("cavity3d_agal", "d3q27_bgk", "f64", "1000"),
        small.row(target),
        of("wind_tunnel", "d3q27_kbc", "f32", "500"),
    ]
}

/// One that a CPU can do.
pub fn small(case: &'static str, spec: &'static str, precision: &'static str, steps: &'static str) -> Timed {
    Timed { large: false, ..timed(case, spec, precision, steps) }
}

impl Timed {
    /// Its row, named after case, method and precision.
    pub fn row(self, target: Target) -> Row {
        let value = |key: &str| self.set.iter().find(|(name, _)| *name == key).map_or("", |(_, value)| &value[..]);
        let name = format!("{}-{}-{}", self.case, value("spec"), value("precision"));
        self.row_called(name, target)
    }

    /// With values set; one that was set before is set anew.
    pub fn with<V: ToString>(mut self, set: impl IntoIterator<Item = (&'static str, V)>) -> Timed {
        for (key, value) in set {
            self.set.retain(|(name, _)| *name != key);
            self.set.push((key, value.to_string()));
        }
        self
    }

    /// With what its case writes, and what a summary says of it.
    pub fn writing(self) -> Timed {
        Timed { writes: true, ..self }
    }

    /// What is set on a target.
    pub fn settings(&self, target: Target) -> Vec<(String, String)> {
        let target = ("target".to_string(), target_name(target).to_string());
        std::iter::once(target).chain(self.set.iter().map(|(key, value)| (key.to_string(), value.clone()))).collect()
    }

    /// Its row under another name.
    pub fn row_called(self, name: String, target: Target) -> Row {
        let settings = self.settings(target);
        let set = settings.iter().map(|(key, value)| format!(" --set {}", quoted(&format!("{key}={value}"))));
        let surface = (self.case == "wind_tunnel")
            .then(|| input::bytes(Path::new(AEROPLANE), Limit::SURFACE).ok().map(|bytes| record::digest([bytes])));
        let lacks = match surface {
            _ if self.large && !target.is_gpu() => Some("wants a GPU: on a CPU only where it is named".to_string()),
            Some(None) => {
                Some(format!("there is no `{AEROPLANE}` here: `python3 scripts/aeroplane.py {AEROPLANE}` makes it"))
            }
            _ => None,
        };
        let Timed { case, writes, .. } = self;
        Row {
            name,
            command: format!("lbmc run {case}{} --bandwidth", set.collect::<String>()),
            target,
            inputs: surface.flatten().unwrap_or_default(),
            lacks,
            measure: Box::new(move |_| measure(case, &settings, writes)),
        }
    }
}

/// A run of a shipped case.
pub struct Run {
    /// What it said of itself.
    pub summary: Summary,
    /// Seconds that generating the kernels took.
    pub generate_seconds: f64,
}

/// Runs a shipped case as `lbmc run` does, in a folder that does not stay; with the bandwidth of the device if that is asked for.
pub fn run(case: &str, settings: &[(String, String)], writes: bool, bandwidth: bool) -> Result<Run> {
    let began = Instant::now();
    let shipped = Shipped::find(case).ok_or_else(|| miette!(code = "L0102", "no case `{case}` is shipped"))?;
    let Ready { case, placement, method, criteria, prescribed, .. } =
        Ready::new(&CaseFile::of(shipped), settings, false)?;
    let generate_seconds = began.elapsed().as_secs_f64();
    // A case that writes nothing.
    let nothing = || Output { directory: case.output.directory.clone(), ..Output::default() };
    let case = if writes { case } else { Case { output: nothing(), ..case.clone() } };
    let folder = tempfile::tempdir().into_diagnostic()?;
    let show = if notes::quiet() { Show::Nothing } else { Show::Line };
    let control = Control { show, bandwidth, ..Control::default() };
    let kernels =
        Kernels { method: &method, criteria: criteria.as_ref(), prescribed: prescribed.as_ref(), statistics: None };
    let summary = flow::run(&case, kernels, &placement, folder.path(), control, notes::note)?;
    Ok(Run { summary, generate_seconds })
}

/// Phases in which levels exchange populations.
const EXCHANGES: [Phase; 7] = [
    Phase::ToFine,
    Phase::ToFineWalls,
    Phase::ToCoarse,
    Phase::ToCoarseWalls,
    Phase::Restrict,
    Phase::Send,
    Phase::Prolong,
];

/// What a summary says of a flow, by name: means of the force on the first solid, differences from a published profile (in reference
/// velocities) or series, the share of the sampled phases of a step in which levels exchange populations.
fn values(summary: &Summary) -> BTreeMap<String, f64> {
    let mut values = BTreeMap::new();
    if let Some(force) = summary.forces.first() {
        values.extend(force.drag.as_ref().map(|drag| ("drag".to_string(), drag.mean)));
        values.extend(force.strouhal.map(|strouhal| ("strouhal".to_string(), strouhal)));
    }
    values.extend(summary.compared.iter().map(|with| (format!("rms {}", with.profile), with.rms)));
    if let Some(decay) = &summary.decay {
        values.insert("rms energy".to_string(), decay.energy_rms);
        values.insert("rms dissipation".to_string(), decay.dissipation_rms);
        values.insert("peak dissipation".to_string(), decay.peak.dissipation);
        values.insert("peak time".to_string(), decay.peak.time);
    }
    let steps = summary.phases.iter().filter(|(name, _)| *name != "adapt");
    let (all, exchanges) = steps.fold((0.0, 0.0), |(all, exchanges), (name, seconds)| {
        let of = EXCHANGES.iter().any(|phase| phase.name() == name);
        (all + seconds, exchanges + if of { *seconds } else { 0.0 })
    });
    if exchanges > 0.0 {
        values.insert("share of exchange".to_string(), exchanges / all);
    }
    values
}

/// Measures a run of a case.
fn measure(case: &str, settings: &[(String, String)], writes: bool) -> Result<Outcome> {
    let Run { summary: done, generate_seconds } = run(case, settings, writes, true)?;
    let values = values(&done);
    let steps = done.steps.max(1) as f64;
    let adapting = done.phases.get("adapt").copied().unwrap_or_default() * steps;
    let speed = Speed {
        spec: done.about.spec.clone(),
        real: done.about.precision,
        block: done.about.block.clone(),
        size: done.about.size.clone(),
        levels: done.levels.clone(),
        steps: done.steps,
        seconds: done.seconds,
        mlups: done.mlups,
        mlups_min: None,
        mlups_max: None,
        memory_bandwidth_gb_per_s: done.memory_bandwidth_gb_per_s.unwrap_or_default(),
        fraction_of_bandwidth: done.fraction_of_bandwidth.unwrap_or_default(),
        bytes_per_leaf_cell: done.device_bytes as f64 / done.cells.max(1) as f64,
        memory: done.memory,
        generate_seconds,
        first_step_seconds: generate_seconds + done.first_step_seconds,
    };
    Ok(Outcome::Flow(Flow {
        microseconds_per_coarse_step: speed.microseconds(),
        speed,
        share_adapting: adapting / done.seconds.max(f64::MIN_POSITIVE),
        phases: done.phases,
        adaptations: done.adaptations,
        values,
    }))
}
