//! Domains that no whole number of blocks fills: the last blocks reach beyond the upper faces. The flow is that in blocks that divide the
//! domain, to the last bit.

use std::sync::Arc;

use lbm_bundle::statistics::Statistic;
use lbm_bundle::{Bundle, Real, Target};
use lbm_codegen::{criteria, statistics};
use lbm_runtime::device::Device;
use lbm_runtime::geometry::solid::{Shape, Solid};
use lbm_runtime::geometry::{Block, Cell, Face};
use lbm_runtime::kernels::{Criterion, Statistics};
use lbm_runtime::solver::probe::Probe;
use lbm_runtime::solver::{Adaptivity, FaceSpec, GridSpec, Patch, Prepared, Simulation, Varying, WallSpec};
use lbm_tests::compiled;
use lbm_tests::criteria::{level, vorticity};
use lbm_tests::flows::{bytes, cavity, restore, varying_wall};

const STEPS: u64 = 12;
const SIZE: [usize; 3] = [29, 21, 1];
const OMEGA: f64 = 1.7;

/// Kernels of a method with more rules, in blocks of a size.
fn bundle(spec: &str, rules: &[&str], coupling: Option<&str>, block: [u32; 3]) -> Bundle {
    compiled::compile_solids(&compiled::model_with_all(spec, rules, coupling), Target::C, Real::F64, block)
}

fn params() -> [(String, Vec<f64>); 1] {
    [("omega".to_string(), vec![OMEGA])]
}

/// Fields that differ from cell to cell, of cells of the domain alone.
fn wavy(size: [usize; 3]) -> impl Fn(Cell, &mut [f64]) + Sync {
    move |cell, out| {
        let at = cell.centre();
        assert!((0..3).all(|axis| at[axis] < size[axis] as f64), "{at:?} is beyond the domain");
        out.fill(0.0);
        out[0] = 1.0 + 0.01 * (0.3 * at[0] + 0.7 * at[1] + 0.5 * at[2]).sin();
        out[1] = 0.04 * (0.5 * at[1]).cos();
        out[2] = 0.02 * (0.4 * at[0] - 0.2 * at[2]).sin();
    }
}

/// A flow on one level in so many parts, at its start.
fn start(bundle: &Bundle, grid: &GridSpec, parts: usize) -> Simulation {
    let device = Device::host(1).unwrap();
    let prepared = Prepared::refined(&device, bundle, grid, 1, |_| false).unwrap();
    let mut flow = prepared.in_subdomains(&vec![device.clone(); parts], bundle).unwrap().simulation(&params()).unwrap();
    flow.init_cells(wavy(grid.size)).unwrap();
    flow
}

/// What is known of a flow after some steps, cell by cell in the same order whatever the blocks are, and its sums.
fn after(flow: &mut Simulation, steps: u64) -> (Vec<u64>, Vec<f64>) {
    let statistics: Vec<usize> = if flow.samples().is_empty() { vec![] } else { vec![0] };
    for _ in 0..steps {
        flow.run(1).unwrap();
        flow.accumulate(&statistics).unwrap();
    }
    let [width, height, depth] = flow.grid().size().map(|cells| cells as f64);
    let at = |part: f64| [part * width, (1.0 - part) * height, 0.5 * depth];
    let points = (0..30).map(|number| at((f64::from(number) + 0.1) / 30.0)).collect();
    // Values at points are sums over cells in the order of the blocks.
    let readings = flow.probe(&mut Probe::new(points, true)).unwrap().into_iter();
    let mut sums: Vec<f64> =
        readings.flat_map(|reading| reading.values.into_iter().chain(reading.gradient.concat())).collect();
    let mut known: Vec<f64> = vec![];
    let snapshot = flow.snapshot().unwrap();
    known.extend(snapshot.components.iter().flat_map(|component| &component.data));
    known.extend(snapshot.solid.iter().map(|solid| f64::from(u8::from(*solid))));
    if let Some(accumulated) = flow.accumulators(0).unwrap() {
        known.extend(accumulated.components.into_iter().flat_map(|component| component.data));
    }
    assert_eq!(flow.grid().cells(), flow.grid().size().iter().product::<usize>());
    assert_eq!(flow.check_fields().unwrap().not_finite, None);
    let (means, conserved) = (flow.means().unwrap().unwrap(), flow.conserved().unwrap());
    // The enstrophy is another: beyond the face it reads cells at rest, as it does in solids.
    sums.extend([means.mass, means.energy, means.fastest, conserved.mass]);
    sums.extend(conserved.momentum.into_iter().chain(flow.forces().unwrap().concat()));
    (known.into_iter().map(f64::to_bits).collect(), sums)
}

/// The flow has the same bits in blocks that reach beyond the domain and in one block, and sums of the same cells.
fn is_the_same(name: &str, [padded, whole]: [&Bundle; 2], grids: [&GridSpec; 2], parts: usize) {
    let (found, sums) = after(&mut start(padded, grids[0], parts), STEPS);
    let (expected, others) = after(&mut start(whole, grids[1], 1), STEPS);
    assert!(found == expected, "{name}: other fields");
    for (at, (sum, other)) in sums.iter().zip(&others).enumerate() {
        let is_same = (sum - other).abs() <= 1e-12 * other.abs().max(1.0) || sum.is_nan() && other.is_nan();
        assert!(is_same, "{name}: sum {at} of {} is {sum}, not {other}", sums.len());
    }
}

fn wall(rule: &str, values: &[(&str, &[f64])]) -> WallSpec {
    let values = values.iter().map(|(name, values)| (name.to_string(), values.to_vec())).collect();
    WallSpec { rule: rule.into(), values, varying: Varying::default() }
}

#[test]
fn a_cavity_has_the_same_bits() {
    let grid = cavity("d2q9_bgk", SIZE, 0.1);
    let [padded, whole] = [[8, 8, 1], [29, 21, 1]].map(|block| bundle("d2q9_bgk", &[], None, block));
    is_the_same("a cavity", [&padded, &whole], [&grid, &grid], 1);
    is_the_same("a cavity in two parts", [&padded, &whole], [&grid, &grid], 2);
}

#[test]
fn a_cavity_in_three_dimensions_has_the_same_bits() {
    let grid = cavity("d3q19_bgk", [9, 7, 5], 0.1);
    let [padded, whole] = [[4, 4, 4], [9, 7, 5]].map(|block| bundle("d3q19_bgk", &[], None, block));
    is_the_same("a cavity", [&padded, &whole], [&grid, &grid], 1);
}

/// Wet-node rules, mirrors and values that vary, a patch, and a solid that reaches through the face.
#[test]
fn every_kind_of_face_beside_padding_has_the_same_bits() {
    let rules = ["zou_he_velocity", "anti_bounce_back", "free_slip"];
    let [padded, whole] = [[8, 8, 1], [29, 21, 1]].map(|block| bundle("d2q9_bgk", &rules, None, block));
    let open = GridSpec::periodic(SIZE)
        .with_wall(Face::XMin, "zou_he_velocity", &[("velocity", &[0.05, 0.0])])
        .with_wall(Face::XMax, "anti_bounce_back", &[("density", &[1.0])])
        .with_wall(Face::YMin, "free_slip", &[]);
    let mut sliding =
        varying_wall(open, Face::YMax, "moving_wall", [|at: [f64; 3]| 0.02 + 0.001 * at[0], |_: [f64; 3]| 0.0]);
    sliding.patches.push(Patch {
        face: Face::XMax,
        region: Arc::new(|at| at[1] < 9.0),
        wall: wall("anti_bounce_back", &[("density", &[1.01])]),
    });
    is_the_same("a channel", [&padded, &whole], [&sliding, &sliding], 1);
    let shape = Shape::Cylinder { centre: [14.3, 20.1, 0.0], axis: [0.0, 0.0, 1.0], radius: 4.4, length: None };
    let solid = Solid { shape, rule: "bounce_back".into(), values: vec![], level: 0, shells: vec![] };
    let around = cavity("d2q9_bgk", SIZE, 0.1).with_solid(solid);
    is_the_same("a cylinder", [&padded, &whole], [&around, &around], 1);
}

#[test]
fn statistics_are_those_of_the_domain() {
    let [padded, whole] = [[8, 8, 1], [29, 21, 1]].map(|block| bundle("d2q9_bgk", &[], None, block));
    let formula = |text: &str| text.parse().expect("a formula");
    let slopes = Statistic { quantities: vec![formula("dx_uy - dy_ux"), formula("ux * uy")], ..Statistic::default() };
    let device = Device::host(1).unwrap();
    let grids = [&padded, &whole].map(|bundle| {
        let kernels = statistics::bundle(&bundle.manifest, std::slice::from_ref(&slopes)).unwrap();
        let statistics = Some(Statistics::load(&device, &kernels).unwrap());
        GridSpec { statistics, ..cavity("d2q9_bgk", SIZE, 0.1) }
    });
    is_the_same("statistics", [&padded, &whole], [&grids[0], &grids[1]], 1);
}

#[test]
fn a_resumed_flow_has_the_same_bits() {
    let (padded, grid) = (bundle("d2q9_bgk", &[], None, [8, 8, 1]), cavity("d2q9_bgk", SIZE, 0.1));
    let mut flow = start(&padded, &grid, 1);
    flow.run(5).unwrap();
    let saved = bytes(&mut flow);
    flow.run(4).unwrap();
    let mut resumed = start(&padded, &grid, 1);
    restore(&mut resumed, 5, &saved);
    resumed.run(4).unwrap();
    assert!(bytes(&mut resumed) == bytes(&mut flow));
}

/// A refined flow where blocks reach beyond two faces.
fn refined(refine: fn(Block) -> bool) -> Simulation {
    let padded = bundle("d2q9_bgk", &[], Some("volumetric_shifted"), [8, 8, 1]);
    let (device, grid) = (Device::host(1).unwrap(), cavity("d2q9_bgk", SIZE, 0.05));
    let mut flow = Simulation::refined(&device, &padded, &grid, &params(), 3, refine).unwrap();
    flow.init_cells(|cell, out| wavy(SIZE)(cell, out)).unwrap();
    flow
}

#[test]
fn only_the_blocks_that_are_asked_for_are_refined() {
    let flow = refined(|block| block.level == 0 && block.place == [1, 0, 0]);
    assert_eq!(flow.grid().cells_of_levels(), [29 * 21 - 64, 256]);
    assert_eq!(flow.grid().updates(), 29 * 21 - 64 + 2 * 256);
}

/// A level that is asked for at a padded face is that of all blocks there and beside them.
#[test]
fn blocks_at_padded_faces_are_on_one_level_and_mass_stays() {
    for (name, refine, finest) in [
        ("inside", (|block: Block| block.level == 0 && block.place == [1, 0, 0]) as fn(Block) -> bool, 0),
        ("at a face", |block: Block| block.level == 0 && block.place == [3, 0, 0], 1),
        ("twice at a face", |block: Block| block.level < 2 && block.place[0] == (3 << block.level), 2),
    ] {
        let mut flow = refined(refine);
        let last = |block: Block, axis: usize| {
            let end = SIZE[axis] << block.level;
            block.place[axis] == (end - 1) / 8
        };
        let leaves: Vec<Block> = flow.grid().leaves().unwrap().iter().map(|leaf| leaf.block).collect();
        let mut at_faces = leaves.iter().filter(|block| last(**block, 0) || last(**block, 1));
        assert!(at_faces.all(|block| block.level == finest), "{name}");
        let volume: f64 = flow
            .grid()
            .cells_of_levels()
            .iter()
            .enumerate()
            .map(|(level, cells)| *cells as f64 / f64::from(1 << (2 * level)))
            .sum();
        assert_eq!(volume, (SIZE[0] * SIZE[1]) as f64, "{name}");
        let before = flow.conserved().unwrap().mass;
        flow.run(30).unwrap();
        let mass = flow.conserved().unwrap().mass;
        assert!((mass / before - 1.0).abs() < 1e-13, "{name}: {before} {mass}");
        let snapshot = flow.snapshot().unwrap();
        assert!((snapshot.integral("rho").unwrap() / mass - 1.0).abs() < 1e-12, "{name}");
    }
}

/// A grid that follows the flow is refined inside; padding and the blocks before it do not change.
#[test]
fn a_grid_that_follows_the_flow_never_refines_padding() {
    let padded = bundle("d2q9_bgk", &[], Some("volumetric_shifted"), [8, 8, 1]);
    let size = [45, 43, 1];
    let (device, grid) = (Device::host(1).unwrap(), cavity("d2q9_bgk", size, 0.05));
    // Beyond the domain alone the level is finer.
    let levels = [vec![level("4 * (x - 45)")], vec![vorticity(&[1e-4, 1e-3])]];
    let criteria = criteria::bundle_within(&padded.manifest, size, &levels).unwrap();
    let criteria = Criterion::load(&device, &criteria).unwrap();
    let [start, follow] = [0, 1].map(|number| criteria[number].clone());
    let adaptivity = Adaptivity {
        levels: 0..=2,
        start,
        during: Some((4, follow)),
        pinned: vec![],
        memory: Some(1 << 26),
        sharing: 1,
        keeps: false,
    };
    let mut flow = Simulation::adaptive(&device, &padded, &grid, &params(), &adaptivity, None).unwrap();
    flow.init_cells(wavy(size)).unwrap();
    let before = flow.conserved().unwrap().mass;
    flow.run(16).unwrap();
    assert!((flow.conserved().unwrap().mass / before - 1.0).abs() < 1e-12);
    let cells = flow.grid().cells_of_levels();
    assert!(cells.len() == 3 && cells[2] > 0, "{cells:?}");
    let is_in_front = |block: &Block| (0..2).any(|axis| (block.place[axis] + 1) * 8 >= size[axis] << block.level);
    let leaves: Vec<Block> = flow.grid().leaves().unwrap().iter().map(|leaf| leaf.block).collect();
    assert!(leaves.iter().filter(|block| is_in_front(block)).all(|block| block.level == 0), "{leaves:?}");
}

#[test]
fn a_face_of_another_kind_and_a_periodic_axis_need_whole_blocks() {
    let padded = bundle("d2q9_bgk", &["zou_he_velocity"], None, [8, 8, 1]);
    let device = Device::host(1).unwrap();
    let periodic = GridSpec::periodic([29, 24, 1]);
    let mut node = cavity("d2q9_bgk", [24, 21, 1], 0.1);
    node.faces[Face::YMax.index()] = FaceSpec::Wall(wall("zou_he_velocity", &[("velocity", &[0.0, 0.0])]));
    for (grid, axis) in [(periodic, "29 cells along x"), (node, "21 cells along y")] {
        let error = Simulation::new(&device, &padded, &grid, &params()).err().expect("no whole blocks");
        assert!(error.to_string().contains(axis), "{error}");
    }
}
