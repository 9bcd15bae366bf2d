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
fn bundle(device: &Device, coupling: &str) -> Bundle {
    let variation = Variation {
        param: "drag".into(),
        formulas: vec![Formula::name("drag_place_0")],
        places: vec!["drag_place_0".into()],
        numbers: vec![],
        unit: Some("drag_unit".into()),
        viscosity: false,
    };
    let model = compiled::model_varied("d2q9_porous", &["bounce_back"], Some(coupling), &[variation]);
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
        for coupling in ["volumetric_shifted", "interpolated"] {
            let bundle = bundle(&device, coupling);
            let refine =
                |block: Block| block.level < 2 && block.place[0] <= block.level && block.place[1] <= block.level;
            let mut flow = Simulation::refined(&device, &bundle, &walls(), &params(), 3, refine).unwrap();
            start(&mut flow);
            assert_eq!(check(&flow, &format!("{coupling}, at the start")), 3);
            flow.run(3).unwrap();
            assert_eq!(check(&flow, &format!("{coupling}, after steps")), 3);
        }
    }
}

#[test]
fn cells_that_change_their_level_have_what_their_new_place_has() {
    for device in devices() {
        let bundle = bundle(&device, "volumetric_shifted");
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

/// Kernels of `d2q9_recursive` with ghosts; `varies`: whether cells keep their viscosity.
fn with_ghosts(device: &Device, varies: bool) -> Bundle {
    let variation = Variation {
        param: "omega".into(),
        formulas: vec![Formula::name("own")],
        places: vec!["own".into()],
        numbers: vec![],
        unit: Some("unit".into()),
        viscosity: true,
    };
    let variations = if varies { vec![variation] } else { vec![] };
    let rules = ["bounce_back", "moving_wall"];
    let model = compiled::model_varied("d2q9_recursive", &rules, Some("interpolated"), &variations);
    compiled::compile_levels(&model, device.target(), Real::F64, [8, 8, 1])
}

/// A channel of 16 x 32 cells between a wall at rest and one that moves, the lower half of them refined.
fn sheared(device: &Device, viscosity: Option<fn(f64) -> f64>) -> Simulation {
    let bundle = with_ghosts(device, viscosity.is_some());
    let grid = GridSpec::periodic([16, 32, 1]).with_wall(Face::YMin, "bounce_back", &[]);
    let grid = grid.with_wall(Face::YMax, "moving_wall", &[("velocity", &[0.02, 0.0])]);
    let params = match viscosity {
        Some(_) => vec![("unit".to_string(), vec![1.0])],
        None => vec![("omega".to_string(), vec![1.0 / (3.0 * 0.05 + 0.5)])],
    };
    let lower = |block: Block| block.level == 0 && block.place[1] < 2;
    let mut flow = Simulation::refined(device, &bundle, &grid, &params, 2, lower).unwrap();
    if let Some(viscosity) = viscosity {
        let values: PlaceValues = Arc::new(move |at, out| out[0] = viscosity(at[1]));
        flow.follow_places(values);
    }
    flow.init_cells(|cell, out| {
        out.fill(0.0);
        out[0] = 1.0;
        if let (Some(viscosity), Some(own)) = (viscosity, out.get_mut(3)) {
            *own = viscosity(cell.centre()[1]);
        }
    })
    .unwrap();
    flow
}

/// The velocity along x, by the height of cells.
fn profile(flow: &mut Simulation) -> Vec<(f64, f64)> {
    let snapshot = flow.snapshot().unwrap();
    let u = snapshot.vector("u").expect("a velocity")[0];
    u.iter().enumerate().map(|(at, u)| (snapshot.cell(at).centre()[1], *u)).collect()
}

#[test]
fn ghosts_of_a_viscosity_that_is_the_same_everywhere_are_those_of_a_parameter() {
    for device in devices() {
        let [mut varied, mut plain] = [Some((|_| 0.05) as fn(f64) -> f64), None].map(|of| sheared(&device, of));
        for flow in [&mut varied, &mut plain] {
            flow.run(500).unwrap();
        }
        let (varied, plain) = (profile(&mut varied), profile(&mut plain));
        let most = varied.iter().zip(&plain).map(|(a, b)| (a.1 - b.1).abs()).fold(0.0, f64::max);
        assert!(most < 1e-14, "{most:e}");
        assert!(plain.iter().any(|(_, u)| *u > 0.015));
    }
}

/// Twice the viscosity at the upper wall as at the lower one: the stress is the same everywhere, through the interface too.
#[test]
fn with_ghosts_a_viscosity_of_the_place_gives_the_profile_of_constant_stress() {
    lbm_tests::in_turn!();
    for device in devices() {
        let mut flow = sheared(&device, Some(|y| 0.05 * (1.0 + y / 32.0)));
        flow.run(20_000).unwrap();
        for (y, u) in profile(&mut flow) {
            let right = 0.02 * (1.0 + y / 32.0).ln() / 2f64.ln();
            assert!((u - right).abs() < 2e-5, "{u} at {y} in the place of {right}");
        }
    }
}
