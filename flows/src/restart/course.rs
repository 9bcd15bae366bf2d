//! The state of a run besides its populations.

use lbm_runtime::geometry::solid::BodyState;
use lbm_runtime::solver::Adaptations;
use serde::{Deserialize, Serialize};

use crate::case::Statistics;
use crate::output::{Bits, Recorded};

/// State of a run besides its populations.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Course {
    /// Completed steps.
    pub step: u64,
    /// Wall time of these steps, in seconds.
    pub seconds: Bits,
    /// Wall time spent waiting for output, in seconds.
    #[serde(default)]
    pub waited: Bits,
    /// Cell updates in these steps.
    pub updates: u64,
    /// Counts of grid adaptations.
    pub adaptations: Adaptations,
    /// Number of blocks that have changed since the data were last sorted.
    #[serde(default)]
    pub scattered: usize,
    /// Initial sum of each set of populations, by name.
    pub start: Vec<(String, Bits)>,
    /// Change of velocity at the last check for steady flow.
    pub residual: Option<Bits>,
    /// Output already written.
    pub recorded: Recorded,
    /// Sums over the steps since the last rows of forces and of heat, if solids move.
    #[serde(default)]
    pub exchanged: Vec<SavedExchanges>,
    /// The bodies that the fluid moves.
    #[serde(default)]
    pub bodies: Vec<SavedBody>,
    /// The states of surfaces under boundary layers.
    #[serde(default)]
    pub slips: Vec<Bits>,
    /// The statistics that have samples.
    #[serde(default)]
    pub statistics: Vec<SavedStatistics>,
}

/// Exchange between solids and fluid, summed over some steps.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct SavedExchanges {
    /// Number of steps.
    pub steps: u64,
    /// For each solid, the sums of the force, of the torque, and of the gain of each set of populations.
    pub sums: Vec<Bits>,
}

impl SavedExchanges {
    /// Whether the sums are possible for this number of solids, of sets of populations and of completed steps.
    pub(super) fn fits(&self, solids: usize, sets: usize, steps: u64) -> bool {
        self.steps <= steps && self.sums.len() == solids * (6 + sets)
    }
}

/// The state of a body that the fluid moves.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct SavedBody {
    /// The number of its solid, from 0.
    solid: usize,
    /// The values of its [state](BodyState::numbers).
    state: Vec<Bits>,
}

impl SavedBody {
    /// Of a state with the number of its solid.
    pub fn of((solid, state): &(usize, BodyState)) -> SavedBody {
        SavedBody { solid: *solid, state: state.numbers().into_iter().map(Bits).collect() }
    }

    /// The state with the number of its solid, if it is one.
    pub fn state(&self) -> Option<(usize, BodyState)> {
        let numbers: Vec<f64> = self.state.iter().map(|number| number.0).collect();
        Some((self.solid, BodyState::of_numbers(&numbers)?))
    }
}

/// Range of the sampled steps of a statistic.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Sampled {
    /// The first.
    pub first: u64,
    /// The last.
    pub last: u64,
}

/// A statistic in a restart file. Its accumulators are a section.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct SavedStatistics {
    pub(super) name: String,
    /// Distinguishes it from other statistics of the same name.
    pub(super) definition: String,
    pub(super) samples: u64,
    pub(super) steps: Sampled,
}

impl SavedStatistics {
    /// Name of its section.
    pub(super) fn section(&self) -> String {
        format!("statistics {}", self.name)
    }
}

/// The entries for all statistics of a case that have samples.
pub fn saved(all: &[Statistics], sampled: &[Option<Sampled>], samples: &[u64]) -> Vec<SavedStatistics> {
    let with_samples = all.iter().zip(sampled).zip(samples).filter_map(|((of, sampled), samples)| {
        let (name, definition) = (of.name.clone(), of.definition());
        Some(SavedStatistics { name, definition, samples: *samples, steps: (*sampled)? })
    });
    with_samples.collect()
}
