//! The head of a file, and the names of sections.

use serde::{Deserialize, Serialize};

use super::course::Course;
use super::identity::Identity;
use crate::case::saved::{SavedFields, Section};

/// Section of the populations.
pub(super) const POPULATIONS: &str = "populations";
/// Section of the fields at the last check for steady flow.
pub(super) const CHECKED: &str = "checked";
/// Largest head in bytes: a million rows of time series and forces, or all numbers that probes may record
/// ([`crate::case::MOST_NUMBERS`]).
pub(super) const LONGEST_HEAD: u64 = 256 << 20;

/// The head of a file.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(super) struct Head {
    /// Version of lbmc.
    pub(super) program: String,
    pub(super) identity: Identity,
    pub(super) course: Course,
    /// Step of the last check for steady flow, if its fields are saved.
    pub(super) checked: Option<u64>,
    /// Description of the section `fields`; absent in older files.
    #[serde(default)]
    pub(super) fields: Option<SavedFields>,
    pub(super) sections: Vec<Section>,
}
