//! Triangles, and how often rays leave through them.

use std::sync::OnceLock;

use rayon::prelude::*;

use super::tree::{NOWHERE, Tree, joined};
use super::triangle::{Triangle, bounds, covers, normal, place};
use super::vector::Vector;

pub(super) struct Mesh {
    triangles: Vec<Triangle>,
    /// The number of the solid of each in the file.
    parts: Vec<u16>,
    /// The bounding box.
    bounds: (Vector, Vector),
    /// Made when a place is first looked for: surfaces that are turned or moved before that need none.
    tree: OnceLock<Tree>,
}

impl Mesh {
    pub(super) fn new(triangles: Vec<Triangle>, parts: Vec<u16>) -> Mesh {
        let bounds = triangles.par_iter().map(bounds).reduce(|| NOWHERE, joined);
        Mesh { triangles, parts, bounds, tree: OnceLock::new() }
    }

    pub(super) fn triangles(&self) -> &[Triangle] {
        &self.triangles
    }

    pub(super) fn parts(&self) -> &[u16] {
        &self.parts
    }

    pub(super) fn bounds(&self) -> (Vector, Vector) {
        self.bounds
    }

    /// Made without a lock: threads that wait for one could not help to make it, and one that helps could come here again.
    pub(super) fn tree(&self) -> &Tree {
        let Some(tree) = self.tree.get() else {
            let tree = Tree::new(self.triangles.par_iter().map(bounds));
            return self.tree.get_or_init(|| tree);
        };
        tree
    }

    /// Adds up, for points on a line along x of which `first` is the lowest that counts, how often a ray from each leaves.
    pub(super) fn count(&self, xs: &[f64], (first, [y, z]): (f64, [f64; 2]), windings: &mut [i32]) {
        self.tree().overlapping([first, y, z], [f64::INFINITY, y, z], &mut |number| {
            let corners = &self.triangles[number];
            let leaves = covers(corners.map(|[_, y, z]| [y, z]), [y, z]);
            if leaves != 0 {
                let normal = normal(corners);
                let is_beyond = |x: f64| place(corners, normal, 0, [x, y, z]) > x;
                let beyond = std::iter::zip(&mut *windings, xs).filter(|(_, x)| is_beyond(**x));
                beyond.for_each(|(windings, _)| *windings += leaves);
            }
            true
        });
    }
}
