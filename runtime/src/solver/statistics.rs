//! Statistics over time: accumulated on the device from the fields of some steps, and carried along when the forest changes.

use std::ops::Range;

use lbm_bundle::Manifest;

use super::parts::For;
use super::room::Arrays;
use super::snapshot::Snapshot;
use super::step::Level;
use super::subdomain::Subdomain;
use super::{Simulation, StepError, fields};
use crate::device::{Buffer, Device, DeviceError, Double};
use crate::kernels::layout::Layout;
use crate::kernels::{self, KernelError, statistics};
use crate::mesh::forest::{Change, Moves};
use crate::mesh::{Grid, Owned};

/// What is accumulated of a grid.
pub(super) struct Statistics {
    kernels: kernels::Statistics,
    /// Of each statistic, `[slot][accumulator][cell]`.
    pub(super) values: Vec<Buffer<Double>>,
    /// How many samples each has.
    pub(super) samples: Vec<u64>,
}

/// Bytes of the accumulators of a slot, and of those of the statistic that has most of them.
pub(super) fn bytes_of_slot(manifest: &Manifest, kernels: Option<&kernels::Statistics>) -> [usize; 2] {
    let of = |accumulators: usize| Layout::accumulators(manifest, accumulators).slot_len() * size_of::<f64>();
    let all = || kernels.iter().flat_map(|kernels| kernels.accumulators()).map(of);
    [all().sum(), all().max().unwrap_or(0)]
}

impl Statistics {
    /// Accumulators of all slots of a grid, without a sample. Says what is missing before it allocates.
    pub(super) fn new(
        device: &Device,
        manifest: &Manifest,
        grid: &Grid,
        kernels: kernels::Statistics,
        owned: Option<&Owned>,
    ) -> Result<Statistics, StepError> {
        let [of_slot, _] = bytes_of_slot(manifest, Some(&kernels));
        let written = owned.filter(|_| device.is_sparse()).map_or(grid.slots(), Owned::leaf_count);
        let bytes = written.saturating_mul(of_slot);
        if device.memory_available().is_some_and(|available| bytes > available) {
            return Err(device.out_of_memory(bytes).into());
        }
        let own = owned.map(|owned| owned.leaves(grid)).transpose()?;
        let of = |accumulators| {
            let layout = Layout::accumulators(manifest, accumulators);
            let mut values = device.alloc_doubles(grid.slots() * layout.slot_len())?;
            if let Some(own) = &own {
                values.back(fields::runs(own).map(|run| fields::range(run, layout)))?;
                values.seal()?;
            }
            Ok(values)
        };
        let values = kernels.accumulators().map(of).collect::<Result<Vec<_>, DeviceError>>()?;
        Ok(Statistics { kernels, samples: vec![0; values.len()], values })
    }

    /// Accumulators of a cell, of each statistic.
    pub(super) fn accumulators(&self) -> impl ExactSizeIterator<Item = usize> + '_ {
        self.kernels.accumulators()
    }

    /// How the accumulators of each statistic lie.
    pub(super) fn layouts(&self, manifest: &Manifest) -> impl Iterator<Item = Layout> {
        self.accumulators().map(|accumulators| Layout::accumulators(manifest, accumulators))
    }

    /// How the accumulators of a statistic lie.
    pub(super) fn layout(&self, manifest: &Manifest, number: usize) -> Layout {
        Layout::accumulators(manifest, self.accumulators().nth(number).unwrap_or(0))
    }

    /// Blocks that come in the place of their parts have what these have.
    pub(super) fn average(&mut self, method: &Manifest, change: &Change<'_>) -> Result<(), KernelError> {
        for (number, values) in self.values.iter_mut().enumerate() {
            let (ids, parts) = (change.slots.part(0..change.count), change.parts);
            self.kernels.launch(method, number, statistics::AverageAccumulators { ids, parts, values })?;
        }
        Ok(())
    }

    /// Parts that come in the place of their blocks have what these have. Refined blocks have nothing from the slot `held` on.
    pub(super) fn fill(&mut self, method: &Manifest, change: &Change<'_>, held: i32) -> Result<(), KernelError> {
        for (number, values) in self.values.iter_mut().enumerate() {
            let (ids, parts) = (change.slots.part(0..change.count), change.parts);
            let neighbours = &change.tables.neighbours;
            self.kernels.launch(
                method,
                number,
                statistics::FillAccumulators { ids, neighbours, held, parts, values },
            )?;
        }
        Ok(())
    }

    /// All blocks move to other slots, of a part to these. Takes as much memory again as one statistic has, while it works.
    pub(super) fn reorder(
        &mut self,
        device: &Device,
        method: &Manifest,
        moves: &Moves<'_>,
        slots: &[Range<usize>],
    ) -> Result<(), KernelError> {
        let layouts: Vec<Layout> = self.layouts(method).collect();
        for ((number, values), layout) in self.values.iter_mut().enumerate().zip(layouts) {
            let mut moved = device.alloc_like(values)?;
            let mut room = Arrays::default();
            room.add(&mut moved, layout);
            room.only(slots)?;
            let ids = moves.slots.part(0..moves.count);
            self.kernels.launch(
                method,
                number,
                statistics::RelocateAccumulators { ids, from: moves.from, src: values, dst: &mut moved },
            )?;
            *values = moved;
        }
        Ok(())
    }
}

impl Simulation {
    /// Adds the fields of the current step to some statistics, by their numbers in [`GridSpec::statistics`](super::GridSpec::statistics).
    pub fn accumulate(&mut self, due: &[usize]) -> Result<(), StepError> {
        if due.is_empty() {
            return Ok(());
        }
        let Simulation { parts, stepper, .. } = self;
        let known = parts.first().statistics.as_ref();
        if known.is_some_and(|statistics| due.iter().any(|number| statistics.kernels.reads_slopes(*number))) {
            // Slopes are of fields beside blocks, too.
            parts.iter_mut().try_for_each(|subdomain| subdomain.sample(&stepper.levels))?;
            parts.exchange_fields()?;
        }
        parts.iter_mut().try_for_each(|subdomain| subdomain.accumulate(&stepper.levels, due))
    }

    /// How many samples each statistic has.
    pub fn samples(&self) -> &[u64] {
        self.parts.first().statistics.as_ref().map_or(&[], |statistics| &statistics.samples)
    }

    /// The accumulators of a statistic in every cell, in lattice units, the components in the order of
    /// [`Statistic`](lbm_bundle::statistics::Statistic); they have no names. `None` where there is no such statistic. In several processes the
    /// first has them, and others have zeros.
    pub fn accumulators(&self, number: usize) -> Result<Option<Snapshot>, StepError> {
        let Some(statistics) = self.parts.first().statistics.as_ref().filter(|all| number < all.values.len()) else {
            return Ok(None);
        };
        let (manifest, leaves) = (self.manifest(), self.grid().shared_leaves()?);
        let layout = statistics.layout(manifest, number);
        let names = vec![String::new(); layout.components()];
        let read =
            |range| self.parts.read(layout, range, For::First, |part| Some(&part.statistics.as_ref()?.values[number]));
        let mut snapshot = fields::gather(read, (layout, names), self.grid().domain(), &leaves, self.step())?;
        fields::mark_solid(&mut snapshot, manifest, &leaves, self.cutters().map(|cutters| &**cutters));
        Ok(Some(snapshot))
    }
}

impl Subdomain {
    /// Adds the fields of its blocks to some statistics.
    fn accumulate(&mut self, levels: &[Level], due: &[usize]) -> Result<(), StepError> {
        for window in self.windows() {
            self.sample_window(levels, &window)?;
            let (tables, every) = (self.grid.tables(), self.grid.forest().every());
            let (lists, first): (Vec<_>, usize) = match self.is_whole() {
                true => (self.own_runs().into_iter().map(|run| (&tables.leaves, run)).collect(), 0),
                false => (vec![(every, window.clone())], window.start),
            };
            let Some(Statistics { kernels, values, samples }) = &mut self.statistics else { break };
            for (number, (list, run)) in due.iter().flat_map(|number| lists.iter().map(move |list| (number, list))) {
                kernels.launch(
                    self.program.manifest(),
                    *number,
                    statistics::Accumulate {
                        ids: list.part(run.clone()),
                        nodes: &tables.node,
                        levels: &tables.level,
                        near: &tables.near,
                        children: &tables.child,
                        parents: &tables.parent,
                        slots: &tables.slot,
                        cut: i32::from(self.bodies.is_some()),
                        rows: self.bodies.as_ref().map_or(&tables.node, |bodies| &bodies.rows),
                        links: self.bodies.as_ref().map_or(&tables.node, |bodies| &bodies.links),
                        first: first as i32,
                        fields: &self.fields.macroscopic,
                        samples: i32::try_from(samples[*number]).unwrap_or(i32::MAX),
                        values: &mut values[*number],
                    },
                )?;
            }
        }
        if let Some(statistics) = &mut self.statistics {
            due.iter().for_each(|number| statistics.samples[*number] += 1);
        }
        Ok(())
    }
}
