//! What follows from the velocity of a snapshot: vorticity, energy, enstrophy.
//!
//! Slopes are central differences over the two neighbours, across periodic axes too; in the outermost cells of an axis with
//! walls, one-sided differences of second order over three cells.

use rayon::prelude::*;

use crate::snapshot::Snapshot;

/// The velocity of a snapshot, in cells per time step.
pub struct Velocity<'a> {
    snapshot: &'a Snapshot,
    components: Vec<&'a [f64]>,
    periodic: [bool; 3],
}

/// Means over the domain, in lattice units.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Means {
    /// Kinetic energy: half the mean square of the velocity.
    pub energy: f64,
    /// Enstrophy: half the mean square of the vorticity.
    pub enstrophy: f64,
    /// Largest speed.
    pub fastest: f64,
}

impl<'a> Velocity<'a> {
    /// `None` where the snapshot has no velocity `u`.
    pub fn new(snapshot: &'a Snapshot, periodic: [bool; 3]) -> Option<Self> {
        Some(Velocity { snapshot, components: snapshot.vector("u")?, periodic })
    }

    /// Slope of a component along an axis.
    fn slope(&self, component: usize, axis: usize, cell: [usize; 3]) -> f64 {
        let (Some(data), true) = (self.components.get(component), axis < self.components.len()) else { return 0.0 };
        let (size, at) = (self.snapshot.size[axis], cell[axis]);
        let value = |along: usize| {
            let mut cell = cell;
            cell[axis] = along;
            data[self.snapshot.index(cell[0], cell[1], cell[2])]
        };
        match (self.periodic[axis], size) {
            (true, _) => 0.5 * (value((at + 1) % size) - value((at + size - 1) % size)),
            (_, 1) => 0.0,
            (_, 2) => value(1) - value(0),
            _ if at == 0 => -1.5 * value(0) + 2.0 * value(1) - 0.5 * value(2),
            _ if at == size - 1 => 1.5 * value(at) - 2.0 * value(at - 1) + 0.5 * value(at - 2),
            _ => 0.5 * (value(at + 1) - value(at - 1)),
        }
    }

    /// Slopes of the velocity in a cell, index `[axis][component]`.
    pub fn gradient(&self, cell: [usize; 3]) -> [[f64; 3]; 3] {
        std::array::from_fn(|axis| std::array::from_fn(|component| self.slope(component, axis, cell)))
    }

    /// Curl of the velocity in a cell, per time step; in two dimensions along z.
    pub fn vorticity(&self, cell: [usize; 3]) -> [f64; 3] {
        let slopes = self.gradient(cell);
        let curl = |a: usize, b: usize| slopes[a][b] - slopes[b][a];
        [curl(1, 2), curl(2, 0), curl(0, 1)]
    }

    /// Means over all cells; the same on any number of threads.
    pub fn means(&self) -> Means {
        let [width, height, depth] = self.snapshot.size;
        let of_row = |row: usize| {
            let mut sums = Means::default();
            for x in 0..width {
                let cell = [x, row % height, row / height];
                let at = self.snapshot.index(cell[0], cell[1], cell[2]);
                let square: f64 = self.components.iter().map(|component| component[at].powi(2)).sum();
                sums.energy += 0.5 * square;
                sums.enstrophy += 0.5 * self.vorticity(cell).iter().map(|w| w * w).sum::<f64>();
                sums.fastest = sums.fastest.max(square.sqrt());
            }
            sums
        };
        let rows: Vec<Means> = (0..height * depth).into_par_iter().map(of_row).collect();
        let cells = (width * height * depth) as f64;
        Means {
            energy: rows.iter().map(|row| row.energy).sum::<f64>() / cells,
            enstrophy: rows.iter().map(|row| row.enstrophy).sum::<f64>() / cells,
            fastest: rows.iter().map(|row| row.fastest).fold(0.0, f64::max),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::snapshot::Component;
    use std::f64::consts::TAU;

    fn snapshot(size: [usize; 3], velocity: impl Fn([f64; 3]) -> [f64; 3]) -> Snapshot {
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
        Snapshot { step: 0, dim, size, components: (0..dim).map(component).collect() }
    }

    #[test]
    fn a_rigid_rotation_has_the_same_vorticity_everywhere() {
        // u = w x r has the curl 2 w, also next to walls.
        let w = [0.1, -0.2, 0.3];
        let of =
            |r: [f64; 3]| std::array::from_fn(|a| w[(a + 1) % 3] * r[(a + 2) % 3] - w[(a + 2) % 3] * r[(a + 1) % 3]);
        let snapshot = snapshot([4, 3, 2], of);
        let velocity = Velocity::new(&snapshot, [false; 3]).unwrap();
        for (x, y, z) in [(0, 0, 0), (3, 2, 1), (1, 1, 0), (2, 0, 1)] {
            for (found, w) in velocity.vorticity([x, y, z]).into_iter().zip(w) {
                assert!((found - 2.0 * w).abs() < 1e-12, "{found}");
            }
        }
    }

    #[test]
    fn slopes_at_walls_are_of_second_order() {
        let snapshot = snapshot([5, 4, 1], |[_, y, _]| [1.0 + y - 0.5 * y * y, 0.0, 0.0]);
        let velocity = Velocity::new(&snapshot, [true, false, true]).unwrap();
        for y in 0..4 {
            let expected = -(1.0 - (y as f64 + 0.5));
            assert!((velocity.vorticity([2, y, 0])[2] - expected).abs() < 1e-12);
        }
    }

    #[test]
    fn the_means_of_a_vortex_are_those_of_its_formula() {
        // Taylor-Green: energy U^2/8, enstrophy 3 (U k)^2 / 8 with k replaced by that of central differences, sin k.
        let n = 16;
        let k = TAU / n as f64;
        let of = |[x, y, z]: [f64; 3]| {
            let (x, y, z) = (k * x, k * y, k * z);
            [0.1 * x.sin() * y.cos() * z.cos(), -0.1 * x.cos() * y.sin() * z.cos(), 0.0]
        };
        let snapshot = snapshot([n; 3], of);
        let means = Velocity::new(&snapshot, [true; 3]).unwrap().means();
        assert!((means.energy - 0.01 / 8.0).abs() < 1e-15, "{means:?}");
        assert!((means.enstrophy - 3.0 * (0.1 * k.sin()).powi(2) / 8.0).abs() < 1e-15, "{means:?}");
        assert!(means.fastest < 0.1 && means.fastest > 0.09);
    }
}
