//! Velocity on a plane through the domain, continuous up to its edges.
//!
//! In two dimensions the plane is the domain; in three it is the middle plane normal to z. Between cell centres the velocity
//! is bilinear; beyond the outermost ones it runs to the wall's velocity, to the cell on the other side of a periodic axis,
//! or stays as it is.

use crate::case::{Case, Face};
use crate::snapshot::Snapshot;

/// Velocity at the nodes of a grid: the cell centres and one row of nodes on each edge.
pub(super) struct Plane {
    /// Extent in cells along x and y.
    pub(super) extent: [f64; 2],
    /// Nodes along x and y: cells plus two.
    nodes: [usize; 2],
    /// Velocity, index `x + nodes[0] * y`.
    velocity: Vec<[f64; 3]>,
}

impl Plane {
    /// In the units of the snapshot; `None` where it has no velocity. What is no number counts as zero.
    pub(super) fn new(case: &Case, snapshot: &Snapshot) -> Option<Plane> {
        let parts = snapshot.vector("u")?;
        let [width, height, depth] = snapshot.size;
        let layers = if depth % 2 == 1 { vec![depth / 2] } else { vec![depth / 2 - 1, depth / 2] };
        let cell = |x: usize, y: usize| -> [f64; 3] {
            std::array::from_fn(|axis| {
                let part = parts.get(axis);
                let layer = |z: &usize| part.map_or(0.0, |part| part[snapshot.index(x, y, *z)]);
                let mean = layers.iter().map(layer).sum::<f64>() / layers.len() as f64;
                if mean.is_finite() { mean } else { 0.0 }
            })
        };
        let nodes = [width + 2, height + 2];
        let edge = |axis: usize, high: bool, inner: [f64; 3], opposite: [f64; 3]| {
            if case.periodic[axis] {
                return std::array::from_fn(|component| 0.5 * (inner[component] + opposite[component]));
            }
            case.wall(Face { axis, high }).and_then(|wall| wall.velocity).unwrap_or(inner)
        };
        let mut velocity = vec![[0.0; 3]; nodes[0] * nodes[1]];
        for y in 0..height {
            let row = nodes[0] * (y + 1);
            for x in 0..width {
                velocity[row + x + 1] = cell(x, y);
            }
            let (first, last) = (cell(0, y), cell(width - 1, y));
            velocity[row] = edge(0, false, first, last);
            velocity[row + width + 1] = edge(0, true, last, first);
        }
        for x in 0..nodes[0] {
            let (first, last) = (velocity[x + nodes[0]], velocity[x + nodes[0] * height]);
            velocity[x] = edge(1, false, first, last);
            velocity[x + nodes[0] * (height + 1)] = edge(1, true, last, first);
        }
        Some(Plane { extent: [width as f64, height as f64], nodes, velocity })
    }

    /// Velocity at a point, in cells from the lower left corner; outside, that of the nearest edge.
    pub(super) fn at(&self, x: f64, y: f64) -> [f64; 3] {
        let (column, right) = self.place(0, x);
        let (row, up) = self.place(1, y);
        let node = |column: usize, row: usize| self.velocity[column + self.nodes[0] * row];
        let corners = [
            (node(column, row), (1.0 - right) * (1.0 - up)),
            (node(column + 1, row), right * (1.0 - up)),
            (node(column, row + 1), (1.0 - right) * up),
            (node(column + 1, row + 1), right * up),
        ];
        std::array::from_fn(|axis| corners.iter().map(|(velocity, weight)| weight * velocity[axis]).sum())
    }

    /// Largest speed at a node.
    pub(super) fn fastest(&self) -> f64 {
        self.velocity.iter().map(|velocity| speed(*velocity)).fold(0.0, f64::max)
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

/// Magnitude of a velocity.
pub(super) fn speed(velocity: [f64; 3]) -> f64 {
    velocity.iter().map(|component| component * component).sum::<f64>().sqrt()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::output::example;

    #[test]
    fn the_plane_reaches_the_walls() {
        let (case, snapshot) = example::cavity(32);
        let plane = Plane::new(&case, &snapshot).unwrap();
        assert_eq!(plane.at(16.0, 32.0), [0.1, 0.0, 0.0]);
        assert_eq!(plane.at(16.0, 0.0), [0.0; 3]);
        assert_eq!(plane.at(0.0, 10.0), [0.0; 3]);
        assert_eq!(plane.at(16.0, 99.0), [0.1, 0.0, 0.0]);
        let cell = snapshot.index(7, 20, 0);
        assert_eq!(plane.at(7.5, 20.5)[0], snapshot.get("ux").unwrap()[cell]);
        assert!((plane.fastest() - 0.1).abs() < 1e-12);
    }

    #[test]
    fn between_cells_it_follows_the_flow() {
        let (case, snapshot) = example::cavity(64);
        let plane = Plane::new(&case, &snapshot).unwrap();
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
        let plane = Plane::new(&case, &snapshot).unwrap();
        assert_eq!(plane.at(0.0, 9.3), plane.at(16.0, 9.3));
    }

    #[test]
    fn what_is_no_number_counts_as_zero() {
        let (case, mut snapshot) = example::cavity(16);
        snapshot.components[1].data[40] = f64::NAN;
        assert!(Plane::new(&case, &snapshot).unwrap().fastest().is_finite());
    }
}
