//! Output already written by a run, stored in restart files for the resumed run.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use super::bits::Bits;
use super::flux_planes::SavedFlux;
use super::heat::SavedHeat;
use super::probes::SavedProbe;
use super::series::Series;
use super::vtk::frame_name;
use crate::case::{Case, Vtk, is_plain};

/// Rows of a table: a step, and numbers that do not depend on the case.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub(super) struct SavedRows {
    pub(super) steps: Vec<u64>,
    /// The numbers of all rows, as many in each.
    pub(super) values: Vec<Bits>,
}

impl SavedRows {
    /// Whether every row has as many numbers.
    fn is_whole(&self) -> bool {
        let rows = self.steps.len();
        if rows == 0 { self.values.is_empty() } else { self.values.len().is_multiple_of(rows) }
    }
}

/// Everything that a recorder has written so far.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Recorded {
    pub(super) files: Vec<String>,
    pub(super) frames: Vec<(u64, String)>,
    pub(super) series: Vec<[Bits; 6]>,
    pub(super) forces: Vec<(u64, Vec<[Bits; 3]>)>,
    #[serde(default)]
    pub(super) heat: SavedHeat,
    #[serde(default)]
    pub(super) probes: Vec<SavedProbe>,
    #[serde(default)]
    pub(super) fluxes: Vec<SavedFlux>,
    /// Rows of other tables, by the names of their files.
    #[serde(default)]
    pub(super) tables: BTreeMap<String, SavedRows>,
}

impl Recorded {
    /// The first entry that no run of this case can have written until a step, if there is one.
    pub(crate) fn wrong(&self, case: &Case, until: u64) -> Option<&'static str> {
        if !self.files.iter().all(|name| is_plain(name) && name.len() < 256) {
            return Some("it lists files that no run writes");
        }
        let frame = |(step, name): &(u64, String)| Vtk::ALL.iter().any(|format| *name == frame_name(*step, *format));
        if !self.frames.iter().all(frame) || !rises(self.frames.iter().map(|(step, _)| *step), until) {
            return Some("it lists fields that no run writes");
        }
        if !rises(self.series.iter().map(|row| u64::from(row[0])), until) || !Series::of_saved(&self.series).fits(case)
        {
            return Some("its series is not one of this flow");
        }
        let wanted = super::forces::vectors(case);
        let complete = self.forces.iter().all(|(_, forces)| forces.len() == wanted);
        if !complete || !rises(self.forces.iter().map(|(step, _)| *step), until) {
            return Some("its forces are not those of this flow's solids");
        }
        if !self.heat.fits(case) || !rises(self.heat.steps.iter().copied(), until) {
            return Some("what its solids have given is not that of this flow's");
        }
        let of_probe = |probe: &SavedProbe| probe.is_whole() && rises(probe.steps.iter().copied(), until);
        if !self.probes.iter().all(of_probe) {
            return Some("its probes have recorded what no run does");
        }
        let of_plane = |flux: &SavedFlux| flux.is_whole() && rises(flux.steps.iter().copied(), until);
        if !self.fluxes.iter().all(of_plane) {
            return Some("its fluxes are recorded as no run does");
        }
        let of_table = |rows: &SavedRows| rows.is_whole() && rises(rows.steps.iter().copied(), until);
        if !self.tables.values().all(of_table) {
            return Some("its tables have rows that no run writes");
        }
        None
    }
}

/// Whether steps strictly ascend and do not exceed `until`.
fn rises(steps: impl Iterator<Item = u64> + Clone, until: u64) -> bool {
    steps.clone().zip(steps.clone().skip(1)).all(|(one, next)| one < next)
        && steps.last().is_none_or(|last| last <= until)
}
