//! One arithmetic, many executions: the kernel as the spec says it = its simplified form = compiled C, on random states
//! near equilibrium. Functions are compared in compiled Rust, too. Errors are relative to the largest population of the state.

use lbm_bundle::{Layout, Real, Target};
use lbm_codegen::eval::{eval_dag, eval_ir};
use lbm_codegen::options::Options;
use lbm_codegen::{lower, simplify};
use lbm_dsl::expr::{Exact, Expr, Rational, Symbol};
use lbm_dsl::function;
use lbm_dsl::model::Model;
use lbm_dsl::shipped::Prelude;
use lbm_dsl::source::Source;
use lbm_tests::compiled::EVERYWHERE;
use lbm_tests::sample::sample;
use lbm_tests::{compiled, toolchain};
use num_traits::ToPrimitive;

lbm_macros::lbm! { mod functions(f64) = "own/functions.lbm"; }

const OMEGA: f64 = 1.7;
const STATES: usize = 19;

/// Largest difference between two sets of states.
fn difference(a: &[Vec<f64>], b: &[Vec<f64>]) -> f64 {
    let of_state = |(a, b): (&Vec<f64>, &Vec<f64>)| {
        let scale = b.iter().fold(0.0, |most: f64, value| most.max(value.abs()));
        let worst = |most: f64, (a, b): (&f64, &f64)| if a.is_nan() { f64::INFINITY } else { most.max((a - b).abs()) };
        a.iter().zip(b).fold(0.0, worst) / scale
    };
    a.iter().zip(b).map(of_state).fold(0.0, f64::max)
}

/// The value of an input of the collision.
fn input(model: &Model, state: &[f64], params: &[(String, Vec<f64>)], symbol: Symbol) -> f64 {
    match symbol {
        // Cells around have the same.
        Symbol::Neighbour { shown, .. } => state[model.row(shown.into()).index()],
        Symbol::Population(pop) => state[pop.index()],
        Symbol::Param { param, component } => params[usize::from(param)].1[usize::from(component)],
        _ => unreachable!("a collision has no such input"),
    }
}

#[test]
fn all_executions_of_a_collision_agree() {
    for spec in sample(compiled::specs()) {
        let model = compiled::model(spec);
        agree(spec, &model);
    }
}

/// Compares the executions of a method's collision; the states, and what the collision makes of them.
fn agree(spec: &str, model: &Model) -> [Vec<Vec<f64>>; 2] {
    let states = compiled::states(model, STATES);
    let params = compiled::params(model, OMEGA);
    let input = |state: &[f64], symbol| input(model, state, &params, symbol);
    let kernel = lower::collide(model);
    let dag = simplify::simplify(&kernel).unwrap_or_else(|error| panic!("{spec}: {error}"));

    // Roots and functions are mostly irrational: what has some is compared with the kernel as written.
    let roots = kernel.exprs.iter().any(|(_, node)| matches!(node, Expr::Sqrt(_) | Expr::Call(..)));
    let exact = |state: &Vec<f64>| -> Vec<f64> {
        if roots {
            return eval_ir(&kernel, |symbol| input(state, symbol));
        }
        let given = |symbol| -> Exact { Rational::from_float(input(state, symbol)) };
        let values = eval_ir(&kernel, given);
        values.into_iter().map(|value| value.and_then(|value| value.to_f64()).expect("defined")).collect()
    };
    let exact: Vec<Vec<f64>> = states.iter().map(exact).collect();
    let ir: Vec<Vec<f64>> = states.iter().map(|state| eval_ir(&kernel, |symbol| input(state, symbol))).collect();
    let simple: Vec<Vec<f64>> = states.iter().map(|state| eval_dag(&dag, |symbol| input(state, symbol))).collect();
    assert!(difference(&ir, &exact) < 1e-13, "{spec}, as written: {}", difference(&ir, &exact));
    assert!(difference(&simple, &exact) < 1e-13, "{spec}, simplified: {}", difference(&simple, &exact));

    let reals = [(Real::F64, 1e-12), (Real::F32, 2e-6)];
    // In the other type kernels of the rest differ as they do in this one.
    for (real, bound) in reals.into_iter().take(if EVERYWHERE.contains(&spec) { 2 } else { 1 }) {
        let block = Options::default_block(model.lattice().dim());
        let options = Options { target: Target::C, real, layout: Layout::Blocks, block, coupling: None, solids: false };
        let bundle = compiled::emit(model, &options).bundle;
        let found = compiled::collide(&bundle, &params, &states);
        assert!(difference(&found, &exact) < bound, "{spec}, C {real:?}: {}", difference(&found, &exact));
    }
    [states, exact]
}

/// Functions are those of the mathematical libraries of Rust, C and CUDA, within a few roundings.
#[test]
fn every_function_is_the_same_in_all_executions() {
    let text = include_str!("../own/functions.lbm");
    for name in function::names() {
        assert!(text.contains(&format!("{name}(")), "the method has no `{name}`");
    }
    let model = lbm_dsl::compile(&Source::new("functions.lbm", text), &Prelude).expect("it is valid");
    let [states, exact] = agree("functions", &model);

    let before = std::array::from_fn(|i| std::array::from_fn(|at| states[at][i]));
    let mut after = [[0.0; STATES]; functions::Q];
    functions::collide_lanes(&before, &mut after, functions::Params { omega_: f64::from(OMEGA as f32) });
    let found: Vec<Vec<f64>> = (0..STATES).map(|at| after.iter().map(|lanes| lanes[at]).collect()).collect();
    assert!(difference(&found, &exact) < 1e-12, "Rust: {}", difference(&found, &exact));

    let Some(toolkit) = toolchain::cuda() else { return };
    let temporary = tempfile::tempdir().expect("a temporary folder");
    for real in [Real::F32, Real::F64, Real::F16F32] {
        let bundle = compiled::compile(&model, Target::Cuda, real, [8, 8, 1]).bundle;
        let source = temporary.path().join(&bundle.source.name);
        std::fs::write(&source, &bundle.source.text).expect("a temporary file");
        toolchain::nvcc_reads(&toolkit, &source, "90");
    }
}
