//! Holes of surfaces, and triangles that close them.

use std::collections::BTreeMap;

use super::lids::Hole;
use super::surface::Surface;
use super::triangle::Triangle;
use super::vector::{Vector, minus, norm};

impl Surface {
    /// The surface with all holes closed whose extent is at most `most`, each by a fan of triangles around the mean of its corners.
    pub fn close(&self, most: f64) -> (Surface, Vec<Hole>) {
        // Fans belong to the first part.
        let part = self.parts().map(|(_, part)| part).min().unwrap_or(0);
        let (fans, holes) = self.fans(most, |hole| hole.at);
        let own = self.parts().map(|(corners, part)| (*corners, part));
        (Surface::of_parts(own.chain(fans.into_iter().map(|corners| (corners, part)))), holes)
    }

    /// Triangles that close the holes whose extent is at most `most`: from each edge of a hole to one apex.
    pub(super) fn fans(&self, most: f64, apex: impl Fn(&Hole) -> Vector) -> (Vec<Triangle>, Vec<Hole>) {
        let place = |key: [u64; 3]| key.map(f64::from_bits);
        // Edges that triangles in the holes would have: from each corner to the next.
        let mut next: BTreeMap<[u64; 3], Vec<[u64; 3]>> = BTreeMap::new();
        for (edge, turns) in self.open_edges() {
            let [from, to] = if turns > 0 { [edge[1], edge[0]] } else { edge };
            next.entry(from).or_default().extend(std::iter::repeat_n(to, turns.unsigned_abs() as usize));
        }
        let (mut fans, mut holes) = (vec![], vec![]);
        // Each corner has as many incoming as outgoing edges, so every path returns to its start.
        while let Some(start) = next.keys().next().copied() {
            let (mut ring, mut here) = (vec![], start);
            while let Some(ends) = next.get_mut(&here) {
                let Some(end) = ends.pop() else { break };
                if ends.is_empty() {
                    next.remove(&here);
                }
                ring.push([place(here), place(end)]);
                here = end;
                if here == start {
                    break;
                }
            }
            let of = |pick: fn(f64, f64) -> f64, axis: usize| ring.iter().map(|[from, _]| from[axis]).reduce(pick);
            let side = |axis: usize| of(f64::max, axis).zip(of(f64::min, axis)).map_or(0.0, |(high, low)| high - low);
            let extent = (0..3).map(side).fold(0.0, f64::max);
            if extent > most {
                continue;
            }
            let middle = |axis: usize| ring.iter().map(|[from, _]| from[axis]).sum::<f64>() / ring.len() as f64;
            let perimeter = ring.iter().map(|[from, to]| norm(minus(*to, *from))).sum();
            let hole = Hole { at: [0, 1, 2].map(middle), edges: ring.len(), extent, perimeter };
            let apex = apex(&hole);
            fans.extend(ring.iter().map(|[from, to]| [*from, *to, apex]));
            holes.push(hole);
        }
        (fans, holes)
    }
}

#[cfg(test)]
mod tests {
    use super::super::surface::tests::{ball, cuboid};
    use super::*;

    #[test]
    fn small_holes_are_closed_and_large_ones_are_left() {
        let whole = ball([6.0, 6.0, 6.0], 4.0, 4);
        let small = |triangle: &Triangle| triangle.iter().any(|corner| corner[2] > 9.999);
        let large = |triangle: &Triangle| triangle.iter().all(|corner| corner[2] < 4.0);
        let all: Vec<Triangle> =
            whole.corners().iter().filter(|triangle| !small(triangle) && !large(triangle)).copied().collect();
        let open = Surface::new(all);
        let (partly, holes) = open.close(1.5);
        assert!(open.open().is_some() && partly.open().is_some());
        let [hole] = holes[..] else { panic!("{holes:?}") };
        assert!(hole.extent < 1.5 && hole.edges == 4 && (hole.at[2] - 10.0).abs() < 0.1, "{hole:?}");
        let (closed, holes) = open.close(8.0);
        assert!(closed.open().is_none() && holes.len() == 2, "{holes:?}");
        assert!(
            closed.contains([6.0, 6.0, 6.0]) && closed.contains([6.0, 6.0, 9.7]) && !closed.contains([6.0, 6.0, 3.0])
        );
    }

    #[test]
    fn a_missing_triangle_is_put_back() {
        let mut triangles = cuboid([1.0; 3], [3.0; 3]);
        triangles.remove(5);
        let (closed, holes) = Surface::new(triangles).close(2.0);
        assert!(closed.open().is_none() && closed.contains([2.0; 3]));
        assert_eq!((holes.len(), holes[0].edges, holes[0].extent), (1, 3, 2.0));
        assert!(closed.close(2.0).1.is_empty());
    }
}
