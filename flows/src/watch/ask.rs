//! What may be asked of a flow, as data that processes can pass on, and its answer.

use std::sync::Arc;

use lbm_runtime::solver::probe::{Probe, Reading};
use lbm_runtime::solver::snapshot::Snapshot;
use serde::{Deserialize, Serialize};

use super::budget::Work;
use crate::case::Case;

/// Most points of a section, and along one of its sides.
const POINTS: f64 = 65_536.0;
const LONGEST: usize = 1024;

/// A question to a flow.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub enum Ask {
    /// All fields on a plane.
    Section {
        /// The axis normal to it.
        normal: usize,
        /// Its position along this axis, as a fraction of the extent of the domain.
        at: f64,
        /// Whether slopes of the velocity are needed.
        slopes: bool,
    },
    /// All fields.
    Fields,
}

/// An answer, with the step that it is of.
#[derive(Clone, Debug)]
pub enum Answer {
    /// The fields at the points of the section, the first axis fastest.
    Section {
        /// The step.
        step: u64,
        /// The fields; NaN in solids.
        readings: Vec<Reading>,
    },
    /// The fields; `None` if the host has no memory for them.
    Fields(Option<Arc<Snapshot>>),
}

impl Ask {
    pub(super) fn work(&self) -> Work {
        match self {
            Ask::Section { .. } => Work::Little,
            Ask::Fields => Work::Much,
        }
    }

    /// The probe with which a section is read.
    pub fn probe(&self, case: &Case) -> Option<Probe> {
        match *self {
            Ask::Section { normal, at, slopes } => {
                let axes = axes(normal);
                let counts = counts(case, axes);
                let place = |axis: usize, number: usize| {
                    (number as f64 + 0.5) / counts[axis] as f64 * case.size[axes[axis]] as f64
                };
                let point = |number: usize| {
                    let mut point = [0.0; 3];
                    point[normal] = at * case.size[normal] as f64;
                    (0..2).for_each(|axis| {
                        point[axes[axis]] =
                            place(axis, if axis == 0 { number % counts[0] } else { number / counts[0] });
                    });
                    point
                };
                Some(Probe::new((0..counts[0] * counts[1]).map(point).collect(), slopes))
            }
            Ask::Fields => None,
        }
    }
}

/// The axes in a plane: to the right and upwards.
pub(super) fn axes(normal: usize) -> [usize; 2] {
    [[1, 2], [0, 2], [0, 1]][normal]
}

/// Points of a section along its axes: those of the cells of the finest level, or as many as there may be.
pub(super) fn counts(case: &Case, axes: [usize; 2]) -> [usize; 2] {
    let size = axes.map(|axis| case.size[axis] as f64);
    let finest = case.refinement.as_ref().map_or(0, |refinement| refinement.finest);
    let scale = (POINTS / (size[0] * size[1])).sqrt().min((1u64 << finest) as f64);
    size.map(|side| ((side * scale).floor() as usize).clamp(1, LONGEST))
}

/// Why a page does not get what it asks for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Refused {
    /// There is nothing of that name.
    #[error("there is nothing of this name")]
    Unknown,
    /// The flow has had no time for it; it may be asked again.
    #[error("the flow has had no time for this yet")]
    Busy,
    /// The flow is over.
    #[error("the flow is over")]
    Over,
    /// The host has no memory for all fields.
    #[error("the host has no memory for all fields of this flow")]
    Memory,
    /// It would be too large.
    #[error("the surface has too many triangles: choose another value")]
    TooLarge,
    /// A number is missing or out of range.
    #[error("a number is missing or out of its range")]
    Number,
}
