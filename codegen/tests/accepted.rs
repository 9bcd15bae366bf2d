//! What `check` accepts has kernels, or is refused with a reason: nothing panics between a model and its files. The same texts
//! every time.
//!
//! For hours: `LBMC_FUZZ_SECONDS=3600 cargo test -p lbm-codegen --test accepted -- --ignored --nocapture`.

// The compiler looks at neither clock nor files; these tests look at both.
#![allow(clippy::disallowed_types, clippy::disallowed_methods)]

#[allow(dead_code)]
#[path = "../../tests/src/sample.rs"]
mod sample;
#[allow(dead_code)]
#[path = "../../lbm-dsl/tests/texts/mod.rs"]
mod texts;

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::time::{Duration, Instant};

use lbm_bundle::{Layout, Manifest, Real, Target};
use lbm_codegen::options::Options;
use lbm_codegen::pipeline::{self, CompileError};
use lbm_dsl::model::Model;
use lbm_dsl::shipped::{self, Prelude};
use lbm_dsl::source::Source;
use sample::sample;
use texts::Random;

/// Every choice of options for a model.
fn options(model: &Model) -> Vec<Options> {
    let dim = model.lattice().dim();
    let couplings = (0..model.couplings().len()).map(Some).chain([None]);
    let blocks = couplings.flat_map(|coupling| {
        [false, true].map(|solids| (Layout::Blocks, Options::default_block(dim), coupling, solids))
    });
    let all = blocks.chain([(Layout::Soa, Options::TILE, None, false)]);
    let all = all.flat_map(|(layout, block, coupling, solids)| {
        [(Target::C, Real::F32), (Target::Cuda, Real::F64)].map(|(target, real)| Options {
            target,
            real,
            layout,
            block,
            coupling,
            solids,
        })
    });
    all.collect()
}

/// Whether a text is a model. Where it is, each choice of options gives files that say the same of themselves, or a reason.
fn goes_to_the_end(text: &str) -> bool {
    let outcome = catch_unwind(AssertUnwindSafe(|| {
        let Ok(model) = lbm_dsl::compile(&Source::new("fuzz.lbm", text), &Prelude) else { return false };
        let plan = |layout| pipeline::plan(&model, layout, &mut |_| ());
        let (on_blocks, on_arrays) = match (plan(Layout::Blocks), plan(Layout::Soa)) {
            (Ok(on_blocks), Ok(on_arrays)) => (on_blocks, on_arrays),
            (Err(reason), _) | (_, Err(reason)) => {
                assert!(!reason.to_string().is_empty());
                return true;
            }
        };
        for options in options(&model) {
            let plans = if options.layout == Layout::Blocks { &on_blocks } else { &on_arrays };
            match plans.emit(&options) {
                Ok(compiled) => {
                    let files = pipeline::files(&[compiled.bundle]);
                    let manifest = files.iter().find(|file| file.name.ends_with(".json")).expect("a manifest");
                    Manifest::from_json(&manifest.text).expect("a manifest reads back");
                }
                Err(reason) => assert!(!reason.to_string().is_empty()),
            }
        }
        true
    }));
    outcome.unwrap_or_else(|_| panic!("the text was\n{text}"))
}

#[test]
fn what_check_accepts_goes_to_the_end() {
    let mut random = Random(5);
    let accepted = (0..400).filter(|_| goes_to_the_end(&texts::around(&mut random))).count();
    assert!((10..400).contains(&accepted), "{accepted} are models");
}

/// As long as `LBMC_FUZZ_SECONDS` says, from a seed that `LBMC_FUZZ_SEED` gives.
#[test]
#[ignore = "as long as LBMC_FUZZ_SECONDS says"]
fn for_long() {
    let number = |name: &str, usual: u64| std::env::var(name).ok().and_then(|text| text.parse().ok()).unwrap_or(usual);
    let end = Duration::from_secs(number("LBMC_FUZZ_SECONDS", 60));
    let mut random = Random(number("LBMC_FUZZ_SEED", 1));
    let (start, mut tried, mut models) = (Instant::now(), 0u64, 0u64);
    while start.elapsed() < end {
        let text = if random.below(4) == 0 { texts::statements(&mut random) } else { texts::around(&mut random) };
        models += u64::from(goes_to_the_end(&text));
        tried += 1;
    }
    println!("{tried} texts, {models} of them models, in {:?}", start.elapsed());
}

/// A method with a coupling of the prelude: a model, or the codes of what refuses it.
fn pair(spec: &str, coupling: &str) -> Result<Model, Vec<&'static str>> {
    let source = Source::new(&format!("{spec}.lbm"), shipped::spec(spec).expect("shipped"));
    lbm_dsl::compile_with(&source, &Prelude, &[], Some(coupling), None)
        .map_err(|report| report.diagnostics().iter().map(|fault| fault.code().code()).collect())
}

/// Whether a method reads values of the cells around, which ghosts do not have.
fn reads_neighbours(spec: &str) -> bool {
    let source = Source::new(spec, shipped::spec(spec).expect("a shipped spec"));
    !lbm_dsl::compile(&source, &Prelude).expect("it is valid").shown().is_empty()
}

/// Couplings of the prelude are about `f` alone, so a second set of populations has nothing to cross with; and about one rate, which
/// a fluid whose viscosity varies has not: without it, packets cross if units say what the parameters are on the finer level.
#[test]
fn every_shipped_method_takes_every_coupling_or_says_why_not() {
    let couplings = shipped::couplings(&Prelude).expect("the prelude parses");
    assert_eq!(couplings.len(), 7);
    let every = |coupling: &str| {
        for (spec, _) in sample(shipped::specs()) {
            match pair(spec, coupling) {
                Ok(model) => assert!(model.couplings().iter().any(|own| own.name() == coupling), "{spec} {coupling}"),
                Err(codes) if spec == "d2q9_power_law" => assert!(codes.contains(&"E0301"), "{coupling} {codes:?}"),
                Err(codes) if ["d2q9_power_law_state", "d2q9_carreau_yasuda"].contains(&spec) => {
                    assert!(coupling.starts_with("interpolated"), "{coupling} {codes:?}");
                    assert_eq!(codes, ["E0705"], "{coupling}");
                }
                Err(codes) if reads_neighbours(spec) && coupling.starts_with("interpolated") => {
                    assert!(codes.contains(&"E0413"), "{spec} {coupling} {codes:?}")
                }
                Err(codes) => {
                    let sets = ["d2q9_scalar", "d2q9_boussinesq", "d2q9_two_fluids", "d2q9_phase_field"];
                    assert!(sets.contains(&spec), "{spec} {coupling}");
                    assert_eq!(codes, ["E0503"], "{coupling}");
                }
            }
        }
    };
    std::thread::scope(|scope| couplings.iter().for_each(|(_, coupling)| drop(scope.spawn(|| every(coupling)))));
}

/// The kernels of the coupling itself, with the plainest and the most intricate of equilibria, and without a momentum.
#[test]
fn methods_with_couplings_have_kernels() {
    for spec in ["d2q9_bgk", "d2q9_guo", "d3q7_advection"] {
        for coupling in sample([
            "interpolated",
            "interpolated_means",
            "interpolated_linear",
            "volumetric_shifted",
            "volumetric_chen",
            "volumetric_timed",
        ]) {
            let model = pair(spec, coupling).unwrap_or_else(|codes| panic!("{spec} {coupling} {codes:?}"));
            let block = Options::default_block(model.lattice().dim());
            let options = Options {
                target: Target::C,
                real: Real::F32,
                layout: Layout::Blocks,
                block,
                coupling: Some(0),
                solids: false,
            };
            let compiled =
                pipeline::compile(&model, &options).unwrap_or_else(|error| panic!("{spec} {coupling}: {error}"));
            assert!(compiled.bundle.manifest.coupling.is_some());
        }
    }
}

/// Text of a few lines that is expanded to a great deal: refused by the check or before simplification, or compiled.
#[test]
fn expression_bombs_are_refused_with_their_size() {
    let bgk = shipped::spec("d2q9_bgk").expect("shipped");
    let inside = |lets: &str, factor: &str| {
        bgk.replace("collide {", &format!("collide {{\n{lets}")).replace("omega * (feq", &format!("{factor} * (feq"))
    };
    let doubling = |levels: usize| {
        let functions: String =
            (1..levels).map(|at| format!("fn g{at}(x) = g{}(x) + 1 / g{}(x + {at});\n", at - 1, at - 1)).collect();
        inside("", &format!("g{}(omega)", levels - 1)) + "fn g0(x) = 1 / (1 + x);\n" + &functions
    };
    let size = |text: &str| match lbm_dsl::compile(&Source::new("bomb.lbm", text), &Prelude) {
        Err(report) => report.diagnostics().iter().map(|fault| fault.code().code().to_string()).collect(),
        Ok(model) => {
            pipeline::plan(&model, Layout::Blocks, &mut |_| ()).err().map_or(String::new(), |error| error.to_string())
        }
    };
    assert_eq!(size(&doubling(40)), "E0411");
    let choices = |count: usize| {
        let lets = format!("let x = omega * sum(p in 0..{count}: if rho > p then p * rho else 0);");
        size(&inside(&lets, "x"))
    };
    let wide = choices(4000);
    assert!(wide.contains("`collide` has") && wide.contains("operations, of which a kernel may have 10000"), "{wide}");
    let long = choices(1500);
    assert!(long.contains("operations one upon the other, of which a kernel may have 1000"), "{long}");
    // Nested indices: 50^4 terms.
    let nested = "let x = omega * sum(p in 0..50, q in 0..50, r in 0..50, s in 0..50: rho * p * q * r * s);";
    assert_eq!(size(&inside(nested, "x")), "E0411");
}

#[test]
fn a_constant_that_the_real_type_lacks_is_refused() {
    let text = shipped::spec("d2q9_bgk").expect("shipped").replace("omega * (feq", "omega * (1 + rho / 1e60) * (feq");
    let model = lbm_dsl::compile(&Source::new("big.lbm", &text), &Prelude).unwrap_or_else(|report| panic!("{report}"));
    let options = |real| Options {
        target: Target::C,
        real,
        layout: Layout::Blocks,
        block: [8, 8, 1],
        coupling: None,
        solids: false,
    };
    let refused = pipeline::compile(&model, &options(Real::F32)).expect_err("f32 ends at 3.4e38");
    assert!(matches!(refused, CompileError::Constant(..)), "{refused}");
    assert!(refused.to_string().contains("f32") && refused.to_string().contains("3.4e38"), "{refused}");
    assert!(pipeline::compile(&model, &options(Real::F64)).is_ok());
}
