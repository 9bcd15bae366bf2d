//! What others reach: the figures of `peers.toml`, each with its source.

use std::collections::BTreeMap;
use std::sync::OnceLock;

use lbm_bundle::Target;
use serde::{Deserialize, Serialize};

use super::words::is_of;

/// A figure of another code.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Peer {
    /// Which code.
    pub name: String,
    /// Its device.
    pub device: String,
    /// Million leaf-cell updates a second.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub mlups: Option<f64>,
    /// The same over what the memory bandwidth of that device allows.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub fraction_of_bandwidth: Option<f64>,
    /// Share of the time that changes of the grid take.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub share_adapting: Option<f64>,
    /// Other figures, by the names that those of the row have.
    #[serde(skip_serializing_if = "BTreeMap::is_empty", default)]
    pub values: BTreeMap<String, f64>,
    /// Where the figure comes from: a paper with its table or figure, or a measurement.
    pub source: String,
}

/// A figure and the rows that it stands beside, on a target or on any.
#[derive(Debug, Deserialize)]
pub(super) struct Entry {
    pub(super) rows: Vec<String>,
    target: Option<Target>,
    #[serde(flatten)]
    peer: Peer,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Peers {
    peer: Vec<Entry>,
}

/// All figures.
pub(super) fn entries() -> &'static [Entry] {
    static ENTRIES: OnceLock<Vec<Entry>> = OnceLock::new();
    ENTRIES.get_or_init(|| {
        let peers: Peers = toml::from_str(include_str!("peers.toml")).expect("a test reads it");
        peers.peer
    })
}

/// Figures to stand beside a row on a target, in the order of the file.
pub fn beside(row: &str, target: Target) -> Vec<Peer> {
    let entries = entries().iter().filter(|entry| entry.target.is_none_or(|of| of == target));
    let entries = entries.filter(|entry| entry.rows.iter().any(|name| is_of(row, name)));
    entries.map(|entry| entry.peer.clone()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_figure_has_a_source() {
        for entry in entries() {
            let figures = entry.peer.mlups.iter().chain(entry.peer.values.values());
            assert!(!entry.peer.source.is_empty() && figures.clone().count() > 0, "{entry:?}");
            assert!(figures.copied().all(|figure| figure > 0.0), "{entry:?}");
            assert!(entry.peer.fraction_of_bandwidth.is_none_or(|part| part > 0.0 && part < 1.0), "{entry:?}");
        }
    }

    #[test]
    fn a_figure_of_a_gpu_does_not_stand_beside_a_cpu() {
        assert!(!beside("d3q19_bgk-f32-4x4x4", Target::Cuda).is_empty());
        assert!(beside("d3q19_bgk-f32-128x4x4", Target::C).is_empty());
        assert_eq!(beside("agal-table7-16-static-cubic", Target::C)[0].values["drag"], 1.513);
    }
}
