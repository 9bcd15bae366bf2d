//! Memory layout: the offset of a value from its slot, component and cell.
//!
//! Populations and fields are both stored as `[slot][component][cell]`. The component is the direction, or the index in
//! the list of field components. Inside a block, x runs fastest. On the host the cells of a component may be followed
//! by padding ([`Manifest::pitch`]). Where moments of 16 bits are stored side by side, the moments of a group in one
//! cell are contiguous, followed by those in the next cell ([`side_by_side`]).

use lbm_bundle::{Manifest, side_by_side};

/// A slot: the index of a block in every per-block array.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct SlotId(pub u32);

impl SlotId {
    /// Index in per-block arrays.
    pub fn index(self) -> usize {
        self.0 as usize
    }
}

/// A cell of a block, from 0 to the number of its cells.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct CellId(pub u32);

/// Layout of an array `[slot][component][cell]`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Layout {
    block: [usize; 3],
    components: usize,
    /// Distance between components, in values.
    pitch: usize,
    /// How many of the components are stored in groups: the first ones.
    grouped: usize,
}

impl Layout {
    /// Layout of the populations: the components are rows ([`Manifest::rows_of`]), one per direction, or per moment if moments are stored in
    /// their place, and two per state if these are stored in 16 bits.
    pub fn populations(manifest: &Manifest) -> Self {
        let grouped = if manifest.is_side_by_side() { manifest.first_state() } else { 0 };
        Layout { pitch: manifest.pitch(), grouped, ..Self::of(manifest, manifest.rows()) }
    }

    /// Layout of arrays with one value per direction beside the populations: populations of an earlier time, or values
    /// of cut links.
    pub fn beside_populations(manifest: &Manifest) -> Self {
        Self::of(manifest, manifest.q())
    }

    /// Layout of the macroscopic fields: their components one after the other.
    pub fn fields(manifest: &Manifest) -> Self {
        Self::of(manifest, manifest.field_components())
    }

    /// Layout of `count` accumulators of a statistic.
    pub fn accumulators(manifest: &Manifest, count: usize) -> Self {
        Self::of(manifest, count)
    }

    fn of(manifest: &Manifest, components: usize) -> Self {
        Layout { block: manifest.block.map(|n| n as usize), components, pitch: manifest.cells(), grouped: 0 }
    }

    /// Cells of a block along each axis.
    pub fn block(&self) -> [usize; 3] {
        self.block
    }

    /// Components per cell.
    pub fn components(&self) -> usize {
        self.components
    }

    /// Number of cells in a block.
    pub fn cells(&self) -> usize {
        self.block.iter().product()
    }

    /// The cells of a block in order.
    pub fn all_cells(&self) -> impl Iterator<Item = CellId> + use<> {
        (0..self.cells() as u32).map(CellId)
    }

    /// Values per slot, padding included.
    pub fn slot_len(&self) -> usize {
        self.components * self.pitch
    }

    /// Bytes of cell data in `slots` slots without padding, as given by [`Self::of_cells`].
    pub fn bytes_of_cells(&self, value_bytes: usize, slots: usize) -> usize {
        self.components * self.cells() * value_bytes * slots
    }

    /// The cell data in the bytes of some slots without padding: `[component][cell]` for each slot.
    pub fn of_cells<'a>(&self, bytes: &'a [u8], value_bytes: usize) -> impl Iterator<Item = &'a [u8]> + use<'a> {
        let (pitch, filled) = self.parts(bytes.len(), value_bytes);
        bytes.chunks(pitch).map(move |part| &part[..filled])
    }

    /// As [`Self::of_cells`], writable.
    pub fn of_cells_mut<'a>(
        &self,
        bytes: &'a mut [u8],
        value_bytes: usize,
    ) -> impl Iterator<Item = &'a mut [u8]> + use<'a> {
        let (pitch, filled) = self.parts(bytes.len(), value_bytes);
        bytes.chunks_mut(pitch).map(move |part| &mut part[..filled])
    }

    /// Bytes from one section of cell data to the next, and bytes of cell data in each. Without padding all bytes are
    /// one section.
    fn parts(&self, bytes: usize, value_bytes: usize) -> (usize, usize) {
        if self.pitch == self.cells() {
            return (bytes.max(1), bytes);
        }
        (self.pitch * value_bytes, self.cells() * value_bytes)
    }

    /// The cell at a position in its block.
    pub fn cell(&self, at: [usize; 3]) -> CellId {
        CellId((at[0] + self.block[0] * (at[1] + self.block[1] * at[2])) as u32)
    }

    /// Position of a cell in its block.
    pub fn position(&self, cell: CellId) -> [usize; 3] {
        let cell = cell.0 as usize;
        [cell % self.block[0], cell / self.block[0] % self.block[1], cell / (self.block[0] * self.block[1])]
    }

    /// Offset of a value, in values.
    pub fn offset(&self, slot: SlotId, component: usize, cell: CellId) -> usize {
        let cell = cell.0 as usize;
        if component >= self.grouped {
            return (slot.index() * self.components + component) * self.pitch + cell;
        }
        let of_component = |(first, width): &(usize, usize)| (*first..first + width).contains(&component);
        let (first, width) = side_by_side(self.grouped).find(of_component).unwrap_or((component, 1));
        slot.index() * self.slot_len() + first * self.pitch + cell * width + component - first
    }

    /// Whether components are grouped, so that the order is not `[slot][component][cell]`.
    pub fn is_grouped(&self) -> bool {
        self.grouped > 0
    }

    /// Converts the bytes of some slots between grouped components and `[component][cell]` for each slot.
    pub fn regrouped(&self, bytes: &[u8], value_bytes: usize, into_groups: bool) -> Vec<u8> {
        let mut to = vec![0; bytes.len()];
        let slots = bytes.chunks(self.slot_len() * value_bytes).zip(to.chunks_mut(self.slot_len() * value_bytes));
        for (bytes, to) in slots {
            for component in 0..self.components {
                for cell in self.all_cells() {
                    let in_order = component * self.pitch + cell.0 as usize;
                    let in_groups = self.offset(SlotId(0), component, cell);
                    let (from, at) = if into_groups { (in_order, in_groups) } else { (in_groups, in_order) };
                    let range = |at: usize| at * value_bytes..(at + 1) * value_bytes;
                    to[range(at)].copy_from_slice(&bytes[range(from)]);
                }
            }
        }
        to
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const LAYOUT: Layout = Layout { block: [4, 3, 2], components: 5, pitch: 24, grouped: 0 };
    const APART: Layout = Layout { block: [4, 1, 1], components: 2, pitch: 6, grouped: 0 };
    const GROUPED: Layout = Layout { block: [4, 2, 1], components: 11, pitch: 8, grouped: 11 };
    const WITH_STATE: Layout = Layout { grouped: 9, ..GROUPED };

    #[test]
    fn offsets_follow_the_formula_of_the_bundle() {
        // cell = x + 4 (y + 3 z); offset = (slot * 5 + component) * 24 + cell
        assert_eq!(LAYOUT.cell([3, 2, 1]), CellId(3 + 4 * (2 + 3)));
        assert_eq!(LAYOUT.offset(SlotId(7), 2, CellId(23)), (7 * 5 + 2) * 24 + 23);
        assert_eq!(LAYOUT.slot_len(), 120);
    }

    #[test]
    fn room_between_components_is_no_part_of_what_cells_have() {
        assert_eq!((APART.slot_len(), APART.offset(SlotId(1), 1, CellId(3))), (12, 21));
        let mut bytes: Vec<u8> = (0..24).collect();
        let of_cells: Vec<_> = APART.of_cells(&bytes, 1).collect();
        assert_eq!(of_cells, [[0, 1, 2, 3], [6, 7, 8, 9], [12, 13, 14, 15], [18, 19, 20, 21]]);
        assert_eq!((APART.bytes_of_cells(1, 2), APART.bytes_of_cells(4, 3)), (16, 96));
        APART.of_cells_mut(&mut bytes, 1).for_each(|part| part.fill(99));
        assert_eq!(bytes[..8], [99, 99, 99, 99, 4, 5, 99, 99]);
        assert_eq!(LAYOUT.of_cells(&bytes, 1).count(), 1);
    }

    #[test]
    fn groups_of_eight_two_and_one_lie_side_by_side() {
        let offset = |component: usize, cell: u32| GROUPED.offset(SlotId(1), component, CellId(cell)) - 88;
        assert_eq!([offset(0, 0), offset(7, 0), offset(0, 1), offset(7, 7)], [0, 7, 8, 63]);
        assert_eq!([offset(8, 0), offset(9, 0), offset(8, 7), offset(10, 0), offset(10, 7)], [64, 65, 78, 80, 87]);
        let bytes: Vec<u8> = (0..176).collect();
        let in_order = GROUPED.regrouped(&bytes, 1, false);
        assert_eq!(in_order[..9], [0, 8, 16, 24, 32, 40, 48, 56, 1]);
        assert_eq!(GROUPED.regrouped(&in_order, 1, true), bytes);
    }

    #[test]
    fn rows_of_states_lie_apart_behind_groups() {
        let offset = |component: usize, cell: u32| WITH_STATE.offset(SlotId(1), component, CellId(cell)) - 88;
        assert_eq!([offset(7, 1), offset(8, 0), offset(8, 1)], [15, 64, 65]);
        assert_eq!([offset(9, 0), offset(9, 1), offset(10, 0), offset(10, 7)], [72, 73, 80, 87]);
    }

    #[test]
    fn position_inverts_cell() {
        for cell in 0..24 {
            assert_eq!(LAYOUT.cell(LAYOUT.position(CellId(cell))), CellId(cell));
        }
    }
}
