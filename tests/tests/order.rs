//! Recordings run phases of a step, and what each part of a flow does of them, beside each other where what they read and write allows: in
//! any such order results have the same bits, and little of a step has to wait.

use lbm_bundle::{Bundle, Real, Target, slides};
use lbm_runtime::device::Device;
use lbm_runtime::geometry::solid::{Shape, Solid};
use lbm_runtime::geometry::{Block, Face};
use lbm_runtime::solver::{GridSpec, Prepared, Simulation, WallLaw};
use lbm_tests::compiled::{self, Random};

/// Between two walls, refined at one of them and inside, with a body on the finest level where the kernels are for solids.
fn flow(bundle: &Bundle, levels: usize) -> Simulation {
    in_parts(bundle, levels, 1)
}

/// The same in so many parts.
fn in_parts(bundle: &Bundle, levels: usize, parts: usize) -> Simulation {
    let dim = bundle.manifest.dim as usize;
    let side = 4 * bundle.manifest.block[0] as usize;
    let size: [usize; 3] = std::array::from_fn(|axis| if axis < dim { side } else { 1 });
    let mut grid = GridSpec::periodic(size);
    for face in [Face::YMin, Face::YMax] {
        grid = grid.with_wall(face, "bounce_back", &[]);
    }
    if !bundle.manifest.solid_rules.is_empty() {
        let centre: [f64; 3] = std::array::from_fn(|axis| if axis < dim { side as f64 / 2.0 } else { 0.0 });
        let shape = Shape::Cylinder { centre, axis: [0.0, 0.0, 1.0], radius: 2.3, length: None };
        let level = levels - 1;
        let does_slide = slides::offsets(&bundle.manifest).is_some();
        let rule = if does_slide { "sliding_wall" } else { "bounce_back" }.into();
        grid = grid.with_solid(Solid { shape, rule, values: vec![], level, shells: vec![] });
        if does_slide {
            let plus = std::sync::Arc::new(|_: f64, _: f64| 3.0);
            grid = grid.under(WallLaw { plus, sample: 2.5, viscosity: 0.02, roughness: 0.0, velocity: None });
        }
    }
    let refine = |block: Block| block.place[..2].iter().all(|at| *at == 0) || block.place[0] == 1 << block.level;
    let value = |name: &str| if name == "omega" { 1.7 } else { 0.95 };
    let params: Vec<(String, Vec<f64>)> =
        bundle.manifest.params.iter().map(|param| (param.name.clone(), vec![value(&param.name)])).collect();
    let device = Device::host(1).unwrap();
    let prepared = Prepared::refined(&device, bundle, &grid, levels, refine).unwrap();
    let mut flow = prepared.in_subdomains(&vec![device.clone(); parts], bundle).unwrap().simulation(&params).unwrap();
    flow.init_cells(|cell, out| {
        let at = cell.centre();
        out.fill(0.0);
        out[0] = 1.0 + 0.01 * (0.3 * at[0] + 0.7 * at[1]).sin();
        out[1] = 0.04 * (0.5 * at[1]).cos();
    })
    .unwrap();
    flow
}

fn bits(flow: &mut Simulation) -> Vec<u64> {
    let mut all = vec![];
    flow.visit_cells(|_, values| all.extend(values.iter().map(|value| value.to_bits()))).unwrap();
    all
}

/// The method whose body slides by a law of the wall.
const SLIDES: &str = "d2q9_recursive";

fn bundle(spec: &str, coupling: &str, solids: bool) -> Bundle {
    let rules: &[&str] = if spec == SLIDES { &["sliding_wall"] } else { &[] };
    let model = compiled::model_with_all(spec, rules, Some(coupling));
    let block = if model.lattice().dim() == 2 { [4, 4, 1] } else { [4, 4, 4] };
    match solids {
        true => compiled::compile_solids(&model, Target::C, Real::F64, block),
        false => compiled::compile_levels(&model, Target::C, Real::F64, block),
    }
}

#[test]
fn phases_in_any_order_that_their_accesses_allow_leave_the_same_bits() {
    let flows = [
        ("d2q9_bgk", "volumetric_shifted", true, 4),
        ("d2q9_bgk", "volumetric", false, 3),
        ("d2q9_bgk", "interpolated", false, 3),
        ("d3q19_bgk", "volumetric_shifted", true, 2),
        ("d2q9_hybrid", "volumetric_shifted", true, 3),
        (SLIDES, "volumetric_shifted", true, 3),
    ];
    for (spec, coupling, solids, levels) in flows {
        let bundle = bundle(spec, coupling, solids);
        let mut in_order = flow(&bundle, levels);
        in_order.run(6).unwrap();
        assert_eq!(in_order.slips().unwrap().is_empty(), spec != SLIDES);
        let expected = bits(&mut in_order);
        let mut random = Random(5);
        let mut pick = |count: usize| ((random.draw() * 0.5 + 0.5) * count as f64) as usize % count;
        let choices: [(&str, &mut dyn FnMut(usize) -> usize); 3] =
            [("the last that may", &mut |count| count - 1), ("the first", &mut |_| 0), ("any", &mut pick)];
        for (name, choose) in choices {
            let mut other = flow(&bundle, levels);
            other.run_reordered(6, choose).unwrap();
            assert!(bits(&mut other) == expected, "{spec} {coupling}: {name} goes first");
        }
    }
}

#[test]
fn shares_of_parts_in_any_order_that_their_accesses_allow_leave_the_bits_of_one_part() {
    lbm_tests::in_turn!();
    let flows = [
        ("d2q9_bgk", "volumetric_shifted", true, 1),
        ("d2q9_bgk", "volumetric_shifted", true, 3),
        ("d2q9_bgk", "volumetric", false, 3),
        ("d2q9_bgk", "interpolated", false, 3),
        ("d3q19_bgk", "volumetric_shifted", true, 2),
        ("d2q9_hybrid", "volumetric_shifted", true, 3),
        (SLIDES, "volumetric_shifted", true, 3),
    ];
    for (spec, coupling, solids, levels) in flows {
        let bundle = bundle(spec, coupling, solids);
        let mut one = flow(&bundle, levels);
        one.run(6).unwrap();
        let expected = bits(&mut one);
        for parts in [2, 3] {
            let mut random = Random(7);
            let mut pick = |count: usize| ((random.draw() * 0.5 + 0.5) * count as f64) as usize % count;
            let choices: [(&str, &mut dyn FnMut(usize) -> usize); 3] =
                [("the last that may", &mut |count| count - 1), ("the first", &mut |_| 0), ("any", &mut pick)];
            for (name, choose) in choices {
                let mut other = in_parts(&bundle, levels, parts);
                other.run_reordered(6, choose).unwrap();
                assert!(bits(&mut other) == expected, "{spec} {coupling} in {parts} parts: {name} goes first");
            }
        }
    }
}

/// A step of a level in parts is no longer than what crosses and what blocks at the edge wait for.
#[test]
fn parts_wait_for_each_other_at_their_edges_alone() {
    let bundle = bundle("d2q9_bgk", "volumetric_shifted", false);
    let passes = |steps| in_parts(&bundle, 1, 2).run_reordered(steps, |_| 0).unwrap();
    // What crosses, and blocks at the edge.
    assert_eq!(passes(5) - passes(4), 2);
}

#[test]
fn four_levels_are_done_in_sixteen_passes() {
    let bundle = bundle("d2q9_bgk", "volumetric_shifted", false);
    let passes = |steps| flow(&bundle, 4).run_reordered(steps, |_| 0).unwrap();
    assert_eq!(passes(5) - passes(4), 16);
}
