//! A bounding volume hierarchy of boxes, to find those that overlap another box.

use rayon::join;
use rayon::prelude::*;

use super::Vector;

/// Most boxes of a leaf.
const LEAF: usize = 4;

/// Objects from which on both halves of a node are built in parallel.
const PARALLEL: usize = 1 << 14;

/// Nodes that may wait while a tree is walked: one for each level and one more. Nodes are halved, so no tree has more levels.
const WAITING: usize = usize::BITS as usize + 1;

/// The tree; objects are identified by their numbers.
pub(super) struct Tree {
    nodes: Vec<Node>,
    /// Numbers of all objects, those of a leaf contiguous.
    order: Vec<usize>,
    /// The boxes of all objects, in that order.
    boxes: Vec<Extent>,
}

/// A lower and an upper corner.
type Extent = (Vector, Vector);

/// The bounding box of the objects `from..to` of `order`. Its first child is the next node.
#[derive(Clone)]
struct Node {
    bounds: Extent,
    from: usize,
    to: usize,
    /// The second child, 0 for a leaf.
    second: usize,
}

impl Tree {
    /// The tree of these boxes.
    pub(super) fn new(boxes: impl IndexedParallelIterator<Item = Extent>) -> Self {
        let mut objects: Vec<(Extent, usize)> = boxes.enumerate().map(|(number, bounds)| (bounds, number)).collect();
        let empty = Node { bounds: NOWHERE, from: 0, to: 0, second: 0 };
        let mut nodes = vec![empty; nodes_of(objects.len())];
        fill(&mut nodes, &mut objects, (0, 0));
        let (boxes, order) = objects.into_iter().unzip();
        Tree { nodes, order, boxes }
    }

    /// The nodes: the objects of each in [`order`](Self::order), from the first to one beyond the last, and its second child or 0; its bounding box.
    pub(super) fn nodes(&self) -> impl Iterator<Item = ([usize; 3], (Vector, Vector))> {
        self.nodes.iter().map(|node| ([node.from, node.to, node.second], node.bounds))
    }

    /// The numbers of all objects, those of a leaf contiguous.
    pub(super) fn order(&self) -> &[usize] {
        &self.order
    }

    /// The numbers of the objects of a node.
    pub(super) fn objects(&self, node: usize) -> &[usize] {
        &self.order[self.nodes[node].from..self.nodes[node].to]
    }

    /// Calls `each` with nodes, their bounding boxes, and whether they are leaves, from the root on; with the children of those for which
    /// it returns true.
    pub(super) fn descend(&self, each: &mut dyn FnMut(usize, Extent, bool) -> bool) {
        let (mut waiting, mut count) = ([0; WAITING], 1);
        while count > 0 {
            count -= 1;
            let at = waiting[count];
            let Node { bounds, second, .. } = self.nodes[at];
            if each(at, bounds, second == 0) && second != 0 {
                (waiting[count], waiting[count + 1]) = (second, at + 1);
                count += 2;
            }
        }
    }

    /// Calls `each` with every object whose box overlaps a box, until it returns false.
    pub(super) fn overlapping(&self, low: Vector, high: Vector, each: &mut dyn FnMut(usize) -> bool) {
        let overlaps = |(from, to): &Extent| (0..3).all(|axis| from[axis] <= high[axis] && to[axis] >= low[axis]);
        let (mut waiting, mut count) = ([0; WAITING], 1);
        while count > 0 {
            count -= 1;
            let at = waiting[count];
            let node = &self.nodes[at];
            if !overlaps(&node.bounds) {
                continue;
            }
            if node.second != 0 {
                (waiting[count], waiting[count + 1]) = (node.second, at + 1);
                count += 2;
                continue;
            }
            for of in node.from..node.to {
                if overlaps(&self.boxes[of]) && !each(self.order[of]) {
                    return;
                }
            }
        }
    }
}

/// The bounding box of nothing.
pub(super) const NOWHERE: Extent = ([f64::INFINITY; 3], [f64::NEG_INFINITY; 3]);

/// The bounding box of two boxes.
pub(super) fn joined((low, high): Extent, (from, to): Extent) -> Extent {
    ([0, 1, 2].map(|axis| low[axis].min(from[axis])), [0, 1, 2].map(|axis| high[axis].max(to[axis])))
}

/// Number of nodes of the tree of so many objects.
fn nodes_of(objects: usize) -> usize {
    let half = objects / 2;
    if objects <= LEAF { 1 } else { 1 + nodes_of(half) + nodes_of(objects - half) }
}

/// Sorts objects, and writes the nodes of their tree. `begins`: the numbers of the first of the nodes and of the objects.
fn fill(nodes: &mut [Node], objects: &mut [(Extent, usize)], begins: (usize, usize)) {
    let (count, half) = (objects.len(), objects.len() / 2);
    let (at, from) = begins;
    let bounds = objects.iter().fold(NOWHERE, |all, (bounds, _)| joined(all, *bounds));
    let second = if count <= LEAF { 0 } else { at + 1 + nodes_of(half) };
    nodes[0] = Node { bounds, from, to: from + count, second };
    if second == 0 {
        return;
    }
    // Split in halves along the longest side, by the centres of the boxes.
    let length = |axis: &usize| bounds.1[*axis] - bounds.0[*axis];
    let axis = (0..3).max_by(|a, b| length(a).total_cmp(&length(b))).unwrap_or(0);
    let middle = |((low, high), _): &(Extent, usize)| low[axis] + high[axis];
    objects.select_nth_unstable_by(half, |a, b| middle(a).total_cmp(&middle(b)).then(a.1.cmp(&b.1)));
    let (low, high) = objects.split_at_mut(half);
    let (one, other) = nodes[1..].split_at_mut(second - at - 1);
    let begins = [(at + 1, from), (second, from + half)];
    if count >= PARALLEL {
        join(|| fill(one, low, begins[0]), || fill(other, high, begins[1]));
    } else {
        fill(one, low, begins[0]);
        fill(other, high, begins[1]);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Threads that search while one of them makes the tree, with the help of others.
    #[test]
    fn a_surface_that_many_threads_search_at_once_keeps_none_of_them_waiting() {
        use crate::geometry::solid::surface::tests::ball;
        use std::time::Duration;

        let (done, is_done) = std::sync::mpsc::channel();
        std::thread::spawn(move || {
            let pool = rayon::ThreadPoolBuilder::new().num_threads(8).build().expect("threads");
            for _ in 0..20 {
                let surface = ball([0.0; 3], 1.0, 6);
                assert!(surface.triangles() >= PARALLEL);
                let is_inside = |at: usize| surface.contains([0.001 * at as f64, 0.1, 0.2]);
                assert!(pool.install(|| (0..500).into_par_iter().all(is_inside)));
            }
            done.send(()).expect("somebody waits");
        });
        is_done.recv_timeout(Duration::from_secs(120)).expect("the threads wait for each other");
    }

    #[test]
    fn a_box_finds_all_that_overlap_it_and_nothing_else() {
        for count in [1, 4, 5, 1000, 2 * PARALLEL + 3] {
            let mut state = 1u64;
            let mut random = || {
                state = state.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
                (state >> 40) as f64 / (1u64 << 24) as f64
            };
            let mut extent = |side: f64| {
                let low = [0, 1, 2].map(|_| random());
                (low, low.map(|at| at + side * random()))
            };
            let boxes: Vec<Extent> = (0..count).map(|_| extent(0.05)).collect();
            let tree = Tree::new(boxes.par_iter().copied());
            for (low, high) in (0..20).map(|_| extent(0.3)) {
                let overlaps =
                    |(from, to): &Extent| (0..3).all(|axis| from[axis] <= high[axis] && to[axis] >= low[axis]);
                let expected: Vec<usize> = (0..count).filter(|number| overlaps(&boxes[*number])).collect();
                let mut found = vec![];
                tree.overlapping(low, high, &mut |number| {
                    found.push(number);
                    true
                });
                found.sort_unstable();
                assert_eq!(found, expected, "{count}");
            }
        }
    }
}
