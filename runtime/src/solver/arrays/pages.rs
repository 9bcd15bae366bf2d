//! Memory of a subdomain on a GPU, where the grid is adaptive. In all arrays that have values for each slot, memory is mapped for the slots
//! of the subdomain's own blocks and of the blocks that it receives from others.
//!
//! Writes to slots without memory are lost. Memory is therefore mapped before data come to a slot: for blocks of other subdomains
//! ([`Subdomains::transfer`](crate::solver::decomposition::Subdomains)), for coarse blocks and children that an adaptation creates, and for all blocks before
//! they are sorted ([`Subdomain`](crate::solver::subdomain::Subdomain)). When the halo is known after an adaptation, memory is
//! released that belongs neither to the subdomain's own blocks nor to its halo.

use std::ops::Range;

use lbm_bundle::Manifest;

use crate::device::{Array, Buffer, DeviceError, Double, Element, Real, Stored};
use crate::kernels::layout::Layout;

/// Arrays whose memory is mapped and released during a run, each with the number of its values for a slot.
#[derive(Default)]
pub(crate) struct Arrays<'a>(Vec<(&'a mut Array, usize)>);

impl<'a> Arrays<'a> {
    /// The arrays of a subdomain.
    pub(crate) fn new(
        manifest: &Manifest,
        populations: &'a mut [Buffer<Stored>; 2],
        fields: impl IntoIterator<Item = &'a mut Buffer<Real>>,
        statistics: impl IntoIterator<Item = (&'a mut Buffer<Double>, Layout)>,
    ) -> Arrays<'a> {
        let mut arrays = Arrays::default();
        populations.iter_mut().for_each(|set| arrays.add(set, Layout::populations(manifest)));
        fields.into_iter().for_each(|fields| arrays.add(fields, Layout::fields(manifest)));
        statistics.into_iter().for_each(|(values, layout)| arrays.add(values, layout));
        arrays
    }

    /// Adds an array, if its memory is mapped and released during a run.
    pub(crate) fn add<E: Element>(&mut self, buffer: &'a mut Buffer<E>, layout: Layout) {
        if buffer.array().is_by_page() {
            self.0.push((buffer.array_mut(), layout.slot_len()));
        }
    }

    /// Maps memory for these slots in addition.
    pub(crate) fn more(self, slots: &[Range<usize>]) -> Result<(), DeviceError> {
        self.0.into_iter().try_for_each(|(array, values)| array.back(of(slots, values)))
    }

    /// Maps memory for these slots and releases the memory of all others. Arrays later in the list can use what an earlier one releases.
    pub(crate) fn only(self, slots: &[Range<usize>]) -> Result<(), DeviceError> {
        self.0.into_iter().try_for_each(|(array, values)| array.back_only(of(slots, values)))
    }
}

/// The ranges of the values of slots.
fn of(slots: &[Range<usize>], values: usize) -> impl Iterator<Item = Range<usize>> + '_ {
    slots.iter().map(move |run| run.start * values..run.end * values)
}

/// Slots as runs of consecutive slots.
pub(crate) fn runs(slots: impl IntoIterator<Item = usize>) -> Vec<Range<usize>> {
    let mut slots: Vec<usize> = slots.into_iter().collect();
    slots.sort_unstable();
    let mut runs: Vec<Range<usize>> = vec![];
    for slot in slots {
        match runs.last_mut().filter(|last| last.end >= slot) {
            Some(last) => last.end = slot + 1,
            None => runs.push(slot..slot + 1),
        }
    }
    runs
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn slots_are_listed_in_runs_each_once() {
        assert_eq!(runs([7, 3, 4, 9, 3, 8]), [3..5, 7..10]);
        assert_eq!(of(&[3..5, 7..10], 4).collect::<Vec<_>>(), [12..20, 28..40]);
    }
}
