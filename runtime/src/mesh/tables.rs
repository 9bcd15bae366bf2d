//! The grid's lists and tables on the device.

use super::Grid;
use crate::device::{Buffer, Device, DeviceError};
use crate::layout::SlotId;

/// What kernels read of a grid.
pub struct Tables {
    /// `neighbours[slot * 3^dim + direction]`, see [`Grid::neighbours`].
    pub neighbours: Buffer,
    /// Every slot.
    pub all: Buffer,
    /// Slots that touch no wall.
    pub interior: Buffer,
    /// Slots that touch a wall.
    pub walls: Buffer,
}

impl Tables {
    /// Copies a grid's tables to a device.
    pub fn new(device: &Device, grid: &Grid) -> Result<Self, DeviceError> {
        let list = |slots: &[SlotId]| device.ints(&slots.iter().map(|slot| slot.0 as i32).collect::<Vec<_>>());
        let all: Vec<SlotId> = (0..grid.slots() as u32).map(SlotId).collect();
        Ok(Tables {
            neighbours: device.ints(grid.neighbours())?,
            all: list(&all)?,
            interior: list(grid.interior())?,
            walls: list(grid.walls())?,
        })
    }
}
