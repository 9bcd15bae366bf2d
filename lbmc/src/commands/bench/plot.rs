//! Plots of a suite: the fraction of memory bandwidth of each row, with what others reach; a roofline of kernels; noise of couplings.

use std::collections::BTreeMap;

use lbm_flows::output::bars::{self, Bar};
use lbm_flows::output::chart;

use super::record::{Origin, Outcome, Record};

/// Bars of all rows that have a speed, as a PNG file; none of none.
pub fn fractions(suite: &str, origin: &Origin, rows: &[&Record]) -> Option<Vec<u8>> {
    let mut sources: Vec<String> = vec![];
    let mut bars = vec![];
    for row in rows {
        let Some(speed) = row.outcome.speed() else { continue };
        let mut others = vec![];
        for peer in &row.peers {
            let Some(fraction) = peer.fraction_of_bandwidth else { continue };
            let source = format!("{}, {}: {}", peer.name, peer.device, peer.source);
            let place = sources.iter().position(|known| *known == source).unwrap_or_else(|| {
                sources.push(source);
                sources.len() - 1
            });
            others.push((place, fraction));
        }
        bars.push(Bar { name: row.name.clone(), value: speed.fraction_of_bandwidth, others });
    }
    let ours = format!("lbmc {}, {}: measured", origin.version, origin.device);
    let axis = "populations read and written once per update, over the memory bandwidth";
    (!bars.is_empty()).then(|| bars::draw(&format!("{suite}: {}", origin.device), axis, &ours, &sources, &bars))
}

/// Operations a second over operations per byte of each method, and the line of the memory bandwidth, as a PNG file; none of no
/// kernels.
pub fn roofline(origin: &Origin, rows: &[&Record]) -> Option<Vec<u8>> {
    let mut methods: BTreeMap<&str, Vec<(f64, f64)>> = BTreeMap::new();
    let mut bandwidth: f64 = 0.0;
    for row in rows {
        let Outcome::Kernel(kernel) = &row.outcome else { continue };
        let point = (kernel.flop_per_byte, kernel.gflop_per_s);
        methods.entry(&kernel.speed.spec).or_default().push(point);
        bandwidth = bandwidth.max(kernel.speed.memory_bandwidth_gb_per_s);
    }
    let groups: Vec<_> = methods.into_iter().map(|(name, points)| (name.to_string(), points)).collect();
    let line = (&format!("memory bandwidth, {bandwidth:.0} GB/s")[..], bandwidth);
    let title = format!("roofline: {}", origin.device);
    let axes = ("operations per byte read and written", "GFLOP/s");
    (!groups.is_empty()).then(|| chart::slope(&title, axes.0, axes.1, line, &groups))
}

/// Noise of shear waves behind refinement interfaces, a bar for each way and distance of each row, as a PNG file; none of no crossings.
pub fn noise(origin: &Origin, rows: &[&Record]) -> Option<Vec<u8>> {
    let of_row = |row: &&Record| {
        let Outcome::Crossing(crossing) = &row.outcome else { return vec![] };
        let noise = crossing.values.iter().filter_map(|(name, value)| Some((name.strip_suffix(": noise")?, *value)));
        noise.map(|(name, value)| Bar { name: format!("{}: {name}", row.name), value, others: vec![] }).collect()
    };
    let bars: Vec<Bar> = rows.iter().flat_map(of_row).collect();
    let ours = format!("lbmc {}, {}: measured", origin.version, origin.device);
    let axis = "velocity that shear waves leave behind, rms, in millionths of theirs";
    (!bars.is_empty()).then(|| bars::draw("couplings: noise at refinement interfaces", axis, &ours, &[], &bars))
}
