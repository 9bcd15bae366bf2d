//! Restart files: arrays as they are on the device.

use std::collections::BTreeMap;
use std::io;
use std::ops::Range;
use std::sync::Arc;

use lbm_bundle::Manifest;

use crate::device::{Array, Buffer, Element, Staging, Stored};
use crate::kernels::layout::{Layout, SlotId};
use crate::mesh::SubdomainId;
use crate::mesh::forest::Leaf;
use crate::processes::Processes;
use crate::solver::arrays::cells::{SLOTS_AT_ONCE, runs};
use crate::solver::decomposition::Subdomains;
use crate::solver::error::StepError;
use crate::solver::plan::task::PopulationSet;
use crate::solver::simulation::Simulation;
use crate::solver::subdomain::Subdomain;

/// An array of a subdomain.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
struct ArrayId {
    subdomain: SubdomainId,
    kind: Kind,
}

/// The content of an array.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Kind {
    /// One of the two sets of populations.
    Populations(usize),
    /// Reference fields.
    Reference,
    /// A statistic, by its number.
    Statistic(usize),
}

/// Per-block data of a restart file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Content {
    /// The current stored values of its cells: `[direction][cell]`.
    Populations,
    /// Macroscopic fields of an earlier step: `[component][cell]`.
    Fields,
    /// A statistic with this number of accumulators: `[accumulator][cell]`.
    Statistic(usize),
}

impl Content {
    /// The layout on the device, and the bytes of a value.
    fn values(self, manifest: &Manifest) -> (Layout, usize) {
        match self {
            Content::Populations => (Layout::populations(manifest), manifest.real.stored_bytes()),
            Content::Fields => (Layout::fields(manifest), manifest.real.bytes()),
            Content::Statistic(accumulators) => (Layout::accumulators(manifest, accumulators), size_of::<f64>()),
        }
    }

    /// Bytes of `blocks` blocks in a file: those of their cells, without padding between them on the device.
    pub fn bytes(self, manifest: &Manifest, blocks: usize) -> usize {
        let (layout, value_bytes) = self.values(manifest);
        layout.bytes_of_cells(value_bytes, blocks)
    }
}

/// The data of a flow for a restart file: in place on the device, or copied, so that the flow may go on.
pub struct State<'a> {
    /// Steps done.
    pub step: u64,
    /// The step of the reference fields, if it is an earlier one.
    pub reference_step: Option<u64>,
    manifest: Manifest,
    leaves: Arc<[Leaf]>,
    populations: Vec<StoredBlock>,
    fields: Vec<StoredBlock>,
    /// The owner of each leaf.
    owners: Vec<SubdomainId>,
    /// Accumulators per cell of each statistic.
    accumulators: Vec<usize>,
    samples: Vec<u64>,
    source: Source<'a>,
}

/// The location of the data of a block.
#[derive(Clone, Copy)]
struct StoredBlock {
    array: ArrayId,
    slot: SlotId,
}

enum Source<'a> {
    Device(BTreeMap<ArrayId, &'a Array>),
    /// Spans of arrays by the array and the first slot, each with the offset of its bytes in the copy.
    Copy(Bytes, BTreeMap<(ArrayId, usize), usize>),
}

/// The bytes of a copy.
enum Bytes {
    Staged(Staging),
    /// Those of several processes, on the first; empty on others.
    Gathered(Vec<u8>),
}

impl Bytes {
    fn get(&self) -> io::Result<&[u8]> {
        match self {
            Bytes::Staged(staging) => staging.bytes().map_err(io::Error::other),
            Bytes::Gathered(bytes) => Ok(bytes),
        }
    }
}

/// Divides places into runs of consecutive slots of one array, at most as long as are transferred between device and host at a time.
fn pieces(places: &[StoredBlock]) -> impl Iterator<Item = (ArrayId, Range<usize>)> {
    let follows = |one: &StoredBlock, next: &StoredBlock| one.array == next.array && one.slot.0 + 1 == next.slot.0;
    places.chunk_by(follows).flat_map(|run| run.chunks(SLOTS_AT_ONCE)).map(|run| {
        let first = run[0].slot.index();
        (run[0].array, first..first + run.len())
    })
}

/// The fewest spans of slots that contain all places, in memory order: what lies between the places of one array is included.
fn spans(places: &[StoredBlock]) -> Vec<(ArrayId, Range<usize>)> {
    let mut places = places.to_vec();
    places.sort_unstable_by_key(|place| place.slot);
    let span = |run: &[StoredBlock]| (run[0].array, run[0].slot.index()..run[run.len() - 1].slot.index() + 1);
    places.chunk_by(|one, next| one.array == next.array).map(span).collect()
}

impl<'a> State<'a> {
    /// The current data of a flow, in place.
    fn of(flow: &'a Simulation) -> Result<State<'a>, StepError> {
        let leaves = flow.grid().shared_leaves()?;
        let current = |level: usize| Kind::Populations(flow.stepper.levels[level].current.index());
        let covered = flow.grid().forest().read_covered()?;
        let stored = leaves.iter().map(|leaf| (leaf.block.level, leaf.slot)).chain(covered);
        let array = |slot: SlotId, kind: Kind| ArrayId { subdomain: flow.subdomains.owner(slot), kind };
        let populations =
            stored.map(|(level, slot)| StoredBlock { array: array(slot, current(level)), slot }).collect();
        let reference_step = flow.reference_step().filter(|reference_step| *reference_step != flow.step());
        let has_reference = reference_step.is_some() && flow.subdomains.first().reference().is_some();
        let of_fields = leaves
            .iter()
            .filter(|_| has_reference)
            .map(|leaf| StoredBlock { array: array(leaf.slot, Kind::Reference), slot: leaf.slot });
        let mut arrays = BTreeMap::new();
        for (id, subdomain) in flow.subdomains.with_ids() {
            let sets =
                subdomain.fields().populations.iter().enumerate().map(|(set, of)| (Kind::Populations(set), of.array()));
            let reference = subdomain.reference().into_iter().map(|reference| (Kind::Reference, reference.array()));
            let statistics = subdomain.statistics().into_iter().flat_map(|statistics| &statistics.values);
            let statistics = statistics.enumerate().map(|(number, of)| (Kind::Statistic(number), of.array()));
            let all = sets.chain(reference).chain(statistics);
            arrays.extend(all.map(|(kind, array)| (ArrayId { subdomain: id, kind }, array)));
        }
        let statistics = flow.subdomains.first().statistics().into_iter();
        let accumulators = statistics.flat_map(|statistics| statistics.accumulators());
        Ok(State {
            step: flow.step(),
            reference_step,
            manifest: flow.manifest().clone(),
            populations,
            fields: of_fields.collect(),
            owners: leaves.iter().map(|leaf| flow.subdomains.owner(leaf.slot)).collect(),
            leaves,
            accumulators: accumulators.collect(),
            samples: flow.samples().to_vec(),
            source: Source::Device(arrays),
        })
    }

    /// All spans of its arrays, in an order that is the same in all processes.
    fn spans(&self) -> Vec<(ArrayId, Range<usize>)> {
        let statistics = (0..self.accumulators.len()).flat_map(|number| spans(&self.of_statistic(number)));
        spans(&self.populations).into_iter().chain(spans(&self.fields)).chain(statistics).collect()
    }

    /// The same in a copy.
    fn copied(self, mut staging: Staging) -> Result<State<'static>, StepError> {
        let mut copied = BTreeMap::new();
        if let Source::Device(arrays) = &self.source {
            let (mut sources, mut at) = (vec![], 0);
            for (array, slots) in self.spans() {
                let values = self.slot_len(array);
                sources.push((arrays[&array], slots.start * values..slots.end * values));
                copied.insert((array, slots.start), at);
                at += slots.len() * self.slot_bytes(array);
            }
            staging.copy(&sources)?;
        }
        Ok(self.with_copy(Bytes::Staged(staging), copied))
    }

    /// The same on the first of several processes, with the data of the others.
    fn gathered(self, subdomains: &Subdomains, processes: &Processes) -> Result<State<'static>, StepError> {
        let (mut own, mut copied, mut bytes) = (vec![], BTreeMap::new(), vec![]);
        if let Source::Device(arrays) = &self.source {
            let spans = self.spans();
            for (array, slots) in spans.iter().filter(|(array, _)| arrays.contains_key(array)) {
                let (start, before) = (slots.start * self.slot_len(*array), own.len());
                own.resize(before + slots.len() * self.slot_bytes(*array), 0);
                arrays[array].read_raw(start, &mut own[before..])?;
            }
            if let Some(all) = processes.gather(&own) {
                let mut taken = vec![0; all.len()];
                for (array, slots) in spans {
                    let (process, length) = (subdomains.process(array.subdomain), slots.len() * self.slot_bytes(array));
                    copied.insert((array, slots.start), bytes.len());
                    bytes.extend_from_slice(&all[process][taken[process]..][..length]);
                    taken[process] += length;
                }
            }
        }
        Ok(self.with_copy(Bytes::Gathered(bytes), copied))
    }

    fn with_copy(self, bytes: Bytes, copied: BTreeMap<(ArrayId, usize), usize>) -> State<'static> {
        let State {
            step, reference_step, manifest, leaves, populations, fields, owners, accumulators, samples, ..
        } = self;
        let source = Source::Copy(bytes, copied);
        State { step, reference_step, manifest, leaves, populations, fields, owners, accumulators, samples, source }
    }

    /// Signatures and layout of the method's kernels.
    pub fn manifest(&self) -> &Manifest {
        &self.manifest
    }

    /// The leaves of the grid, level by level, each level along the curve.
    pub fn leaves(&self) -> &[Leaf] {
        &self.leaves
    }

    /// Number of blocks that [`Self::read_populations`] gives.
    pub fn stored_blocks(&self) -> usize {
        self.populations.len()
    }

    /// The bytes of the current populations, leaf by leaf in the order of [`Self::leaves`], each `[direction][cell]`; then those of
    /// covered blocks, if they have data, level by level along the curve.
    pub fn read_populations(&self, each: impl FnMut(&[u8]) -> io::Result<()>) -> io::Result<()> {
        self.read(&self.populations, each)
    }

    /// The bytes of the reference fields, leaf by leaf in the order of [`Self::leaves`], each `[component][cell]`; nothing if there are
    /// none of an earlier step.
    pub fn read_reference(&self, each: impl FnMut(&[u8]) -> io::Result<()>) -> io::Result<()> {
        self.read(&self.fields, each)
    }

    /// The number of samples of each statistic, and of its accumulators per cell.
    pub fn statistics(&self) -> impl ExactSizeIterator<Item = (u64, usize)> + '_ {
        self.samples.iter().copied().zip(self.accumulators.iter().copied())
    }

    /// The bytes of a statistic, by its number, leaf by leaf in the order of [`Self::leaves`], each `[accumulator][cell]`.
    pub fn read_statistic(&self, number: usize, each: impl FnMut(&[u8]) -> io::Result<()>) -> io::Result<()> {
        self.read(&self.of_statistic(number), each)
    }

    /// The location of the accumulators of a statistic.
    fn of_statistic(&self, number: usize) -> Vec<StoredBlock> {
        let kind = Kind::Statistic(number);
        let place = |(leaf, subdomain): (&Leaf, &SubdomainId)| StoredBlock {
            array: ArrayId { subdomain: *subdomain, kind },
            slot: leaf.slot,
        };
        self.leaves.iter().zip(&self.owners).map(place).collect()
    }

    fn read(&self, places: &[StoredBlock], mut each: impl FnMut(&[u8]) -> io::Result<()>) -> io::Result<()> {
        let mut bytes = vec![];
        for (array, slots) in pieces(places) {
            match &self.source {
                Source::Device(arrays) => {
                    bytes.resize(slots.len() * self.slot_bytes(array), 0);
                    let start = slots.start * self.slot_len(array);
                    arrays[&array].read_raw(start, &mut bytes).map_err(io::Error::other)?;
                    self.each_block(array, &bytes, &mut each)?;
                }
                Source::Copy(bytes, copied) => {
                    let span = copied.range(..=(array, slots.start)).next_back();
                    let ((_, first), at) = span.ok_or_else(|| io::Error::other("the first process has it"))?;
                    let at = at + (slots.start - first) * self.slot_bytes(array);
                    let all = bytes.get()?;
                    self.each_block(array, &all[at..at + slots.len() * self.slot_bytes(array)], &mut each)?;
                }
            }
        }
        Ok(())
    }

    fn each_block(&self, array: ArrayId, bytes: &[u8], each: impl FnMut(&[u8]) -> io::Result<()>) -> io::Result<()> {
        let (layout, value_bytes) = self.values(array);
        if layout.is_grouped() {
            let in_order = layout.regrouped(bytes, value_bytes, false);
            return layout.of_cells(&in_order, value_bytes).try_for_each(each);
        }
        layout.of_cells(bytes, value_bytes).try_for_each(each)
    }

    /// The layout of an array, and the bytes of a value.
    fn values(&self, array: ArrayId) -> (Layout, usize) {
        let content = match array.kind {
            Kind::Populations(_) => Content::Populations,
            Kind::Reference => Content::Fields,
            Kind::Statistic(number) => Content::Statistic(self.accumulators[number]),
        };
        content.values(&self.manifest)
    }

    /// Values per slot of an array.
    fn slot_len(&self, array: ArrayId) -> usize {
        self.values(array).0.slot_len()
    }

    /// Bytes per slot of an array.
    fn slot_bytes(&self, array: ArrayId) -> usize {
        self.slot_len(array) * self.values(array).1
    }
}

/// Writes the bytes of leaves into an array of their owners, in the order of [`Grid::leaves`](crate::mesh::Grid::leaves), each
/// `[component][cell]`.
fn write<T: Element, E: From<StepError>>(
    subdomains: &mut Subdomains,
    (layout, value_bytes): (Layout, usize),
    to: impl Fn(&mut Subdomain) -> Option<&mut Buffer<T>>,
    mut next: impl FnMut(&mut [u8]) -> Result<(), E>,
) -> Result<(), E> {
    let (mut bytes, leaves) = (vec![], subdomains.first().grid().shared_leaves().map_err(StepError::from)?);
    for run in runs(&leaves) {
        bytes.resize(run.len() * layout.slot_len() * value_bytes, 0);
        fill(layout, value_bytes, &mut bytes, &mut next)?;
        let first = run[0].slot.index();
        subdomains.write_raw(layout, first..first + run.len(), &bytes, &to)?;
    }
    Ok(())
}

/// Fills the bytes of some slots with values that are given as `[component][cell]`.
fn fill<E>(
    layout: Layout,
    value_bytes: usize,
    bytes: &mut Vec<u8>,
    next: &mut impl FnMut(&mut [u8]) -> Result<(), E>,
) -> Result<(), E> {
    layout.of_cells_mut(bytes, value_bytes).try_for_each(next)?;
    if layout.is_grouped() {
        *bytes = layout.regrouped(bytes, value_bytes, true);
    }
    Ok(())
}

fn first_set(subdomain: &mut Subdomain) -> Option<&mut Buffer<Stored>> {
    Some(subdomain.populations_mut(PopulationSet::First))
}

impl Simulation {
    /// The current data of the flow for a restart file. Of several processes only the first can read them.
    pub fn state(&mut self) -> Result<State<'_>, StepError> {
        self.complete()?;
        let state = State::of(self)?;
        match self.subdomains.processes() {
            Some(processes) => state.gathered(&self.subdomains, processes),
            None => Ok(state),
        }
    }

    /// The same in a copy, for any thread; the flow may go on before the copy is complete.
    pub fn capture_state(&mut self, staging: Staging) -> Result<State<'static>, StepError> {
        self.complete()?;
        let state = State::of(self)?;
        match self.subdomains.processes() {
            Some(processes) => state.gathered(&self.subdomains, processes),
            None => state.copied(staging),
        }
    }

    /// Fills those cells of covered blocks that steps do not update from the finer blocks, as before an adaptation, so that they do not
    /// depend on the previous content of their slots.
    fn complete(&mut self) -> Result<(), StepError> {
        self.subdomains.fill_covered(&self.stepper.current(), false)
    }

    /// Sets all populations, in the order and form of [`State::read_populations`], and the step.
    pub fn write_populations<E: From<StepError>>(
        &mut self,
        step: u64,
        mut next: impl FnMut(&mut [u8]) -> Result<(), E>,
    ) -> Result<(), E> {
        let (layout, value_bytes) = Content::Populations.values(self.manifest());
        write(&mut self.subdomains, (layout, value_bytes), first_set, &mut next)?;
        let mut bytes = vec![0; layout.slot_len() * value_bytes];
        for (_, slot) in self.grid().forest().read_covered().map_err(StepError::from)? {
            fill(layout, value_bytes, &mut bytes, &mut next)?;
            self.subdomains.write_raw(layout, slot.index()..slot.index() + 1, &bytes, first_set)?;
        }
        let Simulation { subdomains, stepper, .. } = self;
        stepper.levels.iter_mut().for_each(|level| level.current = PopulationSet::First);
        stepper.step = step;
        stepper.set_time(subdomains.first().program().manifest(), step as f64)?;
        for subdomain in subdomains.iter_mut() {
            subdomain.place_solids(stepper.levels.len(), step as f64)?;
            subdomain.forget_fields();
        }
        Ok(())
    }

    /// Sets the reference fields and their step, in the order and form of [`State::read_reference`].
    pub fn write_reference<E: From<StepError>>(
        &mut self,
        step: u64,
        next: impl FnMut(&mut [u8]) -> Result<(), E>,
    ) -> Result<(), E> {
        self.subdomains.iter_mut().try_for_each(Subdomain::make_reference)?;
        let values = Content::Fields.values(self.manifest());
        write(&mut self.subdomains, values, Subdomain::reference_mut, next)?;
        self.monitor.reference = Some(step);
        Ok(())
    }

    /// Sets the accumulators of a statistic of this flow, by its number, in the order and form of [`State::read_statistic`], and their
    /// number of samples.
    pub fn write_statistic<E: From<StepError>>(
        &mut self,
        number: usize,
        samples: u64,
        next: impl FnMut(&mut [u8]) -> Result<(), E>,
    ) -> Result<(), E> {
        let statistics = self.subdomains.first().statistics();
        let Some(count) = statistics.and_then(|statistics| statistics.accumulators().nth(number)) else {
            return Ok(());
        };
        let values = Content::Statistic(count).values(self.manifest());
        write(&mut self.subdomains, values, |subdomain| subdomain.accumulators_mut(number), next)?;
        self.subdomains.iter_mut().for_each(|subdomain| subdomain.set_samples(number, samples));
        Ok(())
    }
}
