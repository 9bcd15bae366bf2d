//! Velocity, vorticity or a scalar on a plane through the domain, continuous up to its edges.
//!
//! In two dimensions the plane is the domain; in three it is the slice of the case, or the middle plane normal to z. On
//! a refined grid the plane has the cells of the finest level that does not exceed the resolution of a picture; cells
//! of other levels are evaluated by [`Snapshot::read`]. Between cell centres the vector is interpolated bilinearly.
//! Beyond the outermost centres it is interpolated to the value at the face: the velocity that the boundary rule
//! prescribes; along a symmetry plane that of the cell; along a periodic axis the mean with the opposite cell.
//! Otherwise it is constant there.

use lbm_runtime::geometry::Cell;
use lbm_runtime::solver::snapshot::Snapshot;
use lbm_runtime::solver::velocity::Velocity;
use rayon::prelude::*;

use super::derived::Derived;
use super::section::{Cut, Section, View};
use crate::case::{Case, Face, Quantity};

/// Largest number of cells along the longer side of the plane of a refined grid, unless the coarsest level has more.
const WIDEST: usize = 1024;

/// A vector field at the nodes of a grid: the cell centres, and one row of nodes on each edge.
pub(super) struct Plane {
    /// The axes along its sides.
    pub(super) axes: [usize; 2],
    /// Corners of the visible section along both axes, in cells of the coarsest level.
    pub(super) window: [[f64; 2]; 2],
    /// The first cell along both axes.
    first: [usize; 2],
    /// Cells of the plane per cell of the coarsest level.
    scale: f64,
    /// Nodes along both axes: cells plus two.
    nodes: [usize; 2],
    /// The vectors, index `x + nodes[0] * y`.
    vectors: Vec<[f64; 3]>,
    /// Whether each node lies in a solid, where the vector is meaningless; empty if there are no solids.
    solid: Vec<bool>,
}

impl Plane {
    /// The velocity in the units of the snapshot; `None` if it has none. Non-finite values count as zero.
    pub(super) fn velocity(view: View<'_>, snapshot: &Snapshot) -> Option<Plane> {
        let parts = snapshot.vector("u")?;
        let of = |at: usize| std::array::from_fn(|axis| parts.get(axis).map_or(0.0, |part| part[at]));
        let (case, time) = (view.case, snapshot.step as f64);
        Some(Plane::new(view, snapshot, of, |face, point, beside| case.wall(face)?.velocity_at(point, time, beside)))
    }

    /// The vorticity per time step; `None` if the snapshot has no velocity. Non-finite values count as zero.
    pub(super) fn vorticity(case: &Case, snapshot: &Snapshot) -> Option<Plane> {
        let velocity = Velocity::new(snapshot)?;
        Some(Plane::new(case.into(), snapshot, |at| velocity.vorticity(at), |_, _, _| None))
    }

    /// A field by name (for vectors, the magnitude), as the first component, in lattice units; `None` if it depends on
    /// the velocity and the snapshot has none. Non-finite values count as zero.
    pub(super) fn field(view: View<'_>, snapshot: &Snapshot, field: &Quantity) -> Option<Plane> {
        let derived = Derived::new(snapshot, field)?;
        Some(Plane::new(view, snapshot, |at| [derived.shown(at), 0.0, 0.0], |_, _, _| None))
    }

    /// Minimum and maximum of a function of the vectors in the fluid.
    pub(super) fn extremes(&self, value: impl Fn([f64; 3]) -> f64) -> [f64; 2] {
        let values = (0..self.vectors.len()).filter(|at| self.is_fluid(*at)).map(|at| value(self.vectors[at]));
        let [least, most] = values.fold([f64::MAX, f64::MIN], |[least, most], at| [least.min(at), most.max(at)]);
        if least <= most { [least, most] } else { [0.0; 2] }
    }

    /// The smallest first component in the fluid that is not below `bound`; infinite if there is none.
    pub(super) fn least_above(&self, bound: f64) -> f64 {
        let firsts = (0..self.vectors.len()).filter(|at| self.is_fluid(*at)).map(|at| self.vectors[at][0]);
        firsts.filter(|value| *value >= bound).fold(f64::INFINITY, f64::min)
    }

    /// A scalar minus its minimum, as the first component, and the minimum; `None` if there is no such field.
    /// Non-finite values count as the minimum.
    pub(super) fn scalar(case: &Case, snapshot: &Snapshot, name: &str) -> Option<(Plane, f64)> {
        let values = snapshot.get(name)?;
        let plane = |least: f64| Plane::new(case.into(), snapshot, |at| [values[at] - least, 0.0, 0.0], |_, _, _| None);
        let raw = plane(0.0);
        let [width, height] = raw.nodes.map(|nodes| nodes - 2);
        let centres = (0..width * height).map(|at| at % width + 1 + raw.nodes[0] * (at / width + 1));
        let fluid = centres.filter(|at| raw.is_fluid(*at)).map(|at| raw.vectors[at][0]);
        let least = fluid.reduce(f64::min).unwrap_or(0.0);
        Some((plane(least), least))
    }

    /// `of` gives the vector of a cell by its index in the snapshot's values; `wall` gives the vector at a point of a
    /// face next to a cell, where it is known.
    fn new(
        view: View<'_>,
        snapshot: &Snapshot,
        of: impl Fn(usize) -> [f64; 3] + Sync,
        wall: impl Fn(Face, [f64; 3], [f64; 3]) -> Option<[f64; 3]>,
    ) -> Plane {
        let (case, cut) = (view.case, Cut::new(view));
        let whole = [[0.0; 2], cut.axes.map(|axis| case.size[axis] as f64)];
        let window = view.window.unwrap_or(whole);
        let shown = |level: &usize| {
            let scale = (1u64 << level) as f64;
            (0..2).all(|axis| (window[1][axis] - window[0][axis]) * scale <= WIDEST as f64)
        };
        let level = (0..=snapshot.finest()).rev().find(shown).unwrap_or(0);
        let (size, scale) = (snapshot.size_of(level), (1u64 << level) as f64);
        // A section of the plane needs the cells whose centres surround it. At the edges of the domain the plane
        // continues as usual; other edges are not visible.
        let first = [0, 1].map(|axis| (window[0][axis] * scale - 1.0).floor().max(0.0) as usize);
        let end = [0, 1].map(|axis| ((window[1][axis] * scale + 1.0).ceil() as usize).min(size[cut.axes[axis]]));
        let [width, height] = [0, 1].map(|axis| end[axis] - first[axis]);
        let nodes = [width + 2, height + 2];
        // The plane lies between two layers of cells, or in one.
        let last = size[cut.normal] - 1;
        let layer = (cut.at * scale - 0.5).clamp(0.0, last as f64);
        let (below, share) = (layer as usize, layer.fract());
        let node = |x: usize, y: usize| -> [f64; 3] {
            let read = |layer: usize| {
                let mut at = [0; 3];
                (at[cut.axes[0]], at[cut.axes[1]], at[cut.normal]) = (first[0] + x, first[1] + y, layer);
                snapshot.read(Cell { level, at }, &of)
            };
            let mut vector = read(below);
            if share > 0.0 {
                let above = read(below + 1);
                vector = std::array::from_fn(|axis| (1.0 - share) * vector[axis] + share * above[axis]);
            }
            vector.map(|value| if value.is_finite() { value } else { 0.0 })
        };
        // `along` is the index of the node along the edge.
        let edge = |side: usize, high: bool, along: usize, inner: [f64; 3], opposite: [f64; 3]| {
            let (axis, other) = (cut.axes[side], cut.axes[1 - side]);
            let is_face = if high { end[side] == size[axis] } else { first[side] == 0 };
            if !is_face {
                return inner;
            }
            if case.periodic[axis] && end[side] - first[side] < size[axis] {
                return inner;
            }
            if case.periodic[axis] {
                return std::array::from_fn(|component| 0.5 * (inner[component] + opposite[component]));
            }
            let mut point = [cut.at; 3];
            point[axis] = if high { case.size[axis] as f64 } else { 0.0 };
            point[other] = (((first[1 - side] + along) as f64 - 0.5) / scale).clamp(0.0, case.size[other] as f64);
            wall(Face { axis, high }, point, inner).unwrap_or(inner)
        };
        let mut vectors = vec![[0.0; 3]; nodes[0] * nodes[1]];
        vectors[nodes[0]..nodes[0] * (height + 1)].par_chunks_mut(nodes[0]).enumerate().for_each(|(y, row)| {
            row[1..=width].iter_mut().enumerate().for_each(|(x, vector)| *vector = node(x, y));
        });
        for y in 0..height {
            let row = nodes[0] * (y + 1);
            let (first, last) = (vectors[row + 1], vectors[row + width]);
            vectors[row] = edge(0, false, y + 1, first, last);
            vectors[row + width + 1] = edge(0, true, y + 1, last, first);
        }
        for x in 0..nodes[0] {
            let (first, last) = (vectors[x + nodes[0]], vectors[x + nodes[0] * height]);
            vectors[x] = edge(1, false, x, first, last);
            vectors[x + nodes[0] * (height + 1)] = edge(1, true, x, last, first);
        }
        let mut plane = Plane { axes: cut.axes, window, first, scale, nodes, vectors, solid: vec![] };
        if let Some(section) = Section::new(view, (snapshot.step, &snapshot.bodies)) {
            let centre = |side: usize, at: usize| ((first[side] + at) as f64 - 0.5) / scale;
            let node = |at: usize| section.contains(centre(0, at % nodes[0]), centre(1, at / nodes[0]));
            plane.solid = (0..plane.vectors.len()).into_par_iter().map(node).collect();
        }
        plane
    }

    fn is_fluid(&self, node: usize) -> bool {
        self.solid.is_empty() || !self.solid[node]
    }

    /// Magnitudes of the vectors in the fluid.
    fn lengths(&self) -> impl Iterator<Item = f64> {
        (0..self.vectors.len()).filter(|at| self.is_fluid(*at)).map(|at| length(self.vectors[at]))
    }

    /// The vector at a point, in cells of the coarsest level from the lower left corner; outside, that at the nearest
    /// edge.
    pub(super) fn at(&self, x: f64, y: f64) -> [f64; 3] {
        let (column, right) = self.place(0, self.scale * x);
        let (row, up) = self.place(1, self.scale * y);
        let node = |column: usize, row: usize| self.vectors[column + self.nodes[0] * row];
        let corners = [
            (node(column, row), (1.0 - right) * (1.0 - up)),
            (node(column + 1, row), right * (1.0 - up)),
            (node(column, row + 1), (1.0 - right) * up),
            (node(column + 1, row + 1), right * up),
        ];
        std::array::from_fn(|axis| corners.iter().map(|(vector, weight)| weight * vector[axis]).sum())
    }

    /// Largest magnitude at a node.
    pub(super) fn longest(&self) -> f64 {
        self.lengths().fold(0.0, f64::max)
    }

    /// The magnitude that this fraction of the vectors does not exceed.
    pub(super) fn quantile(&self, share: f64) -> f64 {
        let mut lengths: Vec<f64> = self.lengths().collect();
        if lengths.is_empty() {
            return 0.0;
        }
        let at = (share * (lengths.len() - 1) as f64).ceil() as usize;
        *lengths.select_nth_unstable_by(at, f64::total_cmp).1
    }

    /// The node below a coordinate, and the fraction of the distance from there to the next node, 0 to 1. The outermost
    /// intervals are half a cell.
    fn place(&self, axis: usize, at: f64) -> (usize, f64) {
        let cells = self.nodes[axis] - 2;
        let at = (at - self.first[axis] as f64).clamp(0.0, cells as f64);
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

/// Magnitude of a vector.
pub(super) fn length(vector: [f64; 3]) -> f64 {
    vector.iter().map(|component| component * component).sum::<f64>().sqrt()
}

#[cfg(test)]
mod tests {
    use lbm_runtime::fixture::snapshots;
    use lbm_runtime::geometry::{Block, Domain};

    use super::*;
    use crate::case::Slice;
    use crate::output::fixture;
    use lbm_bundle::AtFace;

    #[test]
    fn the_plane_reaches_the_walls() {
        let (case, snapshot) = fixture::cavity(32);
        let plane = Plane::velocity((&case).into(), &snapshot).unwrap();
        assert_eq!(plane.at(16.0, 32.0), [0.1, 0.0, 0.0]);
        assert_eq!(plane.at(16.0, 0.0), [0.0; 3]);
        assert_eq!(plane.at(0.0, 10.0), [0.0; 3]);
        assert_eq!(plane.at(16.0, 99.0), [0.1, 0.0, 0.0]);
        let cell = snapshot.index(7, 20, 0);
        assert_eq!(plane.at(7.5, 20.5)[0], snapshot.get("ux").unwrap()[cell]);
        assert!((plane.longest() - 0.1).abs() < 1e-12);
    }

    #[test]
    fn a_uniform_flow_is_uniform_up_to_symmetry_planes_and_openings() {
        let (mut case, mut snapshot) = fixture::cavity(16);
        snapshot.components[1].data.fill(0.05);
        snapshot.components[2].data.fill(0.0);
        for wall in &mut case.walls {
            wall.at_face = if wall.face.axis == 1 { AtFace::Slip } else { AtFace::Unknown };
            wall.velocity = Some([0.0; 3]);
        }
        let plane = Plane::velocity((&case).into(), &snapshot).unwrap();
        assert!(plane.vectors.iter().all(|vector| *vector == [0.05, 0.0, 0.0]));
    }

    #[test]
    fn what_varies_along_a_face_is_drawn_as_it_varies() {
        let (case, snapshot) = fixture::cavity_under(16, "[\"0.01 * x\", 0]");
        let plane = Plane::velocity((&case).into(), &snapshot).unwrap();
        for x in [0.0, 3.25, 8.0, 16.0] {
            assert!((plane.at(x, 16.0)[0] - 0.01 * x).abs() < 1e-15, "{x}: {:?}", plane.at(x, 16.0));
        }
    }

    #[test]
    fn between_cells_it_follows_the_flow() {
        let (case, snapshot) = fixture::cavity(64);
        let plane = Plane::velocity((&case).into(), &snapshot).unwrap();
        for (x, y) in [(0.31, 0.77), (0.5, 0.5), (0.9, 0.2)] {
            let (u, v) = fixture::velocity(x, y);
            let found = plane.at(64.0 * x, 64.0 * y);
            assert!((found[0] - 0.1 * u).abs() < 2e-4 && (found[1] - 0.1 * v).abs() < 2e-4, "{found:?}");
        }
    }

    #[test]
    fn on_several_levels_the_plane_has_their_finest_cells() {
        let (case, _) = fixture::cavity(16);
        let domain = Domain { dim: 2, size: [16, 16, 1], periodic: [false, false, true] };
        let refines = |block: Block| block.level < 2 && (0..2).all(|axis| block.place[axis] >> block.level == 1);
        let linear = |[x, y, _]: [f64; 3]| 0.01 * x - 0.002 * y;
        let snapshot = snapshots::refined(domain, refines, &[("ux", &linear), ("uy", &|_| 0.0)]);
        let plane = Plane::velocity((&case).into(), &snapshot).unwrap();
        assert_eq!(plane.nodes, [66, 66]);
        for (x, y) in [(1.0, 1.0), (4.0, 5.5), (6.1, 6.2), (8.0, 8.0), (12.3, 15.0)] {
            assert!((plane.at(x, y)[0] - linear([x, y, 0.0])).abs() < 1e-14, "({x}, {y})");
        }
    }

    #[test]
    fn a_part_of_the_plane_is_that_of_the_whole_at_a_finer_level() {
        let (case, _) = fixture::cavity(16);
        let domain = Domain { dim: 2, size: [16, 16, 1], periodic: [false, false, true] };
        let refines = |block: Block| block.level < 1;
        let field = |[x, y, _]: [f64; 3]| (0.4 * x).sin() * y;
        let snapshot = snapshots::refined(domain, refines, &[("ux", &field), ("uy", &|_| 0.0)]);
        let whole = Plane::velocity((&case).into(), &snapshot).unwrap();
        for window in [[[3.3, 5.0], [7.1, 9.9]], [[0.0, 0.0], [2.0, 16.0]], [[12.0, 8.0], [16.0, 16.0]]] {
            let part = Plane::velocity(View { window: Some(window), ..(&case).into() }, &snapshot).unwrap();
            assert!(part.vectors.len() < whole.vectors.len());
            for at in 0..400 {
                let share = [(at % 20) as f64 / 19.0, (at / 20) as f64 / 19.0];
                let [x, y] = [0, 1].map(|axis| window[0][axis] + share[axis] * (window[1][axis] - window[0][axis]));
                assert!((part.at(x, y)[0] - whole.at(x, y)[0]).abs() < 1e-12, "({x}, {y})");
            }
        }
    }

    #[test]
    fn a_slice_lies_where_it_is_asked_for() {
        let (mut case, _) = fixture::cavity(16);
        (case.dim, case.size, case.periodic) = (3, [16, 12, 8], [true; 3]);
        case.walls.clear();
        let domain = Domain { dim: 3, size: case.size, periodic: case.periodic };
        let parts: [snapshots::Field<'_>; 3] = [("ux", &|[x, _, _]| x), ("uy", &|[_, y, _]| y), ("uz", &|[_, _, z]| z)];
        let snapshot = snapshots::refined(domain, |block| block.level == 0 && block.place[1] == 1, &parts);
        for (normal, at, axes) in [(0, 8.0, [1, 2]), (1, 5.3, [0, 2]), (2, 6.25, [0, 1])] {
            case.output.slice = Some(Slice { normal, at });
            let plane = Plane::velocity((&case).into(), &snapshot).unwrap();
            assert_eq!((plane.axes, plane.window), (axes, [[0.0; 2], axes.map(|axis| case.size[axis] as f64)]));
            let found = plane.at(3.7, 5.1);
            let expected = [(normal, at), (axes[0], 3.7), (axes[1], 5.1)];
            assert!(expected.iter().all(|(axis, at)| (found[*axis] - at).abs() < 1e-12), "{normal}: {found:?}");
        }
    }

    #[test]
    fn what_solids_hold_does_not_count() {
        let (mut case, mut snapshot) = fixture::cavity(32);
        fixture::put_cylinder(&mut case, [16.0, 16.0], 4.0);
        snapshot.components[1].data[16 + 32 * 16] = 9.0;
        let scalar = snapshot.components[0].data.iter().map(|_| 2.0).collect();
        snapshot.components.push(lbm_runtime::solver::snapshot::Component { name: "phi".into(), data: scalar });
        snapshot.components[3].data[16 + 32 * 16] = -5.0;
        assert!((Plane::velocity((&case).into(), &snapshot).unwrap().longest() - 0.1).abs() < 1e-12);
        assert_eq!(Plane::scalar(&case, &snapshot, "phi").unwrap().1, 2.0);
    }

    #[test]
    fn periodic_edges_join() {
        let (mut case, snapshot) = fixture::cavity(16);
        case.periodic[0] = true;
        let plane = Plane::velocity((&case).into(), &snapshot).unwrap();
        assert_eq!(plane.at(0.0, 9.3), plane.at(16.0, 9.3));
    }

    #[test]
    fn what_is_no_number_counts_as_zero() {
        let (case, mut snapshot) = fixture::cavity(16);
        snapshot.components[1].data[40] = f64::NAN;
        assert!(Plane::velocity((&case).into(), &snapshot).unwrap().longest().is_finite());
    }

    #[test]
    fn few_vectors_are_longer_than_a_high_quantile() {
        let (case, snapshot) = fixture::cavity(32);
        let plane = Plane::vorticity(&case, &snapshot).unwrap();
        let top = plane.quantile(0.99);
        let longer = plane.vectors.iter().filter(|vector| length(**vector) > top).count();
        assert!(longer > 0 && longer <= plane.vectors.len() / 100, "{longer}");
        assert_eq!(plane.quantile(1.0), plane.longest());
    }
}
