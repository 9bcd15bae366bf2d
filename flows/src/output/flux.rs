//! Fluxes through the open faces of the domain, and their comparison with the case.
//!
//! Fluxes are sums over the outermost cells, `rho u.n` times the area of a cell's face, positive inwards; solid cells
//! do not contribute. A face is open unless its boundary rule is impermeable.

use lbm_runtime::solver::snapshot::Snapshot;
use serde::{Deserialize, Serialize};

use crate::case::{Case, Face, Wall};

/// Largest relative deviation of the mean velocity of an inlet from that of the case, and largest net flux relative to
/// the flow through the domain, without a warning.
const BOUND: f64 = 0.02;
/// Mean velocity on a face, in cells per step, below which there is no flow.
const STILL: f64 = 1e-9;

/// Fluxes through the open faces of a domain at the end of a run.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Fluxes {
    /// The open faces.
    pub faces: Vec<Flux>,
    /// Net flux over the total inflow or outflow, whichever is larger; `None` without flow, and with a layer that absorbs.
    pub imbalance: Option<f64>,
}

/// Flux through a face, in cells and steps of the coarsest level.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Flux {
    /// Name of the face: `left`.
    pub face: String,
    /// Its boundary rule.
    pub rule: String,
    /// Area of fluid cells, in cells^(dimension - 1).
    pub area: f64,
    /// Mass per step, positive into the domain.
    pub mass: f64,
    /// Mean velocity along the inward normal.
    pub velocity: f64,
    /// Mean of the normal velocity that the case prescribes, if the rule has a parameter `velocity`.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub given: Option<f64>,
}

impl Fluxes {
    /// Fluxes of a snapshot; `None` if no face is open, or if the snapshot has no density or velocity.
    pub fn new(case: &Case, snapshot: &Snapshot) -> Option<Fluxes> {
        let (rho, u) = (snapshot.get("rho")?, snapshot.vector("u")?);
        let open = case.walls.iter().filter(|wall| wall.may_be_open(case.size));
        let faces: Vec<Flux> = open.filter_map(|wall| flux(case, snapshot, wall, rho, &u)).collect();
        let part = |sign: f64| faces.iter().map(|face| (sign * face.mass).max(0.0)).sum::<f64>();
        let (gained, lost) = (part(1.0), part(-1.0));
        let through = gained.max(lost);
        let area: f64 = faces.iter().map(|face| face.area).sum();
        let imbalance = (through > STILL * area && !case.absorbs()).then(|| (gained - lost) / through);
        (!faces.is_empty()).then_some(Fluxes { faces, imbalance })
    }

    /// Warnings for the user, one sentence each.
    pub fn warnings(&self) -> Vec<String> {
        let mut warnings = vec![];
        for Flux { face, rule, velocity, given, .. } in &self.faces {
            let Some(given) = given.filter(|given| given.abs() > STILL) else { continue };
            let off = velocity / given - 1.0;
            if off.abs() > BOUND {
                warnings.push(format!(
                    "the mean velocity through `{face}` is {velocity:.5} cells per step, {:+.1} % from the {given:.5} \
                     that the case prescribes by `{rule}`: coefficients and the Reynolds number refer to the prescribed \
                     value",
                    100.0 * off
                ));
            }
        }
        if let Some(imbalance) = self.imbalance.filter(|imbalance| imbalance.abs() > BOUND) {
            let way = if imbalance > 0.0 { "comes in than goes out" } else { "goes out than comes in" };
            warnings.push(format!(
                "{:.1} % more mass {way}: the flow has not developed, or the boundary conditions of the open faces do \
                 not go together",
                100.0 * imbalance.abs()
            ));
        }
        warnings
    }

    /// A few lines of text.
    pub fn describe(&self) -> String {
        let mut text = String::new();
        for Flux { face, rule, mass, velocity, .. } in &self.faces {
            let way = if *mass < 0.0 { "out of" } else { "into" };
            text += &format!(
                "`{face}` ({rule}): {:.6} mass per step {way} the domain, mean normal velocity {:.6}\n",
                mass.abs(),
                velocity.abs()
            );
        }
        self.warnings().iter().for_each(|warning| text += &format!("warning: {warning}\n"));
        text
    }
}

/// Flux through a face; `None` if its boundary rule is impermeable.
fn flux(case: &Case, snapshot: &Snapshot, wall: &Wall, rho: &[f64], u: &[&[f64]]) -> Option<Flux> {
    let Face { axis, high } = wall.face;
    let (side, inwards) = (snapshot.block(), if high { -1.0 } else { 1.0 });
    let (mut area, mut mass, mut velocity, mut given) = (0.0, 0.0, 0.0, Some(0.0));
    let mut closed = true;
    for (at, block) in snapshot.blocks().iter().enumerate() {
        let last = snapshot.size_of(block.level)[axis] - 1;
        let (layer, outermost) = if high { (last % side[axis], last / side[axis]) } else { (0, 0) };
        if block.place[axis] != outermost {
            continue;
        }
        let of_cell = 0.5f64.powi((block.level * (case.dim - 1)) as i32);
        // Visit only the outermost cells of the block: rows of `stride` contiguous cells, in which the axes before that
        // of the face vary.
        let stride: usize = side[..axis].iter().product();
        let rows = snapshot.block_cells() / (stride * side[axis]);
        let outermost = (0..rows).flat_map(|row| {
            let first = (row * side[axis] + layer) * stride;
            first..first + stride
        });
        for inside in outermost {
            let position = at * snapshot.block_cells() + inside;
            if snapshot.solid.get(position).is_some_and(|solid| *solid) {
                continue;
            }
            let mut point = snapshot.cell(position).centre();
            point[axis] = if high { case.size[axis] as f64 } else { 0.0 };
            let stated = wall.stated_velocity(point, snapshot.step as f64).map(|velocity| inwards * velocity[axis]);
            closed &= wall.is_closed_at(point);
            area += of_cell;
            mass += of_cell * inwards * rho[position] * u[axis][position];
            velocity += of_cell * inwards * u[axis][position];
            given = given.and_then(|given: f64| Some(given + of_cell * stated?));
        }
    }
    (!closed).then(|| Flux {
        face: wall.face.name().to_string(),
        rule: wall.rule.clone(),
        area,
        mass,
        velocity: velocity / area,
        given: given.map(|given| given / area),
    })
}

#[cfg(test)]
mod tests {
    use lbm_runtime::fixture::snapshots;
    use lbm_runtime::geometry::Domain;

    use super::*;
    use crate::output::fixture;
    use lbm_bundle::AtFace;

    /// A channel of 16 x 16 cells, refined at the outlet, with a velocity profile at the inlet.
    fn channel(outflow: f64) -> (Case, Snapshot) {
        let (mut case, _) = fixture::cavity(16);
        let (inlet, _) = fixture::cavity_under(16, "[\"0.01 * x\", 0]");
        let lid = &inlet.walls[3];
        for wall in &mut case.walls {
            match (wall.face.axis, wall.face.high) {
                (0, false) => {
                    (wall.rule, wall.velocity) = ("moving_wall".into(), None);
                    wall.formulas = lid.formulas.clone();
                    wall.formulas[0].1[0] = "0.01 * y".parse().unwrap();
                }
                (0, true) => (wall.rule, wall.at_face) = ("anti_bounce_back".into(), AtFace::Unknown),
                (_, false) => wall.at_face = AtFace::Slip,
                _ => {}
            }
        }
        let domain = Domain { dim: 2, size: [16, 16, 1], periodic: [false, false, true] };
        let velocity = |[x, y, _]: [f64; 3]| (1.0 - (1.0 - outflow) * x / 16.0) * 0.01 * y;
        let refines =
            |block: lbm_runtime::geometry::Block| block.level == 0 && block.place[0] == 3 && block.place[1] < 2;
        (case, snapshots::refined(domain, refines, &[("rho", &|_| 1.5), ("ux", &velocity), ("uy", &|_| 0.2)]))
    }

    #[test]
    fn open_faces_have_a_flux_and_walls_and_symmetry_planes_have_none() {
        let (case, snapshot) = channel(1.0);
        let fluxes = Fluxes::new(&case, &snapshot).unwrap();
        let names: Vec<&str> = fluxes.faces.iter().map(|face| &face.face[..]).collect();
        assert_eq!(names, ["left", "right"]);
        let near = |found: f64, expected: f64| assert!((found / expected - 1.0).abs() < 1e-12, "{found} {expected}");
        for (face, sign) in fluxes.faces.iter().zip([1.0, -1.0]) {
            near(face.area, 16.0);
            near(face.velocity, sign * 0.08);
            near(face.mass, sign * 1.5 * 16.0 * 0.08);
        }
        near(fluxes.faces[0].given.unwrap(), 0.08);
        assert!(fluxes.faces[1].given.is_none() && fluxes.imbalance.unwrap().abs() < 1e-12);
        assert_eq!(fluxes.warnings(), Vec::<String>::new());
    }

    #[test]
    fn inflow_that_does_not_arrive_is_reported() {
        let (case, mut snapshot) = channel(0.9);
        let fluxes = Fluxes::new(&case, &snapshot).unwrap();
        assert!(fluxes.imbalance.is_some_and(|part| (0.05..0.15).contains(&part)), "{fluxes:?}");
        assert!(fluxes.describe().contains("more mass comes in than goes out"), "{}", fluxes.describe());
        snapshot.components[1].data.iter_mut().for_each(|u| *u *= 0.7);
        let warnings = Fluxes::new(&case, &snapshot).unwrap().warnings();
        assert_eq!(warnings.len(), 2);
        assert!(warnings[0].contains("`left`") && warnings[0].contains("0.08000"), "{warnings:?}");
    }

    #[test]
    fn solid_cells_let_nothing_through() {
        let (case, mut snapshot) = channel(1.0);
        let cells = snapshot.components[0].data.len();
        snapshot.solid = (0..cells).map(|at| snapshot.cell(at).centre()[1] > 8.0).collect();
        let fluxes = Fluxes::new(&case, &snapshot).unwrap();
        assert!((fluxes.faces[0].area - 8.0).abs() < 1e-12 && (fluxes.faces[0].velocity - 0.04).abs() < 1e-12);
        assert!((fluxes.faces[0].given.unwrap() - 0.04).abs() < 1e-12, "{fluxes:?}");
    }

    #[test]
    fn a_closed_box_has_none() {
        let (case, snapshot) = fixture::cavity(16);
        assert_eq!(Fluxes::new(&case, &snapshot), None);
    }
}
