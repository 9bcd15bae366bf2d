//! The Morton order of blocks: bits of the coordinates interleaved, so that a run of blocks is compact in space.

/// All positions of a box of `count` blocks, in Morton order.
pub(super) fn order(count: [usize; 3]) -> Vec<[usize; 3]> {
    let mut all = Vec::with_capacity(count.iter().product());
    for z in 0..count[2] {
        for y in 0..count[1] {
            for x in 0..count[0] {
                all.push([x, y, z]);
            }
        }
    }
    all.sort_by_cached_key(|at| key(*at));
    all
}

/// Bits of x, y, z interleaved, x lowest.
pub(super) fn key(at: [usize; 3]) -> u128 {
    let mut key = 0u128;
    for bit in 0..32 {
        for (axis, coordinate) in at.iter().enumerate() {
            key |= ((coordinate >> bit & 1) as u128) << (3 * bit + axis);
        }
    }
    key
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_square_is_visited_in_the_shape_of_a_z() {
        let flat: Vec<_> = order([4, 2, 1]).into_iter().map(|at| (at[0], at[1])).collect();
        assert_eq!(flat, [(0, 0), (1, 0), (0, 1), (1, 1), (2, 0), (3, 0), (2, 1), (3, 1)]);
    }

    #[test]
    fn a_box_of_odd_sizes_has_every_position_once() {
        let mut all = order([3, 5, 2]);
        all.sort();
        all.dedup();
        assert_eq!(all.len(), 30);
    }
}
