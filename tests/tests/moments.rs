//! Moments in the place of populations: the same flows to round-off, on every kind of wall, around solids, on refined grids.

use lbm_bundle::{Bundle, Layout, Real, Storage};
use lbm_codegen::options::Options;
use lbm_dsl::model::Model;
use lbm_runtime::device::Device;
use lbm_runtime::geometry::solid::{Shape, Solid};
use lbm_runtime::geometry::{Block, Face};
use lbm_runtime::solver::snapshot::Snapshot;
use lbm_runtime::solver::{GridSpec, Simulation};
use lbm_tests::compiled;
use lbm_tests::flows::{at_rest, devices, params, velocity_change};
use lbm_tests::sample::sample;

/// Shipped methods that need fewer moments than they have populations; cells of hybrid ones have states.
const METHODS: [&str; 10] = [
    "d2q9_central",
    "d2q9_recursive",
    "d2q9_hybrid",
    "d3q19_hybrid",
    "d3q19_regularized",
    "d3q19_recursive",
    "d3q27_recursive",
    "d3q27_central",
    "d3q27_central_smagorinsky",
    "d3q27_cumulant",
];

/// Kernels of a model, with populations and with moments, for level jumps, for solids, or for neither.
fn both(model: &Model, device: &Device, real: Real, [levels, solids]: [bool; 2]) -> [(Storage, Bundle); 2] {
    let (target, block) = (device.target(), Options::default_block(model.lattice().dim()));
    let options = Options { target, real, layout: Layout::Blocks, block, coupling: levels.then_some(0), solids };
    [
        (Storage::Populations, compiled::emit(model, &options).bundle),
        (Storage::Moments, compiled::moments_with(model, &options)),
    ]
}

/// A velocity of all wave lengths of the box, and a density that belongs to no flow.
fn wavy(size: [usize; 3], cell: [usize; 3], out: &mut [f64]) {
    let angle = |axis: usize| 2.0 * std::f64::consts::PI * (cell[axis] as f64 + 0.3) / size[axis] as f64;
    out[0] = 1.0 + 0.01 * angle(0).sin() * angle(1).cos();
    for (axis, value) in out[1..].iter_mut().enumerate() {
        *value = 0.05 * (angle((axis + 1) % 2) + axis as f64).sin() + 0.01 * (2.0 * angle(0)).cos();
    }
}

/// Flows of both kinds after some steps; the first with what is conserved at the start and at the end.
fn ends(flows: Vec<Simulation>, start: impl Fn([usize; 3], &mut [f64]) + Sync, steps: u64) -> [Snapshot; 2] {
    let end = |mut flow: Simulation| {
        flow.init(&start).unwrap();
        flow.run(steps).unwrap();
        flow.snapshot().unwrap()
    };
    let ends: Vec<Snapshot> = flows.into_iter().map(end).collect();
    ends.try_into().unwrap_or_else(|_| unreachable!("two of two"))
}

/// Largest difference of the density or the velocity.
fn apart([one, other]: &[Snapshot; 2]) -> f64 {
    let density = |snapshot: &Snapshot| snapshot.get("rho").expect("a density").to_vec();
    let differences = density(one).into_iter().zip(density(other)).map(|(a, b)| (a - b).abs());
    velocity_change(one, other).max(differences.fold(0.0, |most: f64, d| if d > most || d.is_nan() { d } else { most }))
}

#[test]
fn a_collision_gives_the_populations_that_belong_to_its_moments() {
    for spec in sample(METHODS) {
        let model = compiled::model(spec);
        let states = compiled::states(&model, 20);
        let device = Device::host(1).unwrap();
        for (real, bound) in [(Real::F64, 1e-15), (Real::F32, 1e-6)] {
            let [populations, moments] = both(&model, &device, real, [false, false])
                .map(|(_, bundle)| compiled::collide(&bundle, &params(spec, 1.7), &states));
            let differences = populations.iter().flatten().zip(moments.iter().flatten()).map(|(a, b)| (a - b).abs());
            let most = differences.fold(0.0, f64::max);
            assert!(most < bound, "{spec}, {}: {most:e}", real.name());
        }
    }
}

#[test]
fn periodic_flows_are_the_same_and_conserve() {
    for device in devices() {
        // What the others start from is no distribution that a collision makes.
        for spec in sample(METHODS.into_iter().filter(|spec| *spec != "d3q27_cumulant")) {
            let model = compiled::model(spec);
            let size = if model.lattice().dim() == 2 { [32, 24, 1] } else { [16, 12, 8] };
            for (real, bound) in [(Real::F64, 1e-13), (Real::F32, 2e-5)] {
                let [populations, moments] = both(&model, &device, real, [false, false]).map(|(_, bundle)| {
                    assert!(bundle.manifest.moments.is_empty() || bundle.manifest.first_state() <= 10);
                    Simulation::new(&device, &bundle, &GridSpec::periodic(size), &params(spec, 1.7)).unwrap()
                });
                let mut alone = moments;
                alone.init(|cell, out| wavy(size, cell, out)).unwrap();
                let before = alone.conserved().unwrap();
                alone.run(100).unwrap();
                let after = alone.conserved().unwrap();
                let cells = size.iter().product::<usize>() as f64;
                let lost = (after.mass - before.mass).abs() / cells;
                assert!(lost < bound / 10.0, "{spec}: {lost:e} of mass a cell");
                for axis in 0..model.lattice().dim() {
                    let lost = (after.momentum[axis] - before.momentum[axis]).abs() / cells;
                    assert!(lost < bound / 10.0, "{spec}: {lost:e} of momentum a cell");
                }
                let ends = ends(vec![populations, alone], |cell, out| wavy(size, cell, out), 100);
                assert!(apart(&ends) < bound, "{spec}, {}: {:e}", real.name(), apart(&ends));
            }
        }
    }
}

/// Link-wise and wet-node walls, of which one reads the next cell.
#[test]
fn flows_between_walls_are_the_same() {
    for device in devices() {
        for spec in sample(["d2q9_central", "d2q9_hybrid", "d3q19_recursive", "d3q27_recursive", "d3q27_cumulant"]) {
            let model = compiled::model_with_rules(spec, &["free_slip", "zou_he_velocity", "extrapolation_outflow"]);
            let dim = model.lattice().dim();
            let size = if dim == 2 { [32, 24, 1] } else { [16, 12, 8] };
            let inflow = [0.03, 0.001, 0.0];
            let channel = GridSpec::periodic(size)
                .with_wall(Face::ALL[0], "zou_he_velocity", &[("velocity", &inflow[..dim])])
                .with_wall(Face::ALL[1], "extrapolation_outflow", &[])
                .with_wall(Face::ALL[2], "bounce_back", &[])
                .with_wall(Face::ALL[3], "free_slip", &[]);
            let mut cavity = GridSpec::periodic(size);
            for face in &Face::ALL[..2 * dim - 1] {
                cavity = cavity.with_wall(*face, "bounce_back", &[]);
            }
            let cavity = cavity.with_wall(Face::ALL[2 * dim - 1], "moving_wall", &[("velocity", &inflow[..dim])]);
            let bundles = both(&model, &device, Real::F64, [false, false]);
            for (name, grid) in [("channel", channel), ("cavity", cavity)] {
                let flows = bundles
                    .iter()
                    .map(|(_, bundle)| Simulation::new(&device, bundle, &grid, &params(spec, 1.3)).unwrap());
                let ends = ends(flows.collect(), at_rest, 200);
                assert!(apart(&ends) < 1e-12, "{spec}, {name}: {:e}", apart(&ends));
            }
        }
    }
}

#[test]
fn flows_around_solids_and_the_forces_on_them_are_the_same() {
    for device in devices() {
        for (spec, size) in
            sample([("d2q9_recursive", [32, 24, 1]), ("d2q9_hybrid", [32, 24, 1]), ("d3q27_cumulant", [16, 12, 8])])
        {
            let model = compiled::model(spec);
            let dim = model.lattice().dim();
            let shape = Shape::Cylinder { centre: [9.3, 6.1, 0.0], axis: [0.0, 0.0, 1.0], radius: 3.2, length: None };
            let solid = Solid { shape, rule: "bounce_back".into(), values: vec![], level: 0, shells: vec![] };
            let inflow = [0.03, 0.0, 0.0];
            let grid = GridSpec::periodic(size)
                .with_wall(Face::ALL[2], "moving_wall", &[("velocity", &inflow[..dim])])
                .with_wall(Face::ALL[3], "moving_wall", &[("velocity", &inflow[..dim])])
                .with_solid(solid);
            let mut forces = Vec::new();
            let mut snapshots = Vec::new();
            for (_, bundle) in both(&model, &device, Real::F64, [false, true]) {
                let mut flow = Simulation::new(&device, &bundle, &grid, &params(spec, 1.3)).unwrap();
                flow.init(at_rest).unwrap();
                flow.run(150).unwrap();
                forces.push(flow.forces().unwrap()[0]);
                snapshots.push(flow.snapshot().unwrap());
            }
            let ends: [Snapshot; 2] = snapshots.try_into().unwrap_or_else(|_| unreachable!("two of two"));
            assert!(apart(&ends) < 1e-12, "{spec}: {:e}", apart(&ends));
            assert!(forces[0][0].abs() > 1e-4, "{spec}: {forces:?}");
            assert!((forces[0][0] - forces[1][0]).abs() < 1e-12, "{spec}: {forces:?}");
        }
    }
}

/// Populations of packets are those of moments: what crosses is the same.
#[test]
fn flows_on_refined_grids_are_the_same_and_conserve() {
    for device in devices() {
        let cases =
            [("d2q9_recursive", [64, 64, 1]), ("d2q9_hybrid", [64, 64, 1]), ("d3q19_regularized", [16, 16, 16])];
        for (spec, size) in sample(cases) {
            let model = compiled::model_with_coupling(spec, "volumetric_shifted");
            let middle = |block: Block| block.place[..2].iter().all(|at| (1..3).contains(at));
            let flows = both(&model, &device, Real::F64, [true, false]).map(|(_, bundle)| {
                Simulation::refined(&device, &bundle, &GridSpec::periodic(size), &params(spec, 1.6), 2, middle).unwrap()
            });
            let [populations, mut moments] = flows;
            moments.init(|cell, out| wavy([2 * size[0], 2 * size[1], 2 * size[2]], cell, out)).unwrap();
            let before = moments.conserved().unwrap();
            moments.run(60).unwrap();
            let after = moments.conserved().unwrap();
            let cells = size.iter().product::<usize>() as f64;
            assert!((after.mass - before.mass).abs() / cells < 1e-14, "{spec}");
            let ends = ends(
                vec![populations, moments],
                |cell, out| wavy([2 * size[0], 2 * size[1], 2 * size[2]], cell, out),
                60,
            );
            assert!(apart(&ends) < 1e-12, "{spec}: {:e}", apart(&ends));
        }
    }
}
