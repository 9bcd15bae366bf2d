//! Isosurfaces of a field of a snapshot.
//!
//! Fields are known at cell centres; an isosurface needs them at the nodes between cells. A node has the mean of the
//! adjacent cells, which is of second order. Solid cells and cells beyond a wall do not contribute, so in the outermost
//! half cell a field is constant. At a refinement interface a node belongs to the coarsest level of the leaves that
//! touch it. Values of a finer level between such nodes are interpolated linearly along edges and diagonals, so that a
//! surface has no gap where levels meet.

use lbm_runtime::geometry::{Block, Cell};
use lbm_runtime::solver::snapshot::Snapshot;
use rayon::prelude::*;

use super::derived::Derived;
use super::march::{Tile, corner, march};

/// A field whose isosurface is computed, and a field that colours it, in lattice units.
pub(super) struct Isosurface<'a> {
    snapshot: &'a Snapshot,
    /// Both on all cells, NaN in solids.
    values: Vec<f32>,
    colours: Option<Vec<f32>>,
    level: f64,
}

/// A vertex of the surface.
#[derive(Clone, Copy, Debug)]
pub(super) struct Vertex {
    /// In cells of the coarsest level.
    pub(super) at: [f64; 3],
    /// Gradient of the field there: the normal, not normalized.
    pub(super) slope: [f64; 3],
    /// Value of the colouring field; 0 without one.
    pub(super) colour: f64,
}

/// Values in a cell.
#[derive(Clone, Copy)]
struct Sample {
    /// NaN if there is none.
    value: f64,
    colour: f64,
    /// Whether a coarser leaf covers the cell; then it has no value.
    is_coarse: bool,
}

impl Sample {
    const NONE: Sample = Sample { value: f64::NAN, colour: 0.0, is_coarse: false };
}

/// Values at a node.
#[derive(Clone, Copy)]
struct Node {
    value: f64,
    slope: [f64; 3],
    colour: f64,
}

impl<'a> Isosurface<'a> {
    /// The isosurface of a field (for vectors, of the magnitude) at `level`.
    pub(super) fn new(
        snapshot: &'a Snapshot,
        field: &Derived<'_>,
        colour: Option<&Derived<'_>>,
        level: f64,
    ) -> Isosurface<'a> {
        let cells = snapshot.blocks().len() * snapshot.block_cells();
        let all = |field: &Derived<'_>| -> Vec<f32> {
            let of = |at: usize| match snapshot.solid.get(at) {
                Some(true) => f32::NAN,
                _ => field.shown(at) as f32,
            };
            (0..cells).into_par_iter().map(of).collect()
        };
        Isosurface { snapshot, values: all(field), colours: colour.map(all), level }
    }

    /// The triangles in a tile.
    pub(super) fn triangles(&self, tile: &Tile) -> Vec<[Vertex; 3]> {
        let samples = self.samples(tile);
        let known = || samples.iter().map(|sample| sample.value).filter(|value| value.is_finite());
        let level = self.level;
        let near = samples.iter().any(|sample| sample.is_coarse);
        if !near && (known().all(|value| value > level) || known().all(|value| value <= level)) {
            return vec![];
        }
        let around = tile.size.map(|side| side + 2);
        let position = |[x, y, z]: [usize; 3], size: [usize; 3]| x + size[0] * (y + size[1] * z);
        let count = tile.size.map(|side| side + 1);
        let node = |at: usize| {
            let place = [at % count[0], at / count[0] % count[1], at / (count[0] * count[1])];
            let eight = [0, 1, 2, 3, 4, 5, 6, 7].map(|cell| samples[position(corner(place, cell), around)]);
            match eight.iter().any(|sample| sample.is_coarse) {
                true => self.node(tile.level, [0, 1, 2].map(|axis| tile.low[axis] + place[axis])),
                false => Node::between(&eight, tile.level),
            }
        };
        let nodes: Vec<Node> = (0..count.iter().product()).map(node).collect();
        let mut triangles = vec![];
        for place in tile.places() {
            let corners = [0, 1, 2, 3, 4, 5, 6, 7].map(|at| nodes[position(corner(place, at), count)]);
            let inside = corners.map(|node| node.value.is_finite().then_some(node.value > level));
            let between = |a: usize, b: usize| {
                let (one, other) = (corners[a], corners[b]);
                let part = (level - one.value) / (other.value - one.value);
                let mix = |a: f64, b: f64| a + part * (b - a);
                let at = |at: usize, axis: usize| (tile.low[axis] + corner(place, at)[axis]) as f64 * tile.width();
                Vertex {
                    at: [0, 1, 2].map(|axis| mix(at(a, axis), at(b, axis))),
                    slope: [0, 1, 2].map(|axis| mix(one.slope[axis], other.slope[axis])),
                    colour: mix(one.colour, other.colour),
                }
            };
            march(inside, between, |triangle, _| triangles.push(triangle));
        }
        triangles
    }

    /// The cells of a tile and a layer around them.
    fn samples(&self, tile: &Tile) -> Vec<Sample> {
        let around = tile.size.map(|side| side + 2);
        let mut last = None;
        let sample = |at: usize| {
            let place = [at % around[0], at / around[0] % around[1], at / (around[0] * around[1])];
            self.sample(tile.level, [0, 1, 2].map(|axis| (tile.low[axis] + place[axis]) as isize - 1), &mut last)
        };
        (0..around.iter().product()).map(sample).collect()
    }

    /// Values in a cell of a level, which may lie beyond a face. `last` caches the last block that was looked up.
    fn sample(&self, level: usize, at: [isize; 3], last: &mut Option<(Block, Option<usize>)>) -> Sample {
        let (size, snapshot) = (self.snapshot.size_of(level), self.snapshot);
        let mut cell = Cell { level, at: [0; 3] };
        for axis in 0..3 {
            let inside = (0..size[axis] as isize).contains(&at[axis]);
            if !inside && !snapshot.domain.periodic[axis] {
                return Sample::NONE;
            }
            cell.at[axis] = at[axis].rem_euclid(size[axis] as isize) as usize;
        }
        let side = snapshot.block();
        let block = Block { level, place: [0, 1, 2].map(|axis| cell.at[axis] / side[axis]) };
        let found = match last {
            Some((known, found)) if *known == block => *found,
            _ => snapshot.find(block),
        };
        *last = Some((block, found));
        let read = |at: usize| [f64::from(self.values[at]), self.colours.as_ref().map_or(0.0, |of| f64::from(of[at]))];
        let [value, colour] = match found {
            Some(found) => {
                let [x, y, z] = [0, 1, 2].map(|axis| cell.at[axis] % side[axis]);
                read(found * snapshot.block_cells() + x + side[0] * (y + side[1] * z))
            }
            None if snapshot.cover(cell).is_some() => return Sample { is_coarse: true, ..Sample::NONE },
            None => snapshot.read(cell, &read),
        };
        Sample { value, colour, is_coarse: false }
    }

    /// Values at the lower corner of a cell of a level. If a coarser leaf touches it, they come from the coarser level
    /// if the corner is also a node there; otherwise they are the mean of the two coarser nodes between which it lies.
    fn node(&self, level: usize, at: [usize; 3]) -> Node {
        let mut last = None;
        let mut sample = |cell: usize| self.sample(level, corner(at, cell).map(|at| at as isize - 1), &mut last);
        let eight = [0, 1, 2, 3, 4, 5, 6, 7].map(&mut sample);
        if !eight.iter().any(|sample| sample.is_coarse) {
            return Node::between(&eight, level);
        }
        let (low, high) = (at.map(|at| at / 2), at.map(|at| at.div_ceil(2)));
        let one = self.node(level - 1, low);
        if low == high { one } else { one.mean(self.node(level - 1, high)) }
    }
}

impl Node {
    /// Mean and gradient from the eight adjacent cells of a level; cells without a value do not contribute.
    fn between(cells: &[Sample; 8], level: usize) -> Node {
        let mean = |of: &dyn Fn(&Sample) -> f64, counts: &dyn Fn(usize) -> bool| {
            let known = cells.iter().enumerate().filter(|(at, cell)| cell.value.is_finite() && counts(*at));
            let (sum, count) = known.fold((0.0, 0), |(sum, count), (_, cell)| (sum + of(cell), count + 1));
            if count == 0 { f64::NAN } else { sum / f64::from(count) }
        };
        let slope = |axis: usize| {
            let side = |upper: usize| mean(&|cell| cell.value, &|at| at >> axis & 1 == upper);
            let slope = (side(1) - side(0)) * (1u64 << level) as f64;
            if slope.is_finite() { slope } else { 0.0 }
        };
        Node {
            value: mean(&|cell| cell.value, &|_| true),
            slope: [0, 1, 2].map(slope),
            colour: mean(&|cell| cell.colour, &|_| true),
        }
    }

    fn mean(self, other: Node) -> Node {
        let mean = |a: f64, b: f64| 0.5 * (a + b);
        Node {
            value: mean(self.value, other.value),
            slope: [0, 1, 2].map(|axis| mean(self.slope[axis], other.slope[axis])),
            colour: mean(self.colour, other.colour),
        }
    }
}

#[cfg(test)]
mod tests {
    use lbm_runtime::fixture::{manifest, snapshots};
    use lbm_runtime::geometry::Domain;
    use std::f64::consts::PI;

    use super::*;
    use crate::case::Quantity;
    use crate::output::hull::{dot, normal};

    /// Area of an isosurface of the first field, vector sum of its areas (zero if it is closed) and enclosed volume,
    /// with normals against the gradient.
    fn measures(snapshot: &Snapshot, level: f64) -> (f64, [f64; 3], f64) {
        let field = Quantity::all(&manifest()).into_iter().find(|field| field.name() == "density").unwrap();
        let derived = Derived::new(snapshot, &field).unwrap();
        let surface = Isosurface::new(snapshot, &derived, None, level);
        let mut all = (0.0, [0.0; 3], 0.0);
        for tile in 0..Tile::count(snapshot) {
            for corners in surface.triangles(&Tile::new(snapshot, tile)) {
                let vector = normal(corners.map(|vertex| vertex.at)).map(|part| 0.5 * part);
                let slope = [0, 1, 2].map(|axis| corners.iter().map(|vertex| vertex.slope[axis]).sum::<f64>());
                let vector = if dot(vector, slope) > 0.0 { vector.map(|part| -part) } else { vector };
                all.0 += dot(vector, vector).sqrt();
                all.1 = [0, 1, 2].map(|axis| all.1[axis] + vector[axis]);
                all.2 += dot(vector, corners[0].at) / 3.0;
            }
        }
        all
    }

    /// 4 minus the distance from a centre that has no two nodes at the same distance.
    fn ball(size: usize) -> impl Fn([f64; 3]) -> f64 {
        let middle = [0.513, 0.482, 0.509].map(|part| part * size as f64);
        move |at| 4.0 - (0..3).map(|axis| (at[axis] - middle[axis]).powi(2)).sum::<f64>().sqrt()
    }

    #[test]
    fn a_ball_has_its_area_and_its_volume_to_second_order() {
        let error = |size: usize| {
            let domain = Domain { dim: 3, size: [size; 3], periodic: [false; 3] };
            let snapshot = snapshots::refined(domain, |_| false, &[("rho", &ball(size))]);
            let radius = 0.3 * size as f64;
            let (area, sum, volume) = measures(&snapshot, 4.0 - radius);
            assert!(sum.iter().all(|part| part.abs() < 1e-9 * area), "a gap: {sum:?}");
            [area / (4.0 * PI * radius.powi(2)), volume / (4.0 / 3.0 * PI * radius.powi(3))]
                .map(|ratio| (ratio - 1.0).abs())
        };
        let (coarse, fine) = (error(24), error(48));
        assert!((0..2).all(|at| fine[at] < 0.01 && fine[at] < coarse[at] / 3.5), "{coarse:?} {fine:?}");
    }

    #[test]
    fn where_levels_meet_a_surface_has_no_gap() {
        let domain = Domain { dim: 3, size: [16; 3], periodic: [false; 3] };
        // Two levels of refinement across the ball, at faces, edges and corners.
        let refines = |block: Block| match block.level {
            0 => block.place[0] >= 2 || block.place == [1, 1, 1],
            1 => block.place[0] >= 5 && block.place[1] >= 3 && block.place[2] >= 3,
            _ => false,
        };
        let snapshot = snapshots::refined(domain, refines, &[("rho", &ball(16))]);
        let (area, sum, volume) = measures(&snapshot, -1.0);
        assert!(sum.iter().all(|part| part.abs() < 1e-9 * area), "a gap: {sum:?}");
        assert!(
            (area / (4.0 * PI * 25.0) - 1.0).abs() < 0.02 && (volume / (4.0 / 3.0 * PI * 125.0) - 1.0).abs() < 0.03
        );
    }

    #[test]
    fn across_periodic_faces_a_surface_goes_on_and_solid_cells_do_not_count() {
        let domain = Domain { dim: 3, size: [16; 3], periodic: [true; 3] };
        let wave = |[x, _, _]: [f64; 3]| (x * PI / 8.0 + 0.3).sin();
        let mut snapshot = snapshots::refined(domain, |_| false, &[("rho", &wave)]);
        let (area, ..) = measures(&snapshot, 0.0);
        assert!((area / (2.0 * 256.0) - 1.0).abs() < 1e-6, "two planes: {area}");
        snapshot.solid = (0..16 * 16 * 16).map(|at| snapshot.cell(at).at[2] >= 8).collect();
        let (half, ..) = measures(&snapshot, 0.0);
        assert!((half / 256.0 - 1.0).abs() < 0.2, "{half}");
    }
}
