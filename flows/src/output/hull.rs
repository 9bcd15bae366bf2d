//! The surfaces of solids as triangles, of the size of the cells there.
//!
//! A vertex lies where an edge between a node inside and one outside meets the surface, found by halving, so whatever says which points
//! are inside has a surface. Edges of a body are bevelled by up to a cell.

use std::collections::HashMap;

use lbm_runtime::geometry::solid::Solids;
use lbm_runtime::solver::snapshot::Snapshot;

use super::march::{Tile, march};

/// Halvings of an edge, after which a vertex is where it is to 1e-7 of its length.
const HALVINGS: usize = 24;

/// A point of a surface and the normal there, of length 1, out of the solid.
#[derive(Clone, Copy, Debug)]
pub(super) struct Point {
    /// In cells of the coarsest level.
    pub(super) at: [f64; 3],
    pub(super) normal: [f64; 3],
}

/// The solids of a flow where its leaves are.
pub(super) struct Hull<'a> {
    pub(super) snapshot: &'a Snapshot,
    pub(super) solids: &'a Solids,
    /// Whether each ends at the faces of the domain, with a surface there; else it is open where it reaches beyond.
    pub(super) ends: &'a [bool],
}

impl Hull<'_> {
    /// The triangles in a tile, counter-clockwise as seen from the fluid.
    pub(super) fn triangles(&self, tile: &Tile) -> Vec<[Point; 3]> {
        let (size, width) = (self.snapshot.size_of(tile.level).map(|cells| cells as isize), tile.width());
        // A layer of cells around the tile makes normals the same as those of the next one. Beyond a face it has no thickness: there a
        // body ends.
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
        let is_inside = |node: [isize; 3]| match self.solids.at(at(node)) {
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
                // Which way it turns is seen half-way between the nodes, where a layer without thickness has one, too.
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

    /// Where the surface is met between a point inside and one outside; that one where it is outside only as the domain ends there.
    fn surface(&self, inside: [f64; 3], outside: [f64; 3]) -> [f64; 3] {
        if self.solids.at(outside).is_some() {
            return outside;
        }
        let (mut inside, mut outside) = (inside, outside);
        let middle = |a: [f64; 3], b: [f64; 3]| [0, 1, 2].map(|axis| 0.5 * (a[axis] + b[axis]));
        for _ in 0..HALVINGS {
            let between = middle(inside, outside);
            if self.solids.at(between).is_some() { inside = between } else { outside = between }
        }
        middle(inside, outside)
    }
}

/// Twice the area of a triangle, along its normal.
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
        let hull = Hull { snapshot: &snapshot, solids: &solids, ends: &[true] };
        (0..Tile::count(&snapshot)).flat_map(|tile| hull.triangles(&Tile::new(&snapshot, tile))).collect()
    }

    /// The area, its sum as vectors, which is zero of a closed surface, and the volume within.
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
