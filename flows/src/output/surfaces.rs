//! Pressure and friction on the surfaces of solids, and on faces that are walls: in three dimensions as triangles for ParaView, and as tables along
//! the curves where planes cut the surface; in two dimensions as a table along the contour.
//!
//! Points lie on the surface of the shape, at the resolution of the local cells ([`Hull`]). From each point, the flow
//! is evaluated along the normal at distances of one and two cells ([`AtPoints`]). The pressure is extrapolated
//! linearly, `2 p(1) - p(2)`, of second order in the cell size. The friction is the viscosity times the gradient of the
//! tangential velocity at the wall, `(-3 u(0) + 4 u(1) - u(2)) / 2`, where u(0) is prescribed by the boundary
//! condition. As the interpolated velocity is of second order, its gradient is of first. If one of the two evaluation
//! points lies in a solid, the value is NaN. The friction of a surface with a law of the wall is that of the law
//! ([`Layers`](lbm_runtime::solver::layers::Layers)).

mod faces;
mod files;
mod y_plus;

use std::collections::HashMap;

use lbm_runtime::geometry::solid::Solids;
use lbm_runtime::solver::at_points::AtPoints;
use lbm_runtime::solver::snapshot::Snapshot;
use rayon::prelude::*;

use super::hull::{Hull, Point, chained, dot};
use super::march::Tile;
use crate::case::{Body, Case, Slice, Surfaces};

pub use y_plus::YPlus;

const AXES: [&str; 3] = ["x", "y", "z"];

/// Distance from a point, along its normal in cells, within which its surface is searched: far larger than the error of
/// the point.
const BESIDE: f64 = 1e-3;

/// Load on a surface at a point, in lattice units.
#[derive(Clone, Copy, Debug)]
pub(super) struct Load {
    pub(super) pressure: f64,
    /// Tangential force per area; 0 along the normal.
    pub(super) friction: [f64; 3],
    /// y+ of the height at which the law of the wall applies; without a law, of the middle of a cell at the wall.
    pub(super) y_plus: f64,
}

/// The surface of a body with its loads.
pub(super) struct Loaded {
    pub(super) points: Vec<Point>,
    pub(super) loads: Vec<Load>,
    /// For each point, the entry of the case's solids to which it belongs: the body, or a part of it. Those of faces belong to none.
    pub(super) entries: Vec<usize>,
    /// Corners of triangles as point indices, counter-clockwise from the fluid.
    pub(super) triangles: Vec<[usize; 3]>,
    /// In two dimensions curves instead of triangles, with the solid on their left, as point indices; a closed curve
    /// repeats its first point.
    pub(super) curves: Vec<Vec<usize>>,
}

/// The state of the fluid at a point, in lattice units.
#[derive(Clone, Copy)]
struct State {
    pressure: f64,
    density: f64,
    velocity: [f64; 3],
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
        let solids = case.solids_at(snapshot.block(), snapshot.step, &snapshot.bodies);
        Bodies { case, snapshot, surfaces, solids }
    }

    /// The surface of a body.
    pub(super) fn surface(&self, body: &Body<'_>) -> Loaded {
        let ends = vec![false; self.solids.count()];
        let hull =
            Hull { snapshot: self.snapshot, solids: &self.solids, ends: &ends, only: Some(body.entries.clone()) };
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
        self.loaded(body, points, triangles, curves)
    }

    /// Adds the loads to the points of the surface of a body.
    fn loaded(
        &self,
        body: &Body<'_>,
        points: Vec<Point>,
        triangles: Vec<[usize; 3]>,
        curves: Vec<Vec<usize>>,
    ) -> Loaded {
        let reader = AtPoints::new(self.snapshot, Some(&self.solids));
        let width = 0.5f64.powi(self.case.solids[body.entries.start].solid.level as i32);
        let entries: Vec<usize> = points.par_iter().map(|point| self.entry(body, point, width)).collect();
        let of_point = |(point, entry): (&Point, &usize)| self.load(&reader, point, width, *entry);
        let loads = points.par_iter().zip(&entries).map(of_point).collect();
        Loaded { points, loads, entries, triangles, curves }
    }

    /// The curves where a plane cuts the surface of a body, with the solid on their left as seen against the normal of
    /// the plane.
    fn section(&self, body: &Body<'_>, whole: &Loaded, plane: &Slice) -> Loaded {
        let axis = plane.normal;
        let above = |point: usize| whole.points[point].at[axis] - plane.at;
        let (mut points, mut known): (Vec<Point>, HashMap<[usize; 2], usize>) = (vec![], HashMap::new());
        // Intersection of an edge with the plane, shared by both adjacent triangles.
        let mut meets = |a: usize, b: usize| {
            let edge = [a.min(b), a.max(b)];
            *known.entry(edge).or_insert_with(|| {
                let way = above(edge[0]) / (above(edge[0]) - above(edge[1]));
                let [one, other] = edge.map(|point| whole.points[point]);
                let between = |a: [f64; 3], b: [f64; 3]| [0, 1, 2].map(|at| a[at] + way * (b[at] - a[at]));
                let (mut at, normal) = (between(one.at, other.at), between(one.normal, other.normal));
                at[axis] = plane.at;
                let norm = dot(normal, normal).sqrt().max(f64::MIN_POSITIVE);
                points.push(Point { at, normal: normal.map(|part| part / norm) });
                points.len() - 1
            })
        };
        let mut segments = vec![];
        for [a, b, c] in &whole.triangles {
            let sides = [[*a, *b], [*b, *c], [*c, *a]];
            let crosses =
                |from: bool| sides.iter().find(|[a, b]| (above(*a) < 0.0) == from && (above(*b) < 0.0) != from);
            // Corners are counter-clockwise from the fluid: the segment runs from the edge that goes down through the
            // plane to the edge that comes up.
            if let (Some([a, b]), Some([c, d])) = (crosses(false), crosses(true)) {
                segments.push([meets(*a, *b), meets(*c, *d)]);
            }
        }
        let along = if axis == 0 { 1 } else { 0 };
        let curves = chained(&segments, |point| points[point].at[along], points.len());
        self.loaded(body, points, vec![], curves)
    }

    /// The part of a body's surface to which a point belongs. `width` is the cell size there.
    fn entry(&self, body: &Body<'_>, point: &Point, width: f64) -> usize {
        if body.entries.len() == 1 {
            return body.entries.start;
        }
        let beside = |by: f64| [0, 1, 2].map(|axis| point.at[axis] + by * width * point.normal[axis]);
        self.solids.crossed(body.entries.clone(), beside(-BESIDE), beside(BESIDE)).unwrap_or(body.entries.start)
    }

    fn load(&self, reader: &AtPoints<'_>, point: &Point, width: f64, entry: usize) -> Load {
        let of_layer = self.case.solids[entry].layer.as_ref().map(|_| {
            let layers = self.snapshot.layers.as_ref();
            let found = layers.and_then(|layers| layers.at(&self.snapshot.domain, entry, point.at, point.normal));
            found.map_or(([f64::NAN; 3], f64::NAN), |found| (found.friction, found.y_plus))
        });
        let above = |cells: f64| self.above(reader, point, cells * width);
        let (Some(near), Some(far)) = (above(1.0), above(2.0)) else {
            let (friction, y_plus) = of_layer.unwrap_or(([f64::NAN; 3], f64::NAN));
            return Load { pressure: f64::NAN, friction, y_plus };
        };
        let load = self.sticking([near, far], point, width, self.wall_velocity(entry, point.at));
        of_layer.map_or(load, |(friction, y_plus)| Load { friction, y_plus, ..load })
    }

    /// The state of the fluid above a point of a surface, along its normal; nothing inside a solid.
    fn above(&self, reader: &AtPoints<'_>, point: &Point, distance: f64) -> Option<State> {
        let Surfaces { density, pressure, velocity, .. } = self.surfaces;
        let values = reader.read([0, 1, 2].map(|axis| point.at[axis] + distance * point.normal[axis]))?;
        let of = |field: &crate::case::Quantity| field.at(|at| values[at], &[[0.0; 3]; 3], 0);
        Some(State { pressure: of(pressure)[0], density: of(density)[0], velocity: of(velocity) })
    }

    /// The load on a wall with this velocity to which the fluid sticks, from its states one and two cells above.
    fn sticking(&self, [near, far]: [State; 2], point: &Point, width: f64, wall: [f64; 3]) -> Load {
        let pressure = 2.0 * near.pressure - far.pressure;
        let gradient = |axis: usize| -3.0 * wall[axis] + 4.0 * near.velocity[axis] - far.velocity[axis];
        let slope = [0, 1, 2].map(|axis| gradient(axis) / (2.0 * width));
        let across = dot(slope, point.normal);
        let density = 2.0 * near.density - far.density;
        let viscosity = self.case.scales.viscosity.unwrap_or(f64::NAN);
        let friction = [0, 1, 2].map(|axis| density * viscosity * (slope[axis] - across * point.normal[axis]));
        let y_plus = (dot(friction, friction).sqrt() / density).sqrt() * 0.5 * width / viscosity;
        Load { pressure, friction, y_plus }
    }

    /// Wall velocity at a point on an entry of the case's solids: that of its motion, or the parameter `velocity` of
    /// its boundary condition; 0 without either.
    fn wall_velocity(&self, entry: usize, at: [f64; 3]) -> [f64; 3] {
        let (body, time) = (&self.case.solids[entry], self.snapshot.step as f64);
        if let Some(mut motion) = body.motion(self.snapshot.step) {
            let state = self.snapshot.bodies.iter().find(|(number, _)| *number == entry);
            state.into_iter().for_each(|(_, state)| motion.set_state(*state));
            return motion.rate(time - 0.5, time + 0.5).at(self.solids.arm(entry, at));
        }
        let of = |axis: usize| {
            let formula = body.formulas.iter().find(|(name, _)| name == "velocity").and_then(|(_, of)| of.get(axis));
            let value = body.solid.values.iter().find(|(name, _)| name == "velocity").and_then(|(_, of)| of.get(axis));
            formula.map(|formula| formula.at(at, time)).or(value.copied()).unwrap_or(0.0)
        };
        [0, 1, 2].map(of)
    }
}

#[cfg(test)]
mod tests {
    use lbm_runtime::fixture::{manifest, snapshots};
    use lbm_runtime::geometry::solid::{Shape, Solid, Surface};
    use lbm_runtime::geometry::{Block, Domain};

    use super::*;
    use crate::case::{Part, Quantity, REST, SolidBody};
    use crate::output::fixture;
    use crate::output::hull::normal;

    pub(super) const VISCOSITY: f64 = 0.02;

    /// A flow with given fields around a body, with cells of `level` at its surface.
    pub(super) fn case(dim: usize, size: [usize; 3], shape: Shape, level: usize, velocity: &[f64]) -> Case {
        let (mut case, _) = fixture::cavity(16);
        (case.dim, case.size, case.periodic) = (dim, size, [true, false, dim == 2]);
        case.walls.clear();
        (case.scales.viscosity, case.scales.velocity) = (Some(VISCOSITY), 0.1);
        let values = vec![("velocity".to_string(), velocity.to_vec())];
        let solid = Solid { shape, rule: "moving_wall".into(), values, level, shells: vec![] };
        case.solids = vec![SolidBody {
            of: 0,
            part: None,
            formulas: vec![],
            solid,
            area: 1.0,
            nusselt: None,
            moves: None,
            layer: None,
        }];
        case
    }

    pub(super) fn surfaces(dim: u32) -> Surfaces {
        let mut manifest = manifest();
        manifest.dim = dim;
        manifest.fields.iter_mut().filter(|field| field.name == "u").for_each(|field| field.components = dim);
        let field = |name: &str| Quantity::all(&manifest).into_iter().find(|field| field.name() == name).expect(name);
        let (density, pressure, velocity) = (field("density"), field("pressure"), field("velocity"));
        Surfaces { every: 1, sections: vec![], density, pressure, velocity }
    }

    /// A density whose pressure has the gradient (0.003, -0.001, 0.002).
    pub(super) fn density([x, y, z]: [f64; 3]) -> f64 {
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
        let loaded = Bodies::new(&case, &snapshot, &surfaces).surface(&case.bodies().next().unwrap());
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

    /// The pressure is linear, so it is exact at any point. The curve is a circle to second order. The friction is that
    /// of a shear flow along z, which is tangential to the curve only in planes normal to x.
    #[test]
    fn a_plane_cuts_a_sphere_in_a_circle_that_has_the_pressure_there() {
        let (size, centre, radius) = ([24, 24, 24], [12.3, 11.8, 12.1], 5.2);
        let case = case(3, size, Shape::Sphere { centre, radius }, 0, &[]);
        let domain = Domain { dim: 3, size, periodic: [false; 3] };
        let fields: [snapshots::Field<'_>; 4] =
            [("rho", &density), ("ux", &|_| 0.0), ("uy", &|_| 0.0), ("uz", &|_| 0.0)];
        let snapshot = snapshots::refined(domain, |_| false, &fields);
        let surfaces = surfaces(3);
        let bodies = Bodies::new(&case, &snapshot, &surfaces);
        let body = case.bodies().next().unwrap();
        let whole = bodies.surface(&body);
        for (normal, at) in [(0, 12.0), (1, 14.3), (2, 9.05)] {
            let plane = Slice { normal, at };
            let mut table = vec![];
            bodies.write_section(&body, &whole, &plane, &mut table).unwrap();
            let table = String::from_utf8(table).unwrap();
            let mut rows = table.lines().filter(|line| !line.starts_with('#'));
            let head = "curve,arc,x,y,z,angle,pressure,friction_x,friction_y,friction_z,y_plus,cp,cf";
            assert_eq!(rows.next(), Some(head), "{table}");
            let rows: Vec<Vec<f64>> =
                rows.map(|row| row.split(',').map(|cell| cell.parse().unwrap()).collect()).collect();
            let expected = (radius * radius - (at - centre[normal]).powi(2)).sqrt();
            let last = &rows[rows.len() - 1];
            assert!((last[1] / (std::f64::consts::TAU * expected) - 1.0).abs() < 0.01, "{last:?}");
            assert!(last[0] == 0.0 && last[2..5] == rows[0][2..5], "one closed curve");
            // Counter-clockwise as seen against the normal.
            let (next, after) = ((normal + 1) % 3, (normal + 2) % 3);
            let area: f64 = rows
                .windows(2)
                .map(|pair| {
                    let off = |row: &[f64], axis: usize| row[2 + axis] - centre[axis];
                    0.5 * (off(&pair[0], next) * off(&pair[1], after) - off(&pair[1], next) * off(&pair[0], after))
                })
                .sum();
            assert!((area / (std::f64::consts::PI * expected * expected) - 1.0).abs() < 0.02, "{area}");
            for row in &rows {
                let place = [row[2], row[3], row[4]];
                let off = [0, 1, 2].map(|axis| place[axis] - centre[axis]);
                // Largest distance from the sphere of a chord as long as the diagonal of a cell.
                let most = 3.0 / (8.0 * radius);
                assert!(place[normal] == at && (dot(off, off).sqrt() - radius).abs() < most, "{row:?}");
                assert!((row[6] - (density(place) - 1.0) / 3.0).abs() < 1e-8, "{row:?}");
                assert!((row[11] / row[6] - 200.0).abs() < 1e-4 && row[12].abs() < 1e-9, "{row:?}");
            }
        }
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
        let loaded = bodies.surface(&case.bodies().next().unwrap());
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
        bodies.write(&case.bodies().next().unwrap(), &loaded, &mut table).unwrap();
        let table = String::from_utf8(table).unwrap();
        let mut rows = table.lines().filter(|line| !line.starts_with('#'));
        assert_eq!(rows.next(), Some("curve,arc,x,y,angle,pressure,friction_x,friction_y,y_plus,cp,cf"));
        let rows: Vec<Vec<f64>> = rows.map(|row| row.split(',').map(|cell| cell.parse().unwrap()).collect()).collect();
        assert!(
            rows.windows(2).all(|pair| pair[1][1] > pair[0][1]) && rows[0][4].abs() < 8.0,
            "counter-clockwise from x"
        );
        assert!((rows.last().unwrap()[1] / (std::f64::consts::TAU * 3.2) - 1.0).abs() < 0.01);
        for row in &rows {
            assert!(
                (row[5] - (density([row[2], row[3], 0.0]) - 1.0) / 3.0).abs() < 1e-8
                    && (row[9] / row[5] - 200.0).abs() < 1e-4
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
            let loaded = Bodies::new(&case, &snapshot, &surfaces).surface(&case.bodies().next().unwrap());
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

    /// A layer of fluid at rest above a box. The top of the box, a part of its own, moves with the velocity of the
    /// fluid there; its sides are at rest.
    #[test]
    fn each_part_of_a_surface_has_the_friction_of_its_own_wall() {
        let (low, high) = ([5.3, 6.1, 5.2], [14.6, 13.4, 11.3]);
        let corner = |at: usize| [0, 1, 2].map(|axis| if at >> axis & 1 == 1 { high[axis] } else { low[axis] });
        let sides = [[0, 4, 6, 2], [1, 3, 7, 5], [0, 1, 5, 4], [2, 6, 7, 3], [0, 2, 3, 1], [4, 5, 7, 6]];
        let facet = |corners: [usize; 3]| {
            let lines = corners.map(corner).map(|[x, y, z]| format!("vertex {x} {y} {z}\n"));
            format!("facet normal 0 0 0\nouter loop\n{}endloop\nendfacet\n", lines.concat())
        };
        let side = |(at, [a, b, c, d]): (usize, &[usize; 4])| {
            format!("solid s{at}\n{}{}endsolid s{at}\n", facet([*a, *b, *c]), facet([*a, *c, *d]))
        };
        let text: String = sides.iter().enumerate().map(side).collect();
        let (surface, _) = Surface::from_stl(text.as_bytes()).unwrap();
        let only = |parts: &[u16]| Shape::Surface(surface.only(parts).unwrap());
        let (size, wall, slope) = ([20, 20, 20], 0.03, 0.004);
        let mut case = case(3, size, only(&[0, 1, 2, 3, 4]), 0, &[]);
        case.periodic = [false; 3];
        case.solids[0].part = Some(Part { number: 0, name: REST.into() });
        let mut top = case.solids[0].clone();
        top.part = Some(Part { number: 1, name: "top, moving".into() });
        top.solid = Solid { shape: only(&[5]), values: vec![("velocity".into(), vec![wall, 0.0, 0.0])], ..top.solid };
        case.solids.push(top);

        let shear = |[_, _, z]: [f64; 3]| wall + slope * (z - high[2]);
        let fields: [snapshots::Field<'_>; 4] = [("rho", &|_| 1.0), ("ux", &shear), ("uy", &|_| 0.0), ("uz", &|_| 0.0)];
        let snapshot = snapshots::refined(Domain { dim: 3, size, periodic: [false; 3] }, |_| false, &fields);
        let surfaces = surfaces(3);
        let bodies = Bodies::new(&case, &snapshot, &surfaces);
        let body = case.bodies().next().unwrap();
        let loaded = bodies.surface(&body);
        let is_flat = |at: &usize| (loaded.points[*at].normal[2] - 1.0).abs() < 1e-6;
        let top: Vec<usize> = (0..loaded.points.len()).filter(is_flat).collect();
        assert!(top.len() > 40 && top.iter().all(|at| loaded.entries[*at] == 1));
        for at in top {
            assert!((loaded.loads[at].friction[0] - VISCOSITY * slope).abs() < 1e-9, "{:?}", loaded.loads[at]);
        }
        for (point, entry) in loaded.points.iter().zip(&loaded.entries) {
            assert!(*entry == 0 || point.at[2] > high[2] - 1e-3, "{point:?}");
        }
        let titles: Vec<String> = case.bodies_and_parts().map(|body| body.title()).collect();
        assert_eq!(titles, ["solid 1", "solid 1, rest", "solid 1, top, moving"]);
        let mut file = vec![];
        bodies.write(&body, &loaded, &mut file).unwrap();
        assert!(String::from_utf8_lossy(&file).contains("Name=\"part\""));
    }
}
