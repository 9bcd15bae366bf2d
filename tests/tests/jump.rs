//! Kernels of blocks at level jumps: they do what the reference does cell by cell, and conserve, on the host.

use std::collections::BTreeMap;

use lbm_bundle::{Bundle, Real, Target};
use lbm_dsl::model::Model;
use lbm_runtime::device::Device;
use lbm_runtime::geometry::{Block, Cell, Face};
use lbm_runtime::solver::{GridSpec, Simulation};
use lbm_tests::compiled::{self, Collision, Random};
use lbm_tests::flows;
use lbm_tests::levels::{Patch, TwoLevels};
use lbm_tests::sample::sample;

fn block(dim: usize) -> [u32; 3] {
    if dim == 2 { [8, 8, 1] } else { [4, 4, 4] }
}

/// Which blocks are refined.
type Refine<'a> = &'a (dyn Fn(Block) -> bool + Sync);

/// A strip, a square, an L, and two squares that touch at a corner, of a box of four blocks along each axis.
fn refined(shape: &str, dim: usize, place: [usize; 3]) -> bool {
    let middle = |at: usize| (1..3).contains(&at);
    let inside = place[..dim].iter().all(|at| middle(*at));
    match shape {
        "strip" => middle(place[0]),
        "square" => inside,
        "L" => inside && !place[..dim].iter().all(|at| *at == 2),
        _ => inside && place[..dim].windows(2).all(|pair| pair[0] == pair[1]),
    }
}

/// A box of four blocks along each axis, a shape of it refined, noise in every population.
fn noisy(model: &Model, bundle: &Bundle, shape: &str, omega: f64) -> (Simulation, TwoLevels) {
    let dim = model.lattice().dim();
    let (block, side) = (block(dim), 4 * block(dim)[0] as usize);
    let device = Device::host(1).unwrap();
    let size = std::array::from_fn(|axis| if axis < dim { side } else { 1 });
    let params = [("omega".to_string(), vec![omega])];
    let refine = |block: Block| refined(shape, dim, block.place);
    let mut flow = Simulation::refined(&device, bundle, &GridSpec::periodic(size), &params, 2, refine).unwrap();
    let patch = Patch::new(dim, side, |cell| refined(shape, dim, cell.map(|at| at as usize / block[0] as usize)));
    let mut reference = TwoLevels::new(model, Collision::new(bundle), patch, omega);

    // The same noise in both: it depends on the place alone.
    let weights: Vec<f64> = flow.manifest().directions.iter().map(|direction| direction.weight_value()).collect();
    let noise = |centre: [f64; 3]| -> Vec<f64> {
        let seed = centre.iter().fold(7u64, |seed, at| seed.wrapping_mul(1_000_003).wrapping_add((at * 64.0) as u64));
        let mut random = Random(seed);
        for _ in 0..4 {
            random.draw();
        }
        weights.iter().map(|weight| weight * (1.0 + 0.1 * random.draw())).collect()
    };
    flow.init_cells(|_, out| out[0] = 1.0).unwrap();
    flow.update_cells(|cell, populations| populations.copy_from_slice(&noise(flat(cell, dim)))).unwrap();
    reference.coarse.fill(|centre| noise(first(centre, dim)));
    reference.fine.fill(|centre| noise(first(centre, dim)));
    (flow, reference)
}

fn first(centre: [f64; 3], dim: usize) -> [f64; 3] {
    std::array::from_fn(|axis| if axis < dim { centre[axis] } else { 0.0 })
}

fn flat(cell: Cell, dim: usize) -> [f64; 3] {
    first(cell.centre(), dim)
}

fn key(centre: [f64; 3]) -> [i64; 3] {
    centre.map(|at| (at * 64.0).round() as i64)
}

/// Largest difference of a population between the kernels and the reference.
fn difference(flow: &Simulation, reference: &TwoLevels, dim: usize) -> f64 {
    let expected: BTreeMap<[i64; 3], Vec<f64>> = [&reference.coarse, &reference.fine]
        .into_iter()
        .flat_map(|cells| cells.each())
        .map(|(centre, populations)| (key(first(centre, dim)), populations))
        .collect();
    let (mut most, mut seen) = (0.0f64, 0);
    flow.visit_populations(|cell, populations| {
        for (a, b) in populations.iter().zip(&expected[&key(flat(cell, dim))]) {
            most = if (a - b).is_nan() { f64::INFINITY } else { most.max((a - b).abs()) };
        }
        seen += 1;
    })
    .unwrap();
    assert_eq!(seen, expected.len());
    most
}

#[test]
fn kernels_do_what_the_reference_does() {
    for (spec, coupling, shapes) in sample([
        ("d2q9_bgk", "volumetric", &["strip", "square", "L", "corner"][..]),
        ("d2q9_bgk", "volumetric_shifted", &["strip", "square", "L", "corner"]),
        ("d3q19_bgk", "volumetric", &["corner"]),
        ("d3q27_bgk", "volumetric_shifted", &["L"]),
        ("d2q9_bgk", "volumetric_timed", &["strip", "L", "corner"]),
        ("d2q9_bgk", "volumetric_chen", &["L"]),
        ("d3q19_bgk", "volumetric_timed", &["L"]),
        ("d3q27_bgk", "volumetric_chen", &["corner"]),
    ]) {
        let model = compiled::model_with_coupling(spec, coupling);
        let dim = model.lattice().dim();
        let bundle = compiled::compile_levels(&model, Target::C, Real::F64, block(dim));
        for shape in shapes {
            let (mut flow, mut reference) = noisy(&model, &bundle, shape, 1.7);
            assert_eq!(difference(&flow, &reference, dim), 0.0);
            for step in 1..=2 {
                flow.run(1).unwrap();
                reference.advance();
                let difference = difference(&flow, &reference, dim);
                assert!(difference < 1e-14, "{spec} {coupling} {shape}: {difference:e} after {step} steps");
            }
        }
    }
}

/// A box with walls of bounce-back on all faces, in the lower corner of which some blocks are refined once or twice.
fn walled(bundle: &Bundle, levels: usize, refine: impl Fn(Block) -> bool + Sync) -> Simulation {
    let dim = bundle.manifest.dim as usize;
    let side = 4 * block(dim)[0] as usize;
    let size = std::array::from_fn(|axis| if axis < dim { side } else { 1 });
    let grid = Face::ALL
        .into_iter()
        .take(2 * dim)
        .fold(GridSpec::periodic(size), |grid, face| grid.with_wall(face, "bounce_back", &[]));
    let params = [("omega".to_string(), vec![1.7])];
    Simulation::refined(&Device::host(1).unwrap(), bundle, &grid, &params, levels, refine).unwrap()
}

/// Deviations from rest in every population, a tenth of it.
fn disturb(flow: &mut Simulation) {
    let weights: Vec<f64> = flow.manifest().directions.iter().map(|direction| direction.weight_value()).collect();
    flow.init_cells(|_, out| out[0] = 1.0).unwrap();
    flow.update_cells(|cell, populations| {
        let at = cell.centre();
        for (i, population) in populations.iter_mut().enumerate() {
            let phase = 0.7 * at[0] + 1.3 * at[1] + 0.9 * at[2] + i as f64;
            *population = weights[i] * (1.0 + 0.1 * phase.sin());
        }
    })
    .unwrap();
}

#[test]
fn walls_that_cross_jumps_keep_mass() {
    lbm_tests::in_turn!();
    let methods = [
        ("d2q9_bgk", "volumetric"),
        ("d2q9_bgk", "volumetric_shifted"),
        ("d3q27_bgk", "volumetric_shifted"),
        ("d2q9_bgk", "volumetric_timed"),
        ("d3q19_bgk", "volumetric_timed"),
    ];
    for (spec, coupling) in methods {
        let model = compiled::model_with_coupling(spec, coupling);
        let dim = model.lattice().dim();
        let bundle = compiled::compile_levels(&model, Target::C, Real::F64, block(dim));
        // Along the whole lower wall of y; in the corner; in the middle of a wall; twice in the corner.
        let along = |block: Block| block.place[1] == 0;
        let corner = |block: Block| block.place[..dim].iter().all(|at| *at == 0);
        let middle = |block: Block| block.place[0] == 0 && block.place[1..dim].iter().all(|at| (1..3).contains(at));
        let shapes: [(_, _, Refine); 4] =
            [("along", 2, &along), ("corner", 2, &corner), ("middle", 2, &middle), ("twice", 3, &corner)];
        for (name, levels, refine) in shapes {
            let mut flow = walled(&bundle, levels, refine);
            disturb(&mut flow);
            let before = flow.mass().unwrap();
            flow.run(10).unwrap();
            let change = (flow.mass().unwrap() - before) / before;
            assert!(change.abs() < 1e-13, "{spec} {coupling} {name}: {change:e}");
        }
    }
}

/// In a corner, the links of a coarse cell come off the same wall whether there is a jump near or not: what the lid adds at one end,
/// it takes at the other.
#[test]
fn a_lid_keeps_mass_with_a_jump_near_one_of_its_ends() {
    for spec in ["d2q9_bgk", "d3q27_bgk"] {
        let model = compiled::model_with_coupling(spec, "volumetric_shifted");
        let dim = model.lattice().dim();
        let bundle = compiled::compile_levels(&model, Target::C, Real::F64, block(dim));
        let side = 4 * block(dim)[0] as usize;
        let grid = flows::cavity(spec, [side; 3], 0.1);
        // Beside the block in a corner, without touching a wall.
        let refine = |block: Block| block.place[dim - 1] == 2 && block.place[..dim - 1].iter().all(|at| *at == 1);
        let params = [("omega".to_string(), vec![1.7])];
        let mut flow = Simulation::refined(&Device::host(1).unwrap(), &bundle, &grid, &params, 2, refine).unwrap();
        flow.init_cells(|_, out| out[0] = 1.0).unwrap();
        let before = flow.mass().unwrap();
        flow.run(10).unwrap();
        let change = (flow.mass().unwrap() - before) / before;
        assert!(change.abs() < 1e-13, "{spec}: {change:e}");
    }
}
