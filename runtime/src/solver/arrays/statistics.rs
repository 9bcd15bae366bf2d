//! Statistics over time: accumulated on the device from the fields of some steps, and remapped when the forest changes.

use std::ops::Range;

use lbm_bundle::Manifest;

use crate::device::{Buffer, Device, DeviceError, Double};
use crate::kernels::layout::Layout;
use crate::kernels::{self, KernelError, statistics};
use crate::mesh::forest::{Change, Moves};
use crate::mesh::{Grid, Owned};
use crate::solver::arrays::cells;
use crate::solver::arrays::pages::Arrays;
use crate::solver::error::StepError;

/// The statistics of a grid.
pub(crate) struct Statistics {
    pub(crate) kernels: kernels::Statistics,
    /// The accumulators of each statistic, `[slot][accumulator][cell]`.
    pub(crate) values: Vec<Buffer<Double>>,
    /// The number of samples of each statistic.
    pub(crate) samples: Vec<u64>,
}

/// Bytes of all accumulators of a slot, and of those of the statistic with the most accumulators.
pub(crate) fn bytes_of_slot(manifest: &Manifest, kernels: Option<&kernels::Statistics>) -> [usize; 2] {
    let of = |accumulators: usize| Layout::accumulators(manifest, accumulators).slot_len() * size_of::<f64>();
    let all = || kernels.iter().flat_map(|kernels| kernels.accumulators()).map(of);
    [all().sum(), all().max().unwrap_or(0)]
}

impl Statistics {
    /// Accumulators for all slots of a grid, without samples. If memory does not suffice, the error states the bytes that are needed, and
    /// nothing is allocated.
    pub(crate) fn new(
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
                values.back(cells::runs(own).map(|run| cells::range(run, layout)))?;
                values.seal()?;
            }
            Ok(values)
        };
        let values = kernels.accumulators().map(of).collect::<Result<Vec<_>, DeviceError>>()?;
        Ok(Statistics { kernels, samples: vec![0; values.len()], values })
    }

    /// The number of accumulators of a cell, for each statistic.
    pub(crate) fn accumulators(&self) -> impl ExactSizeIterator<Item = usize> + '_ {
        self.kernels.accumulators()
    }

    /// The layout of the accumulators of each statistic.
    pub(crate) fn layouts(&self, manifest: &Manifest) -> impl Iterator<Item = Layout> {
        self.accumulators().map(|accumulators| Layout::accumulators(manifest, accumulators))
    }

    /// The accumulators of each statistic, with their layout.
    pub(crate) fn arrays(&mut self, manifest: &Manifest) -> impl Iterator<Item = (&mut Buffer<Double>, Layout)> {
        let layouts: Vec<Layout> = self.layouts(manifest).collect();
        self.values.iter_mut().zip(layouts)
    }

    /// The layout of the accumulators of one statistic.
    pub(crate) fn layout(&self, manifest: &Manifest, number: usize) -> Layout {
        Layout::accumulators(manifest, self.accumulators().nth(number).unwrap_or(0))
    }

    /// Computes the accumulators of blocks that replace their children, from those of the children.
    pub(crate) fn average(&mut self, method: &Manifest, change: &Change<'_>) -> Result<(), KernelError> {
        for (number, values) in self.values.iter_mut().enumerate() {
            let (ids, child_slots) = (change.slots.slice(0..change.count), change.child_slots);
            self.kernels.launch(method, number, statistics::AverageAccumulators { ids, child_slots, values })?;
        }
        Ok(())
    }

    /// Computes the accumulators of children that replace their block, from those of the block. Slots from `covered` on belong to covered
    /// blocks, which have no accumulators.
    pub(crate) fn fill(&mut self, method: &Manifest, change: &Change<'_>, covered: i32) -> Result<(), KernelError> {
        for (number, values) in self.values.iter_mut().enumerate() {
            let (ids, child_slots) = (change.slots.slice(0..change.count), change.child_slots);
            let neighbours = &change.tables.neighbours;
            self.kernels.launch(
                method,
                number,
                statistics::FillAccumulators { ids, neighbours, first_covered: covered, child_slots, values },
            )?;
        }
        Ok(())
    }

    /// Moves all blocks to other slots, those of a subdomain to `slots`. Temporarily needs as much memory again as one statistic.
    pub(crate) fn reorder(
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
            let ids = moves.slots.slice(0..moves.count);
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
