//! Blocks of one level that fill a box.

use super::{Behind, GridError, WallId, morton};
use crate::geometry::Face;

/// Blocks of one level that fill a box, in Morton order.
pub(super) struct Roots {
    /// Position of each, in blocks.
    pub(super) positions: Vec<[usize; 3]>,
    /// `near[root * places + (dx+1) + 3 (dy+1) + 9 (dz+1)]`: a root, or `-(w + 1)` for the wall `w`.
    pub(super) near: Vec<i32>,
    /// Places around a block, including its own: 3^dim.
    pub(super) places: usize,
}

impl Roots {
    /// `count` blocks along each axis, 1 beyond the dimension.
    pub(super) fn new(dim: usize, count: [usize; 3], faces: [Behind; 6]) -> Result<Self, GridError> {
        check(dim, count, faces)?;
        let positions = morton::order(count);
        let mut roots = vec![0; positions.len()];
        let place = |at: [usize; 3]| at[0] + count[0] * (at[1] + count[1] * at[2]);
        for (root, at) in positions.iter().enumerate() {
            roots[place(*at)] = root as i32;
        }
        let near = positions.iter().flat_map(|at| {
            offsets(dim).map(|offset| match beyond(*at, offset, count, faces) {
                Ok(at) => roots[place(at)],
                Err(WallId(wall)) => -(wall as i32 + 1),
            })
        });
        let near = near.collect();
        Ok(Roots { positions, near, places: offsets(dim).count() })
    }
}

/// Refuses invalid boxes: half periodic ones, and those of more blocks than a 32-bit index can number.
pub(super) fn check(dim: usize, count: [usize; 3], faces: [Behind; 6]) -> Result<(), GridError> {
    for axis in 0..dim {
        let [low, high] = Face::of_axis(axis);
        match (faces[low.index()], faces[high.index()]) {
            (Behind::Periodic, Behind::Wall(_)) => {
                return Err(GridError::HalfPeriodic { periodic: low.name(), wall: high.name() });
            }
            (Behind::Wall(_), Behind::Periodic) => {
                return Err(GridError::HalfPeriodic { periodic: high.name(), wall: low.name() });
            }
            _ => {}
        }
    }
    let blocks = count.iter().try_fold(1usize, |all, n| all.checked_mul(*n)).unwrap_or(usize::MAX);
    if blocks > i32::MAX as usize {
        return Err(GridError::Blocks { blocks });
    }
    Ok(())
}

/// The 3^dim offsets to neighbours in the order of the table.
pub(super) fn offsets(dim: usize) -> impl Iterator<Item = [i64; 3]> {
    let depth = if dim == 3 { -1..=1 } else { 0..=0 };
    depth.flat_map(|dz| (-1..=1).flat_map(move |dy| (-1..=1).map(move |dx| [dx, dy, dz])))
}

/// The block at an offset from another, or the wall between them.
pub(super) fn beyond(
    at: [usize; 3],
    offset: [i64; 3],
    count: [usize; 3],
    faces: [Behind; 6],
) -> Result<[usize; 3], WallId> {
    let mut reached = at;
    for axis in 0..3 {
        let [low, high] = Face::of_axis(axis);
        let target = at[axis] as i64 + offset[axis];
        let face = if target < 0 { low } else { high };
        if (0..count[axis] as i64).contains(&target) {
            reached[axis] = target as usize;
            continue;
        }
        match faces[face.index()] {
            Behind::Periodic => reached[axis] = target.rem_euclid(count[axis] as i64) as usize,
            Behind::Wall(wall) => return Err(wall),
        }
    }
    Ok(reached)
}
