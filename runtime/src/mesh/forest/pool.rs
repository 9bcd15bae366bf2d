//! The number of blocks that a forest can have, and the memory that it takes.

use lbm_bundle::mesh::{CHUNK, KINDS};

use super::adapt::BEGINS;

/// The number of families of nodes and of data slots: in all, or free.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Pool {
    /// Families of `2^dim` siblings.
    pub families: usize,
    /// Data slots.
    pub slots: usize,
}

impl Pool {
    /// `slots` slots, and the families needed to fill them with leaves, above `roots` roots.
    pub fn with_slots(dim: usize, roots: usize, slots: usize) -> Pool {
        // Refining a leaf adds 2^dim - 1 leaves.
        Pool { families: slots.saturating_sub(roots) / ((1 << dim) - 1), slots }
    }

    /// The largest of these that takes at most `memory` bytes, with `data` bytes for the data of a slot.
    pub fn within(dim: usize, roots: usize, memory: usize, data: usize, stores_covered: bool) -> Pool {
        let fits = |slots: usize| {
            let pool = Pool::with_slots(dim, roots, slots);
            let tables = pool.bytes(dim, roots, stores_covered);
            let data = pool.data_slots(stores_covered).checked_mul(data);
            data.and_then(|data| data.checked_add(tables)).is_some_and(|bytes| bytes <= memory)
        };
        let (mut low, mut high) = (0, i32::MAX as usize);
        while low < high {
            let middle = (low + high).div_ceil(2);
            (low, high) = if fits(middle) { (middle, high) } else { (low, middle - 1) };
        }
        Pool::with_slots(dim, roots, low)
    }

    /// Data slots; if covered blocks have data, one more for each family.
    pub fn data_slots(self, stores_covered: bool) -> usize {
        self.slots.saturating_add(if stores_covered { self.families } else { 0 })
    }

    /// Number of nodes, with `roots` roots.
    pub(super) fn nodes(self, dim: usize, roots: usize) -> usize {
        self.families.saturating_mul(1 << dim).saturating_add(roots)
    }

    /// Length of the array of counts per chunk of a list.
    pub(super) fn counts(self, dim: usize, roots: usize) -> usize {
        KINDS * self.nodes(dim, roots).div_ceil(CHUNK)
    }

    /// Bytes of the tables of a forest that no longer changes; saturates at the largest number.
    pub fn bytes_that_stay(self, dim: usize, roots: usize, stores_covered: bool) -> usize {
        let (nodes, places) = (self.nodes(dim, roots) as u128, 3u128.pow(dim as u32));
        let (data, slots, families) =
            (self.data_slots(stores_covered) as u128, self.slots as u128, self.families as u128);
        // Per node: near, place, and five numbers. Per slot two numbers; with those of covered blocks, neighbours and one.
        let ints = nodes * (places + 3 + 5)
            + slots * 2
            + data * (places + 1)
            + nodes.max(data)
            + families
            + if stores_covered { nodes + 2 * data + (families << dim) } else { 0 }
            + BEGINS as u128;
        usize::try_from(ints * size_of::<i32>() as u128).unwrap_or(usize::MAX)
    }

    /// Bytes of the tables of a forest; saturates at the largest number.
    pub fn bytes(self, dim: usize, roots: usize, stores_covered: bool) -> usize {
        let (nodes, places, children) = (self.nodes(dim, roots) as u128, 3u128.pow(dim as u32), 1u128 << dim);
        let (data, slots, families) =
            (self.data_slots(stores_covered) as u128, self.slots as u128, self.families as u128);
        // Per node: near, place, and twelve numbers. Per slot: children and four numbers; with those of covered blocks, neighbours and one.
        let ints = nodes * (places + 3 + 12)
            + slots * (children + 4)
            + data * (places + 1)
            + nodes.max(data)
            + 2 * families
            + if stores_covered { nodes + 2 * data + families * children } else { 0 }
            + KINDS as u128 * nodes.div_ceil(CHUNK as u128)
            + BEGINS as u128;
        usize::try_from(ints * size_of::<i32>() as u128).unwrap_or(usize::MAX)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_pool_within_some_memory_is_the_largest_that_fits() {
        for (dim, roots, memory, data) in
            [(2, 4, 1 << 20, 8 * 9 * 64), (3, 100, 1 << 30, 4 * 2 * 19 * 64), (3, 1, 99, 8)]
        {
            for stores_covered in [false, true] {
                let pool = Pool::within(dim, roots, memory, data, stores_covered);
                let bytes =
                    |pool: Pool| pool.bytes(dim, roots, stores_covered) + pool.data_slots(stores_covered) * data;
                assert!(bytes(pool) <= memory || pool.slots == 0, "{pool:?}");
                assert!(bytes(Pool::with_slots(dim, roots, pool.slots + 1)) > memory, "{pool:?}");
            }
        }
    }

    #[test]
    fn families_suffice_to_fill_the_slots() {
        let pool = Pool::with_slots(3, 2, 2 + 7 * 5 + 6);
        assert_eq!(pool.families, 5);
        assert_eq!(Pool::with_slots(2, 9, 4).families, 0);
    }
}
