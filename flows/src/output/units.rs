//! Units of the numbers in `summary.json`, by key.

use std::collections::BTreeMap;

use serde_json::Value;

use super::flux_planes;
use super::summary::Summary;
use crate::case::Case;

/// The unit of each key of a summary that has a value and a unit. Keys are paths from the top, joined by dots; lists
/// are skipped.
pub(super) fn of(case: &Case, summary: &Summary) -> BTreeMap<String, String> {
    let there = serde_json::to_value(summary).unwrap_or_default();
    let [across, whole] = if case.dim == 2 { ["cells", "cells²"] } else { ["cells²", "cells³"] };
    let [velocity, time] = if case.scales.velocity > 0.0 { ["U", "L/U"] } else { ["cells/step", "steps"] };
    let mass = format!("{whole} of a fluid of density 1");
    let length = if case.units.si { "m" } else { "cells" };
    let torque = format!("{} times {length}", case.units.force(case.dim).1);
    let [area, volume, of_mass] = flux_planes::scales(case).map(|(_, unit)| unit);
    let all = [
        ("re", "1"),
        ("omega", "1"),
        ("mach", "1"),
        ("viscosity", "cells²/step"),
        ("cell", "m"),
        ("time_step", "s"),
        ("block", "cells"),
        ("size", "cells"),
        ("phases", "s"),
        ("seconds", "s"),
        ("seconds_waiting_for_output", "s"),
        ("first_step_seconds", "s"),
        ("memory", "bytes"),
        ("device_bytes", "bytes"),
        ("mlups", "10^6 cell updates/s"),
        ("memory_bandwidth_gb_per_s", "10^9 bytes/s"),
        ("fraction_of_bandwidth", "1"),
        ("mass_start", &mass),
        ("mass_end", &mass),
        ("mass_rate", "1/step"),
        ("scalars.start", whole),
        ("scalars.end", whole),
        ("residual", velocity),
        ("compared.rms", "U"),
        ("compared.max", "U"),
        ("decay.until", "L/U"),
        ("decay.energy_rms", "energy at the start"),
        ("decay.dissipation_rms", "published peak of the dissipation"),
        ("decay.peak.time", "L/U"),
        ("decay.peak.dissipation", "U³/L"),
        ("decay.published_peak.time", "L/U"),
        ("decay.published_peak.dissipation", "U³/L"),
        ("fluxes.faces.area", across),
        ("fluxes.faces.mass", &format!("{whole}/step of a fluid of density 1")),
        ("fluxes.faces.velocity", "cells/step"),
        ("fluxes.faces.given", "cells/step"),
        ("fluxes.imbalance", "1"),
        ("forces.area", across),
        ("forces.window.from_time", time),
        ("forces.window.to_time", time),
        ("forces.drag", "1"),
        ("forces.lift", "1"),
        ("forces.cy", "1"),
        ("forces.cz", "1"),
        ("forces.torque", &torque),
        ("forces.drift", "1"),
        ("forces.strouhal", "1"),
        ("y_plus.least", "1"),
        ("y_plus.mean", "1"),
        ("y_plus.greatest", "1"),
        ("heat.rate", &format!("unit of the scalar times {volume}")),
        ("heat.nusselt", "1"),
        ("planes.area", &area),
        ("planes.volume", &volume),
        ("planes.mass", &of_mass),
        ("planes.scalars.carried", &format!("unit of the scalar times {volume}")),
        ("planes.scalars.diffused", &format!("unit of the scalar times {volume}")),
        ("probes.point", length),
    ];
    let found = all.into_iter().filter(|(key, _)| has(&there, key));
    found.map(|(key, unit)| (key.to_string(), unit.to_string())).collect()
}

/// Whether a summary has a value under a key, in any entry of the lists on the path.
fn has(value: &Value, key: &str) -> bool {
    if let Value::Array(list) = value {
        return list.iter().any(|entry| has(entry, key));
    }
    let (first, rest) = key.split_once('.').map_or((key, None), |(first, rest)| (first, Some(rest)));
    match (value.get(first), rest) {
        (None | Some(Value::Null), _) => false,
        (Some(inside), Some(rest)) => has(inside, rest),
        (Some(_), None) => true,
    }
}
