//! The results of a run as readable text, taken from the summary without further computation.

use std::path::Path;

use crate::output::mass::warning as mass_warning;
use crate::output::series::Decay;
use crate::output::sink;
use crate::output::summary::{About, Carried, Observed, Parameter, Summary};

/// Parameters that the case leaves to the method: `magic = 0.1875, the default of d2q9_trt`, a line each.
fn defaults(about: &About) -> String {
    let left = about.parameters.iter().filter(|param| param.default);
    left.map(|Parameter { name, values, .. }| format!("{name} = {}, the default of {}\n", values[0], about.spec))
        .collect()
}

/// Text that describes a run in a few lines.
pub fn describe(summary: &Summary, folder: &Path) -> String {
    let why = summary.stop.words();
    let mut text = format!("{} steps, {why}; {:.1} MLUPS", summary.steps, summary.mlups);
    if let (Some(fraction), Some(bandwidth)) = (summary.fraction_of_bandwidth, summary.memory_bandwidth_gb_per_s) {
        text += &format!(", {fraction:.2} of the memory bandwidth of {bandwidth:.1} GB/s of {}", summary.about.device);
    }
    text += &format!("\nmass {:.9} at the start, {:.9} at the end\n", summary.mass_start, summary.mass_end);
    let warning = summary.mass_rate.and_then(|_| mass_warning(summary.mass_start, summary.mass_end, summary.steps));
    warning.iter().for_each(|warning| text += &format!("warning: {warning}\n"));
    for Carried { name, start, end } in &summary.scalars {
        text += &format!("sum of {name} {start:.9} at the start, {end:.9} at the end\n");
    }
    for with in &summary.compared {
        text += &format!("{} against {}: rms {:.4}, at most {:.4}\n", with.profile, with.with, with.rms, with.max);
    }
    if let Some(Decay { with, until, energy_rms, dissipation_rms, peak, published_peak }) = &summary.decay {
        text += &format!(
            "against {with} until t U/L = {until}: energy rms {energy_rms:.2e} of that at the start; dissipation rms \
             {dissipation_rms:.3} of its peak, peak {:.5} at {:.2}, published {:.5} at {:.2}\n",
            peak.dissipation, peak.time, published_peak.dissipation, published_peak.time,
        );
    }
    text += &defaults(&summary.about);
    for Observed { name, mean } in &summary.observed {
        text += &format!("mean of {name}: {mean:.6e} in cells and steps of the coarsest level\n");
    }
    if let Some(fluxes) = &summary.fluxes {
        text += &fluxes.describe();
    }
    for plane in &summary.planes {
        text += &plane.describe(&summary.units);
    }
    for force in &summary.forces {
        text += &force.describe();
    }
    for y_plus in &summary.y_plus {
        text += &y_plus.describe();
    }
    for heat in &summary.heat {
        text += &heat.describe();
    }
    for report in &summary.report {
        text += &report.describe();
    }
    let restart = summary.stop.is_early().then_some(sink::RESTART);
    let files: Vec<&str> = summary.files.iter().map(String::as_str).chain(restart).chain(["summary.json"]).collect();
    text + &format!("{}: {}\n", folder.display(), files.join(", "))
}
