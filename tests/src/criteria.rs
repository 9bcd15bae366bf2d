//! Criteria of tests, compiled and loaded.

use lbm_bundle::criteria::TargetLevel;
use lbm_bundle::formula::{Formula, Function};
use lbm_bundle::{Bundle, Manifest};
use lbm_runtime::device::Device;
use lbm_runtime::kernels::Criterion;

/// Criteria for the method of a bundle.
pub fn criteria(device: &Device, bundle: &Bundle, criteria: &[Vec<TargetLevel>]) -> Vec<Criterion> {
    let criteria = lbm_codegen::criteria::bundle(&bundle.manifest, criteria).unwrap_or_else(|error| panic!("{error}"));
    Criterion::load(device, &criteria).unwrap_or_else(|error| panic!("{error}"))
}

/// The same of one.
pub fn criterion(device: &Device, bundle: &Bundle, levels: Vec<TargetLevel>) -> Criterion {
    criteria(device, bundle, &[levels]).remove(0)
}

/// A level everywhere.
pub fn everywhere(device: &Device, bundle: &Bundle, level: usize) -> Criterion {
    criterion(device, bundle, vec![self::level(&level.to_string())])
}

/// The level that a formula says.
pub fn level(formula: &str) -> TargetLevel {
    TargetLevel::Level(formula.parse().unwrap_or_else(|error| panic!("{formula}: {error}")))
}

/// Thresholds on a formula; a level is given up below a share of its own.
pub fn above(formula: &str, thresholds: &[f64], given_up: f64) -> TargetLevel {
    let formula = formula.parse().unwrap_or_else(|error| panic!("{formula}: {error}"));
    TargetLevel::Above { formula, thresholds: thresholds.to_vec(), given_up }
}

/// Thresholds on the magnitude of the vorticity of a plane flow.
pub fn vorticity(thresholds: &[f64]) -> TargetLevel {
    above("abs(dx_uy - dy_ux)", thresholds, 0.5)
}

/// A function of the first components of the fields of a method.
pub fn of_components(function: Function, manifest: &Manifest) -> Formula {
    let names = manifest.component_names();
    Formula::apply(
        function,
        names[..function.operands().len()].iter().map(|name| Formula::name(name)).collect::<Vec<_>>(),
    )
}

/// Criteria for a method with all there is in them: none, every function, and every kind of target level and of variable.
pub fn of_every_kind(manifest: &Manifest) -> Vec<Vec<TargetLevel>> {
    let dim = manifest.dim as usize;
    let functions = Function::ALL.iter().map(|function| of_components(*function, manifest));
    let sum = functions.reduce(|sum, term| Formula::apply(Function::Add, [sum, term])).expect("functions");
    let boxed = TargetLevel::Within { level: 2, from: vec![1.5; dim], to: vec![1e9; dim] };
    let limits = [0.1, 1e-7, f64::INFINITY, f64::NAN];
    vec![
        vec![],
        vec![TargetLevel::Level(sum.clone())],
        vec![boxed.clone()],
        vec![vorticity(&[0.001, 0.004])],
        vec![level("2 - x / 8 + 1 / 0 - 0 / 0"), boxed, above("rho * x + dx_uy^2 + dy_ux^rho", &limits, 0.5)],
        vec![TargetLevel::Above { formula: sum, thresholds: vec![1.0], given_up: 0.5 }, above("2", &[1.0], 0.5)],
    ]
}
