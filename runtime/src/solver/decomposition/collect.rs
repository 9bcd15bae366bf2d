//! Collective calls: all processes, or the first of them, gather values from the subdomains that own them.

use std::ops::Range;

use rayon::prelude::*;

use crate::device::{Buffer, Element, Floating};
use crate::kernels::layout::Layout;
use crate::mesh::{Owned, SubdomainId};
use crate::processes::Processes;
use crate::solver::decomposition::{Division, Subdomains, at_once};
use crate::solver::error::StepError;
use crate::solver::solids::bodies::Bodies;
use crate::solver::subdomain::Subdomain;

/// The processes that receive a result.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum For {
    /// The first process.
    First,
    /// All processes.
    All,
}

/// Numbers that a thread copies at a time.
const PIECE: usize = 1 << 16;

/// The bytes of numbers, in the native order.
pub(crate) fn bytes_of(numbers: &[f64]) -> Vec<u8> {
    let mut bytes = vec![0; size_of_val(numbers)];
    let pieces = bytes.par_chunks_mut(PIECE * size_of::<f64>()).zip(numbers.par_chunks(PIECE));
    pieces.for_each(|(bytes, numbers)| {
        bytes.as_chunks_mut().0.iter_mut().zip(numbers).for_each(|(bytes, number)| *bytes = number.to_ne_bytes());
    });
    bytes
}

/// Sets numbers from their bytes.
fn set(numbers: &mut [f64], bytes: &[u8]) {
    let pieces = numbers.par_chunks_mut(PIECE).zip(bytes.par_chunks(PIECE * size_of::<f64>()));
    pieces.for_each(|(numbers, bytes)| {
        numbers.iter_mut().zip(numbers_of(bytes)).for_each(|(number, found)| *number = found);
    });
}

/// The numbers with these bytes.
pub(crate) fn numbers_of(bytes: &[u8]) -> impl Iterator<Item = f64> {
    bytes.as_chunks().0.iter().map(|bytes| f64::from_ne_bytes(*bytes))
}

impl Subdomains {
    /// Allgathers the target levels of all leaves.
    pub(crate) fn gather_targets(&mut self) -> Result<(), StepError> {
        let Subdomains { here, devices, division: Some(division), .. } = self else { return Ok(()) };
        let tree = here[0].grid().tree()?;
        let owner = division.partition.owners();
        let leaves = || tree.leaves().map(|(_, node, slot)| (owner[slot.index()], node));
        let mut all = vec![vec![]; here.len()];
        at_once(here, devices, &mut all, |subdomain, targets| {
            *targets = subdomain.targets_mut().level.read_ints(0..tree.numbers())?;
            Ok(())
        })?;
        let mut gathered = std::mem::take(&mut all[0]);
        for (owner, node) in leaves() {
            if let Some(index) = division.local_index(owner).filter(|index| *index > 0) {
                gathered[node] = all[index][node];
            }
        }
        if division.processes.are_several() {
            // Levels are few. Each process sends those of its own leaves, in the order of the tree.
            let is_here = |id: SubdomainId| division.local_index(id).is_some();
            let own = leaves().filter(|(id, _)| is_here(*id));
            let own: Vec<u8> = own.map(|(_, node)| gathered[node].clamp(0, u8::MAX.into()) as u8).collect();
            let all = division.processes.allgather(&own);
            let mut all: Vec<std::slice::Iter<'_, u8>> = all.iter().map(|levels| levels.iter()).collect();
            for (id, node) in leaves() {
                gathered[node] = i32::from(all[division.process(id)].next().copied().unwrap_or_default());
            }
        }
        let write =
            |subdomain: &mut Subdomain, (): &mut ()| Ok(subdomain.targets_mut().level.write_ints(0, &gathered)?);
        at_once(here, devices, &mut vec![(); all.len()], write).map(|_| ())
    }

    /// The states of all surfaces that slide, each of a subdomain that works on it.
    pub(crate) fn slips(&self) -> Result<Vec<f64>, StepError> {
        let mut all: Vec<f64> = vec![];
        let merge = |all: &mut Vec<f64>, found: &mut dyn Iterator<Item = f64>| {
            for (at, value) in found.enumerate() {
                match all.get_mut(at) {
                    None => all.push(value),
                    Some(known) if known.is_nan() => *known = value,
                    Some(_) => {}
                }
            }
        };
        for subdomain in &self.here {
            let found = subdomain.bodies().map_or(Ok(vec![]), Bodies::slips)?;
            merge(&mut all, &mut found.into_iter());
        }
        let Some(processes) = self.processes() else { return Ok(all) };
        for bytes in processes.allgather(&bytes_of(&all)) {
            merge(&mut all, &mut numbers_of(&bytes));
        }
        Ok(all)
    }

    /// Gathers numbers on the processes that `to` selects. Each process contributes the numbers at the places of its own subdomains;
    /// `places` has the same order in all processes.
    pub(crate) fn gather(&self, numbers: &mut [f64], places: &[(SubdomainId, Range<usize>)], to: For) {
        let Some(division) = self.division.as_ref().filter(|division| division.processes.are_several()) else { return };
        let is_here = |id: SubdomainId| division.local_index(id).is_some();
        let own: Vec<Vec<u8>> = (places.iter().filter(|(id, _)| is_here(*id)))
            .map(|(_, place)| bytes_of(&numbers[place.clone()]))
            .collect();
        let own = own.concat();
        let all = match to {
            For::All => division.processes.allgather(&own),
            For::First => division.processes.gather(&own).unwrap_or_default(),
        };
        let mut all: Vec<&[u8]> = all.iter().map(|bytes| &bytes[..]).collect();
        for (id, place) in places {
            if let Some(from) = all.get_mut(division.process(*id)) {
                let (bytes, later) = from.split_at(place.len() * size_of::<f64>());
                set(&mut numbers[place.clone()], bytes);
                *from = later;
            }
        }
    }

    /// Reads a range of a per-slot array, each slot from its owner. The range must consist of whole slots of the layout. Empty in processes
    /// that `to` excludes.
    pub(crate) fn read<E: Floating>(
        &self,
        layout: Layout,
        range: Range<usize>,
        to: For,
        of: impl Fn(&Subdomain) -> Option<&Buffer<E>>,
    ) -> Result<Vec<f64>, StepError> {
        let length = layout.slot_len().max(1);
        if let (None, Some(buffer)) = (&self.division, of(&self.here[0])) {
            return Ok(buffer.read_reals(range)?);
        }
        let (mut values, mut places) = (Vec::with_capacity(range.len()), vec![]);
        for (id, slots) in self.runs(range.start / length..range.end / length) {
            let start = values.len();
            match self.get(id) {
                Some(subdomain) => values.extend(match of(subdomain) {
                    Some(buffer) => buffer.read_reals(slots.start * length..slots.end * length)?,
                    None => vec![],
                }),
                None => values.resize(start + slots.len() * length, 0.0),
            }
            places.push((id, start..values.len()));
        }
        self.gather(&mut values, &places, to);
        let is_meant = to == For::All || self.processes().is_none_or(Processes::is_first);
        Ok(if is_meant { values } else { vec![] })
    }

    /// Writes bytes, laid out as on the device, to a range of slots of an array, each slot in the subdomain that owns it, if that is in
    /// this process.
    pub(crate) fn write_raw<E: Element>(
        &mut self,
        layout: Layout,
        slots: Range<usize>,
        bytes: &[u8],
        of: impl Fn(&mut Subdomain) -> Option<&mut Buffer<E>>,
    ) -> Result<(), StepError> {
        let first = slots.start;
        for (id, run) in self.runs(slots) {
            let index = self.division.as_ref().map_or(Some(0), |division| division.local_index(id));
            if let Some(buffer) = index.and_then(|index| of(&mut self.here[index])) {
                let length = layout.slot_len() * buffer.value_bytes();
                let piece = &bytes[(run.start - first) * length..(run.end - first) * length];
                buffer.write_raw(run.start * layout.slot_len(), piece)?;
            }
        }
        Ok(())
    }

    /// Gathers what kernels compute for each block in the list of a level, `numbers` values per block, in the order of the list:
    /// `of(subdomain, run)` computes those of a subdomain for a run of the list. All processes get the result.
    pub(crate) fn of_blocks(
        &self,
        level: usize,
        numbers: usize,
        of: impl Fn(&Subdomain, Range<usize>) -> Result<Vec<f64>, StepError>,
    ) -> Result<Vec<f64>, StepError> {
        let listed = self.first().grid().levels()[level].leaves.clone();
        let mut all = vec![0.0; numbers * listed.len()];
        let place = |run: &Range<usize>| numbers * (run.start - listed.start)..numbers * (run.end - listed.start);
        for subdomain in &self.here {
            for run in subdomain.own_level(level).runs() {
                all[place(&run)].copy_from_slice(&of(subdomain, run)?);
            }
        }
        if let Some(Division { partition, .. }) = &self.division {
            let places_of = |owned: &Owned| -> Vec<(SubdomainId, Range<usize>)> {
                owned.levels[level].runs().iter().map(|run| (owned.id, place(run))).collect()
            };
            let places: Vec<_> = partition.subdomains().iter().flat_map(places_of).collect();
            self.gather(&mut all, &places, For::All);
        }
        Ok(all)
    }
}
