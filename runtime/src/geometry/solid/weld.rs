//! Surfaces whose triangles do not meet exactly, as programs for construction write them: corners that are nearly at the same place, triangles
//! that are there twice, and corners on the edges of other triangles.
//!
//! Only what lies at open edges is changed, so a closed surface stays as it is.

use std::collections::{BTreeMap, BTreeSet};

use super::Vector;
use super::shape::{dot, minus};
use super::surface::{Surface, Triangle};
use super::tree::Tree;

/// How often corners are welded and triangles divided: each of these may show others.
const ROUNDS: usize = 8;

/// Most corners on edges, of each open edge in the mean: beyond that the edges lie on each other, and dividing them helps nobody.
const MOST_ON_EDGE: usize = 64;

/// What has been changed of a surface.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Welds {
    /// Corners that were moved to others.
    pub corners: usize,
    /// The farthest that one was moved.
    pub farthest: f64,
    /// Triangles that were left out, as there were others with the same corners, turned the same way.
    pub doubled: usize,
    /// Triangles that were divided at the corners of others on their edges.
    pub divided: usize,
}

/// The bits of a corner.
type Key = [u64; 3];

fn key(at: Vector) -> Key {
    at.map(|at| (at + 0.0).to_bits())
}

fn place(key: Key) -> Vector {
    key.map(f64::from_bits)
}

impl Surface {
    /// The surface with corners at open edges welded that are at most so far apart.
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

    /// Corners of edges go to the first of those that are near.
    fn merged(&self, edges: &[[Key; 2]], within: f64, welds: &mut Welds) -> Surface {
        let corners: BTreeSet<Key> = edges.iter().flatten().copied().collect();
        // Boxes as wide as corners may be apart, and the corners in them that others go to.
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

    /// Of triangles with the same corners, turned the same way, the first.
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

    /// Triangles are divided at those corners of open edges that lie on an open edge of theirs, on one at a time.
    fn divided(&self, edges: &[[Key; 2]], within: f64, welds: &mut Welds) -> Surface {
        let corners: BTreeSet<Key> = edges.iter().flatten().copied().collect();
        let corners: Vec<Vector> = corners.into_iter().map(place).collect();
        let tree = Tree::new(&corners.iter().map(|at| (*at, *at)).collect::<Vec<_>>());
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

    /// Each corner of each triangle somewhere else, by so much at most.
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
        // Each triangle had three corners of its own, and the surface has half as many corners as triangles, and two.
        assert_eq!(welds.corners, 3 * whole.triangles() - (whole.triangles() / 2 + 2));
        assert!(
            welds.farthest > 1e-6 && welds.farthest < 4e-6 && welds.doubled == 0 && welds.divided == 0,
            "{welds:?}"
        );
        // What is too far apart stays open.
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
        // Two sides of a box, and their edges are divided, and the triangles beyond are not.
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
