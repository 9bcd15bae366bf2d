//! How the neighbourhood of a node follows from that of its parent.
//!
//! Along one axis, with the parent at `0` and its neighbours at -1 and 1, a child with the bit `o` and the offset `c` of a place
//! near it give the position `o + c`, from -1 to 2, in children of the parent's low end: the parent's neighbour there is at
//! `(o + c) / 2`, rounded down, and the child's neighbour is the child of that with the bit `(o + c) mod 2`.

/// A place near a child, seen from its parent.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Relation {
    /// The child.
    pub octant: usize,
    /// The place near it, by its position in `near`.
    pub place: usize,
    /// The place near the parent that holds it.
    pub parent_place: usize,
    /// The child of what is there.
    pub part: usize,
}

/// The places near all children of a node.
pub struct Relations {
    /// Number of axes.
    pub dim: usize,
    /// All of them, by octant and place.
    pub all: Vec<Relation>,
}

impl Relations {
    /// Those of a dimension.
    pub fn new(dim: usize) -> Self {
        let parts = 1 << dim;
        let relation = |octant: usize, place: usize| {
            let (mut parent_place, mut part) = (0, 0);
            for (axis, offset) in offsets(dim, place).into_iter().enumerate() {
                let at = (octant >> axis & 1) as i32 + offset;
                parent_place += 3usize.pow(axis as u32) * (at.div_euclid(2) + 1) as usize;
                part |= (at.rem_euclid(2) as usize) << axis;
            }
            Relation { octant, place, parent_place, part }
        };
        let all = (0..parts).flat_map(|octant| (0..3usize.pow(dim as u32)).map(move |place| relation(octant, place)));
        Relations { dim, all: all.collect() }
    }

    /// Children of a node.
    pub fn parts(&self) -> usize {
        1 << self.dim
    }

    /// Places around a node, its own included.
    pub fn near(&self) -> usize {
        3usize.pow(self.dim as u32)
    }

    /// Places near the parent, its own excluded, that the child with that octant touches.
    pub fn touched_by(&self, octant: usize) -> Vec<usize> {
        sorted(self.all.iter().filter(|relation| relation.octant == octant).map(|relation| relation.parent_place))
            .into_iter()
            .filter(|place| *place != self.near() / 2)
            .collect()
    }

    /// Children of what is at a place near the parent that touch children of the parent.
    pub fn touching_from(&self, parent_place: usize) -> Vec<usize> {
        sorted(self.all.iter().filter(|relation| relation.parent_place == parent_place).map(|relation| relation.part))
    }
}

/// Each value once, in order.
fn sorted(values: impl Iterator<Item = usize>) -> Vec<usize> {
    let mut values: Vec<usize> = values.collect();
    values.sort_unstable();
    values.dedup();
    values
}

/// The offset of a place near a node, along each axis.
pub fn offsets(dim: usize, place: usize) -> Vec<i32> {
    (0..dim as u32).map(|axis| (place / 3usize.pow(axis) % 3) as i32 - 1).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_place_near_a_child_lies_where_positions_say() {
        for dim in [2, 3] {
            for relation in Relations::new(dim).all {
                let (child, parent) = (offsets(dim, relation.place), offsets(dim, relation.parent_place));
                for axis in 0..dim {
                    let [octant, part] = [relation.octant, relation.part].map(|bits| (bits >> axis & 1) as i32);
                    assert_eq!(octant + child[axis], 2 * parent[axis] + part);
                }
            }
        }
    }

    #[test]
    fn a_child_touches_the_places_on_its_side_only() {
        // 6 7 8
        // 3 4 5   the places near the parent
        // 0 1 2
        let square = Relations::new(2);
        assert_eq!([0, 1, 2, 3].map(|octant| square.touched_by(octant)), [[0, 1, 3], [1, 2, 5], [3, 6, 7], [5, 7, 8]]);
        assert_eq!(square.touching_from(1), [2, 3]);
        assert_eq!(square.touching_from(8), [0]);
        let cube = Relations::new(3);
        assert!((0..8).all(|octant| cube.touched_by(octant).len() == 7));
        let around: usize = (0..27).filter(|place| *place != 13).map(|place| cube.touching_from(place).len()).sum();
        assert_eq!(around, 4 * 4 * 4 - 8);
    }
}
