//! States: numbers that cells keep from step to step, on one level and several, while the grid changes and across a restart.
//!
//! The method here counts the steps of each cell, a time: a cell of level `l` has done `2^l` in one of the coarsest level, and one that
//! changes its level has what it would have had there. So every cell has the same age in steps of the coarsest level, to the last bits.

use lbm_bundle::{Bundle, Real, Target};
use lbm_codegen::options::Options;
use lbm_codegen::pipeline;
use lbm_dsl::model::Model;
use lbm_dsl::shipped::{self, Prelude};
use lbm_dsl::source::Source;
use lbm_runtime::device::Device;
use lbm_runtime::geometry::{Block, Face};
use lbm_runtime::solver::{Adaptivity, GridSpec, Simulation};
use lbm_tests::compiled;
use lbm_tests::criteria::{criterion, everywhere, level};
use lbm_tests::flows::devices;

/// `d2q9_bgk` with an age.
fn model(coupling: &str) -> Model {
    let text = shipped::spec("d2q9_bgk").unwrap();
    let text = text.replace("field u;", "field u;\nstate age: time;");
    let text = text
        .replace("init f[i] <- quadratic[i](rho, u);", "init {\n    f[i] <- quadratic[i](rho, u);\n    age <- 0;\n}");
    let text = text.replace("    f[i] <- f[i] + omega", "    age  <- age + 1;\n    f[i] <- f[i] + omega");
    let source = Source::new("d2q9_age.lbm", &text);
    let rules = ["bounce_back", "free_slip"];
    lbm_dsl::compile_with(&source, &Prelude, &rules, Some(coupling), None)
        .unwrap_or_else(|report| panic!("{}", report.render(120)))
        .observing(&["age"])
}

fn bundle(device: &Device, coupling: &str) -> Bundle {
    compiled::compile_levels(&model(coupling), device.target(), Real::F64, [8, 8, 1])
}

/// The ages of all cells, in steps of the coarsest level, are as many as the flow has done.
fn check(flow: &mut Simulation, what: &str) {
    // Ghosts have what is interpolated between the last steps of both levels.
    let most = if what == "interpolated" { 1.0 } else { 1e-12 * (1.0 + flow.step() as f64) };
    let (steps, age) = (flow.step() as f64, flow.manifest().q() - 1);
    let mut levels = vec![];
    flow.visit_populations(|cell, values| {
        let found = values[age] * cell.width();
        assert!((found - steps).abs() < most, "{what}: {found} after {steps} at {cell:?}");
        levels.push(cell.level);
    })
    .unwrap();
    let snapshot = flow.snapshot().unwrap();
    let observed = snapshot.get("age").unwrap();
    assert_eq!(observed.len(), levels.len());
    assert!(observed.iter().all(|age| (age - steps).abs() < most), "{what}: {observed:?}");
}

fn walls(size: [usize; 3]) -> GridSpec {
    GridSpec::periodic(size).with_wall(Face::YMin, "bounce_back", &[]).with_wall(Face::YMax, "free_slip", &[])
}

fn start(flow: &mut Simulation) {
    flow.init_cells(|cell, out| {
        out.fill(0.0);
        (out[0], out[1]) = (1.0, 0.01 * (0.2 * cell.centre()[1]).sin());
    })
    .unwrap();
}

fn params() -> Vec<(String, Vec<f64>)> {
    vec![("omega".to_string(), vec![1.6])]
}

#[test]
fn every_cell_of_several_levels_keeps_its_age() {
    lbm_tests::in_turn!();
    for device in devices() {
        for coupling in ["volumetric_shifted", "interpolated"] {
            let bundle = bundle(&device, coupling);
            let refine =
                |block: Block| block.level < 2 && block.place[0] <= block.level && block.place[1] <= block.level;
            let mut flow = Simulation::refined(&device, &bundle, &walls([32, 32, 1]), &params(), 3, refine).unwrap();
            start(&mut flow);
            for steps in [1, 7] {
                flow.run(steps).unwrap();
                check(&mut flow, coupling);
            }
        }
    }
}

#[test]
fn cells_that_change_their_level_keep_their_age() {
    lbm_tests::in_turn!();
    for device in devices() {
        for coupling in ["volumetric_shifted", "interpolated"] {
            let bundle = bundle(&device, coupling);
            let adaptivity = Adaptivity {
                levels: 0..=2,
                start: criterion(&device, &bundle, vec![]),
                during: Some((u64::MAX, everywhere(&device, &bundle, 0))),
                pinned: vec![],
                memory: None,
                sharing: 1,
                keeps: false,
            };
            let grid = walls([64, 64, 1]);
            let mut flow = Simulation::adaptive(&device, &bundle, &grid, &params(), &adaptivity, None).unwrap();
            start(&mut flow);
            let corner = |from: usize, finest: usize| {
                criterion(&device, &bundle, vec![level(&format!("if((x > {from}) * (y > {from}), {finest}, 0)"))])
            };
            for to in [
                corner(32, 2),
                corner(16, 1),
                everywhere(&device, &bundle, 1),
                corner(48, 2),
                everywhere(&device, &bundle, 0),
            ] {
                flow.adapt_to(&to).unwrap();
                flow.run(3).unwrap();
                check(&mut flow, coupling);
            }
        }
    }
}

/// A state is behind the populations and in no sum, and what of a step is restored goes on with the same bits.
#[test]
fn a_restart_keeps_a_state() {
    let device = Device::host(1).unwrap();
    let bundle = bundle(&device, "volumetric_shifted");
    let flow = || {
        let refine = |block: Block| block.level < 1 && block.place[0] == 0;
        let mut flow = Simulation::refined(&device, &bundle, &walls([32, 32, 1]), &params(), 2, refine).unwrap();
        start(&mut flow);
        flow
    };
    let contents = |flow: &Simulation| {
        let mut all = vec![];
        flow.visit_populations(|cell, values| all.push(((cell.level, cell.at), values.to_vec()))).unwrap();
        all.sort_by_key(|(cell, _)| *cell);
        all
    };
    let mut whole = flow();
    whole.run(5).unwrap();
    let mut saved = vec![];
    let state = whole.state().unwrap();
    state
        .read_populations(|bytes| {
            saved.extend_from_slice(bytes);
            Ok(())
        })
        .unwrap();
    let mut again = flow();
    let mut rest = &saved[..];
    again
        .write_populations::<lbm_runtime::solver::StepError>(5, |bytes| {
            let (next, behind) = rest.split_at(bytes.len());
            bytes.copy_from_slice(next);
            rest = behind;
            Ok(())
        })
        .unwrap();
    whole.run(4).unwrap();
    again.run(4).unwrap();
    assert!(contents(&whole) == contents(&again), "the same bits");
    check(&mut again, "restored");
    let sums = again.sums().unwrap();
    assert_eq!(sums.len(), 1);
    assert!((sums[0].mass / 1024.0 - 1.0).abs() < 1e-12, "{}", sums[0].mass);
}

/// Emitted CUDA and plain arrays have the state as one population more.
#[test]
fn a_state_is_stored_behind_the_populations() {
    let model = model("volumetric_shifted");
    let options = |target, layout| Options {
        target,
        real: Real::F32,
        layout,
        block: Options::TILE,
        coupling: None,
        solids: false,
    };
    for target in [Target::Cuda, Target::C] {
        let manifest = pipeline::compile(&model, &options(target, lbm_bundle::Layout::Soa)).unwrap().bundle.manifest;
        assert_eq!((manifest.q(), manifest.main().count, manifest.states.len()), (10, 9, 1));
        assert_eq!(manifest.directions[9].c, [0; 3]);
    }
    let half = Options { real: Real::F16F32, block: [8, 8, 1], ..options(Target::C, lbm_bundle::Layout::Blocks) };
    let manifest = pipeline::compile(&model, &half).unwrap().bundle.manifest;
    assert_eq!((manifest.rows_of(8), manifest.rows_of(9), manifest.rows()), (8..9, 9..11, 11));
}
