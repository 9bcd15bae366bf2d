//! What holds data of blocks is told how a forest changes: which slots are averaged, filled and moved.

use super::Tables;
use crate::device::{Buffer, Int};
use crate::kernels::KernelError;

/// Blocks whose data must be transferred in a change of the forest.
pub struct Change<'a> {
    /// Slots of the coarse blocks, `count` of them.
    pub slots: &'a Buffer<Int>,
    /// Number of coarse blocks.
    pub count: usize,
    /// `child_slots[slot * 2^dim + octant]`: slots of their children.
    pub child_slots: &'a Buffer<Int>,
    /// The forest at this moment.
    pub tables: &'a Tables,
}

impl<'a> Change<'a> {
    /// The same for some of its coarse blocks only, if they are listed.
    pub fn of(self, listed: Option<&'a Buffer<Int>>) -> Change<'a> {
        match listed {
            Some(slots) => Change { slots, count: slots.len(), ..self },
            None => self,
        }
    }
}

/// Blocks whose data move to other slots.
pub struct Moves<'a> {
    /// The destination slots: 0 to `count`, or some of them.
    pub slots: &'a Buffer<Int>,
    /// Their number: one for each leaf, or fewer.
    pub count: usize,
    /// `from[slot]`: the slot that has the data before the move.
    pub from: &'a Buffer<Int>,
    /// The slots of covered blocks with data, which do not move.
    pub covered: &'a Buffer<Int>,
    /// Their number: 0 if covered blocks have no data.
    pub covered_count: usize,
    /// `every[slot]` is that slot.
    pub every: &'a Buffer<Int>,
}

impl<'a> Moves<'a> {
    /// The same for some of the slots only, if they are listed.
    pub fn of(self, listed: Option<&'a Buffer<Int>>) -> Moves<'a> {
        match listed {
            Some(slots) => Moves { slots, count: slots.len(), ..self },
            None => self,
        }
    }
}

/// Transfers data when a forest changes. `()` transfers none.
pub trait Remap {
    /// Fills coarse blocks from their children, which are then removed.
    fn average(&mut self, change: Change<'_>) -> Result<(), KernelError>;

    /// Fills new children from the coarse blocks, whose slots are then freed.
    fn fill(&mut self, change: Change<'_>) -> Result<(), KernelError>;

    /// Moves the data of all leaves at once, so that no slot is overwritten before it is read.
    fn reorder(&mut self, moves: Moves<'_>) -> Result<(), KernelError>;
}

impl Remap for () {
    fn average(&mut self, _: Change<'_>) -> Result<(), KernelError> {
        Ok(())
    }

    fn fill(&mut self, _: Change<'_>) -> Result<(), KernelError> {
        Ok(())
    }

    fn reorder(&mut self, _: Moves<'_>) -> Result<(), KernelError> {
        Ok(())
    }
}
