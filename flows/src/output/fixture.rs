//! A case and a flow for the tests of this module: a cavity, and a vortex with a known formula.

use lbm_bundle::{ABI, AtFace, Boundary, Direction, Layout, Manifest, Param, Populations, Real, Target, Transport};
use lbm_runtime::device::{Available, Device};
use lbm_runtime::geometry::Domain;
use lbm_runtime::geometry::solid::{Shape, Solid};
use lbm_runtime::mesh::Blocks;
use lbm_runtime::solver::memory::{Copies, Memory};
use lbm_runtime::solver::observe::Means;
use lbm_runtime::solver::snapshot::{Component, Snapshot};

use super::forces::Forces;
use super::series::scales;
use super::summary::{About, Measured};
use crate::case::{Case, RawCase, SolidBody, StopReason};

/// Memory of a grid of sixteen blocks.
pub(super) fn memory() -> Memory {
    Memory::new(&manifest(), Blocks::uniform(2, 16), false, false, Copies::default())
}

/// Means of the cavity of 32 x 32 cells, for U = 0.1 and L = 32.
pub(super) fn means() -> Means {
    Means { mass: 1024.0, energy: 0.05 * 0.01, enstrophy: 2.0 * (0.1f64 / 32.0).powi(2), fastest: 0.095 }
}

/// What was measured of a run of 10 steps of the cavity of 32 x 32 cells.
pub(super) fn measured() -> Measured {
    Measured {
        levels: vec![1024],
        updates: 1024,
        adaptations: None,
        phases: Default::default(),
        steps: 10,
        seconds: 0.5,
        seconds_waiting_for_output: 0.0,
        first_step: 0.1,
        memory: memory(),
        memory_bandwidth: None,
        mass_start: 1024.0,
        mass_end: 1024.0,
        is_closed: true,
        scalars: vec![],
        residual: None,
        stop: StopReason::Steps,
    }
}

/// A manifest of D2Q9 BGK, as far as a case needs it.
pub(super) fn manifest() -> Manifest {
    let velocity =
        Param { name: "velocity".into(), components: 2, default: None, range: None, unit: None, doc: String::new() };
    let rule = |name: &str, code: i32, params: Vec<Param>| Boundary {
        name: name.into(),
        code,
        nodes: false,
        at_face: if name == "free_slip" { AtFace::Slip } else { AtFace::Prescribed },
        unit_density: false,
        params,
        doc: String::new(),
    };
    Manifest {
        abi: ABI,
        spec: "d2q9_bgk".into(),
        target: Target::C,
        real: Real::F32,
        layout: Layout::Blocks,
        dim: 2,
        populations: vec![Populations {
            name: "f".into(),
            lattice: "D2Q9".into(),
            cs2: 1.0 / 3.0,
            first: 0,
            count: 9,
            field: Some("rho".into()),
            diffusivity: None,
        }],
        directions: vec![Direction { c: [0; 3], weight: "1".into(), rest: "0".into(), opposite: 0 }; 9],
        states: vec![],
        shown: vec![],
        seen: vec![],
        moments: vec![],
        block: [8, 8, 1],
        wall_stride: 2,
        params: vec![Param {
            name: "omega".into(),
            components: 1,
            default: None,
            range: Some((0.0, 2.0)),
            unit: None,
            doc: String::new(),
        }],
        fields: vec![],
        boundaries: vec![
            rule("bounce_back", 0, vec![]),
            rule("moving_wall", 1, vec![velocity]),
            rule("free_slip", 2, vec![]),
        ],
        members: vec![],
        solid_rules: vec![0, 1],
        mirror_rules: vec![],
        one_level_rules: vec![],
        in_place_rules: vec![],
        in_place_face_rules: vec![],
        coupling: None,
        criteria: vec![],
        kernels: vec![],
        viscosity: Transport { formula: "1/3*(1/omega - 1/2)".into(), rate: Some("omega".into()) },
    }
}

/// Adds a cylinder to a case.
pub(super) fn put_cylinder(case: &mut Case, [x, y]: [f64; 2], radius: f64) {
    let shape = Shape::Cylinder { centre: [x, y, 0.0], axis: [0.0, 0.0, 1.0], radius, length: None };
    let solid = Solid { shape, rule: "bounce_back".into(), values: vec![], level: 0, shells: vec![] };
    case.solids.push(SolidBody {
        of: 0,
        part: None,
        formulas: vec![],
        solid,
        area: 2.0 * radius,
        nusselt: None,
        moves: None,
        layer: None,
    });
}

/// Description of a run.
pub(super) fn about(case: &Case) -> About {
    About::new(case, &manifest(), &Device::host(1).expect("a host"), 1)
}

/// Velocity of the vortex in units of the lid velocity, at a position in units of the cavity side: zero at the
/// stationary walls.
pub(super) fn velocity(x: f64, y: f64) -> (f64, f64) {
    let (p, dp) = (x * x * (1.0 - x).powi(2), 2.0 * x * (1.0 - x) * (1.0 - 2.0 * x));
    let (q, dq) = (y * y * (y - 1.0), 3.0 * y * y - 2.0 * y);
    (16.0 * p * dq, -16.0 * dp * q)
}

/// A cavity of `n` by `n` cells.
pub(crate) fn cavity(n: usize) -> (Case, Snapshot) {
    cavity_under(n, "[0.1, 0]")
}

/// A cavity with another lid velocity.
pub(super) fn cavity_under(n: usize, lid: &str) -> (Case, Snapshot) {
    let text = format!(
        "spec = \"d2q9_bgk\"\n[domain]\nsize = [{n}, {n}]\n[fluid]\nre = 100\n[stop]\nsteps = 10\n[faces]\n\
         others = \"bounce_back\"\ntop = {{ rule = \"moving_wall\", velocity = {lid} }}\n\
         [output]\nprofiles = true\npicture = true\nvtk = true\ncompare = \"ghia1982\"\n"
    );
    let raw = RawCase::parse("cavity.toml", &text, &[]).expect("valid");
    let (case, _) = raw.resolve(&manifest(), &[], Available::default()).expect("valid");
    let at = |cell: usize| velocity(((cell % n) as f64 + 0.5) / n as f64, ((cell / n) as f64 + 0.5) / n as f64);
    let component = |name: &str, value: &dyn Fn(usize) -> f64| Component {
        name: name.into(),
        data: (0..n * n).map(value).collect(),
    };
    let components = vec![
        component("rho", &|_| 1.0),
        component("ux", &|cell| 0.1 * at(cell).0),
        component("uy", &|cell| 0.1 * at(cell).1),
    ];
    let domain = Domain { dim: 2, size: [n, n, 1], periodic: case.periodic };
    (case, Snapshot::uniform(10, domain, components))
}

/// Forces on a cylinder in the cavity: a drag coefficient of 1.5, and a lift coefficient that is a function of time.
pub(super) fn forces(lift: impl Fn(f64) -> f64) -> (Case, Forces) {
    let (mut case, _) = cavity(32);
    put_cylinder(&mut case, [16.0, 16.0], 4.0);
    let unit = Forces::unit(&case, &case.bodies().next().unwrap()).unwrap();
    let (u, l) = scales(&case);
    let mut forces = Forces::default();
    for step in (0..40_000).step_by(20) {
        let time = step as f64 * u / l;
        forces.add(step, vec![[1.5 * unit, lift(time) * unit, 0.0]]);
    }
    (case, forces)
}
