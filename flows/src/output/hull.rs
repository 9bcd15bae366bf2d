//! Surfaces of solids as triangles of the size of the local cells.
//!
//! A vertex lies on an edge between a node inside and a node outside, at the intersection with the surface, which is
//! found by bisection. Only a test of whether a point is inside is needed. Sharp edges of a body are bevelled by up to
//! one cell.

use std::cmp::Ordering;
use std::collections::{BTreeMap, HashMap};
use std::ops::Range;

use lbm_runtime::geometry::solid::Solids;
use lbm_runtime::solver::snapshot::Snapshot;

use super::march::{Tile, march};

/// Number of bisections; the position of a vertex is then exact to 1e-7 of the edge.
const HALVINGS: usize = 24;

/// A point of a surface and the unit normal there, out of the solid.
#[derive(Clone, Copy, Debug)]
pub(super) struct Point {
    /// In cells of the coarsest level.
    pub(super) at: [f64; 3],
    pub(super) normal: [f64; 3],
}

/// The solids of a flow, meshed on its leaves.
pub(super) struct Hull<'a> {
    pub(super) snapshot: &'a Snapshot,
    pub(super) solids: &'a Solids,
    /// For each solid, whether it is closed by a surface at the faces of the domain; otherwise it is open where it
    /// extends beyond.
    pub(super) ends: &'a [bool],
    /// Restricts the surface to these solids; `None`: the surface of all solids together.
    pub(super) only: Option<Range<usize>>,
}

/// A node by its position on the level of a surface.
type Node = [isize; 3];

/// A segment of a contour in two dimensions, with the solid on its left. For each end: the edge between two nodes on
/// which it lies, and its position.
pub(super) type Segment = [([Node; 2], [f64; 3]); 2];

impl Hull<'_> {
    /// The solid that contains a point.
    fn solid(&self, at: [f64; 3]) -> Option<usize> {
        self.solids.at(at).filter(|number| self.only.as_ref().is_none_or(|only| only.contains(number)))
    }

    /// The triangles in a tile, counter-clockwise as seen from the fluid.
    pub(super) fn triangles(&self, tile: &Tile) -> Vec<[Point; 3]> {
        let (size, width) = (self.snapshot.size_of(tile.level).map(|cells| cells as isize), tile.width());
        // A layer of cells around the tile ensures that normals agree with those of the neighbouring tile. Beyond a
        // face of the domain the layer has zero thickness: bodies are closed there.
        let low = tile.low.map(|at| at as isize);
        let high = [0, 1, 2].map(|axis| low[axis] + tile.size[axis] as isize);
        let (first, end) = (low.map(|at| at - 1), high.map(|at| at + 1));
        let at = |node: [isize; 3]| [0, 1, 2].map(|axis| node[axis].clamp(0, size[axis]) as f64 * width);
        let beside_face = (0..3).any(|axis| first[axis] < 0 || end[axis] > size[axis]);
        match self.solids.fills(at(first), at(end)) {
            Some(false) => return vec![],
            Some(true) if !beside_face => return vec![],
            _ => {}
        }
        let count = tile.size.map(|side| side + 3);
        let place = |number: usize| {
            let place = [number % count[0], number / count[0] % count[1], number / (count[0] * count[1])];
            [0, 1, 2].map(|axis| first[axis] + place[axis] as isize)
        };
        let beyond = |node: [isize; 3]| (0..3).any(|axis| node[axis] < 0 || node[axis] > size[axis]);
        let is_inside = |node: [isize; 3]| match self.solid(at(node)) {
            None => false,
            Some(number) => !(self.ends[number] && beyond(node)),
        };
        let inside: Vec<bool> = (0..count.iter().product()).map(|number| is_inside(place(number))).collect();
        let number = |node: [isize; 3]| {
            let [x, y, z] = [0, 1, 2].map(|axis| (node[axis] - first[axis]) as usize);
            x + count[0] * (y + count[1] * z)
        };
        let is_own = |cell: [isize; 3]| {
            (0..3).all(|axis| {
                let beyond = low[axis] == 0 && cell[axis] < 0 || high[axis] == size[axis] && cell[axis] == size[axis];
                beyond || (low[axis]..high[axis]).contains(&cell[axis])
            })
        };

        let (mut points, mut known): (Vec<Point>, HashMap<[usize; 2], usize>) = (vec![], HashMap::new());
        let mut triangles: Vec<[usize; 3]> = vec![];
        for cell in (0..inside.len()).map(place).filter(|cell| (0..3).all(|axis| cell[axis] < end[axis])) {
            let nodes = [0, 1, 2, 3, 4, 5, 6, 7].map(|corner| [0, 1, 2].map(|axis| cell[axis] + (corner >> axis & 1)));
            let own = is_own(cell);
            let middle = |a: usize, b: usize| [0, 1, 2].map(|axis| 0.5 * (nodes[a][axis] + nodes[b][axis]) as f64);
            let between = |a: usize, b: usize| {
                let (one, other) = if inside[number(nodes[a])] { (nodes[a], nodes[b]) } else { (nodes[b], nodes[a]) };
                let point = *known.entry([number(one), number(other)]).or_insert_with(|| {
                    points.push(Point { at: self.surface(at(one), at(other)), normal: [0.0; 3] });
                    points.len() - 1
                });
                (point, middle(a, b))
            };
            let mut found = vec![];
            let inside = nodes.map(|node| Some(inside[number(node)]));
            march(inside, between, |triangle, sides| found.push((triangle, sides)));
            for ([(a, p), (mut b, q), (mut c, r)], [one, other]) in found {
                // The orientation follows from the midpoints of the edges, which are distinct even in a layer of zero
                // thickness.
                let outwards = [0, 1, 2].map(|axis| (nodes[other][axis] - nodes[one][axis]) as f64);
                if dot(normal([p, q, r]), outwards) < 0.0 {
                    (b, c) = (c, b);
                }
                let normal = normal([a, b, c].map(|point| points[point].at));
                for point in [a, b, c] {
                    points[point].normal = [0, 1, 2].map(|axis| points[point].normal[axis] + normal[axis]);
                }
                if own && dot(normal, normal) > 0.0 {
                    triangles.push([a, b, c]);
                }
            }
        }
        for point in &mut points {
            let norm = dot(point.normal, point.normal).sqrt().max(f64::MIN_POSITIVE);
            point.normal = point.normal.map(|part| part / norm);
        }
        triangles.into_iter().map(|corners| corners.map(|at| points[at])).collect()
    }

    /// The segments of the contours of solids in a tile, in two dimensions.
    pub(super) fn segments(&self, tile: &Tile) -> Vec<Segment> {
        let width = tile.width();
        let at = |node: Node| node.map(|at| at as f64 * width);
        let low = tile.low.map(|at| at as isize);
        let high = [low[0] + tile.size[0] as isize, low[1] + tile.size[1] as isize, 0];
        if self.solids.fills(at([low[0], low[1], 0]), at(high)).is_some() {
            return vec![];
        }
        let mut segments = vec![];
        for [x, y, _] in tile.places() {
            let nodes = [0, 1, 2, 3]
                .map(|corner| [low[0] + (x + (corner & 1)) as isize, low[1] + (y + (corner >> 1)) as isize, 0]);
            let inside = nodes.map(|node| self.solid(at(node)).is_some());
            for corners in [[0, 1, 3], [0, 2, 3]] {
                let is_odd =
                    |corner: &usize| corners.iter().filter(|other| inside[**other] == inside[*corner]).count() == 1;
                let Some(odd) = corners.into_iter().find(is_odd) else { continue };
                let mut others = corners.into_iter().filter(|corner| *corner != odd);
                let (Some(a), Some(b)) = (others.next(), others.next()) else { continue };
                let middle = |other: usize| [0, 1].map(|axis| (nodes[odd][axis] + nodes[other][axis]) as f64);
                let along = [0, 1].map(|axis| middle(b)[axis] - middle(a)[axis]);
                let out = if inside[odd] { 1.0 } else { -1.0 };
                let outwards = [0, 1].map(|axis| out * (nodes[a][axis] - nodes[odd][axis]) as f64);
                let is_left = along[1] * outwards[0] - along[0] * outwards[1] > 0.0;
                let point = |other: usize| {
                    let (one, two) = if inside[odd] { (nodes[odd], nodes[other]) } else { (nodes[other], nodes[odd]) };
                    ([one, two], self.surface(at(one), at(two)))
                };
                segments.push(if is_left { [point(a), point(b)] } else { [point(b), point(a)] });
            }
        }
        segments
    }

    /// The points of segments, and the curves that they form, as [`chained`] along x.
    pub(super) fn curves(segments: &[Segment]) -> (Vec<Point>, Vec<Vec<usize>>) {
        let (mut points, mut known): (Vec<Point>, BTreeMap<[Node; 2], usize>) = (vec![], BTreeMap::new());
        let mut number = |(edge, at): ([Node; 2], [f64; 3])| {
            *known.entry(edge).or_insert_with(|| {
                points.push(Point { at, normal: [0.0; 3] });
                points.len() - 1
            })
        };
        let ends: Vec<[usize; 2]> = segments.iter().map(|segment| segment.map(&mut number)).collect();
        for [from, to] in &ends {
            let (a, b) = (points[*from].at, points[*to].at);
            for point in [*from, *to] {
                points[point].normal[0] += b[1] - a[1];
                points[point].normal[1] -= b[0] - a[0];
            }
        }
        for point in &mut points {
            let norm = dot(point.normal, point.normal).sqrt().max(f64::MIN_POSITIVE);
            point.normal = point.normal.map(|part| part / norm);
        }
        let curves = chained(&ends, |point| points[point].at[0], points.len());
        (points, curves)
    }

    /// Intersection of the surface with the edge from a point inside to one outside. If the latter is outside only
    /// because the domain ends there, it is that point itself.
    fn surface(&self, inside: [f64; 3], outside: [f64; 3]) -> [f64; 3] {
        if self.solid(outside).is_some() {
            return outside;
        }
        let (mut inside, mut outside) = (inside, outside);
        let middle = |a: [f64; 3], b: [f64; 3]| [0, 1, 2].map(|axis| 0.5 * (a[axis] + b[axis]));
        for _ in 0..HALVINGS {
            let between = middle(inside, outside);
            if self.solid(between).is_some() { inside = between } else { outside = between }
        }
        middle(inside, outside)
    }
}

/// Chains segments into curves, each a list of point indices. Closed curves start and end at their point that lies
/// farthest along an axis, open ones at a point to which no segment leads. At most one segment starts at each of the
/// `count` points.
pub(super) fn chained(segments: &[[usize; 2]], along: impl Fn(usize) -> f64, count: usize) -> Vec<Vec<usize>> {
    let (mut next, mut is_end) = (vec![None; count], vec![false; count]);
    for [from, to] in segments {
        (next[*from], is_end[*to]) = (Some(*to), true);
    }
    let mut starts: Vec<usize> = (0..count).collect();
    starts.sort_by(|a, b| (is_end[*a], -along(*a)).partial_cmp(&(is_end[*b], -along(*b))).unwrap_or(Ordering::Equal));
    let mut curves = vec![];
    for start in starts {
        let (mut curve, mut at) = (vec![start], start);
        while let Some(to) = next[at].take() {
            curve.push(to);
            at = to;
        }
        if curve.len() > 1 {
            curves.push(curve);
        }
    }
    curves
}

/// Normal of a triangle, with a length of twice its area.
pub(super) fn normal([a, b, c]: [[f64; 3]; 3]) -> [f64; 3] {
    let (one, other) = ([0, 1, 2].map(|axis| b[axis] - a[axis]), [0, 1, 2].map(|axis| c[axis] - a[axis]));
    [0, 1, 2].map(|axis| {
        let (next, last) = ((axis + 1) % 3, (axis + 2) % 3);
        one[next] * other[last] - one[last] * other[next]
    })
}

pub(super) fn dot(a: [f64; 3], b: [f64; 3]) -> f64 {
    (0..3).map(|axis| a[axis] * b[axis]).sum()
}

#[cfg(test)]
mod tests {
    use super::*;
    use lbm_runtime::geometry::Domain;
    use lbm_runtime::geometry::solid::{Shape, Solid};
    use std::f64::consts::PI;

    fn triangles(shape: Shape, size: [usize; 3]) -> Vec<[Point; 3]> {
        let solid = Solid { shape, rule: String::new(), values: vec![], level: 0, shells: vec![] };
        let solids = Solids::new(&[solid], 3, size, [8; 3], [false; 3]);
        let snapshot = Snapshot::uniform(0, Domain { dim: 3, size, periodic: [false; 3] }, vec![]);
        let hull = Hull { snapshot: &snapshot, solids: &solids, ends: &[true], only: None };
        (0..Tile::count(&snapshot)).flat_map(|tile| hull.triangles(&Tile::new(&snapshot, tile))).collect()
    }

    /// Area, vector sum of areas (zero for a closed surface), and enclosed volume.
    fn measures(triangles: &[[Point; 3]]) -> (f64, [f64; 3], f64) {
        let mut all = (0.0, [0.0; 3], 0.0);
        for corners in triangles {
            let normal = normal(corners.map(|point| point.at)).map(|part| 0.5 * part);
            all.0 += dot(normal, normal).sqrt();
            all.1 = [0, 1, 2].map(|axis| all.1[axis] + normal[axis]);
            all.2 += dot(normal, corners[0].at) / 3.0;
        }
        all
    }

    #[test]
    fn a_sphere_has_its_area_and_its_volume_and_its_normals_point_out_of_it() {
        let (centre, radius) = ([20.3, 17.1, 19.0], 12.0);
        let found = triangles(Shape::Sphere { centre, radius }, [40, 40, 40]);
        let (area, sum, volume) = measures(&found);
        assert!((area / (4.0 * PI * radius * radius) - 1.0).abs() < 0.005, "{area}");
        assert!((volume / (4.0 / 3.0 * PI * radius.powi(3)) - 1.0).abs() < 0.005, "{volume}");
        assert!(sum.iter().all(|part| part.abs() < 1e-9 * area), "a gap: {sum:?}");
        for point in found.iter().flatten() {
            let off = [0, 1, 2].map(|axis| (point.at[axis] - centre[axis]) / radius);
            assert!((dot(off, off) - 1.0).abs() < 1e-6 && dot(off, point.normal) > 0.97, "{point:?}");
        }
    }

    #[test]
    fn a_cylinder_from_face_to_face_ends_there_and_is_closed() {
        let shape = Shape::Cylinder { centre: [16.0, 16.0, 12.0], axis: [0.0, 0.0, 1.0], radius: 7.2, length: None };
        let found = triangles(shape, [32, 32, 24]);
        let (area, sum, volume) = measures(&found);
        assert!((volume / (PI * 7.2 * 7.2 * 24.0) - 1.0).abs() < 0.005, "{volume}");
        assert!((area / (2.0 * PI * 7.2 * (7.2 + 24.0)) - 1.0).abs() < 0.01, "{area}");
        assert!(sum.iter().all(|part| part.abs() < 1e-9 * area), "a gap: {sum:?}");
    }
}
