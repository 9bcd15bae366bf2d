//! Repairs surfaces whose triangles do not meet exactly, as CAD programs write them: nearly coincident corners, duplicate triangles, and
//! corners on edges of other triangles.
//!
//! Only triangles at open edges are changed, so a closed surface does not change.

use std::collections::{BTreeMap, BTreeSet};

use rayon::prelude::*;

use super::Vector;
use super::surface::Surface;
use super::tree::Tree;
use super::triangle::{Triangle, key};
use super::vector::{dot, minus};

/// Most rounds of welding and dividing: each may reveal further defects.
const ROUNDS: usize = 8;

/// Most corners on edges, per open edge on average: beyond that edges overlap, and dividing them does not help.
const MOST_ON_EDGE: usize = 64;

/// The repairs of a surface.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Welds {
    /// Number of corners that were merged with others.
    pub corners: usize,
    /// The largest distance by which a corner was moved.
    pub farthest: f64,
    /// Number of triangles removed as duplicates: with the same corners and the same orientation as another.
    pub doubled: usize,
    /// Number of triangles divided at corners of others on their edges.
    pub divided: usize,
}

/// The bits of a corner.
type Key = [u64; 3];

fn place(key: Key) -> Vector {
    key.map(f64::from_bits)
}

impl Surface {
    /// The surface after repair; corners at open edges that are at most `within` apart are merged.
    pub fn weld(&self, within: f64) -> (Surface, Welds) {
        let (mut surface, mut welds) = (self.clone(), Welds::default());
        for _ in 0..ROUNDS {
            let before = welds;
            for change in [Surface::merged, Surface::once, Surface::divided] {
                let edges: Vec<[Key; 2]> = surface.open_edges().into_iter().map(|(edge, _)| edge).collect();
                if edges.is_empty() {
                    return (surface, welds);
                }
                surface = change(&surface, &edges, within, &mut welds);
            }
            if welds == before {
                break;
            }
        }
        (surface, welds)
    }

    /// Merges each corner of open edges with the nearest of the earlier ones within the distance.
    fn merged(&self, edges: &[[Key; 2]], within: f64, welds: &mut Welds) -> Surface {
        let corners: BTreeSet<Key> = edges.iter().flatten().copied().collect();
        // Boxes as wide as the distance, with the corners in them that others are merged with.
        let mut boxes: BTreeMap<[i64; 3], Vec<Vector>> = BTreeMap::new();
        let mut moved: BTreeMap<Key, Vector> = BTreeMap::new();
        for corner in corners {
            let at = place(corner);
            let here = at.map(|at| (at / within).floor() as i64);
            let around = (0..27).map(|code| [code % 3, code / 3 % 3, code / 9].map(|step| step - 1));
            let near =
                around.filter_map(|step| boxes.get(&[0, 1, 2].map(|axis| here[axis].saturating_add(step[axis]))));
            let distance = |other: &Vector| dot(minus(*other, at), minus(*other, at)).sqrt();
            let near =
                near.flatten().map(|other| (*other, distance(other))).filter(|(_, distance)| *distance <= within);
            match near.min_by(|one, other| one.1.total_cmp(&other.1)) {
                Some((other, distance)) => {
                    moved.insert(corner, other);
                    welds.corners += 1;
                    welds.farthest = welds.farthest.max(distance);
                }
                None => boxes.entry(here).or_default().push(at),
            }
        }
        if moved.is_empty() { self.clone() } else { self.map(|at| moved.get(&key(at)).copied().unwrap_or(at)) }
    }

    /// Keeps the first of triangles with the same corners and the same orientation.
    fn once(&self, _: &[[Key; 2]], _: f64, welds: &mut Welds) -> Surface {
        let mut seen = BTreeSet::new();
        let is_new = |(corners, _): &(&Triangle, u16)| {
            let mut keys = corners.map(key);
            let least = (0..3).min_by_key(|corner| keys[*corner]).unwrap_or(0);
            keys.rotate_left(least);
            seen.insert(keys)
        };
        let kept: Vec<(Triangle, u16)> = self.parts().filter(is_new).map(|(corners, part)| (*corners, part)).collect();
        if kept.len() == self.triangles() {
            return self.clone();
        }
        welds.doubled += self.triangles() - kept.len();
        Surface::of_parts(kept.into_iter())
    }

    /// Divides triangles at corners of open edges that lie on one of their own open edges, one edge at a time.
    fn divided(&self, edges: &[[Key; 2]], within: f64, welds: &mut Welds) -> Surface {
        let corners: BTreeSet<Key> = edges.iter().flatten().copied().collect();
        let corners: Vec<Vector> = corners.into_iter().map(place).collect();
        let tree = Tree::new(corners.par_iter().map(|at| (*at, *at)));
        let mut on_edges: BTreeMap<[Key; 2], Vec<(f64, Vector)>> = BTreeMap::new();
        let mut left = MOST_ON_EDGE * edges.len();
        for edge in edges {
            let [from, to] = edge.map(place);
            let way = minus(to, from);
            let length = dot(way, way).sqrt();
            let low = [0, 1, 2].map(|axis| from[axis].min(to[axis]) - within);
            let high = [0, 1, 2].map(|axis| from[axis].max(to[axis]) + within);
            let mut found = vec![];
            tree.overlapping(low, high, &mut |number| {
                let off = minus(corners[number], from);
                let along = dot(off, way) / length;
                let beside = (dot(off, off) - along * along).max(0.0).sqrt();
                if along > within && along < length - within && beside <= within {
                    found.push((along, corners[number]));
                }
                found.len() < left
            });
            left -= found.len();
            if left == 0 {
                return self.clone();
            }
            if !found.is_empty() {
                found.sort_by(|one, other| one.0.total_cmp(&other.0));
                on_edges.insert(*edge, found);
            }
        }
        if on_edges.is_empty() {
            return self.clone();
        }
        let divide = |(corners, part): (&Triangle, u16)| -> Vec<(Triangle, u16)> {
            let of_edge = |corner: usize| {
                let [from, to] = [key(corners[corner]), key(corners[(corner + 1) % 3])];
                let found = on_edges.get(&if from < to { [from, to] } else { [to, from] })?;
                let mut between: Vec<Vector> = found.iter().map(|(_, at)| *at).collect();
                if from > to {
                    between.reverse();
                }
                Some((corner, between))
            };
            let Some((corner, between)) = (0..3).find_map(of_edge) else { return vec![(*corners, part)] };
            let [from, to, across] = [0, 1, 2].map(|next| corners[(corner + next) % 3]);
            let ends = std::iter::once(from).chain(between.iter().copied());
            let next = between.iter().copied().chain([to]);
            welds.divided += 1;
            ends.zip(next).map(|(one, other)| ([one, other, across], part)).collect()
        };
        Surface::of_parts(self.parts().flat_map(divide))
    }
}

#[cfg(test)]
mod tests {
    use super::super::surface::tests::{ball, cuboid};
    use super::*;

    /// All corners of all triangles, each displaced by at most `by` along each axis.
    fn shaken(triangles: &[Triangle], by: f64) -> Vec<Triangle> {
        let mut state = 1u64;
        let mut random = move || {
            state = state.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
            ((state >> 33) as f64 / (1u64 << 31) as f64 - 0.5) * 2.0 * by
        };
        triangles.iter().map(|corners| corners.map(|at| at.map(|at| at + random()))).collect()
    }

    #[test]
    fn corners_that_are_nearly_at_one_place_are_welded() {
        let whole = ball([6.0, 6.0, 6.0], 4.0, 3);
        let open = Surface::new(shaken(whole.corners(), 1e-6));
        assert_eq!(open.open().map(|open| open.edges), Some(3 * whole.triangles()));
        let (closed, welds) = open.weld(1e-4);
        assert!(closed.open().is_none() && closed.triangles() == whole.triangles());
        // Each triangle had three corners of its own; a closed surface has half as many corners as triangles, plus two.
        assert_eq!(welds.corners, 3 * whole.triangles() - (whole.triangles() / 2 + 2));
        assert!(
            welds.farthest > 1e-6 && welds.farthest < 4e-6 && welds.doubled == 0 && welds.divided == 0,
            "{welds:?}"
        );
        // Corners that are too far apart are not merged.
        assert!(open.weld(1e-8).0.open().is_some());
    }

    #[test]
    fn triangles_that_are_there_twice_count_once() {
        let mut triangles = cuboid([1.0; 3], [4.0; 3]);
        triangles.extend([triangles[2], triangles[7]]);
        triangles[12].rotate_left(1);
        let (closed, welds) = Surface::new(triangles).weld(1e-5);
        assert_eq!((closed.open(), closed.triangles()), (None, 12));
        assert_eq!(welds, Welds { doubled: 2, ..Welds::default() });
    }

    #[test]
    fn triangles_are_divided_where_others_have_corners() {
        // The triangles of two sides of a box, and so their edges, are divided; the adjacent triangles are not.
        let mut triangles = cuboid([0.0; 3], [4.0; 3]);
        let fine: Vec<Triangle> = triangles
            .drain(..4)
            .flat_map(|[a, b, c]| {
                let middle = |one: Vector, other: Vector| [0, 1, 2].map(|axis| 0.5 * (one[axis] + other[axis]));
                let (ab, bc, ca) = (middle(a, b), middle(b, c), middle(c, a));
                [[a, ab, ca], [ab, b, bc], [ca, bc, c], [ab, bc, ca]]
            })
            .collect();
        let open = Surface::new([triangles, shaken(&fine, 1e-7)].concat());
        assert!(open.open().is_some());
        let (closed, welds) = open.weld(1e-5);
        assert_eq!(closed.open(), None, "{welds:?}");
        assert!(welds.divided == 8, "{welds:?}");
        let inside = |at: f64| closed.contains([at, 2.1, 1.9]);
        assert!(inside(0.1) && inside(3.9) && !inside(-0.1) && !inside(4.1));
    }

    #[test]
    fn a_closed_surface_and_a_hole_stay_as_they_are() {
        let whole = ball([6.0; 3], 4.0, 2);
        assert_eq!(whole.weld(1.0), (whole.clone(), Welds::default()));
        let mut triangles = cuboid([0.0; 3], [2.0; 3]);
        triangles.remove(3);
        let open = Surface::new(triangles);
        assert_eq!(open.weld(1e-5), (open.clone(), Welds::default()));
    }
}
