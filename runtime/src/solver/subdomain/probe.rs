//! Fields of some blocks of a subdomain, for probes: nothing else is computed and copied to the host.

use std::ops::Range;

use crate::device::{Buffer, Int, Packing};
use crate::kernels;
use crate::kernels::layout::{Layout, SlotId};
use crate::solver::arrays::params::LevelState;
use crate::solver::error::StepError;
use crate::solver::subdomain::Subdomain;

/// The blocks of a subdomain that are read.
pub(crate) struct ReadBlocks {
    /// Their slots, level by level, ascending on each.
    slots: Vec<SlotId>,
    /// The index of each among all blocks that are read.
    positions: Vec<usize>,
    /// The slots on the device.
    ids: Buffer<Int>,
    /// The range of each level in `slots`.
    levels: Vec<Range<usize>>,
}

impl ReadBlocks {
    /// Blocks by level and slot, in ascending order, each with its position among all blocks that are read; `levels`: the number of levels.
    pub(crate) fn new(
        subdomain: &Subdomain,
        blocks: &[((usize, SlotId), usize)],
        levels: usize,
    ) -> Result<ReadBlocks, StepError> {
        let first = |level: usize| blocks.partition_point(|((of, _), _)| *of < level);
        let levels = (0..levels).map(|level| first(level)..first(level + 1)).collect();
        let (slots, positions): (Vec<SlotId>, _) =
            blocks.iter().map(|((_, slot), position)| (*slot, *position)).unzip();
        let ints: Vec<i32> = slots.iter().map(|slot| slot.0 as i32).collect();
        Ok(ReadBlocks { slots, positions, ids: subdomain.program.device().ints(&ints)?, levels })
    }
}

impl Subdomain {
    /// Copies the macroscopic fields of its blocks that are read to their place in `values`, `[block][component][cell]`.
    pub(crate) fn read_fields(
        &mut self,
        levels: &[LevelState],
        blocks: &ReadBlocks,
        values: &mut [f64],
    ) -> Result<(), StepError> {
        let slot_len = Layout::fields(self.program.manifest()).slot_len();
        for window in self.windows() {
            for (number, (level, listed)) in levels.iter().zip(&blocks.levels).enumerate() {
                let slots = &blocks.slots[listed.clone()];
                let until = |end: usize| listed.start + slots.partition_point(|slot| slot.index() < end);
                let inside = until(window.start)..until(window.end);
                if inside.is_empty() {
                    continue;
                }
                if !self.sampled {
                    self.program.launch(kernels::Macroscopic {
                        ids: blocks.ids.slice(inside.clone()),
                        src: &self.fields.populations[level.current.index()],
                        first: window.start as i32,
                        level: number as i32,
                        fields: &mut self.fields.macroscopic,
                        params: level.params.packed(),
                    })?;
                }
                let mut packing = Packing::new(vec![vec![0..slot_len as u32]]);
                let places = blocks.slots[inside.clone()].iter().map(|slot| (slot.index() - window.start) * slot_len);
                places.for_each(|place| packing.push(place, 0));
                let read = self.fields.macroscopic.pack_reals(&packing)?;
                for (position, read) in blocks.positions[inside].iter().zip(read.chunks(slot_len)) {
                    values[position * slot_len..][..slot_len].copy_from_slice(read);
                }
            }
        }
        Ok(())
    }
}
