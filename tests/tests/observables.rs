//! Observables: what output has beside the fields of a method, against analytic solutions.
//!
//! Between walls at rest a force `F` on a cell of density 1 is balanced by the stress `F (h / 2 - y)`, whatever the viscosity: on a level
//! whose cells are half as wide the force on a cell is half as large, and the stress the same number.

use lbm_bundle::{Bundle, Real, Target};
use lbm_dsl::model::Model;
use lbm_runtime::device::Device;
use lbm_runtime::geometry::{Block, Face};
use lbm_runtime::solver::{GridSpec, Simulation};
use lbm_tests::compiled;
use lbm_tests::flows::devices;

const FORCE: f64 = 1e-6;

fn model(spec: &str, asked: &[&str]) -> Model {
    compiled::model_with_coupling(spec, "volumetric_shifted").observing(asked)
}

fn bundle(device: &Device, spec: &str, asked: &[&str], block: [u32; 3]) -> Bundle {
    compiled::compile_levels(&model(spec, asked), device.target(), Real::F64, block)
}

/// The largest difference of the stress of Poiseuille flow from its solution, over that at the walls, and the largest of the components
/// that are zero.
fn driven(
    device: &Device,
    bundle: &Bundle,
    omega: f64,
    height: usize,
    refine: impl Fn(Block) -> bool + Sync,
) -> [f64; 2] {
    let grid = [Face::YMin, Face::YMax]
        .into_iter()
        .fold(GridSpec::periodic([8, height, 1]), |grid, face| grid.with_wall(face, "bounce_back", &[]));
    let params = [("omega".to_string(), vec![omega]), ("force".to_string(), vec![FORCE, 0.0])];
    let mut flow = Simulation::refined(device, bundle, &grid, &params, 2, &refine).unwrap();
    let (viscosity, h) = ((1.0 / omega - 0.5) / 3.0, height as f64);
    flow.init_cells(|cell, out| {
        let y = cell.centre()[1];
        out.fill(0.0);
        (out[0], out[1]) = (1.0, FORCE * y * (h - y) / (2.0 * viscosity));
    })
    .unwrap();
    flow.run((2.0 * h * h / viscosity) as u64).unwrap();
    let snapshot = flow.snapshot().unwrap();
    assert_eq!(snapshot.finest() > 0, refine(Block { level: 0, place: [0; 3] }), "it is refined where it is to be");
    let most = FORCE * h / 2.0;
    let (mut off, mut other) = (0.0f64, 0.0f64);
    for at in 0..snapshot.get("tau_xy").unwrap().len() {
        let value = |name: &str| snapshot.get(name).unwrap()[at];
        let expected = FORCE * (h / 2.0 - snapshot.cell(at).centre()[1]);
        off = off.max((value("tau_xy") - expected).abs() / most);
        other = other.max(value("tau_xx").abs().max(value("tau_yy").abs()) / most);
        assert!((value("tau_xx") + value("tau_yy")).abs() < 1e-12 * most, "its trace is zero");
    }
    [off, other]
}

#[test]
fn the_stress_of_poiseuille_flow_is_linear() {
    for device in devices() {
        let bundle = bundle(&device, "d2q9_guo", &["tau"], [8, 8, 1]);
        for omega in [0.7, 1.3, 1.9] {
            let [off, other] = driven(&device, &bundle, omega, 16, |_| false);
            println!("omega {omega}: {off:e}, {other:e}");
            assert!(off < 1e-9 && other < 1e-4, "omega {omega}: {off:e}, {other:e}");
        }
    }
}

#[test]
fn the_stress_of_two_levels_is_the_same() {
    for device in devices() {
        let bundle = bundle(&device, "d2q9_guo", &["tau_xy"], [4, 4, 1]);
        let errors =
            [16, 32].map(|height| driven(&device, &bundle, 1.3, height, |block| 8 * block.place[1] < height)[0]);
        println!("two levels: {errors:?}");
        assert!(errors.iter().all(|error| *error < 1e-9), "{errors:?}");
    }
}

/// In three dimensions: the stress of Couette flow is the viscosity times the shear rate.
#[test]
fn the_stress_of_couette_flow_is_uniform() {
    let device = Device::host(1).unwrap();
    let bundle = bundle(&device, "d3q19_bgk", &["tau"], [4, 4, 4]);
    let (height, lid, omega) = (8, 0.02, 1.4);
    let grid = GridSpec::periodic([4, 4, height]).with_wall(Face::ZMin, "bounce_back", &[]).with_wall(
        Face::ZMax,
        "moving_wall",
        &[("velocity", &[lid, 0.0, 0.0])],
    );
    let params = [("omega".to_string(), vec![omega])];
    let mut flow = Simulation::refined(&device, &bundle, &grid, &params, 1, |_| false).unwrap();
    flow.init_cells(|cell, out| {
        out.fill(0.0);
        (out[0], out[1]) = (1.0, lid * cell.centre()[2] / height as f64);
    })
    .unwrap();
    flow.run(4000).unwrap();
    let snapshot = flow.snapshot().unwrap();
    let expected = (1.0 / omega - 0.5) / 3.0 * lid / height as f64;
    for value in snapshot.get("tau_xz").unwrap() {
        assert!((value / expected - 1.0).abs() < 1e-6, "{value} {expected}");
    }
    let names: Vec<&str> = snapshot.components.iter().map(|component| &component.name[..]).collect();
    assert_eq!(names[4..], ["tau_xx", "tau_xy", "tau_xz", "tau_yy", "tau_yz", "tau_zz"]);
}

/// What is not asked for is in no kernel.
#[test]
fn observables_cost_nothing_where_they_are_not_asked_for() {
    let compile = |asked: &[&str]| {
        let model = compiled::model("d2q9_guo").observing(asked);
        compiled::compile(&model, Target::C, Real::F64, [8, 8, 1]).bundle
    };
    let (plain, asked) = (compile(&["velocity"]), compile(&["tau"]));
    assert!(!plain.source.text.contains("tau") && asked.source.text.contains("tau_xy_"));
    assert_eq!((plain.manifest.field_components(), asked.manifest.field_components()), (3, 6));
    assert_eq!((asked.manifest.own_components(), asked.manifest.fields[2].observed), (3, true));
}
