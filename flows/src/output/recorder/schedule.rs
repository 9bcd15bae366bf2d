//! When the outputs of a case are due, for the flow, which measures what they take; it needs no folder.

use lbm_bundle::Manifest;
use lbm_runtime::solver::memory::Copies;

use super::list::outputs;
use super::output::{Source, Taken};
use crate::case::Case;

/// What the outputs of a case take, and when.
#[derive(Clone, Debug)]
pub struct Schedule {
    taken: Vec<Taken>,
    restart: Option<u64>,
    ends_with_fields: bool,
}

impl Schedule {
    /// Of a case, by a method with this manifest.
    pub fn new(case: &Case, manifest: &Manifest) -> Schedule {
        let outputs = outputs(case);
        Schedule {
            taken: outputs.iter().flat_map(|output| output.takes()).collect(),
            restart: case.output.restart,
            ends_with_fields: outputs.iter().any(|output| output.ends_with_fields()) || case.sums_up_fields(manifest),
        }
    }

    /// Whether an output takes this at all.
    pub fn takes(&self, source: Source) -> bool {
        self.taken.iter().any(|taken| taken.source == source)
    }

    /// Whether an output takes this at a step.
    pub fn is_due(&self, source: Source, step: u64) -> bool {
        self.taken.iter().any(|taken| taken.is_due(source, step))
    }

    /// Whether a restart file is written at a step.
    pub fn is_restart_due(&self, step: u64) -> bool {
        self.restart.is_some_and(|every| step.is_multiple_of(every))
    }

    /// Whether the results need the fields of all cells at the end: files, fluxes through open faces, means over the fluid.
    pub fn ends_with_fields(&self) -> bool {
        self.ends_with_fields
    }

    /// Steps between outputs of these sources, and between restart files.
    pub fn intervals<'s>(&'s self, of: impl Fn(Source) -> bool + 's) -> impl Iterator<Item = u64> + 's {
        self.taken.iter().filter(move |taken| of(taken.source)).map(|taken| taken.every).chain(self.restart)
    }

    /// Copies that are on their way to files at a time: one of fields is written while the next is taken.
    pub fn copies(&self) -> Copies {
        let (fields, states) = (self.takes(Source::Fields), usize::from(self.restart.is_some()));
        let outputs = fields || states > 0 || self.ends_with_fields;
        Copies { fields: if fields { 2 } else { 0 }, states, outputs }
    }
}
