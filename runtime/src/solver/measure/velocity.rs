//! Quantities derived from the velocity of a snapshot: its gradient and the vorticity.
//!
//! Slopes are central differences over the two neighbours of the same level, across periodic axes too. In the outermost cells of an axis
//! with walls and beside solid cells they are one-sided differences of second order over three cells. If there is no neighbour of the
//! same level, its value is read as in [`Snapshot::read`]: a mean over finer cells, or on the plane through the coarser one. In cells
//! along refinement interfaces slopes are therefore of first order only; their integrals are still of second order.

use std::collections::BTreeMap;

use rayon::prelude::*;

use crate::geometry::{Block, Cell};
use crate::solver::measure::snapshot::Snapshot;

/// Entry of `across` for a wall, or where there is no block of the same level.
const NO_BLOCK: u32 = u32::MAX;

/// The velocity of a snapshot, in cells of the coarsest level per its time step.
pub struct Velocity<'a> {
    snapshot: &'a Snapshot,
    components: Vec<&'a [f64]>,
    /// For each block its neighbours of the same level across its faces, in the order x-, x+, y-, y+, z-, z+.
    across: Vec<[u32; 6]>,
}

/// A cell of a block.
#[derive(Clone, Copy)]
struct CellOfBlock {
    block: usize,
    inside: [usize; 3],
}

/// What is beside a cell.
enum Beside {
    /// A cell of a block of the same level, by its position.
    OnSame(usize),
    /// A place that is read from other levels, as a cell of its own.
    OnOther(Cell),
}

impl<'a> Velocity<'a> {
    /// `None` if the snapshot has no velocity `u`.
    pub fn new(snapshot: &'a Snapshot) -> Option<Self> {
        let components = snapshot.vector("u")?;
        let across = |block: &Block| {
            std::array::from_fn(|face| {
                let (axis, high) = (face / 2, face % 2 == 1);
                let Block { level, mut place } = *block;
                let count = snapshot.size_of(level)[axis] / snapshot.block()[axis];
                place[axis] = match (high, snapshot.domain.periodic[axis]) {
                    (true, _) if place[axis] + 1 < count => place[axis] + 1,
                    (false, _) if place[axis] > 0 => place[axis] - 1,
                    (true, true) => 0,
                    (false, true) => count - 1,
                    (_, false) => return NO_BLOCK,
                };
                snapshot.find(Block { level, place }).map_or(NO_BLOCK, |at| at as u32)
            })
        };
        let across = snapshot.blocks().par_iter().map(across).collect();
        Some(Velocity { snapshot, components, across })
    }

    /// What is at a distance along an axis from a cell; `None` behind a wall and in a solid.
    fn beside(&self, axis: usize, place: CellOfBlock, by: isize) -> Option<Beside> {
        let (snapshot, mut place) = (self.snapshot, place);
        let side = snapshot.block()[axis] as isize;
        let to = place.inside[axis] as isize + by;
        let neighbour =
            if to < 0 { self.across[place.block][2 * axis] } else { self.across[place.block][2 * axis + 1] };
        if (0..side).contains(&to) {
            place.inside[axis] = to as usize;
        } else if neighbour != NO_BLOCK && (-side..2 * side).contains(&to) {
            place = CellOfBlock { block: neighbour as usize, ..place };
            place.inside[axis] = to.rem_euclid(side) as usize;
        } else {
            let mut cell = snapshot.cell(self.position(place));
            for _ in 0..by.unsigned_abs() {
                cell = snapshot.beside(cell, axis, by > 0)?;
            }
            return Some(Beside::OnOther(cell));
        }
        let position = self.position(place);
        let is_solid = self.snapshot.solid.get(position).is_some_and(|solid| *solid);
        (!is_solid).then_some(Beside::OnSame(position))
    }

    /// What the slope along an axis in a cell is the sum of: distances and factors.
    fn stencil(&self, axis: usize, place: CellOfBlock) -> &'static [(isize, f64)] {
        let has = |by: isize| self.beside(axis, place, by).is_some();
        match (has(-1), has(1)) {
            (true, true) => &[(1, 0.5), (-1, -0.5)],
            (false, true) if has(2) => &[(0, -1.5), (1, 2.0), (2, -0.5)],
            (false, true) => &[(1, 1.0), (0, -1.0)],
            (true, false) if has(-2) => &[(0, 1.5), (-1, -2.0), (-2, 0.5)],
            (true, false) => &[(0, 1.0), (-1, -1.0)],
            (false, false) => &[],
        }
    }

    fn position(&self, place: CellOfBlock) -> usize {
        place.block * self.snapshot.block_cells() + self.snapshot.inside(place.inside)
    }

    /// Slope of a component along an axis.
    fn slope(&self, component: usize, axis: usize, place: CellOfBlock) -> f64 {
        if component >= self.components.len() || axis >= self.components.len() {
            return 0.0;
        }
        let data = self.components[component];
        let value = |by: isize| match self.beside(axis, place, by) {
            _ if by == 0 => data[self.position(place)],
            Some(Beside::OnSame(position)) => data[position],
            Some(Beside::OnOther(cell)) => self.snapshot.read(cell, &|at| [data[at]])[0],
            None => 0.0,
        };
        let slope: f64 = self.stencil(axis, place).iter().map(|(by, factor)| factor * value(*by)).sum();
        slope * self.cells(place)
    }

    /// Adds the factors of which the slope along an axis in the cell at a position is the sum, each times a number, to `weights`, by position.
    pub(crate) fn weigh_slope(&self, axis: usize, position: usize, times: f64, weights: &mut BTreeMap<usize, f64>) {
        let place = self.place(position);
        for (by, factor) in self.stencil(axis, place) {
            let factor = times * factor * self.cells(place);
            match self.beside(axis, place, *by) {
                _ if *by == 0 => *weights.entry(position).or_default() += factor,
                Some(Beside::OnSame(position)) => *weights.entry(position).or_default() += factor,
                Some(Beside::OnOther(cell)) => self.snapshot.weigh(cell, factor, weights),
                None => {}
            }
        }
    }

    /// Cells of the level of a place along one of the coarsest level.
    fn cells(&self, place: CellOfBlock) -> f64 {
        (1u64 << self.snapshot.blocks()[place.block].level) as f64
    }

    fn gradient_at(&self, place: CellOfBlock) -> [[f64; 3]; 3] {
        std::array::from_fn(|axis| std::array::from_fn(|component| self.slope(component, axis, place)))
    }

    fn vorticity_at(&self, place: CellOfBlock) -> [f64; 3] {
        let slopes = self.gradient_at(place);
        let curl = |a: usize, b: usize| slopes[a][b] - slopes[b][a];
        [curl(1, 2), curl(2, 0), curl(0, 1)]
    }

    fn place(&self, position: usize) -> CellOfBlock {
        let cells = self.snapshot.block_cells();
        let [width, height, _] = self.snapshot.block();
        let inside = position % cells;
        CellOfBlock {
            block: position / cells,
            inside: [inside % width, inside / width % height, inside / (width * height)],
        }
    }

    /// Gradient of the velocity in the cell at a position in the components' values, index `[axis][component]`.
    pub fn gradient(&self, position: usize) -> [[f64; 3]; 3] {
        self.gradient_at(self.place(position))
    }

    /// Curl of the velocity in the cell at a position in the components' values, per time step; in two dimensions along z.
    pub fn vorticity(&self, position: usize) -> [f64; 3] {
        self.vorticity_at(self.place(position))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fixture::snapshots;
    use crate::geometry::Domain;
    use crate::solver::measure::snapshot::Component;
    use std::f64::consts::TAU;

    /// Values in solid cells are not velocities.
    #[test]
    fn slopes_beside_a_solid_are_those_of_the_fluid() {
        let mut snapshot = snapshot([8, 8, 1], [true, true, true], |[_, y, _]| [0.1 * y * y, 0.0, 0.0]);
        snapshot.solid = (0..64).map(|at| at / 8 < 3).collect();
        for at in 0..24 {
            snapshot.components[0].data[at] = 1e3;
        }
        let velocity = Velocity::new(&snapshot).unwrap();
        // The slope of 0.1 y^2 at y = 3.5; the row below is solid.
        assert!((velocity.gradient(3 * 8 + 2)[1][0] - 0.7).abs() < 1e-12, "{:?}", velocity.gradient(3 * 8 + 2));
    }

    fn snapshot(size: [usize; 3], periodic: [bool; 3], velocity: impl Fn([f64; 3]) -> [f64; 3]) -> Snapshot {
        let dim = if size[2] > 1 { 3 } else { 2 };
        let cells = size.iter().product::<usize>();
        let position = |at: usize| {
            let cell = [at % size[0], at / size[0] % size[1], at / (size[0] * size[1])];
            cell.map(|along| along as f64 + 0.5)
        };
        let component = |axis: usize| Component {
            name: ["ux", "uy", "uz"][axis].into(),
            data: (0..cells).map(|at| velocity(position(at))[axis]).collect(),
        };
        Snapshot::uniform(0, Domain { dim, size, periodic }, (0..dim).map(component).collect())
    }

    /// Half the mean square of the vorticity, weighted by volume.
    fn enstrophy(snapshot: &Snapshot) -> f64 {
        let velocity = Velocity::new(snapshot).unwrap();
        let of = |at: usize| {
            snapshot.volume(at / snapshot.block_cells()) * velocity.vorticity(at).iter().map(|w| w * w).sum::<f64>()
        };
        let cells = snapshot.size().iter().product::<usize>() as f64;
        0.5 * (0..snapshot.components[0].data.len()).map(of).sum::<f64>() / cells
    }

    #[test]
    fn a_rigid_rotation_has_the_same_vorticity_everywhere() {
        // u = w x r has the curl 2 w, also next to walls.
        let w = [0.1, -0.2, 0.3];
        let of =
            |r: [f64; 3]| std::array::from_fn(|a| w[(a + 1) % 3] * r[(a + 2) % 3] - w[(a + 2) % 3] * r[(a + 1) % 3]);
        let snapshot = snapshot([4, 3, 2], [false; 3], of);
        let velocity = Velocity::new(&snapshot).unwrap();
        for (x, y, z) in [(0, 0, 0), (3, 2, 1), (1, 1, 0), (2, 0, 1)] {
            for (found, w) in velocity.vorticity(snapshot.index(x, y, z)).into_iter().zip(w) {
                assert!((found - 2.0 * w).abs() < 1e-12, "{found}");
            }
        }
    }

    #[test]
    fn a_rigid_rotation_has_the_same_vorticity_on_every_level() {
        let snapshot = snapshots::levels(false, &[("ux", &|[_, y, _]| 3.0 - 0.2 * y), ("uy", &|[x, _, _]| 0.1 * x)]);
        let velocity = Velocity::new(&snapshot).unwrap();
        for at in 0..snapshot.components[0].data.len() {
            let [_, _, found] = velocity.vorticity(at);
            assert!((found - 0.3).abs() < 1e-12, "{:?}: {found}", snapshot.cell(at));
        }
    }

    #[test]
    fn slopes_are_the_sums_of_their_factors_on_every_level() {
        for periodic in [false, true] {
            let noise = |[x, y, _]: [f64; 3]| (17.0 * x + 5.0 * y * y).sin();
            let mut snapshot = snapshots::levels(periodic, &[("ux", &noise), ("uy", &noise)]);
            let count = snapshot.components[0].data.len();
            snapshot.solid = (0..count).map(|at| at % 13 == 5).collect();
            let velocity = Velocity::new(&snapshot).unwrap();
            let data = snapshot.get("ux").unwrap();
            for (at, axis) in (0..count).flat_map(|at| [(at, 0), (at, 1)]) {
                let mut weights = BTreeMap::new();
                velocity.weigh_slope(axis, at, 2.0, &mut weights);
                let sum: f64 = weights.iter().map(|(at, weight)| weight * data[*at]).sum();
                let slope = velocity.gradient(at)[axis][0];
                assert!((sum - 2.0 * slope).abs() < 1e-12, "{:?}: {sum} {slope}", snapshot.cell(at));
            }
        }
    }

    #[test]
    fn across_jumps_the_enstrophy_is_of_second_order() {
        // Taylor-Green vortices in a periodic box, refined in an L-shaped region: half the mean square of the vorticity is (U k)^2 / 2.
        let error = |n: usize| {
            let k = TAU / n as f64;
            let domain = Domain { dim: 2, size: [n, n, 1], periodic: [true; 3] };
            let inside = |[x, y, _]: [usize; 3]| (x < n / 8 || y < n / 8) && x >= n / 16 && y >= n / 16;
            let snapshot = snapshots::refined(
                domain,
                |block| block.level == 0 && inside(block.place),
                &[
                    ("ux", &|[x, y, _]| (k * x + 0.3).sin() * (k * y).cos()),
                    ("uy", &|[x, y, _]| -(k * x + 0.3).cos() * (k * y).sin()),
                ],
            );
            let found = enstrophy(&snapshot);
            (found / (0.5 * k * k) - 1.0).abs()
        };
        let errors = [32, 64, 128].map(error);
        assert!(errors.windows(2).all(|pair| pair[0] / pair[1] > 3.5), "{errors:?}");
    }

    #[test]
    fn slopes_at_walls_are_of_second_order() {
        let snapshot = snapshot([5, 4, 1], [true, false, true], |[_, y, _]| [1.0 + y - 0.5 * y * y, 0.0, 0.0]);
        let velocity = Velocity::new(&snapshot).unwrap();
        for y in 0..4 {
            let expected = -(1.0 - (y as f64 + 0.5));
            assert!((velocity.vorticity(snapshot.index(2, y, 0))[2] - expected).abs() < 1e-12);
        }
    }

    #[test]
    fn the_enstrophy_of_a_vortex_is_that_of_its_formula() {
        // Taylor-Green vortices: the enstrophy is 3 (U k)^2 / 8 with k replaced by that of central differences, sin k.
        let n = 16;
        let k = TAU / n as f64;
        let of = |[x, y, z]: [f64; 3]| {
            let (x, y, z) = (k * x, k * y, k * z);
            [0.1 * x.sin() * y.cos() * z.cos(), -0.1 * x.cos() * y.sin() * z.cos(), 0.0]
        };
        let found = enstrophy(&snapshot([n; 3], [true; 3], of));
        assert!((found - 3.0 * (0.1 * k.sin()).powi(2) / 8.0).abs() < 1e-15, "{found}");
    }
}
