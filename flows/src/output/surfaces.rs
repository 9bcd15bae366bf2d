//! Pressure and friction on the surfaces of solids: triangles for ParaView in three dimensions, the contour as a table in two.
//!
//! Points lie on the surface of the shape, as many as its cells cut ([`Hull`]). Away from each, along its normal, the flow is read at one
//! and at two cells ([`AtPoints`]). The pressure is on the straight line through both, `2 p(1) - p(2)`, of second order in the cell. The
//! friction is the viscosity times the slope of the velocity along the surface at the wall, `(-3 u(0) + 4 u(1) - u(2)) / 2`, where u(0) is
//! what the boundary condition prescribes; as the velocity between cells is of second order, its slope is of first. Where one of the places is inside
//! a solid there is no value, NaN.

use std::collections::HashMap;
use std::io::{self, Write};

use lbm_runtime::geometry::solid::Solids;
use lbm_runtime::solver::at_points::AtPoints;
use lbm_runtime::solver::snapshot::Snapshot;
use rayon::prelude::*;

use super::hull::{Hull, Point, dot};
use super::march::Tile;
use super::profile::real_name;
use super::vtk;
use crate::case::{Case, Dimension, SolidBody, Surfaces};

/// What the fluid does at a point of a surface, in lattice units.
#[derive(Clone, Copy, Debug)]
pub(super) struct Load {
    pub(super) pressure: f64,
    /// Force on an area along the surface, 0 across it.
    pub(super) friction: [f64; 3],
}

/// The surface of a body with what the fluid does there.
pub(super) struct Loaded {
    pub(super) points: Vec<Point>,
    pub(super) loads: Vec<Load>,
    /// Corners of triangles, counter-clockwise from the fluid, by the numbers of points.
    pub(super) triangles: Vec<[usize; 3]>,
    /// In two dimensions curves in their place, the solid on their left: numbers of points, the first again at the end of one that is closed.
    pub(super) curves: Vec<Vec<usize>>,
}

/// The solids of a case in a snapshot.
pub(super) struct Bodies<'a> {
    case: &'a Case,
    snapshot: &'a Snapshot,
    surfaces: &'a Surfaces,
    solids: Solids,
}

impl<'a> Bodies<'a> {
    pub(super) fn new(case: &'a Case, snapshot: &'a Snapshot, surfaces: &'a Surfaces) -> Bodies<'a> {
        let solids = case.solids_at(snapshot.block(), snapshot.step);
        Bodies { case, snapshot, surfaces, solids }
    }

    /// The surface of a body by its number.
    pub(super) fn surface(&self, number: usize) -> Loaded {
        let ends = vec![false; self.solids.count()];
        let hull = Hull { snapshot: self.snapshot, solids: &self.solids, ends: &ends, only: Some(number) };
        let tiles = (0..Tile::count(self.snapshot)).into_par_iter().map(|tile| Tile::new(self.snapshot, tile));
        let (mut points, mut triangles, mut curves) = (vec![], vec![], vec![]);
        if self.case.dim == 3 {
            let all: Vec<[Point; 3]> = tiles.flat_map_iter(|tile| hull.triangles(&tile)).collect();
            let mut known: HashMap<[u64; 3], usize> = HashMap::new();
            for corners in all {
                triangles.push(corners.map(|point| {
                    *known.entry(point.at.map(f64::to_bits)).or_insert_with(|| {
                        points.push(point);
                        points.len() - 1
                    })
                }));
            }
        } else {
            (points, curves) = Hull::curves(&tiles.flat_map_iter(|tile| hull.segments(&tile)).collect::<Vec<_>>());
        }
        let (reader, body) = (AtPoints::new(self.snapshot, Some(&self.solids)), &self.case.solids[number]);
        let width = 0.5f64.powi(body.solid.level as i32);
        let loads = points.par_iter().map(|point| self.load(&reader, point, width, body)).collect();
        Loaded { points, loads, triangles, curves }
    }

    fn load(&self, reader: &AtPoints<'_>, point: &Point, width: f64, body: &SolidBody) -> Load {
        let Surfaces { density, pressure, velocity, .. } = self.surfaces;
        let read = |cells: f64| {
            let values = reader.read([0, 1, 2].map(|axis| point.at[axis] + cells * width * point.normal[axis]))?;
            let of = |field: &crate::case::Quantity| field.at(|at| values[at], &[[0.0; 3]; 3], 0);
            Some((of(pressure)[0], of(density)[0], of(velocity)))
        };
        let (Some(near), Some(far)) = (read(1.0), read(2.0)) else {
            return Load { pressure: f64::NAN, friction: [f64::NAN; 3] };
        };
        let wall = wall_velocity(body, point.at, self.snapshot.step as f64);
        let slope = [0, 1, 2].map(|axis| (-3.0 * wall[axis] + 4.0 * near.2[axis] - far.2[axis]) / (2.0 * width));
        let across = dot(slope, point.normal);
        let density = 2.0 * near.1 - far.1;
        let viscosity = density * self.case.scales.viscosity.unwrap_or(f64::NAN);
        let friction = [0, 1, 2].map(|axis| viscosity * (slope[axis] - across * point.normal[axis]));
        Load { pressure: 2.0 * near.0 - far.0, friction }
    }

    /// The name of the file of a body at the snapshot's step.
    pub(super) fn file_name(&self, number: usize) -> String {
        let ending = if self.case.dim == 3 { "vtp" } else { "csv" };
        format!("surface_{}_{:08}.{ending}", number + 1, self.snapshot.step)
    }

    /// Writes the surface of a body.
    pub(super) fn write(&self, number: usize, out: &mut dyn Write) -> io::Result<()> {
        let loaded = self.surface(number);
        if self.case.dim == 3 { self.polygons(&loaded, out) } else { self.contour(number, &loaded, out) }
    }

    fn polygons(&self, loaded: &Loaded, out: &mut dyn Write) -> io::Result<()> {
        let units = &self.case.units;
        let (length, stress) = (units.scale(Dimension::LENGTH), self.surfaces.pressure.scale(units));
        let mut points = vec![];
        loaded.points.iter().for_each(|point| points.push(point.at.map(|at| at * length)));
        let normals: Vec<[f64; 3]> = loaded.points.iter().map(|point| point.normal).collect();
        let pressure: Vec<f64> = loaded.loads.iter().map(|load| load.pressure * stress).collect();
        let friction: Option<Vec<[f64; 3]>> = self
            .case
            .scales
            .viscosity
            .map(|_| loaded.loads.iter().map(|load| load.friction.map(|part| part * stress)).collect());
        let surface = vtk::Polygons { points: &points, triangles: &loaded.triangles, normals: &normals };
        vtk::write_polygons(out, &surface, &pressure, friction.as_deref(), self.snapshot, units)
    }

    fn contour(&self, number: usize, loaded: &Loaded, out: &mut dyn Write) -> io::Result<()> {
        let (case, units) = (self.case, &self.case.units);
        let (length, pressure) = (units.scale(Dimension::LENGTH), &self.surfaces.pressure);
        let stress = pressure.scale(units);
        let dynamic = 0.5 * case.scales.velocity.powi(2);
        let (has_friction, has_coefficients) = (case.scales.viscosity.is_some(), dynamic > 0.0);
        writeln!(out, "# {}: contour of solid {} at step {}", case.name, number + 1, self.snapshot.step)?;
        writeln!(out, "# {}, {}", case.spec, real_name(case))?;
        match units.si {
            true => writeln!(out, "# arc, x, y: m; pressure, friction: {}", pressure.symbol(units))?,
            false => writeln!(out, "# units: cells and time steps of level 0; the density at rest is 1")?,
        }
        writeln!(
            out,
            "# arc: along the contour, the solid on the left; angle: around the middle of the contour, from x, in degrees"
        )?;
        writeln!(
            out,
            "# pressure: that above a fluid at rest; friction: force of the fluid on an area along the surface"
        )?;
        if has_coefficients {
            writeln!(
                out,
                "# cp, cf: over rho U^2 / 2 with U = {} cells per step; cf: of the friction along the arc",
                case.scales.velocity
            )?;
        }
        let mut columns = vec!["curve", "arc", "x", "y", "angle", "pressure"];
        columns.extend(has_friction.then_some(["friction_x", "friction_y"]).into_iter().flatten());
        columns.extend(has_coefficients.then_some("cp"));
        columns.extend((has_friction && has_coefficients).then_some("cf"));
        writeln!(out, "{}", columns.join(","))?;
        for (curve, numbers) in loaded.curves.iter().enumerate() {
            let at = |number: &usize| loaded.points[*number].at;
            let count = numbers.len() as f64;
            let middle = [0, 1].map(|axis| numbers.iter().map(|number| at(number)[axis]).sum::<f64>() / count);
            let mut arc = 0.0;
            for (place, number) in numbers.iter().enumerate() {
                if place > 0 {
                    let last = at(&numbers[place - 1]);
                    arc += (at(number)[0] - last[0]).hypot(at(number)[1] - last[1]);
                }
                let (here, Load { pressure, friction }) = (at(number), loaded.loads[*number]);
                let normal = loaded.points[*number].normal;
                let angle = (here[1] - middle[1]).atan2(here[0] - middle[0]).to_degrees();
                let mut row = vec![arc * length, here[0] * length, here[1] * length, angle, pressure * stress];
                if has_friction {
                    row.extend([friction[0] * stress, friction[1] * stress]);
                }
                if has_coefficients {
                    row.push(pressure / dynamic);
                }
                if has_friction && has_coefficients {
                    // Counter-clockwise from the normal.
                    row.push((friction[1] * normal[0] - friction[0] * normal[1]) / dynamic);
                }
                let row: Vec<String> = row.iter().map(|value| format!("{value:.9e}")).collect();
                writeln!(out, "{curve},{}", row.join(","))?;
            }
        }
        Ok(())
    }
}

/// The velocity of a surface at a point: that of its motion, or by the parameter of that name of its boundary condition; 0 where it has none.
fn wall_velocity(body: &SolidBody, at: [f64; 3], time: f64) -> [f64; 3] {
    if let Some(motion) = body.motion(time as u64) {
        return motion.velocity(time - 0.5, time + 0.5);
    }
    let of = |axis: usize| {
        let formula = body.formulas.iter().find(|(name, _)| name == "velocity").and_then(|(_, of)| of.get(axis));
        let value = body.solid.values.iter().find(|(name, _)| name == "velocity").and_then(|(_, of)| of.get(axis));
        formula.map(|formula| formula.at(at, time)).or(value.copied()).unwrap_or(0.0)
    };
    [0, 1, 2].map(of)
}

#[cfg(test)]
mod tests {
    use lbm_runtime::fixture::{manifest, snapshots};
    use lbm_runtime::geometry::solid::{Shape, Solid};
    use lbm_runtime::geometry::{Block, Domain};

    use super::*;
    use crate::case::Quantity;
    use crate::output::example;
    use crate::output::hull::normal;

    const VISCOSITY: f64 = 0.02;

    /// A flow of given fields around a body, in cells of a level at its surface.
    fn case(dim: usize, size: [usize; 3], shape: Shape, level: usize, velocity: &[f64]) -> Case {
        let (mut case, _) = example::cavity(16);
        (case.dim, case.size, case.periodic) = (dim, size, [true, false, dim == 2]);
        case.walls.clear();
        (case.scales.viscosity, case.scales.velocity) = (Some(VISCOSITY), 0.1);
        let values = vec![("velocity".to_string(), velocity.to_vec())];
        let solid = Solid { shape, rule: "moving_wall".into(), values, level, shells: vec![] };
        case.solids = vec![SolidBody { formulas: vec![], solid, area: 1.0, displacement: None }];
        case
    }

    fn surfaces(dim: u32) -> Surfaces {
        let mut manifest = manifest();
        manifest.dim = dim;
        manifest.fields.iter_mut().filter(|field| field.name == "u").for_each(|field| field.components = dim);
        let field = |name: &str| Quantity::all(&manifest).into_iter().find(|field| field.name() == name).expect(name);
        Surfaces { every: 1, density: field("density"), pressure: field("pressure"), velocity: field("velocity") }
    }

    /// A density whose pressure has the slopes 0.003, -0.001 and 0.002.
    fn density([x, y, z]: [f64; 3]) -> f64 {
        1.0 + 3.0 * (0.003 * x - 0.001 * y + 0.002 * z)
    }

    #[test]
    fn a_sphere_in_a_pressure_that_rises_is_pushed_by_that_times_its_volume() {
        let size = [24, 24, 24];
        let case = case(3, size, Shape::Sphere { centre: [12.3, 11.8, 12.1], radius: 5.2 }, 0, &[]);
        let domain = Domain { dim: 3, size, periodic: [false; 3] };
        let fields: [snapshots::Field<'_>; 4] =
            [("rho", &density), ("ux", &|_| 0.0), ("uy", &|_| 0.0), ("uz", &|_| 0.0)];
        let snapshot = snapshots::refined(domain, |_| false, &fields);
        let surfaces = surfaces(3);
        let loaded = Bodies::new(&case, &snapshot, &surfaces).surface(0);
        let (mut force, mut volume) = ([0.0; 3], 0.0);
        for corners in &loaded.triangles {
            let area = normal(corners.map(|at| loaded.points[at].at)).map(|part| 0.5 * part);
            let pressure = corners.iter().map(|at| loaded.loads[*at].pressure).sum::<f64>() / 3.0;
            force = [0, 1, 2].map(|axis| force[axis] - pressure * area[axis]);
            volume += dot(area, loaded.points[corners[0]].at) / 3.0;
        }
        let expected = [-0.003, 0.001, -0.002].map(|slope| slope * volume);
        assert!((0..3).all(|axis| (force[axis] - expected[axis]).abs() < 1e-10 * volume), "{force:?} {expected:?}");
        assert!(loaded.points.len() < loaded.triangles.len(), "points are shared");
    }

    #[test]
    fn a_circle_on_a_finer_level_has_one_closed_contour_and_the_same_push() {
        let size = [24, 24, 1];
        let circle = Shape::Cylinder { centre: [12.3, 11.8, 0.0], axis: [0.0, 0.0, 1.0], radius: 3.2, length: None };
        let case = case(2, size, circle, 1, &[]);
        let domain = Domain { dim: 2, size, periodic: [true, false, true] };
        let refines = |block: Block| block.level == 0 && (0..2).all(|axis| (1..5).contains(&block.place[axis]));
        let fields: [snapshots::Field<'_>; 3] =
            [("rho", &|[x, y, _]| density([x, y, 0.0])), ("ux", &|_| 0.0), ("uy", &|_| 0.0)];
        let snapshot = snapshots::refined(domain, refines, &fields);
        let surfaces = surfaces(2);
        let bodies = Bodies::new(&case, &snapshot, &surfaces);
        let loaded = bodies.surface(0);
        let [curve] = &loaded.curves[..] else { panic!("{} curves", loaded.curves.len()) };
        assert_eq!((curve.len(), curve.first()), (loaded.points.len() + 1, curve.last()));
        let (mut force, mut area) = ([0.0; 2], 0.0);
        for pair in curve.windows(2) {
            let [a, b] = [pair[0], pair[1]].map(|at| loaded.points[at].at);
            let pressure = 0.5 * (loaded.loads[pair[0]].pressure + loaded.loads[pair[1]].pressure);
            force[0] -= pressure * (b[1] - a[1]);
            force[1] += pressure * (b[0] - a[0]);
            area += 0.5 * (a[0] * b[1] - a[1] * b[0]);
        }
        assert!((area / (std::f64::consts::PI * 3.2 * 3.2) - 1.0).abs() < 0.01, "{area}");
        assert!((force[0] + 0.003 * area).abs() < 1e-12 && (force[1] - 0.001 * area).abs() < 1e-12, "{force:?}");

        let mut table = vec![];
        bodies.write(0, &mut table).unwrap();
        let table = String::from_utf8(table).unwrap();
        let mut rows = table.lines().filter(|line| !line.starts_with('#'));
        assert_eq!(rows.next(), Some("curve,arc,x,y,angle,pressure,friction_x,friction_y,cp,cf"));
        let rows: Vec<Vec<f64>> = rows.map(|row| row.split(',').map(|cell| cell.parse().unwrap()).collect()).collect();
        assert!(
            rows.windows(2).all(|pair| pair[1][1] > pair[0][1]) && rows[0][4].abs() < 8.0,
            "counter-clockwise from x"
        );
        assert!((rows.last().unwrap()[1] / (std::f64::consts::TAU * 3.2) - 1.0).abs() < 0.01);
        for row in &rows {
            assert!(
                (row[5] - (density([row[2], row[3], 0.0]) - 1.0) / 3.0).abs() < 1e-8
                    && (row[8] / row[5] - 200.0).abs() < 1e-4
            );
        }
    }

    #[test]
    fn friction_is_the_viscosity_times_the_slope_from_the_velocity_of_the_wall() {
        let size = [24, 24, 1];
        let floor = Shape::Box { from: [-5.0, -5.0, -1.0], to: [40.0, 6.3, 1.0] };
        for wall in [0.0, 0.02] {
            let case = case(2, size, floor.clone(), 0, &[wall, 0.0]);
            let domain = Domain { dim: 2, size, periodic: [true, false, true] };
            let shear = |[_, y, _]: [f64; 3]| wall + 0.004 * (y - 6.3);
            let fields: [snapshots::Field<'_>; 3] = [("rho", &|_| 1.0), ("ux", &shear), ("uy", &|_| 0.001)];
            let snapshot = snapshots::refined(domain, |_| false, &fields);
            let surfaces = surfaces(2);
            let loaded = Bodies::new(&case, &snapshot, &surfaces).surface(0);
            let [curve] = &loaded.curves[..] else { panic!("{} curves", loaded.curves.len()) };
            // The solid on the left: against x.
            assert!(loaded.points[curve[0]].at[0] > loaded.points[curve[1]].at[0]);
            for load in &loaded.loads {
                assert!(
                    (load.friction[0] - VISCOSITY * 0.004).abs() < 1e-9 && load.friction[1].abs() < 1e-9,
                    "{load:?}"
                );
            }
        }
    }
}
