//! Kernels reduce the cells of a subdomain to a few numbers for each of its blocks, which the host reads.

use std::ops::Range;

use lbm_bundle::CHUNKS;

use crate::device::{Buffer, Int};
use crate::geometry::Cell;
use crate::kernels;
use crate::kernels::layout::{CellId, Layout, SlotId};
use crate::mesh::Grid;
use crate::solver::arrays::fields::component_names;
use crate::solver::error::StepError;
use crate::solver::observe::NotFinite;
use crate::solver::plan::task::PopulationSet;
use crate::solver::solids::bodies::Bodies;
use crate::solver::subdomain::Subdomain;

/// Divides a list of `entries` entries into chunks, for results that do not depend on the division: the number of chunks, and the entries
/// of each.
fn chunks(entries: usize) -> (usize, usize) {
    let per = entries.div_ceil(CHUNKS).max(1);
    (entries.div_ceil(per), per)
}

impl Subdomain {
    /// The position of the first value of its fields in a window that is not finite, in the order of all values, and the square of the
    /// largest change since the reference.
    pub(crate) fn check_fields(&self, window: &Range<usize>) -> Result<(Option<usize>, f64), StepError> {
        let slot_len = Layout::fields(self.program.manifest()).slot_len();
        let (fields, forest) = (&self.fields.macroscopic, self.grid.forest());
        let runs = if self.is_whole() { self.own_runs() } else { vec![window.clone()] };
        let mut largest = 0.0_f64;
        for run in runs {
            let (count, per) = chunks(run.len());
            let mut found = self.program.device().alloc_doubles(2 * count)?;
            self.program.launch(kernels::CheckFields {
                list: kernels::Chunks {
                    chunks: forest.every().slice(0..count),
                    ids: self.listed().slice(run.clone()),
                    per: per as i32,
                },
                first: window.start as i32,
                fields,
                before: self.reference.as_ref().unwrap_or(fields),
                compare: i32::from(self.reference.is_some()),
                found: &mut found,
            })?;
            let found = found.read_reals(0..2 * count)?;
            let first = found.chunks(2).fold(f64::INFINITY, |first, of| first.min(of[0])) as usize;
            largest = found.chunks(2).fold(largest, |largest, of| largest.max(of[1]));
            if first < run.len() * slot_len {
                return Ok((Some(run.start * slot_len + first), largest));
            }
        }
        Ok((None, largest))
    }

    /// The sums of which means are made, for each block in a run of the list of leaves.
    pub(crate) fn means(&self, run: Range<usize>) -> Result<Vec<f64>, StepError> {
        let (tables, count) = (self.grid.tables(), run.len());
        let mut means = self.program.device().alloc_doubles(7 * count)?;
        self.program.launch(kernels::Means {
            list: kernels::Chunks {
                chunks: self.grid.forest().every().slice(0..count),
                ids: tables.leaves.slice(run),
                per: 1,
            },
            tree: tables.nodes(),
            parents: &tables.parent,
            slots: &tables.slot,
            fields: &self.fields.macroscopic,
            mask: mask(self.bodies.as_ref(), &self.grid),
            means: &mut means,
        })?;
        Ok(means.read_reals(0..7 * count)?)
    }

    /// The sums over the cells of one set of populations, for each block in a run of the list of leaves.
    pub(crate) fn sums(&self, run: Range<usize>, set: PopulationSet, sums: usize) -> Result<Vec<f64>, StepError> {
        let count = run.len();
        let mut found = self.program.device().alloc_doubles(2 * sums * count)?;
        self.program.launch(kernels::Sums {
            list: kernels::Chunks {
                chunks: self.grid.forest().every().slice(0..count),
                ids: self.grid.tables().leaves.slice(run),
                per: 1,
            },
            src: &self.fields.populations[set.index()],
            mask: mask(self.bodies.as_ref(), &self.grid),
            sums: &mut found,
        })?;
        Ok(found.read_reals(0..2 * sums * count)?)
    }

    /// The list of slots whose order defines positions of values in `check_fields`.
    fn listed(&self) -> &Buffer<Int> {
        if self.is_whole() { &self.grid.tables().leaves } else { self.grid.forest().every() }
    }

    /// The value at a position in that order.
    pub(crate) fn place(&self, place: usize) -> Result<NotFinite, StepError> {
        let layout = Layout::fields(self.program.manifest());
        let (cell, component) = (place / layout.components(), place % layout.components());
        let (entry, cell) = (cell / layout.cells(), cell % layout.cells());
        let slot = SlotId(self.listed().read_ints(entry..entry + 1)?[0] as u32);
        let origin = self.grid.origin(self.grid.forest().block(slot)?);
        let inside = layout.position(CellId(cell as u32));
        let at = std::array::from_fn(|axis| origin.at[axis] + inside[axis]);
        let component = component_names(self.program.manifest()).swap_remove(component);
        Ok(NotFinite { component, cell: Cell { at, ..origin } })
    }
}

/// Cut links and solid cells, if there are any.
pub(super) fn mask<'a>(bodies: Option<&'a Bodies>, grid: &'a Grid) -> kernels::Mask<'a> {
    let none = &grid.tables().leaves;
    match bodies {
        Some(bodies) => kernels::Mask { link_rows: &bodies.rows, links: bodies.links(), solids: 1 },
        None => kernels::Mask { link_rows: none, links: none, solids: 0 },
    }
}
