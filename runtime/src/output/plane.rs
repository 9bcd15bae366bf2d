//! Velocity, vorticity or a scalar on a plane through the domain, continuous up to its edges.
//!
//! In two dimensions the plane is the domain; in three it is the middle plane normal to z. Between cell centres the vector
//! is bilinear; beyond the outermost ones it runs to the wall's velocity, to the cell on the other side of a periodic axis,
//! or stays as it is.

use crate::case::{Case, Face};
use crate::snapshot::Snapshot;
use crate::velocity::Velocity;

/// A vector at the nodes of a grid: the cell centres and one row of nodes on each edge.
pub(super) struct Plane {
    /// Extent in cells along x and y.
    pub(super) extent: [f64; 2],
    /// Nodes along x and y: cells plus two.
    nodes: [usize; 2],
    /// The vectors, index `x + nodes[0] * y`.
    vectors: Vec<[f64; 3]>,
}

impl Plane {
    /// The velocity in the units of the snapshot; `None` where it has none. What is no number counts as zero.
    pub(super) fn velocity(case: &Case, snapshot: &Snapshot) -> Option<Plane> {
        let parts = snapshot.vector("u")?;
        let cell = |[x, y, z]: [usize; 3]| {
            std::array::from_fn(|axis| parts.get(axis).map_or(0.0, |part| part[snapshot.index(x, y, z)]))
        };
        Some(Plane::new(case, snapshot.size, cell, |face| case.wall(face)?.velocity))
    }

    /// The vorticity, per time step; `None` where there is no velocity. What is no number counts as zero.
    pub(super) fn vorticity(case: &Case, snapshot: &Snapshot) -> Option<Plane> {
        let velocity = Velocity::new(snapshot, case.periodic)?;
        Some(Plane::new(case, snapshot.size, |cell| velocity.vorticity(cell), |_| None))
    }

    /// How far a scalar lies above its least value, along the first axis, and that value; `None` where there is no such
    /// field. What is no number counts as the least.
    pub(super) fn scalar(case: &Case, snapshot: &Snapshot, name: &str) -> Option<(Plane, f64)> {
        let values = snapshot.get(name)?;
        let (width, height) = (snapshot.size[0], snapshot.size[1]);
        let on_plane = |[x, y, z]: [usize; 3]| values[snapshot.index(x, y, z)];
        let plane = |least: f64| {
            let cell = |cell: [usize; 3]| [on_plane(cell) - least, 0.0, 0.0];
            Plane::new(case, snapshot.size, cell, |_| None)
        };
        let raw = plane(0.0);
        let centres = (0..width * height).map(|at| raw.vectors[at % width + 1 + raw.nodes[0] * (at / width + 1)][0]);
        let least = centres.fold(f64::INFINITY, f64::min);
        Some((plane(least), least))
    }

    /// From the vector of each cell, and of each wall where that is known.
    fn new(
        case: &Case,
        [width, height, depth]: [usize; 3],
        cell: impl Fn([usize; 3]) -> [f64; 3],
        wall: impl Fn(Face) -> Option<[f64; 3]>,
    ) -> Plane {
        let layers = if depth % 2 == 1 { vec![depth / 2] } else { vec![depth / 2 - 1, depth / 2] };
        let nodes = [width + 2, height + 2];
        let edge = |axis: usize, high: bool, inner: [f64; 3], opposite: [f64; 3]| {
            if case.periodic[axis] {
                return std::array::from_fn(|component| 0.5 * (inner[component] + opposite[component]));
            }
            wall(Face { axis, high }).unwrap_or(inner)
        };
        let mut vectors = vec![[0.0; 3]; nodes[0] * nodes[1]];
        for y in 0..height {
            let row = nodes[0] * (y + 1);
            for x in 0..width {
                let beside: Vec<[f64; 3]> = layers.iter().map(|z| cell([x, y, *z])).collect();
                vectors[row + x + 1] = std::array::from_fn(|axis| {
                    let mean = beside.iter().map(|vector| vector[axis]).sum::<f64>() / beside.len() as f64;
                    if mean.is_finite() { mean } else { 0.0 }
                });
            }
            let (first, last) = (vectors[row + 1], vectors[row + width]);
            vectors[row] = edge(0, false, first, last);
            vectors[row + width + 1] = edge(0, true, last, first);
        }
        for x in 0..nodes[0] {
            let (first, last) = (vectors[x + nodes[0]], vectors[x + nodes[0] * height]);
            vectors[x] = edge(1, false, first, last);
            vectors[x + nodes[0] * (height + 1)] = edge(1, true, last, first);
        }
        Plane { extent: [width as f64, height as f64], nodes, vectors }
    }

    /// The vector at a point, in cells from the lower left corner; outside, that of the nearest edge.
    pub(super) fn at(&self, x: f64, y: f64) -> [f64; 3] {
        let (column, right) = self.place(0, x);
        let (row, up) = self.place(1, y);
        let node = |column: usize, row: usize| self.vectors[column + self.nodes[0] * row];
        let corners = [
            (node(column, row), (1.0 - right) * (1.0 - up)),
            (node(column + 1, row), right * (1.0 - up)),
            (node(column, row + 1), (1.0 - right) * up),
            (node(column + 1, row + 1), right * up),
        ];
        std::array::from_fn(|axis| corners.iter().map(|(vector, weight)| weight * vector[axis]).sum())
    }

    /// The length of the longest vector at a node.
    pub(super) fn longest(&self) -> f64 {
        self.vectors.iter().map(|vector| length(*vector)).fold(0.0, f64::max)
    }

    /// The length that a share of the vectors does not exceed.
    pub(super) fn quantile(&self, share: f64) -> f64 {
        let mut lengths: Vec<f64> = self.vectors.iter().map(|vector| length(*vector)).collect();
        let at = (share * (lengths.len() - 1) as f64).ceil() as usize;
        *lengths.select_nth_unstable_by(at, f64::total_cmp).1
    }

    /// The node below a coordinate and the way from there to the next, 0 to 1. The outermost gaps are half a cell.
    fn place(&self, axis: usize, at: f64) -> (usize, f64) {
        let cells = self.nodes[axis] - 2;
        let at = at.clamp(0.0, cells as f64);
        if at < 0.5 {
            (0, 2.0 * at)
        } else if at >= cells as f64 - 0.5 {
            (cells, 2.0 * (at + 0.5 - cells as f64))
        } else {
            let below = ((at - 0.5) as usize).min(cells - 1);
            (below + 1, at - 0.5 - below as f64)
        }
    }
}

/// Length of a vector.
pub(super) fn length(vector: [f64; 3]) -> f64 {
    vector.iter().map(|component| component * component).sum::<f64>().sqrt()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::output::example;

    #[test]
    fn the_plane_reaches_the_walls() {
        let (case, snapshot) = example::cavity(32);
        let plane = Plane::velocity(&case, &snapshot).unwrap();
        assert_eq!(plane.at(16.0, 32.0), [0.1, 0.0, 0.0]);
        assert_eq!(plane.at(16.0, 0.0), [0.0; 3]);
        assert_eq!(plane.at(0.0, 10.0), [0.0; 3]);
        assert_eq!(plane.at(16.0, 99.0), [0.1, 0.0, 0.0]);
        let cell = snapshot.index(7, 20, 0);
        assert_eq!(plane.at(7.5, 20.5)[0], snapshot.get("ux").unwrap()[cell]);
        assert!((plane.longest() - 0.1).abs() < 1e-12);
    }

    #[test]
    fn between_cells_it_follows_the_flow() {
        let (case, snapshot) = example::cavity(64);
        let plane = Plane::velocity(&case, &snapshot).unwrap();
        for (x, y) in [(0.31, 0.77), (0.5, 0.5), (0.9, 0.2)] {
            let (u, v) = example::velocity(x, y);
            let found = plane.at(64.0 * x, 64.0 * y);
            assert!((found[0] - 0.1 * u).abs() < 2e-4 && (found[1] - 0.1 * v).abs() < 2e-4, "{found:?}");
        }
    }

    #[test]
    fn periodic_edges_join() {
        let (mut case, snapshot) = example::cavity(16);
        case.periodic[0] = true;
        let plane = Plane::velocity(&case, &snapshot).unwrap();
        assert_eq!(plane.at(0.0, 9.3), plane.at(16.0, 9.3));
    }

    #[test]
    fn what_is_no_number_counts_as_zero() {
        let (case, mut snapshot) = example::cavity(16);
        snapshot.components[1].data[40] = f64::NAN;
        assert!(Plane::velocity(&case, &snapshot).unwrap().longest().is_finite());
    }

    #[test]
    fn few_vectors_are_longer_than_a_high_quantile() {
        let (case, snapshot) = example::cavity(32);
        let plane = Plane::vorticity(&case, &snapshot).unwrap();
        let top = plane.quantile(0.99);
        let longer = plane.vectors.iter().filter(|vector| length(**vector) > top).count();
        assert!(longer > 0 && longer <= plane.vectors.len() / 100, "{longer}");
        assert_eq!(plane.quantile(1.0), plane.longest());
    }
}
