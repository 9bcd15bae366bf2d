//! A bounding volume hierarchy of boxes, to find those that overlap another box.

use super::Vector;

/// Most boxes of a leaf.
const LEAF: usize = 4;

/// The tree; objects are identified by their numbers.
pub(super) struct Tree {
    nodes: Vec<Node>,
    /// Numbers of all objects, those of a leaf contiguous.
    order: Vec<usize>,
    boxes: Vec<(Vector, Vector)>,
}

/// The bounding box of the objects `from..to` of `order`. Its first child is the next node.
struct Node {
    bounds: (Vector, Vector),
    from: usize,
    to: usize,
    /// The second child, 0 for a leaf.
    second: usize,
}

impl Tree {
    /// The tree of these boxes, each a lower and an upper corner.
    pub(super) fn new(boxes: &[(Vector, Vector)]) -> Self {
        let mut tree = Tree { nodes: Vec::new(), order: (0..boxes.len()).collect(), boxes: boxes.to_vec() };
        tree.node(0, boxes.len());
        tree
    }

    fn node(&mut self, from: usize, to: usize) {
        let mut bounds = ([f64::INFINITY; 3], [f64::NEG_INFINITY; 3]);
        for number in &self.order[from..to] {
            let (low, high) = &self.boxes[*number];
            for axis in 0..3 {
                bounds.0[axis] = bounds.0[axis].min(low[axis]);
                bounds.1[axis] = bounds.1[axis].max(high[axis]);
            }
        }
        let at = self.nodes.len();
        self.nodes.push(Node { bounds, from, to, second: 0 });
        if to - from <= LEAF {
            return;
        }
        // Split in halves along the longest side, by the centres of the boxes.
        let length = |axis: &usize| bounds.1[*axis] - bounds.0[*axis];
        let axis = (0..3).max_by(|a, b| length(a).total_cmp(&length(b))).unwrap_or(0);
        let middle = |number: &usize| self.boxes[*number].0[axis] + self.boxes[*number].1[axis];
        let half = (to - from) / 2;
        self.order[from..to].select_nth_unstable_by(half, |a, b| middle(a).total_cmp(&middle(b)).then(a.cmp(b)));
        self.node(from, from + half);
        self.nodes[at].second = self.nodes.len();
        self.node(from + half, to);
    }

    /// The nodes: the objects of each in [`order`](Self::order), from the first to one beyond the last, and its second child or 0; its bounding box.
    pub(super) fn nodes(&self) -> impl Iterator<Item = ([usize; 3], (Vector, Vector))> {
        self.nodes.iter().map(|node| ([node.from, node.to, node.second], node.bounds))
    }

    /// The numbers of all objects, those of a leaf contiguous.
    pub(super) fn order(&self) -> &[usize] {
        &self.order
    }

    /// Bounding box of all objects.
    pub(super) fn bounds(&self) -> (Vector, Vector) {
        self.nodes[0].bounds
    }

    /// Calls `each` with every object whose box overlaps a box, until it returns false.
    pub(super) fn overlapping(&self, low: Vector, high: Vector, each: &mut dyn FnMut(usize) -> bool) {
        let overlaps =
            |(from, to): &(Vector, Vector)| (0..3).all(|axis| from[axis] <= high[axis] && to[axis] >= low[axis]);
        let mut open = vec![0];
        while let Some(at) = open.pop() {
            let node = &self.nodes[at];
            if !overlaps(&node.bounds) {
                continue;
            }
            if node.second != 0 {
                open.extend([node.second, at + 1]);
                continue;
            }
            for number in &self.order[node.from..node.to] {
                if overlaps(&self.boxes[*number]) && !each(*number) {
                    return;
                }
            }
        }
    }
}
