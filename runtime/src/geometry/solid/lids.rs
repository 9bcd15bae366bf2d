//! What closes the holes of a surface, to know its winding numbers: those of the closed surface minus those of the lids.
//!
//! Lids that are far from a point count as one dipole (Barill et al., ACM Trans. Graph. 37 (2018) 43).

use std::f64::consts::PI;
use std::sync::{Arc, OnceLock};

use rayon::prelude::*;

use super::mesh::Mesh;
use super::triangle::{Triangle, normal, solid_angle};
use super::vector::{Vector, dot, minus, norm, plus, times};

/// Winding numbers above this are inside. A little more than one half: around a flat hole it is one half in the plane of the hole, and
/// round-off would decide there.
const INSIDE: f64 = 0.5 + 1e-9;

/// Lids are one dipole from this many times their extent on: its winding number is then off by about 1e-3 at most.
const FAR: f64 = 4.0;

/// A hole of a surface.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Hole {
    /// The mean of its corners.
    pub at: Vector,
    /// Number of edges around it.
    pub edges: usize,
    /// The longest side of its bounding box.
    pub extent: f64,
    /// Length of its edges.
    pub perimeter: f64,
}

/// What closes the holes of a surface.
pub(super) struct Lids {
    /// A triangle for each open edge.
    mesh: Mesh,
    /// Of each node of their tree.
    nodes: OnceLock<Vec<Dipole>>,
    /// The holes, in the units in which they were found.
    holes: Arc<[Hole]>,
}

/// The lids of a node together.
struct Dipole {
    /// The vector sum of their areas.
    area: Vector,
    centre: Vector,
    /// No point of them is farther from the centre.
    radius: f64,
    /// Length of the open edges.
    edges: f64,
}

impl Lids {
    /// Lids of these triangles, each with an open edge between its first two corners, on these holes.
    pub(super) fn new(triangles: Vec<Triangle>, holes: Arc<[Hole]>) -> Lids {
        Lids { mesh: Mesh::new(triangles, vec![]), nodes: OnceLock::new(), holes }
    }

    /// Makes what searches need.
    pub(super) fn prepare(&self) {
        self.dipoles();
    }

    /// Whether a winding number is one of the inside.
    pub(super) fn is_inside(winding: f64) -> bool {
        winding.abs() > INSIDE
    }

    pub(super) fn mesh(&self) -> &Mesh {
        &self.mesh
    }

    pub(super) fn holes(&self) -> &[Hole] {
        &self.holes
    }

    /// The same with every corner moved.
    pub(super) fn map(&self, to: impl Fn(Vector) -> Vector + Sync) -> Lids {
        let moved = self.mesh.triangles().par_iter().map(|corners| corners.map(&to)).collect();
        Lids::new(moved, self.holes.clone())
    }

    /// Whether a point of a box may be inside and another outside, if no triangle of the surface is in the box, and its middle has this
    /// winding number: it changes along a path by at most the sum of length / (4 pi distance^2) over open edges, by the law of Biot and
    /// Savart.
    pub(super) fn may_part(&self, middle: Vector, reach: f64, winding: f64) -> bool {
        let apart = (winding.abs() - INSIDE).abs();
        let mut change = 0.0;
        self.mesh.tree().descend(&mut |node, bounds, is_leaf| {
            let Dipole { edges, radius, .. } = self.dipoles()[node];
            let nearest = [0, 1, 2].map(|axis| middle[axis].clamp(bounds.0[axis], bounds.1[axis]));
            let distance = norm(minus(nearest, middle)) - reach;
            if !is_leaf && distance < radius {
                return change <= apart;
            }
            change += if distance > 0.0 { reach * edges / (4.0 * PI * distance * distance) } else { f64::INFINITY };
            false
        });
        change > apart
    }

    /// Their winding number.
    pub(super) fn winding(&self, at: Vector) -> f64 {
        let (tree, triangles) = (self.mesh.tree(), self.mesh.triangles());
        let mut angle = 0.0;
        tree.descend(&mut |node, _, is_leaf| {
            let Dipole { area, centre, radius, .. } = self.dipoles()[node];
            let off = minus(centre, at);
            let distance = norm(off);
            if distance > FAR * radius {
                angle += dot(area, off) / (distance * distance * distance);
                return false;
            }
            if is_leaf {
                angle += tree.objects(node).iter().map(|of| solid_angle(&triangles[*of], at)).sum::<f64>();
            }
            true
        });
        angle / (4.0 * PI)
    }

    fn dipoles(&self) -> &[Dipole] {
        // The tree is not made under this lock: threads make it together.
        let tree = self.mesh.tree();
        let of = |node| Dipole::of(tree.objects(node), self.mesh.triangles());
        self.nodes.get_or_init(|| (0..tree.nodes().count()).map(of).collect())
    }
}

impl Dipole {
    fn of(objects: &[usize], triangles: &[Triangle]) -> Dipole {
        let all = || objects.iter().map(|of| &triangles[*of]);
        let sum = |of: &dyn Fn(&Triangle) -> Vector| all().map(of).fold([0.0; 3], plus);
        let middle = |corners: &Triangle| times(1.0 / 3.0, corners.iter().copied().fold([0.0; 3], plus));
        let size = |corners: &Triangle| norm(normal(corners));
        let (weight, count) = (all().map(size).sum::<f64>(), objects.len() as f64);
        let centre = match weight > 0.0 {
            true => times(1.0 / weight, sum(&|corners| times(size(corners), middle(corners)))),
            false => times(1.0 / count, sum(&middle)),
        };
        Dipole {
            area: sum(&|corners| times(0.5, normal(corners))),
            centre,
            radius: all().flatten().map(|corner| norm(minus(*corner, centre))).fold(0.0, f64::max),
            edges: all().map(|[from, to, _]| norm(minus(*to, *from))).sum(),
        }
    }
}
