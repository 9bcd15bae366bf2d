//! Statistics over time: accumulated on the device from the fields of some steps, and carried along when the forest changes.

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

/// What is accumulated of a grid.
pub(crate) struct Statistics {
    pub(crate) kernels: kernels::Statistics,
    /// Of each statistic, `[slot][accumulator][cell]`.
    pub(crate) values: Vec<Buffer<Double>>,
    /// How many samples each has.
    pub(crate) samples: Vec<u64>,
}

/// Bytes of the accumulators of a slot, and of those of the statistic that has most of them.
pub(crate) fn bytes_of_slot(manifest: &Manifest, kernels: Option<&kernels::Statistics>) -> [usize; 2] {
    let of = |accumulators: usize| Layout::accumulators(manifest, accumulators).slot_len() * size_of::<f64>();
    let all = || kernels.iter().flat_map(|kernels| kernels.accumulators()).map(of);
    [all().sum(), all().max().unwrap_or(0)]
}

impl Statistics {
    /// Accumulators of all slots of a grid, without a sample. Says what is missing before it allocates.
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

    /// Accumulators of a cell, of each statistic.
    pub(crate) fn accumulators(&self) -> impl ExactSizeIterator<Item = usize> + '_ {
        self.kernels.accumulators()
    }

    /// How the accumulators of each statistic lie.
    pub(crate) fn layouts(&self, manifest: &Manifest) -> impl Iterator<Item = Layout> {
        self.accumulators().map(|accumulators| Layout::accumulators(manifest, accumulators))
    }

    /// The accumulators of each statistic, and how they lie.
    pub(crate) fn arrays(&mut self, manifest: &Manifest) -> impl Iterator<Item = (&mut Buffer<Double>, Layout)> {
        let layouts: Vec<Layout> = self.layouts(manifest).collect();
        self.values.iter_mut().zip(layouts)
    }

    /// How the accumulators of a statistic lie.
    pub(crate) fn layout(&self, manifest: &Manifest, number: usize) -> Layout {
        Layout::accumulators(manifest, self.accumulators().nth(number).unwrap_or(0))
    }

    /// Blocks that come in the place of their parts have what these have.
    pub(crate) fn average(&mut self, method: &Manifest, change: &Change<'_>) -> Result<(), KernelError> {
        for (number, values) in self.values.iter_mut().enumerate() {
            let (ids, parts) = (change.slots.part(0..change.count), change.parts);
            self.kernels.launch(method, number, statistics::AverageAccumulators { ids, parts, values })?;
        }
        Ok(())
    }

    /// Parts that come in the place of their blocks have what these have. Refined blocks have nothing from the slot `held` on.
    pub(crate) fn fill(&mut self, method: &Manifest, change: &Change<'_>, held: i32) -> Result<(), KernelError> {
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
