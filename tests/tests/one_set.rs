//! Flows with one set of populations, which steps replace in place, have the bits of those with two.

use std::collections::BTreeMap;

use lbm_bundle::{Bundle, Real, Target};
use lbm_runtime::device::Device;
use lbm_runtime::geometry::solid::{Shape, Solid};
use lbm_runtime::geometry::{Block, Face};
use lbm_runtime::solver::memory::Copies;
use lbm_runtime::solver::{GridSpec, Prepared, Simulation};
use lbm_tests::compiled;
use lbm_tests::sample::sample;

/// A method with rules of the prelude.
fn bundle(spec: &str, rules: &[&str], real: Real, block: [u32; 3]) -> Bundle {
    compiled::compile_in_place(&compiled::model_with_rules(spec, rules), Target::C, real, block)
}

/// The number of levels of a grid, and which blocks are refined.
type Levels = (usize, fn(Block) -> bool);

const UNIFORM: Levels = (1, |_| false);

/// The flow with two sets of populations, then that with one.
fn both(bundle: &Bundle, grid: &GridSpec, (levels, refine): Levels) -> [Simulation; 2] {
    let device = Device::host(2).unwrap();
    let value = |name: &str| if name == "omega" { 1.7 } else { 0.9 };
    let values = |count: u32, name: &str| if count == 1 { vec![value(name)] } else { vec![1e-3; count as usize] };
    let params = bundle.manifest.params.iter().map(|param| (param.name.clone(), values(param.components, &param.name)));
    let params: Vec<_> = params.collect();
    [false, true].map(|one| {
        let prepared = Prepared::refined(&device, bundle, grid, levels, refine).unwrap();
        let prepared = if one { prepared.in_one_set().unwrap() } else { prepared };
        let mut flow = prepared.simulation(&params).unwrap();
        flow.init_cells(|cell, out| {
            let at = cell.centre();
            out.iter_mut()
                .enumerate()
                .for_each(|(number, out)| *out = 0.03 * (0.4 * at[0] + number as f64 * at[1]).sin());
            out[0] = 1.0 + 0.01 * (0.3 * at[0] + 0.7 * at[1] - 0.4 * at[2]).sin();
        })
        .unwrap();
        flow
    })
}

/// The bits of all populations, by cell: levels may be current in different sets.
fn populations(flow: &Simulation) -> Vec<u64> {
    let mut all = BTreeMap::new();
    let bits = |values: &[f64]| -> Vec<u64> { values.iter().map(|value| value.to_bits()).collect() };
    flow.visit_populations(|cell, values| drop(all.insert((cell.level, cell.at), bits(values)))).unwrap();
    all.into_values().flatten().collect()
}

/// Runs both, stopping after odd numbers of steps and even ones.
fn same(what: &str, bundle: &Bundle, grid: &GridSpec) {
    same_on_levels(what, bundle, grid, UNIFORM);
}

/// The same on a refined grid.
fn same_on_levels(what: &str, bundle: &Bundle, grid: &GridSpec, levels: Levels) {
    let [mut two, mut one] = both(bundle, grid, levels);
    assert_eq!(one.grid().levels().len(), levels.0);
    let start = populations(&two);
    for steps in [1, 1, 4, 3, 2] {
        for flow in [&mut two, &mut one] {
            flow.run(steps).unwrap();
        }
        let [right, found] = [&two, &one].map(populations);
        let wrong = right.iter().zip(&found).filter(|(right, found)| right != found).count();
        assert_eq!(wrong, 0, "{what}: of {} values after {} steps", right.len(), two.step());
        assert!(right.iter().all(|value| f64::from_bits(*value).is_finite()), "{what}: not finite");
    }
    assert_ne!(populations(&one), start, "{what}: nothing flows");
}

#[test]
fn periodic_boxes_have_the_same_bits_in_all_lattices_and_types() {
    for (spec, real, block, size) in [
        ("d2q9_scalar", Real::F16F32, [5, 3, 1], [5, 9, 1]),
        ("d3q19_bgk", Real::F64, [16, 2, 2], [32, 4, 4]),
        ("d3q27_bgk", Real::F32, [4, 4, 4], [4, 12, 8]),
    ] {
        same(&format!("{spec} {real:?} {block:?}"), &bundle(spec, &[], real, block), &GridSpec::periodic(size));
    }
}

/// A rule with the values of its parameters.
type Wall = (&'static str, &'static [(&'static str, &'static [f64])]);

const REST: Wall = ("bounce_back", &[]);
const SLIP: Wall = ("free_slip", &[]);
const LID: Wall = ("moving_wall", &[("velocity", &[0.05, 0.01])]);
const INLET: Wall = ("regularized_velocity", &[("velocity", &[0.04, 0.0])]);
const OUTLET: Wall = ("equilibrium", &[("density", &[1.0]), ("velocity", &[0.04, 0.0])]);

/// A box between walls, in the order of faces.
fn walled(size: [usize; 3], walls: [Wall; 4]) -> GridSpec {
    let faces = Face::ALL.into_iter().zip(walls);
    faces.fold(GridSpec::periodic(size), |grid, (face, (rule, values))| grid.with_wall(face, rule, values))
}

#[test]
fn walls_have_the_same_bits() {
    let boxes = [
        ("a cavity", [REST, REST, REST, LID]),
        ("a channel", [INLET, OUTLET, REST, SLIP]),
        ("mirrors all around", [SLIP, SLIP, SLIP, SLIP]),
        ("mirrors and a lid", [SLIP, REST, SLIP, LID]),
        ("nodes that meet", [INLET, OUTLET, INLET, REST]),
    ];
    let rules = [REST, SLIP, LID, INLET, OUTLET].map(|(rule, _)| rule);
    for (real, block) in [(Real::F64, [16, 4, 1]), (Real::F16F32, [5, 3, 1])] {
        let bundle = bundle("d2q9_bgk", &rules, real, block);
        for (what, walls) in boxes {
            let size = [3 * block[0] as usize, 4 * block[1] as usize, 1];
            same(&format!("{what} {real:?} {block:?}"), &bundle, &walled(size, walls));
        }
    }
}

fn solid(shape: Shape, rule: &str) -> Solid {
    Solid { shape, rule: rule.into(), values: vec![], level: 0, shells: vec![] }
}

/// A cylinder between walls, of which some blocks are solid alone, and a ball that a symmetry plane cuts.
#[test]
fn solids_have_the_same_bits_and_the_same_forces() {
    let ball = Shape::Sphere { centre: [12.2, 11.1, 8.3], radius: 6.3 };
    let cylinder = Shape::Cylinder { centre: [15.7, 11.7, 0.0], axis: [0.0, 0.0, 1.0], radius: 7.2, length: None };
    for (spec, real, block, size, shape) in [
        ("d2q9_bgk", Real::F32, [4, 4, 1], [32, 24, 1], cylinder),
        ("d3q19_bgk", Real::F16F32, [4, 4, 4], [24, 16, 16], ball),
    ] {
        let bundle = bundle(spec, &["bounce_back", "free_slip"], real, block);
        let grid = GridSpec::periodic(size).with_solid(solid(shape, "bounce_back"));
        let grid = grid.with_wall(Face::YMin, "bounce_back", &[]).with_wall(Face::YMax, "free_slip", &[]);
        same(&format!("{spec} {real:?}"), &bundle, &grid);
        same_forces(spec, both(&bundle, &grid, UNIFORM));
    }
}

/// Of each step, odd ones too; then sums over steps.
fn same_forces(what: &str, mut flows: [Simulation; 2]) {
    let [two, one] = flows.each_mut().map(|flow| {
        flow.run(3).unwrap();
        let forces = flow.forces().unwrap();
        flow.sum_exchanges(&[None]);
        flow.run(5).unwrap();
        (forces, flow.take_exchanges(0).unwrap())
    });
    assert_eq!(two, one, "{what}");
    assert!(two.0[0][0] != 0.0, "{what}: no force");
}

/// Blocks in the middle are refined, and of these some again; or blocks at the lower corner.
const IN_THE_MIDDLE: fn(Block) -> bool = |block| match block.level {
    0 => block.place[0] == 1 && block.place[1] == 1,
    1 => block.place[0] == 2,
    _ => false,
};
const AT_THE_CORNER: fn(Block) -> bool = |block| block.place[0] == 0 && block.place[1] == 0 && block.level < 2;

#[test]
fn refined_grids_have_the_same_bits() {
    for (spec, coupling, real, block, levels) in sample([
        ("d2q9_bgk", "volumetric_shifted", Real::F64, [4, 4, 1], (2, IN_THE_MIDDLE)),
        ("d2q9_bgk", "volumetric", Real::F16F32, [6, 4, 1], (3, AT_THE_CORNER)),
        ("d3q19_bgk", "volumetric_shifted", Real::F32, [4, 4, 4], (3, IN_THE_MIDDLE)),
    ]) {
        let model = compiled::model_with_all(spec, &[], Some(coupling));
        let bundle = compiled::compile_in_place_levels(&model, Target::C, real, block);
        let roots = [3, 3, if block[2] == 1 { 1 } else { 2 }];
        let size = [0, 1, 2].map(|axis| roots[axis] * block[axis] as usize);
        same_on_levels(&format!("{spec} {coupling} {real:?}"), &bundle, &GridSpec::periodic(size), levels);
    }
}

#[test]
fn walls_and_solids_of_refined_grids_have_the_same_bits() {
    let rules = [REST, SLIP, LID, INLET, OUTLET].map(|(rule, _)| rule);
    let model = compiled::model_with_all("d2q9_bgk", &rules, Some("volumetric_shifted"));
    let bundle = compiled::compile_in_place_levels(&model, Target::C, Real::F64, [4, 4, 1]);
    for (what, walls) in [
        ("a cavity", [REST, REST, REST, LID]),
        ("a channel", [INLET, OUTLET, REST, SLIP]),
        ("mirrors and a lid", [SLIP, REST, SLIP, LID]),
    ] {
        for levels in [(3, AT_THE_CORNER), (3, IN_THE_MIDDLE)] {
            same_on_levels(what, &bundle, &walled([16, 12, 1], walls), levels);
        }
    }
    let (centre, axis) = ([24.0, 20.0, 0.0], [0.0, 0.0, 1.0]);
    let cylinder = Shape::Cylinder { centre, axis, radius: 3.3, length: None };
    let cylinder = Solid { level: 1, ..solid(cylinder, "bounce_back") };
    let around: fn(Block) -> bool =
        |block| block.level == 0 && (4..8).contains(&block.place[0]) && (3..7).contains(&block.place[1]);
    let grid = walled([48, 40, 1], [INLET, OUTLET, REST, SLIP]).with_solid(cylinder);
    same_on_levels("a cylinder", &bundle, &grid, (2, around));
    same_forces("a cylinder", both(&bundle, &grid, (2, around)));
}

#[test]
fn one_set_takes_half_the_memory() {
    let bundle = bundle("d2q9_bgk", &[], Real::F32, [8, 8, 1]);
    let (device, grid) = (Device::host(1).unwrap(), GridSpec::periodic([32, 32, 1]));
    let of = |one: bool| {
        let prepared = Prepared::refined(&device, &bundle, &grid, 1, |_| false).unwrap();
        let prepared = if one { prepared.in_one_set().unwrap() } else { prepared };
        prepared.memory(false, false, Copies::default()).unwrap().populations
    };
    assert_eq!((of(false), of(true)), (2 * 32 * 32 * 9 * 4, 32 * 32 * 9 * 4));
}

#[test]
fn what_reads_other_cells_needs_two_sets_and_is_named() {
    let rules = ["bounce_back", "anti_bounce_back", "zou_he_velocity", "interpolated_bounce_back"];
    let bundle = bundle("d2q9_bgk", &rules, Real::F32, [8, 8, 1]);
    let pressure: Wall = ("anti_bounce_back", &[("density", &[1.0])]);
    let inlet: Wall = ("zou_he_velocity", &[("velocity", &[0.04, 0.0])]);
    let cylinder = Shape::Cylinder { centre: [8.0, 8.0, 0.0], axis: [0.0, 0.0, 1.0], radius: 3.0, length: None };
    let size = [16, 16, 1];
    let refused = [
        (walled(size, [REST, pressure, REST, REST]), "anti_bounce_back"),
        (walled(size, [inlet, REST, inlet, REST]), "meet"),
        (GridSpec::periodic(size).with_solid(solid(cylinder, "interpolated_bounce_back")), "interpolated_bounce_back"),
    ];
    let device = Device::host(1).unwrap();
    for (grid, named) in refused {
        let prepared = Prepared::refined(&device, &bundle, &grid, 1, |_| false).unwrap();
        let error = prepared.in_one_set().err().expect("it needs two sets").to_string();
        assert!(error.contains(named), "{error}");
    }
    let grid = walled(size, [inlet, REST, REST, REST]);
    let without = compiled::compile(&compiled::model_with_rules("d2q9_bgk", &rules), Target::C, Real::F32, [8, 8, 1]);
    let prepared = Prepared::refined(&device, &without.bundle, &grid, 1, |_| false).unwrap();
    assert!(prepared.in_one_set().err().expect("no kernels").to_string().contains("kernels"));
}
