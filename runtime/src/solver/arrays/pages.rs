//! Memory of a part on a GPU, where the grid follows the flow: behind the slots of its own blocks and of what it gets of others', in all arrays that
//! have values for each slot.
//!
//! What is written to a slot without memory is lost. So there is room before anything comes to a slot: to blocks of other parts
//! ([`Parts::transfer`](crate::solver::parts::Parts)), to coarse blocks and children that a change brings, and to all blocks where they are put into order
//! ([`Populations`](crate::solver::remesh::carry::Populations)). When the halo is known after a change, memory goes of what is neither a part's own nor in its halo.

use std::ops::Range;

use lbm_bundle::Manifest;

use crate::device::{Array, Buffer, DeviceError, Double, Element, Real, Stored};
use crate::kernels::layout::Layout;

/// Arrays whose memory comes and goes, each with how many values it has for a slot.
#[derive(Default)]
pub(crate) struct Arrays<'a>(Vec<(&'a mut Array, usize)>);

impl<'a> Arrays<'a> {
    /// Those of a part.
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

    /// One more, if its memory comes and goes.
    pub(crate) fn add<E: Element>(&mut self, buffer: &'a mut Buffer<E>, layout: Layout) {
        if buffer.array().is_by_page() {
            self.0.push((buffer.array_mut(), layout.slot_len()));
        }
    }

    /// From now on there is room for these slots too.
    pub(crate) fn more(self, slots: &[Range<usize>]) -> Result<(), DeviceError> {
        self.0.into_iter().try_for_each(|(array, values)| array.back(of(slots, values)))
    }

    /// From now on there is room for these slots and no others. What an array gives is for those behind it.
    pub(crate) fn only(self, slots: &[Range<usize>]) -> Result<(), DeviceError> {
        self.0.into_iter().try_for_each(|(array, values)| array.back_only(of(slots, values)))
    }
}

/// Where the values of slots are.
fn of(slots: &[Range<usize>], values: usize) -> impl Iterator<Item = Range<usize>> + '_ {
    slots.iter().map(move |run| run.start * values..run.end * values)
}

/// Slots in runs that follow each other.
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
