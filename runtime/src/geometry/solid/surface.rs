//! Surfaces of triangles, from STL files: closed (watertight) ones, and those that are taken with their holes (`open`).
//!
//! A point is inside if the winding number of the surface around it is not zero: if a ray from it along x leaves more often than it
//! enters, or less often. So overlapping shells are one body, and a shell whose normals point inwards is a cavity of the shell around it.
//! A ray crosses a triangle if the projection of the triangle along x covers the point. A projected edge belongs to only one of the two
//! triangles that share it, so rays through edges count once, and an infinite line leaves as often as it enters.

use std::fmt;
use std::sync::Arc;

use rayon::prelude::*;

use super::columns::columns;
use super::lids::Lids;
use super::mesh::Mesh;
use super::stl;
use super::triangle::{Triangle, covers, key, normal, pierces, place};
use super::vector::{Vector, dot, minus, norm};

/// A surface of triangles.
#[derive(Clone)]
pub struct Surface {
    mesh: Arc<Mesh>,
    /// The parts that paths can meet, if not all; the inside does not depend on that.
    met: Option<Arc<[u16]>>,
    /// What closes its holes, if it is taken with them.
    lids: Option<Arc<Lids>>,
}

/// An edge: the bits of its corners, the lesser corner first.
type Edge = [[u64; 3]; 2];

/// Edges that do not have one triangle on each side.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Open {
    /// Number of such edges.
    pub edges: usize,
    /// The midpoint of one of them.
    pub at: Vector,
}

impl Surface {
    /// The triangles of an STL file, text or binary, and the names of its solids; degenerate triangles are dropped.
    pub fn from_stl(bytes: &[u8]) -> Result<(Surface, Vec<String>), String> {
        let found = stl::read(bytes)?;
        let surface = Surface::of_lists(found.triangles, found.parts);
        if surface.mesh.triangles().is_empty() {
            return Err("its triangles have no area".to_string());
        }
        Ok((surface, found.names))
    }

    /// A surface of these triangles, all of one part.
    pub fn new(triangles: Vec<Triangle>) -> Surface {
        let parts = vec![0; triangles.len()];
        Surface::of_lists(triangles, parts)
    }

    /// A surface of these triangles, each with the number of its part.
    pub(super) fn of_parts(all: impl Iterator<Item = (Triangle, u16)>) -> Surface {
        let (triangles, parts) = all.unzip();
        Surface::of_lists(triangles, parts)
    }

    /// The same of a list of each; degenerate triangles are dropped.
    fn of_lists(mut triangles: Vec<Triangle>, mut parts: Vec<u16>) -> Surface {
        let is_degenerate = |[a, b, c]: &Triangle| a == b || b == c || c == a;
        if triangles.par_iter().any(is_degenerate) {
            let all = std::iter::zip(triangles, parts);
            (triangles, parts) = all.filter(|(triangle, _)| !is_degenerate(triangle)).unzip();
        }
        Surface { mesh: Arc::new(Mesh::new(triangles, parts)), met: None, lids: None }
    }

    /// The same surface, restricted for paths to these parts, in ascending order. `None` if it has no triangle of them.
    pub fn only(&self, parts: &[u16]) -> Option<Surface> {
        let has = self.mesh.parts().iter().any(|part| parts.contains(part));
        has.then(|| Surface { met: Some(parts.into()), ..self.clone() })
    }

    /// The same surface with these lids.
    pub(super) fn lidded(&self, lids: Arc<Lids>) -> Surface {
        Surface { lids: Some(lids), ..self.clone() }
    }

    pub(super) fn lids(&self) -> Option<&Lids> {
        self.lids.as_deref()
    }

    /// The area of the parts that paths can meet.
    pub fn area(&self) -> f64 {
        let is_met = |part: u16| self.met.as_ref().is_none_or(|met| met.contains(&part));
        let triangles = self.parts().filter(|(_, part)| is_met(*part));
        let area = |[a, b, c]: &Triangle| {
            let (one, other) = (minus(*b, *a), minus(*c, *a));
            let along = dot(one, other);
            0.5 * (dot(one, one) * dot(other, other) - along * along).max(0.0).sqrt()
        };
        triangles.map(|(triangle, _)| area(triangle)).sum()
    }

    /// The longest side of all triangles.
    pub(super) fn longest_side(&self) -> f64 {
        let longest = |[a, b, c]: &Triangle| [minus(*b, *a), minus(*c, *b), minus(*a, *c)].map(norm);
        self.mesh.triangles().iter().flat_map(longest).fold(0.0, f64::max)
    }

    /// Makes what searches need, once, before threads search side by side.
    pub(super) fn prepare(&self) {
        self.mesh.tree();
        self.lids.iter().for_each(|lids| lids.prepare());
    }

    /// Its tree, as kernels read it: three integers and six numbers of each node.
    pub(super) fn tree(&self) -> (Vec<i32>, Vec<f64>) {
        let nodes = || self.mesh.tree().nodes();
        let corners = |(_, (low, high)): ([usize; 3], (Vector, Vector))| low.into_iter().chain(high);
        (nodes().flat_map(|(of, _)| of.map(|at| at as i32)).collect(), nodes().flat_map(corners).collect())
    }

    /// The leaves of its tree, in the order of their triangles: the number of each among the nodes, and how many triangles it has.
    pub(super) fn leaves(&self) -> impl Iterator<Item = (usize, usize)> {
        let leaves = self.mesh.tree().nodes().enumerate().filter(|(_, ([.., second], _))| *second == 0);
        leaves.map(|(node, ([from, to, _], _))| (node, to - from))
    }

    /// Columns of its triangles in the order of the tree, as kernels read them.
    pub(super) fn columns(&self) -> Vec<i32> {
        columns(&self.in_tree_order().0, self.bounds())
    }

    /// Its triangles in the order of the tree, and whether paths meet each, if not all.
    pub(super) fn in_tree_order(&self) -> (Vec<Triangle>, Option<Vec<bool>>) {
        let (triangles, parts, tree) = (self.mesh.triangles(), self.mesh.parts(), self.mesh.tree());
        let meets = |met: &Arc<[u16]>| tree.order().iter().map(|at| met.binary_search(&parts[*at]).is_ok()).collect();
        (tree.order().iter().map(|at| triangles[*at]).collect(), self.met.as_ref().map(meets))
    }

    /// Whether both share their triangles, and paths meet the same of them.
    pub(super) fn shares_data(&self, other: &Surface) -> bool {
        Arc::ptr_eq(&self.mesh, &other.mesh) && self.met == other.met
    }

    /// Its triangles.
    #[cfg(test)]
    pub(super) fn corners(&self) -> &[Triangle] {
        self.mesh.triangles()
    }

    /// Its triangles, each with the number of its part.
    pub(super) fn parts(&self) -> impl Iterator<Item = (&Triangle, u16)> {
        self.mesh.triangles().iter().zip(self.mesh.parts().iter().copied())
    }

    /// Number of triangles.
    pub fn triangles(&self) -> usize {
        self.mesh.triangles().len()
    }

    /// Edges without one consistently oriented triangle on each side, sorted, and of each the number of triangles that traverse it from the
    /// lesser to the greater corner minus those that traverse it back.
    pub(super) fn open_edges(&self) -> Vec<(Edge, i64)> {
        let of_triangle = |corners: &Triangle| {
            let keys = corners.map(key);
            let edge = |corner: usize| {
                let (from, to) = (keys[corner], keys[(corner + 1) % 3]);
                if from < to { ([from, to], 1) } else { ([to, from], -1) }
            };
            [0, 1, 2].map(edge)
        };
        let mut edges: Vec<(Edge, i64)> = self.mesh.triangles().par_iter().flat_map_iter(of_triangle).collect();
        edges.par_sort_unstable_by_key(|(edge, _)| *edge);
        let equal = edges.chunk_by(|(one, _), (other, _)| one == other);
        let turns = equal.map(|equal| (equal[0].0, equal.iter().map(|(_, turn)| turn).sum()));
        turns.filter(|(_, turns)| *turns != 0).collect()
    }

    /// Edges without one consistently oriented triangle on each side; `None` if the surface is closed.
    pub fn open(&self) -> Option<Open> {
        let open = self.open_edges();
        let (edge, _) = open.first()?;
        let middle = |axis: usize| 0.5 * (f64::from_bits(edge[0][axis]) + f64::from_bits(edge[1][axis]));
        Some(Open {
            edges: open.iter().map(|(_, turns)| turns.unsigned_abs() as usize).sum(),
            at: [0, 1, 2].map(middle),
        })
    }

    /// The number of triangles that have the same corners as another.
    pub fn doubled(&self) -> usize {
        let sorted = |corners: &Triangle| {
            let mut keys = corners.map(key);
            keys.sort_unstable();
            keys
        };
        let mut all: Vec<[[u64; 3]; 3]> = self.mesh.triangles().par_iter().map(sorted).collect();
        all.par_sort_unstable();
        all.windows(2).filter(|pair| pair[0] == pair[1]).count()
    }

    /// The same surface with every corner moved.
    pub fn map(&self, to: impl Fn(Vector) -> Vector + Sync) -> Surface {
        let moved: Vec<Triangle> = self.mesh.triangles().par_iter().map(|corners| corners.map(&to)).collect();
        let moved = Surface::of_lists(moved, self.mesh.parts().to_vec());
        let lids = self.lids().map(|lids| Arc::new(lids.map(&to)));
        Surface { met: self.met.clone(), lids, ..moved }
    }

    pub(super) fn contains(&self, at: Vector) -> bool {
        let mut inside = [false];
        self.inside_along(&at[..1], [at[1], at[2]], &mut inside);
        inside[0]
    }

    /// Marks those of points on a line along x, at this y and z, that are inside.
    pub(super) fn inside_along(&self, xs: &[f64], line: [f64; 2], inside: &mut [bool]) {
        if self.lids.is_some() {
            let windings = self.windings_along(xs, line);
            return inside.iter_mut().zip(windings).for_each(|(inside, winding)| *inside |= Lids::is_inside(winding));
        }
        let Some(windings) = self.rays(xs, line) else { return };
        let found = windings.iter().zip(xs).map(|(windings, x)| *windings != 0 && self.in_bounds(*x, line));
        inside.iter_mut().zip(found).for_each(|(inside, found)| *inside |= found);
    }

    /// The winding numbers of points on a line along x; 0 beyond the bounding box.
    pub(super) fn windings_along(&self, xs: &[f64], line: [f64; 2]) -> Vec<f64> {
        let Some(windings) = self.rays(xs, line) else { return vec![0.0; xs.len()] };
        let of_lids = |x: f64| self.lids().map_or(0.0, |lids| lids.winding([x, line[0], line[1]]));
        let winding =
            |(rays, x): (i32, &f64)| if self.in_bounds(*x, line) { f64::from(rays) - of_lids(*x) } else { 0.0 };
        windings.into_iter().zip(xs).map(winding).collect()
    }

    /// How often a ray along x leaves the surface and its lids, from each point on a line; `None` if all are beyond the bounding box.
    fn rays(&self, xs: &[f64], line: [f64; 2]) -> Option<Vec<i32>> {
        let in_bounds = xs.iter().copied().filter(|x| self.in_bounds(*x, line));
        let first = in_bounds.min_by(f64::total_cmp)?;
        let mut windings = vec![0; xs.len()];
        self.mesh.count(xs, (first, line), &mut windings);
        if let Some(lids) = self.lids() {
            lids.mesh().count(xs, (first, line), &mut windings);
        }
        Some(windings)
    }

    fn in_bounds(&self, x: f64, [y, z]: [f64; 2]) -> bool {
        let (low, high) = self.bounds();
        (0..3).all(|axis| low[axis] <= [x, y, z][axis] && [x, y, z][axis] <= high[axis])
    }

    /// For each crossing of a line along an axis with the surface: its position, whether the line leaves there (1) or enters (-1), and
    /// the normal, of length 1.
    pub(super) fn ray(&self, axis: usize, through: Vector, mut each: impl FnMut(f64, i32, Vector)) {
        let (one, other) = ((axis + 1) % 3, (axis + 2) % 3);
        let (from, to) = ([f64::NEG_INFINITY; 3], [f64::INFINITY; 3]);
        let line = |ends: Vector| [0, 1, 2].map(|at| if at == axis { ends[at] } else { through[at] });
        self.mesh.tree().overlapping(line(from), line(to), &mut |number| {
            let corners = &self.mesh.triangles()[number];
            let leaves = covers(corners.map(|corner| [corner[one], corner[other]]), [through[one], through[other]]);
            if leaves != 0 {
                let normal = normal(corners);
                let length = dot(normal, normal).sqrt();
                each(place(corners, normal, axis, through), leaves, normal.map(|at| at / length));
            }
            true
        });
    }

    pub(super) fn crossing(&self, from: Vector, to: Vector) -> Option<f64> {
        let way = minus(to, from);
        let low = [0, 1, 2].map(|axis| from[axis].min(to[axis]));
        let high = [0, 1, 2].map(|axis| from[axis].max(to[axis]));
        let (mut nearest, mut pierced): (Option<f64>, bool) = (None, false);
        self.mesh.tree().overlapping(low, high, &mut |number| {
            if let Some(part) = pierces(&self.mesh.triangles()[number], from, way) {
                pierced = true;
                nearest =
                    if self.meets(number) { Some(nearest.map_or(part, |nearest| nearest.min(part))) } else { nearest };
            }
            true
        });
        if self.lids.is_some() && !pierced { self.through_hole(from, to) } else { nearest }
    }

    /// Calls `each` with the triangles that paths meet whose bounding boxes overlap a box.
    pub(super) fn overlapping(&self, low: Vector, high: Vector, each: &mut dyn FnMut(&Triangle)) {
        self.mesh.tree().overlapping(low, high, &mut |number| {
            if self.meets(number) {
                each(&self.mesh.triangles()[number]);
            }
            true
        });
    }

    /// Whether paths meet a triangle.
    fn meets(&self, number: usize) -> bool {
        self.met.as_ref().is_none_or(|met| met.binary_search(&self.mesh.parts()[number]).is_ok())
    }

    /// Bounding box: its lower and upper corner.
    pub fn bounds(&self) -> (Vector, Vector) {
        self.mesh.bounds()
    }

    pub(super) fn near(&self, from: Vector, to: Vector) -> bool {
        let mut found = false;
        self.mesh.tree().overlapping(from, to, &mut |number| {
            // Whether the box has corners on both sides of the triangle's plane.
            let corners = &self.mesh.triangles()[number];
            let normal = normal(corners);
            let middle = [0, 1, 2].map(|axis| 0.5 * (from[axis] + to[axis]));
            let reach: f64 = (0..3).map(|axis| 0.5 * (to[axis] - from[axis]) * normal[axis].abs()).sum();
            found = dot(normal, minus(middle, corners[0])).abs() <= reach * (1.0 + 1e-9);
            !found
        });
        found || self.near_hole(from, to)
    }

    pub(super) fn shifted(&self, by: Vector) -> Surface {
        if by == [0.0; 3] { self.clone() } else { self.map(|at| [0, 1, 2].map(|axis| at[axis] + by[axis])) }
    }
}

impl PartialEq for Surface {
    fn eq(&self, other: &Self) -> bool {
        self.mesh.triangles() == other.mesh.triangles()
            && self.mesh.parts() == other.mesh.parts()
            && self.met == other.met
            && self.lids.is_some() == other.lids.is_some()
    }
}

impl fmt::Debug for Surface {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (from, to) = self.bounds();
        write!(out, "{} triangles from {from:?} to {to:?}", self.triangles())
    }
}

#[cfg(test)]
pub(super) mod tests {
    use super::*;

    /// A box of twelve triangles.
    pub(in super::super) fn cuboid(low: Vector, high: Vector) -> Vec<Triangle> {
        let corner = |at: usize| [0, 1, 2].map(|axis| if at >> axis & 1 == 1 { high[axis] } else { low[axis] });
        let faces = [[0, 2, 3, 1], [4, 5, 7, 6], [0, 1, 5, 4], [2, 6, 7, 3], [0, 4, 6, 2], [1, 3, 7, 5]];
        faces.iter().flat_map(|[a, b, c, d]| [[*a, *b, *c], [*a, *c, *d]]).map(|face| face.map(corner)).collect()
    }

    /// A sphere, by subdivision of an octahedron.
    pub(in super::super) fn ball(centre: Vector, radius: f64, rounds: usize) -> Surface {
        let unit = |at: Vector| {
            let norm = dot(at, at).sqrt();
            at.map(|x| x / norm)
        };
        let mut faces: Vec<Triangle> = (0..8)
            .map(|octant| {
                let axis = |axis: usize| {
                    let mut at = [0.0; 3];
                    at[axis] = if octant >> axis & 1 == 1 { 1.0 } else { -1.0 };
                    at
                };
                let turned = (octant as u32).count_ones().is_multiple_of(2);
                if turned { [axis(1), axis(0), axis(2)] } else { [axis(0), axis(1), axis(2)] }
            })
            .collect();
        for _ in 0..rounds {
            let halves = |[a, b, c]: Triangle| {
                let mid = |a: Vector, b: Vector| {
                    let (a, b) = if a < b { (a, b) } else { (b, a) };
                    unit([0, 1, 2].map(|axis| a[axis] + b[axis]))
                };
                let (ab, bc, ca) = (mid(a, b), mid(b, c), mid(c, a));
                [[a, ab, ca], [ab, b, bc], [ca, bc, c], [ab, bc, ca]]
            };
            faces = faces.into_iter().flat_map(halves).collect();
        }
        Surface::new(faces).map(|at| [0, 1, 2].map(|axis| centre[axis] + radius * at[axis]))
    }

    #[test]
    fn a_ball_of_triangles_is_a_sphere() {
        let (centre, radius) = ([5.0, 6.0, 7.0], 3.1);
        let (ball, sphere) = (ball(centre, radius, 5), super::super::Shape::Sphere { centre, radius });
        assert_eq!((ball.triangles(), ball.open()), (8 * 1024, None));
        let mut inside = 0;
        for at in 0..24 * 24 * 24 {
            let at = [at % 24, at / 24 % 24, at / 576].map(|at| 0.5 * at as f64 + 0.13);
            let distance = dot(minus(at, centre), minus(at, centre)).sqrt();
            if (distance - radius).abs() < 0.01 {
                continue;
            }
            assert_eq!(ball.contains(at), distance < radius, "{at:?}");
            inside += usize::from(distance < radius);
            let to = [at[0] + 0.5, at[1] - 0.5, at[2] + 0.5];
            if distance > radius && sphere.contains(to) {
                let (found, exact) = (ball.crossing(at, to), sphere.crossing(at, to).unwrap());
                assert!(found.is_none() && exact > 0.98 || (found.unwrap() - exact).abs() < 0.05, "{found:?} {exact}");
            }
        }
        assert!(inside > 900, "{inside}");
        assert!(ball.near([1.9, 5.9, 6.9], [2.0, 6.1, 7.1]) && !ball.near([4.0, 5.0, 6.0], [5.0, 6.0, 7.0]));
    }

    #[test]
    fn rays_through_edges_and_corners_count_once() {
        let cuboid = Surface::new(cuboid([0.0; 3], [4.0; 3]));
        assert_eq!(cuboid.open(), None);
        // Diagonals of faces, edges and corners lie on these lines.
        for at in 0..9 * 9 * 9 {
            let at = [at % 9, at / 9 % 9, at / 81].map(|at| at as f64 - 2.0);
            let strictly = at.iter().all(|x| 0.0 < *x && *x < 4.0);
            let beyond = at.iter().any(|x| *x < 0.0 || *x > 4.0);
            assert!(!strictly || cuboid.contains(at), "{at:?}");
            assert!(!beyond || !cuboid.contains(at), "{at:?}");
        }
    }

    #[test]
    fn a_hole_is_found_and_where_it_is() {
        let mut triangles = cuboid([0.0; 3], [2.0; 3]);
        triangles.remove(3);
        let open = Surface::new(triangles).open().unwrap();
        assert_eq!(open.edges, 3);
        assert_eq!(open.at[2], 2.0);
        let mut triangles = cuboid([0.0; 3], [2.0; 3]);
        triangles[5].swap(0, 1);
        assert_eq!(Surface::new(triangles).open().unwrap().edges, 6);
    }

    /// The same triangles with opposite orientation.
    fn inwards(triangles: Vec<Triangle>) -> Vec<Triangle> {
        triangles.into_iter().map(|[a, b, c]| [a, c, b]).collect()
    }

    #[test]
    fn shells_that_overlap_are_one_body() {
        let boxes = [cuboid([0.0; 3], [4.0; 3]), cuboid([2.0; 3], [6.0; 3])];
        let both = Surface::new(boxes.concat());
        let either = |at: Vector| [0.0, 2.0].iter().any(|low| at.iter().all(|at| (low + 0.1..low + 3.9).contains(at)));
        for at in 0..8 * 8 * 8 {
            let at = [at % 8, at / 8 % 8, at / 64].map(|at| at as f64 - 0.5);
            assert_eq!(both.contains(at), either(at), "{at:?}");
        }
        let found = both.thickness(1.0, [10.0; 3]);
        assert_eq!((found.cells, found.overlaps.0, found.thin), (64 + 64 - 8, 8, 0));
        assert_eq!((found.overlaps.1, found.turned), (Some([2.5; 3]), [true, false]));
    }

    #[test]
    fn a_shell_inside_another_is_a_cavity_if_its_normals_point_into_it() {
        let (outer, inner) = (cuboid([0.0; 3], [8.0; 3]), cuboid([2.0; 3], [6.0; 3]));
        let hollow = Surface::new([outer.clone(), inwards(inner.clone())].concat());
        assert!(hollow.contains([1.0; 3]) && !hollow.contains([4.0; 3]) && hollow.open().is_none());
        let found = hollow.thickness(1.0, [10.0; 3]);
        assert_eq!((found.cells, found.overlaps.0), (512 - 64, 0));
        let full = Surface::new([outer, inner].concat());
        assert!(full.contains([1.0; 3]) && full.contains([4.0; 3]));
        let found = full.thickness(1.0, [10.0; 3]);
        assert_eq!((found.cells, found.overlaps.0), (512, 64));
    }

    #[test]
    fn bodies_that_touch_do_not_overlap() {
        let both = Surface::new([cuboid([0.0; 3], [2.0; 3]), cuboid([2.0, 0.0, 0.0], [4.0, 2.0, 2.0])].concat());
        let found = both.thickness(1.0, [10.0; 3]);
        assert_eq!((found.cells, found.overlaps.0, found.thin), (16, 0, 0));
    }

    #[test]
    fn a_surface_that_is_there_twice_is_known_as_such() {
        let once = cuboid([1.0; 3], [5.0; 3]);
        let (same, opposite) = ([once.clone(), once.clone()].concat(), [once.clone(), inwards(once.clone())].concat());
        assert_eq!(Surface::new(once).doubled(), 0);
        for (triangles, cells) in [(same, 64), (opposite, 0)] {
            let surface = Surface::new(triangles);
            assert_eq!((surface.doubled(), surface.open()), (12, None));
            let found = surface.thickness(1.0, [10.0; 3]);
            assert_eq!((found.cells, found.overlaps.0), (cells, cells));
        }
    }

    #[test]
    fn of_a_surface_far_larger_than_the_box_only_the_box_is_scanned() {
        let found = Surface::new(cuboid([-1e30; 3], [1e30; 3])).thickness(1.0, [4.0; 3]);
        assert_eq!((found.cells, found.thin), (64, 0));
        let beyond = Surface::new(cuboid([1e30; 3], [2e30; 3])).thickness(1.0, [4.0; 3]);
        assert_eq!((beyond.cells, beyond.thin), (0, 0));
    }
}
