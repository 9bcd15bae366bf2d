//! The grid's lists and tables on the device.

use super::{Grid, Lists};
use crate::device::{Buffer, Device, DeviceError};
use crate::layout::SlotId;

/// What kernels read of a grid; [`Nodes`](super::Nodes) says what the tables hold.
pub struct Tables {
    /// `neighbours[slot * 3^dim + direction]`
    pub neighbours: Buffer,
    /// `nodes[slot]`
    pub nodes: Buffer,
    /// `near[node * 3^dim + direction]`
    pub near: Buffer,
    /// `children[node]`
    pub children: Buffer,
    /// `parents[node]`
    pub parents: Buffer,
    /// `slots[node]`
    pub slots: Buffer,
    /// `corners[slot]`
    pub corners: Buffer,
    /// The slots of each level.
    pub levels: Vec<LevelTables>,
}

/// The slots of a level by what their kernels need, as in [`Lists`].
pub struct LevelTables {
    /// All of them.
    pub all: Buffer,
    /// Neither walls nor jumps.
    pub interior: Buffer,
    /// Walls.
    pub walls: Buffer,
    /// Level jumps.
    pub jump: Buffer,
    /// Both.
    pub both: Buffer,
}

impl Tables {
    /// Copies a grid's tables to a device.
    pub fn new(device: &Device, grid: &Grid) -> Result<Self, DeviceError> {
        let list = |slots: &[SlotId]| device.ints(&slots.iter().map(|slot| slot.0 as i32).collect::<Vec<_>>());
        let level = |lists: &Lists| {
            Ok(LevelTables {
                all: list(&lists.all().collect::<Vec<_>>())?,
                interior: list(&lists.interior)?,
                walls: list(&lists.walls)?,
                jump: list(&lists.jump)?,
                both: list(&lists.both)?,
            })
        };
        let nodes = grid.nodes();
        Ok(Tables {
            neighbours: device.ints(&nodes.neighbours)?,
            nodes: device.ints(&nodes.nodes)?,
            near: device.ints(&nodes.near)?,
            children: device.ints(&nodes.children)?,
            parents: device.ints(&nodes.parents)?,
            slots: device.ints(&nodes.slots)?,
            corners: device.ints(&nodes.corners)?,
            levels: grid.levels().iter().map(level).collect::<Result<_, DeviceError>>()?,
        })
    }
}
