//! Absorbing layers: sound that reaches the wall behind one does not come back, whatever is stored of a cell, on several levels, and in several
//! parts.

use std::sync::Arc;

use lbm_bundle::variation::{ABSORBING, FAR_DENSITY, FAR_VELOCITY, Variation};
use lbm_bundle::{Bundle, Formula, Real};
use lbm_dsl::model::Model;
use lbm_runtime::device::Device;
use lbm_runtime::geometry::{Block, Face};
use lbm_runtime::solver::{GridSpec, PlaceValues, Prepared, Simulation};
use lbm_tests::compiled;

const PLACE: &str = "absorbing_place_0";
/// Cells of the domain along x, and those of them in the layer.
const SIDE: f64 = 128.0;
const WIDTH: f64 = 32.0;
/// Steps in which sound goes from where it starts to the wall and back.
const STEPS: u64 = 266;

fn layer() -> Variation {
    Variation {
        param: ABSORBING.into(),
        formulas: vec![Formula::name(PLACE)],
        places: vec![PLACE.into()],
        numbers: vec![],
        unit: Some("absorbing_unit".into()),
        viscosity: false,
    }
}

fn model(spec: &str, coupling: Option<&str>) -> Model {
    compiled::model_varied(spec, &["bounce_back"], coupling, &[layer()])
}

/// A pulse of sound on its way to the right, after [`STEPS`] in so many parts: the largest disturbance of the density in front of the layer,
/// over that at the start, and all densities.
fn pulse(bundle: &Bundle, levels: usize, parts: usize, strength: f64) -> (f64, Vec<f64>) {
    let device = Device::host(1).expect("the host");
    let grid = GridSpec::periodic([SIDE as usize, 8, 1]);
    let grid = grid.with_wall(Face::XMin, "bounce_back", &[]).with_wall(Face::XMax, "bounce_back", &[]);
    let right = |block: Block| block.level == 0 && block.place[0] >= 10;
    let prepared = Prepared::refined(&device, bundle, &grid, levels, right).expect("a grid");
    let prepared = prepared.in_subdomains(&vec![device.clone(); parts], bundle).expect("parts");
    let value = |name: &str| match name {
        FAR_VELOCITY => vec![0.0; 2],
        FAR_DENSITY | "absorbing_unit" => vec![1.0],
        _ => vec![1.9],
    };
    let params = &bundle.manifest.params;
    let params: Vec<(String, Vec<f64>)> = params.iter().map(|param| (param.name.clone(), value(&param.name))).collect();
    let mut flow: Simulation = prepared.simulation(&params).expect("a flow");
    let rate = move |x: f64| strength * 4.2 / WIDTH * (1.0 - (SIDE - x) / WIDTH).max(0.0).powi(2);
    let values: PlaceValues = Arc::new(move |at, out| out[0] = rate(at[0]));
    flow.follow_places(values);
    flow.init_cells(|cell, out| {
        let x = cell.centre()[0];
        let sound = 1e-3 * (-((x - 51.0) / 8.0).powi(2)).exp();
        out.copy_from_slice(&[1.0 + sound, sound / 3f64.sqrt(), 0.0, rate(x)]);
    })
    .expect("a start");
    flow.run(STEPS).expect("steps");
    let snapshot = flow.snapshot().expect("fields");
    let density = snapshot.get("rho").expect("a density");
    let before = |at: &usize| snapshot.cell(*at).centre()[0] < SIDE - WIDTH;
    let most = (0..density.len()).filter(before).map(|at| (density[at] - 1.0).abs() / 1e-3).fold(0.0, f64::max);
    (most, density.to_vec())
}

#[test]
fn sound_that_enters_a_layer_does_not_come_back() {
    let device = Device::host(1).expect("the host");
    let bundle = compiled::compile(&model("d2q9_bgk", None), device.target(), Real::F64, [8, 8, 1]).bundle;
    let (without, _) = pulse(&bundle, 1, 1, 0.0);
    assert!(without > 0.8, "a wall reflects: {without}");
    let (once, density) = pulse(&bundle, 1, 1, 1.0);
    assert!(once < 0.01, "{once}");
    let (_, parts) = pulse(&bundle, 1, 2, 1.0);
    assert!(density == parts, "in two parts it is another flow");
}

#[test]
fn a_layer_takes_the_same_in_a_time_on_cells_of_every_level() {
    let device = Device::host(1).expect("the host");
    let bundle =
        compiled::compile_levels(&model("d2q9_bgk", Some("volumetric_shifted")), device.target(), Real::F64, [8, 8, 1]);
    let [coarse, fine] = [1, 2].map(|levels| pulse(&bundle, levels, 1, 0.25).0);
    assert!(coarse > 0.1 && (fine / coarse - 1.0).abs() < 0.1, "{coarse} {fine}");
}

#[test]
fn moments_in_the_place_of_populations_are_absorbed_alike() {
    let device = Device::host(1).expect("the host");
    let model = model("d2q9_recursive", None);
    let whole = compiled::compile(&model, device.target(), Real::F64, [8, 8, 1]).bundle;
    let moments = compiled::compile_moments(&model, device.target(), Real::F64, [8, 8, 1]);
    let [(once, whole), (_, moments)] = [&whole, &moments].map(|bundle| pulse(bundle, 1, 1, 1.0));
    let apart = whole.iter().zip(&moments).map(|(a, b)| (a - b).abs()).fold(0.0, f64::max);
    assert!(once < 0.01 && apart < 1e-12, "{once} {apart:e}");
}
