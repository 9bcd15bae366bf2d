//! Points at which a case records fields over time.

use super::quantity::Quantity;

/// Most probes of a case.
pub(super) const MOST_PROBES: usize = 64;
/// Most points of a probe.
pub(super) const MOST_POINTS: usize = 10_000;
/// Most points of a grid.
pub(super) const MOST_OF_GRID: usize = 1_000_000;
/// Most numbers that all probes of a run record: restart files have them all.
pub const MOST_NUMBERS: u64 = 8_000_000;
/// Longest name, in bytes: it is part of a file's.
pub(super) const LONGEST_NAME: usize = 100;

/// Points and the fields that are recorded there.
#[derive(Clone, Debug, PartialEq)]
pub struct Probe {
    /// Part of the name of its file.
    pub name: String,
    /// Points in cells of the coarsest level, from the lower corner of the domain; 0 beyond the dimension.
    pub points: Vec<[f64; 3]>,
    /// Where the points are those of a grid: how many there are along each axis, x fastest in `points`. A file for ParaView has them then, for
    /// each time one.
    pub grid: Option<[usize; 3]>,
    /// What is recorded, no component twice.
    pub fields: Vec<Quantity>,
    /// Steps between rows.
    pub every: u64,
}

impl Probe {
    /// The names of all that is recorded at a point.
    pub fn columns(&self) -> Vec<String> {
        self.fields.iter().flat_map(Quantity::columns).collect()
    }

    /// Numbers that are recorded at a time.
    pub fn numbers(&self) -> usize {
        self.points.len() * self.columns().len()
    }

    /// Whether it needs slopes of the velocity.
    pub fn needs_slopes(&self) -> bool {
        self.fields.iter().any(Quantity::needs_slopes)
    }
}
