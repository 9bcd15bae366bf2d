//! Padding: cells of the last blocks along an axis that lie beyond the domain, where its size is no multiple of the block. To kernels they are
//! solid, and the links through the face in front of them are cut and have the wall of the face.
//!
//! The blocks at such faces and all that touch them are on one level, as those at a surface are.

use super::Cutters;
use crate::geometry::Block;

/// The faces inside of blocks.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Padding {
    /// For each axis with padding the number of the wall at its upper face, and its distance, 1/2 unless its rule takes one.
    pub walls: [Option<(usize, f64)>; 3],
    /// The level of the blocks at these faces.
    pub level: usize,
}

impl Cutters {
    /// The end of the domain along each axis with padding, in cells of a level.
    fn padded(&self, level: usize) -> impl Iterator<Item = (usize, usize)> {
        (0..self.solids.dim)
            .filter(|axis| self.padding.walls[*axis].is_some())
            .map(move |axis| (axis, self.solids.size[axis] << level))
    }

    /// Whether a block lies beyond the domain.
    pub fn is_padding(&self, block: Block) -> bool {
        self.padded(block.level).any(|(axis, end)| block.place[axis] * self.solids.block[axis] >= end)
    }

    /// Whether a cell, by its position relative to the lowest of a block, lies beyond the domain.
    pub(super) fn is_beyond(&self, block: Block, at: [i32; 3]) -> bool {
        self.padded(block.level)
            .any(|(axis, end)| block.place[axis] * self.solids.block[axis] + at[axis].max(0) as usize >= end)
    }

    /// Whether a face in front of padding cuts links of a block: the block has the last cells of the domain.
    pub fn is_at_padding(&self, block: Block) -> bool {
        let is_last = |(axis, end): (usize, usize)| block.place[axis] == (end - 1) / self.solids.block[axis];
        !self.is_padding(block) && self.padded(block.level).any(is_last)
    }

    /// The level that a block or its descendants must have at least, because they lie at a face in front of padding or touch a block that
    /// does.
    pub fn level_of_padding(&self, block: Block) -> Option<usize> {
        let [width, finest] = [block.level, self.padding.level].map(|level| 0.5f64.powi(level as i32));
        let is_near = |(axis, end): (usize, usize)| {
            let (side, end) = (self.solids.block[axis] as f64, end as f64 * width);
            let [low, high] = [0.0, 1.0].map(|upper| (block.place[axis] as f64 + upper) * side * width);
            let reach = (side + 1.0) * finest;
            low - reach < end && high + reach > end
        };
        self.padded(block.level).any(is_near).then_some(self.padding.level)
    }
}
