//! Where a value lies: (slot, component, cell) to offset, by the bundle's formula.
//!
//! Populations and fields are both stored as `[slot][component][cell]`, component being the direction or the position
//! in the list of field components; inside a block, x runs fastest.

use lbm_bundle::Manifest;

/// A data slot: the place of one block's values in every per-block array.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct SlotId(pub u32);

impl SlotId {
    /// Position in per-block arrays.
    pub fn index(self) -> usize {
        self.0 as usize
    }
}

/// A cell of a block, from 0 to the block's number of cells.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct CellId(pub u32);

/// An array `[slot][component][cell]`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Layout {
    block: [usize; 3],
    components: usize,
}

impl Layout {
    /// Of the populations: a component per direction.
    pub fn populations(manifest: &Manifest) -> Self {
        Layout { block: manifest.block.map(|n| n as usize), components: manifest.q() }
    }

    /// Of the macroscopic fields: their components one after the other.
    pub fn fields(manifest: &Manifest) -> Self {
        Layout { block: manifest.block.map(|n| n as usize), components: manifest.field_components() }
    }

    /// Components of a cell.
    pub fn components(&self) -> usize {
        self.components
    }

    /// Cells of a block.
    pub fn cells(&self) -> usize {
        self.block.iter().product()
    }

    /// The cells of a block in order.
    pub fn all_cells(&self) -> impl Iterator<Item = CellId> + use<> {
        (0..self.cells() as u32).map(CellId)
    }

    /// Values of one slot.
    pub fn slot_len(&self) -> usize {
        self.components * self.cells()
    }

    /// The cell at a position inside a block.
    pub fn cell(&self, at: [usize; 3]) -> CellId {
        CellId((at[0] + self.block[0] * (at[1] + self.block[1] * at[2])) as u32)
    }

    /// Position inside its block of a cell.
    pub fn position(&self, cell: CellId) -> [usize; 3] {
        let cell = cell.0 as usize;
        [cell % self.block[0], cell / self.block[0] % self.block[1], cell / (self.block[0] * self.block[1])]
    }

    /// Offset of a value.
    pub fn offset(&self, slot: SlotId, component: usize, cell: CellId) -> usize {
        (slot.index() * self.components + component) * self.cells() + cell.0 as usize
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const LAYOUT: Layout = Layout { block: [4, 3, 2], components: 5 };

    #[test]
    fn offsets_follow_the_formula_of_the_bundle() {
        // cell = x + 4 (y + 3 z); offset = (slot * 5 + component) * 24 + cell
        assert_eq!(LAYOUT.cell([3, 2, 1]), CellId(3 + 4 * (2 + 3)));
        assert_eq!(LAYOUT.offset(SlotId(7), 2, CellId(23)), (7 * 5 + 2) * 24 + 23);
        assert_eq!(LAYOUT.slot_len(), 120);
    }

    #[test]
    fn position_inverts_cell() {
        for cell in 0..24 {
            assert_eq!(LAYOUT.cell(LAYOUT.position(CellId(cell))), CellId(cell));
        }
    }
}
