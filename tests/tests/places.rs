//! What cells keep for parameters that vary: on all levels, while the grid changes and where solids move, the value of the place, to the
//! last bit.

use std::sync::Arc;

use lbm_bundle::variation::Variation;
use lbm_bundle::{Bundle, Formula, Real};
use lbm_runtime::device::Device;
use lbm_runtime::geometry::{Block, Face};
use lbm_runtime::solver::{Adaptivity, GridSpec, PlaceValues, Simulation};
use lbm_tests::compiled;
use lbm_tests::criteria::{criterion, everywhere, level};
use lbm_tests::flows::devices;

/// `d2q9_porous` with a drag of the place.
fn bundle(device: &Device) -> Bundle {
    let variation = Variation {
        param: "drag".into(),
        formulas: vec![Formula::name("drag_place_0")],
        places: vec!["drag_place_0".into()],
        numbers: vec![],
        unit: Some("drag_unit".into()),
        viscosity: false,
    };
    let model = compiled::model_varied("d2q9_porous", &["bounce_back"], Some("volumetric_shifted"), &[variation]);
    compiled::compile_levels(&model, device.target(), Real::F64, [8, 8, 1])
}

fn drag(at: [f64; 3]) -> f64 {
    0.01 * (0.3 * at[0]).sin().exp() * (at[1] / 64.0)
}

fn params() -> Vec<(String, Vec<f64>)> {
    let params = [("omega", vec![1.6]), ("drag_unit", vec![1.0]), ("force", vec![1e-6, 0.0])];
    params.into_iter().map(|(name, values)| (name.to_string(), values)).collect()
}

fn walls() -> GridSpec {
    GridSpec::periodic([64, 64, 1]).with_wall(Face::YMin, "bounce_back", &[]).with_wall(Face::YMax, "bounce_back", &[])
}

fn start(flow: &mut Simulation) {
    let values: PlaceValues = Arc::new(|at, out| out[0] = drag(at));
    flow.follow_places(values);
    flow.init_cells(|cell, out| {
        let wave = 0.01 * (0.2 * cell.centre()[1]).sin();
        out.copy_from_slice(&[1.0, wave, 0.0, drag(cell.centre())]);
    })
    .unwrap();
}

/// Every cell keeps its drag; says on how many levels there are cells.
fn check(flow: &Simulation, what: &str) -> usize {
    let at = flow.manifest().q() - 1;
    let mut levels = vec![];
    flow.visit_populations(|cell, values| {
        assert_eq!(values[at], drag(cell.centre()), "{what}: {cell:?}");
        levels.push(cell.level);
    })
    .unwrap();
    levels.sort_unstable();
    levels.dedup();
    levels.len()
}

#[test]
fn cells_of_several_levels_keep_what_their_place_has() {
    for device in devices() {
        let bundle = bundle(&device);
        let refine = |block: Block| block.level < 2 && block.place[0] <= block.level && block.place[1] <= block.level;
        let mut flow = Simulation::refined(&device, &bundle, &walls(), &params(), 3, refine).unwrap();
        start(&mut flow);
        assert_eq!(check(&flow, "at the start"), 3);
        flow.run(3).unwrap();
        assert_eq!(check(&flow, "after steps"), 3);
    }
}

#[test]
fn cells_that_change_their_level_have_what_their_new_place_has() {
    for device in devices() {
        let bundle = bundle(&device);
        let adaptivity = Adaptivity {
            levels: 0..=2,
            start: criterion(&device, &bundle, vec![]),
            during: Some((u64::MAX, everywhere(&device, &bundle, 0))),
            pinned: vec![],
            memory: None,
            sharing: 1,
            keeps: false,
        };
        let mut flow = Simulation::adaptive(&device, &bundle, &walls(), &params(), &adaptivity, None).unwrap();
        start(&mut flow);
        let corner = |from: usize, finest: usize| {
            criterion(&device, &bundle, vec![level(&format!("if((x > {from}) * (y > {from}), {finest}, 0)"))])
        };
        let mut most = 0;
        for to in [
            corner(32, 2),
            corner(16, 1),
            everywhere(&device, &bundle, 1),
            corner(48, 2),
            everywhere(&device, &bundle, 0),
        ] {
            let outcome = flow.adapt_to(&to).unwrap();
            assert!(outcome.changed());
            most = most.max(check(&flow, "changed"));
            flow.run(3).unwrap();
            check(&flow, "after steps");
        }
        assert_eq!(most, 3);
    }
}
