//! Compiled criteria against the values of their formulas.

use lbm_bundle::criteria::TargetLevel;
use lbm_bundle::formula::{Formula, Function};
use lbm_bundle::{Bundle, Real};
use lbm_runtime::device::Device;
use lbm_runtime::kernels::Criterion;
use lbm_runtime::kernels::criteria::TargetLevels;
use lbm_tests::compiled::{self, Random};
use lbm_tests::criteria::{criteria, criterion, level, of_components};
use lbm_tests::flows::devices;

/// Blocks of 64 cells with four components of the fields: rho, ux, uy, uz.
fn bundle(device: &Device, more: &str) -> Bundle {
    let model = compiled::model_with("d3q19_bgk", more);
    compiled::compile(&model, device.target(), Real::F64, [4, 4, 4]).bundle
}

/// The target level, up to the second, of a block of level 0 alone with these fields.
fn target(device: &Device, bundle: &Bundle, criterion: &Criterion, fields: &[f64]) -> i32 {
    let [ids, nodes, levels, places] = [&[0][..], &[0], &[0], &[0; 3]].map(|values| device.ints(values).unwrap());
    let mut around = [-1; 27];
    around[13] = 0;
    let neighbours = device.ints(&around).unwrap();
    let mut values = device.alloc_reals(Real::F64, fields.len()).unwrap();
    values.write_reals(0, fields).unwrap();
    let mut targets = device.ints(&[-1]).unwrap();
    let kernel = TargetLevels {
        ids: ids.slice(0..1),
        neighbours: &neighbours,
        nodes: &nodes,
        levels: &levels,
        places: &places,
        fields: &values,
        finest: 2,
        steps: 40,
        targets: &mut targets,
    };
    criterion.launch(&bundle.manifest, kernel).unwrap();
    targets.read_ints(0..1).unwrap()[0]
}

/// A formula of numbers that no compiler knows, to the last bit: where it differs from what is expected, the target level is 1.
#[test]
fn every_function_has_its_value_on_the_host() {
    let device = Device::host(1).unwrap();
    let bundle = bundle(&device, "");
    let differs = |function: &Function| {
        let expected = || Formula::name("uz");
        let not = |a, b| Formula::apply(Function::NotEqual, [a, b]);
        let found = || of_components(*function, &bundle.manifest);
        let is_none = |value: &dyn Fn() -> Formula| not(value(), value());
        // What is no number differs from itself.
        let differs = not(found(), expected());
        let same = Formula::apply(Function::Min, [is_none(&found), is_none(&expected)]);
        let one = |yes| Formula::number(f64::from(u8::from(yes)));
        let nested = Formula::apply(Function::If, [differs, one(true), one(false)]);
        vec![TargetLevel::Level(Formula::apply(Function::If, [same, one(false), nested]))]
    };
    let compiled = criteria(&device, &bundle, &Function::ALL.iter().map(differs).collect::<Vec<_>>());
    let mut random = Random(5);
    for (function, criterion) in Function::ALL.iter().zip(&compiled) {
        let special = [0.0, 1.0, -1.0, 2.0, 0.5, f64::NAN, f64::INFINITY];
        let mut draw = |cell: usize, at: usize| match cell {
            0..49 => special[if at == 0 { cell / 7 } else { cell % 7 }],
            _ => 3.0 * random.draw(),
        };
        let mut fields = vec![0.0; 4 * 64];
        for cell in 0..64 {
            let operands = [0, 1, 2].map(|at| draw(cell, at));
            operands.iter().enumerate().for_each(|(at, value)| fields[at * 64 + cell] = *value);
            fields[3 * 64 + cell] = function.of(&operands[..function.operands().len()]);
        }
        assert_eq!(target(&device, &bundle, criterion, &fields), 0, "{function:?}");
        let last = fields[4 * 64 - 1];
        fields[4 * 64 - 1] = if last.is_finite() { last + 1.0 } else { 1.0 };
        assert_eq!(target(&device, &bundle, criterion, &fields), 1, "{function:?}");
    }
}

#[test]
fn a_formula_decides_the_same_on_every_device() {
    // Nothing is fused: (1 + e)^2 - 1 - 2 e is e^2 exactly, and 0 after each operation is rounded.
    let text = "if(rho * rho - ux == 0, 2, 1)";
    for device in devices() {
        let bundle = bundle(&device, "");
        let criterion = criterion(&device, &bundle, vec![level(text)]);
        let tiny = 1.0 + f64::EPSILON;
        let fields: Vec<f64> = [tiny, tiny * tiny, 0.0, 0.0].iter().flat_map(|value| [*value; 64]).collect();
        assert_eq!(target(&device, &bundle, &criterion, &fields), 2);
    }
}

#[test]
fn a_formula_has_the_steps_that_are_done() {
    for device in devices() {
        let bundle = bundle(&device, "");
        let formula = "if(t == 40, 1, 0) + if(ux * t == 20, 1, 0)";
        let criterion = criterion(&device, &bundle, vec![level(formula)]);
        let fields: Vec<f64> = [1.0, 0.5, 0.0, 0.0].iter().flat_map(|value| [*value; 64]).collect();
        assert_eq!(target(&device, &bundle, &criterion, &fields), 2);
    }
}

#[test]
fn a_criterion_of_a_spec_may_have_conditions() {
    for device in devices() {
        let bundle = bundle(&device, "criterion rising(u[a]) = if u[0] > 0 then gradient[0](u[1]) else 0;");
        let [rising] = &bundle.manifest.criteria[..] else { panic!("one criterion") };
        assert_eq!(rising.formula.to_string(), "if(0 < ux, dx_uy, 0)");
        let above = TargetLevel::Above { formula: rising.formula.clone(), thresholds: vec![0.5, 2.0], given_up: 0.5 };
        let criterion = criterion(&device, &bundle, vec![above]);
        let fields = |ux: f64, slope: f64| -> Vec<f64> {
            let value = |at: usize| [1.0, ux, slope * (at % 4) as f64, 0.0][at / 64];
            (0..4 * 64).map(value).collect()
        };
        let target = |ux: f64, slope: f64| target(&device, &bundle, &criterion, &fields(ux, slope));
        assert_eq!([target(0.1, 3.0), target(0.1, 1.0), target(-0.1, 3.0), target(0.1, -3.0)], [2, 1, 0, 0]);
    }
}

#[test]
fn a_variable_that_a_method_has_not_is_named() {
    let bundle = bundle(&Device::host(1).unwrap(), "");
    let error =
        lbm_codegen::criteria::bundle(&bundle.manifest, &[vec![level("dx_uw + 1")]]).expect_err("no such field");
    assert!(error.to_string().contains("`dx_uw`") && error.known.contains(&"dx_uz".to_string()), "{error}");
}
