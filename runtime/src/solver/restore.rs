//! Arrays as they are on the device, for restart files.

use std::collections::BTreeMap;
use std::io;
use std::ops::Range;
use std::sync::Arc;

use lbm_bundle::Manifest;

use super::fields::{SLOTS_AT_ONCE, range, runs};
use super::monitor::room_to_keep;
use super::subdomain::Subdomain;
use super::{Simulation, StepError};
use crate::device::{Array, Buffer, Element, Staging};
use crate::kernels::layout::{Layout, SlotId};
use crate::mesh::Grid;
use crate::mesh::forest::Leaf;

/// Number of the array of fields that are kept; those before it are the sets of populations.
const KEPT: usize = 2;
/// Number of the array of the first statistic; the others follow.
const STATISTICS: usize = 3;

/// What a restart file has of a flow: where it lies on the device, or copied, so that the flow may go on.
pub struct State<'a> {
    /// Steps done.
    pub step: u64,
    /// The step whose fields are kept, if that is an earlier one.
    pub kept: Option<u64>,
    manifest: Manifest,
    leaves: Arc<[Leaf]>,
    populations: Vec<Place>,
    fields: Vec<Place>,
    /// Accumulators of a cell of each statistic.
    accumulators: Vec<usize>,
    samples: Vec<u64>,
    source: Source<'a>,
}

/// Where the data of a block lie.
#[derive(Clone, Copy)]
struct Place {
    array: usize,
    slot: SlotId,
}

enum Source<'a> {
    /// The arrays by their number.
    Device(BTreeMap<usize, &'a Array>),
    /// Spans of them by the number of the array and the first slot, each with the place of its bytes in the copy.
    Copy(Staging, BTreeMap<(usize, usize), usize>),
}

/// Places whose slots follow each other in one array, as many as cross between device and host at a time.
fn pieces(places: &[Place]) -> impl Iterator<Item = (usize, Range<usize>)> {
    let follows = |one: &Place, next: &Place| one.array == next.array && one.slot.0 + 1 == next.slot.0;
    places.chunk_by(follows).flat_map(|run| run.chunks(SLOTS_AT_ONCE)).map(|run| {
        let first = run[0].slot.index();
        (run[0].array, first..first + run.len())
    })
}

/// Spans of slots that have all places, in the order of memory, and as few as that takes: what lies between the places of one array
/// is in the span too.
fn spans(places: &[Place]) -> Vec<(usize, Range<usize>)> {
    let mut places = places.to_vec();
    places.sort_unstable_by_key(|place| place.slot);
    let span = |run: &[Place]| (run[0].array, run[0].slot.index()..run[run.len() - 1].slot.index() + 1);
    places.chunk_by(|one, next| one.array == next.array).map(span).collect()
}

impl<'a> State<'a> {
    /// Of a flow as it is now, where it lies.
    fn of(flow: &'a Simulation) -> Result<State<'a>, StepError> {
        let (leaves, fields) = (flow.grid().shared_leaves()?, &flow.subdomain.fields);
        let current = |level: usize| flow.stepper.levels[level].current;
        let held = flow.grid().forest().read_held()?;
        let stored = leaves.iter().map(|leaf| (leaf.block.level, leaf.slot)).chain(held);
        let populations = stored.map(|(level, slot)| Place { array: current(level), slot }).collect();
        let kept = flow.kept().filter(|kept| *kept != flow.step());
        let reference = flow.subdomain.reference.as_ref().filter(|_| kept.is_some());
        let of_fields =
            leaves.iter().filter(|_| reference.is_some()).map(|leaf| Place { array: KEPT, slot: leaf.slot });
        let [first, second] = &fields.populations;
        let mut arrays = BTreeMap::from([(0, first.array()), (1, second.array())]);
        arrays.extend(reference.map(|reference| (KEPT, reference.array())));
        let statistics = flow.subdomain.statistics.iter().flat_map(|statistics| &statistics.values);
        arrays.extend((STATISTICS..).zip(statistics.map(Buffer::array)));
        let accumulators = flow.subdomain.statistics.iter().flat_map(|statistics| statistics.accumulators());
        Ok(State {
            step: flow.step(),
            kept,
            manifest: flow.manifest().clone(),
            populations,
            fields: of_fields.collect(),
            leaves,
            accumulators: accumulators.collect(),
            samples: flow.samples().to_vec(),
            source: Source::Device(arrays),
        })
    }

    /// The same in a copy.
    fn copied(self, mut staging: Staging) -> Result<State<'static>, StepError> {
        let mut copied = BTreeMap::new();
        if let Source::Device(arrays) = &self.source {
            let (mut parts, mut at) = (vec![], 0);
            let statistics = (0..self.accumulators.len()).flat_map(|number| spans(&self.of_statistic(number)));
            for (array, slots) in spans(&self.populations).into_iter().chain(spans(&self.fields)).chain(statistics) {
                let values = self.slot_len(array);
                parts.push((arrays[&array], slots.start * values..slots.end * values));
                copied.insert((array, slots.start), at);
                at += slots.len() * self.slot_bytes(array);
            }
            staging.copy(&parts)?;
        }
        let State { step, kept, manifest, leaves, populations, fields, accumulators, samples, .. } = self;
        let source = Source::Copy(staging, copied);
        Ok(State { step, kept, manifest, leaves, populations, fields, accumulators, samples, source })
    }

    /// Signatures and layout of the method's kernels.
    pub fn manifest(&self) -> &Manifest {
        &self.manifest
    }

    /// The leaves of the grid, level by level, each level along the curve.
    pub fn leaves(&self) -> &[Leaf] {
        &self.leaves
    }

    /// How many blocks [`Self::read_populations`] gives.
    pub fn stored_blocks(&self) -> usize {
        self.populations.len()
    }

    /// The bytes of the current populations, leaf by leaf in the order of [`Self::leaves`], each `[direction][cell]`; then of what
    /// refined blocks hold, if they do, level by level along the curve.
    pub fn read_populations(&self, each: impl FnMut(&[u8]) -> io::Result<()>) -> io::Result<()> {
        self.read(&self.populations, each)
    }

    /// The bytes of the fields that are kept, leaf by leaf in the order of [`Self::leaves`], each `[component][cell]`; nothing where
    /// none of an earlier step are.
    pub fn read_kept(&self, each: impl FnMut(&[u8]) -> io::Result<()>) -> io::Result<()> {
        self.read(&self.fields, each)
    }

    /// How many samples each statistic has, and accumulators of a cell.
    pub fn statistics(&self) -> impl ExactSizeIterator<Item = (u64, usize)> + '_ {
        self.samples.iter().copied().zip(self.accumulators.iter().copied())
    }

    /// The bytes of a statistic, by its number, leaf by leaf in the order of [`Self::leaves`], each `[accumulator][cell]`.
    pub fn read_statistic(&self, number: usize, each: impl FnMut(&[u8]) -> io::Result<()>) -> io::Result<()> {
        self.read(&self.of_statistic(number), each)
    }

    /// Where the accumulators of a statistic lie.
    fn of_statistic(&self, number: usize) -> Vec<Place> {
        self.leaves.iter().map(|leaf| Place { array: STATISTICS + number, slot: leaf.slot }).collect()
    }

    fn read(&self, places: &[Place], mut each: impl FnMut(&[u8]) -> io::Result<()>) -> io::Result<()> {
        let mut bytes = vec![];
        for (array, slots) in pieces(places) {
            match &self.source {
                Source::Device(arrays) => {
                    bytes.resize(slots.len() * self.slot_bytes(array), 0);
                    let start = slots.start * self.slot_len(array);
                    arrays[&array].read_raw(start, &mut bytes).map_err(io::Error::other)?;
                    self.each_part(array, &bytes, &mut each)?;
                }
                Source::Copy(staging, copied) => {
                    let span = copied.range(..=(array, slots.start)).next_back();
                    let ((_, first), at) = span.expect("spans have all places");
                    let at = at + (slots.start - first) * self.slot_bytes(array);
                    let all = staging.bytes().map_err(io::Error::other)?;
                    self.each_part(array, &all[at..at + slots.len() * self.slot_bytes(array)], &mut each)?;
                }
            }
        }
        Ok(())
    }

    fn each_part(&self, array: usize, bytes: &[u8], each: impl FnMut(&[u8]) -> io::Result<()>) -> io::Result<()> {
        let (layout, value_bytes) = self.values(array);
        layout.of_cells(bytes, value_bytes).try_for_each(each)
    }

    /// How the values of an array lie, and the bytes of one.
    fn values(&self, array: usize) -> (Layout, usize) {
        match array {
            0 | 1 => (Layout::populations(&self.manifest), self.manifest.real.stored_bytes()),
            KEPT => (Layout::fields(&self.manifest), self.manifest.real.bytes()),
            _ => (Layout::accumulators(&self.manifest, self.accumulators[array - STATISTICS]), size_of::<f64>()),
        }
    }

    /// Values of a slot of an array.
    fn slot_len(&self, array: usize) -> usize {
        self.values(array).0.slot_len()
    }

    /// Bytes of a slot of an array.
    fn slot_bytes(&self, array: usize) -> usize {
        self.slot_len(array) * self.values(array).1
    }
}

/// Writes the bytes of leaves into an array, in the order of [`Grid::leaves`], each `[component][cell]`.
fn write<E: From<StepError>>(
    grid: &Grid,
    layout: Layout,
    to: &mut Buffer<impl Element>,
    mut next: impl FnMut(&mut [u8]) -> Result<(), E>,
) -> Result<(), E> {
    let mut bytes = vec![];
    for run in runs(grid.leaves().map_err(StepError::from)?) {
        let range = range(run, layout);
        bytes.resize(range.len() * to.value_bytes(), 0);
        layout.of_cells_mut(&mut bytes, to.value_bytes()).try_for_each(&mut next)?;
        to.write_raw(range.start, &bytes).map_err(StepError::from)?;
    }
    Ok(())
}

impl Simulation {
    /// What a restart file has of the flow as it is now.
    pub fn state(&self) -> Result<State<'_>, StepError> {
        State::of(self)
    }

    /// The same in a copy, for any thread; the flow may go on before it is on the host.
    pub fn capture_state(&self, staging: Staging) -> Result<State<'static>, StepError> {
        self.state()?.copied(staging)
    }

    /// Sets all populations, in the order and form of [`State::read_populations`], and the step.
    pub fn write_populations<E: From<StepError>>(
        &mut self,
        step: u64,
        mut next: impl FnMut(&mut [u8]) -> Result<(), E>,
    ) -> Result<(), E> {
        let layout = Layout::populations(self.manifest());
        let mut bytes = vec![0; layout.slot_len() * self.manifest().real.stored_bytes()];
        let Subdomain { grid, fields, .. } = &mut self.subdomain;
        let to = &mut fields.populations[0];
        write(grid, layout, to, &mut next)?;
        for (_, slot) in grid.forest().read_held().map_err(StepError::from)? {
            layout.of_cells_mut(&mut bytes, to.value_bytes()).try_for_each(&mut next)?;
            to.write_raw(slot.index() * layout.slot_len(), &bytes).map_err(StepError::from)?;
        }
        self.stepper.levels.iter_mut().for_each(|level| level.current = 0);
        self.stepper.step = step;
        self.stepper.set_time(self.subdomain.program.manifest(), step as f64)?;
        self.subdomain.place_solids(self.stepper.levels.len(), step as f64)?;
        self.subdomain.sampled = false;
        Ok(())
    }

    /// Keeps fields of an earlier step, in the order and form of [`State::read_kept`].
    pub fn write_kept<E: From<StepError>>(
        &mut self,
        step: u64,
        next: impl FnMut(&mut [u8]) -> Result<(), E>,
    ) -> Result<(), E> {
        self.subdomain.make_whole()?;
        let mut fields = room_to_keep(self.device(), &self.subdomain.fields.macroscopic)?;
        write(self.grid(), Layout::fields(self.manifest()), &mut fields, next)?;
        self.subdomain.reference = Some(fields);
        self.monitor.reference = Some(step);
        Ok(())
    }

    /// Sets the accumulators of a statistic of this flow, by its number, in the order and form of [`State::read_statistic`], and how many
    /// samples they have.
    pub fn write_statistic<E: From<StepError>>(
        &mut self,
        number: usize,
        samples: u64,
        next: impl FnMut(&mut [u8]) -> Result<(), E>,
    ) -> Result<(), E> {
        let Subdomain { grid, program, statistics, .. } = &mut self.subdomain;
        let Some(statistics) = statistics else { return Ok(()) };
        let layout = statistics.layout(program.manifest(), number);
        write(grid, layout, &mut statistics.values[number], next)?;
        statistics.samples[number] = samples;
        Ok(())
    }
}
