//! Bounds of errors in 32 bits against errors in random states, for every shipped method.

use lbm_dsl::shipped::{self, Prelude};
use lbm_dsl::source::Source;
use lbm_tests::compiled;
use lbm_tests::sample::sample;

const OMEGA: f64 = 1.9;
/// Bounds are so many times the largest error of a few hundred states, at most: they are for the worst of all states, in which all roundings add up.
const FAR: f64 = 600.0;
/// The same of a method with a power of the rate of strain, which may be small, over a viscosity that is a state of the cell, whatever the strain.
const OF_A_POWER: (&str, f64) = ("d2q9_power_law_state", 5000.0);
/// Methods whose errors have no bound: they divide by what may vanish, or take a power of it.
const UNBOUNDED: [&str; 8] = [
    "d2q9_kbc",
    "d2q9_phase_field",
    "d2q9_power_law",
    "d3q19_vreman",
    "d3q19_wale",
    "d3q27_kbc",
    "d3q27_kbc_n2",
    "d3q27_kbc_n4",
];

#[test]
fn bounds_of_rounding_hold_and_are_near() {
    let mut most: f64 = 0.0;
    let mut wrong = vec![];
    for spec in sample(compiled::specs()) {
        let model = compiled::model(spec);
        let found = compiled::rounding(&model, &compiled::params(&model, OMEGA));
        println!("{spec}: {found:?}");
        let far = found.bound.map(|bound| bound / found.measured);
        let most_far = if spec == OF_A_POWER.0 { OF_A_POWER.1 } else { FAR };
        let is_near =
            far.map_or(UNBOUNDED.contains(&spec), |far| (1.0..most_far).contains(&far) && !UNBOUNDED.contains(&spec));
        if !is_near || found.measured < 1e-8 || found.loses_digits() {
            wrong.push(format!("{spec}: {found:?}"));
        }
        most = most.max(far.unwrap_or_default());
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    println!("bounds are up to {most:.0} times what is measured");
}

/// What is added and taken away again costs digits as it is written, and nothing in the kernel, in which it has cancelled.
#[test]
fn formulas_that_lose_digits_are_told_from_others() {
    let text = shipped::spec("d2q9_bgk").expect("it is shipped");
    let lossy = text.replace("omega * (feq[i] - f[i])", "omega * ((feq[i] + 1000 * rho) - (f[i] + 1000 * rho))");
    assert_ne!(text, lossy);
    let [kept, lost] = [text, &lossy].map(|text| {
        let model = lbm_dsl::compile(&Source::new("d2q9_bgk.lbm", text), &Prelude).expect("it is valid");
        compiled::rounding(&model, &[("omega".into(), vec![OMEGA])])
    });
    assert!(lost.loses_digits() && !kept.loses_digits(), "{lost:?} {kept:?}");
    let both = [lost.bound, kept.bound].map(|bound| bound.expect("a bound"));
    assert!((both[0] / both[1] - 1.0).abs() < 0.1, "{lost:?} {kept:?}");
}
