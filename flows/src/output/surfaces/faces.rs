//! Faces of the domain that are walls, as surfaces: points in the middle of the cells at them, each with the wall that it has there.

use lbm_runtime::geometry::Block;
use lbm_runtime::solver::at_points::AtPoints;
use rayon::prelude::*;

use super::files::along;
use super::{Bodies, Load, Loaded};
use crate::case::Wall;
use crate::output::hull::{Point, dot};

impl Bodies<'_> {
    /// The walls at faces to which the fluid sticks, or along which it slides by a law.
    pub(in crate::output) fn walls(&self) -> impl Iterator<Item = &Wall> {
        self.case.walls.iter().filter(|wall| wall.has_friction(self.case.size))
    }

    /// The surface of a wall at a face.
    pub(in crate::output) fn face(&self, wall: &Wall) -> Loaded {
        let reader = AtPoints::new(self.snapshot, Some(&self.solids));
        let blocks = self.snapshot.blocks().par_iter().enumerate();
        let cells: Vec<(Point, f64)> = blocks.flat_map_iter(|(at, block)| self.cells(wall, at, *block)).collect();
        let of_cell = |(point, width): &(Point, f64)| self.load_at_face(&reader, wall, point, *width);
        let loads: Vec<Load> = cells.par_iter().map(of_cell).collect();
        let axis = wall.face.axis;
        if self.case.dim == 2 {
            let mut order: Vec<usize> = (0..cells.len()).collect();
            let way = |at: &usize| dot(cells[*at].0.at, along(2, cells[*at].0.normal));
            order.sort_by(|one, other| way(one).total_cmp(&way(other)));
            let curves = if order.is_empty() { vec![] } else { vec![(0..order.len()).collect()] };
            let points = order.iter().map(|at| cells[*at].0).collect();
            let loads = order.iter().map(|at| loads[*at]).collect();
            return Loaded { points, loads, entries: vec![], triangles: vec![], curves };
        }
        // A square for each cell, which has the load of its middle; its corners are counter-clockwise as seen from the fluid.
        let [next, after] = [(axis + 1) % 3, (axis + 2) % 3];
        let (mut points, mut triangles) = (vec![], vec![]);
        for (point, width) in &cells {
            let first = points.len();
            for (a, b) in [(-0.5, -0.5), (0.5, -0.5), (0.5, 0.5), (-0.5, 0.5)] {
                let mut at = point.at;
                at[next] += a * width;
                at[after] += b * width;
                points.push(Point { at, normal: point.normal });
            }
            let square = if wall.face.high { [[0, 2, 1], [0, 3, 2]] } else { [[0, 1, 2], [0, 2, 3]] };
            triangles.extend(square.map(|corners| corners.map(|corner| first + corner)));
        }
        let loads = loads.into_iter().flat_map(|load| [load; 4]).collect();
        Loaded { points, loads, entries: vec![], triangles, curves: vec![] }
    }

    /// The cells of a block at a wall: the middle of the side at the wall, and the width of the cell, in cells of the coarsest level.
    fn cells(&self, wall: &Wall, number: usize, block: Block) -> Vec<(Point, f64)> {
        let (snapshot, axis, dim) = (self.snapshot, wall.face.axis, self.case.dim);
        let (sides, size) = (snapshot.block(), snapshot.size_of(block.level));
        let width = 0.5f64.powi(block.level as i32);
        let layer = if wall.face.high { size[axis] - 1 } else { 0 };
        let first = block.place[axis] * sides[axis];
        if !(first..first + sides[axis]).contains(&layer) {
            return vec![];
        }
        let mut normal = [0.0; 3];
        normal[axis] = if wall.face.high { -1.0 } else { 1.0 };
        let place = |cell: usize| [cell % sides[0], cell / sides[0] % sides[1], cell / (sides[0] * sides[1])];
        let cell = |at: usize| {
            let place = place(at);
            let cell = [0, 1, 2].map(|axis| block.place[axis] * sides[axis] + place[axis]);
            let is_solid = snapshot.solid.get(number * snapshot.block_cells() + at).copied().unwrap_or(false);
            if cell[axis] != layer || is_solid || (0..dim).any(|axis| cell[axis] >= size[axis]) {
                return None;
            }
            let mut at = [0, 1, 2].map(|axis| if axis < dim { (cell[axis] as f64 + 0.5) * width } else { 0.0 });
            at[axis] += (wall.distance_at(at) * width).copysign(-normal[axis]);
            wall.has_friction_at(at).then_some((Point { at, normal }, width))
        };
        (0..snapshot.block_cells()).filter_map(cell).collect()
    }

    fn load_at_face(&self, reader: &AtPoints<'_>, wall: &Wall, point: &Point, width: f64) -> Load {
        let nowhere = Load { pressure: f64::NAN, friction: [f64::NAN; 3], y_plus: f64::NAN };
        let above = |cells: f64| self.above(reader, point, cells * width);
        let (Some(near), Some(far)) = (above(1.0), above(2.0)) else { return nowhere };
        let Some((sample, viscosity)) = wall.law_at(point.at) else {
            let own = wall.stated_velocity(point.at, self.snapshot.step as f64).unwrap_or_default();
            return self.sticking([near, far], point, width, own);
        };
        let pressure = 2.0 * near.pressure - far.pressure;
        let Some(sampled) = above(sample) else { return Load { pressure, ..nowhere } };
        let across = dot(sampled.velocity, point.normal);
        let along = [0, 1, 2].map(|axis| sampled.velocity[axis] - across * point.normal[axis]);
        let (speed, height) = (dot(along, along).sqrt(), sample * width);
        let stress = werner_wengle(speed, height, viscosity);
        let friction = along.map(|part| if speed > 0.0 { stress * part / speed } else { 0.0 });
        Load { pressure, friction, y_plus: stress.sqrt() * height / viscosity }
    }
}

/// The stress over the density at which the law of `wall_function` has a speed at a height.
fn werner_wengle(speed: f64, height: f64, viscosity: f64) -> f64 {
    let laminar = viscosity * speed / height;
    let layer = (speed / 8.3).powf(7.0 / 4.0) * (viscosity / height).powf(1.0 / 4.0);
    if speed * height < 11.81f64.powi(2) * viscosity { laminar } else { layer }
}

#[cfg(test)]
mod tests {
    use lbm_bundle::AtFace;
    use lbm_runtime::fixture::snapshots;
    use lbm_runtime::geometry::Domain;
    use lbm_runtime::geometry::solid::Shape;

    use super::super::tests::{VISCOSITY, case, density, surfaces};
    use super::*;
    use crate::case::Face;
    use crate::output::hull::normal;

    /// Shear above the bottom, which moves with the fluid there, on two levels in two and in three dimensions.
    #[test]
    fn a_face_has_the_pressure_and_the_friction_of_the_flow_above_it() {
        let (wall, slope) = (0.02, 0.004);
        for dim in [2, 3] {
            let size = if dim == 2 { [16, 16, 1] } else { [16, 16, 8] };
            let mut case = case(dim, size, Shape::Box { from: [4.0; 3], to: [6.0; 3] }, 0, &[]);
            (case.periodic, case.solids) = ([true, false, true], vec![]);
            let face = Face { axis: 1, high: false };
            let velocity = Some([wall, 0.0, 0.0]);
            let values = vec![("velocity".to_string(), vec![wall, 0.0, 0.0])];
            let (formulas, patches, at_face) = (vec![], vec![], AtFace::Prescribed);
            let rule = "moving_wall".to_string();
            case.walls = vec![Wall { face, rule, values, formulas, velocity, at_face, patches }];
            let domain = Domain { dim, size, periodic: case.periodic };
            let refines = |block: Block| block.level == 0 && block.place[0] < 2;
            let shear = |[_, y, _]: [f64; 3]| wall + slope * y;
            let fields: [snapshots::Field<'_>; 4] =
                [("rho", &density), ("ux", &shear), ("uy", &|_| 0.0), ("uz", &|_| 0.0)];
            let snapshot = snapshots::refined(domain, refines, &fields[..dim + 1]);
            let surfaces = surfaces(dim as u32);
            let bodies = Bodies::new(&case, &snapshot, &surfaces);
            let wall = bodies.walls().next().expect("it is one");
            let loaded = bodies.face(wall);
            assert!(snapshot.finest() == 1 && loaded.points.len() > 16, "{}", loaded.points.len());
            for (point, load) in loaded.points.iter().zip(&loaded.loads) {
                assert!(point.at[1] == 0.0 && point.normal == [0.0, 1.0, 0.0], "{point:?}");
                assert!((load.friction[0] / (VISCOSITY * slope * load_density(load)) - 1.0).abs() < 1e-6, "{load:?}");
            }
            let mut area = 0.0;
            for corners in &loaded.triangles {
                let normal = normal(corners.map(|at| loaded.points[at].at));
                assert!(normal[1] > 0.0, "towards the fluid");
                area += 0.5 * normal[1];
            }
            assert!(dim == 2 || (area - 16.0 * 8.0).abs() < 1e-12, "{area}");
            for curve in &loaded.curves {
                let falls = |pair: &[usize]| loaded.points[pair[0]].at[0] > loaded.points[pair[1]].at[0];
                assert!(curve.windows(2).all(falls), "what is solid is on the left");
            }
            let found = bodies.y_plus_at(wall, &loaded).expect("it is known");
            assert_eq!((found.face.as_deref(), found.solid, found.law), (Some("bottom"), None, false));
            // Half of a cell, on either level.
            let of = |width: f64| (VISCOSITY * slope).sqrt() * 0.5 * width / VISCOSITY;
            assert!(
                (found.least / of(0.5) - 1.0).abs() < 1e-6 && (found.greatest / of(1.0) - 1.0).abs() < 1e-6,
                "{found:?}"
            );
        }
    }

    /// The density that the pressure of a load belongs to.
    fn load_density(load: &Load) -> f64 {
        1.0 + 3.0 * load.pressure
    }

    #[test]
    fn the_law_of_a_wall_function_has_both_of_its_parts() {
        let viscosity = 1e-3;
        for (speed, height) in [(0.01, 3.5), (0.1, 3.5), (0.1, 1.75)] {
            let friction = werner_wengle(speed, height, viscosity).sqrt();
            let (u_plus, y_plus) = (speed / friction, friction * height / viscosity);
            let law = if y_plus < 11.81 { y_plus } else { 8.3 * y_plus.powf(1.0 / 7.0) };
            assert!((u_plus / law - 1.0).abs() < 1e-12, "{u_plus} {y_plus}");
        }
    }
}
