//! Kernels of stored populations give what those of whole ones give, less the values at rest, and round less.

use lbm_codegen::eval::{eval_dag, eval_ir};
use lbm_codegen::ir::KernelIr;
use lbm_codegen::lower::stored::{rest, stored};
use lbm_codegen::lower::{self, levels, solids};
use lbm_codegen::simplify::simplify;
use lbm_dsl::expr::{Exact, Rational, Symbol};
use lbm_dsl::model::{Model, Param};
use lbm_tests::compiled;
use num_traits::{One, ToPrimitive, Zero};

/// Every kernel whose inputs are populations, or whose outputs are, with the parameters of its boundary rule.
fn kernels(model: &Model) -> Vec<(KernelIr, &[Param])> {
    let mut all: Vec<(KernelIr, &[Param])> =
        [lower::collide(model), lower::init(model), lower::macroscopic(model)].map(|kernel| (kernel, &[][..])).into();
    for (rule, boundary) in model.boundaries().iter().enumerate() {
        let kernels = lower::wall(model, rule).into_iter().chain(solids::turned(model, rule));
        all.extend(kernels.map(|kernel| (kernel, &boundary.params[..])));
    }
    for coupling in model.couplings() {
        let packets = (0..model.q()).filter_map(|pop| levels::packets_of(model, coupling, pop));
        let rescaled = levels::rescaled(model, coupling).into_iter().flatten();
        all.extend(packets.chain(rescaled).map(|kernel| (kernel, &[][..])));
    }
    all
}

/// Numbers between 0 and 1 that look random, by symbol.
fn noise(symbol: Symbol) -> Rational {
    let text = format!("{symbol:?}");
    let mixed =
        text.bytes().fold(0x9e37_79b9_u64, |mixed, byte| (mixed ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3));
    Rational::new((mixed % 1009).into(), 1009.into())
}

/// What is stored of the populations of a state near rest, and the other inputs.
fn state(model: &Model, rest: &[Rational], amplitude: i64) -> impl Fn(Symbol) -> Rational + use<> {
    let rest = rest.to_vec();
    let first = model.populations()[0].clone();
    let scalar: Vec<bool> = model.fields().iter().map(|field| field.components.len() == 1).collect();
    move |symbol| {
        let small = (noise(symbol) - Rational::new(1.into(), 2.into())) / Rational::from_integer(amplitude.into());
        match symbol {
            Symbol::Population(pop) => small * &rest[pop.index()],
            Symbol::Mirrored(dir) | Symbol::Streamed(dir) | Symbol::Inside(dir) | Symbol::Deep(dir) => {
                small * &rest[first.pop(dir).index()]
            }
            Symbol::Field { field, .. } if scalar[usize::from(field)] => small + Rational::one(),
            Symbol::Param { .. } | Symbol::WallParam { .. } => {
                Rational::new(3.into(), 4.into()) + noise(symbol) / Rational::from_integer(16.into())
            }
            Symbol::Level(lbm_dsl::expr::LevelSymbol::Kind { child }) => Rational::from_integer((child % 3).into()),
            _ => small,
        }
    }
}

/// The same state in whole populations.
fn whole(model: &Model, rest: &[Rational], symbol: Symbol, value: Rational) -> Rational {
    match symbol {
        Symbol::Population(pop) => value + &rest[pop.index()],
        Symbol::Neighbour { shown, .. } => value + &rest[model.row(shown.into()).index()],
        Symbol::Mirrored(dir) | Symbol::Streamed(dir) | Symbol::Inside(dir) | Symbol::Deep(dir) => {
            value + &rest[model.populations()[0].pop(dir).index()]
        }
        _ => value,
    }
}

#[test]
fn stored_kernels_have_the_values_of_whole_ones_exactly() {
    let mut compared = 0;
    for spec in compiled::specs() {
        let model = compiled::model(spec);
        let rest = rest(&model);
        let given = state(&model, &rest, 10);
        for (kernel, params) in kernels(&model) {
            let differences = stored(kernel.clone(), &model, &rest, params);
            let expected: Vec<Exact> = eval_ir(&kernel, |symbol| Some(whole(&model, &rest, symbol, given(symbol))));
            let found: Vec<Exact> = eval_ir(&differences, |symbol| Some(given(symbol)));
            for ((output, expected), found) in kernel.outputs.iter().zip(expected).zip(found) {
                let less = output.population.map_or_else(Rational::zero, |pop| rest[pop.index()].clone());
                // Roots are not exact.
                let (Some(expected), Some(found)) = (expected, found) else { continue };
                assert_eq!(expected - less, found, "{spec}, {}, {}", kernel.name, output.name);
                compared += 1;
            }
        }
    }
    assert!(compared > 2000, "{compared}");
}

/// Largest error of a simplified kernel in single precision, over the size of the state.
fn error(kernel: &KernelIr, inputs: &dyn Fn(Symbol) -> Rational, scale: f64) -> f64 {
    let dag = simplify(kernel).expect("it can be simplified");
    let float = |symbol| inputs(symbol).to_f64().expect("a number") as f32;
    let exact = eval_ir::<f64>(kernel, |symbol| f64::from(float(symbol)));
    let rounded = eval_dag::<f32>(&dag, float);
    exact.iter().zip(rounded).map(|(exact, rounded)| (exact - f64::from(rounded)).abs() / scale).fold(0.0, f64::max)
}

#[test]
fn collisions_near_rest_round_less_by_the_size_of_the_state() {
    lbm_tests::in_turn!();
    // Populations that differ from rest by a thousandth.
    for spec in ["d2q9_bgk", "d3q19_trt", "d3q27_central", "d3q27_cumulant", "d3q27_kbc"] {
        let model = compiled::model(spec);
        let rest = rest(&model);
        let given = state(&model, &rest, 1000);
        let kernel = lower::collide(&model);
        let of_whole = error(&kernel, &|symbol| whole(&model, &rest, symbol, given(symbol)), 1.0);
        let of_stored = error(&stored(kernel, &model, &rest, &[]), &given, 1.0);
        println!("{spec}: {of_whole:.1e} whole, {of_stored:.1e} stored");
        assert!(of_stored < of_whole / 100.0, "{spec}: {of_whole:.1e} whole, {of_stored:.1e} stored");
    }
}

#[test]
fn the_shipped_methods_are_at_rest_with_their_weights() {
    for spec in compiled::specs() {
        let model = compiled::model(spec);
        let (rest, weights) = (rest(&model), model.weights());
        // What is stored behind the populations are states, as they are, but for what cells show.
        let (populations, states) = rest.split_at(weights.len());
        assert_eq!(populations, weights, "{spec}");
        let shown = (0..model.shown().len()).map(|at| model.row(at).index() - weights.len());
        let own = states.iter().enumerate().filter(|(at, _)| !shown.clone().any(|shown| shown == *at));
        assert!(states.len() == model.states().len() && own.into_iter().all(|(_, state)| state.is_zero()), "{spec}");
    }
}
